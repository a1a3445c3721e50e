/*
 * sort.h: sorting in place.
 *
 * The C library's qsort may allocate; this one never does, so that plans and policies may use it.
 *
 * Thread-safety: touches only the caller's items.
 */
#ifndef VYRE_BASE_SORT_H
#define VYRE_BASE_SORT_H

#include <stddef.h>

/*
 * Sorts ascending by `compare`, as qsort does: n log n in the worst case, no allocation, constant
 * stack. Not stable. `items` may be NULL when `count` is 0; `item_bytes` is not 0.
 */
void vyre_sort(void *items, size_t count, size_t item_bytes,
               int (*compare)(const void *a, const void *b));

#endif
