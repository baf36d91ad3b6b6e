/* Which version each read shows, by the versions of the order; and what reads of sets show. */
#include "checker/prove/replay_private.h"

#include "base/bug.h"

struct seeing {
    struct rig_replay *r;
    uint32_t txn, op; /* op: in the history */
};

static enum rig_rc refuse(const struct seeing *s, const char *what)
{
    RIG_REQUIRE(s->op >= s->r->history->txns[s->txn].first_op && s->op < s->r->history->txns[s->txn + 1].first_op);
    char key[64];
    rig_history_key_name(s->r->history, s->r->history->ops[s->op].key, key, sizeof key);
    return rig_fail(s->r->err, RIG_E_INPUT, "T%u, operation %u: the read of key %s %s",
                    rig_txn_name(s->r->history, s->txn), s->op - s->r->history->txns[s->txn].first_op, key, what);
}

/* ---- lists ---- */

/* The elements from `count` on are the reader's own: none that it appends later, and each where it stands in the order,
 * because a version shows what it was made from; for internal consistency, all that it appended before. */
static enum rig_rc see_own(const struct seeing *s, uint32_t count)
{
    RIG_REQUIRE(s->r->facts->shape == RIG_RESULT_LIST);
    const struct rig_txn_op *ops = s->r->history->ops;
    const struct rig_read_list list = rig_txn_op_list(s->r->history, &ops[s->op]);
    uint32_t next = count;
    for (uint32_t i = count; i < list.count; i++) {
        const struct rig_fact_write *write = rig_facts_writer(s->r->facts, ops[s->op].key, rig_read_element(&list, i));
        if (write == NULL || write->op > s->op)
            return refuse(s, "shows an element that the transaction appends later");
        if (s->r->version[write->op] != i + 1)
            return refuse(s, "shows a list that the order does not give");
    }
    for (uint32_t op = s->r->history->txns[s->txn].first_op; s->r->internal && op < s->op; op++) {
        if (rig_op_reads(ops[op].kind) || ops[op].key != ops[s->op].key)
            continue;
        if (next >= list.count || rig_read_element(&list, next++) != ops[op].value)
            return refuse(s, "does not end with the transaction's own appends");
    }
    return s->r->internal && next != list.count ? refuse(s, "shows an own append twice") : RIG_OK;
}

static enum rig_rc see_list(const struct seeing *s, uint32_t *seen)
{
    const struct rig_replay *r = s->r;
    const struct rig_txn_op *op = &r->history->ops[s->op];
    const struct rig_read_list list = rig_facts_external(r->facts, s->txn, s->op);
    const uint32_t known = rig_replay_version_count(r, op->key);
    const bool of_spine = op->read_state != RIG_READ_SEEN || !rig_txn_op_is_branch(op);
    RIG_INVARIANT(r->agreed[op->key] <= known);
    for (uint32_t i = of_spine && list.count <= r->agreed[op->key] ? list.count : 0; i < list.count; i++) {
        if (i >= known ||
            r->history->ops[rig_replay_version(r, op->key, i + 1)->op].value != rig_read_element(&list, i))
            return refuse(s, "shows a list that the order does not give");
    }
    if (list.count > 0 && list.count < known &&
        rig_replay_version(r, op->key, list.count)->txn == rig_replay_version(r, op->key, list.count + 1)->txn)
        return refuse(s, "shows some appends of a transaction and not the later ones");
    RIG_INVARIANT(list.count <= known);
    *seen = list.count;
    return see_own(s, list.count);
}

static void agree_spines(struct rig_replay *r)
{
    for (uint32_t key = 0; key < r->history->key_count; key++) {
        const struct rig_list *spine = &r->history->spines[key];
        uint32_t same = 0;
        while (same < spine->count && same < rig_replay_version_count(r, key) &&
               r->history->ops[rig_replay_version(r, key, same + 1)->op].value == spine->at[same])
            same++;
        r->agreed[key] = same;
    }
}

/* ---- registers ---- */

/* nil, or a value that no transaction wrote: a key has one initial state. */
static enum rig_rc see_initial(const struct seeing *s, uint32_t *seen)
{
    const struct rig_txn_op *op = &s->r->history->ops[s->op];
    uint32_t *first = &s->r->initial[op->key];
    const struct rig_txn_op *other = *first == 0 ? op : &s->r->history->ops[*first - 1];
    if (rig_facts_initial(s->r->facts) != NULL && !rig_facts_begins(s->r->facts, op))
        return refuse(s, "shows another initial state than the proof assumes");
    if (other->read_state != op->read_state || (op->read_state == RIG_READ_SEEN && other->value != op->value))
        return refuse(s, "shows another initial state than an earlier read");
    RIG_INVARIANT(other->key == op->key);
    *first = s->op + 1;
    *seen = 0;
    return RIG_OK;
}

static enum rig_rc see_register(const struct seeing *s, uint32_t *seen)
{
    const struct rig_replay *r = s->r;
    const struct rig_txn_op *ops = r->history->ops, *op = &ops[s->op];
    const struct rig_fact_write *write =
        op->read_state == RIG_READ_SEEN ? rig_facts_writer(r->facts, op->key, op->value) : NULL;
    uint32_t own = RIG_FACT_NONE;
    for (uint32_t i = r->history->txns[s->txn].first_op; i < s->op; i++)
        own = !rig_op_reads(ops[i].kind) && ops[i].key == op->key ? i : own;
    if (r->internal && own != RIG_FACT_NONE && (write == NULL || write->op != own))
        return refuse(s, "does not show the transaction's own last write");
    if (write == NULL)
        return see_initial(s, seen);
    if (write->txn == s->txn)
        return write->op < s->op ? RIG_OK : refuse(s, "shows a value that the transaction writes later");
    if (r->version[write->op] == 0)
        return refuse(s, "shows a value that is no final one of a transaction in the order");
    RIG_INVARIANT(write->txn < r->history->txn_count);
    *seen = r->version[write->op];
    return RIG_OK;
}

/* ---- all reads ---- */

/* For internal consistency: what the transaction read of the key before. Orders with events see to it themselves. */
static bool repeats(const struct seeing *s, uint32_t seen)
{
    RIG_REQUIRE(seen != RIG_FACT_NONE);
    const struct rig_txn_op *ops = s->r->history->ops;
    for (uint32_t i = s->op; i-- > s->r->history->txns[s->txn].first_op;) {
        if (rig_op_reads(ops[i].kind) && ops[i].key == ops[s->op].key && s->r->seen[i] != RIG_FACT_NONE)
            return s->r->seen[i] == seen;
    }
    return true;
}

static enum rig_rc see(const struct seeing *s)
{
    const struct rig_txn_op *op = &s->r->history->ops[s->op];
    uint32_t seen = RIG_FACT_NONE;
    enum rig_rc rc = RIG_OK;
    if (op->read_state == RIG_READ_UNKNOWN)
        return s->r->history->txns[s->txn].outcome != RIG_OUTCOME_OK ? RIG_OK : refuse(s, "has no known result");
    if (s->r->facts->shape == RIG_RESULT_LIST)
        rc = see_list(s, &seen);
    else if (s->r->facts->shape == RIG_RESULT_VALUE)
        rc = see_register(s, &seen);
    if (rc == RIG_OK && s->r->internal && s->r->kind == RIG_ORDER_COMMITS && seen != RIG_FACT_NONE && !repeats(s, seen))
        rc = refuse(s, "shows another version than an earlier one of the transaction");
    s->r->seen[s->op] = seen;
    return rc;
}

enum rig_rc rig_replay_see(struct rig_replay *r)
{
    enum rig_rc rc = RIG_OK;
    if (r->facts->shape == RIG_RESULT_LIST)
        agree_spines(r);
    for (uint32_t txn = 0; rc == RIG_OK && txn < r->history->txn_count; txn++) {
        for (uint32_t op = r->history->txns[txn].first_op;
             rc == RIG_OK && r->at[txn] > 0 && op < r->history->txns[txn + 1].first_op; op++) {
            r->seen[op] = RIG_FACT_NONE;
            if (rig_op_reads(r->history->ops[op].kind))
                rc = see(&(struct seeing){r, txn, op});
        }
    }
    return rc;
}

/* ---- sets ---- */

/* Elements are committed if their version's number is at most `current`: versions are numbered as they commit. The list
 * holds no element twice: so it shows the whole set if it shows as many as there are. */
enum rig_rc rig_replay_see_set(struct rig_replay *r, uint32_t txn, uint32_t op, uint32_t current)
{
    RIG_REQUIRE(r->facts->shape == RIG_RESULT_SET && rig_op_reads(r->history->ops[op].kind));
    const struct seeing s = {r, txn, op};
    const struct rig_txn_op *ops = r->history->ops;
    if (ops[op].read_state == RIG_READ_UNKNOWN)
        return RIG_OK;
    const struct rig_read_list list = rig_txn_op_list(r->history, &ops[op]);
    uint32_t shown = 0, own = 0, owned = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        const struct rig_fact_write *write = rig_facts_writer(r->facts, ops[op].key, rig_read_element(&list, i));
        if (write == NULL || r->version[write->op] == 0)
            return refuse(&s, "shows an element that no transaction in the order added");
        if (r->seen[write->op] == op + 1)
            return refuse(&s, "shows an element twice");
        r->seen[write->op] = op + 1; /* a mark: the operation writes, so that it has no version that it saw */
        if (write->txn == txn && write->op > op)
            return refuse(&s, "shows an element that the transaction adds later");
        if (write->txn != txn && r->version[write->op] > current)
            return refuse(&s, "shows an element that is committed later");
        own += write->txn == txn;
        shown += write->txn != txn;
    }
    for (uint32_t i = r->history->txns[txn].first_op; i < op; i++)
        owned += !rig_op_reads(ops[i].kind) && ops[i].key == ops[op].key;
    RIG_INVARIANT(shown + own == list.count && shown <= current);
    const bool may_miss = r->kind == RIG_ORDER_ITEMS && rig_facts_found_no_row(r->facts, op);
    if (shown != current && !may_miss)
        return refuse(&s, "misses an element that is committed");
    return own != owned && r->internal ? refuse(&s, "misses an element that the transaction added") : RIG_OK;
}
