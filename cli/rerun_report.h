/*
 * How often an anomaly came back, as text and as JSON: of how many plays or runs, and how often a minute, each with its
 * interval of 95 % confidence.
 */
#ifndef RIG_CLI_RERUN_REPORT_H
#define RIG_CLI_RERUN_REPORT_H

#include "base/buf.h"
#include "base/json_write.h"
#include "cli/rerun.h"

/* "3 of 10 plays (95 %: 6.7 % to 65 %)" */
void rig_cli_write_share(uint64_t shown, uint64_t of, const char *noun, struct rig_buf *out);
/* "12 anomalies a minute of load (95 %: 8.1 to 19)" */
void rig_cli_write_rate(const struct rig_rerun_tally *tally, struct rig_buf *out);
/* An object: `of`, `shown` and the share's `least` and `most`. */
void rig_cli_json_share(struct rig_json_writer *json, const char *name, uint64_t shown, uint64_t of);
/* The same, with `failed`, `a-minute` and its interval. */
void rig_cli_json_tally(struct rig_json_writer *json, const char *name, const struct rig_rerun_tally *tally);
/* Prints one run as a line: its folder, its seed, and what it showed. */
void rig_cli_tell_rerun(const struct rig_rerun *rerun, const struct rig_rerun_result *result);

#endif
