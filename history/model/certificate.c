#include "history/model/certificate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/printable.h"

void rig_certificate_init(struct rig_certificate *certificate)
{
    *certificate = (struct rig_certificate){.complete = false};
}

void rig_certificate_done(struct rig_certificate *certificate)
{
    rig_commit_vec_done(&certificate->commits);
    rig_change_vec_done(&certificate->changes);
    rig_certificate_elements_done(&certificate->elements);
    rig_txn_views_done(&certificate->views);
    rig_fork_vec_done(&certificate->forks);
    if (certificate->lost != NULL)
        rig_certificate_done(certificate->lost);
    free(certificate->lost);
    rig_certificate_init(certificate);
}

uint32_t rig_commit_change_count(const struct rig_certificate *certificate, uint32_t commit)
{
    RIG_REQUIRE(commit < certificate->commits.count);
    const size_t end = commit + (size_t)1 < certificate->commits.count
                           ? certificate->commits.at[commit + 1].first_change
                           : certificate->changes.count;
    return (uint32_t)end - certificate->commits.at[commit].first_change;
}

bool rig_certificate_add_fork(struct rig_certificate *certificate, uint32_t timeline, uint64_t place, uint32_t next)
{
    const struct rig_fork_vec *forks = &certificate->forks;
    const struct rig_fork *last = forks->count == 0 ? NULL : &forks->at[forks->count - 1];
    if (next <= timeline || (last != NULL && (timeline < last->next || place < last->place)))
        return false;
    return rig_fork_vec_add(&certificate->forks, (struct rig_fork){.timeline = timeline, .next = next, .place = place});
}

const struct rig_fork *rig_certificate_fork_of(const struct rig_certificate *certificate,
                                               const struct rig_commit *commit)
{
    for (size_t i = 0; i < certificate->forks.count; i++) {
        const struct rig_fork *fork = &certificate->forks.at[i];
        if (fork->timeline == commit->timeline)
            return commit->place >= fork->place ? fork : NULL;
    }
    return NULL;
}

struct rig_certificate *rig_certificate_make_lost(struct rig_certificate *certificate)
{
    if (certificate->lost == NULL && (certificate->lost = calloc(1, sizeof *certificate->lost)) != NULL)
        certificate->lost->by_timeline = true;
    return certificate->lost;
}

bool rig_certificate_ascends(const struct rig_certificate *certificate, uint64_t place, uint32_t timeline)
{
    if (certificate->commits.count == 0)
        return true;
    const struct rig_commit *last = &certificate->commits.at[certificate->commits.count - 1];
    if (certificate->by_timeline && timeline != last->timeline)
        return timeline > last->timeline;
    return place > last->place;
}

/* ---- building ---- */

void rig_certificate_builder_init(struct rig_certificate_builder *builder, struct rig_certificate *certificate)
{
    *builder = (struct rig_certificate_builder){.certificate = certificate};
    rig_table_init(&builder->keys);
}

void rig_certificate_builder_done(struct rig_certificate_builder *builder)
{
    for (size_t i = 0; i < builder->current.count; i++)
        rig_certificate_elements_done(&builder->current.at[i]);
    free(builder->current.at);
    rig_table_done(&builder->keys);
    *builder = (struct rig_certificate_builder){0};
}

bool rig_certificate_add_commit(struct rig_certificate_builder *builder, uint64_t place, uint64_t id, uint32_t timeline)
{
    struct rig_certificate *into = builder->certificate;
    if (into->commits.count >= UINT32_MAX || into->changes.count >= UINT32_MAX ||
        !rig_certificate_ascends(into, place, timeline))
        return false;
    return rig_commit_vec_add(&into->commits, (struct rig_commit){.place = place,
                                                                  .id = id,
                                                                  .timeline = timeline,
                                                                  .first_change = (uint32_t)into->changes.count});
}

/* The current version of the key; NULL when memory runs out. */
static struct rig_certificate_elements *find_current(struct rig_certificate_builder *builder, int64_t key)
{
    struct rig_current_versions *current = &builder->current;
    if (current->count == current->capacity) {
        const size_t capacity = current->capacity == 0 ? 64 : current->capacity * 2;
        struct rig_certificate_elements *at = realloc(current->at, capacity * sizeof *at);
        if (at == NULL)
            return NULL;
        current->at = at;
        current->capacity = capacity;
    }
    uint32_t *place = rig_table_put(&builder->keys, (uint64_t)key);
    if (place == NULL)
        return NULL;
    if (*place == RIG_TABLE_NONE) {
        *place = (uint32_t)current->count;
        current->at[current->count++] = (struct rig_certificate_elements){0};
    }
    return &current->at[*place];
}

bool rig_certificate_add_version(struct rig_certificate_builder *builder, int64_t key, const int64_t *elements,
                                 uint32_t count)
{
    struct rig_certificate *into = builder->certificate;
    RIG_REQUIRE(into->commits.count > 0);
    struct rig_certificate_elements *current = find_current(builder, key);
    if (current == NULL || into->elements.count + count > UINT32_MAX || into->changes.count >= UINT32_MAX)
        return false;
    uint32_t kept = 0;
    while (kept < count && kept < current->count && current->at[kept] == elements[kept])
        kept++;
    const struct rig_change change = {.key = key,
                                      .kept = kept,
                                      .first = (uint32_t)into->elements.count,
                                      .count = count - kept,
                                      .removed = elements == NULL};
    if (!rig_change_vec_add(&into->changes, change) ||
        !rig_certificate_elements_reserve(&into->elements, into->elements.count + change.count) ||
        !rig_certificate_elements_reserve(current, count))
        return false;
    for (uint32_t i = kept; i < count; i++) {
        into->elements.at[into->elements.count++] = elements[i];
        current->at[i] = elements[i];
    }
    current->count = count;
    return true;
}

enum { FRACTION_DIGITS = 18, SHOWN_BYTES = 80 };

struct version {
    uint64_t place, fraction; /* the fraction in units of 10^-18 */
    int64_t key;
    const char *value; /* after it a blank, or the end of the line */
    uint32_t line;
};

RIG_VEC(struct version, version_vec)

struct reading {
    const char *at, *end; /* the rest of the text */
    struct version_vec versions;
    uint32_t line;
    bool ended; /* by the line `end` */
};

/* ---- one line ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* Digits; false without one, and beyond 64 bits. */
static bool take_digits(const char **at, const char *end, uint64_t *number)
{
    const char *from = *at;
    *number = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        if (__builtin_mul_overflow(*number, 10U, number) ||
            __builtin_add_overflow(*number, (uint64_t)(**at - '0'), number))
            return false;
    }
    return *at > from;
}

static bool take_number(const char **at, const char *end, int64_t *number)
{
    uint64_t digits;
    const bool negative = *at < end && **at == '-';
    *at += negative;
    if (!take_digits(at, end, &digits) || digits > (uint64_t)INT64_MAX)
        return false;
    *number = negative ? -(int64_t)digits : (int64_t)digits;
    return true;
}

static bool take_place(const char **at, const char *end, struct version *version)
{
    if (!take_digits(at, end, &version->place))
        return false;
    if (*at == end || **at != '.')
        return true;
    const char *from = ++*at;
    if (!take_digits(at, end, &version->fraction) || *at - from > FRACTION_DIGITS)
        return false;
    for (ptrdiff_t i = *at - from; i < FRACTION_DIGITS; i++)
        version->fraction *= 10;
    return true;
}

/* Numbers with commas between them, or `-`. False: something else. `elements` NULL: they are counted only. */
static bool take_value(const char *at, const char *end, int64_t *elements, uint32_t *count)
{
    *count = 0;
    if (end - at == 1 && *at == '-')
        return true;
    for (;;) {
        int64_t element;
        if (!take_number(&at, end, &element))
            return false;
        if (elements != NULL)
            elements[*count] = element;
        ++*count;
        if (at == end)
            return true;
        if (*at++ != ',')
            return false;
    }
}

static const char *end_of_value(const char *value, const char *end)
{
    while (value < end && !is_blank(*value) && *value != '\n')
        value++;
    return value;
}

static bool take_version(const char *at, const char *end, struct version *version)
{
    uint32_t count;
    if (!take_place(&at, end, version) || at == end || !is_blank(*at))
        return false;
    at = skip_blanks(at, end);
    if (!take_number(&at, end, &version->key) || at == end || !is_blank(*at))
        return false;
    version->value = skip_blanks(at, end);
    at = end_of_value(version->value, end);
    return take_value(version->value, at, NULL, &count) && skip_blanks(at, end) == end;
}

/* ---- all lines ---- */

static enum rig_rc refuse(const struct reading *reading, const char *from, const char *end, struct rig_err *err)
{
    char shown[SHOWN_BYTES];
    (void)snprintf(shown, sizeof shown, "%.*s", (int)(end - from), from);
    rig_printable_line(shown);
    return rig_fail(err, RIG_E_INPUT,
                    "database.versions-source: line %" PRIu32
                    " is `%s`; expected a place, a key and a value (5 or 5,6 or -), or the last line `end`",
                    reading->line, shown);
}

static enum rig_rc take_line(struct reading *reading, const char *from, const char *end, struct rig_err *err)
{
    struct version version = {.line = ++reading->line};
    const char *at = skip_blanks(from, end);
    if (at == end || *at == '#')
        return RIG_OK;
    if (reading->ended)
        return refuse(reading, from, end, err);
    const char *word = end_of_value(at, end);
    if (word - at == 3 && memcmp(at, "end", 3) == 0 && skip_blanks(word, end) == end) {
        reading->ended = true;
        return RIG_OK;
    }
    if (!take_version(at, end, &version))
        return refuse(reading, from, end, err);
    return version_vec_add(&reading->versions, version) ? RIG_OK : rig_no_memory(err, "the certificate");
}

static enum rig_rc take_lines(struct reading *reading, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    while (reading->at < reading->end && rc == RIG_OK) {
        const char *from = reading->at;
        const char *line = memchr(from, '\n', (size_t)(reading->end - from));
        reading->at = line == NULL ? reading->end : line + 1;
        rc = take_line(reading, from, line == NULL ? reading->end : line, err);
    }
    if (rc == RIG_OK && !reading->ended)
        rc = rig_fail(err, RIG_E_INPUT,
                      "database.versions-source: its last line is not `end`, so versions may be missing");
    return rc;
}

/* ---- commits ---- */

static int compare_places(const struct version *a, const struct version *b)
{
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return a->fraction < b->fraction ? -1 : a->fraction > b->fraction;
}

/* By place, key and line: the versions of a key at a place follow each other. */
static int compare_versions(const void *left, const void *right)
{
    const struct version *a = left, *b = right;
    const int places = compare_places(a, b);
    if (places != 0)
        return places;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static bool add_version(struct rig_certificate_builder *builder, const struct version *version, const char *end)
{
    uint32_t count;
    const char *value_end = end_of_value(version->value, end);
    (void)take_value(version->value, value_end, NULL, &count);
    if (count == 0)
        return rig_certificate_add_version(builder, version->key, NULL, 0);
    int64_t *elements = malloc(count * sizeof *elements);
    if (elements == NULL)
        return false;
    (void)take_value(version->value, value_end, elements, &count);
    const bool added = rig_certificate_add_version(builder, version->key, elements, count);
    free(elements);
    return added;
}

static bool add_commits(const struct version_vec *versions, const char *end, struct rig_certificate *certificate)
{
    struct rig_certificate_builder builder;
    uint64_t commits = 0;
    bool good = true;
    rig_certificate_builder_init(&builder, certificate);
    for (size_t i = 0; i < versions->count && good; i++) {
        const struct version *at = &versions->at[i], *next = i + 1 < versions->count ? at + 1 : NULL;
        if (i == 0 || compare_places(&at[-1], at) != 0)
            good = rig_certificate_add_commit(&builder, ++commits, 0, 0);
        if (good && (next == NULL || compare_places(at, next) != 0 || next->key != at->key))
            good = add_version(&builder, at, end);
    }
    rig_certificate_builder_done(&builder);
    return good;
}

enum rig_rc rig_certificate_of_lines(const char *text, size_t size, struct rig_certificate *certificate,
                                     struct rig_err *err)
{
    struct reading reading = {.at = text, .end = text + size};
    enum rig_rc rc = take_lines(&reading, err);
    if (rc == RIG_OK && reading.versions.count > 0)
        qsort(reading.versions.at, reading.versions.count, sizeof *reading.versions.at, compare_versions);
    if (rc == RIG_OK && !add_commits(&reading.versions, reading.end, certificate))
        rc = rig_no_memory(err, "the certificate");
    certificate->complete = rc == RIG_OK;
    certificate->last_only = true;
    version_vec_done(&reading.versions);
    return rc;
}

void rig_certificate_taking_init(struct rig_certificate_taking *taking, struct rig_certificate *certificate)
{
    *taking = (struct rig_certificate_taking){.certificate = certificate};
    rig_certificate_builder_init(&taking->stream, certificate);
    rig_certificate_builder_init(&taking->lost, NULL);
}

void rig_certificate_taking_done(struct rig_certificate_taking *taking)
{
    rig_certificate_builder_done(&taking->stream);
    rig_certificate_builder_done(&taking->lost);
}

bool rig_certificate_take_commit(void *context, uint64_t place, uint64_t id, uint32_t timeline)
{
    struct rig_certificate_taking *taking = context;
    taking->at = &taking->stream;
    return rig_certificate_add_commit(taking->at, place, id, timeline);
}

bool rig_certificate_take_version(void *context, int64_t key, const int64_t *elements, uint32_t count)
{
    return rig_certificate_add_version(((struct rig_certificate_taking *)context)->at, key, elements, count);
}

bool rig_certificate_take_fork(void *context, uint32_t timeline, uint64_t place, uint32_t next)
{
    return rig_certificate_add_fork(((struct rig_certificate_taking *)context)->certificate, timeline, place, next);
}

bool rig_certificate_take_lost(void *context, uint64_t place, uint64_t id, uint32_t timeline)
{
    struct rig_certificate_taking *taking = context;
    taking->at = &taking->lost;
    taking->lost.certificate = rig_certificate_make_lost(taking->certificate);
    return taking->lost.certificate != NULL && rig_certificate_add_commit(taking->at, place, id, timeline);
}

bool rig_certificate_take_view(void *context, uint64_t number, uint64_t id, bool single, bool standby)
{
    const struct rig_txn_view view = {.number = number, .id = id, .single = single, .standby = standby};
    return rig_txn_views_add(&((struct rig_certificate_taking *)context)->certificate->views, &view);
}

bool rig_certificate_take_snapshot(void *context, uint64_t xmin, uint64_t xmax, const uint64_t *active, uint32_t count)
{
    struct rig_certificate *certificate = ((struct rig_certificate_taking *)context)->certificate;
    return rig_txn_views_add_snapshot(&certificate->views, xmin, xmax, active, count);
}

bool rig_certificate_take_row(void *context, uint32_t op, uint64_t version, bool with_snapshot)
{
    struct rig_certificate *certificate = ((struct rig_certificate_taking *)context)->certificate;
    return rig_txn_views_add_row(&certificate->views, op, version, with_snapshot);
}

void rig_certificate_take_end(void *context, bool complete, const char *why)
{
    struct rig_certificate *certificate = ((struct rig_certificate_taking *)context)->certificate;
    certificate->complete = complete;
    (void)snprintf(certificate->ending, sizeof certificate->ending, "%.*s", (int)sizeof certificate->ending - 1,
                   complete ? "" : why);
}
