#include "run/scenario/scenario_told.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "run/scenario/told.h"

/* The scenario as statements, and for each of its steps the numbers of those that stand for it. */
struct translation {
    const struct rig_scenario *scenario;
    const char *begin;
    struct rig_sql_scenario *sql;
    uint32_t main[RIG_SCENARIO_STEPS_MOST];   /* of the step itself */
    uint32_t before[RIG_SCENARIO_STEPS_MOST]; /* of the beginning before it; UINT32_MAX: none */
};

/* ---- statements ---- */

static bool put(struct translation *t, struct rig_engine_texts *texts, const char *text)
{
    struct rig_arena *arena = &t->sql->arena;
    texts->at = rig_arena_array(arena, 1, sizeof *texts->at);
    const char *copy = rig_arena_text(arena, text, strlen(text));
    if (texts->at == NULL || copy == NULL)
        return false;
    texts->at[0].text = copy;
    texts->count = 1;
    return true;
}

static bool put_table(struct translation *t)
{
    const struct rig_row_table *table = &t->scenario->table;
    const struct rig_scenario_rows *rows = &t->scenario->rows;
    struct rig_buf sql;
    rig_buf_init(&sql, 0);
    rig_buf_printf(&sql, "create table %s (", table->name);
    for (uint32_t i = 0; i < table->column_count; i++)
        rig_buf_printf(&sql, "%s%s bigint not null%s", i == 0 ? "" : ", ", table->columns[i],
                       i == 0 ? " primary key" : "");
    rig_buf_add_char(&sql, ')');
    bool good = !sql.failed && put(t, &t->sql->setup[t->sql->setup_count++], rig_buf_text(&sql));
    rig_buf_clear(&sql);
    rig_buf_printf(&sql, "insert into %s values ", table->name);
    for (uint32_t row = 0; row < rows->count; row++) {
        for (uint32_t i = 0; i < table->column_count; i++)
            rig_buf_printf(&sql, "%s%" PRId64,
                           i > 0     ? ", "
                           : row > 0 ? "), ("
                                     : "(",
                           rows->cells[(size_t)row * table->column_count + i]);
    }
    rig_buf_add_char(&sql, ')');
    if (good && rows->count > 0)
        good = !sql.failed && put(t, &t->sql->setup[t->sql->setup_count++], rig_buf_text(&sql));
    rig_buf_done(&sql);
    return good;
}

static bool put_step(struct translation *t, uint32_t step, const char *text)
{
    struct rig_sql_scenario_step *out = &t->sql->steps[t->sql->step_count++];
    out->number = step + 1;
    out->session = t->scenario->steps[step].session;
    return put(t, &out->texts, text);
}

static bool has_begin(const struct rig_scenario *scenario, uint32_t session)
{
    for (uint32_t i = 0; i < scenario->step_count; i++) {
        if (scenario->steps[i].session == session && scenario->steps[i].act == RIG_SCENARIO_BEGIN)
            return true;
    }
    return false;
}

static const char *text_of(const struct translation *t, const struct rig_scenario_step *step)
{
    static const char *const plain[] = {"begin", "start transaction", "begin transaction", "begin work"};
    for (size_t i = 0; step->act == RIG_SCENARIO_BEGIN && i < sizeof plain / sizeof plain[0]; i++) {
        if (strcasecmp(step->text, plain[i]) == 0)
            return t->begin;
    }
    return step->text;
}

static bool put_steps(struct translation *t)
{
    const struct rig_scenario *scenario = t->scenario;
    bool open[RIG_SCENARIO_SESSIONS_MOST] = {false}, good = true;
    for (uint32_t i = 0; good && i < scenario->step_count; i++) {
        const struct rig_scenario_step *step = &scenario->steps[i];
        const bool ends = step->act == RIG_SCENARIO_COMMIT || step->act == RIG_SCENARIO_ROLLBACK;
        t->before[i] = UINT32_MAX;
        if (step->act == RIG_SCENARIO_UNTIL) {
            t->main[i] = t->sql->step_count;
            t->sql->steps[t->sql->step_count++] =
                (struct rig_sql_scenario_step){.number = i + 1, .act = RIG_STEP_UNTIL, .session = step->session};
            continue;
        }
        if (!open[step->session] && !ends && !has_begin(scenario, step->session)) {
            t->before[i] = t->sql->step_count;
            good = put_step(t, i, t->begin);
        }
        open[step->session] = !ends;
        t->main[i] = t->sql->step_count;
        good = good && put_step(t, i, text_of(t, step));
    }
    return good;
}

static enum rig_rc translate(struct translation *t, struct rig_err *err)
{
    struct rig_sql_scenario *sql = t->sql = calloc(1, sizeof *t->sql);
    if (sql == NULL)
        return rig_no_memory(err, "a scenario");
    rig_arena_init(&sql->arena, 0);
    sql->name = t->scenario->name;
    sql->title = t->scenario->title;
    sql->session_count = t->scenario->session_count;
    memcpy(sql->sessions, t->scenario->sessions, sizeof t->scenario->sessions);
    memcpy(sql->nodes, t->scenario->nodes, sizeof t->scenario->nodes);
    sql->setup = rig_arena_array(&sql->arena, 2, sizeof *sql->setup);
    sql->steps = rig_arena_array(&sql->arena, 2 * (size_t)t->scenario->step_count + 1, sizeof *sql->steps);
    const bool good = sql->setup != NULL && sql->steps != NULL && put_table(t) && put_steps(t);
    return good ? RIG_OK : rig_no_memory(err, "a scenario");
}

/* ---- answers ---- */

/* The index of the step with this number. */
static uint32_t step_at(const struct rig_scenario *scenario, uint32_t number)
{
    return number == RIG_AFTER_THE_END ? scenario->step_count - 1 : number - 1;
}

/* It waited, or its session did when its turn came. */
static uint32_t until_of(const struct rig_scenario *scenario, const struct rig_told *told)
{
    if (told->waits && told->after != RIG_AFTER_NOTHING)
        return step_at(scenario, told->after);
    if (told->waits)
        return scenario->step_count - 1;
    return told->starts_after == RIG_AFTER_NOTHING ? UINT32_MAX : step_at(scenario, told->starts_after);
}

static bool take_rows(const struct rig_scenario *scenario, const struct rig_told *told, struct rig_arena *arena,
                      struct rig_scenario_rows *rows)
{
    const uint32_t columns = scenario->table.column_count;
    const size_t cells = told->row_count * columns;
    if (!told->has_rows || told->cut || (told->row_count > 0 && told->column_count != columns))
        return false;
    rows->cells = rig_arena_array(arena, cells + 1, sizeof *rows->cells);
    if (rows->cells == NULL)
        return false;
    for (size_t i = 0; i < cells; i++) {
        char *end = NULL;
        const char *text = told->cells[i].text;
        errno = 0;
        rows->cells[i] = text == NULL ? 0 : strtoll(text, &end, 10);
        if (text == NULL || end == text || *end != '\0' || errno != 0)
            return false;
    }
    rows->count = (uint32_t)told->row_count;
    rig_scenario_sort(rows, columns);
    return true;
}

static bool take_line(const struct rig_told *told, struct rig_arena *arena, const char **line)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_told_write(told, &text);
    *line = text.failed ? NULL : rig_arena_text(arena, rig_buf_text(&text), text.size);
    rig_buf_done(&text);
    return *line != NULL;
}

/* The answer to a step, or to the beginning before it where that failed. */
static bool take_step(const struct translation *t, const struct rig_sql_scenario_performance *played, uint32_t step,
                      struct rig_performance *performance)
{
    const struct rig_scenario_step *from = &t->scenario->steps[step];
    const struct rig_told *told = &played->steps[t->main[step]];
    const struct rig_told *before = t->before[step] == UINT32_MAX ? NULL : &played->steps[t->before[step]];
    struct rig_played_step *out = &performance->steps[step];
    struct rig_scenario_rows rows = {0};
    out->until = until_of(t->scenario, told);
    if (before != NULL && (before->failed || before->stuck)) {
        out->until = until_of(t->scenario, before);
        told = before;
    }
    out->state = !told->sent    ? RIG_PLAYED_NOT
                 : told->stuck  ? RIG_PLAYED_STUCK
                 : told->failed ? RIG_PLAYED_FAILED
                                : RIG_PLAYED_DONE;
    out->conflict = told->conflict;
    (void)snprintf(out->code, sizeof out->code, "%s", told->code);
    (void)snprintf(out->text, sizeof out->text, "%.*s", (int)sizeof out->text - 1, told->text);
    if (take_rows(t->scenario, told, &performance->arena, &rows))
        out->rows = rows;
    return from->act != RIG_SCENARIO_TEXT || out->state != RIG_PLAYED_DONE ||
           take_line(told, &performance->arena, &out->line);
}

/* Whether each transaction of the session committed, and none of its statements failed because of another one: such a
 * transaction is not the one that was written. */
static bool has_committed(const struct rig_scenario *scenario, const struct rig_performance *performance,
                          uint32_t session)
{
    bool commits = false, good = true;
    for (uint32_t i = 0; i < scenario->step_count; i++) {
        const struct rig_played_step *played = &performance->steps[i];
        if (scenario->steps[i].session != session || scenario->steps[i].act == RIG_SCENARIO_UNTIL)
            continue;
        good &= played->state != RIG_PLAYED_NOT && played->state != RIG_PLAYED_STUCK && !played->conflict;
        if (scenario->steps[i].act == RIG_SCENARIO_COMMIT) {
            commits = true;
            good &= played->state == RIG_PLAYED_DONE;
        }
        good &= scenario->steps[i].act != RIG_SCENARIO_ROLLBACK;
    }
    return commits && good;
}

static enum rig_rc take_all(const struct translation *t, const struct rig_sql_scenario_performance *played,
                            struct rig_performance *performance, struct rig_err *err)
{
    const struct rig_scenario *scenario = t->scenario;
    for (uint32_t i = 0; i < played->setup_count; i++) {
        if (played->setup[i].failed)
            return rig_fail(err, RIG_E_CLUSTER, "the table of %s: %s: %s", scenario->name, played->setup[i].code,
                            played->setup[i].text);
    }
    for (uint32_t i = 0; i < scenario->step_count; i++) {
        if (!take_step(t, played, i, performance))
            return rig_no_memory(err, "a scenario");
    }
    for (uint32_t i = 0; i < scenario->session_count; i++) {
        performance->outcomes[i] = has_committed(scenario, performance, i) ? RIG_OUTCOME_OK : RIG_OUTCOME_FAIL;
        performance->ended[i] = true;
    }
    rig_scenario_judge(scenario, performance);
    return RIG_OK;
}

enum rig_rc rig_scenario_play_texts(const struct rig_scenario *scenario, const struct rig_driver *driver,
                                    void *driver_run, const struct rig_sql_scenario_options *options, const char *begin,
                                    struct rig_performance *performance, struct rig_err *err)
{
    struct translation t = {.scenario = scenario, .begin = begin};
    struct rig_sql_scenario_options own = *options;
    struct rig_sql_scenario_performance played = {.setup_count = 0};
    *performance = (struct rig_performance){.shows = false};
    rig_arena_init(&performance->arena, 0);
    own.stops = true;
    enum rig_rc rc = translate(&t, err);
    if (rc == RIG_OK)
        rc = rig_sql_scenario_play(t.sql, driver, driver_run, &own, &played, err);
    if (rc == RIG_OK)
        rc = take_all(&t, &played, performance, err);
    rig_sql_scenario_performance_done(&played);
    rig_sql_scenario_free(t.sql);
    return rc;
}
