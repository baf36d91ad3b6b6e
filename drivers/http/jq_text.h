/*
 * Parts of a dialect as expressions of jq, for a script of requests (http_script.h): what rig knows before a run is
 * written in, and what only an answer tells is looked up while the script runs.
 *
 * In an expression `$run` is the run's name, and `$s` what answers have told: `$s.T5["7"]` has `exists`, `value` and
 * `version` of key 7 in transaction T5, `$s.T5.variables` what its answers have set. `$a` is an answer (null: no JSON),
 * `$text` its bytes, `$status` its status and `$h` its headers, by their names in lower case.
 *
 * Pure functions that add to a buffer.
 */
#ifndef RIG_DRIVERS_HTTP_JQ_TEXT_H
#define RIG_DRIVERS_HTTP_JQ_TEXT_H

#include "drivers/http/dialect_render.h"

struct rig_jq_scope {
    struct rig_render_scope at; /* `state` NULL: outside of transactions */
    uint32_t name;              /* of the transaction: T<name> */
};

/* How far conditions are known: they hold, do not, or depend on an answer. */
enum rig_jq_condition { RIG_JQ_NEVER, RIG_JQ_ALWAYS, RIG_JQ_DEPENDS };
enum rig_jq_condition rig_jq_conditions(const struct rig_conditions *conditions, const struct rig_jq_scope *scope,
                                        struct rig_buf *out);

void rig_jq_text(const struct rig_text_template *text, const struct rig_jq_scope *scope, struct rig_buf *out);
void rig_jq_json(const struct rig_template *json, const struct rig_jq_scope *scope, struct rig_buf *out);

/* The key's value where the first `before` operations of the transaction have run. */
void rig_jq_value(const struct rig_jq_scope *scope, const struct rig_key_state *key, uint32_t before,
                  struct rig_buf *out);

/* The value at a path of `root`, null where there is none. */
void rig_jq_path(const struct rig_json_path *path, const char *root, struct rig_buf *out);
void rig_jq_answer_value(const struct rig_answer_value *value, const char *root, struct rig_buf *out);
/* "ok", "fail" or "info": what the dialect's rules say of the answer to a step. */
void rig_jq_outcome(const struct rig_dialect_step *step, struct rig_buf *out);
/* The functions that the expressions use; behind the variables, before each expression. */
void rig_jq_prelude(const struct rig_dialect *dialect, struct rig_buf *out);

#endif
