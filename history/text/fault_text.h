/*
 * Events of faults in the textual forms: operations of the process "nemesis".
 *
 *     {"index":4,"type":"info","process":"nemesis","time":1,"f":"kill","value":{"step":"injected","injection":1,
 *      "fault":"kill","targets":"pg-1","text":"..."}}
 *
 * An event that failed has "failed":true in its value. Operations of other nemeses have other values: they are left out
 * of a history, like all operations that are not of a client.
 *
 * Private to history/.
 */
#ifndef RIG_HISTORY_TEXT_FAULT_TEXT_H
#define RIG_HISTORY_TEXT_FAULT_TEXT_H

#include "base/buf.h"
#include "history/model/fault_event.h"
#include "history/text/operation_text.h"

/* Writes the event as one line. */
void rig_fault_text_write(const struct rig_syntax *dialect, const struct rig_fault_event *event, struct rig_buf *out);
/*
 * Reads the value of an operation, `length` bytes of JSON or EDN that are well formed, into all members except time and
 * position; texts are in the arena. False: not an event of rig.
 */
bool rig_fault_text_read(const char *value, size_t length, struct rig_arena *arena, struct rig_fault_event *event);

#endif
