#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/data_folder.h"
#include "drivers/http/dialect_reader.h"

enum { PATH_BYTES = 4096, NAME_BYTES = 256 };

static bool is_path(const char *name)
{
    const size_t length = strlen(name);
    return strchr(name, '/') != NULL || (length > 5 && strcmp(name + length - 5, ".yaml") == 0);
}

enum rig_rc rig_dialect_load(const char *name, const struct rig_text_list *values, struct rig_dialect **dialect,
                             struct rig_err *err)
{
    char path[PATH_BYTES], file[NAME_BYTES];
    struct rig_buf folders;
    struct rig_buf text;
    struct rig_err own = {0};
    enum rig_rc rc = RIG_OK;
    rig_buf_init(&folders, 600);
    if (is_path(name))
        (void)snprintf(path, sizeof path, "%s", name);
    else if (snprintf(file, sizeof file, "%s.yaml", name) >= NAME_BYTES ||
             !rig_data_folder_find("dialects", "RIG_DIALECT_PATH", file, path, sizeof path, &folders))
        rc = rig_fail(err, RIG_E_PLAN,
                      "`dialect`: there is no %.100s.yaml in %s; RIG_DIALECT_PATH names further folders, and a name "
                      "with a `/` is the path of a file",
                      name, rig_buf_text(&folders));
    rig_buf_done(&folders);
    if (rc != RIG_OK)
        return rc;
    rig_buf_init(&text, RIG_YAML_BYTES + 2);
    rc = rig_buf_read_file(&text, path, &own);
    if (rc == RIG_OK || text.size > RIG_YAML_BYTES)
        rc = rig_dialect_parse(path, rig_buf_text(&text), text.size, values, dialect, err);
    else
        rc = rig_fail(err, RIG_E_PLAN, "`dialect`: %s", own.text);
    rig_buf_done(&text);
    return rc;
}
