/*
 * The driver's options: a plan's keys below `database:` for SQLite, and their contradictions.
 */
#ifndef RIG_DRIVERS_SQLITE_SQLITE_DRIVER_H
#define RIG_DRIVERS_SQLITE_SQLITE_DRIVER_H

#include "drivers/sql/sql_options.h"

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

/* SQLite's words of the options journal, synchronous and begin, by index. */
extern const char *const rig_sqlite_journal_words[];
extern const char *const rig_sqlite_synchronous_words[];
extern const char *const rig_sqlite_begin_words[];

#endif
