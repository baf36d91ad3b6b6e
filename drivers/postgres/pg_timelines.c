#include "drivers/postgres/pg_timelines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/postgres/pg_slot.h"

static const int64_t slot_ns = INT64_C(5000000000), read_ns = INT64_C(120000000000);
static const size_t messages_most = (size_t)1 << 30;

void rig_pg_timelines_init(struct rig_pg_timelines *timelines, const struct rig_run_env *env)
{
    *timelines = (struct rig_pg_timelines){.env = env};
}

void rig_pg_timelines_done(struct rig_pg_timelines *timelines)
{
    for (uint32_t i = 0; i < timelines->count; i++)
        rig_buf_done(&timelines->at[i].messages);
    free(timelines->at);
    *timelines = (struct rig_pg_timelines){.count = 0};
}

struct rig_pg_timeline *rig_pg_timelines_add(struct rig_pg_timelines *timelines, uint32_t number, uint32_t node,
                                             uint64_t begin)
{
    struct rig_pg_timeline *at =
        timelines->count == RIG_PG_TIMELINES_MOST ? NULL : realloc(timelines->at, (timelines->count + 1) * sizeof *at);
    timelines->overrun |= at == NULL;
    if (at == NULL)
        return NULL;
    timelines->at = at;
    at += timelines->count++;
    *at = (struct rig_pg_timeline){.number = number, .node = node, .begin = begin};
    rig_buf_init(&at->messages, messages_most);
    return at;
}

static void note_gap(const struct rig_pg_timelines *timelines, struct rig_pg_timeline *timeline, const char *why)
{
    rig_pg_one_line(timeline->gap, sizeof timeline->gap, why);
    timelines->env->core->log(1, "postgres", "the certificate ends with timeline %u: %s", timeline->number,
                              timeline->gap);
}

/* ---- promotions ---- */

static enum rig_rc make_slot(const struct rig_pg_timelines *timelines, const struct rig_pg_node *node,
                             struct rig_pg_timeline *timeline, struct rig_err *err)
{
    const struct rig_run_env *env = timelines->env;
    struct rig_pg_connection connection;
    struct rig_sql_waiter waiter = {.core = env->core, .to_the_end = true};
    const int64_t deadline_ns = env->core->now_ns() + slot_ns;
    enum rig_rc rc = rig_pg_node_connect(node, &connection, &waiter, deadline_ns, err);
    /* A prepared transaction that is left over would keep it waiting. */
    if (rc == RIG_OK)
        rc = rig_pg_query(&connection, "SET statement_timeout = '4s'", deadline_ns, NULL, err);
    if (rc == RIG_OK)
        rc = rig_pg_slot_drop(&connection, env->run_name, deadline_ns, err);
    if (rc == RIG_OK)
        rc = rig_pg_slot_create(&connection, env->run_name, deadline_ns, &timeline->first_id, err);
    rig_pg_disconnect(&connection);
    return rc;
}

/* "0/16B3748"; 0 for anything else. */
static uint64_t read_place(const char *text)
{
    char *slash, *end;
    const unsigned long high = strtoul(text, &slash, 16);
    if (slash == text || *slash != '/' || high > UINT32_MAX)
        return 0;
    const unsigned long low = strtoul(slash + 1, &end, 16);
    return end == slash + 1 || *end != '\0' || low > UINT32_MAX ? 0 : (uint64_t)high << 32 | low;
}

/* No client writes to the node yet: rig_pg_cluster_holds_back(). */
static void promoted(void *context, const struct rig_pg_node *node, const struct rig_pg_line *line)
{
    struct rig_pg_timelines *timelines = context;
    struct rig_err err = {.rc = RIG_OK};
    if (timelines->count == 0)
        return; /* the load has not begun */
    const uint64_t begin = read_place(line->fork);
    struct rig_pg_timeline *timeline = rig_pg_timelines_add(timelines, (uint32_t)line->timeline, node->index, begin);
    if (timeline == NULL)
        return;
    if (begin == 0)
        note_gap(timelines, timeline, "the place where it began is not known");
    else if (make_slot(timelines, node, timeline, &err) != RIG_OK)
        note_gap(timelines, timeline, err.text);
}

/* ---- former primaries ---- */

static struct rig_pg_timeline *find_unread(const struct rig_pg_timelines *timelines, uint32_t node)
{
    for (uint32_t i = timelines->count; i-- > 0;) {
        if (timelines->at[i].node == node)
            return timelines->at[i].read || timelines->at[i].gap[0] != '\0' ? NULL : &timelines->at[i];
    }
    return NULL;
}

static bool wanted(void *context, uint32_t node)
{
    return find_unread(context, node) != NULL;
}

static enum rig_rc keep(void *context, const uint8_t *data, size_t size, struct rig_err *err)
{
    struct rig_buf *messages = context;
    const uint32_t size32 = (uint32_t)size;
    rig_buf_add(messages, &size32, sizeof size32);
    rig_buf_add(messages, data, size);
    return messages->failed || size > UINT32_MAX
               ? rig_fail(err, RIG_E_LIMIT, "more than %zu MiB of commits on a former primary", messages_most >> 20)
               : RIG_OK;
}

static void read_former(void *context, uint32_t node, const struct rig_pg_node *server, const char *failure)
{
    struct rig_pg_timelines *timelines = context;
    const struct rig_run_env *env = timelines->env;
    struct rig_pg_timeline *timeline = find_unread(timelines, node);
    struct rig_err err = {.rc = RIG_OK};
    struct rig_pg_connection connection;
    struct rig_sql_waiter waiter = {.core = env->core, .to_the_end = true};
    if (server == NULL) {
        note_gap(timelines, timeline, failure);
        return;
    }
    const int64_t start_ns = env->core->now_ns();
    enum rig_rc rc = rig_pg_node_connect(server, &connection, &waiter, start_ns + read_ns, &err);
    if (rc == RIG_OK)
        rc = rig_pg_slot_read(&connection, env, keep, &timeline->messages, &err);
    rig_pg_disconnect(&connection);
    timeline->read = true;
    if (rc != RIG_OK)
        note_gap(timelines, timeline, err.text);
    else
        env->core->log(2, "postgres", "read the commits of timeline %u from the former primary, %zu bytes in %lld ms",
                       timeline->number, timeline->messages.size,
                       (long long)((env->core->now_ns() - start_ns) / 1000000));
}

void rig_pg_timelines_watch(struct rig_pg_timelines *timelines, struct rig_pg_cluster *cluster)
{
    cluster->roles = (struct rig_pg_role_hooks){
        .context = timelines, .promoted = promoted, .wanted = wanted, .read_former = read_former};
}

enum rig_rc rig_pg_timeline_replay(const struct rig_pg_timeline *timeline,
                                   enum rig_rc (*take)(void *context, const uint8_t *data, size_t size,
                                                       struct rig_err *err),
                                   void *context, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    uint32_t size;
    for (size_t at = 0; rc == RIG_OK && at < timeline->messages.size; at += size) {
        memcpy(&size, timeline->messages.data + at, sizeof size);
        at += sizeof size;
        rc = take(context, (const uint8_t *)timeline->messages.data + at, size, err);
    }
    return rc;
}
