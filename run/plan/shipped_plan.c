#include "run/plan/shipped_plan.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"

enum { PATH_BYTES = 4096, PLAN_BYTES = 1 << 20 };

static bool find(const char *name, char *path, size_t path_size)
{
    char file[256];
    struct rig_buf tried;
    const size_t length = strlen(name);
    const bool complete = length > 5 && strcmp(name + length - 5, ".yaml") == 0;
    const int size = snprintf(file, sizeof file, "%s%s", name, complete ? "" : ".yaml");
    rig_buf_init(&tried, 1);
    const bool found = strchr(name, '/') == NULL && size > 0 && (size_t)size < sizeof file &&
                       rig_data_folder_find(&rig_data_configs, file, path, path_size, &tried);
    rig_buf_done(&tried);
    return found;
}

static enum rig_rc refuse(const char *name, struct rig_err *err)
{
    struct rig_arena arena;
    struct rig_text_list names = {.count = 0};
    struct rig_nearest nearest;
    struct rig_err none = {0};
    rig_arena_init(&arena, 0);
    rig_nearest_init(&nearest, name);
    if (rig_shipped_plan_names(&arena, &names, &none) == RIG_OK) {
        for (size_t i = 0; i < names.count; i++)
            rig_nearest_offer(&nearest, names.at[i]);
    }
    enum rig_rc rc =
        nearest.best != NULL
            ? rig_fail(err, RIG_E_PLAN, "%s: no such file, and no shipped plan has this name; did you mean %s?", name,
                       nearest.best)
            : rig_fail(err, RIG_E_PLAN,
                       "%s: no such file, and no shipped plan has this name; `rig list plans` lists them", name);
    rig_arena_done(&arena);
    return rc;
}

enum rig_rc rig_shipped_plan_find(const char *name, char *path, size_t path_size, struct rig_err *err)
{
    const bool is_file = strchr(name, '/') != NULL || strcmp(name, "-") == 0 || access(name, F_OK) == 0;
    if (is_file && snprintf(path, path_size, "%s", name) < (int)path_size)
        return RIG_OK;
    return !is_file && find(name, path, path_size) ? RIG_OK : refuse(name, err);
}

enum rig_rc rig_shipped_plan_names(struct rig_arena *arena, struct rig_text_list *names, struct rig_err *err)
{
    const enum rig_rc rc = rig_data_folder_names(&rig_data_configs, "", arena, names, err);
    if (rc != RIG_OK || names->count > 0)
        return rc;
    return rig_fail(err, RIG_E_PLAN,
                    "there are no shipped plans: rig's folder `configs` is missing; RIG_CONFIG_PATH names where it is");
}

bool rig_shipped_plan_summary(const char *name, struct rig_buf *summary)
{
    char path[PATH_BYTES];
    struct rig_buf text;
    struct rig_err err = {0};
    rig_buf_init(&text, PLAN_BYTES);
    const bool readable = find(name, path, sizeof path) && rig_buf_read_file(&text, path, &err) == RIG_OK;
    const char *line = readable ? rig_buf_text(&text) : "";
    for (bool ended = false; !ended && strncmp(line, "# ", 2) == 0;
         line += strcspn(line, "\n"), line += *line == '\n') {
        if (line != rig_buf_text(&text))
            rig_buf_add_char(summary, ' ');
        for (line += 2; !ended && *line != '\n' && *line != '\0'; line++) {
            rig_buf_add_char(summary, *line);
            ended = strchr(".?!", *line) != NULL && (line[1] == ' ' || line[1] == '\n');
        }
    }
    rig_buf_done(&text);
    return readable;
}
