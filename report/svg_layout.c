#include "report/svg_layout.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "base/plural.h"
#include "report/svg_words.h"

#define MARGIN       20.0
#define LANE_NAME    84.0 /* column of the processes' names */
#define BOX_PADDING  11.0
#define BOX_LEAST    250.0
#define EVENT_GAP    24.0 /* between neighbouring events on the axis */
#define PAUSE_GAP    72.0 /* between a completion and the invocation after it */
#define LABEL_HEIGHT 38.0
#define STRIP        (LABEL_HEIGHT + 8.0)
#define PLAIN_STRIP  16.0 /* of a gutter that an arrow passes without a label */
#define GUTTER_PAD   18.0
#define TRACK        18.0 /* between arrows in the right margin */
#define CORNER       9.0
#define PAUSE_NAMES  18.0 /* the line below the axis that names what bounds a pause */

/* Which way an edge takes between the lanes. */
enum route {
    ROUTE_GUTTER, /* to a neighbouring lane: through the gutter between */
    ROUTE_ALONG,  /* along a lane, from completion to invocation */
    ROUTE_TIME,   /* real time: from a completion to a later invocation in another lane */
    ROUTE_ARC,    /* within a lane, through the gutter below */
    ROUTE_ROUND,  /* by the right margin */
    ROUTE_LABEL,  /* from a box down to its own label */
};

struct strip {
    uint32_t gutter;
    double offset, height; /* from the top of the gutter */
};

struct plan {
    enum route routes[RIG_SVG_BOXES];
    struct strip label_strips[RIG_SVG_BOXES];
    struct strip entry_strips[RIG_SVG_BOXES]; /* of ROUTE_ROUND */
    double gutter_y[RIG_SVG_LANES + 1];
    double gutter_height[RIG_SVG_LANES + 1];
    double exit_x[RIG_SVG_BOXES], entry_x[RIG_SVG_BOXES]; /* anchors on the boxes' upper or lower sides */
};

static double text_px(const char *text)
{
    return rig_svg_words_columns(text) * RIG_SVG_CHAR_PX;
}

static void size_box(struct rig_svg_box *box)
{
    double widest = text_px(box->name);
    if (text_px(box->when) > widest)
        widest = text_px(box->when);
    for (uint32_t i = 0; i < box->line_count; i++)
        if (text_px(box->lines[i].text) + 10 > widest)
            widest = text_px(box->lines[i].text) + 10;
    box->text_width = widest + 2 * BOX_PADDING;
    if (box->text_width < BOX_LEAST)
        box->text_width = BOX_LEAST;
    box->width = box->text_width;
    box->height = 2 * BOX_PADDING + RIG_SVG_LINE_PX * (2 + box->line_count);
}

static void size_label(struct rig_svg_edge *edge)
{
    double kind = text_px(edge->kind), words = text_px(edge->words);
    edge->label_width = (kind > words ? kind : words) + 18;
    edge->label_height = edge->kind[0] == '\0' ? 0 : LABEL_HEIGHT;
}

static uint32_t box_of(const struct rig_svg_layout *layout, uint32_t txn)
{
    for (uint32_t i = 0; i < layout->box_count; i++)
        if (layout->boxes[i].txn == txn)
            return i;
    return UINT32_MAX;
}

static void add_edges(const struct rig_history *history, const struct rig_witness *witness,
                      struct rig_svg_layout *layout)
{
    for (uint32_t i = 0; i < witness->step_count && layout->edge_count < RIG_SVG_BOXES; i++) {
        uint32_t from = box_of(layout, witness->steps[i].from), to = box_of(layout, witness->steps[i].to);
        if (from == UINT32_MAX || to == UINT32_MAX || from == to)
            continue;
        struct rig_svg_edge *edge = &layout->edges[layout->edge_count++];
        edge->step = &witness->steps[i];
        edge->from = from;
        edge->to = to;
        rig_svg_words_edge(history, edge);
        size_label(edge);
    }
}

/* Whether the value in question went from the second transaction to the first. */
static bool value_came_over(enum rig_anomaly anomaly)
{
    return anomaly == RIG_ANOMALY_G1A || anomaly == RIG_ANOMALY_G1B || anomaly == RIG_ANOMALY_FRACTURED_APPEND ||
           anomaly == RIG_ANOMALY_DIRTY_UPDATE;
}

static void add_noncyclic(const struct rig_history *history, const struct rig_witness *witness,
                          struct rig_svg_layout *layout)
{
    struct rig_svg_edge *edge = &layout->edges[layout->edge_count++];
    edge->odd = true;
    edge->from = layout->box_count - 1;
    edge->blunt = layout->box_count == 1 || !value_came_over(witness->anomaly);
    rig_svg_words_noncyclic(history, witness, edge);
    size_label(edge);
}

/* --- lanes along the time axis --- */

static uint32_t start_of(const struct rig_history *history, const struct rig_svg_box *box)
{
    const struct rig_txn *txn = &history->txns[box->txn];
    return txn->invoke_at != RIG_POSITION_NONE ? txn->invoke_at : txn->complete_at;
}

/* One process has one lane, unless a strange history has it do two things at once. */
static bool fits_lane(const struct rig_history *history, const struct rig_svg_layout *layout, uint32_t lane,
                      uint32_t box)
{
    const struct rig_svg_box *mine = &layout->boxes[box];
    if (layout->lanes[lane].process != history->txns[mine->txn].process)
        return false;
    for (uint32_t i = 0; i < box; i++) {
        const struct rig_svg_box *other = &layout->boxes[i];
        if (other->lane == lane && start_of(history, mine) <= rig_txn_end(history, other->txn) &&
            start_of(history, other) <= rig_txn_end(history, mine->txn))
            return false;
    }
    return true;
}

static void add_lanes(const struct rig_history *history, struct rig_svg_layout *layout)
{
    for (uint32_t i = 0; i < layout->box_count; i++) {
        struct rig_svg_box *box = &layout->boxes[i];
        uint32_t lane = 0;
        while (lane < layout->lane_count && !fits_lane(history, layout, lane, i))
            lane++;
        if (lane == layout->lane_count)
            layout->lanes[layout->lane_count++] = (struct rig_svg_lane){.process = history->txns[box->txn].process};
        box->lane = lane;
        if (box->height > layout->lanes[lane].height)
            layout->lanes[lane].height = box->height;
    }
}

/* An invocation or a completion. */
struct event {
    uint32_t position, box;
    bool ends;
};

static bool comes_before(const struct event *a, const struct event *b)
{
    if (a->position != b->position)
        return a->position < b->position;
    return a->box == b->box ? !a->ends && b->ends : a->box < b->box;
}

static uint32_t sorted_events(const struct rig_history *history, const struct rig_svg_layout *layout,
                              struct event *events)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < layout->box_count; i++) {
        const struct rig_svg_box *box = &layout->boxes[i];
        const struct event both[] = {{start_of(history, box), i, false}, {rig_txn_end(history, box->txn), i, true}};
        for (size_t j = 0; j < 2; j++) {
            uint32_t at = count++;
            for (; at > 0 && comes_before(&both[j], &events[at - 1]); at--)
                events[at] = events[at - 1];
            events[at] = both[j];
        }
    }
    return count;
}

/* Room that a label drawn along a lane needs between the two boxes. */
static double room_along(const struct rig_svg_layout *layout, const struct plan *plan, uint32_t to, uint32_t *from)
{
    for (uint32_t i = 0; i < layout->edge_count; i++) {
        if (layout->edges[i].to == to && plan->routes[i] == ROUTE_ALONG) {
            *from = layout->edges[i].from;
            return layout->edges[i].label_width + 44;
        }
    }
    return 0;
}

static void place_along_time(const struct rig_history *history, struct rig_svg_layout *layout, const struct plan *plan)
{
    struct event events[2 * RIG_SVG_LANES];
    uint32_t count = sorted_events(history, layout, events);
    double x = layout->left;
    for (uint32_t i = 0; i < count; i++) {
        struct rig_svg_box *box = &layout->boxes[events[i].box];
        if (i > 0)
            x += events[i - 1].ends && !events[i].ends ? PAUSE_GAP : EVENT_GAP;
        if (events[i].ends) {
            box->open = events[i].position == RIG_POSITION_NONE;
            if (x < box->x + box->text_width)
                x = box->x + box->text_width;
            box->width = x - box->x;
        } else {
            uint32_t from = 0;
            double room = room_along(layout, plan, events[i].box, &from);
            if (room > 0 && x < layout->boxes[from].x + layout->boxes[from].width + room)
                x = layout->boxes[from].x + layout->boxes[from].width + room;
            box->x = x;
        }
        layout->ticks[layout->tick_count++] = x;
    }
    for (uint32_t i = 0; i < layout->box_count; i++)
        if (layout->boxes[i].open)
            layout->boxes[i].width = x - layout->boxes[i].x;
    layout->width = x + MARGIN;
}

static bool lane_is_free_between(const struct rig_history *history, const struct rig_svg_layout *layout, uint32_t from,
                                 uint32_t to)
{
    uint32_t end = rig_txn_end(history, layout->boxes[from].txn), start = start_of(history, &layout->boxes[to]);
    if (end == RIG_POSITION_NONE || end > start)
        return false;
    for (uint32_t i = 0; i < layout->box_count; i++) {
        uint32_t at = start_of(history, &layout->boxes[i]);
        if (i != from && i != to && layout->boxes[i].lane == layout->boxes[from].lane && at > end && at < start)
            return false;
    }
    return true;
}

/* Whether a curve through the pause between the two boxes meets no box in the lanes that it crosses. */
static bool pause_is_clear(const struct rig_history *history, const struct rig_svg_layout *layout, uint32_t from,
                           uint32_t to)
{
    uint32_t end = rig_txn_end(history, layout->boxes[from].txn), start = start_of(history, &layout->boxes[to]);
    uint32_t one = layout->boxes[from].lane, other = layout->boxes[to].lane;
    uint32_t low = one < other ? one : other, high = one < other ? other : one;
    for (uint32_t i = 0; i < layout->box_count; i++) {
        const struct rig_svg_box *box = &layout->boxes[i];
        if (box->lane > low && box->lane < high && start_of(history, box) <= start &&
            rig_txn_end(history, box->txn) >= end)
            return false;
    }
    return true;
}

static enum route route_of(const struct rig_history *history, const struct rig_svg_layout *layout,
                           const struct rig_svg_edge *edge)
{
    uint32_t from = layout->boxes[edge->from].lane, to = layout->boxes[edge->to].lane;
    if (edge->from == edge->to)
        return ROUTE_LABEL;
    if (from == to)
        return lane_is_free_between(history, layout, edge->from, edge->to) ? ROUTE_ALONG : ROUTE_ARC;
    bool neighbours = from + 1 == to || to + 1 == from;
    if (!edge->odd && edge->step->kind == RIG_EDGE_REALTIME && pause_is_clear(history, layout, edge->from, edge->to))
        return ROUTE_TIME;
    return neighbours ? ROUTE_GUTTER : ROUTE_ROUND;
}

static struct strip take_strip(struct plan *plan, uint32_t gutter, double height)
{
    struct strip strip = {gutter, plan->gutter_height[gutter], height};
    plan->gutter_height[gutter] += height;
    return strip;
}

static void plan_routes(const struct rig_history *history, struct rig_svg_layout *layout, struct plan *plan)
{
    for (uint32_t i = 0; i < layout->edge_count; i++) {
        const struct rig_svg_edge *edge = &layout->edges[i];
        uint32_t from = layout->boxes[edge->from].lane, to = layout->boxes[edge->to].lane;
        plan->routes[i] = route_of(history, layout, edge);
        switch (plan->routes[i]) {
        case ROUTE_GUTTER:
        case ROUTE_TIME:
            plan->label_strips[i] = take_strip(plan, from > to ? from : from + 1, STRIP);
            break;
        case ROUTE_ARC:
        case ROUTE_LABEL:
            plan->label_strips[i] = take_strip(plan, from + 1, STRIP);
            break;
        case ROUTE_ROUND: /* out on the side that faces away, so that the long way never crosses a lane */
            plan->label_strips[i] = take_strip(plan, from > to ? from + 1 : from, STRIP);
            plan->entry_strips[i] = take_strip(plan, from > to ? to : to + 1, PLAIN_STRIP);
            break;
        case ROUTE_ALONG:
            break;
        }
    }
}

static void stack_lanes(struct rig_svg_layout *layout, struct plan *plan)
{
    double y = layout->top;
    for (uint32_t lane = 0; lane <= layout->lane_count; lane++) {
        plan->gutter_y[lane] = y;
        if (plan->gutter_height[lane] > 0 || (lane > 0 && lane < layout->lane_count))
            y += plan->gutter_height[lane] + 2 * GUTTER_PAD;
        if (lane == layout->lane_count)
            break;
        layout->lanes[lane].y = y;
        y += layout->lanes[lane].height;
    }
    for (uint32_t i = 0; i < layout->box_count; i++) {
        struct rig_svg_box *box = &layout->boxes[i];
        box->y = layout->lanes[box->lane].y + (layout->lanes[box->lane].height - box->height) / 2;
    }
    layout->axis_y = y + 14;
    layout->height = layout->axis_y + 26;
}

/* The gutter that an edge uses at one of its ends, or UINT32_MAX when it leaves by the box's left or right side. */
static uint32_t gutter_at(const struct plan *plan, uint32_t edge, bool at_start)
{
    if (plan->routes[edge] == ROUTE_ALONG || plan->routes[edge] == ROUTE_TIME)
        return UINT32_MAX;
    if (plan->routes[edge] == ROUTE_ROUND && !at_start)
        return plan->entry_strips[edge].gutter;
    return plan->label_strips[edge].gutter;
}

/* Spreads the ends of edges over each side of each box, left to right in the edges' order. */
static void place_anchors(const struct rig_svg_layout *layout, struct plan *plan)
{
    for (uint32_t box = 0; box < layout->box_count; box++) {
        for (uint32_t side = 0; side < 2; side++) {
            uint32_t gutter = layout->boxes[box].lane + side;
            double *anchors[2 * RIG_SVG_BOXES];
            uint32_t count = 0;
            for (uint32_t i = 0; i < layout->edge_count; i++) {
                if (layout->edges[i].from == box && gutter_at(plan, i, true) == gutter)
                    anchors[count++] = &plan->exit_x[i];
                if (layout->edges[i].to == box && gutter_at(plan, i, false) == gutter && plan->routes[i] != ROUTE_LABEL)
                    anchors[count++] = &plan->entry_x[i];
            }
            for (uint32_t i = 0; i < count; i++) {
                double share = count == 1 ? 0.5 : 0.12 + 0.76 * (double)i / (double)(count - 1);
                *anchors[i] = layout->boxes[box].x + share * layout->boxes[box].text_width;
            }
        }
    }
}

static double strip_middle(const struct plan *plan, const struct strip *strip)
{
    return plan->gutter_y[strip->gutter] + GUTTER_PAD + strip->offset + strip->height / 2;
}

static void set_tip(struct rig_svg_edge *edge, double x, double y, double dx, double dy)
{
    edge->tip_x = x;
    edge->tip_y = y;
    edge->tip_dx = dx;
    edge->tip_dy = dy;
}

static void centre_label(const struct rig_svg_layout *layout, struct rig_svg_edge *edge, double x, double y)
{
    edge->label_x = x - edge->label_width / 2;
    if (edge->label_x + edge->label_width > layout->width - MARGIN / 2)
        edge->label_x = layout->width - MARGIN / 2 - edge->label_width;
    if (edge->label_x < MARGIN / 2)
        edge->label_x = MARGIN / 2;
    edge->label_y = y - edge->label_height / 2;
}

static double bezier(double a, double b, double c, double d, double t)
{
    double s = 1 - t;
    return s * s * s * a + 3 * s * s * t * b + 3 * s * t * t * c + t * t * t * d;
}

/* A curve with upright ends (or level, for real time), with the label where it crosses the strip's middle. */
static void draw_curve(const struct rig_svg_layout *layout, struct rig_svg_edge *edge, const double x[4],
                       const double y[4], double label_y)
{
    (void)snprintf(edge->path, sizeof edge->path, "M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x[0], y[0], x[1], y[1],
                   x[2], y[2], x[3], y[3]);
    double low = 0, high = 1;
    bool down = y[3] > y[0];
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        if ((bezier(y[0], y[1], y[2], y[3], middle) < label_y) == down)
            low = middle;
        else
            high = middle;
    }
    centre_label(layout, edge, bezier(x[0], x[1], x[2], x[3], low), label_y);
    double dx = x[3] - x[2], dy = y[3] - y[2], length = hypot(dx, dy);
    set_tip(edge, x[3], y[3], length > 0 ? dx / length : 0, length > 0 ? dy / length : 1);
}

static void draw_through_gutter(const struct rig_svg_layout *layout, const struct plan *plan, uint32_t i,
                                struct rig_svg_edge *edge)
{
    const struct rig_svg_box *from = &layout->boxes[edge->from], *to = &layout->boxes[edge->to];
    bool down = from->lane < to->lane;
    double y0 = down ? from->y + from->height : from->y, y1 = down ? to->y : to->y + to->height;
    double middle = (y0 + y1) / 2;
    const double x[] = {plan->exit_x[i], plan->exit_x[i], plan->entry_x[i], plan->entry_x[i]};
    const double y[] = {y0, middle, middle, y1};
    draw_curve(layout, edge, x, y, strip_middle(plan, &plan->label_strips[i]));
}

static void draw_in_time(const struct rig_svg_layout *layout, const struct plan *plan, uint32_t i,
                         struct rig_svg_edge *edge)
{
    const struct rig_svg_box *from = &layout->boxes[edge->from], *to = &layout->boxes[edge->to];
    double x0 = from->x + from->width, y0 = from->y + from->height / 2, y1 = to->y + to->height / 2;
    double bend = (to->x - x0) / 2 > 60 ? (to->x - x0) / 2 : 60;
    const double x[] = {x0, x0 + bend, to->x - bend, to->x};
    const double y[] = {y0, y0, y1, y1};
    draw_curve(layout, edge, x, y, strip_middle(plan, &plan->label_strips[i]));
}

static void draw_along(const struct rig_svg_layout *layout, struct rig_svg_edge *edge)
{
    const struct rig_svg_box *from = &layout->boxes[edge->from], *to = &layout->boxes[edge->to];
    double y = layout->lanes[from->lane].y + layout->lanes[from->lane].height / 2;
    (void)snprintf(edge->path, sizeof edge->path, "M%.1f %.1fH%.1f", from->x + from->width, y, to->x);
    centre_label(layout, edge, (from->x + from->width + to->x) / 2 - 4, y);
    set_tip(edge, to->x, y, 1, 0);
}

/* A path of straight pieces with rounded corners through `count` points. */
static void draw_corners(struct rig_svg_edge *edge, const double *x, const double *y, uint32_t count)
{
    int used = snprintf(edge->path, sizeof edge->path, "M%.1f %.1f", x[0], y[0]);
    for (uint32_t i = 1; i + 1 < count; i++) {
        double in = hypot(x[i] - x[i - 1], y[i] - y[i - 1]), out = hypot(x[i + 1] - x[i], y[i + 1] - y[i]);
        double radius = CORNER;
        if (radius > in / 2)
            radius = in / 2;
        if (radius > out / 2)
            radius = out / 2;
        if (in <= 0 || out <= 0)
            continue;
        RIG_INVARIANT(used > 0 && (size_t)used < sizeof edge->path);
        used += snprintf(edge->path + used, sizeof edge->path - (size_t)used, "L%.1f %.1fQ%.1f %.1f %.1f %.1f",
                         x[i] - (x[i] - x[i - 1]) / in * radius, y[i] - (y[i] - y[i - 1]) / in * radius, x[i], y[i],
                         x[i] + (x[i + 1] - x[i]) / out * radius, y[i] + (y[i + 1] - y[i]) / out * radius);
    }
    RIG_INVARIANT(used > 0 && (size_t)used < sizeof edge->path);
    used += snprintf(edge->path + used, sizeof edge->path - (size_t)used, "L%.1f %.1f", x[count - 1], y[count - 1]);
    RIG_INVARIANT((size_t)used < sizeof edge->path);
    double dx = x[count - 1] - x[count - 2], dy = y[count - 1] - y[count - 2], length = hypot(dx, dy);
    set_tip(edge, x[count - 1], y[count - 1], length > 0 ? dx / length : 0, length > 0 ? dy / length : 1);
}

static void draw_arc(const struct rig_svg_layout *layout, const struct plan *plan, uint32_t i,
                     struct rig_svg_edge *edge)
{
    const struct rig_svg_box *from = &layout->boxes[edge->from], *to = &layout->boxes[edge->to];
    double y = strip_middle(plan, &plan->label_strips[i]);
    const double x[] = {plan->exit_x[i], plan->exit_x[i], plan->entry_x[i], plan->entry_x[i]};
    const double ys[] = {from->y + from->height, y, y, to->y + to->height};
    draw_corners(edge, x, ys, 4);
    centre_label(layout, edge, (x[0] + x[3]) / 2, y);
}

static void draw_to_label(const struct rig_svg_layout *layout, const struct plan *plan, uint32_t i,
                          struct rig_svg_edge *edge)
{
    const struct rig_svg_box *box = &layout->boxes[edge->from];
    double y = strip_middle(plan, &plan->label_strips[i]);
    const double x[] = {plan->exit_x[i], plan->exit_x[i]}, ys[] = {box->y + box->height, y};
    draw_corners(edge, x, ys, 2);
    centre_label(layout, edge, x[0], y);
}

static void draw_round(const struct rig_svg_layout *layout, const struct plan *plan, uint32_t i, double margin_x,
                       struct rig_svg_edge *edge)
{
    const struct rig_svg_box *from = &layout->boxes[edge->from], *to = &layout->boxes[edge->to];
    bool up = from->lane > to->lane;
    double y0 = strip_middle(plan, &plan->label_strips[i]), y1 = strip_middle(plan, &plan->entry_strips[i]);
    const double x[] = {plan->exit_x[i], plan->exit_x[i], margin_x, margin_x, plan->entry_x[i], plan->entry_x[i]};
    const double y[] = {up ? from->y + from->height : from->y, y0, y0, y1, y1, up ? to->y : to->y + to->height};
    draw_corners(edge, x, y, 6);
    centre_label(layout, edge, (plan->exit_x[i] + margin_x) / 2, y0);
}

static void draw_lanes(struct rig_svg_layout *layout, struct plan *plan)
{
    double margin_x = layout->width;
    for (uint32_t i = 0; i < layout->edge_count; i++)
        layout->width += plan->routes[i] == ROUTE_ROUND ? TRACK : 0;
    for (uint32_t i = 0; i < layout->edge_count; i++) {
        struct rig_svg_edge *edge = &layout->edges[i];
        switch (plan->routes[i]) {
        case ROUTE_GUTTER:
            draw_through_gutter(layout, plan, i, edge);
            break;
        case ROUTE_TIME:
            draw_in_time(layout, plan, i, edge);
            break;
        case ROUTE_ALONG:
            draw_along(layout, edge);
            break;
        case ROUTE_ARC:
            draw_arc(layout, plan, i, edge);
            break;
        case ROUTE_ROUND:
            draw_round(layout, plan, i, margin_x, edge);
            margin_x += TRACK;
            break;
        case ROUTE_LABEL:
            draw_to_label(layout, plan, i, edge);
            break;
        }
    }
}

static void mark_pauses(struct rig_svg_layout *layout)
{
    for (uint32_t i = 0; i < layout->edge_count; i++) {
        const struct rig_svg_edge *edge = &layout->edges[i];
        const struct rig_svg_box *from = &layout->boxes[edge->from], *to = &layout->boxes[edge->to];
        if (edge->odd || edge->step->kind != RIG_EDGE_REALTIME || from->x + from->width >= to->x)
            continue;
        RIG_INVARIANT(layout->pause_count < RIG_SVG_LANES);
        layout->pauses[layout->pause_count++] = (struct rig_svg_pause){.from_x = from->x + from->width,
                                                                       .to_x = to->x,
                                                                       .from_y = from->y + from->height,
                                                                       .to_y = to->y + to->height,
                                                                       .from_txn = from->txn,
                                                                       .to_txn = to->txn};
    }
    if (layout->pause_count > 0)
        layout->height += PAUSE_NAMES;
}

static void lay_lanes(const struct rig_history *history, const struct rig_witness *witness, double least_width,
                      struct rig_svg_layout *layout)
{
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        struct rig_svg_box *box = &layout->boxes[layout->box_count++];
        box->txn = witness->txns[i];
        rig_svg_words_box(history, witness, RIG_SVG_BOX_LINES - 2, box);
        size_box(box);
    }
    if (witness->step_count > 0)
        add_edges(history, witness, layout);
    else
        add_noncyclic(history, witness, layout);
    add_lanes(history, layout);
    struct plan plan = {0};
    layout->left = MARGIN + LANE_NAME;
    plan_routes(history, layout, &plan);
    place_along_time(history, layout, &plan);
    stack_lanes(layout, &plan);
    place_anchors(layout, &plan);
    draw_lanes(layout, &plan);
    mark_pauses(layout);
    if (layout->width < least_width)
        layout->width = least_width;
}

/* --- the snake, for longer cycles --- */

static void add_snake_boxes(const struct rig_history *history, const struct rig_witness *witness,
                            struct rig_svg_layout *layout)
{
    uint32_t count = witness->txn_count < RIG_SVG_BOXES ? witness->txn_count : RIG_SVG_BOXES;
    uint32_t left_out = witness->txn_count > RIG_SVG_BOXES ? witness->txn_count - (RIG_SVG_BOXES - 1) : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct rig_svg_box *box = &layout->boxes[layout->box_count++];
        if (left_out > 0 && i == count / 2) {
            box->txn = UINT32_MAX;
            box->left_out = left_out;
            (void)snprintf(box->name, sizeof box->name, "... %" PRIu32 " more transaction%s ...", left_out,
                           rig_plural(left_out));
        } else {
            box->txn = witness->txns[left_out > 0 && i > count / 2 ? i + left_out - 1 : i];
            rig_svg_words_box(history, witness, 3, box);
            box->open = history->txns[box->txn].outcome == RIG_OUTCOME_INFO;
        }
        size_box(box);
    }
}

/* The last box before the gap, and the one after it, are joined to it by arrows without a step. */
static void add_gap_edges(struct rig_svg_layout *layout)
{
    for (uint32_t i = 0; i < layout->box_count; i++) {
        if (layout->boxes[i].txn != UINT32_MAX)
            continue;
        for (uint32_t from = i - 1; from <= i && layout->edge_count < RIG_SVG_BOXES; from++) {
            struct rig_svg_edge *edge = &layout->edges[layout->edge_count++];
            edge->from = from;
            edge->to = from + 1;
        }
    }
}

/* Where in its column a box of the snake stands; columns go down and up in turns. */
static uint32_t snake_row(uint32_t box, uint32_t rows)
{
    uint32_t column = box / rows, at = box % rows;
    return column % 2 == 0 ? at : rows - 1 - at;
}

static void draw_snake_edge(const struct rig_svg_layout *layout, double floor_y, struct rig_svg_edge *edge)
{
    const struct rig_svg_box *from = &layout->boxes[edge->from], *to = &layout->boxes[edge->to];
    double x0 = from->x + from->width / 2, x1 = to->x + to->width / 2;
    if (from->lane == to->lane) {
        bool down = to->y > from->y;
        const double x[] = {x0, x1}, y[] = {down ? from->y + from->height : from->y, down ? to->y : to->y + to->height};
        draw_corners(edge, x, y, 2);
        centre_label(layout, edge, x0, (y[0] + y[1]) / 2);
        return;
    }
    bool at_floor = from->lane % 2 == 0 && edge->to != 0;
    bool wraps = edge->to == 0;
    double turn = at_floor ? floor_y : wraps ? layout->top + STRIP / 2 : layout->top + STRIP * 1.5 + 6;
    const double x[] = {x0, x0, x1, x1};
    const double y[] = {at_floor ? from->y + from->height : from->y, turn, turn, at_floor ? to->y + to->height : to->y};
    draw_corners(edge, x, y, 4);
    centre_label(layout, edge, (x0 + x1) / 2, turn);
}

static void lay_snake(const struct rig_history *history, const struct rig_witness *witness,
                      struct rig_svg_layout *layout)
{
    add_snake_boxes(history, witness, layout);
    add_edges(history, witness, layout);
    add_gap_edges(layout);
    uint32_t columns = layout->box_count > 16 ? 4 : 2;
    uint32_t rows = (layout->box_count + columns - 1) / columns;
    double width = 0, height = 0;
    for (uint32_t i = 0; i < layout->box_count; i++) {
        width = layout->boxes[i].text_width > width ? layout->boxes[i].text_width : width;
        height = layout->boxes[i].height > height ? layout->boxes[i].height : height;
    }
    for (uint32_t i = 0; i < layout->edge_count; i++)
        width = layout->edges[i].label_width > width ? layout->edges[i].label_width : width;
    double pitch = height + STRIP + 2 * GUTTER_PAD, first_y = layout->top + 2 * STRIP + 2 * GUTTER_PAD;
    for (uint32_t i = 0; i < layout->box_count; i++) {
        struct rig_svg_box *box = &layout->boxes[i];
        box->lane = i / rows;
        box->width = width;
        box->height = height;
        box->x = MARGIN + (width + 56) * box->lane;
        box->y = first_y + pitch * snake_row(i, rows);
    }
    uint32_t used_columns = (layout->box_count + rows - 1) / rows;
    layout->width = 2 * MARGIN + used_columns * width + (used_columns - 1) * 56;
    double floor_y = first_y + pitch * (rows - 1) + height + GUTTER_PAD + STRIP / 2;
    layout->height = floor_y + STRIP / 2 + MARGIN;
    for (uint32_t i = 0; i < layout->edge_count; i++)
        draw_snake_edge(layout, floor_y, &layout->edges[i]);
}

void rig_svg_layout(const struct rig_history *history, const struct rig_witness *witness, double top,
                    double least_width, struct rig_svg_layout *layout)
{
    RIG_REQUIRE(witness->txn_count > 0 && (witness->step_count > 0 || witness->txn_count <= 2));
    memset(layout, 0, sizeof *layout);
    layout->top = top;
    if (witness->txn_count <= RIG_SVG_LANES)
        lay_lanes(history, witness, least_width, layout);
    else
        lay_snake(history, witness, layout);
}
