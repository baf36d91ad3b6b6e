#include "tests/system/postgres/pg_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/folder.h"

enum { DRIP_MS = 20 };

/* An ErrorResponse with severity, SQLSTATE and message alone. */
static void send_pooler_error(int client)
{
    static const char fields[] = "SFATAL\0VFATAL\0C08P01\0Mserver conn crashed?\0"; /* the literal's NUL ends it */
    const uint32_t length = htonl((uint32_t)(sizeof fields + sizeof length));
    char message[1 + sizeof length + sizeof fields] = {'E'};
    memcpy(message + 1, &length, sizeof length);
    memcpy(message + 1 + sizeof length, fields, sizeof fields);
    (void)!send(client, message, sizeof message, MSG_NOSIGNAL);
}

static bool forward(struct proxy *proxy, int from, int to, enum proxy_direction direction)
{
    char bytes[4096];
    size_t most = sizeof bytes;
    bool limited = atomic_load(&proxy->armed) && atomic_load(&proxy->direction) == (int)direction;
    if (limited && (size_t)atomic_load(&proxy->allowed) < most)
        most = (size_t)atomic_load(&proxy->allowed);
    const bool drips = limited && atomic_load(&proxy->end) == PROXY_DRIPS;
    if (drips && most == 0) {
        (void)poll(NULL, 0, DRIP_MS);
        (void)atomic_fetch_add(&proxy->allowed, 1);
        most = 1;
    }
    if (most == 0) {
        if (atomic_load(&proxy->end) == PROXY_LOSES)
            send_pooler_error(to);
        return false;
    }
    ssize_t got = recv(from, bytes, most, 0);
    if (got <= 0 || send(to, bytes, (size_t)got, MSG_NOSIGNAL) != got)
        return false;
    if (atomic_load(&proxy->armed))
        (void)atomic_fetch_add(&proxy->passed[direction], got);
    /* Cuts as soon as the last allowed byte is through, not when the next one comes. */
    return !limited || atomic_fetch_sub(&proxy->allowed, got) > got || drips;
}

static void serve(struct proxy *proxy, int client)
{
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool open = connect(server, (struct sockaddr *)&proxy->server, sizeof proxy->server) == 0;
    while (open && !atomic_load(&proxy->ending)) {
        struct pollfd polled[2] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
        if (poll(polled, 2, 50) < 0)
            break;
        if (polled[0].revents != 0)
            open = forward(proxy, client, server, PROXY_TO_SERVER);
        if (open && polled[1].revents != 0)
            open = forward(proxy, server, client, PROXY_TO_CLIENT);
    }
    /* A client that gives up closes its side. */
    struct pollfd gone = {.fd = client, .events = POLLRDHUP};
    while (atomic_load(&proxy->armed) && atomic_load(&proxy->end) == PROXY_STALLS && !atomic_load(&proxy->ending) &&
           poll(&gone, 1, 50) == 0)
        continue;
    (void)close(server);
    (void)close(client);
}

static void *run_proxy(void *object)
{
    struct proxy *proxy = object;
    while (!atomic_load(&proxy->ending)) {
        struct pollfd polled = {.fd = proxy->listener, .events = POLLIN};
        if (poll(&polled, 1, 50) <= 0)
            continue;
        int client = accept4(proxy->listener, NULL, NULL, SOCK_CLOEXEC);
        if (client >= 0)
            serve(proxy, client);
    }
    return NULL;
}

void proxy_start(struct proxy *proxy, const struct harness *server)
{
    *proxy = (struct proxy){.server.sun_family = AF_UNIX};
    const struct rig_sql_endpoint endpoint = server_endpoint(server);
    struct sockaddr_un own = {.sun_family = AF_UNIX};
    (void)snprintf(proxy->folder, sizeof proxy->folder, "/tmp/rig-cuts-XXXXXX");
    assert_non_null(mkdtemp(proxy->folder));
    int length = snprintf(proxy->server.sun_path, sizeof proxy->server.sun_path, "%.80s/.s.PGSQL.%s", endpoint.host,
                          endpoint.port);
    assert_in_range(length, 1, sizeof proxy->server.sun_path - 1);
    (void)snprintf(own.sun_path, sizeof own.sun_path, "%s/.s.PGSQL.5432", proxy->folder);
    proxy->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(proxy->listener, (struct sockaddr *)&own, sizeof own), 0);
    assert_int_equal(listen(proxy->listener, 8), 0);
    assert_int_equal(pthread_create(&proxy->thread, NULL, run_proxy, proxy), 0);
}

void proxy_stop(struct proxy *proxy)
{
    atomic_store(&proxy->ending, true);
    assert_int_equal(pthread_join(proxy->thread, NULL), 0);
    (void)close(proxy->listener);
    rig_folder_remove(proxy->folder);
}

void proxy_arm(struct proxy *proxy, enum proxy_direction direction, long allowed, enum proxy_end end)
{
    atomic_store(&proxy->direction, (int)direction);
    atomic_store(&proxy->end, (int)end);
    atomic_store(&proxy->allowed, allowed);
    atomic_store(&proxy->passed[0], 0);
    atomic_store(&proxy->passed[1], 0);
    atomic_store(&proxy->armed, true);
}

void proxy_disarm(struct proxy *proxy)
{
    atomic_store(&proxy->armed, false);
}
