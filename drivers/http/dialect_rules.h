/*
 * A dialect's description of answers: the places of values, and the meaning for the transaction. From YAML. Private to
 * drivers/http/.
 */
#ifndef RIG_DRIVERS_HTTP_DIALECT_RULES_H
#define RIG_DRIVERS_HTTP_DIALECT_RULES_H

#include "drivers/http/dialect_reader.h"

/* The `answer` of a step. */
enum rig_rc rig_rules_answer(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                             struct rig_answer_rule *answer, struct rig_err *err);
/* A list of outcomes, first match first. A rule that calls an unknowable outcome certain is rejected. */
enum rig_rc rig_rules_outcomes(const struct rig_dialect_reader *reader, const struct rig_yaml_node *node,
                               const struct rig_outcome_rule **outcomes, struct rig_err *err);

#endif
