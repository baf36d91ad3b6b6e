/*
 * The certificate of a run: asks the driver for the database's own order of commits once all sessions are closed, and
 * hands it to the recorder. A certificate that cannot be had leaves the run as it is; the record says why.
 */
#ifndef RIG_RUN_LOAD_RUN_CERTIFICATE_H
#define RIG_RUN_LOAD_RUN_CERTIFICATE_H

#include "history/model/certificate.h"

struct rig_run_state;

struct rig_run_certificate {
    struct rig_certificate of;
};

/* Between the last session and the closing of the recorder. `failed`: the run has failed, and the database is not
 * asked. */
void rig_run_certificate_take(struct rig_run_state *run, bool failed);
/* After the recorder was closed. */
void rig_run_certificate_done(struct rig_run_state *run);

#endif
