#include "checker/prove/witness/object_states.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/model/object_words.h"
#include "history/model/value_texts.h"

uint64_t rig_proved_hash(const char *bytes, size_t size)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
    return hash;
}

uint32_t rig_proved_state(struct rig_proved_states *p)
{
    const size_t size = p->text.size;
    for (uint64_t hash = rig_proved_hash(rig_buf_text(&p->text), size); !p->text.failed; hash++) {
        uint32_t *id = rig_table_put(&p->ids, hash);
        if (id == NULL)
            break;
        if (*id != RIG_TABLE_NONE) {
            if (p->lengths.at[*id] == size && memcmp(p->texts.at[*id], rig_buf_text(&p->text), size) == 0)
                return *id;
            continue;
        }
        char *copy = malloc(size + 1);
        if (copy == NULL || !rig_proved_lengths_add(&p->lengths, (uint32_t)size) ||
            !rig_proved_texts_add(&p->texts, copy)) {
            free(copy);
            break;
        }
        memcpy(copy, rig_buf_text(&p->text), size + 1);
        *id = (uint32_t)p->texts.count - 1;
        return *id;
    }
    p->no_memory = true;
    return 0;
}

static bool is_state(const struct rig_proved_states *p, const char *text)
{
    return p->text.size == strlen(text) && memcmp(rig_buf_text(&p->text), text, p->text.size) == 0;
}

/* Reads, expects or writes the whole state. */
static bool use_register(struct rig_proved_states *p, const struct rig_txn_op *op)
{
    const int64_t value = op->read_state == RIG_READ_NIL ? rig_object_nil(p->workload) : op->value;
    const char *text = RIG_VALUE_SHOWN(value);
    if (op->kind == RIG_OP_READ_REGISTER && op->read_state == RIG_READ_UNKNOWN)
        return true;
    if (op->kind == RIG_OP_READ_REGISTER || op->kind == RIG_OP_EXPECT)
        return is_state(p, text);
    RIG_REQUIRE(op->kind == RIG_OP_WRITE);
    rig_buf_clear(&p->text);
    rig_buf_add_text(&p->text, text);
    return true;
}

static bool use_string(struct rig_proved_states *p, const struct rig_txn_op *op)
{
    if (op->kind == RIG_OP_READ_REGISTER && op->read_state == RIG_READ_UNKNOWN)
        return true;
    const char *shown = op->read_state == RIG_READ_NIL ? "" : RIG_VALUE_SHOWN(op->value);
    const size_t length = strlen(shown), quotes = length >= 2 && *shown == '"' ? 1 : 0;
    const char *from = shown + quotes;
    const size_t size = length - 2 * quotes;
    /* A state of the search from which the proof begins may be a string that no read shows before the next put. */
    if (p->text.size > 0 && rig_buf_text(&p->text)[0] == '\0' && op->kind != RIG_OP_WRITE)
        return op->kind != RIG_OP_READ_REGISTER;
    if (op->kind == RIG_OP_READ_REGISTER)
        return p->text.size == size && memcmp(rig_buf_text(&p->text), from, size) == 0;
    if (op->kind == RIG_OP_WRITE)
        rig_buf_clear(&p->text);
    rig_buf_add(&p->text, from, size);
    return true;
}

/* Values in a row, each with a NUL behind it. */
static bool use_row(struct rig_proved_states *p, const struct rig_txn_op *op)
{
    const char *text = rig_buf_text(&p->text);
    if (!rig_op_reads(op->kind)) {
        rig_buf_add_text(&p->text, RIG_VALUE_SHOWN(op->value));
        rig_buf_add_char(&p->text, '\0');
        return true;
    }
    if (p->text.size == 0 || op->read_state == RIG_READ_NIL)
        return p->text.size == 0 && op->read_state != RIG_READ_SEEN;
    size_t from = 0;
    for (size_t i = p->text.size - 1; op->kind == RIG_OP_POP && from == 0 && i-- > 0;)
        from = text[i] == '\0' ? i + 1 : 0;
    const size_t taken = strlen(text + from) + 1;
    if (op->read_state == RIG_READ_SEEN && strcmp(text + from, RIG_VALUE_SHOWN(op->value)) != 0)
        return false;
    memmove(p->text.data + from, p->text.data + from + taken, p->text.size - from - taken);
    p->text.size -= taken;
    return true;
}

bool rig_proved_apply(struct rig_proved_states *p, uint64_t state, const struct rig_txn_op *ops, uint32_t count,
                      uint32_t *after)
{
    const enum rig_workload workload = p->workload;
    bool possible = true;
    rig_buf_clear(&p->text);
    rig_buf_add(&p->text, p->texts.at[state], p->lengths.at[state]);
    for (uint32_t i = 0; possible && i < count; i++) {
        const struct rig_txn_op *op = &ops[i];
        possible = workload == RIG_WORKLOAD_APPEND_REGISTER                           ? use_string(p, op)
                   : workload == RIG_WORKLOAD_QUEUE || workload == RIG_WORKLOAD_STACK ? use_row(p, op)
                                                                                      : use_register(p, op);
    }
    if (possible)
        *after = rig_proved_state(p);
    return possible && !p->no_memory;
}

static bool has_value(const struct rig_proved_states *p)
{
    return p->workload == RIG_WORKLOAD_CAS_REGISTER || p->workload == RIG_WORKLOAD_MUTEX;
}

uint32_t rig_proved_initial(struct rig_proved_states *p)
{
    rig_buf_clear(&p->text);
    rig_buf_add_text(&p->text, has_value(p) ? RIG_VALUE_SHOWN(rig_object_nil(p->workload)) : "");
    return rig_proved_state(p);
}

bool rig_proved_takes_only(const struct rig_txn_op *ops, uint32_t count)
{
    bool takes = true;
    for (uint32_t i = 0; i < count; i++)
        takes &= ops[i].kind == RIG_OP_DEQUEUE || ops[i].kind == RIG_OP_POP;
    return takes;
}

bool rig_proved_observes(const struct rig_txn_op *ops, uint32_t count)
{
    return count == 1 && ops[0].kind == RIG_OP_READ_REGISTER;
}

void rig_proved_states_init(struct rig_proved_states *p, enum rig_workload workload)
{
    *p = (struct rig_proved_states){.workload = workload};
    rig_table_init(&p->ids);
    rig_buf_init(&p->text, 0);
}

void rig_proved_states_done(struct rig_proved_states *p)
{
    for (size_t i = 0; i < p->texts.count; i++)
        free(p->texts.at[i]);
    rig_proved_texts_done(&p->texts);
    rig_proved_lengths_done(&p->lengths);
    rig_table_done(&p->ids);
    rig_buf_done(&p->text);
}
