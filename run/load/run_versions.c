#include "run/load/run_versions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history/model/certificate_lines.h"
#include "nemesis/command.h"

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

enum rig_rc rig_run_versions_take(struct rig_run_state *run, struct rig_certificate *certificate, struct rig_err *err)
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
