/*
 * rig heal: undoes what killed rigs have left.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/json_members.h"
#include "base/log.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "nemesis/journal.h"

static const struct rig_argument arguments_of_heal[] = {
    {.name = "forget",
     .help = "remove from the journal what cannot be undone, after you have undone it yourself; with ENTRY only these "
             "entries, without an attempt to undo them"},
    RIG_ARGUMENT_FORMAT,
    {.name = NULL},
};

static const struct rig_arguments_table table_of_heal = {
    .command = "heal",
    .positionals = "[ENTRY...]",
    .least_positionals = 0,
    .most_positionals = RIG_ARGUMENTS_MAX,
    .description =
        "Before rig injects a fault, it writes its undo to a journal on disk. When rig is killed before it can\n"
        "undo the fault, the next `rig run` does, or this command: it ends servers that were left stopped,\n"
        "runs the undo commands of the plan, and prints the statements that remove the tables that a run left\n"
        "on a given server. It tries again what could not be undone before. Journals of running rigs are left\n"
        "alone, and so are those of other machines and containers that share the folder: they are listed, and\n"
        "ENTRY names one to undo from here. The journals are in ~/.local/state/rig/undo, or in the folder\n"
        "RIG_JOURNAL. Exit status 3: something could not be undone.\n",
    .arguments = arguments_of_heal,
};

struct healing_list {
    bool json;
    struct rig_buf out;
    struct rig_json_writer writer;
};

static void add_entry(void *context, const struct rig_journal_told *told)
{
    static const char *const words[] = {
        [RIG_JOURNAL_UNDONE] = "undone",
        [RIG_JOURNAL_NOT_UNDONE] = "NOT undone",
        [RIG_JOURNAL_LEFT_ALONE] = "left alone",
        [RIG_JOURNAL_FORGOTTEN] = "forgotten",
    };
    struct healing_list *list = context;
    const bool stays = told->fate == RIG_JOURNAL_NOT_UNDONE || told->fate == RIG_JOURNAL_LEFT_ALONE;
    if (!list->json) {
        rig_buf_printf(&list->out, "%s: %s\n", words[told->fate], told->text);
        if (stays)
            rig_buf_printf(&list->out, "    entry %s\n", told->entry);
        return;
    }
    rig_json_object(&list->writer, NULL, "entry: %s, text: %s, undone: %b, fate: %s", told->entry, told->text,
                    told->fate == RIG_JOURNAL_UNDONE, words[told->fate]);
}

static void end_list(struct healing_list *list, bool all, const struct rig_journal_healing *healing)
{
    if (list->json) {
        rig_json_end(&list->writer);
        rig_json_members(&list->writer, "undone: %d, failed: %d, left-alone: %d, forgotten: %d", healing->healed,
                         healing->failed, healing->left, healing->forgotten);
        rig_json_end(&list->writer);
        rig_buf_add_char(&list->out, '\n');
    } else if (all && healing->rigs == 0 && healing->failed == 0) {
        rig_buf_add_text(&list->out, "nothing was left to undo\n");
    }
    if (list->json)
        rig_cli_print_data(&list->out);
    else
        rig_cli_print(&list->out);
    rig_buf_done(&list->out);
}

static int conclude(const struct rig_journal_request *request, const struct rig_journal_healing *healing)
{
    if (request->entry_count > 0 && healing->healed + healing->failed + healing->forgotten == 0) {
        rig_cli_complain("no entry of this name: `rig heal` lists all of them");
        return RIG_EXIT_USAGE;
    }
    if (healing->failed == 0 || request->forget)
        return RIG_EXIT_OK;
    rig_cli_complain(
        "%u could not be undone; `rig heal` tries again, and `rig heal --forget [ENTRY...]` forgets what you "
        "have undone yourself",
        healing->failed);
    return RIG_EXIT_FAILED;
}

int rig_cli_heal(int argc, char **argv)
{
    struct rig_arguments arguments;
    const int status = rig_arguments_parse(&table_of_heal, argc, argv, &arguments);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    struct healing_list list = {.json = rig_arguments_json(&arguments)};
    const struct rig_journal_request request = {
        .forget = rig_arguments_has(&arguments, "forget"),
        .entries = arguments.positionals,
        .entry_count = arguments.positional_count,
        .visit = add_entry,
        .context = &list,
    };
    struct rig_journal_healing healing;
    struct rig_err err = {0};
    rig_buf_init(&list.out, 0);
    rig_json_init_indented(&list.writer, &list.out, 2, 2);
    if (list.json) {
        rig_json_begin_object(&list.writer, NULL);
        rig_json_begin_array(&list.writer, "entries");
    }
    const enum rig_rc rc = rig_journal_heal(&request, &healing, &err);
    end_list(&list, request.entry_count == 0, &healing);
    return rc != RIG_OK ? rig_cli_fail(&err) : conclude(&request, &healing);
}

static void complain_of_entry(void *context, const struct rig_journal_told *told)
{
    (void)context;
    const bool healed = told->fate == RIG_JOURNAL_UNDONE;
    rig_log(healed || told->quiet ? RIG_LOG_INFO : RIG_LOG_WARN, "heal", "%s: %s", healed ? "undone" : "not undone",
            told->text);
    if (!told->quiet)
        rig_cli_complain("%s what a killed rig had left: %s", healed ? "undone" : "could not undo", told->text);
}

void rig_cli_heal_leftovers(const struct rig_plan *plan)
{
    char place[RIG_PLAN_PLACE_BYTES];
    rig_plan_place(plan, place);
    const struct rig_journal_request request = {.place = place, .visit = complain_of_entry};
    struct rig_journal_healing healing;
    struct rig_err err = {0};
    if (rig_journal_heal(&request, &healing, &err) != RIG_OK) {
        rig_log(RIG_LOG_WARN, "heal", "%s", err.text);
        rig_cli_complain("cannot find out what killed rigs have left: %s", err.text);
    }
    if (healing.failed > 0)
        rig_cli_complain(
            "`rig heal` tries again, and lists all that is left; `rig heal --forget` forgets what you have "
            "undone yourself. Runs do not repeat this");
}
