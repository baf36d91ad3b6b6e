/*
 * One edge of a cycle of transactions, with the observation that it rests on.
 *
 * A ww or rw edge rests on the order of two versions of a key: that of `writer` (the initial state, or the version that
 * `from` installed or read) comes before that of `to`.
 */
#ifndef RIG_CHECKER_MODEL_ARC_H
#define RIG_CHECKER_MODEL_ARC_H

#include <stdint.h>

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

#endif
