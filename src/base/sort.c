/*
 * sort.c: heap sort.
 *
 *   [ heap: each parent at i is not less than its children at 2i + 1, 2i + 2 | sorted ]
 */
#include "base/sort.h"

#include <string.h>

/* The largest piece of an item that is swapped at once. */
#define SWAP_BYTES 64

struct items {
    unsigned char *first;
    size_t item_bytes;
    int (*compare)(const void *a, const void *b);
};

static unsigned char *item_at(const struct items *items, size_t index)
{
    return items->first + index * items->item_bytes;
}

static void swap_items(const struct items *items, size_t i, size_t j)
{
    unsigned char held[SWAP_BYTES];
    unsigned char *a = item_at(items, i);
    unsigned char *b = item_at(items, j);
    for (size_t done = 0; done < items->item_bytes;) {
        size_t left = items->item_bytes - done;
        size_t piece = left < sizeof held ? left : sizeof held;
        memcpy(held, a + done, piece);
        memcpy(a + done, b + done, piece);
        memcpy(b + done, held, piece);
        done += piece;
    }
}

/* Moves the item at `parent` down until the `count` items form a heap again. */
static void sift_down(const struct items *items, size_t parent, size_t count)
{
    while (parent < count / 2) { /* it has a child; 2 * parent + 1 cannot overflow */
        size_t child = 2 * parent + 1;
        if (child + 1 < count &&
            items->compare(item_at(items, child), item_at(items, child + 1)) < 0)
            child++;
        if (items->compare(item_at(items, parent), item_at(items, child)) >= 0)
            return;
        swap_items(items, parent, child);
        parent = child;
    }
}

void vyre_sort(void *items, size_t count, size_t item_bytes,
               int (*compare)(const void *a, const void *b))
{
    const struct items heap = {.first = items, .item_bytes = item_bytes, .compare = compare};
    for (size_t parent = count / 2; parent > 0; parent--)
        sift_down(&heap, parent - 1, count);
    for (size_t left = count; left > 1; left--) {
        swap_items(&heap, 0, left - 1);
        sift_down(&heap, 0, left - 1);
    }
}
