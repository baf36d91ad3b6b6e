#include "run/run_certificate.h"

#include <stdio.h>

#include "base/log.h"
#include "base/printable.h"
#include "base/secret.h"
#include "run/run_state.h"

struct taking {
    struct rig_certificate *certificate;
    struct rig_certificate_builder stream, lost; /* `lost` begins with the first commit that was */
    struct rig_certificate_builder *at;          /* the one with the last commit */
};

static bool take_commit(void *context, uint64_t place, uint64_t id, uint32_t timeline)
{
    struct taking *taking = context;
    taking->at = &taking->stream;
    return rig_certificate_add_commit(taking->at, place, id, timeline);
}

static bool take_version(void *context, int64_t key, const int64_t *elements, uint32_t count)
{
    return rig_certificate_add_version(((struct taking *)context)->at, key, elements, count);
}

static bool take_fork(void *context, uint32_t timeline, uint64_t place, uint32_t next)
{
    return rig_certificate_add_fork(((struct taking *)context)->certificate, timeline, place, next);
}

static bool take_lost(void *context, uint64_t place, uint64_t id, uint32_t timeline)
{
    struct taking *taking = context;
    taking->at = &taking->lost;
    taking->lost.certificate = rig_certificate_make_lost(taking->certificate);
    return taking->lost.certificate != NULL && rig_certificate_add_commit(taking->at, place, id, timeline);
}

static bool take_view(void *context, uint64_t number, uint64_t id, bool single, bool standby)
{
    const struct rig_txn_view view = {.number = number, .id = id, .single = single, .standby = standby};
    return rig_txn_views_add(&((struct taking *)context)->certificate->views, &view);
}

static bool take_snapshot(void *context, uint64_t xmin, uint64_t xmax, const uint64_t *active, uint32_t count)
{
    struct rig_certificate *certificate = ((struct taking *)context)->certificate;
    return rig_txn_views_add_snapshot(&certificate->views, xmin, xmax, active, count);
}

static bool take_row(void *context, uint32_t op, uint64_t version, bool with_snapshot)
{
    struct rig_certificate *certificate = ((struct taking *)context)->certificate;
    return rig_txn_views_add_row(&certificate->views, op, version, with_snapshot);
}

static void take_end(void *context, bool complete, const char *why)
{
    struct rig_certificate *certificate = ((struct taking *)context)->certificate;
    certificate->complete = complete;
    (void)snprintf(certificate->ending, sizeof certificate->ending, "%.*s", (int)sizeof certificate->ending - 1,
                   complete ? "" : why);
}

/* Without the end of the driver's. */
static void ask(struct rig_run_state *run, struct rig_certificate *certificate)
{
    struct taking taking = {.certificate = certificate};
    struct rig_err err = {.rc = RIG_OK};
    rig_certificate_builder_init(&taking.stream, certificate);
    rig_certificate_builder_init(&taking.lost, NULL);
    const struct rig_certificate_sink sink = {.context = &taking,
                                              .commit = take_commit,
                                              .version = take_version,
                                              .fork = take_fork,
                                              .lost = take_lost,
                                              .view = take_view,
                                              .snapshot = take_snapshot,
                                              .row = take_row,
                                              .end = take_end};
    if (run->driver->certify(run->driver_run, &sink, &err) != RIG_OK)
        take_end(&taking, false, err.text);
    rig_certificate_builder_done(&taking.stream);
    rig_certificate_builder_done(&taking.lost);
    rig_secret_redact(certificate->ending, sizeof certificate->ending);
    rig_printable_line(certificate->ending);
}

void rig_run_certificate_take(struct rig_run_state *run, bool failed)
{
    struct rig_certificate *certificate = &run->certificate.of;
    if (run->env.certificate == RIG_CERTIFICATE_NONE)
        return;
    certificate->last_only = (run->driver->certificates & RIG_CERTIFICATE_LAST_VERSIONS) != 0;
    (void)snprintf(certificate->source, sizeof certificate->source, "%s", run->driver->certificate_source);
    (void)snprintf(certificate->ending, sizeof certificate->ending, "the run ended before the certificate was taken");
    if (!failed)
        ask(run, certificate);
    rig_log(certificate->complete ? RIG_LOG_INFO : RIG_LOG_WARN, "run", "the certificate has %zu commits%s%s",
            certificate->commits.count, certificate->complete ? "" : " and is not complete: ", certificate->ending);
    rig_recorder_certify(run->recorder, certificate);
}

void rig_run_certificate_done(struct rig_run_state *run)
{
    rig_certificate_done(&run->certificate.of);
}
