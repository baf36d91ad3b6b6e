#include "checker/prove/row_chain.h"

#include "base/bug.h"

uint32_t rig_row_contents_at_version(const struct rig_history *history, uint32_t key, int64_t id, int64_t version);

/* ---- operations ---- */

bool rig_row_op_writes(const struct rig_txn_op *op)
{
    return op->kind == RIG_OP_ROW && op->value > 0;
}

struct rig_row_where rig_row_asked_at(const struct rig_txn_op *ops, uint32_t op)
{
    RIG_REQUIRE(ops[op].kind == RIG_OP_READ_WHERE);
    struct rig_row_where condition = rig_row_all();
    if (op > 0 && ops[op - 1].kind == RIG_OP_ROW && ops[op - 1].key == ops[op].key)
        (void)rig_row_condition_of(ops[op - 1].value, &condition);
    return condition;
}

/* For rig_row_add_partners(). */
static uint32_t contents_shown(const void *context, uint32_t key, int64_t id, int64_t version)
{
    return rig_row_contents_at_version(context, key, id, version);
}

struct rig_row_where rig_row_asked_by(const struct rig_history *history, uint32_t txn, uint32_t op)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    struct rig_row_where condition;
    uint32_t own;
    if (!rig_row_condition_alone(history, ops, rig_txn_op_count(history, txn), op, &condition, &own))
        rig_row_add_partners(history, ops, op, own, contents_shown, history, &condition);
    return condition;
}

const struct rig_txn_op *rig_row_known_read(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t key,
                                            bool or_count)
{
    if (txn >= history->txn_count || op >= rig_txn_op_count(history, txn))
        return NULL;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const bool fits = ops[op].kind == RIG_OP_READ_WHERE && ops[op].read_state != RIG_READ_UNKNOWN &&
                      ops[op].key == key && (or_count || rig_row_asked_at(ops, op).form == RIG_ROW_LISTED);
    return fits ? &ops[op] : NULL;
}

uint32_t rig_row_count_shown(const struct rig_history *history, const struct rig_txn_op *read, const int64_t *id,
                             const int64_t *version)
{
    RIG_REQUIRE(read->kind == RIG_OP_READ_WHERE);
    const struct rig_read_list list = rig_txn_op_list(history, read);
    uint32_t count = 0;
    for (uint32_t at = 0; at + 1 < list.count; at += 2)
        count += (id == NULL || rig_read_element(&list, at) == *id) &&
                 (version == NULL || rig_read_element(&list, at + 1) == *version);
    return count;
}

uint32_t rig_row_statement_in(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t number)
{
    if (txn >= history->txn_count)
        return UINT32_MAX;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (rig_row_op_writes(&ops[i]) && ops[i].key == key && ops[i].value == number)
            return i;
    }
    return UINT32_MAX;
}

const struct rig_txn_op *rig_row_replacing_read(const struct rig_history *history, uint32_t txn, uint32_t op,
                                                uint32_t key, int64_t number)
{
    const struct rig_txn_op *read = rig_row_known_read(history, txn, op, key, false);
    const bool fits =
        read != NULL && rig_row_statement_in(history, txn, key, number) == op + 1 && !rig_row_inserts(number);
    return fits ? read : NULL;
}

bool rig_row_written(const struct rig_history *history, uint32_t txn, uint32_t op, uint32_t i, int64_t *id)
{
    const struct rig_txn_op *statement = rig_txn_ops(history, txn) + op;
    RIG_REQUIRE(rig_row_op_writes(statement));
    *id = statement->value;
    if (rig_row_inserts(statement->value) || op == 0)
        return rig_row_inserts(statement->value) && i == 0;
    const struct rig_txn_op *read = rig_row_replacing_read(history, txn, op - 1, statement->key, statement->value);
    if (read == NULL)
        return false;
    const struct rig_read_list list = rig_txn_op_list(history, read);
    if (i >= list.count / 2)
        return false;
    *id = rig_read_element(&list, 2 * i);
    return true;
}

bool rig_row_follow_reads(struct rig_commits *commits, uint32_t txn)
{
    RIG_REQUIRE(commits->committed[txn]);
    const struct rig_history *history = commits->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    for (uint32_t i = 0; commits->claims.count > 0 && i < rig_txn_op_count(history, txn); i++) {
        if (rig_row_known_read(history, txn, i, ops[i].key, false) == NULL)
            continue;
        const struct rig_read_list list = rig_txn_op_list(history, &ops[i]);
        for (uint32_t at = 1; at < list.count; at += 2) {
            if (!rig_commits_show(commits, ops[i].key, rig_read_element(&list, at)))
                return false;
        }
    }
    return true;
}

/* ---- versions ---- */

/* Adds what the statement at `op` did to the row. Gives the reason why the row's versions are not all known, or
 * NULL. */
static const char *add_touch(const struct rig_history *history, const bool *committed, uint32_t txn, uint32_t op,
                             int64_t id, struct rig_row_touches *all)
{
    RIG_REQUIRE(rig_row_op_writes(rig_txn_ops(history, txn) + op));
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    const bool inserts = rig_row_inserts(ops[op].value);
    if (inserts)
        return ops[op].value != id || !committed[txn] || rig_row_touches_add(all, (struct rig_row_touch){id, 0, txn})
                   ? NULL
                   : "";
    const struct rig_txn_op *read = op == 0 ? NULL : rig_row_known_read(history, txn, op - 1, ops[op].key, false);
    const struct rig_row_where asked = op == 0 ? rig_row_all() : rig_row_asked_at(ops, op - 1);
    if (read == NULL && rig_row_asks_ids(&asked) &&
        (rig_row_serial(id) < asked.least || rig_row_serial(id) > asked.most))
        return NULL;
    if (read == NULL)
        return "missed a row that a statement with unknown effects may have changed";
    const uint32_t count = rig_row_count_shown(history, read, &id, NULL);
    if (count == 0)
        return NULL;
    if (!committed[txn])
        return "missed a row that a transaction of unknown fate may have changed";
    if (count > 1)
        return "missed a row that one statement changed twice";
    const struct rig_read_list list = rig_txn_op_list(history, read);
    uint32_t at = 0;
    while (rig_read_element(&list, at) != id)
        at += 2;
    return rig_row_touches_add(all, (struct rig_row_touch){ops[op].value, rig_read_element(&list, at + 1), txn}) ? NULL
                                                                                                                 : "";
}

const char *rig_row_touches_collect(const struct rig_history *history, const bool *committed, uint32_t key, int64_t id,
                                    struct rig_row_touches *all)
{
    RIG_REQUIRE(all->count == 0);
    const char *lacks = NULL;
    for (uint32_t txn = 0; lacks == NULL && txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        const bool never = history->txns[txn].outcome == RIG_OUTCOME_FAIL;
        for (uint32_t i = 0; lacks == NULL && !never && i < rig_txn_op_count(history, txn); i++) {
            if (rig_row_op_writes(&ops[i]) && ops[i].key == key)
                lacks = add_touch(history, committed, txn, i, id, all);
        }
    }
    return lacks;
}

/* The version that replaced this one; 0: none, or `lacks` says what is wrong. */
static int64_t version_after(const struct rig_row_touches *all, int64_t version, const char **lacks)
{
    RIG_REQUIRE(*lacks == NULL);
    int64_t next = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (all->at[i].replaced == version && next != 0)
            *lacks = "missed a row one version of which was replaced twice";
        next = all->at[i].replaced == version ? all->at[i].version : next;
    }
    if (next == 0)
        *lacks = "missed a row whose versions have no known order";
    return *lacks == NULL ? next : 0;
}

static uint32_t writer_among(const struct rig_row_touches *all, int64_t version)
{
    uint32_t txn = UINT32_MAX;
    for (size_t i = 0; i < all->count; i++)
        txn = all->at[i].version == version ? all->at[i].txn : txn;
    return txn;
}

/* The transaction that has the statement, and its place there. False: none has it. */
static bool find_statement(const struct rig_history *history, uint32_t key, int64_t number, uint32_t *txn, uint32_t *op)
{
    for (*txn = 0; *txn < history->txn_count; (*txn)++) {
        *op = rig_row_statement_in(history, *txn, key, number);
        if (*op != UINT32_MAX)
            return true;
    }
    return false;
}

/* The contents that the statement leaves, by those before it. */
static uint32_t contents_left(const struct rig_history *history, uint32_t key, int64_t number, uint32_t before)
{
    uint32_t txn, op;
    if (!rig_row_has_source(number))
        return rig_row_contents(number, before);
    return find_statement(history, key, number, &txn, &op)
               ? rig_row_contents_left(history, rig_txn_ops(history, txn), op, before)
               : RIG_ROW_CONTENTS_UNKNOWN;
}

struct rig_row_walk rig_row_walk_along(const struct rig_history *history, uint32_t key,
                                       const struct rig_row_touches *all)
{
    return (struct rig_row_walk){
        .history = history, .key = key, .all = all, .contents = RIG_ROW_CONTENTS_UNKNOWN, .txn = UINT32_MAX};
}

bool rig_row_walk_on(struct rig_row_walk *w, const char **lacks)
{
    if (w->taken == w->all->count)
        return false;
    const int64_t version = version_after(w->all, w->version, lacks);
    const int64_t next = *lacks == NULL && w->taken + 1 < w->all->count ? version_after(w->all, version, lacks) : 0;
    if (*lacks != NULL)
        return false;
    w->taken++;
    w->version = version;
    w->txn = writer_among(w->all, version);
    w->contents = contents_left(w->history, w->key, version, w->contents);
    w->is_final = next == 0 || writer_among(w->all, next) != w->txn;
    return true;
}

bool rig_row_is_later(const struct rig_history *history, const bool *committed, uint32_t key, int64_t id,
                      int64_t earlier, int64_t later)
{
    struct rig_row_touches all = {0};
    const char *lacks = rig_row_touches_collect(history, committed, key, id, &all);
    struct rig_row_walk walk = rig_row_walk_along(history, key, &all);
    bool met = false, found = false;
    while (lacks == NULL && rig_row_walk_on(&walk, &lacks)) {
        found |= met && walk.version == later;
        met |= walk.version == earlier;
    }
    rig_row_touches_done(&all);
    return lacks == NULL && found;
}

bool rig_row_is_overwritten(const struct rig_history *history, const bool *committed, const struct rig_txn_op *read,
                            int64_t earlier, const struct rig_txn_op *replaces, int64_t later)
{
    const struct rig_read_list list = rig_txn_op_list(history, read);
    bool found = false;
    for (uint32_t at = 0; !found && at + 1 < list.count; at += 2) {
        const int64_t id = rig_read_element(&list, at);
        found = rig_read_element(&list, at + 1) == earlier && rig_row_count_shown(history, replaces, &id, NULL) > 0 &&
                rig_row_is_later(history, committed, read->key, id, earlier, later);
    }
    return found;
}

bool rig_row_is_rewritten(const struct rig_history *history, const bool *committed, uint32_t txn, uint32_t op,
                          const struct rig_txn_op *replaces, int64_t later)
{
    const int64_t earlier = rig_txn_ops(history, txn)[op].value;
    int64_t id;
    bool found = false;
    for (uint32_t i = 0; !found && rig_row_written(history, txn, op, i, &id); i++)
        found = rig_row_count_shown(history, replaces, &id, NULL) > 0 &&
                rig_row_is_later(history, committed, replaces->key, id, earlier, later);
    return found;
}

/* ---- contents ---- */

/* The version of the row that the statement replaced; 0: not known. */
static int64_t version_before(const struct rig_history *history, uint32_t key, int64_t id, int64_t number)
{
    uint32_t txn, op;
    if (!find_statement(history, key, number, &txn, &op) || op == 0)
        return 0;
    const struct rig_txn_op *read = rig_row_replacing_read(history, txn, op - 1, key, number);
    if (read == NULL)
        return 0;
    const struct rig_read_list list = rig_txn_op_list(history, read);
    for (uint32_t at = 0; at + 1 < list.count; at += 2) {
        if (rig_read_element(&list, at) == id)
            return rig_read_element(&list, at + 1);
    }
    return 0;
}

/* Its statements from the insert on, each applied to what the one before left. */
uint32_t rig_row_contents_at_version(const struct rig_history *history, uint32_t key, int64_t id, int64_t version)
{
    struct rig_row_touches all = {0};
    uint32_t contents = RIG_ROW_CONTENTS_UNKNOWN;
    bool known = true;
    while (known && version != id) {
        const int64_t before = version_before(history, key, id, version);
        known = before != 0 && all.count <= history->op_count &&
                rig_row_touches_add(&all, (struct rig_row_touch){.version = version, .replaced = before});
        version = before;
    }
    known = known && rig_row_inserts(id);
    contents = known ? contents_left(history, key, id, contents) : contents;
    while (known && all.count > 0)
        contents = contents_left(history, key, all.at[--all.count].version, contents);
    rig_row_touches_done(&all);
    return contents;
}

enum rig_row_met rig_row_meets_at(const struct rig_history *history, const struct rig_row_where *condition,
                                  uint32_t key, int64_t id, int64_t version)
{
    const bool asks_contents = condition->column == RIG_ROW_BY_TESTS;
    const uint32_t contents =
        asks_contents ? rig_row_contents_at_version(history, key, id, version) : RIG_ROW_CONTENTS_UNKNOWN;
    const bool is_gone = rig_row_action(version) == RIG_ROWS_DELETE;
    if (asks_contents && contents == RIG_ROW_CONTENTS_UNKNOWN && !is_gone)
        return RIG_ROW_MET_UNKNOWN;
    return rig_row_meets(condition, id, version, contents) ? RIG_ROW_IS_MET : RIG_ROW_IS_UNMET;
}

/* ---- reads that do not show a row ---- */

const char *rig_row_check_absent(const struct rig_row_miss *miss)
{
    const struct rig_history *history = miss->history;
    const struct rig_txn_op *read = rig_row_known_read(history, miss->txn, miss->op, miss->key, true);
    if (read == NULL)
        return "has a step without its read";
    const struct rig_txn_op *ops = rig_txn_ops(history, miss->txn);
    const struct rig_row_where condition = rig_row_asked_by(history, miss->txn, miss->op);
    const struct rig_read_list list = rig_txn_op_list(history, read);
    if (condition.is_partial)
        return "made a read that may miss rows that meet its condition";
    if (condition.form != RIG_ROW_LISTED &&
        (list.count != 2 || !rig_row_total_is_none(rig_read_element(&list, 0), rig_read_element(&list, 1))))
        return "counted or added up rows, and does not tell which";
    if (condition.form == RIG_ROW_LISTED && rig_row_count_shown(history, read, &miss->id, NULL) > 0)
        return "read the row";
    for (uint32_t i = 0; i < miss->op; i++) {
        const bool own = rig_row_op_writes(&ops[i]) && ops[i].key == miss->key;
        if (own && (ops[i].value == miss->id || (i > 0 && !rig_row_inserts(ops[i].value) &&
                                                 rig_row_count_shown(history, &ops[i - 1], &miss->id, NULL) > 0)))
            return "had written the row itself";
    }
    return NULL;
}

/* A walk along the row's versions up to the first one that the reader made, with the condition of the read. */
struct missing {
    const struct rig_row_miss *miss;
    struct rig_row_where condition;
    struct rig_row_touches all;
    struct rig_row_walk walk;
    const char *lacks;
};

/* Release the touches. */
static void begin(struct missing *m, const struct rig_row_miss *miss)
{
    *m = (struct missing){.miss = miss, .lacks = rig_row_check_absent(miss)};
    if (m->lacks != NULL)
        return;
    m->condition = rig_row_asked_by(miss->history, miss->txn, miss->op);
    m->lacks = rig_row_touches_collect(miss->history, miss->committed, miss->key, miss->id, &m->all);
    m->walk = rig_row_walk_along(miss->history, miss->key, &m->all);
}

static bool next(struct missing *m)
{
    return m->lacks == NULL && rig_row_walk_on(&m->walk, &m->lacks) && m->walk.txn != m->miss->txn;
}

static bool meets(const struct missing *m)
{
    return rig_row_meets(&m->condition, m->miss->id, m->walk.version, m->walk.contents);
}

const char *rig_row_check_before(const struct rig_row_miss *miss, int64_t from)
{
    struct missing m;
    bool met = false, unmet = false;
    begin(&m, miss);
    while (!unmet && next(&m)) {
        met |= m.walk.version == from;
        unmet = met && m.walk.is_final && !meets(&m);
    }
    if (m.lacks == NULL && unmet)
        m.lacks = "missed a row that does not meet the condition later";
    if (m.lacks == NULL && !met)
        m.lacks = "missed a row that the next one did not write";
    rig_row_touches_done(&m.all);
    return m.lacks;
}

const char *rig_row_check_gone(const struct rig_row_miss *miss, int64_t to)
{
    struct missing m;
    bool met = true, found = false;
    begin(&m, miss);
    if (m.lacks == NULL && rig_row_action(miss->id) != RIG_ROWS_INITIAL)
        m.lacks = "missed a row that was not there from the start";
    while (met && !found && next(&m)) {
        found = m.walk.version == to && m.walk.taken > 1 && m.walk.is_final && !meets(&m);
        met = found || meets(&m) || !m.walk.is_final;
    }
    if (m.lacks == NULL && to != 0 && !found)
        m.lacks = "missed a row that had not met the condition, or still did";
    if (m.lacks == NULL && to == 0 && (!met || m.walk.taken < (m.walk.txn == miss->txn ? 2 : 1)))
        m.lacks = "missed a row that does not meet the condition in each version";
    rig_row_touches_done(&m.all);
    return m.lacks;
}

const char *rig_row_check_stretch(const struct rig_row_miss *miss, rig_row_is_seen *is_seen, const void *context,
                                  uint32_t txn, int64_t to)
{
    struct missing m;
    bool met = false, ended = false;
    begin(&m, miss);
    while (!ended && next(&m)) {
        ended = m.walk.is_final && met && !meets(&m);
        met |= m.walk.is_final && meets(&m) && is_seen(context, m.walk.txn);
    }
    if (m.lacks == NULL && !(ended && m.walk.version == to && m.walk.txn == txn))
        m.lacks = ended ? "missed a row that ceased to meet it before"
                        : "missed a row that no version of the next one took away";
    rig_row_touches_done(&m.all);
    return m.lacks;
}
