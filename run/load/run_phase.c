#include "run/load/run_phase.h"

#include <math.h>
#include <time.h>

#include "base/bug.h"
#include "base/clock.h"
#include "run/load/run_state.h"

static const int64_t sleep_slice_ns = 20 * RIG_NS_PER_MS;

void rig_run_raise(struct rig_run_state *run, enum rig_run_stop stop)
{
    struct rig_run_ending *ending = &run->ending;
    int now = atomic_load(&ending->stop);
    while (now < (int)stop) {
        if (atomic_compare_exchange_weak(&ending->stop, &now, (int)stop)) {
            atomic_store(&ending->raised_ns, rig_clock_now_ns());
            if (now == RIG_STOP_NONE)
                atomic_store(&ending->load_end_ns, rig_clock_now_ns());
            return;
        }
    }
}

bool rig_run_wait_until(struct rig_run_state *run, int64_t deadline_ns)
{
    for (;;) {
        if (rig_run_is_ending(run))
            return false;
        int64_t now_ns = rig_clock_now_ns();
        if (now_ns >= deadline_ns)
            return true;
        int64_t slice_ns = now_ns + sleep_slice_ns;
        rig_clock_sleep_until_ns(slice_ns < deadline_ns ? slice_ns : deadline_ns);
    }
}

static const double longest_times = 20; /* the mean */

/* A duration with the mean; an exponential one is at most 20 times as long. */
static int64_t run_pause_draw(enum rig_pause_distribution distribution, int64_t mean_ns, struct rig_rng *rng)
{
    const double unit = rig_rng_unit(rng);
    double times = 1;
    switch (distribution) {
    case RIG_PAUSE_CONSTANT:
        break;
    case RIG_PAUSE_UNIFORM:
        times = 2 * unit;
        break;
    case RIG_PAUSE_EXPONENTIAL:
        times = -log1p(-unit);
        break;
    }
    return (int64_t)((double)mean_ns * (times < longest_times ? times : longest_times));
}

int64_t rig_run_pause_until_ns(struct rig_run_client *client)
{
    const struct rig_run_state *run = client->run;
    const struct rig_clients_options *options = rig_plan_clients(run->plan, client->load.phase);
    const bool is_first = client->load.issued == client->load.issued_before;
    const int64_t pause_ns = options->pause_ns == 0 || is_first
                                 ? 0
                                 : run_pause_draw((enum rig_pause_distribution)options->pause_distribution,
                                                  options->pause_ns, &client->jitter);
    if (pause_ns == 0 && options->burst_on_ns == 0)
        return 0;
    const int64_t at_ns = rig_clock_now_ns() + pause_ns;
    if (options->burst_on_ns == 0)
        return at_ns;
    const int64_t start_ns = atomic_load_explicit(&run->load.phases[client->load.phase].start_ns, memory_order_relaxed);
    const int64_t period_ns = options->burst_on_ns + options->burst_off_ns;
    const int64_t within_ns = (at_ns - start_ns) % period_ns;
    return within_ns < options->burst_on_ns ? at_ns : at_ns + period_ns - within_ns;
}

bool rig_run_pause_between(struct rig_run_client *client)
{
    const struct rig_generator_options *options = rig_plan_workload(client->run->plan, client->load.phase);
    const int64_t pause_ns =
        run_pause_draw((enum rig_pause_distribution)options->delay_distribution, options->delay_ns, &client->jitter);
    return rig_run_wait_until(client->run, rig_clock_now_ns() + pause_ns);
}

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
