/*
 * The formatter of reports: printf for counts, and for texts from outside.
 *
 *     rig_tell(out, "<tr><td>%h</td><td>%n commit%p</td></tr>\n", name, count, count);
 *
 *     directive  takes        adds
 *     %n         any integer  12,345 (rig_words_count())
 *     %p         any integer  the s of a plural: nothing for 1
 *     %b         any integer  12.3 MiB: a size in bytes
 *     %l         set of levels, uint64_t  their names (rig_words_levels())
 *     %t         time in ns   1.2 ms: a duration
 *     %c         text         the text on one line, made of printable characters (rig_words_clean())
 *     %h         text         the text escaped for HTML and XML (report/markup.h); NULL: nothing
 */
#ifndef RIG_REPORT_TELL_H
#define RIG_REPORT_TELL_H

#include "base/directives.h"

/* Adds what the format and its arguments say. */
#define rig_tell(out, ...) rig_say_words(rig_tell_directives, NULL, out, RIG_SAID_WORDS(__VA_ARGS__))

extern const struct rig_directive rig_tell_directives[];

#endif
