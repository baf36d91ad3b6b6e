#include "checker/object/object_strings.h"

#include <string.h>

#include "checker/witness/object_words.h"

static const char common[] = "\xff"; /* in no text of UTF-8 */
enum { MOST_BEGINNINGS = 1 << 20 };

/* FNV-1a, which goes on from a beginning. */
static const uint64_t hash_basis = UINT64_C(14695981039346656037);

static uint64_t hash_on(uint64_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * UINT64_C(1099511628211);
}

static bool note_beginnings(struct rig_object_strings *strings, const struct rig_buf *text)
{
    uint64_t hash = hash_basis;
    for (size_t i = 0; strings->usable && i < text->size; i++) {
        hash = hash_on(hash, text->data[i]);
        uint32_t *noted = rig_table_put(&strings->beginnings, hash);
        if (noted == NULL)
            return false;
        *noted = 0;
        strings->usable = text->data[i] != common[0] && strings->beginnings.used < MOST_BEGINNINGS;
    }
    return true;
}

bool rig_object_strings_init(struct rig_object_strings *strings, const struct rig_object_model *from,
                             const struct rig_object_op *ops, uint32_t count, struct rig_object_model *into)
{
    struct rig_buf text;
    bool fits = true;
    *strings = (struct rig_object_strings){.usable = true};
    rig_table_init(&strings->beginnings);
    rig_buf_init(&text, 0);
    for (uint32_t i = 0; fits && strings->usable && i < count; i++) {
        const struct rig_object_class *class = &from->classes.at[ops[i].class];
        for (uint32_t op = 0; fits && op < class->op_count; op++) {
            if (!rig_op_reads(class->ops[op].kind) || class->ops[op].read_state != RIG_READ_SEEN)
                continue;
            rig_buf_clear(&text);
            rig_object_string(class->ops[op].value, &text);
            fits = !text.failed && note_beginnings(strings, &text);
        }
        struct rig_object_op changed = ops[i];
        changed.class = rig_object_class_of(into, class->ops, class->op_count);
        fits = fits && changed.class != RIG_OBJECT_NONE && rig_object_op_list_add(&strings->ops, changed);
    }
    rig_buf_done(&text);
    return fits;
}

void rig_object_strings_done(struct rig_object_strings *strings)
{
    rig_table_done(&strings->beginnings);
    rig_object_op_list_done(&strings->ops);
}

void rig_object_strings_merge(const struct rig_object_strings *strings, struct rig_buf *state)
{
    uint64_t hash = hash_basis;
    for (size_t i = 0; i < state->size; i++)
        hash = hash_on(hash, state->data[i]);
    if (state->size == 0 || rig_table_get(&strings->beginnings, hash) != RIG_TABLE_NONE)
        return;
    rig_buf_clear(state);
    rig_buf_add(state, common, strlen(common));
}
