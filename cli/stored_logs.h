/*
 * The logs that the servers and programs of a run wrote into its folder.
 */
#ifndef RIG_CLI_STORED_LOGS_H
#define RIG_CLI_STORED_LOGS_H

#include "base/err.h"

/*
 * Masks the run's secrets (base/secret.h) in every `*.log` of `folder`, which their writers have left. A log without
 * one keeps its bytes. The first log that cannot be read or replaced is the error (RIG_E_IO); the others are seen to.
 */
enum rig_rc rig_cli_redact_logs(const char *folder, struct rig_err *err);

#endif
