/*
 * Progress: what a run or a check has done so far. On a terminal one line that is redrawn, elsewhere lines of text or
 * of JSON (docs/ci.md). The JSON of a run is also in a file of its folder, for `rig serve`.
 */
#ifndef RIG_RUN_LOAD_RUN_PROGRESS_H
#define RIG_RUN_LOAD_RUN_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct rig_progress {
    const char *phase; /* "load", "final reads", "ending"; of a check "check", "judge" */
    const char *part;  /* the phase of the load that the plan names; or NULL */
    int64_t elapsed_ns;
    uint64_t done, ok, fail, info;
    double rate; /* transactions a second, lately */
    bool has_latency;
    int64_t p50_ns, p99_ns; /* lately */
    uint64_t total;         /* 0: no bound by count */
    int64_t duration_ns;    /* 0: no bound by time */
    bool has_share;         /* of a check: no outcomes; the next two have values */
    double share;           /* of the history that was read, 0 to 1 */
    int64_t share_ns;       /* what `share` took */
    const uint64_t *found;  /* of a check during the run: how many of each anomaly, by enum rig_anomaly; or NULL */
    const char *error;      /* the code that clients got most often; NULL: none got one */
    uint64_t error_count;   /* how often */
    const char *faults;     /* that are under way; NULL or empty: none */
    int64_t behind_ns;      /* by how much that check is behind the run; */
    bool put_off;           /*   it could not go on: the record is checked afterwards */
};

enum rig_progress_form {
    RIG_PROGRESS_NONE,
    RIG_PROGRESS_LINE, /* redrawn in place */
    RIG_PROGRESS_LINES,
    RIG_PROGRESS_JSON, /* an object a line */
};
struct rig_progress_look {
    enum rig_progress_form form;
    int64_t every_ns; /* between lines; LINE has a period of its own */
    const char *file; /* that has the JSON, whatever the form, new every second; NULL: none. Borrowed */
};

enum { RIG_PROGRESS_FILE_NS = 1000 * 1000 * 1000 };

/* Shows it on `stream` and flushes. `columns`: of the terminal, for LINE. Nothing for NONE. */
void rig_progress_show(const struct rig_progress *progress, enum rig_progress_form form, unsigned columns,
                       FILE *stream);
/* Puts the JSON into the file. A failure is in the log alone: the run goes on. */
void rig_progress_save(const struct rig_progress *progress, const char *file);
/* Removes a line that LINE left; nothing for other forms. */
void rig_progress_clear(enum rig_progress_form form, FILE *stream);

/* Writes the line without control characters. A line wider than `columns` lacks latencies first, then the
 * time left and the count, and is cut then; `size` as for snprintf. */
void rig_progress_text(const struct rig_progress *progress, unsigned columns, char *text, size_t size);
/* A duration as a person reads it: "1.2s", "350us", "3m05", "2h30". At least 16 bytes. */
void rig_progress_duration(int64_t ns, char *text, size_t size);
/* A count in few characters: "9999", "12k", "1.5M". At least 16 bytes. */
void rig_progress_count(uint64_t count, char *text, size_t size);

/*
 * How far something that follows the run is behind it: remembers when the run had come how far.
 *
 * Space: fixed; what is remembered gets coarser the longer it goes back. Threads: one at a time.
 */

enum { RIG_LAG_SAMPLES = 64 };

struct rig_lag_sample {
    int64_t at_ns;
    uint64_t done;
};

/* A zeroed one is empty. */
struct rig_lag {
    struct rig_lag_sample samples[RIG_LAG_SAMPLES];
    uint32_t count;
    int64_t spacing_ns; /* between two samples; doubles when they have filled up */
};

/* The run has `done` behind it now. */
void rig_lag_note(struct rig_lag *lag, int64_t now_ns, uint64_t done);
/* For how long the run has had more done than `followed`, as far as is remembered; 0: it has not. */
int64_t rig_lag_behind_ns(struct rig_lag *lag, int64_t now_ns, uint64_t followed);

#endif
