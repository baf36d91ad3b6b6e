#include "report/charts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_members.h"
#include "report/markup.h"
#include "report/words.h"

enum { WIDTH = 1100, HEIGHT = 250, LEFT = 66, RIGHT = 14, TOP = 30, BOTTOM = 26 };
enum { SHADES_MOST = 400, POINTS_MOST = 4000, CURVE_POINTS = 80 };

static const double quantiles[] = {0.5, 0.95, 0.99, 0.999};
enum { QUANTILES = sizeof quantiles / sizeof quantiles[0] };

struct plot {
    struct rig_buf *out;
    double x_from, x_to, y_from, y_to;
    bool log_y;
};

static double place_x(const struct plot *plot, double x)
{
    const double share = (x - plot->x_from) / (plot->x_to - plot->x_from);
    return LEFT + (share < 0 ? 0 : share > 1 ? 1 : share) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct plot *plot, double y)
{
    const double share = plot->log_y ? y <= plot->y_from ? 0 : log(y / plot->y_from) / log(plot->y_to / plot->y_from)
                                     : (y - plot->y_from) / (plot->y_to - plot->y_from);
    return HEIGHT - BOTTOM - (share < 0 ? 0 : share > 1 ? 1 : share) * (HEIGHT - TOP - BOTTOM);
}

/* 1, 2 or 5 times a power of ten, so that there are at most `ticks` steps. */
static double step_of(double length, int ticks)
{
    double step = pow(10, floor(log10(length / ticks)));
    const double more[] = {1, 2, 5, 10};
    for (size_t i = 0; i < 4; i++)
        if (step * more[i] * ticks >= length)
            return step * more[i];
    return step * 10;
}

static void add_y_tick(const struct plot *plot, double at, const char *text)
{
    rig_buf_printf(plot->out,
                   "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" class=\"end\">%s</text>\n", LEFT,
                   place_y(plot, at), WIDTH - RIGHT, LEFT - 8, place_y(plot, at) + 4, text);
}

static void add_y_axis(const struct plot *plot)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    if (plot->log_y) {
        for (double at = plot->y_from; at <= plot->y_to * 1.001; at *= 10) {
            rig_buf_clear(&text);
            const double unit = at >= 1e9 ? 1e9 : at >= 1e6 ? 1e6 : at >= 1e3 ? 1e3 : 1;
            rig_buf_printf(&text, "%.0f %s", at / unit, at >= 1e9 ? "s" : at >= 1e6 ? "ms" : at >= 1e3 ? "us" : "ns");
            add_y_tick(plot, at, rig_buf_text(&text));
        }
    } else {
        const double step = step_of(plot->y_to, 5);
        for (int i = 0; i * step <= plot->y_to * 1.001; i++) {
            rig_buf_clear(&text);
            if (step < 1)
                rig_buf_printf(&text, "%g", i * step);
            else
                rig_words_count(&text, (uint64_t)(i * step + 0.5));
            add_y_tick(plot, i * step, rig_buf_text(&text));
        }
    }
    rig_buf_done(&text);
}

static void add_x_axis(const struct plot *plot)
{
    const double step = step_of(plot->x_to, 10);
    for (int i = 0; i * step <= plot->x_to * 1.0001; i++)
        rig_buf_printf(plot->out,
                       "<path class=\"grid\" d=\"M%.1f %dv4\"/><text x=\"%.1f\" y=\"%d\" class=\"mid\">%g s</text>\n",
                       place_x(plot, i * step), HEIGHT - BOTTOM, place_x(plot, i * step), HEIGHT - 7, i * step);
}

static void add_shades(const struct plot *plot, const struct rig_episodes *episodes)
{
    struct rig_buf name;
    rig_buf_init(&name, 0);
    for (size_t i = 0; i < episodes->of.count && i < SHADES_MOST; i++) {
        const struct rig_episode *episode = &episodes->of.at[i];
        if (episode->from_ns == RIG_NO_TIME || episode->to_ns == RIG_NO_TIME)
            continue;
        const double from = place_x(plot, (double)(episode->from_ns - episodes->zero_ns) / 1e9);
        const double to =
            episode->healed ? place_x(plot, (double)(episode->to_ns - episodes->zero_ns) / 1e9) : WIDTH - RIGHT;
        rig_buf_clear(&name);
        rig_episode_name(&name, episodes, episode);
        rig_buf_printf(
            plot->out,
            "<rect class=\"shade\" data-fault=\"%zu\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>", i + 1,
            from, TOP, to - from < 1 ? 1 : to - from, HEIGHT - TOP - BOTTOM);
        rig_markup_escape(plot->out, rig_buf_text(&name));
        rig_buf_add_text(plot->out, "</title></rect>\n");
    }
    rig_buf_done(&name);
}

/* Entries of a legend stand in a row on top, from the right. */
static void add_legend(const struct plot *plot, double *right, const char *class, const char *text)
{
    *right -= 7.0 * (double)strlen(text) + 30;
    rig_buf_printf(plot->out,
                   "<rect class=\"%s key\" x=\"%.0f\" y=\"10\" width=\"12\" height=\"12\" rx=\"3\"/><text x=\"%.0f\" "
                   "y=\"20\">",
                   class, *right, *right + 17);
    rig_markup_escape(plot->out, text);
    rig_buf_add_text(plot->out, "</text>\n");
}

static const char colours[] = "--ink:#1f2328;--dim:#59636e;--line:#d1d9e0;--bg:#ffffff;--bad:#cf222e;--open:#7d5a00;--"
                              "good:#1a7f37;--link:#0969da";

static void begin(struct rig_buf *out, const char *title, bool alone)
{
    rig_buf_printf(out, "%s<svg %sclass=\"chart\" viewBox=\"0 0 %d %d\"%s role=\"img\"><title>%s</title>\n",
                   alone ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" : "<figure><div class=\"scroll\">",
                   alone ? "xmlns=\"http://www.w3.org/2000/svg\" " : "", WIDTH, HEIGHT,
                   alone ? " width=\"1100\" height=\"250\"" : "", title);
    if (alone) {
        rig_buf_printf(out,
                       "<style>svg{%s}@media(prefers-color-scheme:dark){svg{--ink:#e6edf3;--dim:#9198a1;"
                       "--line:#3d444d;--bg:#0d1117;--bad:#ff7b72;--open:#e3b341;--good:#56d364;--link:#58a6ff}}\n",
                       colours);
        rig_chart_style(out);
        rig_buf_printf(out, "</style>\n<rect width=\"%d\" height=\"%d\" style=\"fill:var(--bg)\"/>\n", WIDTH, HEIGHT);
    }
    rig_buf_printf(out, "<text x=\"%d\" y=\"20\" class=\"name\">%s</text>\n", 8, title);
}

static void end(struct rig_buf *out, bool alone)
{
    rig_buf_add_text(out, alone ? "</svg>\n" : "</svg></div></figure>\n");
}

void rig_chart_style(struct rig_buf *out)
{
    rig_buf_add_text(
        out,
        ".chart{display:block;width:100%;min-width:640px;height:auto;font:11.5px system-ui,-apple-system,'Segoe UI',"
        "Roboto,'DejaVu Sans',sans-serif}.chart text{fill:var(--dim)}.chart .name{fill:var(--ink);font-weight:600;"
        "font-size:13px}.chart .end{text-anchor:end}.chart .mid{text-anchor:middle}\n"
        ".chart path,.chart polyline{fill:none;stroke-width:1.6;stroke-linejoin:round}.chart .grid{stroke:var(--line);"
        "stroke-width:1}.chart .shade{fill:var(--open);opacity:.14}.chart .dots{stroke-width:2.4;stroke-linecap:round;"
        "opacity:.4}.chart .band{stroke:none;fill:var(--link)}.chart .b0{opacity:.34}.chart .b1{opacity:.2}"
        ".chart .b2{opacity:.11}\n"
        ".chart .k0{stroke:var(--link)}.chart .k1{stroke:var(--good)}.chart .k2{stroke:var(--bad)}.chart "
        ".k3{stroke:var(--open)}.chart .k4{stroke:#8250df}.chart .k5{stroke:#bf3989}.chart .k6{stroke:#1b7c83}"
        ".chart .k7{stroke:var(--dim)}.chart .q0{stroke:var(--ink)}\n"
        ".chart .key{stroke-width:2;fill-opacity:.5}.chart .key.k0{fill:var(--link)}.chart .key.k1{fill:var(--good)}"
        ".chart .key.k2{fill:var(--bad)}.chart .key.k3{fill:var(--open)}.chart .key.k4{fill:#8250df}"
        ".chart .key.k5{fill:#bf3989}.chart .key.k6{fill:#1b7c83}.chart .key.k7{fill:var(--dim)}"
        ".chart .key.band{fill-opacity:1}.chart .key.q0{fill:var(--ink)}\n");
}

/* -- latency over time --------------------------------------------------------------------------------------------- */

static double slot_s(const struct rig_course *course, uint32_t slot)
{
    return (double)slot * (double)course->slot_ns / 1e9;
}

static void span_latencies(struct plot *plot, const struct rig_course *course)
{
    double least = 1e18, most = 0;
    for (uint32_t i = 0; i < course->slot_count; i++) {
        const double low = (double)rig_course_latency(&course->slots[i], 0.01);
        if (low > 0 && low < least)
            least = low;
        if ((double)course->slots[i].max_ns > most)
            most = (double)course->slots[i].max_ns;
    }
    plot->log_y = true;
    plot->y_from = pow(10, floor(log10(least < most ? least : 1000)));
    plot->y_to = pow(10, ceil(log10(most > plot->y_from ? most * 1.001 : plot->y_from * 10)));
}

/* Between two quantiles, one area a stretch of slots that have any. */
static void add_band(const struct plot *plot, const struct rig_course *course, unsigned lower)
{
    rig_buf_printf(plot->out, "<path class=\"band b%u\" d=\"", lower);
    for (uint32_t i = 0; i < course->slot_count; i++) {
        const int64_t low = rig_course_latency(&course->slots[i], quantiles[lower]);
        const int64_t high = rig_course_latency(&course->slots[i], quantiles[lower + 1]);
        if (high == 0)
            continue;
        const double left = place_x(plot, slot_s(course, i)), right = place_x(plot, slot_s(course, i + 1));
        rig_buf_printf(plot->out, "M%.1f %.1fH%.1fV%.1fH%.1fz", left, place_y(plot, (double)high), right,
                       place_y(plot, (double)low), left);
    }
    rig_buf_add_text(plot->out, "\"/>\n");
}

static void add_median(const struct plot *plot, const struct rig_course *course)
{
    bool drawing = false;
    rig_buf_add_text(plot->out, "<path class=\"q0\" d=\"");
    for (uint32_t i = 0; i < course->slot_count; i++) {
        const int64_t p50 = rig_course_latency(&course->slots[i], 0.5);
        if (p50 > 0)
            rig_buf_printf(plot->out, "%c%.1f %.1fH%.1f", drawing ? 'L' : 'M', place_x(plot, slot_s(course, i)),
                           place_y(plot, (double)p50), place_x(plot, slot_s(course, i + 1)));
        drawing = p50 > 0;
    }
    rig_buf_add_text(plot->out, "\"/>\n");
}

/* Every n-th bar of a class as a dot. */
static void add_dots(const struct plot *plot, const struct rig_course *course, unsigned class)
{
    const size_t every = course->bars.count / POINTS_MOST + 1;
    rig_buf_printf(plot->out, "<path class=\"dots k%u\" d=\"", class);
    for (size_t i = 0; i < course->bars.count; i += every) {
        const struct rig_course_bar *bar = &course->bars.at[i];
        const unsigned of = bar->outcome == RIG_OUTCOME_OK ? bar->kind : bar->outcome == RIG_OUTCOME_FAIL ? 2 : 3;
        if (of == class && bar->complete_ns != RIG_NO_TIME && bar->complete_ns > bar->invoke_ns)
            rig_buf_printf(plot->out, "M%.1f %.1fh0", place_x(plot, (double)bar->complete_ns / 1e9),
                           place_y(plot, (double)(bar->complete_ns - bar->invoke_ns)));
    }
    rig_buf_add_text(plot->out, "\"/>\n");
}

static void draw_latency(struct plot *plot, const struct rig_course *course, const struct rig_episodes *episodes)
{
    double right = WIDTH - RIGHT;
    add_shades(plot, episodes);
    span_latencies(plot, course);
    add_y_axis(plot);
    add_x_axis(plot);
    for (unsigned lower = QUANTILES - 1; lower-- > 0;)
        add_band(plot, course, lower);
    for (unsigned class = 0; class < 4; class ++)
        add_dots(plot, course, class);
    add_median(plot, course);
    add_legend(plot, &right, "k3", "unknown");
    add_legend(plot, &right, "k2", "failed");
    add_legend(plot, &right, "k1", "writing");
    add_legend(plot, &right, "k0", "read-only");
    add_legend(plot, &right, "band b2", "to p99.9");
    add_legend(plot, &right, "band b1", "to p99");
    add_legend(plot, &right, "band b0", "to p95");
    add_legend(plot, &right, "q0", "median");
}

/* -- rates over time ----------------------------------------------------------------------------------------------- */

typedef uint64_t (*measure)(const struct rig_course_slot *slot, unsigned line);

static uint64_t by_outcome(const struct rig_course_slot *slot, unsigned line)
{
    if (line < RIG_COURSE_KINDS)
        return slot->count[RIG_OUTCOME_OK][line];
    const unsigned outcome = line == 2 ? RIG_OUTCOME_FAIL : RIG_OUTCOME_INFO;
    return slot->count[outcome][RIG_COURSE_READ_ONLY] + slot->count[outcome][RIG_COURSE_WRITING];
}

static uint64_t by_code(const struct rig_course_slot *slot, unsigned line)
{
    return slot->by_code[line];
}

/* Lines of counts a second, `first` the class of the first one. */
static void draw_rates(struct plot *plot, const struct rig_course *course, const struct rig_episodes *episodes,
                       measure of, unsigned line_count, unsigned first, const char *const *names)
{
    const double width_s = (double)course->slot_ns / 1e9;
    double right = WIDTH - RIGHT;
    uint64_t most = 1;
    for (uint32_t i = 0; i < course->slot_count; i++)
        for (unsigned line = 0; line < line_count; line++)
            most = of(&course->slots[i], line) > most ? of(&course->slots[i], line) : most;
    plot->y_to = (double)most / width_s * 1.05;
    add_shades(plot, episodes);
    add_y_axis(plot);
    add_x_axis(plot);
    for (unsigned line = line_count; line-- > 0;) {
        char class[8] = {'k', (char)('0' + (first + line) % 8), 0};
        rig_buf_printf(plot->out, "<path class=\"%s\" d=\"", class);
        for (uint32_t i = 0; i < course->slot_count; i++)
            rig_buf_printf(plot->out, "%c%.1f %.1fH%.1f", i == 0 ? 'M' : 'L', place_x(plot, slot_s(course, i)),
                           place_y(plot, (double)of(&course->slots[i], line) / width_s),
                           place_x(plot, slot_s(course, i + 1)));
        rig_buf_add_text(plot->out, "\"/>\n");
        add_legend(plot, &right, class, names[line]);
    }
}

/* -- latency by percentile ----------------------------------------------------------------------------------------- */

/* From the median on, each step comes nearer to 100 % by the same factor. */
static double curve_percent(unsigned point)
{
    return point == 0 ? 0 : 100 * (1 - pow(10, -(double)point * 6 / CURVE_POINTS));
}

/* The points of the curve that a number of latencies can tell apart. */
static unsigned curve_points(uint64_t count)
{
    unsigned points = 0;
    while (points < CURVE_POINTS && (100 - curve_percent(points)) / 100 * (double)count >= 1)
        points++;
    return points;
}

static void draw_curve(struct plot *plot, const struct rig_course *course)
{
    static const char *const names[] = {"read-only", "writing"};
    double right = WIDTH - RIGHT;
    unsigned most = 10;
    for (unsigned kind = 0; kind < RIG_COURSE_KINDS; kind++) {
        const unsigned points = curve_points(rig_histogram_count(&course->latency[kind]));
        most = points > most ? points : most;
    }
    span_latencies(plot, course);
    plot->x_from = 0;
    plot->x_to = most;
    add_y_axis(plot);
    static const struct {
        double percent;
        const char *text;
    } ticks[] = {{0, "0 %"},       {50, "50 %"},       {90, "90 %"},        {99, "99 %"},
                 {99.9, "99.9 %"}, {99.99, "99.99 %"}, {99.999, "99.999 %"}};
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
        const double at = -log10(1 - ticks[i].percent / 100) * CURVE_POINTS / 6;
        if (at <= most)
            rig_buf_printf(
                plot->out,
                "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" class=\"mid\">%s</text>\n",
                place_x(plot, at), TOP, HEIGHT - BOTTOM, place_x(plot, at), HEIGHT - 7, ticks[i].text);
    }
    for (unsigned kind = RIG_COURSE_KINDS; kind-- > 0;) {
        const struct rig_histogram *latency = &course->latency[kind];
        const unsigned points = curve_points(rig_histogram_count(latency));
        const char class[] = {'k', (char)('0' + kind), 0};
        rig_buf_printf(plot->out, "<path class=\"%s\" d=\"", class);
        for (unsigned i = 0; i < points; i++)
            rig_buf_printf(plot->out, "%c%.1f %.1f", i == 0 ? 'M' : 'L', place_x(plot, i),
                           place_y(plot, (double)rig_histogram_percentile(latency, curve_percent(i))));
        rig_buf_add_text(plot->out, "\"/>\n");
        add_legend(plot, &right, class, names[kind]);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */

const char *rig_chart_name(enum rig_chart chart)
{
    static const char *const names[RIG_CHART_COUNT] = {"latency", "rate", "latency-curve", "errors"};
    return names[chart];
}

static uint64_t acknowledged(const struct rig_course *course)
{
    uint64_t count = 0;
    for (unsigned kind = 0; kind < RIG_COURSE_KINDS; kind++)
        count += rig_histogram_count(&course->latency[kind]);
    return count;
}

bool rig_chart_draw(struct rig_buf *out, enum rig_chart chart, const struct rig_course *course,
                    const struct rig_episodes *episodes, bool alone)
{
    static const char *const outcomes[] = {"read-only, ok", "writing, ok", "failed", "unknown"};
    static const char *const titles[RIG_CHART_COUNT] = {"Latency over time",
                                                        "Transactions a second, by outcome and kind",
                                                        "Latency by percentile", "Errors a second, by code"};
    const char *codes[RIG_COURSE_CODES];
    struct plot plot = {.out = out, .x_to = slot_s(course, course->slot_count), .y_to = 1};
    if (course->slot_count == 0 || (chart == RIG_CHART_ERRORS && course->code_count == 0) ||
        ((chart == RIG_CHART_LATENCY || chart == RIG_CHART_CURVE) && acknowledged(course) == 0))
        return false;
    begin(out, titles[chart], alone);
    switch (chart) {
    case RIG_CHART_LATENCY:
        draw_latency(&plot, course, episodes);
        break;
    case RIG_CHART_RATE:
        draw_rates(&plot, course, episodes, by_outcome, 4, 0, outcomes);
        break;
    case RIG_CHART_CURVE:
        draw_curve(&plot, course);
        break;
    case RIG_CHART_ERRORS:
        for (uint32_t i = 0; i < course->code_count; i++)
            codes[i] = course->codes[i];
        draw_rates(&plot, course, episodes, by_code, course->code_count, 2, codes);
        break;
    case RIG_CHART_COUNT:
        break;
    }
    end(out, alone);
    return true;
}

/* -- the numbers --------------------------------------------------------------------------------------------------- */

static void add_slot(struct rig_json_writer *w, const struct rig_course *course, uint32_t at)
{
    static const char *const names[] = {"p50_ns", "p95_ns", "p99_ns", "p999_ns"};
    const struct rig_course_slot *slot = &course->slots[at];
    rig_json_begin_object(w, NULL);
    rig_json_members(w, "from_ns: %d, ok_read_only: %d, ok_writing: %d, fail: %d, info: %d", at * course->slot_ns,
                     slot->count[RIG_OUTCOME_OK][RIG_COURSE_READ_ONLY], slot->count[RIG_OUTCOME_OK][RIG_COURSE_WRITING],
                     by_outcome(slot, 2), by_outcome(slot, 3));
    for (unsigned i = 0; i < QUANTILES; i++)
        rig_json_int(w, names[i], rig_course_latency(slot, quantiles[i]));
    rig_json_int(w, "max_ns", slot->max_ns);
    rig_json_end(w);
}

static void add_curve(struct rig_json_writer *w, const struct rig_course *course, unsigned kind, const char *name)
{
    const struct rig_histogram *latency = &course->latency[kind];
    const unsigned points = curve_points(rig_histogram_count(latency));
    rig_json_begin_object(w, NULL);
    rig_json_string(w, "kind", name);
    rig_json_begin_array(w, "points");
    for (unsigned i = 0; i < points; i++)
        rig_json_object(w, NULL, "percent: %f, ns: %d", curve_percent(i),
                        rig_histogram_percentile(latency, curve_percent(i)));
    rig_json_end(w);
    rig_json_end(w);
}

void rig_chart_json(struct rig_json_writer *w, const struct rig_course *course)
{
    rig_json_begin_object(w, "course");
    rig_json_int(w, "slot_ns", course->slot_ns);
    rig_json_begin_array(w, "slots");
    for (uint32_t i = 0; i < course->slot_count; i++)
        add_slot(w, course, i);
    rig_json_end(w);
    rig_json_begin_array(w, "errors");
    for (uint32_t code = 0; code < course->code_count; code++) {
        rig_json_begin_object(w, NULL);
        rig_json_string(w, "code", course->codes[code]);
        rig_json_begin_array(w, "counts");
        for (uint32_t i = 0; i < course->slot_count; i++)
            rig_json_int(w, NULL, (int64_t)course->slots[i].by_code[code]);
        rig_json_end(w);
        rig_json_end(w);
    }
    rig_json_end(w);
    rig_json_begin_array(w, "latency_curves");
    add_curve(w, course, RIG_COURSE_READ_ONLY, "read-only");
    add_curve(w, course, RIG_COURSE_WRITING, "writing");
    rig_json_end(w);
    rig_json_members(w, "drawn: %d, transactions: %d", course->bars.count, course->txn_count);
    rig_json_end(w);
}
