#include "report/svg_timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "checker/model/object_words.h"
#include "checker/objects/object_replay.h"
#include "history/model/value_texts.h"
#include "report/markup.h"
#include "report/svg_layout.h"
#include "report/svg_words.h"
#include "report/words.h"

#define LEFT       128.0 /* where the bars begin */
#define ROW        42.0
#define BAR        28.0
#define GAP        14.0 /* between two events */
#define TEXT_INSET 9.0
#define FADE       12.0 /* width of a step of an open end */
#define BELOW      30.0

enum { TEXT_COLUMNS = 32, FADE_STEPS = 3, NUMBER_BYTES = 16 };

/* ---- which operations ---- */

static bool has_bar(const struct rig_timeline *timeline, uint32_t txn)
{
    for (uint32_t i = 0; i < timeline->bar_count; i++) {
        if (timeline->bars[i].txn == txn)
            return true;
    }
    return false;
}

static void add_bar(struct rig_timeline *timeline, const struct rig_history *history, uint32_t txn, uint32_t last)
{
    const uint32_t invoke = history->txns[txn].invoke_at, end = rig_txn_end(history, txn);
    if (timeline->bar_count == RIG_TIMELINE_BARS || has_bar(timeline, txn))
        return;
    timeline->bars[timeline->bar_count++] = (struct rig_timeline_bar){
        .txn = txn, .begin = invoke == RIG_POSITION_NONE ? 0 : invoke, .end = end > last ? RIG_POSITION_NONE : end};
}

/* Whether the transaction is an operation on the object that may have taken effect before `last`. */
static bool counts(const struct rig_history *history, uint32_t key, uint32_t txn, uint32_t last)
{
    const struct rig_txn *t = &history->txns[txn];
    return rig_txn_op_count(history, txn) > 0 && rig_txn_ops(history, txn)->key == key &&
           t->outcome != RIG_OUTCOME_FAIL && (t->invoke_at == RIG_POSITION_NONE || t->invoke_at < last);
}

/* Transactions are in the order of their completions, so the last ones come first here. Operations without a completion
 * event stand after them, and the witness names those that matter. */
static void choose_bars(struct rig_timeline *timeline, const struct rig_history *history,
                        const struct rig_witness *witness)
{
    const bool named_only = witness->blocked->value_count > 0;
    const uint32_t last = named_only ? RIG_POSITION_NONE : rig_txn_end(history, witness->txns[0]);
    uint64_t count = 0;
    for (uint32_t i = 0; i < witness->txn_count; i++)
        add_bar(timeline, history, witness->txns[i], last);
    for (uint32_t txn = history->txn_count; txn-- > 0;) {
        if (!counts(history, witness->key, txn, last))
            continue;
        count++;
        if (!named_only && rig_txn_end(history, txn) != RIG_POSITION_NONE)
            add_bar(timeline, history, txn, last);
    }
    if (history->is_excerpt && !named_only)
        count = (uint64_t)witness->blocked->explained + witness->blocked->open_count + 1;
    timeline->left_out = count > timeline->bar_count ? count - timeline->bar_count : 0;
}

static void number_bars(struct rig_timeline *timeline, const struct rig_history *history,
                        const struct rig_witness *witness)
{
    struct rig_object_prefix order = {0};
    timeline->is_ordered = rig_object_prefix_order(history, witness, &order);
    for (uint32_t bar = 0; timeline->is_ordered && bar < timeline->bar_count; bar++) {
        for (size_t i = order.count; i-- > 0;) {
            if (order.at[i] == timeline->bars[bar].txn)
                timeline->bars[bar].order = (uint32_t)i + 1;
        }
    }
    rig_object_prefix_done(&order);
}

/* ---- where they go ---- */

/* Cuts at a character. */
static void shorten(const char *text, char *to)
{
    size_t length = 0;
    uint32_t columns = 0;
    for (; text[length] != '\0' && length + 4 < RIG_TIMELINE_TEXT_BYTES; length++) {
        const bool begins = ((unsigned char)text[length] & 0xc0) != 0x80;
        if (begins && columns == TEXT_COLUMNS)
            break;
        columns += begins;
    }
    const bool is_cut = text[length] != '\0';
    while (is_cut && length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    memcpy(to, text, length);
    memcpy(to + length, is_cut ? "..." : "", is_cut ? 4 : 1);
}

static void number_text(const struct rig_timeline_bar *bar, char text[NUMBER_BYTES])
{
    text[0] = '\0';
    if (bar->order > 0)
        (void)snprintf(text, NUMBER_BYTES, "%" PRIu32 " ", bar->order);
}

static double least_width_of(const struct rig_timeline_bar *bar)
{
    char number[NUMBER_BYTES];
    number_text(bar, number);
    const double columns = rig_svg_words_columns(bar->text) + (double)strlen(number);
    return columns * RIG_SVG_CHAR_PX + 2 * TEXT_INSET;
}

static void name_bars(struct rig_timeline *timeline, const struct rig_history *history)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    for (uint32_t i = 0; i < timeline->bar_count; i++) {
        struct rig_timeline_bar *bar = &timeline->bars[i];
        rig_buf_clear(&text);
        rig_object_words_op(history->workload, rig_txn_ops(history, bar->txn), rig_txn_op_count(history, bar->txn),
                            &text);
        shorten(rig_buf_text(&text), bar->text);
    }
    rig_buf_done(&text);
}

struct event {
    uint32_t position;
    struct rig_timeline_bar *bar;
    bool ends;
};

/* Only invocations that were not recorded share a position. */
static int compare_events(const void *left, const void *right)
{
    const struct event *a = left, *b = right;
    if (a->position != b->position)
        return (a->position > b->position) - (a->position < b->position);
    if (a->ends != b->ends)
        return a->ends ? 1 : -1;
    return (a->bar->txn > b->bar->txn) - (a->bar->txn < b->bar->txn);
}

/* The axis keeps order and overlap, not scale: each event is right of the one before, and each bar holds its text. */
static void place_bars(struct rig_timeline *timeline)
{
    struct event events[2 * RIG_TIMELINE_BARS];
    uint32_t count = 0;
    double x = LEFT;
    for (uint32_t i = 0; i < timeline->bar_count; i++) {
        struct rig_timeline_bar *bar = &timeline->bars[i];
        events[count++] = (struct event){bar->begin, bar, false};
        if (bar->end != RIG_POSITION_NONE)
            events[count++] = (struct event){bar->end, bar, true};
    }
    qsort(events, count, sizeof *events, compare_events);
    for (uint32_t i = 0; i < count; i++, x += GAP) {
        struct rig_timeline_bar *bar = events[i].bar;
        const double least = bar->x + least_width_of(bar);
        if (!events[i].ends)
            bar->x = x;
        else if (x < least)
            x = least;
        if (events[i].ends)
            bar->width = x - bar->x;
    }
    timeline->end_x = timeline->bars[0].x + timeline->bars[0].width;
    double right = timeline->end_x + GAP;
    for (uint32_t i = 0; i < timeline->bar_count; i++) {
        const double least = timeline->bars[i].x + least_width_of(&timeline->bars[i]);
        right = timeline->bars[i].end == RIG_POSITION_NONE && least > right ? least : right;
    }
    for (uint32_t i = 0; i < timeline->bar_count; i++) {
        if (timeline->bars[i].end == RIG_POSITION_NONE)
            timeline->bars[i].width = right - timeline->bars[i].x;
    }
    timeline->width = right + FADE_STEPS * FADE + 20;
}

static bool overlap(const struct rig_timeline_bar *a, const struct rig_timeline_bar *b)
{
    return a->x < b->x + b->width && b->x < a->x + a->width;
}

static bool is_free(const struct rig_timeline *timeline, uint32_t row, uint32_t before)
{
    for (uint32_t i = 0; i < before; i++) {
        if (timeline->bars[i].row == row && overlap(&timeline->bars[i], &timeline->bars[before]))
            return false;
    }
    return true;
}

static int compare_processes(const void *left, const void *right)
{
    const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/* A row for each process in the order of their numbers; a process whose operations overlap has more than one. */
static void choose_rows(struct rig_timeline *timeline, const struct rig_history *history)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < timeline->bar_count; i++) {
        timeline->processes[i] = history->txns[timeline->bars[i].txn].process;
        timeline->bars[i].row = UINT32_MAX;
    }
    qsort(timeline->processes, timeline->bar_count, sizeof timeline->processes[0], compare_processes);
    for (uint32_t row = 0; row < timeline->bar_count; row++) { /* the first `count` rows are final */
        bool used = false;
        for (uint32_t i = 0; i < timeline->bar_count; i++) {
            struct rig_timeline_bar *bar = &timeline->bars[i];
            if (bar->row != UINT32_MAX || history->txns[bar->txn].process != timeline->processes[row])
                continue;
            bar->row = count;
            if (!is_free(timeline, count, i))
                bar->row = UINT32_MAX;
            else
                used = true;
        }
        if (used)
            timeline->processes[count++] = timeline->processes[row];
    }
    timeline->row_count = count;
}

void rig_timeline_layout(const struct rig_history *history, const struct rig_witness *witness, double top,
                         double least_width, struct rig_timeline *timeline)
{
    *timeline = (struct rig_timeline){.top = top};
    choose_bars(timeline, history, witness);
    number_bars(timeline, history, witness);
    name_bars(timeline, history);
    place_bars(timeline);
    choose_rows(timeline, history);
    timeline->width = timeline->width < least_width ? least_width : timeline->width;
    timeline->height = top + timeline->row_count * ROW + BELOW;
}

/* ---- the drawing ---- */

static double row_y(const struct rig_timeline *timeline, uint32_t row)
{
    return timeline->top + row * ROW;
}

static void draw_rows(const struct rig_timeline *timeline, struct rig_buf *out)
{
    for (uint32_t row = 0; row < timeline->row_count; row++) {
        const double y = row_y(timeline, row);
        rig_buf_printf(out, "<rect class=\"lanebg\" x=\"0\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", y,
                       timeline->width, ROW - 4);
        rig_buf_printf(out, "<text class=\"lane\" x=\"14\" y=\"%.1f\">process %" PRId32 "</text>\n", y + 23,
                       timeline->processes[row]);
    }
    const double y = row_y(timeline, timeline->row_count);
    rig_buf_printf(out, "<path class=\"moment\" d=\"M%.1f %.1fV%.1f\"/>\n", timeline->end_x, timeline->top, y);
    rig_buf_printf(out, "<text class=\"dim\" x=\"%.1f\" y=\"%.1f\">time (order of events, not to scale)</text>\n", LEFT,
                   y + 16);
}

static void draw_bar(const struct rig_timeline *timeline, uint32_t number, const struct rig_history *history,
                     struct rig_buf *out)
{
    const struct rig_timeline_bar *bar = &timeline->bars[number];
    const char *class = number == 0 ? "bar blocked" : "bar";
    const double y = row_y(timeline, bar->row) + (ROW - 4 - BAR) / 2, right = bar->x + bar->width;
    char order[NUMBER_BYTES];
    number_text(bar, order);
    rig_buf_add_text(out, "<g><title>");
    rig_words_txn(out, history, bar->txn);
    rig_buf_add_text(out, ", ");
    rig_words_txn_when(out, history, bar->txn, rig_history_zero_ns(history));
    rig_buf_add_text(out, ": ");
    rig_markup_escape(out, bar->text);
    rig_buf_add_text(out, number == 0 ? " (cannot take effect)</title>" : "</title>");
    rig_buf_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"%s/>", class, bar->x, y,
                   bar->width, BAR, bar->end == RIG_POSITION_NONE ? "" : " rx=\"5\"");
    for (uint32_t i = 0; bar->end == RIG_POSITION_NONE && i < FADE_STEPS; i++)
        rig_buf_printf(out,
                       "<rect class=\"fade\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" opacity=\"%.2f\"/>",
                       right + i * FADE, y, FADE, BAR, 0.75 - 0.25 * i);
    rig_buf_printf(out, "<text class=\"op strong\" x=\"%.1f\" y=\"%.1f\" xml:space=\"preserve\">", bar->x + TEXT_INSET,
                   y + 18.5);
    if (bar->order > 0)
        rig_buf_printf(out, "<tspan class=\"order-number\">%s</tspan>", order);
    rig_markup_escape(out, bar->text);
    rig_buf_add_text(out, "</text></g>\n");
}

void rig_timeline_draw(const struct rig_timeline *timeline, const struct rig_history *history, struct rig_buf *out)
{
    draw_rows(timeline, out);
    for (uint32_t i = 0; i < timeline->bar_count; i++)
        draw_bar(timeline, i, history, out);
}

static void note_values(const struct rig_blocked *blocked, struct rig_buf *note)
{
    rig_buf_printf(note, " Only operations on the value%s ", rig_plural(blocked->value_count));
    for (uint32_t i = 0; i < blocked->value_count; i++) {
        rig_buf_add_text(note, i == 0 ? "" : i + 1 == blocked->value_count ? " and " : ", ");
        rig_value_add(note, blocked->values[i]);
    }
    rig_buf_add_text(note, " are shown: they have no order by themselves.");
}

void rig_timeline_note(const struct rig_timeline *timeline, const struct rig_history *history,
                       const struct rig_witness *witness, struct rig_buf *note)
{
    const struct rig_blocked *blocked = witness->blocked;
    bool fades = false, has_numbers = false;
    for (uint32_t i = 0; i < timeline->bar_count; i++) {
        has_numbers |= timeline->bars[i].order > 0;
        fades |= timeline->bars[i].end == RIG_POSITION_NONE;
    }
    rig_buf_add_text(note, "Red: ");
    rig_words_txn(note, history, witness->txns[0]);
    rig_buf_printf(note, " (%s) cannot take effect before its completion, the dashed line.", timeline->bars[0].text);
    if (blocked->value_count > 0) {
        note_values(blocked, note);
    } else {
        rig_buf_add_text(note, " After the operations that completed before, the object is ");
        rig_object_words_states(blocked, note);
        rig_buf_add_char(note, '.');
    }
    if (has_numbers)
        rig_buf_add_text(note, " The numbers are an order that explains the operations that completed before it.");
    if (fades)
        rig_buf_add_text(note, blocked->value_count > 0 ? " Bars that fade out never completed."
                                                        : " Bars that fade out are open at that point.");
    if (timeline->left_out > 0)
        rig_buf_printf(note, " %" PRIu64 " other operation%s on the object %s left out.", timeline->left_out,
                       rig_plural(timeline->left_out), rig_was_were(timeline->left_out));
}
