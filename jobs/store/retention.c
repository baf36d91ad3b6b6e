#include "jobs/store/retention.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/option_parse.h"
#include "base/yaml_tree.h"

enum { FILE_BYTES_MOST = 1 << 16 };

static const char *const keys[] = {"runs", "days", "failed", "bytes", NULL};

void rig_retention_init(struct rig_retention *retention)
{
    *retention = (struct rig_retention){
        .runs = RIG_RETENTION_ALL, .days = RIG_RETENTION_ALL, .failed = RIG_RETENTION_ALL, .bytes = RIG_RETENTION_ALL};
}

static enum rig_rc set_value(struct rig_retention *retention, const char *key, const char *text, struct rig_err *err)
{
    static const struct rig_option count = {.name = "count",
                                            .type = RIG_OPTION_INT,
                                            .least = 0,
                                            .most = 1e9}, /* also of days */
        size = {.name = "bytes", .type = RIG_OPTION_SIZE, .least = 0, .most = 9e18};
    int64_t *value = strcmp(key, "runs") == 0     ? &retention->runs
                     : strcmp(key, "days") == 0   ? &retention->days
                     : strcmp(key, "failed") == 0 ? &retention->failed
                                                  : &retention->bytes;
    int64_t number = RIG_RETENTION_ALL;
    if (strcmp(text, "all") != 0) {
        const enum rig_rc rc = rig_option_parse(value == &retention->bytes ? &size : &count, text, &number, err);
        if (rc != RIG_OK)
            return rc;
    }
    *value = number;
    retention->is_given = retention->runs != RIG_RETENTION_ALL || retention->days != RIG_RETENTION_ALL ||
                          retention->bytes != RIG_RETENTION_ALL;
    return RIG_OK;
}

static bool is_key(const char *text)
{
    for (size_t i = 0; keys[i] != NULL; i++) {
        if (strcmp(keys[i], text) == 0)
            return true;
    }
    return false;
}

enum rig_rc rig_retention_set(struct rig_retention *retention, const char *text, struct rig_err *err)
{
    char key[16];
    const size_t length = strcspn(text, "=");
    struct rig_err why = {0};
    if (text[length] == '\0' || length >= sizeof key)
        return rig_fail(err, RIG_E_PLAN, "`%s`: expected runs=N, days=N, failed=N or bytes=SIZE, each also `all`",
                        text);
    memcpy(key, text, length);
    key[length] = '\0';
    if (!is_key(key))
        return rig_fail(err, RIG_E_PLAN, "`%s`: expected runs, days, failed or bytes", key);
    const enum rig_rc rc = set_value(retention, key, text + length + 1, &why);
    return rc == RIG_OK ? rc : rig_fail(err, rc, "%s: %s", key, why.text);
}

static enum rig_rc take_tree(struct rig_retention *retention, const struct rig_yaml_tree *tree, struct rig_err *err)
{
    static const char *const top[] = {"keep", NULL};
    struct rig_yaml_node *keep = NULL;
    enum rig_rc rc = rig_yaml_check_keys(tree, tree->root, top, err);
    if (rc == RIG_OK)
        rc = rig_yaml_need(tree, tree->root, "keep", RIG_YAML_MAPPING, &keep, err);
    if (rc == RIG_OK)
        rc = rig_yaml_check_keys(tree, keep, keys, err);
    for (const struct rig_yaml_entry *entry = rc == RIG_OK ? keep->first : NULL; entry != NULL && rc == RIG_OK;
         entry = entry->next) {
        const char *text = NULL;
        struct rig_err why = {0};
        rc = rig_yaml_text(tree, entry->value, &text, err);
        if (rc == RIG_OK && set_value(retention, entry->key, text, &why) != RIG_OK)
            rc = rig_yaml_refuse(tree, &entry->value->place, err, "%s: %s", entry->key, why.text);
    }
    return rc;
}

enum rig_rc rig_retention_load(struct rig_retention *retention, const char *path, struct rig_err *err)
{
    struct rig_buf text;
    struct rig_arena arena;
    struct rig_yaml_tree tree = {.what = NULL};
    rig_buf_init(&text, FILE_BYTES_MOST);
    rig_arena_init(&arena, 0);
    enum rig_rc rc = rig_buf_read_input(&text, path, err);
    if (rc == RIG_OK)
        rc = rig_yaml_tree_read(&tree, &arena, "retention", path, rig_buf_text(&text), text.size, err);
    if (rc == RIG_OK)
        rc = take_tree(retention, &tree, err);
    rig_arena_done(&arena);
    rig_buf_done(&text);
    return rc;
}

/* ---- the choice ---- */

static bool may_go(const struct rig_stored_run *run)
{
    return run->has_mark && !run->is_protected && run->state != RIG_STORED_RUNNING && run->state != RIG_STORED_FOREIGN;
}

static bool is_run(const struct rig_stored_run *run)
{
    return run->state != RIG_STORED_FOREIGN && run->state != RIG_STORED_REMOVING;
}

/* Runs that the bytes may take: not the newest of a name, not those that `failed` keeps. Marks them by an empty
 * text. */
static const char spare[] = "";

/* The time of a run that began `days` ago, as it names runs; "": the days are not limited. */
static void write_limit(int64_t days, char limit[RIG_RUN_LIST_SINCE_BYTES])
{
    const time_t then = time(NULL) - (time_t)(days == RIG_RETENTION_ALL ? 0 : days * 24 * 3600);
    struct tm parts;
    limit[0] = '\0';
    if (days != RIG_RETENTION_ALL && gmtime_r(&then, &parts) != NULL)
        (void)strftime(limit, RIG_RUN_LIST_SINCE_BYTES, "%Y%m%dT%H%M%S.000Z", &parts);
}

static void choose_by_age(const struct rig_retention *retention, const struct rig_run_list *list, const char **reasons)
{
    int64_t rank = 0, failed = 0;
    char limit[RIG_RUN_LIST_SINCE_BYTES];
    write_limit(retention->days, limit);
    for (size_t i = 0; i < list->count; i++) {
        const struct rig_stored_run *run = &list->runs[i];
        if (i > 0 && strcmp(run->name, list->runs[i - 1].name) != 0)
            rank = failed = 0;
        reasons[i] = NULL;
        if (run->state == RIG_STORED_REMOVING)
            reasons[i] = "its removal was cut short";
        if (!is_run(run))
            continue;
        const bool is_outdated = strcmp(run->time, limit) < 0;
        const bool is_old = rank++ >= retention->runs || is_outdated;
        const bool is_failed = run->state != RIG_STORED_OK && run->state != RIG_STORED_RUNNING;
        const bool stays = is_failed && failed++ < retention->failed;
        if (!may_go(run) || rank == 1)
            continue;
        if (is_old && !stays)
            reasons[i] = is_outdated ? "it is older than keep.days" : "there are newer runs of its name";
        else if (!stays)
            reasons[i] = spare;
    }
}

/* Among those that may go, the oldest of all names. */
static const struct rig_stored_run *oldest_spare(const struct rig_run_list *list, const char *const *reasons)
{
    const struct rig_stored_run *oldest = NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (reasons[i] == spare && (oldest == NULL || strcmp(list->runs[i].time, oldest->time) < 0))
            oldest = &list->runs[i];
    }
    return oldest;
}

void rig_retention_choose(const struct rig_retention *retention, const struct rig_run_list *list, const char **reasons)
{
    const struct rig_stored_run *run;
    uint64_t bytes = 0;
    choose_by_age(retention, list, reasons);
    for (size_t i = 0; i < list->count; i++)
        bytes += reasons[i] == NULL || reasons[i] == spare ? list->runs[i].bytes : 0;
    while (bytes > (uint64_t)retention->bytes && (run = oldest_spare(list, reasons)) != NULL) {
        reasons[run - list->runs] = "the store is too large";
        bytes -= run->bytes;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (reasons[i] == spare)
            reasons[i] = NULL;
    }
}
