#include "base/buf.h"
#include "base/data_folder.h"
#include "drivers/http/dialect_reader.h"

enum rig_rc rig_dialect_load(const char *name, const struct rig_text_list *values, struct rig_dialect **dialect,
                             struct rig_err *err)
{
    char path[4096];
    struct rig_buf text;
    rig_buf_init(&text, RIG_YAML_BYTES + 2); /* a file that is longer is refused by the reader */
    enum rig_rc rc =
        rig_data_folder_read("dialects", "RIG_DIALECT_PATH", "`dialect`", name, path, sizeof path, &text, err);
    if (rc == RIG_OK)
        rc = rig_dialect_parse(path, rig_buf_text(&text), text.size, values, dialect, err);
    rig_buf_done(&text);
    return rc;
}
