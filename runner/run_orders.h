/*
 * The database's own order: where an answer tells a transaction's place in it (etcd: the revision of its store), the
 * run's folder keeps it beside the record, as orders.tsv.
 *
 * A line a transaction: its process, the how-manieth of that process it is (from 0), and its place. Lines of one
 * process are in order, those of different ones are mixed. Nothing is written for transactions that were not ok, and no
 * file for databases that tell nothing. Evidence for later use: no verdict rests on it.
 *
 * A client's lines are written when one of its transactions ends 200 ms after they were last: of a run that is killed,
 * each client lacks at most those of transactions that ended within 200 ms.
 *
 * Threads: a buffer a client, which only that client touches; the file is opened once, under a lock, and whole buffers
 * are appended to it. What cannot be written is left out, and the log says so once.
 */
#ifndef RIG_RUNNER_RUN_ORDERS_H
#define RIG_RUNNER_RUN_ORDERS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct rig_run_orders {
    const char *folder; /* borrowed */
    pthread_mutex_t lock;
    int fd; /* + 1; guarded by the lock */
    bool failed;
};

/* What one client has not written yet; zeroed: nothing. */
struct rig_run_orders_buffer {
    struct rig_buf text;
    int64_t written_ns; /* when its text was last written */
};

void rig_run_orders_init(struct rig_run_orders *orders, const char *folder);
void rig_run_orders_done(struct rig_run_orders *orders);

void rig_run_orders_note(struct rig_run_orders *orders, struct rig_run_orders_buffer *buffer, int64_t process,
                         uint64_t number, int64_t order, int64_t end_ns);
/* Writes what is left, and frees the buffer's memory. */
void rig_run_orders_flush(struct rig_run_orders *orders, struct rig_run_orders_buffer *buffer);

#endif
