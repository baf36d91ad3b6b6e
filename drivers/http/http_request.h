/*
 * Makes the bytes of a request from a step of the dialect, in buffers that are reused.
 */
#ifndef RIG_DRIVERS_HTTP_HTTP_REQUEST_H
#define RIG_DRIVERS_HTTP_HTTP_REQUEST_H

#include "drivers/http/dialect_render.h"
#include "drivers/http/http_client.h"

enum { RIG_REQUEST_HEADERS = 2 * RIG_DIALECT_HEADERS_MOST };

struct rig_request_maker {
    struct rig_buf path, body;
    struct rig_buf header_texts; /* values, each with a NUL behind it */
    struct rig_http_header headers[RIG_REQUEST_HEADERS];
    struct rig_http_request request; /* all but the target and the deadline */
};

void rig_request_maker_init(struct rig_request_maker *maker);
/* Safe for a zeroed maker. */
void rig_request_maker_done(struct rig_request_maker *maker);
/* NULL, or why the request cannot be made (a static text): then no request may be sent. */
const char *rig_request_make(struct rig_request_maker *maker, const struct rig_dialect_step *step,
                             const struct rig_render_scope *scope);

#endif
