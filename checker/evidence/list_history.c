#include "checker/evidence/list_history.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/evidence/certificate_judge.h"
#include "history/types/types.h"

/* Whether the key's versions are those of its chain. */
static bool is_certified(const struct rig_history *history, const struct rig_certificate_chains *chains, uint32_t key)
{
    RIG_REQUIRE(key < history->key_count);
    const struct rig_certificate_chain *chain = &chains->keys[key];
    return !chain->irregular && chain->count > 0 &&
           (history->workload != RIG_WORKLOAD_LIST_APPEND ||
            rig_certificate_common(history, chains, key) == history->spines[key].count);
}

/* ---- registers as lists ---- */

/* Makes a read of a register one of a list; false where it is left out. */
static bool show_chain(const struct rig_history *history, const struct rig_certificate_chains *chains, uint32_t txn,
                       uint32_t op, struct rig_txn_op *into)
{
    RIG_REQUIRE(rig_op_reads(rig_txn_ops(history, txn)[op].kind));
    const struct rig_txn_op *own = rig_certificate_own_write(history, txn, op);
    const struct rig_txn_op read = rig_txn_ops(history, txn)[op];
    into->kind = RIG_OP_READ_LIST;
    into->key = read.key;
    into->read_state = read.read_state;
    into->owner = read.owner;
    into->list = read.key;
    into->count = 0;
    if (read.read_state != RIG_READ_SEEN)
        return true;
    if (own != NULL && own->value == read.value)
        return false;
    const struct rig_certificate_slot *slot = rig_certificate_find(chains, read.key, read.value);
    into->count = slot == NULL ? 0 : slot->place + 1;
    RIG_INVARIANT(into->count <= chains->keys[read.key].count);
    return slot != NULL;
}

static void turn_into_lists(struct rig_history *history, const struct rig_certificate_chains *chains,
                            struct rig_txn_op *scratch)
{
    uint32_t kept = 0;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const uint32_t count = rig_txn_op_count(history, txn), first = kept;
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < count; i++) {
            struct rig_txn_op op = ops[i];
            if (rig_op_reads(op.kind) ? !show_chain(history, chains, txn, i, &op)
                                      : rig_certificate_hides(history, txn, i))
                continue;
            op.kind = rig_op_reads(op.kind) ? RIG_OP_READ_LIST : RIG_OP_APPEND;
            scratch[kept++] = op;
        }
        history->txns[txn].first_op = first; /* the next one's is still that of its own operations */
    }
    RIG_INVARIANT(kept <= history->op_count);
    memcpy(history->ops, scratch, kept * sizeof *scratch);
    history->txns[history->txn_count].first_op = kept;
    history->op_count = kept;
    history->workload = RIG_WORKLOAD_LIST_APPEND;
}

/* ---- the last reads ---- */

static uint32_t count_completed(const struct rig_history *history)
{
    uint32_t count = 0;
    while (count < history->txn_count && history->txns[count].complete_at != RIG_POSITION_NONE)
        count++;
    return count;
}

static void last_names(const struct rig_history *history, uint32_t *position, int32_t *process)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *t = &history->txns[txn];
        if (t->complete_at != RIG_POSITION_NONE && t->complete_at > *position)
            *position = t->complete_at;
        if (t->invoke_at != RIG_POSITION_NONE && t->invoke_at > *position)
            *position = t->invoke_at;
        *process = t->process > *process ? t->process : *process;
    }
}

/* Puts a read of each certified key after the completed transactions; `count` of them. */
static bool add_reads(struct rig_history *history, const uint8_t *certified, uint32_t count)
{
    RIG_REQUIRE(count <= history->key_count);
    const uint32_t completed = count_completed(history), rest = history->txn_count - completed;
    const uint32_t first_op = history->txns[completed].first_op, later_ops = history->op_count - first_op;
    uint32_t position = 0, at = completed;
    int32_t process = 0;
    last_names(history, &position, &process);
    if (count > UINT32_MAX / 2 - history->txn_count || count > UINT32_MAX / 2 - history->op_count ||
        count > RIG_POSITION_NONE - 2 - position || (int64_t)process + count >= INT32_MAX)
        return false;
    struct rig_txn *txns = realloc(history->txns, ((size_t)history->txn_count + count + 1) * sizeof *txns);
    history->txns = txns != NULL ? txns : history->txns;
    struct rig_txn_op *ops = realloc(history->ops, ((size_t)history->op_count + count) * sizeof *ops);
    history->ops = ops != NULL ? ops : history->ops;
    if (txns == NULL || ops == NULL)
        return false;
    memmove(txns + completed + count, txns + completed, ((size_t)rest + 1) * sizeof *txns);
    memmove(ops + first_op + count, ops + first_op, later_ops * sizeof *ops);
    for (uint32_t i = 0; i <= rest; i++)
        txns[completed + count + i].first_op += count;
    for (uint32_t key = 0; key < history->key_count; key++) {
        if (!certified[key])
            continue;
        txns[at] = (struct rig_txn){.invoke_ns = RIG_NO_TIME,
                                    .complete_ns = RIG_NO_TIME,
                                    .invoke_at = 0,
                                    .complete_at = ++position,
                                    .first_op = first_op + (at - completed),
                                    .process = ++process,
                                    .outcome = RIG_OUTCOME_OK};
        ops[txns[at].first_op] = (struct rig_txn_op){.key = key,
                                                     .kind = RIG_OP_READ_LIST,
                                                     .read_state = RIG_READ_SEEN,
                                                     .list = key,
                                                     .count = history->spines[key].count};
        at++;
    }
    RIG_INVARIANT(at == completed + count);
    history->txn_count += count;
    history->op_count += count;
    return rig_history_insert_columns(history, completed, count);
}

bool rig_certificate_extend(struct rig_history *history, const struct rig_certificate_chains *chains,
                            const uint8_t *never)
{
    RIG_REQUIRE(history->certificate != NULL && chains->keys != NULL);
    uint32_t count = 0;
    const bool is_list = history->workload == RIG_WORKLOAD_LIST_APPEND;
    uint8_t *certified = calloc((size_t)history->key_count + 1, 1);
    struct rig_txn_op *scratch = is_list ? NULL : malloc(((size_t)history->op_count + 1) * sizeof *scratch);
    bool done = certified != NULL && (is_list || scratch != NULL);
    for (uint32_t txn = 0; txn < history->txn_count; txn++)
        history->txns[txn].outcome = never[txn] ? (uint8_t)RIG_OUTCOME_FAIL : history->txns[txn].outcome;
    for (uint32_t key = 0; done && key < history->key_count; key++) {
        certified[key] = is_certified(history, chains, key);
        if (certified[key] || !is_list)
            history->spines[key] = (struct rig_list){.at = chains->keys[key].at, .count = chains->keys[key].count};
        count += certified[key];
    }
    if (done && !is_list)
        turn_into_lists(history, chains, scratch);
    done = done && add_reads(history, certified, count);
    free(scratch);
    free(certified);
    return done;
}
