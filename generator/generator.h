/*
 * The stream of transactions that one client issues.
 *
 * A stream is a pure function of (options, seed, client, client_count): the same for every run, whatever the timing.
 * Keys of the shape `rotating` come from a pool of `active_keys` slots (generator/keys.h). The move of a slot to a
 * fresh key depends only on the number of earlier transactions of the stream, and is the same for all clients: clients
 * at the same position use the same keys without sharing anything, and a key receives `appends_per_key` writes on
 * average when all clients run at the same rate. The j-th value that client c writes to a key is 1 + c + j *
 * client_count: unique over the run, and dense, so that the checker can use direct tables. An application draws its
 * keys otherwise (generator/application.h). Phases that write the same keys take turns in these values (struct
 * rig_load_turn).
 *
 * Time: O(operations) a transaction, and O(log active_keys) a fresh key; no allocation after rig_generator_new().
 * Space: 40 bytes an active key. Threads: one a generator.
 */
#ifndef RIG_GENERATOR_GENERATOR_H
#define RIG_GENERATOR_GENERATOR_H

#include "base/err.h"
#include "base/option.h"
#include "base/rng.h"
#include "drivers/driver.h"
#include "history/model/transaction.h"

struct rig_key_pool;
struct rig_generator;

enum rig_key_distribution { RIG_KEYS_UNIFORM, RIG_KEYS_EXPONENTIAL, RIG_KEYS_ZIPF, RIG_KEYS_HOT_COLD };

/* The distribution of pauses with a mean. */
enum rig_pause_distribution { RIG_PAUSE_CONSTANT, RIG_PAUSE_UNIFORM, RIG_PAUSE_EXPONENTIAL };
/* By enum rig_pause_distribution, ended by NULL. */
extern const char *const rig_pause_distribution_names[];

/*
 * The shapes of a load: which keys its transactions use together.
 * X(id, name in plans, what the transactions are)
 */
#define RIG_LOAD_SHAPE_TABLE(X)                                                                                        \
    X(ROTATING, "rotating", "random operations on a pool of keys, each of which a fresh one replaces in time")         \
    X(GENERAL, "general", "random operations on keys that stay for the whole load")                                    \
    X(PAIRS, "pairs", "reads of one key of a pair with a write of the other, which provokes write skew")               \
    X(MINI, "mini", "reads, and writes of the keys just read: the mini-transactions of MTC")                           \
    X(TPCC, "tpcc", "TPC-C: all five transactions of a wholesale supplier")                                            \
    X(RUBIS, "rubis", "RUBiS: users of an auction site list items, bid, buy and comment")                              \
    X(TWITTER, "twitter", "C-Twitter: users tweet, follow others and read timelines")                                  \
    X(SMALLBANK, "smallbank", "SmallBank: all six transactions on savings and checking accounts")                      \
    X(COURSEWARE, "courseware", "students enrol in courses that open and close")                                       \
    X(CART, "cart", "users change their shopping carts")

enum rig_load_shape {
#define RIG_LOAD_SHAPE_ENUM(id, name, help) RIG_LOAD_##id,
    RIG_LOAD_SHAPE_TABLE(RIG_LOAD_SHAPE_ENUM)
#undef RIG_LOAD_SHAPE_ENUM
        RIG_LOAD_SHAPE_COUNT
};

/* Whether the shape's keys come from the pool, so that fresh ones take their places. */
static inline bool rig_load_shape_is_pooled(int64_t shape)
{
    return shape == RIG_LOAD_ROTATING || shape == RIG_LOAD_PAIRS || shape == RIG_LOAD_MINI;
}

/* By enum rig_load_shape, ended by NULL. */
extern const char *const rig_load_shape_names[RIG_LOAD_SHAPE_COUNT + 1];

/* The place where a transaction is held open. */
enum rig_hold_place { RIG_HOLD_ANY, RIG_HOLD_FIRST_WRITE, RIG_HOLD_COMMIT };

/* The keys that are read once more when no client appends to them any longer. */
enum rig_final_reads {
    RIG_FINAL_NONE,
    RIG_FINAL_CLOSING, /* each soon after it has left the pool; the remaining ones after the load */
    RIG_FINAL_ALL,     /* the same, and all after the load */
};

/* The way in which a program changes a row by its value. */
enum rig_locking {
    RIG_LOCKING_NONE,          /* SELECT, then UPDATE with the new value */
    RIG_LOCKING_FOR_UPDATE,    /* the same with SELECT ... FOR UPDATE */
    RIG_LOCKING_ATOMIC_UPDATE, /* sums in one UPDATE */
};

/* The place of one phase among those of a load; zeroed: the load has one. */
struct rig_load_turn {
    uint32_t phase;         /* draws from random numbers of its own */
    uint32_t writers;       /* clients over all phases; 0: those of the stream */
    uint32_t number, count; /* among the phases that write the same keys; count 0: no other does */
};

struct rig_specification;

/* Kinds of locks: one owner, which holds the lock once, or several times, or several owners. */
enum rig_lock_kind { RIG_LOCK_OWNER, RIG_LOCK_REENTRANT, RIG_LOCK_SEMAPHORE };

/* The `workload:` section of a plan; stored by rig_generator_option_table. */
struct rig_generator_options {
    int64_t type;         /* enum rig_workload */
    int64_t shape;        /* enum rig_load_shape */
    int64_t transactions; /* most to issue, over all clients; 0: no such bound */
    int64_t duration_ns;  /* longest load; 0: no such bound; one of the two must be given */
    int64_t min_operations, max_operations;
    int64_t delay_ns;           /* mean pause between two operations of a transaction; 0: none */
    int64_t delay_distribution; /* enum rig_pause_distribution */
    double reads;               /* share of operations that read */
    double compare_and_sets;    /* share of the writes to objects that compare first */
    double puts;                /* share of the writes to strings that replace them */
    int64_t values;             /* different ones of such registers */
    int64_t lock_kind;          /* enum rig_lock_kind */
    int64_t lock_most;          /* permits of a semaphore; how often an owner may hold a reentrant lock */
    int64_t lock_lease_ns;      /* 0: none */
    double lock_work;           /* share of the operations after an acquisition that are work under its token */
    const char *model;          /* the path of the file that describes a model; NULL: none */
    const struct rig_specification *specification; /* read from it when the plan is checked */
    int64_t active_keys;
    int64_t key_distribution; /* enum rig_key_distribution */
    double zipf_exponent;
    double hot_keys, hot_accesses; /* hot-cold: share of the keys, and of the accesses that go to them */
    int64_t appends_per_key;
    bool prefill;                    /* each key has its row before the load */
    double updates, deletes;         /* shares of the writing statements of predicate; the others insert */
    int64_t templates;               /* sql: conditions that are drawn before the load */
    double nulls;                    /* sql: share of the inserted values that are NULL */
    double locks, aggregates;        /* sql: shares of the reads that lock their rows, and that aggregate them */
    double subqueries;               /* sql: share of the inserts and updates that have subqueries over other rows */
    double joins;                    /* sql: share of the reads that join two tables */
    double absences;                 /* sql: share of the other reads, updates and deletes with NOT EXISTS */
    double skips;                    /* sql: share of the locking reads that skip locked rows */
    double pairs;                    /* sql: share of the other reads that are an inner join */
    double limits;                   /* sql: share of the other reads that show the first rows in an order */
    double references;               /* sql: share of the inserted rows that have u, and of those that have r */
    double upserts;                  /* sql: share of the other inserts that are upserts */
    double checks;                   /* sql: share of the other inserted rows that have a CHECK */
    double moves;                    /* sql: share of the updates that change primary keys */
    int64_t amount_most;             /* of an increment or a transfer */
    double amount_negative;          /* share of the increments of counters that are below 0 */
    int64_t accounts;                /* of a bank: their number */
    int64_t balance;                 /* of each account at first */
    bool negative_balances;          /* accounts may have less than 0 */
    int64_t group;                   /* keys that long-fork reads together */
    int64_t warehouses, users, rows; /* the size of an application; rows: of the shape `general`, too */
    double long_share;               /* share of transactions that are held open */
    int64_t long_duration_ns;        /* with `long_share`: held for this long; 0: see long_commits */
    int64_t long_commits;            /* with `long_share`: held until this many others have committed */
    int64_t long_before;             /* enum rig_hold_place */
    int64_t long_most;               /* held at a time at most; 0: any number */
    double read_only;                /* share of transactions that only read, beside those that happen to */
    double shapes;                   /* sql: share of the transactions that are steered toward dangerous structures */
    double rollbacks;                /* share of transactions that end with ROLLBACK in place of COMMIT */
    double rollback_share;           /* share of transactions that roll back to a savepoint */
    int64_t rollback_most;           /* the most operations between savepoint and rollback */
    double rollback_reads;           /* share of reads among the operations between savepoint and rollback */
    bool program;                    /* the shape's application runs as a program (generator/programs/program.h) */
    int64_t locking;                 /* enum rig_locking; of a program */
    int64_t final_reads;             /* enum rig_final_reads */
    int64_t sharing;                 /* sessions that issue one stream by turns; 0: one. Set by rig gen, not by plans */
    struct rig_load_turn turn;       /* set by generator/generated_questions.c, not by plans */
};

extern const struct rig_option rig_generator_option_table[];

/* Rejects options that contradict each other, with a remedy. */
enum rig_rc rig_generator_check(const struct rig_generator_options *options, struct rig_err *err);

/* The most operations of a transaction of the load, and the most keys of one. */
uint32_t rig_generator_most_operations(const struct rig_generator_options *options);
int64_t rig_generator_most_keys(const struct rig_generator_options *options);

/* Bits of enum rig_row_clause_kind (history/types/row_ops.h) that statements of the workload sql may have. */
uint32_t rig_generator_clauses(const struct rig_generator_options *options);
/* The accounts of a bank; without any of another workload. */
struct rig_accounts rig_generator_accounts(const struct rig_generator_options *options);

enum { RIG_MOST_KEYS_A_READ = 16 };
/* The keys that one closing or final read covers, at most RIG_MOST_KEYS_A_READ: lists are long, rows are small. */
uint32_t rig_generator_keys_a_read(const struct rig_generator_options *options);

/* The final reads of the load: none where what reads would also change the key. */
enum rig_final_reads rig_generator_final_reads(const struct rig_generator_options *options);
/* Whether a closing or final read is repeated until it shows nothing, as each takes what it shows. */
bool rig_generator_drains(const struct rig_generator_options *options);
/* Whether such a read, which was acknowledged with this result of its only operation, is repeated: it took
 * something. */
bool rig_generator_drains_on(const struct rig_generator_options *options, enum rig_read_state state, uint32_t count);
/* How often such a read is repeated at most: more than any key was given, for a database that always gives
 * something. */
uint32_t rig_generator_most_drained(const struct rig_generator_options *options);

/* The pool of a load without an application: moves such that each key gets its writes from all clients together. */
enum rig_rc rig_generator_pool_init(struct rig_key_pool *pool, const struct rig_generator_options *options,
                                    uint32_t client_count, struct rig_err *err);

enum rig_rc rig_generator_new(const struct rig_generator_options *options, uint64_t seed, uint32_t client,
                              uint32_t client_count, struct rig_generator **generator, struct rig_err *err);
void rig_generator_free(struct rig_generator *generator);

/*
 * Writes the question of the next transaction: ops (owned by the generator, valid until the next call), op_count, hold,
 * rollback, rolls_back, read_only. The other fields are the caller's.
 */
void rig_generator_next(struct rig_generator *generator, struct rig_transaction *transaction);

/*
 * Skips transactions, without issuing them, until `position` of them are done; no-op when they are already. So a
 * client that fell behind the others returns to the keys that they use, and its stream is unchanged.
 */
void rig_generator_skip_to(struct rig_generator *generator, uint64_t position);

/* The number of transactions of the stream that were issued or skipped. */
uint64_t rig_generator_position(const struct rig_generator *generator);

/* The highest key this client may have used so far plus one; all keys lie in [0, this), and each was active once. */
int64_t rig_generator_key_bound(const struct rig_generator *generator);

#endif
