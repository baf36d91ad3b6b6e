/*
 * Client threads around the simulated database, without a trace of their timing.
 *
 * The engine runs only when every client that takes part waits inside a transaction; the thread that arrives last then
 * runs steps for all until one transaction completes, and wakes its owner (flat combining). While that owner thinks,
 * time stands still. So what happens depends on the seed and on what each client asks for, never on which thread was
 * fast. A client takes part from the start until it says that it is at its end.
 *
 * A client that neither asks nor leaves would stop everybody: after `patience` of real time the others go on without
 * it, which is logged, because from then on the run cannot be repeated exactly.
 *
 * Lock order: there is one lock. It is held for the steps of one transaction's completion, never while waiting.
 * Threads: any number, each its own client; interrupt from any.
 */
#ifndef RIG_DRIVERS_SIM_SCHEDULER_H
#define RIG_DRIVERS_SIM_SCHEDULER_H

#include "drivers/sim/engine.h"

struct rig_sim_scheduler;

/* `core` is borrowed. NULL when memory runs out. */
struct rig_sim_scheduler *rig_sim_scheduler_new(const struct rig_sim_options *options, const struct rig_core *core,
                                                uint64_t seed, uint32_t client_count);
/* Takes NULL. No client is inside. */
void rig_sim_scheduler_free(struct rig_sim_scheduler *scheduler);

/* A client connects, after an interrupt too. Gives the virtual time of its next invocation. */
int64_t rig_sim_scheduler_enter(struct rig_sim_scheduler *scheduler, uint32_t client);
/* The client takes no further part. */
void rig_sim_scheduler_leave(struct rig_sim_scheduler *scheduler, uint32_t client);

/* Runs a transaction; the answer's arrays are valid until the client's next. Gives the time of its next invocation. */
void rig_sim_scheduler_transact(struct rig_sim_scheduler *scheduler, uint32_t client,
                                const struct rig_transaction *transaction, struct rig_sim_answer *answer,
                                int64_t *next_ns);
/* Ends what the client waits for, now and until it enters again. */
void rig_sim_scheduler_interrupt(struct rig_sim_scheduler *scheduler, uint32_t client);

#endif
