#include "jobs/store/stored_run.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/folder.h"
#include "base/printable.h"
#include "base/run_files.h"
#include "checker/model/level.h"
#include "jobs/store/store_folder.h"

enum { RESULT_BYTES_MOST = 256 << 20, SLOTS_MOST = 1 << 16 };

const char *const rig_stored_state_words[RIG_STORED_STATE_COUNT + 1] = {
#define STATE_WORD(id, word, meaning) word,
    RIG_STORED_STATE_TABLE(STATE_WORD)
#undef STATE_WORD
};

struct reading {
    struct rig_stored_run *run;
    struct rig_arena *arena;
    json_t *matrix; /* matrix.json, where it is kept */
    bool out_of_memory;
};

static const char *keep(struct reading *reading, const char *text)
{
    if (text == NULL)
        return "";
    char *kept = rig_arena_text(reading->arena, text, strlen(text));
    if (kept == NULL) {
        reading->out_of_memory = true;
        return "";
    }
    rig_printable_line(kept);
    return kept;
}

static void say(struct reading *reading, enum rig_stored_state state, const char *why)
{
    reading->run->state = state;
    reading->run->why = keep(reading, why);
}

/* ---- results.json ---- */

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static uint64_t count_of(const json_t *object, const char *key)
{
    const json_int_t number = json_integer_value(json_object_get(object, key));
    return number < 0 ? 0 : (uint64_t)number;
}

static double number_of(const json_t *object, const char *key)
{
    const double number = json_number_value(json_object_get(object, key));
    return number >= 0 ? number : 0;
}

static const char *join(struct reading *reading, const json_t *names)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (name != NULL)
            rig_buf_printf(&text, "%s%s", text.size == 0 ? "" : ", ", name);
    }
    const char *joined = keep(reading, rig_buf_text(&text));
    rig_buf_done(&text);
    return joined;
}

/* The anomalies that what was requested forbids. */
static rig_anomaly_set forbidden(const json_t *requested)
{
    uint64_t levels = 0;
    rig_anomaly_set anomalies = 0, forbids = 0;
    for (size_t i = 0; i < json_array_size(requested); i++) {
        const char *name = json_string_value(json_array_get(requested, i)), *proper;
        enum rig_level level;
        rig_anomaly_set found;
        if (name != NULL && rig_level_find(name, &level))
            levels |= RIG_LEVEL_BIT(level);
        else if (name != NULL && rig_anomaly_find_all(name, &found, &proper))
            anomalies |= found;
    }
    for (unsigned one = 0; one < RIG_ANOMALY_COUNT; one++) {
        const enum rig_anomaly anomaly = (enum rig_anomaly)one;
        if ((anomalies & RIG_ANOMALY_BIT(anomaly)) != 0)
            forbids |= RIG_ANOMALY_BIT(anomaly) | rig_anomaly_cases(anomaly);
        if ((rig_levels_refuted_by(RIG_LATTICE_EXACT, anomaly, true) & levels) != 0)
            forbids |= RIG_ANOMALY_BIT(anomaly);
    }
    return forbids;
}

static uint32_t fewest_transactions(const json_t *witnesses)
{
    size_t fewest = 0;
    for (size_t i = 0; i < json_array_size(witnesses); i++) {
        const size_t count = json_array_size(json_object_get(json_array_get(witnesses, i), "transactions"));
        fewest = count > 0 && (fewest == 0 || count < fewest) ? count : fewest;
    }
    return (uint32_t)fewest;
}

static uint64_t refuted_levels(json_t *levels)
{
    uint64_t refuted = 0;
    const char *name;
    const json_t *fate;
    json_object_foreach(levels, name, fate)
    {
        enum rig_level level;
        if (json_string_value(fate) != NULL && strcmp(json_string_value(fate), "refuted") == 0 &&
            rig_level_find(name, &level))
            refuted |= RIG_LEVEL_BIT(level);
    }
    return refuted;
}

static void take_anomalies(const json_t *root, struct rig_stored_run *run)
{
    const rig_anomaly_set forbids = forbidden(json_object_get(root, "requested"));
    run->forbidden = forbids;
    const json_t *anomalies = json_object_get(root, "anomalies");
    run->is_counted = true;
    for (unsigned one = 0; one < RIG_ANOMALY_COUNT; one++) {
        const json_t *found = json_object_get(anomalies, rig_anomaly_info((enum rig_anomaly)one)->name);
        run->found[one] = count_of(found, "count");
        run->fewest[one] = fewest_transactions(json_object_get(found, "witnesses"));
        if ((forbids & RIG_ANOMALY_BIT(one)) == 0)
            continue;
        run->anomalies += run->found[one];
        if (run->found[one] > 0 && !json_is_true(json_object_get(found, "exact")))
            run->is_counted = false;
    }
}

static void take_latencies(struct reading *reading, const json_t *rows)
{
    struct rig_stored_run *run = reading->run;
    for (size_t i = 0; i < json_array_size(rows) && run->latency_count < RIG_STORED_LATENCIES_MOST; i++) {
        const json_t *row = json_array_get(rows, i);
        run->latencies[run->latency_count++] =
            (struct rig_stored_latency){.name = keep(reading, text_of(row, "name")),
                                        .count = count_of(row, "count"),
                                        .p50_ns = (int64_t)count_of(row, "p50_ns"),
                                        .p99_ns = (int64_t)count_of(row, "p99_ns"),
                                        .p999_ns = (int64_t)count_of(row, "p999_ns")};
    }
}

/* Without the last one, which is seldom a whole one. */
static void take_slots(struct reading *reading, const json_t *course)
{
    struct rig_stored_run *run = reading->run;
    const json_t *slots = json_object_get(course, "slots");
    const size_t count = json_array_size(slots);
    run->slot_ns = (int64_t)count_of(course, "slot_ns");
    if (run->slot_ns == 0 || count < 2 || count > SLOTS_MOST)
        return;
    run->slots = rig_arena_array(reading->arena, count, sizeof *run->slots);
    if (run->slots == NULL) {
        reading->out_of_memory = true;
        return;
    }
    for (run->slot_count = 0; run->slot_count + 1 < count; run->slot_count++) {
        const json_t *slot = json_array_get(slots, run->slot_count);
        run->slots[run->slot_count] =
            (struct rig_stored_slot){.ok = count_of(slot, "ok_read_only") + count_of(slot, "ok_writing"),
                                     .p50_ns = (int64_t)count_of(slot, "p50_ns"),
                                     .p99_ns = (int64_t)count_of(slot, "p99_ns")};
    }
}

static void take_verdict(struct reading *reading, const json_t *root)
{
    const json_t *valid = json_object_get(root, "valid");
    const char *failed = text_of(json_object_get(root, "run"), "failed");
    if (json_is_false(valid))
        say(reading, RIG_STORED_REFUTED, NULL);
    else if (failed != NULL)
        say(reading, RIG_STORED_FAILED, failed);
    else if (json_is_true(valid))
        say(reading, RIG_STORED_OK, NULL);
    else if (json_is_string(valid))
        say(reading, RIG_STORED_UNDECIDED, text_of(root, "unknown_reason"));
    else
        say(reading, RIG_STORED_DAMAGED, "results.json has no verdict");
}

static void take_results(struct reading *reading, const json_t *root)
{
    struct rig_stored_run *run = reading->run;
    const json_t *facts = json_object_get(root, "run");
    take_verdict(reading, root);
    if (run->state == RIG_STORED_DAMAGED)
        return;
    run->driver = keep(reading, text_of(facts, "driver"));
    run->server = keep(reading, text_of(facts, "server"));
    run->isolation = keep(reading, text_of(facts, "isolation"));
    run->seed = keep(reading, text_of(facts, "seed"));
    run->version = keep(reading, text_of(json_object_get(root, "rig"), "commit"));
    run->requested = join(reading, json_object_get(root, "requested"));
    run->refuted = refuted_levels(json_object_get(root, "levels"));
    run->broken = join(reading, json_object_get(root, "not"));
    run->type = keep(reading, text_of(root, "workload"));
    run->happened = keep(reading, text_of(json_object_get(root, "happened"), "text"));
    run->acknowledged = count_of(json_object_get(root, "evidence"), "acknowledged");
    run->unknown = count_of(json_object_get(root, "history"), "info");
    run->load_s = number_of(facts, "load_s");
    run->took_s = number_of(facts, "took_s");
    take_anomalies(root, run);
    take_latencies(reading, json_object_get(facts, "latencies"));
    take_slots(reading, json_object_get(root, "course"));
}

static void take_reproduction(struct reading *reading, const json_t *root)
{
    reading->run->is_reproduction = true;
    reading->run->requested = keep(reading, text_of(root, "anomaly"));
    if (json_is_true(json_object_get(root, "reproduced")))
        say(reading, RIG_STORED_REFUTED, "the anomaly came back");
    else
        say(reading, RIG_STORED_UNDECIDED, "the anomaly did not come back");
}

/* ---- a matrix ---- */

static void take_matrix(struct reading *reading, const json_t *root)
{
    static const enum rig_stored_state states[] = {RIG_STORED_OK, RIG_STORED_REFUTED, RIG_STORED_UNDECIDED,
                                                   RIG_STORED_FAILED};
    const json_t *status = json_object_get(root, "status");
    const json_int_t number = json_integer_value(status);
    reading->run->is_matrix = true;
    if (json_is_integer(status) && number >= 0 && (size_t)number < sizeof states / sizeof states[0])
        say(reading, states[number], text_of(root, "ending"));
    else
        say(reading, RIG_STORED_DAMAGED, RIG_RUN_MATRIX " has no status");
}

static void keep_matrix(struct reading *reading, const json_t *root)
{
    reading->matrix = json_deep_copy(root);
}

/* "nightly/15 serializable, kill": without the number of the run, so that the runs of a cell have one name. */
static const char *name_of_cell(struct reading *reading, const char *matrix, const json_t *cell)
{
    static const char *const parts[] = {"database", "server", "level", "fault", "scenario"};
    const char *plan = text_of(cell, "plan"), *slash = plan == NULL ? NULL : strrchr(plan, '/');
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "%s/", matrix);
    const size_t begin = text.size;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *part = text_of(cell, parts[i]);
        if (part != NULL && part[0] != '\0')
            rig_buf_printf(&text, "%s%s", text.size == begin ? "" : " ", part);
    }
    if (plan != NULL && text_of(cell, "scenario") == NULL)
        rig_buf_printf(&text, "%s%s", text.size == begin ? "" : " ", slash == NULL ? plan : slash + 1);
    const char *name = keep(reading, rig_buf_text(&text));
    rig_buf_done(&text);
    return name;
}

/* The state of a scenario, and of a load that failed, such as at its limit, whether it has a result or not. */
static void take_cell(struct reading *reading, const json_t *cell)
{
    static const struct {
        const char *word;
        enum rig_stored_state state;
    } states[] = {{"holds", RIG_STORED_OK},
                  {"anomalies", RIG_STORED_REFUTED},
                  {"undecided", RIG_STORED_UNDECIDED},
                  {"failed", RIG_STORED_FAILED}};
    const char *word = text_of(cell, "state");
    reading->run->server = keep(reading, text_of(cell, "version"));
    say(reading, RIG_STORED_DAMAGED, RIG_RUN_MATRIX " has a cell without a state");
    for (size_t i = 0; word != NULL && i < sizeof states / sizeof states[0]; i++) {
        if (strcmp(word, states[i].word) == 0)
            say(reading, states[i].state, i == 0 ? NULL : text_of(cell, "detail"));
    }
}

/* ---- the folder ---- */

static bool has(int folder, const char *name)
{
    struct stat status;
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/* False where there is no such file. */
static bool take_file(struct reading *reading, int folder, const char *name,
                      void (*take)(struct reading *, const json_t *))
{
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
        return false;
    struct rig_buf text;
    struct rig_err err = {0};
    json_error_t error = {.line = 0};
    rig_buf_init(&text, RESULT_BYTES_MOST);
    const int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        (void)rig_fail(&err, RIG_E_IO, "%s: is no readable file", name);
    else if (status.st_size > RESULT_BYTES_MOST)
        (void)rig_fail(&err, RIG_E_IO, "%s: is longer than %d MiB", name, RESULT_BYTES_MOST >> 20);
    else
        (void)rig_buf_read_up_to(&text, fd, (size_t)status.st_size, name, &err);
    json_t *root = err.rc == RIG_OK ? json_loadb(rig_buf_text(&text), text.size, 0, &error) : NULL;
    if (err.rc == RIG_OK && root == NULL)
        (void)rig_fail(&err, RIG_E_INPUT, "%s:%d:%d: %s", name, error.line, error.column, error.text);
    else if (err.rc == RIG_OK && !json_is_object(root))
        (void)rig_fail(&err, RIG_E_INPUT, "%s: is no result", name);
    if (err.rc == RIG_OK)
        take(reading, root);
    else
        say(reading, RIG_STORED_DAMAGED, err.text);
    json_decref(root);
    if (fd >= 0)
        (void)close(fd);
    rig_buf_done(&text);
    return true;
}

static void look_at(struct reading *reading, int folder)
{
    const enum rig_run_mark mark = rig_run_mark_look(folder);
    reading->run->has_mark = mark == RIG_RUN_MARK_IDLE || mark == RIG_RUN_MARK_HELD;
    reading->run->is_protected = has(folder, "KEEP");
    reading->run->bytes = rig_folder_bytes_of(folder);
    if (mark == RIG_RUN_MARK_HELD) {
        say(reading, RIG_STORED_RUNNING, NULL);
        return;
    }
    if (take_file(reading, folder, RIG_RUN_MATRIX, take_matrix) ||
        take_file(reading, folder, RIG_RUN_RESULTS, take_results) ||
        take_file(reading, folder, RIG_RUN_REPRODUCTION, take_reproduction))
        return;
    if (mark == RIG_RUN_MARK_IDLE || has(folder, RIG_RUN_RECORD))
        say(reading, RIG_STORED_UNFINISHED, "there is no results.json; `rig check` reads its record, if it has one");
    else
        say(reading, RIG_STORED_FOREIGN, "it has neither a mark of rig nor a record");
}

static bool is_removal(const char *time)
{
    static const char prefix[] = RIG_STORE_REMOVING_PREFIX;
    return strncmp(time, prefix, sizeof prefix - 1) == 0 && rig_stored_run_is_time(time + sizeof prefix - 1);
}

/* NULL out of memory. The names of folders may have any bytes. */
static const char *path_of(struct rig_arena *arena, const char *a, const char *between, const char *b)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "%s%s%s", a, a[0] == '\0' ? "" : between, b);
    const char *path = rig_arena_text(arena, rig_buf_text(&text), text.size);
    rig_buf_done(&text);
    return path;
}

enum rig_rc rig_stored_run_read(int parent, const char *name, const char *time, struct rig_arena *arena,
                                struct rig_stored_run *run, struct rig_err *err)
{
    struct reading reading = {.run = run, .arena = arena};
    struct stat status;
    *run = (struct rig_stored_run){.name = rig_arena_text(arena, name, strlen(name)),
                                   .time = rig_arena_text(arena, time, strlen(time)),
                                   .folder = "",
                                   .why = "",
                                   .driver = "",
                                   .server = "",
                                   .isolation = "",
                                   .seed = "",
                                   .version = "",
                                   .requested = "",
                                   .broken = "",
                                   .type = "",
                                   .happened = ""};
    run->folder = path_of(arena, name, "/", time);
    if (run->name == NULL || run->time == NULL || run->folder == NULL)
        return rig_no_memory(err, "the list of runs");
    const int folder = openat(parent, time, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int error = errno;
    if (folder >= 0) {
        look_at(&reading, folder);
        if (is_removal(time) && run->has_mark)
            say(&reading, RIG_STORED_REMOVING, NULL);
        (void)close(folder);
    } else if (fstatat(parent, time, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode)) {
        say(&reading, RIG_STORED_FOREIGN, "it is a link");
    } else if (error == ENOTDIR) {
        say(&reading, RIG_STORED_FOREIGN, "it is no folder");
    } else {
        say(&reading, RIG_STORED_DAMAGED, strerror(error));
    }
    return reading.out_of_memory ? rig_no_memory(err, "the list of runs") : RIG_OK;
}

/* One cell; `folder` is that of the matrix. */
static enum rig_rc read_cell(int folder, const struct rig_stored_run *matrix, const json_t *cell,
                             struct rig_arena *arena, struct rig_stored_run *run, struct rig_err *err)
{
    const char *id = text_of(cell, "folder");
    char path[512];
    struct reading reading = {.run = run, .arena = arena};
    if (id == NULL || strchr(id, '/') != NULL || id[0] == '.')
        id = "-"; /* there is no such folder */
    (void)snprintf(path, sizeof path, RIG_RUN_MATRIX_CELLS "/%.400s", id);
    const int parent = openat(folder, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const enum rig_rc rc = rig_stored_run_read(parent, "", RIG_RUN_CELL_RUN, arena, run, err);
    if (parent >= 0)
        (void)close(parent);
    if (rc != RIG_OK)
        return rc;
    const char *state = text_of(cell, "state");
    if (text_of(cell, "scenario") != NULL || run->state > RIG_STORED_FAILED || strcmp(state, "failed") == 0)
        take_cell(&reading, cell);
    run->name = name_of_cell(&reading, matrix->name, cell);
    run->time = matrix->time;
    run->is_cell = true;
    run->folder = path_of(arena, matrix->folder, "/", path);
    if (run->folder != NULL && text_of(cell, "scenario") == NULL)
        run->folder = path_of(arena, run->folder, "/", RIG_RUN_CELL_RUN);
    return reading.out_of_memory || run->folder == NULL ? rig_no_memory(err, "the list of runs") : RIG_OK;
}

enum rig_rc rig_stored_run_cells(int parent, const struct rig_stored_run *matrix, struct rig_arena *arena,
                                 rig_stored_run_add *add, void *context, struct rig_err *err)
{
    struct rig_stored_run run;
    struct reading reading = {.run = &run, .arena = arena};
    const int folder = openat(parent, matrix->time, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    enum rig_rc rc = RIG_OK;
    if (folder < 0)
        return RIG_OK; /* it went meanwhile */
    (void)take_file(&reading, folder, RIG_RUN_MATRIX, keep_matrix);
    const json_t *cells = json_object_get(reading.matrix, "cells");
    for (size_t i = 0; i < json_array_size(cells) && rc == RIG_OK; i++) {
        const json_t *cell = json_array_get(cells, i);
        const char *state = text_of(cell, "state");
        if (state == NULL || strcmp(state, "not-run") == 0)
            continue;
        rc = read_cell(folder, matrix, cell, arena, &run, err);
        if (rc == RIG_OK)
            rc = add(context, &run, err);
    }
    json_decref(reading.matrix);
    (void)close(folder);
    return rc;
}

bool rig_stored_run_is_time(const char *text)
{
    static const char form[] = "00000000T000000.000Z";
    if (strlen(text) != sizeof form - 1)
        return false;
    for (size_t i = 0; i < sizeof form - 1; i++) {
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    }
    return true;
}

bool rig_stored_run_is_judged(const struct rig_stored_run *run)
{
    return (run->state == RIG_STORED_OK || run->state == RIG_STORED_REFUTED || run->state == RIG_STORED_UNDECIDED) &&
           !run->is_reproduction && !run->is_matrix;
}

double rig_stored_run_rate(const struct rig_stored_run *run)
{
    return run->load_s > 0 ? (double)run->acknowledged / run->load_s : 0;
}

const struct rig_stored_latency *rig_stored_run_latency(const struct rig_stored_run *run)
{
    const struct rig_stored_latency *most = NULL;
    for (uint32_t i = 0; i < run->latency_count; i++) {
        if (most == NULL || run->latencies[i].count > most->count)
            most = &run->latencies[i];
    }
    return most;
}
