/*
 * Rendering a dialect's templates: for one step of one transaction into the bytes of a request.
 *
 * A dry run renders a value from an answer as a text that names it: <version of key 7>.
 */
#ifndef RIG_DRIVERS_HTTP_DIALECT_RENDER_H
#define RIG_DRIVERS_HTTP_DIALECT_RENDER_H

#include "base/buf.h"
#include "drivers/http/transaction_state.h"

/* The context of a template: its transaction, and its element of a set. */
struct rig_render_scope {
    const struct rig_dialect *dialect;
    const struct rig_transaction_state *state; /* NULL outside of transactions */
    uint32_t client;
    enum rig_dialect_set set;
    uint32_t element;
    bool dry;      /* a dry run */
    bool *missing; /* set when a value was needed that no answer has given; never in a dry run */
};

bool rig_render_holds(const struct rig_conditions *conditions, const struct rig_render_scope *scope);
void rig_render_text(const struct rig_text_template *text, const struct rig_render_scope *scope, struct rig_buf *out);
void rig_render_json(const struct rig_template *json, const struct rig_render_scope *scope, struct rig_buf *out);

#endif
