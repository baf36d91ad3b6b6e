/*
 * Random transactions for the tests of recording, reading and writing: the clients' transactions as plain data, the
 * input of these tests, and the history that must result.
 */
#ifndef RIG_TESTS_HISTORY_HISTORY_MODEL_H
#define RIG_TESTS_HISTORY_HISTORY_MODEL_H

#include "base/rng.h"
#include "history/model/builder.h"
#include "history/model/history.h"

enum { MODEL_MAX_OPS = 9, MODEL_MAX_ELEMENTS = 256 };

struct model_txn {
    uint32_t channel;
    int64_t process;
    int64_t invoke_ns, complete_ns;
    uint32_t invoke_at, complete_at; /* RIG_POSITION_NONE: never completed */
    enum rig_outcome outcome;
    uint32_t op_count;
    struct rig_op ops[MODEL_MAX_OPS];
    bool has_reads;
    struct rig_read reads[MODEL_MAX_OPS];
    int64_t elements[MODEL_MAX_ELEMENTS];
    const char *error;
    struct rig_column_row columns;    /* names are indices into model_names; of spans their number */
    int64_t times[2 * MODEL_MAX_OPS]; /* the spans, after the invocation */
};

struct rig_spans model_spans(const struct model_txn *txn);

extern const char *const model_names[];
enum { MODEL_NAMES = 4 };

struct model_event {
    uint32_t txn;
    bool is_completion;
};

struct model {
    struct model_options *options;
    struct model_txn *txns;
    uint32_t txn_count;
    struct model_event *events; /* in order of position, and of time */
    uint32_t event_count;
};

struct model_options {
    enum rig_workload workload;
    uint32_t txn_count;
    uint32_t channel_count;
    int64_t key_count;
    int64_t first_ns;
    bool exchange; /* only what JSON lines and EDN can express */
    bool position_gaps;
    bool text_keys;
    bool no_invocations;
    bool no_times;
    bool columns; /* transactions have side columns */
};

void model_make(struct model *model, struct model_options *options, struct rig_rng *rng);
void model_done(struct model *model);
/* The history of the first `event_count` events. Fails the test on any error. */
struct rig_history *model_history(const struct model *model, uint32_t event_count);

/* Fails the test where the two differ, `meta` included. Times are compared as differences to the first one. */
void assert_same_history(const struct rig_history *got, const struct rig_history *wanted);
/* Fails the test unless both transactions have the same side columns, and the same count of transactions committed
 * meanwhile, counted over all of `wanted`. */
void assert_same_columns(const struct rig_history *got, uint32_t got_txn, const struct rig_history *wanted,
                         uint32_t wanted_txn);
/* Fails the test unless each held transaction has the number of transactions that committed while it was open, and no
 * other transaction has a count. */
void assert_meanwhile(const struct rig_history *history);
/* Fails the test unless both operations are the same. */
void assert_same_op(const struct rig_history *got, const struct rig_txn_op *a, const struct rig_history *wanted,
                    const struct rig_txn_op *b);

#endif
