/*
 * Makes a certificate of what a database says, call by call: the functions of a driver's struct rig_certificate_sink, whose
 * context is a struct rig_certificate_taking. They return false when memory runs out, or for what is out of order.
 *
 * Threads: one.
 */
#ifndef RIG_HISTORY_MODEL_CERTIFICATE_TAKING_H
#define RIG_HISTORY_MODEL_CERTIFICATE_TAKING_H

#include "history/model/certificate.h"

struct rig_certificate_taking {
    struct rig_certificate *certificate;         /* borrowed */
    struct rig_certificate_builder stream, lost; /* `lost` begins with the first commit that was */
    struct rig_certificate_builder *at;          /* the one with the last commit */
};

void rig_certificate_taking_init(struct rig_certificate_taking *taking, struct rig_certificate *certificate);
void rig_certificate_taking_done(struct rig_certificate_taking *taking);

bool rig_certificate_take_commit(void *context, uint64_t place, uint64_t id, uint32_t timeline);
bool rig_certificate_take_version(void *context, int64_t key, const int64_t *elements, uint32_t count);
bool rig_certificate_take_fork(void *context, uint32_t timeline, uint64_t place, uint32_t next);
bool rig_certificate_take_lost(void *context, uint64_t place, uint64_t id, uint32_t timeline);
bool rig_certificate_take_view(void *context, uint64_t number, uint64_t id, bool single, bool standby);
bool rig_certificate_take_snapshot(void *context, uint64_t xmin, uint64_t xmax, const uint64_t *active, uint32_t count);
bool rig_certificate_take_row(void *context, uint32_t op, uint64_t version, bool with_snapshot);
void rig_certificate_take_end(void *context, bool complete, const char *why);

#endif
