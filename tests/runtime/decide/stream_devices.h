/*
 * stream_devices.h: devices for streams. Times in ns.
 *
 * If a program waits for each batch, costs are as in scenarios_test.c, except that replay on Vulkan gains only a few
 * per cent. They are divided between host and device, so the best mode of a stream may be another one.
 */
#ifndef VYRE_TESTS_RUNTIME_DECIDE_STREAM_DEVICES_H
#define VYRE_TESTS_RUNTIME_DECIDE_STREAM_DEVICES_H

#include "runtime/decide/stream_model.h"

static const struct stream_device cpu_16 = {
    .name = "cpu, 16 commands",
    .commands = 16,
    .execution = 50,
    .plain = {0, 400, 30, 500, 50},
    .replay = {600, 400, 28, 500, 49},
    .persistent = {20e3, 200, 20, 300, 50},
};
static const struct stream_device cpu_256 = {
    .name = "cpu, 256 commands",
    .commands = 256,
    .execution = 50,
    .plain = {0, 400, 30, 500, 50},
    .replay = {6000, 400, 28, 500, 49},
    .persistent = {20e3, 200, 20, 300, 50},
};
static const struct stream_device alike = {
    .name = "all alike",
    .commands = 64,
    .execution = 500,
    .plain = {0, 400, 30, 500, 50},
    .replay = {6000, 400, 30, 500, 50},
    .persistent = {20e3, 400, 30, 500, 50},
};
static const struct stream_device opencl_16 = {
    .name = "opencl, 16 commands",
    .commands = 16,
    .execution = 0,
    .plain = {0, 20e3, 1200, 30e3, 600},
    .replay = {3000, 20e3, 1150, 30e3, 600},
    .persistent = {1e6, 200, 100, 100, 300},
};
static const struct stream_device opencl_64 = {
    .name = "opencl, 64 commands",
    .commands = 64,
    .execution = 500,
    .plain = {0, 20e3, 1200, 30e3, 600},
    .replay = {9000, 20e3, 1150, 30e3, 600},
    .persistent = {1e6, 200, 60, 100, 140},
};
static const struct stream_device opencl_slow = {
    .name = "opencl, persistent slow",
    .commands = 64,
    .execution = 2000,
    .plain = {0, 20e3, 1200, 30e3, 600},
    .replay = {9000, 20e3, 1150, 30e3, 600},
    .persistent = {1e6, 200, 60, 100, 8000},
};
static const struct stream_device vulkan_16 = {
    .name = "vulkan, 16 commands",
    .commands = 16,
    .execution = 200,
    .plain = {0, 30e3, 700, 50e3, 300},
    .replay = {90e3, 28e3, 620, 48e3, 300},
    .no_persistent = true,
};
static const struct stream_device vulkan_64 = {
    .name = "vulkan, 64 commands",
    .commands = 64,
    .execution = 200,
    .plain = {0, 30e3, 700, 50e3, 300},
    .replay = {120e3, 28e3, 620, 48e3, 300},
    .no_persistent = true,
};

#endif
