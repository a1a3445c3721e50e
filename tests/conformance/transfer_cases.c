/*
 * transfer_cases.c: copy, fill, upload and download, alone and between dispatches.
 */
#include "conformance/conformance.h"

enum { WORDS = 300 };

static void fill_writes_its_range_only(struct fixture *f)
{
    uint32_t expected[WORDS];
    struct vyre_buffer *data = make_buffer(f, f->device, sizeof expected);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    vyre_batch_fill(batch, whole(data), 0x01020304);
    vyre_batch_fill(batch, range_of(data, 40, 80), 0xffffffff);
    vyre_batch_fill(batch, range_of(data, 800, 0), 0xabcdef01); /* to the end */
    vyre_batch_fill(batch, range_of(data, 44, 4), 0);
    for (size_t i = 0; i < WORDS; i++)
        expected[i] = i >= 200 ? 0xabcdef01 : i >= 10 && i < 30 ? 0xffffffff : 0x01020304;
    expected[11] = 0;
    for (size_t i = 0; i < mode_count; i++) {
        run_in(f, f->device, batch, modes[i]);
        assert_words(f, data, expected, WORDS);
    }
}

static void fill_misaligned_refused(struct fixture *f)
{
    static const size_t bad[][2] = {{1, 4}, {2, 4}, {3, 1}, {0, 1}, {0, 6}, {4, 3}, {2, 0}};
    struct vyre_buffer *data = make_buffer(f, f->device, 64);
    struct vyre_buffer *odd = make_buffer(f, f->device, 63);
    struct vyre_batch *batch = make_batch(f, f->device);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        vyre_batch_reset(batch);
        vyre_batch_fill(batch, range_of(data, bad[i][0], bad[i][1]), 1);
        assert_building_error(f, batch, VYRE_DIAG_BATCH_ALIGNMENT);
    }
    vyre_batch_reset(batch);
    vyre_batch_fill(batch, whole(odd), 1);
    assert_building_error(f, batch, VYRE_DIAG_BATCH_ALIGNMENT);
}

/* Copies have no alignment: any offset and size. */
static void copy_moves_bytes(struct fixture *f)
{
    unsigned char from_bytes[500], expected[500] = {0}, held[500];
    struct vyre_buffer *from = make_buffer(f, f->device, 500);
    struct vyre_buffer *to = make_buffer(f, f->device, 500);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (size_t i = 0; i < sizeof from_bytes; i++)
        from_bytes[i] = (unsigned char)(i * 7 + 1);
    assert_ok(f, vyre_buffer_write(from, 0, from_bytes, 500, &f->diag));
    vyre_batch_fill(batch, whole(to), 0);
    vyre_batch_copy(batch, range_of(from, 3, 77), range_of(to, 101, 77));
    vyre_batch_copy(batch, range_of(from, 499, 1), range_of(to, 0, 1));
    vyre_batch_copy(batch, range_of(from, 490, 0), range_of(to, 10, 10)); /* to the end */
    vyre_batch_copy(batch, range_of(to, 101, 50), range_of(to, 300, 50)); /* one buffer, disjoint */
    vyre_batch_copy(batch, range_of(to, 350, 50), range_of(to, 300, 50)); /* adjacent is disjoint */
    vyre_batch_copy(batch, range_of(to, 101, 30), range_of(to, 320, 30));
    memcpy(expected + 101, from_bytes + 3, 77);
    expected[0] = from_bytes[499];
    memcpy(expected + 10, from_bytes + 490, 10);
    memcpy(expected + 320, from_bytes + 3, 30);
    for (size_t i = 0; i < mode_count; i++) {
        run_in(f, f->device, batch, modes[i]);
        assert_ok(f, vyre_buffer_read(to, 0, held, sizeof held, &f->diag));
        assert_memory_equal(held, expected, sizeof held);
    }
}

static void copy_overlap_or_sizes_refused(struct fixture *f)
{
    struct vyre_buffer *a = make_buffer(f, f->device, 100);
    struct vyre_buffer *b = make_buffer(f, f->device, 60);
    struct vyre_range bad[][2] = {
        {range_of(a, 0, 50), range_of(a, 49, 50)},  {range_of(a, 49, 50), range_of(a, 0, 50)},
        {range_of(a, 10, 20), range_of(a, 10, 20)}, {whole(a), whole(a)},
        {range_of(a, 0, 50), range_of(b, 0, 40)},
    };
    struct vyre_batch *batch = make_batch(f, f->device);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        vyre_batch_reset(batch);
        vyre_batch_copy(batch, bad[i][0], bad[i][1]);
        assert_building_error(f, batch, VYRE_DIAG_BATCH_OVERLAP);
    }
}

/* The bytes are those of the moment at which the command was added. */
static void upload_copies_when_built(struct fixture *f)
{
    uint32_t words[WORDS], expected[WORDS];
    struct vyre_buffer *data = make_buffer(f, f->device, sizeof words);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = expected[i] = i * 11;
    vyre_batch_upload(batch, whole(data), words);
    memset(words, 0xee, sizeof words);
    for (size_t i = 0; i < mode_count; i++) {
        uint32_t zero[WORDS] = {0};
        assert_ok(f, vyre_buffer_write(data, 0, zero, sizeof zero, &f->diag));
        run_in(f, f->device, batch, modes[i]);
        assert_words(f, data, expected, WORDS);
    }
}

/* Borrowed bytes are read when the command runs, at every submit anew. */
static void upload_borrowed_reads_when_run(struct fixture *f)
{
    uint32_t words[WORDS];
    struct vyre_buffer *data = make_buffer(f, f->device, sizeof words);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    vyre_batch_upload_borrowed(batch, whole(data), words);
    for (uint32_t i = 0; i < 4 * mode_count; i++) {
        for (uint32_t j = 0; j < WORDS; j++)
            words[j] = 1000 * i + j;
        run_in(f, f->device, batch, modes[i % mode_count]);
        assert_words(f, data, words, WORDS);
    }
}

static void download_written_when_wait_returns(struct fixture *f)
{
    unsigned char held[WORDS * 4 + 2];
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    add_add(batch, add, whole(data), 0x01010101, WORDS);
    vyre_batch_download(batch, range_of(data, 5, 1001), held + 1);
    for (int i = 1; i <= (int)(3 * mode_count); i++) {
        memset(held, 0xee, sizeof held);
        run_in(f, f->device, batch, modes[(size_t)i % mode_count]);
        for (size_t j = 0; j < sizeof held; j++) /* its bytes and no others */
            assert_int_equal(held[j], j >= 1 && j < 1002 ? i : 0xee);
    }
}

/* Commands that touch no common buffer but meet in the caller's memory take effect in order too. */
static void caller_memory_shared_by_commands_in_order(struct fixture *f)
{
    enum { BIG_WORDS = 1 << 18 };
    uint32_t *held = calloc(BIG_WORDS, sizeof *held);
    struct vyre_buffer *a = make_buffer(f, f->device, BIG_WORDS * 4);
    struct vyre_buffer *b = make_buffer(f, f->device, BIG_WORDS * 4);
    struct vyre_buffer *c = make_buffer(f, f->device, BIG_WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    vyre_batch_fill(batch, whole(a), 1);
    vyre_batch_fill(batch, whole(b), 2);
    vyre_batch_download(batch, whole(a), held);
    vyre_batch_download(batch, whole(b), held);
    vyre_batch_upload_borrowed(batch, whole(c), held);
    for (size_t i = 0; i < 4 * mode_count; i++) {
        uint32_t got[2] = {0, 0};
        memset(held, 0, BIG_WORDS * sizeof *held);
        run_in(f, f->device, batch, modes[i % mode_count]);
        assert_int_equal(held[0], 2);
        assert_int_equal(held[BIG_WORDS - 1], 2);
        assert_ok(f, vyre_buffer_read(c, 0, &got[0], 4, &f->diag));
        assert_ok(f, vyre_buffer_read(c, (BIG_WORDS - 1) * 4, &got[1], 4, &f->diag));
        assert_int_equal(got[0], 2);
        assert_int_equal(got[1], 2);
    }
    free(held);
}

/* Every kind of command between dispatches that depend on it. */
static void transfers_amid_dispatches_in_order(struct fixture *f)
{
    uint32_t first[WORDS], second[WORDS], middle[WORDS], end[WORDS];
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_kernel *mix = make_kernel(f, f->device, KERNEL_MIX);
    struct vyre_buffer *a = make_buffer(f, f->device, sizeof first);
    struct vyre_buffer *b = make_buffer(f, f->device, sizeof first);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    for (uint32_t i = 0; i < WORDS; i++) {
        first[i] = i;
        second[i] = 5 * i + 2;
    }
    vyre_batch_upload(batch, whole(a), first);
    add_add(batch, add, whole(a), 10, WORDS);            /* a = i + 10 */
    vyre_batch_copy(batch, whole(a), whole(b));          /* b = i + 10 */
    vyre_batch_upload_borrowed(batch, whole(a), second); /* a = 5i + 2 */
    vyre_batch_download(batch, whole(b), middle);        /* i + 10 */
    add_mix(batch, mix, whole(a), whole(b), 3, WORDS);   /* b = 3i + 30 + 5i + 2 + i */
    vyre_batch_fill(batch, whole(a), 1);                 /* a = 1 */
    add_mix(batch, mix, whole(a), whole(b), 2, WORDS);   /* b = 18i + 64 + 1 + i */
    vyre_batch_download(batch, whole(b), end);
    for (size_t i = 0; i < 3 * mode_count; i++) {
        memset(middle, 0, sizeof middle);
        memset(end, 0, sizeof end);
        run_in(f, f->device, batch, modes[i % mode_count]);
        for (uint32_t j = 0; j < WORDS; j++) {
            assert_int_equal(middle[j], j + 10);
            assert_int_equal(end[j], 19 * j + 65);
        }
    }
}

static void large_transfers_move_all(struct fixture *f)
{
    enum { LARGE = 3 << 20 };
    uint32_t *words = malloc(LARGE), *held = calloc(1, LARGE);
    struct vyre_buffer *a = make_buffer(f, f->device, LARGE);
    struct vyre_buffer *b = make_buffer(f, f->device, LARGE);
    struct vyre_batch *batch = make_batch(f, f->device);
    assert_non_null(words);
    assert_non_null(held);
    for (uint32_t i = 0; i < LARGE / 4; i++)
        words[i] = i * 2654435761u;
    vyre_batch_upload(batch, whole(a), words);
    vyre_batch_copy(batch, range_of(a, 0, LARGE - 4), range_of(b, 4, LARGE - 4));
    vyre_batch_fill(batch, range_of(b, 0, 4), words[LARGE / 4 - 1]);
    vyre_batch_download(batch, whole(b), held);
    run_in(f, f->device, batch, VYRE_MODE_AUTO);
    assert_int_equal(held[0], words[LARGE / 4 - 1]);
    assert_memory_equal(held + 1, words, LARGE - 4);
    free(words);
    free(held);
}

static const struct conformance_case cases[] = {
    {"fill_writes_its_range_only", fill_writes_its_range_only, 0},
    {"fill_misaligned_refused", fill_misaligned_refused, 0},
    {"copy_moves_bytes", copy_moves_bytes, 0},
    {"copy_overlap_or_sizes_refused", copy_overlap_or_sizes_refused, 0},
    {"upload_copies_when_built", upload_copies_when_built, 0},
    {"upload_borrowed_reads_when_run", upload_borrowed_reads_when_run, 0},
    {"download_written_when_wait_returns", download_written_when_wait_returns, 0},
    {"caller_memory_shared_by_commands_in_order", caller_memory_shared_by_commands_in_order, 0},
    {"transfers_amid_dispatches_in_order", transfers_amid_dispatches_in_order, 0},
    {"large_transfers_move_all", large_transfers_move_all, 0},
};

const struct conformance_group transfer_cases = {"transfer", cases, COUNT_OF(cases)};
