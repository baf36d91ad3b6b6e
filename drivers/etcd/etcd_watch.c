#include "drivers/etcd/etcd_watch.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/etcd/etcd_admin.h"
#include "base/base64.h"

void rig_etcd_watch_init(struct rig_etcd_watch *watch, const struct rig_certificate_sink *sink, const char *run_name,
                         bool is_list, int64_t revision)
{
    *watch = (struct rig_etcd_watch){.sink = sink, .run_name = run_name, .is_list = is_list, .revision = revision};
    rig_table_init(&watch->versions);
    rig_buf_init(&watch->line, 0);
    rig_buf_init(&watch->bytes, 0);
}

void rig_etcd_watch_done(struct rig_etcd_watch *watch)
{
    rig_table_done(&watch->versions);
    rig_buf_done(&watch->line);
    rig_buf_done(&watch->bytes);
    free(watch->elements);
    watch->elements = NULL;
}

void rig_etcd_watch_resume(struct rig_etcd_watch *watch)
{
    rig_buf_clear(&watch->line);
}

static enum rig_rc refuse(struct rig_etcd_watch *watch, const char *what)
{
    return rig_fail(&watch->err, RIG_E_CLUSTER, "the watch: after revision %" PRId64 ": %.200s", watch->revision, what);
}

static enum rig_rc no_memory(struct rig_etcd_watch *watch)
{
    return rig_no_memory(&watch->err, "the certificate");
}

/* ---- one event ---- */

/* Decodes the member into watch->bytes, a text; an absent one is empty. */
static enum rig_rc decode(struct rig_etcd_watch *watch, const json_t *kv, const char *name)
{
    const json_t *member = json_object_get(kv, name);
    const size_t length = member == NULL ? 0 : json_string_length(member);
    rig_buf_clear(&watch->bytes);
    char *room = rig_buf_reserve(&watch->bytes, rig_base64_room(length) + 1);
    if (room == NULL)
        return no_memory(watch);
    const size_t size = length == 0 ? 0 : rig_base64_decode(json_string_value(member), length, room);
    if (size == SIZE_MAX || memchr(room, 0, size) != NULL)
        return refuse(watch, "a key or a value that is no text in base64");
    room[size] = '\0';
    watch->bytes.size = size;
    return RIG_OK;
}

/* The number at `*at`, which moves behind it; false where there is none. */
static bool get_number(const char **at, int64_t *number)
{
    char *end = NULL;
    if (**at != '-' && (**at < '0' || **at > '9'))
        return false;
    *number = strtoll(*at, &end, 10);
    const bool is_there = end != *at;
    *at = end;
    return is_there;
}

static bool add_element(struct rig_etcd_watch *watch, uint32_t count, int64_t value)
{
    if (count == watch->element_capacity) {
        const size_t capacity = watch->element_capacity == 0 ? 64 : watch->element_capacity * 2;
        int64_t *more = realloc(watch->elements, capacity * sizeof *more);
        if (more == NULL)
            return false;
        watch->elements = more;
        watch->element_capacity = capacity;
    }
    watch->elements[count] = value;
    return true;
}

/* The decoded value, a number or "[1,2,3]". */
static enum rig_rc take_value(struct rig_etcd_watch *watch, uint32_t *count)
{
    const char *at = rig_buf_text(&watch->bytes);
    bool good = !watch->is_list || *at++ == '[';
    bool more = good && !(watch->is_list && *at == ']');
    *count = 0;
    if (!add_element(watch, 0, 0)) /* an empty list has room, too: without it the key was removed */
        return no_memory(watch);
    while (good && more) {
        int64_t value = 0;
        good = get_number(&at, &value);
        if (good && (*count == UINT32_MAX || !add_element(watch, *count, value)))
            return no_memory(watch);
        *count += good;
        more = watch->is_list && *at == ',';
        at += more;
    }
    good = good && (!watch->is_list || *at++ == ']') && *at == '\0';
    return good ? RIG_OK : refuse(watch, "a value that rig did not write");
}

/* The number of the key in watch->bytes; `*ends`: it is the mark. */
static enum rig_rc take_key(struct rig_etcd_watch *watch, int64_t *key, bool *ends)
{
    const char *at = rig_buf_text(&watch->bytes);
    const size_t prefix = strlen(watch->run_name);
    if (strncmp(at, watch->run_name, prefix) != 0 || at[prefix] != '/')
        return refuse(watch, "a key of another run");
    at += prefix + 1;
    *ends = strcmp(at, RIG_ETCD_END_OF_LOAD) == 0;
    if (*ends || (get_number(&at, key) && *at == '\0'))
        return RIG_OK;
    return refuse(watch, "a key that rig did not write");
}

/* Whether the version follows the last one of its key; false also when memory runs out. */
static bool follows(struct rig_etcd_watch *watch, int64_t key, uint64_t version)
{
    uint32_t *last = rig_table_put(&watch->versions, (uint64_t)key);
    if (last == NULL)
        return false;
    const uint64_t before = *last == RIG_TABLE_NONE ? 0 : *last;
    *last = (uint32_t)version;
    return version == 0 || version == before + 1;
}

static enum rig_rc take_event(struct rig_etcd_watch *watch, const json_t *event, int64_t *revision)
{
    const json_t *kv = json_object_get(event, "kv");
    const char *type = json_string_value(json_object_get(event, "type"));
    const bool removes = type != NULL && strcmp(type, "DELETE") == 0;
    const int64_t at = (int64_t)rig_etcd_number(kv, "mod_revision");
    const uint64_t version = removes ? 0 : rig_etcd_number(kv, "version");
    int64_t key = 0;
    uint32_t count = 0;
    enum rig_rc rc = decode(watch, kv, "key");
    if (rc == RIG_OK)
        rc = take_key(watch, &key, &watch->ended);
    if (rc != RIG_OK || watch->ended)
        return rc;
    if (at <= watch->revision || at < *revision)
        return refuse(watch, "revisions that do not ascend");
    if (!follows(watch, key, version) || (version == 0 && !removes) || version >= RIG_TABLE_NONE)
        return refuse(watch, "a version of a key is missing");
    rc = decode(watch, kv, "value");
    if (rc == RIG_OK && !removes)
        rc = take_value(watch, &count);
    if (rc != RIG_OK)
        return rc;
    if ((at > *revision && !watch->sink->commit(watch->sink->context, (uint64_t)at, 0, 0)) ||
        !watch->sink->version(watch->sink->context, key, removes ? NULL : watch->elements, count))
        return no_memory(watch);
    *revision = at;
    return RIG_OK;
}

/* ---- lines ---- */

static enum rig_rc take_result(struct rig_etcd_watch *watch, const json_t *result)
{
    const json_t *events = json_object_get(result, "events");
    const uint64_t compacted = rig_etcd_number(result, "compact_revision");
    int64_t revision = watch->revision;
    enum rig_rc rc = RIG_OK;
    if (compacted > 0)
        return rig_fail(&watch->err, RIG_E_CLUSTER,
                        "etcd was compacted at revision %" PRIu64 ", and the certificate ends at revision %" PRId64,
                        compacted, watch->revision);
    if (json_is_true(json_object_get(result, "canceled")))
        return refuse(watch, "etcd ended it");
    for (size_t i = 0; rc == RIG_OK && !watch->ended && i < json_array_size(events); i++)
        rc = take_event(watch, json_array_get(events, i), &revision);
    watch->revision = revision;
    return rc;
}

static enum rig_rc take_line(struct rig_etcd_watch *watch)
{
    json_t *root = json_loadb(rig_buf_text(&watch->line), watch->line.size, JSON_REJECT_DUPLICATES, NULL);
    const json_t *result = json_object_get(root, "result");
    enum rig_rc rc = RIG_OK;
    if (json_is_object(result))
        rc = take_result(watch, result);
    else if (watch->line.size > 0)
        rc = refuse(watch, rig_buf_text(&watch->line));
    if (rc == RIG_OK && watch->keep != NULL && json_is_object(result))
        rc = watch->keep(watch->keep_context, rig_buf_text(&watch->line), watch->line.size, &watch->err);
    json_decref(root);
    rig_buf_clear(&watch->line);
    return rc;
}

bool rig_etcd_watch_take(void *object, const char *bytes, size_t size)
{
    struct rig_etcd_watch *watch = object;
    while (size > 0 && !watch->ended && watch->err.rc == RIG_OK) {
        const char *end = memchr(bytes, '\n', size);
        const size_t part = end == NULL ? size : (size_t)(end - bytes);
        rig_buf_add(&watch->line, bytes, part);
        if (watch->line.failed)
            (void)no_memory(watch);
        else if (end != NULL)
            (void)take_line(watch);
        bytes += end == NULL ? part : part + 1;
        size -= end == NULL ? part : part + 1;
    }
    return !watch->ended && watch->err.rc == RIG_OK;
}
