#include "checker/objects/object_delivery.h"

#include "base/bug.h"
#include "base/table.h"

const enum rig_anomaly rig_delivery_anomalies[RIG_DELIVERY_COUNT] = {
    RIG_ANOMALY_PHANTOM_ELEMENT, RIG_ANOMALY_DUPLICATED_ELEMENT, RIG_ANOMALY_LOST_ELEMENT};

#define NONE UINT32_MAX
enum { MOST_TXNS = 3 };

struct tally {
    int64_t value;
    uint32_t additions, takes; /* that may have happened; that did */
    uint32_t kept;             /* additions acknowledged before the take that found nothing began */
    uint32_t addition;         /* the first one of these, else the first of all */
    uint32_t first_take, last_take;
};

RIG_VEC(struct tally, tally_vec)

struct counting {
    const struct rig_object_key *key;
    struct rig_table of_value;
    struct tally_vec tallies;
    uint32_t nothing; /* the last take that found nothing, or NONE */
    uint32_t unknown; /* takes of unknown result or outcome that began before its end */
};

static const struct rig_txn_op *op_of(const struct rig_object_key *key, uint32_t i)
{
    RIG_REQUIRE(i < key->count);
    return &key->model->classes.at[key->ops[i].class].ops[0];
}

/* Whether it certainly took what its result says. */
static bool is_certain(const struct rig_object_key *key, uint32_t i)
{
    return op_of(key, i)->read_state != RIG_READ_UNKNOWN && key->ops[i].end != RIG_POSITION_NONE;
}

static struct tally *tally_of(struct counting *c, int64_t value)
{
    uint32_t *place = rig_table_put(&c->of_value, (uint64_t)value);
    if (place == NULL)
        return NULL;
    if (*place == RIG_TABLE_NONE) {
        const struct tally fresh = {.value = value, .addition = NONE, .first_take = NONE, .last_take = NONE};
        if (!tally_vec_add(&c->tallies, fresh))
            return NULL;
        *place = (uint32_t)(c->tallies.count - 1);
    }
    RIG_INVARIANT(*place < c->tallies.count);
    return &c->tallies.at[*place];
}

static void find_nothing(struct counting *c)
{
    c->nothing = NONE;
    for (uint32_t i = 0; i < c->key->count; i++) {
        const struct rig_txn_op *op = op_of(c->key, i);
        if (rig_op_reads(op->kind) && op->read_state == RIG_READ_NIL && is_certain(c->key, i))
            c->nothing = i; /* operations are in the order of their invocations */
    }
    for (uint32_t i = 0; c->nothing != NONE && i < c->key->count; i++) {
        c->unknown += rig_op_reads(op_of(c->key, i)->kind) && !is_certain(c->key, i) &&
                      c->key->ops[i].invoke < c->key->ops[c->nothing].end;
    }
}

static void note_addition(const struct counting *c, uint32_t i, struct tally *tally)
{
    const struct rig_object_op *op = &c->key->ops[i];
    const bool is_kept = c->nothing != NONE && op->end != RIG_POSITION_NONE && op->end < c->key->ops[c->nothing].invoke;
    tally->addition = tally->addition == NONE || (is_kept && tally->kept == 0) ? i : tally->addition;
    tally->additions++;
    tally->kept += is_kept;
}

static bool count_all(struct counting *c)
{
    for (uint32_t i = 0; i < c->key->count; i++) {
        const struct rig_txn_op *op = op_of(c->key, i);
        const bool takes = rig_op_reads(op->kind);
        if (takes && (op->read_state != RIG_READ_SEEN || !is_certain(c->key, i)))
            continue;
        struct tally *tally = tally_of(c, op->value);
        if (tally == NULL)
            return false;
        if (!takes) {
            note_addition(c, i, tally);
            continue;
        }
        tally->first_take = tally->takes == 0 ? i : tally->first_take;
        tally->last_take = i;
        tally->takes++;
    }
    return true;
}

static void add_txn(const struct counting *c, uint32_t op, struct rig_witness *witness)
{
    if (op == NONE)
        return;
    RIG_REQUIRE(op < c->key->count);
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        if (witness->txns[i] == c->key->ops[op].txn)
            return;
    }
    RIG_INVARIANT(witness->txn_count < MOST_TXNS);
    witness->txns[witness->txn_count++] = c->key->ops[op].txn;
}

/* A witness of the value, whose operations are these; `missing` values are lost in all. */
static bool keep(const struct counting *c, uint32_t number, enum rig_delivery what, const struct tally *tally,
                 int64_t missing, struct rig_arena *arena, struct rig_delivery_found *found)
{
    if (found->witness_count[what] == found->most_witnesses)
        return true;
    RIG_INVARIANT(found->kept_count < RIG_DELIVERY_COUNT * found->most_witnesses);
    struct rig_witness *witness = &found->witnesses[found->kept_count++];
    found->witness_count[what]++;
    *witness = (struct rig_witness){.anomaly = rig_delivery_anomalies[what],
                                    .key = number,
                                    .op = UINT32_MAX,
                                    .other_op = UINT32_MAX,
                                    .value = tally->value,
                                    .other_value = missing,
                                    .txns = rig_arena_array(arena, MOST_TXNS, sizeof *witness->txns)};
    if (witness->txns == NULL)
        return false;
    add_txn(c, what == RIG_DELIVERY_LOST ? c->nothing : tally->last_take, witness);
    add_txn(c, what == RIG_DELIVERY_LOST ? NONE : tally->first_take, witness);
    add_txn(c, what == RIG_DELIVERY_PHANTOM ? NONE : tally->addition, witness);
    return true;
}

static uint32_t missing_of(const struct tally *tally)
{
    return tally->kept > tally->takes ? tally->kept - tally->takes : 0;
}

static bool take_tallies(const struct counting *c, uint32_t number, struct rig_arena *arena,
                         struct rig_delivery_found *found)
{
    uint64_t missing = 0, shown = 0;
    bool fits = true;
    for (size_t i = 0; i < c->tallies.count; i++)
        missing += missing_of(&c->tallies.at[i]);
    const uint64_t lost = missing > c->unknown ? missing - c->unknown : 0;
    found->count[RIG_DELIVERY_LOST] += lost;
    found->open |= lost < missing;
    for (size_t i = 0; fits && i < c->tallies.count; i++) {
        const struct tally *tally = &c->tallies.at[i];
        RIG_INVARIANT(tally->kept <= tally->additions);
        const uint32_t more = tally->takes > tally->additions ? tally->takes - tally->additions : 0;
        const enum rig_delivery what = tally->additions == 0 ? RIG_DELIVERY_PHANTOM : RIG_DELIVERY_DUPLICATED;
        found->count[what] += more;
        if (more > 0)
            fits = keep(c, number, what, tally, more, arena, found);
        else if (missing_of(tally) > 0 && shown++ < lost)
            fits = keep(c, number, RIG_DELIVERY_LOST, tally, (int64_t)lost, arena, found);
    }
    return fits;
}

bool rig_object_delivery(const struct rig_object_key *key, uint32_t number, struct rig_arena *arena,
                         struct rig_delivery_found *found)
{
    RIG_REQUIRE(key->until == RIG_POSITION_NONE && found->witnesses != NULL);
    struct counting counting = {.key = key};
    rig_table_init(&counting.of_value);
    find_nothing(&counting);
    const bool fits = count_all(&counting) && take_tallies(&counting, number, arena, found);
    rig_table_done(&counting.of_value);
    tally_vec_done(&counting.tallies);
    return fits;
}
