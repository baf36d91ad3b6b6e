#include "jobs/hunt/hunt_choice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/statistics.h"

enum {
    CANDIDATES = 12,      /* drawn points, of which the best is run */
    CHILDREN = 3,         /* the same of neighbours */
    USES_MOST = 4,        /* neighbours of one point */
    NEIGHBOUR_EVERY = 6,  /* one run in six is of a neighbour */
    FAILURES_MOST = 3,    /* runs that fail with a value, none of which succeeds, until it counts as not to be had */
    RUNS_OF_SERVERS = 40, /* drawn points in a row with the same settings of the servers */
    SAMPLE_MOST = 1000,
    SAMPLE_LEAST = 10,
};

static const double gate_weight = 4;        /* of an untried level or type, against another value */
static const double pair_weight = 0.2;      /* of an untried pair, against an untried value */
static const double recipe_share = 1.0 / 3; /* of the time */
static const double again_share = 1.0 / 6;  /* the same, for recipes that have run */
static const double taboo_weight = 0.1;     /* of a point with the cause of a find */

const char *const rig_hunt_reason_words[RIG_HUNT_REASON_COUNT + 1] = {
#define REASON_WORD(id, word) word,
    RIG_HUNT_REASON_TABLE(REASON_WORD)
#undef REASON_WORD
        NULL};

enum rig_rc rig_hunt_choice_init(struct rig_hunt_choice *choice, const struct rig_hunt_space *space, uint64_t seed,
                                 struct rig_err *err)
{
    memset(choice, 0, sizeof *choice);
    choice->space = space;
    rig_rng_init(&choice->rng, seed, 0);
    rig_hunt_point_clear(space, 0, &choice->servers); /* the first ones are the plan's */
    choice->servers_left = RUNS_OF_SERVERS;
    choice->pairs = calloc((size_t)space->value_count + 1, (size_t)space->value_count + 1);
    return choice->pairs == NULL ? rig_no_memory(err, "the hunt") : RIG_OK;
}

void rig_hunt_choice_done(struct rig_hunt_choice *choice)
{
    free(choice->pairs);
    choice->pairs = NULL;
    rig_hunt_past_runs_done(&choice->runs);
    rig_hunt_parents_done(&choice->parents);
    rig_hunt_parents_done(&choice->old_finds);
}

/* ---- counts ---- */

/* The numbers of the point's values among those of all dimensions. */
static uint32_t numbers_of(const struct rig_hunt_choice *choice, const struct rig_hunt_point *point,
                           uint32_t numbers[RIG_HUNT_DIMENSIONS_MOST])
{
    uint32_t count = 0;
    for (uint32_t d = 0; d < choice->space->dimension_count; d++) {
        const int value = point->values[d];
        if (value >= 0)
            numbers[count++] = choice->space->dimensions[d].first + (unsigned)value;
    }
    return count;
}

static uint8_t *pair(const struct rig_hunt_choice *choice, uint32_t a, uint32_t b)
{
    return &choice->pairs[(size_t)a * choice->space->value_count + b];
}

/* A feature of a run, as a number; true the first time. */
static bool is_new(struct rig_hunt_choice *choice, char kind, uint64_t number)
{
    const uint64_t feature = number * UINT64_C(0x9e3779b97f4a7c15) ^ ((uint64_t)(unsigned char)kind << 56);
    for (uint32_t i = 0; i < choice->feature_count; i++) {
        if (choice->features[i] == feature)
            return false;
    }
    if (choice->feature_count < RIG_HUNT_FEATURES_MOST)
        choice->features[choice->feature_count++] = feature;
    return true;
}

/* FNV-1a over the text without its digits, which differ from run to run. */
static uint64_t template_of(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static bool is_something_new(struct rig_hunt_choice *choice, const struct rig_hunt_outcome *outcome)
{
    bool has = false;
    for (unsigned bit = 0; bit < 64; bit++) {
        if ((outcome->refuted >> bit & 1) != 0)
            has |= is_new(choice, 'l', bit);
        if ((outcome->found >> bit & 1) != 0)
            has |= is_new(choice, 'a', bit);
    }
    for (uint32_t i = 0; i < outcome->code_count; i++)
        has |= is_new(choice, 'c', template_of(outcome->codes[i]));
    if (!outcome->is_judged)
        has |= is_new(choice, 'w', template_of(outcome->why));
    return has;
}

static void count_failure(struct rig_hunt_choice *choice, const uint32_t *numbers, uint32_t count, const char *why)
{
    choice->failed++;
    for (uint32_t i = 0; i < count; i++) {
        struct rig_hunt_value_count *value = &choice->values[numbers[i]];
        value->failed++;
        (void)snprintf(value->why, sizeof value->why, "%s", why);
    }
}

static void count_allowed(struct rig_hunt_choice *choice, const struct rig_hunt_point *point, rig_anomaly_set found)
{
    const bool has_level = choice->space->level_count > 0 && point->values[0] >= 0;
    const unsigned level = has_level ? (unsigned char)point->values[0] : 0;
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        choice->allowed[level][anomaly] += (found >> anomaly & 1) != 0;
}

bool rig_hunt_choice_told(struct rig_hunt_choice *choice, const struct rig_hunt_point *point,
                          const struct rig_hunt_outcome *outcome)
{
    uint32_t numbers[RIG_HUNT_DIMENSIONS_MOST];
    const uint32_t count = numbers_of(choice, point, numbers);
    const bool is_parent = is_something_new(choice, outcome) && (outcome->is_judged || outcome->is_server_end);
    choice->base_runs[point->base]++;
    choice->runs_s += outcome->took_s;
    if (point->base > 0)
        *(choice->base_runs[point->base] == 1 ? &choice->recipes_s : &choice->again_s) += outcome->took_s;
    if (is_parent) {
        const struct rig_hunt_parent parent = {.point = *point};
        if (!rig_hunt_parents_add(&choice->parents, parent))
            return false;
    }
    if (!outcome->is_judged) {
        count_failure(choice, numbers, count, outcome->why);
        return true;
    }
    for (uint32_t i = 0; i < count; i++) {
        choice->values[numbers[i]].runs++;
        choice->values[numbers[i]].finds += outcome->is_find;
        choice->values[numbers[i]].acknowledged += outcome->acknowledged;
        for (uint32_t other = i + 1; other < count; other++) {
            uint8_t *both = pair(choice, numbers[i], numbers[other]);
            *both = (uint8_t)(*both + (*both < UINT8_MAX));
        }
    }
    if (!outcome->is_find)
        count_allowed(choice, point, outcome->found);
    struct rig_hunt_past_run run = {.point = *point, .is_find = outcome->is_find};
    memcpy(run.measures, outcome->measures, sizeof run.measures);
    return rig_hunt_past_runs_add(&choice->runs, run);
}

void rig_hunt_choice_refused(struct rig_hunt_choice *choice, uint32_t dimension, uint32_t value, const char *why)
{
    struct rig_hunt_value_count *count = &choice->values[choice->space->dimensions[dimension].first + value];
    count->refused++;
    (void)snprintf(count->why, sizeof count->why, "%s", why);
}

void rig_hunt_choice_lose_base(struct rig_hunt_choice *choice, uint32_t base, const char *why)
{
    choice->base_runs[base]++;
    (void)snprintf(choice->base_why[base], sizeof choice->base_why[base], "%s", why);
}

void rig_hunt_choice_avoid(struct rig_hunt_choice *choice, const struct rig_hunt_point *point)
{
    if (choice->taboo_count < RIG_HUNT_TABOO_MOST)
        choice->taboo[choice->taboo_count++] = *point;
}

bool rig_hunt_choice_try_first(struct rig_hunt_choice *choice, const struct rig_hunt_point *point)
{
    const struct rig_hunt_parent parent = {.point = *point};
    return rig_hunt_parents_add(&choice->old_finds, parent);
}

/* ---- the next point ---- */

static bool is_gate(const struct rig_hunt_space *space, uint32_t dimension)
{
    return (dimension == 0 && space->level_count > 0) ||
           strcmp(space->dimensions[dimension].key, rig_hunt_type_key) == 0;
}

bool rig_hunt_is_not_to_be_had(const struct rig_hunt_value_count *value)
{
    return value->runs == 0 && (value->failed >= FAILURES_MOST || value->refused >= FAILURES_MOST);
}

static bool is_taboo(const struct rig_hunt_choice *choice, const struct rig_hunt_point *point)
{
    for (uint32_t i = 0; i < choice->taboo_count; i++) {
        if (rig_hunt_point_contains(choice->space, point, &choice->taboo[i]))
            return true;
    }
    return false;
}

/* The worth of a run: what of it is untried. */
static double worth(const struct rig_hunt_choice *choice, const struct rig_hunt_point *point)
{
    uint32_t numbers[RIG_HUNT_DIMENSIONS_MOST];
    const uint32_t count = numbers_of(choice, point, numbers);
    double values = 0, pairs = 0;
    uint32_t at = 0;
    for (uint32_t d = 0; d < choice->space->dimension_count; d++) {
        if (point->values[d] < 0)
            continue;
        const struct rig_hunt_value_count *value = &choice->values[numbers[at++]];
        const double tried = 1 + value->runs + value->refused + value->failed;
        values += (is_gate(choice->space, d) ? gate_weight : 1) / (tried * tried);
        if (rig_hunt_is_not_to_be_had(value))
            values -= 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t other = i + 1; other < count; other++)
            pairs += *pair(choice, numbers[i], numbers[other]) == 0;
    }
    double sum = values / sqrt(1.0 + count) + pair_weight * pairs / (1.0 + count);
    return sum > 0 && is_taboo(choice, point) ? sum * taboo_weight : sum;
}

static void draw_untried(struct rig_hunt_choice *choice, struct rig_hunt_point *point)
{
    double best = -INFINITY;
    for (unsigned i = 0; i < CANDIDATES; i++) {
        struct rig_hunt_point candidate;
        rig_hunt_point_draw(choice->space, &choice->rng, 0, &candidate);
        if (choice->servers_left > 0)
            rig_hunt_point_take_servers(choice->space, &choice->servers, &candidate);
        const double value = worth(choice, &candidate);
        if (value > best) {
            best = value;
            *point = candidate;
        }
    }
    if (choice->servers_left == 0) {
        choice->servers = *point;
        choice->servers_left = RUNS_OF_SERVERS;
    }
    choice->servers_left--;
}

/* The newest point that showed something new and was not used up. */
static struct rig_hunt_parent *find_parent(struct rig_hunt_choice *choice)
{
    struct rig_hunt_parent *best = NULL;
    for (size_t i = choice->parents.count; i-- > 0;) {
        struct rig_hunt_parent *parent = &choice->parents.at[i];
        if (parent->used < USES_MOST && (best == NULL || parent->used < best->used))
            best = parent;
    }
    return best;
}

static void draw_neighbour(struct rig_hunt_choice *choice, struct rig_hunt_parent *parent, struct rig_hunt_point *point)
{
    double best = -INFINITY;
    parent->used++;
    for (unsigned i = 0; i < CHILDREN; i++) {
        struct rig_hunt_point child = parent->point;
        rig_hunt_point_change(choice->space, &choice->rng, &child);
        const double value = worth(choice, &child);
        if (value > best) {
            best = value;
            *point = child;
        }
    }
}

static void point_of_base(const struct rig_hunt_choice *choice, uint32_t base, struct rig_hunt_point *point)
{
    rig_hunt_point_clear(choice->space, base, point);
    if (choice->space->level_count > 0 && point->values[0] < 0)
        point->values[0] = (int8_t)(choice->space->level_count - 1); /* the strongest comes last */
}

/* The recipe of a known bug that ran least, unless it is refused or has shown its bug. None before each has run. */
static bool take_again(const struct rig_hunt_choice *choice, struct rig_hunt_point *point)
{
    bool has = false;
    uint32_t least = UINT32_MAX;
    for (uint32_t base = 1; base < choice->space->base_count; base++) {
        struct rig_hunt_point of_base;
        point_of_base(choice, base, &of_base);
        if (choice->space->bases[base].load_ns > 0 && choice->base_runs[base] == 0)
            return false;
        if (choice->space->bases[base].load_ns == 0 || choice->base_why[base][0] != '\0' ||
            choice->base_runs[base] >= least || is_taboo(choice, &of_base))
            continue;
        least = choice->base_runs[base];
        *point = of_base;
        has = true;
    }
    return has;
}

static bool take_recipe(const struct rig_hunt_choice *choice, struct rig_hunt_point *point)
{
    if (choice->base_runs[0] > 0 && choice->again_s <= again_share * choice->runs_s && take_again(choice, point))
        return true;
    for (uint32_t base = 0; base < choice->space->base_count; base++) {
        if (choice->base_runs[base] > 0)
            continue;
        if (base > 0 && choice->recipes_s > recipe_share * choice->runs_s)
            return false;
        point_of_base(choice, base, point);
        return true;
    }
    return false;
}

void rig_hunt_choice_next(struct rig_hunt_choice *choice, struct rig_hunt_point *point, enum rig_hunt_reason *reason)
{
    struct rig_hunt_parent *parent = find_parent(choice);
    if (choice->old_finds.count > 0) {
        *point = choice->old_finds.at[--choice->old_finds.count].point;
        *reason = RIG_HUNT_OLD_FIND;
    } else if (take_recipe(choice, point)) {
        *reason = RIG_HUNT_RECIPE;
    } else if (parent != NULL && rig_rng_below(&choice->rng, NEIGHBOUR_EVERY) == 0) {
        draw_neighbour(choice, parent, point);
        *reason = RIG_HUNT_NEIGHBOUR;
    } else {
        draw_untried(choice, point);
        *reason = RIG_HUNT_COVERAGE;
    }
}

/* ---- afterwards ---- */

struct rig_hunt_coverage rig_hunt_choice_coverage(const struct rig_hunt_choice *choice)
{
    struct rig_hunt_coverage coverage = {0};
    const struct rig_hunt_space *space = choice->space;
    for (uint32_t v = 0; v < space->value_count; v++) {
        coverage.values += !rig_hunt_is_not_to_be_had(&choice->values[v]);
        coverage.values_run += choice->values[v].runs > 0;
    }
    for (uint32_t d = 0; d < space->dimension_count; d++) {
        const uint32_t first = space->dimensions[d].first, end = first + (uint32_t)space->dimensions[d].values.count;
        for (uint32_t a = first; a < end; a++) {
            for (uint32_t b = end; choice->values[a].runs > 0 && b < space->value_count; b++) {
                coverage.pairs += choice->values[b].runs > 0;
                coverage.pairs_run += *pair(choice, a, b) > 0;
            }
        }
    }
    return coverage;
}

bool rig_hunt_choice_has_no_effect(const struct rig_hunt_choice *choice, uint32_t dimension, uint32_t *with)
{
    double sides[2][SAMPLE_MOST];
    *with = 0;
    for (unsigned measure = 0; measure < RIG_HUNT_MEASURES; measure++) {
        uint32_t counts[2] = {0};
        for (size_t i = 0; i < choice->runs.count; i++) {
            const struct rig_hunt_past_run *run = &choice->runs.at[i];
            const bool sets = run->point.values[dimension] >= 0;
            if (run->point.base == 0 && counts[sets] < SAMPLE_MOST)
                sides[sets][counts[sets]++] = run->measures[measure];
        }
        *with = counts[1];
        if (counts[0] < SAMPLE_LEAST || counts[1] < SAMPLE_LEAST ||
            rig_two_samples(sides[0], counts[0], sides[1], counts[1]) < 0.05)
            return false;
    }
    return true;
}
