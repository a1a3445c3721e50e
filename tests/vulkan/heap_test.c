/*
 * heap_test.c: the suballocator, the staging ring and the barriers, without a driver.
 */
#include "backend/vulkan/barriers.h"
#include "backend/vulkan/heap.h"
#include "backend/vulkan/staging.h"
#include "base/memory.h"
#include "support/random.h"
#include "support/test.h"

enum { MIB = 1 << 20, PIECES = 300 };

/* A driver that counts, and fails above a limit or for the types that have run out. */
struct fake {
    uint64_t live, peak, limit, calls, next;
    uint32_t gone_bits;
};

static VkResult fake_allocate(void *user, uint32_t type, uint64_t size, bool map,
                              VkDeviceMemory *out_memory, void **out_mapped)
{
    struct fake *fake = user;
    fake->calls++;
    if (fake->live + size > fake->limit || (fake->gone_bits >> type & 1))
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    fake->live += size;
    fake->next++;
    /* Handles are numbers here: the number of the block and its size. */
    *out_memory = (VkDeviceMemory)(uintptr_t)(fake->next << 40 | size);
    if (map)
        *out_mapped = (void *)(uintptr_t)(fake->next << 40);
    return VK_SUCCESS;
}

static void fake_free(void *user, VkDeviceMemory memory)
{
    struct fake *fake = user;
    fake->live -= (uintptr_t)memory & ((UINT64_C(1) << 40) - 1);
}

static void open_heap(struct vyre_vk_heap *heap, struct fake *fake)
{
    static const VkPhysicalDeviceMemoryProperties types = {
        .memoryTypeCount = 2,
        .memoryTypes = {{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0},
                        {VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                         1}},
        .memoryHeapCount = 2,
        .memoryHeaps = {{UINT64_C(8) << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
                        {UINT64_C(8) << 30, 0}},
    };
    const struct vyre_allocator allocator = vyre_allocator_resolve(NULL);
    const struct vyre_vk_heap_driver driver = {fake, fake_allocate, fake_free};
    vyre_vk_heap_init(heap, &allocator, &driver, &types, 64);
}

static bool overlap(const struct vyre_vk_place *a, const struct vyre_vk_place *b)
{
    return a->block && a->block == b->block && a->offset_bytes < b->offset_bytes + b->size_bytes &&
           b->offset_bytes < a->offset_bytes + a->size_bytes;
}

/* Random takes and gives: aligned, disjoint, few calls, and everything comes back. */
static void random_requests_disjoint_and_aligned(void **state)
{
    (void)state;
    struct fake fake = {.limit = UINT64_C(4) << 30};
    struct vyre_vk_heap heap;
    static struct vyre_vk_place places[PIECES];
    struct rng random;
    random = rng_seeded(7);
    open_heap(&heap, &fake);
    for (int i = 0; i < 20000; i++) {
        struct vyre_vk_place *place = &places[rng_below(&random, PIECES)];
        if (place->block) {
            vyre_vk_heap_give(&heap, place);
            assert_null(place->block);
            continue;
        }
        const VkMemoryRequirements wanted = {.size = 1 + rng_below(&random, 300000),
                                             .alignment = UINT64_C(1) << rng_below(&random, 13),
                                             .memoryTypeBits = 3};
        assert_int_equal(vyre_vk_heap_take(&heap, VYRE_VK_MEMORY_DEVICE, &wanted, place),
                         VK_SUCCESS);
        assert_int_equal(place->offset_bytes % wanted.alignment, 0);
        assert_int_equal(place->offset_bytes % 64, 0);
        assert_true(place->size_bytes >= wanted.size);
        for (int j = 0; j < PIECES; j++)
            assert_false(&places[j] != place && overlap(place, &places[j]));
    }
    assert_true(fake.calls < 10);
    for (int j = 0; j < PIECES; j++)
        vyre_vk_heap_give(&heap, &places[j]);
    assert_true(fake.live <= 64 * MIB);
    vyre_vk_heap_deinit(&heap);
    assert_int_equal(fake.live, 0);
}

static void large_request_dedicated_and_returned(void **state)
{
    (void)state;
    struct fake fake = {.limit = UINT64_C(1) << 30};
    struct vyre_vk_heap heap;
    struct vyre_vk_place place;
    const VkMemoryRequirements large = {.size = 40 * MIB, .alignment = 16, .memoryTypeBits = 3};
    open_heap(&heap, &fake);
    assert_int_equal(vyre_vk_heap_take(&heap, VYRE_VK_MEMORY_DEVICE, &large, &place), VK_SUCCESS);
    assert_int_equal(fake.live, 40 * MIB);
    assert_null(place.mapped);
    vyre_vk_heap_give(&heap, &place);
    assert_int_equal(fake.live, 0);
    vyre_vk_heap_deinit(&heap);
}

static void out_of_memory_leaves_heap_usable(void **state)
{
    (void)state;
    struct fake fake = {.limit = 10 * MIB};
    struct vyre_vk_heap heap;
    struct vyre_vk_place small, large;
    const VkMemoryRequirements wanted = {.size = 4 * MIB, .alignment = 16, .memoryTypeBits = 3};
    const VkMemoryRequirements more = {.size = 8 * MIB, .alignment = 16, .memoryTypeBits = 3};
    open_heap(&heap, &fake);
    /* No whole block fits: what is asked for still does. */
    assert_int_equal(vyre_vk_heap_take(&heap, VYRE_VK_MEMORY_DEVICE, &wanted, &small), VK_SUCCESS);
    assert_int_equal(vyre_vk_heap_take(&heap, VYRE_VK_MEMORY_DEVICE, &more, &large),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_null(large.block);
    vyre_vk_heap_give(&heap, &small);
    assert_int_equal(vyre_vk_heap_take(&heap, VYRE_VK_MEMORY_DEVICE, &more, &large), VK_SUCCESS);
    vyre_vk_heap_give(&heap, &large);
    vyre_vk_heap_deinit(&heap);
    assert_int_equal(fake.live, 0);
}

static void type_follows_use(void **state)
{
    (void)state;
    struct fake fake = {.limit = UINT64_C(1) << 30};
    struct vyre_vk_heap heap;
    open_heap(&heap, &fake);
    assert_int_equal(vyre_vk_heap_type(&heap, VYRE_VK_MEMORY_DEVICE, 3), 0);
    assert_int_equal(vyre_vk_heap_type(&heap, VYRE_VK_MEMORY_WRITTEN, 3), 0);
    assert_int_equal(vyre_vk_heap_type(&heap, VYRE_VK_MEMORY_STAGING, 3), 1);
    assert_int_equal(vyre_vk_heap_type(&heap, VYRE_VK_MEMORY_STAGING, 1), VK_MAX_MEMORY_TYPES);
    assert_int_equal(vyre_vk_heap_type(&heap, VYRE_VK_MEMORY_DEVICE, 2), 1);
    vyre_vk_heap_deinit(&heap);
}

/* A graphics card: memory that the host sees is there, but little of it. */
static void scarce_type_gone_next_wish_is_taken(void **state)
{
    enum { HOST, LOCAL, SEEN };
    static const VkPhysicalDeviceMemoryProperties types = {
        .memoryTypeCount = 3,
        .memoryTypes = {{VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                         0},
                        {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 1},
                        {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                             VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                         2}},
        .memoryHeapCount = 3,
        .memoryHeaps = {{UINT64_C(8) << 30, 0},
                        {UINT64_C(8) << 30, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT},
                        {UINT64_C(256) << 20, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}},
    };
    (void)state;
    struct fake fake = {.limit = UINT64_C(4) << 30};
    struct vyre_vk_heap heap;
    struct vyre_vk_place seen, local, none;
    const VkMemoryRequirements wanted = {.size = 20 * MIB, .alignment = 16, .memoryTypeBits = 7};
    const struct vyre_allocator allocator = vyre_allocator_resolve(NULL);
    const struct vyre_vk_heap_driver driver = {&fake, fake_allocate, fake_free};
    vyre_vk_heap_init(&heap, &allocator, &driver, &types, 64);
    assert_int_equal(vyre_vk_heap_take(&heap, VYRE_VK_MEMORY_WRITTEN, &wanted, &seen), VK_SUCCESS);
    assert_non_null(seen.mapped);
    fake.gone_bits = 1u << SEEN;
    assert_int_equal(vyre_vk_heap_take(&heap, VYRE_VK_MEMORY_WRITTEN, &wanted, &local), VK_SUCCESS);
    assert_null(local.mapped);
    /* The host's memory is no substitute for the device's. */
    fake.gone_bits |= 1u << LOCAL;
    const VkMemoryRequirements large = {.size = 100 * MIB, .alignment = 16, .memoryTypeBits = 7};
    assert_int_equal(vyre_vk_heap_take(&heap, VYRE_VK_MEMORY_WRITTEN, &large, &none),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_null(none.block);
    vyre_vk_heap_give(&heap, &seen);
    vyre_vk_heap_give(&heap, &local);
    vyre_vk_heap_deinit(&heap);
    assert_int_equal(fake.live, 0);
}

static void ring_pieces_contiguous_and_bounded(void **state)
{
    (void)state;
    struct vyre_vk_ring ring = {.capacity = 4096};
    uint64_t at;
    struct rng random;
    random = rng_seeded(3);
    assert_false(vyre_vk_ring_take(&ring, 4097, &at));
    for (int i = 0; i < 10000; i++) {
        uint64_t size = 1 + rng_below(&random, 2048);
        if (vyre_vk_ring_take(&ring, size, &at)) {
            assert_true(at + size <= ring.capacity);
            assert_int_equal(at % 64, 0);
            assert_true(ring.head - ring.tail <= ring.capacity);
        } else {
            ring.tail = ring.head;
            assert_true(vyre_vk_ring_take(&ring, size, &at));
        }
    }
}

static void barrier_only_where_needed(void **state)
{
    (void)state;
    struct vyre_vk_barriers barriers;
    uint32_t from, to;
    vyre_vk_barriers_full(&barriers, 0);
    assert_false(vyre_vk_barriers_take(&barriers, 0, &from, &to));
    /* A kernel that waits for a kernel: compute to compute and nothing else. */
    vyre_vk_barriers_need(&barriers, VYRE_VK_COMPUTE, 0, VYRE_VK_COMPUTE);
    assert_true(vyre_vk_barriers_take(&barriers, 1, &from, &to));
    assert_int_equal(from, 1u << VYRE_VK_COMPUTE);
    assert_int_equal(to, 1u << VYRE_VK_COMPUTE);
    /* What ran before that barrier needs none a second time ... */
    vyre_vk_barriers_need(&barriers, VYRE_VK_COMPUTE, 0, VYRE_VK_COMPUTE);
    assert_false(vyre_vk_barriers_take(&barriers, 2, &from, &to));
    /* ... but a copy does, and so does what ran after it. */
    vyre_vk_barriers_need(&barriers, VYRE_VK_COMPUTE, 0, VYRE_VK_TRANSFER);
    assert_true(vyre_vk_barriers_take(&barriers, 2, &from, &to));
    assert_int_equal(to, 1u << VYRE_VK_TRANSFER);
    vyre_vk_barriers_need(&barriers, VYRE_VK_COMPUTE, 1, VYRE_VK_COMPUTE);
    assert_true(vyre_vk_barriers_take(&barriers, 3, &from, &to));
}

static void host_uploads_need_no_barrier(void **state)
{
    (void)state;
    struct vyre_vk_barriers barriers;
    uint32_t from, to;
    vyre_vk_barriers_full(&barriers, 0);
    vyre_vk_barriers_skip_first_transfers(&barriers);
    vyre_vk_barriers_need(&barriers, VYRE_VK_TRANSFER, 0, VYRE_VK_COMPUTE);
    assert_false(vyre_vk_barriers_take(&barriers, 1, &from, &to));
    vyre_vk_barriers_need(&barriers, VYRE_VK_TRANSFER, 1, VYRE_VK_COMPUTE);
    assert_true(vyre_vk_barriers_take(&barriers, 2, &from, &to));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_requests_disjoint_and_aligned),
        cmocka_unit_test(large_request_dedicated_and_returned),
        cmocka_unit_test(out_of_memory_leaves_heap_usable),
        cmocka_unit_test(type_follows_use),
        cmocka_unit_test(scarce_type_gone_next_wish_is_taken),
        cmocka_unit_test(ring_pieces_contiguous_and_bounded),
        cmocka_unit_test(barrier_only_where_needed),
        cmocka_unit_test(host_uploads_need_no_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
