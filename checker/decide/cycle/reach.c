#include "checker/decide/cycle/reach.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

enum { WORDS = RIG_REACH_LANES / 64 };

struct reach {
    const struct rig_components *view;
    uint32_t *rank;          /* per node: its place in the view's order */
    uint64_t (*bits)[WORDS]; /* per rank of the stretch: which sources of the batch are ancestors */
    size_t room;
};

/* All members of a component count as one place: that of the first of them. */
static uint32_t place_of(const struct reach *r, uint32_t node)
{
    uint32_t component = r->view->component_of[node];
    return component == UINT32_MAX ? r->rank[node] : r->view->list.at[component].begin;
}

static uint32_t end_of(const struct reach *r, uint32_t place)
{
    uint32_t component = r->view->component_of[r->view->order[place]];
    return component == UINT32_MAX ? place + 1 : r->view->list.at[component].end;
}

/* By the places of their sources. */
static int compare_pairs(const void *left, const void *right)
{
    const struct rig_pair *a = left, *b = right;
    return (a->place > b->place) - (a->place < b->place);
}

static void set_bit(uint64_t bits[WORDS], unsigned lane)
{
    bits[lane / 64] |= UINT64_C(1) << lane % 64;
}

/* Spreads the sources to their descendants at the places [begin, end); groups begin at both. */
static void spread(struct reach *r, uint32_t begin, uint32_t end)
{
    for (uint32_t group = begin, next; group < end; group = next) {
        uint64_t bits[WORDS];
        memcpy(bits, r->bits[group - begin], sizeof bits); /* of sources that stand here */
        next = end_of(r, group);
        for (uint32_t rank = group; rank < next; rank++) {
            struct rig_cursor cursor = {0};
            uint32_t node = r->view->order[rank];
            for (uint32_t from; (from = rig_view_next(&r->view->view, node, &cursor)) != RIG_NODE_NONE;) {
                uint32_t place = r->rank[from];
                for (unsigned word = 0; word < WORDS && place >= begin && place < group; word++)
                    bits[word] |= r->bits[place - begin][word];
            }
        }
        for (uint32_t rank = group; rank < next; rank++)
            memcpy(r->bits[rank - begin], bits, sizeof bits);
    }
}

static bool answer_batch(struct reach *r, struct rig_pair *pairs, size_t count)
{
    const uint32_t begin = pairs[0].place;
    uint32_t last = begin;
    for (size_t i = 0; i < count; i++)
        last = place_of(r, pairs[i].to) > last ? place_of(r, pairs[i].to) : last;
    const uint32_t end = end_of(r, last);
    RIG_INVARIANT(begin < end && end <= r->view->state_count);
    if (end - begin > r->room) {
        free(r->bits);
        r->room = end - begin;
        r->bits = malloc(r->room * sizeof *r->bits);
        if (r->bits == NULL)
            return false;
    }
    memset(r->bits, 0, (end - begin) * sizeof *r->bits);
    unsigned lane = 0;
    for (size_t i = 0; i < count; i++) {
        RIG_INVARIANT(i == 0 || pairs[i - 1].place <= pairs[i].place);
        lane += i > 0 && pairs[i].place != pairs[i - 1].place;
        RIG_INVARIANT(lane < RIG_REACH_LANES);
        if (pairs[i].place < end)
            set_bit(r->bits[pairs[i].place - begin], lane);
    }
    spread(r, begin, end);
    lane = 0;
    for (size_t i = 0; i < count; i++) {
        lane += i > 0 && pairs[i].place != pairs[i - 1].place;
        uint32_t place = place_of(r, pairs[i].to);
        pairs[i].joined = place >= begin && (r->bits[place - begin][lane / 64] >> lane % 64 & 1) != 0;
    }
    return true;
}

static bool answer_all(struct reach *r, struct rig_pairs *pairs)
{
    for (size_t i = 0; i < pairs->count; i++) {
        RIG_REQUIRE(pairs->at[i].from < r->view->state_count && pairs->at[i].to < r->view->state_count);
        pairs->at[i].place = place_of(r, pairs->at[i].from);
    }
    if (pairs->count > 0)
        qsort(pairs->at, pairs->count, sizeof *pairs->at, compare_pairs);
    for (size_t begin = 0, end; begin < pairs->count; begin = end) {
        unsigned sources = 1;
        for (end = begin + 1; end < pairs->count; end++) {
            sources += pairs->at[end].place != pairs->at[end - 1].place;
            if (sources > RIG_REACH_LANES)
                break;
        }
        if (!answer_batch(r, pairs->at + begin, end - begin))
            return false;
    }
    return true;
}

enum rig_rc rig_reach(const struct rig_components *view, struct rig_pairs *pairs, struct rig_err *err)
{
    RIG_REQUIRE(!view->view.split);
    struct reach r = {.view = view, .rank = malloc(((size_t)view->state_count + 1) * sizeof *r.rank)};
    for (uint32_t i = 0; r.rank != NULL && i < view->state_count; i++)
        r.rank[view->order[i]] = i;
    bool done = r.rank != NULL && answer_all(&r, pairs);
    free(r.rank);
    free(r.bits);
    return done ? RIG_OK : rig_memory_limit(err, "the search for cycles");
}
