/*
 * A connection to the database that runs the messages of sqlite_wire.h: in a process of the server, or in rig itself.
 *
 * It links nothing of rig. Threads: one at a time.
 */
#ifndef RIG_DRIVERS_SQLITE_WORKER_SQLITE_WORKER_H
#define RIG_DRIVERS_SQLITE_WORKER_SQLITE_WORKER_H

#include <stdbool.h>
#include <stddef.h>

#include "drivers/sqlite/sqlite_wire.h"

struct rig_sqlite_worker;

/* NULL: out of memory. The database is opened by the first message. */
struct rig_sqlite_worker *rig_sqlite_worker_new(const char *database);
/* Takes NULL. An open transaction is rolled back. */
void rig_sqlite_worker_free(struct rig_sqlite_worker *worker);
/* The page that both sides of the connection use; without one nothing commits. Borrowed. */
void rig_sqlite_worker_share(struct rig_sqlite_worker *worker, struct rig_sqlite_page *page);
/* Runs a message, without its head, and gives the answer with its head, valid until the next call. NULL: out of memory.
 * */
const char *rig_sqlite_worker_answer(struct rig_sqlite_worker *worker, uint32_t kind, const char *question, size_t size,
                                     size_t *answer_size);

#endif
