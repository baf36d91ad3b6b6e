#include "nemesis/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/printable.h"

enum { POLL_MS = 10, SIGNALLED = 128, LOST_STATUS = 127 << 8 };

/* The arguments and the environment of the program, NULL-ended lists. */
struct prepared {
    const char *const *arguments;
    char **environment;
};

static int spawn(const struct rig_command *command, const struct prepared *prepared, int output, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setsigdefault(&attributes, &all);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    error = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(
            &actions, command->output_plus_one > 0 ? command->output_plus_one - 1 : output, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    if (error == 0 && command->directory != NULL)
        error = posix_spawn_file_actions_addchdir_np(&actions, command->directory);
    if (error == 0)
        error = posix_spawnp(pid, prepared->arguments[0], &actions, &attributes, (char *const *)prepared->arguments,
                             prepared->environment);
    (void)posix_spawnattr_destroy(&attributes);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Keeps the first line that is not blank, and discards the rest. */
struct reading {
    char line[RIG_COMMAND_LINE_BYTES];
    size_t length;
    bool done; /* the line is whole */
};

static void take(struct reading *reading, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count && !reading->done; i++) {
        const unsigned char c = (unsigned char)bytes[i];
        if (c == '\n')
            reading->done = reading->length > 0;
        else if (reading->length + 1 < sizeof reading->line && (c > ' ' || reading->length > 0))
            reading->line[reading->length++] = (char)(c < ' ' ? ' ' : c);
    }
}

/* Reads the available output. False: no process writes any more. */
static bool read_some(int fd, struct reading *reading)
{
    char bytes[4096];
    for (;;) {
        const ssize_t got = read(fd, bytes, sizeof bytes);
        if (got > 0)
            take(reading, bytes, (size_t)got);
        else if (got == 0 || (errno != EINTR && errno != EAGAIN))
            return false;
        else if (errno == EAGAIN)
            return true;
    }
}

/* Waits for the program's end. False: it was given up and killed. */
static bool await(const struct rig_command *command, pid_t pid, int fd, struct reading *reading, int *status)
{
    const int64_t until_ns = rig_clock_now_ns() + command->timeout_ns;
    bool open = true;
    pid_t ended;
    while ((ended = waitpid(pid, status, WNOHANG)) == 0) {
        const bool stopping = command->stopping != NULL && command->stopping();
        if (stopping || rig_clock_now_ns() >= until_ns) {
            (void)kill(-pid, SIGKILL);
            (void)kill(pid, SIGKILL);
            while (waitpid(pid, status, 0) < 0 && errno == EINTR)
                continue;
            return false;
        }
        struct pollfd poll_fd = {.fd = open ? fd : -1, .events = POLLIN};
        if (poll(&poll_fd, 1, POLL_MS) > 0)
            open = read_some(fd, reading);
    }
    (void)read_some(fd, reading);
    if (ended != pid)
        *status = LOST_STATUS; /* never success */
    return true;
}

static enum rig_rc run_prepared(const struct rig_command *command, const struct prepared *prepared,
                                struct rig_command_answer *answer, struct rig_err *err)
{
    const char *const *arguments = prepared->arguments;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "%s: no pipe: %s", arguments[0], strerror(errno));
    pid_t pid = 0;
    const int error = spawn(command, prepared, ends[1], &pid);
    (void)close(ends[1]);
    if (error != 0) {
        (void)close(ends[0]);
        return rig_fail(err, RIG_E_CLUSTER, "%s cannot be started: %s", arguments[0], strerror(error));
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    struct reading reading = {.length = 0};
    int status = 0;
    const bool ended = await(command, pid, ends[0], &reading, &status);
    (void)close(ends[0]);
    while (reading.length > 0 && reading.line[reading.length - 1] == ' ')
        reading.line[--reading.length] = '\0';
    if (!ended)
        return rig_fail(err, RIG_E_CLUSTER, "%s was killed: %s", arguments[0],
                        command->stopping != NULL && command->stopping()
                            ? "the run is ending"
                            : "it took too long (nemesis.command-timeout)");
    answer->status = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
    rig_printable_line(reading.line);
    memcpy(answer->line, reading.line, sizeof answer->line);
    return RIG_OK;
}

enum rig_rc rig_command_run(const struct rig_command *command, struct rig_command_answer *answer, struct rig_err *err)
{
    struct rig_arena arena;
    rig_arena_init(&arena, 0);
    struct prepared prepared = {.environment = rig_placeholder_environment(command->place, &arena)};
    enum rig_rc rc = prepared.environment == NULL ? rig_no_memory(err, "a command") : RIG_OK;
    if (rc == RIG_OK && command->arguments.count == 0)
        rc = rig_fail(err, RIG_E_CLUSTER, "a command is empty");
    if (rc == RIG_OK)
        rc = rig_placeholder_expand(&command->arguments, command->place, &arena, &prepared.arguments, err);
    if (rc == RIG_OK)
        rc = run_prepared(command, &prepared, answer, err);
    rig_arena_done(&arena);
    return rc;
}

enum rig_rc rig_command_succeed(const struct rig_command *command, struct rig_command_answer *answer,
                                struct rig_err *err)
{
    const enum rig_rc rc = rig_command_run(command, answer, err);
    if (rc != RIG_OK || answer->status == 0)
        return rc;
    return rig_fail(err, RIG_E_CLUSTER, "%s ended with status %d%s%s", command->arguments.at[0], answer->status,
                    answer->line[0] == '\0' ? "" : ": ", answer->line);
}
