/*
 * The form readers of JSON lines and EDN (history/source/form_reader.h), on one structure: each has its tokens, and its
 * fast path for an operation.
 *
 * A cut is a guess: the start of a line that looks like an operation. A part reads the operations that begin in it, the
 * last one to its end. Joining the parts, in order, tells whether each part began where the one before it ended, at an
 * operation. If not (a form over several lines, a cut within a text), the part is read again from there. So any file is
 * read correctly, and files with one operation a line in parallel.
 *
 * A completion of an invocation in an earlier part takes several times as long: with thousands of processes, parts are
 * longer.
 *
 * Threads: parts may be parsed by several; all else by one.
 */
#ifndef RIG_HISTORY_TEXT_TEXT_READER_H
#define RIG_HISTORY_TEXT_TEXT_READER_H

#include "history/source/form_reader.h"
#include "history/text/fast/operation_fast.h"

enum {
    RIG_TEXT_PART_BYTES = 4 << 20,
    RIG_TEXT_MOST_PART_BYTES = 32 << 20, /* of many processes */
    RIG_TEXT_PROCESS_BYTES = 2 << 10,    /* at least this many for each of them */
    RIG_TEXT_HELD_PER_BYTE = 3
};

struct rig_text_form {
    const struct rig_text_syntax *syntax;
    enum rig_fast_syntax fast; /* of the fast path */
    char separator;            /* between the operations of a sequence, 0 where it is a blank */
};

struct rig_text_file {
    const struct rig_text_form *form;
    const char *name, *data;
    size_t size; /* bytes of `data` */
};

enum rig_rc rig_text_reader_open(const struct rig_text_file *file, const struct rig_load_options *options,
                                 struct rig_source_facts *facts, void **state, struct rig_err *err);
/* The file is a rewritten text, and its errors name the places of `origin`, which outlives the state. */
void rig_text_reader_set_origin(void *state, const struct rig_text_origin *origin);
/* After a failure: whether keys of several kinds are the cause, which a reader with `value_keys` reads. */
bool rig_text_reader_mixes_keys(const void *state);
size_t rig_text_reader_cut(void *state, size_t begin);
enum rig_rc rig_text_reader_parse(void *state, size_t begin, size_t end, struct rig_segment *segment,
                                  struct rig_err *err);
enum rig_rc rig_text_reader_join(void *state, struct rig_segment *segment, struct rig_err *err);
/* Reads the first operation; undecided if it does not end within these bytes. */
enum rig_rc rig_text_reader_look(const struct rig_text_syntax *syntax, const char *name, const char *data, size_t size,
                                 bool *undecided, struct rig_err *err);
void rig_text_reader_close(void *state);

#endif
