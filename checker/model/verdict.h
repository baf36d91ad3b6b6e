/*
 * The verdict on a history: the fate of each level, and the count and the witnesses of each anomaly. It owns everything
 * it points to, except a history that was judged as a whole: that one must outlive it.
 */
#ifndef RIG_CHECKER_MODEL_VERDICT_H
#define RIG_CHECKER_MODEL_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "checker/model/anomaly.h"
#include "checker/model/level.h"
#include "history/merge/rank_facts.h"
#include "history/model/history.h"

/*
 * All lost appends or writes of a verdict (anomaly.h), beyond the few that have a witness: one row each, independent of
 * the history, of which windows are freed.
 *
 * Space: 64 bytes each and the texts of keys and nodes; at most LOST_MOST rows are kept, the first ones in the order of
 * acknowledgement within each window.
 */

struct rig_lost {
    uint32_t txn,
        reader;      /* names (rig_txn_name()): the transaction of the append or write, and the read that misses it */
    int32_t process; /* of `txn` */
    int64_t acknowledged_ns,
        read_ns; /* times of the completion, and of the reader's invocation; RIG_NO_TIME: unknown */
    int64_t value;
    const char *key;
    const char *node; /* that acknowledged it; NULL: unknown */
};

struct rig_lost_rows {
    struct rig_lost *at; /* in an arena */
    size_t count, room;
};

/* The append or write of `value` to `key` by `txn`, missing for `reader`. False when memory runs out. */
bool rig_lost_add(struct rig_lost_rows *rows, const struct rig_history *history, uint32_t txn, uint32_t reader,
                  uint32_t key, int64_t value, struct rig_arena *arena);

/*
 * One edge of a cycle of transactions, with the observation that it rests on.
 *
 * A ww or rw edge rests on the order of two versions of a key: that of `writer` (the initial state, or the version that
 * `from` installed or read) comes before that of `to`.
 */

/* Why one transaction must come before the next. */
enum rig_edge_kind {
    RIG_EDGE_WW,       /* installed a version before the one that the next transaction installed */
    RIG_EDGE_WR,       /* wrote what the next one read */
    RIG_EDGE_RW,       /* read a version that the next one overwrote: did not see its write */
    RIG_EDGE_PROCESS,  /* same process, earlier */
    RIG_EDGE_REALTIME, /* completed before the next one was invoked */
};

#define RIG_ARC_NONE UINT32_MAX /* no key, operation or writer */

struct rig_arc {
    uint32_t from, to; /* transactions, or nodes of a problem (model/problem.h) */
    enum rig_edge_kind kind;
    uint32_t key;            /* ww, wr, rw */
    uint32_t writer;         /* ww: == from; rw: the transaction that wrote what `from` read, RIG_ARC_NONE: initial */
    uint32_t from_op, to_op; /* places in their transactions. rw: from_op reads; wr: to_op reads; ww: to_op is the first
                              * write of the key by `to`. Else RIG_ARC_NONE. */
};

/*
 * The conditions on the tables of a program, which hold whenever its transactions are isolated
 * (generator/programs/program.h). A run checks them on the database after its load; results keep what they showed.
 */

enum { RIG_CONDITION_ROWS = 8 };

/* Texts are borrowed. */
struct rig_table_condition {
    const char *name, *text, *source;
    uint64_t guaranteed_by;               /* bits: levels that guarantee it */
    const char *problem;                  /* why it could not be checked; NULL: it was */
    uint64_t broken;                      /* rows that break it */
    const char *rows[RIG_CONDITION_ROWS]; /* the first of them, with their columns */
    uint32_t row_count;
};

/* A server that rig started, and that ended although rig did not end it. Texts are borrowed. */
struct rig_server_crash {
    const char *node;
    int signal; /* that killed it; 0: it ended with `exit_status` */
    int exit_status;
    int64_t at_ns;        /* since the load began; below 0: before */
    const char *log_tail; /* the end of its log, on one line */
    const char *fault;    /* in effect on this node, which may have ended it; NULL: none */
    bool fails;           /* the plan asks for a failed run (check.server-crash), and no fault accounts for it */
};

/*
 * When the elements of sets became visible: pure data (infer/set_times.h measures it).
 *
 * An element is known from the moment at which its addition was acknowledged, or at which an acknowledged read that
 * shows it ended, whichever is first. The last read that shows it, and the last one that misses it, are those invoked
 * last. An element is
 *   stable      if no read that misses it was invoked after the last one that shows it; and stale, too, if a read that
 *               misses it was invoked after it was known. Its latency is the time from then to the last such read;
 *   lost        if the last read that misses it was invoked after it was known, and after each read that shows it;
 *   never read  otherwise.
 * These are the terms of Jepsen's set-full.
 */

enum { RIG_STALE_KEPT = 8, RIG_ELEMENT_QUANTILES = 5 };

/* In percent, by place in quantile_ns. */
static const int rig_element_percents[RIG_ELEMENT_QUANTILES] = {0, 50, 95, 99, 100};

enum rig_key_form { RIG_KEY_NUMBER, RIG_KEY_ROW, RIG_KEY_TEXT, RIG_KEY_KEYWORD };

struct rig_stale_element {
    int64_t value;
    int64_t latency_ns;
    int64_t key; /* as in the history, unless it is a text */
    enum rig_key_form key_form;
    char key_name[128]; /* as rig_history_key_name() gives it */
    uint32_t writer;    /* the number that reports use for the transaction */
};

struct rig_element_times {
    bool measured;      /* else the type has no elements, or the history no times */
    uint64_t attempted; /* elements of transactions that did not fail */
    uint64_t known;     /* of them; and of these: */
    uint64_t stable, stale, lost, never_read;
    int64_t
        quantile_ns[RIG_ELEMENT_QUANTILES]; /* of the latencies of stable elements, by a histogram (base/histogram.h);
                                                       0 without any */
    struct rig_stale_element worst[RIG_STALE_KEPT]; /* stale elements, the highest latencies first */
    uint32_t worst_count;
};

/* The transactions judged, and the facts that they left open. Covers the whole history, also parts freed since. */
struct rig_scope {
    enum rig_workload workload;
    enum rig_type_origin type_origin;
    bool has_invocations;
    bool sorted;                 /* see struct rig_history */
    struct rig_rank_facts ranks; /* of a run over several ranks; else its count is 0 */
    bool truncated;
    uint64_t damaged_at, damaged_bytes, damaged_txns; /* see struct rig_history */
    int64_t start_utc_ns;                             /* see struct rig_history */
    uint64_t txn_count, op_count, skipped_count;
    bool excerpt;          /* transactions outside the history may have read or written; one in lost_count */
    uint64_t lost_count;   /* operations left out that may have read or written (history.h) */
    uint64_t reused_count; /* invocations of processes whose earlier one was open (history.h) */
    bool reads_at_once;    /* the order of a transaction's reads is not known (history.h) */
    uint64_t committed_count;
    uint64_t unordered_keys;              /* keys with unread appends of two or more committed transactions */
    uint64_t unknown_reads;               /* reads of ok transactions whose results are not known */
    uint64_t open_reads;                  /* reads whose results leave open which versions they saw */
    uint64_t observations;                /* of objects: acknowledged operations that show a state */
    uint64_t full_reads;                  /* checked against what was added: of counters each known one, of banks
                                             those of all accounts */
    const struct rig_fault_event *faults; /* what a nemesis did; times as in the history */
    size_t fault_count;
    uint64_t apart;      /* bits: levels that windows left open, because the orders they chose have no continuation */
    uint64_t unfit;      /* bits: levels that windows left open, because what these orders keep in memory did not fit */
    bool unsettled;      /* a transaction of unknown fate counts as committed */
    uint64_t own_levels; /* bits: levels that transactions asked for, each its own (model/own_level.h); 0: none did */
    bool some_uncommitted; /* with `own_levels`: a transaction has none, or one below read committed */
};

enum rig_valid { RIG_VALID_FALSE, RIG_VALID_TRUE, RIG_VALID_UNKNOWN };

/* Whether objects that may not be linearizable are sequentially consistent (objects/object_sequential.h). */
enum rig_sequential_fate {
    RIG_SEQUENTIAL_IMPLIED, /* they are linearizable; or there are no objects */
    RIG_SEQUENTIAL_HELD,
    RIG_SEQUENTIAL_REFUTED,
    RIG_SEQUENTIAL_SPENT, /* open: the budget is spent */
    RIG_SEQUENTIAL_BRIEF, /* open: no level that it decides is requested, so the search was short */
    RIG_SEQUENTIAL_PARTS, /* open: the history was checked in windows */
};

/* The solver's work on a level. */
struct rig_level_effort {
    int64_t spent_ns;
    /* For a level that it left open: pairs of transactions that write a common key, and those of them without an
     * order. */
    uint64_t pairs, open_pairs;
    bool has_example;       /* the members below name one of these pairs */
    uint32_t first, second; /* names as in reports */
    char key[24];           /* a key that both write */
};

enum rig_fate { RIG_FATE_NOT_REFUTED, RIG_FATE_HELD, RIG_FATE_REFUTED };

struct rig_level_result {
    enum rig_fate fate;
    enum rig_anomaly because; /* refuted: the anomaly whose witness refutes it */
    char *reason;             /* one sentence: refuted by what, held why, or what was not observed */
};

struct rig_finding {               /* one anomaly */
    uint64_t count;                /* how many were found: 0 for none */
    bool exact;                    /* else `count` is a lower bound */
    uint64_t refutes;              /* bits of the levels that it refutes */
    struct rig_witness *witnesses; /* most telling first: fewest transactions, then earliest */
    uint32_t witness_count;
};

/* How much evidence a verdict needs (minimum.h). */
struct rig_minimum {
    uint64_t acknowledged; /* transactions of the load */
    double load;           /* share of the planned load that was carried out, from 0 to 1 */
    double answering;      /* share of the load's time, without that of faults, in which the database answered */
    bool held;             /* requested levels have to be held; "not refuted" is not enough */
};

/* Facts about a run that its history does not contain. */
struct rig_effort {
    bool known;            /* else this is a bare history, and the shares are unknown */
    bool lost;             /* a run made the history, but only its record is left */
    bool interrupted;      /* by a signal */
    uint64_t acknowledged; /* transactions of the load; of a bare history, all */
    double load, answering;
    uint32_t planned_faults;             /* entries of the plan's nemesis */
    const char *failure;                 /* why the run failed; NULL: it did not. Borrowed. */
    const char *error_code, *error_text; /* that clients got most often; NULL: none. Borrowed. */
    uint64_t error_count;
    const struct rig_table_condition *conditions; /* of the run's program; borrowed until the reports are written */
    uint32_t condition_count;
    const struct rig_server_crash *crashes; /* borrowed, too */
    uint32_t crash_count;
};

struct rig_cost {
    double read_ms; /* set by the loader of a history in memory; of a source, the time spent waiting for it */
    double infer_ms, search_ms;
    double solver_ms;       /* of search_ms: for levels whose versions have no known order */
    uint64_t planned_bytes; /* memory estimated before the check began; 0: there was no estimate */
    uint64_t peak_bytes;
    uint32_t window_count;  /* 1: everything was in memory at once */
    uint32_t process_count; /* that shared the check, else 0; the times are those of the one that gives the verdict */
    uint32_t pass_count;    /* how often the history was read from its beginning */
};

/* A register begins with nil, with a value that the user gave, or with one that its first read shows and nothing
 * writes. In doubt: some operation writes it, later or without success. */
enum rig_begins_as { RIG_BEGINS_PLAIN, RIG_BEGINS_GIVEN, RIG_BEGINS_TAKEN, RIG_BEGINS_IN_DOUBT };

struct rig_begin {
    int64_t value; /* of a register; 0 for other objects */
    enum rig_begins_as as;
};

/* Registers that begin with such a value. */
struct rig_begun {
    uint64_t count;
    int64_t value;   /* of the first of them */
    const char *key; /* its name */
};

enum { RIG_BEGUN_KEY_BYTES = 64 };

struct rig_begun_facts {
    struct rig_begin given;          /* RIG_BEGINS_GIVEN: all registers begin with it */
    struct rig_begun taken, doubted; /* taken from a read; in doubt, and it decides */
};

struct rig_verdict {
    /* The history that the witnesses refer to: the whole one, borrowed; or, after judging in windows, an excerpt that
     * the verdict owns, whose transactions keep their positions in the whole. */
    const struct rig_history *history;
    struct rig_scope scope;
    enum rig_valid valid;
    uint64_t requested_levels;           /* bits */
    rig_anomaly_set requested_anomalies; /* bits */
    enum rig_lattice lattice;
    bool prefilled;               /* each key was taken to have its row from the start (RIG_ASSUMES_PREFILLED) */
    uint64_t unproven_levels;     /* bits: those of spent_levels whose proof was too large to be checked */
    uint64_t too_large_levels;    /* bits: those of spent_levels whose search takes more memory than the limit */
    uint64_t spent_levels;        /* bits: levels that the solver left open when its budget was spent */
    uint64_t explained_levels;    /* bits: those that some order of the increments shows to hold */
    uint64_t open_objects;        /* objects that were not decided when the budget was spent */
    struct rig_begun_facts begun; /* what registers begin with */
    enum rig_sequential_fate sequential;
    struct rig_level_effort work[RIG_LEVEL_COUNT];
    int64_t budget_ns;
    size_t limit_bytes; /* --max-memory; 0: none */
    /* Where transactions have levels of their own: whether each has what its level promises, in an exact sentence.
     * NULL: none has a level. */
    enum rig_fate mixed;
    uint64_t mixed_reads; /* reads that break the level of their own transaction by themselves, and their anomaly */
    enum rig_anomaly mixed_read;
    char *mixed_reason;
    rig_anomaly_set undecided_anomalies; /* bits: requested anomalies that were not found, and may exist */
    struct rig_level_result levels[RIG_LEVEL_COUNT];
    uint64_t weakest_refuted;     /* bits: `not` */
    uint64_t strongest_unrefuted; /* bits: the strongest levels that are held or not refuted */
    struct rig_finding findings[RIG_ANOMALY_COUNT];
    struct rig_element_times elements;         /* of sets */
    struct rig_lost_rows lost;                 /* every lost-append or lost-write */
    uint64_t ok_count, fail_count, info_count; /* transactions */
    uint64_t edge_count[5];                    /* by enum rig_edge_kind; process and real-time are never counted */
    char *unknown_reason;                      /* valid == UNKNOWN: why it is not decided; else NULL */
    struct rig_minimum minimum;                /* rig_verdict_weigh() fills in these three */
    struct rig_effort effort;
    char *shortfall; /* how the evidence falls short of the minimum; NULL: it does not */
    char *summary;   /* a sentence a person can quote */
    struct rig_cost cost;
    struct rig_order_claims *claims; /* checker/evidence/claims.h; NULL: the history has none. Owned */
    struct rig_certified *certified; /* checker/model/certified.h; NULL: there is no certificate. Owned */
    struct rig_durability
        *durability;                /* checker/model/durability.h; NULL: nothing crashed, or it is not judged. Owned */
    struct rig_known_issues *known; /* checker/judge/known_issues.h; NULL: no issue is known. In the storage */
    void *storage;
};

/*
 * The memory that a verdict owns beyond its struct.
 */

struct rig_verdict_storage {
    struct rig_verdict verdict;
    struct rig_arena arena;      /* texts and witnesses */
    struct rig_history *history; /* NULL: the caller's */
};

/* The evidence that one version of a key came before another. */
enum rig_order_source {
    RIG_ORDER_LIST,         /* a read of a list shows both in their order, or no read shows the later one */
    RIG_ORDER_INITIAL,      /* the earlier one is the initial state of the key */
    RIG_ORDER_WFR,          /* the writer of the later one had read the earlier one (assumed: writes follow reads) */
    RIG_ORDER_SEQUENTIAL,   /* a process used the earlier one, and later the other one (assumed: sequential keys) */
    RIG_ORDER_LINEARIZABLE, /* a user of the earlier one completed before a user of the later one began (assumed) */
    RIG_ORDER_UPDATE,       /* the writer of the later one read the earlier one: else a cycle of ww and wr edges */
    RIG_ORDER_CASE,         /* supposed, or concluded, in a proof by cases */
};

struct rig_step {
    uint32_t from, to; /* transactions (ids); to == the next step's from, and the last one's to the first's from */
    enum rig_edge_kind kind;
    uint32_t key;                /* ww, wr, rw */
    int64_t from_value;          /* ww, wr: what `from` wrote; rw: the last element of the list read */
    int64_t to_value;            /* ww, rw: what `to` wrote */
    uint32_t from_op;            /* wr: reading operation is to_op; rw: the reading operation of `from` */
    uint32_t to_op;              /* operation indices within their transactions; UINT32_MAX where none applies */
    uint32_t order_txn;          /* ww, rw: the transaction whose read `order_op` shows the order of the two versions */
    uint32_t order_op;           /* UINT32_MAX: no read shows the later version, so it comes after all that were read */
    enum rig_order_source order; /* ww, rw: the evidence for the order of the two versions; of registers, also */
    uint32_t order_other;        /*   the second transaction of that evidence; order_txn is the first */
    bool absent; /* of rows: the read does not show the row; its id is from_value (rw) or to_value (wr) */
    /* For rows: by its snapshot the read saw the row before `to` changed what the read shows of it (rw), or after
     * `from` did (wr); the id is as for `absent`. */
    bool by_snapshot;
    bool by_predicate; /*   rw: one of these, and neither a read of the row by its key nor a total that counted it */
    char *text;        /* one sentence: "T17 before T23: T17 read key 5 as [1 2] and did not see T23's append of 3."
                  NULL where reports do not show the step (rig_witness_shows()) */
};

/*
 * One line of a proof by cases (docs/checker/solver.md, "Proofs by cases"). SUPPOSE opens a case: of each key that
 * both transactions write, the version of `before` comes before that of `after`. CYCLE shows a cycle that the level
 * forbids; it closes the innermost open case, and from then on `after` before `before` is a conclusion in the case
 * around it. A CYCLE outside of all cases ends the proof. A case about rows supposes that one of both (`reader`) reads
 * before the other one commits, or after it; at a serial level, that one of both comes before the other one.
 */
enum rig_case_kind { RIG_CASE_SUPPOSE, RIG_CASE_CYCLE };

struct rig_case {
    enum rig_case_kind kind;
    uint32_t before, after, key;     /* of the case that it opens or closes; UINT32_MAX on the last line */
    uint32_t reader;                 /* of rows: that of both whose reads the case is about; else UINT32_MAX */
    uint32_t first_step, step_count; /* CYCLE: into the proof's steps */
    char *opening; /* a sentence before the steps, "Suppose T3's write of key 1 comes before T5's."; NULL: none */
    char *closing; /* one after them, "A cycle. So T5's write of key 1 comes before T3's."; NULL: none */
};

struct rig_cases {
    enum rig_level level;
    bool minimal; /* without any one of the transactions, the others have an order that the level allows */
    struct rig_case *lines;
    uint32_t line_count;
    struct rig_step *steps; /* of all cycles, one after the other */
    uint32_t step_count;
};

/* The configurations from which a search in a window went on: a state each, and the operations that had taken effect
 * and were open, by the positions of their invocations. All of it is borrowed until the witness is proved. */
struct rig_blocked_from {
    uint32_t position; /* the last completion before */
    uint32_t count;
    const char *states; /* one after the other, as the bytes of the specification: */
    const uint32_t *sizes;
    const uint32_t *first; /* per configuration, and one more: into `used` */
    const uint32_t *used;
};

/* The end of the longest linearizable prefix of the operations on an object. */
struct rig_blocked {
    uint32_t explained;   /* operations that completed before the first one that cannot be explained */
    uint32_t open_count;  /* operations that were open then, without that one */
    uint32_t state_count; /* states in which the object may be then, before any open operation takes effect */
    uint32_t state_shown; /* entries of `states` */
    char **states;        /* the first of these states, in words */
    /* A queue or a stack: values whose operations alone have no order; the members above do not matter then. Those that
     * found nothing count only if they are among the witness's transactions. */
    const int64_t *values;
    uint32_t value_count;   /* 0: all operations count */
    struct rig_begin begin; /* of the object */
    /* In a history that was checked in windows: where the prefix begins that the witness is about. */
    const struct rig_blocked_from *from; /* NULL: at the beginning of the history */
};

struct rig_witness {
    enum rig_anomaly anomaly;
    uint32_t *txns; /* the transactions it speaks of, in the order of the cycle; distinct */
    uint32_t txn_count;
    struct rig_step *steps; /* of a cycle; none for the others */
    uint32_t step_count;
    struct rig_cases *cases;     /* the proof of no-version-order; NULL for the others */
    struct rig_blocked *blocked; /* nonlinearizable: txns[0] is blocked, the others are open; NULL for the others */
    uint32_t key;                /* of a non-cyclic anomaly, else UINT32_MAX */
    uint32_t op,
        other_op;        /* of a non-cyclic anomaly: operations of txns[0] and txns[1]; UINT32_MAX where none applies */
    int64_t value;       /* of a non-cyclic anomaly: the element in question */
    int64_t other_value; /* of dirty-update: the aborted element under it */
    uint64_t refutes;    /* bits of the levels that this witness alone refutes (closed upward) */
    char *text;          /* the whole witness, several lines, as in the text report, without its running number */
};

/* Reports show cycles of up to 256 transactions whole, and 32 transactions and steps from either end of a longer
 * one. */
enum { RIG_WITNESS_WHOLE = 256, RIG_WITNESS_ENDS = 32 };

static inline bool rig_witness_is_long(const struct rig_witness *witness)
{
    return witness->txn_count > RIG_WITNESS_WHOLE;
}

/* Whether reports show the transaction, or the step, at this place. */
static inline bool rig_witness_shows(const struct rig_witness *witness, uint32_t at)
{
    return !rig_witness_is_long(witness) || at < RIG_WITNESS_ENDS || at >= witness->txn_count - RIG_WITNESS_ENDS;
}

/* The anomaly that answers a request for another one: itself, or a special case of it. False when none was found. */
bool rig_verdict_case_of(const struct rig_verdict *verdict, enum rig_anomaly asked, enum rig_anomaly *found);

void rig_verdict_free(struct rig_verdict *verdict);

#endif
