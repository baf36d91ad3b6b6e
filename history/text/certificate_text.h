/*
 * Certificates in the textual forms: operations of the process "rig-certificate" after those of clients, each with a
 * text as its value (docs/history-format.md). The first word says what it is:
 *
 *     commit PLACE NUMBER TIMELINE KEY:KEPT:ELEMENT,ELEMENT KEY:-
 *     fork TIMELINE PLACE NEXT
 *     lost PLACE NUMBER TIMELINE KEY:KEPT:ELEMENT,ELEMENT
 *     view VIEW NUMBER FLAGS OPERATION:VERSION:SNAPSHOT ...
 *     end FLAGS COMMITS VIEWS SOURCE|ENDING
 *
 * FLAGS are words joined by commas, or `-`. With the word `forks` the end has their number and that of the lost commits
 * after VIEWS. A snapshot is XMIN:XMAX:ACTIVE,ACTIVE as PostgreSQL writes it, `=` the one of
 * the row before, or `-` none.
 *
 * Private to history/.
 */
#ifndef RIG_HISTORY_TEXT_CERTIFICATE_TEXT_H
#define RIG_HISTORY_TEXT_CERTIFICATE_TEXT_H

#include "base/buf.h"
#include "history/model/certificate.h"
#include "history/text/operation_text.h"

#define RIG_CERTIFICATE_PROCESS "rig-certificate"

/* The number of lines of a certificate. */
static inline size_t rig_certificate_text_count(const struct rig_certificate *certificate)
{
    return certificate->commits.count + certificate->forks.count + rig_certificate_lost_count(certificate) +
           certificate->views.views.count + 1;
}
/* Writes one of them as an operation with the index. */
void rig_certificate_text_write(const struct rig_syntax *dialect, const struct rig_certificate *certificate,
                                size_t line, uint32_t index, struct rig_buf *out);

enum rig_certificate_taken { RIG_CERTIFICATE_TAKEN, RIG_CERTIFICATE_DAMAGED, RIG_CERTIFICATE_NO_MEMORY };

/* Adds a line's text, of `length` bytes, to the certificate. Without its end the certificate is not complete. */
enum rig_certificate_taken rig_certificate_text_take(const char *text, size_t length, struct rig_certificate *into);

#endif
