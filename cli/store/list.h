/*
 * list.h: `vyre store list`.
 */
#ifndef VYRE_CLI_STORE_LIST_H
#define VYRE_CLI_STORE_LIST_H

#include <vyre/vyre.h>

#include "terminal/output.h"

/* `present`: the file exists. */
VYRE_NODISCARD enum vyre_status cli_store_list(struct vyre_store *store, const char *path,
                                               bool present, bool json, struct cli_output *out,
                                               struct vyre_diag *diag);

#endif
