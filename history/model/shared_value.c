#include "history/model/shared_value.h"

#include <inttypes.h>
#include <string.h>

#include "base/bug.h"
#include "history/model/value_texts.h"

static const char shared_end[] = "#?\"";

void rig_shared_value_add(struct rig_buf *out, const char *value, size_t length, uint32_t mark_length, uint32_t number)
{
    rig_buf_add_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        if (value[i] == '"' || value[i] == '\\')
            rig_buf_add_char(out, '\\');
        rig_buf_add_char(out, value[i]);
    }
    for (uint32_t i = 0; i < mark_length; i++)
        rig_buf_add_char(out, '#');
    if (number == RIG_SHARED_BY_ALL)
        rig_buf_add_text(out, "?\"");
    else
        rig_buf_printf(out, "%" PRIu32 "\"", number);
}

bool rig_value_is_shared(int64_t value)
{
    const char *text = value < RIG_VALUE_TEXTS_BELOW ? rig_value_text(value) : NULL;
    const size_t length = text == NULL ? 0 : strlen(text), end = sizeof shared_end - 1;
    return length > end + 1 && text[0] == '"' && memcmp(text + length - end, shared_end, end) == 0;
}

/* The length of the text up to the end of its mark; 0: it is no value of a write or the initial state. */
static size_t marked_length(const char *text)
{
    size_t at = strlen(text);
    if (at < 4 || text[0] != '"' || text[at - 1] != '"')
        return 0;
    const size_t digits_end = --at;
    while (at > 1 && text[at - 1] >= '0' && text[at - 1] <= '9')
        at--;
    return at < digits_end && text[at - 1] == '#' ? at : 0;
}

/* The value whose text is the first `length` characters of `text`, and then `end`. */
static bool number_of(const char *text, size_t length, const char *end, int64_t *value)
{
    struct rig_buf made;
    rig_buf_init(&made, 0);
    rig_buf_add(&made, text, length);
    rig_buf_add_text(&made, end);
    const bool done = !made.failed && rig_value_number(rig_buf_text(&made), made.size, value);
    rig_buf_done(&made);
    return done;
}

bool rig_value_shared_by(int64_t value, int64_t *shared)
{
    const char *text = value < RIG_VALUE_TEXTS_BELOW ? rig_value_text(value) : NULL;
    const size_t length = text == NULL ? 0 : marked_length(text);
    return length > 0 && number_of(text, length, "?\"", shared);
}

bool rig_value_shared_initial(int64_t shared, int64_t *initial)
{
    RIG_REQUIRE(rig_value_is_shared(shared));
    const char *text = rig_value_text(shared);
    return number_of(text, strlen(text) - 2, "0\"", initial);
}

void rig_shared_value_show(struct rig_buf *out, int64_t shared)
{
    RIG_REQUIRE(rig_value_is_shared(shared));
    const char *text = rig_value_text(shared) + 1;
    size_t length = strlen(text) - 2;
    while (length > 0 && text[length - 1] == '#')
        length--;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\' && i + 1 < length)
            i++;
        rig_buf_add_char(out, text[i]);
    }
}

bool rig_value_shows(int64_t shared, int64_t value)
{
    struct rig_buf written, shown;
    rig_buf_init(&written, 0);
    rig_buf_init(&shown, 0);
    rig_shared_value_show(&written, shared);
    rig_value_add(&shown, value);
    const bool same = !written.failed && !shown.failed && strcmp(rig_buf_text(&written), rig_buf_text(&shown)) == 0;
    rig_buf_done(&written);
    rig_buf_done(&shown);
    return same;
}
