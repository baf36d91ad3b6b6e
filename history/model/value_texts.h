/*
 * Numbers for values and elements that are not integers: texts, keywords, fractions, nil, booleans, lists of these.
 *
 * The checker needs values only to be equal or not, so each different value gets a number of 64 bits below
 * RIG_VALUE_TEXTS_BELOW, derived from the hash (xxh3) of its text, and therefore the same in each part of a file and in
 * each run. Two texts of one hash get successive numbers, so that the hash alone never decides equality. One table
 * serves the whole process and is never emptied: a number stands for one text everywhere, and reports can show it
 * without the file. A reader of files refuses integers of that range beside such values.
 *
 * A value's text is its EDN, written in one way: `"a\"b"`, `:a`, `1.5`, `nil`, `[1 [2 "x"]]`.
 *
 * Space: the texts, about 40 bytes each besides. Threads: any; it has a lock, under which no other is taken.
 */
#ifndef RIG_HISTORY_MODEL_VALUE_TEXTS_H
#define RIG_HISTORY_MODEL_VALUE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define RIG_VALUE_TEXTS_BELOW (-((int64_t)1 << 62))

/* The text's number, new or known; false when memory runs out. No NUL inside. */
bool rig_value_number(const char *text, size_t length, int64_t *number);
/* The text of the number, which lives as long as the process; NULL: it is an integer. */
const char *rig_value_text(int64_t value);
/* Memory of the table. */
size_t rig_value_texts_bytes(void);

/* The value as it was written: an integer, or the text. */
void rig_value_add(struct rig_buf *out, int64_t value);
/* The same as JSON: a list with commas, nil as null, a keyword as a string with its colon. */
void rig_value_add_json(struct rig_buf *out, int64_t value);
/* A value's text as JSON. */
void rig_value_text_add_json(struct rig_buf *out, const char *text);

struct rig_value_digits {
    char text[24];
};

/* The same as rig_value_add() for a format's %s; `digits` holds an integer. */
const char *rig_value_show(int64_t value, struct rig_value_digits *digits);
#define RIG_VALUE_SHOWN(value) rig_value_show((value), &(struct rig_value_digits){.text = ""})

#endif
