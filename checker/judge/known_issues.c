#include "checker/judge/known_issues.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "base/clock.h"
#include "checker/infer/type_inference.h"
#include "checker/model/certified.h"
#include "checker/model/verdict.h"
#include "history/model/history_excerpt.h"

enum { APART_MOST = 32, TXNS_MOST = 16, KNOWN_SETS_MOST = 256, CHECKS_MOST = 2000, WITNESSES_LOOKED_AT = 64 };

/* The transactions of a known witness that are taken apart in turn. */
struct choice {
    uint32_t txns[TXNS_MOST];
    uint32_t count, next; /* txns[next - 1] is apart now */
};

struct search {
    const struct rig_verdict *verdict; /* of the whole run */
    const struct rig_known_request *request;
    const struct rig_verdict *first; /* of what is searched: `verdict`, or the certificate's */
    struct rig_check_options check;  /*   as it was asked */
    const struct rig_history *history;
    struct rig_history *loaded; /* NULL: it is that of `first` */
    int64_t first_part;         /* the process of the first part, and of every later one */
    int64_t until_ns;
    bool by_key;
    rig_statement_continues *continues;
    bool only_known;       /* only acknowledged transactions can be taken apart */
    uint8_t *keep, *apart; /* a byte a transaction */
    uint32_t *original;    /* transactions of a history with parts -> of the whole one, and of which a part is; then */
    uint8_t *is_part;
    uint32_t *place_of, *seen;     /* of the history with parts, where a certificate has places of rows */
    struct rig_read_places places; /* in `place_of` and `seen` */
    struct choice stack[APART_MOST];
    uint32_t depth, check_count;
    struct choice known[KNOWN_SETS_MOST]; /* the transactions of witnesses that have a known shape */
    uint32_t known_count;
    struct rig_buf why_not;
};

/* -- one verdict --------------------------------------------------------------------------------------------------- */

/* The anomalies that answer a request by name. */
static rig_anomaly_set asked_anomalies(const struct rig_verdict *verdict)
{
    rig_anomaly_set asked = 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if ((verdict->requested_anomalies & RIG_ANOMALY_BIT(anomaly)) != 0)
            asked |= rig_anomaly_cases((enum rig_anomaly)anomaly) | RIG_ANOMALY_BIT(anomaly);
    }
    return asked;
}

static bool refutes_a_request(const struct rig_verdict *verdict, const struct rig_witness *witness,
                              rig_anomaly_set asked)
{
    return (witness->refutes & verdict->requested_levels) != 0 || (asked & RIG_ANOMALY_BIT(witness->anomaly)) != 0;
}

static bool has_known_shape(const struct search *search, const struct rig_verdict *verdict,
                            const struct rig_witness *witness)
{
    for (uint32_t i = 0; i < search->request->count; i++) {
        const struct rig_known_issue *issue = &search->request->issues[i];
        if (issue->unlike == NULL && rig_known_anomaly_is_kept(&issue->shape, search->verdict) &&
            rig_known_anomaly_is_kept(&issue->shape, search->first) &&
            rig_known_anomaly_fits(&issue->shape, verdict, witness))
            return true;
    }
    return false;
}

static bool is_whole(const struct search *search, const struct rig_witness *witness, const uint32_t *original)
{
    for (uint32_t i = 0; original != NULL && i < witness->txn_count; i++) {
        if (search->is_part[witness->txns[i]])
            return false;
    }
    return true;
}

static bool has(const struct choice *set, uint32_t txn)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->txns[i] == txn)
            return true;
    }
    return false;
}

static bool has_known_name(const struct search *search, const struct rig_witness *witness)
{
    for (uint32_t i = 0; i < search->request->count; i++) {
        const struct rig_known_issue *issue = &search->request->issues[i];
        if (issue->unlike == NULL && (issue->shape.anomalies & RIG_ANOMALY_BIT(witness->anomaly)) != 0)
            return true;
    }
    return false;
}

/* Whether a witness with parts has a known name, and its other transactions are among those of one that has a known
 * shape: a part is but a version of a key on the way between them. */
static bool comes_from_known(const struct search *search, const struct rig_witness *witness, const uint32_t *original)
{
    for (uint32_t set = 0; has_known_name(search, witness) && set < search->known_count; set++) {
        uint32_t at = 0;
        while (at < witness->txn_count &&
               (search->is_part[witness->txns[at]] || has(&search->known[set], original[witness->txns[at]])))
            at++;
        if (at == witness->txn_count)
            return true;
    }
    return false;
}

static bool is_known(struct search *search, const struct rig_verdict *verdict, const struct rig_witness *witness,
                     const uint32_t *original)
{
    if (!is_whole(search, witness, original))
        return comes_from_known(search, witness, original);
    if (!has_known_shape(search, verdict, witness))
        return false;
    if (search->known_count < KNOWN_SETS_MOST && witness->txn_count <= TXNS_MOST) {
        struct choice *set = &search->known[search->known_count++];
        *set = (struct choice){.count = witness->txn_count};
        for (uint32_t i = 0; i < witness->txn_count; i++)
            set->txns[i] = original == NULL ? witness->txns[i] : original[witness->txns[i]];
    }
    return true;
}

/* `original` NULL: the verdict is that of the whole history. */
static void say_unknown(struct search *search, const struct rig_witness *witness, const uint32_t *original)
{
    struct rig_buf *text = &search->why_not;
    rig_buf_printf(text, "a witness of %s has no known shape (", rig_anomaly_info(witness->anomaly)->name);
    for (uint32_t i = 0; i < witness->txn_count && i < 4; i++) {
        const uint32_t txn = original == NULL ? witness->txns[i] : original[witness->txns[i]];
        rig_buf_printf(text, "%sT%" PRIu32, i == 0 ? "" : ", ", rig_txn_name(search->history, txn));
    }
    rig_buf_add_text(text, witness->txn_count > 4 ? ", ...)" : ")");
}

/* The requested levels that the anomaly refutes and that none of its kept witnesses refutes. */
static uint64_t without_witness(const struct rig_verdict *verdict, const struct rig_finding *finding)
{
    uint64_t levels = finding->refutes & verdict->requested_levels;
    for (uint32_t i = 0; i < finding->witness_count; i++)
        levels &= ~finding->witnesses[i].refutes;
    return levels;
}

static bool has_too_few_witnesses(const struct rig_verdict *verdict)
{
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (without_witness(verdict, &verdict->findings[anomaly]) != 0)
            return true;
    }
    return false;
}

/* Whether no witness is missing that a refuted request rests on. */
static bool all_are_shown(struct search *search, const struct rig_verdict *verdict, uint64_t refuted)
{
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        const uint64_t bit = RIG_LEVEL_BIT(level);
        if ((verdict->requested_levels & bit & ~refuted) == 0 || verdict->levels[level].fate != RIG_FATE_REFUTED)
            continue;
        rig_buf_printf(&search->why_not, "no witness that is kept shows why %s is refuted",
                       rig_level_info((enum rig_level)level)->name);
        return false;
    }
    return true;
}

/*
 * Whether each witness that refutes what was asked for is known; gives the one with the fewest transactions. Else, or
 * where an anomaly has no witness, `why_not` says it.
 */
static bool all_are_known(struct search *search, const struct rig_verdict *verdict, const uint32_t *original,
                          const struct rig_witness **shortest)
{
    const rig_anomaly_set asked = asked_anomalies(verdict);
    uint64_t refuted = 0;
    *shortest = NULL;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        const char *name = rig_anomaly_info((enum rig_anomaly)anomaly)->name;
        if (finding->count > 0 && finding->witness_count == 0 &&
            ((finding->refutes & verdict->requested_levels) != 0 || (asked & RIG_ANOMALY_BIT(anomaly)) != 0)) {
            rig_buf_printf(&search->why_not, "%s has no witness", name);
            return false;
        }
        if (without_witness(verdict, finding) != 0) {
            rig_buf_printf(&search->why_not, "no witness of %s that is kept refutes what was asked for", name);
            return false;
        }
        for (uint32_t i = 0; i < finding->witness_count; i++) {
            const struct rig_witness *witness = &finding->witnesses[i];
            if (!refutes_a_request(verdict, witness, asked))
                continue;
            if (!is_known(search, verdict, witness, original)) {
                say_unknown(search, witness, original);
                return false;
            }
            refuted |= witness->refutes;
            if (*shortest == NULL || witness->txn_count < (*shortest)->txn_count)
                *shortest = witness;
        }
    }
    if (*shortest == NULL)
        rig_buf_add_text(&search->why_not, "nothing that was found refutes what was asked for");
    return *shortest != NULL && all_are_shown(search, verdict, refuted);
}

/* -- the search ---------------------------------------------------------------------------------------------------- */

/* A part is not taken apart further. */
static bool choose(struct search *search, const struct rig_witness *witness, const uint32_t *original)
{
    if (search->depth == APART_MOST || witness->txn_count > TXNS_MOST) {
        rig_buf_add_text(&search->why_not,
                         "there are too many known anomalies, or too long ones, to search behind them");
        return false;
    }
    struct choice *choice = &search->stack[search->depth++];
    *choice = (struct choice){.count = 0};
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        const uint32_t txn = original == NULL ? witness->txns[i] : original[witness->txns[i]];
        if (original != NULL && search->is_part[witness->txns[i]])
            continue;
        if (search->only_known && search->history->txns[txn].outcome != RIG_OUTCOME_OK) {
            rig_buf_printf(&search->why_not,
                           "T%" PRIu32
                           " of a known anomaly has an unknown outcome, so its statements cannot be taken apart",
                           rig_txn_name(search->history, txn));
            return false;
        }
        choice->txns[choice->count++] = txn;
    }
    if (choice->count == 0)
        rig_buf_add_text(&search->why_not, "a known anomaly stays where its transactions are taken apart");
    return choice->count > 0;
}

static uint32_t count_parts(const struct search *search, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(search->history, txn);
    const uint32_t op_count = rig_txn_op_count(search->history, txn);
    uint32_t count = 0;
    for (uint32_t i = 0; i < op_count; i++) {
        uint32_t at = 0;
        while (search->by_key && at < i && ops[at].key != ops[i].key)
            at++;
        const bool continues = !search->by_key && search->continues != NULL && i > 0 && search->continues(ops, i);
        count += (!search->by_key || at == i) && !continues;
    }
    return count;
}

/* The parts come after the other transactions that completed, in the order of what they are parts of. */
static void find_originals(struct search *search, const struct rig_history *history)
{
    uint32_t whole = 0, apart = 0, left = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const bool is_part = history->txns[txn].process >= search->first_part;
        uint32_t *next = is_part ? &apart : &whole;
        search->is_part[txn] = is_part;
        if (!is_part || left == 0) {
            while (search->apart[*next] != (is_part ? 1 : 0))
                ++*next;
            search->original[txn] = (*next)++;
            RIG_INVARIANT(*next <= search->history->txn_count);
            left = is_part ? count_parts(search, search->original[txn]) : left;
        } else {
            search->original[txn] = search->original[txn - 1];
        }
        left -= is_part ? 1 : 0;
    }
}

/* The places that the certificate gives whole transactions; a part has that of its transaction. */
static void place_parts(struct search *search, struct rig_history *history)
{
    const struct rig_read_places *from = search->history->places;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const uint32_t whole = search->original[txn], first = history->txns[txn].first_op;
        search->place_of[txn] = from->of_txn[whole];
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++)
            search->seen[first + i] =
                search->is_part[txn] ? RIG_PLACE_NONE : from->seen[search->history->txns[whole].first_op + i];
    }
    search->places = (struct rig_read_places){.of_txn = search->place_of, .seen = search->seen};
    history->places = &search->places;
    history->certificate = search->history->certificate;
}

/* Judges the history with what is apart now. `explained` says whether the search may go on. */
static enum rig_rc judge(struct search *search, bool *explained, struct rig_err *err)
{
    const struct rig_history_choice choice = {
        .txns = search->keep, .apart = search->apart, .apart_by_key = search->by_key, .continues = search->continues};
    struct rig_check_options options = search->check;
    struct rig_history *history = NULL;
    struct rig_verdict *verdict = NULL;
    const struct rig_witness *shortest;
    options.max_witnesses = WITNESSES_LOOKED_AT;
    enum rig_rc rc = rig_history_excerpt_of(search->history, &choice, &history, err);
    if (rc == RIG_OK)
        find_originals(search, history);
    if (rc == RIG_OK && search->history->places != NULL)
        place_parts(search, history);
    if (rc == RIG_OK)
        rc = rig_check(history, &options, &verdict, err);
    search->check_count++;
    *explained = false;
    if (rc == RIG_OK) {
        history->is_excerpt = false; /* all reads and writes are there, which shapes may ask for */
        if (verdict->valid == RIG_VALID_TRUE)
            *explained = true;
        else if (verdict->valid == RIG_VALID_UNKNOWN)
            rig_buf_printf(&search->why_not, "behind the known anomalies it is open: %s", verdict->unknown_reason);
        else
            *explained = all_are_known(search, verdict, search->original, &shortest) &&
                         choose(search, shortest, search->original);
    }
    rig_verdict_free(verdict);
    rig_history_free(history);
    return rc;
}

static enum rig_rc explore(struct search *search, bool *explained, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    *explained = true;
    while (rc == RIG_OK && *explained && search->depth > 0) {
        struct choice *choice = &search->stack[search->depth - 1];
        if (choice->next > 0)
            search->apart[choice->txns[choice->next - 1]] = 0;
        if (choice->next == choice->count) {
            search->depth--;
            continue;
        }
        if (search->check_count >= CHECKS_MOST || (search->check_count > 0 && rig_clock_now_ns() > search->until_ns)) {
            rig_buf_printf(&search->why_not,
                           "the search behind the known anomalies was ended after %" PRIu32 " judgements, by its "
                           "budget",
                           search->check_count);
            *explained = false;
            break;
        }
        search->apart[choice->txns[choice->next++]] = 1;
        rc = judge(search, explained, err);
    }
    return rc;
}

/* -- a history ----------------------------------------------------------------------------------------------------- */

static enum rig_rc take_history(struct search *search, struct rig_err *err)
{
    const struct rig_verdict *first = search->first;
    search->history = first->history;
    enum rig_rc rc = RIG_OK;
    if (first->history->is_excerpt || first->history->txn_count != first->scope.txn_count) {
        rc = search->request->load(search->request->context, &search->loaded, err);
        search->history = search->loaded;
    }
    if (rc != RIG_OK)
        return rc;
    const struct rig_type_inference *type = rig_type_inference(search->history->workload);
    const uint32_t count = search->history->txn_count;
    search->by_key = !type->total_orders;
    search->continues = type->continues;
    search->only_known = rig_type_has_conditions(type);
    search->keep = malloc((size_t)count + 1);
    search->apart = calloc((size_t)count + 1, 1);
    search->original = malloc(((size_t)search->history->op_count + count + 1) * sizeof *search->original);
    search->is_part = malloc((size_t)search->history->op_count + count + 1);
    search->place_of = malloc(((size_t)search->history->op_count + count + 1) * sizeof *search->place_of);
    search->seen = malloc(((size_t)search->history->op_count + 1) * sizeof *search->seen);
    if (search->keep == NULL || search->apart == NULL || search->original == NULL || search->is_part == NULL ||
        search->place_of == NULL || search->seen == NULL)
        return rig_memory_limit(err, "the search behind known issues");
    memset(search->keep, 1, (size_t)count + 1);
    search->first_part = 0;
    for (uint32_t txn = 0; txn < count; txn++) {
        if (search->history->txns[txn].process >= search->first_part)
            search->first_part = (int64_t)search->history->txns[txn].process + 1;
    }
    return RIG_OK;
}

static void release_history(struct search *search)
{
    rig_history_free(search->loaded);
    free(search->keep);
    free(search->apart);
    free(search->original);
    free(search->is_part);
    free(search->place_of);
    free(search->seen);
    search->loaded = NULL;
    search->keep = search->apart = search->is_part = NULL;
    search->original = search->place_of = search->seen = NULL;
    search->depth = search->known_count = 0;
}

/* `again`: the history is judged first, because `first` is not the verdict on it as it is, or keeps too few witnesses.
 * A loaded one is judged as it was, because shapes may ask for more than an excerpt has. */
static enum rig_rc search_history(struct search *search, const struct rig_verdict *first, bool again, bool *explained,
                                  struct rig_err *err)
{
    const struct rig_witness *shortest;
    search->first = first;
    enum rig_rc rc = take_history(search, err);
    if (rc == RIG_OK && (search->loaded != NULL || again || has_too_few_witnesses(first)))
        rc = judge(search, explained, err);
    else if (rc == RIG_OK)
        *explained = all_are_known(search, first, NULL, &shortest) && choose(search, shortest, NULL);
    if (rc == RIG_OK && *explained)
        rc = explore(search, explained, err);
    release_history(search);
    return rc;
}

/* -- the whole ----------------------------------------------------------------------------------------------------- */

/* The reason for which no search of a history excuses the verdict; NULL: none. */
static const char *why_unexplained(const struct rig_verdict *verdict)
{
    if (verdict->certified != NULL && !verdict->certified->agrees)
        return "the certificate of the database and what the clients saw contradict each other";
    if (verdict->certified != NULL && verdict->findings[RIG_ANOMALY_ORDER_MISMATCH].count > 0)
        return "the database's own order does not give what it answered";
    return verdict->scope.damaged_at > 0 ? "the record is damaged" : NULL;
}

/* Why the history of the clients cannot be searched; NULL: it can. */
static const char *why_unsearched(const struct rig_verdict *verdict, const struct rig_check_options *check)
{
    const struct rig_type_inference *type = rig_type_inference(verdict->scope.workload);
    if (type->build_problem == NULL && type->continues == NULL)
        return "transactions of this workload cannot be taken apart";
    if ((check->assumptions & RIG_ASSUMPTIONS_OF_VERSIONS & ~RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_WFR_KEYS)) != 0)
        return "the assumptions order versions by sessions or times, which transactions that are taken apart lack";
    return NULL;
}

/* Whether the reads of the clients alone refute something that was asked for. */
static bool reads_refute(const struct rig_verdict *verdict)
{
    const struct rig_certified *certified = verdict->certified;
    const rig_anomaly_set asked = asked_anomalies(verdict);
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((verdict->requested_levels & RIG_LEVEL_BIT(level)) != 0 && certified->inferred[level] == RIG_FATE_REFUTED)
            return true;
    }
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if ((asked & RIG_ANOMALY_BIT(anomaly)) != 0 && verdict->findings[anomaly].count > 0)
            return true;
    }
    return false;
}

/* Searches what the clients saw, and what a certificate adds to it, where these refute anything. */
static enum rig_rc search_all(struct search *search, bool *explained, struct rig_err *err)
{
    const struct rig_verdict *verdict = search->verdict;
    const struct rig_certified *certified = verdict->certified;
    const bool by_certificate =
        certified != NULL && certified->verdict != NULL && certified->verdict->valid != RIG_VALID_TRUE;
    const bool by_reads = certified == NULL || reads_refute(verdict);
    const char *unexplained = why_unexplained(verdict);
    if (unexplained == NULL && by_reads)
        unexplained = why_unsearched(verdict, &search->request->check);
    if (unexplained == NULL && !by_reads && !by_certificate)
        unexplained = "nothing that was found refutes what was asked for";
    *explained = unexplained == NULL;
    if (unexplained != NULL)
        rig_buf_add_text(&search->why_not, unexplained);
    enum rig_rc rc = RIG_OK;
    search->check = search->request->check;
    search->check.assumptions &= RIG_ASSUMES_PREFILLED; /* as certify.c asks */
    search->check.anomalies = 0;
    if (*explained && by_certificate)
        rc = search_history(search, certified->verdict, false, explained, err);
    search->check = search->request->check;
    if (rc == RIG_OK && *explained && by_reads)
        rc = search_history(search, verdict, certified != NULL, explained, err);
    return rc;
}

static enum rig_rc explain(struct rig_verdict *verdict, const struct rig_known_request *request,
                           struct rig_known_issues *known, struct rig_err *err)
{
    const int64_t budget_ns = request->check.budget_ns == 0 ? RIG_DEFAULT_BUDGET_NS : request->check.budget_ns;
    struct rig_verdict_storage *storage = verdict->storage;
    struct search *search = calloc(1, sizeof *search);
    if (search == NULL)
        return rig_memory_limit(err, "the search behind known issues");
    search->verdict = verdict;
    search->request = request;
    search->until_ns = rig_clock_now_ns() + budget_ns;
    rig_buf_init(&search->why_not, 0);
    struct rig_err own = {0};
    enum rig_rc rc = search_all(search, &known->explained, &own);
    known->check_count = search->check_count;
    if (rc == RIG_E_BUG) {
        *err = own;
    } else if (rc != RIG_OK) { /* the verdict stands */
        rig_buf_clear(&search->why_not);
        rig_buf_printf(&search->why_not, "the history could not be searched again: %s", own.text);
        known->explained = false;
        rc = RIG_OK;
    }
    if (rc == RIG_OK && !known->explained) {
        known->why_not = rig_arena_text(&storage->arena, rig_buf_text(&search->why_not), search->why_not.size);
        rc = search->why_not.failed || known->why_not == NULL ? rig_memory_limit(err, "the verdict") : RIG_OK;
    }
    rig_buf_done(&search->why_not);
    free(search);
    return rc;
}

static void count_witnesses(const struct rig_verdict *verdict, bool by_certificate, struct rig_known_outcome *outcome)
{
    const struct rig_known_anomaly *shape = &outcome->issue->shape;
    if (outcome->issue->unlike != NULL || outcome->witness_count > 0 || !rig_known_anomaly_is_kept(shape, verdict))
        return;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        const struct rig_finding *finding = &verdict->findings[anomaly];
        for (uint32_t i = 0; i < finding->witness_count; i++) {
            if (!rig_known_anomaly_fits(shape, verdict, &finding->witnesses[i]))
                continue;
            if (outcome->witness_count++ == 0) {
                outcome->witness = &finding->witnesses[i];
                outcome->number = i + 1;
                outcome->by_certificate = by_certificate;
            }
        }
    }
}

enum rig_rc rig_known_issues_compare(struct rig_verdict *verdict, const struct rig_known_request *request,
                                     struct rig_err *err)
{
    RIG_REQUIRE(verdict->known == NULL && verdict->shortfall == NULL && request->load != NULL);
    struct rig_verdict_storage *storage = verdict->storage;
    struct rig_known_issues *known = rig_arena_array(&storage->arena, 1, sizeof *known);
    struct rig_known_outcome *outcomes = rig_arena_array(&storage->arena, (size_t)request->count + 1, sizeof *outcomes);
    if (known == NULL || outcomes == NULL)
        return rig_memory_limit(err, "the verdict");
    *known = (struct rig_known_issues){.outcomes = outcomes, .count = request->count, .required = request->required};
    for (uint32_t i = 0; i < request->count; i++) {
        outcomes[i] = (struct rig_known_outcome){.issue = &request->issues[i]};
        count_witnesses(verdict, false, &outcomes[i]);
        if (verdict->certified != NULL && verdict->certified->verdict != NULL && verdict->certified->agrees)
            count_witnesses(verdict->certified->verdict, true, &outcomes[i]);
    }
    if (verdict->valid == RIG_VALID_FALSE) {
        const enum rig_rc rc = explain(verdict, request, known, err);
        if (rc != RIG_OK)
            return rc;
    }
    verdict->known = known;
    if (known->explained)
        verdict->valid = RIG_VALID_TRUE;
    return RIG_OK;
}
