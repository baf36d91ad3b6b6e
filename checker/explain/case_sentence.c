/* Proofs by cases in words (sentence.h). */
#include <inttypes.h>
#include <stdlib.h>

#include "base/bug.h"
#include "checker/explain/type_words.h"
#include "checker/decide/rule.h"
#include "checker/explain/case_outline.h"
#include "checker/explain/say.h"
#include "checker/explain/sentence.h"

struct wording {
    const struct rig_history *history;
    const struct rig_cases *cases;
    const struct rig_case_place *places;
    struct rig_buf *text;
};

/* ---- what is supposed ---- */

bool rig_sentence_writes(const struct rig_history *history, uint32_t txn, uint32_t key)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (ops[i].key == key && !rig_op_reads(ops[i].kind))
            return true;
    }
    return false;
}

/* Operation `op` is the transaction's first write of a key that both write. */
static bool is_shared(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t other)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    if (rig_op_reads(ops[op].kind) || !rig_sentence_writes(history, other, ops[op].key))
        return false;
    for (uint32_t i = 0; i < op; i++) {
        if (ops[i].key == ops[op].key && !rig_op_reads(ops[i].kind))
            return false;
    }
    return true;
}

/* Proofs by cases. "T3's write of key 1 comes before T5's", for all keys that both write. */
static void sentence_order(const struct rig_history *history, uint32_t before, uint32_t after, struct rig_buf *text)
{
    const struct rig_type_words *words = rig_type_words(history->workload);
    /* The same order of keys both ways. */
    const uint32_t one = before < after ? before : after, other = before < after ? after : before;
    const uint32_t op_count = rig_txn_op_count(history, one);
    uint32_t keys = 0, named = 0;
    for (uint32_t op = 0; op < op_count; op++)
        keys += is_shared(history, one, op, other);
    rig_say(history, text, "%T's %s ", before, keys == 1 ? words->write : words->writes);
    for (uint32_t op = 0; op < op_count; op++) {
        if (!is_shared(history, one, op, other))
            continue;
        rig_say(history, text, "%s%K",
                named == 0          ? ""
                : named + 1 == keys ? " and "
                                    : ", ",
                rig_txn_ops(history, one)[op].key);
        named++;
    }
    rig_say(history, text, keys == 1 ? " comes before %T's" : " come before %T's", after);
}

/* The order that a case supposes, or the reverse one. */
static void sentence_case(const struct wording *w, const struct rig_case *line, bool reverse)
{
    const uint32_t before = reverse ? line->after : line->before, after = reverse ? line->before : line->after;
    if (line->reader == UINT32_MAX)
        sentence_order(w->history, before, after, w->text);
    else if (rig_level_rule(w->cases->level)->form == RIG_RULE_SERIAL)
        rig_say(w->history, w->text, "%T comes before %T", before, after);
    else if (line->reader == before)
        rig_say(w->history, w->text, "%T reads before %T commits", before, after);
    else
        rig_say(w->history, w->text, "%T commits before %T reads", before, after);
}

/* ---- lines ---- */

static void add_opening(const struct wording *w, uint32_t line)
{
    const struct rig_case *l = &w->cases->lines[line];
    const struct rig_case_place *place = &w->places[line];
    if (l->kind == RIG_CASE_SUPPOSE) {
        rig_buf_add_text(w->text, place->choice == UINT32_MAX ? "Suppose " : "Either ");
        sentence_case(w, l, false);
        rig_buf_add_char(w->text, '.');
        return;
    }
    if (place->choice == UINT32_MAX)
        return;
    const struct rig_case *either = &w->cases->lines[place->choice];
    rig_buf_add_text(w->text, "Or ");
    sentence_case(w, either, true);
    rig_buf_add_char(w->text, '.');
}

static void add_closing(const struct wording *w, uint32_t line)
{
    const struct rig_case *l = &w->cases->lines[line];
    const struct rig_case_place *place = &w->places[line];
    if (l->kind == RIG_CASE_SUPPOSE)
        return;
    rig_buf_add_text(w->text, "A cycle");
    if (place->other != UINT32_MAX && w->places[place->other].choice == UINT32_MAX) {
        rig_buf_add_text(w->text, place->choice == UINT32_MAX ? ". So " : " either way. So ");
        sentence_case(w, l, true);
    }
    rig_buf_add_char(w->text, '.');
}

/* How the proof has the order that a step rests on: "(in this case)", "(supposed in 2)", "(by 1)". */
static void add_basis(const struct wording *w, uint32_t line, const struct rig_step *step)
{
    const uint32_t basis = step->order_op;
    const bool is_open = w->places[basis].other > line || w->places[basis].other == line;
    if (basis == w->places[line].within || basis == w->places[line].choice) {
        rig_buf_add_text(w->text, " (in this case)");
        return;
    }
    rig_buf_add_text(w->text, is_open ? " (supposed in " : " (by ");
    rig_case_number(w->places, basis, w->text);
    rig_buf_add_char(w->text, ')');
}

static void add_step(const struct wording *w, uint32_t line, const struct rig_step *step)
{
    rig_sentence_add_step(w->history, step, w->text);
    if (step->order == RIG_ORDER_CASE && step->order_op != UINT32_MAX && step->kind <= RIG_EDGE_RW) {
        add_basis(w, line, step);
        rig_buf_add_char(w->text, '.');
    }
}

/* ---- the whole ---- */

void rig_sentence_cases_title(const struct rig_cases *cases, struct rig_buf *text)
{
    rig_buf_printf(text, " cannot be explained at %s: each %s makes a cycle%s", rig_level_info(cases->level)->name,
                   cases->lines[0].reader == UINT32_MAX ? "order of their writes"
                                                        : "choice of the versions that reads missed",
                   rig_rule_cycles(rig_level_rule(cases->level)));
}

static void begin_line(const struct wording *w, uint32_t depth)
{
    rig_buf_printf(w->text, "\n  %*s", (int)(depth > 40 ? 80 : 2 * depth), "");
}

static void add_line(const struct wording *w, uint32_t line)
{
    const struct rig_case *l = &w->cases->lines[line];
    const struct rig_case_place *place = &w->places[line];
    const uint32_t inner = place->depth + (place->number > 0);
    if (place->number > 0) {
        begin_line(w, place->depth);
        rig_case_number(w->places, line, w->text);
        rig_buf_add_text(w->text, ". ");
        add_opening(w, line);
    }
    for (uint32_t i = l->first_step; i < l->first_step + l->step_count; i++) {
        begin_line(w, inner);
        rig_buf_add_text(w->text, "- ");
        add_step(w, line, &w->cases->steps[i]);
    }
    if (l->kind == RIG_CASE_CYCLE) {
        begin_line(w, inner);
        add_closing(w, line);
    }
}

bool rig_sentence_cases(const struct rig_history *history, const struct rig_cases *cases, struct rig_buf *text)
{
    struct rig_case_place *places = rig_case_outline(cases);
    const struct wording w = {history, cases, places, text};
    if (places == NULL)
        return false;
    for (uint32_t line = 0; line < cases->line_count; line++)
        add_line(&w, line);
    free(places);
    rig_buf_add_text(text, cases->minimal
                               ? "\n  No transaction can be left out: the others have an order without such a cycle."
                               : "\n  The search for fewer transactions stopped when its time was spent.");
    return true;
}

/* The text that `add` makes, without one if it is empty. False when memory runs out. */
static bool keep(struct rig_buf *text, struct rig_arena *arena, char **kept)
{
    const bool done = !text->failed;
    *kept = done && text->size > 0 ? rig_arena_text(arena, rig_buf_text(text), text->size) : NULL;
    const bool is_kept = done && (text->size == 0 || *kept != NULL);
    rig_buf_done(text);
    return is_kept;
}

static bool word_line(const struct wording *w, uint32_t line, struct rig_arena *arena)
{
    struct rig_case *l = &w->cases->lines[line];
    rig_buf_init(w->text, 0);
    add_opening(w, line);
    if (!keep(w->text, arena, &l->opening))
        return false;
    rig_buf_init(w->text, 0);
    add_closing(w, line);
    if (!keep(w->text, arena, &l->closing))
        return false;
    for (uint32_t i = l->first_step; i < l->first_step + l->step_count; i++) {
        rig_buf_init(w->text, 0);
        add_step(w, line, &w->cases->steps[i]);
        if (!keep(w->text, arena, &w->cases->steps[i].text))
            return false;
    }
    return true;
}

bool rig_sentence_word_cases(const struct rig_history *history, struct rig_cases *cases, struct rig_arena *arena)
{
    struct rig_case_place *places = rig_case_outline(cases);
    struct rig_buf text;
    const struct wording w = {history, cases, places, &text};
    bool done = places != NULL;
    for (uint32_t line = 0; done && line < cases->line_count; line++)
        done = word_line(&w, line, arena);
    free(places);
    return done;
}
