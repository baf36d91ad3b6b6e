/*
 * The closing reads: a key that has left the load (generator/load_schedule.h) is read once more, soon, by some client,
 * in a read-only transaction of up to RIG_MOST_KEYS_A_READ such keys. Its last versions get a reader while its
 * transactions are still at hand, so that a check during the run can be done with the key; final reads
 * see to the keys that are still in the pool at the end, or had a failed closing read.
 *
 * A client's position in its stream says which keys it may still use. Each publishes it before it issues a transaction,
 * when everything before has been answered: a key that left at or before the least of these positions gets no
 * further operation but its closing read. (A write with an unknown outcome may still take effect in the database; then
 * no client reads it.) A client without a session uses no key, so that it holds up no other client; it comes back at a
 * position that is not before the others' least.
 *
 * With several ranks (run_ranks.h) each promises a position that none of its clients is before, nor will be; rank 0
 * passes the promises on, and what all have promised counts. A rank whose clients are all away promises the least
 * position of the others, once it has heard it. Each rank reads its share of the keys that have left: those whose
 * number is its own, modulo the ranks. At the end of its load it lists those that have left by its last promise, and
 * rank 0 reads its share from then on.
 *
 * Closing reads are not part of the plan's total, wait for no rate, and are in no latency. One that fails is tried
 * again as a new transaction, CLOSING_ATTEMPTS times in a row at most; then its keys are left to the final reads.
 *
 * With simulated time all this depends on what the clients did only: they think one at a time.
 *
 * Private to run/load/. Threads: run->closing.lock guards what clients share; the turn to look for keys comes to a
 * client once in as many transactions as there are clients, and `due` tells the others what it found.
 */
#ifndef RIG_RUN_LOAD_RUN_CLOSING_H
#define RIG_RUN_LOAD_RUN_CLOSING_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/vec.h"
#include "drivers/driver.h"
#include "generator/generator.h"
#include "generator/load_schedule.h"

struct rig_run_client;
struct rig_run_state;

/*
 * The final reads: after the load every key that was active, or of which there was no closing read, is
 * read once more, a few keys a read-only transaction, so that the last versions have a reader. They are transactions
 * like any other. One that fails is tried again as a new transaction; a client gives up after FINAL_ATTEMPTS
 * failures in a row, and all of them when none was answered for FINAL_GRACES times clients.stop-grace, so that a
 * dead database cannot hold the run. In a run with faults each node is asked for all of them, where the driver can
 * choose (RIG_DRIVER_NODES).
 *
 * A read of a queue or a stack takes what it shows, so a key is read until it shows nothing: then each element that was
 * added was taken, or is lost.
 */

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

#define RIG_NO_POSITION UINT64_MAX

/* The promise of a rank, or the least of several; RIG_NO_POSITION: there are none. */
struct rig_run_horizon {
    uint64_t promised; /* no client is before it, nor will be */
    uint64_t active;   /* the same of ranks with a client that is not away */
};

/* The state that the clients share. */
struct rig_run_closing {
    _Atomic bool due; /* there are keys to read */
    uint32_t stride;
    bool has_lock;
    pthread_mutex_t lock;           /* guards what follows */
    struct rig_load_schedule keys;  /* as it is at the horizon */
    struct rig_run_horizon others;  /* of the other ranks */
    uint64_t ended;                 /* bits: ranks whose keys rank 0 reads */
    uint64_t promised;              /* no client of this rank is, or ever will be, before this position */
    uint64_t horizon;               /* no client of any rank is, or ever will be, before this position */
    bool is_over;                   /* this rank's load */
    struct rig_key_numbers waiting; /* keys that have left; those before `taken` were given to a client */
    size_t taken;
    uint64_t oldest_position;      /* since when there are keys waiting */
    struct rig_key_numbers unread; /* their closing read failed */
    bool lost_keys;                /* no memory for one of them */
};

/* One client's part. The monitor and the others read what is atomic. */
struct rig_run_client_closing {
    _Atomic uint64_t reads;    /* transactions */
    _Atomic uint64_t ok;       /* of them */
    _Atomic uint64_t position; /* of the stream: what comes before is complete; RIG_NO_POSITION: issues nothing now */
    bool is_under_way;         /* the present transaction is one */
    struct rig_op ops[RIG_MOST_KEYS_A_READ]; /* the keys in hand */
    uint32_t count;                          /* of them */
    uint32_t failures;                       /* in a row */
    int64_t pause_ns;                        /* before the next attempt after a failure; 0: none failed */
    int64_t again_ns;                        /* monotonic: not before */
    uint64_t looked_at;                      /* `load.issued` when this client last looked for keys */
};

/* False where the plan wants no closing reads, or the run's questions do not say when a key is done with. */
bool rig_run_closing_is_on(const struct rig_run_state *run);
/* Before the clients start; nothing where there are no closing reads. Undone by rig_run_closing_done(). */
enum rig_rc rig_run_closing_init(struct rig_run_state *run, struct rig_err *err);
/* Frees; safe after a failed or no init of a zeroed state. */
void rig_run_closing_done(struct rig_run_state *run);

/* While there are clients: takes what the other ranks have promised, and gives what this one does. `ended`, rank 0: a
 * bit for each rank that reads no keys any longer. */
void rig_run_closing_meet(struct rig_run_state *run, const struct rig_run_horizon *others, uint64_t ended,
                          struct rig_run_horizon *own);

/* The client is about to issue the next transaction of its stream: everything before is complete. False: it was away,
 * and all others have left its phase, so it must go on to a later one. */
bool rig_run_closing_advance(struct rig_run_client *client);
/* The client issues nothing until it has connected again. */
void rig_run_closing_pause(struct rig_run_client *client);
/* The client issues nothing for a long while, or for good: what it has in hand is left to the final reads. */
void rig_run_closing_leave(struct rig_run_client *client);
/* Writes a closing read into the client's transaction, if there is one to do. */
bool rig_run_closing_next(struct rig_run_client *client);
/* The transaction came back, which was a closing read. */
void rig_run_closing_answer(struct rig_run_client *client, enum rig_outcome outcome);

#endif
