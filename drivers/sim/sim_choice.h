/*
 * A set of sessions with access to the k-th lowest: a bit each, counted in blocks.
 *
 * The choice does not depend on the order of insertion, which the timing of client threads decides.
 *
 * Time: O(1) in and out; the k-th: O(sessions / 1024), plus at most 16 words. Space: 1.1 bits a session. Threads: one.
 */
#ifndef RIG_DRIVERS_SIM_SIM_CHOICE_H
#define RIG_DRIVERS_SIM_SIM_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

struct rig_sim_ready {
    uint64_t *words;
    uint16_t *blocks; /* number in each block of words */
    uint32_t count;
    bool has_bits; /* the processor counts and finds bits */
};

/* False when memory runs out; done is needed in either case. */
bool rig_sim_ready_init(struct rig_sim_ready *ready, uint32_t session_count);
void rig_sim_ready_done(struct rig_sim_ready *ready);
/* The session is not in the set. */
void rig_sim_ready_add(struct rig_sim_ready *ready, uint32_t session);
/* The session is in the set. */
void rig_sim_ready_remove(struct rig_sim_ready *ready, uint32_t session);
/* The session with `rank` lower ones in the set; rank < count. */
uint32_t rig_sim_ready_at(const struct rig_sim_ready *ready, uint32_t rank);

#endif
