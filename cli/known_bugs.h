/*
 * `check.known` and --known: the known bugs whose anomalies a command accepts (checker/judge/known_issues.h), from the
 * library of known bugs, compared with what is known of the run.
 */
#ifndef RIG_CLI_KNOWN_BUGS_H
#define RIG_CLI_KNOWN_BUGS_H

#include "base/arena.h"
#include "checker/judge/known_issues.h"
#include "cli/arguments.h"
#include "history/source/load.h"
#include "run/plan/plan.h"
#include "report/report.h"

#define RIG_ARGUMENT_KNOWN                                                                                             \
    {                                                                                                                  \
        .name = "known", .value = "NAME", .repeatable = true,                                                          \
        .help = "known bug whose anomalies are accepted, by their shape (rig list bugs)"                               \
    }

struct rig_cli_known_bugs {
    struct rig_known_names names;
    bool required;
    struct rig_arena arena; /* of the entries */
    struct rig_known_issue issues[RIG_KNOWN_MOST];
};

/* --known in place of what `plan`, a text or NULL, says. False after a complaint. rig_cli_known_bugs_done() in any
 * case. */
bool rig_cli_known_bugs_read(struct rig_cli_known_bugs *known, const struct rig_arguments *args, const char *plan);
void rig_cli_known_bugs_done(struct rig_cli_known_bugs *known);

/* The history that was judged, and its run. */
struct rig_cli_judged {
    const char *const *paths; /* its file, or the records of its ranks */
    size_t count;
    const struct rig_load_options *load;
    const struct rig_check_options *check;
    const struct rig_report_run *run; /* NULL, or without its driver: the history's own plan is asked */
};

/*
 * Compares the verdict, before it is weighed; nothing without names. RIG_E_PLAN for an entry that cannot be read. A
 * long history on standard input cannot be read again, and is not explained.
 */
enum rig_rc rig_cli_known_bugs_compare(struct rig_cli_known_bugs *known, const struct rig_cli_judged *judged,
                                       struct rig_verdict *verdict, struct rig_err *err);

#endif
