#include "drivers/sql/sql_wait.h"

#include <errno.h>
#include <poll.h>

#include "base/bug.h"

enum { STOPPING_SLICE_MS = 100 };

/* Milliseconds to poll for, rounded up; bounded when core->stopping() has to be polled. */
static int poll_ms(int64_t left_ns, int wake)
{
    int64_t ms = (left_ns + 999999) / 1000000;
    if (wake < 0 && ms > STOPPING_SLICE_MS)
        return STOPPING_SLICE_MS;
    return ms > 3600 * 1000 ? 3600 * 1000 : (int)ms;
}

const char *rig_sql_waiter_wait(struct rig_sql_waiter *waiter, int fd, short events, int64_t deadline_ns, short *ready)
{
    int wake = rig_wake_fd(&waiter->wake);
    for (;;) {
        bool stopping = wake < 0 && !waiter->to_the_end && waiter->core->stopping();
        if (stopping || rig_wake_is_raised(&waiter->wake))
            return RIG_SQL_INTERRUPTED;
        int64_t left_ns = deadline_ns - waiter->core->now_ns();
        if (left_ns <= 0)
            return RIG_SQL_TIMEOUT;
        struct pollfd polled[2] = {{.fd = fd, .events = events}, {.fd = wake, .events = POLLIN}};
        int count = poll(polled, 2, poll_ms(left_ns, wake));
        RIG_INVARIANT(count >= 0 || errno == EINTR);
        if (count > 0 && polled[0].revents != 0) {
            *ready = polled[0].revents;
            return NULL;
        }
        if (count > 0 && polled[1].revents != 0)
            rig_wake_settle(&waiter->wake);
    }
}
