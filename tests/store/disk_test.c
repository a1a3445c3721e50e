/*
 * disk_test.c: a full disk, folders that cannot be written, names that are no files. The store goes on
 * in memory and says so once.
 *
 * A full disk is a small tmpfs, and a folder that cannot be written is mounted read-only: rights do not
 * bind root. Where mounting is not allowed, a limit on the size of files stands for the full disk (the
 * test says so), and a folder under /proc for the one that cannot be written.
 */
#include "store/fixture.h"

#include <errno.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define RECORDS 400

/* The store takes records past the end of the disk, and gives all of them back. */
static void require_degrade(struct fixture *fixture)
{
    struct vyre_store *store = fixture_open(fixture);
    assert_int_equal(fixture_mode(store), VYRE_STORE_FILE);
    for (uint64_t i = 0; i < RECORDS; i++)
        assert_int_equal(fixture_put(store, i), VYRE_OK);
    assert_int_not_equal(fixture_mode(store), VYRE_STORE_FILE);
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_MEMORY_ONLY), 1);
    assert_int_equal(atomic_load(&fixture->log.count), 1);
    for (uint64_t i = 0; i < RECORDS; i++)
        assert_true(fixture_has(store, i));
    struct vyre_store_info info;
    vyre_store_get_info(store, &info);
    assert_int_equal(info.reason.id, VYRE_DIAG_STORE_MEMORY_ONLY);
    assert_true(info.waiting_count > 0 && info.waiting_count < RECORDS);
    assert_int_not_equal(vyre_store_flush(store, NULL), VYRE_OK);
    vyre_store_close(&store);
    assert_int_equal(atomic_load(&fixture->log.count), 1);

    /* What had been stored before is still there and whole. */
    fixture_forget_log(fixture);
    store = fixture_open(fixture);
    uint64_t kept = 0;
    while (kept < RECORDS && fixture_has(store, kept))
        kept++;
    struct vyre_store_check check;
    assert_true(kept > 0 && kept < RECORDS);
    assert_int_equal(vyre_store_check(store, NULL, NULL, &check, NULL), VYRE_OK);
    assert_int_equal(check.damaged_count + check.problem_count, 0);
    vyre_store_close(&store);
    assert_int_equal(fixture_asides(fixture), 0);
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_SET_ASIDE), 0);
}

/* In a child: the limit must not bind the other cases. */
static void full_disk_by_file_limit(struct fixture *fixture)
{
    print_message("mounting is not allowed (%s): a limit of 512 KiB on files instead\n",
                  strerror(errno));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit limit = {512 << 10, 512 << 10};
        signal(SIGXFSZ, SIG_IGN);
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(3);
        require_degrade(fixture);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void full_disk_degrades_to_memory(void **state)
{
    struct fixture *fixture = *state;
    if (mount("vyre-test", fixture->folder, "tmpfs", 0, "size=1m") != 0) {
        full_disk_by_file_limit(fixture);
        return;
    }
    require_degrade(fixture);
    assert_int_equal(umount2(fixture->folder, MNT_DETACH), 0);
}

static void full_disk_that_gets_room_is_written_at_close(void **state)
{
    struct fixture *fixture = *state;
    if (mount("vyre-test", fixture->folder, "tmpfs", 0, "size=1m") != 0) {
        print_message("mounting is not allowed: not tested\n");
        skip();
    }
    struct vyre_store *store = fixture_open(fixture);
    for (uint64_t i = 0; i < RECORDS; i++)
        assert_int_equal(fixture_put(store, i), VYRE_OK);
    assert_int_not_equal(fixture_mode(store), VYRE_STORE_FILE);
    assert_int_equal(mount("vyre-test", fixture->folder, "tmpfs", MS_REMOUNT, "size=16m"), 0);
    vyre_store_close(&store);
    store = fixture_open(fixture);
    for (uint64_t i = 0; i < RECORDS; i++)
        assert_true(fixture_has(store, i));
    vyre_store_close(&store);
    assert_int_equal(umount2(fixture->folder, MNT_DETACH), 0);
}

/* A disk without room for even an empty store. */
static void disk_full_from_the_start_is_memory_only(void **state)
{
    struct fixture *fixture = *state;
    if (mount("vyre-test", fixture->folder, "tmpfs", 0, "size=16k") != 0) {
        print_message("mounting is not allowed: not tested\n");
        skip();
    }
    struct vyre_store *store = fixture_open(fixture);
    assert_int_equal(fixture_put(store, 1), VYRE_OK);
    assert_true(fixture_has(store, 1));
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_MEMORY_ONLY), 1);
    assert_int_equal(atomic_load(&fixture->log.count), 1);
    vyre_store_close(&store);
    assert_int_equal(umount2(fixture->folder, MNT_DETACH), 0);
}

static void require_memory_only(struct fixture *fixture, const char *path)
{
    fixture_forget_log(fixture);
    struct vyre_store_desc desc = fixture_desc(fixture);
    struct vyre_store *store;
    desc.path = path;
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    assert_int_equal(fixture_mode(store), VYRE_STORE_MEMORY);
    assert_int_equal(fixture_put(store, 1), VYRE_OK);
    assert_int_equal(fixture_put(store, 2), VYRE_OK);
    assert_true(fixture_has(store, 1));
    struct vyre_diag diag;
    assert_int_equal(vyre_store_flush(store, &diag), VYRE_IO);
    assert_int_equal(diag.id, VYRE_DIAG_STORE_MEMORY_ONLY);
    vyre_store_close(&store);
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_MEMORY_ONLY), 1);
    assert_int_equal(atomic_load(&fixture->log.count), 1);
}

static void path_that_is_no_file_is_memory_only(void **state)
{
    struct fixture *fixture = *state;
    char path[160];
    require_memory_only(fixture, fixture->folder);
    require_memory_only(fixture, "/proc/vyre-store.db");
    require_memory_only(fixture, "/dev/null");
    snprintf(path, sizeof path, "%s/no/such/folder/store.db", fixture->folder);
    require_memory_only(fixture, path);
    struct vyre_store *store = fixture_open(fixture);
    vyre_store_close(&store);
    snprintf(path, sizeof path, "%s/store.db", fixture->path); /* the folder is a file */
    require_memory_only(fixture, path);
}

/* A folder on a file system that is mounted read-only: without a store, with one, and with a broken one. */
static void read_only_folder_degrades(void **state)
{
    struct fixture *fixture = *state;
    if (mount("vyre-test", fixture->folder, "tmpfs", 0, "size=4m") != 0) {
        print_message("mounting is not allowed: a folder under /proc instead\n");
        require_memory_only(fixture, "/proc/self/vyre-store.db");
        return;
    }
    assert_int_equal(mount(NULL, fixture->folder, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    require_memory_only(fixture, fixture->path);
    assert_int_equal(mount(NULL, fixture->folder, NULL, MS_REMOUNT, NULL), 0);
    fixture_forget_log(fixture);
    struct vyre_store *store = fixture_open(fixture);
    assert_int_equal(fixture_put(store, 1), VYRE_OK);
    vyre_store_close(&store);

    assert_int_equal(mount(NULL, fixture->folder, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    store = fixture_open(fixture);
    assert_int_equal(fixture_mode(store), VYRE_STORE_READ_ONLY);
    assert_true(fixture_has(store, 1));
    assert_int_equal(fixture_put(store, 2), VYRE_OK);
    assert_true(fixture_has(store, 2));
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_MEMORY_ONLY), 1);
    vyre_store_close(&store);
    assert_int_equal(atomic_load(&fixture->log.count), 1);

    struct vyre_store_desc desc = fixture_desc(fixture);
    desc.read_only = true;
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    assert_true(fixture_has(store, 1));
    vyre_store_close(&store);
    assert_int_equal(atomic_load(&fixture->log.count), 1);

    assert_int_equal(mount(NULL, fixture->folder, NULL, MS_REMOUNT, NULL), 0);
    assert_int_equal(truncate(fixture->path, 5000), 0);
    assert_int_equal(mount(NULL, fixture->folder, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    require_memory_only(fixture, fixture->path);
    assert_int_equal(umount2(fixture->folder, MNT_DETACH), 0);
}

static void read_only_without_a_file_is_quiet(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store_desc desc = fixture_desc(fixture);
    struct vyre_store *store;
    desc.read_only = true;
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    assert_int_equal(fixture_mode(store), VYRE_STORE_MEMORY);
    assert_false(fixture_has(store, 1));
    assert_int_equal(fixture_put(store, 1), VYRE_OK);
    assert_true(fixture_has(store, 1));
    vyre_store_close(&store);
    assert_int_equal(fixture_files(fixture, "", false), 0);
    assert_int_equal(atomic_load(&fixture->log.count), 0);
}

/* What is kept in memory has a limit; the oldest goes, and that is reported once. */
static void memory_is_bounded(void **state)
{
    struct fixture *fixture = *state;
    struct vyre_store_desc desc = fixture_desc(fixture);
    struct vyre_store *store;
    desc.path = "/proc/vyre-store.db";
    desc.memory_limit_bytes = 512 << 10;
    assert_int_equal(vyre_store_open(&desc, &store, NULL), VYRE_OK);
    for (uint64_t i = 0; i < RECORDS; i++)
        assert_int_equal(fixture_put(store, i), VYRE_OK);
    struct vyre_store_info info;
    vyre_store_get_info(store, &info);
    assert_true(info.memory_bytes <= desc.memory_limit_bytes);
    assert_true(fixture_has(store, RECORDS - 1));
    assert_false(fixture_has(store, 0));
    assert_int_equal(fixture_logged(fixture, VYRE_DIAG_STORE_DROPPED), 1);
    vyre_store_close(&store);
}

/* A case that failed may have left its mount behind. */
static int unmount_and_tear_down(void **state)
{
    struct fixture *fixture = *state;
    (void)umount2(fixture->folder, MNT_DETACH);
    return fixture_tear_down(state);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_set_up, unmount_and_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(full_disk_degrades_to_memory),
        CASE(full_disk_that_gets_room_is_written_at_close),
        CASE(disk_full_from_the_start_is_memory_only),
        CASE(path_that_is_no_file_is_memory_only),
        CASE(read_only_folder_degrades),
        CASE(read_only_without_a_file_is_quiet),
        CASE(memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
