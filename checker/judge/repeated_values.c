#include "checker/judge/repeated_values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/decide/solve/sat.h"
#include "checker/explain/say.h"
#include "checker/explain/sentence.h"
#include "checker/judge/ambiguous_reads.h"
#include "checker/judge/asked.h"
#include "checker/judge/fate.h"
#include "history/types/types.h"

enum { TOLD_CASES = 8, TOLD_CHOICES = 4, PROPOSAL_WITNESSES = 64 };

/* Choices that no history of the levels `refutes` makes together. */
struct refuted_choices {
    uint32_t first, count; /* into `together` */
    uint64_t refutes;      /* by a witness of a proposal with them */
    uint64_t confirmed;    /* by a check of the history with these choices alone */
    const char *reason;    /* once it is confirmed: the anomaly and its transactions */
};

RIG_VEC(struct refuted_choices, refuted_choices_list)

struct deciding {
    struct rig_history *history;
    const struct rig_check_options *options;
    struct rig_verdict *verdict;
    struct rig_choice_record *record; /* or NULL */
    struct rig_arena *arena;          /* of the verdict */
    struct rig_err *err;
    int64_t deadline_ns;
    struct rig_ambiguous_reads ambiguous;
    struct refuted_choices_list refuted;
    struct rig_choice_numbers together;
    struct rig_choice_numbers given; /* per clause of the solver after those of the reads: into `refuted` */
    bool *none, *marked;             /* per read: false; scratch */
    uint32_t *chosen;                /* per read: its choice in the proposal */
    bool careful;                    /* witnesses do not stand by themselves: learn from whole proposals */
    uint64_t held, broken, open;
};

static enum rig_rc no_memory(const struct deciding *d)
{
    return rig_memory_limit(d->err, "the reads of repeated values");
}

bool rig_repeated_values_matter(const struct rig_verdict *verdict)
{
    return rig_workload_repeats_values(verdict->scope.workload) && verdict->lattice == RIG_LATTICE_EXACT &&
           verdict->scope.unknown_reads > 0 && verdict->scope.lost_count == 0;
}

/* Finds the ambiguous reads, and refutes their dirty choices from read committed on. */
static enum rig_rc find_reads(struct deciding *d)
{
    bool done = rig_ambiguous_reads_find(d->history, &d->options->initial, &d->ambiguous);
    const uint32_t choices = (uint32_t)d->ambiguous.choices.count;
    for (uint32_t i = 0; done && i < choices; i++) {
        const struct refuted_choices dirty = {.first = (uint32_t)d->together.count,
                                              .count = 1,
                                              .refutes = rig_level_info(RIG_LEVEL_READ_COMMITTED)->above};
        if (d->ambiguous.choices.at[i].dirty)
            done = rig_choice_numbers_add(&d->together, i) && refuted_choices_list_add(&d->refuted, dirty);
    }
    const size_t count = d->ambiguous.reads.count + 1;
    d->chosen = done ? rig_arena_array(d->arena, count, sizeof d->chosen[0]) : NULL;
    d->none = done ? rig_arena_array(d->arena, count, sizeof d->none[0]) : NULL;
    d->marked = done ? rig_arena_array(d->arena, count, sizeof d->marked[0]) : NULL;
    return d->chosen != NULL && d->none != NULL && d->marked != NULL ? RIG_OK : no_memory(d);
}

/* ---- the check of a proposal ---- */

struct rig_check_options rig_choices_options(const struct rig_check_options *options, int64_t budget_ns)
{
    struct rig_check_options with = *options;
    with.levels = RIG_LEVEL_BIT(RIG_LEVEL_STRICT_SERIALIZABLE);
    with.anomalies = 0;
    with.max_witnesses = PROPOSAL_WITNESSES;
    with.budget_ns = budget_ns > RIG_NS_PER_MS ? budget_ns : RIG_NS_PER_MS;
    with.spent_ns = 0;
    return with;
}

static enum rig_rc check_choices(struct deciding *d, const bool *only, struct rig_verdict **verdict)
{
    const struct rig_check_options options = rig_choices_options(d->options, d->deadline_ns - rig_clock_now_ns());
    rig_ambiguous_reads_set(&d->ambiguous, d->chosen, only, d->history);
    return rig_check(d->history, &options, verdict, d->err);
}

static uint64_t levels_with(const struct rig_verdict *verdict, enum rig_fate fate)
{
    uint64_t levels = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        levels |= verdict->levels[level].fate == fate ? RIG_LEVEL_BIT(level) : 0;
    return levels;
}

/* Notes that the choices of the witness's transactions (NULL: all) are refuted together. */
static enum rig_rc learn(struct deciding *d, const struct rig_witness *witness, uint64_t refutes)
{
    struct refuted_choices refuted = {.first = (uint32_t)d->together.count, .refutes = refutes};
    const uint32_t count = (uint32_t)d->ambiguous.reads.count;
    bool done = true;
    for (uint32_t t = 0; witness != NULL && t < witness->txn_count; t++) {
        const uint32_t txn = witness->txns[t];
        for (uint32_t i = rig_ambiguous_reads_from(&d->ambiguous, txn);
             done && i < count && d->ambiguous.reads.at[i].txn == txn; i++)
            done = rig_choice_numbers_add(&d->together, d->chosen[i]);
    }
    for (uint32_t i = 0; witness == NULL && done && i < count; i++)
        done = rig_choice_numbers_add(&d->together, d->chosen[i]);
    refuted.count = (uint32_t)d->together.count - refuted.first;
    if (!done || (refuted.count > 0 && !refuted_choices_list_add(&d->refuted, refuted)))
        return no_memory(d);
    return RIG_OK;
}

/* Learns from the witnesses that refute the level; from the whole proposal where they name no choice. */
static enum rig_rc learn_all(struct deciding *d, const struct rig_verdict *verdict, unsigned level)
{
    const size_t before = d->refuted.count;
    enum rig_rc rc = RIG_OK;
    for (unsigned anomaly = 0; !d->careful && anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        for (uint32_t i = 0; rc == RIG_OK && i < finding->witness_count; i++) {
            if (finding->witnesses[i].refutes & RIG_LEVEL_BIT(level))
                rc = learn(d, &finding->witnesses[i], finding->witnesses[i].refutes);
        }
    }
    if (rc == RIG_OK && d->refuted.count == before)
        rc = learn(d, NULL, levels_with(verdict, RIG_FATE_REFUTED));
    return rc;
}

/* ---- proposals ---- */

/* "The read shows the choice". The first use says which choices are tried first. */
static int literal_of(const struct deciding *d, struct rig_sat *sat, uint32_t read, uint32_t choice)
{
    return rig_sat_literal(sat, read, (uint32_t)d->ambiguous.reads.count + choice);
}

static bool add_reads(const struct deciding *d, struct rig_sat *sat)
{
    const uint32_t count = (uint32_t)d->ambiguous.reads.count;
    bool done = true;
    for (uint32_t i = 0; done && i < count; i++) {
        const struct rig_ambiguous_read *read = &d->ambiguous.reads.at[i];
        for (uint32_t c = read->first; done && c < read->first + read->count; c++) {
            done = (c == read->first ? rig_sat_literal(sat, i, count + c) : rig_sat_literal(sat, count + c, i)) != 0 &&
                   rig_sat_add(sat, literal_of(d, sat, i, c));
        }
        done = done && rig_sat_close(sat);
    }
    return done;
}

static uint32_t read_of(const struct deciding *d, uint32_t choice)
{
    return rig_ambiguous_read_of(&d->ambiguous, choice);
}

static bool add_refuted(struct deciding *d, struct rig_sat *sat, uint32_t number)
{
    const struct refuted_choices *refuted = &d->refuted.at[number];
    bool done = rig_choice_numbers_add(&d->given, number);
    for (uint32_t i = 0; done && i < refuted->count; i++) {
        const uint32_t choice = d->together.at[refuted->first + i];
        done = rig_sat_add(sat, -literal_of(d, sat, read_of(d, choice), choice));
    }
    return done && rig_sat_close(sat);
}

static void take_proposal(struct deciding *d, const struct rig_sat *sat)
{
    const uint32_t count = (uint32_t)d->ambiguous.reads.count;
    for (uint32_t i = 0; i < count; i++)
        d->chosen[i] = UINT32_MAX;
    for (size_t variable = 0; variable < sat->pairs.count; variable++) {
        const struct rig_sat_pair pair = rig_sat_chosen(sat, variable);
        if (pair.before < count &&
            (d->chosen[pair.before] == UINT32_MAX || pair.after - count < d->chosen[pair.before]))
            d->chosen[pair.before] = pair.after - count;
    }
    for (uint32_t i = 0; i < count; i++)
        RIG_INVARIANT(d->chosen[i] != UINT32_MAX);
}

/* ---- the record ---- */

void rig_choice_record_done(struct rig_choice_record *record)
{
    rig_ambiguous_reads_done(&record->ambiguous);
    rig_choice_numbers_done(&record->numbers);
    rig_decided_choices_vec_done(&record->held);
    rig_decided_choices_vec_done(&record->cases);
}

/* Adds choices that decide the levels, where a record is wanted. */
static enum rig_rc note_choices(struct deciding *d, struct rig_decided_choices_vec *decided, uint64_t levels,
                                const uint32_t *choices, size_t count)
{
    struct rig_choice_numbers *numbers = &d->record->numbers;
    const struct rig_decided_choices noted = {levels, (uint32_t)numbers->count, (uint32_t)count};
    bool done = numbers->count + count < UINT32_MAX;
    for (size_t i = 0; done && i < count; i++)
        done = rig_choice_numbers_add(numbers, choices[i]);
    return done && rig_decided_choices_vec_add(decided, noted) ? RIG_OK : no_memory(d);
}

/* The levels that hold with the proposal. */
static enum rig_rc note_held(struct deciding *d, uint64_t held)
{
    const bool is_new = (held & ~d->held) != 0;
    d->held |= held;
    return d->record == NULL || !is_new ? RIG_OK
                                        : note_choices(d, &d->record->held, held, d->chosen, d->ambiguous.reads.count);
}

/* The refuted choices of the solver's core, which are the cases of the level. */
static enum rig_rc note_cases(struct deciding *d, unsigned level, const struct rig_sat_clauses *core)
{
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; d->record != NULL && rc == RIG_OK && i < core->count; i++) {
        if (core->at[i] < d->ambiguous.reads.count)
            continue;
        const struct refuted_choices *refuted = &d->refuted.at[d->given.at[core->at[i] - d->ambiguous.reads.count]];
        rc = note_choices(d, &d->record->cases, RIG_LEVEL_BIT(level), &d->together.at[refuted->first], refuted->count);
    }
    return rc;
}

/* Checks the proposal: the level holds, is open, or refuted choices are learned. */
static enum rig_rc try_proposal(struct deciding *d, unsigned level, struct rig_sat *sat, bool *ended)
{
    struct rig_verdict *verdict = NULL;
    const size_t before = d->refuted.count;
    take_proposal(d, sat);
    enum rig_rc rc = check_choices(d, NULL, &verdict);
    if (rc != RIG_OK)
        return rc;
    rc = note_held(d, levels_with(verdict, RIG_FATE_HELD));
    *ended = verdict->levels[level].fate != RIG_FATE_REFUTED;
    if (verdict->levels[level].fate == RIG_FATE_NOT_REFUTED)
        d->open |= RIG_LEVEL_BIT(level);
    if (rc == RIG_OK && !*ended)
        rc = learn_all(d, verdict, level);
    for (size_t i = before; rc == RIG_OK && i < d->refuted.count; i++) {
        if (!add_refuted(d, sat, (uint32_t)i))
            rc = no_memory(d);
    }
    rig_verdict_free(verdict);
    return rc;
}

/* ---- what is told ---- */

static void say_choice(const struct deciding *d, uint32_t choice, struct rig_buf *text)
{
    const struct rig_ambiguous_read *read = &d->ambiguous.reads.at[read_of(d, choice)];
    rig_say(d->history, text, "%T read key %K as ", read->txn, d->history->ops[read->op].key);
    if (d->ambiguous.choices.at[choice].writer == RIG_CHOICE_INITIAL)
        rig_buf_add_text(text, "it was at first");
    else
        rig_say(d->history, text, "%T wrote it", d->ambiguous.choices.at[choice].writer);
}

/* The cases that leave no choice: the refuted choices of `core`. */
static void say_cases(const struct deciding *d, const struct rig_sat_clauses *core, struct rig_buf *text)
{
    uint64_t said = 0;
    for (size_t i = 0; i < core->count; i++) {
        if (core->at[i] < d->ambiguous.reads.count || said++ >= TOLD_CASES)
            continue;
        const struct refuted_choices *refuted = &d->refuted.at[d->given.at[core->at[i] - d->ambiguous.reads.count]];
        rig_buf_add_text(text, "\n  - ");
        for (uint32_t c = 0; c < refuted->count && c < TOLD_CHOICES; c++) {
            rig_buf_add_text(text, c == 0 ? "If " : c + 1 == refuted->count ? " and " : ", ");
            say_choice(d, d->together.at[refuted->first + c], text);
        }
        if (refuted->count > TOLD_CHOICES)
            rig_buf_printf(text, " and %" PRIu32 " more reads show what was tried", refuted->count - TOLD_CHOICES);
        rig_buf_printf(text, ": %s.", refuted->reason);
    }
    if (said > TOLD_CASES)
        rig_buf_printf(text, "\n  - and %" PRIu64 " more cases", said - TOLD_CASES);
}

static int compare_txns(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The transactions of the reads in the cases, ascending. */
static bool list_txns(const struct deciding *d, const struct rig_sat_clauses *core, struct rig_witness *witness)
{
    struct rig_choice_numbers txns = {0};
    bool done = true;
    for (size_t i = 0; done && i < core->count; i++) {
        if (core->at[i] < d->ambiguous.reads.count)
            done = rig_choice_numbers_add(&txns, d->ambiguous.reads.at[core->at[i]].txn);
    }
    if (done && txns.count > 0)
        qsort(txns.at, txns.count, sizeof txns.at[0], compare_txns);
    size_t kept = 0;
    for (size_t i = 0; i < txns.count; i++) {
        if (kept == 0 || txns.at[kept - 1] != txns.at[i])
            txns.at[kept++] = txns.at[i];
    }
    witness->txns = done ? rig_arena_array(d->arena, kept + 1, sizeof witness->txns[0]) : NULL;
    if (witness->txns != NULL && kept > 0)
        memcpy(witness->txns, txns.at, kept * sizeof txns.at[0]);
    witness->txn_count = (uint32_t)kept;
    rig_choice_numbers_done(&txns);
    return witness->txns != NULL;
}

/* Adds the witness, in place of those at stronger levels. `room`: for one more than there are. */
static void keep_weakest(struct rig_finding *finding, const struct rig_witness *witness, struct rig_witness *room)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < finding->witness_count; i++) {
        if ((finding->witnesses[i].refutes & ~witness->refutes) != 0)
            room[kept++] = finding->witnesses[i];
    }
    room[kept++] = *witness;
    finding->count += kept;
    finding->count -= finding->witness_count;
    finding->witnesses = room;
    finding->witness_count = kept;
    finding->refutes |= witness->refutes;
}

/* Adds to the verdict that no choice keeps the level. */
static enum rig_rc add_witness(struct deciding *d, unsigned level, const struct rig_sat_clauses *core)
{
    struct rig_finding *finding = &d->verdict->findings[RIG_ANOMALY_NO_VERSION_ORDER];
    struct rig_witness *room =
        rig_arena_array(d->arena, (size_t)finding->witness_count + 1, sizeof finding->witnesses[0]);
    struct rig_witness witness = {.anomaly = RIG_ANOMALY_NO_VERSION_ORDER,
                                  .key = UINT32_MAX,
                                  .op = UINT32_MAX,
                                  .other_op = UINT32_MAX,
                                  .refutes = rig_level_info((enum rig_level)level)->above};
    struct rig_buf cases;
    rig_buf_init(&cases, 0);
    rig_ambiguous_reads_set(&d->ambiguous, d->chosen, d->none, d->history);
    bool done = room != NULL && list_txns(d, core, &witness);
    if (done) {
        say_cases(d, core, &cases);
        done = !cases.failed &&
               rig_sentence_word_choices(d->history, &witness, (enum rig_level)level, rig_buf_text(&cases), d->arena);
    }
    rig_buf_done(&cases);
    if (!done)
        return no_memory(d);
    keep_weakest(finding, &witness, room);
    d->broken |= witness.refutes;
    return RIG_OK;
}

/* ---- levels ---- */

/* Whether the choices alone refute the level, which a check of the history with them decides. */
static enum rig_rc confirm(struct deciding *d, unsigned level, struct refuted_choices *refuted)
{
    struct rig_verdict *verdict = NULL;
    bool *only = d->marked;
    memset(only, 0, d->ambiguous.reads.count * sizeof only[0]);
    for (uint32_t i = 0; i < refuted->count; i++) {
        const uint32_t choice = d->together.at[refuted->first + i];
        only[read_of(d, choice)] = true;
        d->chosen[read_of(d, choice)] = choice;
    }
    const enum rig_rc rc = check_choices(d, only, &verdict);
    if (rc != RIG_OK)
        return rc;
    const struct rig_level_result *result = &verdict->levels[level];
    const bool is_refuted = result->fate == RIG_FATE_REFUTED;
    if (is_refuted) {
        refuted->confirmed |= levels_with(verdict, RIG_FATE_REFUTED);
        refuted->reason = rig_arena_text(d->arena, result->reason, strlen(result->reason));
    } else {
        refuted->refutes = 0;
        d->careful = true;
    }
    rig_verdict_free(verdict);
    return !is_refuted || refuted->reason != NULL ? RIG_OK : no_memory(d);
}

/* No proposal is left: the level is refuted if the refuted choices of the solver's core are confirmed. */
static enum rig_rc refute(struct deciding *d, unsigned level, struct rig_sat *sat, bool *ended)
{
    struct rig_sat_clauses core = {0};
    enum rig_rc rc = rig_sat_core(sat, &core) ? RIG_OK : no_memory(d);
    *ended = true;
    for (size_t i = 0; rc == RIG_OK && i < core.count; i++) {
        struct refuted_choices *refuted = core.at[i] < d->ambiguous.reads.count
                                              ? NULL
                                              : &d->refuted.at[d->given.at[core.at[i] - d->ambiguous.reads.count]];
        if (refuted == NULL || (refuted->confirmed & RIG_LEVEL_BIT(level)) != 0)
            continue;
        rc = confirm(d, level, refuted);
        *ended &= refuted->refutes != 0;
    }
    if (rc == RIG_OK && *ended)
        rc = add_witness(d, level, &core);
    if (rc == RIG_OK && *ended)
        rc = note_cases(d, level, &core);
    rig_sat_clauses_done(&core);
    return rc;
}

/* Gives the solver the reads and what is refuted at the level so far, which `given` lists. */
static enum rig_rc begin_level(struct deciding *d, unsigned level, struct rig_sat *sat)
{
    d->given.count = 0;
    bool done = add_reads(d, sat);
    for (size_t i = 0; done && i < d->refuted.count; i++) {
        if (d->refuted.at[i].refutes & RIG_LEVEL_BIT(level))
            done = add_refuted(d, sat, (uint32_t)i);
    }
    return done ? RIG_OK : no_memory(d);
}

/* Until the level is decided or open; or, where choices were not confirmed, once. */
static enum rig_rc ask_level(struct deciding *d, unsigned level, bool *ended)
{
    const struct rig_solve_budget budget = {.deadline_ns = d->deadline_ns, .limit_bytes = d->options->limit_bytes};
    struct rig_sat sat;
    if (!rig_sat_init(&sat, &budget))
        return no_memory(d);
    enum rig_rc rc = begin_level(d, level, &sat);
    for (bool again = true; again && rc == RIG_OK;) {
        const enum rig_answer answer = rig_clock_now_ns() < d->deadline_ns ? rig_sat_solve(&sat) : RIG_ANSWER_SPENT;
        again = answer == RIG_ANSWER_YES;
        if (answer == RIG_ANSWER_YES)
            rc = try_proposal(d, level, &sat, ended);
        else if (answer == RIG_ANSWER_NO)
            rc = refute(d, level, &sat, ended);
        else
            d->open |= RIG_LEVEL_BIT(level);
        *ended |= answer == RIG_ANSWER_SPENT;
        again &= !*ended;
    }
    rig_sat_done(&sat);
    return rc;
}

static enum rig_rc decide_levels(struct deciding *d)
{
    enum rig_rc rc = RIG_OK;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        d->broken |= d->verdict->levels[level].fate == RIG_FATE_REFUTED ? RIG_LEVEL_BIT(level) : 0;
    while (rc == RIG_OK) {
        const uint64_t left = (RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1) & ~(d->held | d->broken | d->open);
        if (left == 0)
            break;
        const uint64_t strongest = rig_levels_strongest_in(d->verdict->lattice, left);
        for (bool ended = false; rc == RIG_OK && !ended;)
            rc = ask_level(d, (unsigned)__builtin_ctzll(strongest), &ended);
    }
    return rc;
}

/* The verdict, once the levels are decided. */
static enum rig_rc conclude(struct deciding *d)
{
    struct rig_verdict *verdict = d->verdict;
    RIG_INVARIANT((d->held & d->broken) == 0);
    verdict->scope.unknown_reads -= d->ambiguous.reads.count;
    verdict->scope.open_reads += d->ambiguous.reads.count;
    verdict->explained_levels = d->held;
    if (rig_clock_now_ns() >= d->deadline_ns)
        verdict->spent_levels |= d->open & ~d->held & ~d->broken;
    enum rig_rc rc = rig_fates_decide(d->arena, verdict, d->err);
    return rc == RIG_OK ? rig_asked_decide(d->arena, verdict, verdict->undecided_anomalies, d->err) : rc;
}

static void done(struct deciding *d)
{
    rig_history_free(d->history);
    rig_ambiguous_reads_done(&d->ambiguous);
    refuted_choices_list_done(&d->refuted);
    rig_choice_numbers_done(&d->together);
    rig_choice_numbers_done(&d->given);
}

/* The check without choices has spent the rest. */
static int64_t budget_left(const struct rig_verdict *verdict)
{
    const int64_t left_ns = verdict->budget_ns - (int64_t)(verdict->cost.solver_ms * (double)RIG_NS_PER_MS);
    return left_ns > 0 ? left_ns : 0;
}

enum rig_rc rig_repeated_values_decide(const struct rig_history *history, const struct rig_check_options *options,
                                       struct rig_verdict *verdict, struct rig_choice_record *record,
                                       struct rig_err *err)
{
    struct rig_verdict_storage *storage = verdict->storage;
    struct deciding d = {.history = rig_ambiguous_reads_own(history, &storage->arena),
                         .options = options,
                         .verdict = verdict,
                         .record = record,
                         .arena = &storage->arena,
                         .err = err,
                         .deadline_ns = rig_clock_now_ns() + budget_left(verdict)};
    RIG_REQUIRE(rig_repeated_values_matter(verdict));
    enum rig_rc rc = d.history == NULL ? no_memory(&d) : find_reads(&d);
    if (rc == RIG_OK && d.ambiguous.reads.count > 0 && !d.ambiguous.too_many)
        rc = decide_levels(&d);
    if (rc == RIG_OK && d.ambiguous.reads.count > 0 && !d.ambiguous.too_many)
        rc = conclude(&d);
    if (record != NULL) {
        record->ambiguous = d.ambiguous;
        d.ambiguous = (struct rig_ambiguous_reads){0};
    }
    done(&d);
    return rc;
}

enum rig_rc rig_repeated_values_check(const struct rig_history *history, const struct rig_check_options *options,
                                      struct rig_verdict **verdict, struct rig_err *err)
{
    struct rig_verdict *made = NULL;
    enum rig_rc rc = rig_check(history, options, &made, err);
    if (rc == RIG_OK && rig_repeated_values_matter(made))
        rc = rig_repeated_values_decide(history, options, made, NULL, err);
    if (rc == RIG_OK)
        *verdict = made;
    else
        rig_verdict_free(made);
    return rc;
}
