/*
 * Checks of the options that drivers of SQL servers share: `cluster.hosts`, `cluster.read-only-hosts`, `cluster.local` and
 * `reads-from`.
 *
 * Pure functions. All errors are RIG_E_PLAN, and name the key.
 */
#ifndef RIG_DRIVERS_SQL_SQL_OPTIONS_H
#define RIG_DRIVERS_SQL_SQL_OPTIONS_H

#include "base/tls_options.h"
#include "drivers/sql/sql_servers.h"

/* Borrowed from a driver's options. */
struct rig_sql_cluster_options {
    const struct rig_text_list *hosts;
    const struct rig_text_list *read_only_hosts;
    int64_t nodes; /* that rig starts; 0: not given */
    enum rig_sql_reads_from reads_from;
    bool replicates;    /* a replication other than the default was asked for */
    bool has_settings;  /* those of a server that rig starts */
    const char *binary; /* the keys that select it, for the message: "bin-dir" */
    bool has_binary;
    const struct rig_tls_options *tls;
};

/* The servers beside the first one that writes. */
int64_t rig_sql_options_others(const struct rig_sql_cluster_options *options);
enum rig_rc rig_sql_options_check_cluster(const struct rig_sql_cluster_options *options, struct rig_err *err);
/* The statement of `begin-ts` or `commit-ts`: one SELECT, which cannot end the transaction, and not in a pipeline. NULL or
 * empty: there is none. */
enum rig_rc rig_sql_options_check_timestamp(const char *option, const char *sql, bool pipelines, struct rig_err *err);
/* Each is `name=value`; `option` is the key below cluster.local. */
enum rig_rc rig_sql_options_check_settings(const char *option, const struct rig_text_list *list, struct rig_err *err);
/* The keys version (one or two numbers), servers (an absolute path) and bin-dir; each may be NULL or empty. */
enum rig_rc rig_sql_options_check_version(const char *version, const char *servers, const char *bin_dir,
                                          struct rig_err *err);

#endif
