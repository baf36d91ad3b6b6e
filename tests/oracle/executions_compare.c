/*
 * Compares rig's checker with the second oracle (executions.h, named_anomalies.h) on random small histories.
 *
 *   executions_compare [--count N] [--seed S] [--first NUMBER] [--lists | --registers] [--made | --cases]
 *                      [--transactions MOST] [--decided] [--most-open FILE]
 *
 * The histories are those of small_wild.h or, with --made, of small_execution.h, there with 4 to MOST transactions (6;
 * at most EXECUTION_TXNS). With --cases they have 8 to MOST (14; at most CASES_TXNS), and the third oracle
 * (version_cases.h) decides the levels, without assumptions and without names of anomalies.
 *
 * rig reads each history as JSON lines: as a whole, in windows of single transactions, or in such windows and under a
 * limit of memory; those of registers under each set of assumptions in turn. Then, for each level:
 *
 * - refuted: the oracle finds no execution (else FALSE ALARM);
 * - held: the oracle finds one (else FALSELY HELD);
 * - neither, on a level that rig claims to decide (of lists: read committed, repeatable read and serializable, in their
 *   session and strong forms; the snapshot levels where all versions are ordered): the oracle finds one (else MISSED).
 *   On other levels this is counted as open.
 *
 * --decided: rig must decide every level. One that it does not refute although the oracle finds no execution is MISSED;
 * one that has an execution must be held (else NOT HELD). Excused are: histories in which the result of some read is
 * unknown; strong levels without invocations; read uncommitted, in its three forms, where the reads of a list
 * contradict each other or show an append without an earlier one of its transaction.
 *
 * For each anomaly, requested by name: where rig says yes, the oracle finds one that all version orders share (or one
 * of that kind or a stronger in each of them); where rig says no, the orders share none, and some order has none. Where
 * no order of the versions of registers has a cycle of that kind or a weaker one, rig must say no, unless something
 * else refutes the levels that would show it. Where rig is undecided the oracle knows a reason; that counts as open. So
 * does a cycle in which only several real-time edges together make the kind: rig has no name for it.
 *
 * Witnesses of registers must refute without the rest of the history (witness_alone.h). Where rig reads the history as
 * a whole, rig-verify's code must accept the proof that rig writes (tests/proof/replay_proof.h).
 *
 * A disagreement is shrunk and printed with its history as JSON lines, for `rig check -`, and the exit status is 1. The
 * exit status is also 1 when more is open than FILE states: it holds the rows of the table printed at the end of
 * another run. When fewer are open, update the file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/judge/check_source.h"
#include "checker/model/assumption.h"
#include "tests/oracle/level_meaning.h"
#include "tests/oracle/named_anomalies.h"
#include "tests/oracle/small_execution.h"
#include "tests/oracle/small_random.h"
#include "tests/oracle/small_wild.h"
#include "tests/oracle/version_cases.h"
#include "tests/oracle/witness_alone.h"
#include "tests/proof/replay_proof.h"

/* The levels that rig claims to decide for lists; `ordered`: all versions of each key have an order. */
static uint64_t decided_levels(bool ordered)
{
#define L(id) RIG_LEVEL_BIT(RIG_LEVEL_##id)
    const uint64_t snapshot =
        L(SNAPSHOT_ISOLATION) | L(STRONG_SESSION_SNAPSHOT_ISOLATION) | L(STRONG_SNAPSHOT_ISOLATION);
    const uint64_t always = L(READ_COMMITTED) | L(STRONG_SESSION_READ_COMMITTED) | L(STRONG_READ_COMMITTED) |
                            L(REPEATABLE_READ) | L(SERIALIZABLE) | L(STRONG_SESSION_SERIALIZABLE) |
                            L(STRICT_SERIALIZABLE);
#undef L
    return always | (ordered ? snapshot : 0);
}

enum { QUESTIONS = RIG_LEVEL_COUNT + RIG_ANOMALY_COUNT };

static const char *question_name(int question)
{
    return question < RIG_LEVEL_COUNT ? rig_level_info((enum rig_level)question)->name
                                      : rig_anomaly_info((enum rig_anomaly)(question - RIG_LEVEL_COUNT))->name;
}

/* ---- rig's answer ---- */

enum telling { WHOLE, WINDOWS, WINDOWS_AND_LIMIT, TELLINGS };

struct asking {
    unsigned assumptions; /* bits of enum execution_assumption */
    enum telling telling;
    bool decided; /* rig must decide every level */
    bool cases;   /* the third oracle is asked, not the second */
};

enum reply { NO, YES, UNDECIDED };

struct answer {
    char problem[512]; /* empty, or why there is no verdict */
    enum rig_fate fate[RIG_LEVEL_COUNT];
    enum reply reply[RIG_ANOMALY_COUNT];
    bool ordered;     /* no two transactions made unread appends to one key */
    bool known;       /* all reads are */
    bool invocations; /* the history has them */
    bool contested;   /* the reads of some list give its versions no order */
};

/* The history under check: printed when an assertion of rig's ends the program. */
static const struct small_history *current;

static void print_current(void)
{
    if (current != NULL)
        small_print_json(current, stderr);
}

static unsigned rig_assumptions(unsigned assumptions)
{
    return ((assumptions & EXECUTION_WFR) != 0 ? RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_WFR_KEYS) : 0) |
           ((assumptions & EXECUTION_SEQUENTIAL) != 0 ? RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_SEQUENTIAL_KEYS) : 0) |
           ((assumptions & EXECUTION_LINEARIZABLE) != 0 ? RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_LINEARIZABLE_KEYS) : 0) |
           ((assumptions & EXECUTION_PREFILLED) != 0 ? RIG_ASSUMES_PREFILLED : 0);
}

static enum rig_rc check_text(const struct small_history *history, const struct asking *asking, const char *text,
                              size_t size, struct rig_verdict **verdict, struct rig_err *err)
{
    enum { LIMIT_BYTES = 1 << 30 }; /* not reached: it counts what a sanitizer keeps, too */
    struct rig_source_options source_options = {
        .load = {.workload_given = true,
                 .workload = history->registers ? RIG_WORKLOAD_RW_REGISTER : RIG_WORKLOAD_LIST_APPEND},
        .threads = 1};
    struct rig_stream_options options = {
        .check = {.levels = RIG_LEVEL_BIT(RIG_LEVEL_READ_UNCOMMITTED),
                  .anomalies = RIG_ANOMALIES_ALL & ~RIG_ANOMALY_BIT(RIG_ANOMALY_G_MIXED),
                  .assumptions = rig_assumptions(asking->assumptions)}};
    struct rig_source *source = NULL;
    if (asking->telling != WHOLE)
        options.least_new = options.growth = options.idle = 1;
    if (asking->telling == WINDOWS_AND_LIMIT)
        options.check.limit_bytes = source_options.load.limit_bytes = LIMIT_BYTES;
    enum rig_rc rc = rig_source_open_memory("history", text, size, &source_options, &source, err);
    if (rc == RIG_OK)
        rc = rig_check_source(source, "history", &options, verdict, err);
    rig_source_close(source);
    return rc;
}

/* rig-verify must accept the proof of the verdict on the whole history. */
static void replay(const struct small_history *history, const struct asking *asking, const char *text, size_t size,
                   struct answer *answer)
{
    const struct rig_check_options options = {.assumptions = rig_assumptions(asking->assumptions)};
    struct replayed replayed;
    if (check_and_replay(text, size, history->registers ? RIG_WORKLOAD_RW_REGISTER : RIG_WORKLOAD_LIST_APPEND, &options,
                         &replayed))
        (void)snprintf(answer->problem, sizeof answer->problem, "%.500s", replayed.problem);
}

static enum reply reply_of(const struct rig_verdict *verdict, enum rig_anomaly asked)
{
    enum rig_anomaly found;
    if (rig_verdict_case_of(verdict, asked, &found))
        return YES;
    return (verdict->undecided_anomalies & RIG_ANOMALY_BIT(asked)) != 0 ? UNDECIDED : NO;
}

static void ask(const struct small_history *history, const struct asking *asking, struct answer *answer)
{
    struct rig_err err = {.rc = RIG_OK};
    struct rig_verdict *verdict = NULL;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    RIG_REQUIRE(out != NULL);
    small_print_json(history, out);
    (void)fclose(out);
    *answer = (struct answer){.problem = ""};
    current = history;
    enum rig_rc rc = check_text(history, asking, text, size, &verdict, &err);
    current = NULL;
    if (rc != RIG_OK)
        (void)snprintf(answer->problem, sizeof answer->problem, "%.500s", err.text);
    for (unsigned level = 0; rc == RIG_OK && level < RIG_LEVEL_COUNT; level++)
        answer->fate[level] = verdict->levels[level].fate;
    for (unsigned a = 0; rc == RIG_OK && a < RIG_ANOMALY_COUNT; a++)
        answer->reply[a] = reply_of(verdict, (enum rig_anomaly)a);
    const char *wrong = rc == RIG_OK && history->registers && asking->assumptions == EXECUTION_PREFILLED
                            ? witnesses_stand_alone(history, verdict)
                            : NULL;
    if (wrong != NULL)
        (void)snprintf(answer->problem, sizeof answer->problem, "%s", wrong);
    if (rc == RIG_OK && wrong == NULL && asking->telling == WHOLE)
        replay(history, asking, text, size, answer);
    answer->ordered = rc == RIG_OK && verdict->scope.unordered_keys == 0;
    answer->known = rc == RIG_OK && verdict->scope.unknown_reads == 0;
    answer->contested = rc == RIG_OK && (verdict->findings[RIG_ANOMALY_INCOMPATIBLE_ORDER].count > 0 ||
                                         verdict->findings[RIG_ANOMALY_FRACTURED_APPEND].count > 0);
    answer->invocations = rc == RIG_OK && verdict->scope.has_invocations;
    rig_verdict_free(verdict);
    free(text);
}

/* ---- agreement ---- */

enum agreement {
    AGREE,
    OPEN,
    REFUSED,
    FALSE_ALARM,
    FALSELY_HELD,
    MISSED,
    NOT_HELD,
    FALSE_YES,
    FALSE_NO,
    NEEDLESSLY_OPEN,
    AGREEMENTS
};

static const char *const agreement_names[AGREEMENTS] = {
    "agree",
    "open: rig does not refute the level, or does not find the anomaly, although no execution is without it",
    "REFUSED: rig gives no verdict, or one with a wrong witness or proof",
    "FALSE ALARM: rig refutes the level, the oracle knows an execution",
    "FALSELY HELD: rig says that the level held, the oracle knows no execution",
    "MISSED: the oracle knows no execution, rig decides the level and does not refute it",
    "NOT HELD: the oracle knows an execution, rig neither says that the level held nor what was not observed",
    "FALSE YES: there is no such anomaly",
    "FALSE NO: there is such an anomaly",
    "NEEDLESSLY OPEN: nothing keeps rig from saying that there is no such anomaly",
};

/* Both answers for one history, compared. */
struct comparison {
    enum agreement agreement[QUESTIONS];
    uint32_t splits; /* as in struct explained */
};

/* Reads of a list that no order of its versions gives prove nothing at read uncommitted, and are not explained either.
 * */
static bool is_contested(const struct answer *answer, enum rig_level level)
{
    return (RIG_LEVEL_BIT(level) & rig_levels_below_committed) != 0 && answer->contested;
}

/* Whether an execution at the level need not make it held (--decided). */
static bool is_excused(const struct answer *answer, enum rig_level level)
{
    const bool strong = level_meaning(level).order == EXECUTION_STRONG;
    return !answer->known || (strong && !answer->invocations) || is_contested(answer, level);
}

/* Whether an execution at each level explains the history: under the assumptions asked for, and under none. */
struct explained {
    struct executions assuming, anyhow;
    uint64_t unknown; /* levels that the third oracle leaves out */
    uint32_t splits;  /* the most pairs of writers of which it tried both orders, of any level without an execution */
};

static void explain_by_cases(const struct small_history *history, struct explained *explained)
{
    struct case_answers cases;
    version_cases_find(history, &cases);
    for (int level = 0; level < RIG_LEVEL_COUNT; level++) {
        const struct level_meaning meaning = level_meaning((enum rig_level)level);
        const enum case_answer answer = cases.answer[meaning.kind][meaning.order];
        const uint32_t splits = cases.split[meaning.kind][meaning.order];
        explained->assuming.exists[meaning.kind][meaning.order] = answer == CASES_YES;
        if (meaning.kind == EXECUTION_RU || answer == CASES_SPENT)
            explained->unknown |= RIG_LEVEL_BIT(level);
        else if (answer == CASES_NO && splits > explained->splits)
            explained->splits = splits;
    }
    explained->anyhow = explained->assuming;
}

static void explain(const struct small_history *history, const struct asking *asking, struct explained *explained)
{
    *explained = (struct explained){.unknown = 0};
    if (asking->cases) {
        explain_by_cases(history, explained);
        return;
    }
    executions_find(history, asking->assumptions, &explained->assuming);
    explained->anyhow = explained->assuming;
    if ((asking->assumptions & ~(unsigned)EXECUTION_PREFILLED) != 0)
        executions_find(history, asking->assumptions & EXECUTION_PREFILLED, &explained->anyhow);
}

/*
 * rig takes from an assumption the order of pairs of versions, and drops one that contradicts itself. So a level that
 * it refutes has no execution under all that the assumptions say, and one that it holds has an execution without them.
 */
static enum agreement compare_level(const struct small_history *history, const struct asking *asking,
                                    const struct answer *answer, const struct explained *explained,
                                    enum rig_level level)
{
    const enum rig_fate fate = answer->fate[level];
    if ((explained->unknown & RIG_LEVEL_BIT(level)) != 0)
        return AGREE;
    const bool exists = level_exists(&explained->assuming, level), anyhow = level_exists(&explained->anyhow, level);
    if (fate == RIG_FATE_REFUTED)
        return exists ? FALSE_ALARM : AGREE;
    if (fate == RIG_FATE_HELD)
        return anyhow ? AGREE : FALSELY_HELD;
    if (exists)
        return asking->decided && !is_excused(answer, level) ? NOT_HELD : AGREE;
    if (asking->decided && !is_contested(answer, level))
        return anyhow ? AGREE : MISSED;
    const bool claimed = (decided_levels(answer->ordered) & RIG_LEVEL_BIT(level)) != 0;
    return claimed && !history->registers ? MISSED : OPEN;
}

static const enum rig_anomaly plain_anomalies[NAMED_PLAIN_COUNT] = {RIG_ANOMALY_DUPLICATE_ELEMENTS,
                                                                    RIG_ANOMALY_GARBAGE_READ,
                                                                    RIG_ANOMALY_G1A,
                                                                    RIG_ANOMALY_G1B,
                                                                    RIG_ANOMALY_FUTURE_READ,
                                                                    RIG_ANOMALY_INTERNAL,
                                                                    RIG_ANOMALY_INCOMPATIBLE_ORDER,
                                                                    RIG_ANOMALY_FRACTURED_APPEND,
                                                                    RIG_ANOMALY_DIRTY_UPDATE,
                                                                    RIG_ANOMALY_LOST_UPDATE,
                                                                    RIG_ANOMALY_LOST_APPEND,
                                                                    RIG_ANOMALY_LOST_WRITE};

static const enum rig_anomaly cycle_anomalies[NAMED_CYCLE_COUNT][3] = {
    {RIG_ANOMALY_G0, RIG_ANOMALY_G0_PROCESS, RIG_ANOMALY_G0_REALTIME},
    {RIG_ANOMALY_G1C, RIG_ANOMALY_G1C_PROCESS, RIG_ANOMALY_G1C_REALTIME},
    {RIG_ANOMALY_G_SINGLE, RIG_ANOMALY_G_SINGLE_PROCESS, RIG_ANOMALY_G_SINGLE_REALTIME},
    {RIG_ANOMALY_G_NONADJACENT, RIG_ANOMALY_G_NONADJACENT_PROCESS, RIG_ANOMALY_G_NONADJACENT_REALTIME},
    {RIG_ANOMALY_G2_ITEM, RIG_ANOMALY_G2_ITEM_PROCESS, RIG_ANOMALY_G2_ITEM_REALTIME}};

/* Cycles `from` to `to`, in their plain form and in all forms up to `form`. */
static uint32_t cycles_up_to(int from, int to, int form)
{
    uint32_t bits = 0;
    for (int cycle = from; cycle <= to; cycle++) {
        for (int f = 0; f <= form; f++)
            bits |= NAMED_BIT(cycle, f);
    }
    return bits;
}

/* The cycles that answer a request for one (docs/checker/anomalies.md, "Asking for an anomaly"). */
static uint32_t cases_of(enum named_cycle cycle, int form)
{
    static const enum named_cycle first[NAMED_CYCLE_COUNT] = {NAMED_G0, NAMED_G0, NAMED_G_SINGLE, NAMED_G_SINGLE,
                                                              NAMED_G_SINGLE};
    return cycles_up_to((int)first[cycle], (int)cycle, form);
}

static bool is_case(const struct named_anomalies *named, enum named_cycle cycle)
{
    return (cycle == NAMED_G1C && named->plain[NAMED_FUTURE_READ]) ||
           (cycle == NAMED_G2 && named->plain[NAMED_LOST_UPDATE]);
}

static bool in_every_graph(const struct named_anomalies *named, uint32_t cycles)
{
    for (int graph = 0; graph < named->graph_count; graph++) {
        if ((named->graphs[graph] & cycles) == 0)
            return false;
    }
    return named->graph_count > 0;
}

static bool has_any_plain(const struct named_anomalies *named)
{
    bool any = false;
    for (int anomaly = 0; anomaly < NAMED_PLAIN_COUNT; anomaly++)
        any |= named->plain[anomaly];
    return any;
}

/* Some order of the versions has none of these cycles. */
static bool absent_in_some_graph(const struct named_anomalies *named, uint32_t cycles)
{
    return named->graph_count > 0 && !in_every_graph(named, cycles);
}

/* Registers: a level that forbids these cycles has an explanation, and rig must have found it. */
static bool is_level_kept(const struct named_anomalies *named, const struct answer *answer, enum named_cycle cycle,
                          int form)
{
    /* Read skew along processes or in real time has no level of its own. */
    const int most = cycle == NAMED_G_SINGLE && form != NAMED_AS_IT_IS ? NAMED_G_NONADJACENT : (int)cycle;
    const uint32_t several = form == NAMED_REALTIME ? cases_of(NAMED_G2, NAMED_SEVERAL_REALTIME) : 0;
    return absent_in_some_graph(named, cycles_up_to(NAMED_G0, most, form) | several) && !has_any_plain(named) &&
           answer->known && !named->unsettled;
}

/* The reason why rig may leave open whether such a cycle exists, although the oracle finds none. */
static bool may_be_open(const struct small_history *history, const struct named_anomalies *named,
                        const struct answer *answer, enum named_cycle cycle, int form)
{
    if (history->registers)
        return !is_level_kept(named, answer, cycle, form) ||
               (form == NAMED_REALTIME && history->txns[0].invoke_at == SMALL_NEVER);
    bool unordered = (cycle == NAMED_G_SINGLE || cycle == NAMED_G_NONADJACENT) && named->graph_count != 1;
    bool through_info = named->unsettled && (named->shared & cases_of(NAMED_G1C, form)) != 0;
    return unordered || (cycle == NAMED_G0 && through_info) || cycle == NAMED_G_NONADJACENT ||
           (form == NAMED_REALTIME && history->txns[0].invoke_at == SMALL_NEVER);
}

static enum agreement compare_cycle(const struct small_history *history, const struct named_anomalies *named,
                                    const struct answer *answer, enum reply reply, enum named_cycle cycle, int form)
{
    bool shared = (named->shared & cases_of(cycle, form)) != 0 || is_case(named, cycle);
    if (named->contradicted)
        return reply == NO ? FALSE_NO : AGREE;
    if (reply == YES) {
        bool weaker = in_every_graph(named, cycles_up_to(NAMED_G0, (int)cycle, form)) || is_case(named, cycle);
        const bool each = in_every_graph(named, cases_of(cycle, form)); /* perhaps another one in each of them */
        if (!shared && history->registers && named->graph_count == 0)
            return OPEN; /* too many orders to try */
        return (shared && (weaker || named->graph_count == 0)) || each ? AGREE : FALSE_YES;
    }
    if (shared)
        return reply == UNDECIDED && cycle == NAMED_G0 && named->unsettled ? OPEN : FALSE_NO;
    if (reply == UNDECIDED)
        return may_be_open(history, named, answer, cycle, form) ? OPEN : NEEDLESSLY_OPEN;
    uint32_t several = form == NAMED_REALTIME ? cases_of(cycle, NAMED_SEVERAL_REALTIME) : 0;
    if (in_every_graph(named, cases_of(cycle, form)))
        return FALSE_NO;
    return in_every_graph(named, cases_of(cycle, form) | several) || (named->shared & several) != 0 ? OPEN : AGREE;
}

static bool has_plain(const struct named_anomalies *named, enum named_plain anomaly)
{
    return named->plain[anomaly] ||
           (anomaly == NAMED_G1A && (named->plain[NAMED_DIRTY_UPDATE] || named->plain[NAMED_INCOMPATIBLE_ORDER]));
}

static enum agreement compare_plain(const struct small_history *history, const struct named_anomalies *named,
                                    enum reply reply, enum named_plain anomaly)
{
    bool there = has_plain(named, anomaly);
    bool untimed =
        (anomaly == NAMED_LOST_APPEND || anomaly == NAMED_LOST_WRITE) && history->txns[0].invoke_at == SMALL_NEVER;
    if (reply == UNDECIDED)
        return named->contradicted || untimed ? OPEN : NEEDLESSLY_OPEN;
    return there == (reply == YES) ? AGREE : there ? FALSE_NO : FALSE_YES;
}

/* Whether rig searches for it in registers. */
static bool is_of_registers(enum named_plain anomaly)
{
    return anomaly == NAMED_G1A || anomaly == NAMED_G1B || anomaly == NAMED_FUTURE_READ || anomaly == NAMED_INTERNAL ||
           anomaly == NAMED_LOST_UPDATE || anomaly == NAMED_GARBAGE_READ || anomaly == NAMED_LOST_WRITE;
}

static void compare_names(const struct small_history *history, const struct asking *asking, const struct answer *answer,
                          struct comparison *comparison)
{
    struct named_anomalies named;
    enum agreement *agreement = comparison->agreement + RIG_LEVEL_COUNT;
    named_anomalies_find(history, &named);
    for (int a = 0; a < NAMED_PLAIN_COUNT; a++) {
        enum rig_anomaly anomaly = plain_anomalies[a];
        if (history->registers ? is_of_registers((enum named_plain)a) : a != NAMED_LOST_WRITE)
            agreement[anomaly] = compare_plain(history, &named, answer->reply[anomaly], (enum named_plain)a);
    }
    for (int cycle = 0; cycle < NAMED_CYCLE_COUNT && asking->assumptions == EXECUTION_PREFILLED; cycle++) {
        for (int form = 0; form < 3; form++) {
            enum rig_anomaly anomaly = cycle_anomalies[cycle][form];
            agreement[anomaly] =
                compare_cycle(history, &named, answer, answer->reply[anomaly], (enum named_cycle)cycle, form);
        }
    }
}

static void compare(const struct small_history *history, const struct asking *asking, struct comparison *comparison)
{
    struct explained explained;
    struct answer answer;
    struct small_history interpreted = *history;
    *comparison = (struct comparison){.agreement = {AGREE}};
    ask(history, asking, &answer);
    if (answer.problem[0] != '\0') {
        comparison->agreement[0] = REFUSED;
        return;
    }
    small_name_initial(&interpreted);
    explain(&interpreted, asking, &explained);
    comparison->splits = explained.splits;
    for (int level = 0; level < RIG_LEVEL_COUNT; level++)
        comparison->agreement[level] = compare_level(&interpreted, asking, &answer, &explained, (enum rig_level)level);
    if (!asking->cases && (asking->assumptions & EXECUTION_PREFILLED) != 0) /* the names are those of items */
        compare_names(&interpreted, asking, &answer, comparison);
}

/* ---- reports ---- */

struct wanted {
    struct asking asking;
    int question;
    enum agreement agreement;
};

static bool still_disagrees(const struct small_history *history, void *context)
{
    const struct wanted *wanted = context;
    struct comparison comparison;
    if (history->txn_count == 0)
        return false;
    compare(history, &wanted->asking, &comparison);
    return comparison.agreement[wanted->question] == wanted->agreement;
}

static void report(const struct small_history *history, struct wanted wanted, uint64_t number)
{
    static const char *const tellings[TELLINGS] = {"as a whole", "in windows", "in windows under a limit"};
    struct small_history smaller = *history;
    struct answer answer;
    small_shrink(&smaller, still_disagrees, &wanted);
    ask(&smaller, &wanted.asking, &answer);
    printf("these options with --first %llu --count 1: %s: %s (%s, %s, assumptions %x) %s\n",
           (unsigned long long)number, question_name(wanted.question), agreement_names[wanted.agreement],
           history->registers ? "registers" : "lists", tellings[wanted.asking.telling], wanted.asking.assumptions,
           answer.problem);
    small_print(&smaller, "    ", stdout);
    small_print_json(&smaller, stdout);
    printf("  rig found:");
    for (unsigned a = 0; a < RIG_ANOMALY_COUNT; a++) {
        if (answer.reply[a] != NO)
            printf(" %s%s", rig_anomaly_info((enum rig_anomaly)a)->name, answer.reply[a] == YES ? "" : "?");
    }
    printf("\n");
}

/* ---- open cases ---- */

struct totals {
    uint64_t histories, disagreements;
    uint64_t split;              /* histories in which some level needed both orders of a pair of writers */
    uint32_t most_split;         /* of how many pairs, at most */
    uint64_t open[2][QUESTIONS]; /* of lists, of registers */
    uint64_t found[QUESTIONS][AGREEMENTS];
};

static const char *const workloads[2] = {"lists", "registers"};

static void print_open(const struct totals *totals)
{
    for (int registers = 0; registers < 2; registers++) {
        for (int question = 0; question < QUESTIONS; question++) {
            if (totals->open[registers][question] > 0)
                printf("open %s %s %llu\n", workloads[registers], question_name(question),
                       (unsigned long long)totals->open[registers][question]);
        }
    }
}

static void print_disagreements(const struct totals *totals)
{
    for (int question = 0; question < QUESTIONS; question++) {
        for (int agreement = 0; agreement < AGREEMENTS; agreement++) {
            if (totals->found[question][agreement] > 0)
                printf("%llu times: %s: %s\n", (unsigned long long)totals->found[question][agreement],
                       question_name(question), agreement_names[agreement]);
        }
    }
}

static bool find_row(const char *workload, const char *name, int *registers, int *question)
{
    for (*registers = 0; *registers < 2; ++*registers) {
        for (*question = 0; *question < QUESTIONS; ++*question) {
            if (strcmp(workload, workloads[*registers]) == 0 && strcmp(name, question_name(*question)) == 0)
                return true;
        }
    }
    return false;
}

/* Whether no more is open than the file states. */
static bool is_bounded(const struct totals *totals, const char *path)
{
    uint64_t most[2][QUESTIONS] = {{0}};
    char line[128], *rest = NULL;
    int registers, question;
    bool bounded = true;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    while (fgets(line, sizeof line, file) != NULL) {
        const char *open = strtok_r(line, " \n", &rest), *workload = strtok_r(NULL, " \n", &rest);
        const char *name = strtok_r(NULL, " \n", &rest), *count = strtok_r(NULL, " \n", &rest);
        if (open == NULL || count == NULL || !find_row(workload, name, &registers, &question)) {
            printf("%s: a line that is no row of the table\n", path);
            bounded = false;
            continue;
        }
        most[registers][question] = strtoull(count, NULL, 10);
    }
    (void)fclose(file);
    for (registers = 0; registers < 2; registers++) {
        for (question = 0; question < QUESTIONS; question++) {
            uint64_t open = totals->open[registers][question];
            if (open > most[registers][question]) {
                printf("more is open than %s says: %s %s %llu, not %llu\n", path, workloads[registers],
                       question_name(question), (unsigned long long)open,
                       (unsigned long long)most[registers][question]);
                bounded = false;
            }
        }
    }
    return bounded;
}

/* ---- the run ---- */

/* The histories to compare; `workload`: ANY, or one. */
struct options {
    uint64_t seed, count, first, transactions;
    enum { ANY, LISTS, REGISTERS } workload;
    bool made, cases, decided;
    const char *most_open;
};

/* False when the history is of another workload. */
static bool make_history(const struct options *options, uint64_t number, struct small_history *history)
{
    if (options->made) {
        const struct small_shape shape = {.registers = options->workload == ANY ? number / TELLINGS % 2 != 0
                                                                                : options->workload == REGISTERS,
                                          .least = options->cases ? 8 : 4,
                                          .most = (int)options->transactions};
        small_execution(options->seed, number, shape, history);
    } else {
        small_wild(options->seed, number, history);
    }
    return history->txn_count > 0 &&
           (options->workload == ANY || history->registers == (options->workload == REGISTERS));
}

static void try_history(const struct options *options, uint64_t number, struct totals *totals)
{
    enum { REPORTS = 2 }; /* of a kind */
    struct small_history history;
    struct comparison comparison;
    bool reported = false;
    if (!make_history(options, number, &history))
        return;
    struct asking asking = {.telling = (enum telling)(number % TELLINGS),
                            .assumptions =
                                (history.registers && !options->cases ? (unsigned)(number / TELLINGS % 8) : 0) |
                                (options->cases || number / (8 * TELLINGS) % 2 == 0 ? EXECUTION_PREFILLED : 0),
                            .decided = options->decided,
                            .cases = options->cases};
    compare(&history, &asking, &comparison);
    totals->histories++;
    totals->split += comparison.splits > 0;
    totals->most_split = comparison.splits > totals->most_split ? comparison.splits : totals->most_split;
    for (int question = 0; question < QUESTIONS; question++) {
        enum agreement agreement = comparison.agreement[question];
        totals->open[history.registers][question] += agreement == OPEN;
        if (agreement == AGREE || agreement == OPEN)
            continue;
        if (totals->found[question][agreement]++ < REPORTS && !reported)
            report(&history, (struct wanted){asking, question, agreement}, number);
        totals->disagreements += !reported;
        reported = true;
    }
}

/* Takes the option at *i, and its value; false when there is none such. */
static bool take_option(int argc, char **argv, int *i, struct options *options)
{
    struct {
        const char *name;
        uint64_t *number;
    } numbers[] = {{"--seed", &options->seed},
                   {"--count", &options->count},
                   {"--first", &options->first},
                   {"--transactions", &options->transactions}};
    const char *name = argv[*i];
    struct {
        const char *name;
        bool *flag;
    } flags[] = {{"--made", &options->made}, {"--cases", &options->cases}, {"--decided", &options->decided}};
    for (size_t f = 0; f < sizeof flags / sizeof flags[0]; f++) {
        if (strcmp(name, flags[f].name) == 0) {
            *flags[f].flag = true;
            return true;
        }
    }
    if (strcmp(name, "--lists") == 0 || strcmp(name, "--registers") == 0) {
        options->workload = strcmp(name, "--lists") == 0 ? LISTS : REGISTERS;
        return true;
    }
    if (++*i == argc)
        return false;
    if (strcmp(name, "--most-open") == 0) {
        options->most_open = argv[*i];
        return true;
    }
    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
        if (strcmp(name, numbers[n].name) == 0) {
            *numbers[n].number = strtoull(argv[*i], NULL, 10);
            return true;
        }
    }
    return false;
}

static bool take_options(int argc, char **argv, struct options *options)
{
    for (int i = 1; i < argc; i++) {
        if (!take_option(argc, argv, &i, options))
            return false;
    }
    options->made |= options->cases;
    if (options->transactions == 0)
        options->transactions = options->cases ? 14 : 6;
    return options->cases ? options->transactions >= 8 && options->transactions <= CASES_TXNS
                          : options->transactions >= 4 && options->transactions <= EXECUTION_TXNS;
}

int main(int argc, char **argv)
{
    struct options options = {.seed = 1, .count = 2000};
    struct totals totals = {0};
    if (!take_options(argc, argv, &options)) {
        fprintf(stderr, "usage: executions_compare [--count N] [--seed S] [--first NUMBER] [--lists | --registers]\n"
                        "    [--made | --cases] [--transactions MOST] [--decided] [--most-open FILE]\n");
        return 64;
    }
    rig_bug_on_exit(print_current);
    for (uint64_t number = options.first; number < options.first + options.count; number++)
        try_history(&options, number, &totals);
    print_open(&totals);
    print_disagreements(&totals);
    printf("seed %llu: %llu histories, %llu with a disagreement\n", (unsigned long long)options.seed,
           (unsigned long long)totals.histories, (unsigned long long)totals.disagreements);
    if (options.cases)
        printf("%llu histories break a level only by cases, over at most %u pairs of writers\n",
               (unsigned long long)totals.split, totals.most_split);
    bool bounded = options.most_open == NULL || is_bounded(&totals, options.most_open);
    return totals.disagreements == 0 && bounded ? EXIT_SUCCESS : EXIT_FAILURE;
}
