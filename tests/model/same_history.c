/*
 * same_history <history.rig> <history.rig>: status 0 when both records hold the same history, 1 when
 * not, 3 when one cannot be read.
 *
 * Records of the same history may differ in their bytes, since frames end where the writer thread wakes up.
 */
#include <stdio.h>
#include <string.h>

#include "history/source/load.h"
#include "history/model/read_list.h"

static const char *difference_of_ops(const struct rig_history *a, const struct rig_history *b, uint32_t txn)
{
    if (rig_txn_op_count(a, txn) != rig_txn_op_count(b, txn))
        return "the number of operations";
    for (uint32_t i = 0; i < rig_txn_op_count(a, txn); i++) {
        const struct rig_txn_op *left = &rig_txn_ops(a, txn)[i], *right = &rig_txn_ops(b, txn)[i];
        if (left->kind != right->kind || a->keys[left->key] != b->keys[right->key])
            return "an operation";
        if (left->read_state != right->read_state)
            return "what became of a read";
        if (left->kind != RIG_OP_READ_LIST) {
            if (left->value != right->value)
                return "a value";
            continue;
        }
        struct rig_read_list one = rig_txn_op_list(a, left), other = rig_txn_op_list(b, right);
        if (one.count != other.count || !rig_read_same(&one, &other, one.count))
            return "a list";
    }
    return NULL;
}

static const char *difference(const struct rig_history *a, const struct rig_history *b, uint32_t txn)
{
    const struct rig_txn *left = &a->txns[txn], *right = &b->txns[txn];
    if (left->invoke_ns != right->invoke_ns || left->complete_ns != right->complete_ns)
        return "the times";
    if (left->invoke_at != right->invoke_at || left->complete_at != right->complete_at)
        return "the positions";
    if (left->process != right->process)
        return "the process";
    if (left->outcome != right->outcome)
        return "the outcome";
    const char *one = left->error == 0 ? "" : a->errors[left->error - 1];
    const char *other = right->error == 0 ? "" : b->errors[right->error - 1];
    return strcmp(one, other) != 0 ? "the error" : difference_of_ops(a, b, txn);
}

static struct rig_history *load(const char *path)
{
    const struct rig_load_options options = {.form = RIG_FORM_RIG};
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    if (rig_history_load(path, &options, &history, &err) != RIG_OK)
        (void)fprintf(stderr, "%s\n", err.text);
    return history;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        (void)fprintf(stderr, "usage: same_history <history.rig> <history.rig>\n");
        return 64;
    }
    struct rig_history *a = load(argv[1]), *b = load(argv[2]);
    int status = 1;
    if (a == NULL || b == NULL) {
        status = 3;
    } else if (a->txn_count != b->txn_count) {
        (void)printf("%u and %u transactions\n", a->txn_count, b->txn_count);
    } else {
        const char *found = NULL;
        uint32_t txn = 0;
        while (txn < a->txn_count && (found = difference(a, b, txn)) == NULL)
            txn++;
        if (found != NULL)
            (void)printf("transaction %u: %s differ\n", txn, found);
        else
            (void)printf("the same %u transactions\n", a->txn_count);
        status = found != NULL || a->txn_count == 0;
    }
    rig_history_free(a);
    rig_history_free(b);
    return status;
}
