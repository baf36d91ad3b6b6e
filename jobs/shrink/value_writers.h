/*
 * The operation that wrote a value of a key, for histories in which a value names its writer.
 *
 * Space: 28 bytes a write. Time: one look-up. Threads: one writer, then many readers.
 */
#ifndef RIG_JOBS_SHRINK_VALUE_WRITERS_H
#define RIG_JOBS_SHRINK_VALUE_WRITERS_H

#include "base/err.h"
#include "base/table.h"
#include "history/model/history.h"

struct rig_value_writers {
    const struct rig_history *history; /* borrowed */
    struct rig_table first;            /* hash of key and value -> operation */
    uint32_t *next;                    /* of each operation: another one of the same hash; UINT32_MAX: none */
};

/* RIG_E_LIMIT when memory runs out; rig_value_writers_done() is safe in either case. */
enum rig_rc rig_value_writers_init(struct rig_value_writers *writers, const struct rig_history *history,
                                   struct rig_err *err);
void rig_value_writers_done(struct rig_value_writers *writers);

/* The operation of the history that wrote the value; UINT32_MAX: none did. */
uint32_t rig_value_writer(const struct rig_value_writers *writers, uint32_t key, int64_t value);

#endif
