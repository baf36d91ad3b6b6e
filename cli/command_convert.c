/*
 * rig convert IN... OUT: a history in another form, or the records of the ranks of one run as one.
 */
#include <stdio.h>
#include <string.h>

#include "base/json_members.h"
#include "base/output_file.h"
#include "base/plural.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/input_path.h"
#include "cli/interruption.h"
#include "cli/outputs.h"
#include "cli/requests.h"
#include "history/source/load.h"

static const struct rig_argument convert_arguments[] = {
    {.name = "to",
     .value = RIG_CLI_ALL_FORM_VALUE,
     .choices = rig_cli_all_form_names,
     .help = "form to write; found from the suffix of OUT when not given (.rig, .jsonl, .json, .edn, .txt, .bincode)"},
    RIG_ARGUMENT_WORKLOAD,
    RIG_ARGUMENT_PERMITS,
    RIG_ARGUMENT_REENTRANT,
    RIG_ARGUMENT_LEASE,
    RIG_ARGUMENT_MODEL,
    RIG_ARGUMENT_MAX_MEMORY,
    {.name = "compress", .help = "compress with zstd; rig's own form only"},
    {.name = "force", .help = "replace OUT if it exists"},
    RIG_ARGUMENT_FORMAT,
    {.name = NULL},
};

static const struct rig_arguments_table convert_table = {
    .command = "convert",
    .positionals = "IN... OUT",
    .least_positionals = 2,
    .most_positionals = RIG_CLI_PATHS_MOST + 1,
    .description =
        "Writes a history in another form: rig's own (history.rig), operations as JSON lines, or as EDN in the\n"
        "field names of Jepsen. Registers can also be written as text of Plume, PolySI and AWDIT (plume), and in the\n"
        "binary form of dbcop. The first bytes of IN show its form; a folder with logs of Cobra, and the forms of\n"
        "dbcop, PolySI, Plume and AWDIT are read too. `-` is standard input and output.\n"
        "IN may be the folder of a run. Several records are those of the ranks of one run, which become one history:\n"
        "transactions of one process that the clocks leave overlapping get different processes in OUT.\n"
        "OUT appears whole or not at all; it cannot be IN. Devices and pipes are written in place.\n"
        "Exit status 2: IN was cut or damaged, and the form of OUT cannot record that.\n"
        "plume and dbcop hold no times and no unknown outcomes: docs/history-import.md says what becomes of them.\n",
    .arguments = convert_arguments,
};

static const char *out_of(const struct rig_arguments *args)
{
    return args->positionals[args->positional_count - 1];
}

static void print_result(const struct rig_arguments *args, const struct rig_history *history, enum rig_form form)
{
    const char *out = out_of(args);
    if (!rig_arguments_json(args)) {
        printf("%s: %u transaction%s, %u operation%s, %llu omitted%s", out, (unsigned)history->txn_count,
               rig_plural(history->txn_count), (unsigned)history->op_count, rig_plural(history->op_count),
               (unsigned long long)history->skipped_count,
               history->truncated && history->damaged_at == 0 ? "; the record was cut" : "");
        if (history->damaged_at > 0)
            printf("; the record is damaged at byte %llu: the last %llu byte%s omitted",
                   (unsigned long long)history->damaged_at, (unsigned long long)history->damaged_bytes,
                   history->damaged_bytes == 1 ? " is" : "s are");
        puts("");
        return;
    }
    struct rig_buf buf;
    struct rig_json_writer json;
    rig_buf_init(&buf, 0);
    rig_json_init(&json, &buf);
    rig_json_begin_object(&json, NULL);
    rig_json_members(&json, "file: %s, form: %s, transactions: %d, operations: %d, skipped: %d, truncated: %b", out,
                     rig_cli_form_name(form), history->txn_count, history->op_count, history->skipped_count,
                     history->truncated);
    if (history->sorted)
        rig_json_bool(&json, "sorted", true);
    if (history->damaged_at > 0)
        rig_json_int(&json, "damaged-at", (int64_t)history->damaged_at);
    if (history->damaged_at > 0)
        rig_json_int(&json, "damaged-bytes", (int64_t)history->damaged_bytes);
    rig_json_end(&json);
    puts(rig_buf_text(&buf));
    rig_buf_done(&buf);
}

/* Only rig's own form has a place for these marks. A check of another form could pass, or decide too much. */
static int tell_lost_marks(const struct rig_history *history, enum rig_form form)
{
    if (form == RIG_FORM_RIG)
        return RIG_EXIT_OK;
    if (history->truncated)
        rig_cli_complain("the record is incomplete, and this form cannot record that: a check of the converted history "
                         "does not know that something is missing; --to rig keeps the mark");
    if (history->reads_at_once)
        rig_cli_complain("warning: one operation of the file may have shown several reads, and this form cannot record "
                         "that: a check of the converted history takes their order as known; --to rig keeps the mark");
    if (history->has_all_rows && (form == RIG_FORM_JSON_LINES || form == RIG_FORM_EDN))
        rig_cli_complain(
            "warning: the file names the value of every key before the first transaction, and this form cannot "
            "record that: check the converted history with --prefilled, or keep the mark with --to rig");
    return history->truncated ? RIG_EXIT_UNDECIDED : RIG_EXIT_OK;
}

static enum rig_rc refuse_lost(const struct rig_history *history, const char *in, struct rig_err *err)
{
    if (history->in_turn)
        return rig_fail(err, RIG_E_INPUT,
                        "%s: %llu of them %s missing or end%s early, and one file cannot record what it lacks; "
                        "`rig check` takes the records that there are",
                        in, (unsigned long long)history->lost_count, history->lost_count == 1 ? "is" : "are",
                        history->lost_count == 1 ? "s" : "");
    return rig_fail(
        err, RIG_E_INPUT,
        "%s: %llu operation%s that may have read or written would be lost: the process is not a client, or the "
        "value is not a transaction; give each client a number or a name, or remove such operations",
        in, (unsigned long long)history->lost_count, rig_plural(history->lost_count));
}

static void describe(void *context, char *text, unsigned long size)
{
    const struct rig_arguments *args = context;
    (void)snprintf(text, size, "the conversion was interrupted; %s is as it was", out_of(args));
}

int rig_cli_convert(int argc, char **argv)
{
    struct rig_arguments args;
    int status = rig_arguments_parse(&convert_table, argc, argv, &args);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    enum rig_form form = rig_cli_output_form(&args, "to", &rig_cli_all_forms, out_of(&args));
    struct rig_err err = {0};
    static struct rig_cli_paths in; /* one command a process */
    enum rig_rc rc = rig_cli_find_histories(args.positionals, args.positional_count - 1, &in, &err);
    if (rc != RIG_OK)
        return rig_cli_fail(&err);
    for (size_t i = 0; i < in.count; i++)
        rig_cli_guard_history(in.at[i]);
    if (form == RIG_FORM_AUTO || !rig_cli_may_write(&args, out_of(&args)))
        return RIG_EXIT_USAGE;
    struct rig_save_options save = {.form = form, .pack = rig_arguments_has(&args, "compress")};
    if (save.pack && form != RIG_FORM_RIG) {
        rig_cli_complain("--compress is for rig's own form; leave it out, or give --to rig");
        return RIG_EXIT_USAGE;
    }
    struct rig_load_options options = {.form = RIG_FORM_AUTO};
    if (!rig_cli_read_max_memory(&args, &options.limit_bytes))
        return RIG_EXIT_USAGE;
    rig_cli_read_workload(&args, &options);
    if (!rig_cli_read_model(&args, &options) || !rig_cli_read_lock_rules(&args, &options))
        return RIG_EXIT_USAGE;
    struct rig_history *history = NULL;
    rig_cli_interruption_begin(describe, &args);
    rc = rig_history_load_ranks((const char *const *)in.at, in.count, &options, &history, &err);
    if (rc == RIG_OK && history->lost_count > 0)
        rc = refuse_lost(history, in.count > 1 || history->in_turn ? "the records" : in.at[0], &err);
    if (rc == RIG_OK)
        rc = rig_cli_save_history(history, out_of(&args), &save, &err);
    rig_cli_interruption_end();
    status = RIG_EXIT_OK;
    if (rc == RIG_OK && history->sorted)
        rig_cli_complain("warning: %s: its operations are not in the order of their indices; they were sorted",
                         in.at[0]);
    if (rc != RIG_OK)
        status = rig_cli_fail(&err);
    else {
        if (strcmp(out_of(&args), "-") != 0)
            print_result(&args, history, form);
        status = tell_lost_marks(history, form);
    }
    rig_history_free(history);
    rig_cli_paths_done(&in);
    return status;
}
