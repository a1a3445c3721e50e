/*
 * residents_test.c: which dispatchers are kept, found again and made again, on a real device.
 *
 *   residents_test DEVICE      a part of the device's name; it must have persistent mode
 */
#include <unistd.h>

#include "opencl/hooked_fixture.h"
#include "support/test.h"

#include "backend/opencl/ring_host.h"

#define ROUNDS 3

static const char *device_name;
static _Atomic uint32_t builds;

static cl_int CL_API_CALL build(cl_program program, cl_uint count, const cl_device_id *devices,
                                const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                void *user)
{
    builds++;
    return hooked_real.clBuildProgram(program, count, devices, options, notify, user);
}

static void install(struct vyre_cl_api *api)
{
    api->clBuildProgram = build;
}

/* ---- Specialization --------------------------------------------------------------------------- */

static struct vyre_kernel *create_adder(struct fixture *f)
{
    static const char *const names[] = {"VALUE"};
    static const uint64_t fallback = 1;
    return fixture_kernel(f, "__kernel void add(__global uint *out) { out[0] += VALUE; }\n", "add",
                          (struct vyre_kernel_desc){.specialization_names = names,
                                                    .specialization_defaults = &fallback,
                                                    .specialization_count = 1});
}

static void add_value(struct fixture *f, struct vyre_kernel *kernel, struct vyre_buffer *buffer,
                      uint64_t value)
{
    fixture_dispatch(f, kernel, buffer,
                     (struct vyre_dispatch){.specialization = &value, .specialization_count = 1});
}

/* A kernel keeps fewer variants than there are values; each value keeps its dispatcher all the same. */
static void values_beyond_the_kept_variants_stay_resident(void **state)
{
    enum { VALUES = VYRE_CL_VARIANTS_MAX + 2 };
    struct fixture f;
    (void)state;
    for (int together = 0; together < 2; together++) {
        uint32_t want = 0;
        uint32_t after_first = 0;
        fixture_open(&f, device_name, (struct vyre_device_desc){0}, install);
        struct vyre_kernel *kernel = create_adder(&f);
        struct vyre_buffer *buffer = fixture_buffer(&f, 64);
        for (int round = 0; round < ROUNDS; round++) {
            vyre_batch_reset(f.batch);
            for (uint32_t i = 0; i < VALUES; i++) {
                add_value(&f, kernel, buffer, i + 2);
                want += i + 2;
                if (together && i + 1 < VALUES)
                    continue;
                fixture_must_run(&f, VYRE_MODE_PERSISTENT);
                vyre_batch_reset(f.batch);
            }
            assert_int_equal(fixture_word(&f, buffer), want);
            after_first = round == 0 ? builds : after_first;
        }
        assert_int_equal(builds, after_first);
        fixture_close(&f);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_beyond_the_kept_variants_stay_resident),
    };
    if (argc != 2)
        return 2;
    device_name = argv[1];
    (void)alarm(290); /* a hang ends the test */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
