/*
 * Data types that rig does not have, as further rows of its tables: included before all else by a second build of
 * history/, with which a test shows that a type needs only rows there. One of each shape that a result has.
 */
#ifndef RIG_TESTS_HISTORY_MORE_TYPES_H
#define RIG_TESTS_HISTORY_MORE_TYPES_H

/* The number of the put is even. */
#define RIG_TEST_OPS(X)                                                                                                \
    X(RIG_OP_PUT_ROW, "put", "a put", RIG_RESULT_NOTHING, "put a row into the table of a key")                         \
    X(RIG_OP_READ_ROWS, "r", "a read", RIG_RESULT_ROWS, "read the rows of the table of a key")

#define RIG_TEST_WORKLOADS(X) X(RIG_WORKLOAD_ROWS, "rows", RIG_OP_PUT_ROW, RIG_OP_READ_ROWS, "was put before", "tables")

#include "history/model/transaction.h"

#endif
