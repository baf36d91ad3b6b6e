#include "history/model/certificate_taking.h"

#include <stdio.h>

void rig_certificate_taking_init(struct rig_certificate_taking *taking, struct rig_certificate *certificate)
{
    *taking = (struct rig_certificate_taking){.certificate = certificate};
    rig_certificate_builder_init(&taking->stream, certificate);
    rig_certificate_builder_init(&taking->lost, NULL);
}

void rig_certificate_taking_done(struct rig_certificate_taking *taking)
{
    rig_certificate_builder_done(&taking->stream);
    rig_certificate_builder_done(&taking->lost);
}

bool rig_certificate_take_commit(void *context, uint64_t place, uint64_t id, uint32_t timeline)
{
    struct rig_certificate_taking *taking = context;
    taking->at = &taking->stream;
    return rig_certificate_add_commit(taking->at, place, id, timeline);
}

bool rig_certificate_take_version(void *context, int64_t key, const int64_t *elements, uint32_t count)
{
    return rig_certificate_add_version(((struct rig_certificate_taking *)context)->at, key, elements, count);
}

bool rig_certificate_take_fork(void *context, uint32_t timeline, uint64_t place, uint32_t next)
{
    return rig_certificate_add_fork(((struct rig_certificate_taking *)context)->certificate, timeline, place, next);
}

bool rig_certificate_take_lost(void *context, uint64_t place, uint64_t id, uint32_t timeline)
{
    struct rig_certificate_taking *taking = context;
    taking->at = &taking->lost;
    taking->lost.certificate = rig_certificate_make_lost(taking->certificate);
    return taking->lost.certificate != NULL && rig_certificate_add_commit(taking->at, place, id, timeline);
}

bool rig_certificate_take_view(void *context, uint64_t number, uint64_t id, bool single, bool standby)
{
    const struct rig_txn_view view = {.number = number, .id = id, .single = single, .standby = standby};
    return rig_txn_views_add(&((struct rig_certificate_taking *)context)->certificate->views, &view);
}

bool rig_certificate_take_snapshot(void *context, uint64_t xmin, uint64_t xmax, const uint64_t *active, uint32_t count)
{
    struct rig_certificate *certificate = ((struct rig_certificate_taking *)context)->certificate;
    return rig_txn_views_add_snapshot(&certificate->views, xmin, xmax, active, count);
}

bool rig_certificate_take_row(void *context, uint32_t op, uint64_t version, bool with_snapshot)
{
    struct rig_certificate *certificate = ((struct rig_certificate_taking *)context)->certificate;
    return rig_txn_views_add_row(&certificate->views, op, version, with_snapshot);
}

void rig_certificate_take_end(void *context, bool complete, const char *why)
{
    struct rig_certificate *certificate = ((struct rig_certificate_taking *)context)->certificate;
    certificate->complete = complete;
    (void)snprintf(certificate->ending, sizeof certificate->ending, "%.*s", (int)sizeof certificate->ending - 1,
                   complete ? "" : why);
}
