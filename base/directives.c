#include "base/directives.h"

#include <inttypes.h>
#include <string.h>

#include "base/bug.h"

static void say_integer(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    (void)context;
    if (words->type == RIG_SAID_NUMBER)
        rig_buf_printf(text, "%" PRId64, words->is.number);
    else
        rig_buf_printf(text, "%" PRIu64, words->is.count);
}

static void say_text(const void *context, const struct rig_said *words, struct rig_buf *text)
{
    (void)context;
    rig_buf_add_text(text, words->is.text);
}

static const struct rig_directive common[] = {
    {'d', "d", say_integer},
    {'s', "t", say_text},
    {0, NULL, NULL},
};

/* NULL: the table has no such directive. */
static const struct rig_directive *find_in(const struct rig_directive *directives, char name)
{
    while (directives->name != name && directives->name != 0)
        directives++;
    return directives->name == 0 ? NULL : directives;
}

/* Whether an argument of that type is one that the letter of a directive stands for. */
static bool fits(char letter, enum rig_said_type type)
{
    switch (type) {
    case RIG_SAID_ID:
        return letter == 'i' || letter == 'd';
    case RIG_SAID_NUMBER:
        return letter == 'n' || letter == 'd';
    case RIG_SAID_COUNT:
        return letter == 'd';
    case RIG_SAID_TEXT:
        return letter == 't';
    case RIG_SAID_TRUTH:
    case RIG_SAID_REAL:
    case RIG_SAID_END:
        break;
    }
    return false;
}

/* Gives the word after those that the directive takes. */
static const struct rig_said *say_one(const struct rig_directive *directive, const void *context,
                                      const struct rig_said *words, struct rig_buf *text)
{
    const size_t count = strlen(directive->takes);
    for (size_t i = 0; i < count; i++)
        RIG_REQUIRE(fits(directive->takes[i], words[i].type));
    directive->say(context, words, text);
    return words + count;
}

void rig_say_words(const struct rig_directive *directives, const void *context, struct rig_buf *text,
                   const struct rig_said *words)
{
    RIG_REQUIRE(words->type == RIG_SAID_TEXT);
    const char *format = (words++)->is.text;
    for (const char *percent; (percent = strchr(format, '%')) != NULL; format = percent + 2) {
        rig_buf_add(text, format, (size_t)(percent - format));
        if (percent[1] == '%') {
            rig_buf_add_char(text, '%');
            continue;
        }
        const struct rig_directive *own = find_in(directives, percent[1]);
        const struct rig_directive *directive = own != NULL ? own : find_in(common, percent[1]);
        RIG_REQUIRE(directive != NULL && "a directive of the formatter");
        words = say_one(directive, context, words, text);
    }
    rig_buf_add_text(text, format);
    RIG_REQUIRE(words->type == RIG_SAID_END);
}
