#include "run/load/run_certificate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/printable.h"
#include "base/secret.h"
#include "history/model/certificate.h"
#include "nemesis/command.h"
#include "run/load/run_state.h"

/*
 * The certificate by the plan's own command (database.versions-source), for databases of which the driver has none.
 *
 * The command runs once, after the last session was closed and before the run's tables are removed. Its placeholders
 * and variables are those of the first node; RIG_RUN_NAME has the run's name on the server.
 */

/* The time that the command may take; and where the run was interrupted, which `stopping` would tell it at once. */
static const int64_t timeout_ns = INT64_C(24) * 3600 * 1000000000, interrupted_ns = INT64_C(60) * 1000000000;

/* The first node that writes, as far as the driver tells; without one, the run's name alone. */
static void find_place(const struct rig_run_state *run, struct rig_place *place)
{
    const struct rig_cluster_ops *cluster = run->driver->cluster;
    struct rig_node_address address = {.host = ""};
    struct rig_err ignored = {.rc = RIG_OK};
    *place = (struct rig_place){.at = {""}};
    (void)snprintf(place->at[RIG_PLACEHOLDER_RUN], RIG_PLACE_BYTES, "%s", run->name);
    const uint32_t count = cluster == NULL ? 0 : cluster->node_count(run->driver_run);
    struct rig_node_status first = {.name = ""}, status;
    uint32_t node = 0;
    for (uint32_t i = 0; i < count && strcmp(first.role, "primary") != 0; i++) {
        status = (struct rig_node_status){.name = ""};
        (void)cluster->status(run->driver_run, i, &status, &ignored);
        node = i == 0 || strcmp(status.role, "primary") == 0 ? i : node;
        first = node == i ? status : first;
    }
    if (count == 0)
        return;
    (void)snprintf(place->at[RIG_PLACEHOLDER_NODE], RIG_PLACE_BYTES, "%s", first.name);
    if (cluster->address == NULL || cluster->address(run->driver_run, node, &address, &ignored) != RIG_OK)
        return;
    (void)snprintf(place->at[RIG_PLACEHOLDER_HOST], RIG_PLACE_BYTES, "%s", address.host);
    (void)snprintf(place->at[RIG_PLACEHOLDER_SOCKET], RIG_PLACE_BYTES, "%s", address.socket);
    if (address.port != 0)
        (void)snprintf(place->at[RIG_PLACEHOLDER_PORT], RIG_PLACE_BYTES, "%u", address.port);
}

static enum rig_rc take_file(int file, struct rig_certificate *certificate, struct rig_err *err)
{
    struct stat stat;
    if (fstat(file, &stat) != 0)
        return rig_fail(err, RIG_E_CLUSTER, "database.versions-source: its output: %s", strerror(errno));
    const size_t size = (size_t)stat.st_size;
    void *text = size == 0 ? NULL : mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (text == MAP_FAILED)
        return rig_fail(err, RIG_E_LIMIT, "database.versions-source: its output: %s", strerror(errno));
    const enum rig_rc rc = rig_certificate_of_lines(text == NULL ? "" : text, size, certificate, err);
    if (text != NULL)
        (void)munmap(text, size);
    return rc;
}

/* RIG_E_CLUSTER where the command fails, or cannot be started; RIG_E_INPUT for what it prints; the certificate has no
 * commits then. */
static enum rig_rc run_versions_take(struct rig_run_state *run, struct rig_certificate *certificate,
                                     struct rig_err *err)
{
    struct rig_place place;
    struct rig_command_answer answer;
    struct rig_err why = {.rc = RIG_OK};
    const bool interrupted = rig_run_interrupts(run) > 0;
    find_place(run, &place);
    const int file = open(run->folder.path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0)
        return rig_fail(err, RIG_E_CLUSTER, "database.versions-source: no file for its output: %s", strerror(errno));
    const struct rig_command command = {.arguments = run->plan->versions_source,
                                        .place = &place,
                                        .output_plus_one = file + 1,
                                        .timeout_ns = interrupted ? interrupted_ns : timeout_ns,
                                        .stopping = interrupted ? NULL : run->services.core->stopping};
    enum rig_rc rc = rig_command_succeed(&command, &answer, &why);
    if (rc != RIG_OK)
        (void)rig_fail(err, rc, "database.versions-source: %.900s", why.text);
    else
        rc = take_file(file, certificate, err);
    (void)close(file);
    return rc;
}

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
    if (run_versions_take(run, certificate, &err) != RIG_OK)
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
