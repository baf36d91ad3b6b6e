#include "drivers/sql/sql_servers.h"

#include <stdlib.h>

#include "base/bug.h"

/* ---- hosts ---- */

enum rig_rc rig_sql_hosts_init(struct rig_sql_hosts *list, const struct rig_text_list *hosts,
                               const struct rig_text_list *read_only_hosts, struct rig_err *err)
{
    const struct rig_text_list *const lists[] = {hosts, read_only_hosts};
    const size_t count = hosts->count + read_only_hosts->count;
    *list = (struct rig_sql_hosts){.hosts = hosts, .read_only_hosts = read_only_hosts};
    if (count == 0)
        return RIG_OK;
    list->endpoints = calloc(count, sizeof *list->endpoints);
    if (list->endpoints == NULL)
        return rig_no_memory(err, "the hosts");
    struct rig_sql_endpoint *endpoint = list->endpoints;
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            if (!rig_sql_endpoint_parse(lists[l]->at[i], endpoint++))
                return rig_fail(err, RIG_E_PLAN, "`%s` is not a server", lists[l]->at[i]);
        }
    }
    return RIG_OK;
}

void rig_sql_hosts_done(struct rig_sql_hosts *list)
{
    free(list->endpoints);
    list->endpoints = NULL;
}

uint32_t rig_sql_hosts_count(const struct rig_sql_hosts *list)
{
    return (uint32_t)(list->hosts->count + list->read_only_hosts->count);
}

const char *rig_sql_hosts_name(const struct rig_sql_hosts *list, uint32_t server)
{
    RIG_REQUIRE(server < rig_sql_hosts_count(list));
    return server < list->hosts->count ? list->hosts->at[server]
                                       : list->read_only_hosts->at[server - list->hosts->count];
}

/* ---- searches ---- */

bool rig_sql_search_readers(struct rig_sql_search *search, enum rig_sql_reads_from from,
                            const struct rig_sql_hosts *list, uint32_t count, uint32_t client, uint32_t writer)
{
    search->want_refusing = true;
    search->base = 0;
    if (from == RIG_SQL_READS_AUTO && list->read_only_hosts->count > 0) {
        search->base = (uint32_t)list->hosts->count;
        search->count = (uint32_t)list->read_only_hosts->count;
        search->any_role = true;
    } else if (from == RIG_SQL_READS_REPLICA || from == RIG_SQL_READS_ANY) {
        search->count = count;
        search->any_role = from == RIG_SQL_READS_ANY;
    } else {
        return false;
    }
    search->first = client % search->count;
    return from != RIG_SQL_READS_ANY || search->first != writer;
}

/* `misfit`: it answers, in another role than the requested one. */
static enum rig_rc try_server(const struct rig_sql_search *search, uint32_t server, int64_t deadline_ns,
                              struct rig_err *misfit, struct rig_err *err)
{
    bool refuses = false;
    enum rig_rc rc = search->open(search->context, server, deadline_ns, &refuses, err);
    if (rc == RIG_OK && !search->any_role && refuses != search->want_refusing)
        rc = rig_fail(misfit, RIG_E_CLUSTER, "%s %s", search->name(search->context, server),
                      refuses ? "refuses writes" : "is not a replica");
    if (rc != RIG_OK)
        search->drop(search->context);
    return rc;
}

enum rig_rc rig_sql_search_run(const struct rig_sql_search *search, const struct rig_core *core, int64_t timeout_ns,
                               uint32_t *server, struct rig_err *err)
{
    const int64_t deadline_ns = core->now_ns() + timeout_ns;
    struct rig_err problem = {.rc = RIG_OK};
    struct rig_err misfit = {.rc = RIG_OK};
    for (uint32_t i = 0; i < search->count; i++) {
        const uint32_t candidate = search->base + (search->first + i) % search->count;
        /* A server that does not answer uses up its own share of the time, not that of the others. */
        const int64_t now_ns = core->now_ns();
        const int64_t share_ns = (deadline_ns - now_ns) / (int64_t)(search->count - i);
        if (try_server(search, candidate, now_ns + share_ns, &misfit, &problem) == RIG_OK) {
            *server = candidate;
            return RIG_OK;
        }
        if (core->stopping())
            break;
    }
    /* The first of many reasons; a wrong role counts least. */
    const struct rig_err *why = problem.rc != RIG_OK ? &problem : &misfit;
    return rig_fail(err, why->rc, "%s", why->text);
}
