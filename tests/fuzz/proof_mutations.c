/*
 * Real proofs of random histories of every type, with random damage to their structure, replayed by rig-verify's code:
 * no crash (under the sanitizers: no bad access, no leak), and no claim proved that contradicts the verdict.
 *
 *   proof_mutations [COUNT] [SEED] [LOG]
 *
 * COUNT histories of each type. LOG gets a line for each replay with its answer, so that two versions of rig-verify can
 * be compared. Words are exchanged for others of their kind, lines dropped, doubled, moved and invented: so every kind
 * of line meets operations of every kind.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "base/rng.h"
#include "checker/judge/proof/prove.h"
#include "history/source/load.h"
#include "history/types/types.h"
#include "tests/proof/proof_histories.h"
#include "checker/prove/contradiction.h"
#include "checker/prove/proof_claims.h"
#include "checker/prove/proved_levels.h"
#include "checker/prove/replay.h"

enum { PER_HISTORY = 20, MOST_LINES = 400 };

static struct rig_rng rng;
static FILE *answers;

/* The lines of a proof, behind its head and before its end. */
struct proof {
    char *at[MOST_LINES];
    int count;
};

static uint32_t below(uint32_t bound)
{
    return (uint32_t)rig_rng_below(&rng, bound == 0 ? 1 : bound);
}

static void insert_line(struct proof *proof, int place, const char *text)
{
    if (proof->count == MOST_LINES)
        return;
    memmove(&proof->at[place + 1], &proof->at[place], (size_t)(proof->count - place) * sizeof proof->at[0]);
    proof->at[place] = strdup(text);
    RIG_REQUIRE(proof->at[place] != NULL);
    proof->count++;
}

static void drop_line(struct proof *proof, int place)
{
    free(proof->at[place]);
    proof->count--;
    memmove(&proof->at[place], &proof->at[place + 1], (size_t)(proof->count - place) * sizeof proof->at[0]);
}

static void split(const char *text, struct proof *proof)
{
    const char *at = strchr(strchr(text, '\n') + 1, '\n') + 1; /* behind two lines of the head */
    proof->count = 0;
    for (; strncmp(at, "end\n", 4) != 0 && proof->count < MOST_LINES; at += strcspn(at, "\n") + 1) {
        char *line = strndup(at, strcspn(at, "\n"));
        RIG_REQUIRE(line != NULL);
        proof->at[proof->count++] = line;
    }
}

/* ---- words ---- */

static void add_name(const struct rig_history *history, struct rig_buf *out)
{
    const uint32_t txn = below(history->txn_count);
    rig_buf_printf(out, "%" PRIu32, below(20) == 0 || history->txn_count == 0 ? below(40) : rig_txn_name(history, txn));
}

static void add_reason(const struct rig_history *history, struct rig_buf *out)
{
    static const char *const reasons[] = {"", " case", " update", " sequential", " linearizable"};
    const uint32_t reason = below(5);
    rig_buf_add_text(out, reasons[reason]);
    if (reason == 2)
        rig_buf_printf(out, " %" PRIu32, below(6));
    for (int i = 0; i < 2 && reason > 2; i++) {
        rig_buf_add_char(out, ' ');
        add_name(history, out);
    }
}

/* A line of a witness, of any kind, about any operations. */
static void invent_line(const struct rig_history *history, struct rig_buf *out)
{
    const uint32_t kind = below(RIG_WITNESS_KINDS + 1);
    rig_buf_add_text(out, kind == RIG_WITNESS_KINDS ? "no-order" : rig_witness_kinds[kind]);
    for (uint32_t names = kind == RIG_WITNESS_KINDS   ? 1 + below(6)
                          : kind == RIG_WITNESS_CYCLE ? 0
                                                      : 2;
         names > 0; names--) {
        rig_buf_add_char(out, ' ');
        add_name(history, out);
        if ((kind < RIG_WITNESS_PROCESS || kind > RIG_WITNESS_SUPPOSE) && kind != RIG_WITNESS_KINDS)
            rig_buf_printf(out, " %" PRIu32, below(6));
    }
    if (kind <= RIG_WITNESS_RW)
        add_reason(history, out);
}

static void invent_claim(const struct rig_history *history, struct rig_buf *out)
{
    const char *level = rig_proved_levels[below(RIG_PROVED_LEVELS)].name;
    if (below(3) == 0) {
        rig_buf_printf(out, "held %s %s\n", rig_order_kinds[below(RIG_ORDER_KINDS)], level);
        for (uint32_t names = below(2 * history->txn_count) + 1; names > 0; names--) {
            add_name(history, out);
            rig_buf_add_char(out, names > 1 ? ' ' : '\n');
        }
    } else {
        rig_buf_printf(out, "refuted %s\n", level);
        for (uint32_t lines = 1 + below(3); lines > 0; lines--) {
            invent_line(history, out);
            rig_buf_add_char(out, '\n');
        }
        if (below(2) == 0)
            rig_buf_add_text(out, "cycle\n");
    }
    rig_buf_add_char(out, '.');
}

/* One word of the line, for another one of its kind. */
static void change_word(const struct rig_history *history, const char *line, struct rig_buf *out)
{
    uint32_t words = 1, changed, number = 0;
    for (const char *at = line; *at != '\0'; at++)
        words += *at == ' ';
    changed = below(words);
    for (const char *at = line; at != NULL && *at != '\0'; number++) {
        const size_t size = strcspn(at, " ");
        const bool is_number = strspn(at, "0123456789") == size;
        if (number > 0)
            rig_buf_add_char(out, ' ');
        if (number != changed)
            rig_buf_add(out, at, size);
        else if (is_number && below(2) == 0)
            add_name(history, out);
        else if (is_number)
            rig_buf_printf(out, "%" PRIu32, below(8));
        else if (rig_proved_level_find(at, size) >= 0)
            rig_buf_add_text(out, rig_proved_levels[below(RIG_PROVED_LEVELS)].name);
        else if (number > 0)
            rig_buf_add_text(out, rig_order_kinds[below(RIG_ORDER_KINDS)]);
        else
            rig_buf_add_text(out, rig_witness_kinds[below(RIG_WITNESS_KINDS)]);
        at += size;
        at += *at == ' ';
    }
}

static void damage(const struct rig_history *history, struct proof *proof)
{
    struct rig_buf line;
    rig_buf_init(&line, 0);
    const int place = (int)below((uint32_t)proof->count);
    const uint32_t what = proof->count == 0 ? 5 : below(8);
    if (what <= 2)
        change_word(history, proof->at[place], &line);
    else if (what == 6)
        invent_claim(history, &line);
    else if (what == 7 || what == 5)
        invent_line(history, &line);
    else if (what == 4)
        rig_buf_add_text(&line, proof->at[below((uint32_t)proof->count)]);
    if (what <= 2 || what == 3 || what == 7)
        drop_line(proof, place);
    if (what != 3)
        insert_line(proof, what == 6 ? 0 : place, rig_buf_text(&line)); /* a claim stands alone at the beginning */
    rig_buf_done(&line);
}

/* ---- replays ---- */

struct replays {
    uint64_t proved, refused;
};

/* Claims that rest on assumptions may refute what is held without them. */
static void replay(const struct rig_history *history, const struct rig_verdict *verdict, const struct rig_buf *text,
                   struct replays *replays)
{
    struct rig_facts facts = {0};
    struct rig_proved proved = {0};
    struct rig_err err = {0};
    const bool assumes = strstr(rig_buf_text(text), "\nassume ") != NULL;
    RIG_REQUIRE(rig_facts_init(&facts, history, &err) == RIG_OK);
    const enum rig_rc rc = rig_claims_prove(&facts, rig_buf_text(text), text->size, &proved, &err);
    RIG_REQUIRE((rc == RIG_OK) == (err.rc == RIG_OK));
    *(rc == RIG_OK ? &replays->proved : &replays->refused) += 1;
    if (answers != NULL)
        (void)fprintf(answers, "%s: %d, held %" PRIx64 ", refuted %" PRIx64 "\n",
                      rig_data_types[history->workload].name, (int)rc, proved.held, proved.refuted);
    for (int level = 0; level < RIG_LEVEL_COUNT; level++) {
        const char *name = rig_level_info((enum rig_level)level)->name;
        const int index = rig_proved_level_find(name, strlen(name));
        const enum rig_fate fate = verdict->levels[level].fate;
        const bool wrong = (fate == RIG_FATE_HELD && !assumes && (proved.refuted >> index & 1) != 0) ||
                           (fate == RIG_FATE_REFUTED && (proved.held >> index & 1) != 0);
        if (wrong) {
            (void)fprintf(stderr, "%s: the verdict says %s\n%s\n", name, fate == RIG_FATE_HELD ? "held" : "refuted",
                          rig_buf_text(text));
            (void)rig_history_save(history, "-", &(struct rig_save_options){.form = RIG_FORM_JSON_LINES}, &err);
        }
        RIG_REQUIRE(!wrong);
    }
    rig_facts_done(&facts);
}

static void mutate(const struct rig_history *history, const struct rig_verdict *verdict, const struct rig_buf *proof,
                   struct replays *replays)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    for (int i = 0; i < PER_HISTORY; i++) {
        struct proof lines;
        split(rig_buf_text(proof), &lines);
        for (uint32_t times = 1 + below(3); times > 0; times--)
            damage(history, &lines);
        rig_buf_clear(&text);
        rig_buf_add(&text, rig_buf_text(proof),
                    (size_t)(strchr(strchr(rig_buf_text(proof), '\n') + 1, '\n') + 1 - rig_buf_text(proof)));
        for (int line = 0; line < lines.count; line++) {
            rig_buf_printf(&text, "%s\n", lines.at[line]);
            free(lines.at[line]);
        }
        rig_buf_add_text(&text, "end\n");
        replay(history, verdict, &text, replays);
    }
    rig_buf_done(&text);
}

static void try_history(enum rig_workload workload, uint64_t seed, uint64_t number, struct replays *replays)
{
    /* Without assumptions: no execution explains what is refuted. */
    const struct rig_check_options options = {0};
    struct rig_err err = {0};
    struct rig_verdict *verdict = NULL;
    struct rig_buf proof;
    struct rig_history *history = proof_history(workload, seed, number);
    rig_buf_init(&proof, 0);
    if (history != NULL && rig_check(history, &options, &verdict, &err) == RIG_OK &&
        rig_prove(history, verdict, &options, &proof, &err) == RIG_OK)
        mutate(history, verdict, &proof, replays);
    rig_buf_done(&proof);
    rig_verdict_free(verdict);
    rig_history_free(history);
}

int main(int argc, char **argv)
{
    const uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 30;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : rig_rng_fresh_seed();
    bool passed = true;
    answers = argc > 3 ? fopen(argv[3], "w") : NULL;
    printf("seed %" PRIu64 "\n", seed);
    (void)fflush(stdout);
    rig_rng_init(&rng, seed, 0);
    for (int type = 0; type < RIG_WORKLOAD_COUNT; type++) {
        struct replays replays = {0};
        if (!proof_histories_have((enum rig_workload)type))
            continue;
        for (uint64_t number = 0; number < count; number++)
            try_history((enum rig_workload)type, seed, number, &replays);
        printf("%s: %" PRIu64 " proved and true, %" PRIu64 " refused\n", rig_data_types[type].name, replays.proved,
               replays.refused);
        passed = passed && replays.refused > replays.proved / 4;
    }
    if (answers != NULL)
        (void)fclose(answers);
    return passed ? 0 : 1;
}
