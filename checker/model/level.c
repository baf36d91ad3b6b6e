#include "checker/model/level.h"

#include <ctype.h>
#include <pthread.h>
#include <string.h>

#include "base/bug.h"
#include "base/nearest.h"

#define L(id) RIG_LEVEL_BIT(RIG_LEVEL_##id)
#define A(id) RIG_ANOMALY_BIT(RIG_ANOMALY_##id)

/* The levels directly below a plain level, and the anomalies that it adds to what those forbid, in each order. */
struct row {
    enum rig_level level;
    uint64_t implies;
    rig_anomaly_set forbids[RIG_ALONG_COUNT];
};

/* The rules give these implications (rule.c); those of the session and strong forms follow (level.h). */
static const struct row exact[] = {
    /* Constraints hold at every level. */
    {RIG_LEVEL_READ_UNCOMMITTED,
     0,
     {A(G0) | A(DUPLICATE_ELEMENTS) | A(GARBAGE_READ) | A(BROKEN_UNIQUE) | A(BROKEN_CHECK) | A(BROKEN_REFERENCE),
      A(G0_PROCESS), A(G0_REALTIME)}},
    {RIG_LEVEL_READ_COMMITTED,
     L(READ_UNCOMMITTED),
     {A(G1A) | A(G1B) | A(G1C) | A(DIRTY_UPDATE) | A(INCOMPATIBLE_ORDER) | A(FRACTURED_APPEND) | A(FUTURE_READ) |
          A(IMPOSSIBLE_VALUE) | A(PREDICATE_MISMATCH) | A(INCONSISTENT_OFFSETS),
      A(G1C_PROCESS), A(G1C_REALTIME)}},
    {RIG_LEVEL_CURSOR_STABILITY, L(READ_COMMITTED), {A(LOST_UPDATE) | A(NEGATIVE_BALANCE)}},
    /* A read that began after an append was acknowledged misses it. */
    {RIG_LEVEL_MONOTONIC_ATOMIC_VIEW, L(READ_COMMITTED), {0, 0, A(LOST_APPEND)}},
    {RIG_LEVEL_MONOTONIC_VIEW, L(MONOTONIC_ATOMIC_VIEW), {0}},
    /* A snapshot, also that of one operation, contains the initial state, and so a row of it that nothing took away. */
    {RIG_LEVEL_MONOTONIC_SNAPSHOT_READ, L(MONOTONIC_VIEW), {A(PREDICATE_READ_MISS) | A(INT_POLL_SKIP), A(POLL_SKIP)}},
    {RIG_LEVEL_CONSISTENT_VIEW,
     L(CURSOR_STABILITY) | L(MONOTONIC_VIEW),
     {A(G_SINGLE) | A(G_SINGLE_PREDICATE) | A(LOST_UPDATE_PREDICATE) | A(WRONG_TOTAL) | A(PREDICATE_READ_MISS) |
          A(INT_POLL_SKIP),
      A(G_SINGLE_PROCESS) | A(G_SINGLE_PREDICATE_PROCESS) | A(POLL_SKIP),
      A(G_SINGLE_REALTIME) | A(G_SINGLE_PREDICATE_REALTIME) | A(LOST_WRITE)}},
    {RIG_LEVEL_FORWARD_CONSISTENT_VIEW, L(CONSISTENT_VIEW), {0}},
    /* The initial state is visible to each transaction (Cerone, Bernardi & Gotsman 2015, 3). */
    {RIG_LEVEL_READ_ATOMIC,
     L(MONOTONIC_ATOMIC_VIEW),
     {A(INTERNAL) | A(INTERNAL_PREDICATE) | A(PREDICATE_READ_MISS) | A(INT_NONMONOTONIC_POLL) |
          A(INT_NONMONOTONIC_SEND),
      A(NONMONOTONIC_POLL)}},
    {RIG_LEVEL_CAUSAL_CERONE, L(READ_ATOMIC), {0}},
    {RIG_LEVEL_UPDATE_ATOMIC, L(READ_ATOMIC) | L(CURSOR_STABILITY), {A(LOST_UPDATE_PREDICATE)}},
    {RIG_LEVEL_PREFIX, L(CAUSAL_CERONE), {A(INT_POLL_SKIP), A(POLL_SKIP)}},
    {RIG_LEVEL_PARALLEL_SNAPSHOT_ISOLATION, L(CAUSAL_CERONE) | L(UPDATE_ATOMIC) | L(FORWARD_CONSISTENT_VIEW), {0}},
    {RIG_LEVEL_SNAPSHOT_ISOLATION,
     L(MONOTONIC_SNAPSHOT_READ) | L(PARALLEL_SNAPSHOT_ISOLATION) | L(PREFIX),
     {A(G_NONADJACENT) | A(G_NONADJACENT_PREDICATE), A(G_NONADJACENT_PROCESS) | A(G_NONADJACENT_PREDICATE_PROCESS),
      A(COUNTER_BOUNDS) | A(G_NONADJACENT_REALTIME) | A(G_NONADJACENT_PREDICATE_REALTIME)}},
    /* PL-2.99 is PL-3 except for predicates: without them the two have one rule, as has view serializability (each
     * value is written once). It allows the cycles with rw edges by predicates, so it implies only levels of items.
     * Some order explains each read of an item, also reads of the transaction's own writes, which no cycle shows. */
    {RIG_LEVEL_REPEATABLE_READ,
     L(CURSOR_STABILITY),
     {A(INTERNAL) | A(G_SINGLE) | A(G_NONADJACENT) | A(G2_ITEM) | A(WRONG_TOTAL) | A(INT_POLL_SKIP) |
          A(INT_NONMONOTONIC_POLL) | A(INT_NONMONOTONIC_SEND),
      A(G_SINGLE_PROCESS) | A(G_NONADJACENT_PROCESS) | A(G2_ITEM_PROCESS) | A(POLL_SKIP) | A(NONMONOTONIC_POLL),
      A(G_SINGLE_REALTIME) | A(G_NONADJACENT_REALTIME) | A(G2_ITEM_REALTIME)}},
    {RIG_LEVEL_UPDATE_SERIALIZABLE, L(FORWARD_CONSISTENT_VIEW), {0}},
    /* No order of the operations gives an element that was never added, or one more often than it was. */
    {RIG_LEVEL_VIEW_SERIALIZABLE,
     L(REPEATABLE_READ) | L(UPDATE_SERIALIZABLE) | L(SNAPSHOT_ISOLATION),
     {A(G2_PREDICATE) | A(PHANTOM_ELEMENT) | A(DUPLICATED_ELEMENT)}},
    {RIG_LEVEL_SERIALIZABLE,
     L(VIEW_SERIALIZABLE),
     {0, A(G2_PREDICATE_PROCESS) | A(NONSEQUENTIAL),
      A(G2_PREDICATE_REALTIME) | A(NO_VERSION_ORDER) | A(NONLINEARIZABLE) | A(LOST_ELEMENT)}},
};

/* Where Kingsbury & Alvaro have it otherwise. Their lattice has the session and strong forms of four levels alone: the
 * other forms forbid nothing here that these do not. */
static const struct row reference[] = {
    {RIG_LEVEL_READ_UNCOMMITTED,
     0,
     {A(G0) | A(DUPLICATE_ELEMENTS) | A(GARBAGE_READ) | A(CYCLIC_VERSIONS) | A(BROKEN_UNIQUE) | A(BROKEN_CHECK) |
          A(BROKEN_REFERENCE),
      A(G0_PROCESS), A(G0_REALTIME)}},
    {RIG_LEVEL_MONOTONIC_ATOMIC_VIEW, L(READ_COMMITTED), {0}},
    {RIG_LEVEL_MONOTONIC_VIEW, L(READ_COMMITTED), {0}},
    {RIG_LEVEL_MONOTONIC_SNAPSHOT_READ, L(READ_COMMITTED), {A(INT_POLL_SKIP)}},
    {RIG_LEVEL_CONSISTENT_VIEW,
     L(CURSOR_STABILITY) | L(MONOTONIC_VIEW),
     {A(G_SINGLE) | A(G_SINGLE_PREDICATE) | A(WRONG_TOTAL) | A(INT_POLL_SKIP)}},
    {RIG_LEVEL_READ_ATOMIC,
     L(MONOTONIC_ATOMIC_VIEW),
     {A(INTERNAL) | A(INTERNAL_PREDICATE) | A(INT_NONMONOTONIC_POLL) | A(INT_NONMONOTONIC_SEND)}},
    {RIG_LEVEL_UPDATE_ATOMIC, L(READ_ATOMIC), {A(LOST_UPDATE) | A(LOST_UPDATE_PREDICATE)}},
    {RIG_LEVEL_PREFIX, L(CAUSAL_CERONE), {A(INT_POLL_SKIP)}},
    {RIG_LEVEL_PARALLEL_SNAPSHOT_ISOLATION, L(CAUSAL_CERONE) | L(UPDATE_ATOMIC), {0}},
    /* The reference does not know lost writes. */
    {RIG_LEVEL_SNAPSHOT_ISOLATION,
     L(FORWARD_CONSISTENT_VIEW) | L(MONOTONIC_SNAPSHOT_READ) | L(MONOTONIC_ATOMIC_VIEW) |
         L(PARALLEL_SNAPSHOT_ISOLATION) | L(PREFIX),
     {A(G_NONADJACENT) | A(G_NONADJACENT_PREDICATE),
      A(G_SINGLE_PROCESS) | A(G_NONADJACENT_PROCESS) | A(G_SINGLE_PREDICATE_PROCESS) |
          A(G_NONADJACENT_PREDICATE_PROCESS) | A(POLL_SKIP) | A(NONMONOTONIC_POLL),
      A(LOST_APPEND) | A(COUNTER_BOUNDS) | A(G_SINGLE_REALTIME) | A(G_NONADJACENT_REALTIME) |
          A(G_SINGLE_PREDICATE_REALTIME) | A(G_NONADJACENT_PREDICATE_REALTIME)}},
    /* All reads are of items there. */
    {RIG_LEVEL_REPEATABLE_READ,
     L(CURSOR_STABILITY) | L(MONOTONIC_ATOMIC_VIEW),
     {A(INTERNAL) | A(G_SINGLE) | A(G_NONADJACENT) | A(G2_ITEM) | A(WRONG_TOTAL) | A(INT_POLL_SKIP) |
      A(INT_NONMONOTONIC_POLL) | A(INT_NONMONOTONIC_SEND)}},
    {RIG_LEVEL_VIEW_SERIALIZABLE, 0, {0}},
    {RIG_LEVEL_SERIALIZABLE,
     L(REPEATABLE_READ) | L(UPDATE_SERIALIZABLE) | L(SNAPSHOT_ISOLATION) | L(VIEW_SERIALIZABLE),
     {A(G2_PREDICATE) | A(PREDICATE_READ_MISS) | A(PHANTOM_ELEMENT) | A(DUPLICATED_ELEMENT),
      A(G2_ITEM_PROCESS) | A(G2_PREDICATE_PROCESS) | A(NONSEQUENTIAL),
      A(G2_ITEM_REALTIME) | A(G2_PREDICATE_REALTIME) | A(NO_VERSION_ORDER) | A(NONLINEARIZABLE) | A(LOST_ELEMENT)}},
};

static const struct {
    const char *alias;
    enum rig_level level;
} aliases[] = {
    {"PL-1", RIG_LEVEL_READ_UNCOMMITTED},
    {"PL-2", RIG_LEVEL_READ_COMMITTED},
    {"PL-CS", RIG_LEVEL_CURSOR_STABILITY},
    {"PL-2L", RIG_LEVEL_MONOTONIC_VIEW},
    {"PL-MSR", RIG_LEVEL_MONOTONIC_SNAPSHOT_READ},
    {"PL-2+", RIG_LEVEL_CONSISTENT_VIEW},
    {"strong-session-forward-consistent-view", RIG_LEVEL_STRONG_SESSION_CONSISTENT_VIEW},
    {"strong-forward-consistent-view", RIG_LEVEL_STRONG_CONSISTENT_VIEW},
    {"PL-FCV", RIG_LEVEL_FORWARD_CONSISTENT_VIEW},
    {"PL-SI", RIG_LEVEL_SNAPSHOT_ISOLATION},
    {"PL-2.99", RIG_LEVEL_REPEATABLE_READ},
    {"PL-3U", RIG_LEVEL_UPDATE_SERIALIZABLE},
    {"PL-3", RIG_LEVEL_SERIALIZABLE},
    {"conflict-serializable", RIG_LEVEL_SERIALIZABLE},
    {"PL-SS", RIG_LEVEL_STRICT_SERIALIZABLE},
    {"strong-serializable", RIG_LEVEL_STRICT_SERIALIZABLE},
    {"strong-PL-1", RIG_LEVEL_STRONG_READ_UNCOMMITTED},
    {"strong-PL-2", RIG_LEVEL_STRONG_READ_COMMITTED},
    {"strong-session-PL-1", RIG_LEVEL_STRONG_SESSION_READ_UNCOMMITTED},
    {"strong-session-PL-2", RIG_LEVEL_STRONG_SESSION_READ_COMMITTED},
    {"RU", RIG_LEVEL_READ_UNCOMMITTED},
    {"RC", RIG_LEVEL_READ_COMMITTED},
    {"MAV", RIG_LEVEL_MONOTONIC_ATOMIC_VIEW},
    {"RA", RIG_LEVEL_READ_ATOMIC},
    {"strong-session-RA", RIG_LEVEL_STRONG_SESSION_READ_ATOMIC},
    {"causal", RIG_LEVEL_STRONG_SESSION_CAUSAL_CERONE}, /* AWDIT, Plume and dbcop: sessions are ordered */
    {"CC", RIG_LEVEL_STRONG_SESSION_CAUSAL_CERONE},
    {"TCC", RIG_LEVEL_STRONG_SESSION_CAUSAL_CERONE},
    {"PSI", RIG_LEVEL_PARALLEL_SNAPSHOT_ISOLATION},
    {"SI", RIG_LEVEL_SNAPSHOT_ISOLATION},
    {"snapshot", RIG_LEVEL_SNAPSHOT_ISOLATION},
    {"strong-session-SI", RIG_LEVEL_STRONG_SESSION_SNAPSHOT_ISOLATION},
    {"strong-SI", RIG_LEVEL_STRONG_SNAPSHOT_ISOLATION},
    {"RR", RIG_LEVEL_REPEATABLE_READ},
    {"SER", RIG_LEVEL_SERIALIZABLE},
    {"SR", RIG_LEVEL_SERIALIZABLE},
    {"1SR", RIG_LEVEL_SERIALIZABLE},
    {"strong-session-1SR", RIG_LEVEL_STRONG_SESSION_SERIALIZABLE},
    {"sequential", RIG_LEVEL_STRONG_SESSION_SERIALIZABLE}, /* of objects: transactions of one operation */
    {"linearizable", RIG_LEVEL_STRICT_SERIALIZABLE},
    {"SSER", RIG_LEVEL_STRICT_SERIALIZABLE},
    {"strict-1SR", RIG_LEVEL_STRICT_SERIALIZABLE},
    {"strong-1SR", RIG_LEVEL_STRICT_SERIALIZABLE},
};

#undef A

static struct rig_level_info infos[RIG_LATTICE_COUNT][RIG_LEVEL_COUNT] = {
#define RIG_LEVEL_ROW(id, name, definition, source) {name, definition, source, 0, 0, 0, 0},
    {RIG_LEVEL_TABLE(RIG_LEVEL_ROW)},
    {RIG_LEVEL_TABLE(RIG_LEVEL_ROW)},
#undef RIG_LEVEL_ROW
};

static const enum rig_level forms[][RIG_ALONG_COUNT] = {
#define RIG_LEVEL_FORM(plain, session, strong) {RIG_LEVEL_##plain, RIG_LEVEL_##session, RIG_LEVEL_##strong},
    RIG_LEVEL_FORMS(RIG_LEVEL_FORM)
#undef RIG_LEVEL_FORM
};

enum { FORMS = sizeof forms / sizeof forms[0] };

static const uint8_t alongs[RIG_LEVEL_COUNT] = {
#define RIG_LEVEL_ALONG(plain, session, strong)                                                                        \
    [RIG_LEVEL_##session] = RIG_ALONG_PROCESS, [RIG_LEVEL_##strong] = RIG_ALONG_REALTIME,
    RIG_LEVEL_FORMS(RIG_LEVEL_ALONG)
#undef RIG_LEVEL_ALONG
};

/* The row of a level in `forms`, or FORMS. */
static unsigned form_row(enum rig_level level, enum rig_along *along)
{
    *along = (enum rig_along)alongs[level];
    unsigned row = 0;
    while (row < FORMS && forms[row][*along] != level)
        row++;
    return row;
}

enum rig_level rig_level_form(enum rig_level level, enum rig_along along)
{
    RIG_REQUIRE((unsigned)level < RIG_LEVEL_COUNT && (unsigned)along < RIG_ALONG_COUNT);
    enum rig_along own;
    unsigned row = form_row(level, &own);
    if (row == FORMS && along == RIG_ALONG_PLAIN)
        return level; /* forward consistent view, view serializable */
    if (row == FORMS)
        row = form_row(level == RIG_LEVEL_VIEW_SERIALIZABLE ? RIG_LEVEL_SERIALIZABLE : RIG_LEVEL_CONSISTENT_VIEW, &own);
    return forms[row][along];
}

enum rig_along rig_level_along(enum rig_level level)
{
    RIG_REQUIRE((unsigned)level < RIG_LEVEL_COUNT);
    return (enum rig_along)alongs[level];
}

uint64_t rig_levels_along(enum rig_along along)
{
    uint64_t levels = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
        levels |= alongs[level] == along ? RIG_LEVEL_BIT(level) : 0;
    return levels;
}

uint64_t rig_levels_of_reference(void)
{
    static const enum rig_level in_each_order[] = {RIG_LEVEL_READ_UNCOMMITTED, RIG_LEVEL_READ_COMMITTED,
                                                   RIG_LEVEL_SNAPSHOT_ISOLATION, RIG_LEVEL_SERIALIZABLE};
    uint64_t levels = rig_levels_along(RIG_ALONG_PLAIN);
    for (size_t i = 0; i < sizeof in_each_order / sizeof in_each_order[0]; i++) {
        for (unsigned along = 0; along < RIG_ALONG_COUNT; along++)
            levels |= RIG_LEVEL_BIT(rig_level_form(in_each_order[i], (enum rig_along)along));
    }
    return levels;
}

static pthread_once_t closed_once = PTHREAD_ONCE_INIT;

/* The same form of each plain level of the set; of one that has none, those of the levels below it, and what it
 * forbids itself. `rows`: by plain level. */
static uint64_t lift(const struct row *rows, uint64_t plain, enum rig_along along, rig_anomaly_set *forbids)
{
    uint64_t lifted = 0, left = plain;
    for (unsigned i = RIG_LEVEL_COUNT; i-- > 0;) {
        enum rig_along own;
        if ((left & RIG_LEVEL_BIT(i)) == 0)
            continue;
        const unsigned row = form_row((enum rig_level)i, &own);
        if (row < FORMS) {
            lifted |= RIG_LEVEL_BIT(forms[row][along]);
        } else {
            left |= rows[i].implies; /* weaker levels stand before */
            *forbids |= rows[i].forbids[along];
        }
    }
    return lifted;
}

static void set_row(const struct row *rows, unsigned level, struct rig_level_info *of)
{
    of[level].implies = rows[level].implies;
    of[level].forbids = rows[level].forbids[RIG_ALONG_PLAIN];
    enum rig_along along;
    const unsigned row = form_row((enum rig_level)level, &along);
    for (unsigned i = RIG_ALONG_PROCESS; row < FORMS && i < RIG_ALONG_COUNT; i++) {
        struct rig_level_info *info = &of[forms[row][i]];
        info->forbids = rows[level].forbids[i];
        info->implies =
            RIG_LEVEL_BIT(forms[row][i - 1]) | lift(rows, rows[level].implies, (enum rig_along)i, &info->forbids);
    }
}

/* Weaker levels stand before stronger ones, so one pass upwards closes `below` and `forbids`. */
static void close_lattice(const struct row *rows, struct rig_level_info *of)
{
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        if (rig_level_along((enum rig_level)i) == RIG_ALONG_PLAIN)
            set_row(rows, i, of);
    }
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        struct rig_level_info *info = &of[i];
        uint64_t direct = info->implies;
        info->below = RIG_LEVEL_BIT(i);
        for (unsigned j = 0; j < i; j++) {
            if (info->implies & RIG_LEVEL_BIT(j)) {
                info->below |= of[j].below;
                info->forbids |= of[j].forbids;
            }
        }
        RIG_INVARIANT((info->implies & ~info->below) == 0);
        /* A level that another one directly below implies is not directly below. */
        for (unsigned j = 0; j < i; j++)
            direct &= info->implies & RIG_LEVEL_BIT(j) ? ~of[j].below | RIG_LEVEL_BIT(j) : ~UINT64_C(0);
        info->implies = direct;
    }
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        for (unsigned j = 0; j < RIG_LEVEL_COUNT; j++) {
            if (of[j].below & RIG_LEVEL_BIT(i))
                of[i].above |= RIG_LEVEL_BIT(j);
        }
    }
}

static void close_lattices(void)
{
    struct row rows[RIG_LEVEL_COUNT] = {{.level = RIG_LEVEL_READ_UNCOMMITTED}};
    for (size_t i = 0; i < sizeof exact / sizeof exact[0]; i++)
        rows[exact[i].level] = exact[i];
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++)
        RIG_INVARIANT((rows[i].level == i) == (rig_level_along((enum rig_level)i) == RIG_ALONG_PLAIN));
    close_lattice(rows, infos[RIG_LATTICE_EXACT]);
    for (size_t i = 0; i < sizeof reference / sizeof reference[0]; i++)
        rows[reference[i].level] = reference[i];
    close_lattice(rows, infos[RIG_LATTICE_REFERENCE]);
}

const struct rig_level_info *rig_level_info_in(enum rig_lattice lattice, enum rig_level level)
{
    RIG_REQUIRE((unsigned)lattice < RIG_LATTICE_COUNT && (unsigned)level < RIG_LEVEL_COUNT);
    (void)pthread_once(&closed_once, close_lattices);
    return &infos[lattice][level];
}

const struct rig_level_info *rig_level_info(enum rig_level level)
{
    return rig_level_info_in(RIG_LATTICE_EXACT, level);
}

static const char *const lattice_names[RIG_LATTICE_COUNT] = {"exact", "reference"};

const char *rig_lattice_name(enum rig_lattice lattice)
{
    RIG_REQUIRE((unsigned)lattice < RIG_LATTICE_COUNT);
    return lattice_names[lattice];
}

bool rig_lattice_find(const char *name, enum rig_lattice *lattice)
{
    for (unsigned i = 0; i < RIG_LATTICE_COUNT; i++) {
        if (strcmp(lattice_names[i], name) == 0) {
            *lattice = (enum rig_lattice)i;
            return true;
        }
    }
    return false;
}

const uint64_t rig_levels_below_committed =
    L(READ_UNCOMMITTED) | L(STRONG_SESSION_READ_UNCOMMITTED) | L(STRONG_READ_UNCOMMITTED);

#undef L

uint64_t rig_levels_refuted_by(enum rig_lattice lattice, enum rig_anomaly anomaly, bool settled)
{
    uint64_t levels = 0;
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if (rig_level_info_in(lattice, (enum rig_level)level)->forbids & RIG_ANOMALY_BIT(anomaly))
            levels |= RIG_LEVEL_BIT(level);
    }
    return settled ? levels : levels & ~rig_levels_below_committed;
}

/* Whether both are the same when upper case is lower case, and blanks and underscores are dashes: "READ COMMITTED". */
static bool is_same(const char *name, const char *given)
{
    for (; *name != '\0' && *given != '\0'; name++, given++) {
        const char one = *given == '_' || *given == ' ' ? '-' : *given;
        if (tolower((unsigned char)*name) != tolower((unsigned char)one))
            return false;
    }
    return *name == *given;
}

bool rig_level_find(const char *name, enum rig_level *level)
{
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        if (is_same(infos[RIG_LATTICE_EXACT][i].name, name)) {
            *level = (enum rig_level)i;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (is_same(aliases[i].alias, name)) {
            *level = aliases[i].level;
            return true;
        }
    }
    return false;
}

bool rig_level_alias(uint32_t index, const char **alias, enum rig_level *level)
{
    if (index >= sizeof aliases / sizeof aliases[0])
        return false;
    *alias = aliases[index].alias;
    *level = aliases[index].level;
    return true;
}

const char *rig_level_nearest(const char *wanted)
{
    struct rig_nearest nearest;
    const char *alias;
    enum rig_level level;
    rig_nearest_init(&nearest, wanted);
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++)
        rig_nearest_offer(&nearest, rig_level_info((enum rig_level)i)->name);
    for (uint32_t i = 0; rig_level_alias(i, &alias, &level); i++)
        rig_nearest_offer(&nearest, alias);
    return nearest.best;
}

uint64_t rig_levels_weakest_in(enum rig_lattice lattice, uint64_t set)
{
    uint64_t weakest = 0;
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        uint64_t bit = RIG_LEVEL_BIT(i);
        if ((set & bit) && (rig_level_info_in(lattice, (enum rig_level)i)->below & set) == bit)
            weakest |= bit;
    }
    return weakest;
}

uint64_t rig_levels_strongest_in(enum rig_lattice lattice, uint64_t set)
{
    uint64_t strongest = 0;
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        uint64_t bit = RIG_LEVEL_BIT(i);
        if ((set & bit) && (rig_level_info_in(lattice, (enum rig_level)i)->above & set) == bit)
            strongest |= bit;
    }
    return strongest;
}

uint64_t rig_levels_weakest(uint64_t set)
{
    return rig_levels_weakest_in(RIG_LATTICE_EXACT, set);
}

uint64_t rig_levels_strongest(uint64_t set)
{
    return rig_levels_strongest_in(RIG_LATTICE_EXACT, set);
}

uint64_t rig_levels_above(enum rig_lattice lattice, uint64_t set)
{
    uint64_t above = set;
    for (unsigned i = 0; i < RIG_LEVEL_COUNT; i++) {
        if (set & RIG_LEVEL_BIT(i))
            above |= rig_level_info_in(lattice, (enum rig_level)i)->above;
    }
    return above;
}
