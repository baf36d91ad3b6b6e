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

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "run/plan/plan.h"

/* X(name, one-line summary), in the order of `rig --help`. */
#define RIG_CLI_TABLE(X)                                                                                               \
    X(try, "connect to a database by its URL, and show what it keeps at each of its levels")                           \
    X(init, "write a commented plan for the database of a URL")                                                        \
    X(run, "run a load, record it, check it, report: the main job")                                                    \
    X(check, "check a recorded history against the isolation levels")                                                  \
    X(report, "make the reports of a finished run again")                                                              \
    X(plan, "check a plan and print it with every default")                                                            \
    X(shrink, "find the smallest part of a history that has its anomaly")                                              \
    X(reproduce, "bring a recorded anomaly or a known bug back")                                                       \
    X(bundle, "pack what a bug report needs into one archive")                                                         \
    X(hunt, "look for bugs of a database by many short runs, each of another plan")                                    \
    X(scenario, "play sessions whose statements run in a written order")                                               \
    X(store, "list, compare and remove the runs on disk, and write a page of them")                                    \
    X(serve, "show the runs on disk in a browser, also while they are under way")                                      \
    X(matrix, "run plans or scenarios on many servers, at many levels, and show a table")                              \
    X(convert, "convert a history between rig's own form, JSON lines and EDN")                                         \
    X(gen, "write a synthetic history, right or deliberately wrong, of any size")                                      \
    X(heal, "undo the faults left by a rig that was killed")                                                           \
    X(list, "list what this build supports: drivers, workloads, faults, levels, anomalies, dialects, bugs, plans")     \
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
/*
 * Texts and data on standard output, without what could command the terminal: texts of plans, histories and servers are
 * in them.
 */

/* Prints whole lines for people. On a terminal they are wrapped to fit it (rig_cli_wrap()). */
void rig_cli_print(struct rig_buf *text);
/* The same, of what the format says: whole lines. */
void rig_cli_say(const char *format, ...) RIG_PRINTF(1, 2);
/* Prints data, such as JSON: its lines stay as they are. */
void rig_cli_print_data(struct rig_buf *data);
/* Where `stream` is a terminal: breaks lines that are longer than rig_terminal_text_columns() at blanks, so that the
 * columns of a table stay apart (rig_wrap_rows()). For a text that is printed otherwise. */
void rig_cli_wrap(struct rig_buf *text, FILE *stream);
/* Columns that a table on standard output has; 0 where its rows may be of any length, since it is no terminal. */
unsigned rig_cli_row_columns(void);

/* The one of two exit statuses that counts: an anomaly, whatever failed beside it, else the more serious one. */
int rig_cli_worst(int status, int other);

/*
 * Whether a stream is a terminal, and whether to colour its output.
 */

/* True when `stream` is a terminal that can move its cursor (TERM is set and is not "dumb"): a progress line may go
 * there. */
bool rig_terminal_is_live(FILE *stream);
/* True when `stream` is such a terminal and NO_COLOR (no-color.org) is unset or empty. */
bool rig_terminal_has_colour(FILE *stream);
/* Columns of the terminal behind `stream`; 80 where there is none. */
unsigned rig_terminal_columns(FILE *stream);
/* Columns for texts: those of the terminal, from 60 to 160; 116 where there is none. */
unsigned rig_terminal_text_columns(FILE *stream);

/*
 * Undoes what killed rigs have left, from their journals (nemesis/journal.h).
 */

/* Undoes it, and tells on stderr and in the log what was found. For the start of a run of the plan. An entry that
 * cannot be undone is told once, to a run with one of its servers, and is no reason not to go on: it makes no verdict
 * wrong. */
void rig_cli_heal_leftovers(const struct rig_plan *plan);

/*
 * Manual pages in the language of troff, made from the tables of arguments and options: `rig help --man run` is
 * rig-run(1), `rig help --man plan.5` is rig-plan(5) with every key of a plan. The build writes them into man/.
 */

/* Prints the page to standard output. Returns the exit status. */
int rig_cli_manual(const char *name);

#endif
