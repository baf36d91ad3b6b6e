#include "drivers/sql/sql_program.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/output_file.h"
#include "base/run_files.h"

enum { SLICE_MS = 1000, NS_PER_MS = 1000000, PROCESSES_MOST = 64 };

/* A page that rig shares with a program. It outlives the program, so that rig can tell after its end how far it came.
 * */
struct progress {
    _Atomic int64_t request; /* the number of the last request that the program began to perform; 0: none */
};

struct rig_sql_program {
    struct rig_line_program line;
    pthread_mutex_t sending; /* before `lock` */
    pthread_mutex_t lock;    /* of all below */
    struct rig_sql_link *waiting;
    uint32_t links;
    uint32_t sessions; /* that it has had */
    int64_t requests;
    bool sequences; /* it knows `if` */
    bool tells;     /* it keeps the number of the request that it performs in `progress` */
    struct progress *progress;
    int progress_plus_one; /* its descriptor */
    bool reading;          /* a session reads for all */
    bool ended;
    enum rig_line_end end; /* how */
    char end_text[160];
};

enum rig_rc rig_sql_programs_init(struct rig_sql_programs *programs, struct rig_err *err)
{
    if (pthread_mutex_init(&programs->lock, NULL) != 0)
        return rig_no_memory(err, "a lock");
    return rig_children_new(&programs->children, err);
}

/* Without a page, COMMIT is sent alone. */
static void make_progress(struct rig_sql_program *program)
{
    const int fd = memfd_create("rig-progress", MFD_CLOEXEC);
    void *page = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, sizeof *program->progress) == 0)
        page = mmap(NULL, sizeof *program->progress, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    program->progress_plus_one = fd + 1;
    program->progress = page == MAP_FAILED ? NULL : page;
}

static void free_program(struct rig_sql_program *program, int64_t grace_ns)
{
    rig_line_program_end(&program->line, grace_ns);
    if (program->progress != NULL)
        (void)munmap(program->progress, sizeof *program->progress);
    if (program->progress_plus_one > 0)
        (void)close(program->progress_plus_one - 1);
    (void)pthread_mutex_destroy(&program->sending);
    (void)pthread_mutex_destroy(&program->lock);
    free(program);
}

void rig_sql_programs_done(struct rig_sql_programs *programs)
{
    static const int64_t grace_ns = INT64_C(2000000000);
    if (programs->children == NULL)
        return;
    if (programs->current != NULL) {
        RIG_REQUIRE(programs->current->links == 0);
        free_program(programs->current, grace_ns);
    }
    programs->current = NULL;
    rig_children_free(programs->children);
    programs->children = NULL;
    (void)pthread_mutex_destroy(&programs->lock);
}

/* ---- starting ---- */

/* The first lines of both sides. */
static enum rig_rc greet(const struct rig_sql_programs *programs, struct rig_sql_program *program,
                         const struct rig_line_patience *patience, struct rig_err *err)
{
    struct rig_json_writer writer;
    struct rig_buf hello;
    const char *line = NULL;
    size_t size = 0, sent = 0;
    char text[160] = "it did not answer in time", path[64];
    rig_buf_init(&hello, 0);
    rig_json_init(&writer, &hello);
    rig_json_begin_object(&writer, NULL);
    rig_json_int(&writer, "rig", 1);
    rig_json_string(&writer, "role", "sql");
    rig_json_string(&writer, "run", programs->env->run_name);
    if (program->progress != NULL) {
        (void)snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), program->progress_plus_one - 1);
        rig_json_string(&writer, "progress", path);
    }
    rig_json_end(&writer);
    rig_buf_add_char(&hello, '\n');
    enum rig_line_end end = rig_line_send(&program->line, &hello, patience, &sent);
    rig_buf_done(&hello);
    if (end == RIG_LINE_DONE)
        end = rig_line_receive(&program->line, patience, &line, &size);
    if (end == RIG_LINE_ENDED)
        rig_line_program_tell_end(&program->line, text, sizeof text);
    if (end != RIG_LINE_DONE)
        return rig_line_program_refuse(&program->line, RIG_E_CLUSTER, programs->arguments[0],
                                       end == RIG_LINE_INTERRUPTED ? "the run is ending" : text, err);
    json_t *root = json_loadb(line, size, 0, NULL);
    const char *error = json_string_value(json_object_get(root, "error"));
    enum rig_rc rc = RIG_OK;
    if (error != NULL)
        rc = rig_fail(err, RIG_E_CLUSTER, "%s: %.200s", programs->arguments[0], error);
    else if (!json_is_true(json_object_get(root, "ready")))
        rc = rig_fail(err, RIG_E_CLUSTER, "%s: its first line is `%.*s` instead of {\"ready\": true}",
                      programs->arguments[0], (int)(size < 80 ? size : 80), line);
    program->sequences = json_is_true(json_object_get(root, "sequences"));
    program->tells = program->progress != NULL && json_is_true(json_object_get(root, "progress"));
    json_decref(root);
    return rc;
}

static struct rig_sql_program *start(const struct rig_sql_programs *programs, const struct rig_line_patience *patience,
                                     struct rig_err *err)
{
    struct rig_sql_program *program = calloc(1, sizeof *program);
    if (program == NULL) {
        (void)rig_no_memory(err, "a program");
        return NULL;
    }
    (void)pthread_mutex_init(&program->sending, NULL);
    (void)pthread_mutex_init(&program->lock, NULL);
    enum rig_rc rc = rig_line_program_start(&program->line, programs->env, programs->children, programs->arguments,
                                            programs->home, programs->most_bytes, err);
    if (rc == RIG_OK) {
        make_progress(program);
        rc = greet(programs, program, patience, err);
    }
    if (rc == RIG_OK)
        return program;
    free_program(program, 0);
    return NULL;
}

static bool has_ended(struct rig_sql_program *program)
{
    (void)pthread_mutex_lock(&program->lock);
    const bool ended = program->ended;
    (void)pthread_mutex_unlock(&program->lock);
    return ended;
}

/* The shared program, with one more link; its start holds up the others that want it. */
static struct rig_sql_program *join_shared(struct rig_sql_programs *programs, const struct rig_line_patience *patience,
                                           struct rig_err *err)
{
    (void)pthread_mutex_lock(&programs->lock);
    struct rig_sql_program *program = programs->current, *unused = NULL;
    if (program != NULL && has_ended(program)) {
        unused = program->links == 0 ? program : NULL; /* else its last link frees it */
        program = NULL;
    }
    if (program == NULL)
        program = start(programs, patience, err);
    programs->current = program;
    if (program != NULL)
        program->links++;
    (void)pthread_mutex_unlock(&programs->lock);
    if (unused != NULL)
        free_program(unused, 0);
    return program;
}

enum rig_rc rig_sql_link_open(struct rig_sql_link *link, struct rig_sql_programs *programs,
                              const struct rig_line_patience *patience, struct rig_err *err)
{
    *link = (struct rig_sql_link){.programs = programs, .awaited = 1};
    rig_buf_init(&link->line, 0);
    const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0)
        return rig_fail(err, RIG_E_DRIVER, "no descriptor for a session: %s", strerror(errno));
    link->awake_plus_one = fd + 1;
    if (programs->shared)
        link->program = join_shared(programs, patience, err);
    else
        link->program = start(programs, patience, err);
    if (link->program == NULL)
        return err->rc;
    (void)pthread_mutex_lock(&link->program->lock);
    link->program->links += !programs->shared;
    link->session = link->program->sessions++;
    (void)pthread_mutex_unlock(&link->program->lock);
    return RIG_OK;
}

/* ---- one request ---- */

static void awaken(const struct rig_sql_link *link)
{
    const uint64_t one = 1;
    ssize_t put = 0;
    do
        put = write(link->awake_plus_one - 1, &one, sizeof one);
    while (put < 0 && errno == EINTR);
}

/* Notes the end, once, and ends all waits. Holds the program's lock. */
static void note_end(struct rig_sql_program *program, enum rig_line_end end, const char *text)
{
    if (program->ended)
        return;
    program->ended = true;
    program->end = end;
    (void)snprintf(program->end_text, sizeof program->end_text, "%s", text);
    for (const struct rig_sql_link *other = program->waiting; other != NULL; other = other->next)
        awaken(other);
}

/* Hands an answer to its session, which need not be awoken where it is the `reader`. Holds the lock. False: it is no
 * answer to any request. */
static bool hand_over(const struct rig_sql_program *program, const struct rig_sql_link *reader, json_t *answer)
{
    const json_t *id = json_object_get(answer, "id");
    for (struct rig_sql_link *link = program->waiting; json_is_integer(id) && link != NULL; link = link->next) {
        if (link->awaited == json_integer_value(id) && link->answer == NULL) {
            link->answer = answer;
            if (link != reader)
                awaken(link);
            return true;
        }
    }
    return false;
}

/* Reads one line for all. Holds the lock, and lets go of it meanwhile. */
static enum rig_line_end read_for_all(const struct rig_sql_link *reader, const struct rig_line_patience *patience)
{
    struct rig_sql_program *program = reader->program;
    const char *line = NULL;
    size_t size = 0;
    char text[sizeof program->end_text] = "its line is longer than `max-answer`";
    json_t *answer = NULL;
    program->reading = true;
    (void)pthread_mutex_unlock(&program->lock);
    const enum rig_line_end end = rig_line_receive(&program->line, patience, &line, &size);
    if (end == RIG_LINE_DONE)
        answer = json_loadb(line, size, 0, NULL);
    if (end == RIG_LINE_DONE && answer == NULL)
        (void)snprintf(text, sizeof text, "its line is not JSON: `%.*s`", (int)(size < 80 ? size : 80), line);
    if (end == RIG_LINE_ENDED)
        rig_line_program_tell_end(&program->line, text, sizeof text);
    (void)pthread_mutex_lock(&program->lock);
    program->reading = false;
    if (end == RIG_LINE_DONE && (answer == NULL || !hand_over(program, reader, answer))) {
        if (answer != NULL)
            (void)snprintf(text, sizeof text, "its line answers no request: `%.*s`", (int)(size < 80 ? size : 80),
                           line);
        json_decref(answer);
        note_end(program, RIG_LINE_TOO_LARGE, text);
        return RIG_LINE_TOO_LARGE;
    }
    if (end == RIG_LINE_ENDED || end == RIG_LINE_TOO_LARGE)
        note_end(program, end, text);
    return end;
}

/* Waits until the answer is there, or until it is this session's turn to read. */
static enum rig_line_end sleep_until_awake(const struct rig_sql_link *link, const struct rig_line_patience *patience)
{
    const int wake_fd = patience->wake == NULL ? -1 : rig_wake_fd(patience->wake);
    struct pollfd polled[2] = {{.fd = link->awake_plus_one - 1, .events = POLLIN}, {.fd = wake_fd, .events = POLLIN}};
    if (patience->wake != NULL && rig_wake_is_raised(patience->wake))
        return RIG_LINE_INTERRUPTED;
    const int64_t left_ns = patience->deadline_ns - patience->core->now_ns();
    if (left_ns <= 0)
        return RIG_LINE_TIMEOUT;
    const int64_t left_ms = left_ns / NS_PER_MS + 1;
    (void)poll(polled, 2, left_ms < SLICE_MS ? (int)left_ms : SLICE_MS);
    if (polled[1].revents != 0)
        rig_wake_settle(patience->wake);
    return RIG_LINE_DONE;
}

static void forget_awakening(const struct rig_sql_link *link)
{
    uint64_t count;
    (void)!read(link->awake_plus_one - 1, &count, sizeof count);
}

/* Both hold the lock. */
static void join_waiting(struct rig_sql_program *program, struct rig_sql_link *link)
{
    link->next = program->waiting;
    program->waiting = link;
    link->waits = true;
}

static void leave_waiting(struct rig_sql_program *program, struct rig_sql_link *link)
{
    struct rig_sql_link **at = &program->waiting;
    while (*at != link)
        at = &(*at)->next;
    *at = link->next;
    link->waits = false;
    if (program->waiting != NULL && !program->reading)
        awaken(program->waiting);
}

bool rig_sql_link_takes_sequences(const struct rig_sql_link *link)
{
    return !link->programs->shared && link->program->sequences;
}

bool rig_sql_link_takes_commits(const struct rig_sql_link *link)
{
    return rig_sql_link_takes_sequences(link) && link->program->tells;
}

bool rig_sql_link_is_answered(const struct rig_sql_link *link)
{
    return link->awaited > link->request;
}

static void begin_request(struct rig_sql_link *link, struct rig_json_writer *writer)
{
    struct rig_sql_program *program = link->program;
    (void)pthread_mutex_lock(&program->lock);
    link->request = ++program->requests;
    (void)pthread_mutex_unlock(&program->lock);
    rig_json_init(writer, &link->line);
    rig_json_begin_object(writer, NULL);
    rig_json_int(writer, "id", link->request);
    rig_json_int(writer, "session", link->session);
}

void rig_sql_link_begin(struct rig_sql_link *link, struct rig_json_writer *writer)
{
    rig_buf_clear(&link->line);
    begin_request(link, writer);
    link->awaited = link->request;
}

void rig_sql_link_follow(struct rig_sql_link *link, struct rig_json_writer *writer, const char *condition)
{
    RIG_REQUIRE(rig_sql_link_takes_sequences(link));
    rig_json_end(writer);
    rig_buf_add_char(&link->line, '\n');
    begin_request(link, writer);
    rig_json_string(writer, "if", condition);
}

/* No request leaves: there is no answer to wait for. */
static enum rig_line_end drop_requests(struct rig_sql_link *link, enum rig_line_end end)
{
    link->awaited = link->request + 1;
    return end;
}

enum rig_line_end rig_sql_link_send(struct rig_sql_link *link, struct rig_json_writer *writer,
                                    const struct rig_line_patience *patience, bool *sent)
{
    struct rig_sql_program *program = link->program;
    size_t left_bytes = 0;
    rig_json_end(writer);
    rig_buf_add_char(&link->line, '\n');
    *sent = false;
    if (link->line.failed)
        return drop_requests(link, RIG_LINE_TOO_LARGE);
    if (patience->wake != NULL && rig_wake_is_raised(patience->wake))
        return drop_requests(link, RIG_LINE_INTERRUPTED); /* nothing was asked, so that the program can go on */
    (void)pthread_mutex_lock(&program->lock);
    join_waiting(program, link);
    link->answer = NULL;
    (void)pthread_mutex_unlock(&program->lock);
    (void)pthread_mutex_lock(&program->sending);
    const enum rig_line_end put = rig_line_send(&program->line, &link->line, patience, &left_bytes);
    (void)pthread_mutex_unlock(&program->sending);
    *sent = left_bytes > 0;
    if (put == RIG_LINE_DONE)
        return put;
    (void)pthread_mutex_lock(&program->lock);
    if (put == RIG_LINE_ENDED && !program->reading)
        note_end(program, put, "it closed its input");
    leave_waiting(program, link);
    (void)pthread_mutex_unlock(&program->lock);
    return *sent ? put : drop_requests(link, put);
}

enum rig_line_end rig_sql_link_take(struct rig_sql_link *link, const struct rig_line_patience *patience,
                                    json_t **answer)
{
    struct rig_sql_program *program = link->program;
    enum rig_line_end end = RIG_LINE_DONE;
    RIG_REQUIRE(!rig_sql_link_is_answered(link));
    (void)pthread_mutex_lock(&program->lock);
    if (!link->waits)
        join_waiting(program, link);
    while (end == RIG_LINE_DONE && link->answer == NULL) {
        if (program->ended) {
            end = program->end;
        } else if (!program->reading) {
            end = read_for_all(link, patience);
        } else {
            (void)pthread_mutex_unlock(&program->lock);
            end = sleep_until_awake(link, patience);
            forget_awakening(link);
            (void)pthread_mutex_lock(&program->lock);
        }
    }
    leave_waiting(program, link);
    *answer = link->answer;
    link->answer = NULL;
    (void)pthread_mutex_unlock(&program->lock);
    if (*answer == NULL)
        return end;
    link->awaited++;
    return RIG_LINE_DONE;
}

void rig_sql_link_tell_end(const struct rig_sql_link *link, char *text, size_t size)
{
    struct rig_sql_program *program = link->program;
    (void)pthread_mutex_lock(&program->lock);
    (void)snprintf(text, size, "the program: %s", program->ended ? program->end_text : "it closed its input");
    (void)pthread_mutex_unlock(&program->lock);
}

/* ---- closing ---- */

/* Whether the program has closed the session. */
static bool say_goodbye(struct rig_sql_link *link, int64_t grace_ns)
{
    const struct rig_core *core = link->programs->env->core;
    const struct rig_line_patience patience = {.core = core, .deadline_ns = core->now_ns() + grace_ns};
    struct rig_json_writer writer;
    json_t *answer = NULL;
    bool sent = false;
    if (!rig_sql_link_is_answered(link) || grace_ns <= 0 || has_ended(link->program))
        return false;
    rig_sql_link_begin(link, &writer);
    rig_json_bool(&writer, "close", true);
    const bool closed = rig_sql_link_send(link, &writer, &patience, &sent) == RIG_LINE_DONE &&
                        rig_sql_link_take(link, &patience, &answer) == RIG_LINE_DONE;
    json_decref(answer);
    return closed;
}

static void kill_program(struct rig_sql_program *program)
{
    pid_t pids[PROCESSES_MOST];
    (void)pthread_mutex_lock(&program->lock);
    note_end(program, RIG_LINE_ENDED, "rig ended it, because a session of it gave no answer");
    (void)pthread_mutex_unlock(&program->lock);
    (void)rig_child_signal_all(&program->line.child, pids, PROCESSES_MOST, SIGKILL);
}

bool rig_sql_link_may_have_begun(struct rig_sql_link *link, int64_t request)
{
    struct rig_sql_program *program = link->program;
    static const int64_t clear_ns = INT64_C(5000000000);
    RIG_REQUIRE(rig_sql_link_takes_commits(link));
    (void)pthread_mutex_lock(&program->lock);
    note_end(program, RIG_LINE_ENDED, "rig ended it, because it gave no answer");
    (void)pthread_mutex_unlock(&program->lock);
    const bool ended =
        rig_child_clear(&program->line.child, clear_ns, NULL) && !rig_child_left_processes(&program->line.child);
    return !ended || atomic_load(&program->progress->request) >= request;
}

static void leave_program(struct rig_sql_link *link)
{
    struct rig_sql_programs *programs = link->programs;
    struct rig_sql_program *program = link->program;
    (void)pthread_mutex_lock(&programs->lock);
    const bool last = --program->links == 0 && programs->current != program;
    (void)pthread_mutex_unlock(&programs->lock);
    if (last)
        free_program(program, 0);
}

void rig_sql_link_close(struct rig_sql_link *link, int64_t grace_ns)
{
    if (link->program != NULL) {
        if (!say_goodbye(link, grace_ns))
            kill_program(link->program);
        leave_program(link);
    }
    if (link->awake_plus_one > 0)
        (void)close(link->awake_plus_one - 1);
    rig_buf_done(&link->line);
    *link = (struct rig_sql_link){.programs = NULL};
}
