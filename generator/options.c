/*
 * The `workload:` section of a plan.
 */
#include <inttypes.h>

#include <string.h>

#include "base/option_parse.h"
#include "generator/application.h"
#include "generator/generator.h"
#include "generator/generator_types.h"
#include "generator/workload.h"
#include "history/types/types.h"

#define AT(member) offsetof(struct rig_generator_options, member)

/* By enum rig_key_distribution. */
static const char *const distribution_choices[] = {"uniform", "exponential", "zipf", "hot-cold", NULL};
const char *const rig_pause_distribution_names[] = {"constant", "uniform", "exponential", NULL};
/* By enum rig_hold_place. */
static const char *const place_choices[] = {"any", "first-write", "commit", NULL};
/* By enum rig_locking. */
static const char *const lock_choices[] = {"owner", "reentrant", "semaphore", NULL};
static const char *const locking_choices[] = {"none", "for-update", "atomic-update", NULL};
/* By enum rig_final_reads. */
static const char *const final_reads_choices[] = {"none", "closing", "all", NULL};

/* By enum rig_load_shape. */
const char *const rig_load_shape_names[RIG_LOAD_SHAPE_COUNT + 1] = {
#define SHAPE_NAME(id, name, help) name,
    RIG_LOAD_SHAPE_TABLE(SHAPE_NAME)
#undef SHAPE_NAME
        NULL};

#define MOST_STANDING_ROWS 1e8
#define LONGEST_LOAD_NS    (30.0 * 24 * 3600 * 1e9)

const struct rig_option rig_generator_option_table[] = {
    {.name = "type",
     RIG_OPTION_VARIED(
             .chance = 1, /* a model needs its file */
             .values =
                 "list-append rw-register set cas-register mutex queue stack append-register counter bank long-fork "
                 "monotonic unique-ids dirty-reads sequential multi-key-acid predicate sql log lock"),
     .type = RIG_OPTION_CHOICE,
     .offset = AT(type),
     .default_text = "list-append",
     .choices = rig_data_type_names,
     .help = "kind of data and operations of the transactions (`rig list workloads`)"},
    {.name = "shape",
     RIG_OPTION_VARIED(.chance = 0.2, .with = "workload.type=list-append|rw-register"),
     .type = RIG_OPTION_CHOICE,
     .offset = AT(shape),
     .default_text = "rotating",
     .choices = rig_load_shape_names,
     .help = "rotating: random operations on a pool of keys, each of which a fresh one replaces in time; general: the "
             "same on `rows` keys that stay; pairs: keys of the pool come in pairs, and an operation reads one key of "
             "a pair and the next one writes the other, which provokes write skew; mini: each write follows a read of "
             "its key, as in the mini-transactions of MTC, whose check is the fastest (operations.max: 4); the others "
             "are applications with a "
             "key for each row: TPC-C, RUBiS, C-Twitter, SmallBank, courseware, shopping carts"},
    {.name = "warehouses",
     .type = RIG_OPTION_INT,
     .offset = AT(warehouses),
     .default_text = "1",
     .least = 1,
     .most = 10000,
     .help = "size of the shape tpcc, of ten districts each"},
    {.name = "users",
     .type = RIG_OPTION_INT,
     .offset = AT(users),
     .default_text = "100",
     .least = 3,
     .most = 1e6,
     .help = "size of applications: users, students; customers of a bank, or of each district of tpcc"},
    {.name = "rows",
     .type = RIG_OPTION_INT,
     .offset = AT(rows),
     .default_text = "100",
     .least = 1,
     .most = 1e6,
     .help = "keys of the shape general; items of tpcc and rubis; courses"},
    {.name = "program",
     RIG_OPTION_VARIED(.chance = 0.3, .values = "true", .with = "workload.shape=smallbank workload.type=rw-register"),
     .type = RIG_OPTION_BOOL,
     .offset = AT(program),
     .default_text = "false",
     .help =
         "run the application of the shape (tpcc, smallbank, courseware or cart) as a program on tables of its own, "
         "whose "
         "reads decide what it does next; each row is a register, and the conditions of the application are checked "
         "on the tables after the load"},
    {.name = "locking",
     .type = RIG_OPTION_CHOICE,
     .offset = AT(locking),
     .default_text = "none",
     .choices = locking_choices,
     .help = "how a program changes a value that it depends on; none: SELECT, then UPDATE; for-update: SELECT FOR "
             "UPDATE, then UPDATE; atomic-update: sums in one UPDATE, and all else as none"},
    {.name = "transactions",
     .type = RIG_OPTION_INT,
     .offset = AT(transactions),
     .least = 1,
     .most = 4e9,
     .help = "transactions to issue over all clients; with `duration`, whichever comes first ends the load"},
    {.name = "duration",
     .type = RIG_OPTION_DURATION,
     .offset = AT(duration_ns),
     .least = 1e6,
     .most = LONGEST_LOAD_NS,
     .help = "maximum duration of the load"},
    {.name = "operations.min",
     .type = RIG_OPTION_INT,
     .offset = AT(min_operations),
     .default_text = "1",
     .least = 1,
     .most = 1000,
     .help = "fewest operations of a transaction"},
    {.name = "operations.max",
     RIG_OPTION_VARIED(.chance = 0.5, .values = "1 2 3 4 8 12"),
     .type = RIG_OPTION_INT,
     .offset = AT(max_operations),
     .default_text = "5",
     .least = 1,
     .most = 1000,
     .help = "most operations of a transaction"},
    {.name = "operations.delay",
     RIG_OPTION_VARIED(.chance = 0.2, .values = "50us 500us 5ms"),
     .type = RIG_OPTION_DURATION,
     .offset = AT(delay_ns),
     .default_text = "0s",
     .least = 0,
     .most = 3600e9,
     .help = "mean pause between two operations of a transaction, which widens races; 0: none"},
    {.name = "operations.delay-distribution",
     .type = RIG_OPTION_CHOICE,
     .offset = AT(delay_distribution),
     .default_text = "exponential",
     .choices = rig_pause_distribution_names,
     .help = "distribution of these pauses; uniform: from 0 to twice the mean"},
    {.name = "reads",
     RIG_OPTION_VARIED(.chance = 0.5, .values = "10% 30% 60% 80% 90%"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(reads),
     .default_text = "50%",
     .help = "share of the operations that read; with the shapes pairs and mini, of those that would write"},
    {.name = "compare-and-sets",
     RIG_OPTION_VARIED(.chance = 0.3, .values = "10% 90%", .with = "workload.type=cas-register"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(compare_and_sets),
     .default_text = "50%",
     .help = "type cas-register: share of the writes that compare first"},
    {.name = "values",
     RIG_OPTION_VARIED(.chance = 0.3, .values = "2 20", .with = "workload.type=cas-register"),
     .type = RIG_OPTION_INT,
     .offset = AT(values),
     .default_text = "5",
     .least = 1,
     .most = 1e9,
     .help = "type cas-register: different values, from 0; few, so that comparisons often hold"},
    {.name = "puts",
     RIG_OPTION_VARIED(.chance = 0.3, .values = "5% 60%", .with = "workload.type=append-register"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(puts),
     .default_text = "25%",
     .help = "type append-register: share of the writes that replace the string; the others append a digit to it"},
    {.name = "lock.kind",
     RIG_OPTION_VARIED(.chance = 0.6, .values = "reentrant semaphore", .with = "workload.type=lock"),
     .type = RIG_OPTION_CHOICE,
     .offset = AT(lock_kind),
     .default_text = "owner",
     .choices = lock_choices,
     .help =
         "type lock: owner: a lock has one owner, the client, which holds it once; reentrant: its owner may hold it "
         "`lock.most` times; semaphore: it has `lock.most` permits, for any owners"},
    {.name = "lock.most",
     .type = RIG_OPTION_INT,
     .offset = AT(lock_most),
     .default_text = "2",
     .least = 1,
     .most = 1000,
     .help = "type lock: permits of a semaphore, or how often its owner may hold a reentrant lock"},
    {.name = "lock.lease",
     .type = RIG_OPTION_DURATION,
     .offset = AT(lock_lease_ns),
     .default_text = "0s",
     .least = 0,
     .most = 3600e9,
     .help = "type lock: the time after which the database may take a lock away from its owner; 0: none"},
    {.name = "lock.work",
     .type = RIG_OPTION_SHARE,
     .offset = AT(lock_work),
     .default_text = "30%",
     .help =
         "type lock: share of a client's operations after an acquisition that use what the lock protects, under the "
         "token that the client has"},
    {.name = "model",
     .type = RIG_OPTION_TEXT,
     .offset = AT(model),
     .help = "type model: the file that describes the model (docs/models.md), relative to the plan's folder"},
    {.name = "keys.active",
     RIG_OPTION_VARIED(.chance = 0.6, .values = "1 2 3 5 20 60"),
     .type = RIG_OPTION_INT,
     .offset = AT(active_keys),
     .default_text = "10",
     .least = 1,
     .most = 1e6,
     .help = "keys in use at a time; fewer keys mean more conflicts"},
    {.name = "keys.distribution",
     RIG_OPTION_VARIED(.chance = 0.4),
     .type = RIG_OPTION_CHOICE,
     .offset = AT(key_distribution),
     .default_text = "exponential",
     .choices = distribution_choices,
     .help = "distribution of the choice among the active keys"},
    {.name = "keys.zipf-exponent",
     .type = RIG_OPTION_DOUBLE,
     .offset = AT(zipf_exponent),
     .default_text = "0.99",
     .least = 0.01,
     .most = 10,
     .help = "skew of the zipf distribution; the k-th key is chosen in proportion to 1/k^exponent"},
    {.name = "keys.hot-keys",
     .type = RIG_OPTION_SHARE,
     .offset = AT(hot_keys),
     .default_text = "20%",
     .least = 0.000001,
     .most = 1,
     .help = "share of the keys that are hot in the distribution hot-cold; at least one key"},
    {.name = "keys.hot-accesses",
     .type = RIG_OPTION_SHARE,
     .offset = AT(hot_accesses),
     .default_text = "80%",
     .least = 0,
     .most = 1,
     .help = "share of the operations that use hot keys, each of them alike; the others use the cold keys alike"},
    {.name = "keys.appends-per-key",
     RIG_OPTION_VARIED(.chance = 0.3, .values = "4 16 256"),
     .type = RIG_OPTION_INT,
     .offset = AT(appends_per_key),
     .default_text = "128",
     .least = 1,
     .most = 1e6,
     .help = "appends to a key before a fresh one takes its place; about the longest list"},
    {.name = "keys.prefill",
     .type = RIG_OPTION_BOOL,
     .offset = AT(prefill),
     .default_text = "false",
     .help =
         "make the row of each key before the load: an empty list, or a register without a value; every read is "
         "then of an item, and the check knows it, as with `check.prefilled`. Needs `transactions`, which bound the "
         "number of keys, or the shape general"},
    {.name = "keys.group",
     RIG_OPTION_VARIED(.chance = 0.4, .values = "3 5",
                       .with = "workload.type=long-fork|monotonic|dirty-reads|multi-key-acid|sequential"),
     .type = RIG_OPTION_INT,
     .offset = AT(group),
     .default_text = "2",
     .least = 2,
     .most = 64,
     .help = "keys of a group of the types long-fork, monotonic, dirty-reads, multi-key-acid and sequential, which "
             "transactions "
             "use together; `keys.active` counts such groups"},
    {.name = "statements.updates",
     RIG_OPTION_VARIED(.chance = 0.6, .values = "10% 30% 50%", .with = "workload.type=predicate|sql"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(updates),
     .default_text = "0%",
     .least = 0,
     .most = 1,
     .help =
         "share of the statements of predicate and sql that write which update the rows that meet a condition; of "
         "those of predicate that "
         "read, 10 % ask for the number of rows and the sum of their versions, 5 % for this sum alone, and the others "
         "for the rows"},
    {.name = "statements.deletes",
     RIG_OPTION_VARIED(.chance = 0.5, .values = "10% 30%", .with = "workload.type=predicate|sql"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(deletes),
     .default_text = "0%",
     .least = 0,
     .most = 1,
     .help = "share of them which delete these rows; the others insert a row"},
    {.name = "statements.templates",
     .type = RIG_OPTION_INT,
     .offset = AT(templates),
     .default_text = "24",
     .least = 1,
     .most = RIG_MOST_TEMPLATES,
     .help =
         "type sql: conditions that the seed draws before the load; each statement takes one of them with constants "
         "of its own"},
    {.name = "statements.nulls",
     RIG_OPTION_VARIED(.chance = 0.3, .values = "0% 50%", .with = "workload.type=sql"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(nulls),
     .default_text = "15%",
     .help =
         "type sql: share of the values that statements write which are NULL; also of a quarter of the constants in "
         "conditions"},
    {.name = "statements.locks",
     RIG_OPTION_VARIED(.chance = 0.3, .values = "0% 40%", .with = "workload.type=sql"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(locks),
     .default_text = "10%",
     .help = "type sql: share of the reads that lock their rows, half of them FOR UPDATE and half FOR SHARE, where the "
             "database has it"},
    {.name = "statements.aggregates",
     RIG_OPTION_VARIED(.chance = 0.3, .values = "0% 40%", .with = "workload.type=sql"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(aggregates),
     .default_text = "10%",
     .help = "type sql: share of the reads that aggregate their rows into one, with a list of their versions"},
    {.name = "statements.subqueries",
     .type = RIG_OPTION_SHARE,
     .offset = AT(subqueries),
     .default_text = "0%",
     .help = "type sql: share of the inserts (INSERT ... SELECT) and updates (SET = a subquery) whose values depend on "
             "the rows of a further condition, in a table that is drawn; not with the drivers sql and odbc"},
    {.name = "statements.joins",
     .type = RIG_OPTION_SHARE,
     .offset = AT(joins),
     .default_text = "0%",
     .help = "type sql: share of the reads that do not lock and do not aggregate which are a LEFT JOIN with a table "
             "that is drawn"},
    {.name = "statements.not-exists",
     .type = RIG_OPTION_SHARE,
     .offset = AT(absences),
     .default_text = "0%",
     .help =
         "type sql: share of the other such reads, and of the updates and deletes without subqueries, which ask that "
         "there is NOT EXISTS a row with the same value in a table that is drawn"},
    {.name = "statements.inner-joins",
     .type = RIG_OPTION_SHARE,
     .offset = AT(pairs),
     .default_text = "0%",
     .help = "type sql: share of the other such reads which are an inner join with a table that is drawn"},
    {.name = "statements.limits",
     .type = RIG_OPTION_SHARE,
     .offset = AT(limits),
     .default_text = "0%",
     .help =
         "type sql: share of the other such reads which show the first rows only: ORDER BY a number and the id, with "
         "a LIMIT of 1 to 5 rows"},
    {.name = "statements.skip-locked",
     .type = RIG_OPTION_SHARE,
     .offset = AT(skips),
     .default_text = "0%",
     .help =
         "type sql: share of the locking reads that SKIP LOCKED rows, where the database has it; the rows that such "
         "a read does not show prove nothing"},
    {.name = "statements.references",
     RIG_OPTION_VARIED(.chance = 0.4, .values = "0% 40%", .with = "workload.type=sql"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(references),
     .default_text = "10%",
     .help =
         "type sql: share of the inserted rows that have a unique value, and of those that refer to one; the tables "
         "have these constraints, and rig checks that they hold after the load"},
    {.name = "statements.upserts",
     RIG_OPTION_VARIED(.chance = 0.3, .values = "40%", .with = "workload.type=sql"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(upserts),
     .default_text = "0%",
     .help = "type sql: share of the inserts of single rows that are upserts (ON CONFLICT DO UPDATE, ON DUPLICATE KEY "
             "UPDATE) by a unique value; not with the drivers sql and odbc"},
    {.name = "statements.checks",
     RIG_OPTION_VARIED(.chance = 0.3, .values = "40%", .with = "workload.type=sql"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(checks),
     .default_text = "0%",
     .help = "type sql: share of the other inserted rows that have a CHECK to keep, of two columns, of a range or of "
             "values that are not NULL; an update that would break it fails; not with the drivers sql and odbc"},
    {.name = "statements.key-updates",
     RIG_OPTION_VARIED(.chance = 0.3, .values = "30%", .with = "workload.type=sql"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(moves),
     .default_text = "0%",
     .help = "type sql: share of the updates that also change the primary keys of their rows; not with the drivers "
             "sql and odbc"},
    {.name = "amount.most",
     .type = RIG_OPTION_INT,
     .offset = AT(amount_most),
     .default_text = "5",
     .least = 1,
     .most = 1e9,
     .help = "largest number that an increment adds to a counter, or that a transfer of a bank moves"},
    {.name = "amount.negative",
     RIG_OPTION_VARIED(.chance = 0.3, .values = "30%", .with = "workload.type=counter"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(amount_negative),
     .default_text = "0%",
     .help = "share of the increments of counters that subtract"},
    {.name = "accounts.count",
     RIG_OPTION_VARIED(.chance = 0.3, .values = "2 3 20", .with = "workload.type=bank"),
     .type = RIG_OPTION_INT,
     .offset = AT(accounts),
     .default_text = "8",
     .least = 2,
     .most = 1000,
     .help = "accounts of a bank; transactions move money between two of them or read all of them"},
    {.name = "accounts.balance",
     .type = RIG_OPTION_INT,
     .offset = AT(balance),
     .default_text = "10",
     .least = 0,
     .most = 1e12,
     .help = "balance of each account before the load"},
    {.name = "accounts.negative",
     RIG_OPTION_VARIED(.chance = 0.2, .values = "true", .with = "workload.type=bank"),
     .type = RIG_OPTION_BOOL,
     .offset = AT(negative_balances),
     .default_text = "false",
     .help = "whether balances may fall below 0; else a transfer that would do so is aborted (a fail)"},
    {.name = "long-transactions.share",
     RIG_OPTION_VARIED(.chance = 0.25, .values = "1% 5% 20% 40%", .with = "workload.long-transactions.hold=20ms"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(long_share),
     .default_text = "0%",
     .help = "share of the transactions that are held open between two operations"},
    {.name = "long-transactions.hold",
     .type = RIG_OPTION_DURATION,
     .offset = AT(long_duration_ns),
     .least = 0,
     .most = 3600e9,
     .help = "time for which they are held open; 0s: none"},
    {.name = "long-transactions.until-commits",
     .type = RIG_OPTION_INT,
     .offset = AT(long_commits),
     .least = 0,
     .most = 1e9,
     .help = "hold them until this many transactions of other clients have committed, but at most for `hold`; 0: for "
             "`hold`"},
    {.name = "long-transactions.before",
     RIG_OPTION_VARIED(.chance = 0.15, .values = "first-write commit",
                       .with = "workload.long-transactions.share=10% workload.long-transactions.hold=20ms"),
     .type = RIG_OPTION_CHOICE,
     .offset = AT(long_before),
     .default_text = "any",
     .choices = place_choices,
     .help =
         "the operation before which they are held; any: one at random or the commit; first-write: the first one that "
         "writes, so that they hold no lock meanwhile (not held if no read comes before it); commit: the commit"},
    {.name = "long-transactions.at-most",
     .type = RIG_OPTION_INT,
     .offset = AT(long_most),
     .default_text = "0",
     .least = 0,
     .most = 4096,
     .help = "transactions that are held at a time at most, the others are not held; 0: no limit"},
    {.name = "read-only",
     RIG_OPTION_VARIED(.chance = 0.25, .values = "10% 30% 60%"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(read_only),
     .default_text = "0%",
     .help = "share of the transactions whose operations all read, beside those that read only by chance"},
    {.name = "shapes",
     .type = RIG_OPTION_SHARE,
     .offset = AT(shapes),
     .default_text = "0%",
     .help =
         "type sql: share of the transactions that are steered toward dangerous structures (two rw edges in a row, "
         "phantoms in a gap, rows that are deleted and inserted again), on two tables; the statements of the others "
         "are drawn one by one"},
    {.name = "rollbacks",
     RIG_OPTION_VARIED(.chance = 0.2, .values = "5% 20%",
                       .with = "workload.type=list-append|rw-register|set|counter|bank|predicate|sql"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(rollbacks),
     .default_text = "0%",
     .help = "share of the transactions that end with ROLLBACK in place of COMMIT, on purpose: a read of what one of "
             "them wrote is an aborted read"},
    {.name = "savepoints.share",
     RIG_OPTION_VARIED(.chance = 0.2, .values = "10% 40%",
                       .with = "workload.type=list-append|rw-register|set|counter|bank"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(rollback_share),
     .default_text = "0%",
     .help = "share of the transactions that also set a savepoint, write, roll back to the savepoint and go on"},
    {.name = "savepoints.operations",
     .type = RIG_OPTION_INT,
     .offset = AT(rollback_most),
     .default_text = "2",
     .least = 1,
     .most = 1000,
     .help = "most operations between the savepoint and the rollback to it, beside the transaction's own"},
    {.name = "savepoints.reads",
     RIG_OPTION_VARIED(.chance = 0.1, .values = "50%", .with = "workload.savepoints.share=20%"),
     .type = RIG_OPTION_SHARE,
     .offset = AT(rollback_reads),
     .default_text = "0%",
     .help = "share of reads among these operations, each of a key that none of them has written before it; the last "
             "operation always writes"},
    {.name = "final-reads",
     .type = RIG_OPTION_CHOICE,
     .offset = AT(final_reads),
     .default_text = "closing",
     .choices = final_reads_choices,
     .help = "keys that are read once more, so that reads show their last appends; closing: each key soon after the "
             "load has left it, and after the load the keys in use last (after faults: every key); all: the same, "
             "and after the load every key that was used (rig gen: only the latter). Queues, stacks and logs are read "
             "to their ends"},
    {.name = NULL},
};

/* ---- options that contradict each other ---- */

#define S(id)        (1u << RIG_LOAD_##id)
#define POOLED       (S(ROTATING) | S(PAIRS) | S(MINI))
#define DRAWN        (POOLED | S(GENERAL))
#define APPLICATIONS (S(TPCC) | S(RUBIS) | S(TWITTER) | S(SMALLBANK) | S(COURSEWARE) | S(CART))

/* Sets of data types. Objects, banks and PLANNED draw transactions as a whole. */
#define T(id)      (1u << RIG_WORKLOAD_##id)
#define ANY_TYPE   (~0u)
#define STRETCHES  (T(MONOTONIC) | T(MULTI_KEY) | T(DIRTY_READS))
#define GROUPS     (T(LONG_FORK) | T(SEQUENTIAL) | STRETCHES)
#define PLANNED    (GROUPS | T(UNIQUE_IDS)) /* the position gives the key */
#define OPERATIONS (~((unsigned)RIG_OBJECT_TYPES | T(BANK) | PLANNED))

/* Options, and the shapes and types on which they have an effect. */
static const struct effect {
    const char *name;
    unsigned shapes, types;
} effects[] = {
    {"operations.min", DRAWN, OPERATIONS},
    {"operations.max", DRAWN, OPERATIONS},
    {"operations.delay", DRAWN | APPLICATIONS, OPERATIONS},
    {"reads", DRAWN, ~(T(MUTEX) | T(LOCK) | T(MODEL) | T(UNIQUE_IDS))},
    {"compare-and-sets", DRAWN, T(CAS_REGISTER)},
    {"values", DRAWN, T(CAS_REGISTER)},
    {"puts", DRAWN, T(APPEND_REGISTER)},
    {"lock.kind", DRAWN, T(LOCK)},
    {"lock.most", DRAWN, T(LOCK)},
    {"lock.lease", DRAWN, T(LOCK)},
    {"lock.work", DRAWN, T(LOCK)},
    {"keys.active", POOLED, ~(T(BANK) | T(SEQUENTIAL) | T(UNIQUE_IDS))},
    {"keys.appends-per-key", POOLED, ~(T(BANK) | PLANNED) | STRETCHES},
    {"keys.distribution", DRAWN, ~PLANNED},
    {"keys.hot-keys", DRAWN, ~PLANNED},
    {"keys.hot-accesses", DRAWN, ~PLANNED},
    {"keys.zipf-exponent", DRAWN | S(TWITTER) | S(CART), ~PLANNED},
    {"keys.group", DRAWN, GROUPS},
    {"statements.updates", DRAWN, T(PREDICATE) | T(SQL)},
    {"statements.deletes", DRAWN, T(PREDICATE) | T(SQL)},
    {"statements.templates", DRAWN, T(SQL)},
    {"statements.nulls", DRAWN, T(SQL)},
    {"statements.locks", DRAWN, T(SQL)},
    {"statements.aggregates", DRAWN, T(SQL)},
    {"statements.subqueries", DRAWN, T(SQL)},
    {"statements.joins", DRAWN, T(SQL)},
    {"statements.not-exists", DRAWN, T(SQL)},
    {"statements.inner-joins", DRAWN, T(SQL)},
    {"statements.limits", DRAWN, T(SQL)},
    {"statements.skip-locked", DRAWN, T(SQL)},
    {"statements.references", DRAWN, T(SQL)},
    {"statements.upserts", DRAWN, T(SQL)},
    {"statements.checks", DRAWN, T(SQL)},
    {"statements.key-updates", DRAWN, T(SQL)},
    {"amount.most", DRAWN, T(COUNTER) | T(BANK)},
    {"amount.negative", DRAWN, T(COUNTER)},
    {"accounts.count", DRAWN, T(BANK)},
    {"accounts.balance", DRAWN, T(BANK)},
    {"accounts.negative", DRAWN, T(BANK)},
    {"warehouses", S(TPCC), ANY_TYPE},
    {"users", APPLICATIONS, ANY_TYPE},
    {"rows", S(GENERAL) | S(TPCC) | S(RUBIS) | S(COURSEWARE), ANY_TYPE},
    {"long-transactions.share", DRAWN | APPLICATIONS, ~(unsigned)RIG_OBJECT_TYPES},
    {"read-only", DRAWN, OPERATIONS},
    {"shapes", DRAWN, T(SQL)},
    {"rollbacks", DRAWN | APPLICATIONS, ~(unsigned)RIG_OBJECT_TYPES},
    {"savepoints.share", DRAWN, T(LIST_APPEND) | T(RW_REGISTER) | T(SET) | T(COUNTER) | T(BANK)},
};

/* All of these options are followed by others, so that 8 bytes can be compared. */
static bool has_default(const struct rig_generator_options *options, const struct rig_option *option)
{
    struct rig_generator_options fresh = *options;
    struct rig_err err = {0};
    RIG_INVARIANT(rig_option_parse(option, option->default_text, &fresh, &err) == RIG_OK);
    return memcmp((const char *)&fresh + option->offset, (const char *)options + option->offset, sizeof(int64_t)) == 0;
}

static bool is_default(const struct rig_generator_options *options, const char *name)
{
    return has_default(options, rig_option_find(rig_generator_option_table, name));
}

static enum rig_rc check_pairs(const struct rig_generator_options *options, struct rig_err *err)
{
    const char *shape = rig_load_shape_names[options->shape];
    if (options->shape != RIG_LOAD_PAIRS && options->shape != RIG_LOAD_MINI)
        return RIG_OK;
    if (rig_generator_types[options->type].draw != rig_unique_op)
        return rig_fail(err, RIG_E_PLAN, "the `shape` %s has no meaning for the type %s", shape,
                        rig_data_type_names[options->type]);
    if (options->shape == RIG_LOAD_PAIRS && options->active_keys % 2 != 0)
        return rig_fail(err, RIG_E_PLAN,
                        "the `shape` pairs needs an even number of keys, and `keys.active` is %" PRId64,
                        options->active_keys);
    if (options->max_operations < 2)
        return rig_fail(err, RIG_E_PLAN, "the `shape` %s needs two operations, and `operations.max` is 1", shape);
    return RIG_OK;
}

/* Savepoints need transactions of several statements, of which any could be undone. */
static enum rig_rc check_savepoints(const struct rig_generator_options *options, struct rig_err *err)
{
    const unsigned type = 1u << options->type;
    const char *why = (type & (unsigned)RIG_OBJECT_TYPES) != 0 ? "its transactions are one operation, and there is "
                                                                 "nothing else that a rollback could leave"
                      : (type & PLANNED) != 0 ? "each of its values has its place in the load, and none may be undone"
                      : (type & (T(PREDICATE) | T(SQL))) != 0
                          ? "its statements change what the conditions of later ones find, so none may be undone"
                          : NULL;
    if (options->rollback_share <= 0 || why == NULL)
        return RIG_OK;
    return rig_fail(err, RIG_E_PLAN, "`savepoints.share` cannot be used with the type `%s`: %s; leave it out",
                    rig_data_type_names[options->type], why);
}

/* Rows before the load need keys that are known then, and a type whose reads of keys without a row mean something. */
static enum rig_rc check_prefill(const struct rig_generator_options *options, struct rig_err *err)
{
    const unsigned type = 1u << options->type;
    const char *why = (type & T(SET)) != 0 ? "its elements are its rows, and each is made when it is added"
                      : (type & (T(PREDICATE) | T(SQL))) != 0 ? "its own statements insert the rows"
                      : (type & T(LOG)) != 0                  ? "its logs begin empty"
                      : (type & T(BANK)) != 0                 ? "its accounts always have rows"
                      : (type & (T(COUNTER) | (unsigned)RIG_OBJECT_TYPES)) != 0
                          ? "none of its verdicts depends on whether a key has a row"
                          : NULL;
    if (!options->prefill)
        return RIG_OK;
    if (why != NULL)
        return rig_fail(err, RIG_E_PLAN, "`keys.prefill` has no effect on the type `%s`: %s; leave it out",
                        rig_data_type_names[options->type], why);
    if (rig_application_of(options->shape) != NULL)
        return rig_fail(
            err, RIG_E_PLAN,
            "`keys.prefill` cannot be used with the shape `%s`, whose transactions insert rows; leave it out",
            rig_load_shape_names[options->shape]);
    if (options->transactions == 0 && options->shape != RIG_LOAD_GENERAL)
        return rig_fail(
            err, RIG_E_PLAN,
            "`keys.prefill` makes the rows before the load, and `duration` does not bound the number of keys: "
            "give `transactions`, too, or use the shape `general`");
    return RIG_OK;
}

static enum rig_rc check_locks(const struct rig_generator_options *options, struct rig_err *err)
{
    if ((1u << options->type & T(LOCK)) == 0)
        return RIG_OK;
    if (options->lock_lease_ns > 0 && options->lock_kind != RIG_LOCK_OWNER)
        return rig_fail(err, RIG_E_PLAN,
                        "`lock.lease` needs `lock.kind: owner`: a lease is of a lock that is held once");
    if (options->lock_kind == RIG_LOCK_OWNER && !is_default(options, "lock.most"))
        return rig_fail(err, RIG_E_PLAN,
                        "`lock.most` has no effect with `lock.kind: owner`; give `reentrant` or `semaphore`");
    return RIG_OK;
}

static enum rig_rc check_model(const struct rig_generator_options *options, struct rig_err *err)
{
    const bool is_model = rig_workload_has_specification((enum rig_workload)options->type);
    if (is_model && options->specification == NULL)
        return rig_fail(err, RIG_E_PLAN, "`type: model` needs `model`, the path of the file that describes the model");
    if (!is_model && options->model != NULL)
        return rig_fail(err, RIG_E_PLAN, "`model` has no effect on the type `%s`; give `type: model`, or leave it out",
                        rig_data_types[options->type].name);
    return RIG_OK;
}

static enum rig_rc check_shape(const struct rig_generator_options *options, struct rig_err *err)
{
    const char *shape = rig_load_shape_names[options->shape], *type = rig_data_type_names[options->type];
    enum rig_rc rc = check_savepoints(options, err);
    if (rc == RIG_OK)
        rc = check_prefill(options, err);
    if (rc == RIG_OK)
        rc = check_locks(options, err);
    if (rc == RIG_OK)
        rc = check_model(options, err);
    if (rc != RIG_OK)
        return rc;
    for (size_t i = 0; i < sizeof effects / sizeof effects[0]; i++) {
        const struct rig_option *option = rig_option_find(rig_generator_option_table, effects[i].name);
        const bool shaped = (effects[i].shapes >> options->shape & 1) != 0;
        const bool typed = (effects[i].types >> options->type & 1) != 0;
        if ((!shaped || !typed) && !has_default(options, option))
            return rig_fail(err, RIG_E_PLAN, "`%s` has no effect on the %s `%s`; leave it out", option->name,
                            shaped ? "type" : "shape", shaped ? type : shape);
    }
    const struct rig_generator_type *generated = &rig_generator_types[options->type];
    if ((generated->keys != NULL || generated->leaves_at != NULL) && options->shape != RIG_LOAD_ROTATING)
        return rig_fail(err, RIG_E_PLAN, "the type `%s` has its own transactions; leave out `shape`", type);
    const struct rig_application *application = rig_application_of(options->shape);
    if (application == NULL)
        return check_pairs(options, err);
    if (!rig_generator_types[options->type].has_rows)
        return rig_fail(err, RIG_E_PLAN, "the shape `%s` needs the type `rw-register` or `list-append`", shape);
    if (rig_app_standing_rows(application, options) > MOST_STANDING_ROWS)
        return rig_fail(err, RIG_E_PLAN,
                        "the shape `%s` has %.0f rows with these sizes; use up to %.0f: lower `warehouses`, `users` or "
                        "`rows`",
                        shape, rig_app_standing_rows(application, options), MOST_STANDING_ROWS);
    return RIG_OK;
}

static enum rig_rc check_program(const struct rig_generator_options *options, struct rig_err *err)
{
    const struct rig_data_type *type = &rig_data_types[options->type];
    if (!options->program && options->locking != RIG_LOCKING_NONE)
        return rig_fail(err, RIG_E_PLAN, "`locking` has no effect without `program: true`");
    if (!options->program)
        return RIG_OK;
    if (options->rollbacks > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "`rollbacks` cannot be used with `program: true`: a program decides itself when it rolls back; "
                        "leave it out");
    if (!rig_generator_types[options->type].has_rows || rig_data_type_has_sequences(type))
        return rig_fail(err, RIG_E_PLAN, "`program` needs the type `rw-register`");
    return RIG_OK;
}

enum rig_rc rig_generator_check(const struct rig_generator_options *options, struct rig_err *err)
{
    if (!rig_generator_has(options->type))
        return rig_fail(err, RIG_E_PLAN, "rig checks histories of %s, but generates none; use another type",
                        rig_data_types[options->type].name);
    enum rig_rc rc = check_shape(options, err);
    if (rc == RIG_OK)
        rc = check_program(options, err);
    if (rc != RIG_OK)
        return rc;
    if (options->locks + options->aggregates > 1)
        return rig_fail(err, RIG_E_PLAN, "`statements.locks` and `statements.aggregates` are more than 100%% together");
    if (options->updates + options->deletes > 1)
        return rig_fail(err, RIG_E_PLAN, "`statements.updates` and `statements.deletes` are more than 100%% together");
    if (options->transactions == 0 && options->duration_ns == 0)
        return rig_fail(err, RIG_E_PLAN,
                        "the load has no end: give `transactions` (such as 20000), `duration` (such as 60s) or both");
    if (options->min_operations > options->max_operations)
        return rig_fail(err, RIG_E_PLAN, "`operations.min` (%" PRId64 ") is above `operations.max` (%" PRId64 ")",
                        options->min_operations, options->max_operations);
    const struct rig_generator_options *o = options;
    if (o->key_distribution != RIG_KEYS_HOT_COLD &&
        (!is_default(o, "keys.hot-keys") || !is_default(o, "keys.hot-accesses")))
        return rig_fail(err, RIG_E_PLAN, "`keys.hot-keys` and `keys.hot-accesses` need `keys.distribution: hot-cold`");
    const bool held = options->long_duration_ns > 0 || options->long_commits > 0;
    if (options->long_share > 0 && !held)
        return rig_fail(err, RIG_E_PLAN,
                        "`long-transactions.share` needs `long-transactions.hold` (such as 500ms), "
                        "`long-transactions.until-commits` or both");
    const char *unused = !is_default(o, "savepoints.operations") ? "operations"
                         : options->rollback_reads > 0           ? "reads"
                                                                 : NULL;
    if (options->rollback_share <= 0 && unused != NULL)
        return rig_fail(err, RIG_E_PLAN, "`savepoints.%s` has no effect: `savepoints.share` is 0%%", unused);
    const char *idle = options->long_duration_ns > 0          ? "hold"
                       : options->long_commits > 0            ? "until-commits"
                       : options->long_before != RIG_HOLD_ANY ? "before"
                       : options->long_most > 0               ? "at-most"
                                                              : NULL;
    if (options->long_share <= 0 && idle != NULL)
        return rig_fail(err, RIG_E_PLAN, "`long-transactions.%s` has no effect: `long-transactions.share` is 0%%",
                        idle);
    return RIG_OK;
}
