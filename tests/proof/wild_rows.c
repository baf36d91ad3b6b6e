#include "tests/proof/wild_rows.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/rng.h"
#include "history/source/load.h"
#include "history/types/row_ops.h"

enum { MOST_TXNS = 5, MOST_ROWS = 8, UNSEEN = -1 };

/* A row: its insert, then an update or a delete. */
struct wild_row {
    int writers[2]; /* transactions */
    int64_t versions[2];
};

struct wild {
    int txn_count, row_count;
    struct wild_row rows[MOST_ROWS];
    bool reads[MOST_TXNS];          /* it begins with a read of all rows, or those of class 1 */
    int64_t conditions[MOST_TXNS];  /* of that read */
    int seen[MOST_TXNS][MOST_ROWS]; /* place in `versions`, or UNSEEN */
    int order[MOST_TXNS];           /* in which transactions begin */
};

static int below(struct rig_rng *rng, int bound)
{
    return (int)rig_rng_below(rng, (uint64_t)bound);
}

static bool is_shown(const struct wild *w, int txn, int row, int place)
{
    struct rig_row_where condition = rig_row_all();
    (void)rig_row_condition_of(w->conditions[txn], &condition);
    return place != UNSEEN && rig_row_action(w->rows[row].versions[place]) != RIG_ROWS_DELETE &&
           rig_row_matches(&condition, w->rows[row].versions[0], w->rows[row].versions[place]);
}

static void draw_row(struct rig_rng *rng, struct wild *w, int row)
{
    struct wild_row *of = &w->rows[row];
    const bool deletes = below(rng, 4) > 0;
    of->writers[0] = below(rng, w->txn_count);
    of->writers[1] = (of->writers[0] + 1 + below(rng, w->txn_count - 1)) % w->txn_count;
    if (below(rng, 8) > 0 && of->writers[0] > of->writers[1]) { /* else against the order of most rows */
        const int first = of->writers[1];
        of->writers[1] = of->writers[0];
        of->writers[0] = first;
    }
    of->versions[0] = rig_row_number(1 + row, below(rng, 3) > 0, RIG_ROWS_INSERT);
    of->versions[1] =
        rig_row_number(1 + MOST_ROWS + row, deletes ? 0 : below(rng, 2), deletes ? RIG_ROWS_DELETE : RIG_ROWS_UPDATE);
}

static void draw(struct rig_rng *rng, struct wild *w)
{
    static const int64_t conditions[] = {-99910, -100020}; /* all rows; those of class 1 */
    const bool misses = below(rng, 3) > 0;                 /* reads show no row, if they can */
    w->txn_count = 3 + below(rng, MOST_TXNS - 2);
    w->row_count = 2 + below(rng, MOST_ROWS - 1);
    for (int row = 0; row < w->row_count; row++)
        draw_row(rng, w, row);
    for (int txn = 0; txn < w->txn_count; txn++) {
        w->reads[txn] = below(rng, 4) > 0;
        w->conditions[txn] = conditions[below(rng, 2)];
        w->order[txn] = txn;
        for (int row = 0; row < w->row_count; row++) {
            const int most = w->rows[row].writers[0] == txn ? UNSEEN : w->rows[row].writers[1] == txn ? 0 : 1;
            int seen = below(rng, most + 2) - 1;
            if (misses && is_shown(w, txn, row, seen))
                seen = most == 1 && !is_shown(w, txn, row, 1) && below(rng, 2) == 0 ? 1 : UNSEEN;
            w->seen[txn][row] = w->rows[row].writers[1] == txn ? 0 : seen; /* as its own statement does */
        }
    }
    for (int i = w->txn_count; i-- > 1;) {
        const int other = below(rng, i + 1), last = w->order[i];
        w->order[i] = w->order[other];
        w->order[other] = last;
    }
}

/* ---- text ---- */

static void print_txn(const struct wild *w, int txn, bool done, FILE *out)
{
    const char *comma = "";
    (void)fprintf(out, "{\"type\": \"%s\", \"process\": %d, \"f\": \"txn\", \"value\": [", done ? "ok" : "invoke", txn);
    if (w->reads[txn]) {
        (void)fprintf(out, "[\"row\", 0, %" PRId64 "], [\"r\", 0, %s", w->conditions[txn], done ? "[" : "null");
        for (int row = 0; done && row < w->row_count; row++) {
            if (!is_shown(w, txn, row, w->seen[txn][row]))
                continue;
            (void)fprintf(out, "%s%" PRId64 ", %" PRId64, comma, w->rows[row].versions[0],
                          w->rows[row].versions[w->seen[txn][row]]);
            comma = ", ";
        }
        (void)fputs(done ? "]]" : "]", out);
        comma = ", ";
    }
    for (int row = 0; row < w->row_count; row++) {
        const struct wild_row *of = &w->rows[row];
        if (of->writers[0] == txn) {
            (void)fprintf(out, "%s[\"row\", 0, %" PRId64 "]", comma, of->versions[0]);
            comma = ", ";
        }
        if (of->writers[1] == txn) {
            (void)fprintf(out, "%s[\"row\", 0, %d], [\"r\", 0, ", comma, -((1 + row) * 100000 + 10));
            if (done)
                (void)fprintf(out, "[%" PRId64 ", %" PRId64 "]", of->versions[0], of->versions[0]);
            (void)fprintf(out, "%s], [\"row\", 0, %" PRId64 "]", done ? "" : "null", of->versions[1]);
            comma = ", ";
        }
    }
    (void)fputs("]}\n", out);
}

/* Each transaction begins after a drawn number of others have ended. */
static void print(struct rig_rng *rng, const struct wild *w, FILE *out)
{
    int begun = 0;
    for (int ended = 0; ended < w->txn_count;) {
        if (begun < w->txn_count && (begun == ended || below(rng, 3) > 0))
            print_txn(w, w->order[begun++], false, out);
        else
            print_txn(w, w->order[ended++], true, out);
    }
}

struct rig_history *wild_rows(uint64_t seed, uint64_t number)
{
    const struct rig_load_options load = {
        .form = RIG_FORM_JSON_LINES, .workload_given = true, .workload = RIG_WORKLOAD_PREDICATE};
    struct rig_err err = {0};
    struct rig_history *history = NULL;
    struct rig_rng rng;
    struct wild w = {0};
    char *text = NULL;
    size_t size = 0;
    rig_rng_init(&rng, seed, number);
    draw(&rng, &w);
    FILE *out = open_memstream(&text, &size);
    RIG_REQUIRE(out != NULL);
    print(&rng, &w, out);
    (void)fclose(out);
    const enum rig_rc rc = rig_history_parse("wild rows", text, size, &load, &history, &err);
    free(text);
    RIG_REQUIRE(rc == RIG_OK);
    return history;
}
