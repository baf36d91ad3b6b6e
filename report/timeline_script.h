/*
 * The script of the page's timeline: the bytes of report/load_timeline.js, which the build puts into the program.
 */
#ifndef RIG_REPORT_TIMELINE_SCRIPT_H
#define RIG_REPORT_TIMELINE_SCRIPT_H

#include <stddef.h>

extern const char rig_timeline_script[];
extern const size_t rig_timeline_script_size; /* without the NUL at its end */

#endif
