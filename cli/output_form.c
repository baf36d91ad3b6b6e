#include "cli/output_form.h"

#include <string.h>

#include "base/output_file.h"
#include "cli/cli.h"

const char *const rig_cli_form_names[] = {"rig", "jsonl", "edn", "json", NULL};
static const enum rig_form forms[] = {RIG_FORM_RIG, RIG_FORM_JSON_LINES, RIG_FORM_EDN, RIG_FORM_JSON_LINES};

const char *rig_cli_form_name(enum rig_form form)
{
    size_t i = 0;
    while (forms[i] != form)
        i++;
    return rig_cli_form_names[i];
}

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path);
    size_t ending_length = strlen(ending);
    return length > ending_length && strcmp(path + length - ending_length, ending) == 0;
}

enum rig_form rig_cli_output_form(const struct rig_arguments *args, const char *option, const char *out)
{
    const char *given = rig_arguments_value(args, option);
    for (size_t i = 0; given != NULL && i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(given, rig_cli_form_names[i]) == 0)
            return forms[i];
    }
    if (ends_in(out, ".rig"))
        return RIG_FORM_RIG;
    if (ends_in(out, ".json") || ends_in(out, ".jsonl"))
        return RIG_FORM_JSON_LINES;
    if (ends_in(out, ".edn"))
        return RIG_FORM_EDN;
    rig_cli_complain("%s: its suffix gives no form; give one with --%s rig, jsonl or edn", out, option);
    return RIG_FORM_AUTO;
}

bool rig_cli_may_write(const struct rig_arguments *args, const char *out)
{
    struct rig_err err = {0};
    if (rig_output_check(out, &err) != RIG_OK) {
        rig_cli_complain("%s", err.text);
        return false;
    }
    if (rig_arguments_has(args, "force") || !rig_output_replaces(out))
        return true;
    rig_cli_complain("%s: exists; --force replaces it", out);
    return false;
}
