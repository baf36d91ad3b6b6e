#include "jobs/hunt/hunt_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/json_members.h"
#include "base/output_file.h"
#include "checker/model/anomaly.h"
#include "checker/model/level.h"

enum { FILE_BYTES_MOST = 1 << 30 };

/* ---- writing ---- */

void rig_hunt_point_json(const struct rig_hunt_space *space, const struct rig_hunt_point *point,
                         struct rig_json_writer *json, const char *name)
{
    rig_json_begin_object(json, name);
    for (uint32_t d = 0; d < space->dimension_count; d++) {
        if (point->values[d] >= 0)
            rig_json_string(json, space->dimensions[d].key, space->dimensions[d].values.at[point->values[d]]);
    }
    rig_json_end(json);
}

static enum rig_rc append(struct rig_hunt_memory *memory, struct rig_buf *line, struct rig_err *err)
{
    rig_buf_add_char(line, '\n');
    const char *text = rig_buf_text(line);
    size_t left = line->failed ? 0 : line->size;
    if (left == 0)
        return rig_no_memory(err, "the memory of the hunt");
    while (left > 0) {
        const ssize_t written = write(memory->file, text, left);
        if (written < 0 && errno != EINTR)
            return rig_fail(err, RIG_E_IO, "%s: cannot write: %s", memory->path, strerror(errno));
        text += written < 0 ? 0 : written;
        left -= written < 0 ? 0 : (size_t)written;
    }
    return RIG_OK;
}

static void add_names(struct rig_json_writer *json, const struct rig_hunt_outcome *outcome)
{
    rig_json_begin_array(json, "refuted");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((outcome->refuted >> level & 1) != 0)
            rig_json_string(json, NULL, rig_level_info((enum rig_level)level)->name);
    }
    rig_json_end(json);
    rig_json_begin_array(json, "anomalies");
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if ((outcome->found >> anomaly & 1) != 0)
            rig_json_string(json, NULL, rig_anomaly_info((enum rig_anomaly)anomaly)->name);
    }
    rig_json_end(json);
    rig_json_begin_array(json, "codes");
    for (uint32_t i = 0; i < outcome->code_count; i++)
        rig_json_string(json, NULL, outcome->codes[i]);
    rig_json_end(json);
}

enum rig_rc rig_hunt_memory_add_run(struct rig_hunt_memory *memory, const struct rig_hunt_space *space,
                                    const struct rig_hunt_point *point, const struct rig_hunt_outcome *outcome,
                                    const struct rig_hunt_run_facts *facts, struct rig_err *err)
{
    struct rig_buf line;
    struct rig_json_writer json;
    rig_buf_init(&line, 0);
    rig_json_init(&json, &line);
    rig_json_begin_object(&json, NULL);
    rig_json_members(&json, "run: %d, why: %s, base: %s", memory->runs + 1, facts->reason,
                     space->bases[point->base].name);
    rig_hunt_point_json(space, point, &json, "set");
    rig_json_members(
        &json, "seed: %d, status: %d, judged: %b, find: %b, server-ended: %b, kept: %b, acknowledged: %d, took_s: %f",
        facts->seed, facts->status, outcome->is_judged, outcome->is_find, outcome->is_server_end, facts->is_kept,
        outcome->acknowledged, outcome->took_s);
    rig_json_begin_array(&json, "measures");
    for (unsigned i = 0; i < RIG_HUNT_MEASURES; i++)
        rig_json_number(&json, NULL, outcome->measures[i]);
    rig_json_end(&json);
    add_names(&json, outcome);
    rig_json_members(&json, "server: %s, complaint: %s", facts->server, outcome->why);
    rig_json_end(&json);
    const enum rig_rc rc = append(memory, &line, err);
    rig_buf_done(&line);
    memory->runs += rc == RIG_OK;
    return rc;
}

enum rig_rc rig_hunt_memory_add_find(struct rig_hunt_memory *memory, const struct rig_hunt_space *space,
                                     const struct rig_hunt_find *find, struct rig_err *err)
{
    struct rig_buf line;
    struct rig_json_writer json;
    rig_buf_init(&line, 0);
    rig_json_init(&json, &line);
    rig_json_begin_object(&json, NULL);
    rig_json_members(&json, "find: %d, anomaly: %s, level: %s, type: %s, promise: %s, broken: %s, happened: %s",
                     find->number, find->anomaly, find->level, find->type, find->promise, find->broken, find->happened);
    rig_json_members(&json, "server: %s, folder: %s, base: %s, length: %d, of: %d, shown: %d, explained: %b, like: %d",
                     find->server, find->folder, space->bases[find->point.base].name, find->length, find->of,
                     find->shown, find->is_explained, find->like);
    if (find->known[0] != '\0')
        rig_json_string(&json, "known", find->known);
    if (find->against[0] != '\0')
        rig_json_members(&json, "against: %s, against-of: %d, against-shown: %d", find->against, find->against_of,
                         find->against_shown);
    if (find->bisection[0] != '\0')
        rig_json_members(&json, "bisection: %s, bad: %s, good: %s", find->bisection, find->bad, find->good);
    rig_hunt_point_json(space, &find->point, &json, "set");
    rig_json_end(&json);
    const enum rig_rc rc = append(memory, &line, err);
    rig_buf_done(&line);
    return rc;
}

/* ---- reading ---- */

struct reading {
    struct rig_hunt_memory *memory;
    struct rig_hunt_choice *choice;
    struct rig_hunt_finds *finds;
    const char *target;
    uint64_t line;
};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

static uint32_t count_of(const json_t *object, const char *key)
{
    const json_int_t count = json_integer_value(json_object_get(object, key));
    return count < 0 || count > UINT32_MAX ? 0 : (uint32_t)count;
}

/* False where the space has no such point. */
static bool read_point(const struct rig_hunt_space *space, json_t *line, struct rig_hunt_point *point)
{
    const char *base = text_of(line, "base"), *key;
    json_t *value, *set = json_object_get(line, "set");
    uint32_t number = 0;
    while (number < space->base_count && strcmp(space->bases[number].name, base) != 0)
        number++;
    if (number == space->base_count || !json_is_object(set))
        return false;
    rig_hunt_point_clear(space, number, point);
    json_object_foreach(set, key, value)
    {
        const int d = rig_hunt_space_find(space, key, strlen(key));
        const int v = d < 0 || !json_is_string(value)
                          ? -1
                          : rig_hunt_dimension_find(&space->dimensions[d], json_string_value(value));
        if (v < 0)
            return false;
        point->values[d] = (int8_t)v;
    }
    return true;
}

static uint64_t read_levels(const json_t *names)
{
    uint64_t levels = 0;
    for (size_t i = 0; i < json_array_size(names); i++) {
        enum rig_level level;
        const char *name = json_string_value(json_array_get(names, i));
        if (name != NULL && rig_level_find(name, &level))
            levels |= RIG_LEVEL_BIT(level);
    }
    return levels;
}

static rig_anomaly_set read_anomalies(const json_t *names)
{
    rig_anomaly_set all = 0;
    for (size_t i = 0; i < json_array_size(names); i++) {
        rig_anomaly_set anomalies;
        const char *name = json_string_value(json_array_get(names, i)), *proper;
        if (name != NULL && rig_anomaly_find_all(name, &anomalies, &proper))
            all |= anomalies;
    }
    return all;
}

static enum rig_rc read_run(struct reading *r, json_t *line, struct rig_err *err)
{
    struct rig_hunt_point point;
    struct rig_hunt_outcome outcome = {
        .is_judged = json_is_true(json_object_get(line, "judged")),
        .is_find = json_is_true(json_object_get(line, "find")),
        .is_server_end = json_is_true(json_object_get(line, "server-ended")),
        .refuted = read_levels(json_object_get(line, "refuted")),
        .found = read_anomalies(json_object_get(line, "anomalies")),
        .acknowledged = count_of(line, "acknowledged"),
        .took_s = json_number_value(json_object_get(line, "took_s")),
        .why = text_of(line, "complaint"),
    };
    const json_t *codes = json_object_get(line, "codes"), *measures = json_object_get(line, "measures");
    r->memory->runs++;
    if (text_of(line, "server")[0] != '\0')
        (void)snprintf(r->memory->server, sizeof r->memory->server, "%s", text_of(line, "server"));
    if (!read_point(r->choice->space, line, &point))
        return RIG_OK;
    for (size_t i = 0; i < json_array_size(codes) && i < RIG_HUNT_CODES_MOST; i++) {
        const char *code = json_string_value(json_array_get(codes, i));
        if (code != NULL)
            outcome.codes[outcome.code_count++] = code;
    }
    for (size_t i = 0; i < RIG_HUNT_MEASURES; i++)
        outcome.measures[i] = json_number_value(json_array_get(measures, i));
    return rig_hunt_choice_told(r->choice, &point, &outcome) ? RIG_OK : rig_no_memory(err, "the memory of the hunt");
}

static void copy(const json_t *line, const char *key, char *text, size_t size)
{
    (void)snprintf(text, size, "%s", text_of(line, key));
}

static enum rig_rc read_find(const struct reading *r, json_t *line, struct rig_err *err)
{
    struct rig_hunt_find find = {.length = count_of(line, "length"),
                                 .of = count_of(line, "of"),
                                 .shown = count_of(line, "shown"),
                                 .is_explained = json_is_true(json_object_get(line, "explained")),
                                 .like = count_of(line, "like"),
                                 .is_old = true};
    if (!read_point(r->choice->space, line, &find.point))
        return RIG_OK;
    copy(line, "anomaly", find.anomaly, sizeof find.anomaly);
    copy(line, "level", find.level, sizeof find.level);
    copy(line, "type", find.type, sizeof find.type);
    copy(line, "promise", find.promise, sizeof find.promise);
    copy(line, "broken", find.broken, sizeof find.broken);
    copy(line, "happened", find.happened, sizeof find.happened);
    copy(line, "server", find.server, sizeof find.server);
    copy(line, "folder", find.folder, sizeof find.folder);
    copy(line, "known", find.known, sizeof find.known);
    copy(line, "against", find.against, sizeof find.against);
    copy(line, "bisection", find.bisection, sizeof find.bisection);
    copy(line, "bad", find.bad, sizeof find.bad);
    copy(line, "good", find.good, sizeof find.good);
    find.against_of = count_of(line, "against-of");
    find.against_shown = count_of(line, "against-shown");
    struct rig_hunt_find *known = rig_hunt_finds_get(r->finds, find.anomaly, find.level, find.type);
    if (known != NULL) {
        (void)snprintf(known->server, sizeof known->server, "%s", find.server);
        return RIG_OK;
    }
    if (rig_hunt_finds_add(r->finds, &find) == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: more than %d finds; move the folder away to begin anew", r->memory->path,
                        (int)RIG_HUNT_FINDS_MOST);
    return RIG_OK;
}

static enum rig_rc read_header(const struct reading *r, const json_t *line, struct rig_err *err)
{
    const json_t *version = json_object_get(line, "rig-hunt");
    if (!json_is_integer(version))
        return rig_fail(err, RIG_E_USAGE, "%s: not the memory of a hunt; move it away, or give another --store",
                        r->memory->path);
    if (json_integer_value(version) != RIG_HUNT_MEMORY_VERSION)
        return rig_fail(err, RIG_E_USAGE,
                        "%s: version %lld of the memory of a hunt, this rig reads %d; use that rig, or move the file "
                        "away",
                        r->memory->path, (long long)json_integer_value(version), (int)RIG_HUNT_MEMORY_VERSION);
    if (strcmp(text_of(line, "target"), r->target) != 0)
        return rig_fail(err, RIG_E_USAGE, "%s: the memory of a hunt on %s, not on %s; give another --store",
                        r->memory->path, text_of(line, "target"), r->target);
    return RIG_OK;
}

static enum rig_rc read_line(struct reading *r, const char *text, size_t length, bool is_last, struct rig_err *err)
{
    json_t *line = json_loadb(text, length, 0, NULL);
    enum rig_rc rc = RIG_OK;
    r->line++;
    if (r->line == 1)
        rc = read_header(r, line, err);
    else if (!json_is_object(line))
        rc = is_last
                 ? RIG_OK
                 : rig_fail(err, RIG_E_USAGE, "%s:%" PRIu64 ": not a line of JSON; remove it, or move the file away",
                            r->memory->path, r->line);
    else if (json_object_get(line, "find") != NULL && json_object_get(line, "run") == NULL)
        rc = read_find(r, line, err);
    else
        rc = read_run(r, line, err);
    json_decref(line);
    return rc;
}

static enum rig_rc read_all(struct reading *r, const struct rig_buf *text, struct rig_err *err)
{
    const char *at = rig_buf_text(text), *end = at + text->size;
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((line_end == NULL ? end : line_end) - at);
        rc = read_line(r, at, length, line_end == NULL, err);
        at += length + (line_end != NULL);
    }
    return rc;
}

static enum rig_rc begin(struct rig_hunt_memory *memory, const char *target, struct rig_err *err)
{
    struct rig_buf line;
    struct rig_json_writer json;
    rig_buf_init(&line, 0);
    rig_json_init(&json, &line);
    rig_json_object(&json, NULL, "rig-hunt: %d, target: %s", RIG_HUNT_MEMORY_VERSION, target);
    const enum rig_rc rc = append(memory, &line, err);
    rig_buf_done(&line);
    return rc;
}

/* Ends a last line that was cut off, so that the next one is a line of its own. */
static enum rig_rc end_last_line(struct rig_hunt_memory *memory, const struct rig_buf *text, struct rig_err *err)
{
    if (text->size == 0 || rig_buf_text(text)[text->size - 1] == '\n')
        return RIG_OK;
    const char *last = memrchr(rig_buf_text(text), '\n', text->size);
    const off_t length = last == NULL ? 0 : (off_t)(last + 1 - rig_buf_text(text));
    if (length > 0 && ftruncate(memory->file, length) != 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot shorten: %s", memory->path, strerror(errno));
    return RIG_OK;
}

enum rig_rc rig_hunt_memory_open(const char *path, const char *target, struct rig_hunt_choice *choice,
                                 struct rig_hunt_finds *finds, struct rig_hunt_memory *memory, struct rig_err *err)
{
    struct rig_buf text;
    *memory = (struct rig_hunt_memory){.file = rig_output_append(path)};
    (void)snprintf(memory->path, sizeof memory->path, "%s", path);
    if (memory->file < 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot open: %s", path, strerror(errno));
    if (flock(memory->file, LOCK_EX | LOCK_NB) != 0)
        return rig_fail(err, RIG_E_USAGE, "%s: another hunt holds it; wait for its end, or give another --store", path);
    rig_buf_init(&text, FILE_BYTES_MOST);
    struct reading reading = {.memory = memory, .choice = choice, .finds = finds, .target = target};
    enum rig_rc rc = rig_buf_read_file(&text, path, err);
    if (rc == RIG_OK)
        rc = text.size == 0 ? begin(memory, target, err) : read_all(&reading, &text, err);
    if (rc == RIG_OK)
        rc = end_last_line(memory, &text, err);
    rig_buf_done(&text);
    return rc;
}

void rig_hunt_memory_close(struct rig_hunt_memory *memory)
{
    if (memory->file >= 0)
        (void)close(memory->file);
    memory->file = -1;
}
