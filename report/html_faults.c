/*
 * The faults of a run in the HTML report: a time line with a bar an episode, and a table.
 */
#include "report/episodes.h"
#include "report/html_parts.h"
#include "report/markup.h"
#include "report/words.h"

enum { LINE_WIDTH = 1100, LEFT = 150, ROW_HEIGHT = 22, AXIS_HEIGHT = 26, ROWS_MOST = 40, TICKS = 8 };

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

static void add_bar(struct rig_buf *out, const struct rig_episodes *episodes, const struct axis *axis, size_t row)
{
    const struct rig_episode *episode = &episodes->of.at[row];
    const double from = place(axis, seconds(episodes, episode->from_ns));
    const double to = episode->healed ? place(axis, seconds(episodes, episode->to_ns)) : LINE_WIDTH - 20;
    const unsigned y = (unsigned)row * ROW_HEIGHT + 4;
    rig_buf_printf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", LEFT - 8, y + 12);
    struct rig_buf name;
    rig_buf_init(&name, 0);
    rig_buf_printf(&name, "%.16s %.14s", episode->fault, episode->targets);
    rig_markup_escape(out, rig_buf_text(&name));
    rig_buf_clear(&name);
    rig_episode_name(&name, episodes, episode);
    rig_buf_printf(out, "</text><rect class=\"%s\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" rx=\"3\"><title>",
                   episode->failed ? "bad" : "under", from, y, to - from < 2 ? 2 : to - from, ROW_HEIGHT - 8);
    rig_markup_escape(out, rig_buf_text(&name));
    rig_buf_add_text(out, "</title></rect>\n");
    rig_buf_done(&name);
}

static void add_line(struct rig_buf *out, const struct rig_episodes *episodes)
{
    struct axis axis = {.from_s = 0, .to_s = 1};
    size_t rows = episodes->of.count < ROWS_MOST ? episodes->of.count : ROWS_MOST;
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
                   "aria-label=\"when the faults were\">\n",
                   LINE_WIDTH, height);
    for (int tick = 0; tick <= TICKS; tick++) {
        const double at_s = axis.to_s * tick / TICKS;
        rig_buf_printf(out,
                       "<line x1=\"%.1f\" y1=\"0\" x2=\"%.1f\" y2=\"%u\"/><text x=\"%.1f\" y=\"%u\" "
                       "text-anchor=\"middle\">%.1f s</text>\n",
                       place(&axis, at_s), place(&axis, at_s), height - AXIS_HEIGHT, place(&axis, at_s), height - 8,
                       at_s);
    }
    for (size_t row = 0; row < rows; row++)
        add_bar(out, episodes, &axis, row);
    rig_buf_add_text(out, "</svg></div>\n");
}

static void add_row(struct rig_buf *out, const struct rig_episodes *episodes, const struct rig_episode *episode)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_episode_name(&text, episodes, episode);
    rig_buf_printf(out, "<tr><td class=\"n\">%u</td><td>", episode->injection);
    rig_markup_escape(out, rig_buf_text(&text));
    rig_buf_add_text(out, "</td><td>");
    rig_buf_clear(&text);
    rig_episode_counts(&text, episode);
    if (rig_episode_is_barren(episode))
        rig_buf_add_text(&text, ": nothing was acknowledged");
    rig_markup_escape(out, rig_buf_text(&text));
    rig_buf_printf(out, "</td><td>%s", episode->failed ? "FAILED: " : "");
    rig_markup_escape(out, episode->text);
    rig_buf_add_text(out, "</td></tr>\n");
    rig_buf_done(&text);
}

void rig_html_faults(struct rig_buf *out, const struct rig_episodes *episodes)
{
    if (episodes->of.count == 0)
        return;
    rig_buf_add_text(out, "<h2>Faults</h2>\n");
    add_line(out, episodes);
    rig_buf_add_text(out, "<div class=\"wide\"><table><tr><th class=\"n\">#</th><th>what, and when</th><th>transactions"
                          "</th><th>seen</th></tr>\n");
    for (size_t i = 0; i < episodes->of.count; i++)
        add_row(out, episodes, &episodes->of.at[i]);
    rig_buf_add_text(out, "</table></div>\n");
}
