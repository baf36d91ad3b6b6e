#include "tests/fuzz/history_property.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "history/source/load.h"
#include "history/record/record_frame.h"
#include "history/source/source.h"
#include "tests/unit/counted_heap.h"

static const size_t memory_bytes = (size_t)16 << 20;

/* Whether the allocations since the moment with `before` bytes were always within the limit. */
static void check_memory(size_t before)
{
    RIG_INVARIANT(heap_peak_since(before) <= memory_bytes);
}

/* Takes the sizes of frames as they are; bytes outside frames stay unchanged. */
static void mend_checksums(uint8_t *data, size_t size)
{
    size_t at = RIG_RECORD_START_BYTES;
    for (uint64_t number = 0; at < size && rig_frame_is_whole(data + at, size - at); number++) {
        size_t payload = data[at + 4] | (size_t)data[at + 5] << 8 | (size_t)data[at + 6] << 16;
        if (data[at + 7] != 0 || payload > size - at - RIG_FRAME_HEAD_BYTES)
            return;
        struct rig_buf frame;
        rig_buf_init(&frame, 0);
        rig_buf_add(&frame, data + at, RIG_FRAME_HEAD_BYTES + payload);
        rig_frame_seal(&frame, 0, data[at + 3], number);
        memcpy(data + at, frame.data, frame.size);
        at += frame.size;
        rig_buf_done(&frame);
    }
}

/* The guarantees in the header of certificate.h. */
static void check_certificate(const struct rig_certificate *certificate)
{
    for (size_t i = 0; i < certificate->commits.count; i++) {
        const struct rig_commit *commit = &certificate->commits.at[i];
        RIG_INVARIANT(commit->first_change + (size_t)rig_commit_change_count(certificate, (uint32_t)i) <=
                      certificate->changes.count);
        RIG_INVARIANT(i == 0 || commit[-1].place < commit->place ||
                      (certificate->by_timeline && commit[-1].timeline < commit->timeline));
    }
    for (size_t i = 0; i < certificate->changes.count; i++)
        RIG_INVARIANT(certificate->changes.at[i].first + (size_t)certificate->changes.at[i].count <=
                      certificate->elements.count);
    for (size_t i = 0; i < rig_certificate_lost_count(certificate); i++)
        RIG_INVARIANT(rig_certificate_fork_of(certificate, &certificate->lost->commits.at[i]) != NULL);
    if (certificate->lost != NULL)
        check_certificate(certificate->lost);
}

/* The guarantees in the header of history.h. */
static void check_history(const struct rig_history *history)
{
    if (history->certificate != NULL)
        check_certificate(history->certificate);
    int64_t sum = 0;
    for (uint32_t i = 0; i < history->txn_count; i++) {
        const struct rig_txn *txn = &history->txns[i];
        RIG_INVARIANT(history->txns[i + 1].first_op >= txn->first_op);
        RIG_INVARIANT(txn->error <= history->error_count && txn->outcome <= RIG_OUTCOME_INFO);
        RIG_INVARIANT(history->has_invocations == (txn->invoke_at != RIG_POSITION_NONE));
        RIG_INVARIANT(i == 0 || txn[-1].complete_at < txn->complete_at ||
                      (txn->complete_at == RIG_POSITION_NONE && txn[-1].complete_at == RIG_POSITION_NONE));
        for (uint32_t op = 0; op < rig_txn_op_count(history, i); op++) {
            const struct rig_txn_op *mop = rig_txn_ops(history, i) + op;
            RIG_INVARIANT(mop->key < history->key_count && mop->read_state <= RIG_READ_SEEN);
            if (mop->kind != RIG_OP_READ_LIST || mop->read_state != RIG_READ_SEEN)
                continue;
            RIG_INVARIANT(rig_txn_op_is_branch(mop) ? rig_txn_op_branch(mop) < history->branch_count
                                                    : mop->count <= history->spines[mop->key].count);
            struct rig_read_list list = rig_txn_op_list(history, mop);
            if (list.count > 0)
                sum ^= rig_read_element(&list, 0) ^ rig_read_element(&list, list.count - 1);
        }
    }
    RIG_INVARIANT(history->txns[history->txn_count].first_op == history->op_count);
    volatile int64_t seen = sum; /* so that the compiler keeps the reads above */
    (void)seen;
}

/* Reads in order, or block by block; `digest` sums up all transactions. */
static enum rig_rc read_with(const uint8_t *data, size_t size, unsigned threads, uint64_t *digest)
{
    struct rig_source_options options = {.load = {.limit_bytes = memory_bytes}, .threads = threads};
    struct rig_source *source = NULL;
    const struct rig_segment *segment = NULL;
    struct rig_err err = {0};
    enum rig_rc rc = rig_source_open_memory("input", data, size, &options, &source, &err);
    if (rc != RIG_OK)
        return rc;
    for (rc = rig_source_next(source, &segment, &err); rc == RIG_OK && segment != NULL;
         rc = rig_source_next(source, &segment, &err)) {
        for (size_t i = 0; i < segment->txns.count; i++) {
            const struct rig_txn *txn = &segment->txns.at[i];
            *digest = *digest * 31 + txn->complete_at;
            *digest = *digest * 31 + txn->invoke_at + (uint64_t)txn->complete_ns + txn->outcome;
        }
        for (size_t i = 0; i < segment->ops.count; i++)
            *digest = *digest * 31 + segment->ops.at[i].kind + segment->ops.at[i].read_state;
    }
    if (rc == RIG_OK)
        *digest += rig_source_facts(source)->truncated + rig_source_facts(source)->damaged_at;
    rig_source_close(source);
    return rc;
}

/* A record is the same whether it is read in order or in blocks. */
static void check_readers(const uint8_t *data, size_t size)
{
    uint64_t in_order = 0, in_blocks = 0;
    const size_t before = restart_heap_peak();
    enum rig_rc rc = read_with(data, size, 1, &in_order);
    RIG_INVARIANT(rc == read_with(data, size, 3, &in_blocks));
    check_memory(before);
    RIG_INVARIANT(rc != RIG_OK || in_order == in_blocks);
}

/* Only keys that are not UTF-8, or keywords beside texts like them, cannot be written as text, and several operations
 * on objects to a record. */
static void check_save(const struct rig_history *history, enum rig_form form)
{
    struct rig_err err = {0};
    const enum rig_rc rc = rig_history_save(history, "/dev/null", &(struct rig_save_options){.form = form}, &err);
    const char *const why = form == RIG_FORM_RIG  ? "several operations"
                            : history->value_keys ? "cannot tell apart"
                                                  : "is not UTF-8";
    RIG_INVARIANT(rc == RIG_OK || (rc == RIG_E_INPUT && strstr(err.text, why) != NULL));
}

/* These forms hold registers, of keys and values from 0 on; the errors for others name a form that does. */
static void check_session_save(const struct rig_history *history, enum rig_form form)
{
    struct rig_err err = {0};
    const enum rig_rc rc = rig_history_save(history, "/dev/null", &(struct rig_save_options){.form = form}, &err);
    RIG_INVARIANT(rc == RIG_OK || (rc == RIG_E_INPUT && strstr(err.text, "--to jsonl keeps it") != NULL));
}

enum rig_rc history_property(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size == 0 ? 1 : size);
    if (copy == NULL)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    if (size >= RIG_RECORD_START_BYTES && memcmp(copy, RIG_RECORD_MAGIC, RIG_RECORD_MAGIC_BYTES) == 0) {
        mend_checksums(copy, size);
        check_readers(copy, size);
    }
    struct rig_load_options options = {.form = RIG_FORM_AUTO, .limit_bytes = memory_bytes};
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    const size_t before = restart_heap_peak();
    enum rig_rc rc = rig_history_parse("input", copy, size, &options, &history, &err);
    check_memory(before);
    free(copy);
    RIG_INVARIANT((rc == RIG_OK) == (history != NULL) && (rc == RIG_OK || err.text[0] != '\0'));
    if (rc != RIG_OK)
        return rc;
    check_history(history);
    for (unsigned form = RIG_FORM_RIG; form <= RIG_FORM_EDN; form++)
        check_save(history, (enum rig_form)form);
    check_session_save(history, RIG_FORM_PLUME);
    check_session_save(history, RIG_FORM_DBCOP);
    rig_history_free(history);
    return RIG_OK;
}
