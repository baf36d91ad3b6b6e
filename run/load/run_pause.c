#include "run/load/run_pause.h"

#include <math.h>

#include "base/clock.h"
#include "run/load/run_state.h"

static const double longest_times = 20; /* the mean */

int64_t rig_run_pause_draw(enum rig_pause_distribution distribution, int64_t mean_ns, struct rig_rng *rng)
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
                                 : rig_run_pause_draw((enum rig_pause_distribution)options->pause_distribution,
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
    const int64_t pause_ns = rig_run_pause_draw((enum rig_pause_distribution)options->delay_distribution,
                                                options->delay_ns, &client->jitter);
    return rig_run_wait_until(client->run, rig_clock_now_ns() + pause_ns);
}
