#include "kernels/shrink.h"
void program_shrink(struct program *program, const struct campaign *campaign,
                    const struct outcome *outcome, uint32_t seconds,
                    struct shrink_result *out_result)
{
    (void)program;
    (void)campaign;
    (void)seconds;
    out_result->outcome = *outcome;
}
