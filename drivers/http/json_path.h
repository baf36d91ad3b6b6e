/*
 * JSON paths: the place of a value in an answer.
 *
 *     $                      the whole answer
 *     $.header.revision      members; $['a.b'] where a name has other characters than letters, digits, - and _
 *     $.rows[0], $.rows[-1]  elements, from the front and from the back
 *     $.results[*].error     any element: the first in which the rest of the path is found
 *
 * A path is compiled once and borrowed by its users, from any thread. Time: O(steps), times the elements for [*].
 */
#ifndef RIG_DRIVERS_HTTP_JSON_PATH_H
#define RIG_DRIVERS_HTTP_JSON_PATH_H

#include <jansson.h>

#include "base/arena.h"
#include "base/err.h"

struct rig_json_step;

struct rig_json_path {
    const char *text;
    const struct rig_json_step *steps;
    size_t count;
};

/* Texts are copied into the arena. RIG_E_PLAN with a text that has no place; RIG_E_LIMIT out of memory. */
enum rig_rc rig_json_path_parse(struct rig_arena *arena, const char *text, struct rig_json_path *path,
                                struct rig_err *err);
/* The value at the path, borrowed from `root`; NULL when there is none. `root` may be NULL. */
json_t *rig_json_path_find(const struct rig_json_path *path, json_t *root);

#endif
