/*
 * rig heal: undoes what killed rigs have left.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_write.h"
#include "base/log.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/leftovers.h"
#include "nemesis/journal.h"

static const struct rig_argument arguments_of_heal[] = {
    {.name = "forget", .help = "remove from the journal what cannot be undone, after you have undone it yourself"},
    RIG_ARGUMENT_FORMAT,
    {.name = NULL},
};

static const struct rig_arguments_table table_of_heal = {
    .command = "heal",
    .positionals = "",
    .least_positionals = 0,
    .most_positionals = 0,
    .description =
        "Before rig injects a fault, it writes its undo to a journal on disk. When rig is killed before it can\n"
        "undo the fault, the next `rig run` does, or this command: it ends servers that were left stopped and\n"
        "runs the undo commands of the plan. Journals of running rigs are left alone. The journals are in\n"
        "~/.local/state/rig/undo, or in the folder RIG_JOURNAL. Exit status 3: something could not be undone.\n",
    .arguments = arguments_of_heal,
};

struct healing_list {
    bool json;
    struct rig_buf out;
    struct rig_json_writer writer;
};

static void add_entry(void *context, const char *text, bool healed)
{
    struct healing_list *list = context;
    if (!list->json) {
        rig_buf_printf(&list->out, "%s: %s\n", healed ? "undone" : "NOT undone", text);
        return;
    }
    rig_json_begin_object(&list->writer, NULL);
    rig_json_string(&list->writer, "text", text);
    rig_json_bool(&list->writer, "undone", healed);
    rig_json_end(&list->writer);
}

static void end_list(struct healing_list *list, const struct rig_journal_healing *healing)
{
    if (list->json) {
        rig_json_end(&list->writer);
        rig_json_int(&list->writer, "undone", healing->healed);
        rig_json_int(&list->writer, "failed", healing->failed);
        rig_json_end(&list->writer);
        rig_buf_add_char(&list->out, '\n');
    } else if (healing->rigs == 0 && healing->failed == 0) {
        rig_buf_add_text(&list->out, "nothing was left to undo\n");
    }
    (void)fputs(rig_buf_text(&list->out), stdout);
    rig_buf_done(&list->out);
}

int rig_cli_heal(int argc, char **argv)
{
    struct rig_arguments arguments;
    const int status = rig_arguments_parse(&table_of_heal, argc, argv, &arguments);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    struct healing_list list = {.json = rig_arguments_json(&arguments)};
    struct rig_journal_healing healing;
    struct rig_err err = {0};
    rig_buf_init(&list.out, 0);
    rig_json_init_indented(&list.writer, &list.out, 2, 2);
    if (list.json) {
        rig_json_begin_object(&list.writer, NULL);
        rig_json_begin_array(&list.writer, "entries");
    }
    const bool forget = rig_arguments_has(&arguments, "forget");
    const enum rig_rc rc = rig_journal_heal(add_entry, &list, forget, &healing, &err);
    end_list(&list, &healing);
    if (rc != RIG_OK)
        return rig_cli_fail(&err);
    if (healing.failed > 0 && !forget)
        rig_cli_complain("%u could not be undone; undo them yourself, then use `rig heal --forget`", healing.failed);
    return healing.failed == 0 || forget ? RIG_EXIT_OK : RIG_EXIT_FAILED;
}

static void complain_of_entry(void *context, const char *text, bool healed)
{
    (void)context;
    rig_log(healed ? RIG_LOG_INFO : RIG_LOG_WARN, "heal", "%s: %s", healed ? "undone" : "not undone", text);
    rig_cli_complain("%s what a killed rig had left: %s", healed ? "undone" : "could not undo", text);
}

void rig_cli_heal_leftovers(void)
{
    struct rig_journal_healing healing;
    struct rig_err err = {0};
    if (rig_journal_heal(complain_of_entry, NULL, false, &healing, &err) != RIG_OK) {
        rig_log(RIG_LOG_WARN, "heal", "%s", err.text);
        rig_cli_complain("cannot find out what killed rigs have left: %s", err.text);
    }
    if (healing.failed > 0)
        rig_cli_complain("`rig heal` tries again; `rig heal --forget` removes what you have undone yourself");
}
