#include "history/model/fingerprint.h"

#include <stdlib.h>

#include "history/model/shared_value.h"

/* One round of splitmix64 (Steele, Lea & Flood 2014) over what was and what is added. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return hash ^ hash >> 27;
}

static uint64_t hash_of_key(const struct rig_history *history, uint32_t key)
{
    uint64_t hash = 1;
    if (history->key_texts == NULL)
        return mix(hash, (uint64_t)history->keys[key]);
    for (const char *at = history->key_texts[history->keys[key]]; *at != '\0'; at++)
        hash = mix(hash, (unsigned char)*at);
    return hash;
}

struct hashes {
    uint64_t *keys;   /* per key */
    size_t *first;    /* per key: into */
    uint64_t *prefix; /*   hash of the first elements of its spine, from none to all */
};

static void fill(const struct rig_history *history, struct hashes *h)
{
    for (uint32_t key = 0; key < history->key_count; key++) {
        const struct rig_list *spine = &history->spines[key];
        uint64_t *prefix = h->prefix + h->first[key];
        h->keys[key] = hash_of_key(history, key);
        prefix[0] = 0;
        for (uint32_t i = 0; i < spine->count; i++)
            prefix[i + 1] = mix(prefix[i], (uint64_t)spine->at[i]);
    }
}

static uint64_t hash_of_result(const struct rig_history *history, const struct hashes *h, const struct rig_txn_op *op)
{
    if (op->read_state != RIG_READ_SEEN && rig_op_reads(op->kind))
        return rig_op_is_ambiguous(op) ? (uint64_t)op->value : 0;
    if (!rig_op_reads_sequence(op->kind))
        return (uint64_t)op->value;
    const struct rig_read_list list = rig_txn_op_list(history, op);
    uint64_t hash = h->prefix[h->first[op->key] + list.shared];
    for (uint32_t i = list.shared; i < list.count; i++)
        hash = mix(hash, (uint64_t)list.tail[i - list.shared]);
    return mix(hash, list.count);
}

static uint64_t hash_all(const struct rig_history *history, const struct hashes *h)
{
    uint64_t hash = mix(history->workload, history->txn_count);
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        hash = mix(hash, (uint64_t)t->invoke_at << 32 | t->complete_at);
        hash = mix(hash, (uint64_t)(uint32_t)t->process << 8 | t->outcome);
        for (uint32_t op = t->first_op; op < history->txns[txn + 1].first_op; op++) {
            const struct rig_txn_op *at = &history->ops[op];
            hash = mix(hash, h->keys[at->key] ^ (uint64_t)at->kind << 8 ^ at->read_state);
            hash = mix(hash, hash_of_result(history, h, at));
        }
    }
    return hash;
}

enum rig_rc rig_history_fingerprint(const struct rig_history *history, uint64_t *fingerprint, struct rig_err *err)
{
    struct hashes h = {.keys = calloc((size_t)history->key_count + 1, sizeof *h.keys),
                       .first = calloc((size_t)history->key_count + 1, sizeof *h.first)};
    size_t elements = 0;
    for (uint32_t key = 0; h.first != NULL && key < history->key_count; key++) {
        h.first[key] = elements;
        elements += (size_t)history->spines[key].count + 1;
    }
    h.prefix = calloc(elements + 1, sizeof *h.prefix);
    const bool ok = h.keys != NULL && h.first != NULL && h.prefix != NULL;
    if (ok) {
        fill(history, &h);
        *fingerprint = hash_all(history, &h);
    }
    free(h.keys);
    free(h.first);
    free(h.prefix);
    return ok ? RIG_OK : rig_no_memory(err, "the fingerprint of the history");
}
