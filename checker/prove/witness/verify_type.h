/*
 * The verifier (verify.h) of one data type. Like verify.h, it shares no code with the inference.
 */
#ifndef RIG_CHECKER_PROVE_WITNESS_VERIFY_TYPE_H
#define RIG_CHECKER_PROVE_WITNESS_VERIFY_TYPE_H

#include <stdbool.h>

#include "checker/model/verdict.h"
#include "checker/prove/facts.h"

struct rig_discrepancy;

/* The facts that a witness is proved from. */
struct rig_proof {
    const struct rig_history *history;
    bool *committed;      /* per transaction: acknowledged, or unknown with a write that a committed one shows */
    void *facts;          /* of the data type */
    bool prefilled;       /* each key had its row before the first transaction */
    struct rig_facts raw; /* the same, without an index, for what rig-verify proves, too */
};

/* A read of a key, proved. */
struct rig_proved_read {
    uint32_t key;
    bool initial;  /* the initial state; else */
    int64_t value; /*   the value that names the version: the last one written to it */
};

struct rig_type_verifier {
    /* Fills in `committed`, which has room for every transaction, and `facts`. False when memory runs out. */
    bool (*prove_committed)(struct rig_proof *proof);
    /* Frees the facts, also after a failure; NULL where there are none. */
    void (*free_facts)(void *facts);
    /* The proof that a ww, wr or rw step, or a non-cyclic witness, lacks; NULL when it holds. */
    const char *(*check_step)(const struct rig_proof *proof, const struct rig_step *step);
    const char *(*check_noncyclic)(const struct rig_proof *proof, const struct rig_witness *witness);
    /* For proofs by cases; NULL, as the next one: this type has none, and each is refused. False where the operation is
     * no read with a known result, or read the transaction's own write. */
    bool (*read_version)(const struct rig_proof *proof, uint32_t txn, uint32_t op, struct rig_proved_read *read);
    /* The proof that the known order of the versions of a ww or rw step lacks; NULL when it holds. The step's reads and
     * writes are proved, and no version is the initial state. */
    const char *(*check_known)(const struct rig_proof *proof, const struct rig_step *step);
    /* For proofs by cases of rows, instead of the two before; else NULL. The proof that a step lacks which rests on the
     * order of the step's `order_other`, which reads, and `order_txn`, which commits; that order is in scope. */
    const char *(*check_chosen)(const struct rig_proof *proof, const struct rig_step *step);
    /* The proof that a discrepancy with a certificate lacks; NULL where versions are those of keys:
     * verify_certificate.h has it. */
    const char *(*check_discrepancy)(const struct rig_history *history, const struct rig_discrepancy *found);
    /* Whether reads of acknowledged transactions show the order of a ww step by themselves. */
    bool (*is_acknowledged)(const struct rig_proof *proof, const struct rig_step *step);
};

/* The table of data types. The workload is one that rig checks (rig_type_require()). */
const struct rig_type_verifier *rig_type_verifier(enum rig_workload workload);

extern const struct rig_type_verifier rig_verify_list, rig_verify_register, rig_verify_set, rig_verify_object,
    rig_verify_counter, rig_verify_row, rig_verify_log;

/* The answer of check_noncyclic() of objects when its time was spent: the witness is neither proved nor wrong. */
extern const char rig_verify_spent[];

/* check_discrepancy() of rows. */
const char *rig_verify_row_discrepancy(const struct rig_history *history, const struct rig_discrepancy *found);

/* check_noncyclic() of objects without an order that keeps the order of each process. */
const char *rig_verify_object_order(const struct rig_proof *proof, const struct rig_witness *witness);

/* Whether this operation of the transaction reads a key, or an element of a set, that may have no row then. */
bool rig_verify_found_no_row(const struct rig_proof *proof, uint32_t txn, uint32_t op);

/* The proof that a process or real-time step lacks; NULL when it holds. */
const char *rig_verify_precedence(const struct rig_history *history, const struct rig_step *step);

#endif
