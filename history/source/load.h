/*
 * Reads and writes whole histories in any form.
 *
 * Forms: RIG_FORM_RIG (`history.rig`), RIG_FORM_JSON_LINES (Jepsen/Elle field names), RIG_FORM_EDN, and those of
 * solver-based checkers (history/import/), of which only RIG_FORM_PLUME and RIG_FORM_DBCOP are written. The form of a
 * file is recognised by its first bytes, never by its name; a folder holds logs of Cobra. Errors name file, line and
 * column (byte offset for the binary form) and the remedy. RIG_E_INPUT for a malformed file, RIG_E_IO for one that
 * cannot be read, RIG_E_LIMIT beyond `limit_bytes`. A binary record that was cut is not an error: the history is
 * `truncated`.
 */
#ifndef RIG_HISTORY_SOURCE_LOAD_H
#define RIG_HISTORY_SOURCE_LOAD_H

#include "base/err.h"
#include "history/model/history.h"
#include "history/types/types.h"

struct rig_specification;

enum rig_form {
    RIG_FORM_AUTO,
    RIG_FORM_RIG,
    RIG_FORM_JSON_LINES,
    RIG_FORM_EDN,
    RIG_FORM_PLUME, /* text of Plume, PolySI and AWDIT */
    RIG_FORM_AWDIT, /* AWDIT's tests */
    RIG_FORM_DBCOP, /* its binary form */
    RIG_FORM_DBCOP_TEXT,
    RIG_FORM_DBCOP_JSON,
    RIG_FORM_COBRA,
};

struct rig_load_options {
    enum rig_form form;
    bool workload_given; /* else: from the file (binary), or found from the operations (append -> list-append, w ->
                            rw-register, acquire -> mutex); RIG_E_USAGE where these fit several types */
    enum rig_workload workload;
    enum rig_type_origin type_origin;              /* set by the source where it finds the workload before it reads */
    struct rig_lock_rules lock;                    /* JSON lines and EDN: of operations such as {:f :acquire} */
    const struct rig_specification *specification; /* of the workload model; borrowed; NULL: it is not known */
    bool excerpt;            /* the history is part of a longer one: transactions outside it may have read or written */
    bool value_keys;         /* JSON lines and EDN: keys are values of any kind, as keys of several kinds are */
    size_t limit_bytes;      /* 0: none */
    size_t decode_bytes;     /* set by the source: memory for decoding a part, with its segment */
    size_t segment_bytes;    /* set by the source: memory for a segment alone */
    size_t part_bytes;       /* read in parts of this size, cut anywhere; 0: chosen by the limit */
    size_t usual_part_bytes; /* set by the source: without `part_bytes` the usual size of parts */
    size_t most_part_bytes;  /* set by the source: without `part_bytes` the largest size of parts */
    unsigned block_set;      /* JSON lines and EDN: use this set of rig_text_blocks(); 0: the fastest */
};

/* `path` "-" is standard input. */
enum rig_rc rig_history_load(const char *path, const struct rig_load_options *options, struct rig_history **history,
                             struct rig_err *err);
/* The records of the ranks of one run as one history, or one path as above (rig_source_open_ranks). */
enum rig_rc rig_history_load_ranks(const char *const *paths, size_t count, const struct rig_load_options *options,
                                   struct rig_history **history, struct rig_err *err);
/* From memory; `name` stands for the file in errors. */
enum rig_rc rig_history_parse(const char *name, const void *data, size_t size, const struct rig_load_options *options,
                              struct rig_history **history, struct rig_err *err);
struct rig_source;
/* The same from a source at its beginning. */
enum rig_rc rig_history_take(struct rig_source *source, const struct rig_load_options *options, const char *name,
                             struct rig_history **history, struct rig_err *err);

struct rig_save_options {
    enum rig_form form; /* not RIG_FORM_AUTO */
    bool pack;          /* compressed: rig's own form only; RIG_E_USAGE if this build cannot compress */
};

/* Writes atomically; "-" is standard output. Files have no place for processes that run in turn (struct rig_history):
 * see history/model/process_lanes.h. RIG_E_INPUT for keys that are not UTF-8 in JSON lines and EDN, and for what
 * a form of a solver-based checker cannot hold. */
enum rig_rc rig_history_save(const struct rig_history *history, const char *path,
                             const struct rig_save_options *options, struct rig_err *err);

#endif
