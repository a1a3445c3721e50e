/*
 * buffer_cases.c: creating, writing, reading and mapping buffers.
 */
#include "conformance/conformance.h"

enum { WORDS = 1024 };

static void create_zeroed(struct fixture *f)
{
    static const size_t sizes[] = {1, 3, 4, 4096, 100003, 1 << 20};
    for (size_t round = 0; round < 2; round++) { /* memory given back comes again */
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            struct vyre_buffer *buffer = make_buffer(f, f->device, sizes[i]);
            unsigned char *bytes = malloc(sizes[i]);
            assert_non_null(bytes);
            memset(bytes, 0xee, sizes[i]);
            assert_ok(f, vyre_buffer_read(buffer, 0, bytes, sizes[i], &f->diag));
            size_t first = 0;
            while (first < sizes[i] && bytes[first] == 0)
                first++;
            assert_int_equal(first, sizes[i]);
            memset(bytes, 0xff, sizes[i]);
            assert_ok(f, vyre_buffer_write(buffer, 0, bytes, sizes[i], &f->diag));
            free(bytes);
            vyre_buffer_destroy(&buffer);
            assert_null(buffer);
        }
    }
}

static void create_keeps_size_and_label(struct fixture *f)
{
    char label[] = "pressure";
    struct vyre_buffer_desc desc = {.size_bytes = 12345, .label = label};
    struct vyre_buffer *buffer = NULL;
    assert_ok(f, vyre_buffer_create(f->device, &desc, &buffer, &f->diag));
    memset(label, 'x', sizeof label - 1); /* it was copied */
    assert_int_equal(vyre_buffer_size(buffer), 12345);
    assert_string_equal(vyre_buffer_label(buffer), "pressure");
    assert_string_equal(vyre_buffer_label(make_buffer(f, f->device, 1)), "");
}

static void identity_never_used_again(struct fixture *f)
{
    uint64_t seen = 0;
    for (size_t i = 0; i < 200; i++) {
        struct vyre_buffer *a = make_buffer(f, f->device, 256);
        struct vyre_buffer *b = make_buffer(f, f->device, 256);
        assert_true(vyre_buffer_identity(a) > seen); /* counted up: never met again */
        assert_true(vyre_buffer_identity(b) > vyre_buffer_identity(a));
        seen = vyre_buffer_identity(b);
        vyre_buffer_destroy(i % 2 ? &a : &b);
        vyre_buffer_destroy(i % 2 ? &b : &a);
    }
}

static void create_bad_size_refused(struct fixture *f)
{
    const uint64_t sizes[] = {0, SIZE_MAX, SIZE_MAX - 63, f->limits.buffer_size_bytes + 1};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct vyre_buffer *buffer = (struct vyre_buffer *)f; /* must be zeroed */
        struct vyre_buffer_desc desc = {.size_bytes = (size_t)sizes[i], .label = "bad"};
        assert_refused(f, vyre_buffer_create(f->device, &desc, &buffer, &f->diag),
                       VYRE_DIAG_BUFFER_SIZE);
        assert_string_equal(f->diag.label, "bad");
        assert_null(buffer);
    }
}

static void destroy_null_ignored(struct fixture *f)
{
    struct vyre_buffer *buffer = NULL;
    (void)f;
    vyre_buffer_destroy(&buffer);
    vyre_buffer_destroy(NULL);
}

static void write_then_read_gives_it_back(struct fixture *f)
{
    struct vyre_buffer *buffer = make_buffer(f, f->device, 1000);
    unsigned char model[1000] = {0}, held[1000];
    for (unsigned i = 0; i < 300; i++) {
        size_t offset = i * 37 % 990, size = 1 + i * 13 % (1000 - offset);
        memset(model + offset, (int)i, size);
        assert_ok(f, vyre_buffer_write(buffer, offset, model + offset, size, &f->diag));
    }
    assert_ok(f, vyre_buffer_read(buffer, 0, held, sizeof held, &f->diag));
    assert_memory_equal(held, model, sizeof held);
    assert_ok(f, vyre_buffer_read(buffer, 123, held, 77, &f->diag));
    assert_memory_equal(held, model + 123, 77);
}

static void range_outside_refused(struct fixture *f)
{
    static const struct {
        size_t offset, size;
    } bad[] = {{0, 101},      {100, 1},      {1, 100},           {101, 0},
               {SIZE_MAX, 1}, {1, SIZE_MAX}, {50, SIZE_MAX - 49}};
    unsigned char bytes[256] = {0};
    struct vyre_buffer_desc desc = {.size_bytes = 100, .label = "short"};
    struct vyre_buffer *buffer = NULL;
    assert_ok(f, vyre_buffer_create(f->device, &desc, &buffer, &f->diag));
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_refused(f, vyre_buffer_write(buffer, bad[i].offset, bytes, bad[i].size, &f->diag),
                       VYRE_DIAG_BUFFER_RANGE);
        assert_string_equal(f->diag.label, "short");
        assert_refused(f, vyre_buffer_read(buffer, bad[i].offset, bytes, bad[i].size, &f->diag),
                       VYRE_DIAG_BUFFER_RANGE);
    }
}

static void write_waits_for_submitted_work(struct fixture *f)
{
    struct vyre_device *device = open_async_device(f, (struct vyre_device_desc){0});
    struct vyre_kernel *gate = make_kernel(f, device, KERNEL_GATE);
    struct vyre_buffer *data = make_buffer(f, device, 64);
    struct vyre_batch *batch = make_batch(f, device);
    struct gate_opener opener;
    uint32_t word = 40;
    add_gate(batch, gate, whole(data), &f->gates[0]);
    struct vyre_ticket ticket = submit_in(f, batch, VYRE_MODE_PLAIN);

    gate_opener_start(&opener, &f->gates[0], 30000000);
    enum vyre_status status = vyre_buffer_write(data, 0, &word, sizeof word, &f->diag);
    bool opened = atomic_load(&opener.opened);
    gate_opener_join(&opener);
    assert_ok(f, status);
    assert_true(opened);
    assert_ok(f, vyre_ticket_poll(device, ticket, &f->diag));
    assert_int_equal(read_word(f, data, 0), 40); /* written after the kernel, not before */
}

static void read_sees_submitted_work(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    uint32_t expected = 0;
    add_add(batch, add, whole(data), 3, WORDS);
    for (size_t i = 0; i < 60; i++) {
        submit_in(f, batch, modes[i % mode_count]);
        expected += 3;
        if (i % 7 == 0)
            assert_all_words(f, data, expected, WORDS); /* no wait before it */
    }
}

static void map_is_the_buffer(struct fixture *f)
{
    struct vyre_kernel *add = make_kernel(f, f->device, KERNEL_ADD);
    struct vyre_buffer *data = make_buffer(f, f->device, WORDS * 4);
    struct vyre_batch *batch = make_batch(f, f->device);
    enum vyre_mode modes[3];
    size_t mode_count = device_modes(f->device, modes);
    void *mapped = NULL;
    assert_ok(f, vyre_buffer_map(data, &mapped, &f->diag));
    assert_non_null(mapped);
    uint32_t *words = mapped;
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i;
    add_add(batch, add, whole(data), 100, WORDS);
    for (size_t i = 0; i < mode_count; i++)
        run_in(f, f->device, batch, modes[i]);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(words[i], i + 100 * mode_count);
    void *again = NULL;
    assert_ok(f, vyre_buffer_map(data, &again, &f->diag));
    assert_ptr_equal(again, mapped);
}

static void map_absent_refused(struct fixture *f)
{
    struct vyre_buffer *data = make_buffer(f, f->device, 64);
    void *mapped = f;
    if (device_has(f->device, VYRE_ABILITY_HOST_VISIBLE))
        return; /* map_is_the_buffer looks at that */
    assert_refused(f, vyre_buffer_map(data, &mapped, &f->diag), VYRE_DIAG_BUFFER_NOT_MAPPABLE);
    assert_null(mapped);
}

static void counters_follow_memory(struct fixture *f)
{
    uint64_t before = counters_of(f->device).memory_bytes;
    struct vyre_buffer *a = make_buffer(f, f->device, 100000);
    struct vyre_buffer *b = make_buffer(f, f->device, 50000);
    assert_true(counters_of(f->device).memory_bytes >= before + 150000);
    vyre_buffer_destroy(&a);
    vyre_buffer_destroy(&b);
    assert_int_equal(counters_of(f->device).memory_bytes, before);
}

static const struct conformance_case cases[] = {
    {"create_zeroed", create_zeroed, 0},
    {"create_keeps_size_and_label", create_keeps_size_and_label, 0},
    {"identity_never_used_again", identity_never_used_again, 0},
    {"create_bad_size_refused", create_bad_size_refused, 0},
    {"destroy_null_ignored", destroy_null_ignored, 0},
    {"write_then_read_gives_it_back", write_then_read_gives_it_back, 0},
    {"range_outside_refused", range_outside_refused, 0},
    {"write_waits_for_submitted_work", write_waits_for_submitted_work, NEEDS_ASYNC},
    {"read_sees_submitted_work", read_sees_submitted_work, 0},
    {"map_is_the_buffer", map_is_the_buffer, NEEDS(HOST_VISIBLE)},
    {"map_absent_refused", map_absent_refused, 0},
    {"counters_follow_memory", counters_follow_memory, 0},
};

const struct conformance_group buffer_cases = {"buffer", cases, COUNT_OF(cases)};
