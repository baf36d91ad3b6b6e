/*
 * A certificate of lines, as a command of the plan prints them (database.versions-source, docs/certificates.md):
 *
 *   PLACE KEY VALUE     a version of a key: a number, or all elements of a list with commas; `-`: the key was removed
 *   end                 the last line: no version is missing
 *
 * Blanks or tabs separate the fields. PLACE is a number that may have a fraction, of the commit that made the version; lines
 * may come in any order. Versions of one place are one commit, and of several versions of a key at one place the last line
 * is taken. Commits are numbered from 1 in the order of their places. Empty lines, and lines that begin with #, are nothing.
 *
 * Time: sorting the lines. Space: 40 bytes a line beside the text and the certificate. Threads: one.
 */
#ifndef RIG_HISTORY_MODEL_CERTIFICATE_LINES_H
#define RIG_HISTORY_MODEL_CERTIFICATE_LINES_H

#include <stddef.h>

#include "base/err.h"
#include "history/model/certificate.h"

/* Fills an empty certificate, which is complete then. RIG_E_INPUT, with the line, when one is not as above or the last one is
 * missing; RIG_E_LIMIT when memory runs out; the certificate has no commits then. */
enum rig_rc rig_certificate_of_lines(const char *text, size_t size, struct rig_certificate *certificate,
                                     struct rig_err *err);

#endif
