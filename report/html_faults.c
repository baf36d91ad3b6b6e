/* The faults of a run in the HTML report: a time line with a bar an episode, and a table. */
#include <stdio.h>

#include "report/episodes.h"
#include "report/html_parts.h"
#include "report/tell.h"

enum { LINE_WIDTH = 1100, LEFT = 150, ROW_HEIGHT = 22, AXIS_HEIGHT = 26, ROWS_MOST = 40, BARS_MOST = 400, TICKS = 8 };

/* From the first moment of the history to the last of a fault. */
struct axis {
    double from_s, to_s;
};

static double seconds(const struct rig_episodes *episodes, int64_t ns)
{
    return (double)(ns - episodes->zero_ns) / 1e9;
}

static double place(const struct axis *axis, double at_s)
{
    const double share = (at_s - axis->from_s) / (axis->to_s - axis->from_s);
    return LEFT + (share < 0 ? 0 : share > 1 ? 1 : share) * (LINE_WIDTH - LEFT - 20);
}

static void add_bar(struct rig_buf *out, const struct rig_episodes *episodes, const struct axis *axis, unsigned y,
                    const struct rig_episode *first, const struct rig_episode *last)
{
    const double from = place(axis, seconds(episodes, first->from_ns));
    const double to = last->healed ? place(axis, seconds(episodes, last->to_ns)) : LINE_WIDTH - 20;
    struct rig_buf name;
    rig_buf_init(&name, 0);
    if (first == last)
        rig_episode_name(&name, episodes, first);
    else
        rig_episode_group_name(&name, episodes, &episodes->groups.at[first->group]);
    rig_buf_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" rx=\"3\"><title>",
                   first->failed      ? "bad"
                   : first->withdrawn ? "idle"
                                      : "under",
                   from, y, to - from < 2 ? 2 : to - from, ROW_HEIGHT - 8);
    rig_tell(out, "%h</title></rect>\n", rig_buf_text(&name));
    rig_buf_done(&name);
}

/* One row a group; more bars than are worth drawing are one. */
static void add_bars(struct rig_buf *out, const struct rig_episodes *episodes, const struct axis *axis, size_t row)
{
    const struct rig_episode_group *group = &episodes->groups.at[row];
    const struct rig_episode *first = &episodes->of.at[group->first];
    const unsigned y = (unsigned)row * ROW_HEIGHT + 4;
    rig_buf_printf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", LEFT - 8, y + 12);
    struct rig_buf name;
    rig_buf_init(&name, 0);
    rig_buf_printf(&name, "%.16s %.14s", first->fault, first->targets);
    rig_tell(out, "%h</text>", rig_buf_text(&name));
    rig_buf_done(&name);
    if (group->count > BARS_MOST) {
        add_bar(out, episodes, axis, y, first, &episodes->of.at[group->last]);
        return;
    }
    for (size_t i = group->first; i <= group->last; i++) {
        if (episodes->of.at[i].group == row)
            add_bar(out, episodes, axis, y, &episodes->of.at[i], &episodes->of.at[i]);
    }
}

/* From tick to tick: 1, 2 or 5 times a power of ten. */
static double tick_s(double length_s)
{
    double step = 0.001;
    for (int i = 0; step * TICKS < length_s; i++)
        step *= i % 3 == 1 ? 2.5 : 2;
    return step;
}

static void add_line(struct rig_buf *out, const struct rig_episodes *episodes)
{
    struct axis axis = {.from_s = 0, .to_s = 1};
    const size_t rows = episodes->groups.count < ROWS_MOST ? episodes->groups.count : ROWS_MOST;
    for (size_t i = 0; i < episodes->of.count; i++) {
        const struct rig_episode *episode = &episodes->of.at[i];
        if (episode->from_ns == RIG_NO_TIME || episode->to_ns == RIG_NO_TIME)
            return;
        if (seconds(episodes, episode->to_ns) > axis.to_s)
            axis.to_s = seconds(episodes, episode->to_ns);
    }
    const unsigned height = (unsigned)rows * ROW_HEIGHT + AXIS_HEIGHT;
    rig_buf_printf(out,
                   "<div class=\"scroll\"><svg class=\"faults\" viewBox=\"0 0 %d %u\" role=\"img\" "
                   "aria-label=\"times of the faults\">\n",
                   LINE_WIDTH, height);
    const double step_s = tick_s(axis.to_s);
    for (int tick = 0; tick * step_s <= axis.to_s; tick++) {
        const double at_s = tick * step_s;
        rig_buf_printf(out,
                       "<line x1=\"%.1f\" y1=\"0\" x2=\"%.1f\" y2=\"%u\"/><text x=\"%.1f\" y=\"%u\" "
                       "text-anchor=\"middle\">%g s</text>\n",
                       place(&axis, at_s), place(&axis, at_s), height - AXIS_HEIGHT, place(&axis, at_s), height - 8,
                       at_s);
    }
    for (size_t row = 0; row < rows; row++)
        add_bars(out, episodes, &axis, row);
    rig_buf_add_text(out, "</svg></div>\n");
}

static void add_row(struct rig_buf *out, const struct rig_episodes *episodes, const struct rig_episode_group *group)
{
    const struct rig_episode *episode = &episodes->of.at[group->first];
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_episode_group_name(&text, episodes, group);
    rig_tell(out, "<tr><td class=\"n\">%d</td><td>%h</td><td>", episode->injection, rig_buf_text(&text));
    rig_buf_clear(&text);
    rig_episode_group_counts(&text, episodes, group);
    if (rig_episode_is_barren(episode))
        rig_buf_add_text(&text, ": nothing was acknowledged while it was in effect");
    rig_tell(out, "%h</td><td>%s%s%h</td></tr>\n", rig_buf_text(&text), episode->failed ? "FAILED: " : "",
             group->count == 1 || episode->text[0] == '\0' ? "" : "the first: ", episode->text);
    rig_buf_done(&text);
}

void rig_html_phases(struct rig_buf *out, const struct rig_episodes *episodes)
{
    if (episodes->phases.count == 0)
        return;
    rig_html_fold(out, "phases", "Phases", "");
    rig_buf_add_text(out, "<ol>\n");
    for (size_t i = 0; i < episodes->phases.count; i++) {
        struct rig_buf text;
        rig_buf_init(&text, 0);
        rig_episode_phase_text(&text, episodes, &episodes->phases.at[i]);
        rig_tell(out, "<li>%h</li>\n", rig_buf_text(&text));
        rig_buf_done(&text);
    }
    rig_buf_add_text(out, "</ol>\n");
    rig_html_fold_end(out);
}

void rig_html_faults(struct rig_buf *out, const struct rig_episodes *episodes)
{
    if (episodes->of.count == 0)
        return;
    char preview[64];
    (void)snprintf(preview, sizeof preview, "%zu, with their times and evidence", episodes->of.count);
    rig_html_fold(out, "faults", "Faults", preview);
    add_line(out, episodes);
    rig_buf_add_text(out, "<div class=\"wide\"><table><tr><th class=\"n\">#</th><th>fault and "
                          "time</th><th>transactions</th><th>evidence</th></tr>\n");
    for (size_t i = 0; i < episodes->groups.count; i++)
        add_row(out, episodes, &episodes->groups.at[i]);
    rig_buf_add_text(out, "</table></div>\n");
    rig_html_fold_end(out);
}
