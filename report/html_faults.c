/*
 * The faults of a run in the HTML report: a time line with a bar an episode below how the load went, and a table.
 *
 * The load's moments count from its start, the episodes from the first invocation: the same but for microseconds.
 */
#include "report/episodes.h"
#include "report/html_parts.h"
#include "report/markup.h"
#include "report/words.h"

enum { CHART_HEIGHT = 90, CHART_GAP = 24 /* for its title */ };
enum {
    LINE_WIDTH = 1100,
    LEFT = 150,
    ROW_HEIGHT = 22,
    AXIS_HEIGHT = 26,
    ROWS_MOST = 40,
    BARS_MOST = 400,
    SHADES_MOST = 400,
    TICKS = 8
};

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

/* The value in a chart for the time between two moments. */
typedef double (*measure)(const struct rig_report_moment *before, const struct rig_report_moment *moment);

static double acknowledged(const struct rig_report_moment *before, const struct rig_report_moment *moment)
{
    return (double)(moment->ok - before->ok) * 1e9 / (double)(moment->at_ns - before->at_ns);
}

static double not_acknowledged(const struct rig_report_moment *before, const struct rig_report_moment *moment)
{
    return (double)(moment->fail + moment->info - before->fail - before->info) * 1e9 /
           (double)(moment->at_ns - before->at_ns);
}

static double slowness_ms(const struct rig_report_moment *before, const struct rig_report_moment *moment)
{
    (void)before;
    return (double)moment->p99_ns / 1e6;
}

static const struct rig_report_moment *before(const struct rig_report_run *run, uint32_t i)
{
    static const struct rig_report_moment start = {.at_ns = 0};
    return i == 0 ? &start : &run->moments[i - 1];
}

static double most_of(const struct rig_report_run *run, measure of)
{
    double most = 0;
    for (uint32_t i = 0; i < run->moment_count; i++) {
        const double value = of(before(run, i), &run->moments[i]);
        most = value > most ? value : most;
    }
    return most;
}

static void add_curve(struct rig_buf *out, const struct rig_report_run *run, const struct axis *axis, unsigned top,
                      measure of, double most, const char *class_name)
{
    rig_buf_printf(out, "<polyline class=\"%s\" points=\"", class_name);
    for (uint32_t i = 0; i < run->moment_count; i++) {
        const struct rig_report_moment *moment = &run->moments[i], *last = before(run, i);
        const double y = top + 2 + CHART_HEIGHT * (1 - (most > 0 ? of(last, moment) / most : 0));
        rig_buf_printf(out, "%.1f,%.1f %.1f,%.1f ", place(axis, (double)last->at_ns / 1e9), y,
                       place(axis, (double)moment->at_ns / 1e9), y);
    }
    rig_buf_add_text(out, "\"/>\n");
}

static void add_chart_name(struct rig_buf *out, unsigned top, const char *name, double most, const char *unit)
{
    rig_buf_printf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%s</text>", LEFT - 8, top + 12, name);
    rig_buf_printf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">up to %.*f %s</text>\n", LEFT - 8, top + 28,
                   most < 10 ? 1 : 0, most, unit);
}

/* Two charts; returns their height. */
static unsigned add_charts(struct rig_buf *out, const struct rig_report_run *run, const struct axis *axis)
{
    const double most_ok = most_of(run, acknowledged), most_not = most_of(run, not_acknowledged);
    const double most = most_ok > most_not ? most_ok : most_not, most_ms = most_of(run, slowness_ms);
    add_chart_name(out, 0, "ok, not ok", most, "/s");
    add_curve(out, run, axis, 0, acknowledged, most, "ok");
    add_curve(out, run, axis, 0, not_acknowledged, most, "not");
    add_chart_name(out, CHART_HEIGHT + CHART_GAP, "p99 of ok", most_ms, "ms");
    add_curve(out, run, axis, CHART_HEIGHT + CHART_GAP, slowness_ms, most_ms, "slow");
    return 2 * (CHART_HEIGHT + CHART_GAP);
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
    rig_markup_escape(out, rig_buf_text(&name));
    rig_buf_add_text(out, "</title></rect>\n");
    rig_buf_done(&name);
}

/* One row a group; more bars than are worth drawing are one. */
static void add_bars(struct rig_buf *out, const struct rig_episodes *episodes, const struct axis *axis, size_t row,
                     unsigned top)
{
    const struct rig_episode_group *group = &episodes->groups.at[row];
    const struct rig_episode *first = &episodes->of.at[group->first];
    const unsigned y = top + (unsigned)row * ROW_HEIGHT + 4;
    rig_buf_printf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", LEFT - 8, y + 12);
    struct rig_buf name;
    rig_buf_init(&name, 0);
    rig_buf_printf(&name, "%.16s %.14s", first->fault, first->targets);
    rig_markup_escape(out, rig_buf_text(&name));
    rig_buf_done(&name);
    rig_buf_add_text(out, "</text>");
    if (group->count > BARS_MOST) {
        add_bar(out, episodes, axis, y, first, &episodes->of.at[group->last]);
        return;
    }
    for (size_t i = group->first; i <= group->last; i++) {
        if (episodes->of.at[i].group == row)
            add_bar(out, episodes, axis, y, &episodes->of.at[i], &episodes->of.at[i]);
    }
}

/* Behind everything: when a fault was under way. */
static void add_shade(struct rig_buf *out, const struct rig_episodes *episodes, const struct axis *axis, size_t row,
                      unsigned height)
{
    const struct rig_episode *episode = &episodes->of.at[row];
    const double from = place(axis, seconds(episodes, episode->from_ns));
    const double to = episode->healed ? place(axis, seconds(episodes, episode->to_ns)) : LINE_WIDTH - 20;
    rig_buf_printf(out, "<rect class=\"shade\" x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%u\"/>\n", from,
                   to - from < 1 ? 1 : to - from, height);
}

/* From tick to tick: 1, 2 or 5 times a power of ten. */
static double tick_s(double length_s)
{
    double step = 0.001;
    for (int i = 0; step * TICKS < length_s; i++)
        step *= i % 3 == 1 ? 2.5 : 2;
    return step;
}

static void add_line(struct rig_buf *out, const struct rig_episodes *episodes, const struct rig_report_run *run)
{
    struct axis axis = {.from_s = 0, .to_s = 1};
    const size_t rows = episodes->groups.count < ROWS_MOST ? episodes->groups.count : ROWS_MOST;
    const size_t shades = episodes->of.count < SHADES_MOST ? episodes->of.count : SHADES_MOST;
    for (size_t i = 0; i < episodes->of.count; i++) {
        const struct rig_episode *episode = &episodes->of.at[i];
        if (episode->from_ns == RIG_NO_TIME || episode->to_ns == RIG_NO_TIME)
            return;
        if (seconds(episodes, episode->to_ns) > axis.to_s)
            axis.to_s = seconds(episodes, episode->to_ns);
    }
    const bool charted = run != NULL && run->moment_count > 1;
    if (charted && (double)run->moments[run->moment_count - 1].at_ns / 1e9 > axis.to_s)
        axis.to_s = (double)run->moments[run->moment_count - 1].at_ns / 1e9;
    const unsigned charts_height = charted ? 2 * (CHART_HEIGHT + CHART_GAP) : 0;
    const unsigned height = charts_height + (unsigned)rows * ROW_HEIGHT + AXIS_HEIGHT;
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
    for (size_t i = 0; charted && i < shades; i++)
        add_shade(out, episodes, &axis, i, charts_height);
    const unsigned top = charted ? add_charts(out, run, &axis) : 0;
    for (size_t row = 0; row < rows; row++)
        add_bars(out, episodes, &axis, row, top);
    rig_buf_add_text(out, "</svg></div>\n");
}

static void add_row(struct rig_buf *out, const struct rig_episodes *episodes, const struct rig_episode_group *group)
{
    const struct rig_episode *episode = &episodes->of.at[group->first];
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_episode_group_name(&text, episodes, group);
    rig_buf_printf(out, "<tr><td class=\"n\">%u</td><td>", episode->injection);
    rig_markup_escape(out, rig_buf_text(&text));
    rig_buf_add_text(out, "</td><td>");
    rig_buf_clear(&text);
    rig_episode_group_counts(&text, episodes, group);
    if (rig_episode_is_barren(episode))
        rig_buf_add_text(&text, ": nothing was acknowledged while it was in effect");
    rig_markup_escape(out, rig_buf_text(&text));
    rig_buf_printf(out, "</td><td>%s%s", episode->failed ? "FAILED: " : "",
                   group->count == 1 || episode->text[0] == '\0' ? "" : "the first: ");
    rig_markup_escape(out, episode->text);
    rig_buf_add_text(out, "</td></tr>\n");
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
        rig_buf_add_text(out, "<li>");
        rig_markup_escape(out, rig_buf_text(&text));
        rig_buf_add_text(out, "</li>\n");
        rig_buf_done(&text);
    }
    rig_buf_add_text(out, "</ol>\n");
    rig_html_fold_end(out);
}

void rig_html_faults(struct rig_buf *out, const struct rig_episodes *episodes, const struct rig_report_run *run)
{
    if (episodes->of.count == 0)
        return;
    rig_html_fold(out, "faults", "Faults", "");
    add_line(out, episodes, run);
    rig_buf_add_text(out, "<div class=\"wide\"><table><tr><th class=\"n\">#</th><th>fault and "
                          "time</th><th>transactions</th><th>evidence</th></tr>\n");
    for (size_t i = 0; i < episodes->groups.count; i++)
        add_row(out, episodes, &episodes->groups.at[i]);
    rig_buf_add_text(out, "</table></div>\n");
    rig_html_fold_end(out);
}
