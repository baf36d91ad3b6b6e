#include "run/load/run_certificate.h"

#include <stdio.h>

#include "base/log.h"
#include "base/printable.h"
#include "base/secret.h"
#include "history/model/certificate_taking.h"
#include "run/load/run_state.h"
#include "run/load/run_versions.h"

/* Without the end of the driver's. */
static void ask(struct rig_run_state *run, struct rig_certificate *certificate)
{
    struct rig_certificate_taking taking;
    struct rig_err err = {.rc = RIG_OK};
    rig_certificate_taking_init(&taking, certificate);
    const struct rig_certificate_sink sink = {.context = &taking,
                                              .commit = rig_certificate_take_commit,
                                              .version = rig_certificate_take_version,
                                              .fork = rig_certificate_take_fork,
                                              .lost = rig_certificate_take_lost,
                                              .view = rig_certificate_take_view,
                                              .snapshot = rig_certificate_take_snapshot,
                                              .row = rig_certificate_take_row,
                                              .end = rig_certificate_take_end};
    if (run->driver->certify(run->driver_run, &sink, &err) != RIG_OK)
        rig_certificate_take_end(&taking, false, err.text);
    rig_certificate_taking_done(&taking);
}

static void ask_command(struct rig_run_state *run, struct rig_certificate *certificate)
{
    struct rig_err err = {.rc = RIG_OK};
    if (rig_run_versions_take(run, certificate, &err) != RIG_OK)
        (void)snprintf(certificate->ending, sizeof certificate->ending, "%.*s", (int)sizeof certificate->ending - 1,
                       err.text);
    else
        certificate->ending[0] = '\0';
}

void rig_run_certificate_take(struct rig_run_state *run, bool failed)
{
    struct rig_certificate *certificate = &run->certificate.of;
    const bool by_command = run->plan->versions_source.count > 0;
    if (run->plan->certificate == RIG_CERTIFICATE_NONE)
        return;
    certificate->last_only = by_command || (run->driver->certificates & RIG_CERTIFICATE_LAST_VERSIONS) != 0;
    (void)snprintf(certificate->source, sizeof certificate->source, "%s",
                   by_command ? "versions-source" : run->driver->certificate_source);
    (void)snprintf(certificate->ending, sizeof certificate->ending, "the run ended before the certificate was taken");
    if (!failed && by_command)
        ask_command(run, certificate);
    else if (!failed)
        ask(run, certificate);
    rig_secret_redact(certificate->ending, sizeof certificate->ending);
    rig_printable_line(certificate->ending);
    rig_log(certificate->complete ? RIG_LOG_INFO : RIG_LOG_WARN, "run", "the certificate has %zu commits%s%s",
            certificate->commits.count, certificate->complete ? "" : " and is not complete: ", certificate->ending);
    rig_recorder_certify(run->recorder, certificate);
}

void rig_run_certificate_done(struct rig_run_state *run)
{
    rig_certificate_done(&run->certificate.of);
}
