/*
 * The lines of the servers' logs around witnesses, from the folder of a run.
 *
 * A line belongs to a witness if its time lies within RIG_SERVER_LOG_MARGIN_MS of the witness's transactions. Lines of
 * their backends come first, then lines in which the server complains, then others. Conflicts between transactions are
 * common and come last, those of the backends first. At most RIG_SERVER_LOG_LINES are kept. Where the
 * nodes that answered are known and have logs, the logs of other nodes are left out. A line begins with the time, as
 * servers write it: `2026-03-01 12:03:04.567 UTC [4711]` (PostgreSQL), `2026-03-01 12:03:04 4711` (MariaDB, in local
 * time), or a member "ts" of JSON (etcd). Further lines of one message go with its first line.
 *
 * Lines from after the end of the final reads, which `rig.log` has, are left out: they are about rig's own shutdown of
 * the servers.
 *
 * Only regular files `*.log` in the folder itself are read, `rig.log` aside; no link is followed. Secrets are masked
 * (base/secret.h), and characters that cannot be printed become `?`.
 *
 * Time: linear in the logs, of which at most 256 MiB each are read, times the witnesses. Space: about 4 KB a witness.
 */
#ifndef RIG_REPORT_SERVER_LOG_H
#define RIG_REPORT_SERVER_LOG_H

#include "base/buf.h"
#include "checker/model/verdict.h"

enum { RIG_SERVER_LOG_LINES = 12, RIG_SERVER_LOG_LINE_BYTES = 300, RIG_SERVER_LOG_MARGIN_MS = 1000 };

struct rig_server_logs;

/* NULL: there is no folder, no log, or no memory. `folder` may be NULL. Borrows the verdict. */
struct rig_server_logs *rig_server_logs_read(const char *folder, const struct rig_verdict *verdict);
/* Takes NULL. */
void rig_server_logs_free(struct rig_server_logs *logs);
/* "pg-1.log: 2026-03-01 12:03:04.567 UTC [4711] ERROR: ...", a line each, in the order of the logs; "": there is none.
 * `logs` may be NULL. */
const char *rig_server_logs_of(const struct rig_server_logs *logs, const struct rig_witness *witness, unsigned *count);
/* The best of these lines, at most `most`, in the order of the logs, with conflicts or without; returns how many. Valid
 * as long as `logs`. */
unsigned rig_server_logs_best(const struct rig_server_logs *logs, const struct rig_witness *witness, unsigned most,
                              bool conflicts, const char *best[RIG_SERVER_LOG_LINES]);

/* The time in ns since 1970 with which the line begins, and the number of the process or connection behind it (-1:
 * none). `*step_ns`: how exact it is. False: the line does not begin with a time. */
bool rig_server_log_time(const char *line, int64_t *utc_ns, int64_t *step_ns, int64_t *backend);

#endif
