/*
 * A complete driver, as small as one can be: the manual by example.
 *
 * Its "database" is in this file: one node in memory behind one mutex, which runs transactions one after the other and
 * is therefore strictly serializable. Copy the file, replace the store by your database's client library, and keep the
 * structure: every hook states what rig expects of it. docs/driver-guide.md explains how to build it outside rig's
 * tree. drivers/driver.h is the contract and the only header of rig that a driver includes.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/driver.h"

/* ---- the database: replace it by your client library ---- */

enum { BUCKET_COUNT = 4096 };

struct record {
    struct record *next;
    int64_t key;
    int64_t *values; /* the list; a register keeps its value in values[0] */
    size_t count;
    size_t capacity;
};

struct store {
    pthread_mutex_t mutex;
    struct record *buckets[BUCKET_COUNT];
    int64_t record_count;
};

static struct record *store_find(struct store *store, int64_t key)
{
    struct record *record = store->buckets[(uint64_t)key % BUCKET_COUNT];
    while (record != NULL && record->key != key)
        record = record->next;
    return record;
}

static struct record *store_find_or_add(struct store *store, int64_t key, int64_t most_records)
{
    struct record *record = store_find(store, key);
    if (record != NULL || store->record_count >= most_records)
        return record;
    record = calloc(1, sizeof *record);
    if (record == NULL)
        return NULL;
    record->key = key;
    record->next = store->buckets[(uint64_t)key % BUCKET_COUNT];
    store->buckets[(uint64_t)key % BUCKET_COUNT] = record;
    store->record_count++;
    return record;
}

static bool record_add(struct record *record, int64_t value)
{
    if (record->count == record->capacity) {
        size_t capacity = record->capacity == 0 ? 8 : record->capacity * 2;
        int64_t *values = realloc(record->values, capacity * sizeof *values);
        if (values == NULL)
            return false;
        record->values = values;
        record->capacity = capacity;
    }
    record->values[record->count++] = value;
    return true;
}

static void store_clear(struct store *store)
{
    for (size_t i = 0; i < BUCKET_COUNT; i++) {
        while (store->buckets[i] != NULL) {
            struct record *record = store->buckets[i];
            store->buckets[i] = record->next;
            free(record->values);
            free(record);
        }
    }
    store->record_count = 0;
}

/* ---- the options: a plan's keys under `database:` ---- */

struct options {
    int64_t most_keys;
};

/*
 * The core parses, checks the range, fills in the default and stores the value at `offset`; the same table makes the
 * help and the error messages. It includes a time-out for everything that may block.
 */
static const struct rig_option option_table[] = {
    {.name = "most-keys",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct options, most_keys),
     .default_text = "1000000",
     .least = 1,
     .most = 1e9,
     .help = "capacity of the store, in keys; a transaction that needs one more fails"},
    {0},
};

/* ---- run and session: objects that the core allocates, zeroed, with the sizes given in `rig_driver` below ---- */

struct run {
    const struct rig_run_env *env; /* borrowed; valid until `done` returns */
    struct store *store;
};

struct session {
    struct run *run;
    atomic_bool interrupted;
    int64_t node; /* the name of the node that this session is connected to, as rig numbers it */
};

/* Required. First call of a run. Contacts no server yet. It must leave `run` fit for `done`, also when it fails. */
static enum rig_rc skeleton_init(void *run_object, const struct rig_run_env *env, struct rig_err *err)
{
    struct run *run = run_object;
    run->env = env;
    run->store = calloc(1, sizeof *run->store);
    if (run->store == NULL)
        return rig_no_memory(err, "the store");
    (void)pthread_mutex_init(&run->store->mutex, NULL);
    return RIG_OK;
}

/* Required. Last call of a run; frees the memory that `run` owns, not `run` itself. Comes after every session was
 * closed. */
static void skeleton_done(void *run_object)
{
    struct run *run = run_object;
    if (run->store == NULL)
        return;
    store_clear(run->store);
    (void)pthread_mutex_destroy(&run->store->mutex);
    free(run->store);
    run->store = NULL;
}

/*
 * Optional. Once, before the clients start: creates the tables that the workload needs, empty and named after
 * env->run_name, and removes nothing: a name that is taken is an error. A failure names the node and the remedy.
 */
static enum rig_rc skeleton_setup(void *run_object, struct rig_err *err)
{
    struct run *run = run_object;
    (void)err;
    store_clear(run->store);
    return RIG_OK;
}

/* Optional. Once, after the clients have stopped, and whenever `setup` was called: undoes it. */
static void skeleton_teardown(void *run_object)
{
    struct run *run = run_object;
    store_clear(run->store);
}

/*
 * Required. On the thread of `client`: connects. After a failure the core calls `close`, zeroes the object, waits a
 * while and tries again, so one attempt is enough here, and it must be bounded by a time-out.
 */
static enum rig_rc skeleton_open(void *session_object, void *run_object, uint32_t client, struct rig_err *err)
{
    struct session *session = session_object;
    (void)client; /* with several nodes: connect to number client % node_count */
    (void)err;
    session->run = run_object;
    /* Names get their numbers here, outside the measured part. With several nodes: the name that faults use. */
    session->node = session->run->env->core->name("skeleton-1");
    return RIG_OK;
}

/* Fills in the error part of the answer. The code is short and stable, the text for a person. */
static void explain(struct rig_transaction *transaction, const char *code, const char *text)
{
    (void)snprintf(transaction->error_code, sizeof transaction->error_code, "%s", code);
    (void)snprintf(transaction->error_text, sizeof transaction->error_text, "%s", text);
}

/* Answers a list read: memory from the core, then the elements, then the reference to them. */
static bool answer_list(const struct rig_core *core, struct rig_transaction *transaction, struct rig_read *read,
                        const struct record *record)
{
    int64_t *elements = core->elements(transaction, record->count);
    if (elements == NULL) {
        explain(transaction, "too-large", "the lists that the transaction read are larger than rig's maximum");
        return false;
    }
    memcpy(elements, record->values, record->count * sizeof *elements);
    read->state = RIG_READ_SEEN;
    read->first_element = transaction->element_count;
    read->count = (uint32_t)record->count;
    transaction->element_count += record->count;
    return true;
}

static bool run_read(const struct run *run, struct rig_transaction *transaction, uint32_t op)
{
    const struct record *record = store_find(run->store, transaction->ops[op].key);
    struct rig_read *read = &transaction->reads[op];
    if (record == NULL || record->count == 0) {
        /* The key does not exist. UNKNOWN, the state that the core put there, would mean: no answer came. */
        read->state = RIG_READ_NIL;
        return true;
    }
    if (rig_op_reads_sequence(transaction->ops[op].kind))
        return answer_list(run->env->core, transaction, read, record);
    read->state = RIG_READ_SEEN;
    read->value = record->values[record->count - 1];
    return true;
}

/* A register is stored as the list of its versions, so that one undo serves all workloads; a set is a list whose order
 * has no meaning. */
static bool run_write(const struct run *run, struct rig_transaction *transaction, uint32_t op)
{
    const struct options *options = run->env->options;
    struct record *record = store_find_or_add(run->store, transaction->ops[op].key, options->most_keys);
    if (record == NULL || !record_add(record, transaction->ops[op].value)) {
        explain(transaction, "full", "the store has no space for another key");
        return false;
    }
    return true;
}

static bool run_operation(const struct run *run, struct rig_transaction *transaction, uint32_t op)
{
    switch (transaction->ops[op].kind) {
    case RIG_OP_APPEND:
    case RIG_OP_WRITE:
    case RIG_OP_ADD:
        return run_write(run, transaction, op);
    case RIG_OP_READ_LIST:
    case RIG_OP_READ_REGISTER:
    case RIG_OP_READ_SET:
        return run_read(run, transaction, op);
    case RIG_OP_INCREMENT:
    case RIG_OP_READ_COUNTER:
    case RIG_OP_ENQUEUE:
    case RIG_OP_DEQUEUE:
    case RIG_OP_PUSH:
    case RIG_OP_POP:
    case RIG_OP_EXPECT:
    case RIG_OP_EXTEND:
    case RIG_OP_ROW:
    case RIG_OP_READ_WHERE:
    case RIG_OP_SEND:
    case RIG_OP_POLL:
    case RIG_OP_FREE:
    case RIG_OP_TOKEN:
    case RIG_OP_HOLD:
    case RIG_OP_LIMIT:
    case RIG_OP_LEASE:
    case RIG_OP_ARGUMENT:
    case RIG_OP_CALL:
    case RIG_OP_RESULT:
    case RIG_OP_KIND_COUNT:
        break;
    }
    explain(transaction, "unsupported", "this driver does not support the operation");
    return false;
}

/* Takes back the writes of the first `op_count` operations, last first. */
static void undo(const struct run *run, const struct rig_transaction *transaction, uint32_t op_count)
{
    while (op_count-- > 0) {
        struct record *record = store_find(run->store, transaction->ops[op_count].key);
        if (record != NULL && !rig_op_reads(transaction->ops[op_count].kind))
            record->count--;
    }
}

/*
 * Required. On the client's thread: runs the transaction once and returns its outcome.
 *
 *   ok    the database acknowledged the commit;
 *   fail  it is certain that the transaction did not commit and never will;
 *   info  anything else. When in doubt: info. A wrong `fail` makes rig report anomalies that never happened.
 *
 * It never retries: rig must see each attempt. `phase` is the phase that it reached. Set `session_lost` when the
 * connection is gone; the core then closes the session and opens another.
 */
static enum rig_outcome skeleton_transact(void *session_object, struct rig_transaction *transaction)
{
    struct session *session = session_object;
    const struct run *run = session->run;
    transaction->phase = RIG_PHASE_BEGIN;
    /* The node that answers, for witnesses; given for every outcome. `columns` below lists the columns in use. */
    rig_column_give(&transaction->columns, RIG_COLUMN_NODE, session->node);
    if (atomic_load(&session->interrupted)) {
        /* Nothing was sent, so nothing can have happened: this is certain. */
        explain(transaction, "interrupted", "the run is ending");
        transaction->session_lost = true;
        return RIG_OUTCOME_FAIL;
    }
    (void)pthread_mutex_lock(&run->store->mutex);
    transaction->phase = RIG_PHASE_OPERATION;
    uint32_t op = 0;
    while (op < transaction->op_count && run_operation(run, transaction, op))
        op++;
    bool complete = op == transaction->op_count;
    if (!complete)
        undo(run, transaction, op);
    else
        transaction->phase = RIG_PHASE_COMMIT; /* from here on, a lost connection would mean info */
    (void)pthread_mutex_unlock(&run->store->mutex);
    return complete ? RIG_OUTCOME_OK : RIG_OUTCOME_FAIL;
}

/*
 * Required. From any thread, at any time between the start of `open` and the return of `close`: makes a running call
 * return soon. Must not block; shutdown() on a socket and a cancel request do not. Here no call waits for long, so it
 * is enough that no further transaction starts.
 */
static void skeleton_interrupt(void *session_object)
{
    struct session *session = session_object;
    atomic_store(&session->interrupted, true);
}

/* Required. On the client's thread: disconnects; also after a failed `open`. `last`: this client is at its end. */
static void skeleton_close(void *session_object, bool last)
{
    struct session *session = session_object;
    (void)last;
    session->run = NULL;
}

/* Optional. The server's name in reports, for example with its version; after `setup`. */
static void skeleton_describe(void *run_object, char *text, size_t size)
{
    (void)run_object;
    (void)snprintf(text, size, "skeleton (one mutex around a table in memory)");
}

/* The one symbol that a driver exports. Hooks left out are NULL; the loader rejects a driver without a required one. */
RIG_DRIVER_EXPORT extern const struct rig_driver rig_driver;
const struct rig_driver rig_driver = {
    .abi = RIG_DRIVER_ABI,
    .struct_size = sizeof(struct rig_driver),
    .name = "skeleton", /* the file must be called rig-driver-skeleton.so */
    .summary = "the example of the driver guide: a strictly serializable store in memory",
    .workloads = RIG_WORKLOAD_BIT(RIG_WORKLOAD_LIST_APPEND) | RIG_WORKLOAD_BIT(RIG_WORKLOAD_RW_REGISTER) |
                 RIG_WORKLOAD_BIT(RIG_WORKLOAD_SET),
    /* RIG_DRIVER_HOLDS: transact calls core->hold() when transaction->hold requires it; RIG_DRIVER_SAVEPOINTS: it sets
       the savepoint that transaction->rollback wants, and rolls back to it; RIG_DRIVER_ROLLBACKS: it sends
       ROLLBACK in place of COMMIT when transaction->rolls_back is set; RIG_DRIVER_PREFILLS: setup makes a row
       for each key below env->prefilled_keys, which needs a table whose rows differ from no row: this one has none */
    .features = 0,
    .options = option_table,
    .options_size = sizeof(struct options),
    .run_size = sizeof(struct run),
    .session_size = sizeof(struct session),
    .init = skeleton_init,
    .done = skeleton_done,
    .setup = skeleton_setup,
    .teardown = skeleton_teardown,
    .open = skeleton_open,
    .transact = skeleton_transact,
    .interrupt = skeleton_interrupt,
    .close = skeleton_close,
    .describe = skeleton_describe,
    .columns = RIG_COLUMN_BIT(RIG_COLUMN_NODE),
};
