/*
 * Statements and transactions over a program (sql_program.h): one request after the other.
 *
 * Threads: the session's. Memory: an answer at a time.
 */
#ifndef RIG_DRIVERS_SQL_PROGRAM_TURN_H
#define RIG_DRIVERS_SQL_PROGRAM_TURN_H

#include "drivers/sql/program_client.h"
#include "drivers/sql/sql_session.h"

struct rig_sql_program_connection {
    struct rig_sql_connection sql; /* first */
    struct rig_sql_link link;
    struct rig_line_patience patience;
    const struct rig_sql_dialect_file *dialect;
    bool lost;     /* the session is of no further use */
    bool in_texts; /* a text has begun a transaction that the library ends */
    /* When the library was first called, and when it last returned, as the program says; 0: it does not. */
    int64_t began_ns, ended_ns;
};

/* One request: its answer, or the reason that there is none. */
struct rig_sql_program_request {
    json_t *answer; /* owned by the caller; NULL after a failure */
    bool sent;      /* a part of it may have left */
    bool refused;   /* the database, or its library, answered with an error */
    char event[32]; /* not refused: RIG_SQL_LOST, RIG_SQL_TIMEOUT, ... */
    char state[8];  /* SQLSTATE; "": none */
    int64_t code;   /* 0: none */
    char text[256]; /* for a person */
};

struct rig_sql_program_turn {
    struct rig_sql_turn sql; /* first */
    bool begun;              /* a statement was sent, so that the transaction may be open */
    bool ahead;              /* all operations were sent with the begin: their answers remain to be taken */
    bool refused;            /* the database, or its library, answered a statement with an error */
    int64_t sent_ns;         /* ahead: when */
    int64_t commit;          /* the number of the COMMIT that was sent with them; 0: none was */
};

struct rig_sql_program_run *rig_sql_program_run_of(const struct rig_sql_run *run);

/* Ends the request's object and sends it, or all of a sequence; within the connection's patience. */
bool rig_sql_program_send(struct rig_sql_program_connection *connection, struct rig_json_writer *writer,
                          struct rig_sql_program_request *request);
/* Takes the next answer. */
bool rig_sql_program_take(struct rig_sql_program_connection *connection, struct rig_sql_program_request *request);
/* Both. */
bool rig_sql_program_exchange(struct rig_sql_program_connection *connection, struct rig_json_writer *writer,
                              struct rig_sql_program_request *request);
/* Runs statements of the run's own, each ended by a semicolon or by the end of the text, and keeps what they changed.
 * `tell` (may be NULL) gets the rows. RIG_E_CLUSTER. */
enum rig_rc rig_sql_program_script(struct rig_sql_program_connection *connection,
                                   const struct rig_sql_dialect_file *dialect, const char *script, rig_sql_tell tell,
                                   void *context, struct rig_err *err);
/* Refuses a database that does not give back what was written by the statements of the load, or keeps what was rolled
 * back. */
enum rig_rc rig_sql_program_canary(const struct rig_sql_program_run *run, struct rig_sql_program_connection *connection,
                                   struct rig_err *err);

/* The statement of a write, and the insertion for the case that it changes no row. */
void rig_sql_program_put_of(enum rig_workload workload, enum rig_sql_dialect_statement *which,
                            enum rig_sql_dialect_statement *first);
/* The statement of a write that compares. */
enum rig_sql_dialect_statement rig_sql_program_compare_of(enum rig_workload workload);

/* ---- functions of struct rig_sql_client ---- */

void rig_sql_program_turn_run(struct rig_sql_turn *turn);
bool rig_sql_program_turn_begin(struct rig_sql_turn *turn);
bool rig_sql_program_turn_operate(struct rig_sql_turn *turn, uint32_t op);
bool rig_sql_program_turn_execute(struct rig_sql_turn *turn, uint32_t index, const int64_t *values,
                                  struct rig_row_answer *answer);
void rig_sql_program_turn_commit(struct rig_sql_turn *turn);
void rig_sql_program_turn_settle(struct rig_sql_turn *turn);

#endif
