#include "checker/infer/row_sweep.h"

#include <string.h>

#include "base/bug.h"
#include "checker/infer/row_inference.h"

#define NONE UINT32_MAX

enum { BLOCK_ROWS = 16 };

struct list {
    uint32_t least, most; /* classes; a block has none */
    uint32_t next;        /* list of classes of the same table */
    uint32_t up, down;    /* the last relays; NONE */
    uint32_t last_change; /* into changes; NONE */
    uint32_t latest_writer, latest_reader;
    bool up_used, down_used; /* since they were made: a read follows `up`, a change follows `down` */
    bool is_read;
    bool adds; /* it is of totals: each version that meets the condition changes them */
};

/* A version that changes what reads of the list show. */
struct change {
    uint32_t writer;
    uint32_t before; /* the list's change before */
};

/* A read of a list. */
struct reading {
    uint32_t txn, list;
    uint32_t next;  /* of the same number of commits seen; then, while it waits, of the same transaction */
    uint32_t since; /* the list's last change that it saw */
};

struct rig_row_sweep {
    const struct rig_row_chains *rows;
    const struct rig_read_places *places;
    struct rig_links *links;
    struct rig_arena *arena;
    bool items_only;
    uint32_t place_count;
    uint32_t *at_place;    /* per place: the transaction; NONE. Parts of one transaction share its place, so */
    uint32_t *at_same;     /*   per transaction: the next one at its place; NONE */
    uint8_t *known;        /* per statement that inserts: all versions of the row are known */
    uint8_t *open;         /* per key: some row's versions are not all known */
    uint32_t *block_first; /* per key: the list of its first block; those of totals come after all others */
    uint32_t *class_first; /* per key: its first list of classes; NONE */
    struct list *lists;
    uint32_t list_count, list_room;
    struct reading *readings;
    uint32_t reading_count, reading_room;
    uint32_t *at_seen; /* per number of commits seen: the reading added last; NONE */
    uint32_t *waiting; /* per transaction: its last reading that waits for its place; NONE */
    struct change *changes;
    uint32_t change_count, change_room;
};

/* ---- memory ---- */

/* Room for one more item; the array may move. */
static bool grow(struct rig_row_sweep *s, void **items, size_t size, uint32_t count, uint32_t *room)
{
    if (count < *room)
        return true;
    const uint32_t wanted = *room > UINT32_MAX / 2 ? UINT32_MAX - 1 : *room * 2 + 1024;
    void *fresh = count >= wanted ? NULL : rig_arena_room(s->arena, wanted, size);
    if (fresh == NULL)
        return false;
    if (count > 0) {
        memcpy(fresh, *items, count * size);
        rig_arena_abandon(*items, count * size);
    }
    *items = fresh;
    *room = wanted;
    return true;
}

static bool add_list(struct rig_row_sweep *s, struct list list, uint32_t *at)
{
    void *lists = s->lists;
    if (!grow(s, &lists, sizeof list, s->list_count, &s->list_room))
        return false;
    s->lists = lists;
    list.up = list.down = list.last_change = NONE;
    *at = s->list_count;
    s->lists[s->list_count++] = list;
    return true;
}

/* ---- preparation ---- */

/* The rows of a table whose versions all have places in the order of visibility. */
static void find_known(struct rig_row_sweep *s, uint32_t key)
{
    const struct rig_row_chains *rows = s->rows;
    for (uint32_t i = rows->insert_first[key]; i < rows->insert_first[key + 1]; i++) {
        const struct rig_row_write *of = &rows->statements[rows->inserts[i]];
        bool known = of->is_whole;
        for (uint32_t at = of->first_version; known && at != NONE; at = rows->versions[at].next)
            known = s->places->of_txn[rig_rows_writer(rows, at)] != RIG_PLACE_NONE;
        s->known[rows->inserts[i]] = known;
        s->open[key] |= !known && rows->history->txns[of->txn].outcome != RIG_OUTCOME_FAIL;
    }
}

static uint32_t block_count(const struct rig_row_chains *rows, uint32_t key)
{
    return (rows->insert_first[key + 1] - rows->insert_first[key]) / BLOCK_ROWS;
}

static bool make_blocks(struct rig_row_sweep *s)
{
    for (uint32_t key = 0; key < s->rows->history->key_count; key++) {
        const uint32_t count = block_count(s->rows, key);
        uint32_t at;
        s->block_first[key] = s->list_count;
        s->class_first[key] = NONE;
        for (uint32_t i = 0; i < 2 * count; i++) {
            if (!add_list(s, (struct list){.adds = i >= count}, &at))
                return false;
        }
    }
    return true;
}

static uint32_t count_places(const struct rig_history *history)
{
    uint32_t count = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const uint32_t place = history->places->of_txn[txn];
        count = place != RIG_PLACE_NONE && place >= count ? place + 1 : count;
    }
    return count;
}

static uint32_t *none_of(struct rig_arena *arena, size_t count)
{
    uint32_t *all = rig_arena_room(arena, count, sizeof *all);
    for (size_t i = 0; all != NULL && i < count; i++)
        all[i] = NONE;
    return all;
}

struct rig_row_sweep *rig_row_sweep_new(const struct rig_row_chains *rows, struct rig_links *links, bool items_only,
                                        struct rig_arena *arena)
{
    const struct rig_history *history = rows->history;
    const size_t keys = (size_t)history->key_count + 1;
    struct rig_row_sweep *s = rig_arena_alloc(arena, sizeof *s);
    RIG_REQUIRE(history->places != NULL);
    if (s == NULL)
        return NULL;
    *s = (struct rig_row_sweep){
        .rows = rows, .places = history->places, .links = links, .arena = arena, .items_only = items_only};
    s->place_count = count_places(history);
    s->at_place = none_of(arena, (size_t)s->place_count + 1);
    s->at_seen = none_of(arena, (size_t)s->place_count + 1);
    s->at_same = none_of(arena, (size_t)history->txn_count + 1);
    s->waiting = none_of(arena, (size_t)history->txn_count + 1);
    s->known = rig_arena_array(arena, (size_t)rows->statement_count + 1, 1);
    s->open = rig_arena_array(arena, keys, 1);
    s->block_first = rig_arena_array(arena, keys, sizeof *s->block_first);
    s->class_first = rig_arena_array(arena, keys, sizeof *s->class_first);
    if (s->at_place == NULL || s->at_same == NULL || s->at_seen == NULL || s->waiting == NULL || s->known == NULL ||
        s->open == NULL || s->block_first == NULL || s->class_first == NULL || !make_blocks(s))
        return NULL;
    for (uint32_t txn = history->txn_count; txn-- > 0;) {
        const uint32_t place = s->places->of_txn[txn];
        if (place == RIG_PLACE_NONE)
            continue;
        s->at_same[txn] = s->at_place[place];
        s->at_place[place] = txn;
    }
    for (uint32_t key = 0; key < history->key_count; key++)
        find_known(s, key);
    return s;
}

bool rig_row_sweep_takes(const struct rig_row_sweep *sweep, uint32_t key, const struct rig_row_where *condition)
{
    return !sweep->open[key] && (condition->column == RIG_ROW_BY_ID || condition->column == RIG_ROW_BY_CLASS) &&
           !(sweep->items_only && rig_row_adds(condition));
}

/* ---- reads ---- */

static bool add_reading(struct rig_row_sweep *s, uint32_t txn, uint32_t list, uint32_t seen)
{
    void *readings = s->readings;
    if (!grow(s, &readings, sizeof *s->readings, s->reading_count, &s->reading_room))
        return false;
    s->readings = readings;
    seen = seen < s->place_count ? seen : s->place_count;
    s->readings[s->reading_count] = (struct reading){.txn = txn, .list = list, .next = s->at_seen[seen]};
    s->at_seen[seen] = s->reading_count++;
    s->lists[list].is_read = true;
    return true;
}

/* The table's list of that range of classes; NONE when memory runs out. */
static uint32_t find_classes(struct rig_row_sweep *s, uint32_t key, const struct rig_row_where *condition)
{
    const uint32_t least = condition->least < RIG_ROW_CLASSES ? (uint32_t)condition->least : RIG_ROW_CLASSES;
    const uint32_t most = condition->most < RIG_ROW_CLASSES ? (uint32_t)condition->most : RIG_ROW_CLASSES;
    const struct list wanted = {
        .least = least, .most = most, .next = s->class_first[key], .adds = rig_row_adds(condition)};
    uint32_t at = s->class_first[key];
    while (at != NONE && (s->lists[at].least != least || s->lists[at].most != most || s->lists[at].adds != wanted.adds))
        at = s->lists[at].next;
    if (at != NONE)
        return at;
    if (!add_list(s, wanted, &at))
        return NONE;
    s->class_first[key] = at;
    return at;
}

bool rig_row_sweep_add(struct rig_row_sweep *sweep, uint32_t txn, uint32_t key, const struct rig_row_where *condition,
                       uint32_t seen, uint32_t *first, uint32_t *last)
{
    const struct rig_row_chains *rows = sweep->rows;
    uint32_t end, begin = rig_rows_asked(rows, key, condition, &end);
    const uint32_t base = rows->insert_first[key];
    if (condition->column == RIG_ROW_BY_CLASS) {
        const uint32_t list = find_classes(sweep, key, condition);
        *first = begin;
        *last = end;
        return list != NONE && add_reading(sweep, txn, list, seen);
    }
    const uint32_t block = (begin - base + BLOCK_ROWS - 1) / BLOCK_ROWS, behind = (end - base) / BLOCK_ROWS;
    const uint32_t blocks = sweep->block_first[key] + (rig_row_adds(condition) ? block_count(rows, key) : 0);
    *first = *last = begin;
    for (uint32_t i = block; i < behind; i++) {
        if (!add_reading(sweep, txn, blocks + i, seen))
            return false;
    }
    if (block < behind) {
        *first = base + block * BLOCK_ROWS;
        *last = base + behind * BLOCK_ROWS;
    }
    return true;
}

/* ---- relays ---- */

/* A relay after `before`, where there is one; NONE when memory runs out. */
static uint32_t make_relay(struct rig_row_sweep *s, uint32_t before)
{
    uint32_t relay;
    if (!rig_links_add_nodes(s->links, 1, &relay) ||
        (before != NONE && !rig_links_add(s->links, before, relay, RIG_LINK_THROUGH)))
        return NONE;
    return relay;
}

/* Edges out of relays leave this to their makers. */
static void mark_late(struct rig_row_sweep *s, uint32_t to, uint32_t latest)
{
    if (latest > to)
        s->links->late_before[to] = 1;
}

/* A read follows all changes of the list so far. */
static bool follow(struct rig_row_sweep *s, struct list *list, uint32_t txn)
{
    if (list->up == NONE)
        return true;
    list->up_used = true;
    mark_late(s, txn, list->latest_writer);
    return rig_links_add(s->links, list->up, txn, RIG_LINK_THROUGH);
}

/* A read precedes all changes of the list from now on. */
static bool precede(struct rig_row_sweep *s, struct list *list, uint32_t txn)
{
    if (list->down == NONE || list->down_used) {
        list->down = make_relay(s, list->down);
        list->down_used = false;
        if (list->down == NONE)
            return false;
    }
    list->latest_reader = txn > list->latest_reader ? txn : list->latest_reader;
    return rig_links_add(s->links, txn, list->down, RIG_LINK_RW);
}

static bool take_reading(struct rig_row_sweep *s, uint32_t at, uint32_t seen)
{
    struct reading *reading = &s->readings[at];
    struct list *list = &s->lists[reading->list];
    if (!follow(s, list, reading->txn))
        return false;
    if (s->items_only)
        return true;
    const uint32_t own = s->places->of_txn[reading->txn];
    if (own == RIG_PLACE_NONE || own < seen)
        return precede(s, list, reading->txn);
    reading->since = list->last_change; /* changes of its own may follow */
    reading->next = s->waiting[reading->txn];
    s->waiting[reading->txn] = at;
    return true;
}

/* The reader's own changes are past: it precedes each other one since its read, and all from now on. */
static bool settle(struct rig_row_sweep *s, uint32_t at)
{
    const struct reading *reading = &s->readings[at];
    struct list *list = &s->lists[reading->list];
    for (uint32_t i = list->last_change; i != reading->since; i = s->changes[i].before) {
        const uint32_t writer = s->changes[i].writer;
        if (writer != reading->txn && !rig_links_add(s->links, reading->txn, writer, RIG_LINK_RW))
            return false;
    }
    return precede(s, list, reading->txn);
}

static bool take_change(struct rig_row_sweep *s, struct list *list, uint32_t writer)
{
    void *changes = s->changes;
    if (!list->is_read)
        return true;
    if (!grow(s, &changes, sizeof *s->changes, s->change_count, &s->change_room))
        return false;
    s->changes = changes;
    if (list->up == NONE || list->up_used) {
        list->up = make_relay(s, list->up);
        list->up_used = false;
        if (list->up == NONE)
            return false;
    }
    const bool again = list->last_change != NONE && s->changes[list->last_change].writer == writer;
    if (again) /* of another row */
        return true;
    s->changes[s->change_count] = (struct change){.writer = writer, .before = list->last_change};
    list->last_change = s->change_count++;
    list->latest_writer = writer > list->latest_writer ? writer : list->latest_writer;
    if (!rig_links_add(s->links, writer, list->up, RIG_LINK_WR))
        return false;
    if (list->down == NONE)
        return true;
    list->down_used = true;
    mark_late(s, writer, list->latest_reader);
    return rig_links_add(s->links, list->down, writer, RIG_LINK_THROUGH);
}

/* ---- changes ---- */

static bool in_classes(const struct list *list, int64_t number)
{
    const uint32_t class = (uint32_t)rig_row_class(number);
    return class >= list->least && class <= list->most;
}

/* The block of the row; NONE: it is one of the last rows of its table. */
static uint32_t find_block(const struct rig_row_sweep *s, uint32_t key, uint32_t insert)
{
    const struct rig_row_chains *rows = s->rows;
    uint32_t low = rows->insert_first[key], high = rows->insert_first[key + 1];
    while (low < high) { /* the row's rank among the rows of its table */
        const uint32_t middle = low + (high - low) / 2;
        if (rows->inserts[middle] < insert)
            low = middle + 1;
        else
            high = middle;
    }
    const uint32_t block = (low - rows->insert_first[key]) / BLOCK_ROWS;
    return block < block_count(rows, key) ? block : NONE;
}

/* The last version that the transaction made of a row: takes it into the lists that it changes. */
static bool take_version(struct rig_row_sweep *s, uint32_t key, uint32_t insert, uint32_t version, uint32_t txn)
{
    const struct rig_row_chains *rows = s->rows;
    uint32_t before = rows->versions[version].before;
    while (before != NONE && rig_row_place(rows, before) == rig_row_place(rows, version))
        before = rows->versions[before].before;
    const int64_t now = rig_rows_number(rows, version), old = before == NONE ? 0 : rig_rows_number(rows, before);
    const bool is = rig_row_action(now) != RIG_ROWS_DELETE, was = old != 0 && rig_row_action(old) != RIG_ROWS_DELETE;
    for (uint32_t at = s->class_first[key]; at != NONE; at = s->lists[at].next) {
        struct list *list = &s->lists[at];
        const bool meets = is && in_classes(list, now), met = was && in_classes(list, old);
        if ((meets != met || (list->adds && meets)) && !take_change(s, list, txn))
            return false;
    }
    const uint32_t block = is || was ? find_block(s, key, insert) : NONE;
    if (block == NONE)
        return true;
    struct list *listed = &s->lists[s->block_first[key] + block], *totals = listed + block_count(rows, key);
    return (is == was || take_change(s, listed, txn)) && take_change(s, totals, txn);
}

static bool take_commit(struct rig_row_sweep *s, uint32_t txn)
{
    const struct rig_row_chains *rows = s->rows;
    const struct rig_txn_op *ops = rig_txn_ops(rows->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(rows->history, txn); i++) {
        if (!rig_row_writes(&ops[i]))
            continue;
        const struct rig_row_write *of = &rows->statements[rig_rows_statement(rows, ops[i].key, ops[i].value)];
        for (uint32_t at = of->first_version; at < of->first_version + of->version_count; at++) {
            const uint32_t insert = rig_rows_statement(rows, ops[i].key, rows->versions[at].id);
            if (insert == NONE || !s->known[insert] || rig_row_is_replaced_at_once(rows, at))
                continue;
            if (!take_version(s, ops[i].key, insert, at, txn))
                return false;
        }
    }
    for (uint32_t at = s->waiting[txn]; at != NONE; at = s->readings[at].next) {
        if (!settle(s, at))
            return false;
    }
    return true;
}

bool rig_row_sweep_link(struct rig_row_sweep *sweep)
{
    for (uint32_t place = 0; place <= sweep->place_count; place++) {
        for (uint32_t at = sweep->at_seen[place], next; at != NONE; at = next) {
            next = sweep->readings[at].next;
            if (!take_reading(sweep, at, place))
                return false;
        }
        uint32_t txn = place < sweep->place_count ? sweep->at_place[place] : NONE;
        for (; txn != NONE; txn = sweep->at_same[txn]) {
            if (!take_commit(sweep, txn))
                return false;
        }
    }
    return true;
}
