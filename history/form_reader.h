/*
 * What a form of history files brings to history/source.h: private to history/.
 *
 * The bytes [0, size) of a file are cut into parts. Where `parallel`, parts are parsed in any order by several threads,
 * and `join` sees the segments in the order of the file, on the reader's thread; else parts are parsed one after the
 * other, by one thread at a time, and parse may keep state from part to part.
 *
 * cut, parse and join may run at the same time, of different parts, in different threads: what one of them changes in
 * the state, the others leave alone. open, finish, grow and close run alone.
 */
#ifndef RIG_HISTORY_FORM_READER_H
#define RIG_HISTORY_FORM_READER_H

#include "base/err.h"
#include "history/segment.h"
#include "history/source.h"

struct rig_form_reader {
    bool parallel;
    size_t usual_part_bytes;
    unsigned held_per_byte; /* what a byte of a part takes while it is read, in bytes: measured, and rather more */
    /* Looks at the beginning; fills in what it can of `facts`. *state is given to the other functions, close among
     * them, also after a failure; it may be NULL. The options name the form. */
    enum rig_rc (*open)(const char *name, const char *data, size_t size, const struct rig_load_options *options,
                        struct rig_source_facts *facts, void **state, struct rig_err *err);
    /* Where the part that begins at `begin` < size ends; called in order, cheap. `begin` itself where nothing whole
     * begins there: a file that is followed may still grow; else the rest is parsed as the last part. */
    size_t (*cut)(void *state, size_t begin);
    /* Parses the part. The segment was reset. */
    enum rig_rc (*parse)(void *state, size_t begin, size_t end, struct rig_segment *segment, struct rig_err *err);
    /* In order: joins the segment to those before it (completions to invocations of earlier parts, positions). The
     * segment was noted after it was parsed: what join adds to it or takes from it, the note must learn. May be NULL.
     */
    enum rig_rc (*join)(void *state, struct rig_segment *segment, struct rig_err *err);
    /* After the last segment: what can only be known at the end (truncated). The source itself adds up what segments
     * say (skipped_count, keyword_keys). May be NULL. */
    enum rig_rc (*finish)(void *state, struct rig_source_facts *facts, struct rig_err *err);
    /* The file has grown to `size` and lies elsewhere (follow): may be NULL where following is not supported. */
    void (*grow)(void *state, const char *data, size_t size);
    void (*close)(void *state); /* takes NULL */
    /* Whether a file of this form can begin with these bytes: as rig_source_look (source_bytes.h). */
    enum rig_rc (*look)(const char *name, const char *data, size_t size, bool *undecided, struct rig_err *err);
};

extern const struct rig_form_reader rig_record_reader;        /* frame by frame */
extern const struct rig_form_reader rig_record_blocks_reader; /* block by block: see rig_record_has_blocks() */
extern const struct rig_form_reader rig_json_lines_reader;
extern const struct rig_form_reader rig_edn_reader;

/* By the first bytes; RIG_FORM_AUTO when it is none. */
enum rig_form rig_form_recognise(const char *data, size_t size);
/* RIG_E_INPUT: says what the bytes of this file are not. */
enum rig_rc rig_form_refuse(const char *name, const char *data, size_t size, struct rig_err *err);
/* As rig_source_look (source_bytes.h). */
enum rig_rc rig_form_look(const char *name, const char *data, size_t size, bool *undecided, struct rig_err *err);
const struct rig_form_reader *rig_form_reader_of(enum rig_form form);

/* A source in a form that is none of those above, over memory or, where `data` is NULL, over the file `name`: for
 * tests. */
enum rig_rc rig_source_open_form(const char *name, const void *data, size_t size, const struct rig_form_reader *reader,
                                 const struct rig_source_options *options, struct rig_source **source,
                                 struct rig_err *err);

#endif
