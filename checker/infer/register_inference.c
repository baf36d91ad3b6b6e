#include "checker/infer/register_inference.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/vec.h"
#include "checker/model/bundle.h"
#include "checker/infer/register_lost.h"

/* A committed transaction that read a version. */
struct version_reader {
    uint32_t version, txn;
};

/* Per key, while a transaction is visited: its operations on it so far. */
struct access {
    uint32_t visitor;    /* transaction */
    uint32_t known;      /* the latest operation whose version is known, or RIG_REGISTER_NONE */
    uint32_t first_read; /* the first operation that reads a version; NONE also once it has become an update */
    bool has_read;
    uint32_t own_write; /* if `known` read a version of its own transaction: the later write of it, or NONE */
};

/* The last transaction that updated a version; most versions have at most one. */
struct update {
    uint32_t txn, op;
};

RIG_VEC(uint32_t, writer_list)

struct infer {
    const struct rig_history *history;
    const struct rig_registers *registers;
    struct rig_noncyclic_findings *noncyclic;
    struct rig_links *links;
    struct access *keys;
    struct update *updates;      /* per version */
    struct version_reader *seen; /* in the order of transactions: readers of versions that precede others */
    uint32_t seen_count;
    uint32_t *readers; /* of a version: [reader_first[v], reader_first[v + 1]) */
    uint32_t *reader_first;
    uint64_t unknown_reads;
    bool prefilled;
    const uint8_t *open_keys;          /* per key: a value without a writer may get one; NULL: no key */
    const uint8_t *among;              /* only these transactions; NULL: all */
    bool items_only;                   /* reads of keys without a row give no rw edges */
    struct writer_list targets;        /* scratch */
    struct rig_bundle_sources sources; /* scratch */
};

static bool note(struct infer *in, enum rig_anomaly anomaly, uint32_t txn, uint32_t op, uint32_t other,
                 uint32_t other_op)
{
    const struct rig_txn_op *read = rig_txn_ops(in->history, txn) + op;
    if (anomaly == RIG_ANOMALY_LOST_UPDATE && !in->prefilled && rig_register_found_no_row(in->history, read))
        anomaly = RIG_ANOMALY_LOST_UPDATE_PREDICATE;
    struct rig_noncyclic found = {.anomaly = anomaly,
                                  .key = read->key,
                                  .txn = txn,
                                  .op = op,
                                  .other = other,
                                  .other_op = other_op,
                                  .unsettled = in->history->txns[txn].outcome != RIG_OUTCOME_OK,
                                  .value = read->read_state == RIG_READ_SEEN ? read->value : 0};
    return rig_noncyclic_note(in->noncyclic, &found);
}

static bool is_open(const struct infer *in, uint32_t key)
{
    return in->open_keys != NULL && in->open_keys[key] != 0;
}

static uint32_t version_of(const struct infer *in, uint32_t txn, uint32_t op)
{
    return in->registers->version_of[in->history->txns[txn].first_op + op];
}

/* Notes a lost update when the version was updated before. */
static bool take_update(struct infer *in, uint32_t txn, uint32_t op)
{
    struct update *last = &in->updates[version_of(in, txn, op)];
    bool lost = last->txn != RIG_REGISTER_NONE;
    bool noted = !lost || note(in, RIG_ANOMALY_LOST_UPDATE, last->txn, last->op, txn, op);
    *last = (struct update){txn, op};
    return noted;
}

static bool take_write(struct infer *in, struct access *key, uint32_t txn, uint32_t op)
{
    uint32_t read = key->first_read;
    key->first_read = RIG_REGISTER_NONE;
    key->known = op;
    return read == RIG_REGISTER_NONE || version_of(in, txn, read) == RIG_REGISTER_NONE || take_update(in, txn, read);
}

/* The later write of a version by its own transaction, or NONE. */
static uint32_t find_own_write(const struct infer *in, uint32_t txn, uint32_t op, uint32_t id)
{
    const uint32_t op_count = rig_txn_op_count(in->history, txn);
    for (uint32_t later = op + 1; later < op_count; later++) {
        const bool writes = rig_txn_ops(in->history, txn)[later].kind == RIG_OP_WRITE;
        if (writes && version_of(in, txn, later) == id)
            return later;
    }
    return RIG_REGISTER_NONE;
}

/* A read of the transaction's own version is a future-read where the write comes later. `before`: the last operation
 * that showed the key's version, or NONE. */
static bool take_own_version(struct infer *in, uint32_t txn, uint32_t op, uint32_t id, uint32_t before)
{
    struct access *key = &in->keys[rig_txn_ops(in->history, txn)[op].key];
    const bool again = before != RIG_REGISTER_NONE && version_of(in, txn, before) == id;
    if (again && rig_txn_ops(in->history, txn)[before].kind == RIG_OP_WRITE)
        key->own_write = RIG_REGISTER_NONE;
    else if (!again)
        key->own_write = find_own_write(in, txn, op, id);
    return key->own_write == RIG_REGISTER_NONE || note(in, RIG_ANOMALY_FUTURE_READ, txn, op, txn, key->own_write);
}

/* Whether both operations read the same state of a key. */
static bool shows_same(const struct rig_txn_op *one, const struct rig_txn_op *other)
{
    return one->read_state == other->read_state && (one->read_state != RIG_READ_SEEN || one->value == other->value);
}

/* Nil or a value that no transaction wrote, where the user says that registers begin with another one. */
static bool take_other_than_given(struct infer *in, uint32_t txn, uint32_t op)
{
    return note(in, RIG_ANOMALY_GARBAGE_READ, txn, op, UINT32_MAX, UINT32_MAX);
}

/* A value that no transaction wrote and that is not the initial state, which `initial` read. An acknowledged read of
 * another state than this one tells more than a read of unknown fate. */
static bool take_garbage(struct infer *in, uint32_t txn, uint32_t op, const struct rig_register_initial *initial)
{
    const struct rig_txn_op *read = rig_txn_ops(in->history, txn) + op;
    const struct rig_register_initial *acknowledged = &in->registers->acknowledged[read->key];
    if (acknowledged->txn != RIG_REGISTER_NONE &&
        !shows_same(read, rig_txn_ops(in->history, acknowledged->txn) + acknowledged->op))
        initial = acknowledged;
    const struct rig_noncyclic found = {
        .anomaly = RIG_ANOMALY_GARBAGE_READ,
        .key = read->key,
        .txn = txn,
        .op = op,
        .other = initial->txn,
        .other_op = initial->op,
        .value = read->value,
        .unsettled = in->history->txns[txn].outcome != RIG_OUTCOME_OK ||
                     in->history->txns[initial->txn].outcome != RIG_OUTCOME_OK,
    };
    return rig_noncyclic_note(in->noncyclic, &found);
}

/* Notes an aborted or intermediate read, links it with the writer, and keeps the reader if later versions are known. */
static bool take_version(struct infer *in, uint32_t txn, uint32_t op, uint32_t id, uint32_t before)
{
    const struct rig_register_version *version = &in->registers->versions[id];
    if (version->writer == txn)
        return take_own_version(in, txn, op, id, before);
    if (version->writer != RIG_REGISTER_NONE) {
        bool aborted = in->history->txns[version->writer].outcome == RIG_OUTCOME_FAIL;
        if (aborted && !note(in, RIG_ANOMALY_G1A, txn, op, version->writer, UINT32_MAX))
            return false;
        if (version->superseded && !note(in, RIG_ANOMALY_G1B, txn, op, version->writer, UINT32_MAX))
            return false;
        if (in->registers->committed[version->writer] && !rig_links_add(in->links, version->writer, txn, RIG_LINK_WR))
            return false;
    } else if (id >= in->history->key_count && in->registers->begins_given) {
        if (!is_open(in, version->key) && !take_other_than_given(in, txn, op))
            return false;
    } else if (id >= in->history->key_count && in->registers->initial != NULL &&
               in->registers->initial[version->key].txn != RIG_REGISTER_NONE &&
               !take_garbage(in, txn, op, &in->registers->initial[version->key])) {
        return false;
    }
    if (in->items_only && rig_register_found_no_row(in->history, rig_txn_ops(in->history, txn) + op))
        return true;
    RIG_INVARIANT(in->seen_count <= in->history->op_count);
    in->seen[in->seen_count] = (struct version_reader){id, txn};
    in->seen_count += in->registers->edge_first[id] < in->registers->edge_first[id + 1];
    return true;
}

/* Whether only one of the two operations is a read that found no row, and the transaction had not made the row
 * itself. */
static bool is_phantom(const struct infer *in, uint32_t txn, uint32_t op, uint32_t before)
{
    const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
    const bool now = rig_register_found_no_row(in->history, &ops[op]),
               earlier = rig_register_found_no_row(in->history, &ops[before]);
    bool own = false;
    for (uint32_t i = 0; i < (now ? op : before); i++)
        own |= ops[i].kind == RIG_OP_WRITE && ops[i].key == ops[op].key;
    return !in->prefilled && now != earlier && !own;
}

static bool take_read(struct infer *in, struct access *key, uint32_t txn, uint32_t op)
{
    uint32_t id = version_of(in, txn, op), before = key->known;
    if (id == RIG_REGISTER_NONE && rig_txn_ops(in->history, txn)[op].read_state == RIG_READ_NIL)
        return take_other_than_given(in, txn, op);
    if (id == RIG_REGISTER_NONE) {
        in->unknown_reads += in->history->txns[txn].outcome == RIG_OUTCOME_OK;
        return true;
    }
    if (!key->has_read)
        key->first_read = op;
    key->has_read = true;
    key->known = op;
    if (before != RIG_REGISTER_NONE && version_of(in, txn, before) != id &&
        !note(in, is_phantom(in, txn, op, before) ? RIG_ANOMALY_INTERNAL_PREDICATE : RIG_ANOMALY_INTERNAL, txn, op,
              UINT32_MAX, before))
        return false;
    return take_version(in, txn, op, id, before);
}

static bool take_txn(struct infer *in, uint32_t txn)
{
    const struct rig_txn_op *ops = rig_txn_ops(in->history, txn);
    for (uint32_t i = 0; i < rig_txn_op_count(in->history, txn); i++) {
        struct access *key = &in->keys[ops[i].key];
        if (key->visitor != txn)
            *key = (struct access){.visitor = txn, .known = RIG_REGISTER_NONE, .first_read = RIG_REGISTER_NONE};
        bool taken = ops[i].kind == RIG_OP_WRITE ? take_write(in, key, txn, i) : take_read(in, key, txn, i);
        if (!taken)
            return false;
    }
    return true;
}

static bool take_txns(struct infer *in)
{
    struct rig_arena *arena = in->links->arena;
    size_t key_count = (size_t)in->history->key_count + 1, version_count = (size_t)in->registers->version_count + 1;
    in->keys = rig_arena_room(arena, key_count, sizeof *in->keys);
    in->updates = rig_arena_room(arena, version_count, sizeof *in->updates);
    in->seen = rig_arena_room(arena, (size_t)in->history->op_count + 1, sizeof *in->seen);
    if (in->keys == NULL || in->updates == NULL || in->seen == NULL)
        return false;
    memset(in->keys, 0xff, key_count * sizeof *in->keys);
    memset(in->updates, 0xff, version_count * sizeof *in->updates);
    for (uint32_t txn = 0; txn < in->history->txn_count; txn++) {
        const bool counts = in->registers->committed[txn] && (in->among == NULL || in->among[txn]);
        if (counts && !take_txn(in, txn))
            return false;
    }
    return true;
}

/* Puts the readers of each version together, in the order of transactions. */
static bool group_readers(struct infer *in)
{
    uint32_t count = in->registers->version_count;
    in->reader_first = rig_arena_array(in->links->arena, (size_t)count + 2, sizeof *in->reader_first);
    in->readers = rig_arena_room(in->links->arena, (size_t)in->seen_count + 1, sizeof *in->readers);
    if (in->reader_first == NULL || in->readers == NULL)
        return false;
    for (uint32_t i = 0; i < in->seen_count; i++)
        in->reader_first[in->seen[i].version + 2]++;
    for (uint32_t version = 0; version < count; version++)
        in->reader_first[version + 2] += in->reader_first[version + 1];
    for (uint32_t i = 0; i < in->seen_count; i++)
        in->readers[in->reader_first[in->seen[i].version + 1]++] = in->seen[i].txn;
    RIG_INVARIANT(in->reader_first[count] == in->seen_count);
    return true;
}

static int compare_ids(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The committed writers of the versions that come right after `version`, ascending and distinct. */
static bool find_targets(struct infer *in, uint32_t version)
{
    uint32_t begin, end;
    in->targets.count = 0;
    rig_registers_edges_from(in->registers, version, &begin, &end);
    for (uint32_t i = begin; i < end; i++) {
        uint32_t writer = in->registers->versions[rig_registers_edge(in->registers, i)->to].writer;
        if (writer != RIG_REGISTER_NONE && in->registers->committed[writer] && !writer_list_add(&in->targets, writer))
            return false;
    }
    if (in->targets.count == 0)
        return true;
    qsort(in->targets.at, in->targets.count, sizeof *in->targets.at, compare_ids);
    size_t kept = 1;
    for (size_t i = 1; i < in->targets.count; i++) {
        if (in->targets.at[i] != in->targets.at[kept - 1])
            in->targets.at[kept++] = in->targets.at[i];
    }
    RIG_INVARIANT(kept <= end - begin);
    in->targets.count = kept;
    return true;
}

/* The readers of the version, with its writer in its place among them. */
static bool find_sources(struct infer *in, uint32_t version)
{
    uint32_t writer = in->registers->versions[version].writer, end = in->reader_first[version + 1];
    bool known = writer != RIG_REGISTER_NONE && in->registers->committed[writer], done = true;
    in->sources.count = 0;
    for (uint32_t i = in->reader_first[version]; done && i < end; i++) {
        uint32_t txn = in->readers[i];
        RIG_INVARIANT(i == in->reader_first[version] || in->readers[i - 1] <= txn);
        if (known && writer < txn) {
            done = rig_bundle_sources_add(&in->sources, (struct rig_bundle_source){writer, RIG_LINK_WW});
            known = false;
        }
        done = done && rig_bundle_sources_add(&in->sources, (struct rig_bundle_source){txn, RIG_LINK_RW});
    }
    return done && (!known || rig_bundle_sources_add(&in->sources, (struct rig_bundle_source){writer, RIG_LINK_WW}));
}

static bool link_version(struct infer *in, uint32_t version)
{
    if (!find_targets(in, version))
        return false;
    uint32_t count = (uint32_t)in->targets.count;
    if (count == 0)
        return true;
    bool relays = rig_bundle_pays(count, in->reader_first[version + 1] - in->reader_first[version]);
    return find_sources(in, version) &&
           rig_bundle_link(in->targets.at, count, in->sources.at, in->sources.count, relays, in->links);
}

/* Links each version, when it has next versions and a transaction that precedes them: ww and rw. */
static bool link_versions(struct infer *in)
{
    const struct rig_registers *registers = in->registers;
    if (!group_readers(in))
        return false;
    for (uint32_t version = 0; version < registers->version_count; version++) {
        bool leads = registers->edge_first[version] < registers->edge_first[version + 1];
        bool from = in->reader_first[version] < in->reader_first[version + 1] ||
                    registers->versions[version].writer != RIG_REGISTER_NONE;
        if (leads && from && !link_version(in, version))
            return false;
    }
    return true;
}

static void count_outcomes(const struct rig_history *history, struct rig_inference *inference)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        inference->ok_count += history->txns[txn].outcome == RIG_OUTCOME_OK;
        inference->fail_count += history->txns[txn].outcome == RIG_OUTCOME_FAIL;
    }
}

enum rig_rc rig_infer_registers(const struct rig_history *history, struct rig_assumptions assumptions,
                                uint32_t most_kept, struct rig_arena *arena, struct rig_inference *inference,
                                struct rig_err *err)
{
    *inference = (struct rig_inference){.history = history,
                                        .noncyclic = {.most_kept = most_kept},
                                        .initial = assumptions.initial,
                                        .prefilled = (assumptions.made & RIG_ASSUMES_PREFILLED) != 0};
    enum rig_rc rc =
        rig_registers_build(history, assumptions, arena, &inference->registers, &inference->noncyclic, err);
    if (rc != RIG_OK)
        return rc;
    inference->committed = inference->registers.committed;
    inference->any_foreign = inference->registers.any_foreign;
    inference->open_keys = inference->registers.open_keys;
    inference->contradicted = inference->registers.contradicted;
    inference->committed_count = inference->registers.committed_count;
    count_outcomes(history, inference);
    struct infer in = {.history = history,
                       .registers = &inference->registers,
                       .noncyclic = &inference->noncyclic,
                       .links = &inference->links,
                       .open_keys = assumptions.open_keys,
                       .prefilled = inference->prefilled};
    if (!rig_links_init(in.links, arena, history->txn_count, 0, history->op_count) || !take_txns(&in) ||
        !link_versions(&in) ||
        !rig_register_lost_writes(&inference->registers, assumptions.open_keys, arena, &inference->noncyclic,
                                  &inference->lost))
        rc = rig_memory_limit(err, "the dependencies");
    memcpy(inference->graph.link_count, in.links->link_count, sizeof in.links->link_count);
    inference->unknown_reads = in.unknown_reads;
    writer_list_done(&in.targets);
    rig_bundle_sources_done(&in.sources);
    return rc;
}

bool rig_infer_items_of_registers(const struct rig_inference *inference, const uint8_t *among,
                                  struct rig_inference *items)
{
    struct rig_noncyclic_findings none = {0};
    rig_inference_for_items(inference, items);
    struct infer in = {.history = inference->history,
                       .registers = &items->registers,
                       .noncyclic = &none,
                       .links = &items->links,
                       .among = among,
                       .items_only = true};
    const bool done = rig_links_init(in.links, inference->links.arena, inference->history->txn_count, 0,
                                     inference->history->op_count) &&
                      take_txns(&in) && link_versions(&in);
    memcpy(items->graph.link_count, in.links->link_count, sizeof in.links->link_count);
    rig_noncyclic_list_done(&none.kept);
    writer_list_done(&in.targets);
    rig_bundle_sources_done(&in.sources);
    return done;
}
