#include "history/text/classic_guess.h"

#include "history/types/types.h"

enum {
    ADDS = 1,
    SUMS = 2,
    READS = 4,
    WRITES = 8,
    TRANSFERS = 16,
    GENERATES = 32,
    STRONG = 64,
    APPENDS = 128,
    OTHER = 256
};

/* Shapes of values, a bit each. A pair is a tuple of a key and a value, or a list of two. */
enum { NOTHING = 1, NUMBER = 2, SCALAR = 4, PAIR = 8, KEYED_LIST = 16, LIST = 32, MAP = 64, KEYED_NOTHING = 128 };

enum {
    SET = 1 << RIG_WORKLOAD_SET,
    COUNTER = 1 << RIG_WORKLOAD_COUNTER,
    BANK = 1 << RIG_WORKLOAD_BANK,
    MONOTONIC = 1 << RIG_WORKLOAD_MONOTONIC,
    UNIQUE_IDS = 1 << RIG_WORKLOAD_UNIQUE_IDS,
    DIRTY_READS = 1 << RIG_WORKLOAD_DIRTY_READS,
    SEQUENTIAL = 1 << RIG_WORKLOAD_SEQUENTIAL,
    LISTS = 1 << RIG_WORKLOAD_LIST_APPEND,
    REGISTERS = 1 << RIG_WORKLOAD_CAS_REGISTER,
    STRINGS = 1 << RIG_WORKLOAD_APPEND_REGISTER,
};

struct evidence {
    unsigned names;
    unsigned shown;             /* shapes of what acknowledged reads show */
    unsigned written;           /* shapes of what additions and writes are asked for */
    struct rig_text_slice last; /* value that was added */
    bool repeats;               /* two additions in a row are of one value: elements of sets are unique */
    bool answers;               /* an increment shows a number that was not asked for */
    bool subkeys;               /* every read that shows something shows subkeys */
    bool has_subkey;            /* some read shows a subkey */
    bool rows_differ;           /* reads show different numbers of rows */
    bool overwritten;           /* two reads show rows with one value in all of them, each another one */
    size_t row_count;           /* of the first read */
    struct rig_text_slice constant;
};

static unsigned name_of(const struct rig_classic_item *item)
{
    static const char *const sums[] = {"inc", "increment", "dec", "decrement", NULL};
    static const char *const generates[] = {"generate", NULL}, *const appends[] = {"append", NULL};
    static const char *const strong[] = {"strong-read", "refresh", NULL};
    return rig_classic_is_one_of(&item->function, sums)                    ? SUMS
           : rig_classic_is_one_of(&item->function, rig_classic_adds)      ? ADDS
           : rig_classic_reads(item)                                       ? READS
           : rig_classic_is_one_of(&item->function, rig_classic_writes)    ? WRITES
           : rig_classic_is_one_of(&item->function, rig_classic_transfers) ? TRANSFERS
           : rig_classic_is_one_of(&item->function, generates)             ? GENERATES
           : rig_classic_is_one_of(&item->function, appends)               ? APPENDS
           : rig_classic_is_one_of(&item->function, strong)                ? STRONG
                                                                           : OTHER;
}

static unsigned shape_of(const struct rig_classic *r, const struct rig_text_slice *value)
{
    struct rig_text_slice pair[2];
    if (rig_classic_is_null(value))
        return NOTHING;
    if (rig_classic_is_number(value))
        return NUMBER;
    if (rig_classic_is_map(r, value))
        return MAP;
    if (!rig_classic_is_sequence(r, value))
        return SCALAR;
    if (!rig_classic_is_pair(r, value, pair) || rig_classic_is_sequence(r, &pair[0]) || rig_classic_is_map(r, &pair[0]))
        return LIST;
    if (rig_classic_is_null(&pair[1]))
        return KEYED_NOTHING;
    return rig_classic_is_sequence(r, &pair[1]) || rig_classic_is_map(r, &pair[1]) ? KEYED_LIST : PAIR;
}

/* ---- rows of dirty-reads ---- */

static void note_rows(const struct rig_classic *r, const struct rig_text_slice *value, struct evidence *e)
{
    struct rig_text_slice first = {0}, row;
    struct rig_text_cursor cursor = rig_classic_cursor(r, value->at);
    const char closer = rig_classic_enter(r, &cursor, false);
    size_t count = 0;
    bool same = true;
    for (; rig_classic_next(r, &cursor, closer, count == 0, &row); count++) {
        first = count == 0 ? row : first;
        same &= rig_classic_is_same(&row, &first);
    }
    e->rows_differ |= e->row_count > 0 && e->row_count != count;
    e->row_count = e->row_count == 0 ? count : e->row_count;
    if (!same || count < 2)
        return;
    e->overwritten |= e->constant.length > 0 && !rig_classic_is_same(&e->constant, &first);
    e->constant = first;
}

/* ---- subkeys of sequential ---- */

static void note_subkeys(const struct rig_classic *r, const struct rig_classic_item *read, struct evidence *e)
{
    bool found = false;
    e->subkeys &= rig_classic_shows_subkeys(r, read, &found);
    e->has_subkey |= found;
}

/* ---- all operations ---- */

static void note_item(const struct rig_classic *r, const struct rig_classic_item *item, struct evidence *e)
{
    const unsigned name = name_of(item);
    const unsigned shape = shape_of(r, &item->value);
    const bool ok = item->type == RIG_OPERATION_OK;
    e->names |= name;
    if (name == READS && ok) {
        e->shown |= shape;
        if ((shape & (PAIR | LIST)) != 0)
            note_rows(r, &item->value, e);
        if (shape != NOTHING)
            note_subkeys(r, item, e);
    }
    const struct rig_classic_item *asked = rig_classic_asked(r, item);
    if ((name & (ADDS | SUMS | WRITES | APPENDS)) != 0 && asked == item)
        e->written |= shape;
    if (name == ADDS && asked == item) {
        e->repeats |= e->last.length > 0 && rig_classic_is_same(&e->last, &item->value);
        e->last = item->value;
    }
    e->answers |= name == SUMS && ok && shape == NUMBER && !rig_classic_is_same(&item->value, &asked->value);
}

static bool is_only(unsigned set, unsigned allowed)
{
    return (set & ~allowed) == 0;
}

/* The types that writes and reads of nothing but numbers, or of nothing but lists, fit. */
static uint32_t of_writes(const struct evidence *e, bool values, bool lists)
{
    const bool keyed = is_only(e->shown, NOTHING | KEYED_LIST) && e->subkeys && e->written != PAIR;
    if (keyed && e->has_subkey)
        return SEQUENTIAL;
    if (values)
        return 0; /* registers */
    if (!lists)
        return e->written == PAIR ? REGISTERS | LISTS | SET : REGISTERS | DIRTY_READS | SEQUENTIAL;
    const bool rows = e->written != PAIR && (e->shown & KEYED_LIST) == 0;
    if (rows && e->overwritten && !e->rows_differ)
        return DIRTY_READS;
    return LISTS | SET | (rows ? DIRTY_READS : 0) | (keyed ? SEQUENTIAL : 0);
}

static uint32_t of_additions(const struct evidence *e, bool values, bool lists)
{
    if (values || lists)
        return values && lists ? 0 : values ? COUNTER : SET;
    if ((e->written & NOTHING) != 0 || e->repeats)
        return COUNTER;
    return (e->written & (SCALAR | LIST | MAP)) != 0 ? SET : COUNTER | SET;
}

/* Nothing is written, so what reads show has to tell. */
static uint32_t of_reads(const struct evidence *e)
{
    const unsigned shown = e->shown & ~(unsigned)NOTHING;
    if (shown == MAP)
        return BANK | MONOTONIC;
    if (shown == 0 || (shown & (NUMBER | SCALAR)) != 0)
        return REGISTERS | COUNTER | STRINGS;
    if (e->subkeys && e->has_subkey)
        return SEQUENTIAL;
    return LISTS | SET | DIRTY_READS | ((shown & PAIR) != 0 ? REGISTERS | COUNTER : 0);
}

uint32_t rig_classic_candidates(const struct rig_classic *r, bool numbered)
{
    struct evidence e = {.subkeys = true};
    for (size_t i = 0; i < r->items.count; i++) {
        if (r->items.at[i].is_client)
            note_item(r, &r->items.at[i], &e);
    }
    const bool tuples = e.written == PAIR;
    const bool values = (e.shown & (NUMBER | SCALAR | (tuples ? PAIR : 0u))) != 0;
    const bool lists = (e.shown & (LIST | KEYED_LIST | (tuples ? 0u : PAIR))) != 0;
    if (numbered)
        return MONOTONIC;
    if (e.names == GENERATES)
        return UNIQUE_IDS;
    if ((e.names & TRANSFERS) != 0 && is_only(e.names, TRANSFERS | READS))
        return BANK;
    if ((e.names & STRONG) != 0 && is_only(e.names, STRONG | READS | WRITES))
        return DIRTY_READS;
    if ((e.names & OTHER) != 0 || ((e.shown & MAP) != 0 && e.names != READS))
        return 0;
    if ((e.names & SUMS) != 0 && is_only(e.names, SUMS | ADDS | READS))
        return lists ? 0 : COUNTER | (e.answers ? MONOTONIC : 0);
    if ((e.names & ADDS) != 0 && is_only(e.names, ADDS | READS))
        return of_additions(&e, values, lists);
    if ((e.names & APPENDS) != 0 && is_only(e.names, APPENDS | READS))
        return values ? 0 : lists ? LISTS : LISTS | STRINGS;
    if ((e.names & APPENDS) != 0 && is_only(e.names, APPENDS | WRITES | READS))
        return values ? 0 : LISTS | STRINGS;
    if ((e.names & WRITES) != 0 && is_only(e.names, WRITES | READS))
        return of_writes(&e, values, lists);
    return e.names == READS ? of_reads(&e) : 0;
}
