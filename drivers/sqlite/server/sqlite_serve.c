#include "drivers/sqlite/server/sqlite_serve.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "drivers/sqlite/worker/sqlite_worker.h"

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

void rig_sqlite_serve(int socket, const char *database)
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
