/*
 * Runs as text and JSON: all as a table, one with its details.
 */
#ifndef RIG_JOBS_STORE_RUN_TABLE_H
#define RIG_JOBS_STORE_RUN_TABLE_H

#include "base/buf.h"
#include "base/json_write.h"
#include "jobs/store/run_list.h"

/* A line a run, and one with the sums. A row has at most `columns` characters, at least 60: details are left
 * out where they do not fit, and a last line names them. 0: no limit. */
void rig_run_table_text(const struct rig_run_list *list, unsigned columns, struct rig_buf *out);
/* `{"runs": [...], "bytes": N}`. */
void rig_run_table_json(const struct rig_run_list *list, struct rig_buf *out);
/* One run: a line a fact. */
void rig_run_table_show(const struct rig_stored_run *run, struct rig_buf *out);
/* One run as a member, or an element. */
void rig_run_table_json_run(struct rig_json_writer *json, const char *name, const struct rig_stored_run *run);
/* "name/time", printable. */
void rig_run_table_name(const struct rig_stored_run *run, struct rig_buf *out);
/* `text` for HTML, as a link to the run's report where it has one; `base` as for rig_index_page_write(). */
void rig_run_table_link(const struct rig_stored_run *run, const char *base, const char *text, struct rig_buf *out);
/* `text` as a part of an address: all but letters, digits and `-._~/` escaped. */
void rig_run_table_address(const char *text, struct rig_buf *out);
/* Whether the run has a verdict of its own: it can be compared. */
bool rig_run_table_has_verdict(const struct rig_stored_run *run);
/* "at least 320"; counts need not be exact. */
void rig_run_table_anomalies(const struct rig_stored_run *run, struct rig_buf *out);
/*
 * How often anomalies occur in acknowledged transactions: "320 in 9,499 acknowledged transactions: 30,100 to 37,500 a
 * million at 95 %", "0 in 1,500,000 acknowledged transactions: below 2 a million at 95 %".
 * A count that is a lower bound gives the least share alone.
 */
void rig_run_table_power(uint64_t anomalies, bool is_exact, uint64_t acknowledged, struct rig_buf *out);

#endif
