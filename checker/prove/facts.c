#include "checker/prove/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/halve.h"
#include "checker/prove/commits.h"
#include "checker/prove/row_chain.h"
#include "history/model/value_texts.h"

void rig_facts_done(struct rig_facts *facts)
{
    free(facts->writes);
    free(facts->committed);
    free(facts->contested);
    free(facts->longest);
    free(facts->longest_acknowledged);
    *facts = (struct rig_facts){0};
}

/* Fibonacci hashing of both. */
static uint64_t slot_of(const struct rig_facts *facts, uint32_t key, int64_t value)
{
    RIG_REQUIRE((facts->mask & (facts->mask + 1)) == 0);
    const uint64_t mixed = ((uint64_t)key << 32 ^ (uint64_t)value) * UINT64_C(0x9e3779b97f4a7c15);
    return (mixed ^ mixed >> 29) & facts->mask;
}

static struct rig_fact_write *find(const struct rig_facts *facts, uint32_t key, int64_t value)
{
    uint64_t slot = slot_of(facts, key, value);
    for (;; slot = (slot + 1) & facts->mask) {
        struct rig_fact_write *write = &facts->writes[slot];
        if (write->op == RIG_FACT_NONE)
            return write;
        const struct rig_txn_op *op = &facts->history->ops[write->op];
        if (op->key == key && op->value == value)
            return write;
    }
}

uint32_t rig_facts_write_in(const struct rig_history *history, uint32_t txn, uint32_t key, int64_t value)
{
    RIG_REQUIRE(txn < history->txn_count);
    for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
        const struct rig_txn_op *at = &history->ops[op];
        if (at->key == key && at->value == value && !rig_op_reads(at->kind))
            return op;
    }
    return RIG_FACT_NONE;
}

const struct rig_fact_write *rig_facts_writer(const struct rig_facts *facts, uint32_t key, int64_t value)
{
    RIG_REQUIRE(facts->writes != NULL);
    const struct rig_fact_write *write = find(facts, key, value);
    RIG_INVARIANT(write->op == RIG_FACT_NONE ||
                  (write->txn < facts->history->txn_count && write->op >= facts->history->txns[write->txn].first_op &&
                   write->op < facts->history->txns[write->txn + 1].first_op));
    return write->op == RIG_FACT_NONE ? NULL : write;
}

bool rig_facts_is_written(const struct rig_facts *facts, uint32_t key, int64_t value)
{
    bool written = facts->writes != NULL && rig_facts_writer(facts, key, value) != NULL;
    for (uint32_t op = 0; facts->writes == NULL && !written && op < facts->history->op_count; op++) {
        const struct rig_txn_op *at = &facts->history->ops[op];
        written = at->key == key && at->value == value && !rig_op_reads(at->kind);
    }
    return written;
}

static enum rig_rc index_writes(struct rig_facts *facts, struct rig_err *err)
{
    const struct rig_history *history = facts->history;
    const struct rig_data_type *type = &rig_data_types[history->workload];
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)history->op_count + 2)
        slots *= 2;
    RIG_INVARIANT(slots > 2 * (uint64_t)history->op_count && (slots & (slots - 1)) == 0);
    facts->mask = slots - 1;
    facts->writes = malloc(slots * sizeof facts->writes[0]);
    if (facts->writes == NULL)
        return rig_no_memory(err, "the history");
    memset(facts->writes, 0xff, slots * sizeof facts->writes[0]);
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t op = history->txns[txn].first_op; op < history->txns[txn + 1].first_op; op++) {
            const struct rig_txn_op *at = &history->ops[op];
            if (at->kind != type->write_op && at->kind != type->read_op)
                return rig_fail(err, RIG_E_LIMIT, "T%u has an operation of another workload",
                                rig_txn_name(history, txn));
            if (at->kind != type->write_op || (facts->form == RIG_FACTS_ROWS && at->value <= 0))
                continue; /* a condition is no write */
            struct rig_fact_write *write = find(facts, at->key, at->value);
            if (write->op != RIG_FACT_NONE)
                return rig_fail(err, RIG_E_LIMIT,
                                "T%u writes a value that T%u writes, too: values must be unique, except with "
                                "`--workload multi-key-acid`",
                                rig_txn_name(history, txn), rig_txn_name(history, write->txn));
            *write = (struct rig_fact_write){op, txn};
        }
    }
    return RIG_OK;
}

enum rig_rc rig_facts_init(struct rig_facts *facts, const struct rig_history *history, struct rig_err *err)
{
    RIG_REQUIRE((unsigned)history->workload < RIG_WORKLOAD_COUNT);
    const enum rig_workload workload = history->workload;
    const bool is_register = ((unsigned)RIG_WORKLOADS_OF_REGISTERS >> workload & 1) != 0;
    *facts = (struct rig_facts){.history = history, .shape = rig_data_types[workload].shape};
    if (rig_workload_is_object(workload))
        facts->form = RIG_FACTS_OBJECTS;
    else if (((unsigned)RIG_WORKLOADS_OF_NAMED_WRITERS >> workload & 1) == 0)
        facts->form = RIG_FACTS_SUMS;
    else if (facts->shape == RIG_RESULT_ROWS)
        facts->form = RIG_FACTS_ROWS;
    else if (!is_register && facts->shape != RIG_RESULT_LIST && facts->shape != RIG_RESULT_SET)
        return rig_fail(err, RIG_E_LIMIT, "proofs about %s are not supported", rig_data_types[workload].name);
    if (history->lost_count > 0)
        return rig_fail(err, RIG_E_LIMIT, "the history omits operations that may have read or written");
    while (facts->completed < history->txn_count && history->txns[facts->completed].complete_at != RIG_POSITION_NONE)
        facts->completed++;
    RIG_INVARIANT(facts->completed <= history->txn_count);
    return facts->form == RIG_FACTS_VERSIONS || facts->form == RIG_FACTS_ROWS ? index_writes(facts, err) : RIG_OK;
}

/* Names ascend among the transactions with a completion, and among the others. */
uint32_t rig_facts_named(const struct rig_facts *facts, uint32_t name)
{
    RIG_REQUIRE(facts->completed <= facts->history->txn_count);
    const uint32_t begins[] = {0, facts->completed, facts->history->txn_count};
    for (int part = 0; part < 2; part++) {
        uint32_t low = begins[part], high = begins[part + 1];
        while (low < high)
            rig_halve(&low, &high, rig_txn_name(facts->history, rig_middle(low, high)) < name);
        if (low < begins[part + 1] && rig_txn_name(facts->history, low) == name)
            return low;
    }
    return RIG_FACT_NONE;
}

struct rig_read_list rig_facts_external(const struct rig_facts *facts, uint32_t txn, uint32_t op)
{
    RIG_REQUIRE(txn < facts->history->txn_count && op >= facts->history->txns[txn].first_op &&
                op < facts->history->txns[txn + 1].first_op);
    RIG_REQUIRE(rig_op_reads_sequence(facts->history->ops[op].kind));
    const struct rig_history *history = facts->history;
    struct rig_read_list list = rig_txn_op_list(history, &history->ops[op]);
    bool appends = false;
    for (uint32_t i = history->txns[txn].first_op; !appends && i < history->txns[txn + 1].first_op; i++)
        appends = !rig_op_reads(history->ops[i].kind) && history->ops[i].key == history->ops[op].key;
    while (appends && list.count > 0) {
        const int64_t last = rig_read_element(&list, list.count - 1);
        if (rig_facts_write_in(history, txn, history->ops[op].key, last) == RIG_FACT_NONE)
            break;
        list.count--;
    }
    list.shared = list.count < list.shared ? list.count : list.shared;
    RIG_INVARIANT(list.shared <= list.count);
    return list;
}

/* ---- for witnesses ---- */

static bool lists_disagree(const struct rig_read_list *a, const struct rig_read_list *b)
{
    const uint32_t shared = a->at == b->at ? (a->shared < b->shared ? a->shared : b->shared) : 0;
    for (uint32_t i = shared; i < a->count && i < b->count; i++) {
        if (rig_read_element(a, i) != rig_read_element(b, i))
            return true;
    }
    return false;
}

static void note_longest(struct rig_facts *facts, uint32_t *longest, uint32_t op)
{
    RIG_REQUIRE(rig_op_reads_sequence(facts->history->ops[op].kind));
    const uint32_t key = facts->history->ops[op].key;
    const struct rig_read_list list = rig_txn_op_list(facts->history, &facts->history->ops[op]);
    if (longest[key] == RIG_FACT_NONE) {
        longest[key] = op;
        return;
    }
    RIG_INVARIANT(facts->history->ops[longest[key]].key == key);
    const struct rig_read_list most = rig_txn_op_list(facts->history, &facts->history->ops[longest[key]]);
    if (lists_disagree(&list, &most))
        facts->contested[key] = 1;
    if (list.count > most.count)
        longest[key] = op;
}

static void find_longest(struct rig_facts *facts)
{
    const struct rig_history *history = facts->history;
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        for (uint32_t op = history->txns[txn].first_op; facts->committed[txn] && op < history->txns[txn + 1].first_op;
             op++) {
            const struct rig_txn_op *at = &history->ops[op];
            if (!rig_op_reads(at->kind) || at->read_state == RIG_READ_UNKNOWN)
                continue;
            note_longest(facts, facts->longest, op);
            if (history->txns[txn].outcome == RIG_OUTCOME_OK)
                note_longest(facts, facts->longest_acknowledged, op);
        }
    }
}

enum rig_rc rig_facts_witness(struct rig_facts *facts, struct rig_err *err)
{
    const struct rig_history *history = facts->history;
    const size_t txns = (size_t)history->txn_count + 1, keys = (size_t)history->key_count + 1;
    if (facts->committed != NULL || (facts->form != RIG_FACTS_VERSIONS && facts->form != RIG_FACTS_ROWS))
        return RIG_OK;
    facts->committed = calloc(txns, sizeof facts->committed[0]);
    facts->contested = calloc(keys, 1);
    facts->longest = malloc(keys * sizeof facts->longest[0]);
    facts->longest_acknowledged = malloc(keys * sizeof facts->longest[0]);
    if (facts->committed == NULL || facts->contested == NULL || facts->longest == NULL ||
        facts->longest_acknowledged == NULL ||
        !rig_commits_prove(history, (enum rig_op_kind)rig_data_types[history->workload].write_op,
                           facts->form == RIG_FACTS_ROWS ? rig_row_follow_reads : rig_commits_follow_reads, NULL,
                           facts->committed))
        return rig_no_memory(err, "the history");
    memset(facts->longest, 0xff, keys * sizeof facts->longest[0]);
    memset(facts->longest_acknowledged, 0xff, keys * sizeof facts->longest[0]);
    RIG_INVARIANT(facts->writes != NULL);
    if (facts->shape == RIG_RESULT_LIST)
        find_longest(facts);
    return RIG_OK;
}

bool rig_read_found_no_row(const struct rig_history *history, bool prefilled, uint32_t op)
{
    RIG_REQUIRE(op < history->op_count);
    const struct rig_txn_op *read = &history->ops[op];
    if (prefilled || !rig_op_reads(read->kind) || read->read_state == RIG_READ_UNKNOWN ||
        (history->had_rows != NULL && history->had_rows[read->key]))
        return false;
    switch (rig_op_infos[read->kind].shape) {
    case RIG_RESULT_VALUE:
        return read->read_state == RIG_READ_NIL;
    case RIG_RESULT_LIST:
        return read->read_state == RIG_READ_NIL || read->count == 0;
    case RIG_RESULT_SET: /* an element that a read misses is one */
        return true;
    case RIG_RESULT_NOTHING:
    case RIG_RESULT_RECORDS: /* a poll shows nothing of the records that it misses */
    case RIG_RESULT_ROWS:    /* rows have conditions: witness/verify_row.c */
        break;
    }
    return false;
}

bool rig_facts_found_no_row(const struct rig_facts *facts, uint32_t op)
{
    return rig_read_found_no_row(facts->history, facts->prefilled, op);
}

bool rig_facts_begins(const struct rig_facts *facts, const struct rig_txn_op *read)
{
    const char *text = rig_value_text(facts->initial);
    const bool begins_with_nil = text != NULL && strcmp(text, "nil") == 0;
    return facts->assumes_initial &&
           (read->read_state == RIG_READ_NIL ? begins_with_nil
                                             : read->read_state == RIG_READ_SEEN && read->value == facts->initial);
}
