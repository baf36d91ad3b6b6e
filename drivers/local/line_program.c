#include "drivers/local/line_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/output_file.h"
#include "base/run_files.h"
#include "drivers/local/local_site.h"

enum { READ_BYTES = 65536, SLICE_MS = 1000, NS_PER_MS = 1000000, PATH_BYTES = 4096 };

static const int64_t clear_ns = INT64_C(5000000000);
static const int64_t look_ns = INT64_C(500000000); /* between the end of its output and its own */

extern char **environ;

static void close_end(int *end)
{
    if (*end > 0)
        (void)close(*end - 1);
    *end = 0;
}

enum rig_rc rig_line_program_find(const char *name, const char *home, char *path, size_t size, struct rig_err *err)
{
    const char *folders = getenv("PATH");
    if (strchr(name, '/') != NULL) {
        (void)snprintf(path, size, "%s%s%s", name[0] == '/' ? "" : home, name[0] == '/' ? "" : "/", name);
        if (access(path, X_OK) == 0)
            return RIG_OK;
        return rig_fail(err, RIG_E_PLAN, "`command`: %s cannot be executed: %s", path, strerror(errno));
    }
    while (folders != NULL && *folders != '\0') {
        const size_t length = strcspn(folders, ":");
        (void)snprintf(path, size, "%.*s/%s", (int)length, folders, name);
        if (length > 0 && access(path, X_OK) == 0)
            return RIG_OK;
        folders += length + (folders[length] == ':');
    }
    return rig_fail(err, RIG_E_PLAN, "`command`: there is no %s in PATH", name);
}

static enum rig_rc start_child(struct rig_line_program *process, struct rig_children *children,
                               const char *const *arguments, const char *home, int log, struct rig_err *err)
{
    static const struct rig_account own = {0};
    int input[2];
    int output[2];
    /* A socket, because writing to a pipe without a reader raises a signal. */
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) != 0)
        return rig_fail(err, RIG_E_DRIVER, "no descriptors for %s: %s", arguments[0], strerror(errno));
    if (pipe2(output, O_CLOEXEC) != 0) {
        (void)close(input[0]);
        (void)close(input[1]);
        return rig_fail(err, RIG_E_DRIVER, "no descriptors for %s: %s", arguments[0], strerror(errno));
    }
    process->to = input[0] + 1;
    process->from = output[0] + 1;
    (void)fcntl(input[0], F_SETFL, O_NONBLOCK);
    (void)fcntl(output[0], F_SETFL, O_NONBLOCK);
    const struct rig_child_command command = {
        .arguments = arguments,
        .environment = (const char *const *)environ,
        .whole_environment = true,
        .marked = true,
        .account = &own,
        .home = home,
        .input_plus_one = input[1] + 1,
        .output = output[1],
        .errors_plus_one = log + 1,
        .death_signal = SIGKILL,
    };
    const enum rig_rc rc = rig_child_start(children, &command, &process->child, err);
    (void)close(input[1]);
    (void)close(output[1]);
    return rc;
}

enum rig_rc rig_line_program_start(struct rig_line_program *process, const struct rig_run_env *env,
                                   struct rig_children *children, const char *const *arguments, const char *home,
                                   size_t most_bytes, struct rig_err *err)
{
    char path[PATH_BYTES];
    process->env = env;
    rig_buf_init(&process->answer, most_bytes);
    (void)snprintf(path, sizeof path, "%s/" RIG_RUN_LOG_OF_EXEC, env->log_dir);
    const int log = rig_output_append(path);
    if (log < 0)
        return rig_fail(err, RIG_E_DRIVER, "cannot write %s: %s", path, strerror(errno));
    const enum rig_rc rc = start_child(process, children, arguments, home, log, err);
    (void)close(log);
    return rc;
}

enum rig_rc rig_line_program_refuse(const struct rig_line_program *process, enum rig_rc rc, const char *program,
                                    const char *how, struct rig_err *err)
{
    char tail[RIG_LOCAL_TAIL_BYTES];
    rig_local_log_tail(process->env, RIG_RUN_LOG_OF_EXEC, tail);
    return tail[0] == '\0' ? rig_fail(err, rc, "%s: %s; see " RIG_RUN_LOG_OF_EXEC, program, how)
                           : rig_fail(err, rc, "%s: %s; " RIG_RUN_LOG_OF_EXEC " ends: %s", program, how, tail);
}

void rig_line_program_tell_end(struct rig_line_program *process, char *text, size_t size)
{
    int status = 0;
    const bool ended = rig_child_pid(&process->child) > 0 && rig_child_await(&process->child, look_ns);
    if (!ended || !rig_child_clear(&process->child, clear_ns, &status))
        (void)snprintf(text, size, "it closed its output");
    else if (WIFSIGNALED(status))
        (void)snprintf(text, size, "it was ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        (void)snprintf(text, size, "it ended with exit status %d", WEXITSTATUS(status));
}

bool rig_line_program_silence(struct rig_line_program *process)
{
    char byte;
    if (process->answer.size > process->given || !rig_child_clear(&process->child, clear_ns, NULL) ||
        rig_child_left_processes(&process->child))
        return false;
    return read(process->from - 1, &byte, 1) == 0;
}

void rig_line_program_end(struct rig_line_program *process, int64_t grace_ns)
{
    close_end(&process->to);
    if (rig_child_pid(&process->child) > 0)
        (void)rig_child_await(&process->child, grace_ns);
    (void)rig_child_clear(&process->child, clear_ns, NULL);
    close_end(&process->from);
    rig_buf_done(&process->answer);
    process->given = 0;
}

/* Whether to continue. Also called while bytes keep coming: a program can send one at a time for as long as it
 * likes. */
static enum rig_line_end ask_patience(const struct rig_line_patience *patience, int64_t *left_ns)
{
    if (patience->wake != NULL && rig_wake_is_raised(patience->wake))
        return RIG_LINE_INTERRUPTED;
    *left_ns = patience->deadline_ns - patience->core->now_ns();
    return *left_ns <= 0 ? RIG_LINE_TIMEOUT : RIG_LINE_DONE;
}

/* Waits until the descriptor is ready. */
static enum rig_line_end await(int fd, short events, const struct rig_line_patience *patience)
{
    const int wake_fd = patience->wake == NULL ? -1 : rig_wake_fd(patience->wake);
    struct pollfd polled[2] = {{.fd = fd, .events = events}, {.fd = wake_fd, .events = POLLIN}};
    for (;;) {
        int64_t left_ns;
        const enum rig_line_end end = ask_patience(patience, &left_ns);
        if (end != RIG_LINE_DONE)
            return end;
        const int64_t left_ms = left_ns / NS_PER_MS + 1;
        if (poll(polled, 2, left_ms < SLICE_MS ? (int)left_ms : SLICE_MS) < 0 && errno != EINTR)
            return RIG_LINE_ENDED;
        if (polled[0].revents != 0)
            return RIG_LINE_DONE;
        if (polled[1].revents != 0)
            rig_wake_settle(patience->wake);
    }
}

enum rig_line_end rig_line_send(struct rig_line_program *process, const struct rig_buf *line,
                                const struct rig_line_patience *patience, size_t *sent)
{
    *sent = 0;
    while (*sent < line->size) {
        const ssize_t put = send(process->to - 1, line->data + *sent, line->size - *sent, MSG_NOSIGNAL);
        if (put > 0) {
            *sent += (size_t)put;
            continue;
        }
        if (errno != EAGAIN && errno != EINTR)
            return RIG_LINE_ENDED;
        const enum rig_line_end end = await(process->to - 1, POLLOUT, patience);
        if (end != RIG_LINE_DONE)
            return end;
    }
    return RIG_LINE_DONE;
}

/* Discards the line that was returned last. */
static void forget_given(struct rig_line_program *process)
{
    struct rig_buf *answer = &process->answer;
    if (process->given == 0)
        return;
    memmove(answer->data, answer->data + process->given, answer->size - process->given);
    answer->size -= process->given;
    process->given = 0;
}

enum rig_line_end rig_line_receive(struct rig_line_program *process, const struct rig_line_patience *patience,
                                   const char **line, size_t *size)
{
    struct rig_buf *answer = &process->answer;
    size_t looked = 0;
    forget_given(process);
    for (;;) {
        const char *start = rig_buf_text(answer);
        const char *end = answer->size > looked ? memchr(start + looked, '\n', answer->size - looked) : NULL;
        if (end != NULL) {
            *line = start;
            *size = (size_t)(end - start);
            process->given = *size + 1;
            return RIG_LINE_DONE;
        }
        looked = answer->size;
        const size_t left = answer->limit - answer->size;
        const size_t most = left < READ_BYTES ? left : READ_BYTES;
        char *room = most == 0 ? NULL : rig_buf_reserve(answer, most);
        if (room == NULL)
            return RIG_LINE_TOO_LARGE;
        const enum rig_line_end waited = await(process->from - 1, POLLIN, patience);
        if (waited != RIG_LINE_DONE)
            return waited;
        const ssize_t got = read(process->from - 1, room, most);
        if (got > 0)
            answer->size += (size_t)got;
        else if (got == 0 || (errno != EAGAIN && errno != EINTR))
            return RIG_LINE_ENDED;
    }
}
