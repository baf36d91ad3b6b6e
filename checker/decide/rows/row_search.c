#include "checker/decide/rows/row_search.h"

#include <stdlib.h>

#include "base/bug.h"
#include "base/clock.h"
#include "checker/decide/solve/sat.h"

enum {
    CYCLES_LEARNED = 256,   /* of one choice */
    CHOICES_FOR_CYCLES = 1, /* of an incomplete question, which no choice makes hold */
};

struct search {
    struct rig_row_reads *reads;
    const struct rig_rule *rule;
    const uint32_t *place; /* per transaction */
    const struct rig_solve_budget *budget;
    struct rig_row_decision *out;
    struct rig_sat sat;
    struct rig_row_numbers named; /* reads with variables */
    uint8_t *is_named;            /* per read */
    struct rig_err *err;
};

void rig_row_decision_done(struct rig_row_decision *decision)
{
    rig_arcs_done(&decision->cycle);
}

/* ---- variables: a read comes before a version, or after it ---- */

static bool is_possible(const struct search *s, const struct rig_row_read *read, uint32_t state)
{
    return state <= read->states && s->reads->possible.at[read->possible + state] != 0;
}

/* The literal "the read comes after this state's version", or its negation. New variables mean the choice as it is. */
static int literal(struct search *s, uint32_t number, uint32_t state, bool after)
{
    const struct rig_row_read *read = &s->reads->reads.at[number];
    const uint32_t reads = (uint32_t)s->reads->reads.count;
    const uint32_t version = reads + s->reads->first.at[read->row] + state - 1;
    RIG_REQUIRE(state >= 1 && state <= read->states);
    const int before =
        read->state < state ? rig_sat_literal(&s->sat, number, version) : -rig_sat_literal(&s->sat, version, number);
    return after ? -before : before;
}

/* The rules of a read's variables: a read after a version is after those before it, and it saw a possible state. */
static bool name_read(struct search *s, uint32_t number)
{
    const struct rig_row_read *read = &s->reads->reads.at[number];
    if (s->is_named[number] != 0)
        return true;
    s->is_named[number] = 1;
    bool ok = rig_row_numbers_add(&s->named, number);
    for (uint32_t state = 1; ok && state < read->states; state++)
        ok = rig_sat_add(&s->sat, literal(s, number, state, true)) &&
             rig_sat_add(&s->sat, literal(s, number, state + 1, false)) && rig_sat_close(&s->sat);
    for (uint32_t state = 0; ok && state <= read->states; state++) {
        if (is_possible(s, read, state))
            continue;
        ok = (state == 0 || rig_sat_add(&s->sat, literal(s, number, state, false))) &&
             (state == read->states || rig_sat_add(&s->sat, literal(s, number, state + 1, true))) &&
             rig_sat_close(&s->sat);
    }
    return ok;
}

/* Adds to the open clause that the read did not see the state that it has. */
static bool add_other_state(struct search *s, uint32_t number, bool *any)
{
    const struct rig_row_read *read = &s->reads->reads.at[number];
    *any = true;
    return (read->state == 0 || rig_sat_add(&s->sat, literal(s, number, read->state, false))) &&
           (read->state == read->states || rig_sat_add(&s->sat, literal(s, number, read->state + 1, true)));
}

static void take_choice(struct search *s)
{
    for (size_t i = 0; i < s->named.count; i++) {
        const uint32_t number = s->named.at[i];
        struct rig_row_read *read = &s->reads->reads.at[number];
        uint32_t state = 0;
        for (uint32_t next = 1; next <= read->states; next++) {
            const int before = literal(s, number, next, false);
            const struct rig_sat_pair pair = rig_sat_chosen(&s->sat, (size_t)abs(before) - 1);
            state = pair.after == number ? next : state;
        }
        RIG_INVARIANT(is_possible(s, read, state));
        read->state = state;
    }
}

/* ---- clauses ---- */

/* The choice on which an arc rests: that the read saw its state; or for rw, that it came before the version of `to`.
 * NULL: it rests on none. */
static const struct rig_row_read *choice_of(const struct search *s, const struct rig_problem *problem,
                                            const struct rig_arc *arc, uint32_t *missed)
{
    const bool is_rw = arc->kind == RIG_EDGE_RW;
    if (!is_rw && arc->kind != RIG_EDGE_WR)
        return NULL;
    const uint32_t reader = problem->txns.at[is_rw ? arc->from : arc->to].txn;
    const struct rig_row_read *read = rig_row_reads_of(s->reads, reader, is_rw ? arc->from_op : arc->to_op, arc->key);
    RIG_INVARIANT(read != NULL);
    if (read->possible == RIG_ROW_NONE)
        return NULL;
    if (!is_rw)
        return read;
    const uint32_t states = s->reads->first.at[arc->key + 1] - s->reads->first.at[arc->key];
    *missed = read->state + 1;
    while (*missed <= states && rig_rows_writer(s->reads->rows, rig_row_state_version(s->reads, arc->key, *missed)) !=
                                    problem->txns.at[arc->to].txn)
        (*missed)++;
    RIG_INVARIANT(*missed <= states);
    for (uint32_t state = *missed; state <= read->states; state++) {
        if (is_possible(s, read, state))
            return read;
    }
    return NULL;
}

/* Adds the clause against a cycle. *any: it rests on a choice; else there is no clause. */
static bool forbid_cycle(struct search *s, const struct rig_problem *problem, const struct rig_arc *arcs,
                         uint32_t count, bool *any)
{
    bool ok = true;
    *any = false;
    for (unsigned pass = 0; ok && pass < 2; pass++) { /* variables first: their rules are clauses of their own */
        for (uint32_t i = 0; ok && i < count; i++) {
            uint32_t missed = 0;
            const struct rig_row_read *read = choice_of(s, problem, &arcs[i], &missed);
            if (read == NULL)
                continue;
            const uint32_t number = (uint32_t)(read - s->reads->reads.at);
            *any = true;
            if (pass == 0)
                ok = name_read(s, number);
            else if (missed > 0)
                ok = rig_sat_add(&s->sat, literal(s, number, missed, true));
            else
                ok = add_other_state(s, number, any);
        }
    }
    return ok && (!*any || rig_sat_close(&s->sat));
}

/* Adds a clause against each total that does not come out. *found: there is one; *dead: no choice changes it. */
static bool forbid_sums(struct search *s, bool *found, bool *dead)
{
    bool ok = true;
    for (size_t i = 0; ok && i < s->reads->sums.count; i++) {
        const struct rig_row_sum *sum = &s->reads->sums.at[i];
        bool any = false;
        if (rig_row_sum_fits(s->reads, sum))
            continue;
        *found = true;
        for (size_t read = sum->first; ok && read < sum->end; read++)
            ok = s->reads->reads.at[read].possible == RIG_ROW_NONE || name_read(s, (uint32_t)read);
        for (size_t read = sum->first; ok && read < sum->end; read++)
            ok = s->reads->reads.at[read].possible == RIG_ROW_NONE || add_other_state(s, (uint32_t)read, &any);
        *dead |= !any;
        ok = ok && (!any || rig_sat_close(&s->sat));
    }
    return ok;
}

/* ---- the search ---- */

/* The cycle rests on no choice. */
static bool keep_cycle(struct search *s, const struct rig_problem *problem, const struct rig_arc *arcs, uint32_t count)
{
    const struct rig_row_chains *rows = s->reads->rows;
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        struct rig_arc arc = arcs[i];
        const bool has_key = arc.kind == RIG_EDGE_WW || arc.kind == RIG_EDGE_WR || arc.kind == RIG_EDGE_RW;
        arc.from = problem->txns.at[arc.from].txn;
        arc.to = problem->txns.at[arc.to].txn;
        arc.writer = RIG_ARC_NONE;
        arc.key = has_key ? rows->statements[rows->inserts[arc.key]].key : arc.key;
        ok = rig_arcs_add(&s->out->cycle, arc);
    }
    return ok;
}

static bool take_cycles(struct search *s, const struct rig_problem *problem, const struct rig_breaches *found)
{
    bool ok = true;
    for (size_t c = 0; ok && c < found->ends.count && s->out->answer != RIG_ANSWER_NO; c++) {
        const uint32_t begin = c == 0 ? 0 : found->ends.at[c - 1];
        const struct rig_arc *arcs = &found->arcs.at[begin];
        bool any;
        ok = forbid_cycle(s, problem, arcs, found->ends.at[c] - begin, &any);
        if (!ok || any)
            continue;
        s->out->answer = RIG_ANSWER_NO;
        ok = keep_cycle(s, problem, arcs, found->ends.at[c] - begin);
    }
    return ok;
}

/* The places of the nodes: a permutation. Transactions that write nothing have none in the order of the commits. */
static uint32_t *places_of(const struct search *s, const struct rig_problem *problem)
{
    const uint32_t txns = s->reads->inference->history->txn_count;
    uint32_t *at = malloc(((size_t)txns + 1) * sizeof *at), *places = malloc(((size_t)txns + 1) * sizeof *places);
    uint32_t next = 0;
    for (uint32_t i = 0; at != NULL && i < txns; i++)
        at[i] = RIG_PROBLEM_NONE;
    for (uint32_t node = 0; at != NULL && node < problem->txn_count; node++) {
        if (s->place[problem->txns.at[node].txn] < txns)
            at[s->place[problem->txns.at[node].txn]] = node;
    }
    for (uint32_t i = 0; at != NULL && places != NULL && i < txns; i++) {
        if (at[i] != RIG_PROBLEM_NONE)
            places[at[i]] = next++;
    }
    for (uint32_t node = 0; at != NULL && places != NULL && node < problem->txn_count; node++) {
        if (s->place[problem->txns.at[node].txn] >= txns)
            places[node] = next++;
    }
    RIG_INVARIANT(at == NULL || places == NULL || next == problem->txn_count);
    if (at == NULL) {
        free(places);
        places = NULL;
    }
    free(at);
    return places;
}

/* Tries the choice as it is. *explains: it has no forbidden cycle, and the totals come out. */
static enum rig_rc try_choice(struct search *s, bool *explains)
{
    struct rig_problem problem = {0};
    struct rig_breaches found = {0};
    bool is_off = false, is_dead = false;
    enum rig_rc rc = rig_row_reads_problem(s->reads, &problem, s->err);
    uint32_t *places = rc == RIG_OK ? places_of(s, &problem) : NULL;
    bool ok =
        places != NULL && rig_breach_find(&problem, s->rule, places, CYCLES_LEARNED, s->budget->deadline_ns, &found) &&
        take_cycles(s, &problem, &found) && (s->out->answer == RIG_ANSWER_NO || forbid_sums(s, &is_off, &is_dead));
    *explains = ok && found.ends.count == 0 && !found.spent && !is_off;
    if (is_dead)
        s->out->answer = RIG_ANSWER_NO;
    rig_arcs_done(&found.arcs);
    rig_arc_ends_done(&found.ends);
    free(places);
    rig_problem_done(&problem);
    return rc != RIG_OK ? rc : ok ? RIG_OK : rig_memory_limit(s->err, "the decision of the levels");
}

static enum rig_rc run(struct search *s)
{
    enum rig_rc rc = RIG_OK;
    unsigned tried = 0;
    while (rc == RIG_OK && s->out->answer == RIG_ANSWER_SPENT && rig_clock_now_ns() < s->budget->deadline_ns) {
        if (!s->reads->is_complete && tried++ == CHOICES_FOR_CYCLES)
            break;
        const size_t clauses = s->sat.ends.count;
        bool explains;
        rc = try_choice(s, &explains);
        if (rc != RIG_OK || s->out->answer != RIG_ANSWER_SPENT)
            break;
        if (explains) {
            s->out->answer = RIG_ANSWER_YES;
            break;
        }
        if (s->sat.ends.count == clauses) /* the search for cycles was cut short */
            break;
        const enum rig_answer answer = rig_sat_solve(&s->sat);
        if (answer == RIG_ANSWER_YES)
            take_choice(s);
        else if (answer == RIG_ANSWER_NO)
            s->out->answer = RIG_ANSWER_NO;
        else
            break;
    }
    return rc;
}

enum rig_rc rig_row_search(struct rig_row_reads *reads, const struct rig_rule *rule, const uint32_t *place,
                           const struct rig_solve_budget *budget, struct rig_row_decision *decision,
                           struct rig_err *err)
{
    struct search s = {.reads = reads, .rule = rule, .place = place, .budget = budget, .out = decision, .err = err};
    *decision = (struct rig_row_decision){.answer = RIG_ANSWER_SPENT};
    s.is_named = calloc(reads->reads.count + 1, sizeof *s.is_named);
    enum rig_rc rc = s.is_named != NULL && rig_sat_init(&s.sat, budget)
                         ? run(&s)
                         : rig_memory_limit(err, "the decision of the levels");
    rig_row_numbers_done(&s.named);
    free(s.is_named);
    rig_sat_done(&s.sat);
    return rc;
}
