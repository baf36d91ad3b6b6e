/*
 * What MariaDB shows of what transactions read at serializable, for certificates of the mode `full`. Each read holds a
 * lock to the end there, so the rows that were read are those of the commits up to @@gtid_binlog_pos, asked for before
 * COMMIT. Behind COMMIT @@last_gtid is the transaction's own number, if it changed anything.
 *
 * Numbers are the sequence numbers of GTIDs of domain 0. Each client has a log of its own; the counter that numbers
 * views is all that they share.
 *
 * Space: 32 bytes a transaction, 8 an operation. Threads: a log is its client's, until all sessions are closed.
 */
#ifndef RIG_DRIVERS_MYSQL_MY_VIEW_H
#define RIG_DRIVERS_MYSQL_MY_VIEW_H

#include <stdatomic.h>

#include "base/vec.h"
#include "drivers/driver.h"

RIG_VEC(uint64_t, rig_my_words)

struct rig_my_view_log {
    struct rig_my_words words; /* views, one after the other; my_view.c has their layout */
    size_t next;               /* of the view that is given next */
    bool bad;                  /* memory ran out: there are no views of this client */
};

struct rig_my_views {
    struct rig_my_view_log *logs; /* one a client; NULL: no views */
    uint32_t count;
    atomic_uint_fast64_t taken; /* numbers given to views */
};

enum rig_rc rig_my_views_init(struct rig_my_views *views, uint32_t clients, struct rig_err *err);
/* Takes a zeroed object. */
void rig_my_views_done(struct rig_my_views *views);
/* A transaction committed; gives it the side column `view`. `last`: the number of the last commit that it saw; `own`:
 * its own, or 0: it changed nothing. */
void rig_my_view_take(struct rig_my_views *views, uint32_t client, struct rig_transaction *transaction, uint64_t last,
                      uint64_t own);
/* Hands over all views, by number. RIG_E_LIMIT when memory runs out. */
enum rig_rc rig_my_views_give(struct rig_my_views *views, const struct rig_certificate_sink *sink, struct rig_err *err);

/* The number in a GTID: 17 of "0-1-17". False for an empty text, several GTIDs, or another domain than 0. */
bool rig_my_gtid_parse(const char *text, size_t length, uint64_t *number);

#endif
