/*
 * The timeline of a load: the transactions of a course (report/course.h) as data for the script of the page, in a size
 * that is given.
 *
 * The data are one JSON object, safe inside an element <script>: no "<", ">" or "&" is in it. Numbers of transactions,
 * operations and slots are variable-length integers (LEB128, signed ones zigzag) in base64; load_timeline.js reads them
 * in the same order. Where they do not fit, a sample of the least important transactions is left out
 * first, then all of them, then the next kind (enum rig_course_why). The counts by client and slot then stand for the
 * rest.
 *
 * Space: twice the size of the data, and 4 bytes a text of the course. Time: linear, at most 40 times.
 */
#ifndef RIG_REPORT_LOAD_TIMELINE_H
#define RIG_REPORT_LOAD_TIMELINE_H

#include "base/buf.h"
#include "report/course.h"
#include "report/episodes.h"

struct rig_load_timeline_size {
    uint64_t embedded;                    /* transactions */
    bool whole[RIG_COURSE_WHYS];          /* all of this kind that the course draws */
    uint64_t of[RIG_COURSE_WHYS];         /* embedded */
    uint32_t client_count, witness_count; /* rows and witnesses that can be chosen */
};

/* Appends the data, of at most `room` bytes. False, and nothing is written: not even the counts fit, or memory ran
 * out. */
bool rig_load_timeline_data(struct rig_buf *out, const struct rig_course *course, const struct rig_verdict *verdict,
                            const struct rig_episodes *episodes, size_t room, struct rig_load_timeline_size *size);
/* The name by which the page chooses a witness: "G2-item #1", or "G2-item #1 (certificate)". */
void rig_load_timeline_witness(struct rig_buf *out, enum rig_anomaly anomaly, uint32_t number, bool is_by_certificate);

#endif
