/*
 * Undoes what killed rigs have left, from their journals (nemesis/journal.h).
 */
#ifndef RIG_CLI_LEFTOVERS_H
#define RIG_CLI_LEFTOVERS_H

/* Undoes it, and says on stderr and in the log what was found. For the start of whatever touches a cluster; what cannot
 * be undone is complained of, and no reason not to go on: it makes no verdict wrong. */
void rig_cli_heal_leftovers(void);

#endif
