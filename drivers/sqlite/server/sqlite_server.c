/*
 * rig-sqlite-server DATABASE SOCKET processes|threads
 *
 * SQLite is a library. This program makes a server of it, so that a client can be killed in the middle of a
 * transaction, and all of them at once as in a power failure: each session has a process of its own, forked before it
 * opens the database, or a thread, which a shared cache needs. It knows no workload.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "drivers/sqlite/worker/sqlite_worker.h"

enum { BACKLOG = 1024 };

static const char *database;

struct session {
    int socket;
    struct rig_sqlite_worker *worker;
    struct rig_sqlite_page *page;
    char *question;
    size_t capacity;
};

static bool receive_all(int socket, char *data, size_t size)
{
    while (size > 0) {
        const ssize_t got = recv(socket, data, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        data += got;
        size -= (size_t)got;
    }
    return true;
}

static bool send_all(int socket, const char *data, size_t size)
{
    while (size > 0) {
        const ssize_t put = send(socket, data, size, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        data += put;
        size -= (size_t)put;
    }
    return true;
}

/* The descriptor that came with the first byte of the head, or -1. */
static int descriptor_of(struct msghdr *message)
{
    int fd = -1;
    struct cmsghdr *control = CMSG_FIRSTHDR(message);
    if (control != NULL && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
        control->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(control), sizeof fd);
    return fd;
}

/* Receives a message; maps the page whose descriptor comes with it. */
static bool receive(struct session *session, struct rig_sqlite_head *head)
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.room = {0}};
    struct iovec part = {.iov_base = head, .iov_len = sizeof *head};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t got;
    do
        got = recvmsg(session->socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return false;
    const int fd = descriptor_of(&message);
    if (fd >= 0) {
        void *page = mmap(NULL, sizeof *session->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        (void)close(fd);
        if (page != MAP_FAILED && session->page == NULL) {
            session->page = page;
            rig_sqlite_worker_share(session->worker, page);
        }
    }
    if (!receive_all(session->socket, (char *)head + got, sizeof *head - (size_t)got) ||
        head->size > RIG_SQLITE_MESSAGE_MOST)
        return false;
    if (head->size > session->capacity) {
        free(session->question);
        session->question = malloc(head->size);
        session->capacity = session->question == NULL ? 0 : head->size;
    }
    return session->capacity >= head->size && receive_all(session->socket, session->question, head->size);
}

/* One session: what comes over its socket goes to a worker. */
static void serve(int socket)
{
    struct session session = {.socket = socket, .worker = rig_sqlite_worker_new(database)};
    struct rig_sqlite_head head;
    size_t size = 0;
    const char *answer = "";
    while (session.worker != NULL && answer != NULL && receive(&session, &head)) {
        answer = rig_sqlite_worker_answer(session.worker, head.kind, session.question, head.size, &size);
        if (answer != NULL && !send_all(socket, answer, size))
            break;
    }
    rig_sqlite_worker_free(session.worker);
    (void)close(socket);
    if (session.page != NULL)
        (void)munmap(session.page, sizeof *session.page);
    free(session.question);
}

/* ---- the server ---- */

static int fail(const char *what)
{
    (void)fprintf(stderr, "rig-sqlite-server: %s: %s\n", what, strerror(errno));
    return 1;
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)unlink(path); /* of a server that was killed */
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 || listen(fd, BACKLOG) != 0)
        return -1;
    return fd;
}

static void *run_thread(void *argument)
{
    const int *socket = argument;
    serve(*socket);
    free(argument);
    return NULL;
}

static void start_thread(int session)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int *argument = malloc(sizeof *argument);
    if (argument != NULL)
        *argument = session;
    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    if (argument == NULL || pthread_create(&thread, &attributes, run_thread, argument) != 0) {
        free(argument);
        (void)close(session);
    }
    (void)pthread_attr_destroy(&attributes);
}

static void start_process(int listener, int session)
{
    const pid_t server = getpid();
    if (fork() == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != server)
            _exit(0);
        (void)close(listener);
        (void)prctl(PR_SET_NAME, "rig-sqlite-ses");
        serve(session);
        _exit(0);
    }
    (void)close(session); /* only the session's own process may hold it: its end must be seen */
}

int main(int count, char **arguments)
{
    if (count != 4) {
        (void)fprintf(stderr, "usage: rig-sqlite-server DATABASE SOCKET processes|threads\n");
        return 64;
    }
    database = arguments[1];
    const int threads = strcmp(arguments[3], "threads") == 0;
    const int listener = listen_at(arguments[2]);
    if (listener < 0)
        return fail(arguments[2]);
    (void)signal(SIGCHLD, SIG_IGN); /* sessions are reaped by the kernel */
    for (;;) {
        const int session = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (session >= 0 && threads)
            start_thread(session);
        else if (session >= 0)
            start_process(listener, session);
        else if (errno != EINTR && errno != ECONNABORTED && errno != EMFILE && errno != ENFILE)
            return fail("accept");
    }
}
