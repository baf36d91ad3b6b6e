/*
 * rig-odbc-client [CONNECTION]: a SQL session through unixODBC, on rig's protocol for programs (docs/sql-programs.md).
 *
 * A process of its own, because no driver can interrupt a COMMIT, and some crash when a statement is cancelled: to end
 * the process is an interrupt that works for all. One session at a time.
 *
 * Threads: one works; another one ends the process when rig is gone, also while a statement waits.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/version.h"
#include "drivers/odbc/odbc_request.h"
#include "drivers/odbc/odbc_statement.h"

enum { LINE_BYTES_MOST = 256 << 20, READ_BYTES = 65536 };

struct program {
    const char *connection; /* from the command line or the environment; NULL: the requests have it */
    int answers;            /* the descriptor that standard output was */
    struct rig_buf in, out;
    size_t taken; /* bytes of `in` that are done with */
    bool is_open;
    int64_t session;
    _Atomic int64_t
        *progress; /* in a page of rig's: the number of the request that is performed; NULL: there is none */
    /* The session's last request decides whether one with a condition (`if`) is performed. */
    bool failed;
    int64_t last_count; /* -1: it counts nothing */
    struct rig_odbc_connection link;
    struct rig_odbc_statements statements;
    struct rig_odbc_answer answer;
};

/* -- lines --------------------------------------------------------------------------------------------------------- */

static void write_out(struct program *program)
{
    size_t written = 0;
    while (written < program->out.size) {
        const ssize_t put = write(program->answers, program->out.data + written, program->out.size - written);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            _exit(EXIT_FAILURE); /* rig is gone */
        written += (size_t)put;
    }
    rig_buf_clear(&program->out);
}

static _Noreturn void leave(struct program *program, const char *why)
{
    write_out(program);
    (void)fprintf(stderr, "rig-odbc-client: %s\n", why);
    _exit(EXIT_FAILURE);
}

/* The next line without its end, valid until the next call. Writes the answers when there is none yet. The end of the
 * input ends the process: an open transaction is the server's to roll back. */
static char *next_line(struct program *program, size_t *size)
{
    struct rig_buf *const in = &program->in;
    size_t searched = program->taken;
    for (;;) {
        char *const end = in->size == searched ? NULL : memchr(in->data + searched, '\n', in->size - searched);
        if (end != NULL) {
            char *const line = in->data + program->taken;
            *size = (size_t)(end - line);
            program->taken += *size + 1;
            return line;
        }
        write_out(program);
        if (program->taken > 0) {
            memmove(in->data, in->data + program->taken, in->size - program->taken);
            in->size -= program->taken;
            program->taken = 0;
        }
        searched = in->size;
        char *const room = rig_buf_reserve(in, READ_BYTES);
        if (room == NULL)
            leave(program, "a request line has more than 256 MiB, or memory ran out");
        const ssize_t got = read(STDIN_FILENO, room, READ_BYTES);
        if (got == 0)
            _exit(EXIT_SUCCESS);
        if (got > 0)
            in->size += (size_t)got;
        else if (errno != EINTR)
            leave(program, "standard input cannot be read");
    }
}

static void *watch_input(void *unused)
{
    (void)unused;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLRDHUP};
    while (poll(&input, 1, -1) <= 0 || (input.revents & (POLLHUP | POLLRDHUP | POLLERR)) == 0)
        if (input.revents & POLLNVAL)
            break;
    _exit(EXIT_SUCCESS);
}

/* -- answers ------------------------------------------------------------------------------------------------------- */

static void begin_answer(struct program *program, struct rig_json_writer *writer, int64_t id)
{
    rig_json_init(writer, &program->out);
    rig_json_begin_object(writer, NULL);
    rig_json_int(writer, "id", id);
}

/* `start`: when the library was called; 0: it was not. */
static void end_answer(struct program *program, struct rig_json_writer *writer, int64_t start, int64_t end)
{
    if (start != 0) {
        rig_json_int(writer, "start", start);
        rig_json_int(writer, "end", end);
    }
    rig_json_end(writer);
    rig_buf_add_char(&program->out, '\n');
    if (program->out.failed)
        leave(program, "the answers have more than 1 GiB, or memory ran out");
}

static void answer_fault(struct program *program, int64_t id, const struct rig_odbc_fault *fault, int64_t start,
                         int64_t end)
{
    struct rig_json_writer writer;
    program->failed = true;
    begin_answer(program, &writer, id);
    rig_json_begin_object(&writer, "error");
    rig_json_string(&writer, "state", fault->state);
    rig_json_int(&writer, "code", fault->code);
    rig_json_string(&writer, "text", fault->text);
    rig_json_end(&writer);
    rig_json_bool(&writer, "alive", program->is_open && !fault->lost);
    end_answer(program, &writer, start, end);
}

static void answer_done(struct program *program, int64_t id, const char *warning, int64_t start, int64_t end)
{
    struct rig_json_writer writer;
    begin_answer(program, &writer, id);
    rig_json_bool(&writer, "done", true);
    if (warning[0] != '\0')
        rig_json_string(&writer, "warning", warning);
    end_answer(program, &writer, start, end);
}

/* -- requests ------------------------------------------------------------------------------------------------------ */

static const char *or_of_environment(const char *given, const char *name)
{
    return given == NULL ? getenv(name) : given;
}

static void do_open(struct program *program, int64_t id, const struct rig_odbc_request *request)
{
    struct rig_odbc_fault fault;
    const struct rig_odbc_target target = {
        .connection = request->connection == NULL ? program->connection : request->connection,
        .user = or_of_environment(request->user, "RIG_SQL_USER"),
        .password = or_of_environment(request->password, "RIG_SQL_PASSWORD"),
        .isolation = request->isolation,
        .autocommit = request->autocommit,
    };
    int64_t start = 0, end = 0;
    bool good = false;
    if (program->is_open)
        (void)rig_odbc_refuse(
            &fault, "session %" PRId64 " is open: rig-odbc-client has one session at a time; start another process",
            program->session);
    else if (target.connection == NULL)
        (void)rig_odbc_refuse(
            &fault, "there is no connection string: give one in the plan, as the argument, or in RIG_SQL_CONNECTION");
    else {
        start = rig_clock_now_ns();
        good = program->is_open = rig_odbc_open(&program->link, &target, &fault);
        end = rig_clock_now_ns();
        program->session = request->session;
    }
    if (!good) {
        answer_fault(program, id, &fault, start, end);
        return;
    }
    struct rig_json_writer writer;
    begin_answer(program, &writer, id);
    rig_json_bool(&writer, "done", true);
    rig_json_string(&writer, "server", program->link.server);
    rig_json_string(&writer, "driver", program->link.driver);
    end_answer(program, &writer, start, end);
}

static bool read_integer(const char *text, SQLBIGINT *number)
{
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    *number = value;
    return errno == 0 && end != text && *end == '\0';
}

/* The arguments' texts stay the request's. */
static bool read_arguments(const struct rig_odbc_request *request,
                           struct rig_odbc_argument arguments[static RIG_ODBC_ARGUMENTS_MOST],
                           struct rig_odbc_fault *fault)
{
    const char *const types = request->types == NULL ? "" : request->types;
    const size_t count = request->argument_count;
    if (strlen(types) != count || count > RIG_ODBC_ARGUMENTS_MOST || (count == 0 && !request->has_arguments))
        return rig_odbc_refuse(
            fault, "`args` is to be an array of at most %d texts or nulls, with a letter for each of them in `types`",
            RIG_ODBC_ARGUMENTS_MOST);
    for (size_t i = 0; i < count; i++) {
        const struct rig_odbc_text *const value = &request->arguments[i];
        arguments[i] =
            (struct rig_odbc_argument){.text = value->text, .length = value->length, .is_integer = types[i] == 'i'};
        if ((types[i] != 'i' && types[i] != 't') || request->bad_argument == i + 1)
            return rig_odbc_refuse(fault, "argument %zu: a text or null is expected, of the type i or t", i + 1);
        if (arguments[i].is_integer && arguments[i].text != NULL &&
            !read_integer(arguments[i].text, &arguments[i].number))
            return rig_odbc_refuse(fault, "argument %zu: \"%.40s\" is no integer of 64 bits", i + 1, arguments[i].text);
    }
    return true;
}

/* The time before the library is called. Once the process has ended, rig relies on it that no later request was begun.
 * */
static int64_t begin_call(struct program *program, int64_t id)
{
    if (program->progress != NULL)
        atomic_store(program->progress, id);
    return rig_clock_now_ns();
}

static void do_statement(struct program *program, int64_t id, const struct rig_odbc_request *request)
{
    static struct rig_odbc_argument arguments[RIG_ODBC_ARGUMENTS_MOST];
    struct rig_odbc_fault fault;
    const bool prepared = request->has_arguments;
    int64_t start = 0, end = 0;
    bool good = !prepared || read_arguments(request, arguments, &fault);
    if (good) {
        start = begin_call(program, id);
        good = rig_odbc_run(&program->statements, &program->link, request->sql, prepared ? arguments : NULL,
                            request->argument_count, &program->answer, &fault);
        end = rig_clock_now_ns();
    }
    if (!good) {
        answer_fault(program, id, &fault, start, end);
        return;
    }
    struct rig_json_writer writer;
    begin_answer(program, &writer, id);
    program->last_count = program->answer.has_rows ? -1 : program->answer.count;
    if (program->answer.has_rows)
        rig_json_plain(&writer, "rows", rig_buf_text(&program->answer.rows));
    else
        rig_json_int(&writer, "count", program->answer.count);
    end_answer(program, &writer, start, end);
}

/* A request with a condition belongs to a sequence, which an error ends: `ok` is performed unless there was one, `none`
 * where the statement before also counted no row. */
static bool is_wanted(struct program *program, const char *condition)
{
    if (condition == NULL) {
        program->failed = false;
        return true;
    }
    return !program->failed && (strcmp(condition, "ok") == 0 || program->last_count == 0);
}

static void skip(struct program *program, int64_t id)
{
    struct rig_json_writer writer;
    begin_answer(program, &writer, id);
    rig_json_bool(&writer, "skipped", true);
    end_answer(program, &writer, 0, 0);
}

static void do_end(struct program *program, int64_t id, bool commit)
{
    struct rig_odbc_fault fault;
    char warning[RIG_ODBC_TEXT_BYTES] = "";
    int64_t start = 0, end = 0;
    bool good = false;
    if (program->link.autocommit) {
        (void)rig_odbc_refuse(&fault,
                              "this session has autocommit: its transactions end by SQL texts, not by requests");
    } else {
        start = begin_call(program, id);
        good = rig_odbc_end(&program->link, commit, warning, &fault);
        end = rig_clock_now_ns();
        if (program->link.forgets_prepared)
            rig_odbc_forget_statements(&program->statements);
    }
    if (good)
        answer_done(program, id, warning, start, end);
    else
        answer_fault(program, id, &fault, start, end);
}

static void do_close(struct program *program, int64_t id)
{
    const int64_t start = rig_clock_now_ns();
    rig_odbc_forget_statements(&program->statements);
    rig_odbc_close(&program->link);
    program->is_open = false;
    answer_done(program, id, "", start, rig_clock_now_ns());
}

static void do_request(struct program *program, const struct rig_odbc_request *request)
{
    struct rig_odbc_fault fault; /* without a text: the request was performed */
    fault.text[0] = '\0';
    const char *const condition = request->condition;
    if (request->session < 0)
        (void)rig_odbc_refuse(&fault, "a request has a `session`, a number from 0");
    else if (condition != NULL && strcmp(condition, "ok") != 0 && strcmp(condition, "none") != 0)
        (void)rig_odbc_refuse(&fault, "`if` is ok or none");
    else if (!is_wanted(program, condition))
        skip(program, request->id);
    else if (request->opens)
        do_open(program, request->id, request);
    else if (!program->is_open || request->session != program->session) {
        (void)rig_odbc_refuse(&fault, "session %" PRId64 " is not open", request->session);
        fault.lost = true;
    } else if (request->sql != NULL)
        do_statement(program, request->id, request);
    else if (request->commit || request->rollback)
        do_end(program, request->id, request->commit);
    else if (request->close)
        do_close(program, request->id);
    else
        (void)rig_odbc_refuse(&fault, "a request is one of open, sql, commit, rollback, close");
    if (fault.text[0] != '\0')
        answer_fault(program, request->id, &fault, 0, 0);
}

/* -- the process --------------------------------------------------------------------------------------------------- */

/* The page in which rig finds, after the end of this process, how far it came. NULL: it cannot be mapped. */
static _Atomic int64_t *map_progress(const char *path)
{
    const int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
    void *page = MAP_FAILED;
    if (file >= 0) {
        page = mmap(NULL, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        (void)close(file);
    }
    return page == MAP_FAILED ? NULL : page;
}

static void greet(struct program *program)
{
    size_t size = 0;
    static struct rig_odbc_request hello;
    char *const line = next_line(program, &size);
    const bool known = rig_odbc_request_parse(line, size, &hello) && hello.rig == 1 && hello.role != NULL &&
                       strcmp(hello.role, "sql") == 0;
    struct rig_json_writer writer;
    rig_json_init(&writer, &program->out);
    rig_json_begin_object(&writer, NULL);
    char version[128];
    (void)snprintf(version, sizeof version, "rig-odbc-client %s", rig_version());
    if (known) {
        program->progress = map_progress(hello.progress);
        rig_json_bool(&writer, "ready", true);
        rig_json_bool(&writer, "sequences", true);
        rig_json_bool(&writer, "progress", program->progress != NULL);
        rig_json_string(&writer, "version", version);
    } else {
        rig_json_string(
            &writer, "error",
            "the first line is to be {\"rig\":1,\"role\":\"sql\",...}: rig starts this program for `driver: odbc`");
    }
    rig_json_end(&writer);
    rig_buf_add_char(&program->out, '\n');
    if (!known)
        leave(program, "the first line is not rig's");
}

/* Drivers may print: their standard output is the log. */
static int take_output(void)
{
    const int answers = dup(STDOUT_FILENO);
    if (answers < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        (void)fprintf(stderr, "rig-odbc-client: standard output and standard error have to be open\n");
        _exit(EXIT_FAILURE);
    }
    return answers;
}

int main(int argc, char **argv)
{
    static struct program program;
    if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
        (void)fprintf(stderr,
                      "usage: rig-odbc-client [CONNECTION]\n"
                      "rig-odbc-client %s: a SQL session through unixODBC, on standard input and output; rig starts it "
                      "(docs/sql-programs.md)\n",
                      rig_version());
        return 64;
    }
    program.connection = argc == 2 ? argv[1] : getenv("RIG_SQL_CONNECTION");
    program.answers = take_output();
    (void)signal(SIGPIPE, SIG_IGN); /* Virtuoso's driver writes to a lost connection */
    rig_buf_init(&program.in, LINE_BYTES_MOST);
    rig_buf_init(&program.out, 0);
    rig_buf_init(&program.answer.rows, 0);
    rig_odbc_forget_statements(&program.statements);
    pthread_t watcher;
    if (pthread_create(&watcher, NULL, watch_input, NULL) != 0)
        leave(&program, "no thread can be started");
    greet(&program);
    for (;;) {
        static struct rig_odbc_request request;
        size_t size = 0;
        char *const line = next_line(&program, &size);
        if (!rig_odbc_request_parse(line, size, &request) || request.id < 0)
            leave(&program, "a request line is no JSON object with an `id`");
        do_request(&program, &request);
    }
}
