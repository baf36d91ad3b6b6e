#include "report/tell.h"

#include "base/plural.h"
#include "report/markup.h"
#include "report/words.h"

static void say_count(const void *context, const struct rig_said *words, struct rig_buf *out)
{
    (void)context;
    rig_words_count(out, words->is.count);
}

static void say_plural(const void *context, const struct rig_said *words, struct rig_buf *out)
{
    (void)context;
    rig_buf_add_text(out, rig_plural(words->is.count));
}

static void say_size(const void *context, const struct rig_said *words, struct rig_buf *out)
{
    (void)context;
    rig_words_size(out, words->is.count);
}

static void say_levels(const void *context, const struct rig_said *words, struct rig_buf *out)
{
    (void)context;
    rig_words_levels(out, words->is.count);
}

static void say_duration(const void *context, const struct rig_said *words, struct rig_buf *out)
{
    (void)context;
    rig_words_duration(out, words->is.number);
}

static void say_clean(const void *context, const struct rig_said *words, struct rig_buf *out)
{
    (void)context;
    rig_words_clean(out, words->is.text, false);
}

static void say_escaped(const void *context, const struct rig_said *words, struct rig_buf *out)
{
    (void)context;
    rig_markup_escape(out, words->is.text);
}

const struct rig_directive rig_tell_directives[] = {
    {'n', "d", say_count},    {'p', "d", say_plural}, {'b', "d", say_size},    {'l', "d", say_levels},
    {'t', "n", say_duration}, {'c', "t", say_clean},  {'h', "t", say_escaped}, {0, NULL, NULL},
};
