/*
 * The course of a load: rates, latencies and errors over time, and transactions to draw. Taken from the history after
 * it was checked, in a pass of its own, so that neither the measured path nor the check knows of it.
 *
 * Time is cut into at most RIG_COURSE_SLOTS slots of equal width, a power of two in ms: slots are joined in pairs when
 * the history turns out to be longer. Latencies of a slot have a relative error of at most 1/16.
 *
 * All transactions are drawn where there are at most RIG_COURSE_BARS. Else: those of witnesses, those that overlap the
 * time of a witness or of the beginning or end of a fault, those that were not acknowledged, and a sample of the
 * others, each with a limit of its own, and always the same ones of the same history. All of them are counted, by
 * client and slot.
 *
 * Space: about 1 MB, and 48 bytes a bar with 24 an operation, at most 6 MB. Under a limit of the verdict (--max-memory)
 * bars take at most an eighth of it, and the parts of the file that are read as much again; a limit that is below four
 * times the fixed part is too small for a course. Time: linear in the history.
 */
#ifndef RIG_REPORT_COURSE_H
#define RIG_REPORT_COURSE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/histogram.h"
#include "base/vec.h"
#include "checker/model/verdict.h"
#include "history/source/source.h"
#include "history/text/text_table.h"

enum {
    RIG_COURSE_SLOTS = 240,
    RIG_COURSE_CODES = 8, /* of errors; the last one stands for all further ones */
    RIG_COURSE_CODE_BYTES = 32,
    RIG_COURSE_OCTAVE = 8, /* buckets of latency an octave */
    RIG_COURSE_BUCKETS = 42 * RIG_COURSE_OCTAVE,
    RIG_COURSE_BARS = 40000,
    RIG_COURSE_ROWS = 128, /* of clients; further ones share these */
};

/* Why a transaction is drawn. */
enum rig_course_why {
    RIG_COURSE_OF_WITNESS,
    RIG_COURSE_NEAR_WITNESS,
    RIG_COURSE_NEAR_FAULT,
    RIG_COURSE_UNACKNOWLEDGED,
    RIG_COURSE_SAMPLE,
    RIG_COURSE_WHYS,
};

enum rig_course_kind { RIG_COURSE_READ_ONLY, RIG_COURSE_WRITING, RIG_COURSE_KINDS };

struct rig_course_slot {
    uint64_t count[3][RIG_COURSE_KINDS]; /* completed, by enum rig_outcome */
    uint64_t by_code[RIG_COURSE_CODES];
    uint32_t latency[RIG_COURSE_BUCKETS]; /* of acknowledged ones */
    int64_t max_ns;
};

/* A transaction that is drawn. */
struct rig_course_bar {
    int64_t invoke_ns, complete_ns; /* from the zero of the history; RIG_NO_TIME: not known */
    uint32_t name;                  /* as in reports */
    int32_t process;
    uint32_t node;     /* into `texts`; UINT32_MAX: not known */
    uint32_t first_op; /* the end is the next bar's, or that of all */
    uint8_t outcome, kind;
    uint8_t why; /* enum rig_course_why; RIG_COURSE_SAMPLE where all are drawn and there is no other reason */
};

struct rig_course_op {
    uint8_t kind, state;
    uint32_t key;   /* into `texts` */
    uint32_t count; /* elements of a list that was read */
    int64_t value;  /* written or read; of a list its last element */
};

/* The clients, or processes where the number of clients is not known, that share a row. */
struct rig_course_row {
    uint32_t least, most;                /* `least` above `most`: there is none */
    uint32_t count[RIG_COURSE_SLOTS][3]; /* completed, by enum rig_outcome */
};

RIG_VEC(struct rig_course_bar, rig_course_bars)
RIG_VEC(struct rig_course_op, rig_course_ops)

struct rig_course {
    int64_t slot_ns;
    uint32_t slot_count;
    struct rig_course_slot slots[RIG_COURSE_SLOTS];
    struct rig_course_row rows[RIG_COURSE_ROWS];
    struct rig_histogram latency[RIG_COURSE_KINDS]; /* of acknowledged ones */
    uint32_t code_count;
    char codes[RIG_COURSE_CODES][RIG_COURSE_CODE_BYTES];
    struct rig_course_bars bars; /* by completion, then those that never completed */
    struct rig_course_ops ops;
    struct rig_text_table texts;
    uint64_t txn_count;    /* all of the history, drawn or not */
    bool is_partial;       /* some are not drawn */
    uint32_t client_count; /* 0: not known, else process % client_count is the client */
};

/*
 * Reads the history again: one path, or the records of the ranks of a run. *course is NULL, without an error, where
 * there is nothing to draw: a history without times, or one whose order its file does not give. RIG_E_LIMIT when memory
 * runs out or the verdict's limit is too small, else the errors of the source.
 */
enum rig_rc rig_course_read(const char *const *paths, size_t path_count, const struct rig_source_options *options,
                            const struct rig_verdict *verdict, uint32_t client_count, struct rig_course **course,
                            struct rig_err *err);
/* Takes NULL. */
void rig_course_free(struct rig_course *course);

/* The row that shows the client of a process, or the process where the number of clients is not known. */
uint32_t rig_course_row(const struct rig_course *course, int32_t process);
/* 0 to 1, the same of every reading, by the transaction's name: what is below a share makes a sample. */
double rig_course_chance(uint32_t name);
/* The latency that `share` (0 to 1) of the slot's acknowledged transactions do not exceed; 0: there are none. */
int64_t rig_course_latency(const struct rig_course_slot *slot, double share);
/* "All 20,061 transactions are drawn.", or which ones are. */
void rig_course_say_drawn(struct rig_buf *out, const struct rig_course *course);

#endif
