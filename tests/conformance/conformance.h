/*
 * conformance.h: what the cases of the conformance suite share.
 *
 * Words
 *   case       one promise of the public headers, checked on one backend
 *   needs      bits: what the device must have for a case to mean something
 *   exclusion  a case that is not run on a backend, with the reason (exclusions.c)
 *   gate       a host kernel that waits until the test lets it through: work that is surely in flight
 *
 * Every case gets a fresh instance and device. A failed assert leaves the case by longjmp, so what
 * a case opens is registered in the fixture, which opens the gates and closes everything.
 */
#ifndef VYRE_TESTS_CONFORMANCE_CONFORMANCE_H
#define VYRE_TESTS_CONFORMANCE_CONFORMANCE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <vyre/vyre.h>

#include "conformance/kernels.h"
#include "support/counting_allocator.h"
#include "support/test.h"

/* ---- Cases ------------------------------------------------------------------------------------ */

#define NEEDS(ability)     (1u << VYRE_ABILITY_##ability)
#define NEEDS_HOST_KERNELS (1u << 16) /* the device runs VYRE_TARGET_HOST */
#define NEEDS_ASYNC        (1u << 17) /* submit returns while the work runs; has host kernels */

struct fixture;

struct conformance_case {
    const char *name;
    void (*run)(struct fixture *f);
    uint32_t needs;
};

struct conformance_group {
    const char *name;
    const struct conformance_case *cases;
    size_t case_count;
};

extern const struct conformance_group instance_cases;
extern const struct conformance_group register_cases;
extern const struct conformance_group buffer_cases;
extern const struct conformance_group kernel_cases;
extern const struct conformance_group kernel_abi_cases;
extern const struct conformance_group batch_cases;
extern const struct conformance_group transfer_cases;
extern const struct conformance_group mode_cases;
extern const struct conformance_group recording_cases;
extern const struct conformance_group serial_cases;
extern const struct conformance_group ticket_cases;
extern const struct conformance_group callback_cases;
extern const struct conformance_group lifetime_cases;
extern const struct conformance_group error_cases;
extern const struct conformance_group memory_cases;
extern const struct conformance_group thread_cases;
extern const struct conformance_group lost_cases;

/* Why `name` ("group/case") is not run on `backend`, or NULL. */
const char *exclusion_reason(const char *backend, const char *name);

/* ---- The backend under test ------------------------------------------------------------------- */

struct subject {
    const char *backend;                 /* the name */
    const char *device_name;             /* NULL: any */
    uint32_t device_index;               /* among those of that name */
    const struct vyre_backend_ops *ops;  /* NULL: built in */
    const char *kernel_library;          /* the shared object with a host kernel */
    uint32_t has;                        /* needs that it meets */
    char reasons[32][VYRE_REASON_BYTES]; /* by bit: why one is not met */
};

/* Finds out what the subject has. False with a printed reason when it cannot be opened. */
bool subject_probe(struct subject *subject);

/* ---- The fixture ------------------------------------------------------------------------------ */

enum { FIXTURE_DEVICES = 8, FIXTURE_GATES = 4 };

struct fixture {
    const struct subject *subject;
    struct vyre_instance *instance;
    struct vyre_device *device; /* opened with a zeroed desc */
    struct vyre_device_limits limits;
    struct vyre_diag diag;
    struct vyre_device *devices[FIXTURE_DEVICES]; /* opened by the case */
    struct gate gates[FIXTURE_GATES];
    struct vyre_instance *other; /* a second instance, where a case wants one of its own kind */
    struct vyre_audit *audit;    /* of the second instance; may be NULL */
    struct counting_allocator counting;
    struct vyre_allocator allocator; /* that counts in `counting` */
};

/* An instance with the subject registered, or NULL with *diag filled. */
struct vyre_instance *subject_instance(const struct subject *subject,
                                       const struct vyre_instance_desc *desc,
                                       struct vyre_diag *diag);

/* Opens a device of the subject; the fixture closes it. A NULL desc is a zeroed one. */
struct vyre_device *open_device(struct fixture *f, const struct vyre_device_desc *desc);

/* Creates f->other and opens a device in it; the fixture closes both. */
struct vyre_device *open_in_other(struct fixture *f, const struct vyre_instance_desc *desc);

/* Closes what open_device gave, before the case ends. */
void close_device(struct fixture *f, struct vyre_device **device);

/* A device on which gated work never runs on a thread of the test. */
struct vyre_device *open_async_device(struct fixture *f, struct vyre_device_desc desc);

/* The modes that the device has, plain first. Returns how many. */
size_t device_modes(struct vyre_device *device, enum vyre_mode out_modes[3]);

bool device_has(struct vyre_device *device, enum vyre_ability_id ability);

/* ---- Objects: created or the case fails; freed with their device ------------------------------- */

struct vyre_buffer *make_buffer(struct fixture *f, struct vyre_device *device, size_t size_bytes);
struct vyre_buffer *make_words(struct fixture *f, struct vyre_device *device, const uint32_t *words,
                               size_t count);
struct vyre_kernel *make_kernel(struct fixture *f, struct vyre_device *device, enum kernel_id id);
struct vyre_batch *make_batch(struct fixture *f, struct vyre_device *device);

/* ---- Commands --------------------------------------------------------------------------------- */

static inline struct vyre_range whole(struct vyre_buffer *buffer)
{
    return (struct vyre_range){.buffer = buffer};
}

static inline struct vyre_range range_of(struct vyre_buffer *buffer, size_t offset_bytes,
                                         size_t size_bytes)
{
    return (struct vyre_range){buffer, offset_bytes, size_bytes};
}

/* data[i] += value for the first `count` words. */
void add_add(struct vyre_batch *batch, struct vyre_kernel *kernel, struct vyre_range data,
             uint32_t value, uint32_t count);

/* to[i] = to[i] * factor + from[i] + i for the first `count` words. */
void add_mix(struct vyre_batch *batch, struct vyre_kernel *kernel, struct vyre_range from,
             struct vyre_range to, uint32_t factor, uint32_t count);

/* KERNEL_APPEND's constants for a log that is bound as `log`. */
struct append_constants append_constants_for(struct vyre_range log, uint32_t value);

/* Counts one up in log[0] and writes `value` there. */
void add_append(struct vyre_batch *batch, struct vyre_kernel *kernel, struct vyre_range log,
                uint32_t value);

/* Waits for the gate, then data[0] += 1. */
void add_gate(struct vyre_batch *batch, struct vyre_kernel *kernel, struct vyre_range data,
              struct gate *gate);

/* ---- Running ---------------------------------------------------------------------------------- */

/* Submits in `mode`; the case fails if that fails. */
struct vyre_ticket submit_in(struct fixture *f, struct vyre_batch *batch, enum vyre_mode mode);

/* Waits; the case fails unless the batch ends well. */
void wait_for(struct fixture *f, struct vyre_device *device, struct vyre_ticket ticket);

/* Submits, waits, and checks that a required mode is the one that it ran in. */
void run_in(struct fixture *f, struct vyre_device *device, struct vyre_batch *batch,
            enum vyre_mode mode);

uint32_t read_word(struct fixture *f, struct vyre_buffer *buffer, size_t index);
struct vyre_device_counters counters_of(struct vyre_device *device);

/* How long a case waits for what must come: against hangs, far above what a busy machine needs. */
#define HANG_LIMIT_NS UINT64_C(120000000000)

/* Waits until a kernel stands in the gate; the case fails after HANG_LIMIT_NS. */
void gate_await(struct gate *gate);
void gate_open(struct gate *gate);
void gate_close(struct gate *gate);

void sleep_ns(uint64_t ns);
uint64_t now_ns(void);

/* A thread that opens a gate after a while. */
struct gate_opener {
    struct gate *gate;
    uint64_t delay_ns;
    _Atomic bool opened;
    pthread_t thread;
};
void gate_opener_start(struct gate_opener *opener, struct gate *gate, uint64_t delay_ns);
void gate_opener_join(struct gate_opener *opener);

/* ---- Asserts ---------------------------------------------------------------------------------- */

/* The call succeeds; else the case fails with the diagnostic in f->diag. */
#define assert_ok(f, call) assert_ok_at((f), (call), #call, __FILE__, __LINE__)

/* The call fails with this id in f->diag. */
#define assert_refused(f, call, expected_id)                   \
    do {                                                       \
        vyre_diag_reset(&(f)->diag);                           \
        enum vyre_status refused_status = (call);              \
        assert_diag(refused_status, (f)->diag, (expected_id)); \
    } while (0)

/* The batch carries this building error; submit and warm-up return it too; nothing is queued. */
#define assert_building_error(f, batch, expected_id) \
    assert_building_error_at((f), (batch), (expected_id), __FILE__, __LINE__)

/* The buffer holds exactly these words from its start on. */
#define assert_words(f, buffer, words, count) \
    assert_words_at((f), (buffer), (words), (count), __FILE__, __LINE__)

/* Every word of the buffer's first `count` is `word`. */
#define assert_all_words(f, buffer, word, count) \
    assert_all_words_at((f), (buffer), (word), (count), __FILE__, __LINE__)

void assert_ok_at(struct fixture *f, enum vyre_status status, const char *text, const char *file,
                  int line);
void assert_building_error_at(struct fixture *f, struct vyre_batch *batch, enum vyre_diag_id id,
                              const char *file, int line);
void assert_words_at(struct fixture *f, struct vyre_buffer *buffer, const uint32_t *words,
                     size_t count, const char *file, int line);
void assert_all_words_at(struct fixture *f, struct vyre_buffer *buffer, uint32_t word, size_t count,
                         const char *file, int line);

#endif
