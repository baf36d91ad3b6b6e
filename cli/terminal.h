/*
 * Whether a stream is a terminal, and whether to colour its output.
 */
#ifndef RIG_CLI_TERMINAL_H
#define RIG_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* True when `stream` is a terminal that can move its cursor (TERM is set and is not "dumb"): a progress line may go
 * there. */
bool rig_terminal_is_live(FILE *stream);
/* True when `stream` is such a terminal and NO_COLOR (no-color.org) is unset or empty. */
bool rig_terminal_has_colour(FILE *stream);
/* Columns of the terminal behind `stream`; 80 where there is none. */
unsigned rig_terminal_columns(FILE *stream);
/* Columns for texts: those of the terminal, from 60 to 160; 116 where there is none. */
unsigned rig_terminal_text_columns(FILE *stream);

#endif
