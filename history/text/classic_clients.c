/*
 * Histories of transactions without any process (classic_operations.h): as they are, each with a client of its own. A
 * completion belongs to the invocation directly before it, so operations may not overlap.
 */
#include "history/text/classic_private.h"

static bool have_no_process(const struct rig_classic *r)
{
    bool found = false;
    for (size_t i = 0; i < r->items.count; i++) {
        const struct rig_classic_item *item = &r->items.at[i];
        if (item->is_client && (item->has_process || (!item->is_txn && !rig_classic_is_null(&item->value))))
            return false;
        found |= item->is_client && item->is_txn;
    }
    return found;
}

static enum rig_rc put_transaction(struct rig_classic *r, const struct rig_classic_item *item)
{
    const struct rig_classic_item *given = item->is_txn ? item : rig_classic_asked(r, item);
    if (!item->is_txn && (item->type == RIG_OPERATION_OK || !given->is_txn))
        return rig_classic_refuse(r, item, "without a process and a value");
    rig_buf_add(r->out, given->value.at + 1, given->value.length - 2);
    return RIG_OK;
}

const struct rig_classic_form rig_classic_no_process = {
    .is_any_workload = true, .is_it = have_no_process, .put = put_transaction};
