/*
 * The certificate by the plan's own command (database.versions-source), for databases of which the driver has none.
 *
 * The command runs once, after the last session was closed and before the run's tables are removed. Its placeholders and
 * variables are those of the first node; RIG_RUN_NAME has the run's name on the server.
 */
#ifndef RIG_RUN_LOAD_RUN_VERSIONS_H
#define RIG_RUN_LOAD_RUN_VERSIONS_H

#include "history/model/certificate.h"
#include "run/load/run_state.h"

/* RIG_E_CLUSTER where the command fails, or cannot be started; RIG_E_INPUT for what it prints; the certificate has no commits
 * then. */
enum rig_rc rig_run_versions_take(struct rig_run_state *run, struct rig_certificate *certificate, struct rig_err *err);

#endif
