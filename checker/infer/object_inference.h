/*
 * Inference for objects: checks the rules, and counts. There are no edges (objects/object_decide.h).
 */
#ifndef RIG_CHECKER_INFER_OBJECT_INFERENCE_H
#define RIG_CHECKER_INFER_OBJECT_INFERENCE_H

#include "base/arena.h"
#include "base/err.h"
#include "checker/infer/inference.h"
#include "checker/model/assumption.h"

/* The function `infer` of a row (type_inference.h). */
enum rig_rc rig_infer_objects(const struct rig_history *history, struct rig_assumptions assumptions, uint32_t most_kept,
                              struct rig_arena *arena, struct rig_inference *inference, struct rig_err *err);

#endif
