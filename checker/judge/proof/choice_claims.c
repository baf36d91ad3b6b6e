#include "checker/judge/proof/choice_claims.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/judge/proof/prove.h"

struct claiming {
    struct rig_history *own; /* with choices */
    const struct rig_check_options *options;
    const struct rig_choice_record *record;
    struct rig_arena arena;
    uint32_t *chosen; /* per read */
    bool *only;       /* per read: whether it has a choice */
    struct rig_buf *text;
    struct rig_err *err;
};

static enum rig_rc no_memory(const struct claiming *c)
{
    return rig_memory_limit(c->err, "the proof");
}

static enum rig_rc begin(struct claiming *c, const struct rig_history *history)
{
    const size_t reads = c->record->ambiguous.reads.count + 1;
    rig_arena_init(&c->arena, 0);
    c->own = rig_ambiguous_reads_own(history, &c->arena);
    c->chosen = rig_arena_array(&c->arena, reads, sizeof c->chosen[0]);
    c->only = rig_arena_array(&c->arena, reads, sizeof c->only[0]);
    return c->own != NULL && c->chosen != NULL && c->only != NULL ? RIG_OK : no_memory(c);
}

static void done(struct claiming *c)
{
    rig_history_free(c->own);
    rig_arena_done(&c->arena);
}

/* The operation of its transaction that the choice says was seen. */
static uint32_t written_by(const struct claiming *c, const struct rig_read_choice *choice, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(c->own, choice->writer);
    uint32_t op = 0;
    while (rig_op_reads(ops[op].kind) || ops[op].key != key || ops[op].value != choice->value)
        op++;
    RIG_INVARIANT(op < rig_txn_op_count(c->own, choice->writer));
    return op;
}

/* Makes the choices, and writes them. */
static void choose(struct claiming *c, const struct rig_decided_choices *decided)
{
    const struct rig_ambiguous_reads *ambiguous = &c->record->ambiguous;
    memset(c->only, 0, ambiguous->reads.count * sizeof c->only[0]);
    for (uint32_t i = decided->first; i < decided->first + decided->count; i++) {
        const uint32_t number = c->record->numbers.at[i], read = rig_ambiguous_read_of(ambiguous, number);
        const struct rig_ambiguous_read *at = &ambiguous->reads.at[read];
        const struct rig_read_choice *choice = &ambiguous->choices.at[number];
        if (c->only[read])
            continue; /* two transactions of a witness may be one */
        c->only[read] = true;
        c->chosen[read] = number;
        rig_buf_printf(c->text, "choose %" PRIu32 " %" PRIu32, rig_txn_name(c->own, at->txn),
                       at->op - c->own->txns[at->txn].first_op);
        if (choice->writer == RIG_CHOICE_INITIAL)
            rig_buf_add_text(c->text, " initial\n");
        else
            rig_buf_printf(c->text, " %" PRIu32 " %" PRIu32 "\n", rig_txn_name(c->own, choice->writer),
                           written_by(c, choice, c->own->ops[at->op].key));
    }
    rig_ambiguous_reads_set(ambiguous, c->chosen, c->only, c->own);
}

static enum rig_rc check(const struct claiming *c, struct rig_verdict **verdict)
{
    const struct rig_check_options options =
        rig_choices_options(c->options, c->options->budget_ns == 0 ? RIG_DEFAULT_BUDGET_NS : c->options->budget_ns);
    return rig_check(c->own, &options, verdict, c->err);
}

static void say_open(struct claiming *c, unsigned level, const char *why)
{
    rig_buf_printf(c->text, "open %s %s\n", rig_level_info((enum rig_level)level)->name, why);
}

/* ---- levels refuted ---- */

/* Writes the level's cases. *proved is false where one of them has no form in a proof. */
static enum rig_rc write_cases(struct claiming *c, unsigned level, struct rig_buf *assumed, bool *proved)
{
    enum rig_rc rc = RIG_OK;
    *proved = false;
    rig_buf_printf(c->text, "cases %s\n", rig_level_info((enum rig_level)level)->name);
    for (size_t i = 0; rc == RIG_OK && i < c->record->cases.count; i++) {
        const struct rig_decided_choices *decided = &c->record->cases.at[i];
        struct rig_verdict *verdict = NULL;
        if (decided->levels != RIG_LEVEL_BIT(level))
            continue;
        choose(c, decided);
        rc = check(c, &verdict);
        *proved = rc == RIG_OK && rig_prove_case(c->own, verdict, c->options, (enum rig_level)level, assumed, c->text);
        rig_verdict_free(verdict);
        if (!*proved)
            break;
    }
    rig_buf_add_text(c->text, ".\n");
    return rc;
}

static enum rig_rc claim_refuted(struct claiming *c, unsigned level, bool *proved)
{
    struct rig_buf claims, assumed, *text = c->text;
    rig_buf_init(&claims, 0);
    rig_buf_init(&assumed, 0);
    c->text = &claims;
    enum rig_rc rc = write_cases(c, level, &assumed, proved);
    c->text = text;
    if (rc == RIG_OK && (claims.failed || assumed.failed))
        rc = no_memory(c);
    if (rc == RIG_OK && *proved) {
        rig_buf_add(text, rig_buf_text(&assumed), assumed.size);
        rig_buf_add(text, rig_buf_text(&claims), claims.size);
    } else if (rc == RIG_OK) {
        say_open(c, level, "refuted by choices, but the witness of a case has no form in a proof");
    }
    rig_buf_done(&claims);
    rig_buf_done(&assumed);
    return rc;
}

enum rig_rc rig_choice_claims_refuted(const struct rig_history *history, const struct rig_check_options *options,
                                      const struct rig_choice_record *record, uint64_t levels, struct rig_buf *text,
                                      struct rig_err *err)
{
    struct claiming c = {.options = options, .record = record, .text = text, .err = err};
    enum rig_rc rc = levels == 0 ? RIG_OK : begin(&c, history);
    for (unsigned level = 0; rc == RIG_OK && level < RIG_LEVEL_COUNT; level++) {
        bool proved = false;
        if ((levels & RIG_LEVEL_BIT(level)) == 0)
            continue;
        rc = claim_refuted(&c, level, &proved);
        levels &= ~(proved ? rig_level_info((enum rig_level)level)->above : RIG_LEVEL_BIT(level));
    }
    if (c.own != NULL)
        done(&c);
    return rc;
}

/* ---- levels held ---- */

/* The choices with which most of these levels hold; NULL: there are none. */
static const struct rig_decided_choices *best_of(const struct rig_choice_record *record, uint64_t levels)
{
    const struct rig_decided_choices *best = NULL;
    int most = 0;
    for (size_t i = 0; i < record->held.count; i++) {
        const int count = __builtin_popcountll(record->held.at[i].levels & levels);
        if (count > most)
            best = &record->held.at[i];
        most = count > most ? count : most;
    }
    return best;
}

enum rig_rc rig_choice_claims_held(const struct rig_history *history, const struct rig_check_options *options,
                                   const struct rig_choice_record *record, uint64_t levels, struct rig_buf *text,
                                   struct rig_err *err)
{
    struct claiming c = {.options = options, .record = record, .text = text, .err = err};
    enum rig_rc rc = levels == 0 ? RIG_OK : begin(&c, history);
    while (rc == RIG_OK && levels != 0) {
        const struct rig_decided_choices *decided = best_of(record, levels);
        struct rig_verdict *verdict = NULL;
        if (decided == NULL)
            break;
        rig_buf_add_text(text, "choices\n");
        choose(&c, decided);
        rig_buf_add_text(text, ".\n");
        rc = check(&c, &verdict);
        if (rc == RIG_OK)
            rc = rig_prove_held(c.own, verdict, options, decided->levels & levels, text, err);
        levels &= ~decided->levels;
        rig_verdict_free(verdict);
    }
    for (unsigned level = 0; rc == RIG_OK && level < RIG_LEVEL_COUNT; level++) {
        if ((levels & RIG_LEVEL_BIT(level)) != 0)
            say_open(&c, level, "held by choices that are not known any more");
    }
    if (c.own != NULL)
        done(&c);
    return rc;
}
