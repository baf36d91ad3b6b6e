/*
 * Typed vectors: RIG_VEC(type, name) declares `struct name` with its functions.
 *
 *   RIG_VEC(uint32_t, u32s)   struct u32s {uint32_t *at; size_t count, capacity;}
 *   u32s_add(&v, 7)           adds an item; false when memory runs out, and the vector keeps its items
 *   u32s_reserve(&v, 100)     makes space for at least 100 items; false as above
 *   u32s_widen(&v, 100)       makes space for exactly 100 items, for few and large steps; false as above
 *   u32s_fit_to(&v, 100)      frees the space beyond 100 items and beyond those it has
 *   u32s_done(&v)             frees its memory; the vector is empty and usable
 *
 * A zeroed vector is empty. Growth doubles, so adding costs O(1) amortised and at most half of the memory is unused.
 */
#ifndef RIG_BASE_VEC_H
#define RIG_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* A file may use only some functions of a vector that it declares; Clang would warn. */
#define RIG_VEC_UNUSED __attribute__((unused))
/* Growth stays out of the loops that add. */
#define RIG_VEC_RARE __attribute__((noinline, unused))

#define RIG_VEC(type, name)                                                                                            \
    struct name {                                                                                                      \
        type *at;                                                                                                      \
        size_t count;                                                                                                  \
        size_t capacity;                                                                                               \
    };                                                                                                                 \
    RIG_VEC_RARE static bool name##_grow(struct name *vec, size_t capacity)                                            \
    {                                                                                                                  \
        size_t wanted = vec->capacity == 0 ? 16 : vec->capacity * 2;                                                   \
        if (wanted < capacity)                                                                                         \
            wanted = capacity;                                                                                         \
        if (wanted > SIZE_MAX / sizeof(type))                                                                          \
            return false;                                                                                              \
        type *at = (type *)realloc(vec->at, wanted * sizeof(type));                                                    \
        if (at == NULL)                                                                                                \
            return false;                                                                                              \
        vec->at = at;                                                                                                  \
        vec->capacity = wanted;                                                                                        \
        return true;                                                                                                   \
    }                                                                                                                  \
    RIG_VEC_UNUSED static inline bool name##_reserve(struct name *vec, size_t capacity)                                \
    {                                                                                                                  \
        return __builtin_expect(capacity <= vec->capacity, 1) || name##_grow(vec, capacity);                           \
    }                                                                                                                  \
    RIG_VEC_UNUSED static inline bool name##_widen(struct name *vec, size_t capacity)                                  \
    {                                                                                                                  \
        if (capacity <= vec->capacity)                                                                                 \
            return true;                                                                                               \
        if (capacity > SIZE_MAX / sizeof(type))                                                                        \
            return false;                                                                                              \
        type *at = (type *)realloc(vec->at, capacity * sizeof(type));                                                  \
        if (at == NULL)                                                                                                \
            return false;                                                                                              \
        vec->at = at;                                                                                                  \
        vec->capacity = capacity;                                                                                      \
        return true;                                                                                                   \
    }                                                                                                                  \
    RIG_VEC_UNUSED static inline bool name##_add(struct name *vec, type item)                                          \
    {                                                                                                                  \
        if (!name##_reserve(vec, vec->count + 1))                                                                      \
            return false;                                                                                              \
        vec->at[vec->count++] = item;                                                                                  \
        return true;                                                                                                   \
    }                                                                                                                  \
    RIG_VEC_UNUSED static inline void name##_fit_to(struct name *vec, size_t capacity)                                 \
    {                                                                                                                  \
        size_t wanted = capacity > vec->count ? capacity : vec->count > 0 ? vec->count : 1;                            \
        type *at = wanted < vec->capacity ? (type *)realloc(vec->at, wanted * sizeof(type)) : NULL;                    \
        if (at == NULL)                                                                                                \
            return;                                                                                                    \
        vec->at = at;                                                                                                  \
        vec->capacity = wanted;                                                                                        \
    }                                                                                                                  \
    RIG_VEC_UNUSED static inline void name##_done(struct name *vec)                                                    \
    {                                                                                                                  \
        free(vec->at);                                                                                                 \
        *vec = (struct name){0};                                                                                       \
    }

/*
 * Members of a constant that are an array and its length.
 */

/* Initialises both, such as `tables` and `table_count`. */
#define RIG_ARRAY(member, count_member, array) .member = (array), .count_member = sizeof(array) / sizeof(array)[0]

#endif
