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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "drivers/sqlite/server/sqlite_serve.h"

enum { BACKLOG = 1024 };

static const char *database;

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
    rig_sqlite_serve(*socket, database);
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
        rig_sqlite_serve(session, database);
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
