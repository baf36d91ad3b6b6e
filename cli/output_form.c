#include "cli/output_form.h"

#include <string.h>

#include "base/output_file.h"
#include "base/plural.h"
#include "cli/cli.h"
#include "history/model/process_lanes.h"

static const struct {
    const char *name;
    enum rig_form form;
    const char *suffix;
} forms[] = {
    {"rig", RIG_FORM_RIG, ".rig"},     {"jsonl", RIG_FORM_JSON_LINES, ".jsonl"},
    {"edn", RIG_FORM_EDN, ".edn"},     {"json", RIG_FORM_JSON_LINES, ".json"},
    {"plume", RIG_FORM_PLUME, ".txt"}, {"dbcop", RIG_FORM_DBCOP, ".bincode"},
};

const char *const rig_cli_form_names[] = {"rig", "jsonl", "edn", "json", NULL};
const struct rig_cli_forms rig_cli_forms = {rig_cli_form_names, "rig, jsonl or edn"};
const char *const rig_cli_all_form_names[] = {"rig", "jsonl", "edn", "json", "plume", "dbcop", NULL};
const struct rig_cli_forms rig_cli_all_forms = {rig_cli_all_form_names, "rig, jsonl, edn, plume or dbcop"};

const char *rig_cli_form_name(enum rig_form form)
{
    size_t i = 0;
    while (forms[i].form != form)
        i++;
    return forms[i].name;
}

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path);
    size_t ending_length = strlen(ending);
    return length > ending_length && strcmp(path + length - ending_length, ending) == 0;
}

static bool is_allowed(const struct rig_cli_forms *allowed, const char *name)
{
    size_t i = 0;
    while (allowed->names[i] != NULL && strcmp(allowed->names[i], name) != 0)
        i++;
    return allowed->names[i] != NULL;
}

enum rig_form rig_cli_output_form(const struct rig_arguments *args, const char *option,
                                  const struct rig_cli_forms *allowed, const char *out)
{
    const char *given = rig_arguments_value(args, option);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const bool is_it = given != NULL ? strcmp(given, forms[i].name) == 0 : ends_in(out, forms[i].suffix);
        if (is_it && is_allowed(allowed, forms[i].name))
            return forms[i].form;
    }
    rig_cli_complain("%s: its suffix gives no form; give one with --%s %s", out, option, allowed->text);
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

enum rig_rc rig_cli_save_history(const struct rig_history *history, const char *path,
                                 const struct rig_save_options *save, struct rig_err *err)
{
    struct rig_process_lanes lanes;
    if (!history->in_turn)
        return rig_history_save(history, path, save, err);
    enum rig_rc rc = rig_process_lanes_init(&lanes, history, err);
    if (rc == RIG_OK)
        rc = rig_history_save(&lanes.history, path, save, err);
    if (rc == RIG_OK && lanes.moved > 0)
        rig_cli_complain("note: %u transaction%s overlap%s the one before of the same process, as far as the clocks of "
                         "the ranks are known, and got another process in %s: an anomaly that rests on their order is "
                         "in the records only",
                         (unsigned)lanes.moved, rig_plural(lanes.moved), lanes.moved == 1 ? "s" : "",
                         strcmp(path, "-") == 0 ? "the output" : path);
    rig_process_lanes_done(&lanes);
    return rc;
}
