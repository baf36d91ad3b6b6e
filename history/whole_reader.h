/*
 * A form reader that parses everything at once and then hands it out in stretches, for forms that have no reader of
 * their own. Time and space: those of the whole history, and of each key's spine once more a stretch.
 */
#ifndef RIG_HISTORY_WHOLE_READER_H
#define RIG_HISTORY_WHOLE_READER_H

#include "history/form_reader.h"

enum { RIG_WHOLE_READER_TXNS = 1 << 16 }; /* in a stretch */

extern const struct rig_form_reader rig_whole_reader;

/* The history that such a reader hands out, whole. */
enum rig_rc rig_whole_parse(const char *name, const void *data, size_t size, const struct rig_load_options *options,
                            struct rig_history **history, struct rig_err *err);

#endif
