#include "run/scenario/play.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run/scenario/seats.h"

enum { PATIENCE_MS = 250, STUCK_MS = 10000 };

struct stage;

/* A session and its thread. Members are guarded by the lock of the seats where not stated otherwise. */
struct seat {
    struct rig_seat base;           /* first */
    struct rig_row_program program; /* the thread's own */
    struct stage *stage;
    bool is_over;                            /* the transaction has ended */
    bool is_left;                            /* before its last step */
    uint32_t queue[RIG_SCENARIO_STEPS_MOST]; /* steps whose turn has come while it was busy */
    uint32_t queue_first, queue_end;
    struct rig_transaction transaction; /* the thread's own */
};

struct stage {
    const struct rig_scenario *scenario;
    struct rig_seats all;
    const struct rig_play_options *options;
    struct rig_performance *performance;
    uint32_t step;   /* that began last */
    uint32_t unheld; /* 1 + the step whose commit the server did not hold; 0: none */
    struct seat seats[RIG_SCENARIO_SESSIONS_MOST];
    int64_t cells[RIG_SCENARIO_SESSIONS_MOST][RIG_SCENARIO_ROWS_MOST * RIG_ROW_COLUMNS];
};

static uint32_t patience_of(const struct stage *stage)
{
    return stage->options->patience_ms > 0 ? stage->options->patience_ms : PATIENCE_MS;
}

static uint32_t stuck_of(const struct stage *stage)
{
    return stage->options->stuck_ms > 0 ? stage->options->stuck_ms : STUCK_MS;
}

/* ---- a session's thread ---- */

/* The step is over: its result stands in the performance. */
static void finish_step(struct seat *seat, enum rig_played_state state)
{
    struct stage *stage = seat->stage;
    (void)pthread_mutex_lock(&stage->all.lock);
    struct rig_played_step *step = &stage->performance->steps[seat->base.running];
    step->state = state;
    if (step->until != UINT32_MAX)
        step->until = stage->step;
    seat->base.is_busy = false;
    if (!seat->is_over && seat->queue_first < seat->queue_end) {
        const uint32_t next = seat->queue[seat->queue_first++];
        stage->performance->steps[next].until = stage->step;
        seat->base.order = (int)next;
        seat->base.is_busy = true;
    }
    (void)pthread_cond_broadcast(&stage->all.changed);
    (void)pthread_mutex_unlock(&stage->all.lock);
}

/* The next step; NULL: leave. */
static const struct rig_scenario_step *await_step(struct seat *seat)
{
    const int step = rig_seat_await(&seat->base);
    return step >= 0 ? &seat->stage->scenario->steps[step] : NULL;
}

static bool keep_rows(struct seat *seat, const struct rig_row_answer *answer)
{
    struct stage *stage = seat->stage;
    const uint32_t columns = stage->scenario->table.column_count;
    const size_t cells = (size_t)answer->count * columns;
    (void)pthread_mutex_lock(&stage->all.lock); /* one arena for all */
    struct rig_scenario_rows *rows = &stage->performance->steps[seat->base.running].rows;
    rows->cells = rig_arena_array(&stage->performance->arena, cells + 1, sizeof *rows->cells);
    if (rows->cells != NULL && cells > 0)
        memcpy(rows->cells, answer->cells, cells * sizeof *rows->cells);
    rows->count = rows->cells == NULL ? 0 : answer->count;
    const bool kept = rows->cells != NULL;
    (void)pthread_mutex_unlock(&stage->all.lock);
    if (kept)
        rig_scenario_sort(rows, columns);
    return kept;
}

/* The transaction: it does the steps that it is told, until its last one, which it leaves to the driver. */
static bool body(struct rig_row_program *program, struct rig_rows *rows)
{
    struct seat *seat = (struct seat *)(void *)((char *)program - offsetof(struct seat, program));
    struct stage *stage = seat->stage;
    const struct rig_scenario_step *step = &stage->scenario->steps[seat->base.running];
    while (step != NULL && step->act == RIG_SCENARIO_STATEMENT) {
        struct rig_row_answer answer = {.cells = stage->cells[seat->base.number],
                                        .cell_capacity = sizeof stage->cells[0] / sizeof stage->cells[0][0]};
        if (!rows->execute(rows, stage->options->first_statement + step->statement, step->values, &answer))
            return false;
        if (stage->scenario->statements[step->statement].act == RIG_ROW_SELECT && !keep_rows(seat, &answer))
            return false;
        finish_step(seat, RIG_PLAYED_DONE);
        step = await_step(seat);
    }
    seat->is_left = step == NULL;
    return step != NULL && (step->act == RIG_SCENARIO_COMMIT || step->act == RIG_SCENARIO_COMMIT_HELD);
}

static void ignore_commit(struct rig_row_program *program)
{
    (void)program;
}

/* The transaction is over, by its last step or by a failure of the step that ran. */
static void end_transaction(struct seat *seat, enum rig_outcome outcome)
{
    struct stage *stage = seat->stage;
    const struct rig_transaction *transaction = &seat->transaction;
    const bool wanted =
        outcome == RIG_OUTCOME_OK || (stage->scenario->steps[seat->base.running].act == RIG_SCENARIO_ROLLBACK &&
                                      strcmp(transaction->error_code, RIG_ROWS_ROLLED_BACK) == 0);
    (void)pthread_mutex_lock(&stage->all.lock);
    struct rig_played_step *step = &stage->performance->steps[seat->base.running];
    if (!wanted) {
        step->conflict = transaction->error_class == RIG_ERROR_CONFLICT;
        memcpy(step->code, transaction->error_code, sizeof step->code);
        memcpy(step->text, transaction->error_text, sizeof step->text);
    }
    stage->performance->outcomes[seat->base.number] = outcome;
    stage->performance->ended[seat->base.number] = true;
    seat->is_over = true;
    const bool stuck = step->state == RIG_PLAYED_STUCK;
    (void)pthread_mutex_unlock(&stage->all.lock);
    finish_step(seat, stuck ? RIG_PLAYED_STUCK : wanted ? RIG_PLAYED_DONE : RIG_PLAYED_FAILED);
}

static void play_seat(struct rig_seat *of)
{
    struct seat *seat = (struct seat *)(void *)of;
    const struct rig_driver *driver = seat->stage->all.driver;
    const struct rig_scenario_step *step = await_step(seat);
    if (step != NULL) {
        seat->program = (struct rig_row_program){.body = body, .committing = ignore_commit};
        seat->transaction.client = seat->base.number;
        const enum rig_outcome outcome =
            driver->rows->run_program(seat->base.session, &seat->transaction, &seat->program);
        if (!seat->is_left)
            end_transaction(seat, outcome);
        (void)await_step(seat); /* until all have finished: closing must not free what others wait for */
    }
}

/* ---- the director ---- */

static struct timespec after_ms(uint32_t ms)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

/* Waits until the seat is not busy. Holds the lock. */
static bool await_seat(struct stage *stage, const struct seat *seat, uint32_t ms)
{
    const struct timespec until = after_ms(ms);
    while (seat->base.is_busy) {
        if (pthread_cond_timedwait(&stage->all.changed, &stage->all.lock, &until) == ETIMEDOUT)
            return !seat->base.is_busy;
    }
    return true;
}

/* Ends a step that does not return. Holds the lock. */
static void interrupt_seat(struct stage *stage, struct seat *seat)
{
    stage->performance->steps[seat->base.running].state = RIG_PLAYED_STUCK;
    seat->queue_first = seat->queue_end;
    stage->all.driver->interrupt(seat->base.session);
    while (seat->base.is_busy)
        (void)pthread_cond_wait(&stage->all.changed, &stage->all.lock);
}

/* Gives sessions that wait for a lock the time to go on. Holds the lock. */
static void await_released(struct stage *stage)
{
    for (uint32_t i = 0; i < stage->scenario->session_count; i++)
        (void)await_seat(stage, &stage->seats[i], patience_of(stage));
}

static bool is_interrupted(const struct stage *stage)
{
    return stage->options->interrupts != NULL && atomic_load(stage->options->interrupts) > 0;
}

/* Waits until the server holds the seat's commit, or the commit has ended without that. Holds the lock. */
static void await_held(struct stage *stage, const struct seat *seat)
{
    enum { LOOK_MS = 2 };
    const struct rig_commit_hold *hold = &stage->options->hold;
    for (uint32_t waited = 0; waited < stuck_of(stage) && !hold->is_held(hold->context); waited += LOOK_MS) {
        if (await_seat(stage, seat, LOOK_MS))
            break;
    }
    if (seat->is_over && stage->performance->outcomes[seat->base.number] == RIG_OUTCOME_OK)
        stage->unheld = stage->step + 1;
    if (seat->is_over)
        hold->release(hold->context);
}

static void release_commit(struct stage *stage, const struct seat *seat, struct rig_played_step *played)
{
    const struct rig_commit_hold *hold = &stage->options->hold;
    if (seat->is_over)
        return;
    hold->release(hold->context);
    (void)await_seat(stage, seat, stuck_of(stage));
    played->state = RIG_PLAYED_DONE;
    await_released(stage);
}

static void direct_step(struct stage *stage, uint32_t number)
{
    const enum rig_scenario_act act = stage->scenario->steps[number].act;
    struct seat *seat = &stage->seats[stage->scenario->steps[number].session];
    struct rig_played_step *played = &stage->performance->steps[number];
    (void)pthread_mutex_lock(&stage->all.lock);
    played->until = UINT32_MAX;
    /* Commits that are held have their order from the file. */
    if (stage->scenario->holds_commits && act != RIG_SCENARIO_RELEASE && !await_seat(stage, seat, stuck_of(stage)))
        interrupt_seat(stage, seat);
    stage->step = number;
    if (act != RIG_SCENARIO_RELEASE && seat->base.is_busy) {
        seat->queue[seat->queue_end++] = number;
        (void)await_seat(stage, seat, patience_of(stage));
    } else if (act == RIG_SCENARIO_RELEASE) {
        release_commit(stage, seat, played);
    } else if (!seat->is_over) {
        seat->base.order = (int)number;
        seat->base.is_busy = true;
        if (act == RIG_SCENARIO_COMMIT_HELD)
            stage->options->hold.arm(stage->options->hold.context);
        (void)pthread_cond_broadcast(&stage->all.changed);
        if (act == RIG_SCENARIO_COMMIT_HELD)
            await_held(stage, seat);
        if (!await_seat(stage, seat, act == RIG_SCENARIO_COMMIT_HELD ? 0 : patience_of(stage)))
            played->until = number;
        if (seat->is_over)
            await_released(stage);
    }
    (void)pthread_mutex_unlock(&stage->all.lock);
}

static void direct(struct stage *stage)
{
    for (uint32_t i = 0; i < stage->scenario->step_count && !is_interrupted(stage); i++)
        direct_step(stage, i);
    (void)pthread_mutex_lock(&stage->all.lock);
    if (stage->scenario->holds_commits)
        stage->options->hold.release(stage->options->hold.context);
    for (uint32_t i = 0; i < stage->scenario->session_count; i++) {
        if (!await_seat(stage, &stage->seats[i], is_interrupted(stage) ? 0 : stuck_of(stage)))
            interrupt_seat(stage, &stage->seats[i]);
    }
    (void)pthread_mutex_unlock(&stage->all.lock);
}

/* ---- the anomaly ---- */

static bool answers(const struct rig_scenario *scenario, const struct rig_performance *performance,
                    const struct rig_scenario_answer *answer)
{
    const struct rig_played_step *played = &performance->steps[answer->step];
    const size_t cells = (size_t)answer->rows.count * scenario->table.column_count;
    return played->state == RIG_PLAYED_DONE && played->rows.cells != NULL && played->rows.count == answer->rows.count &&
           (cells == 0 || memcmp(played->rows.cells, answer->rows.cells, cells * sizeof *answer->rows.cells) == 0);
}

static bool ends_transaction(enum rig_scenario_act act)
{
    return act == RIG_SCENARIO_COMMIT || act == RIG_SCENARIO_ROLLBACK || act == RIG_SCENARIO_RELEASE;
}

/* Each transaction whose end is written before another's first step has ended before that step began. */
static bool kept_order(const struct rig_scenario *scenario, const struct rig_performance *performance)
{
    bool open[RIG_SCENARIO_SESSIONS_MOST] = {false};
    for (uint32_t i = 0; i < scenario->step_count; i++) {
        const struct rig_scenario_step *step = &scenario->steps[i];
        for (uint32_t end = 0; !open[step->session] && step->act != RIG_SCENARIO_UNTIL && end < i; end++) {
            const uint32_t until = performance->steps[end].until;
            const bool ends =
                ends_transaction(scenario->steps[end].act) && scenario->steps[end].session != step->session;
            if (ends && until != UINT32_MAX && until >= i)
                return false;
        }
        if (step->act != RIG_SCENARIO_UNTIL)
            open[step->session] = !ends_transaction(step->act);
    }
    return true;
}

static bool is_shown(const struct rig_scenario *scenario, const struct rig_performance *performance,
                     const struct rig_scenario_sign *sign)
{
    bool shown = true;
    for (uint32_t i = 0; i < scenario->session_count; i++) {
        if (sign->committed >> i & 1)
            shown &= performance->ended[i] && performance->outcomes[i] == RIG_OUTCOME_OK;
    }
    for (uint32_t i = 0; i < sign->answer_count; i++)
        shown &= answers(scenario, performance, &sign->answers[i]);
    return shown;
}

void rig_scenario_judge(const struct rig_scenario *scenario, struct rig_performance *performance)
{
    performance->overlaps = !kept_order(scenario, performance);
    if (performance->overlaps)
        return;
    for (uint32_t i = 0; i < scenario->sign_count && !performance->shows; i++) {
        performance->shows = is_shown(scenario, performance, &scenario->signs[i]);
        performance->sign = i;
    }
}

/* ---- the play ---- */

static enum rig_rc fill_seats(struct stage *stage, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < stage->scenario->session_count; i++) {
        stage->seats[i] = (struct seat){.stage = stage};
        rc = rig_seats_add(&stage->all, &stage->seats[i].base, err);
    }
    return rc == RIG_OK ? rig_seats_await(&stage->all, stage->scenario->sessions, err) : rc;
}

enum rig_rc rig_scenario_play(const struct rig_scenario *scenario, const struct rig_driver *driver, void *driver_run,
                              const struct rig_play_options *options, struct rig_performance *performance,
                              struct rig_err *err)
{
    struct stage *stage = calloc(1, sizeof *stage);
    *performance = (struct rig_performance){.shows = false};
    rig_arena_init(&performance->arena, 0);
    if (stage == NULL)
        return rig_no_memory(err, "a scenario");
    stage->scenario = scenario;
    stage->options = options;
    stage->performance = performance;
    rig_seats_init(&stage->all, driver, driver_run, play_seat);
    enum rig_rc rc = driver->rows->load(driver_run, options->table, scenario->rows.cells, scenario->rows.count, err);
    if (rc == RIG_OK)
        rc = fill_seats(stage, err);
    if (rc == RIG_OK) {
        direct(stage);
        rig_scenario_judge(scenario, performance);
    }
    rig_seats_empty(&stage->all);
    if (rc == RIG_OK && stage->unheld > 0 && !is_interrupted(stage))
        rc = rig_fail(err, RIG_E_DRIVER, "step %u: the server did not hold the commit; only PostgreSQL can",
                      stage->unheld);
    if (rc == RIG_OK && is_interrupted(stage))
        rc = rig_fail(err, RIG_E_INTERRUPTED, "the scenario was stopped by a signal");
    rig_seats_done(&stage->all);
    free(stage);
    return rc;
}

void rig_performance_done(struct rig_performance *performance)
{
    rig_arena_done(&performance->arena);
    *performance = (struct rig_performance){.shows = false};
}
