/*
 * Where the operations of a rewritten text were in the user's file (text/classic_operations.h), so that errors name the
 * line and column of the original operation.
 *
 * Space: 24 bytes an operation. Time: logarithmic an error. Threads: it is filled before any other thread reads it.
 */
#ifndef RIG_HISTORY_TEXT_TEXT_ORIGIN_H
#define RIG_HISTORY_TEXT_TEXT_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct rig_text_place {
    size_t at; /* byte of the rewritten text; places ascend */
    size_t line, column;
};

RIG_VEC(struct rig_text_place, rig_text_origin)

/* Line and column of the operation that the byte `at` of the rewritten text belongs to: the last one that begins no later. */
const struct rig_text_place *rig_text_origin_find(const struct rig_text_origin *origin, size_t at);

#endif
