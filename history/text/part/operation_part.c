#include "history/text/part/operation_part.h"

#include <stdlib.h>
#include <string.h>

#include "history/text/part/part_keys.h"
#include "history/text/part/part_lists.h"
#include "history/text/part/part_take.h"

struct rig_part *rig_part_new(void)
{
    struct rig_part *part = calloc(1, sizeof *part);
    if (part == NULL)
        return NULL;
    part->process_of_small = calloc(RIG_PART_SMALL_PROCESSES, sizeof *part->process_of_small);
    rig_table_init(&part->process_of);
    rig_text_table_init(&part->process_names, 0);
    rig_arena_init(&part->parser.texts, 0);
    rig_arena_init(&part->text_parser.texts, 0);
    rig_buf_init(&part->parser.value_text, RIG_CURSOR_TEXT_BYTES);
    rig_buf_init(&part->text_parser.value_text, RIG_CURSOR_TEXT_BYTES);
    if (part->process_of_small == NULL || !rig_part_clear_keys(part)) {
        rig_part_free(part);
        return NULL;
    }
    return part;
}

void rig_part_free(void *given)
{
    struct rig_part *part = given;
    if (part == NULL)
        return;
    rig_part_processes_done(&part->processes);
    rig_part_invoked_done(&part->invoked);
    rig_part_invoked_done(&part->abandoned);
    free(part->process_of_small);
    rig_table_done(&part->process_of);
    rig_text_table_done(&part->process_names);
    rig_txn_op_vec_done(&part->long_ops);
    rig_part_perhaps_vec_done(&part->perhaps);
    free(part->slots.at);
    rig_part_spines_done(&part->spines);
    rig_part_changes_done(&part->changes);
    rig_part_doubts_done(&part->doubts);
    rig_element_vec_done(&part->elements);
    rig_column_values_done(&part->spans);
    rig_operation_parser_done(&part->parser);
    rig_operation_parser_done(&part->text_parser);
    free(part);
}

static void set_type(struct rig_part *part, const struct rig_data_type *type)
{
    part->type = type;
    rig_op_names_init(&part->names[false], type, false);
    rig_op_names_init(&part->names[true], type, true);
}

void rig_part_start(struct rig_part *part, struct rig_segment *segment, const struct rig_operation_facts *facts,
                    const char *end, size_t limit_bytes)
{
    rig_segment_reset(segment);
    part->limit_bytes = part->parser.limit_bytes = part->text_parser.limit_bytes = limit_bytes;
    part->segment = segment;
    segment->owned = true;
    part->facts = *facts;
    if (part->type != &rig_data_types[facts->workload])
        set_type(part, &rig_data_types[facts->workload]);
    part->end = end;
    rig_operation_parser_takes(&part->parser, facts->workload, facts->has_invocations);
    rig_operation_parser_takes(&part->text_parser, facts->workload, facts->has_invocations);
    part->parser.lock = part->text_parser.lock = facts->lock;
    part->parser.keys_are_values = part->text_parser.keys_are_values = facts->value_keys;
    part->parser.has_texts = part->parser.has_low = false;
    part->text_parser.has_texts = part->text_parser.has_low = false;
    part->index_width = part->time_width = 1;
    part->last_end_length = 0;
    part->refused = false;
    /* These are allocated at the start: code adds to their addresses without a check, and NULL cannot be added to. */
    part->no_memory = !rig_txn_op_vec_reserve(&segment->ops, 1) || !rig_txn_op_vec_reserve(&part->long_ops, 1) ||
                      !rig_element_vec_reserve(&part->parser.operation.elements, 1);
    part->count = 0;
    part->first_index = part->last_index = -1;
    part->key_kinds = 0;
    part->processes.count = 0;
    part->has_negative_process = false;
    if (part->process_names.count > 0) {
        rig_text_table_done(&part->process_names);
        rig_text_table_init(&part->process_names, 0);
    }
    if (part->process_of.used > 0)
        rig_table_clear(&part->process_of);
    part->invoked.count = part->abandoned.count = 0;
    part->long_ops.count = 0;
    part->perhaps.count = 0;
    (void)rig_part_clear_keys(part);
    part->spines.count = 0;
    part->doubts.count = 0;
    rig_part_begin(part);
}

static size_t parser_bytes(const struct rig_operation_parser *parser)
{
    return parser->operation.micros.capacity * sizeof *parser->operation.micros.at +
           parser->operation.elements.capacity * sizeof *parser->operation.elements.at + parser->texts.held_bytes;
}

bool rig_part_fits(const struct rig_part *part)
{
    const size_t bytes =
        rig_segment_bytes(part->segment) + parser_bytes(&part->parser) + parser_bytes(&part->text_parser) +
        part->processes.capacity * sizeof *part->processes.at + part->invoked.capacity * sizeof *part->invoked.at +
        rig_text_table_bytes(&part->process_names) + part->long_ops.capacity * sizeof *part->long_ops.at +
        part->perhaps.capacity * sizeof *part->perhaps.at + (part->slots.mask + 1) * sizeof *part->slots.at +
        part->spines.capacity * sizeof *part->spines.at + part->doubts.capacity * sizeof *part->doubts.at +
        part->changes.capacity * sizeof *part->changes.at + part->elements.capacity * sizeof *part->elements.at;
    return part->limit_bytes == 0 || bytes <= part->limit_bytes;
}

bool rig_part_may_grow(const struct rig_part *part, size_t count)
{
    return count < RIG_PART_FEW || rig_part_fits(part);
}

void rig_part_take_back(struct rig_part *part)
{
    for (size_t i = part->changes.count; i-- > 0;) {
        const struct rig_part_change *change = &part->changes.at[i];
        part->segment->keys.at[change->key].spine.count = change->count;
        part->spines.at[change->key] = change->spine;
    }
    part->changes.count = 0;
    part->columns.given = 0;
    part->segment->branches.count = part->branches_before;
    part->doubts.count = part->doubts_before;
    while (part->segment->keys.count > part->keys_before)
        rig_part_remove_last_key(part);
}

void rig_part_finish(struct rig_part *part)
{
    struct rig_segment *segment = part->segment;
    rig_part_end_doubts(part);
    for (size_t number = 0; number < part->invoked.count && !part->no_memory; number++) {
        struct rig_part_process *process = &part->processes.at[part->invoked.at[number]];
        if (!process->open || process->invocation != number)
            continue;
        rig_part_parse_invoked(part, process, 0);
        if (part->refused || part->no_memory)
            return;
        struct rig_txn txn = {
            .invoke_ns = process->invoke_ns,
            .complete_ns = RIG_NO_TIME,
            .invoke_at = process->invoke_at,
            .complete_at = RIG_POSITION_NONE,
            .first_op = (uint32_t)segment->open_ops.count,
            .process = (int32_t)process->process,
            .outcome = RIG_OUTCOME_INFO,
        };
        const struct rig_txn_op *ops = rig_part_ops(part, process);
        part->no_memory =
            (process->abandoned && !rig_part_invoked_add(&part->abandoned, (uint32_t)segment->open.count)) ||
            !rig_txn_vec_add(&segment->open, txn);
        for (uint32_t i = 0; i < process->op_count && !part->no_memory; i++)
            part->no_memory = !rig_txn_op_vec_add(&segment->open_ops, ops[i]);
        if (process->op_count > RIG_PART_FEW)
            part->no_memory = part->no_memory || !rig_part_fits(part);
    }
}
