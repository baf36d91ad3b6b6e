/*
 * Assumptions of the user: those that order the versions of registers (checker/infer/registers.h), and others.
 */
#ifndef RIG_CHECKER_MODEL_ASSUMPTION_H
#define RIG_CHECKER_MODEL_ASSUMPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* X(id, name, meaning) */
#define RIG_ASSUMPTION_TABLE(X)                                                                                        \
    X(WFR_KEYS, "wfr-keys", "within a transaction, writes of a key follow its reads of it")                            \
    X(SEQUENTIAL_KEYS, "sequential-keys", "each key by itself is sequentially consistent")                             \
    X(LINEARIZABLE_KEYS, "linearizable-keys", "each key by itself is linearizable")

enum rig_assumption {
#define RIG_ASSUMPTION_ENUM(id, name, meaning) RIG_ASSUMPTION_##id,
    RIG_ASSUMPTION_TABLE(RIG_ASSUMPTION_ENUM)
#undef RIG_ASSUMPTION_ENUM
        RIG_ASSUMPTION_COUNT
};

#define RIG_ASSUMPTION_BIT(assumption) (1u << (assumption))

/* Beside those: accounts of a bank may have balances below 0. */
#define RIG_ASSUMES_NEGATIVE_BALANCES (1u << 16)

/* And the rows of all keys were there before the first transaction: all reads are of items, none found no row. */
#define RIG_ASSUMES_PREFILLED (1u << 17)
/* And the places that the database gives to transactions order the versions of registers. */
#define RIG_ASSUMES_ORDER (1u << 18)
#define RIG_ORDER_NAME    "order" /* in plans and on the command line */
/* Those of the table alone. */
#define RIG_ASSUMPTIONS_OF_VERSIONS (RIG_ASSUMPTION_BIT(RIG_ASSUMPTION_COUNT) - 1)

/* The total of all accounts of a bank, where the user knows it. */
struct rig_known_total {
    bool known;
    int64_t value;
};

/* The value that each register begins with, where the user knows it; nil is one (rig_initial_set_nil()). */
struct rig_known_initial {
    bool known;
    int64_t value;
};

struct rig_assumptions {
    struct rig_known_total total;
    struct rig_known_initial initial;
    unsigned made;            /* RIG_ASSUMPTION_BIT()s */
    unsigned contradicted;    /* those that other parts of the history are known to contradict: they order nothing */
    const uint8_t *open_keys; /* per key: it may be used again, so a value without a writer may get one; NULL: no key */
};

/* The value that the text gives (rig_value_parse()); keys that begin with a value have rows, which *made says.
 * RIG_E_INPUT: it gives none. */
enum rig_rc rig_initial_parse(const char *text, struct rig_known_initial *initial, unsigned *made, struct rig_err *err);
bool rig_initial_is_nil(const struct rig_known_initial *initial);
/* False when memory runs out. */
bool rig_initial_set_nil(struct rig_known_initial *initial);

#endif
