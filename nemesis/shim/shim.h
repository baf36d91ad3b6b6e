/*
 * The inside of rig-shim.so. It is loaded into programs that do not know of it: it allocates nothing, prints nothing,
 * keeps errno, and every call that it replaces stays as safe in signal handlers as before.
 */
#ifndef RIG_NEMESIS_SHIM_SHIM_H
#define RIG_NEMESIS_SHIM_SHIM_H

#include <stdbool.h>

#include "nemesis/shim_control.h"

/* The orders; NULL: there are none, everything is real. */
struct rig_shim_control *rig_shim_orders(void);
/* The C library's own function of this name, or NULL. */
void *rig_shim_real(const char *name);
/* Delays the calling thread as the orders for this kind of call say; a signal ends the delay. Keeps errno. */
void rig_shim_jitter(enum rig_shim_call call);
/* A number that is well distributed, and another one at each call. `seed` selects the sequence. */
uint64_t rig_shim_draw(uint64_t seed);

#define RIG_SHIM_EXPORT __attribute__((visibility("default")))

/* real_<name>(): the C library's own, looked up when the shim is loaded, because the look-up is not safe in signal
 * handlers. */
#define RIG_SHIM_REAL(name)                                                                                            \
    static __typeof__(name) *real_##name(void)                                                                         \
    {                                                                                                                  \
        static __typeof__(name) *_Atomic known;                                                                        \
        __typeof__(name) *found = atomic_load_explicit(&known, memory_order_acquire);                                  \
        if (found == NULL) {                                                                                           \
            *(void **)(&found) = rig_shim_real(#name);                                                                 \
            atomic_store_explicit(&known, found, memory_order_release);                                                \
        }                                                                                                              \
        return found;                                                                                                  \
    }                                                                                                                  \
    __attribute__((constructor)) static void find_##name(void)                                                         \
    {                                                                                                                  \
        (void)real_##name();                                                                                           \
    }

#endif
