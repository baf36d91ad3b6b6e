/*
 * Manual pages in the language of troff, made from the tables of arguments and options: `rig help --man run` is
 * rig-run(1), `rig help --man plan.5` is rig-plan(5) with every key of a plan. The build writes them into man/.
 */
#ifndef RIG_CLI_MANUAL_H
#define RIG_CLI_MANUAL_H

/* Prints the page to standard output. Returns the exit status. */
int rig_cli_manual(const char *name);

#endif
