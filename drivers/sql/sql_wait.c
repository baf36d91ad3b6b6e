#include "drivers/sql/sql_wait.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

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

/* ---- addresses ---- */

/* One request; the session and the resolving thread each hold it, and the last one frees it. */
struct question {
    atomic_int holders;
    int answered; /* an event descriptor */
    char host[256];
    int error; /* of getaddrinfo() */
    struct rig_sql_addresses addresses;
};

static void let_go(struct question *question)
{
    if (atomic_fetch_sub(&question->holders, 1) > 1)
        return;
    (void)close(question->answered);
    free(question);
}

static void *ask(void *object)
{
    struct question *question = object;
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    const uint64_t one = 1;
    question->error = getaddrinfo(question->host, NULL, &hints, &found);
    for (const struct addrinfo *at = question->error == 0 ? found : NULL;
         at != NULL && question->addresses.count < RIG_SQL_ADDRESSES_MOST; at = at->ai_next) {
        char *text = question->addresses.at[question->addresses.count];
        if (getnameinfo(at->ai_addr, at->ai_addrlen, text, RIG_SQL_ADDRESS_BYTES, NULL, 0, NI_NUMERICHOST) == 0)
            question->addresses.count++;
    }
    if (question->error == 0)
        freeaddrinfo(found);
    (void)!write(question->answered, &one, sizeof one);
    let_go(question);
    return NULL;
}

static bool is_name(const char *host)
{
    struct in6_addr address;
    return host[0] != '\0' && host[0] != '/' && host[0] != '@' && strchr(host, '%') == NULL &&
           inet_pton(AF_INET, host, &address) != 1 && inet_pton(AF_INET6, host, &address) != 1;
}

/* Starts the thread; NULL when there is no memory, descriptor or thread. */
static struct question *start_asking(const char *host)
{
    struct question *question = calloc(1, sizeof *question);
    pthread_t thread;
    if (question == NULL)
        return NULL;
    (void)snprintf(question->host, sizeof question->host, "%s", host);
    atomic_init(&question->holders, 2);
    question->answered = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    int problem = question->answered < 0 ? errno : pthread_create(&thread, NULL, ask, question);
    if (problem == 0) {
        (void)pthread_detach(thread);
        return question;
    }
    if (question->answered >= 0)
        (void)close(question->answered);
    free(question);
    errno = problem;
    return NULL;
}

enum rig_rc rig_sql_resolve(const char *product, const char *host, struct rig_sql_waiter *waiter, int64_t deadline_ns,
                            struct rig_sql_addresses *addresses, struct rig_err *err)
{
    short ready;
    addresses->count = 0;
    if (!is_name(host))
        return RIG_OK;
    struct question *question = start_asking(host);
    if (question == NULL)
        return rig_fail(err, RIG_E_LIMIT, "looking up %s: %s", host, strerror(errno));
    enum rig_rc rc = RIG_OK;
    const char *reason = rig_sql_waiter_wait(waiter, question->answered, POLLIN, deadline_ns, &ready);
    if (reason != NULL)
        rc = rig_fail(err, RIG_E_CLUSTER, "connecting to %s at %s: %s", product, host,
                      strcmp(reason, RIG_SQL_TIMEOUT) == 0 ? "the resolver does not answer within connect-timeout"
                                                           : reason);
    else if (question->error != 0 || question->addresses.count == 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "connecting to %s at %s: the name has no address: %s", product, host,
                      question->error == 0 ? "none that is usable" : gai_strerror(question->error));
    else
        *addresses = question->addresses;
    let_go(question);
    return rc;
}
