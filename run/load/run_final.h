/*
 * The final reads: after the load every key that was active, or of which there was no closing read (run_closing.h), is
 * read once more, a few keys a read-only transaction, so that the last versions have a reader. They are transactions
 * like any other. One that fails is tried again as a new transaction; a client gives up after RIG_FINAL_ATTEMPTS
 * failures in a row, and all of them when none was answered for RIG_FINAL_GRACES times clients.stop-grace, so that a
 * dead database cannot hold the run. In a run with faults each node is asked for all of them, where the driver can
 * choose (RIG_DRIVER_NODES).
 *
 * A read of a queue or a stack takes what it shows, so a key is read until it shows nothing: then each element that was
 * added was taken, or is lost.
 *
 * Private to run/load/.
 */
#ifndef RIG_RUN_LOAD_RUN_FINAL_H
#define RIG_RUN_LOAD_RUN_FINAL_H

#include <stdatomic.h>

#include "base/vec.h"
#include "drivers/driver.h"
#include "generator/generator.h"

enum {
    RIG_FINAL_ATTEMPTS = 12, /* failures in a row after which a client gives up its final reads */
    RIG_FINAL_GRACES = 3,    /* this many times clients.stop-grace without any answer end them for all clients */
};

RIG_VEC(int64_t, rig_key_numbers)

/* The state that the clients share. */
struct rig_run_final {
    uint32_t keys_a_read; /* of a closing or final read: as many as the driver takes */
    struct rig_key_numbers keys;
    int64_t key_chunks; /* number of transactions that read all of them */
    uint32_t nodes;     /* each is asked for all of them; 0: whichever answers, once */
    int64_t chunk_count;
    _Atomic int64_t next_chunk;
    _Atomic int64_t answered_ns; /* when the last one was answered, or they began */
};

/* One client's part. */
struct rig_run_client_final {
    struct rig_op ops[RIG_MOST_KEYS_A_READ];
    int64_t chunk;                                               /* being read, or -1 */
    uint32_t failures;                                           /* in a row */
    bool goes_on;                                                /* the chunk is read again: it was not empty */
    uint64_t done_count;                                         /* chunks that were read */
    char error[RIG_ERROR_CODE_BYTES + RIG_ERROR_TEXT_BYTES + 2]; /* why the last attempt failed */
};

struct rig_run_client;
struct rig_run_state;

/* After the load: finds out which keys there are. Undone by rig_run_final_done(). */
enum rig_rc rig_run_final_init(struct rig_run_state *run, struct rig_err *err);
/* The keys that the clients of this process have used. RIG_E_LIMIT. */
enum rig_rc rig_run_final_list(struct rig_run_state *run, struct rig_key_numbers *keys, struct rig_err *err);
/* Frees; safe after a failed or no init of a zeroed state. */
void rig_run_final_done(struct rig_run_state *run);
/* Writes the next transaction's question into the client's transaction. False: no more. */
bool rig_run_final_next(struct rig_run_client *client);
/* When they end unless one is answered before; INT64_MAX: simulated clients wait for no time. */
int64_t rig_run_final_ends_ns(const struct rig_run_state *run);
/* The transaction came back. */
void rig_run_final_answer(struct rig_run_client *client, enum rig_outcome outcome, const char *error);
/* True while a client without a session has reason to get one. */
bool rig_run_final_has_work(struct rig_run_client *client);

/* The operation that reads a key in this run's workload. */
enum rig_op_kind rig_run_read_kind(const struct rig_run_state *run);
/* After an acknowledged closing or final read: whether the same one follows, because it took something. */
bool rig_run_drain_goes_on(struct rig_run_client *client);
/* Makes `ops`, which stay in place until it is answered, the question of the client's transaction. */
void rig_run_ask_reads(struct rig_run_client *client, const struct rig_op *ops, uint32_t count);

#endif
