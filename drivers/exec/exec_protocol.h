/*
 * The lines between rig and a program that is a driver: JSON, one object a line. docs/driver-guide.md is the manual.
 */
#ifndef RIG_DRIVERS_EXEC_EXEC_PROTOCOL_H
#define RIG_DRIVERS_EXEC_EXEC_PROTOCOL_H

#include "base/buf.h"
#include "drivers/driver.h"

enum { RIG_EXEC_PROBLEM_BYTES = 160 };

/* The first line to a program: its purpose. */
struct rig_exec_hello {
    const char *role; /* "client", "setup", "teardown" */
    uint32_t client;
    uint32_t client_count;
    enum rig_workload workload;
    uint64_t seed;
    const char *run_name;
    struct rig_accounts accounts;
    bool rolls_back; /* transactions may have a rollback */
};

/* Its answer. */
struct rig_exec_welcome {
    bool announces;  /* it announces each commit */
    bool savepoints; /* it honours rollbacks */
    char version[64];
};

void rig_exec_write_hello(const struct rig_exec_hello *hello, struct rig_buf *line);
/* False when the program refuses, or its line is invalid; `problem` has the reason. */
bool rig_exec_read_welcome(const char *line, size_t size, struct rig_exec_welcome *welcome,
                           char problem[static RIG_EXEC_PROBLEM_BYTES]);

/* `calls`: of the workload model; else NULL. */
void rig_exec_write_transaction(const struct rig_transaction *transaction, uint64_t number,
                                const struct rig_model_calls *calls, struct rig_buf *line);

enum rig_exec_answer {
    RIG_EXEC_SAYS_OK,
    RIG_EXEC_SAYS_FAIL,
    RIG_EXEC_SAYS_INFO,
    RIG_EXEC_SAYS_COMMITTING, /* no answer yet: from now on it may be committed */
    RIG_EXEC_MALFORMED,
    RIG_EXEC_NO_ROOM,
};

/* Fills in the reads, and the error of a transaction that was not ok. `problem` for the last two. */
enum rig_exec_answer rig_exec_read_answer(const char *line, size_t size, uint64_t number, const struct rig_core *core,
                                          const struct rig_model_calls *calls, struct rig_transaction *transaction,
                                          char problem[static RIG_EXEC_PROBLEM_BYTES]);

#endif
