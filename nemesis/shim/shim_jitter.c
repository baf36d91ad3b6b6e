/*
 * Delays around the calls with which processes wait for, wake and reach each other: they hold a process inside a window
 * of microseconds in which the order of two events is decided. The calls themselves stay as they are.
 */
#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "nemesis/shim/shim.h"

RIG_SHIM_REAL(sem_wait)
RIG_SHIM_REAL(sem_post)
RIG_SHIM_REAL(kill)
RIG_SHIM_REAL(send)
RIG_SHIM_REAL(recv)
RIG_SHIM_REAL(epoll_wait)

void rig_shim_jitter(enum rig_shim_call call)
{
    struct rig_shim_control *orders = rig_shim_orders();
    if (orders == NULL || (atomic_load_explicit(&orders->jitter.calls, memory_order_acquire) & (1U << call)) == 0)
        return;
    struct rig_shim_jitter *jitter = &orders->jitter;
    const uint64_t drawn = rig_shim_draw(atomic_load_explicit(&jitter->seed, memory_order_relaxed));
    if ((drawn >> 32) >= atomic_load_explicit(&jitter->chance, memory_order_relaxed))
        return;
    const int64_t delay_ns = atomic_load_explicit(&jitter->delays_ns[drawn % RIG_SHIM_DELAYS], memory_order_relaxed);
    const struct timespec delay = {.tv_sec = delay_ns / 1000000000, .tv_nsec = delay_ns % 1000000000};
    const int before = errno;
    (void)atomic_fetch_add_explicit(&orders->jittered[call], 1, memory_order_relaxed);
    (void)nanosleep(&delay, NULL);
    errno = before;
}

/* PostgreSQL's locks and queues wait by a semaphore: a process that was woken continues late. */
RIG_SHIM_EXPORT int sem_wait(sem_t *semaphore)
{
    const int answer = real_sem_wait()(semaphore);
    rig_shim_jitter(RIG_SHIM_CALL_SEMAPHORE);
    return answer;
}

RIG_SHIM_EXPORT int sem_post(sem_t *semaphore)
{
    rig_shim_jitter(RIG_SHIM_CALL_SEMAPHORE);
    return real_sem_post()(semaphore);
}

RIG_SHIM_EXPORT int kill(pid_t pid, int signal_number)
{
    const int urgent = signal_number == SIGURG;
    if (urgent)
        rig_shim_jitter(RIG_SHIM_CALL_WAKE);
    const int answer = real_kill()(pid, signal_number);
    if (urgent)
        rig_shim_jitter(RIG_SHIM_CALL_WAKE);
    return answer;
}

/* Waits while rig holds this commit, and for a minute at most: rig may have ended meanwhile. */
static void wait_for_release(struct rig_shim_control *orders)
{
    enum { LOOKS = 60000 };
    const struct timespec pause = {.tv_nsec = 1000000};
    uint32_t armed = RIG_SHIM_HOLD_ARMED;
    if (!atomic_compare_exchange_strong(&orders->hold, &armed, RIG_SHIM_HOLD_HELD))
        return;
    for (int look = 0; look < LOOKS && atomic_load(&orders->hold) == RIG_SHIM_HOLD_HELD; look++)
        (void)nanosleep(&pause, NULL);
}

/* Makes this process the one that waits; false while another one does. One that has ended waits no more. */
static int take_hold(struct rig_shim_holding *holding)
{
    int32_t none = 0;
    if (atomic_compare_exchange_strong(&holding->holder, &none, (int32_t)getpid()))
        return 1;
    return real_kill()(none, 0) != 0 && errno == ESRCH &&
           atomic_compare_exchange_strong(&holding->holder, &none, (int32_t)getpid());
}

/* Waits until other processes have committed, by their count, so that the machine's load does not matter. */
static void wait_for_others(struct rig_shim_control *orders)
{
    static const int64_t look_ns = 100000;
    const struct timespec pause = {.tv_nsec = look_ns};
    struct rig_shim_holding *holding = &orders->holding;
    const uint32_t until = atomic_load_explicit(&holding->until, memory_order_acquire);
    if (until == 0)
        return;
    const uint64_t enough = atomic_fetch_add(&orders->commits, 1) + 1 + until;
    const uint64_t drawn = rig_shim_draw(atomic_load_explicit(&holding->seed, memory_order_relaxed)) >> 32;
    if (drawn >= atomic_load_explicit(&holding->chance, memory_order_relaxed) || !take_hold(holding))
        return;
    (void)atomic_fetch_add(&orders->held, 1);
    int64_t left_ns = atomic_load_explicit(&holding->longest_ns, memory_order_relaxed);
    for (; left_ns > 0 && atomic_load(&orders->commits) < enough && atomic_load(&holding->until) != 0;
         left_ns -= look_ns)
        (void)nanosleep(&pause, NULL);
    if (atomic_load(&orders->commits) >= enough)
        (void)atomic_fetch_add(&orders->passed, 1);
    atomic_store(&holding->holder, 0);
}

/* XactCallback of PostgreSQL. Its first event is a commit. */
static void transaction_ended(int event, void *argument)
{
    struct rig_shim_control *orders = rig_shim_orders();
    const int before = errno;
    (void)argument;
    if (event != 0 || orders == NULL)
        return;
    wait_for_release(orders);
    wait_for_others(orders);
    errno = before;
    rig_shim_jitter(RIG_SHIM_CALL_COMMIT);
}

/*
 * Asks PostgreSQL for a call at each commit, once in each of its processes. The server exports the function for
 * extensions, and calls back when others can see the commit and its locks are not released. Other programs have no such
 * function. A process asks where it waits for its client: no lock is held, and memory may be allocated.
 */
static void attend_commits(void)
{
    static _Atomic pid_t attending;
    struct rig_shim_control *orders = rig_shim_orders();
    if (orders == NULL ||
        (atomic_load_explicit(&orders->holding.until, memory_order_acquire) == 0 &&
         (atomic_load_explicit(&orders->jitter.calls, memory_order_acquire) & (1U << RIG_SHIM_CALL_COMMIT)) == 0 &&
         atomic_load_explicit(&orders->hold, memory_order_acquire) == RIG_SHIM_HOLD_NONE))
        return;
    const pid_t self = getpid();
    if (atomic_exchange_explicit(&attending, self, memory_order_relaxed) == self)
        return;
    void (*attend)(void (*)(int, void *), void *) = NULL;
    *(void **)(&attend) = dlsym(RTLD_DEFAULT, "RegisterXactCallback");
    if (attend != NULL)
        attend(transaction_ended, NULL);
}

RIG_SHIM_EXPORT ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
    rig_shim_jitter(RIG_SHIM_CALL_NETWORK);
    return real_send()(fd, bytes, size, flags);
}

RIG_SHIM_EXPORT ssize_t recv(int fd, void *bytes, size_t size, int flags)
{
    attend_commits();
    const ssize_t got = real_recv()(fd, bytes, size, flags);
    rig_shim_jitter(RIG_SHIM_CALL_NETWORK);
    return got;
}

RIG_SHIM_EXPORT int epoll_wait(int fd, struct epoll_event *events, int capacity, int timeout_ms)
{
    const int count = real_epoll_wait()(fd, events, capacity, timeout_ms);
    rig_shim_jitter(RIG_SHIM_CALL_NETWORK);
    return count;
}
