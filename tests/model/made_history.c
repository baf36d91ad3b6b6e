#include "tests/model/made_history.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "history/source/load.h"

enum rig_rc make_history(const struct rig_synthetic *synthetic, struct rig_history **history, struct rig_err *err)
{
    char folder[PATH_MAX], path[PATH_MAX + 16];
    const char *parent = getenv("TMPDIR");
    (void)snprintf(folder, sizeof folder, "%s/rig-made-XXXXXX", parent == NULL ? "/tmp" : parent);
    if (mkdtemp(folder) == NULL)
        return rig_fail(err, RIG_E_IO, "%s: cannot make a folder", folder);
    (void)snprintf(path, sizeof path, "%s/h.rig", folder);
    const struct rig_save_options save = {.form = RIG_FORM_RIG};
    const struct rig_load_options load = {.form = RIG_FORM_RIG};
    struct rig_synthetic_counts counts = {0};
    enum rig_rc rc = rig_synthetic_write(synthetic, path, &save, NULL, &counts, err);
    if (rc == RIG_OK)
        rc = rig_history_load(path, &load, history, err);
    (void)unlink(path);
    (void)rmdir(folder);
    return rc;
}
