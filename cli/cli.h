/*
 * The subcommands, and what they share: diagnostics on stderr, exit statuses.
 *
 * A subcommand is one file, cli/command_<name>.c, with `int rig_cli_<name>(int argc, char **argv)`: argv[0] is the
 * subcommand's name; the result is the exit status. It gets a row in RIG_CLI_TABLE and its own table of arguments
 * (cli/arguments.h). Results go to stdout, diagnostics to stderr. main() flushes stdout and turns a failed write into
 * exit status 3, so that subcommands need not check each print.
 *
 * SIGPIPE is ignored, so that a reader that goes away cannot kill a run that has servers to stop.
 */
#ifndef RIG_CLI_CLI_H
#define RIG_CLI_CLI_H

#include "base/buf.h"
#include "base/err.h"

/* X(name, one-line summary), in the order of `rig --help`. */
#define RIG_CLI_TABLE(X)                                                                                               \
    X(run, "run a load, record it, check it, report: the main job")                                                    \
    X(check, "check a recorded history against the isolation levels")                                                  \
    X(report, "make the reports of a finished run again")                                                              \
    X(plan, "check a plan and print it with every default")                                                            \
    X(shrink, "find the smallest part of a history that has its anomaly")                                              \
    X(reproduce, "bring a recorded anomaly or a known bug back")                                                       \
    X(bundle, "pack what a bug report needs into one archive")                                                         \
    X(scenario, "play sessions whose statements run in a written order")                                               \
    X(store, "list, compare and remove the runs on disk, and write a page of them")                                    \
    X(matrix, "run plans or scenarios on many servers, at many levels, and show a table")                              \
    X(convert, "convert a history between rig's own form, JSON lines and EDN")                                         \
    X(gen, "write a synthetic history, right or deliberately wrong, of any size")                                      \
    X(heal, "undo the faults left by a rig that was killed")                                                           \
    X(list, "list what this build supports: drivers, workloads, faults, levels, anomalies, reproductions")             \
    X(completion, "print a script that completes rig's command lines in a shell")

#define RIG_CLI_DECLARE(name, summary) int rig_cli_##name(int argc, char **argv);
RIG_CLI_TABLE(RIG_CLI_DECLARE)
#undef RIG_CLI_DECLARE

struct rig_cli_command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
};

#define RIG_CLI_COUNT(name, summary) +1
enum { RIG_CLI_COMMAND_COUNT = 0 RIG_CLI_TABLE(RIG_CLI_COUNT) };
#undef RIG_CLI_COUNT
extern const struct rig_cli_command rig_cli_commands[RIG_CLI_COMMAND_COUNT];

enum { RIG_EXIT_OK = 0, RIG_EXIT_ANOMALY = 1, RIG_EXIT_UNDECIDED = 2, RIG_EXIT_FAILED = 3, RIG_EXIT_USAGE = 64 };

/* `rig: <text>` and a line break on stderr, secrets masked. */
void rig_cli_complain(const char *format, ...) RIG_PRINTF(1, 2);
/* Complains of `err` and returns the exit status of its code. */
int rig_cli_fail(const struct rig_err *err);
/* Prints a text for people, without what could command the terminal: texts of plans, histories and servers are in it. */
void rig_cli_print(struct rig_buf *text);
/* The one of two exit statuses that counts: an anomaly, whatever failed beside it, else the more serious one. */
int rig_cli_worst(int status, int other);

#endif
