/*
 * Counts allocations in programs that are linked with RIG_COUNTED_HEAP (tests/CMakeLists.txt), which redirects malloc()
 * and its relatives here. Included by one file of a program. Threads: any.
 */
#ifndef RIG_TESTS_COUNTED_HEAP_H
#define RIG_TESTS_COUNTED_HEAP_H

#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_size_t heap_bytes, heap_peak_bytes;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void __wrap_free(void *memory);

static void *count_heap(void *memory)
{
    const size_t size = memory == NULL ? 0 : malloc_usable_size(memory);
    const size_t now = atomic_fetch_add(&heap_bytes, size) + size;
    size_t peak = atomic_load(&heap_peak_bytes);
    while (now > peak && !atomic_compare_exchange_weak(&heap_peak_bytes, &peak, now))
        ;
    return memory;
}

static void discount_heap(void *memory)
{
    if (memory != NULL)
        (void)atomic_fetch_sub(&heap_bytes, malloc_usable_size(memory));
}

void *__wrap_malloc(size_t size)
{
    return count_heap(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return count_heap(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
    const size_t before = memory == NULL ? 0 : malloc_usable_size(memory);
    void *moved = __real_realloc(memory, size);
    if (moved != NULL)
        (void)atomic_fetch_sub(&heap_bytes, before);
    return moved == NULL ? NULL : count_heap(moved);
}

void __wrap_free(void *memory)
{
    discount_heap(memory);
    __real_free(memory);
}

/* Restarts the peak at the bytes allocated now. Returns these. */
static size_t restart_heap_peak(void)
{
    const size_t now = atomic_load(&heap_bytes);
    atomic_store(&heap_peak_bytes, now);
    return now;
}

static size_t heap_peak_since(size_t before)
{
    return atomic_load(&heap_peak_bytes) - before;
}

#endif
