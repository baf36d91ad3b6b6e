#include "run/load/run_ending.h"

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
