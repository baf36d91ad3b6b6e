#include "report/course.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/plural.h"
#include "checker/model/certified.h"
#include "history/types/row_names.h"
#include "report/episodes.h"
#include "report/words.h"

enum {
    NEIGHBOURHOODS = 24, /* of witnesses, and as many moments of faults */
    BAR_BYTES = 224,     /* with its operations and their keys; an estimate */
    WITNESS_TXNS = 20000,
    OPS_A_BAR = 64,
    OPEN_BARS = 4000,
    SLOTS_LEAST = 40,
    SLOT_TXNS = 25, /* fewer show noise */
    OPS_MOST = 120000,
};

struct span {
    int64_t from_ns, to_ns;
};

/* Times of which all transactions are drawn, as long as there are any left. */
struct near {
    struct span at[NEIGHBOURHOODS];
    size_t count;
    uint64_t left;
};

/* Which transactions are drawn. */
struct choice {
    uint32_t *names; /* of witnesses, ascending */
    size_t name_count;
    struct near witnesses, faults;
    uint64_t most; /* in all */
    double failed_share, other_share;
    bool all;
};

struct reader {
    struct rig_course *course;
    const struct rig_segment *segment;
    struct choice choice;
    int64_t zero_ns;
    const struct rig_row_names *row_names;
    struct rig_course_bars open; /* invoked and not complete at the end of the segment */
    struct rig_course_ops open_ops;
    bool unfit, failed;
};

/* -- the choice ---------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void add_near(struct near *near, int64_t from_ns, int64_t to_ns, int64_t margin_ns)
{
    if (near->count < NEIGHBOURHOODS && from_ns <= to_ns)
        near->at[near->count++] = (struct span){from_ns - margin_ns, to_ns + margin_ns};
}

/* The time from the first invocation to the last completion of a witness, and a quarter of it before and after. */
static void add_near_witness(struct choice *choice, const struct rig_history *history,
                             const struct rig_witness *witness, int64_t zero_ns)
{
    struct span span = {INT64_MAX, INT64_MIN};
    if (rig_witness_is_long(witness))
        return;
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        const struct rig_txn *txn = &history->txns[witness->txns[i]];
        const int64_t from = txn->invoke_ns, to = txn->complete_ns == RIG_NO_TIME ? txn->invoke_ns : txn->complete_ns;
        if (from != RIG_NO_TIME && from - zero_ns < span.from_ns)
            span.from_ns = from - zero_ns;
        if (to != RIG_NO_TIME && to - zero_ns > span.to_ns)
            span.to_ns = to - zero_ns;
    }
    if (span.from_ns <= span.to_ns)
        add_near(&choice->witnesses, span.from_ns, span.to_ns, (span.to_ns - span.from_ns) / 4 + RIG_NS_PER_MS);
}

/* The moments at which each kind of fault first began and ended. */
static void choose_faults(struct choice *choice, const struct rig_verdict *verdict)
{
    struct rig_episodes episodes;
    rig_episodes_init(&episodes, verdict);
    for (size_t i = 0; i < episodes.groups.count; i++) {
        const struct rig_episode *first = &episodes.of.at[episodes.groups.at[i].first];
        if (first->from_ns == RIG_NO_TIME || first->to_ns == RIG_NO_TIME)
            continue;
        const int64_t from = first->from_ns - episodes.zero_ns, to = first->to_ns - episodes.zero_ns;
        add_near(&choice->faults, from, from, 100 * (int64_t)RIG_NS_PER_MS);
        add_near(&choice->faults, to, to, 100 * (int64_t)RIG_NS_PER_MS);
    }
    rig_episodes_done(&episodes);
}

static void choose_witnesses(struct choice *choice, const struct rig_verdict *verdict, int64_t zero_ns)
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        for (uint32_t i = 0; i < finding->witness_count; i++) {
            const struct rig_witness *witness = &finding->witnesses[i];
            if (i == 0)
                add_near_witness(choice, verdict->history, witness, zero_ns);
            for (uint32_t j = 0; j < witness->txn_count && choice->name_count < WITNESS_TXNS; j++)
                if (rig_witness_shows(witness, j))
                    choice->names[choice->name_count++] = rig_txn_name(verdict->history, witness->txns[j]);
        }
    }
}

static bool choose(struct choice *choice, const struct rig_verdict *verdict, int64_t zero_ns)
{
    const uint64_t failed = verdict->fail_count + verdict->info_count;
    const uint64_t fit = verdict->limit_bytes == 0 ? RIG_COURSE_BARS : verdict->limit_bytes / 8 / BAR_BYTES;
    const uint64_t most = fit < RIG_COURSE_BARS ? fit : RIG_COURSE_BARS;
    const uint64_t others = most / 2, unacknowledged = most / 5;
    *choice = (struct choice){.most = most, .all = verdict->scope.txn_count <= most};
    choice->witnesses.left = unacknowledged;
    choice->faults.left = most / 10;
    choice->failed_share = failed > unacknowledged ? (double)unacknowledged / (double)failed : 1;
    choice->other_share = verdict->ok_count > others ? (double)others / (double)verdict->ok_count : 1;
    choice->names = malloc(WITNESS_TXNS * sizeof *choice->names);
    if (choice->names == NULL)
        return false;
    choose_witnesses(choice, verdict, zero_ns);
    if (verdict->certified != NULL && verdict->certified->verdict != NULL)
        choose_witnesses(choice, verdict->certified->verdict, zero_ns);
    choose_faults(choice, verdict);
    qsort(choice->names, choice->name_count, sizeof *choice->names, by_name);
    return true;
}

/* The finaliser of splitmix64. */
double rig_course_chance(uint32_t name)
{
    uint64_t x = name + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (double)((x ^ x >> 31) >> 11) / (double)(UINT64_C(1) << 53);
}

static bool is_near(const struct near *near, const struct rig_course_bar *bar)
{
    const int64_t to = bar->complete_ns == RIG_NO_TIME ? bar->invoke_ns : bar->complete_ns;
    for (size_t i = 0; i < near->count && near->left > 0; i++)
        if (bar->invoke_ns <= near->at[i].to_ns && to >= near->at[i].from_ns)
            return true;
    return false;
}

/* The first reason for which the transaction is drawn; RIG_COURSE_WHYS: there is none. */
static enum rig_course_why why(struct choice *choice, const struct rig_course_bar *bar)
{
    if (bsearch(&bar->name, choice->names, choice->name_count, sizeof *choice->names, by_name) != NULL)
        return RIG_COURSE_OF_WITNESS;
    const bool is_ok = bar->outcome == RIG_OUTCOME_OK;
    if (is_near(&choice->witnesses, bar)) {
        choice->witnesses.left -= choice->all ? 0 : 1;
        return RIG_COURSE_NEAR_WITNESS;
    }
    if (is_near(&choice->faults, bar)) {
        choice->faults.left -= choice->all ? 0 : 1;
        return RIG_COURSE_NEAR_FAULT;
    }
    if (!choice->all && rig_course_chance(bar->name) >= (is_ok ? choice->other_share : choice->failed_share))
        return RIG_COURSE_WHYS;
    return is_ok ? RIG_COURSE_SAMPLE : RIG_COURSE_UNACKNOWLEDGED;
}

/* -- slots --------------------------------------------------------------------------------------------------------- */

static uint32_t bucket_of(int64_t ns)
{
    if (ns < RIG_COURSE_OCTAVE)
        return ns < 0 ? 0 : (uint32_t)ns;
    const unsigned octave = 63 - (unsigned)__builtin_clzll((uint64_t)ns);
    const uint32_t bucket = (octave - 2) * RIG_COURSE_OCTAVE + (uint32_t)(ns >> (octave - 3)) % RIG_COURSE_OCTAVE;
    return bucket < RIG_COURSE_BUCKETS ? bucket : RIG_COURSE_BUCKETS - 1;
}

/* The middle of the bucket. */
static int64_t bucket_ns(uint32_t bucket)
{
    if (bucket < RIG_COURSE_OCTAVE)
        return bucket;
    const unsigned octave = bucket / RIG_COURSE_OCTAVE + 2;
    const int64_t step = INT64_C(1) << (octave - 3);
    return (INT64_C(1) << octave) + bucket % RIG_COURSE_OCTAVE * step + step / 2;
}

int64_t rig_course_latency(const struct rig_course_slot *slot, double share)
{
    uint64_t total = 0, seen = 0;
    for (uint32_t i = 0; i < RIG_COURSE_BUCKETS; i++)
        total += slot->latency[i];
    for (uint32_t i = 0; i < RIG_COURSE_BUCKETS && total > 0; i++) {
        seen += slot->latency[i];
        if ((double)seen >= share * (double)total)
            return bucket_ns(i) < slot->max_ns ? bucket_ns(i) : slot->max_ns;
    }
    return 0;
}

static void join(struct rig_course_slot *into, const struct rig_course_slot *from)
{
    for (unsigned outcome = 0; outcome < 3; outcome++)
        for (unsigned kind = 0; kind < RIG_COURSE_KINDS; kind++)
            into->count[outcome][kind] += from->count[outcome][kind];
    for (unsigned code = 0; code < RIG_COURSE_CODES; code++)
        into->by_code[code] += from->by_code[code];
    for (unsigned bucket = 0; bucket < RIG_COURSE_BUCKETS; bucket++)
        into->latency[bucket] += from->latency[bucket];
    into->max_ns = from->max_ns > into->max_ns ? from->max_ns : into->max_ns;
}

static void join_pairs(struct rig_course *course)
{
    for (uint32_t i = 0; i < RIG_COURSE_SLOTS / 2; i++) {
        const struct rig_course_slot second = course->slots[2 * i + 1];
        course->slots[i] = course->slots[2 * i];
        join(&course->slots[i], &second);
    }
    memset(&course->slots[RIG_COURSE_SLOTS / 2], 0, sizeof course->slots[0] * (RIG_COURSE_SLOTS / 2));
    for (uint32_t row = 0; row < RIG_COURSE_ROWS; row++) {
        uint32_t(*count)[3] = course->rows[row].count;
        for (uint32_t i = 0; i < RIG_COURSE_SLOTS / 2; i++)
            for (unsigned outcome = 0; outcome < 3; outcome++)
                count[i][outcome] = count[2 * i][outcome] + count[2 * i + 1][outcome];
        memset(count[RIG_COURSE_SLOTS / 2], 0, sizeof count[0] * (RIG_COURSE_SLOTS / 2));
    }
    course->slot_ns *= 2;
    course->slot_count = (course->slot_count + 1) / 2;
}

static struct rig_course_slot *slot_at(struct rig_course *course, int64_t at_ns)
{
    const int64_t at = at_ns < 0 ? 0 : at_ns;
    while (at / course->slot_ns >= RIG_COURSE_SLOTS)
        join_pairs(course);
    const uint32_t slot = (uint32_t)(at / course->slot_ns);
    if (slot >= course->slot_count)
        course->slot_count = slot + 1;
    return &course->slots[slot];
}

/* The client of a process, or the process where the number of clients is not known. */
static uint32_t client_of(const struct rig_course *course, int32_t process)
{
    const uint32_t number = process < 0 ? 0 : (uint32_t)process;
    return course->client_count > 0 ? number % course->client_count : number;
}

uint32_t rig_course_row(const struct rig_course *course, int32_t process)
{
    return client_of(course, process) % RIG_COURSE_ROWS;
}

static struct rig_course_row *note_client(struct rig_course *course, int32_t process)
{
    const uint32_t client = client_of(course, process);
    struct rig_course_row *row = &course->rows[client % RIG_COURSE_ROWS];
    row->least = client < row->least ? client : row->least;
    row->most = client > row->most ? client : row->most;
    return row;
}

/* An error is "code: text"; one without a code has no name here. */
static uint32_t code_of(struct rig_course *course, const struct rig_segment_error *error)
{
    const char *colon = memchr(error->text, ':', error->length);
    size_t length = colon == NULL ? error->length : (size_t)(colon - error->text);
    if (length >= RIG_COURSE_CODE_BYTES)
        length = RIG_COURSE_CODE_BYTES - 1;
    for (uint32_t i = 0; i < course->code_count; i++)
        if (strlen(course->codes[i]) == length && memcmp(course->codes[i], error->text, length) == 0)
            return i;
    if (course->code_count == RIG_COURSE_CODES)
        return RIG_COURSE_CODES - 1;
    char *code = course->codes[course->code_count];
    if (course->code_count == RIG_COURSE_CODES - 1)
        (void)snprintf(code, RIG_COURSE_CODE_BYTES, "further ones");
    else
        (void)snprintf(code, RIG_COURSE_CODE_BYTES, "%.*s", (int)length, error->text);
    return course->code_count++;
}

static void count(struct reader *r, const struct rig_txn *txn, const struct rig_course_bar *bar)
{
    struct rig_course *course = r->course;
    struct rig_course_slot *slot = slot_at(course, bar->complete_ns);
    slot->count[bar->outcome][bar->kind]++;
    note_client(course, bar->process)->count[slot - course->slots][bar->outcome]++;
    if (txn->error > 0 && txn->error <= r->segment->errors.count)
        slot->by_code[code_of(course, &r->segment->errors.at[txn->error - 1])]++;
    if (bar->outcome != RIG_OUTCOME_OK || bar->invoke_ns == RIG_NO_TIME)
        return;
    const int64_t took_ns = bar->complete_ns > bar->invoke_ns ? bar->complete_ns - bar->invoke_ns : 0;
    slot->latency[bucket_of(took_ns)]++;
    slot->max_ns = took_ns > slot->max_ns ? took_ns : slot->max_ns;
    rig_histogram_add(&course->latency[bar->kind], took_ns);
}

/* -- bars ---------------------------------------------------------------------------------------------------------- */

static uint32_t key_text(struct reader *r, uint32_t key)
{
    const struct rig_segment_key *from = &r->segment->keys.at[key];
    char digits[128];
    if (from->text != NULL)
        return rig_text_table_put(&r->course->texts, from->text, from->text_length);
    if (r->row_names != NULL)
        rig_row_names_show(r->row_names, from->key, digits, sizeof digits);
    else
        (void)snprintf(digits, sizeof digits, "%" PRId64, from->key);
    return rig_text_table_put(&r->course->texts, digits, strlen(digits));
}

static int64_t last_element(const struct reader *r, const struct rig_txn_op *op)
{
    const struct rig_growing_list *spine = &r->segment->keys.at[op->key].spine;
    if (op->count == 0)
        return 0;
    if (!rig_txn_op_is_branch(op))
        return spine->at[op->count - 1];
    const struct rig_growing_branch *branch = &r->segment->branches.at[rig_txn_op_branch(op)];
    return op->count <= branch->shared ? spine->at[op->count - 1] : branch->tail.at[op->count - branch->shared - 1];
}

static void keep(struct reader *r, struct rig_course_bars *bars, struct rig_course_ops *into,
                 const struct rig_course_bar *bar, const struct rig_txn_op *ops, uint32_t op_count)
{
    struct rig_course_bar kept = *bar;
    kept.first_op = (uint32_t)into->count;
    for (uint32_t i = 0; i < op_count && i < OPS_A_BAR && into->count < OPS_MOST; i++) {
        const struct rig_txn_op *op = &ops[i];
        struct rig_course_op one = {.kind = op->kind, .state = op->read_state, .key = key_text(r, op->key)};
        if (!rig_op_reads_sequence(op->kind))
            one.value = op->value;
        else if (op->read_state == RIG_READ_SEEN) {
            one.count = op->count;
            one.value = last_element(r, op);
        }
        r->failed |= one.key == RIG_TABLE_NONE || !rig_course_ops_add(into, one);
    }
    r->failed |= !rig_course_bars_add(bars, kept);
}

static void take(struct reader *r, const struct rig_txn *txn, const struct rig_txn_op *ops, uint32_t op_count,
                 size_t at, bool is_open)
{
    struct rig_course_bar bar = {.process = txn->process,
                                 .node = UINT32_MAX,
                                 .outcome = is_open ? RIG_OUTCOME_INFO : txn->outcome,
                                 .kind = RIG_COURSE_READ_ONLY,
                                 .name = txn->complete_at != RIG_POSITION_NONE && !is_open ? txn->complete_at
                                                                                           : txn->invoke_at};
    bar.invoke_ns = txn->invoke_ns == RIG_NO_TIME ? RIG_NO_TIME : txn->invoke_ns - r->zero_ns;
    bar.complete_ns = is_open || txn->complete_ns == RIG_NO_TIME ? RIG_NO_TIME : txn->complete_ns - r->zero_ns;
    for (uint32_t i = 0; i < op_count; i++)
        if (!rig_op_reads(ops[i].kind))
            bar.kind = RIG_COURSE_WRITING;
    if (bar.complete_ns != RIG_NO_TIME)
        count(r, txn, &bar);
    if (bar.invoke_ns == RIG_NO_TIME) {
        r->unfit = bar.complete_ns == RIG_NO_TIME;
        bar.invoke_ns = bar.complete_ns;
    }
    if (r->unfit)
        return;
    const enum rig_course_why reason = why(&r->choice, &bar);
    if (reason == RIG_COURSE_WHYS)
        return;
    bar.why = (uint8_t)reason;
    (void)note_client(r->course, bar.process);
    const int64_t node = is_open ? RIG_COLUMN_NONE : rig_columns_get(&r->segment->columns, RIG_COLUMN_NODE, at);
    if (node != RIG_COLUMN_NONE && node >= 0 && (uint64_t)node < r->segment->columns.names.count) {
        const char *name = r->segment->columns.names.texts[node];
        bar.node = rig_text_table_put(&r->course->texts, name, strlen(name));
    }
    keep(r, is_open ? &r->open : &r->course->bars, is_open ? &r->open_ops : &r->course->ops, &bar, ops, op_count);
}

static void take_segment(struct reader *r, const struct rig_segment *segment)
{
    r->segment = segment;
    r->unfit |= segment->unordered;
    for (size_t i = 0; i < segment->txns.count && !r->unfit && !r->failed; i++) {
        const struct rig_txn *txn = &segment->txns.at[i];
        const size_t end = i + 1 < segment->txns.count ? segment->txns.at[i + 1].first_op : segment->ops.count;
        take(r, txn, segment->ops.at + txn->first_op, (uint32_t)(end - txn->first_op), i, false);
    }
    r->course->txn_count += segment->txns.count;
    r->open.count = r->open_ops.count = 0;
    for (size_t i = 0; i < segment->open.count && i < OPEN_BARS && !r->unfit && !r->failed; i++) {
        const struct rig_txn *txn = &segment->open.at[i];
        const size_t end = i + 1 < segment->open.count ? segment->open.at[i + 1].first_op : segment->open_ops.count;
        take(r, txn, segment->open_ops.at + txn->first_op, (uint32_t)(end - txn->first_op), i, true);
    }
}

/* Those that never completed come last. */
static void take_open(struct reader *r)
{
    const uint32_t first = (uint32_t)r->course->ops.count;
    for (size_t i = 0; i < r->open_ops.count; i++)
        r->failed |= !rig_course_ops_add(&r->course->ops, r->open_ops.at[i]);
    for (size_t i = 0; i < r->open.count; i++) {
        r->open.at[i].first_op += first;
        r->failed |= !rig_course_bars_add(&r->course->bars, r->open.at[i]);
    }
}

/* -- reading ------------------------------------------------------------------------------------------------------- */

void rig_course_free(struct rig_course *course)
{
    if (course == NULL)
        return;
    rig_course_bars_done(&course->bars);
    rig_course_ops_done(&course->ops);
    rig_text_table_done(&course->texts);
    free(course);
}

static enum rig_rc read_all(struct reader *r, struct rig_source *source, uint64_t *open_count, struct rig_err *err)
{
    const struct rig_segment *segment = NULL;
    enum rig_rc rc = rig_source_next(source, &segment, err);
    while (rc == RIG_OK && segment != NULL && !r->unfit && !r->failed) {
        take_segment(r, segment);
        *open_count = segment->open.count;
        rc = rig_source_next(source, &segment, err);
    }
    if (r->failed)
        rc = rig_no_memory(err, "the charts of the report");
    return rc;
}

enum rig_rc rig_course_read(const char *const *paths, size_t path_count, const struct rig_source_options *options,
                            const struct rig_verdict *verdict, uint32_t client_count, struct rig_course **course,
                            struct rig_err *err)
{
    struct rig_source *source = NULL;
    struct rig_source_options limited = *options;
    struct rig_err why = {0};
    uint64_t open_count = 0;
    *course = NULL;
    limited.load.limit_bytes = verdict->limit_bytes;
    if (verdict->limit_bytes != 0 && verdict->limit_bytes / 4 < sizeof **course)
        return rig_fail(err, RIG_E_LIMIT, "they take %zu KiB, which is more than a quarter of --max-memory",
                        sizeof **course >> 10);
    enum rig_rc rc = rig_source_open_ranks(paths, path_count, &limited, &source, &why);
    struct reader r = {.course = calloc(1, sizeof *r.course), .zero_ns = rig_history_zero_ns(verdict->history)};
    if (rc == RIG_OK && (r.course == NULL || !choose(&r.choice, verdict, r.zero_ns)))
        rc = rig_no_memory(&why, "the charts of the report");
    if (rc == RIG_OK) {
        r.course->slot_ns = RIG_NS_PER_MS;
        r.course->client_count = client_count;
        for (uint32_t row = 0; row < RIG_COURSE_ROWS; row++)
            r.course->rows[row].least = UINT32_MAX;
        rig_text_table_init(&r.course->texts, 0);
        r.row_names = rig_row_names_of(rig_source_facts(source)->meta);
        rc = read_all(&r, source, &open_count, &why);
        take_open(&r);
        r.course->txn_count += open_count;
        while (r.course->slot_count > SLOTS_LEAST && r.course->txn_count < (uint64_t)r.course->slot_count * SLOT_TXNS)
            join_pairs(r.course);
        r.course->is_partial = r.course->bars.count < r.course->txn_count;
    }
    if (rc == RIG_OK && !r.unfit && !r.failed && r.course->bars.count > 0) {
        *course = r.course;
        r.course = NULL;
    } else if (rc != RIG_OK && rc != RIG_E_INPUT) {
        *err = why;
    } else {
        rc = RIG_OK; /* a file that has to be sorted was judged; its order is not that of the file */
    }
    rig_course_free(r.course);
    free(r.choice.names);
    rig_course_bars_done(&r.open);
    rig_course_ops_done(&r.open_ops);
    rig_source_close(source);
    return rc;
}

void rig_course_say_drawn(struct rig_buf *out, const struct rig_course *course)
{
    if (!course->is_partial) {
        rig_buf_add_text(out, "All ");
        rig_words_count(out, course->txn_count);
        rig_buf_printf(out, " transaction%s are drawn.", rig_plural(course->txn_count));
        return;
    }
    rig_words_count(out, course->bars.count);
    rig_buf_add_text(out, " of ");
    rig_words_count(out, course->txn_count);
    rig_buf_add_text(
        out, " transactions are drawn: all of the witnesses, those around the first witness of each anomaly and "
             "around the first begin and end of each fault, and a sample of the others, in which those that "
             "were not acknowledged count more.");
}
