#include "drivers/sqlite/sqlite_link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bug.h"
#include "drivers/sqlite/sqlite_outcome.h"
#include "drivers/sqlite/worker/sqlite_worker.h"

enum { SLICE_MS = 1000, NS_PER_MS = 1000000 };

/* ---- waiting ---- */

static enum rig_sqlite_wait await(int fd, short events, const struct rig_sqlite_patience *patience)
{
    const int wake_fd = patience->wake == NULL ? -1 : rig_wake_fd(patience->wake);
    struct pollfd polled[2] = {{.fd = fd, .events = events}, {.fd = wake_fd, .events = POLLIN}};
    for (;;) {
        if (patience->wake != NULL && rig_wake_is_raised(patience->wake))
            return RIG_SQLITE_WOKEN;
        const int64_t left_ns = patience->deadline_ns - patience->core->now_ns();
        if (left_ns <= 0)
            return RIG_SQLITE_LATE;
        const int64_t left_ms = left_ns / NS_PER_MS + 1;
        if (poll(polled, 2, left_ms < SLICE_MS ? (int)left_ms : SLICE_MS) < 0 && errno != EINTR)
            return RIG_SQLITE_GONE;
        if (polled[0].revents != 0)
            return RIG_SQLITE_ANSWERED;
        if (polled[1].revents != 0)
            rig_wake_settle(patience->wake);
    }
}

/* ---- questions and answers ---- */

void rig_sqlite_link_begin(struct rig_sqlite_link *link, enum rig_sqlite_kind kind)
{
    const struct rig_sqlite_head head = {.kind = (uint32_t)kind};
    rig_buf_clear(&link->question);
    rig_buf_add(&link->question, &head, sizeof head);
}

static enum rig_sqlite_wait send_question(struct rig_sqlite_link *link, const struct rig_sqlite_patience *patience)
{
    struct rig_buf *question = &link->question;
    const int fd = link->fd_plus_one - 1;
    if (question->failed || question->size - sizeof(struct rig_sqlite_head) > RIG_SQLITE_MESSAGE_MOST)
        return RIG_SQLITE_GONE; /* nothing was sent; the session ends */
    const uint32_t size = (uint32_t)(question->size - sizeof(struct rig_sqlite_head));
    memcpy(question->data, &size, sizeof size);
    for (size_t sent = 0; sent < question->size;) {
        const ssize_t put = send(fd, question->data + sent, question->size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put > 0) {
            sent += (size_t)put;
            continue;
        }
        if (errno != EAGAIN && errno != EINTR)
            return RIG_SQLITE_GONE;
        const enum rig_sqlite_wait wait = await(fd, POLLOUT, patience);
        if (wait != RIG_SQLITE_ANSWERED)
            return wait;
    }
    return RIG_SQLITE_ANSWERED;
}

/* Reads until the buffer has `size` bytes. */
static enum rig_sqlite_wait receive_up_to(struct rig_sqlite_link *link, size_t size,
                                          const struct rig_sqlite_patience *patience)
{
    enum { CHUNK = 65536 };
    struct rig_buf *bytes = &link->bytes;
    while (bytes->size < size) {
        const enum rig_sqlite_wait wait = await(link->fd_plus_one - 1, POLLIN, patience);
        if (wait != RIG_SQLITE_ANSWERED)
            return wait;
        const size_t left = size - bytes->size;
        char *room = rig_buf_reserve(bytes, left > CHUNK ? left : CHUNK);
        if (room == NULL)
            return RIG_SQLITE_GONE;
        const ssize_t got = recv(link->fd_plus_one - 1, room, left > CHUNK ? left : CHUNK, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return RIG_SQLITE_GONE;
        bytes->size += got > 0 ? (size_t)got : 0;
    }
    return RIG_SQLITE_ANSWERED;
}

static void take_answer(struct rig_sqlite_link *link)
{
    memcpy(&link->answer, link->bytes.data + sizeof(struct rig_sqlite_head), sizeof link->answer);
    link->answer.text[sizeof link->answer.text - 1] = '\0';
}

static enum rig_sqlite_wait receive_answer(struct rig_sqlite_link *link, const struct rig_sqlite_patience *patience)
{
    struct rig_sqlite_head head;
    const size_t least = sizeof head + sizeof link->answer;
    rig_buf_clear(&link->bytes);
    enum rig_sqlite_wait wait = receive_up_to(link, least, patience);
    if (wait != RIG_SQLITE_ANSWERED)
        return wait;
    memcpy(&head, link->bytes.data, sizeof head);
    if (head.size < sizeof link->answer || head.size > 2 * (size_t)RIG_SQLITE_MESSAGE_MOST)
        return RIG_SQLITE_GONE;
    wait = receive_up_to(link, sizeof head + head.size, patience);
    if (wait != RIG_SQLITE_ANSWERED)
        return wait;
    take_answer(link);
    /* One question at a time: bytes behind the answer would be those of a server that is out of step. */
    return link->bytes.size == sizeof head + head.size ? RIG_SQLITE_ANSWERED : RIG_SQLITE_GONE;
}

/* The question runs to its end; a client that is to stop asks nothing further. */
static enum rig_sqlite_wait run_embedded(struct rig_sqlite_link *link, const struct rig_sqlite_patience *patience)
{
    struct rig_sqlite_head head;
    size_t size = 0;
    if (patience->wake != NULL && rig_wake_is_raised(patience->wake))
        return RIG_SQLITE_WOKEN;
    if (link->question.failed)
        return RIG_SQLITE_GONE;
    memcpy(&head, link->question.data, sizeof head);
    const char *answer = rig_sqlite_worker_answer(link->embedded, head.kind, link->question.data + sizeof head,
                                                  link->question.size - sizeof head, &size);
    rig_buf_clear(&link->bytes);
    if (answer != NULL)
        rig_buf_add(&link->bytes, answer, size);
    if (answer == NULL || link->bytes.failed)
        return RIG_SQLITE_GONE;
    take_answer(link);
    return RIG_SQLITE_ANSWERED;
}

enum rig_sqlite_wait rig_sqlite_link_ask(struct rig_sqlite_link *link, const struct rig_sqlite_patience *patience)
{
    if (link->embedded != NULL)
        return run_embedded(link, patience);
    const enum rig_sqlite_wait wait = send_question(link, patience);
    return wait == RIG_SQLITE_ANSWERED ? receive_answer(link, patience) : wait;
}

/* The question's result as an error of the run. */
static enum rig_rc judge(const struct rig_sqlite_link *link, enum rig_sqlite_wait wait, const char *what,
                         struct rig_err *err)
{
    if (wait == RIG_SQLITE_WOKEN)
        return rig_fail(err, RIG_E_INTERRUPTED, "SQLite: %s: interrupted", what);
    if (wait == RIG_SQLITE_LATE)
        return rig_fail(err, RIG_E_CLUSTER, "SQLite: %s: no answer in time", what);
    if (wait == RIG_SQLITE_GONE)
        return rig_fail(err, RIG_E_CLUSTER, "SQLite: %s: the server closed the connection", what);
    if (link->answer.code != 0)
        return rig_fail(err, RIG_E_CLUSTER, "SQLite: %s: %s (%s)", what, link->answer.text,
                        rig_sqlite_code_name(link->answer.code));
    return RIG_OK;
}

enum rig_rc rig_sqlite_link_run(struct rig_sqlite_link *link, const char *script,
                                const struct rig_sqlite_patience *patience, struct rig_err *err)
{
    char what[80];
    (void)snprintf(what, sizeof what, "`%.70s`", script);
    rig_sqlite_link_begin(link, RIG_SQLITE_SCRIPT);
    rig_buf_add(&link->question, script, strlen(script) + 1);
    return judge(link, rig_sqlite_link_ask(link, patience), what, err);
}

/* ---- opening and closing ---- */

static enum rig_rc connect_to(struct rig_sqlite_link *link, const char *path, struct rig_err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t length = strlen(path);
    RIG_REQUIRE(length < sizeof address.sun_path);
    memcpy(address.sun_path, path, length);
    /* It does not block: a full backlog is an error at once. */
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return rig_fail(err, RIG_E_CLUSTER, "SQLite: no socket: %s", strerror(errno));
    link->fd_plus_one = fd + 1;
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "SQLite: the server does not answer: %s", strerror(errno));
    return RIG_OK;
}

/* Makes the page and sends its descriptor, with the first byte of a message that follows. */
static enum rig_rc share_page(struct rig_sqlite_link *link, struct rig_err *err)
{
    const int fd = memfd_create("rig-sqlite", MFD_CLOEXEC);
    void *page = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)sizeof *link->page) == 0)
        page = mmap(NULL, sizeof *link->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED)
        link->page = page;
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {.room = {0}};
    struct iovec part = {.iov_base = link->question.data, .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    const bool sent = link->page != NULL && sendmsg(link->fd_plus_one - 1, &message, MSG_NOSIGNAL) == 1;
    const int error = errno;
    if (fd >= 0)
        (void)close(fd);
    return sent ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "SQLite: no shared page: %s", strerror(error));
}

/* The first message. Its first byte goes with the descriptor of the page; the rest follows as another question would.
 * */
static enum rig_sqlite_wait greet_server(struct rig_sqlite_link *link, const struct rig_sqlite_patience *patience,
                                         struct rig_err *err)
{
    const int fd = link->fd_plus_one - 1;
    const uint32_t size = (uint32_t)(link->question.size - sizeof(struct rig_sqlite_head));
    memcpy(link->question.data, &size, sizeof size);
    enum rig_sqlite_wait wait = share_page(link, err) == RIG_OK ? RIG_SQLITE_ANSWERED : RIG_SQLITE_GONE;
    for (size_t sent = 1; wait == RIG_SQLITE_ANSWERED && sent < link->question.size;) {
        const ssize_t put =
            send(fd, link->question.data + sent, link->question.size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        sent += put > 0 ? (size_t)put : 0;
        if (put <= 0)
            wait = errno == EAGAIN || errno == EINTR ? await(fd, POLLOUT, patience) : RIG_SQLITE_GONE;
    }
    return wait == RIG_SQLITE_ANSWERED ? receive_answer(link, patience) : wait;
}

static enum rig_rc embed(struct rig_sqlite_link *link, const char *database, struct rig_err *err)
{
    link->embedded = rig_sqlite_worker_new(database);
    if (link->embedded == NULL)
        return rig_no_memory(err, "a connection");
    link->page = &link->own_page;
    rig_sqlite_worker_share(link->embedded, link->page);
    return RIG_OK;
}

enum rig_rc rig_sqlite_link_open(struct rig_sqlite_link *link, const struct rig_sqlite_setup *setup,
                                 const struct rig_sqlite_patience *patience, struct rig_err *err)
{
    const struct rig_sqlite_hello hello = {
        .busy_ms = setup->busy_ms, .shared_cache = setup->shared_cache, .statement_count = setup->statement_count};
    link->core = patience->core;
    rig_buf_init(&link->question, RIG_SQLITE_MESSAGE_MOST);
    rig_buf_init(&link->bytes, 2 * (size_t)RIG_SQLITE_MESSAGE_MOST + 65536);
    const enum rig_rc rc =
        setup->socket == NULL ? embed(link, setup->database, err) : connect_to(link, setup->socket, err);
    if (rc != RIG_OK)
        return rc;
    rig_sqlite_link_begin(link, RIG_SQLITE_HELLO);
    rig_buf_add(&link->question, &hello, sizeof hello);
    if (setup->statements != NULL)
        rig_buf_add(&link->question, setup->statements->data, setup->statements->size);
    rig_buf_add(&link->question, setup->script, strlen(setup->script) + 1);
    if (link->question.failed)
        return rig_no_memory(err, "the statements of a session");
    const enum rig_sqlite_wait wait =
        link->embedded != NULL ? run_embedded(link, patience) : greet_server(link, patience, err);
    return judge(link, wait, "opening the database", err);
}

void rig_sqlite_link_close(struct rig_sqlite_link *link)
{
    if (link->fd_plus_one > 0)
        (void)close(link->fd_plus_one - 1);
    if (link->page != NULL && link->embedded == NULL)
        (void)munmap(link->page, sizeof *link->page);
    rig_sqlite_worker_free(link->embedded);
    rig_buf_done(&link->question);
    rig_buf_done(&link->bytes);
    *link = (struct rig_sqlite_link){.page = NULL};
}

/* ---- the fate of a transaction ---- */

void rig_sqlite_link_open_transaction(struct rig_sqlite_link *link)
{
    atomic_store(&link->page->state, RIG_SQLITE_PAGE_OPEN);
}

bool rig_sqlite_link_give_up(struct rig_sqlite_link *link)
{
    uint32_t expected = RIG_SQLITE_PAGE_OPEN;
    return atomic_compare_exchange_strong(&link->page->state, &expected, RIG_SQLITE_PAGE_GIVEN_UP);
}

/* ---- results ---- */

struct rig_sqlite_cursor rig_sqlite_link_results(const struct rig_sqlite_link *link)
{
    return (struct rig_sqlite_cursor){.at = link->bytes.data + sizeof(struct rig_sqlite_head) +
                                            sizeof(struct rig_sqlite_answer),
                                      .end = link->bytes.data + link->bytes.size};
}

static bool take(struct rig_sqlite_cursor *cursor, void *bytes, size_t size)
{
    if ((size_t)(cursor->end - cursor->at) < size)
        return false;
    memcpy(bytes, cursor->at, size);
    cursor->at += size;
    return true;
}

bool rig_sqlite_next_rows(struct rig_sqlite_cursor *cursor, struct rig_sqlite_rows *rows)
{
    return take(cursor, rows, sizeof *rows);
}

bool rig_sqlite_next_cell(struct rig_sqlite_cursor *cursor, struct rig_sqlite_cell *cell)
{
    *cell = (struct rig_sqlite_cell){0};
    if (!take(cursor, &cell->kind, sizeof cell->kind))
        return false;
    if (cell->kind == RIG_SQLITE_INTEGER)
        return take(cursor, &cell->number, sizeof cell->number);
    if (cell->kind != RIG_SQLITE_TEXT && cell->kind != RIG_SQLITE_REAL)
        return cell->kind == RIG_SQLITE_NULL;
    if (!take(cursor, &cell->length, sizeof cell->length) || (size_t)(cursor->end - cursor->at) < cell->length)
        return false;
    cell->text = cursor->at;
    cursor->at += cell->length;
    return true;
}
