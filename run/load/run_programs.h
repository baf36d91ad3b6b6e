/*
 * The programs of a run (generator/programs/program.h): their rows before the load, their transactions, and the rows
 * that the final reads read.
 *
 * The operations of a program are known when it has run, so its transaction is recorded just before its commit is sent,
 * or when it has failed, with the time at which it began (rig_channel_begin()).
 *
 * Private to run/load/.
 */
#ifndef RIG_RUN_LOAD_RUN_PROGRAMS_H
#define RIG_RUN_LOAD_RUN_PROGRAMS_H

#include "base/table.h"
#include "generator/programs/program_questions.h"
#include "run/load/run_closing.h"

struct rig_run_client;
struct rig_run_state;
struct rig_run_result;

struct rig_run_programs {
    const struct rig_program *program; /* NULL: transactions are lists of operations */
    struct rig_row_schema *schema;
    struct rig_program_questions questions;
};

/* One client's part. */
struct rig_run_client_program {
    struct rig_program_call *call; /* of the stream; NULL without programs */
    int64_t start_ns, intended_ns; /* of the transaction under way */
    bool is_recorded;              /* its invocation */
    struct rig_table written;      /* keys of rows that this client may have written, and that are there for good */
    bool forgot;                   /* no memory for one of them */
    int64_t final_keys[RIG_MOST_KEYS_A_READ];
};

/* The schema and questions of a plan with a program. Undone by rig_run_programs_done(). */
enum rig_rc rig_run_programs_init(struct rig_run_state *run, struct rig_err *err);
void rig_run_programs_done(struct rig_run_state *run);
/* Fills the tables, after the driver's setup. */
enum rig_rc rig_run_programs_load(struct rig_run_state *run, struct rig_err *err);

/* The client's stream is open. */
void rig_run_client_program_init(struct rig_run_client *client);
void rig_run_client_program_done(struct rig_run_client *client);
/* Runs the client's transaction and records its invocation. */
enum rig_outcome rig_run_program(struct rig_run_client *client, int64_t start_ns, int64_t intended_ns);
/* It was recorded to its end: keeps the rows that it may have written. */
void rig_run_program_note(struct rig_run_client *client, enum rig_outcome outcome);

/* The rows that clients may have written, for the final reads. */
enum rig_rc rig_run_programs_rows(struct rig_run_state *run, struct rig_key_numbers *keys, struct rig_err *err);

/*
 * The conditions of a run's program, checked on its tables after the load and the final reads.
 */

/* Queries the tables, within the driver's time-outs. No-op for a run without a program. */
void rig_run_conditions_check(struct rig_run_state *run, struct rig_run_result *result);

#endif
