/*
 * The dialects that are installed or in the folders of RIG_SQL_DIALECT_PATH and RIG_DIALECT_PATH: what drivers know of
 * databases.
 *
 * Reads each file. Threads: one.
 */
#ifndef RIG_CLI_DIALECTS_H
#define RIG_CLI_DIALECTS_H

#include <stdbool.h>

/* Calls `visit` for each dialect, those of SQL first, by name; texts are valid during the call. `drivers`: that take
 * it. False, with complaints: a file cannot be read. */
bool rig_cli_dialects_each(void (*visit)(void *context, const char *name, const char *summary, const char *drivers),
                           void *context);

#endif
