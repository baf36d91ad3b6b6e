/*
 * Checks a history of any length in windows. Memory grows with the active keys, not with the history.
 *
 * Segments fill the window until it has enough new transactions. Then the window is inferred as a history, and its
 * closing set (closing.h) is judged: transactions that cannot lie on a cycle with later ones. Keys whose transactions
 * are all judged are dropped, and the transactions with them. Findings add up (findings.h), and the transactions of
 * their witnesses are kept (witness_txns.h). A history that fits into one window is judged as rig_check() judges it.
 * docs/checker/windows.md proves that no anomaly is lost between windows.
 *
 * A key counts as finished when no open transaction names it and none of the last `idle` transactions (fewer for a key
 * that was used often) has used it. This is a guess; retired.h detects a wrong one. The result is a conflict: the check
 * has to start over. With a `census` (stream_full.h) of the whole history there are no guesses and no such conflicts.
 *
 * An assumption about registers has to hold for all keys. A window that contradicts one is a conflict too, also with a
 * census: `contradicted` receives the assumption (RIG_ASSUMPTION_BIT()s), and the next pass judges without it. At most
 * seven such conflicts follow each other; usually there is at most one.
 *
 * Space: the window, which holds the transactions on active keys, the new ones, and those that wait for them: by real
 * time, all from the first use of the oldest active key on. A window is judged when about a third of it can be released
 * (stream_full.c estimates this), and not before it has the new transactions that the options require, unless it is
 * most of the history so far, so that memory is in proportion to a short history, too. Time: that of rig_check() times
 * 1 + 1 / `growth`; up to three times as much for a history of few windows. Threads: one.
 */
#ifndef RIG_CHECKER_JUDGE_STREAM_STREAM_H
#define RIG_CHECKER_JUDGE_STREAM_STREAM_H

#include "base/err.h"
#include "checker/judge/check.h"
#include "checker/judge/stream/stream_full.h"
#include "checker/model/watch.h"
#include "history/model/segment.h"

enum { RIG_WINDOWS_LEAST_NEW = 98304, RIG_WINDOWS_GROWTH = 3, RIG_WINDOWS_IDLE = 16384 }; /* when not given */

struct rig_stream;
struct rig_source_facts;
struct rig_helpers;
struct rig_certifying;

/* Stretches of the history within which no window should end, because one that did chose an order that has no
 * continuation: positions of events, [from, to). */
enum { RIG_STRETCHES_MOST = 16 };
struct rig_stretches {
    struct rig_stretch {
        uint32_t from, to;
    } at[RIG_STRETCHES_MOST];
    uint32_t count;
};

struct rig_stream_options {
    struct rig_check_options check; /* limit_bytes also bounds the window */
    uint32_t least_new;             /* new transactions that a window needs before it is judged; 0: the default */
    uint32_t growth; /* new transactions that a window needs, as a multiple of those it held before; 0: the default */
    uint32_t idle;   /* transactions after which an unused key counts as finished; 0: the default */
    const struct rig_census *census;    /* of the same segments: borrowed; NULL: guess */
    unsigned *contradicted;             /* borrowed, below; NULL: nothing is known */
    struct rig_stretches *undivided;    /* borrowed: obeyed where memory allows it, and added to; NULL: none */
    bool guess_failed;                  /* in an earlier check: rig_check_source() begins with the census */
    bool lost;                          /* operations are missing: any value may have a writer */
    bool reads_at_once;                 /* the order of a transaction's reads is not known (history/model/history.h) */
    bool in_windows;                    /* a type that needs the whole history: leave levels open instead */
    bool keep_all;                      /* judge at the end only */
    struct rig_certifying **certifying; /* rig_stream_finish() may begin a comparison with the certificate there
                                           (model/certified.h); NULL: it must not */
    bool each_segment;                  /* judge after each segment, however little that releases: for tests */
    const char *name;                   /* of the history, for errors; NULL: none */
    const struct rig_row_names *row_names;         /* of its keys; NULL: none */
    const struct rig_specification *specification; /* of its objects; NULL: none */
    const struct rig_check_watch *watch;           /* called by rig_check_source(); NULL: no progress is reported */
    struct rig_helpers *helpers; /* of rig_check_source(): they share the work (shared/shared_check.h); NULL: none */
    bool on_one_thread;          /* of rig_check_source(): no other thread than those of the source */
    size_t taken_bytes;          /* of the limit, by the source */
};

/* Borrows options->name. */
enum rig_rc rig_stream_begin(enum rig_workload workload, const struct rig_stream_options *options,
                             struct rig_stream **windows, struct rig_err *err);
/* Takes NULL. */
void rig_stream_free(struct rig_stream *windows);

/* Sets the memory that the source takes, which the limit includes, and the share of it that was read: 0 to 1. */
void rig_stream_source(struct rig_stream *windows, size_t taken_bytes, double share);

/* Adds a segment, and judges the closing set when the window is full. After a conflict it does nothing. */
enum rig_rc rig_stream_feed(struct rig_stream *windows, const struct rig_segment *segment, struct rig_err *err);

/* The reason why the history has to be checked again from its beginning, with a census; NULL: none. */
const char *rig_stream_conflict(const struct rig_stream *windows);

/*
 * Judges the rest, and gives the verdict, which owns what it refers to; NULL when a conflict appears only now. There
 * must be no conflict before. Frees the windows, also on failure.
 */
enum rig_rc rig_stream_finish(struct rig_stream *windows, const struct rig_source_facts *facts,
                              struct rig_verdict **verdict, struct rig_err *err);

/* Counts the anomalies of the windows judged so far: lower bounds. */
void rig_stream_found(const struct rig_stream *windows, uint64_t found[RIG_ANOMALY_COUNT]);

/* Provisional results. */
struct rig_stream_interim {
    uint64_t count[RIG_ANOMALY_COUNT];   /* of each anomaly: a lower bound */
    uint64_t refutes[RIG_ANOMALY_COUNT]; /* per anomaly: bits of the levels that it refutes */
    uint64_t refuted;                    /* bits of the levels that any anomaly refutes */
    uint64_t txn_count;                  /* complete transactions so far */
    uint64_t waiting_count;              /* those whose judgement is not final */
    uint64_t window_bytes;
    unsigned contradicted; /* RIG_ASSUMPTION_BIT()s of the assumptions that do not hold so far */
};

/*
 * Judges the window as if the history ended here, and adds the findings so far; changes nothing. When a level is
 * refuted here, the verdict on the whole history will refute it or a weaker one (docs/checker/windows.md says why;
 * garbage reads refute nothing here, and the levels below read committed are decided only at the end).
 * Time: that of judging the window.
 */
enum rig_rc rig_stream_interim(struct rig_stream *windows, struct rig_stream_interim *interim, struct rig_err *err);

#endif
