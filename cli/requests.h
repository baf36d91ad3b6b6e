/*
 * Options about a history that several commands share: --level, --anomaly, --workload, --assume, --max-witnesses,
 * --max-memory, --report and others, read from the command line, with the nearest name in each refusal.
 */
#ifndef RIG_CLI_REQUESTS_H
#define RIG_CLI_REQUESTS_H

#include <stdbool.h>

#include "checker/judge/check.h"
#include "cli/arguments.h"
#include "history/source/load.h"
#include "history/types/types.h"
#include "run/plan/plan.h"

/* The level that the option names; `*level` stays as it is when it was not given. False after a complaint. */
bool rig_cli_read_level(const struct rig_arguments *args, const char *option, enum rig_level *level);

#define RIG_ARGUMENT_LEVEL                                                                                             \
    {                                                                                                                  \
        .name = "level", .value = "LEVEL", .repeatable = true,                                                         \
        .help = "isolation level that must hold (rig list levels), or of queues at-least-once, at-most-once or "       \
                "exactly-once"                                                                                         \
    }
#define RIG_ARGUMENT_ANOMALY                                                                                           \
    {                                                                                                                  \
        .name = "anomaly", .value = "ANOMALY", .repeatable = true,                                                     \
        .help = "further anomaly that must not occur (rig list anomalies)"                                             \
    }
#define RIG_ARGUMENT_WORKLOAD                                                                                          \
    {                                                                                                                  \
        .name = "workload", .value = "WORKLOAD", .choices = rig_data_type_names,                                       \
        .help = "kind of the transactions (rig list workloads); found in the history when not given"                   \
    }
#define RIG_ARGUMENT_PERMITS                                                                                           \
    {                                                                                                                  \
        .name = "permits", .value = "N",                                                                               \
        .help = "locks of Jepsen's form: semaphores of N permits; locks of one owner when not given"                   \
    }
#define RIG_ARGUMENT_REENTRANT                                                                                         \
    {                                                                                                                  \
        .name = "reentrant", .value = "N", .help = "locks of Jepsen's form: their owner may hold them N times"         \
    }
#define RIG_ARGUMENT_LEASE                                                                                             \
    {                                                                                                                  \
        .name = "lease", .value = "TIME", .help = "locks of Jepsen's form: how long an acquisition lasts at least"     \
    }
#define RIG_ARGUMENT_MODEL                                                                                             \
    {                                                                                                                  \
        .name = "model", .value = "FILE",                                                                              \
        .help = "the history has operations of the model that this file describes (docs/models.md)"                    \
    }
#define RIG_ARGUMENT_PREFILLED                                                                                         \
    {                                                                                                                  \
        .name = "prefilled",                                                                                           \
        .help =                                                                                                        \
            "each key had its row before the first transaction, so that a read of nil or of an empty list is a read "  \
            "of a row, and what appears there later is no phantom"                                                     \
    }
#define RIG_ARGUMENT_INITIAL                                                                                           \
    {                                                                                                                  \
        .name = "initial", .value = "VALUE",                                                                           \
        .help = "what each register begins with, which then has its row: a number, nil, or a value as EDN writes it; " \
                "nil when not given, or what a first read shows and nothing writes"                                    \
    }
#define RIG_ARGUMENT_ASSUME                                                                                            \
    {                                                                                                                  \
        .name = "assume", .value = "LIST", .repeatable = true,                                                         \
        .help = "order of register versions to assume: wfr-keys, sequential-keys, linearizable-keys; order: the "      \
                "database's own"                                                                                       \
    }
#define RIG_ARGUMENT_MAX_WITNESSES                                                                                     \
    {                                                                                                                  \
        .name = "max-witnesses", .value = "N", .help = "witnesses kept of each anomaly; 8 when not given"              \
    }
#define RIG_ARGUMENT_MAX_MEMORY                                                                                        \
    {                                                                                                                  \
        .name = "max-memory", .value = "SIZE",                                                                         \
        .help = "refuse work that needs more memory (`4GiB`); no limit when not given"                                 \
    }
#define RIG_ARGUMENT_LATTICE                                                                                           \
    {                                                                                                                  \
        .name = "lattice", .value = "exact|reference", .choices = rig_cli_lattice_choices,                             \
        .help =                                                                                                        \
            "how levels are decided: each by its own definition, or as the Elle checker does; exact when not given"    \
    }
#define RIG_ARGUMENT_DURABILITY                                                                                        \
    {                                                                                                                  \
        .name = "durability", .value = "durable|strong-prefix|prefix|none", .choices = rig_promise_choices,            \
        .help = "what crashes may take for exit status 0; durable when not given"                                      \
    }
#define RIG_ARGUMENT_BUDGET                                                                                            \
    {                                                                                                                  \
        .name = "budget", .value = "TIME",                                                                             \
        .help = "time for deciding levels where reads leave the order of versions open; 60s when not given"            \
    }
#define RIG_ARGUMENT_MINIMUM                                                                                           \
    {                                                                                                                  \
        .name = "minimum", .value = "KEY=VALUE", .repeatable = true,                                                   \
        .help =                                                                                                        \
            "minimum of evidence: acknowledged=N (transactions), load=SHARE, answering=SHARE (of a run); with less, "  \
            "a "                                                                                                       \
            "verdict without a refutation is undecided"                                                                \
    }
#define RIG_ARGUMENT_REQUIRE                                                                                           \
    {                                                                                                                  \
        .name = "require", .value = "not-refuted|held", .choices = rig_cli_require_choices,                            \
        .help = "the condition on each level for exit status 0; not-refuted when not given"                            \
    }
#define RIG_CLI_REPORT_NAME(id, name, file, between) between name
/* "text, json, html, ... or dot" */
#define RIG_CLI_REPORT_FORMS RIG_REPORT_FORM_TABLE(RIG_CLI_REPORT_NAME)
#define RIG_ARGUMENT_REPORT                                                                                            \
    {                                                                                                                  \
        .name = "report", .value = "FORM=FILE", .repeatable = true,                                                    \
        .help = "also write a report: " RIG_CLI_REPORT_FORMS ", into FILE"                                             \
    }

struct rig_cli_report_request {
    enum rig_report_form form;
    const char *path;
};

/* Bits and numbers into `options` (levels stay 0 where none was asked for). False after a complaint. */
bool rig_cli_read_requests(const struct rig_arguments *args, struct rig_check_options *options);
extern const char *const rig_cli_lattice_choices[];
/* --lattice and --budget, over what `options` say. False after a complaint. */
bool rig_cli_read_decision(const struct rig_arguments *args, struct rig_check_options *options);
/* --durability, of commands that have it, over what `options` say. */
void rig_cli_read_durability(const struct rig_arguments *args, struct rig_check_options *options);
/* --workload. */
void rig_cli_read_workload(const struct rig_arguments *args, struct rig_load_options *options);
/* --model, and the workload that it implies. False after an error
 * message. */
bool rig_cli_read_model(const struct rig_arguments *args, struct rig_load_options *options);
/* The rules of locks. False after an error message. */
bool rig_cli_read_lock_rules(const struct rig_arguments *args, struct rig_load_options *options);
/* Adds the RIG_ASSUMPTION_BIT()s of --assume. False after a complaint. */
bool rig_cli_read_assume(const struct rig_arguments *args, struct rig_check_options *options);
/* Refuses --initial for a type whose keys always begin in the same state. */
enum rig_rc rig_cli_check_initial(const struct rig_arguments *args, enum rig_workload workload, struct rig_err *err);
/* Adds to the options what the plan in a record says of its load: what accounts have, and whether keys have rows.
 * `meta`: the record's; NULL: it carries no plan. `has_all_rows`: see struct rig_history. */
void rig_cli_take_load(const char *meta, bool has_all_rows, struct rig_check_options *options);
extern const char *const rig_cli_require_choices[];
/* --minimum and --require, over what `minimum` says. False after a complaint. */
bool rig_cli_read_minimum(const struct rig_arguments *args, struct rig_minimum *minimum);
/* --max-memory; `*limit_bytes` stays where it is not given. False after a complaint. */
bool rig_cli_read_max_memory(const struct rig_arguments *args, size_t *limit_bytes);
/* The i-th --report; false after a complaint. `*request` has no path past the end. */
bool rig_cli_read_report(const struct rig_arguments *args, size_t i, struct rig_cli_report_request *request);
/* False after a complaint of a --report. */
bool rig_cli_reports_are_known(const struct rig_arguments *args);

/* By exact name, without a complaint; false when there is no such level or anomaly. */
bool rig_cli_add_request(const char *name, struct rig_check_options *options);

#endif
