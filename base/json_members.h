/*
 * Several members of a JSON object in one call:
 *
 *     rig_json_members(w, "name: %s, count: %d, exact: %b", name, count, exact);
 *         ->  "name": "x", "count": 3, "exact": true
 *
 * Names are separated by ", ", and each has one directive (base/directives.h gives the rules):
 *
 *     %d  any integer          a number
 *     %s  text                 a string; NULL: null
 *     %b  bool or any integer  true or false
 *     %f  double               a number with three decimals (rig_json_number())
 */
#ifndef RIG_BASE_JSON_MEMBERS_H
#define RIG_BASE_JSON_MEMBERS_H

#include "base/directives.h"
#include "base/json_write.h"

#define rig_json_members(writer, ...) rig_json_write_members(writer, RIG_SAID_WORDS(__VA_ARGS__))
/* The same as an object of its own. */
#define rig_json_object(writer, name, ...)                                                                             \
    (rig_json_begin_object(writer, name), rig_json_write_members(writer, RIG_SAID_WORDS(__VA_ARGS__)),                 \
     rig_json_end(writer))

/* `words`: the format and its arguments. */
void rig_json_write_members(struct rig_json_writer *writer, const struct rig_said *words);

#endif
