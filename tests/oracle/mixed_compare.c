/*
 * Compares the checker with the definition of mixing-correctness (Adya 1999, 5.5) on random small histories of lists,
 * whose transactions have random levels.
 *
 *   mixed_compare [--count N] [--seed S]
 *
 * The oracle tries every fate of the transactions of unknown fate and every order of the versions that the reads allow.
 * The history is mixing-correct when one of these worlds has no cycle of obligatory edges, and no transaction of read
 * committed or above reads an aborted or an intermediate value. It shares no code with checker/. Histories with reads
 * that no world explains (elements without a writer, own writes missing, lists that contradict each other) are counted
 * apart: the checker may leave them open. The exit status is 1 when a verdict is wrong, or too many are open.
 */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "checker/judge/check.h"
#include "history/model/columns.h"
#include "tests/oracle/ask_checker.h"
#include "tests/oracle/small_execution.h"
#include "tests/oracle/small_random.h"
#include "tests/oracle/small_wild.h"

enum level { NO_LEVEL, PL_1, PL_2, PL_2_99, PL_3, LEVELS };

static const char *const level_names[LEVELS] = {NULL, "read-uncommitted", "read-committed", "repeatable-read",
                                                "serializable"};

enum { TXNS_MOST = 6, ELEMENTS_MOST = 16 };

struct world {
    const struct small_history *history;
    enum level level[SMALL_TXNS];
    bool committed[SMALL_TXNS];
    int order[SMALL_KEYS][ELEMENTS_MOST]; /* the elements of committed transactions, in the order of the list */
    int count[SMALL_KEYS];
    bool edge[SMALL_TXNS][SMALL_TXNS];
    bool explained; /* some world has an order of the versions that agrees with all reads */
};

/* ---- reads ---- */

static bool is_read(const struct small_op *op)
{
    return !op->append && op->known;
}

static int writer_of(const struct world *w, int key, int value)
{
    int op;
    return small_writer(w->history, key, value, &op);
}

/* The elements of the read that come before the reader's own; -1: its own appends so far are not at its end. */
static int external_count(const struct world *w, int txn, int at)
{
    const struct small_txn *t = &w->history->txns[txn];
    const struct small_op *read = &t->ops[at];
    const int own = small_appends_before(t, read->key, at), external = read->count - own;
    int next = external;
    if (external < 0)
        return -1;
    for (int i = 0; i < at; i++) {
        const struct small_op *op = &t->ops[i];
        if (op->append && op->key == read->key && read->list[next++] != op->value)
            return -1;
    }
    for (int i = 0; i < external; i++) {
        const int writer = writer_of(w, read->key, read->list[i]);
        if (writer < 0 || writer == txn)
            return -1;
        for (int j = 0; j < i; j++) {
            if (read->list[j] == read->list[i])
                return -1;
        }
    }
    return external;
}

static bool is_well_formed(const struct world *w)
{
    for (int t = 0; t < w->history->txn_count; t++) {
        for (int i = 0; i < w->history->txns[t].op_count; i++) {
            if (w->history->txns[t].outcome != SMALL_FAIL && is_read(&w->history->txns[t].ops[i]) &&
                external_count(w, t, i) < 0)
                return false;
        }
    }
    return true;
}

/* Whether the elements of committed transactions in each committed read are a prefix of the key's order. The reader's
 * own appends are among them: its version was made on top of what it shows before them. */
static bool agrees(const struct world *w)
{
    for (int t = 0; t < w->history->txn_count; t++) {
        for (int i = 0; w->committed[t] && i < w->history->txns[t].op_count; i++) {
            const struct small_op *read = &w->history->txns[t].ops[i];
            int at = 0;
            for (int e = 0; is_read(read) && e < read->count; e++) {
                if (!w->committed[writer_of(w, read->key, read->list[e])])
                    continue;
                if (at >= w->count[read->key] || w->order[read->key][at++] != read->list[e])
                    return false;
            }
        }
    }
    return true;
}

/* ---- edges ---- */

static bool is_last_of_writer(const struct world *w, int key, int value)
{
    const struct small_txn *t = &w->history->txns[writer_of(w, key, value)];
    int last = value;
    for (int i = 0; i < t->op_count; i++)
        last = t->ops[i].append && t->ops[i].key == key ? t->ops[i].value : last;
    return last == value;
}

/* The writer of the version that was read, -1 for the initial state, and the place of the first element after it. */
static int version_read(const struct world *w, int txn, int at, int *next)
{
    const struct small_op *read = &w->history->txns[txn].ops[at];
    int writer = -1;
    *next = 0;
    for (int e = 0; e < external_count(w, txn, at); e++) {
        const int of_element = writer_of(w, read->key, read->list[e]);
        writer = of_element;
        *next += w->committed[of_element];
    }
    return writer;
}

static void add_edges_of_read(struct world *w, int txn, int at)
{
    const struct small_op *read = &w->history->txns[txn].ops[at];
    int next = 0;
    const int writer = version_read(w, txn, at, &next);
    const enum level level = w->level[txn], least = read->count == 0 ? PL_3 : PL_2_99;
    if (writer >= 0 && w->committed[writer] && level >= PL_2)
        w->edge[writer][txn] = true;
    if (level < least)
        return;
    for (int i = next; i < w->count[read->key]; i++) {
        const int other = writer_of(w, read->key, w->order[read->key][i]);
        if (other != txn && other != writer)
            w->edge[txn][other] = true;
    }
}

/* Each append makes a version, also one that its transaction replaces: appends of two transactions that alternate are a
 * cycle of writes. */
static void find_edges(struct world *w)
{
    memset(w->edge, 0, sizeof w->edge);
    for (int key = 0; key < SMALL_KEYS; key++) {
        for (int i = 0; i < w->count[key]; i++) {
            for (int j = i + 1; j < w->count[key]; j++) {
                const int one = writer_of(w, key, w->order[key][i]), two = writer_of(w, key, w->order[key][j]);
                if (one != two)
                    w->edge[one][two] = true;
            }
        }
    }
    for (int t = 0; t < w->history->txn_count; t++) {
        for (int i = 0; w->committed[t] && i < w->history->txns[t].op_count; i++) {
            if (is_read(&w->history->txns[t].ops[i]))
                add_edges_of_read(w, t, i);
        }
    }
}

static bool is_acyclic(struct world *w)
{
    const int count = w->history->txn_count;
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < count; j++)
                w->edge[i][j] |= w->edge[i][k] && w->edge[k][j];
        }
    }
    bool acyclic = true;
    for (int t = 0; t < count; t++)
        acyclic &= !w->edge[t][t];
    return acyclic;
}

/* G1a and G1b of transactions of read committed and above. */
static bool has_phenomenon(const struct world *w)
{
    bool has = false;
    for (int t = 0; t < w->history->txn_count; t++) {
        for (int i = 0; w->committed[t] && w->level[t] >= PL_2 && i < w->history->txns[t].op_count; i++) {
            const struct small_op *read = &w->history->txns[t].ops[i];
            const int external = is_read(read) ? external_count(w, t, i) : 0;
            for (int e = 0; e < external; e++)
                has |= !w->committed[writer_of(w, read->key, read->list[e])];
            has |= external > 0 && !is_last_of_writer(w, read->key, read->list[external - 1]);
        }
    }
    return has;
}

/* ---- worlds ---- */

static bool try_order(struct world *w)
{
    if (!agrees(w))
        return false;
    w->explained = true;
    find_edges(w);
    return is_acyclic(w) && !has_phenomenon(w);
}

/* All orders of the elements from `at` on of the key, and of all later keys. */
static bool try_orders(struct world *w, int key, int at)
{
    if (key == SMALL_KEYS)
        return try_order(w);
    if (at >= w->count[key])
        return try_orders(w, key + 1, 0);
    bool correct = false;
    for (int i = at; !correct && i < w->count[key]; i++) {
        int *order = w->order[key];
        const int chosen = order[i];
        order[i] = order[at];
        order[at] = chosen;
        correct = try_orders(w, key, at + 1);
        order[at] = order[i];
        order[i] = chosen;
    }
    return correct;
}

static bool try_world(struct world *w)
{
    memset(w->count, 0, sizeof w->count);
    for (int t = 0; t < w->history->txn_count; t++) {
        for (int i = 0; w->committed[t] && i < w->history->txns[t].op_count; i++) {
            const struct small_op *op = &w->history->txns[t].ops[i];
            if (op->append)
                w->order[op->key][w->count[op->key]++] = op->value;
        }
    }
    return try_orders(w, 0, 0);
}

static bool is_mixing_correct(struct world *w)
{
    bool correct = false;
    for (unsigned fates = 0; !correct && fates < 1U << w->history->txn_count; fates++) {
        bool possible = true;
        for (int t = 0; t < w->history->txn_count; t++) {
            const enum small_outcome outcome = w->history->txns[t].outcome;
            w->committed[t] = (fates >> t & 1) != 0;
            possible &= outcome == SMALL_INFO || w->committed[t] == (outcome == SMALL_OK);
        }
        correct = possible && try_world(w);
    }
    return correct;
}

/* ---- the comparison ---- */

struct tally {
    uint64_t compared, correct, wrong, open, unexplained;
};

static void give_levels(const struct world *w, struct rig_history *history, struct rig_columns *columns)
{
    rig_columns_init(columns, 0);
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        int small = 0;
        while (w->history->txns[small].process != history->txns[txn].process ||
               (history->txns[txn].invoke_at == RIG_POSITION_NONE
                    ? w->history->txns[small].complete_at != (int)history->txns[txn].complete_at
                    : w->history->txns[small].invoke_at != (int)history->txns[txn].invoke_at))
            small++;
        const char *name = level_names[w->level[small]];
        if (name != NULL)
            (void)rig_columns_set(columns, RIG_COLUMN_LEVEL, txn, rig_columns_name(columns, name, strlen(name)));
    }
    history->columns = columns;
}

static enum rig_fate ask(const struct world *w, char *problem, size_t size)
{
    struct rig_err err = {.rc = RIG_OK};
    struct rig_history *history = NULL;
    struct rig_columns columns;
    struct rig_verdict *verdict = NULL;
    const struct rig_check_options options = {.anomalies = RIG_ANOMALY_BIT(RIG_ANOMALY_G_MIXED)};
    enum rig_fate fate = RIG_FATE_NOT_REFUTED;
    if (build_history(w->history, NULL, &history, &err) != RIG_OK) {
        (void)snprintf(problem, size, "%s", err.text);
        return fate;
    }
    give_levels(w, history, &columns);
    if (rig_check(history, &options, &verdict, &err) != RIG_OK)
        (void)snprintf(problem, size, "%s", err.text);
    else if (verdict->mixed_reason != NULL)
        fate = verdict->mixed;
    /* A history that shows too little is undecided, whatever holds. */
    if (verdict != NULL && (verdict->valid == RIG_VALID_FALSE) != (fate == RIG_FATE_REFUTED))
        (void)snprintf(problem, size, "it is refuted, or not, and the validity says otherwise");
    if (verdict != NULL && verdict->valid == RIG_VALID_TRUE && fate != RIG_FATE_HELD)
        (void)snprintf(problem, size, "it is open, and the validity says otherwise");
    rig_verdict_free(verdict);
    history->columns = NULL;
    rig_history_free(history);
    rig_columns_done(&columns);
    return fate;
}

static void print(const struct world *w, uint64_t number, const char *text)
{
    printf("history %llu: %s\n", (unsigned long long)number, text);
    for (int t = 0; t < w->history->txn_count; t++)
        printf("  %s\n", level_names[w->level[t]] == NULL ? "no level" : level_names[w->level[t]]);
    small_print(w->history, "  ", stdout);
}

static void compare(struct world *w, uint64_t number, struct tally *tally)
{
    char problem[RIG_ERR_TEXT_BYTES] = "";
    const bool correct = is_mixing_correct(w);
    const enum rig_fate fate = ask(w, problem, sizeof problem);
    const bool wrong = correct ? fate == RIG_FATE_REFUTED : fate == RIG_FATE_HELD;
    tally->compared++;
    tally->correct += correct;
    tally->open += fate == RIG_FATE_NOT_REFUTED && w->explained;
    tally->unexplained += !w->explained;
    if (!wrong && problem[0] == '\0')
        return;
    tally->wrong++;
    print(w, number,
          problem[0] != '\0' ? problem
          : correct          ? "it is mixing-correct, and was refuted"
                             : "it is not mixing-correct, and was held");
}

static bool make(uint64_t seed, uint64_t number, struct small_history *history, struct world *w)
{
    const struct small_shape shape = {.least = 2, .most = TXNS_MOST};
    struct rig_rng rng;
    if (number % 3 == 0)
        small_random(seed, number, SMALL_TINY, history);
    else if (number % 3 == 1)
        small_execution(seed, number, shape, history);
    else
        small_wild(seed, number, history);
    rig_rng_init(&rng, seed, number);
    *w = (struct world){.history = history};
    const uint64_t choices = number % 2 == 0 ? LEVELS : 2;
    for (int t = 0; t < history->txn_count; t++)
        w->level[t] =
            choices == LEVELS ? (enum level)rig_rng_below(&rng, LEVELS) : (rig_rng_below(&rng, 2) == 0 ? PL_2 : PL_3);
    w->level[0] = w->level[0] == NO_LEVEL ? PL_3 : w->level[0];
    int elements[SMALL_KEYS] = {0};
    bool fits = !history->registers && history->txn_count <= TXNS_MOST;
    for (int t = 0; fits && t < history->txn_count; t++) {
        for (int i = 0; i < history->txns[t].op_count; i++)
            elements[history->txns[t].ops[i].key] += history->txns[t].ops[i].append;
    }
    for (int key = 0; key < SMALL_KEYS; key++)
        fits &= elements[key] <= 7;
    return fits && is_well_formed(w);
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, count = 10000;
    struct tally tally = {0};
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--count") == 0) {
            count = strtoull(argv[++i], NULL, 10);
        } else {
            fprintf(stderr, "usage: mixed_compare [--count N] [--seed S]\n");
            return 64;
        }
    }
    for (uint64_t number = 0; tally.compared < count && tally.wrong < 10; number++) {
        struct small_history history;
        struct world world;
        if (make(seed, number, &history, &world))
            compare(&world, number, &tally);
    }
    printf("%llu histories: %llu mixing-correct, %llu wrong, %llu open, %llu with reads that no world explains\n",
           (unsigned long long)tally.compared, (unsigned long long)tally.correct, (unsigned long long)tally.wrong,
           (unsigned long long)tally.open, (unsigned long long)tally.unexplained);
    return tally.wrong > 0 || tally.correct == 0 || tally.correct == tally.compared;
}
