/*
 * load_test.c: finding the optional module, and refusing what is not it.
 */
#include "support/test.h"

#include <dlfcn.h>

#include <vyre/version.h>

#include "spirv/tools_load.h"

#define TEXT_OF(x)  #x
#define VALUE_OF(x) TEXT_OF(x)
#define MODULE      "libvyre-spirv-tools.so." VALUE_OF(VYRE_ABI_VERSION)

static void refuse_load(const char *path, enum vyre_diag_id id, const char *part)
{
    struct vyre_spirv_tools tools, zeroed = {0};
    struct vyre_diag diag = {0};
    memset(&tools, 0x5a, sizeof tools);
    assert_diag(vyre_spirv_tools_load(path, &tools, &diag), diag, id);
    assert_contains(diag.message, part);
    assert_memory_equal(&tools, &zeroed, sizeof tools);
}

static void load_absent_is_not_found(void **state)
{
    (void)state;
    refuse_load("/nowhere/" MODULE, VYRE_DIAG_SPIRV_TOOLS_ABSENT, "/nowhere/");
    /* This program lies in a folder of its own; only an installed module could be found. */
    void *installed = dlopen(MODULE, RTLD_NOW | RTLD_LOCAL);
    if (installed)
        dlclose(installed);
    else
        refuse_load(NULL, VYRE_DIAG_SPIRV_TOOLS_ABSENT, MODULE);
    refuse_load("/dev/null", VYRE_DIAG_SPIRV_TOOLS_ABSENT, "/dev/null");
}

static void load_other_abi_is_refused(void **state)
{
    (void)state;
    char abi[32];
    snprintf(abi, sizeof abi, "has ABI %d,", VYRE_SPIRV_TOOLS_ABI_VERSION + 1);
    refuse_load(FAKE_OTHER, VYRE_DIAG_SPIRV_TOOLS_ABI, abi);
    refuse_load(FAKE_SHORT, VYRE_DIAG_SPIRV_TOOLS_ABI, "lacks entries");
    refuse_load(FAKE_NONE, VYRE_DIAG_SPIRV_TOOLS_ABI, "no symbol");
}

static void unload_empty_is_ignored(void **state)
{
    (void)state;
    struct vyre_spirv_tools tools = {0};
    vyre_spirv_tools_unload(&tools);
    assert_null(tools.table);
}

#ifdef VYRE_TEST_MODULE
static void load_given_path_gives_the_table(void **state)
{
    (void)state;
    struct vyre_spirv_tools tools;
    struct vyre_diag diag = {0};
    for (int i = 0; i < 2; i++) {
        if (vyre_spirv_tools_load(VYRE_TEST_MODULE, &tools, &diag) != VYRE_OK)
            fail_msg("%s", diag.message);
        assert_int_equal(tools.table->abi_version, VYRE_SPIRV_TOOLS_ABI_VERSION);
        vyre_spirv_tools_unload(&tools);
        assert_null(tools.table);
    }
}

static void load_without_path_finds_it_beside_the_library(void **state)
{
    (void)state;
    void *library = dlopen(BESIDE, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    enum vyre_status (*load_beside)(struct vyre_diag *);
    void *symbol = dlsym(library, "load_beside");
    assert_non_null(symbol);
    memcpy(&load_beside, &symbol, sizeof symbol);
    struct vyre_diag diag = {0};
    if (load_beside(&diag) != VYRE_OK)
        fail_msg("%s", diag.message);
    dlclose(library);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_absent_is_not_found),
        cmocka_unit_test(load_other_abi_is_refused),
        cmocka_unit_test(unload_empty_is_ignored),
#ifdef VYRE_TEST_MODULE
        cmocka_unit_test(load_given_path_gives_the_table),
        cmocka_unit_test(load_without_path_finds_it_beside_the_library),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
