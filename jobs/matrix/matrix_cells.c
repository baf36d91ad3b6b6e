#include "jobs/matrix/matrix_cells.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/json_members.h"
#include "base/output_file.h"
#include "base/printable.h"

enum { PATH_BYTES = 4096, OUTPUT_BYTES_MOST = 1 << 20, RESULTS_BYTES_MOST = 256 << 20, NAMED_ANOMALIES = 3 };

#define STATE_NAME(id, name, words)  name,
#define STATE_WORDS(id, name, words) words,
static const char *const state_names[] = {RIG_MATRIX_STATE_TABLE(STATE_NAME)};
static const char *const state_words[] = {RIG_MATRIX_STATE_TABLE(STATE_WORDS)};

const char *rig_matrix_state_name(enum rig_matrix_state state)
{
    return state_names[state];
}

const char *rig_matrix_state_words(enum rig_matrix_state state)
{
    return state_words[state];
}

struct reading {
    const struct rig_matrix_job *job;
    const struct rig_matrix_ending *ending;
    struct rig_arena *arena;
    struct rig_matrix_cells *cells;
    char folder[PATH_BYTES]; /* of the job */
    const char *output;      /* the first line that the command complained of, or "" */
};

/* ---- files ---- */

static bool path_of(const char *folder, const struct rig_matrix_job *job, const char *name, char path[PATH_BYTES])
{
    const int length = snprintf(path, PATH_BYTES, "%s/cells/%s%s%s", folder, job->id, name[0] == '\0' ? "" : "/", name);
    return length >= 0 && length < PATH_BYTES;
}

/* NULL: not there, or no JSON object. */
static json_t *read_json(const char *path)
{
    struct rig_buf text;
    struct rig_err ignored = {0};
    rig_buf_init(&text, RESULTS_BYTES_MOST);
    json_t *json = NULL;
    if (rig_buf_read_file(&text, path, &ignored) == RIG_OK)
        json = json_loadb(rig_buf_text(&text), text.size, 0, NULL);
    rig_buf_done(&text);
    if (json_is_object(json))
        return json;
    json_decref(json);
    return NULL;
}

static const char *text_at(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

/* ---- texts ---- */

/* NULL: out of memory. */
static const char *keep(const struct reading *r, const char *text)
{
    return rig_arena_text(r->arena, text, strlen(text));
}

/* A printable line. */
static const char *keep_line(const struct reading *r, const char *text)
{
    char *line = rig_arena_text(r->arena, text, strlen(text));
    if (line != NULL)
        rig_printable_line(line);
    return line;
}

static const char *keep_buf(const struct reading *r, struct rig_buf *buf)
{
    const char *text = buf->failed ? NULL : keep(r, rig_buf_text(buf));
    rig_buf_done(buf);
    return text;
}

/* The first complaint in the output of the command, else its last line. */
static const char *first_complaint(const struct reading *r)
{
    char path[PATH_BYTES + 16];
    struct rig_buf text;
    struct rig_err ignored = {0};
    rig_buf_init(&text, OUTPUT_BYTES_MOST);
    (void)snprintf(path, sizeof path, "%s/output.txt", r->folder);
    (void)rig_buf_read_file(&text, path, &ignored);
    const char *line = rig_buf_text(&text), *last = "";
    for (const char *at = line; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n') {
        if (strncmp(at, "rig: ", 5) == 0) {
            last = at + 5;
            break;
        }
        last = *at == '\n' ? last : at;
    }
    char *kept = rig_arena_text(r->arena, last, strcspn(last, "\n"));
    if (kept != NULL)
        rig_printable_line(kept);
    rig_buf_done(&text);
    return kept;
}

/* Why a job has no result. */
static const char *say_failure(const struct reading *r)
{
    struct rig_buf text;
    const struct rig_matrix_ending *ending = r->ending;
    rig_buf_init(&text, 0);
    if (ending->end == RIG_MATRIX_NOT_STARTED)
        rig_buf_add_text(&text, "it was not started");
    else if (ending->end == RIG_MATRIX_STOPPED)
        rig_buf_add_text(&text, "it was stopped before its end");
    else if (ending->end == RIG_MATRIX_OVERRAN)
        rig_buf_printf(&text, "it did not end within its limit, and was stopped after %.0f s", ending->seconds);
    else if (ending->status > 128)
        rig_buf_printf(&text, "rig was ended by signal %d", ending->status - 128);
    else if (r->output[0] != '\0')
        rig_buf_add_text(&text, r->output);
    else
        rig_buf_printf(&text, "rig ended with status %d and without a result", ending->status);
    return keep_buf(r, &text);
}

static enum rig_matrix_state state_without_result(const struct rig_matrix_ending *ending)
{
    return ending->end == RIG_MATRIX_NOT_STARTED || ending->end == RIG_MATRIX_STOPPED ? RIG_MATRIX_NOT_RUN
                                                                                      : RIG_MATRIX_FAILED;
}

static enum rig_rc add_cell(const struct reading *r, struct rig_matrix_cell *cell, struct rig_err *err)
{
    const bool whole =
        cell->word != NULL && cell->detail != NULL && cell->server != NULL && cell->seed != NULL && cell->steps != NULL;
    return whole && rig_matrix_cells_add(r->cells, *cell) ? RIG_OK : rig_no_memory(err, "the cells of the matrix");
}

static struct rig_matrix_cell empty_cell(const struct reading *r, const char *scenario)
{
    const enum rig_matrix_state state = state_without_result(r->ending);
    return (struct rig_matrix_cell){.job = r->job,
                                    .scenario = scenario,
                                    .state = state,
                                    .word = state_words[state],
                                    .detail = say_failure(r),
                                    .server = "",
                                    .seed = "",
                                    .steps = "",
                                    .seconds = r->ending->seconds};
}

/* ---- loads ---- */

/* "G2-item 3, lost-update 12": the first ones, which need no real time. */
static const char *say_anomalies(const struct reading *r, const json_t *results)
{
    const char *name;
    json_t *found;
    unsigned count = 0;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    json_object_foreach(json_object_get(results, "anomalies"), name, found)
    {
        if (count++ < NAMED_ANOMALIES)
            rig_buf_printf(&text, "%s%s %" JSON_INTEGER_FORMAT, text.size > 0 ? ", " : "", name,
                           json_integer_value(json_object_get(found, "count")));
    }
    if (count > NAMED_ANOMALIES)
        rig_buf_printf(&text, ", %u more", count - NAMED_ANOMALIES);
    if (count == 0)
        rig_buf_add_text(&text, "anomalies");
    return keep_buf(r, &text);
}

/* Whether each requested level is proven. */
static bool is_held(const json_t *results)
{
    size_t i;
    json_t *name;
    const json_t *requested = json_object_get(results, "requested"), *levels = json_object_get(results, "levels");
    json_array_foreach(requested, i, name)
    {
        const char *fate = text_at(levels, json_string_value(name));
        if (strcmp(fate, "held") != 0)
            return false;
    }
    return json_array_size(requested) > 0;
}

static const char *say_undecided(const json_t *results)
{
    const char *why = text_at(results, "unknown_reason");
    return why[0] != '\0' ? why : text_at(json_object_get(results, "evidence"), "shortfall");
}

/* The state of which exit status and results.json agree. An anomaly stands, whatever stopped the run after it. */
static enum rig_matrix_state state_of(const struct reading *r, const json_t *results)
{
    const json_t *valid = json_object_get(results, "valid");
    if (r->ending->end == RIG_MATRIX_NOT_STARTED)
        return RIG_MATRIX_NOT_RUN;
    if (r->ending->end != RIG_MATRIX_ENDED && r->ending->status != 1)
        return state_without_result(r->ending);
    if (r->ending->status == 0 && json_is_true(valid))
        return RIG_MATRIX_HOLDS;
    if (r->ending->status == 1 && json_is_false(valid))
        return RIG_MATRIX_ANOMALIES;
    return r->ending->status == 2 && json_is_string(valid) ? RIG_MATRIX_UNDECIDED : RIG_MATRIX_FAILED;
}

static enum rig_rc read_load(struct reading *r, struct rig_err *err)
{
    char path[PATH_BYTES + 32];
    (void)snprintf(path, sizeof path, "%s/run/results.json", r->folder);
    json_t *results = read_json(path);
    struct rig_matrix_cell cell = empty_cell(r, NULL);
    if (results != NULL) {
        const json_t *run = json_object_get(results, "run");
        cell.state = state_of(r, results);
        cell.server = keep_line(r, text_at(run, "server"));
        cell.seed = keep_line(r, text_at(run, "seed"));
        cell.acknowledged =
            (uint64_t)json_integer_value(json_object_get(json_object_get(results, "evidence"), "acknowledged"));
        cell.word = state_words[cell.state];
        if (cell.state == RIG_MATRIX_HOLDS)
            cell.word = is_held(results) ? "holds" : "not refuted";
        if (cell.state == RIG_MATRIX_ANOMALIES)
            cell.word = say_anomalies(r, results);
        if (cell.state == RIG_MATRIX_UNDECIDED)
            cell.detail = keep_line(r, say_undecided(results));
        if (cell.state == RIG_MATRIX_HOLDS || cell.state == RIG_MATRIX_ANOMALIES)
            cell.detail = keep_line(r, text_at(results, "summary"));
    }
    json_decref(results);
    return add_cell(r, &cell, err);
}

/* ---- scenarios ---- */

static const char *keep_stem(const struct reading *r, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash == NULL ? path : slash + 1, *dot = strrchr(base, '.');
    return rig_arena_text(r->arena, base, dot == NULL ? strlen(base) : (size_t)(dot - base));
}

/* The first step of a play that was interrupted, or failed for another reason than a conflict; NULL: there is none. */
static const json_t *spoiled_step(const json_t *result)
{
    size_t i;
    json_t *step;
    json_array_foreach(json_object_get(result, "steps"), i, step)
    {
        const char *state = text_at(step, "state");
        if (strcmp(state, "stuck") == 0 ||
            (strcmp(state, "failed") == 0 && !json_is_true(json_object_get(step, "conflict"))))
            return step;
    }
    return NULL;
}

static void say_spoiled(const json_t *step, struct rig_buf *detail)
{
    if (strcmp(text_at(step, "state"), "stuck") == 0)
        rig_buf_printf(detail, "`%s` did not return", text_at(step, "statement"));
    else
        rig_buf_printf(detail, "`%s` failed, and not by a conflict with another transaction: %s: %s",
                       text_at(step, "statement"), text_at(step, "code"), text_at(step, "text"));
}

static void say_rows(const json_t *rows, struct rig_buf *line)
{
    size_t i, j;
    json_t *row, *value;
    json_array_foreach(rows, i, row)
    {
        rig_buf_add_text(line, " (");
        json_array_foreach(row, j, value)
            rig_buf_printf(line, "%s%" JSON_INTEGER_FORMAT, j > 0 ? ", " : "", json_integer_value(value));
        rig_buf_add_char(line, ')');
    }
}

/* The steps with their answers. */
static const char *say_steps(const struct reading *r, const json_t *result)
{
    size_t i;
    json_t *step;
    struct rig_buf text;
    rig_buf_init(&text, 0);
    json_array_foreach(json_object_get(result, "steps"), i, step)
    {
        const json_t *until = json_object_get(step, "waited-until");
        rig_buf_printf(&text, "%3zu  %s  %s:", i + 1, text_at(step, "session"), text_at(step, "statement"));
        if (json_is_array(json_object_get(step, "rows")))
            say_rows(json_object_get(step, "rows"), &text);
        else
            rig_buf_printf(&text, " %s", text_at(step, "state"));
        if (text_at(step, "code")[0] != '\0')
            rig_buf_printf(&text, ", %s: %s", text_at(step, "code"), text_at(step, "text"));
        if (json_is_integer(until))
            rig_buf_printf(&text, " (waited until step %" JSON_INTEGER_FORMAT ")", json_integer_value(until));
        rig_buf_add_char(&text, '\n');
    }
    return keep_buf(r, &text);
}

/* A scenario that was played. */
static void read_result(const struct reading *r, const json_t *result, struct rig_matrix_cell *cell)
{
    const json_t *spoiled = spoiled_step(result);
    struct rig_buf detail;
    rig_buf_init(&detail, 0);
    cell->is_shown = json_is_true(json_object_get(result, "shown"));
    cell->word = keep_line(r, text_at(result, "word"));
    cell->server = keep_line(r, text_at(result, "server"));
    cell->steps = say_steps(r, result);
    if (cell->is_shown) {
        const bool forbidden = json_is_true(json_object_get(result, "forbidden"));
        cell->state = forbidden ? RIG_MATRIX_ANOMALIES : RIG_MATRIX_HOLDS;
        rig_buf_printf(&detail, "%s is shown, which %s", text_at(result, "title"),
                       forbidden ? "a promised level forbids" : "every promised level allows");
    } else if (spoiled != NULL) {
        cell->state = RIG_MATRIX_UNDECIDED;
        say_spoiled(spoiled, &detail);
    } else {
        cell->state = RIG_MATRIX_HOLDS;
        rig_buf_printf(&detail, "%s is not shown", text_at(result, "title"));
    }
    const char *text = keep_buf(r, &detail);
    cell->detail = text == NULL ? NULL : keep_line(r, text);
}

static enum rig_rc read_scenarios(struct reading *r, struct rig_err *err)
{
    char path[PATH_BYTES + 32];
    (void)snprintf(path, sizeof path, "%s/scenarios.json", r->folder);
    /* Scenarios are played in order, so those with a result are the first ones. */
    const bool played = r->ending->end == RIG_MATRIX_ENDED &&
                        (r->ending->status == 0 || r->ending->status == 1 || r->ending->status == 3);
    json_t *whole = played ? read_json(path) : NULL;
    const json_t *results = json_object_get(whole, "results");
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < r->job->database->scenarios.count && rc == RIG_OK; i++) {
        struct rig_matrix_cell cell = empty_cell(r, keep_stem(r, r->job->database->scenarios.at[i]));
        const json_t *result = json_array_get(results, i);
        if (cell.scenario == NULL)
            rc = rig_no_memory(err, "the cells of the matrix");
        else if (json_is_object(result))
            read_result(r, result, &cell);
        if (rc == RIG_OK)
            rc = add_cell(r, &cell, err);
    }
    json_decref(whole);
    return rc;
}

enum rig_rc rig_matrix_read_cells(const char *folder, const struct rig_matrix_job *job,
                                  const struct rig_matrix_ending *ending, struct rig_arena *arena,
                                  struct rig_matrix_cells *cells, struct rig_err *err)
{
    struct reading r = {.job = job, .ending = ending, .arena = arena, .cells = cells};
    if (!path_of(folder, job, "", r.folder))
        return rig_fail(err, RIG_E_IO, "%s: the path is too long", folder);
    r.output = first_complaint(&r);
    if (r.output == NULL)
        return rig_no_memory(err, "the cells of the matrix");
    return job->database->scenarios.count > 0 ? read_scenarios(&r, err) : read_load(&r, err);
}

/* ---- endings ---- */

bool rig_matrix_read_ending(const char *folder, const struct rig_matrix_job *job, const char *key,
                            struct rig_matrix_ending *ending)
{
    char path[PATH_BYTES];
    json_t *json = path_of(folder, job, "job.json", path) ? read_json(path) : NULL;
    const bool same =
        json_is_integer(json_object_get(json, "status")) && (key == NULL || strcmp(text_at(json, "key"), key) == 0);
    if (same) {
        const bool overran = json_is_true(json_object_get(json, "overran"));
        *ending = (struct rig_matrix_ending){.end = overran ? RIG_MATRIX_OVERRAN : RIG_MATRIX_ENDED,
                                             .status = (int)json_integer_value(json_object_get(json, "status")),
                                             .seconds = json_number_value(json_object_get(json, "seconds"))};
    }
    json_decref(json);
    return same;
}

enum rig_rc rig_matrix_write_ending(const char *folder, const struct rig_matrix_job *job, const char *key,
                                    const struct rig_matrix_ending *ending, struct rig_err *err)
{
    char path[PATH_BYTES];
    struct rig_buf text;
    struct rig_json_writer json;
    if (!path_of(folder, job, "job.json", path))
        return rig_fail(err, RIG_E_IO, "%s: the path is too long", folder);
    rig_buf_init(&text, 0);
    rig_json_init_indented(&json, &text, 2, 1);
    rig_json_object(&json, NULL, "key: %s, overran: %b, status: %d, seconds: %f", key,
                    ending->end == RIG_MATRIX_OVERRAN, ending->status, ending->seconds);
    rig_buf_add_char(&text, '\n');
    const enum rig_rc rc = rig_output_save(&text, path, err);
    rig_buf_done(&text);
    return rc;
}
