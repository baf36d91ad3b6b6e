#include "run/scenario/sql_scenario_play.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/clock.h"
#include "run/scenario/seats.h"
#include "run/scenario/told.h"

enum { PATIENCE_MS = 300, STUCK_MS = 10000, LOOK_AGAIN_MS = 110, NODE_MS = 10000 };

static const int64_t ns_per_ms = 1000000;

struct stage;

/* A session and its thread. Members are guarded by the lock of the seats. */
struct seat {
    struct rig_seat base; /* first */
    struct stage *stage;
    uint32_t queue[RIG_SQL_SCENARIO_STEPS_MOST]; /* steps whose turn has come while it was busy */
    uint32_t queue_first, queue_end;
    uint32_t attempts; /* when something happened last */
    bool is_over;      /* with `stops`: an error has ended its transaction, whose written end is still to come */
};

struct stage {
    const struct rig_sql_scenario *interleaving;
    struct rig_seats all;
    const struct rig_sql_scenario_options *options;
    struct rig_sql_scenario_performance *performance;
    uint32_t last;    /* the number of the step whose turn came last */
    uint64_t returns; /* statements that have returned */
    void *watch;      /* the session that asks which sessions wait; the director's. NULL: nothing can be asked */
    struct seat seats[RIG_SQL_SCENARIO_SESSIONS_MOST];
};

static int64_t now_ns(void)
{
    return rig_clock_now_ns();
}

static int64_t patience_ns(const struct stage *stage)
{
    return (stage->options->patience_ms > 0 ? stage->options->patience_ms : PATIENCE_MS) * ns_per_ms;
}

static int64_t stuck_ns(const struct stage *stage)
{
    return (stage->options->stuck_ms > 0 ? stage->options->stuck_ms : STUCK_MS) * ns_per_ms;
}

static bool is_interrupted(const struct stage *stage)
{
    return stage->options->interrupts != NULL && atomic_load(stage->options->interrupts) > 0;
}

/* ---- a session's thread ---- */

static bool is_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    text += strspn(text, " \t\r\n");
    return strncasecmp(text, word, length) == 0 && strchr(" \t\r\n;", text[length]) != NULL;
}

static bool is_end(const char *text)
{
    return is_word(text, "commit") || is_word(text, "rollback") || is_word(text, "end") || is_word(text, "abort");
}

/* Back to a savepoint: the transaction goes on. */
static bool is_return(const char *text)
{
    return is_word(text, "rollback to") || is_word(text, "rollback work to");
}

/* Whether the error of a step leaves nothing of its transaction but the written end, and rolls it back. */
static bool end_transaction(struct seat *seat, uint32_t step, const struct rig_told *answer)
{
    const struct rig_sql_scenario *scenario = seat->stage->interleaving;
    const bool begins = is_word(answer->statement, "begin") || is_word(answer->statement, "start");
    struct rig_told ignored;
    if (!seat->stage->options->stops || !answer->failed || !(answer->ended || begins) || is_end(answer->statement))
        return false;
    for (uint32_t i = step + 1; i < scenario->step_count; i++) {
        const char *text = seat->stage->performance->steps[i].statement;
        if (scenario->steps[i].act != RIG_STEP_TEXT || scenario->steps[i].session != seat->base.number)
            continue;
        if (is_return(text))
            return false;
        if (is_end(text))
            break;
    }
    if (!answer->lost)
        rig_told_execute(seat->stage->all.driver, seat->base.session, "rollback", &seat->stage->performance->arena,
                         &seat->stage->all.lock, &ignored);
    return true;
}

/* The answer of a step that was given up comes too late. */
static void take_answer(struct seat *seat, uint32_t step, const struct rig_told *answer, bool is_over)
{
    struct stage *stage = seat->stage;
    (void)pthread_mutex_lock(&stage->all.lock);
    struct rig_told *told = &stage->performance->steps[step];
    if (!told->stuck)
        rig_told_take(told, answer, stage->last);
    seat->is_over |= is_over;
    seat->base.is_busy = false;
    stage->returns++;
    (void)pthread_cond_broadcast(&stage->all.changed);
    (void)pthread_mutex_unlock(&stage->all.lock);
}

static void play_seat(struct rig_seat *of)
{
    struct seat *seat = (struct seat *)(void *)of;
    struct stage *stage = seat->stage;
    for (int step = rig_seat_await(of); step >= 0; step = rig_seat_await(of)) {
        struct rig_told answer;
        rig_told_execute(stage->all.driver, of->session, stage->performance->steps[step].statement,
                         &stage->performance->arena, &stage->all.lock, &answer);
        take_answer(seat, (uint32_t)step, &answer, end_transaction(seat, (uint32_t)step, &answer));
    }
}

/* ---- the director; holds the lock, except where it asks ---- */

static void send_step(struct stage *stage, struct seat *seat, uint32_t step)
{
    if (seat->is_over) { /* nothing is sent, up to the written end */
        seat->is_over = !is_end(stage->performance->steps[step].statement);
        return;
    }
    stage->performance->steps[step].sent = true;
    seat->base.running = step;
    seat->base.order = (int)step;
    seat->base.is_busy = true;
    seat->attempts = 0;
    (void)pthread_cond_broadcast(&stage->all.changed);
}

/* Sessions that have returned go on with the steps that their turn has left behind. */
static void send_queued(struct stage *stage)
{
    for (uint32_t i = 0; i < stage->interleaving->session_count; i++) {
        struct seat *seat = &stage->seats[i];
        while (!seat->base.is_busy && seat->queue_first < seat->queue_end) {
            const uint32_t step = seat->queue[seat->queue_first++];
            stage->performance->steps[step].starts_after = stage->last;
            send_step(stage, seat, step);
        }
    }
}

static bool is_any_busy(const struct stage *stage)
{
    bool busy = false;
    for (uint32_t i = 0; i < stage->interleaving->session_count; i++)
        busy |= stage->seats[i].base.is_busy;
    return busy;
}

/* The database's word on the sessions that are busy, in order. False: it cannot be asked. */
static bool look(struct stage *stage, uint32_t *seats, uint32_t *count, struct rig_text_wait *waits)
{
    void *sessions[RIG_SQL_SCENARIO_SESSIONS_MOST];
    const struct rig_text_ops *texts = stage->all.driver->texts;
    *count = 0;
    for (uint32_t i = 0; i < stage->interleaving->session_count; i++) {
        if (!stage->seats[i].base.is_busy)
            continue;
        sessions[*count] = stage->seats[i].base.session;
        seats[(*count)++] = i;
    }
    if (*count == 0 || stage->watch == NULL)
        return false;
    (void)pthread_mutex_unlock(&stage->all.lock);
    const bool told = texts->look(stage->watch, sessions, *count, waits);
    (void)pthread_mutex_lock(&stage->all.lock);
    stage->performance->asked |= told;
    return told;
}

/* Where sessions try again and again: how often they had tried when something happened. */
static void note_attempts(struct stage *stage)
{
    struct rig_text_wait waits[RIG_SQL_SCENARIO_SESSIONS_MOST];
    uint32_t seats[RIG_SQL_SCENARIO_SESSIONS_MOST], count = 0;
    if (!stage->all.driver->texts->looks_at_once || !look(stage, seats, &count, waits))
        return;
    for (uint32_t i = 0; i < count; i++)
        stage->seats[seats[i]].attempts = waits[i].attempts;
}

/* Whether some of the sessions wait for each other: the database ends one of them soon. */
static bool is_deadlock(const struct rig_text_wait *waits, uint32_t count)
{
    uint64_t reached[RIG_SQL_SCENARIO_SESSIONS_MOST];
    for (uint32_t i = 0; i < count; i++)
        reached[i] = waits[i].blockers;
    for (uint32_t round = 0; round < count; round++) {
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; k < count; k++)
                reached[i] |= (reached[i] >> k & 1) != 0 ? reached[k] : 0;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if ((reached[i] >> i & 1) != 0)
            return true;
    }
    return false;
}

/* Whether each busy session waits: nothing happens any more until the next step, or a time limit. */
static bool is_quiet(struct stage *stage)
{
    enum { ATTEMPTS = 2 }; /* the first one may have begun before what happened last */
    struct rig_text_wait waits[RIG_SQL_SCENARIO_SESSIONS_MOST] = {{.kind = RIG_TEXT_WAIT_UNKNOWN}};
    uint32_t seats[RIG_SQL_SCENARIO_SESSIONS_MOST], count = 0;
    if (!look(stage, seats, &count, waits))
        return true;
    for (uint32_t i = 0; i < count; i++) {
        if (waits[i].kind == RIG_TEXT_RUNS)
            return false;
        if (waits[i].attempts > 0 && waits[i].attempts < stage->seats[seats[i]].attempts + ATTEMPTS)
            return false;
    }
    return !is_deadlock(waits, count);
}

static struct timespec clock_at(int64_t at_ns)
{
    struct timespec at;
    int64_t left_ns = at_ns - now_ns();
    (void)clock_gettime(CLOCK_REALTIME, &at);
    left_ns = (left_ns < 0 ? 0 : left_ns) + at.tv_nsec;
    at.tv_sec += left_ns / 1000000000;
    at.tv_nsec = (long)(left_ns % 1000000000);
    return at;
}

/* Sessions that have not returned wait. */
static void note_waits(struct stage *stage)
{
    for (uint32_t i = 0; i < stage->interleaving->session_count; i++) {
        const struct seat *seat = &stage->seats[i];
        if (seat->base.is_busy)
            stage->performance->steps[seat->base.running].waits = true;
    }
}

/* Waits until nothing happens any more: each session has returned, or waits. */
static void settle(struct stage *stage)
{
    const int64_t give_up_ns = now_ns() + stuck_ns(stage);
    uint64_t seen = stage->returns;
    int64_t at_ns = now_ns() + patience_ns(stage);
    note_attempts(stage);
    send_queued(stage);
    while (is_any_busy(stage) && !is_interrupted(stage)) {
        const struct timespec until = clock_at(at_ns);
        if (stage->returns == seen)
            (void)pthread_cond_timedwait(&stage->all.changed, &stage->all.lock, &until);
        if (stage->returns != seen) {
            seen = stage->returns;
            send_queued(stage);
            at_ns = now_ns() + patience_ns(stage);
            note_attempts(stage);
        } else if (now_ns() >= at_ns) {
            const bool quiet = is_quiet(stage);
            if (stage->returns != seen)
                continue;
            if (quiet || now_ns() >= give_up_ns)
                break;
            at_ns = now_ns() + LOOK_AGAIN_MS * ns_per_ms;
        }
    }
}

/* The script goes on when the session has returned from all that it was told. A step that is sent meanwhile is not said
 * to wait: there is nothing that goes on beside it. */
static void await_session(struct stage *stage, const struct seat *seat)
{
    const int64_t give_up_ns = now_ns() + stuck_ns(stage);
    while ((seat->base.is_busy || seat->queue_first < seat->queue_end) && now_ns() < give_up_ns &&
           !is_interrupted(stage))
        settle(stage);
}

static void direct_step(struct stage *stage, uint32_t index)
{
    const struct rig_sql_scenario_step *step = &stage->interleaving->steps[index];
    struct seat *seat = &stage->seats[step->session];
    struct rig_told *told = &stage->performance->steps[index];
    if (step->act == RIG_STEP_UNTIL) {
        stage->last = step->number;
        told->sent = true;
        await_session(stage, seat);
        told->returned = !seat->base.is_busy;
        told->stuck = seat->base.is_busy;
        return;
    }
    if (told->skipped)
        return;
    stage->last = step->number;
    if (seat->base.is_busy || seat->queue_first < seat->queue_end)
        seat->queue[seat->queue_end++] = index;
    else
        send_step(stage, seat, index);
    settle(stage);
    note_waits(stage);
}

/* Ends what does not return. */
static void give_up(struct stage *stage)
{
    for (uint32_t i = 0; i < stage->interleaving->session_count; i++) {
        struct seat *seat = &stage->seats[i];
        seat->queue_first = seat->queue_end;
        if (!seat->base.is_busy)
            continue;
        stage->performance->steps[seat->base.running].stuck = true;
        stage->all.driver->interrupt(seat->base.session);
        while (seat->base.is_busy)
            (void)pthread_cond_wait(&stage->all.changed, &stage->all.lock);
    }
}

static void direct(struct stage *stage)
{
    (void)pthread_mutex_lock(&stage->all.lock);
    for (uint32_t i = 0; i < stage->interleaving->step_count && !is_interrupted(stage); i++)
        direct_step(stage, i);
    const int64_t give_up_ns = now_ns() + stuck_ns(stage);
    stage->last = RIG_AFTER_THE_END;
    while (is_any_busy(stage) && now_ns() < give_up_ns && !is_interrupted(stage)) {
        settle(stage);
        note_waits(stage);
    }
    give_up(stage);
    (void)pthread_mutex_unlock(&stage->all.lock);
}

/* ---- sessions ---- */

static enum rig_rc fill_seats(struct stage *stage, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < stage->interleaving->session_count; i++) {
        stage->seats[i] = (struct seat){.stage = stage};
        rc = rig_seats_add(&stage->all, &stage->seats[i].base, err);
    }
    return rc == RIG_OK ? rig_seats_await(&stage->all, stage->interleaving->sessions, err) : rc;
}

/* A session of the caller's thread. */
static enum rig_rc open_session(const struct stage *stage, uint32_t client, void **session, struct rig_err *err)
{
    const struct rig_driver *driver = stage->all.driver;
    *session = calloc(1, driver->session_size == 0 ? 1 : driver->session_size);
    return *session == NULL ? rig_no_memory(err, "a session")
                            : driver->open(*session, stage->all.driver_run, client, err);
}

static void close_session(const struct stage *stage, void *session)
{
    if (session != NULL)
        stage->all.driver->close(session, true);
    free(session);
}

/* ---- before and after ---- */

/* `$SPACE` is the name of the space. NULL: out of memory. */
static const char *fill_in(struct stage *stage, const char *text)
{
    static const char mark[] = "$SPACE";
    const struct rig_text_ops *texts = stage->all.driver->texts;
    const char *space = texts->space == NULL ? "" : texts->space(stage->all.driver_run);
    struct rig_buf filled;
    rig_buf_init(&filled, 0);
    for (const char *at; (at = strstr(text, mark)) != NULL; text = at + sizeof mark - 1) {
        rig_buf_add(&filled, text, (size_t)(at - text));
        rig_buf_add_text(&filled, space);
    }
    rig_buf_add_text(&filled, text);
    const char *copy = filled.failed ? NULL
                                     : rig_arena_text(&stage->performance->arena, rig_buf_text(&filled),
                                                      strlen(rig_buf_text(&filled)));
    rig_buf_done(&filled);
    return copy;
}

/* Finds the engine's statements. */
static enum rig_rc prepare_steps(struct stage *stage, struct rig_err *err)
{
    const struct rig_sql_scenario *interleaving = stage->interleaving;
    struct rig_sql_scenario_performance *performance = stage->performance;
    performance->steps = rig_arena_array(&performance->arena, interleaving->step_count + 1, sizeof(struct rig_told));
    performance->setup = rig_arena_array(&performance->arena, interleaving->setup_count + 1, sizeof(struct rig_told));
    performance->final = rig_arena_array(&performance->arena, interleaving->final_count + 1, sizeof(struct rig_told));
    if (performance->steps == NULL || performance->setup == NULL || performance->final == NULL)
        return rig_no_memory(err, "a scenario");
    for (uint32_t i = 0; i < interleaving->step_count; i++) {
        const struct rig_sql_scenario_step *step = &interleaving->steps[i];
        const char *text = rig_engine_text_for(&step->texts, stage->options->server);
        performance->steps[i] = (struct rig_told){.count = -1, .skipped = step->act == RIG_STEP_TEXT && text == NULL};
        performance->steps[i].statement = text == NULL ? "" : fill_in(stage, text);
        if (performance->steps[i].statement == NULL)
            return rig_no_memory(err, "a scenario");
    }
    return RIG_OK;
}

/* Runs the engine's statements one after the other in one session; `stops`: at the first error. */
static enum rig_rc run_list(struct stage *stage, const struct rig_engine_texts *list, uint32_t count, bool stops,
                            struct rig_told *told, uint32_t *told_count, struct rig_err *err)
{
    void *session = NULL;
    enum rig_rc rc = open_session(stage, stage->interleaving->session_count, &session, err);
    for (uint32_t i = 0; rc == RIG_OK && i < count && !is_interrupted(stage); i++) {
        const char *text = rig_engine_text_for(&list[i], stage->options->server);
        if (text == NULL)
            continue;
        const char *filled = fill_in(stage, text);
        if (filled == NULL) {
            rc = rig_no_memory(err, "a scenario");
            break;
        }
        rig_told_execute(stage->all.driver, session, filled, &stage->performance->arena, NULL, &told[*told_count]);
        told[*told_count].statement = filled;
        if (told[(*told_count)++].failed && stops)
            break;
    }
    close_session(stage, session);
    return rc;
}

/* Nodes that only follow have the tables before the first step. */
static enum rig_rc await_nodes(struct stage *stage, struct rig_err *err)
{
    const struct rig_cluster_ops *cluster = stage->all.driver->cluster;
    bool names_some = false;
    for (uint32_t i = 0; i < stage->interleaving->session_count; i++)
        names_some |= stage->interleaving->nodes[i] != NULL;
    if (!names_some || cluster == NULL || cluster->node_count == NULL || cluster->status == NULL)
        return RIG_OK;
    const int64_t give_up_ns = now_ns() + NODE_MS * ns_per_ms;
    for (uint32_t node = 0; node < cluster->node_count(stage->all.driver_run);) {
        struct rig_node_status status = {.healthy = false};
        struct rig_err ignored = {.rc = RIG_OK};
        if (cluster->status(stage->all.driver_run, node, &status, &ignored) == RIG_OK && status.healthy)
            node++;
        else if (now_ns() > give_up_ns || is_interrupted(stage))
            return rig_fail(err, RIG_E_CLUSTER, "node %s has not caught up with the tables within 10 s", status.name);
        else
            rig_clock_sleep_until_ns(now_ns() + 10 * ns_per_ms);
    }
    return RIG_OK;
}

/* Behind the word, in any case, and the blanks after it; NULL: the text begins with another one. */
static const char *after_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    if (text == NULL || strncasecmp(text, word, length) != 0)
        return NULL;
    return text + length + strspn(text + length, " \t\r\n");
}

/* The name after CREATE TABLE; false: the statement makes none. */
static bool made_table(const char *sql, char name[static 128])
{
    const char *at = after_word(after_word(sql + strspn(sql, " \t\r\n"), "create"), "table");
    const char *further = after_word(after_word(after_word(at, "if"), "not"), "exists");
    at = further == NULL ? at : further;
    const size_t length = at == NULL ? 0 : strcspn(at, " \t\r\n(");
    (void)snprintf(name, 128, "%.*s", (int)(length < 127 ? length : 127), at == NULL ? "" : at);
    return length > 0;
}

/* Drops the table that an answered statement has made. */
static void drop_made(struct stage *stage, void *session, const struct rig_told *made)
{
    char name[128], sql[160];
    struct rig_told told;
    if (made->statement == NULL || !made->returned || made->failed || !made_table(made->statement, name))
        return;
    (void)snprintf(sql, sizeof sql, "drop table %s", name);
    rig_told_execute(stage->all.driver, session, sql, &stage->performance->arena, NULL, &told);
}

/* Where the driver cannot: the tables that the play has made, the last one first. */
static enum rig_rc drop_tables(struct stage *stage, struct rig_err *err)
{
    const struct rig_sql_scenario_performance *performance = stage->performance;
    void *session = NULL;
    const enum rig_rc rc = open_session(stage, stage->interleaving->session_count, &session, err);
    if (rc == RIG_OK) {
        for (uint32_t i = stage->interleaving->step_count; performance->steps != NULL && i-- > 0;)
            drop_made(stage, session, &performance->steps[i]);
        for (uint32_t i = performance->setup_count; i-- > 0;)
            drop_made(stage, session, &performance->setup[i]);
    }
    close_session(stage, session);
    return rc;
}

static enum rig_rc clear_space(struct stage *stage, struct rig_err *err)
{
    return stage->all.driver->texts->clear != NULL ? stage->all.driver->texts->clear(stage->all.driver_run, err)
                                                   : drop_tables(stage, err);
}

/* ---- the play ---- */

/* Sessions, steps, and the end of the sessions. */
static enum rig_rc play_steps(struct stage *stage, struct rig_err *err)
{
    struct rig_err watch_err = {.rc = RIG_OK};
    if (stage->all.driver->texts->look != NULL) {
        const enum rig_rc rc = open_session(stage, stage->interleaving->session_count + 1, &stage->watch, &watch_err);
        if (rc != RIG_OK) {
            close_session(stage, stage->watch);
            stage->watch = NULL;
            return rig_fail(err, rc, "the session that asks which others wait cannot be opened: %s", watch_err.text);
        }
    }
    const enum rig_rc rc = fill_seats(stage, err);
    if (rc == RIG_OK)
        direct(stage);
    rig_seats_empty(&stage->all);
    close_session(stage, stage->watch);
    stage->watch = NULL;
    return rc;
}

static enum rig_rc play_whole(struct stage *stage, struct rig_err *err)
{
    const struct rig_sql_scenario *interleaving = stage->interleaving;
    struct rig_sql_scenario_performance *performance = stage->performance;
    enum rig_rc rc = prepare_steps(stage, err);
    if (rc == RIG_OK && stage->all.driver->texts->clear != NULL)
        rc = clear_space(stage, err);
    if (rc == RIG_OK)
        rc = run_list(stage, interleaving->setup, interleaving->setup_count, true, performance->setup,
                      &performance->setup_count, err);
    const uint32_t sent = performance->setup_count;
    if (rc != RIG_OK || (sent > 0 && performance->setup[sent - 1].failed))
        return rc;
    rc = await_nodes(stage, err);
    if (rc == RIG_OK)
        rc = play_steps(stage, err);
    if (rc == RIG_OK)
        rc = run_list(stage, interleaving->final, interleaving->final_count, false, performance->final,
                      &performance->final_count, err);
    return rc;
}

enum rig_rc rig_sql_scenario_play(const struct rig_sql_scenario *interleaving, const struct rig_driver *driver,
                                  void *driver_run, const struct rig_sql_scenario_options *options,
                                  struct rig_sql_scenario_performance *performance, struct rig_err *err)
{
    struct stage *stage = calloc(1, sizeof *stage);
    struct rig_err ignored = {.rc = RIG_OK};
    *performance = (struct rig_sql_scenario_performance){.setup_count = 0};
    rig_arena_init(&performance->arena, 0);
    if (stage == NULL)
        return rig_no_memory(err, "a scenario");
    stage->interleaving = interleaving;
    stage->options = options;
    stage->performance = performance;
    for (uint32_t i = 0; i < RIG_SQL_SCENARIO_CLIENTS_MOST; i++)
        options->nodes[i] = i < interleaving->session_count ? interleaving->nodes[i] : NULL;
    rig_seats_init(&stage->all, driver, driver_run, play_seat);
    enum rig_rc rc = play_whole(stage, err);
    if (rc == RIG_OK)
        rc = clear_space(stage, err);
    else
        (void)clear_space(stage, &ignored);
    if (rc == RIG_OK && is_interrupted(stage))
        rc = rig_fail(err, RIG_E_INTERRUPTED, "the scenario was stopped by a signal");
    rig_seats_done(&stage->all);
    free(stage);
    return rc;
}

void rig_sql_scenario_performance_done(struct rig_sql_scenario_performance *performance)
{
    rig_arena_done(&performance->arena);
    *performance = (struct rig_sql_scenario_performance){.setup_count = 0};
}
