#include "cli/output_form.h"

#include <string.h>

#include "cli/cli.h"

static const enum rig_form forms[] = {RIG_FORM_RIG, RIG_FORM_JSON_LINES, RIG_FORM_EDN};

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path);
    size_t ending_length = strlen(ending);
    return length > ending_length && strcmp(path + length - ending_length, ending) == 0;
}

enum rig_form rig_cli_output_form(const struct rig_arguments *args, const char *option, const char *const names[3],
                                  const char *out)
{
    const char *given = rig_arguments_value(args, option);
    for (size_t i = 0; given != NULL && i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(given, names[i]) == 0)
            return forms[i];
    }
    if (ends_in(out, ".rig"))
        return RIG_FORM_RIG;
    if (ends_in(out, ".json") || ends_in(out, ".jsonl"))
        return RIG_FORM_JSON_LINES;
    if (ends_in(out, ".edn"))
        return RIG_FORM_EDN;
    rig_cli_complain("%s: its ending names no form; give one with --%s %s, %s or %s", out, option, names[0], names[1],
                     names[2]);
    return RIG_FORM_AUTO;
}
