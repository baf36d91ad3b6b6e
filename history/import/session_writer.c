#include "history/import/session_writer.h"

#include <stdlib.h>

#include "base/bug.h"
#include "history/import/register_sessions.h"
#include "history/types/types.h"

static int compare(const void *a, const void *b)
{
    const struct rig_session_seen *x = a;
    const struct rig_session_seen *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static enum rig_rc note_reads(struct rig_session_export *export, const char *name, struct rig_err *err)
{
    const struct rig_history *history = export->history;
    bool all_committed = true;
    for (uint32_t txn = 0; txn < history->txn_count; txn++)
        all_committed &= history->txns[txn].outcome == RIG_OUTCOME_OK;
    for (uint32_t txn = 0; !all_committed && txn < history->txn_count; txn++) {
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        for (uint32_t i = 0; history->txns[txn].outcome == RIG_OUTCOME_OK && i < rig_txn_op_count(history, txn); i++) {
            const struct rig_session_seen seen = {.value = ops[i].value, .key = ops[i].key};
            if (rig_op_reads(ops[i].kind) && ops[i].read_state == RIG_READ_SEEN &&
                !rig_session_seens_add(&export->seen, seen))
                return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "writing the history", name);
        }
    }
    if (export->seen.count > 0)
        qsort(export->seen.at, export->seen.count, sizeof *export->seen.at, compare);
    return RIG_OK;
}

static enum rig_rc refuse_zero(const struct rig_history *history, const char *name, uint32_t number,
                               struct rig_err *err)
{
    char key[64];
    rig_history_key_text(history, number, key, sizeof key);
    return rig_fail(err, RIG_E_INPUT,
                    "%s: value 0 of key %s: this form writes the initial state, which was read too, as 0; --to jsonl "
                    "keeps it",
                    name, key);
}

/* 0 means the initial state. It may be a value as well, but not where the initial state was read. */
static enum rig_rc check_zeros(const struct rig_history *history, const char *name, struct rig_err *err)
{
    enum { INITIAL = 1, ZERO = 2 };
    uint8_t *uses = calloc((size_t)history->key_count + 1, 1);
    enum rig_rc rc =
        uses == NULL ? rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "writing the history", name) : RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < history->op_count; i++) {
        const struct rig_txn_op *op = &history->ops[i];
        if (rig_op_reads(op->kind) && op->read_state == RIG_READ_NIL)
            uses[op->key] |= INITIAL;
        else if (rig_session_export_has(op) && op->value == 0)
            uses[op->key] |= ZERO;
        if (uses[op->key] == (INITIAL | ZERO))
            rc = refuse_zero(history, name, op->key, err);
    }
    free(uses);
    return rc;
}

static enum rig_rc check_sessions(const struct rig_history *history, const char *name, struct rig_err *err)
{
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        if (history->txns[txn].process < 0)
            return rig_fail(err, RIG_E_INPUT, "%s: process %d: this form has sessions from 0 on; --to jsonl keeps it",
                            name, history->txns[txn].process);
    }
    return RIG_OK;
}

static bool has_negative_key(const struct rig_history *history)
{
    uint32_t key = 0;
    while (key < history->key_count && history->keys[key] >= 0)
        key++;
    return key < history->key_count;
}

enum rig_rc rig_session_export_init(struct rig_session_export *export, const struct rig_history *history, bool is_text,
                                    const char *name, struct rig_err *err)
{
    *export = (struct rig_session_export){.history = history};
    if (history->op_count > 0 && history->workload != rig_sessions_workload())
        return rig_fail(err, RIG_E_INPUT,
                        "%s: the history is of %s, and this form holds registers; --to jsonl keeps it", name,
                        rig_data_type_names[history->workload]);
    export->numbers_keys = history->key_texts != NULL || (is_text && has_negative_key(history));
    enum rig_rc rc = is_text ? check_sessions(history, name, err) : RIG_OK;
    if (rc == RIG_OK)
        rc = check_zeros(history, name, err);
    return rc == RIG_OK ? note_reads(export, name, err) : rc;
}

void rig_session_export_done(struct rig_session_export *export)
{
    rig_session_seens_done(&export->seen);
}

bool rig_session_export_observed(const struct rig_session_export *export, const struct rig_txn_op *op)
{
    const struct rig_session_seen wanted = {.value = op->value, .key = op->key};
    return !rig_op_reads(op->kind) && export->seen.count > 0 &&
           bsearch(&wanted, export->seen.at, export->seen.count, sizeof wanted, compare) != NULL;
}

enum rig_session_fate rig_session_export_fate(const struct rig_session_export *export, uint32_t txn)
{
    const struct rig_history *history = export->history;
    const struct rig_txn_op *ops = rig_txn_ops(history, txn);
    if (history->txns[txn].outcome == RIG_OUTCOME_OK)
        return RIG_SESSION_COMMITTED;
    if (history->txns[txn].outcome == RIG_OUTCOME_FAIL)
        return RIG_SESSION_ABORTED;
    for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
        if (rig_session_export_observed(export, &ops[i]))
            return RIG_SESSION_COMMITTED;
    }
    return RIG_SESSION_LEFT_OUT;
}

int64_t rig_session_export_key(const struct rig_session_export *export, uint32_t key)
{
    return export->numbers_keys ? (int64_t)key : export->history->keys[key];
}
