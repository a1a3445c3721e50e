/*
 * target.h: the device that a command line asks for, and the exit code of a failure.
 */
#ifndef VYRE_CLI_RUN_TARGET_H
#define VYRE_CLI_RUN_TARGET_H

#include <vyre/vyre.h>

#include "command.h"
#include "run/options.h"

/* All backends of Vyre, so that one missing from this build is not reported as a typing error. */
extern const char *const cli_known_backends[];
extern const size_t cli_known_backend_count;

/* The backend's entry among the instance's, or NULL. `infos` is the caller's memory. */
const struct vyre_backend_info *cli_backend_find(struct vyre_instance *instance, const char *name,
                                                 struct vyre_backend_info infos[VYRE_BACKENDS_MAX]);

/*
 * Opens the device of --backend, --device and --workers. --device is a number among the backend's; a
 * UUID, 32 hexadecimal digits with or without dashes; a kind: cpu, integrated, discrete or software;
 * or else a part of a name. Fails with BACKEND_UNKNOWN if the name is no backend at all, and with
 * BACKEND_ABSENT or DEVICE_UNKNOWN if the backend or the device is not available.
 */
VYRE_NODISCARD enum vyre_status cli_device_open(struct vyre_instance *instance,
                                                const struct cli_options *options,
                                                struct vyre_device **out_device,
                                                struct vyre_diag *diag);

/* Whether the device has the mode; SUBMIT_MODE with the reason if not. */
VYRE_NODISCARD enum vyre_status cli_mode_check(const struct vyre_device *device,
                                               enum vyre_mode mode, struct vyre_diag *diag);

/* The exit code for a failure before the work began, and for one while it ran. */
enum cli_exit cli_exit_of_setup(const struct vyre_diag *diag);
enum cli_exit cli_exit_of_work(const struct vyre_diag *diag);

#endif
