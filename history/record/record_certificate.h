/*
 * The frames of a certificate in the binary record (docs/history-format.md). Private to the record.
 */
#ifndef RIG_HISTORY_RECORD_RECORD_CERTIFICATE_H
#define RIG_HISTORY_RECORD_RECORD_CERTIFICATE_H

#include "base/err.h"
#include "history/model/certificate.h"
#include "history/record/record_file.h"

/* The payload of a frame with the commits and then the views from item `*item` on, as many as fit; advances `*item`,
 * which begins at 0. The last frame has the end: call it until it returns true. */
bool rig_certificate_encode(const struct rig_certificate *certificate, size_t *item, struct rig_buf *payload);

/*
 * The certificate in the frames [header, end) of a record, whose checksums are verified. A record without the last
 * frame has a certificate that is not complete. RIG_E_INPUT for what no rig writes, RIG_E_LIMIT when memory runs out.
 */
enum rig_rc rig_certificate_decode(const struct rig_record_file *file, size_t end, struct rig_certificate *certificate,
                                   struct rig_err *err);

#endif
