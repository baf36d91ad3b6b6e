#include "history/text/certificate_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_write.h"

/* ---- writing ---- */

static void add_numbers(const uint64_t *at, uint32_t count, struct rig_buf *out)
{
    for (uint32_t i = 0; i < count; i++)
        rig_buf_printf(out, "%s%" PRIu64, i == 0 ? "" : ",", at[i]);
}

static void add_commit(const struct rig_certificate *certificate, uint32_t commit, struct rig_buf *out)
{
    const struct rig_commit *of = &certificate->commits.at[commit];
    const struct rig_change *changes = rig_commit_changes(certificate, commit);
    rig_buf_printf(out, "%s %" PRIu64 " %" PRIu64 " %" PRIu32, certificate->by_timeline ? "lost" : "commit", of->place,
                   of->id, of->timeline);
    for (uint32_t i = 0; i < rig_commit_change_count(certificate, commit); i++) {
        if (changes[i].removed) {
            rig_buf_printf(out, " %" PRId64 ":-", changes[i].key);
            continue;
        }
        rig_buf_printf(out, " %" PRId64 ":%" PRIu32 ":", changes[i].key, changes[i].kept);
        for (uint32_t j = 0; j < changes[i].count; j++)
            rig_buf_printf(out, "%s%" PRId64, j == 0 ? "" : ",", certificate->elements.at[changes[i].first + j]);
    }
}

static void add_view(const struct rig_txn_views *views, uint32_t view, struct rig_buf *out)
{
    static const char *const words[] = {"-", "single", "standby", "single,standby"};
    const struct rig_txn_view *of = &views->views.at[view];
    const struct rig_txn_view_row *rows = rig_txn_view_rows(views, view);
    uint32_t last = RIG_SNAPSHOT_NONE;
    rig_buf_printf(out, "view %" PRIu64 " %" PRIu64 " %s", of->number, of->id,
                   words[(of->single ? 1 : 0) + (of->standby ? 2 : 0)]);
    for (uint32_t i = 0; i < rig_txn_view_row_count(views, view); i++) {
        rig_buf_printf(out, " %" PRIu32 ":%" PRIu64 ":", rows[i].op, rows[i].version);
        if (rows[i].snapshot == RIG_SNAPSHOT_NONE || rows[i].snapshot == last) {
            rig_buf_add_char(out, rows[i].snapshot == RIG_SNAPSHOT_NONE ? '-' : '=');
            continue;
        }
        const struct rig_snapshot *snapshot = &views->snapshots.at[last = rows[i].snapshot];
        rig_buf_printf(out, "%" PRIu64 ":%" PRIu64 ":", snapshot->xmin, snapshot->xmax);
        add_numbers(views->active.at + snapshot->first_active, snapshot->active_count, out);
    }
}

/* The words of the end, in this order. */
enum { FLAG_COMPLETE, FLAG_LAST_ONLY, FLAG_FORKS, FLAG_COUNT };
static const char *const flags[FLAG_COUNT] = {"complete", "last-only", "forks"};

static void add_fork(const struct rig_fork *fork, struct rig_buf *out)
{
    rig_buf_printf(out, "fork %" PRIu32 " %" PRIu64 " %" PRIu32, fork->timeline, fork->place, fork->next);
}

static void add_end(const struct rig_certificate *certificate, struct rig_buf *out)
{
    const bool of[] = {certificate->complete, certificate->last_only, certificate->forks.count > 0};
    unsigned written = 0;
    rig_buf_add_text(out, "end ");
    for (unsigned i = 0; i < FLAG_COUNT; i++) {
        if (of[i])
            rig_buf_printf(out, "%s%s", written++ == 0 ? "" : ",", flags[i]);
    }
    rig_buf_printf(out, "%s %zu %zu ", written == 0 ? "-" : "", certificate->commits.count,
                   certificate->views.views.count);
    if (certificate->forks.count > 0)
        rig_buf_printf(out, "%zu %zu ", certificate->forks.count, rig_certificate_lost_count(certificate));
    rig_buf_printf(out, "%s|%s", certificate->source, certificate->ending);
}

void rig_certificate_text_write(const struct rig_syntax *dialect, const struct rig_certificate *certificate,
                                size_t line, uint32_t index, struct rig_buf *out)
{
    const bool edn = dialect->has_keywords;
    const size_t lost = certificate->commits.count + certificate->forks.count;
    const size_t views = lost + rig_certificate_lost_count(certificate);
    struct rig_buf text;
    rig_buf_init(&text, 0);
    if (line < certificate->commits.count)
        add_commit(certificate, (uint32_t)line, &text);
    else if (line < lost)
        add_fork(&certificate->forks.at[line - certificate->commits.count], &text);
    else if (line < views)
        add_commit(certificate->lost, (uint32_t)(line - lost), &text);
    else if (line < views + certificate->views.views.count)
        add_view(&certificate->views, (uint32_t)(line - views), &text);
    else
        add_end(certificate, &text);
    rig_buf_printf(out, "%s%u%sinfo%s%s", dialect->index, index, dialect->type, dialect->process,
                   edn ? ":" RIG_CERTIFICATE_PROCESS : "\"" RIG_CERTIFICATE_PROCESS "\"");
    rig_buf_add_text(out, edn ? ", :f :certificate, :value " : ",\"f\":\"certificate\",\"value\":");
    rig_json_quote(out, rig_buf_text(&text), text.size);
    rig_buf_add_text(out, dialect->end);
    out->failed |= text.failed;
    rig_buf_done(&text);
}

/* ---- reading ---- */

struct text {
    const char *at, *end;
    bool bad;
};

static bool skip(struct text *text, char c)
{
    const bool is = text->at < text->end && *text->at == c;
    text->at += is;
    return is;
}

static uint64_t get_number(struct text *text)
{
    uint64_t number = 0;
    const char *begin = text->at;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++) {
        const unsigned digit = (unsigned)(*text->at - '0');
        text->bad |= number > (UINT64_MAX - digit) / 10;
        number = number * 10 + digit;
    }
    text->bad |= text->at == begin;
    return number;
}

static int64_t get_signed(struct text *text)
{
    const bool negative = skip(text, '-');
    const uint64_t number = get_number(text);
    text->bad |= number > (uint64_t)INT64_MAX + negative;
    return negative ? (int64_t)(0 - number) : (int64_t)number;
}

static void expect(struct text *text, char c)
{
    text->bad |= !skip(text, c);
}

/* Whether the next word is this one; goes after it. */
static bool skip_word(struct text *text, const char *word)
{
    const size_t length = strlen(word), left = (size_t)(text->end - text->at);
    if (left < length || memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

static enum rig_certificate_taken take_change(struct text *text, struct rig_certificate *into)
{
    struct rig_change change = {.first = (uint32_t)into->elements.count, .key = get_signed(text)};
    expect(text, ':');
    if (skip(text, '-')) {
        change.removed = true;
        return rig_change_vec_add(&into->changes, change) ? RIG_CERTIFICATE_TAKEN : RIG_CERTIFICATE_NO_MEMORY;
    }
    const uint64_t kept = get_number(text);
    expect(text, ':');
    while (!text->bad && text->at < text->end && *text->at != ' ') {
        if (change.count++ > 0)
            expect(text, ',');
        const int64_t element = get_signed(text);
        if (into->elements.count >= UINT32_MAX || !rig_certificate_elements_add(&into->elements, element))
            return RIG_CERTIFICATE_NO_MEMORY;
    }
    text->bad |= kept > UINT32_MAX;
    change.kept = (uint32_t)kept;
    return rig_change_vec_add(&into->changes, change) ? RIG_CERTIFICATE_TAKEN : RIG_CERTIFICATE_NO_MEMORY;
}

static enum rig_certificate_taken take_commit(struct text *text, struct rig_certificate *into)
{
    struct rig_commit commit = {.place = get_number(text), .first_change = (uint32_t)into->changes.count};
    expect(text, ' ');
    commit.id = get_number(text);
    expect(text, ' ');
    const uint64_t timeline = get_number(text);
    commit.timeline = (uint32_t)timeline;
    if (text->bad || timeline > UINT32_MAX || into->commits.count >= UINT32_MAX - 1 ||
        !rig_certificate_ascends(into, commit.place, commit.timeline))
        return RIG_CERTIFICATE_DAMAGED;
    if (!rig_commit_vec_add(&into->commits, commit))
        return RIG_CERTIFICATE_NO_MEMORY;
    enum rig_certificate_taken taken = RIG_CERTIFICATE_TAKEN;
    while (taken == RIG_CERTIFICATE_TAKEN && !text->bad && text->at < text->end) {
        expect(text, ' ');
        taken = into->changes.count >= UINT32_MAX - 1 ? RIG_CERTIFICATE_NO_MEMORY : take_change(text, into);
    }
    return taken;
}

static enum rig_certificate_taken take_fork(struct text *text, struct rig_certificate *into)
{
    const uint64_t timeline = get_number(text);
    expect(text, ' ');
    const uint64_t place = get_number(text);
    expect(text, ' ');
    const uint64_t next = get_number(text);
    if (text->bad || text->at < text->end || next > UINT32_MAX || timeline >= next)
        return RIG_CERTIFICATE_DAMAGED;
    return rig_certificate_add_fork(into, (uint32_t)timeline, place, (uint32_t)next) ? RIG_CERTIFICATE_TAKEN
                                                                                     : RIG_CERTIFICATE_DAMAGED;
}

static enum rig_certificate_taken take_lost(struct text *text, struct rig_certificate *into)
{
    struct rig_certificate *lost = rig_certificate_make_lost(into);
    if (lost == NULL)
        return RIG_CERTIFICATE_NO_MEMORY;
    const enum rig_certificate_taken taken = take_commit(text, lost);
    if (taken != RIG_CERTIFICATE_TAKEN)
        return taken;
    const struct rig_commit *commit = &lost->commits.at[lost->commits.count - 1];
    return rig_certificate_fork_of(into, commit) != NULL ? taken : RIG_CERTIFICATE_DAMAGED;
}

/* "XMIN:XMAX:ACTIVE,ACTIVE" */
static enum rig_certificate_taken take_snapshot(struct text *text, struct rig_txn_views *views)
{
    struct rig_id_vec active = {0};
    enum rig_certificate_taken taken = RIG_CERTIFICATE_TAKEN;
    const uint64_t xmin = get_number(text);
    expect(text, ':');
    const uint64_t xmax = get_number(text);
    expect(text, ':');
    while (taken == RIG_CERTIFICATE_TAKEN && !text->bad && text->at < text->end && *text->at != ' ') {
        if (active.count > 0)
            expect(text, ',');
        taken = rig_id_vec_add(&active, get_number(text)) ? RIG_CERTIFICATE_TAKEN : RIG_CERTIFICATE_NO_MEMORY;
    }
    if (taken == RIG_CERTIFICATE_TAKEN &&
        (text->bad || !rig_txn_views_add_snapshot(views, xmin, xmax, active.at, (uint32_t)active.count)))
        taken = RIG_CERTIFICATE_DAMAGED;
    rig_id_vec_done(&active);
    return taken;
}

static enum rig_certificate_taken take_row(struct text *text, struct rig_txn_views *views)
{
    const uint64_t op = get_number(text);
    expect(text, ':');
    const uint64_t version = get_number(text);
    expect(text, ':');
    if (text->bad || op >= UINT32_MAX)
        return RIG_CERTIFICATE_DAMAGED;
    const bool none = skip(text, '-'), same = !none && skip(text, '=');
    const enum rig_certificate_taken taken = none || same ? RIG_CERTIFICATE_TAKEN : take_snapshot(text, views);
    if (taken != RIG_CERTIFICATE_TAKEN)
        return taken;
    return rig_txn_views_add_row(views, (uint32_t)op, version, !none) ? RIG_CERTIFICATE_TAKEN : RIG_CERTIFICATE_DAMAGED;
}

static enum rig_certificate_taken take_view(struct text *text, struct rig_txn_views *views)
{
    struct rig_txn_view view = {.number = get_number(text)};
    enum rig_certificate_taken taken = RIG_CERTIFICATE_TAKEN;
    expect(text, ' ');
    view.id = get_number(text);
    expect(text, ' ');
    view.single = skip_word(text, "single");
    if (view.single)
        (void)skip(text, ',');
    view.standby = skip_word(text, "standby");
    if (!view.single && !view.standby)
        expect(text, '-');
    if (text->bad || !rig_txn_views_add(views, &view))
        return RIG_CERTIFICATE_DAMAGED;
    while (taken == RIG_CERTIFICATE_TAKEN && !text->bad && text->at < text->end) {
        expect(text, ' ');
        taken = take_row(text, views);
    }
    return taken;
}

static bool take_text(const char *begin, const char *end, char *into, size_t size)
{
    if ((size_t)(end - begin) >= size)
        return false;
    memcpy(into, begin, (size_t)(end - begin));
    into[end - begin] = '\0';
    return true;
}

static enum rig_certificate_taken take_end(struct text *text, struct rig_certificate *into)
{
    bool of[FLAG_COUNT];
    unsigned found = 0;
    for (unsigned i = 0; i < FLAG_COUNT; i++) {
        const struct text before = *text;
        of[i] = (found == 0 || skip(text, ',')) && skip_word(text, flags[i]);
        if (!of[i])
            *text = before;
        found += of[i];
    }
    if (found == 0)
        expect(text, '-');
    into->complete = of[FLAG_COMPLETE];
    into->last_only = of[FLAG_LAST_ONLY];
    expect(text, ' ');
    const uint64_t commits = get_number(text);
    expect(text, ' ');
    const uint64_t views = get_number(text);
    expect(text, ' ');
    uint64_t forks = 0, lost = 0;
    if (of[FLAG_FORKS]) {
        forks = get_number(text);
        expect(text, ' ');
        lost = get_number(text);
        expect(text, ' ');
    }
    const char *bar = memchr(text->at, '|', (size_t)(text->end - text->at));
    const bool fits = !text->bad && bar != NULL && commits == into->commits.count && views == into->views.views.count &&
                      forks == into->forks.count && lost == rig_certificate_lost_count(into) &&
                      memchr(text->at, '\0', (size_t)(text->end - text->at)) == NULL &&
                      take_text(text->at, bar, into->source, sizeof into->source) &&
                      take_text(bar + 1, text->end, into->ending, sizeof into->ending);
    return fits ? RIG_CERTIFICATE_TAKEN : RIG_CERTIFICATE_DAMAGED;
}

enum rig_certificate_taken rig_certificate_text_take(const char *text, size_t length, struct rig_certificate *into)
{
    struct text at = {.at = text, .end = text + length};
    enum rig_certificate_taken taken = RIG_CERTIFICATE_DAMAGED;
    if (into->source[0] != '\0') /* nothing follows the end */
        return RIG_CERTIFICATE_DAMAGED;
    if (into->ending[0] == '\0')
        (void)snprintf(into->ending, sizeof into->ending, "the history ends before the certificate does");
    if (skip_word(&at, "commit "))
        taken = into->views.views.count > 0 || into->forks.count > 0 ? RIG_CERTIFICATE_DAMAGED : take_commit(&at, into);
    else if (skip_word(&at, "fork "))
        taken = into->lost != NULL || into->views.views.count > 0 ? RIG_CERTIFICATE_DAMAGED : take_fork(&at, into);
    else if (skip_word(&at, "lost "))
        taken = into->views.views.count > 0 ? RIG_CERTIFICATE_DAMAGED : take_lost(&at, into);
    else if (skip_word(&at, "view "))
        taken = take_view(&at, &into->views);
    else if (skip_word(&at, "end "))
        taken = take_end(&at, into);
    return taken == RIG_CERTIFICATE_TAKEN && at.bad ? RIG_CERTIFICATE_DAMAGED : taken;
}
