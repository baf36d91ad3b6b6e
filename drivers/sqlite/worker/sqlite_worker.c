#include "drivers/sqlite/worker/sqlite_worker.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drivers/sqlite/sqlite_wire.h"

/* The bytes of an answer; `failed` when memory ran out. */
struct bytes {
    char *data;
    size_t size, capacity;
    bool failed;
};

struct question {
    const char *data;
    size_t size;
};

struct rig_sqlite_worker {
    char *database;
    sqlite3 *db;
    sqlite3_stmt **statements;
    uint32_t statement_count;
    struct rig_sqlite_page *page;
    uint32_t busy_ms;
    bool is_any; /* the message that runs is one of RIG_SQLITE_ANY */
    struct question question;
    struct bytes answer;
};

/* ---- bytes ---- */

static void add(struct bytes *bytes, const void *data, size_t size)
{
    if (!bytes->failed && bytes->size + size > bytes->capacity) {
        const size_t capacity = 2 * (bytes->size + size);
        char *grown = realloc(bytes->data, capacity);
        bytes->failed = grown == NULL;
        if (grown != NULL) {
            bytes->data = grown;
            bytes->capacity = capacity;
        }
    }
    if (bytes->failed)
        return;
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

/* Takes `size` bytes of the question from `*at` on; false when it has fewer. */
static bool take(const struct question *question, size_t *at, void *data, size_t size)
{
    if (question->size - *at < size)
        return false;
    memcpy(data, question->data + *at, size);
    *at += size;
    return true;
}

/* The text at `*at`; NULL when it does not end. */
static const char *take_text(const struct question *question, size_t *at)
{
    const char *text = question->data + *at;
    const char *end = *at < question->size ? memchr(text, '\0', question->size - *at) : NULL;
    if (end == NULL)
        return NULL;
    *at += (size_t)(end - text) + 1;
    return text;
}

/* ---- results ---- */

static void add_cell(struct rig_sqlite_worker *worker, sqlite3_stmt *statement, int column)
{
    const int type = sqlite3_column_type(statement, column);
    const uint32_t kind = type == SQLITE_NULL      ? RIG_SQLITE_NULL
                          : type == SQLITE_INTEGER ? RIG_SQLITE_INTEGER
                                                   : RIG_SQLITE_TEXT;
    add(&worker->answer, &kind, sizeof kind);
    if (kind == RIG_SQLITE_INTEGER) {
        const int64_t number = sqlite3_column_int64(statement, column);
        add(&worker->answer, &number, sizeof number);
    } else if (kind == RIG_SQLITE_TEXT) {
        const unsigned char *text = sqlite3_column_text(statement, column);
        const uint32_t length = text == NULL ? 0 : (uint32_t)sqlite3_column_bytes(statement, column);
        add(&worker->answer, &length, sizeof length);
        if (length > 0)
            add(&worker->answer, text, length);
    }
}

static int64_t now_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void add_text(struct rig_sqlite_worker *worker, uint32_t kind, const char *text)
{
    const uint32_t length = (uint32_t)strlen(text);
    add(&worker->answer, &kind, sizeof kind);
    add(&worker->answer, &length, sizeof length);
    add(&worker->answer, text, length);
}

static void add_any_cell(struct rig_sqlite_worker *worker, sqlite3_stmt *statement, int column)
{
    char number[40];
    if (sqlite3_column_type(statement, column) != SQLITE_FLOAT) {
        add_cell(worker, statement, column);
        return;
    }
    (void)snprintf(number, sizeof number, "%.17g", sqlite3_column_double(statement, column));
    add_text(worker, RIG_SQLITE_REAL, number);
}

/* Runs a statement to its end and adds its rows; returns SQLITE_OK or the error. */
static int run(struct rig_sqlite_worker *worker, sqlite3_stmt *statement)
{
    struct rig_sqlite_rows rows = {.column_count = (uint32_t)sqlite3_column_count(statement), .began_ns = now_ns()};
    const size_t head = worker->answer.size;
    int code;
    add(&worker->answer, &rows, sizeof rows);
    for (int column = 0; worker->is_any && column < (int)rows.column_count; column++)
        add_text(worker, RIG_SQLITE_TEXT, sqlite3_column_name(statement, column));
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        rows.row_count++;
        for (int column = 0; column < (int)rows.column_count; column++)
            (worker->is_any ? add_any_cell : add_cell)(worker, statement, column);
        if (worker->answer.failed || worker->answer.size > RIG_SQLITE_MESSAGE_MOST) {
            code = worker->answer.failed ? SQLITE_NOMEM : SQLITE_TOOBIG;
            break;
        }
    }
    if (code == SQLITE_DONE && worker->answer.failed)
        code = SQLITE_NOMEM;
    if (code == SQLITE_DONE) {
        rows.changed = (uint32_t)sqlite3_changes(worker->db);
        rows.ended_ns = now_ns();
        memcpy(worker->answer.data + head, &rows, sizeof rows);
        return SQLITE_OK;
    }
    worker->answer.size = head;
    return code == SQLITE_TOOBIG || code == SQLITE_NOMEM ? code : sqlite3_extended_errcode(worker->db);
}

static void explain(const struct rig_sqlite_worker *worker, struct rig_sqlite_answer *answer, int code)
{
    const char *text = code == RIG_SQLITE_MISMATCHED    ? "the comparison did not hold"
                       : code == RIG_SQLITE_GIVEN_UP    ? "the client gave the transaction up"
                       : code == RIG_SQLITE_BAD_MESSAGE ? "a message that the server does not understand"
                       : worker->db == NULL             ? sqlite3_errstr(code)
                                                        : sqlite3_errmsg(worker->db);
    answer->code = code;
    (void)snprintf(answer->text, sizeof answer->text, "%s", text);
}

/* ---- HELLO ---- */

/* Waits as sqlite3_busy_timeout() does, but not for a client that has given up. */
static int wait_for_lock(void *object, int tries)
{
    static const uint8_t delays_ms[] = {1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100};
    enum { COUNT = sizeof delays_ms / sizeof delays_ms[0] };
    const struct rig_sqlite_worker *worker = object;
    uint32_t waited_ms = 0;
    if (worker->page != NULL)
        (void)atomic_fetch_add(&worker->page->attempts, 1);
    for (int i = 0; i < tries; i++)
        waited_ms += delays_ms[i < COUNT ? i : COUNT - 1];
    uint32_t delay_ms = delays_ms[tries < COUNT ? tries : COUNT - 1];
    if (waited_ms >= worker->busy_ms ||
        (worker->page != NULL && atomic_load(&worker->page->state) == RIG_SQLITE_PAGE_GIVEN_UP))
        return 0;
    if (delay_ms > worker->busy_ms - waited_ms)
        delay_ms = worker->busy_ms - waited_ms;
    const struct timespec delay = {.tv_nsec = (long)delay_ms * 1000000};
    (void)nanosleep(&delay, NULL);
    return 1;
}

static int prepare(struct rig_sqlite_worker *worker, uint32_t index, const char *text)
{
    const int code =
        sqlite3_prepare_v3(worker->db, text, -1, SQLITE_PREPARE_PERSISTENT, &worker->statements[index], NULL);
    return code == SQLITE_OK ? SQLITE_OK : sqlite3_extended_errcode(worker->db);
}

static int open_database(struct rig_sqlite_worker *worker, const struct rig_sqlite_hello *hello)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                      (hello->shared_cache != 0 ? SQLITE_OPEN_SHAREDCACHE : SQLITE_OPEN_PRIVATECACHE);
    const int code = sqlite3_open_v2(worker->database, &worker->db, flags, NULL);
    if (code != SQLITE_OK)
        return worker->db == NULL ? code : sqlite3_extended_errcode(worker->db);
    worker->busy_ms = hello->busy_ms;
    (void)sqlite3_extended_result_codes(worker->db, 1);
    (void)sqlite3_busy_handler(worker->db, wait_for_lock, worker);
    return SQLITE_OK;
}

/* The script comes last in the message and runs first: statements may name tables that only exist then. */
static int greet(struct rig_sqlite_worker *worker)
{
    struct rig_sqlite_hello hello;
    size_t at = 0;
    if (worker->db != NULL || !take(&worker->question, &at, &hello, sizeof hello) ||
        hello.statement_count > worker->question.size)
        return RIG_SQLITE_BAD_MESSAGE;
    const size_t first = at;
    for (uint32_t i = 0; i < hello.statement_count; i++) {
        if (take_text(&worker->question, &at) == NULL)
            return RIG_SQLITE_BAD_MESSAGE;
    }
    const char *script = take_text(&worker->question, &at);
    if (script == NULL)
        return RIG_SQLITE_BAD_MESSAGE;
    int code = open_database(worker, &hello);
    if (code == SQLITE_OK && sqlite3_exec(worker->db, script, NULL, NULL, NULL) != SQLITE_OK)
        code = sqlite3_extended_errcode(worker->db);
    worker->statements = calloc((size_t)hello.statement_count + 1, sizeof(sqlite3_stmt *));
    if (worker->statements == NULL)
        return SQLITE_NOMEM;
    worker->statement_count = hello.statement_count;
    at = first;
    for (uint32_t i = 0; code == SQLITE_OK && i < hello.statement_count; i++)
        code = prepare(worker, i, take_text(&worker->question, &at));
    return code;
}

/* ---- STEPS ---- */

static int run_fixed(struct rig_sqlite_worker *worker, uint32_t index)
{
    if (index >= worker->statement_count || index >= RIG_SQLITE_SAVEPOINT)
        return RIG_SQLITE_BAD_MESSAGE;
    sqlite3_stmt *statement = worker->statements[index];
    const int code = sqlite3_step(statement) == SQLITE_DONE ? SQLITE_OK : sqlite3_extended_errcode(worker->db);
    (void)sqlite3_reset(statement);
    return code;
}

/* A step whose statement comes as a text. */
static int run_text(struct rig_sqlite_worker *worker, size_t *at)
{
    sqlite3_stmt *statement = NULL;
    const char *text = take_text(&worker->question, at);
    if (text == NULL)
        return RIG_SQLITE_BAD_MESSAGE;
    int code = sqlite3_prepare_v2(worker->db, text, -1, &statement, NULL) == SQLITE_OK
                   ? SQLITE_OK
                   : sqlite3_extended_errcode(worker->db);
    if (code == SQLITE_OK)
        code = run(worker, statement);
    (void)sqlite3_finalize(statement);
    return code;
}

static int run_step(struct rig_sqlite_worker *worker, size_t *at)
{
    struct rig_sqlite_step step;
    int64_t values[RIG_SQLITE_VALUES_MOST];
    if (!take(&worker->question, at, &step, sizeof step))
        return RIG_SQLITE_BAD_MESSAGE;
    if (step.statement == RIG_SQLITE_TEXT_STATEMENT)
        return run_text(worker, at);
    if (step.value_count > RIG_SQLITE_VALUES_MOST || step.statement < RIG_SQLITE_SAVEPOINT ||
        step.statement >= worker->statement_count ||
        !take(&worker->question, at, values, step.value_count * sizeof values[0]))
        return RIG_SQLITE_BAD_MESSAGE;
    sqlite3_stmt *statement = worker->statements[step.statement];
    if ((int)step.value_count != sqlite3_bind_parameter_count(statement))
        return RIG_SQLITE_BAD_MESSAGE;
    for (uint32_t i = 0; i < step.value_count; i++)
        (void)sqlite3_bind_int64(statement, (int)i + 1, values[i]);
    const int code = run(worker, statement);
    (void)sqlite3_reset(statement);
    return code == SQLITE_OK && step.compares != 0 && sqlite3_changes(worker->db) == 0 ? RIG_SQLITE_MISMATCHED : code;
}

/* COMMIT, unless the client has given the transaction up. */
static int commit(struct rig_sqlite_worker *worker, struct rig_sqlite_answer *answer)
{
    uint32_t expected = RIG_SQLITE_PAGE_OPEN;
    if (worker->page == NULL ||
        !atomic_compare_exchange_strong(&worker->page->state, &expected, RIG_SQLITE_PAGE_COMMITTING))
        return RIG_SQLITE_GIVEN_UP;
    answer->committing = 1;
    return run_fixed(worker, RIG_SQLITE_COMMIT);
}

static int run_steps(struct rig_sqlite_worker *worker, struct rig_sqlite_answer *answer)
{
    struct rig_sqlite_steps steps;
    size_t at = 0;
    if (worker->db == NULL || !take(&worker->question, &at, &steps, sizeof steps))
        return RIG_SQLITE_BAD_MESSAGE;
    int code = steps.begin == 0 ? SQLITE_OK : run_fixed(worker, steps.begin - 1);
    for (uint32_t i = 0; code == SQLITE_OK && i < steps.step_count; i++) {
        const int64_t began_ns = now_ns();
        code = run_step(worker, &at);
        answer->step_count += code == SQLITE_OK;
        if (code != SQLITE_OK) {
            answer->began_ns = began_ns;
            answer->ended_ns = now_ns();
        }
    }
    if (code == SQLITE_OK && steps.end == RIG_SQLITE_COMMITS)
        code = commit(worker, answer);
    return code;
}

/* After an error, or where it is asked for. Some errors have rolled back by themselves. */
static void roll_back(struct rig_sqlite_worker *worker)
{
    if (worker->db != NULL && sqlite3_get_autocommit(worker->db) == 0)
        (void)run_fixed(worker, RIG_SQLITE_ROLLBACK);
}

static bool wants_rollback(const struct rig_sqlite_worker *worker)
{
    struct rig_sqlite_steps steps;
    size_t at = 0;
    return take(&worker->question, &at, &steps, sizeof steps) && steps.end == RIG_SQLITE_ROLLS_BACK;
}

/* ---- SCRIPT ---- */

static int run_script(struct rig_sqlite_worker *worker, struct rig_sqlite_answer *answer)
{
    size_t at = 0;
    const char *text = take_text(&worker->question, &at);
    const size_t start = worker->answer.size;
    int code = text == NULL || worker->db == NULL ? RIG_SQLITE_BAD_MESSAGE : SQLITE_OK;
    while (code == SQLITE_OK && text[strspn(text, " \n;")] != '\0') {
        sqlite3_stmt *statement = NULL;
        code = sqlite3_prepare_v2(worker->db, text, -1, &statement, &text);
        if (code != SQLITE_OK)
            code = sqlite3_extended_errcode(worker->db);
        if (code == SQLITE_OK && statement != NULL) {
            const bool gives_rows = sqlite3_column_count(statement) > 0;
            const size_t before = gives_rows ? start : worker->answer.size;
            worker->answer.size = before;
            code = run(worker, statement);
            answer->step_count = gives_rows ? 1 : answer->step_count;
            answer->changed = (uint32_t)sqlite3_changes(worker->db);
            if (!gives_rows)
                worker->answer.size = before;
        }
        (void)sqlite3_finalize(statement);
    }
    return code;
}

/* ---- ANY ---- */

/* A text that sets the time-out of locks replaces the handler, which then has to follow it. */
static void follow_busy_timeout(struct rig_sqlite_worker *worker)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(worker->db, "PRAGMA busy_timeout", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        worker->busy_ms = (uint32_t)sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    (void)sqlite3_busy_handler(worker->db, wait_for_lock, worker);
}

/* The last statement that gives rows counts, else the last one. */
static int run_any(struct rig_sqlite_worker *worker, struct rig_sqlite_answer *answer)
{
    const struct question *question = &worker->question;
    const bool is_text = question->size > 0 && memchr(question->data, '\0', question->size) != NULL;
    const bool sets_timeout = is_text && worker->db != NULL && strstr(question->data, "busy_timeout") != NULL;
    if (worker->page != NULL)
        atomic_store(&worker->page->attempts, 0);
    if (sets_timeout)
        (void)sqlite3_busy_timeout(worker->db, (int)worker->busy_ms);
    worker->is_any = true;
    const int code = run_script(worker, answer);
    worker->is_any = false;
    if (sets_timeout)
        follow_busy_timeout(worker);
    if (worker->page != NULL)
        atomic_store(&worker->page->attempts, 0);
    return code;
}

/* ---- life ---- */

struct rig_sqlite_worker *rig_sqlite_worker_new(const char *database)
{
    struct rig_sqlite_worker *worker = calloc(1, sizeof *worker);
    if (worker == NULL)
        return NULL;
    worker->database = strdup(database);
    if (worker->database != NULL)
        return worker;
    free(worker);
    return NULL;
}

void rig_sqlite_worker_free(struct rig_sqlite_worker *worker)
{
    if (worker == NULL)
        return;
    for (uint32_t i = 0; i < worker->statement_count; i++)
        (void)sqlite3_finalize(worker->statements[i]);
    (void)sqlite3_close(worker->db); /* rolls an open transaction back */
    free(worker->statements);
    free(worker->answer.data);
    free(worker->database);
    free(worker);
}

void rig_sqlite_worker_share(struct rig_sqlite_worker *worker, struct rig_sqlite_page *page)
{
    worker->page = page;
}

static int run_question(struct rig_sqlite_worker *worker, uint32_t kind, struct rig_sqlite_answer *answer)
{
    switch (kind) {
    case RIG_SQLITE_HELLO:
        return greet(worker);
    case RIG_SQLITE_STEPS:
        return run_steps(worker, answer);
    case RIG_SQLITE_SCRIPT:
        return run_script(worker, answer);
    case RIG_SQLITE_ANY:
        return run_any(worker, answer);
    default:
        return RIG_SQLITE_BAD_MESSAGE;
    }
}

const char *rig_sqlite_worker_answer(struct rig_sqlite_worker *worker, uint32_t kind, const char *question, size_t size,
                                     size_t *answer_size)
{
    struct rig_sqlite_head head = {.kind = kind};
    struct rig_sqlite_answer answer = {.pid = (int32_t)getpid()};
    worker->question = (struct question){.data = question, .size = size};
    worker->answer.size = 0;
    worker->answer.failed = false;
    add(&worker->answer, &head, sizeof head);
    add(&worker->answer, &answer, sizeof answer);
    if (worker->answer.failed)
        return NULL;
    const int code = run_question(worker, kind, &answer);
    if (code != SQLITE_OK)
        explain(worker, &answer, code);
    else if (kind == RIG_SQLITE_HELLO)
        (void)snprintf(answer.text, sizeof answer.text, "%s", sqlite3_libversion());
    if ((code != SQLITE_OK && kind != RIG_SQLITE_ANY) || (kind == RIG_SQLITE_STEPS && wants_rollback(worker)))
        roll_back(worker);
    answer.ended = worker->db == NULL || sqlite3_get_autocommit(worker->db) != 0;
    head.size = (uint32_t)(worker->answer.size - sizeof head);
    memcpy(worker->answer.data, &head, sizeof head);
    memcpy(worker->answer.data + sizeof head, &answer, sizeof answer);
    *answer_size = worker->answer.size;
    return worker->answer.data;
}
