/*
 * A core for testing drivers: the services that a driver may call, and one run with its sessions, without `run/`.
 *
 * Threads: the core's services can be called from any thread; for a harness and its clients the contract of
 * drivers/driver.h holds.
 */
#ifndef RIG_TESTS_CONFORMANCE_BENCH_CORE_H
#define RIG_TESTS_CONFORMANCE_BENCH_CORE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "drivers/driver.h"

/* How a driver is run; the same for each run of a program. */
struct bench_settings {
    const struct rig_driver *driver;
    const char *const *overrides; /* "option=value" */
    size_t override_count;
    struct rig_accounts accounts;        /* of the workload bank */
    int64_t prefilled_keys;              /* keys with rows from the start */
    const struct rig_row_schema *rows;   /* of programs; NULL: none */
    const struct rig_model_calls *calls; /* of a model; NULL: none */
};

struct bench_run {
    const struct rig_driver *driver;
    struct rig_arena arena;
    struct rig_run_env env;
    char name[41]; /* on the server */
    void *options;
    void *run;
    char folder[160];
    bool set_up;
    bool cluster_started;
};

/* One client with its session and its transaction. */
struct bench_client {
    struct bench_run *run;
    void *session;
    uint32_t index;
    struct rig_transaction transaction;
    size_t element_limit;         /* most elements that the core allocates for one transaction */
    bool delayed;                 /* its transactions pause between two operations */
    struct rig_rollback rollback; /* of its transactions */
    bool rolls_back;              /* its transactions, in place of their commit */
    unsigned hold_calls;          /* of the core's hold, for the last transaction */
    unsigned delay_calls;         /* of the core's delay, for the last transaction */
    int64_t invoke_ns, complete_ns;
};

/* Options with defaults and overrides; aborts the program with a message when they are rejected. */
void *bench_options(const struct bench_settings *settings, struct rig_arena *arena);

/* init, the cluster's start when the options ask for it, setup. Reports a failure through `err` after undoing it. */
enum rig_rc bench_run_start(struct bench_run *run, const struct bench_settings *settings, enum rig_workload workload,
                            uint32_t client_count, uint64_t seed, struct rig_err *err);
/* A folder for the run, of its own; what is left of such folders goes when the process ends. */
void bench_folder_make(struct bench_run *run);
/* teardown, the cluster's stop, done; removes the run's folder. */
void bench_run_stop(struct bench_run *run);

enum rig_rc bench_client_open(struct bench_client *client, struct bench_run *run, uint32_t index, struct rig_err *err);
void bench_client_close(struct bench_client *client, bool last);
/* Frees what the transaction holds, after close. */
void bench_client_done(struct bench_client *client);
/* Runs one transaction; first resets all of the question but the given operations. */
enum rig_outcome bench_client_transact(struct bench_client *client, const struct rig_op *ops, uint32_t op_count);
/* The same, held open before the operation `hold->before_op`. */
enum rig_outcome bench_client_transact_held(struct bench_client *client, const struct rig_op *ops, uint32_t op_count,
                                            const struct rig_hold *hold);

/* The text with this number from core->name(), or NULL. */
const char *bench_name(int64_t number);

#endif
