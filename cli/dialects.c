#include "cli/dialects.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/data_folder.h"
#include "base/yaml_tree.h"
#include "cli/cli.h"

enum { PATH_BYTES = 4096 };

/* From the arena; NULL after a complaint. */
static const char *read_summary(const struct rig_data_kind *kind, const char *name, struct rig_arena *arena)
{
    struct rig_err err = {0};
    struct rig_yaml_tree tree;
    struct rig_buf text;
    const char *summary = NULL;
    char path[PATH_BYTES];
    rig_buf_init(&text, RIG_YAML_BYTES);
    enum rig_rc rc = rig_data_folder_read(kind, "dialect", name, path, sizeof path, &text, &err);
    if (rc == RIG_OK)
        rc = rig_yaml_tree_read(&tree, arena, "dialect", path, rig_buf_text(&text), text.size, &err);
    if (rc == RIG_OK)
        rc = rig_yaml_need_text(&tree, tree.root, "summary", &summary, &err);
    rig_buf_done(&text);
    if (rc != RIG_OK)
        (void)rig_cli_fail(&err);
    return rc == RIG_OK ? summary : NULL;
}

bool rig_cli_dialects_each(void (*visit)(void *context, const char *name, const char *summary, const char *drivers),
                           void *context)
{
    static const struct {
        const struct rig_data_kind *kind;
        const char *drivers;
    } kinds[] = {{&rig_data_sql_dialects, "odbc, sql"}, {&rig_data_dialects, "http"}};
    bool good = true;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct rig_arena arena;
        struct rig_text_list names = {.count = 0};
        struct rig_err err = {0};
        rig_arena_init(&arena, 0);
        if (rig_data_folder_names(kinds[i].kind, "", &arena, &names, &err) != RIG_OK) {
            (void)rig_cli_fail(&err);
            good = false;
        }
        for (size_t k = 0; k < names.count; k++) {
            const char *summary = read_summary(kinds[i].kind, names.at[k], &arena);
            good = good && summary != NULL;
            if (summary != NULL)
                visit(context, names.at[k], summary, kinds[i].drivers);
        }
        rig_arena_done(&arena);
    }
    return good;
}
