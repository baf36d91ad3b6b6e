#include "checker/judge/proof/prove.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "checker/infer/type_inference.h"
#include "checker/decide/counters/counter_levels.h"
#include "checker/judge/judge.h"
#include "checker/judge/repeated_values.h"
#include "checker/judge/row_levels.h"
#include "checker/objects/object_order.h"
#include "checker/judge/proof/choice_claims.h"
#include "checker/judge/proof/prove_order.h"
#include "checker/judge/proof/witness_lines.h"
#include "checker/prove/witness/single_line.h"
#include "checker/decide/solve/explanations.h"
#include "checker/explain/assumed.h"
#include "history/model/fingerprint.h"
#include "history/model/value_texts.h"
#include "history/types/types.h"

enum {
    NAMES_A_LINE = 16,
    /* A question about sets has a read for each element of each read set. */
    MOST_SET_READS = 1 << 26,
};

struct proving {
    const struct rig_history *history;
    const struct rig_verdict *verdict, *without; /* without choices of reads; else the same */
    const struct rig_check_options *options;
    struct rig_judge judge;
    struct rig_problem problem; /* the question that was asked last, and whether it is of items alone */
    bool has_problem, is_of_items;
    bool has_total; /* the assumption is written */
    struct rig_prove_events events;
    struct rig_row_missed missed;   /* of an order of rows */
    struct rig_buf *text, *assumed; /* the claims, and what they assume: the same buffer, unless one is of cases */
    struct rig_err *err;
};

/* Bits: the levels of this fate. */
static uint64_t levels_of(const struct rig_verdict *verdict, enum rig_fate fate)
{
    uint64_t levels = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        levels |= verdict->levels[level].fate == fate ? RIG_LEVEL_BIT(level) : 0;
    return levels;
}

static enum rig_rc no_memory(const struct proving *p)
{
    return rig_memory_limit(p->err, "the proof");
}

static void say_open(struct proving *p, enum rig_level level, const char *why)
{
    rig_buf_printf(p->text, "open %s %s\n", rig_level_info(level)->name, why);
}

/* ---- levels held ---- */

/* The commits that reads of rows missed which show a number or a sum. */
static void write_missed(struct proving *p)
{
    const struct rig_missed *missed = p->missed.at;
    for (size_t i = 0; i < p->missed.count; i++) {
        const uint32_t op = missed[i].op, txn = rig_history_txn_of(p->history, op);
        if (i == 0 || missed[i - 1].op != op)
            rig_buf_printf(p->text, "misses %" PRIu32 " %" PRIu32, rig_txn_name(p->history, txn),
                           op - p->history->txns[txn].first_op);
        rig_buf_printf(p->text, " %" PRIu32, rig_txn_name(p->history, missed[i].txn));
        if (i + 1 == p->missed.count || missed[i + 1].op != op)
            rig_buf_add_char(p->text, '\n');
    }
}

static void write_order(struct proving *p, enum rig_level level, const char *kind)
{
    struct rig_buf *text = p->text;
    rig_buf_printf(text, "held %s %s\n", kind, rig_level_info(level)->name);
    for (size_t i = 0; i < p->events.count; i++) {
        rig_buf_add_int(text, rig_txn_name(p->history, p->events.at[i]));
        rig_buf_add_char(text, i % NAMES_A_LINE == NAMES_A_LINE - 1 || i + 1 == p->events.count ? '\n' : ' ');
    }
    write_missed(p);
    rig_buf_add_text(text, ".\n");
}

/* Whether the question of the solver fits: of sets it has a read for each element of each read. */
static bool problem_fits(const struct proving *p)
{
    const struct rig_history *history = p->history;
    uint64_t reads = 0;
    if (rig_data_types[history->workload].shape != RIG_RESULT_SET)
        return true;
    for (uint32_t op = 0; op < history->op_count; op++)
        reads += rig_op_reads(history->ops[op].kind) ? p->judge.inference.sets.key_first[history->ops[op].key + 1] -
                                                           p->judge.inference.sets.key_first[history->ops[op].key]
                                                     : 0;
    return reads <= MOST_SET_READS;
}

/* Whether the level does not ask about reads that found no row of their key. */
static bool is_of_items(const struct proving *p, const struct rig_rule *rule)
{
    return rule->items && !p->judge.inference.prefilled &&
           rig_type_inference(p->history->workload)->found_no_row != NULL;
}

static enum rig_rc need_problem(struct proving *p, bool items)
{
    if (p->has_problem && p->is_of_items == items)
        return RIG_OK;
    rig_problem_done(&p->problem);
    p->has_problem = true;
    p->is_of_items = items;
    return p->judge.type->build_problem(&p->judge.inference, NULL, items, &p->problem, p->err);
}

/* The order of transactions that the edges of the inference give, without rw edges by predicates for levels of
 * items. */
static bool order_of_links(struct proving *p, const struct rig_rule *rule, bool items, bool *found)
{
    const bool writes = rule->form == RIG_RULE_WRITES;
    const unsigned links = rule->form == RIG_RULE_SERIAL ? RIG_LINKS_ALL
                           : writes                      ? RIG_LINKS_WW
                                                         : RIG_LINKS_WW | RIG_LINKS_WR;
    struct rig_inference of_items = {0};
    if (items && !p->judge.type->link_items(&p->judge.inference, NULL, &of_items))
        return false;
    return rig_prove_links_order(items ? &of_items : &p->judge.inference, links, writes, false, rule->along, &p->events,
                                 found);
}

/* The solver's order, of levels whose versions have no known one. */
static enum rig_rc ask_solver(struct proving *p, enum rig_level level, bool *found)
{
    struct rig_explanations answers;
    const int64_t budget_ns = p->options->budget_ns == 0 ? RIG_DEFAULT_BUDGET_NS : p->options->budget_ns;
    const struct rig_solve_budget budget = {.deadline_ns = rig_clock_now_ns() + budget_ns,
                                            .limit_bytes = p->options->limit_bytes};
    enum rig_rc rc = rig_explanations_find(&p->problem, p->history, RIG_LEVEL_BIT(level), &budget, &answers, p->err);
    p->events.count = 0;
    *found = false;
    if (rc == RIG_OK && answers.count > 0 &&
        !rig_prove_order(&p->problem, p->history, rig_level_rule(level), answers.at[0].place, &p->events, found))
        rc = no_memory(p);
    rig_explanations_done(&answers);
    return rc;
}

/* The order in which the operations on all objects take effect. */
static enum rig_rc find_order_of_objects(struct proving *p, enum rig_level level, bool *found)
{
    const int64_t budget_ns = p->options->budget_ns == 0 ? RIG_DEFAULT_BUDGET_NS : p->options->budget_ns;
    const struct rig_objects_limits limits = {.deadline_ns = rig_clock_now_ns() + budget_ns,
                                              .bytes = p->options->limit_bytes};
    struct rig_objects_order order = {0};
    *found = false;
    p->events.count = 0;
    if (level != RIG_LEVEL_STRICT_SERIALIZABLE && level != RIG_LEVEL_STRONG_SESSION_SERIALIZABLE)
        return RIG_OK; /* these two decide all other levels of objects */
    bool fits = level == RIG_LEVEL_STRICT_SERIALIZABLE
                    ? rig_objects_order_find(p->history, p->options->initial, &limits, &order, found)
                    : rig_objects_order_of_sessions(p->history, p->options->initial, &limits, &order, found);
    for (size_t i = 0; fits && *found && i < order.count; i++)
        fits = rig_prove_events_add(&p->events, order.at[i]);
    rig_objects_order_done(&order);
    return fits ? RIG_OK : no_memory(p);
}

/* An order of the increments, whose kind depends on the search that found it. */
static enum rig_rc find_order_of_sums(struct proving *p, enum rig_level level, const char **kind, bool *found)
{
    static const char *const kinds[] = {[RIG_SUM_SERIAL] = "serial",
                                        [RIG_SUM_ITEMS] = "items",
                                        [RIG_SUM_SNAPSHOT] = "snapshot",
                                        [RIG_SUM_OPERATIONS] = "operations"};
    const int64_t budget_ns = p->options->budget_ns == 0 ? RIG_DEFAULT_BUDGET_NS : p->options->budget_ns;
    const struct rig_sum_limits limits = {.deadline_ns = rig_clock_now_ns() + budget_ns,
                                          .bytes = p->options->limit_bytes};
    struct rig_sum_order order = {0};
    enum rig_sum_form form = RIG_SUM_SERIAL;
    p->events.count = 0;
    enum rig_rc rc = rig_sums_order(p->history, level, &limits, &form, &order, found, p->err);
    for (size_t i = 0; rc == RIG_OK && *found && i < order.count; i++)
        rc = rig_prove_events_add(&p->events, order.at[i]) ? RIG_OK : no_memory(p);
    *kind = kinds[form];
    rig_sum_order_done(&order);
    return rc;
}

/* An order of the transactions on rows, and what counts of them missed. */
static enum rig_rc find_order_of_rows(struct proving *p, enum rig_level level, const char **kind, bool *found)
{
    const int64_t budget_ns = p->options->budget_ns == 0 ? RIG_DEFAULT_BUDGET_NS : p->options->budget_ns;
    struct rig_row_order order = {0};
    const enum rig_rc rc =
        rig_rows_order(p->history, &p->judge, level, rig_clock_now_ns() + budget_ns, &order, found, p->err);
    rig_prove_events_done(&p->events);
    rig_row_missed_done(&p->missed);
    p->events = order.events;
    p->missed = order.missed;
    *kind = rig_order_kinds[order.kind];
    return rc;
}

/* By the edges of the inference where reads show all orders that matter, else by those of a question. */
static enum rig_rc find_order(struct proving *p, enum rig_level level, bool *found)
{
    const struct rig_rule *rule = rig_level_rule(level);
    const struct rig_type_inference *type = p->judge.type;
    const bool writes = rule->form == RIG_RULE_WRITES;
    enum rig_rc rc = RIG_OK;
    p->events.count = 0;
    *found = p->verdict->scope.committed_count == 0; /* an order without transactions explains that none committed */
    if (*found)
        return RIG_OK;
    if (type->objects)
        return find_order_of_objects(p, level, found);
    const bool items = is_of_items(p, rule);
    if ((writes || (type->total_orders && (rule->form == RIG_RULE_SERIAL || rule->form == RIG_RULE_FLOW))) &&
        !order_of_links(p, rule, items, found))
        return no_memory(p);
    if (*found || writes || !problem_fits(p))
        return rc;
    rc = need_problem(p, items);
    if (rc == RIG_OK && type->total_orders) {
        p->events.count = 0;
        if (!rig_prove_order(&p->problem, p->history, rule, NULL, &p->events, found))
            rc = no_memory(p);
    }
    return rc != RIG_OK || *found ? rc : ask_solver(p, level, found);
}

/* Orders of rows are of all commits: what each read saw of the rows that it misses is not in them. */
static const char *why_without_order(const struct proving *p, enum rig_level level, const char *kind)
{
    const enum rig_rule_form form = rig_level_rule(level)->form;
    const bool has_order =
        form == RIG_RULE_WRITES || form == RIG_RULE_FLOW || form == RIG_RULE_SNAPSHOT || form == RIG_RULE_SERIAL;
    if (p->judge.type->certified_by_rows && !has_order)
        return "held, but no kind of order of rows proves it";
    return kind == NULL ? "held, but no kind of order proves it" : "held, but no order was found";
}

/* The strongest first: the levels that follow from one need no order of their own. */
static enum rig_rc prove_held(struct proving *p, uint64_t left)
{
    enum rig_rc rc = RIG_OK;
    for (unsigned i = RIG_LEVEL_COUNT; rc == RIG_OK && i-- > 0;) {
        const enum rig_level level = (enum rig_level)i;
        const struct rig_rule *rule = rig_level_rule(level);
        const char *kind = rig_prove_kind(rule->form, is_of_items(p, rule));
        bool found = false;
        if ((left & RIG_LEVEL_BIT(i)) == 0)
            continue;
        if (p->judge.type->no_edges && p->verdict->scope.committed_count > 0)
            rc = find_order_of_sums(p, level, &kind, &found);
        else if (p->judge.type->certified_by_rows)
            rc = find_order_of_rows(p, level, &kind, &found);
        else if (kind != NULL)
            rc = find_order(p, level, &found);
        if (rc != RIG_OK)
            break;
        if (found)
            write_order(p, level, kind);
        else
            say_open(p, level, why_without_order(p, level, kind));
        left &= ~(found ? rig_level_info(level)->below : RIG_LEVEL_BIT(i));
    }
    return rc;
}

/* ---- levels refuted ---- */

/* Writes that follow reads need no assumption at read committed and above (witness_lines.c). */
static const unsigned assumptions =
    RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_SEQUENTIAL_KEYS) | RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_LINEARIZABLE_KEYS);

/* Those of cases are written once. */
static void assume(struct proving *p, const char *line)
{
    if (p->assumed == p->text || strstr(rig_buf_text(p->assumed), line) == NULL)
        rig_buf_add_text(p->assumed, line);
}

static void write_assumptions(struct proving *p, enum rig_level level, const struct rig_witness *witness)
{
    const unsigned assumed = rig_witness_assumed(witness);
    if ((assumed & RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_WFR_KEYS)) != 0 &&
        (rig_levels_below_committed & RIG_LEVEL_BIT(level)) != 0)
        assume(p, "assume wfr-keys\n");
    if ((assumed & RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_SEQUENTIAL_KEYS)) != 0)
        assume(p, "assume sequential-keys\n");
    if ((assumed & RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_LINEARIZABLE_KEYS)) != 0)
        assume(p, "assume linearizable-keys\n");
    if (witness->anomaly == RIG_ANOMALY_NEGATIVE_BALANCE)
        assume(p, "assume non-negative-balances\n");
    if (rig_takes_total(p->history, witness)) {
        if (!p->has_total)
            rig_buf_printf(p->assumed, "assume total %" PRId64 "\n", p->options->total.value);
        p->has_total = true;
    }
}

static bool write_witness(struct proving *p, enum rig_level level, const struct rig_witness *witness)
{
    const size_t size = p->text->size, assumed_size = p->assumed->size;
    write_assumptions(p, level, witness);
    if (p->assumed == p->text)
        rig_buf_printf(p->text, "refuted %s\n", rig_level_info(level)->name);
    if (rig_prove_witness(p->history, witness, p->text)) {
        rig_buf_add_text(p->text, ".\n");
        return true;
    }
    if (!p->text->failed && !p->assumed->failed) {
        p->assumed->size = assumed_size;
        p->text->size = size;
    }
    return false;
}

/* By a witness that rests on no assumption, if there is one. */
static bool prove_refuted(struct proving *p, enum rig_level level)
{
    bool done = false;
    for (int assumed = 0; assumed < 2; assumed++) {
        for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
            const struct rig_finding *finding = &p->verdict->findings[anomaly];
            for (uint32_t i = 0; i < finding->witness_count && !done; i++) {
                const struct rig_witness *witness = &finding->witnesses[i];
                done = (witness->refutes & RIG_LEVEL_BIT(level)) != 0 &&
                       ((rig_witness_assumed(witness) & assumptions) != 0) == (assumed == 1) &&
                       write_witness(p, level, witness);
            }
        }
    }
    return done;
}

/* The weakest first: the levels above one that is proved need no witness of their own. */
static void prove_all_refuted(struct proving *p)
{
    uint64_t left = levels_of(p->without, RIG_FATE_REFUTED);
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        const enum rig_level level = (enum rig_level)i;
        if ((left & RIG_LEVEL_BIT(i)) == 0)
            continue;
        if (prove_refuted(p, level))
            left &= ~rig_level_info(level)->above;
        else
            say_open(p, level, "refuted, but its witness has no form in a proof");
    }
}

/* ---- the file ---- */

static enum rig_rc write_head(struct proving *p, unsigned version)
{
    uint64_t fingerprint = 0;
    const enum rig_rc rc = rig_history_fingerprint(p->history, &fingerprint, p->err);
    if (rc != RIG_OK)
        return rc;
    rig_buf_printf(p->text, "rig-proof %u\nhistory %016" PRIx64 "\n", version, fingerprint);
    if ((p->options->assumptions & RIG_ASSUMES_PREFILLED) != 0 &&
        rig_type_inference(p->history->workload)->found_no_row != NULL)
        rig_buf_add_text(p->text, "assume prefilled\n");
    if (p->options->initial.known && rig_workload_may_begin(p->history->workload))
        rig_buf_printf(p->text, "assume initial %s\n", RIG_VALUE_SHOWN(p->options->initial.value));
    return RIG_OK;
}

static enum rig_rc write_end(struct proving *p)
{
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        if (p->verdict->levels[i].fate == RIG_FATE_NOT_REFUTED)
            say_open(p, (enum rig_level)i, "not decided");
    }
    rig_buf_add_text(p->text, "end\n");
    return p->text->failed ? no_memory(p) : RIG_OK;
}

static enum rig_rc claim_held(struct proving *p, uint64_t levels)
{
    const enum rig_rc rc = levels == 0 ? RIG_OK : rig_judge_infer(&p->judge, p->history, false, p->err);
    return rc == RIG_OK ? prove_held(p, levels) : rc;
}

static enum rig_rc prove_all(struct proving *p)
{
    enum rig_rc rc = write_head(p, 1);
    if (rc != RIG_OK)
        return rc;
    prove_all_refuted(p);
    rc = claim_held(p, levels_of(p->verdict, RIG_FATE_HELD));
    return rc == RIG_OK ? write_end(p) : rc;
}

/* Levels that the choices of reads decide. */
static enum rig_rc prove_choices(struct proving *p)
{
    struct rig_verdict *verdict = NULL;
    struct rig_choice_record record = {0};
    const uint64_t refuted = levels_of(p->without, RIG_FATE_REFUTED);
    enum rig_rc rc = rig_check(p->history, p->options, &verdict, p->err);
    if (rc == RIG_OK)
        rc = rig_repeated_values_decide(p->history, p->options, verdict, &record, p->err);
    if (rc == RIG_OK) {
        p->verdict = verdict;
        rc = write_head(p, record.held.count > 0 || record.cases.count > 0 ? 2 : 1);
    }
    if (rc == RIG_OK) {
        prove_all_refuted(p);
        rc = rig_choice_claims_refuted(p->history, p->options, &record, levels_of(verdict, RIG_FATE_REFUTED) & ~refuted,
                                       p->text, p->err);
    }
    if (rc == RIG_OK)
        rc =
            rig_choice_claims_held(p->history, p->options, &record, levels_of(verdict, RIG_FATE_HELD), p->text, p->err);
    if (rc == RIG_OK)
        rc = write_end(p);
    rig_choice_record_done(&record);
    rig_verdict_free(verdict);
    return rc;
}

static struct proving begin(const struct rig_history *history, const struct rig_verdict *verdict,
                            const struct rig_check_options *options, struct rig_buf *text, struct rig_err *err)
{
    struct proving p = {.history = history,
                        .verdict = verdict,
                        .without = verdict,
                        .options = options,
                        .text = text,
                        .assumed = text,
                        .err = err};
    /* An order that rests on assumptions explains a history with them; one without them is as good. */
    rig_judge_init(&p.judge, 1,
                   (struct rig_assumptions){.made = options->assumptions & RIG_ASSUMES_PREFILLED,
                                            .total = options->total,
                                            .initial = options->initial},
                   options->limit_bytes);
    return p;
}

static void done(struct proving *p)
{
    rig_judge_done(&p->judge);
    rig_problem_done(&p->problem);
    rig_prove_events_done(&p->events);
    rig_row_missed_done(&p->missed);
}

enum rig_rc rig_prove(const struct rig_history *history, const struct rig_verdict *verdict,
                      const struct rig_check_options *options, struct rig_buf *text, struct rig_err *err)
{
    struct proving p = begin(history, verdict, options, text, err);
    const enum rig_rc rc = rig_repeated_values_matter(verdict) ? prove_choices(&p) : prove_all(&p);
    done(&p);
    return rc;
}

enum rig_rc rig_prove_held(const struct rig_history *history, const struct rig_verdict *verdict,
                           const struct rig_check_options *options, uint64_t levels, struct rig_buf *text,
                           struct rig_err *err)
{
    struct proving p = begin(history, verdict, options, text, err);
    const enum rig_rc rc = claim_held(&p, levels);
    done(&p);
    return rc;
}

bool rig_prove_case(const struct rig_history *history, const struct rig_verdict *verdict,
                    const struct rig_check_options *options, enum rig_level level, struct rig_buf *assumed,
                    struct rig_buf *text)
{
    struct proving p = begin(history, verdict, options, text, NULL);
    p.assumed = assumed;
    const bool proved = prove_refuted(&p, level);
    done(&p);
    return proved;
}
