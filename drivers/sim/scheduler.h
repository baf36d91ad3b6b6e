/*
 * Client threads around the simulated database, without any effect of their timing.
 *
 * The engine runs only when every participating client waits inside a transaction; the thread that arrives last then
 * runs steps for all until one transaction completes, and wakes its owner (flat combining). Until that owner returns,
 * virtual time does not advance. So the history depends on the seed and the clients' transactions, never on the speed
 * of threads. A client participates from the start until it leaves.
 *
 * A client that neither issues a transaction nor leaves would stop all others: after `patience` of real time they go on
 * without it, which is logged, because from then on the run cannot be repeated exactly.
 *
 * Lock order: there is one lock. It is held for the steps of one transaction's completion, never while waiting.
 * Threads: any number, each its own client; interrupt from any.
 */
#ifndef RIG_DRIVERS_SIM_SCHEDULER_H
#define RIG_DRIVERS_SIM_SCHEDULER_H

#include "drivers/sim/engine.h"

struct rig_sim_scheduler;

/* `env->core` is borrowed. NULL when memory runs out. */
struct rig_sim_scheduler *rig_sim_scheduler_new(const struct rig_run_env *env);
/* Takes NULL. No client is inside. */
void rig_sim_scheduler_free(struct rig_sim_scheduler *scheduler);

/* No client is inside: rig_sim_engine_give_certificate(). */
bool rig_sim_scheduler_give_certificate(const struct rig_sim_scheduler *scheduler,
                                        const struct rig_certificate_sink *sink);

/* A client connects, also after an interrupt. Returns the virtual time of its next invocation. */
int64_t rig_sim_scheduler_enter(struct rig_sim_scheduler *scheduler, uint32_t client);
/* The client participates no further. */
void rig_sim_scheduler_leave(struct rig_sim_scheduler *scheduler, uint32_t client);

/* Runs a transaction; the answer's arrays are valid until the client's next. Returns the time of its next
 * invocation. */
void rig_sim_scheduler_transact(struct rig_sim_scheduler *scheduler, uint32_t client,
                                const struct rig_transaction *transaction, struct rig_sim_answer *answer,
                                int64_t *next_ns);
/*
 * Programs: waits until the client has the next turn, which one client has at a time, until it waits for another one or
 * leaves. Gives the time of the turn, which no other has. False: it was interrupted.
 */
bool rig_sim_scheduler_turn(struct rig_sim_scheduler *scheduler, uint32_t client, int64_t *now_ns);
/* Ends the client's waits, now and until it enters again. */
void rig_sim_scheduler_interrupt(struct rig_sim_scheduler *scheduler, uint32_t client);

#endif
