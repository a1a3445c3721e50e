/*
 * descriptors.c: the cache of descriptor sets.
 */
#include "backend/vulkan/descriptors.h"

#include <string.h>

#include "backend/vulkan/device.h"
#include "backend/vulkan/result.h"
#include "base/memory.h"

#define SETS_KEPT       1024
#define FIRST_BUCKETS   1024
#define POOL_SETS       256
#define POOL_STORAGE    (POOL_SETS * 8)
#define POOL_UNIFORM    (POOL_SETS * 2)
#define TABLE_ALIGNMENT 256 /* the largest alignment that Vulkan allows devices to require */

struct vyre_vk_pool {
    struct vyre_vk_pool *next;
    VkDescriptorPool handle;
};

/* ---- Keys ------------------------------------------------------------------------------------- */

/* Words to hash. When the block is full, its hash becomes the first word of the next. */
struct digest {
    uint64_t words[128];
    uint32_t count;
};

static void digest_word(struct digest *digest, uint64_t word)
{
    if (digest->count == 128) {
        struct vyre_hash128 so_far = vyre_hash128(digest->words, sizeof digest->words);
        digest->words[0] = so_far.lo;
        digest->words[1] = so_far.hi;
        digest->count = 2;
    }
    digest->words[digest->count++] = word;
}

static struct vyre_hash128 key_of(const struct vyre_vk_layout *layout,
                                  const struct vyre_batch_view *view,
                                  const struct vyre_command *command)
{
    struct digest digest;
    digest.count = 0;
    digest_word(&digest, layout->id);
    for (uint32_t i = 0; i < command->binding_count; i++) {
        const struct vyre_command_binding *binding = &view->bindings[command->first_binding + i];
        if (binding->kind == VYRE_BINDING_LOCAL)
            continue;
        digest_word(&digest, (uint64_t)binding->kind << 32 | binding->range_count);
        for (uint32_t j = 0; j < binding->range_count; j++) {
            const struct vyre_bound_range *range = &view->ranges[binding->first_range + j];
            digest_word(&digest, range->identity);
            digest_word(&digest, range->offset_bytes);
            digest_word(&digest, range->size_bytes);
        }
    }
    return vyre_hash128(digest.words, digest.count * sizeof digest.words[0]);
}

/* ---- The list by use, and the buckets --------------------------------------------------------- */

static void unlink_idle(struct vyre_vk_descriptors *all, struct vyre_vk_set *set)
{
    *(set->newer ? &set->newer->older : &all->newest) = set->older;
    *(set->older ? &set->older->newer : &all->oldest) = set->newer;
    set->newer = set->older = NULL;
    all->idle_count--;
}

static void link_newest(struct vyre_vk_descriptors *all, struct vyre_vk_set *set)
{
    set->newer = NULL;
    set->older = all->newest;
    *(all->newest ? &all->newest->newer : &all->oldest) = set;
    all->newest = set;
    all->idle_count++;
}

static struct vyre_vk_set **bucket_of(const struct vyre_vk_descriptors *all,
                                      struct vyre_hash128 key)
{
    return &all->buckets[key.lo & all->bucket_mask];
}

static void remove_from_bucket(struct vyre_vk_descriptors *all, const struct vyre_vk_set *set)
{
    struct vyre_vk_set **link = bucket_of(all, set->key);
    while (*link != set)
        link = &(*link)->next_in_bucket;
    *link = set->next_in_bucket;
    all->count--;
}

static void add_to_bucket(struct vyre_vk_descriptors *all, struct vyre_vk_set *set)
{
    struct vyre_vk_set **link = bucket_of(all, set->key);
    set->next_in_bucket = *link;
    *link = set;
    all->count++;
}

/* Doubles the buckets. Without memory they stay as they are, which is only slower. */
static bool grow_buckets(struct vyre_vk_device *device)
{
    struct vyre_vk_descriptors *all = &device->descriptors;
    struct vyre_vk_descriptors old = *all;
    uint32_t count = old.buckets ? (old.bucket_mask + 1) * 2 : FIRST_BUCKETS;
    struct vyre_vk_set **buckets = vyre_memory_allocate(
        &device->allocator, count * sizeof(struct vyre_vk_set *), _Alignof(struct vyre_vk_set *));
    if (!buckets)
        return old.buckets != NULL;
    all->buckets = buckets;
    all->bucket_mask = count - 1;
    all->count = 0;
    for (uint32_t i = 0; old.buckets && i <= old.bucket_mask; i++) {
        for (struct vyre_vk_set *set = old.buckets[i]; set;) {
            struct vyre_vk_set *next = set->next_in_bucket;
            add_to_bucket(all, set);
            set = next;
        }
    }
    if (old.buckets)
        vyre_memory_free(&device->allocator, old.buckets,
                         (old.bucket_mask + 1) * sizeof(struct vyre_vk_set *),
                         _Alignof(struct vyre_vk_set *));
    return true;
}

/* ---- Pools ------------------------------------------------------------------------------------ */

static VkResult add_pool(struct vyre_vk_device *device)
{
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, POOL_STORAGE},
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, POOL_UNIFORM},
    };
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .flags = VK_DESCRIPTOR_POOL_CREATE_FREE_DESCRIPTOR_SET_BIT,
        .maxSets = POOL_SETS,
        .poolSizeCount = 2,
        .pPoolSizes = sizes,
    };
    struct vyre_vk_pool *pool =
        vyre_memory_allocate(&device->allocator, sizeof *pool, _Alignof(struct vyre_vk_pool));
    if (!pool)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    VkResult result = device->vk.CreateDescriptorPool(device->handle, &info, NULL, &pool->handle);
    if (result != VK_SUCCESS) {
        vyre_memory_free(&device->allocator, pool, sizeof *pool, _Alignof(struct vyre_vk_pool));
        return result;
    }
    pool->next = device->descriptors.pools;
    device->descriptors.pools = pool;
    return VK_SUCCESS;
}

static VkResult allocate_from(struct vyre_vk_device *device, const struct vyre_vk_layout *layout,
                              struct vyre_vk_pool *pool, struct vyre_vk_set *set)
{
    const VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool->handle,
        .descriptorSetCount = 1,
        .pSetLayouts = &layout->set,
    };
    set->pool = pool;
    return device->vk.AllocateDescriptorSets(device->handle, &info, &set->handle);
}

static VkResult allocate_handle(struct vyre_vk_device *device, const struct vyre_vk_layout *layout,
                                struct vyre_vk_set *set)
{
    struct vyre_vk_descriptors *all = &device->descriptors;
    for (struct vyre_vk_pool **link = &all->pools; *link; link = &(*link)->next) {
        struct vyre_vk_pool *pool = *link;
        VkResult result = allocate_from(device, layout, pool, set);
        if (result == VK_ERROR_OUT_OF_POOL_MEMORY || result == VK_ERROR_FRAGMENTED_POOL)
            continue;
        *link = pool->next;
        pool->next = all->pools;
        all->pools = pool;
        return result;
    }
    VkResult result = add_pool(device);
    return result == VK_SUCCESS ? allocate_from(device, layout, all->pools, set) : result;
}

/* ---- Sets ------------------------------------------------------------------------------------- */

static void free_set(struct vyre_vk_device *device, struct vyre_vk_set *set)
{
    if (set->handle)
        (void)device->vk.FreeDescriptorSets(device->handle, set->pool->handle, 1, &set->handle);
    vyre_vk_buffer_unmake(device, &set->tables);
    vyre_memory_free(&device->allocator, set, sizeof *set, _Alignof(struct vyre_vk_set));
}

/* Frees sets beyond those that are kept, once the device is done with them. */
static void trim(struct vyre_vk_device *device)
{
    struct vyre_vk_descriptors *all = &device->descriptors;
    while (all->idle_count > SETS_KEPT &&
           all->oldest->last_value <= vyre_vk_device_reached(device)) {
        struct vyre_vk_set *set = all->oldest;
        unlink_idle(all, set);
        remove_from_bucket(all, set);
        free_set(device, set);
    }
}

/* Bytes of all tables of a dispatch, each with its alignment. */
static uint64_t tables_bytes(const struct vyre_batch_view *view, const struct vyre_command *command)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < command->binding_count; i++) {
        const struct vyre_command_binding *binding = &view->bindings[command->first_binding + i];
        if (binding->kind == VYRE_BINDING_TABLE)
            size += ((uint64_t)binding->range_count * sizeof(uint64_t) + TABLE_ALIGNMENT - 1) /
                    TABLE_ALIGNMENT * TABLE_ALIGNMENT;
    }
    return size;
}

/* Writes a table's addresses at `offset`; returns where the next one begins. */
static uint64_t fill_table(const struct vyre_batch_view *view,
                           const struct vyre_command_binding *binding,
                           const struct vyre_vk_set *set, uint64_t offset,
                           VkDescriptorBufferInfo *out_info)
{
    uint64_t *addresses = (uint64_t *)(void *)(set->tables.place.mapped + offset);
    for (uint32_t i = 0; i < binding->range_count; i++) {
        const struct vyre_bound_range *range = &view->ranges[binding->first_range + i];
        const struct vyre_vk_buffer *buffer = range->buffer;
        addresses[i] = buffer->address + range->offset_bytes;
    }
    uint64_t size = (uint64_t)binding->range_count * sizeof(uint64_t);
    *out_info = (VkDescriptorBufferInfo){set->tables.handle, offset, size};
    return (offset + size + TABLE_ALIGNMENT - 1) / TABLE_ALIGNMENT * TABLE_ALIGNMENT;
}

static void write_set(struct vyre_vk_device *device, const struct vyre_vk_layout *layout,
                      const struct vyre_batch_view *view, const struct vyre_command *command,
                      const struct vyre_vk_set *set)
{
    VkDescriptorBufferInfo infos[VYRE_KERNEL_BINDINGS_MAX];
    VkWriteDescriptorSet writes[VYRE_KERNEL_BINDINGS_MAX];
    uint32_t count = 0;
    uint64_t table_offset = 0;
    for (uint32_t i = 0; i < command->binding_count; i++) {
        const struct vyre_command_binding *binding = &view->bindings[command->first_binding + i];
        if (binding->kind == VYRE_BINDING_LOCAL)
            continue;
        VkDescriptorType type = layout->slots[count].type;
        if (binding->kind == VYRE_BINDING_TABLE) {
            table_offset = fill_table(view, binding, set, table_offset, &infos[count]);
        } else {
            const struct vyre_bound_range *range = &view->ranges[binding->first_range];
            const struct vyre_vk_buffer *buffer = range->buffer;
            uint64_t size = range->size_bytes;
            uint64_t limit = device->physical->properties.limits.maxUniformBufferRange;
            if (type == VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER && size > limit)
                size = limit; /* a block is never larger; nothing can read past it */
            infos[count] = (VkDescriptorBufferInfo){buffer->handle, range->offset_bytes, size};
        }
        writes[count] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set->handle,
            .dstBinding = binding->slot,
            .descriptorCount = 1,
            .descriptorType = type,
            .pBufferInfo = &infos[count],
        };
        count++;
    }
    device->vk.UpdateDescriptorSets(device->handle, count, writes, 0, NULL);
    device->descriptors.written++;
}

static enum vyre_status make_set(struct vyre_vk_device *device, const struct vyre_vk_layout *layout,
                                 const struct vyre_batch_view *view,
                                 const struct vyre_command *command, struct vyre_hash128 key,
                                 struct vyre_vk_set **out_set, struct vyre_diag *diag)
{
    struct vyre_vk_descriptors *all = &device->descriptors;
    if ((!all->buckets || all->count > all->bucket_mask) && !grow_buckets(device))
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, view->label, 0,
                             "no memory for descriptor sets");
    struct vyre_vk_set *set =
        vyre_memory_allocate(&device->allocator, sizeof *set, _Alignof(struct vyre_vk_set));
    if (!set)
        return vyre_diag_set(diag, VYRE_DIAG_OUT_OF_MEMORY, view->label, 0,
                             "no memory for a descriptor set");
    VkResult result = allocate_handle(device, layout, set);
    if (result != VK_SUCCESS)
        set->handle = VK_NULL_HANDLE;
    enum vyre_status status = vyre_vk_check(result, "vkAllocateDescriptorSets", view->label, diag);
    uint64_t bytes = tables_bytes(view, command);
    if (status == VYRE_OK && bytes > 0)
        status = vyre_vk_buffer_make(device, VYRE_VK_MEMORY_STAGING, bytes, view->label,
                                     &set->tables, diag);
    if (status != VYRE_OK) {
        free_set(device, set);
        return status;
    }
    set->key = key;
    set->layout_id = layout->id;
    write_set(device, layout, view, command, set);
    add_to_bucket(all, set);
    link_newest(all, set);
    *out_set = set;
    return VYRE_OK;
}

enum vyre_status vyre_vk_descriptors_find(struct vyre_vk_device *device,
                                          const struct vyre_vk_layout *layout,
                                          const struct vyre_batch_view *view,
                                          const struct vyre_command *command,
                                          struct vyre_vk_set **out_set, struct vyre_diag *diag)
{
    struct vyre_vk_descriptors *all = &device->descriptors;
    struct vyre_hash128 key = key_of(layout, view, command);
    struct vyre_vk_set *set = all->buckets ? *bucket_of(all, key) : NULL;
    while (set && !vyre_hash128_equal(set->key, key))
        set = set->next_in_bucket;
    if (!set) {
        trim(device);
        return make_set(device, layout, view, command, key, out_set, diag);
    }
    if (set->holders == 0 && set != all->newest) {
        unlink_idle(all, set);
        link_newest(all, set);
    }
    *out_set = set;
    return VYRE_OK;
}

void vyre_vk_set_hold(struct vyre_vk_device *device, struct vyre_vk_set *set)
{
    if (set->holders++ == 0)
        unlink_idle(&device->descriptors, set);
}

void vyre_vk_set_release(struct vyre_vk_device *device, struct vyre_vk_set *set)
{
    if (--set->holders == 0)
        link_newest(&device->descriptors, set);
}

void vyre_vk_descriptors_deinit(struct vyre_vk_device *device)
{
    struct vyre_vk_descriptors *all = &device->descriptors;
    while (all->oldest) {
        struct vyre_vk_set *set = all->oldest;
        unlink_idle(all, set);
        free_set(device, set);
    }
    while (all->pools) {
        struct vyre_vk_pool *pool = all->pools;
        all->pools = pool->next;
        device->vk.DestroyDescriptorPool(device->handle, pool->handle, NULL);
        vyre_memory_free(&device->allocator, pool, sizeof *pool, _Alignof(struct vyre_vk_pool));
    }
    if (all->buckets)
        vyre_memory_free(&device->allocator, all->buckets,
                         (all->bucket_mask + 1) * sizeof(struct vyre_vk_set *),
                         _Alignof(struct vyre_vk_set *));
    all->buckets = NULL;
}
