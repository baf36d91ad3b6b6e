#include "nemesis/stutter.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/clock.h"

enum { OWN_FIRST_FD = 3, NICE_LIMIT = 20 };
static const int64_t end_timeout_ns = 5 * RIG_NS_PER_S;
static const int64_t step_ns = RIG_NS_PER_MS;

/* -- what rig may do ----------------------------------------------------------------------------------------------- */

/* Tried on the calling thread, and taken back. */
static bool may_fifo(void)
{
    struct sched_param before, tried = {.sched_priority = 1};
    const int policy = sched_getscheduler(0);
    if (policy < 0 || sched_getparam(0, &before) != 0 || sched_setscheduler(0, SCHED_FIFO, &tried) != 0)
        return false;
    return sched_setscheduler(0, policy, &before) == 0;
}

/* Any account may make a process nicer; to take that back needs a right. */
static bool may_nice(void)
{
    struct rlimit limit = {.rlim_cur = 0};
    return geteuid() == 0 || (getrlimit(RLIMIT_NICE, &limit) == 0 && limit.rlim_cur >= NICE_LIMIT);
}

bool rig_stutter_may(enum rig_stutter_priorities priorities)
{
    switch (priorities) {
    case RIG_STUTTER_FIFO:
    case RIG_STUTTER_PCT:
        return may_fifo();
    case RIG_STUTTER_NICE:
        return may_nice();
    case RIG_STUTTER_AUTO:
    case RIG_STUTTER_OFF:
        break;
    }
    return true;
}

double rig_stutter_chance(uint64_t processes, int64_t steps, uint32_t depth)
{
    double chance = 1 / (double)processes;
    for (uint32_t i = 1; i < depth; i++)
        chance /= (double)steps;
    return chance;
}

enum rig_stutter_priorities rig_stutter_best(void)
{
    return may_fifo() ? RIG_STUTTER_FIFO : may_nice() ? RIG_STUTTER_NICE : RIG_STUTTER_OFF;
}

/* -- one process --------------------------------------------------------------------------------------------------- */

bool rig_stutter_look(pid_t pid, struct rig_stutter_normal *normal)
{
    struct sched_param param;
    *normal = (struct rig_stutter_normal){.policy = sched_getscheduler(pid)};
    errno = 0;
    normal->nice = getpriority(PRIO_PROCESS, (id_t)pid);
    if (normal->policy < 0 || errno != 0 || sched_getparam(pid, &param) != 0 ||
        sched_getaffinity(pid, sizeof normal->cpus, &normal->cpus) != 0)
        return false;
    normal->priority = param.sched_priority;
    return true;
}

/* Threads may start while the list is read: those get the processors of the thread that starts them, so a second
 * reading finds all. */
bool rig_stutter_pin(pid_t pid, const cpu_set_t *cpus)
{
    char path[64];
    bool pinned = false;
    (void)snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    for (int round = 0; round < 2; round++) {
        DIR *threads = opendir(path);
        const struct dirent *entry;
        while (threads != NULL && (entry = readdir(threads)) != NULL) {
            if (isdigit((unsigned char)entry->d_name[0]))
                pinned |= sched_setaffinity((pid_t)strtol(entry->d_name, NULL, 10), sizeof *cpus, cpus) == 0;
        }
        if (threads != NULL)
            (void)closedir(threads);
    }
    return pinned;
}

static bool is_normal(pid_t pid, const struct rig_stutter_normal *normal)
{
    struct rig_stutter_normal now;
    return rig_stutter_look(pid, &now) && now.policy == normal->policy && now.priority == normal->priority &&
           now.nice == normal->nice && CPU_EQUAL(&now.cpus, &normal->cpus) != 0;
}

bool rig_stutter_restore(const struct rig_process *process, const struct rig_stutter_normal *normal)
{
    const struct sched_param param = {.sched_priority = normal->priority};
    const char state = rig_process_state(process);
    if (state == '\0')
        return true;
    if (state == 'T')
        (void)rig_process_signal(process, SIGCONT);
    if (!is_normal(process->pid, normal)) {
        (void)sched_setscheduler(process->pid, normal->policy, &param);
        (void)setpriority(PRIO_PROCESS, (id_t)process->pid, normal->nice);
    }
    (void)rig_stutter_pin(process->pid, &normal->cpus);
    return is_normal(process->pid, normal) || !rig_process_lives(process);
}

/* -- the helper ---------------------------------------------------------------------------------------------------- */

_Noreturn static void become_helper(struct rig_stutter_table *table, pid_t parent)
{
    (void)setsid(); /* a terminal's Ctrl-C reaches rig only */
    (void)prctl(PR_SET_NAME, "rig-stutter");
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    /* Among them rig's ends of its children's tethers, and the lock of the journal. */
    (void)close_range(OWN_FIRST_FD, ~0U, 0);
    if (getppid() == parent)
        rig_stutter_help(table);
    _exit(0);
}

enum rig_rc rig_stutter_start(struct rig_stutter *stutter, const struct rig_stutter_orders *orders,
                              const cpu_set_t *helper_cpus, struct rig_err *err)
{
    RIG_REQUIRE(orders->priorities != RIG_STUTTER_AUTO);
    RIG_REQUIRE(orders->priorities != RIG_STUTTER_PCT ||
                (orders->depth >= 1 && orders->depth <= RIG_STUTTER_DEPTH_MOST && orders->step_ns > 0 &&
                 orders->round_ns >= orders->step_ns));
    RIG_REQUIRE(orders->gap.least_ns <= orders->gap.most_ns && orders->stop.least_ns <= orders->stop.most_ns &&
                orders->redraw.least_ns <= orders->redraw.most_ns && orders->stop.least_ns > 0);
    struct rig_stutter_table *table =
        mmap(NULL, sizeof *table, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED)
        return rig_no_memory(err, "the processes of the fault stutter");
    table->orders = *orders;
    table->helper_cpus = *helper_cpus;
    const pid_t parent = getpid();
    const pid_t helper = fork();
    if (helper == 0)
        become_helper(table, parent);
    if (helper < 0) {
        const int error = errno;
        (void)munmap(table, sizeof *table);
        return rig_fail(err, RIG_E_LIMIT, "no process for the fault stutter: %s", strerror(error));
    }
    *stutter = (struct rig_stutter){.table = table, .helper = helper};
    return RIG_OK;
}

static void note_change(struct rig_stutter_table *table)
{
    (void)atomic_fetch_add_explicit(&table->changes, 1, memory_order_release);
}

uint32_t rig_stutter_offer(struct rig_stutter *stutter, const struct rig_process *process,
                           const struct rig_stutter_normal *normal)
{
    struct rig_stutter_table *table = stutter->table;
    for (uint32_t slot = 0; slot < RIG_STUTTER_MOST; slot++) {
        struct rig_stutter_slot *at = &table->slots[slot];
        if (atomic_load_explicit(&at->state, memory_order_acquire) != RIG_STUTTER_FREE)
            continue;
        at->process = *process;
        at->normal = *normal;
        if (slot >= atomic_load(&table->used))
            atomic_store(&table->used, slot + 1);
        atomic_store_explicit(&at->state, RIG_STUTTER_OFFERED, memory_order_release);
        note_change(table);
        return slot;
    }
    return RIG_STUTTER_MOST;
}

bool rig_stutter_leave(struct rig_stutter *stutter, uint32_t slot)
{
    struct rig_stutter_slot *at = &stutter->table->slots[slot];
    const uint32_t state = atomic_load_explicit(&at->state, memory_order_acquire);
    if (state != RIG_STUTTER_TAKEN && state != RIG_STUTTER_GONE)
        return false;
    atomic_store_explicit(&at->state, RIG_STUTTER_LEFT, memory_order_release);
    note_change(stutter->table);
    return true;
}

bool rig_stutter_lives(const struct rig_stutter *stutter)
{
    siginfo_t info = {.si_pid = 0};
    return stutter->helper > 0 && waitid(P_PID, (id_t)stutter->helper, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
}

bool rig_stutter_end(struct rig_stutter *stutter)
{
    if (stutter->helper <= 0)
        return true;
    const int64_t until_ns = rig_clock_now_ns() + end_timeout_ns;
    atomic_store_explicit(&stutter->table->end, 1, memory_order_release);
    while (rig_stutter_lives(stutter) && rig_clock_now_ns() < until_ns)
        rig_clock_sleep_until_ns(rig_clock_now_ns() + step_ns);
    if (rig_stutter_lives(stutter))
        (void)kill(stutter->helper, SIGKILL);
    while (waitpid(stutter->helper, NULL, 0) < 0 && errno == EINTR)
        continue;
    stutter->helper = 0;
    return atomic_load(&stutter->table->restored) == 1;
}

void rig_stutter_done(struct rig_stutter *stutter)
{
    RIG_REQUIRE(stutter->helper <= 0);
    if (stutter->table != NULL)
        (void)munmap(stutter->table, sizeof *stutter->table);
    *stutter = (struct rig_stutter){.table = NULL};
}
