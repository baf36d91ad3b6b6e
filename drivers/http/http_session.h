/*
 * One client's session: runs transactions by the dialect's steps, and decides their outcomes.
 *
 * Threads: the client's; interrupt() is called from any.
 */
#ifndef RIG_DRIVERS_HTTP_HTTP_SESSION_H
#define RIG_DRIVERS_HTTP_HTTP_SESSION_H

#include "drivers/http/http_outcome.h"
#include "drivers/http/http_request.h"
#include "drivers/http/http_run.h"

struct rig_http_session {
    struct rig_wake wake;
    struct rig_http_run *run;
    uint32_t client_index;
    uint32_t endpoint; /* the server on which it opened */
    uint32_t turns;    /* transactions so far, for round-robin */
    struct rig_http_client client;
    struct rig_request_maker maker;
    struct rig_arena arena; /* for the current transaction */
    struct rig_transaction_state state;
    char member[RIG_COLUMN_NAME_BYTES]; /* reported last, and its number: names are numbered when they change */
    int64_t member_number;
};

/*
 * Hooks of every driver on this engine: `session` is a struct rig_http_session, and `run` begins with a struct
 * rig_http_run.
 */
enum rig_rc rig_http_session_open(void *session, void *run, uint32_t client, struct rig_err *err);
enum rig_outcome rig_http_session_transact(void *session, struct rig_transaction *transaction);
void rig_http_session_interrupt(void *session);
void rig_http_session_close(void *session, bool last);

#endif
