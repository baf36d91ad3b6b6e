/*
 * The dry run: the requests that a transaction would produce, as text. Nothing is sent; values from answers are named
 * at their places.
 */
#ifndef RIG_DRIVERS_HTTP_HTTP_PREVIEW_H
#define RIG_DRIVERS_HTTP_HTTP_PREVIEW_H

#include "drivers/http/http_script.h"

enum rig_rc rig_http_preview(const struct rig_dialect *dialect, enum rig_workload workload,
                             const struct rig_transaction *transaction, void (*show)(void *context, const char *text),
                             void *context, struct rig_err *err);
/* For the hook preview: the same for the dialect that a plan selects. */
enum rig_rc rig_http_preview_choice(const struct rig_dialect_choice *choice, enum rig_workload workload,
                                    const struct rig_transaction *transaction,
                                    void (*show)(void *context, const char *text), void *context, struct rig_err *err);

#endif
