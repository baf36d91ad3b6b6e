#include "checker/infer/register_inference.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/graph/bundle.h"

/* A committed transaction that read a version. */
struct version_reader {
    uint32_t version, txn;
};

/* A read of a version, first in its transaction and followed by a write of the key. */
struct update {
    uint32_t version, txn, op;
};

RIG_VEC(struct version_reader, version_readers)
RIG_VEC(struct update, register_updates)
RIG_VEC(uint32_t, writer_list)

struct infer {
    const struct rig_history *history;
    const struct rig_registers *registers;
    struct rig_oddities *oddities;
    struct rig_links *links;
    struct version_readers readers;
    struct register_updates updates;
    struct writer_list targets; /* scratch, */
    struct rig_sources sources; /*   likewise */
};

static bool is_read(const struct rig_mop *op)
{
    return op->kind == RIG_OP_READ_REGISTER;
}

static bool note(struct infer *in, enum rig_anomaly anomaly, uint32_t txn, uint32_t op, uint32_t other,
                 uint32_t other_op)
{
    const struct rig_mop *read = rig_txn_ops(in->history, txn) + op;
    struct rig_oddity oddity = {.anomaly = anomaly,
                                .key = read->key,
                                .txn = txn,
                                .op = op,
                                .other = other,
                                .other_op = other_op,
                                .value = read->read_state == RIG_READ_SEEN ? read->value : 0};
    return rig_oddities_note(in->oddities, &oddity);
}

static uint32_t version_of(const struct infer *in, uint32_t txn, uint32_t op)
{
    return in->registers->version_of[in->history->txns[txn].first_op + op];
}

/* The nearest earlier operation of the transaction on the same key with a known version, or UINT32_MAX. */
static uint32_t previous_access(const struct infer *in, uint32_t txn, uint32_t op)
{
    const struct rig_mop *ops = rig_txn_ops(in->history, txn);
    for (uint32_t i = op; i-- > 0;) {
        if (ops[i].key == ops[op].key && version_of(in, txn, i) != RIG_REGISTER_NONE)
            return i;
    }
    return UINT32_MAX;
}

static bool take_update(struct infer *in, uint32_t txn, uint32_t op)
{
    return !rig_register_is_update(in->history, txn, op) ||
           register_updates_add(&in->updates, (struct update){version_of(in, txn, op), txn, op});
}

static bool take_read(struct infer *in, uint32_t txn, uint32_t op)
{
    uint32_t id = version_of(in, txn, op);
    if (id == RIG_REGISTER_NONE)
        return true;
    const struct rig_register_version *version = &in->registers->versions[id];
    uint32_t previous = previous_access(in, txn, op);
    if (previous != UINT32_MAX && version_of(in, txn, previous) != id &&
        !note(in, RIG_ANOMALY_INTERNAL, txn, op, UINT32_MAX, previous))
        return false;
    if (!take_update(in, txn, op))
        return false;
    if (version->writer == txn)
        return true;
    if (version->writer != RIG_REGISTER_NONE) {
        bool aborted = in->history->txns[version->writer].outcome == RIG_OUTCOME_FAIL;
        if (aborted && !note(in, RIG_ANOMALY_G1A, txn, op, version->writer, UINT32_MAX))
            return false;
        if (version->superseded && !note(in, RIG_ANOMALY_G1B, txn, op, version->writer, UINT32_MAX))
            return false;
        if (in->registers->committed[version->writer] && !rig_links_add(in->links, version->writer, txn, RIG_LINK_WR))
            return false;
    }
    return version_readers_add(&in->readers, (struct version_reader){id, txn});
}

static bool take_txns(struct infer *in)
{
    for (uint32_t txn = 0; txn < in->history->txn_count; txn++) {
        if (!in->registers->committed[txn])
            continue;
        const struct rig_mop *ops = rig_txn_ops(in->history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(in->history, txn); i++) {
            if (is_read(&ops[i]) && !take_read(in, txn, i))
                return false;
        }
    }
    return true;
}

static int compare_readers(const void *left, const void *right)
{
    const struct version_reader *a = left, *b = right;
    if (a->version != b->version)
        return a->version < b->version ? -1 : 1;
    return (a->txn > b->txn) - (a->txn < b->txn);
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
        uint32_t writer = in->registers->versions[in->registers->edges[i].to].writer;
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
    in->targets.count = kept;
    return true;
}

/* Those who read the version, and who wrote it in his place among them. */
static bool find_sources(struct infer *in, size_t begin, size_t end, uint32_t writer)
{
    bool known = writer != RIG_REGISTER_NONE && in->registers->committed[writer], done = true;
    in->sources.count = 0;
    for (size_t i = begin; done && i < end; i++) {
        uint32_t txn = in->readers.at[i].txn;
        if (known && writer < txn) {
            done = rig_sources_add(&in->sources, (struct rig_source){writer, RIG_LINK_WW});
            known = false;
        }
        done = done && rig_sources_add(&in->sources, (struct rig_source){txn, RIG_LINK_RW});
    }
    return done && (!known || rig_sources_add(&in->sources, (struct rig_source){writer, RIG_LINK_WW}));
}

/* ww and rw along the neighbours of each version. */
static bool link_versions(struct infer *in)
{
    if (in->readers.count > 0)
        qsort(in->readers.at, in->readers.count, sizeof *in->readers.at, compare_readers);
    size_t reader = 0;
    for (uint32_t version = 0; version < in->registers->version_count; version++) {
        size_t first = reader;
        while (reader < in->readers.count && in->readers.at[reader].version == version)
            reader++;
        if (!find_targets(in, version))
            return false;
        uint32_t count = (uint32_t)in->targets.count;
        if (count == 0)
            continue;
        if (!find_sources(in, first, reader, in->registers->versions[version].writer) ||
            !rig_bundle_link(in->targets.at, count, in->sources.at, in->sources.count,
                             rig_bundle_pays(count, reader - first), in->links))
            return false;
    }
    return true;
}

static int compare_updates(const void *left, const void *right)
{
    const struct update *a = left, *b = right;
    if (a->version != b->version)
        return a->version < b->version ? -1 : 1;
    return (a->txn > b->txn) - (a->txn < b->txn);
}

static bool find_lost_updates(struct infer *in)
{
    if (in->updates.count > 0)
        qsort(in->updates.at, in->updates.count, sizeof *in->updates.at, compare_updates);
    for (size_t i = 1; i < in->updates.count; i++) {
        const struct update *a = &in->updates.at[i - 1], *b = &in->updates.at[i];
        if (a->version == b->version && !note(in, RIG_ANOMALY_LOST_UPDATE, a->txn, a->op, b->txn, b->op))
            return false;
    }
    return true;
}

static uint64_t count_unknown_reads(const struct rig_history *history)
{
    uint64_t count = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_mop *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++)
            count += history->txns[txn].outcome == RIG_OUTCOME_OK && is_read(&ops[i]) &&
                     ops[i].read_state == RIG_READ_UNKNOWN;
    }
    return count;
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
    *inference = (struct rig_inference){.history = history, .oddities = {.most_kept = most_kept}};
    enum rig_rc rc = rig_registers_build(history, assumptions, arena, &inference->registers, &inference->oddities, err);
    if (rc != RIG_OK)
        return rc;
    inference->committed_count = inference->registers.committed_count;
    inference->unknown_reads = count_unknown_reads(history);
    count_outcomes(history, inference);
    struct infer in = {.history = history,
                       .registers = &inference->registers,
                       .oddities = &inference->oddities,
                       .links = &inference->links};
    if (!rig_links_init(in.links, arena, history->txn_count, 0, history->op_count) || !take_txns(&in) ||
        !link_versions(&in) || !find_lost_updates(&in))
        rc = rig_fail(err, RIG_E_LIMIT, "not enough memory for the dependencies; raise --max-memory");
    memcpy(inference->graph.link_count, in.links->link_count, sizeof in.links->link_count);
    version_readers_done(&in.readers);
    register_updates_done(&in.updates);
    writer_list_done(&in.targets);
    rig_sources_done(&in.sources);
    return rc;
}
