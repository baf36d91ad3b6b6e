#include "drivers/local/local_switch.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bug.h"

/*
 * Sockets and the processes that hold them, as /proc shows them (proc(5)): which server listens on a port, and which
 * one opened a connection.
 *
 * A look reads the kernel's table of TCP sockets and the descriptors of the given processes. Threads: any.
 */

enum { PROCESSES_MOST = 1024, LINE_BYTES = 512, INODES_MOST = 16, STATE_LISTEN = 0x0A };

/* One row of the kernel's table. */
struct row {
    unsigned long local, remote; /* ports */
    unsigned long state, inode;
};

/* The port of "0100007F:1F90"; 0 when it is no address. */
static unsigned long port_of(const char *address)
{
    const char *colon = strchr(address, ':');
    return colon == NULL ? 0 : strtoul(colon + 1, NULL, 16);
}

static bool read_row(char *line, struct row *row)
{
    enum { LOCAL = 1, REMOTE = 2, STATE = 3, INODE = 9, FIELDS = 10 };
    const char *fields[FIELDS] = {NULL};
    char *rest = NULL;
    size_t count = 0;
    for (char *field = strtok_r(line, " ", &rest); count < FIELDS && field != NULL; field = strtok_r(NULL, " ", &rest))
        fields[count++] = field;
    if (count < FIELDS)
        return false;
    *row = (struct row){.local = port_of(fields[LOCAL]),
                        .remote = port_of(fields[REMOTE]),
                        .state = strtoul(fields[STATE], NULL, 16),
                        .inode = strtoul(fields[INODE], NULL, 10)};
    return true;
}

/* The inode of the socket of port `local` that is connected to port `remote`, both on 127.0.0.1; 0: there is none. */
static unsigned long local_socket_connected(uint16_t local, uint16_t remote)
{
    char line[LINE_BYTES];
    unsigned long inode = 0;
    FILE *table = fopen("/proc/net/tcp", "re");
    if (table == NULL)
        return 0;
    while (inode == 0 && fgets(line, sizeof line, table) != NULL) {
        struct row row;
        if (read_row(line, &row) && row.local == local && row.remote == remote)
            inode = row.inode;
    }
    (void)fclose(table);
    return inode;
}

enum { PAIRS_MOST = 256, BUFFER_BYTES = 16384, BACKLOG = 64 };

/* One direction of a connection. */
struct flow {
    int from, to;
    size_t start, end; /* bytes that wait in the buffer */
    bool ended;        /* `from` has ended, and `to` was told */
    char buffer[BUFFER_BYTES];
};

struct pair {
    int ends[2];
    struct flow flows[2];
};

static short wanted(const struct pair *pair, int end)
{
    const struct flow *out = &pair->flows[end];    /* reads from this end */
    const struct flow *in = &pair->flows[1 - end]; /* writes to it */
    return (short)((out->start == out->end && !out->ended ? POLLIN : 0) | (in->start < in->end ? POLLOUT : 0));
}

static bool process_holds(pid_t pid, unsigned long inode)
{
    char path[64];
    char wanted[64];
    bool holds = false;
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    (void)snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && !holds && (entry = readdir(folder)) != NULL) {
        char target[64];
        const ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
        if (length > 0) {
            target[length] = '\0';
            holds = strcmp(target, wanted) == 0;
        }
    }
    if (folder != NULL)
        (void)closedir(folder);
    return holds;
}

/* Whether a process of the child holds the socket of this inode. */
static bool local_socket_is_of(unsigned long inode, const struct rig_child *child)
{
    pid_t pids[PROCESSES_MOST];
    /* The main process is first, and the most likely one. */
    const pid_t main_pid = rig_child_pid(child);
    if (inode == 0)
        return false;
    if (main_pid > 0 && process_holds(main_pid, inode))
        return true;
    const uint32_t count = rig_child_processes(child, pids, PROCESSES_MOST);
    for (uint32_t i = 0; i < count && i < PROCESSES_MOST; i++) {
        if (pids[i] != main_pid && process_holds(pids[i], inode))
            return true;
    }
    return false;
}

/* Adds the inodes of sockets that listen on the port; several can, with SO_REUSEPORT. */
static uint32_t find_listeners(const char *path, uint16_t port, unsigned long *inodes, uint32_t count)
{
    char line[LINE_BYTES];
    FILE *table = fopen(path, "re");
    if (table == NULL)
        return count;
    while (count < INODES_MOST && fgets(line, sizeof line, table) != NULL) {
        struct row row;
        if (read_row(line, &row) && row.local == port && row.state == STATE_LISTEN)
            inodes[count++] = row.inode;
    }
    (void)fclose(table);
    return count;
}

bool rig_local_socket_listens(const struct rig_child *child, uint16_t port)
{
    unsigned long inodes[INODES_MOST];
    uint32_t count = find_listeners("/proc/net/tcp", port, inodes, 0);
    count = find_listeners("/proc/net/tcp6", port, inodes, count);
    for (uint32_t i = 0; i < count; i++) {
        if (local_socket_is_of(inodes[i], child))
            return true;
    }
    return false;
}

enum { LOCAL_SWITCH_MOST = RIG_NODES_MOST };

struct rig_local_switch {
    pthread_t thread;
    bool running;
    int wake;
    uint32_t count;
    int listeners[LOCAL_SWITCH_MOST];
    uint16_t ports[LOCAL_SWITCH_MOST];
    _Atomic uint16_t routes[LOCAL_SWITCH_MOST + 1][LOCAL_SWITCH_MOST];
    rig_local_child_function *child_of;
    void *context;
    struct pair *pairs[PAIRS_MOST];
    size_t pair_count;
};

/* -- the opener of a connection ------------------------------------------------------------------------------------ */

/* The member that owns the connection; `count` when no member does: it may be a client. */
static uint32_t find_opener(const struct rig_local_switch *made, const struct sockaddr_in *peer, uint32_t to)
{
    const unsigned long inode = local_socket_connected(ntohs(peer->sin_port), made->ports[to]);
    for (uint32_t member = 0; inode != 0 && member < made->count; member++) {
        if (local_socket_is_of(inode, made->child_of(made->context, member)))
            return member;
    }
    return made->count;
}

/* -- connections --------------------------------------------------------------------------------------------------- */

/* The proxy listens on this machine and accepts at once, so this does not block for long. */
static int connect_to(uint16_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

static void set_nonblocking(int fd)
{
    (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static void accept_one(struct rig_local_switch *made, uint32_t to)
{
    struct sockaddr_in peer = {0};
    socklen_t size = sizeof peer;
    const int fd = accept4(made->listeners[to], (struct sockaddr *)&peer, &size, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    const uint32_t from = find_opener(made, &peer, to);
    const uint16_t via = atomic_load(&made->routes[from][to]);
    const int other = via == 0 || made->pair_count == PAIRS_MOST ? -1 : connect_to(via);
    struct pair *pair = other < 0 ? NULL : calloc(1, sizeof *pair);
    if (pair == NULL) {
        if (other >= 0)
            (void)close(other);
        (void)close(fd);
        return;
    }
    set_nonblocking(fd);
    set_nonblocking(other);
    pair->ends[0] = pair->flows[0].from = pair->flows[1].to = fd;
    pair->ends[1] = pair->flows[1].from = pair->flows[0].to = other;
    made->pairs[made->pair_count++] = pair;
}

static void close_pair(struct rig_local_switch *made, size_t at)
{
    (void)close(made->pairs[at]->ends[0]);
    (void)close(made->pairs[at]->ends[1]);
    free(made->pairs[at]);
    made->pairs[at] = made->pairs[--made->pair_count];
}

/* Moves the available bytes. False when the connection is broken. */
static bool move(struct flow *flow)
{
    if (flow->start == flow->end && !flow->ended) {
        const ssize_t got = read(flow->from, flow->buffer, sizeof flow->buffer);
        if (got < 0)
            return errno == EAGAIN || errno == EINTR;
        flow->start = 0;
        flow->end = (size_t)got;
        flow->ended = got == 0;
        if (flow->ended)
            (void)shutdown(flow->to, SHUT_WR);
    }
    if (flow->start < flow->end) {
        const ssize_t put = send(flow->to, flow->buffer + flow->start, flow->end - flow->start, MSG_NOSIGNAL);
        if (put < 0)
            return errno == EAGAIN || errno == EINTR;
        flow->start += (size_t)put;
    }
    return true;
}

static void serve_pairs(struct rig_local_switch *made, const struct pollfd *polled, size_t count)
{
    for (size_t at = count; at-- > 0;) {
        struct pair *pair = made->pairs[at];
        bool alive = true;
        for (int end = 0; alive && end < 2; end++) {
            const short events = polled[2 * at + (size_t)end].revents;
            alive = (events & (POLLERR | POLLNVAL)) == 0;
            if (alive && (events & (POLLIN | POLLHUP)) != 0)
                alive = move(&pair->flows[end]);
            if (alive && (events & POLLOUT) != 0)
                alive = move(&pair->flows[1 - end]);
        }
        const bool over = pair->flows[0].ended && pair->flows[1].ended;
        if (!alive || over)
            close_pair(made, at);
    }
}

static void *serve(void *argument)
{
    struct rig_local_switch *made = argument;
    static const size_t fixed = 1 + LOCAL_SWITCH_MOST;
    struct pollfd polled[1 + LOCAL_SWITCH_MOST + 2 * PAIRS_MOST];
    for (;;) {
        const size_t pairs = made->pair_count;
        polled[0] = (struct pollfd){.fd = made->wake, .events = POLLIN};
        for (uint32_t i = 0; i < LOCAL_SWITCH_MOST; i++)
            polled[1 + i] = (struct pollfd){.fd = i < made->count ? made->listeners[i] : -1, .events = POLLIN};
        for (size_t i = 0; i < 2 * pairs; i++) {
            const struct pair *pair = made->pairs[i / 2];
            const short events = wanted(pair, (int)(i % 2));
            /* An end that hung up would wake the loop repeatedly while there is nothing to do with it. */
            polled[fixed + i] = (struct pollfd){.fd = events == 0 ? -1 : pair->ends[i % 2], .events = events};
        }
        if (poll(polled, fixed + 2 * pairs, -1) < 0 && errno != EINTR)
            return NULL;
        if (polled[0].revents != 0)
            return NULL;
        serve_pairs(made, polled + fixed, pairs);
        for (uint32_t i = 0; i < made->count; i++) {
            if (polled[1 + i].revents != 0)
                accept_one(made, i);
        }
    }
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

static enum rig_rc listen_for(struct rig_local_switch *made, uint32_t member, struct rig_err *err)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    made->listeners[member] = fd;
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "no port for the members' switch: %s", strerror(errno));
    made->ports[member] = ntohs(address.sin_port);
    return RIG_OK;
}

/* Listens for `count` nodes; their ports are in `announced`. */
static enum rig_rc make(uint32_t count, rig_local_child_function *child_of, void *context,
                        struct rig_local_switch **made, uint16_t *announced, struct rig_err *err)
{
    RIG_REQUIRE(count <= LOCAL_SWITCH_MOST);
    struct rig_local_switch *new = calloc(1, sizeof *new);
    if (new == NULL)
        return rig_no_memory(err, "the members' switch");
    new->count = count;
    new->child_of = child_of;
    new->context = context;
    for (uint32_t i = 0; i < LOCAL_SWITCH_MOST; i++)
        new->listeners[i] = -1;
    new->wake = eventfd(0, EFD_CLOEXEC);
    enum rig_rc rc = new->wake < 0 ? rig_fail(err, RIG_E_CLUSTER, "no descriptor: %s", strerror(errno)) : RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < count; i++)
        rc = listen_for(new, i, err);
    if (rc == RIG_OK && pthread_create(&new->thread, NULL, serve, new) != 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "no thread for the members' switch");
    new->running = rc == RIG_OK;
    if (rc != RIG_OK) {
        rig_local_switch_free(new);
        return rc;
    }
    memcpy(announced, new->ports, count * sizeof *announced);
    *made = new;
    return RIG_OK;
}

void rig_local_switch_set_route(struct rig_local_switch *made, uint32_t from, uint32_t to, uint16_t via)
{
    RIG_REQUIRE(from <= made->count && to < made->count);
    atomic_store(&made->routes[from][to], via);
}

enum rig_rc rig_local_switch_join(const struct rig_core *core, const struct rig_local_peers *peers,
                                  struct rig_local_switch **made, uint16_t announced[static RIG_NODES_MOST],
                                  struct rig_err *err)
{
    const struct rig_local_peer *at = peers->at;
    const uint32_t count = peers->count;
    if (!core->routed() || count < 2)
        return RIG_OK;
    enum rig_rc rc = make(count, peers->child_of, peers->context, made, announced, err);
    for (uint32_t to = 0; rc == RIG_OK && to < count; to++) {
        for (uint32_t from = 0; rc == RIG_OK && from < count; from++) {
            uint16_t via = at[to].port;
            if (from != to)
                rc = core->route(at[from].name, at[to].name, "127.0.0.1", at[to].port, &via, err);
            if (rc == RIG_OK)
                rig_local_switch_set_route(*made, from, to, via);
        }
    }
    return rc;
}

void rig_local_switch_free(struct rig_local_switch *made)
{
    const uint64_t one = 1;
    if (made == NULL)
        return;
    if (made->running) {
        (void)!write(made->wake, &one, sizeof one);
        (void)pthread_join(made->thread, NULL);
    }
    while (made->pair_count > 0)
        close_pair(made, made->pair_count - 1);
    for (uint32_t i = 0; i < made->count; i++) {
        if (made->listeners[i] >= 0)
            (void)close(made->listeners[i]);
    }
    if (made->wake >= 0)
        (void)close(made->wake);
    free(made);
}
