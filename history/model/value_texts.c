#include "history/model/value_texts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "history/text/text_table.h"

static struct {
    pthread_mutex_t lock;
    bool started;
    struct rig_text_table texts;
    struct rig_table id_of_number;
    atomic_size_t bytes; /* 0: there are no texts */
} values = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A new text's number: the first free one from its hash on. */
static bool add_number(const char *text, size_t length, uint32_t id, int64_t *number)
{
    for (uint64_t hash = rig_text_hash(text, length);; hash++) {
        const int64_t wanted = INT64_MIN + (int64_t)(hash & ((UINT64_C(1) << 62) - 1));
        uint32_t *place = rig_table_put(&values.id_of_number, (uint64_t)wanted);
        if (place == NULL)
            return false;
        if (*place != RIG_TABLE_NONE && *place != id)
            continue;
        *place = id;
        *number = wanted;
        return true;
    }
}

bool rig_value_number(const char *text, size_t length, int64_t *number)
{
    pthread_mutex_lock(&values.lock);
    if (!values.started) {
        rig_text_table_init(&values.texts, 0);
        rig_table_init(&values.id_of_number);
        values.started = true;
    }
    const uint32_t id = rig_text_table_put(&values.texts, text, length);
    const bool fits = id != RIG_TABLE_NONE && add_number(text, length, id, number);
    atomic_store(&values.bytes, rig_text_table_bytes(&values.texts) +
                                    values.id_of_number.slot_count * (sizeof(uint64_t) + sizeof(uint32_t)));
    pthread_mutex_unlock(&values.lock);
    return fits;
}

const char *rig_value_text(int64_t value)
{
    if (value >= RIG_VALUE_TEXTS_BELOW || atomic_load(&values.bytes) == 0)
        return NULL;
    pthread_mutex_lock(&values.lock);
    const uint32_t id = rig_table_get(&values.id_of_number, (uint64_t)value);
    const char *text = id == RIG_TABLE_NONE ? NULL : values.texts.texts[id];
    pthread_mutex_unlock(&values.lock);
    return text;
}

size_t rig_value_texts_bytes(void)
{
    return atomic_load(&values.bytes);
}

void rig_value_add(struct rig_buf *out, int64_t value)
{
    const char *text = rig_value_text(value);
    if (text == NULL)
        rig_buf_add_int(out, value);
    else
        rig_buf_add_text(out, text);
}

/* The position after a string's closing quote, from after its opening one. */
static const char *string_end(const char *at)
{
    while (*at != '"' && *at != '\0')
        at += at[0] == '\\' && at[1] != '\0' ? 2 : 1;
    return at + (*at == '"');
}

void rig_value_text_add_json(struct rig_buf *out, const char *text)
{
    for (const char *at = text; *at != '\0';) {
        const char *end = *at == '"' ? string_end(at + 1) : at + strcspn(at, " []");
        if (end == at) {
            rig_buf_add_char(out, *at == ' ' ? ',' : *at);
            at++;
            continue;
        }
        const bool is_keyword = *at == ':';
        if (end - at == 3 && memcmp(at, "nil", 3) == 0) {
            rig_buf_add_text(out, "null");
        } else {
            rig_buf_add_text(out, is_keyword ? "\"" : "");
            rig_buf_add(out, at, (size_t)(end - at));
            rig_buf_add_text(out, is_keyword ? "\"" : "");
        }
        at = end;
    }
}

void rig_value_add_json(struct rig_buf *out, int64_t value)
{
    const char *text = rig_value_text(value);
    if (text == NULL)
        rig_buf_add_int(out, value);
    else
        rig_value_text_add_json(out, text);
}

const char *rig_value_show(int64_t value, struct rig_value_digits *digits)
{
    const char *text = rig_value_text(value);
    if (text != NULL)
        return text;
    (void)snprintf(digits->text, sizeof digits->text, "%lld", (long long)value);
    return digits->text;
}
