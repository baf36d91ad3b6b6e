/*
 * Checking a history of any length in windows, in memory bounded by what is alive.
 *
 * Segments are fed until the window holds enough that is new. Then it is inferred as a history; the closing set
 * (closing.h), which nothing that is still to come can be tied into a cycle with, is judged; keys all of whose
 * transactions have been judged are dropped, and the transactions with them. What has been found is added up
 * (findings.h), with the transactions that the witnesses speak of (witness_txns.h). A history that fits into one window
 * is judged as rig_check() judges it. Why nothing is lost at the borders stands in docs/checker.md.
 *
 * A key is taken to be done with when no open transaction names it and none of the last `idle` transactions (fewer
 * where it was used often) has used it. That is a guess; retired.h finds out where it was wrong. Then there is a
 * conflict: nothing more can be said without starting over. Who has been through the whole history and taken a `census`
 * (census.h) starts over with that, and there is no conflict, since nothing is guessed.
 *
 * What is assumed of registers has to hold of all keys. When it turns out in one window that it does not, there is a
 * conflict, too, census or not: `contradicted` learns of it (RIG_ASSUMPTION_BIT()s), and who starts over with that
 * judges without. There are at most seven such conflicts, one after the other, and mostly one.
 *
 * Space: the window, which holds what is alive, what is new, and what has to wait for what is alive: by real time that
 * is all from the first use of the oldest key in use. A window is judged when a third of it can go, as far as keys and
 * real time foretell that (stream_full.c), and no earlier than the options say, unless it is most of the history so
 * far: memory is in proportion to a short history, too. Time: that of rig_check() times 1 + 1 / `growth`, and up to
 * three times that of a history of few windows' length. Threads: one.
 */
#ifndef RIG_CHECKER_STREAM_STREAM_H
#define RIG_CHECKER_STREAM_STREAM_H

#include "base/err.h"
#include "checker/stream/census.h"
#include "checker/check.h"
#include "checker/watch.h"
#include "history/segment.h"

enum { RIG_WINDOWS_LEAST_NEW = 98304, RIG_WINDOWS_GROWTH = 3, RIG_WINDOWS_IDLE = 16384 }; /* when not given */

struct rig_stream;
struct rig_source_facts;

struct rig_stream_options {
    struct rig_check_options check;      /* limit_bytes also bounds the window */
    uint32_t least_new;                  /* transactions that are new in a window before it is judged; 0: the default */
    uint32_t growth;                     /* and so many times what it held before; likewise */
    uint32_t idle;                       /* transactions after which an unused key is taken to be done with; likewise */
    const struct rig_census *census;     /* of the same segments: borrowed; NULL: guess */
    unsigned *contradicted;              /* borrowed, below; NULL: nothing is known */
    bool guess_failed;                   /* somebody tried: rig_check_source() begins with the census */
    bool keep_all;                       /* judge at the end only */
    const char *name;                    /* stands for the history in errors; NULL: nothing does */
    const struct rig_check_watch *watch; /* told by rig_check_source(); NULL: nobody watches */
    size_t taken_bytes;                  /* of the limit, by the source */
};

/* Borrows options->name. */
enum rig_rc rig_stream_begin(enum rig_workload workload, const struct rig_stream_options *options,
                             struct rig_stream **windows, struct rig_err *err);
/* Takes NULL. */
void rig_stream_free(struct rig_stream *windows);

/* What the source takes of the limit by now, and how much of it has been read: 0 to 1. */
void rig_stream_source(struct rig_stream *windows, size_t taken_bytes, double share);

/* Adds a segment, and judges what can be judged when the window is full. After a conflict it does nothing. */
enum rig_rc rig_stream_feed(struct rig_stream *windows, const struct rig_segment *segment, struct rig_err *err);

/* Why the history has to be checked again from the beginning, with a census; NULL: it has not. */
const char *rig_stream_conflict(const struct rig_stream *windows);

/*
 * Judges what is left, and gives the verdict, which owns what it refers to; NULL where it turns out only now that the
 * history has to be checked again with a census. There must be no conflict before. Frees the windows, also on failure.
 */
enum rig_rc rig_stream_finish(struct rig_stream *windows, const struct rig_source_facts *facts,
                              struct rig_verdict **verdict, struct rig_err *err);

/* What the windows that were judged have: of each anomaly, at least. */
void rig_stream_found(const struct rig_stream *windows, uint64_t found[RIG_ANOMALY_COUNT]);

/* What there is so far, while more is to come. */
struct rig_stream_peek {
    uint64_t count[RIG_ANOMALY_COUNT]; /* of each anomaly, at least */
    uint64_t refuted;                  /* bits of the levels that these refute */
    uint64_t txn_count;                /* complete transactions so far */
    uint64_t waiting_count;            /* of them, not judged for good */
    uint64_t window_bytes;
};

/*
 * Judges all that is in the window as if the history ended here, and adds what was found before; changes nothing. A
 * level that is refuted here will be refuted by the verdict on the whole history, or a weaker one will (docs/checker.md
 * says why; garbage reads refute nothing here, and the levels below read committed have to wait for the end).
 * Time: that of judging the window.
 */
enum rig_rc rig_stream_peek(struct rig_stream *windows, struct rig_stream_peek *peek, struct rig_err *err);

#endif
