/*
 * The driver's options: a plan's keys below `database:` for SQLite, and their contradictions.
 */
#ifndef RIG_DRIVERS_SQLITE_SQLITE_OPTIONS_H
#define RIG_DRIVERS_SQLITE_SQLITE_OPTIONS_H

#include "drivers/sql/sql_options.h"

/* Indexes into the choices of the option of the same name; the words of the others are SQLite's own. */
enum rig_sqlite_journal { RIG_SQLITE_WAL };

struct rig_sqlite_options {
    struct rig_sql_options sql; /* .nodes is 1 */
    int64_t journal;
    int64_t synchronous;
    int64_t begin;
    bool embedded;
    bool shared_cache;
    bool read_uncommitted;
    int64_t busy_timeout_ns;
    struct rig_text_list pragmas;
};

extern const struct rig_option rig_sqlite_option_table[];
/* SQLite's words of the options journal, synchronous and begin, by index. */
extern const char *const rig_sqlite_journal_words[];
extern const char *const rig_sqlite_synchronous_words[];
extern const char *const rig_sqlite_begin_words[];

/* Rejects contradictory options. RIG_E_PLAN. */
enum rig_rc rig_sqlite_options_check(const void *options, enum rig_workload workload, struct rig_err *err);

#endif
