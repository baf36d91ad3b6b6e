/*
 * The driver exec: any program that reads one transaction a line and answers one line. Each session has a process of
 * its own; a session that is lost ends it, and the next one starts another.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/output_file.h"
#include "base/plural.h"
#include "base/run_files.h"
#include "drivers/local/line_program.h"
#include "drivers/exec/exec_protocol.h"
#include "drivers/local/command_cluster.h"

static const int64_t left_timeout_ns = INT64_C(5000000000);

struct options {
    struct rig_text_list command;
    bool setup;
    int64_t open_timeout_ns;
    int64_t transaction_timeout_ns;
    int64_t stop_timeout_ns;
    int64_t max_answer_bytes;
    struct rig_command_options servers;
};

static const struct rig_option option_table[] = {
    {.name = "command",
     .type = RIG_OPTION_COMMAND,
     .offset = offsetof(struct options, command),
     .required = true,
     .help =
         "the program and its arguments, run for each client, without a shell, in the folder in which rig was "
         "started; `{port}`, `{port:2}` and the like stand for the ports of nodes that rig starts (docs/clusters.md)"},
    {.name = "setup",
     .type = RIG_OPTION_BOOL,
     .offset = offsetof(struct options, setup),
     .default_text = "true",
     .help = "whether it also runs before the load to set up and after it to tear down"},
    {.name = "open-timeout",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, open_timeout_ns),
     .default_text = "10s",
     .least = 1e6,
     .most = 6e11,
     .help = "time in which the program must report that it is ready"},
    {.name = "transaction-timeout",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, transaction_timeout_ns),
     .default_text = "10s",
     .least = 1e6,
     .most = 6e11,
     .help = "time limit of a transaction, after which the program is ended"},
    {.name = "stop-timeout",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct options, stop_timeout_ns),
     .default_text = "2s",
     .least = 0,
     .most = 6e10,
     .help = "time in which it must end after its input ends, before it is killed"},
    {.name = "max-answer",
     .type = RIG_OPTION_SIZE,
     .offset = offsetof(struct options, max_answer_bytes),
     .default_text = "16MiB",
     .least = 1024,
     .most = 1e9,
     .help = "longest line that rig reads from it"},
    RIG_COMMAND_OPTION_ROWS(struct options, servers),
    {0},
};

struct run {
    const struct rig_run_env *env;
    const struct options *options;
    struct rig_children *children;
    const char **arguments; /* NULL-ended; the first is a path */
    char **filled;          /* those with the ports of nodes that rig started; owned */
    struct rig_command_cluster cluster;
    char program[8200]; /* a folder and a path in it */
    char home[4096];
    struct rig_wakes wakes;
    char version[64];
};

struct session {
    struct rig_wake wake;
    struct run *run;
    struct rig_line_program process;
    struct rig_exec_welcome welcome;
    struct rig_buf line;
    uint64_t number;
    bool used; /* a transaction went wrong: the program's further behaviour is undefined */
};

/* -- the run ------------------------------------------------------------------------------------------------------- */

static enum rig_rc check(const void *object, enum rig_workload workload, struct rig_err *err)
{
    const struct options *options = object;
    (void)workload;
    if (options->command.count == 0 || options->command.at[0][0] == '\0')
        return rig_fail(err, RIG_E_PLAN, "`command`: expected a program and its arguments");
    const enum rig_rc rc = rig_command_options_check(&options->servers, err);
    if (rc != RIG_OK || options->servers.command.count == 0)
        return rc;
    return rig_command_list_check("command", &options->command, (unsigned)options->servers.nodes, err);
}

static enum rig_rc init(void *object, const struct rig_run_env *env, struct rig_err *err)
{
    struct run *run = object;
    run->env = env;
    run->options = env->options;
    const struct rig_text_list *command = &run->options->command;
    if (getcwd(run->home, sizeof run->home) == NULL)
        return rig_fail(err, RIG_E_DRIVER, "the folder in which rig runs no longer exists: %s", strerror(errno));
    run->arguments = calloc(command->count + 1, sizeof *run->arguments);
    run->filled = calloc(command->count + 1, sizeof *run->filled);
    if (run->arguments == NULL || run->filled == NULL)
        return rig_no_memory(err, "a command");
    for (size_t i = 0; i < command->count; i++)
        run->arguments[i] = i == 0 ? run->program : command->at[i];
    enum rig_rc rc = rig_command_cluster_init(&run->cluster, "exec", env, &run->options->servers, err);
    if (rc == RIG_OK)
        rc = rig_wakes_init(&run->wakes, env->client_count, err);
    if (rc == RIG_OK)
        rc = rig_line_program_find(command->at[0], run->home, run->program, sizeof run->program, err);
    return rc == RIG_OK ? rig_children_new(&run->children, err) : rc;
}

static void done(void *object)
{
    struct run *run = object;
    if (run->env == NULL)
        return;
    rig_command_cluster_done(&run->cluster);
    rig_children_free(run->children);
    rig_wakes_done(&run->wakes);
    for (size_t i = 0; run->filled != NULL && i < run->options->command.count; i++)
        free(run->filled[i]);
    free(run->filled);
    free(run->arguments);
    *run = (struct run){0};
}

/* -- nodes of its own ---------------------------------------------------------------------------------------------- */

RIG_COMMAND_CLUSTER_IN(struct options, struct run)

bool rig_command_cluster_is_routed(const void *object)
{
    const struct options *options = object;
    bool routed = false;
    for (size_t i = 0; i < options->command.count; i++)
        routed |= rig_command_text_is_routed(options->command.at[i]);
    return routed;
}

enum rig_rc rig_command_cluster_started(void *object, struct rig_err *err)
{
    struct run *run = object;
    for (size_t i = 1; i < run->options->command.count; i++) {
        free(run->filled[i]);
        run->filled[i] = rig_command_client_text(&run->cluster, run->options->command.at[i], err);
        if (run->filled[i] == NULL)
            return RIG_E_PLAN;
        run->arguments[i] = run->filled[i];
    }
    return RIG_OK;
}

/* -- starting the program ------------------------------------------------------------------------------------------ */

/* The end of the program, described for a person. */
static const char *end_text(struct rig_line_program *process, enum rig_line_end end, char *room, size_t size)
{
    static const char *const texts[] = {"", "", "it did not answer in time", "interrupted: the run is ending",
                                        "its line is longer than `max-answer`"};
    if (end != RIG_LINE_ENDED)
        return texts[end];
    rig_line_program_tell_end(process, room, size);
    return room;
}

static enum rig_rc greet(const struct run *run, struct rig_line_program *process, const char *role, uint32_t client,
                         const struct rig_line_patience *patience, struct rig_exec_welcome *welcome,
                         struct rig_err *err)
{
    const struct rig_exec_hello hello = {.role = role,
                                         .client = client,
                                         .client_count = run->env->client_count,
                                         .workload = run->env->workload,
                                         .seed = run->env->seed,
                                         .run_name = run->env->run_name,
                                         .accounts = run->env->accounts,
                                         .rolls_back = run->env->rolls_back};
    struct rig_buf line;
    char problem[RIG_EXEC_PROBLEM_BYTES];
    const char *answer = NULL;
    size_t size = 0;
    size_t sent = 0;
    rig_buf_init(&line, 0);
    rig_exec_write_hello(&hello, &line);
    enum rig_line_end end = rig_line_send(process, &line, patience, &sent);
    rig_buf_done(&line);
    if (end == RIG_LINE_DONE)
        end = rig_line_receive(process, patience, &answer, &size);
    if (end != RIG_LINE_DONE) {
        char program[sizeof run->program + 32];
        (void)snprintf(program, sizeof program, "%s, as %s", run->program, role);
        return rig_line_program_refuse(process, RIG_E_DRIVER, program, end_text(process, end, problem, sizeof problem),
                                       err);
    }
    if (!rig_exec_read_welcome(answer, size, welcome, problem))
        return rig_fail(err, RIG_E_DRIVER, "%s, as %s: %s", run->program, role, problem);
    if (hello.rolls_back && !welcome->savepoints)
        return rig_fail(err, RIG_E_DRIVER,
                        "%s, as %s: the plan has `workload.savepoints`, and the program does not answer with "
                        "\"savepoints\": true; remove them from the plan, or see the driver guide",
                        run->program, role);
    return RIG_OK;
}

/* Starts it with its purpose; `process` is to be ended in any case. */
static enum rig_rc start(const struct run *run, struct rig_line_program *process, const char *role, uint32_t client,
                         const struct rig_line_patience *patience, struct rig_exec_welcome *welcome,
                         struct rig_err *err)
{
    const enum rig_rc rc = rig_line_program_start(process, run->env, run->children, run->arguments, run->home,
                                                  (size_t)run->options->max_answer_bytes, err);
    return rc == RIG_OK ? greet(run, process, role, client, patience, welcome, err) : rc;
}

/* A program for setup or teardown only: it does its work before it reports that it is ready. */
static enum rig_rc run_once(const struct run *run, const char *role, struct rig_exec_welcome *welcome,
                            struct rig_err *err)
{
    const struct rig_core *core = run->env->core;
    const struct rig_line_patience patience = {.core = core,
                                               .deadline_ns = core->now_ns() + run->options->open_timeout_ns};
    struct rig_line_program process = {.to = 0};
    const enum rig_rc rc = start(run, &process, role, 0, &patience, welcome, err);
    rig_line_program_end(&process, rc == RIG_OK ? run->options->stop_timeout_ns : 0);
    return rc;
}

static enum rig_rc setup(void *object, struct rig_err *err)
{
    struct run *run = object;
    struct rig_exec_welcome welcome = {.announces = false};
    if (!run->options->setup)
        return RIG_OK;
    const enum rig_rc rc = run_once(run, "setup", &welcome, err);
    (void)snprintf(run->version, sizeof run->version, "%s", welcome.version);
    return rc;
}

static void tell_left(void *context, const char *program, pid_t pid, bool ended)
{
    const struct run *run = context;
    run->env->core->log(1, "exec", "process %ld (%s), which the program had started and left running, %s", (long)pid,
                        program, ended ? "was killed" : "cannot be ended, and remains");
}

/* A server that the setup has started may run until here. */
static void teardown(void *object)
{
    struct run *run = object;
    struct rig_exec_welcome welcome;
    struct rig_err err = {0};
    if (run->options->setup && run_once(run, "teardown", &welcome, &err) != RIG_OK)
        run->env->core->log(1, "exec", "%s", err.text);
    rig_children_end_left(run->children, left_timeout_ns, tell_left, run);
}

/* -- sessions ------------------------------------------------------------------------------------------------------ */

static struct rig_line_patience patience_of(struct session *session, int64_t timeout_ns)
{
    const struct rig_core *core = session->run->env->core;
    return (struct rig_line_patience){.core = core, .deadline_ns = core->now_ns() + timeout_ns, .wake = &session->wake};
}

static enum rig_rc open_session(void *object, void *run_object, uint32_t client, struct rig_err *err)
{
    struct session *session = object;
    struct run *run = run_object;
    session->run = run;
    rig_buf_init(&session->line, 0);
    rig_wake_arm(&session->wake, &run->wakes, client);
    const struct rig_line_patience patience = patience_of(session, run->options->open_timeout_ns);
    const enum rig_rc rc = start(run, &session->process, "client", client, &patience, &session->welcome, err);
    session->used = rc != RIG_OK;
    return rc;
}

static void close_session(void *object, bool last)
{
    struct session *session = object;
    (void)last;
    if (session->run == NULL)
        return;
    rig_line_program_end(&session->process, session->used ? 0 : session->run->options->stop_timeout_ns);
    rig_buf_done(&session->line);
    session->run = NULL;
}

static void interrupt(void *session)
{
    rig_wake_raise(&((struct session *)session)->wake);
}

/* No answer, or an invalid one: the outcome is certain only if the commit had not begun. */
static enum rig_outcome give_up(struct session *session, struct rig_transaction *transaction, const char *code,
                                const char *text)
{
    session->used = true;
    transaction->session_lost = true;
    (void)snprintf(transaction->error_code, sizeof transaction->error_code, "%s", code);
    (void)snprintf(transaction->error_text, sizeof transaction->error_text, "%s", text);
    const bool certain = transaction->read_only || transaction->phase != RIG_PHASE_COMMIT;
    return certain ? RIG_OUTCOME_FAIL : RIG_OUTCOME_INFO;
}

/* A program that announces may do so until it is killed: the announcement can be unread behind the last line. */
static enum rig_outcome give_up_waiting(struct session *session, struct rig_transaction *transaction,
                                        enum rig_line_end end)
{
    static const char *const codes[] = {"", "program-ended", "timeout", "interrupted", "too-large"};
    char room[RIG_EXEC_PROBLEM_BYTES];
    const char *text = end_text(&session->process, end, room, sizeof room);
    if (transaction->phase == RIG_PHASE_OPERATION && !rig_line_program_silence(&session->process))
        transaction->phase = RIG_PHASE_COMMIT;
    return give_up(session, transaction, codes[end], text);
}

/* Reads lines until one is the answer. */
static enum rig_outcome receive(struct session *session, struct rig_transaction *transaction,
                                const struct rig_line_patience *patience)
{
    const struct rig_core *core = session->run->env->core;
    char problem[RIG_EXEC_PROBLEM_BYTES];
    const char *line = NULL;
    size_t size = 0;
    bool announced = false;
    for (;;) {
        const enum rig_line_end end = rig_line_receive(&session->process, patience, &line, &size);
        if (end != RIG_LINE_DONE)
            return give_up_waiting(session, transaction, end);
        switch (
            rig_exec_read_answer(line, size, session->number, core, session->run->env->calls, transaction, problem)) {
        case RIG_EXEC_SAYS_OK:
            return RIG_OUTCOME_OK;
        case RIG_EXEC_SAYS_FAIL:
            return RIG_OUTCOME_FAIL;
        case RIG_EXEC_SAYS_INFO:
            return transaction->read_only ? RIG_OUTCOME_FAIL : RIG_OUTCOME_INFO;
        case RIG_EXEC_SAYS_COMMITTING:
            transaction->phase = RIG_PHASE_COMMIT;
            if (announced) /* otherwise it could continue without end */
                return give_up(session, transaction, "malformed", "it announced its commit twice");
            announced = true;
            break;
        case RIG_EXEC_MALFORMED:
            transaction->phase = RIG_PHASE_COMMIT; /* a program with invalid answers may have done anything */
            return give_up(session, transaction, "malformed", problem);
        case RIG_EXEC_NO_ROOM:
            transaction->phase = RIG_PHASE_COMMIT;
            return give_up(session, transaction, "too-large", problem);
        }
    }
}

static enum rig_outcome transact(void *object, struct rig_transaction *transaction)
{
    struct session *session = object;
    const struct rig_line_patience patience = patience_of(session, session->run->options->transaction_timeout_ns);
    size_t sent = 0;
    session->number++;
    rig_buf_clear(&session->line);
    rig_exec_write_transaction(transaction, session->number, session->run->env->calls, &session->line);
    const enum rig_line_end end = rig_line_send(&session->process, &session->line, &patience, &sent);
    /* A program may accept the line even when only its end is missing, and the input ends there. */
    if (sent + 1 >= session->line.size)
        transaction->phase = session->welcome.announces ? RIG_PHASE_OPERATION : RIG_PHASE_COMMIT;
    if (end != RIG_LINE_DONE)
        return give_up_waiting(session, transaction, end);
    return receive(session, transaction, &patience);
}

static void describe(void *object, char *text, size_t size)
{
    const struct run *run = object;
    const char *slash = strrchr(run->program, '/');
    (void)snprintf(text, size, "%s", run->version[0] != '\0' ? run->version : slash == NULL ? "" : slash + 1);
}

static enum rig_rc preview(const void *options, enum rig_workload workload, const struct rig_transaction *transaction,
                           void (*show)(void *context, const char *text), void *context, struct rig_err *err)
{
    struct rig_buf line;
    (void)options, (void)err;
    if (workload == RIG_WORKLOAD_MODEL)
        return RIG_OK; /* only a run knows the values of a model */
    rig_buf_init(&line, 0);
    rig_buf_add_text(&line, "  ");
    rig_exec_write_transaction(transaction, 1, NULL, &line);
    rig_buf_add_char(&line, '\n');
    show(context, rig_buf_text(&line));
    rig_buf_done(&line);
    return RIG_OK;
}

RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "exec",
    .summary = "any program that reads each transaction as one line of JSON and answers with one line",
    .workloads = RIG_WORKLOAD_BIT(RIG_WORKLOAD_LIST_APPEND) | RIG_WORKLOADS_OF_REGISTERS |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_SET) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_CAS_REGISTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_MUTEX) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_QUEUE) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_STACK) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_APPEND_REGISTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_COUNTER) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_BANK) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_LOG) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_LOCK) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_MODEL),
    .features = RIG_DRIVER_SAVEPOINTS | RIG_DRIVER_ROUTES | RIG_DRIVER_LOCK_KINDS,
    .options = option_table,
    .options_size = sizeof(struct options),
    .run_size = sizeof(struct run),
    .session_size = sizeof(struct session),
    .check = check,
    .init = init,
    .done = done,
    .setup = setup,
    .teardown = teardown,
    .open = open_session,
    .transact = transact,
    .interrupt = interrupt,
    .close = close_session,
    .describe = describe,
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE) | RIG_COLUMN_BIT(RIG_COLUMN_BACKEND) | RIG_COLUMN_BIT(RIG_COLUMN_TIMES),
    .cluster = &rig_command_cluster_ops,
    .preview = preview,
};
