#include "cli/dialects.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/data_folder.h"
#include "base/yaml_tree.h"
#include "cli/cli.h"

enum { DIALECTS_MOST = 256, PATH_BYTES = 4096 };

/* The files of the folders of a kind: of one name the first folder's. */
struct dialect_list {
    struct rig_arena arena;
    char *names[DIALECTS_MOST];
    size_t count;
};

/* The summary, in the list's arena; NULL after a complaint. */
static const char *read_summary(struct dialect_list *list, const char *kind, const char *variable, const char *name)
{
    struct rig_err err = {0};
    struct rig_yaml_tree tree;
    struct rig_buf text;
    const char *summary = NULL;
    char path[PATH_BYTES];
    rig_buf_init(&text, RIG_YAML_BYTES);
    enum rig_rc rc = rig_data_folder_read(kind, variable, "dialect", name, path, sizeof path, &text, &err);
    if (rc == RIG_OK)
        rc = rig_yaml_tree_read(&tree, &list->arena, "dialect", path, rig_buf_text(&text), text.size, &err);
    if (rc == RIG_OK)
        rc = rig_yaml_need_text(&tree, tree.root, "summary", &summary, &err);
    rig_buf_done(&text);
    if (rc != RIG_OK)
        (void)rig_cli_fail(&err);
    return rc == RIG_OK ? summary : NULL;
}

static bool collect_dialects(void *context, const char *folder, size_t length)
{
    struct dialect_list *list = context;
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%.*s", (int)length, folder);
    DIR *dir = opendir(path);
    for (const struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        const size_t size = strlen(entry->d_name);
        if (size < 6 || strcmp(entry->d_name + size - 5, ".yaml") != 0 || list->count == DIALECTS_MOST)
            continue;
        char *name = strndup(entry->d_name, size - 5);
        bool is_new = name != NULL;
        for (size_t i = 0; is_new && i < list->count; i++)
            is_new = strcmp(list->names[i], name) != 0;
        if (is_new)
            list->names[list->count++] = name;
        else
            free(name);
    }
    if (dir != NULL)
        (void)closedir(dir);
    return false;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool rig_cli_dialects_each(void (*visit)(void *context, const char *name, const char *summary, const char *drivers),
                           void *context)
{
    static const struct {
        const char *kind, *variable, *drivers;
    } kinds[] = {{"dialects/sql", "RIG_SQL_DIALECT_PATH", "odbc, sql"}, {"dialects", "RIG_DIALECT_PATH", "http"}};
    bool good = true;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct dialect_list list = {.count = 0};
        rig_arena_init(&list.arena, 0);
        (void)rig_data_folder_each(kinds[i].kind, kinds[i].variable, collect_dialects, &list);
        qsort(list.names, list.count, sizeof list.names[0], compare_names);
        for (size_t k = 0; k < list.count; k++) {
            const char *summary = read_summary(&list, kinds[i].kind, kinds[i].variable, list.names[k]);
            good = good && summary != NULL;
            if (summary != NULL)
                visit(context, list.names[k], summary, kinds[i].drivers);
            free(list.names[k]);
        }
        rig_arena_done(&list.arena);
    }
    return good;
}
