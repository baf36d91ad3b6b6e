#include "run/load/run_gate.h"

#include <time.h>

#include "base/bug.h"

void rig_run_gate_init(struct rig_run_gate *gate)
{
    *gate = (struct rig_run_gate){.gathered = 0};
    RIG_INVARIANT(pthread_mutex_init(&gate->lock, NULL) == 0);
    RIG_INVARIANT(pthread_cond_init(&gate->moved, NULL) == 0);
}

void rig_run_gate_done(struct rig_run_gate *gate)
{
    (void)pthread_mutex_destroy(&gate->lock);
    (void)pthread_cond_destroy(&gate->moved);
}

void rig_run_gate_close(struct rig_run_gate *gate)
{
    gate->gathered = 0;
    gate->is_open = false;
    atomic_store(&gate->finished, 0);
}

void rig_run_gate_await(struct rig_run_gate *gate, uint32_t count, const atomic_bool *abandoned)
{
    pthread_mutex_lock(&gate->lock);
    while (gate->gathered < count && !atomic_load(abandoned)) {
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        (void)pthread_cond_timedwait(&gate->moved, &gate->lock, &until);
    }
    pthread_mutex_unlock(&gate->lock);
}

void rig_run_gate_open(struct rig_run_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->is_open = true;
    (void)pthread_cond_broadcast(&gate->moved);
    pthread_mutex_unlock(&gate->lock);
}

void rig_run_gate_pass(struct rig_run_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->gathered++;
    (void)pthread_cond_broadcast(&gate->moved);
    while (!gate->is_open)
        (void)pthread_cond_wait(&gate->moved, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

void rig_run_gate_finish(struct rig_run_gate *gate)
{
    (void)atomic_fetch_add(&gate->finished, 1);
}
