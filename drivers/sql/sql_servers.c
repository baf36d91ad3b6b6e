#include "drivers/sql/sql_servers.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- servers and settings as options name them ---- */

/* A port as text, 1 to 65535. */
static bool parse_port(const char *text, char port[static 6])
{
    size_t length = strlen(text);
    if (length == 0 || length > 5 || strspn(text, "0123456789") != length)
        return false;
    unsigned number = 0;
    for (size_t i = 0; i < length; i++)
        number = number * 10 + (unsigned)(text[i] - '0');
    if (number == 0 || number > 65535)
        return false;
    memcpy(port, text, length + 1);
    return true;
}

bool rig_sql_endpoint_parse(const char *text, struct rig_sql_endpoint *endpoint)
{
    struct rig_sql_endpoint parsed = {{0}, {0}};
    const char *host = text;
    size_t host_length;
    const char *port = NULL;
    if (text[0] == '[') {
        const char *end = strchr(text, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':'))
            return false;
        host = text + 1;
        host_length = (size_t)(end - host);
        port = end[1] == ':' ? end + 2 : NULL;
    } else {
        const char *colon = strrchr(text, ':');
        /* Several colons without brackets are an IPv6 address without a port. */
        if (colon != NULL && text[0] != '/' && strchr(text, ':') != colon)
            colon = NULL;
        host_length = colon != NULL ? (size_t)(colon - text) : strlen(text);
        port = colon != NULL ? colon + 1 : NULL;
    }
    if (host_length == 0 || host_length >= sizeof parsed.host)
        return false;
    memcpy(parsed.host, host, host_length);
    /* A client library takes a comma for a list of hosts to try in turn, which would hide the session's server. */
    if (strpbrk(parsed.host, ", \t\n") != NULL || (port != NULL && !parse_port(port, parsed.port)))
        return false;
    *endpoint = parsed;
    return true;
}

bool rig_sql_setting_split(const char *text, char *name, size_t name_size, const char **value)
{
    const char *equals = strchr(text, '=');
    size_t length = equals == NULL ? 0 : (size_t)(equals - text);
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length == 0 || length >= name_size)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '.')
            return false;
    }
    const char *behind = equals + 1;
    while (*behind == ' ')
        behind++;
    if (strchr(behind, '\n') != NULL)
        return false;
    memcpy(name, text, length);
    name[length] = '\0';
    *value = behind;
    return true;
}

enum rig_rc rig_sql_settings_add(const struct rig_text_list *settings,
                                 void (*add)(struct rig_buf *text, const char *name, const char *value),
                                 struct rig_buf *text, struct rig_err *err)
{
    for (size_t i = 0; i < settings->count; i++) {
        char name[64];
        const char *value = NULL;
        if (!rig_sql_setting_split(settings->at[i], name, sizeof name, &value))
            return rig_fail(err, RIG_E_PLAN, "setting `%s` is not name=value", settings->at[i]);
        add(text, name, value);
    }
    return RIG_OK;
}
