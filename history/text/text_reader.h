/*
 * The form readers of JSON lines and EDN (history/form_reader.h), on one structure: each brings its tokens, and its
 * short way through an operation.
 *
 * Cuts are guesses: where a line begins that looks like an operation's. A part reads the operations that begin in it,
 * and the last one to its end. When parts are joined, in order, it shows whether a part began where the one before it
 * ended, at an operation; where not (a form over several lines, a cut within a text), it is read again from there. So
 * any file is read rightly, and files with an operation a line side by side.
 *
 * What was invoked in an earlier part takes several times as long to complete: where there are thousands of processes,
 * parts are longer.
 *
 * Threads: parts may be parsed by several; all else by one.
 */
#ifndef RIG_HISTORY_TEXT_TEXT_READER_H
#define RIG_HISTORY_TEXT_TEXT_READER_H

#include "history/form_reader.h"
#include "history/text/fast/operation_fast.h"

enum {
    RIG_TEXT_PART_BYTES = 4 << 20,
    RIG_TEXT_MOST_PART_BYTES = 32 << 20, /* of many processes */
    RIG_TEXT_PROCESS_BYTES = 2 << 10,    /* so many for each of them, or more */
    RIG_TEXT_HELD_PER_BYTE = 3
};

struct rig_text_form {
    const struct rig_text_syntax *syntax;
    enum rig_fast_syntax fast; /* of the short way */
    char separator;            /* between the operations of a sequence, 0 where it is a blank */
};

enum rig_rc rig_text_reader_open(const struct rig_text_form *form, const char *name, const char *data, size_t size,
                                 const struct rig_load_options *options, struct rig_source_facts *facts, void **state,
                                 struct rig_err *err);
size_t rig_text_reader_cut(void *state, size_t begin);
enum rig_rc rig_text_reader_parse(void *state, size_t begin, size_t end, struct rig_segment *segment,
                                  struct rig_err *err);
enum rig_rc rig_text_reader_join(void *state, struct rig_segment *segment, struct rig_err *err);
/* Reads the first operation; undecided where that has no end among these bytes. */
enum rig_rc rig_text_reader_look(const struct rig_text_syntax *syntax, const char *name, const char *data, size_t size,
                                 bool *undecided, struct rig_err *err);
void rig_text_reader_close(void *state);

#endif
