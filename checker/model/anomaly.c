#include "checker/model/anomaly.h"

#include <string.h>

#include "base/bug.h"
#include "base/nearest.h"

#define A(id) RIG_ANOMALY_BIT(RIG_ANOMALY_##id)

static const struct rig_anomaly_info table[RIG_ANOMALY_COUNT] = {
#define RIG_ANOMALY_ROW(id, name, cyclic, definition, source) {name, cyclic, definition, source},
    RIG_ANOMALY_TABLE(RIG_ANOMALY_ROW)
#undef RIG_ANOMALY_ROW
};

const struct rig_anomaly_info *rig_anomaly_info(enum rig_anomaly anomaly)
{
    RIG_REQUIRE((unsigned)anomaly < RIG_ANOMALY_COUNT);
    return &table[anomaly];
}

/* By name, exact; false when there is none. */
static bool find_anomaly(const char *name, enum rig_anomaly *anomaly)
{
    for (unsigned i = 0; i < RIG_ANOMALY_COUNT; i++) {
        if (strcmp(table[i].name, name) == 0) {
            *anomaly = (enum rig_anomaly)i;
            return true;
        }
    }
    return false;
}

/* ---- cycles ---- */

static const enum rig_anomaly cycles[RIG_SHAPE_COUNT][RIG_ALONG_COUNT] = {
    {RIG_ANOMALY_G0, RIG_ANOMALY_G0_PROCESS, RIG_ANOMALY_G0_REALTIME},
    {RIG_ANOMALY_G1C, RIG_ANOMALY_G1C_PROCESS, RIG_ANOMALY_G1C_REALTIME},
    {RIG_ANOMALY_G_SINGLE, RIG_ANOMALY_G_SINGLE_PROCESS, RIG_ANOMALY_G_SINGLE_REALTIME},
    {RIG_ANOMALY_G_NONADJACENT, RIG_ANOMALY_G_NONADJACENT_PROCESS, RIG_ANOMALY_G_NONADJACENT_REALTIME},
    {RIG_ANOMALY_G2_ITEM, RIG_ANOMALY_G2_ITEM_PROCESS, RIG_ANOMALY_G2_ITEM_REALTIME},
};

/* With an rw edge that rests on a predicate. */
static const enum rig_anomaly by_predicate[RIG_SHAPE_COUNT][RIG_ALONG_COUNT] = {
    {RIG_ANOMALY_G0, RIG_ANOMALY_G0_PROCESS, RIG_ANOMALY_G0_REALTIME},
    {RIG_ANOMALY_G1C, RIG_ANOMALY_G1C_PROCESS, RIG_ANOMALY_G1C_REALTIME},
    {RIG_ANOMALY_G_SINGLE_PREDICATE, RIG_ANOMALY_G_SINGLE_PREDICATE_PROCESS, RIG_ANOMALY_G_SINGLE_PREDICATE_REALTIME},
    {RIG_ANOMALY_G_NONADJACENT_PREDICATE, RIG_ANOMALY_G_NONADJACENT_PREDICATE_PROCESS,
     RIG_ANOMALY_G_NONADJACENT_PREDICATE_REALTIME},
    {RIG_ANOMALY_G2_PREDICATE, RIG_ANOMALY_G2_PREDICATE_PROCESS, RIG_ANOMALY_G2_PREDICATE_REALTIME},
};

static const struct {
    enum rig_anomaly item, by_predicate;
} noncyclic[] = {{RIG_ANOMALY_LOST_UPDATE, RIG_ANOMALY_LOST_UPDATE_PREDICATE},
                 {RIG_ANOMALY_INTERNAL, RIG_ANOMALY_INTERNAL_PREDICATE}};

enum rig_anomaly rig_anomaly_by_predicate(enum rig_anomaly anomaly)
{
    for (unsigned shape = 0; shape < RIG_SHAPE_COUNT; shape++) {
        for (unsigned order = 0; order < RIG_ALONG_COUNT; order++) {
            if (cycles[shape][order] == anomaly)
                return by_predicate[shape][order];
        }
    }
    for (size_t i = 0; i < sizeof noncyclic / sizeof noncyclic[0]; i++) {
        if (noncyclic[i].item == anomaly)
            return noncyclic[i].by_predicate;
    }
    return anomaly;
}

bool rig_anomaly_is_by_predicate(enum rig_anomaly anomaly, enum rig_anomaly *item)
{
    *item = anomaly;
    for (size_t i = 0; i < sizeof noncyclic / sizeof noncyclic[0]; i++) {
        if (noncyclic[i].by_predicate == anomaly) {
            *item = noncyclic[i].item;
            return true;
        }
    }
    for (unsigned shape = RIG_SHAPE_SINGLE; shape < RIG_SHAPE_COUNT; shape++) {
        for (unsigned order = 0; order < RIG_ALONG_COUNT; order++) {
            if (by_predicate[shape][order] == anomaly) {
                *item = cycles[shape][order];
                return true;
            }
        }
    }
    return false;
}

enum rig_anomaly rig_anomaly_of_cycle(enum rig_shape shape, enum rig_along order)
{
    RIG_REQUIRE((unsigned)shape < RIG_SHAPE_COUNT && (unsigned)order < RIG_ALONG_COUNT);
    return cycles[shape][order];
}

/* The cycles that answer a request for this shape: its special cases are the shapes from `first` to itself. */
static rig_anomaly_set cases_of_cycle(const enum rig_anomaly shapes[RIG_SHAPE_COUNT][RIG_ALONG_COUNT], unsigned shape,
                                      unsigned order)
{
    static const unsigned first[RIG_SHAPE_COUNT] = {RIG_SHAPE_G0, RIG_SHAPE_G0, RIG_SHAPE_SINGLE, RIG_SHAPE_SINGLE,
                                                    RIG_SHAPE_SINGLE};
    rig_anomaly_set cases = 0;
    for (unsigned s = first[shape]; s <= shape; s++) {
        for (unsigned o = 0; o <= order; o++)
            cases |= RIG_ANOMALY_BIT(shapes[s][o]);
    }
    if (shape == RIG_SHAPE_G1C)
        cases |= A(FUTURE_READ);
    if (shape == RIG_SHAPE_G2)
        cases |= shapes == cycles ? A(LOST_UPDATE) : A(LOST_UPDATE_PREDICATE);
    return cases;
}

rig_anomaly_set rig_anomaly_cases(enum rig_anomaly anomaly)
{
    if (anomaly == RIG_ANOMALY_G1A)
        return A(G1A) | A(DIRTY_UPDATE) | A(INCOMPATIBLE_ORDER);
    for (unsigned shape = 0; shape < RIG_SHAPE_COUNT; shape++) {
        for (unsigned order = 0; order < RIG_ALONG_COUNT; order++) {
            if (cycles[shape][order] == anomaly)
                return cases_of_cycle(cycles, shape, order);
            if (by_predicate[shape][order] == anomaly)
                return cases_of_cycle(by_predicate, shape, order);
        }
    }
    return RIG_ANOMALY_BIT(anomaly);
}

/* ---- groups ---- */

static const struct {
    enum rig_anomaly anomaly;
    const char *name;
} plain[] = {{RIG_ANOMALY_G0, "dirty-write"},          {RIG_ANOMALY_G1A, "aborted-read"},
             {RIG_ANOMALY_G1B, "intermediate-read"},   {RIG_ANOMALY_G_SINGLE, "read-skew"},
             {RIG_ANOMALY_G_NONADJACENT, "long-fork"}, {RIG_ANOMALY_G2_ITEM, "write-skew"},
             {RIG_ANOMALY_G2_PREDICATE, "phantom"}};

const char *rig_anomaly_plain(enum rig_anomaly anomaly)
{
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (plain[i].anomaly == anomaly)
            return plain[i].name;
    }
    return NULL;
}

static const struct {
    const char *name;
    rig_anomaly_set anomalies;
} groups[] = {
    {"G1", A(G1A) | A(G1B) | A(G1C)},
    {"G1-process", A(G1A) | A(G1B) | A(G1C_PROCESS)},
    {"G1-realtime", A(G1A) | A(G1B) | A(G1C_REALTIME)},
    {"G-single", A(G_SINGLE) | A(G_SINGLE_PREDICATE)},
    {"G-single-process", A(G_SINGLE_PROCESS) | A(G_SINGLE_PREDICATE_PROCESS)},
    {"G-single-realtime", A(G_SINGLE_REALTIME) | A(G_SINGLE_PREDICATE_REALTIME)},
    {"G-nonadjacent", A(G_NONADJACENT) | A(G_NONADJACENT_PREDICATE)},
    {"G-nonadjacent-process", A(G_NONADJACENT_PROCESS) | A(G_NONADJACENT_PREDICATE_PROCESS)},
    {"G-nonadjacent-realtime", A(G_NONADJACENT_REALTIME) | A(G_NONADJACENT_PREDICATE_REALTIME)},
    {"G2", A(G2_ITEM) | A(G2_PREDICATE)},
    {"G2-process", A(G2_ITEM_PROCESS) | A(G2_PREDICATE_PROCESS)},
    {"G2-realtime", A(G2_ITEM_REALTIME) | A(G2_PREDICATE_REALTIME)},
    {"duplicate", A(DUPLICATE_ELEMENTS)},
    {"nonmonotonic-send", A(G0_PROCESS)},
};

bool rig_anomaly_group(uint32_t index, const char **name, rig_anomaly_set *anomalies)
{
    const size_t group_count = sizeof groups / sizeof groups[0];
    if (index >= group_count + sizeof plain / sizeof plain[0])
        return false;
    *name = index < group_count ? groups[index].name : plain[index - group_count].name;
    *anomalies = index < group_count ? groups[index].anomalies : RIG_ANOMALY_BIT(plain[index - group_count].anomaly);
    return true;
}

bool rig_anomaly_find_all(const char *name, rig_anomaly_set *anomalies, const char **proper)
{
    enum rig_anomaly anomaly;
    if (find_anomaly(name, &anomaly)) {
        *anomalies = RIG_ANOMALY_BIT(anomaly);
        *proper = table[anomaly].name;
        return true;
    }
    for (uint32_t i = 0; rig_anomaly_group(i, proper, anomalies); i++) {
        if (strcmp(*proper, name) == 0)
            return true;
    }
    return false;
}

const char *rig_anomaly_nearest(const char *wanted)
{
    struct rig_nearest nearest;
    const char *name;
    rig_anomaly_set anomalies;
    rig_nearest_init(&nearest, wanted);
    for (unsigned i = 0; i < RIG_ANOMALY_COUNT; i++)
        rig_nearest_offer(&nearest, table[i].name);
    for (uint32_t i = 0; rig_anomaly_group(i, &name, &anomalies); i++)
        rig_nearest_offer(&nearest, name);
    return nearest.best;
}
