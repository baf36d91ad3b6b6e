/*
 * Typed values of options: from text, back to text, and whole objects of defaults (base/option.h has the tables).
 *
 * Parsing is strict: a number must be one to its last character, a duration or size must have a unit, and a value must
 * be within its range or one of the choices. Errors say what was expected and, for names and units, the nearest valid
 * one. Their text has no place (file and line) and no full stop; callers add them. Values longer than a line are
 * shortened, and values of RIG_OPTION_SECRET are never shown.
 *
 * Errors: RIG_E_PLAN for a text that is not a value of the option; RIG_E_LIMIT when memory runs out.
 */
#ifndef RIG_BASE_OPTION_PARSE_H
#define RIG_BASE_OPTION_PARSE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/option.h"

/* Whether the option's value is a list of texts. */
static inline bool rig_option_is_list(const struct rig_option *option)
{
    return option->type == RIG_OPTION_TEXT_LIST || option->type == RIG_OPTION_COMMAND ||
           option->type == RIG_OPTION_HEADERS;
}

/* The entry of `table` called `name`, or NULL. */
const struct rig_option *rig_option_find(const struct rig_option *table, const char *name);

/*
 * Parses `text` and stores the value into the options object. Texts are stored as they are: the object borrows `text`.
 * For any type that is not a list.
 */
enum rig_rc rig_option_parse(const struct rig_option *option, const char *text, void *object, struct rig_err *err);
/* Checks one element of a list: if the option has choices, it must be one of them. */
enum rig_rc rig_option_check_element(const struct rig_option *option, const char *text, struct rig_err *err);
/*
 * Splits `a, b` or `[a, b]` into its elements, blanks around them dropped; `[]` is the empty list. An empty element is
 * an error. The elements are copied into the arena.
 */
enum rig_rc rig_option_split_list(struct rig_arena *arena, const char *text, struct rig_text_list *list,
                                  struct rig_err *err);
/* Splits as the option's type requires: a list, or a command line (base/command_line.h). */
enum rig_rc rig_option_split(const struct rig_option *option, struct rig_arena *arena, const char *text,
                             struct rig_text_list *list, struct rig_err *err);
/* Stores a list, borrowed. */
void rig_option_store_list(const struct rig_option *option, const struct rig_text_list *list, void *object);

/* Fills `object` with the defaults of `table`; texts borrow the table, lists come from the arena. Entries without a
 * default are left alone: the object starts zeroed. RIG_E_DRIVER, naming the option, when a default is not a valid
 * value. */
enum rig_rc rig_option_defaults(const struct rig_option *table, void *object, struct rig_arena *arena,
                                struct rig_err *err);

/*
 * Rejects an unusable table (RIG_E_DRIVER): an empty or repeated name, a name that is also a group of others ("a"
 * beside "a.b"), a value outside of the object of `object_size` bytes, a choice without choices, a default that is not
 * a valid value, or such a value of a variation.
 */
enum rig_rc rig_option_check_table(const struct rig_option *table, size_t object_size, struct rig_err *err);

/*
 * Writes the stored value as a person would write it (`30s`, `64MiB`, `50%`, `unlimited`); parsing it gives the same
 * value again. A text is written as it is, NULL as nothing; a secret as the mask; a list as `[a, b]`.
 */
void rig_option_format(const struct rig_option *option, const void *object, struct rig_buf *out);
/* Describes the option's values, with range or choices: "a whole number from 1 to 64". */
void rig_option_describe(const struct rig_option *option, struct rig_buf *out);
/* `text` between backquotes, shortened to fit a line; bytes that a terminal must not see as \xNN. */
void rig_option_quote(const char *text, struct rig_buf *out);

#endif
