#include "checker/prove/proof_claims.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/model/fingerprint.h"
#include "checker/prove/choices.h"
#include "checker/prove/contradiction.h"
#include "checker/prove/object_orders.h"
#include "checker/prove/replay.h"
#include "history/text/value_reader.h"

RIG_VEC(uint32_t, events)
RIG_VEC(struct rig_missed, missed)

struct word {
    const char *at;
    size_t size;
};

struct reading {
    struct rig_facts *raw;
    struct rig_facts *facts; /* `raw`, or those with the choices that were made */
    struct rig_choices choices;
    struct rig_choice_vec refuted; /* of the cases so far, and where each ends in it */
    struct rig_case_numbers ends;
    uint32_t version;
    bool has_choices; /* `choices` is initialised */
    struct rig_proved *claims;
    const char *at, *end; /* what is left of the file */
    uint32_t line;
    struct events events;
    struct missed missed;
    struct rig_witness_lines lines;
    struct rig_err *err;
};

static enum rig_rc refuse(const struct reading *r, const char *what)
{
    return rig_fail(r->err, RIG_E_INPUT, "line %" PRIu32 ": %s", r->line, what);
}

/* The next word of the line; empty at its end. Words are separated by single blanks. */
static struct word next_word(struct reading *r)
{
    RIG_REQUIRE(r->at <= r->end);
    struct word word = {.at = r->at};
    while (r->at < r->end && *r->at != ' ' && *r->at != '\n')
        r->at++;
    word.size = (size_t)(r->at - word.at);
    r->at += r->at < r->end && *r->at == ' ';
    RIG_INVARIANT(word.at + word.size <= r->at);
    return word;
}

/* Steps over the end of the line. False if something is left on it, or the file ends within it. */
static bool end_line(struct reading *r)
{
    RIG_REQUIRE(r->at <= r->end && r->line > 0);
    if (r->at >= r->end || *r->at != '\n')
        return false;
    r->at++;
    r->line++;
    return true;
}

static bool is_word(struct word word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.at, text, word.size) == 0;
}

static bool read_number(struct reading *r, uint32_t *number)
{
    const struct word word = next_word(r);
    uint64_t value = 0;
    for (size_t i = 0; i < word.size; i++) {
        if (word.at[i] < '0' || word.at[i] > '9' || value > UINT32_MAX)
            return false;
        value = value * 10 + (uint64_t)(word.at[i] - '0');
    }
    *number = (uint32_t)value;
    return word.size > 0 && value < UINT32_MAX;
}

static bool read_txn(struct reading *r, uint32_t *txn)
{
    uint32_t name;
    if (!read_number(r, &name))
        return false;
    *txn = rig_facts_named(r->facts, name);
    RIG_INVARIANT(*txn == RIG_FACT_NONE || rig_txn_name(r->facts->history, *txn) == name);
    return *txn != RIG_FACT_NONE;
}

/* The levels up to the end of the line. */
static enum rig_rc read_levels(struct reading *r, uint64_t *levels)
{
    *levels = 0;
    for (struct word word = next_word(r); word.size > 0; word = next_word(r)) {
        const int level = rig_proved_level_find(word.at, word.size);
        if (level < 0)
            return refuse(r, "no such level");
        RIG_INVARIANT(level < RIG_PROVED_LEVELS);
        *levels |= UINT64_C(1) << level;
    }
    return *levels != 0 && end_line(r) ? RIG_OK : refuse(r, "a claim without levels");
}

/* ---- blocks: up to a line with a full stop ---- */

static bool at_stop(struct reading *r)
{
    RIG_REQUIRE(r->at <= r->end);
    if (r->end - r->at < 2 || r->at[0] != '.' || r->at[1] != '\n')
        return false;
    r->at += 2;
    r->line++;
    return true;
}

static bool at_misses(const struct reading *r)
{
    static const char misses[] = "misses ";
    return (size_t)(r->end - r->at) >= sizeof misses - 1 && memcmp(r->at, misses, sizeof misses - 1) == 0;
}

/* "misses T i U V...": read i of T did not see the commits of U, V... */
static enum rig_rc read_misses(struct reading *r)
{
    uint32_t txn, op, other;
    (void)next_word(r);
    if (r->facts->form != RIG_FACTS_ROWS || !read_txn(r, &txn) || !read_number(r, &op) ||
        op >= rig_txn_op_count(r->facts->history, txn))
        return refuse(r, "not a line of what a read of rows missed");
    do {
        if (!read_txn(r, &other))
            return refuse(r, "no such transaction");
        if (!missed_add(&r->missed, (struct rig_missed){r->facts->history->txns[txn].first_op + op, other}))
            return rig_no_memory(r->err, "the order");
    } while (r->at < r->end && *r->at != '\n');
    return end_line(r) ? RIG_OK : refuse(r, "the file ends within an order");
}

/* Lines with the transactions of the order. */
static enum rig_rc read_events(struct reading *r)
{
    uint32_t txn;
    do {
        if (!read_txn(r, &txn))
            return refuse(r, "no such transaction");
        if (r->events.count >= UINT32_MAX - 1 || !events_add(&r->events, txn))
            return rig_no_memory(r->err, "the order");
    } while (r->at < r->end && *r->at != '\n');
    return end_line(r) ? RIG_OK : refuse(r, "the file ends within an order");
}

static int compare_missed(const void *left, const void *right)
{
    const struct rig_missed *a = left, *b = right;
    return (a->op > b->op) - (a->op < b->op);
}

static enum rig_rc read_held(struct reading *r)
{
    const struct word word = next_word(r);
    unsigned kind = 0;
    uint64_t levels;
    while (kind < RIG_ORDER_KINDS && !is_word(word, rig_order_kinds[kind]))
        kind++;
    if (kind == RIG_ORDER_KINDS)
        return refuse(r, "no such kind of order");
    RIG_INVARIANT(kind < RIG_ORDER_KINDS);
    enum rig_rc rc = read_levels(r, &levels);
    r->events.count = r->missed.count = 0;
    while (rc == RIG_OK && !at_stop(r))
        rc = at_misses(r) ? read_misses(r) : read_events(r);
    if (r->missed.count > 1)
        qsort(r->missed.at, r->missed.count, sizeof r->missed.at[0], compare_missed);
    const struct rig_order order = {.kind = (enum rig_order_kind)kind,
                                    .events = r->events.at,
                                    .count = r->events.count,
                                    .missed = r->missed.at,
                                    .missed_count = r->missed.count};
    if (rc == RIG_OK)
        rc = rig_replay(r->facts, &order, levels, r->err);
    RIG_INVARIANT(rc != RIG_OK || levels != 0);
    if (rc == RIG_OK)
        r->claims->held |= rig_proved_levels_below(levels);
    return rc;
}

/* "update 3": T wrote after its operation 3 had read the earlier version; "case": so it is supposed or concluded;
 * "sequential T U", "linearizable T U": assumed. */
static bool read_reason(struct reading *r, struct rig_witness_line *line)
{
    const struct word word = next_word(r);
    if (is_word(word, "sequential") || is_word(word, "linearizable")) {
        line->reason = is_word(word, "sequential") ? RIG_REASON_SEQUENTIAL : RIG_REASON_LINEARIZABLE;
        return read_txn(r, &line->left) && read_txn(r, &line->met);
    }
    line->reason = is_word(word, "update") ? RIG_REASON_UPDATE
                   : is_word(word, "case") ? RIG_REASON_CASE
                                           : RIG_REASON_PLAIN;
    return word.size == 0 || line->reason == RIG_REASON_CASE ||
           (line->reason == RIG_REASON_UPDATE && read_number(r, &line->reason_op));
}

static enum rig_rc read_line(struct reading *r)
{
    struct rig_witness_line line = {.kind = RIG_WITNESS_KINDS};
    const struct word word = next_word(r);
    for (unsigned kind = 0; kind < RIG_WITNESS_KINDS; kind++)
        line.kind = is_word(word, rig_witness_kinds[kind]) ? (enum rig_witness_kind)kind : line.kind;
    bool ok = line.kind != RIG_WITNESS_KINDS;
    if (line.kind >= RIG_WITNESS_PROCESS && line.kind <= RIG_WITNESS_SUPPOSE && line.kind != RIG_WITNESS_CYCLE)
        ok = read_txn(r, &line.from) && read_txn(r, &line.to);
    else if (ok && line.kind != RIG_WITNESS_CYCLE)
        ok = read_txn(r, &line.from) && read_number(r, &line.from_op) && read_txn(r, &line.to) &&
             read_number(r, &line.to_op) && (line.kind > RIG_WITNESS_RW || read_reason(r, &line));
    if (!ok || !end_line(r))
        return refuse(r, "not a line of a witness");
    return rig_witness_lines_add(&r->lines, line) ? RIG_OK : rig_no_memory(r->err, "the witness");
}

/* "no-order T U V...", the only line of a witness of objects. */
static enum rig_rc read_no_order(struct reading *r, uint64_t levels)
{
    uint32_t txn;
    r->events.count = 0;
    (void)next_word(r);
    do {
        if (!read_txn(r, &txn))
            return refuse(r, "no such transaction");
        if (!events_add(&r->events, txn))
            return rig_no_memory(r->err, "the witness");
    } while (r->at < r->end && *r->at != '\n');
    if (!end_line(r) || !at_stop(r))
        return refuse(r, "the witness does not end with its line");
    const enum rig_rc rc = rig_no_order(r->facts, levels, r->events.at, r->events.count, r->err);
    if (rc == RIG_OK)
        r->claims->refuted |= rig_proved_levels_above(levels);
    return rc;
}

static enum rig_rc read_refuted(struct reading *r)
{
    static const char no_order[] = "no-order ";
    uint64_t levels;
    enum rig_rc rc = read_levels(r, &levels);
    r->lines.count = 0;
    if (rc == RIG_OK && (size_t)(r->end - r->at) >= sizeof no_order - 1 &&
        memcmp(r->at, no_order, sizeof no_order - 1) == 0)
        return read_no_order(r, levels);
    while (rc == RIG_OK && !at_stop(r))
        rc = read_line(r);
    if (rc == RIG_OK)
        rc = rig_facts_witness(r->facts, r->err);
    RIG_INVARIANT(rc != RIG_OK || levels != 0);
    if (rc == RIG_OK)
        rc = rig_contradict(r->facts, levels, r->claims->assumed, &r->lines, r->err);
    if (rc == RIG_OK)
        r->claims->refuted |= rig_proved_levels_above(levels);
    return rc;
}

/* ---- reads of repeated values ---- */

static bool at_word(const struct reading *r, const char *text)
{
    const size_t size = strlen(text);
    return (size_t)(r->end - r->at) > size && memcmp(r->at, text, size) == 0 &&
           (r->at[size] == ' ' || r->at[size] == '\n');
}

/* Operation `op` of the transaction, by its number in the history. */
static bool read_op(struct reading *r, uint32_t *op)
{
    uint32_t txn, number;
    if (!read_txn(r, &txn) || !read_number(r, &number) || number >= rig_txn_op_count(r->raw->history, txn))
        return false;
    *op = r->raw->history->txns[txn].first_op + number;
    return true;
}

/* "choose T i U j": read i of T shows what operation j of U wrote. "choose T i initial": what the key began with. */
static enum rig_rc read_choice(struct reading *r)
{
    struct rig_choice choice = {.write = RIG_FACT_NONE};
    if (!is_word(next_word(r), "choose") || !read_op(r, &choice.read))
        return refuse(r, "not a choice of a read");
    const bool is_initial = at_word(r, "initial");
    if (is_initial)
        (void)next_word(r);
    if ((!is_initial && !read_op(r, &choice.write)) || !end_line(r))
        return refuse(r, "not a choice of a read");
    return rig_choices_make(&r->choices, choice, r->err);
}

/* One choice or more. */
static enum rig_rc read_choices(struct reading *r)
{
    enum rig_rc rc = RIG_OK;
    rig_choices_clear(&r->choices);
    do
        rc = read_choice(r);
    while (rc == RIG_OK && at_word(r, "choose"));
    return rc;
}

static enum rig_rc need_choices(struct reading *r)
{
    if (r->version < 2)
        return refuse(r, "choices stand in proofs of version 2 only");
    if (r->has_choices)
        return RIG_OK;
    r->has_choices = true;
    return rig_choices_init(&r->choices, r->raw, r->err);
}

/* "choices": the claims that follow are of levels that are held with these. */
static enum rig_rc read_section(struct reading *r)
{
    enum rig_rc rc = end_line(r) ? need_choices(r) : refuse(r, "not a line of choices");
    if (rc == RIG_OK)
        rc = read_choices(r);
    if (rc == RIG_OK && !at_stop(r))
        rc = refuse(r, "not a choice of a read");
    if (rc == RIG_OK)
        r->facts = &r->choices.facts;
    return rc;
}

/* Choices, and the witness that refutes the levels with them. */
static enum rig_rc read_case(struct reading *r, uint64_t levels)
{
    enum rig_rc rc = read_choices(r);
    r->lines.count = 0;
    while (rc == RIG_OK && !at_stop(r))
        rc = read_line(r);
    if (rc == RIG_OK)
        rc = rig_facts_witness(&r->choices.facts, r->err);
    if (rc == RIG_OK)
        rc = rig_contradict(&r->choices.facts, levels, r->claims->assumed, &r->lines, r->err);
    for (size_t i = 0; rc == RIG_OK && i < r->choices.made.count; i++) {
        if (!rig_choice_vec_add(&r->refuted, r->choices.made.at[i]))
            rc = rig_no_memory(r->err, "the cases");
    }
    if (rc == RIG_OK && (r->refuted.count >= UINT32_MAX || !rig_case_numbers_add(&r->ends, (uint32_t)r->refuted.count)))
        rc = rig_no_memory(r->err, "the cases");
    return rc;
}

/* "cases LEVEL...": they leave no choice. */
static enum rig_rc read_cases(struct reading *r)
{
    uint64_t levels;
    enum rig_rc rc = read_levels(r, &levels);
    r->refuted.count = r->ends.count = 0;
    if (rc == RIG_OK)
        rc = need_choices(r);
    while (rc == RIG_OK && !at_stop(r))
        rc = read_case(r, levels);
    if (rc == RIG_OK)
        rc = rig_choices_refute(&r->choices, &r->refuted, &r->ends, r->err);
    if (rc == RIG_OK)
        r->claims->refuted |= rig_proved_levels_above(levels);
    return rc;
}

/* ---- the file ---- */

/* "total N", of all accounts. */
static enum rig_rc read_total(struct reading *r)
{
    const bool is_negative = r->at < r->end && *r->at == '-';
    uint32_t number;
    r->at += is_negative;
    if (!read_number(r, &number) || !end_line(r) || r->facts->assumes_total)
        return refuse(r, "not a total, or a second one");
    r->facts->total = is_negative ? -(int64_t)number : (int64_t)number;
    r->facts->assumes_total = true;
    return RIG_OK;
}

/* "initial VALUE": the rest of the line is an integer, or the text of a value. */
static enum rig_rc read_initial(struct reading *r)
{
    const char *begin = r->at;
    struct rig_facts *facts = r->facts;
    while (r->at < r->end && *r->at != '\n')
        r->at++;
    if (r->claims->count > 0 || facts->assumes_initial || r->at == begin ||
        !rig_workload_may_begin(facts->history->workload) ||
        rig_value_parse(begin, (size_t)(r->at - begin), &facts->initial, NULL) != RIG_OK || !end_line(r))
        return refuse(r, "not a value that registers begin with, a second one, or not before all claims");
    facts->assumes_initial = true;
    return RIG_OK;
}

static enum rig_rc read_assumption(struct reading *r)
{
    const struct word word = next_word(r);
    if (is_word(word, "initial"))
        return read_initial(r);
    if (is_word(word, "total"))
        return read_total(r);
    if (is_word(word, "non-negative-balances")) {
        r->facts->assumes_balances = true;
        return end_line(r) ? RIG_OK : refuse(r, "no such assumption");
    }
    if (is_word(word, "prefilled")) {
        r->facts->prefilled = true;
        return r->claims->count == 0 && end_line(r)
                   ? RIG_OK
                   : refuse(r, "not an assumption of all claims: it has to come first");
    }
    const enum rig_reason reason = is_word(word, "wfr-keys")            ? RIG_REASON_UPDATE
                                   : is_word(word, "sequential-keys")   ? RIG_REASON_SEQUENTIAL
                                   : is_word(word, "linearizable-keys") ? RIG_REASON_LINEARIZABLE
                                                                        : RIG_REASON_PLAIN;
    r->claims->assumed |= RIG_ASSUMES(reason);
    return reason != RIG_REASON_PLAIN && end_line(r) ? RIG_OK : refuse(r, "no such assumption");
}

static enum rig_rc read_head(struct reading *r)
{
    uint64_t fingerprint = 0;
    char text[24];
    if (!is_word(next_word(r), "rig-proof") || !read_number(r, &r->version) || r->version < 1 ||
        r->version > RIG_PROOF_VERSION || !end_line(r))
        return refuse(r, "not a proof, or one of another version (expected `rig-proof 1` or `rig-proof 2`)");
    const enum rig_rc rc = rig_history_fingerprint(r->facts->history, &fingerprint, r->err);
    if (rc != RIG_OK)
        return rc;
    (void)snprintf(text, sizeof text, "%016" PRIx64, fingerprint);
    if (!is_word(next_word(r), "history") || !is_word(next_word(r), text) || !end_line(r))
        return rig_fail(r->err, RIG_E_INPUT, "line 2: the proof is about another history (this one is %s)", text);
    return RIG_OK;
}

static enum rig_rc skip_line(struct reading *r)
{
    while (r->at < r->end && *r->at != '\n')
        r->at++;
    return end_line(r) ? RIG_OK : refuse(r, "the file ends within a line");
}

static enum rig_rc read_claims(struct reading *r)
{
    enum rig_rc rc = read_head(r);
    while (rc == RIG_OK) {
        const uint32_t line = r->line;
        const struct word word = next_word(r);
        if (is_word(word, "end"))
            return end_line(r) && r->at == r->end ? RIG_OK : refuse(r, "something follows the end");
        const bool held = is_word(word, "held"), cases = is_word(word, "cases");
        const bool claim = held || cases || is_word(word, "refuted");
        if (r->facts != r->raw && ((claim && !held) || is_word(word, "assume")))
            rc = refuse(r, "after choices only claims of levels that are held may follow");
        else if (held)
            rc = read_held(r);
        else if (cases)
            rc = read_cases(r);
        else if (claim)
            rc = read_refuted(r);
        else if (is_word(word, "choices"))
            rc = read_section(r);
        else if (is_word(word, "assume"))
            rc = read_assumption(r);
        else if (is_word(word, "open"))
            rc = skip_line(r);
        else
            rc = refuse(r, "neither a claim nor the end");
        r->claims->count += claim && rc == RIG_OK;
        if (rc != RIG_OK && r->err->rc == rc && strncmp(r->err->text, "line ", 5) != 0) {
            const struct rig_err inner = *r->err;
            *r->err = (struct rig_err){0};
            rc = rig_fail(r->err, rc, "the claim of line %" PRIu32 ": %.900s", line, inner.text);
        }
    }
    return rc;
}

enum rig_rc rig_claims_prove(struct rig_facts *facts, const char *text, size_t size, struct rig_proved *claims,
                             struct rig_err *err)
{
    RIG_REQUIRE(text != NULL || size == 0);
    RIG_REQUIRE(claims->count == 0 && claims->held == 0 && claims->refuted == 0);
    struct reading r = {
        .raw = facts, .facts = facts, .claims = claims, .at = text, .end = text + size, .line = 1, .err = err};
    enum rig_rc rc = read_claims(&r);
    RIG_INVARIANT(rig_proved_levels_below(claims->held) == claims->held);
    RIG_INVARIANT(rig_proved_levels_above(claims->refuted) == claims->refuted);
    if (rc == RIG_OK && (claims->held & claims->refuted) != 0)
        rc = rig_fail(err, RIG_E_BUG, "a level is proved both held and refuted: please report this history and proof");
    events_done(&r.events);
    missed_done(&r.missed);
    rig_witness_lines_done(&r.lines);
    rig_choice_vec_done(&r.refuted);
    rig_case_numbers_done(&r.ends);
    if (r.has_choices)
        rig_choices_done(&r.choices);
    return rc;
}
