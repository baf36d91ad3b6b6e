/*
 * The interface of a form of history files to history/source/source.h. Private to history/.
 *
 * The bytes [0, size) of a file are cut into parts. If `parallel`, several threads parse parts in any order, and `join`
 * gets the segments in the order of the file, on the reader's thread. Otherwise parts are parsed in order, by one
 * thread at a time, and `parse` may keep state from part to part.
 *
 * cut, parse and join may run at the same time, for different parts, in different threads: state that one of them
 * changes the others do not touch. open, finish, grow and close run alone.
 */
#ifndef RIG_HISTORY_SOURCE_FORM_READER_H
#define RIG_HISTORY_SOURCE_FORM_READER_H

#include "base/err.h"
#include "history/model/segment.h"
#include "history/source/source.h"
#include "history/source/source_parts.h"
#include "history/text/text_cursor.h"

struct rig_form_reader {
    bool parallel;
    size_t usual_part_bytes;
    unsigned held_per_byte; /* memory that a byte of a part takes while it is read, in bytes: measured, plus a margin */
    /* Reads the beginning; fills in what it can of `facts`. *state is passed to the other functions, and to close
     * also after a failure; it may be NULL. The options name the form. */
    enum rig_rc (*open)(const char *name, const char *data, size_t size, const struct rig_load_options *options,
                        struct rig_source_facts *facts, void **state, struct rig_err *err);
    /* The end of the part that begins at `begin` < size; called in order, cheap. `begin` if nothing complete begins
     * there: a file that is followed may still grow; otherwise the rest is parsed as the last part. */
    size_t (*cut)(void *state, size_t begin);
    /* Parses the part. The segment was reset. */
    enum rig_rc (*parse)(void *state, size_t begin, size_t end, struct rig_segment *segment, struct rig_err *err);
    /* In order: joins the segment to those before it (completions to invocations of earlier parts, positions). The
     * segment's note was made after parsing: if join changes the segment it updates the note. May be NULL. */
    enum rig_rc (*join)(void *state, struct rig_segment *segment, struct rig_err *err);
    /* After the last segment: facts that are only known at the end (truncated). The source itself adds up those of
     * the segments (skipped_count, keyword_keys). May be NULL. */
    enum rig_rc (*finish)(void *state, struct rig_source_facts *facts, struct rig_err *err);
    /* The file has grown to `size` and its mapping has moved (follow): NULL if following is not supported. */
    void (*grow)(void *state, const char *data, size_t size);
    void (*close)(void *state); /* takes NULL */
    /* Whether a file of this form can begin with these bytes (rig_source_look in source_parts.h). */
    enum rig_rc (*look)(const char *name, const char *data, size_t size, bool *undecided, struct rig_err *err);
};

extern const struct rig_form_reader rig_record_reader;        /* frame by frame */
extern const struct rig_form_reader rig_record_blocks_reader; /* block by block: see rig_record_has_blocks() */
extern const struct rig_form_reader rig_json_lines_reader;
extern const struct rig_form_reader rig_edn_reader;

/* By the first bytes; RIG_FORM_AUTO for an unknown form. */
enum rig_form rig_form_recognise(const char *data, size_t size);
/* RIG_E_INPUT with the error for a file of an unknown form. */
enum rig_rc rig_form_refuse(const char *name, const char *data, size_t size, struct rig_err *err);
/* As rig_source_look (source_parts.h). */
enum rig_rc rig_form_look(const char *name, const char *data, size_t size, bool *undecided, struct rig_err *err);
const struct rig_form_reader *rig_form_reader_of(enum rig_form form);

/* A source in any other form, over memory or, if `data` is NULL, over the file `name`: for tests. */
enum rig_rc rig_source_open_form(const char *name, const void *data, size_t size, const struct rig_form_reader *reader,
                                 const struct rig_source_options *options, struct rig_source **source,
                                 struct rig_err *err);

/*
 * Texts that a source rewrites before it parses them: lines out of the order of their indices are sorted, and the
 * operations of Jepsen's classic workloads become transactions. Other texts stay as they are.
 *
 * Memory: the rewritten text, at most half of the limit, or of the machine's memory. Threads: none else uses the bytes.
 */

struct rig_rewritten {
    struct rig_text_origin origin; /* where the lines were; none: the text is as it was */
    bool sorted;
    bool reads_at_once; /* see struct rig_history */
};

void rig_rewritten_done(struct rig_rewritten *rewritten);

/* Sorts by index where that is what the text lacks; `sorted` says so. The form is JSON lines or EDN. */
enum rig_rc rig_rewrite_sorted(const char *name, const struct rig_load_options *load, struct rig_source_bytes *bytes,
                               struct rig_rewritten *rewritten, struct rig_err *err);
/* Makes transactions of classic operations, in the order of their indices. Texts of other forms are left alone. */
enum rig_rc rig_rewrite_classic(const char *name, struct rig_load_options *load, struct rig_source_bytes *bytes,
                                struct rig_rewritten *rewritten, struct rig_err *err);

#endif
