#include "checker/prove/commits.h"

#include <stdlib.h>

#include "base/bug.h"
#include "history/model/window_view.h"

static int compare_claims(const void *left, const void *right)
{
    const struct rig_claim *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

static bool list_claims(struct rig_commits *commits, enum rig_op_kind writes)
{
    const struct rig_history *history = commits->history;
    struct rig_claims *claims = &commits->claims;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (!rig_txn_is_undecided(&history->txns[txn]))
            continue;
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            struct rig_claim claim = {.key = ops[i].key, .txn = txn, .value = ops[i].value};
            if (ops[i].kind == writes && !rig_claims_add(claims, claim))
                return false;
        }
    }
    if (claims->count > 0)
        qsort(claims->at, claims->count, sizeof *claims->at, compare_claims);
    return true;
}

bool rig_commits_show(struct rig_commits *commits, uint32_t key, int64_t value)
{
    struct rig_claim wanted = {.key = key, .value = value};
    const struct rig_claim *found =
        commits->claims.count == 0
            ? NULL
            : bsearch(&wanted, commits->claims.at, commits->claims.count, sizeof wanted, compare_claims);
    if (found == NULL || commits->committed[found->txn])
        return true;
    RIG_INVARIANT(rig_txn_is_undecided(&commits->history->txns[found->txn]));
    commits->committed[found->txn] = true;
    return rig_proved_txns_add(&commits->proved, found->txn);
}

bool rig_commits_follow_reads(struct rig_commits *commits, uint32_t txn)
{
    const struct rig_history *history = commits->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    RIG_REQUIRE(commits->committed[txn]);
    for (uint32_t i = 0; commits->claims.count > 0 && i < rig_txn_op_count(history, txn); i++) {
        if (!rig_op_reads(ops[i].kind) || ops[i].read_state != RIG_READ_SEEN)
            continue;
        if (!rig_op_reads_sequence(ops[i].kind)) {
            if (!rig_commits_show(commits, ops[i].key, ops[i].value))
                return false;
            continue;
        }
        const struct rig_read_list list = rig_txn_op_list(history, &ops[i]);
        for (uint32_t at = 0; at < list.count; at++) {
            if (!rig_commits_show(commits, ops[i].key, rig_read_element(&list, at)))
                return false;
        }
    }
    return true;
}

bool rig_commits_prove(const struct rig_history *history, enum rig_op_kind writes, rig_commits_follow *follow,
                       void *context, bool *committed)
{
    struct rig_commits commits = {.history = history, .committed = committed, .context = context};
    for (uint32_t txn = 0; txn < history->txn_count; txn++)
        committed[txn] = rig_txn_is_committed(&history->txns[txn]);
    bool done = list_claims(&commits, writes);
    for (uint32_t txn = 0; done && txn < history->txn_count; txn++) {
        if (rig_txn_is_committed(&history->txns[txn]))
            done = follow(&commits, txn);
    }
    while (done && commits.proved.count > 0)
        done = follow(&commits, commits.proved.at[--commits.proved.count]);
    RIG_INVARIANT(!done || commits.proved.count == 0);
    rig_claims_done(&commits.claims);
    rig_proved_txns_done(&commits.proved);
    return done;
}
