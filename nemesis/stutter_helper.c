/*
 * The helper process of stutter.h. It is a fork of a process with threads: no allocation, no stdio, no locks.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "nemesis/stutter.h"

enum {
    TRIES = 32,        /* processes looked at for a stop */
    LOOK_EVERY = 16,   /* one stop, and one priority, in 16 is looked at */
    HIGHEST = 40,      /* of the SCHED_FIFO priorities */
    NICEST = 19,       /* of the nice values, from 0 on */
    OWN_PRIORITY = 80, /* above all of them */
};
static const int64_t idle_ns = 10 * RIG_NS_PER_MS;

/* A process that the helper has taken. */
struct held {
    int pid_fd, stat_fd;       /* -1: none */
    int64_t from_ns, until_ns; /* of its stop; `until_ns` 0: it is not stopped */
    int priority;              /* that PCT gave it; 0: none yet */
};

struct helper {
    struct rig_stutter_table *table;
    const struct rig_stutter_orders *orders;
    struct rig_rng rng;
    struct held held[RIG_STUTTER_MOST];
    uint32_t taken[RIG_STUTTER_MOST]; /* slots */
    uint32_t count, stopped;
    uint32_t changes; /* that were looked at */
    int64_t next_stop_ns, next_draw_ns;
    /* of PCT */
    int64_t round_end_ns;
    int64_t change_ns[RIG_STUTTER_DEPTH_MOST]; /* ascending */
    uint32_t changed;                          /* change points that have passed */
};

static volatile sig_atomic_t rig_is_gone;

static void note_death(int signal_number)
{
    (void)signal_number;
    rig_is_gone = 1;
}

static int64_t draw_uniform(struct helper *helper, const struct rig_stutter_range *range)
{
    return range->least_ns + (int64_t)rig_rng_below(&helper->rng, (uint64_t)(range->most_ns - range->least_ns) + 1);
}

static int64_t draw_log_uniform(struct helper *helper, const struct rig_stutter_range *range)
{
    const double ratio = (double)range->most_ns / (double)range->least_ns;
    return (int64_t)((double)range->least_ns * pow(ratio, rig_rng_unit(&helper->rng)));
}

static void add(_Atomic uint64_t *count, int64_t more)
{
    (void)atomic_fetch_add_explicit(count, (uint64_t)more, memory_order_relaxed);
}

/* -- one process --------------------------------------------------------------------------------------------------- */

static bool send_signal(const struct held *held, int signal_number)
{
    return syscall(SYS_pidfd_send_signal, held->pid_fd, signal_number, NULL, 0) == 0;
}

static bool has_ended(const struct held *held)
{
    struct pollfd polled = {.fd = held->pid_fd, .events = POLLIN};
    return poll(&polled, 1, 0) != 0;
}

/* As ps shows it; '\0': it has ended. */
static char state_of(const struct held *held)
{
    struct rig_process_stat stat;
    return rig_process_stat_read(held->stat_fd, &stat) ? stat.state : '\0';
}

static void close_held(struct held *held)
{
    if (held->pid_fd >= 0)
        (void)close(held->pid_fd);
    if (held->stat_fd >= 0)
        (void)close(held->stat_fd);
    *held = (struct held){.pid_fd = -1, .stat_fd = -1};
}

/* False: the process has ended, and its number may belong to another one. */
static bool open_held(const struct rig_process *process, struct held *held)
{
    char path[64];
    struct rig_process_stat stat;
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)process->pid);
    held->pid_fd = (int)syscall(SYS_pidfd_open, process->pid, 0);
    held->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (held->pid_fd >= 0 && rig_process_stat_read(held->stat_fd, &stat) && stat.started == process->started)
        return true;
    close_held(held);
    return false;
}

static void resume(struct helper *helper, struct held *held, int64_t now_ns)
{
    const uint64_t number = atomic_load_explicit(&helper->table->stops, memory_order_relaxed);
    const bool look =
        number % LOOK_EVERY == 0 || atomic_load_explicit(&helper->table->seen_stopped, memory_order_relaxed) == 0;
    if (look && state_of(held) == 'T')
        add(&helper->table->seen_stopped, 1);
    (void)send_signal(held, SIGCONT);
    add(&helper->table->held_ns, now_ns - held->from_ns);
    held->until_ns = 0;
    helper->stopped--;
}

/* -- the table ----------------------------------------------------------------------------------------------------- */

static void drop(struct helper *helper, uint32_t slot)
{
    uint32_t at = 0;
    while (at < helper->count && helper->taken[at] != slot)
        at++;
    if (at == helper->count)
        return;
    if (helper->held[slot].until_ns != 0)
        resume(helper, &helper->held[slot], rig_clock_now_ns());
    close_held(&helper->held[slot]);
    helper->taken[at] = helper->taken[--helper->count];
}

static void look_at_table(struct helper *helper)
{
    const uint32_t changes = atomic_load_explicit(&helper->table->changes, memory_order_acquire);
    if (changes == helper->changes)
        return;
    helper->changes = changes;
    const uint32_t used = atomic_load(&helper->table->used);
    for (uint32_t slot = 0; slot < used; slot++) {
        struct rig_stutter_slot *at = &helper->table->slots[slot];
        const uint32_t state = atomic_load_explicit(&at->state, memory_order_acquire);
        if (state == RIG_STUTTER_OFFERED) {
            const bool there = open_held(&at->process, &helper->held[slot]);
            if (there)
                helper->taken[helper->count++] = slot;
            atomic_store_explicit(&at->state, there ? RIG_STUTTER_TAKEN : RIG_STUTTER_GONE, memory_order_release);
        } else if (state == RIG_STUTTER_LEFT) {
            drop(helper, slot);
            atomic_store_explicit(&at->state, RIG_STUTTER_FREE, memory_order_release);
        }
    }
}

/* -- stops --------------------------------------------------------------------------------------------------------- */

/* Returns when the next one is due. */
static int64_t resume_due(struct helper *helper, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;
    for (uint32_t i = 0; i < helper->count && helper->stopped > 0; i++) {
        struct held *held = &helper->held[helper->taken[i]];
        if (held->until_ns == 0)
            continue;
        if (held->until_ns <= now_ns)
            resume(helper, held, now_ns);
        else if (held->until_ns < next_ns)
            next_ns = held->until_ns;
    }
    return next_ns;
}

/* A process that another program stopped is left alone: it would be resumed. */
static bool may_stop(const struct helper *helper, const struct held *held)
{
    const char state = held->until_ns != 0 ? 'T' : state_of(held);
    return state == 'R' || (!helper->orders->running_only && (state == 'S' || state == 'D'));
}

static void stop_one(struct helper *helper, int64_t now_ns)
{
    if (helper->count == 0 || (helper->stopped > 0 && helper->stopped + 1 > helper->orders->share * helper->count))
        return;
    for (int i = 0; i < TRIES; i++) {
        struct held *held = &helper->held[helper->taken[rig_rng_below(&helper->rng, helper->count)]];
        if (!may_stop(helper, held))
            continue;
        if (send_signal(held, SIGSTOP)) {
            held->from_ns = now_ns;
            held->until_ns = now_ns + draw_log_uniform(helper, &helper->orders->stop);
            helper->stopped++;
            add(&helper->table->stops, 1);
        }
        return;
    }
}

/* -- priorities ---------------------------------------------------------------------------------------------------- */

static bool set_fifo(pid_t pid, int priority)
{
    const struct sched_param param = {.sched_priority = priority};
    return sched_setscheduler(pid, SCHED_FIFO, &param) == 0;
}

static void set_priority(struct helper *helper, uint32_t slot, bool fifo, int priority)
{
    const pid_t pid = helper->table->slots[slot].process.pid;
    if (has_ended(&helper->held[slot]))
        return;
    if (fifo ? !set_fifo(pid, priority) : setpriority(PRIO_PROCESS, (id_t)pid, priority) != 0)
        return;
    const uint64_t number = atomic_fetch_add_explicit(&helper->table->priorities, 1, memory_order_relaxed);
    struct sched_param now = {.sched_priority = 0};
    if (number % LOOK_EVERY == 0 && (fifo ? sched_getparam(pid, &now) == 0 && now.sched_priority == priority
                                          : getpriority(PRIO_PROCESS, (id_t)pid) == priority))
        add(&helper->table->seen_set, 1);
}

static void draw_priority(struct helper *helper)
{
    const bool fifo = helper->orders->priorities == RIG_STUTTER_FIFO;
    if (helper->count == 0)
        return;
    const uint32_t slot = helper->taken[rig_rng_below(&helper->rng, helper->count)];
    const int drawn = (int)rig_rng_below(&helper->rng, fifo ? HIGHEST : NICEST + 1);
    set_priority(helper, slot, fifo, fifo ? 1 + drawn : drawn);
}

/* -- rounds of PCT ------------------------------------------------------------------------------------------------- */

static void give(struct helper *helper, uint32_t slot, int priority)
{
    helper->held[slot].priority = priority;
    set_priority(helper, slot, true, priority);
}

/* Inserts by size; some points may be the same step. */
static void draw_change_points(struct helper *helper, int64_t now_ns)
{
    const struct rig_stutter_orders *orders = helper->orders;
    const uint64_t steps = (uint64_t)(orders->round_ns / orders->step_ns);
    for (uint32_t i = 0; i + 1 < orders->depth; i++) {
        const int64_t at_ns = now_ns + (int64_t)rig_rng_below(&helper->rng, steps) * orders->step_ns;
        uint32_t place = i;
        for (; place > 0 && helper->change_ns[place - 1] > at_ns; place--)
            helper->change_ns[place] = helper->change_ns[place - 1];
        helper->change_ns[place] = at_ns;
    }
}

static void begin_round(struct helper *helper, int64_t now_ns)
{
    const struct rig_stutter_orders *orders = helper->orders;
    for (uint32_t i = helper->count; i > 1; i--) {
        const uint32_t other = (uint32_t)rig_rng_below(&helper->rng, i);
        const uint32_t slot = helper->taken[i - 1];
        helper->taken[i - 1] = helper->taken[other];
        helper->taken[other] = slot;
    }
    for (uint32_t i = helper->count; i-- > 0;) {
        const int priority = (int)(orders->depth + i);
        give(helper, helper->taken[i], priority < OWN_PRIORITY ? priority : OWN_PRIORITY - 1);
    }
    draw_change_points(helper, now_ns);
    helper->changed = 0;
    helper->round_end_ns = now_ns + orders->round_ns;
    add(&helper->table->rounds, 1);
    if (helper->count > atomic_load(&helper->table->most_in_round))
        atomic_store(&helper->table->most_in_round, helper->count);
}

/* The process that runs, or would run next, falls below all others. */
static void change(struct helper *helper)
{
    const int priority = (int)(helper->orders->depth - ++helper->changed);
    uint32_t highest = RIG_STUTTER_MOST;
    for (uint32_t i = 0; i < helper->count; i++) {
        const uint32_t slot = helper->taken[i];
        if ((highest == RIG_STUTTER_MOST || helper->held[slot].priority > helper->held[highest].priority) &&
            state_of(&helper->held[slot]) == 'R')
            highest = slot;
    }
    if (highest == RIG_STUTTER_MOST)
        return;
    give(helper, highest, priority);
    add(&helper->table->changes_made, 1);
}

/* Returns when the next change point, or the next round, is due. Without a process there is no round. */
static int64_t step_round(struct helper *helper, int64_t now_ns)
{
    const uint32_t points = helper->orders->depth - 1;
    if (helper->count == 0) {
        helper->round_end_ns = 0;
        return now_ns + idle_ns;
    }
    while (helper->round_end_ns != 0 && helper->changed < points && helper->change_ns[helper->changed] <= now_ns)
        change(helper);
    if (now_ns >= helper->round_end_ns)
        begin_round(helper, now_ns);
    return helper->changed < points ? helper->change_ns[helper->changed] : helper->round_end_ns;
}

/* -- the loop ------------------------------------------------------------------------------------------------------ */

static void step(struct helper *helper)
{
    look_at_table(helper);
    int64_t now_ns = rig_clock_now_ns();
    int64_t next_ns = now_ns + idle_ns;
    if (helper->orders->share > 0 && now_ns >= helper->next_stop_ns) {
        stop_one(helper, now_ns);
        helper->next_stop_ns = now_ns + draw_uniform(helper, &helper->orders->gap);
    }
    if (helper->orders->priorities != RIG_STUTTER_OFF && now_ns >= helper->next_draw_ns) {
        const bool rounds = helper->orders->priorities == RIG_STUTTER_PCT;
        if (!rounds)
            draw_priority(helper);
        helper->next_draw_ns =
            rounds ? step_round(helper, now_ns) : now_ns + draw_uniform(helper, &helper->orders->redraw);
    }
    now_ns = rig_clock_now_ns();
    const int64_t resume_ns = resume_due(helper, now_ns);
    if (resume_ns < next_ns)
        next_ns = resume_ns;
    if (helper->orders->share > 0 && helper->next_stop_ns < next_ns)
        next_ns = helper->next_stop_ns;
    if (helper->orders->priorities != RIG_STUTTER_OFF && helper->next_draw_ns < next_ns)
        next_ns = helper->next_draw_ns;
    const struct timespec until = {.tv_sec = next_ns / RIG_NS_PER_S, .tv_nsec = next_ns % RIG_NS_PER_S};
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL); /* ends early with a signal */
}

static void restore_all(struct helper *helper)
{
    /* All run again before any is looked at further. */
    for (uint32_t i = 0; i < helper->count; i++) {
        struct held *held = &helper->held[helper->taken[i]];
        if (held->until_ns != 0)
            resume(helper, held, rig_clock_now_ns());
    }
    for (uint32_t i = 0; i < helper->count; i++) {
        const uint32_t slot = helper->taken[i];
        const struct rig_stutter_slot *at = &helper->table->slots[slot];
        const struct sched_param param = {.sched_priority = at->normal.priority};
        if (!has_ended(&helper->held[slot])) {
            (void)sched_setscheduler(at->process.pid, at->normal.policy, &param);
            (void)setpriority(PRIO_PROCESS, (id_t)at->process.pid, at->normal.nice);
            (void)sched_setaffinity(at->process.pid, sizeof at->normal.cpus, &at->normal.cpus);
        }
        close_held(&helper->held[slot]);
    }
    helper->count = 0;
    atomic_store(&helper->table->restored, 1);
}

/* Ahead of the processes that it perturbs, and beside them where there is a processor for it. */
static void be_prompt(const struct rig_stutter_table *table)
{
    const struct sched_param param = {.sched_priority = OWN_PRIORITY};
    (void)prctl(PR_SET_TIMERSLACK, 1);
    (void)sched_setscheduler(0, SCHED_FIFO, &param);
    if (CPU_COUNT(&table->helper_cpus) > 0)
        (void)sched_setaffinity(0, sizeof table->helper_cpus, &table->helper_cpus);
}

void rig_stutter_help(struct rig_stutter_table *table)
{
    static struct helper helper; /* too large for a stack */
    struct sigaction action = {.sa_handler = note_death};
    (void)sigaction(SIGTERM, &action, NULL);
    sigset_t only;
    (void)sigfillset(&only);
    (void)sigdelset(&only, SIGTERM);
    (void)sigprocmask(SIG_SETMASK, &only, NULL);
    helper = (struct helper){.table = table, .orders = &table->orders};
    for (uint32_t slot = 0; slot < RIG_STUTTER_MOST; slot++)
        helper.held[slot] = (struct held){.pid_fd = -1, .stat_fd = -1};
    rig_rng_init(&helper.rng, table->orders.seed, 0);
    be_prompt(table);
    while (!rig_is_gone && atomic_load_explicit(&table->end, memory_order_acquire) == 0)
        step(&helper);
    look_at_table(&helper); /* also what was offered last is restored */
    restore_all(&helper);
}
