/*
 * The commits that crashes took from a history of lists, registers or sets (docs/checker/durability.md).
 *
 * A crash lies between two positions. A write of transaction T is gone by a crash when T was invoked before the end of
 * the crash, each read that shows the write was invoked before it, too, and a later read misses the write: an
 * acknowledged read that was invoked after the write was known (acknowledged, or shown by an acknowledged read that had
 * ended) and after each read that shows it, and that completed after the crash began. A read of a list or a set misses
 * each element that it does not show. A read of a register misses a write when it shows a version that is older for
 * certain, as in register_lost.h, unless a read after the crash shows a version from before it that may be younger.
 *
 * T is lost by the first crash that one of its writes is gone by, and after which no read shows any of its writes. If
 * some write is gone by a crash and reads after it show another one, T is torn.
 *
 * T2 depends on T1 if it read a write of T1, or if a list shows an element of T1 before one of T2; and so on. A lost
 * transaction is a hole if one that depends on it has a write that a read after the crash shows. It is a hole in real
 * time if it was known before the invocation of a transaction that took effect before the crash and has, or is
 * depended on by one with, such a write.
 *
 * Views are the histories that the crashes leave: view 0 is what came before the first crash that may have taken
 * something, the last view is what survived all crashes and what followed. A transaction that wrote something before a
 * crash is left out of the views after it, with what depends on it, unless a read after the crash shows a write of it
 * or of one that depends on it. To leave out more only makes a view easier to explain, so a level that a view refutes
 * has no explanation by any loss that dependencies allow. A transaction that was under way when a crash came may have
 * been there before it or after it: it is in the view after it; or, where it may have been lost, or saw what may have
 * been lost, only in views that have a transaction that saw it.
 *
 * Time: linear in the history, with sorts of its writes and reads; of registers also, per key, its writes times its
 * reads. Space: about 40 bytes a write, an element of a list and a read, from the arena.
 */
#ifndef RIG_CHECKER_INFER_CRASH_LOSS_H
#define RIG_CHECKER_INFER_CRASH_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "checker/model/durability.h"
#include "history/model/history.h"

#define RIG_CRASH_NONE UINT32_MAX

struct rig_crash_loss {
    uint32_t crash;  /* that took the transaction, or a part of it; RIG_CRASH_NONE: none did */
    uint32_t reader; /* the first read that misses it, by its transaction */
    uint32_t known;  /* position: since then its effects had to be seen; RIG_POSITION_NONE: it was not known */
    uint32_t kept;   /* of a hole: the transaction that survived; of a torn one itself */
    enum rig_hole hole;
};

struct rig_crash_losses {
    const struct rig_history *history; /* borrowed */
    const struct rig_crash *crashes;   /* borrowed: by their ends */
    uint32_t crash_count;
    struct rig_crash_loss *of; /* per transaction */
    uint8_t *splits;           /* per crash: a read that may have come after it misses what no later read shows; of a
                                * register: shows another version */
    uint64_t count;            /* transactions with a crash */
    uint32_t view_count;       /* 1: no crash splits the history */
    uint32_t *first, *last;    /* per transaction: the views that have it; first > last: none has */
};

/* Whether the type's writes and reads can be compared so. */
bool rig_crash_loss_fits(enum rig_workload workload);
/* `crashes`: by to_at, then from_at. False when memory runs out. */
bool rig_crash_losses_find(const struct rig_history *history, const struct rig_crash *crashes, uint32_t crash_count,
                           struct rig_arena *arena, struct rig_crash_losses *losses);

/*
 * The facts that reads show, for the order of the transactions: private to crash_loss.c and crash_order.c.
 *
 * Nodes are the transactions, then the places of the lists (the spines of the keys, then the tails of the branches).
 */
struct rig_crash_edge {
    uint32_t from, to; /* `from` depends on `to` */
};

RIG_VEC(struct rig_crash_edge, rig_crash_edges)

struct rig_crash_facts {
    uint32_t *alive; /* per transaction: the last invocation of a read that shows one of its writes; 0: none */
    uint32_t *known; /* per transaction: as above */
    uint32_t node_count;
    struct rig_crash_edges edges;
};

/* Completes holes and views of `losses`, where single transactions are decided. Takes the edges. */
bool rig_crash_order(struct rig_crash_facts *facts, struct rig_arena *arena, struct rig_crash_losses *losses);

#endif
