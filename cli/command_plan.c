/*
 * rig plan: checks a plan and prints it resolved.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/secret.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/plan_arguments.h"
#include "generator/generator.h"
#include "history/types/sent_sql.h"
#include "history/types/types.h"
#include "run/load/run.h"
#include "run/plan/plan.h"

/*
 * `rig plan --requests`: what the first transactions of a plan would send, shown by the driver; nothing is sent.
 */

enum { LOOKED_AT = 200, SHOWN_OF_A_KIND = 2 };

static void show(void *context, const char *text)
{
    (void)context;
    char *safe = strdup(text);
    if (safe != NULL)
        rig_secret_redact(safe, strlen(safe) + 1);
    rig_cli_say("%s", safe == NULL ? RIG_SECRET_MASK : safe);
    free(safe);
}

static void print_question(const struct rig_transaction *transaction, uint64_t number)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "transaction %" PRIu64 ":", number);
    for (uint32_t i = 0; i < transaction->op_count; i++) {
        const struct rig_op *op = &transaction->ops[i];
        rig_buf_printf(&text, " [%s %" PRId64, rig_op_infos[op->kind].name, op->key);
        if (!rig_op_reads(op->kind))
            rig_buf_printf(&text, " %" PRId64, op->value);
        rig_buf_add_text(&text, "]");
    }
    rig_buf_add_text(&text, "\n\n");
    rig_cli_print(&text);
    rig_buf_done(&text);
}

static void add_form(void *context, enum rig_sql_form form, const char *text)
{
    rig_sent_sql_add_form(form, text, context);
}

/* A statement with values that depend on what an earlier read of the transaction shows has those of a read that found
 * nothing. */
static enum rig_rc show_sql(const struct rig_sent_sql *sent, enum rig_workload workload,
                            const struct rig_transaction *transaction, struct rig_err *err)
{
    struct rig_read *reads = calloc((size_t)transaction->op_count + 1, sizeof *reads);
    struct rig_buf text;
    if (reads == NULL)
        return rig_no_memory(err, "the requests");
    const struct rig_sent_question question = {.workload = workload,
                                               .ops = transaction->ops,
                                               .op_count = transaction->op_count,
                                               .reads = reads,
                                               .client = transaction->client,
                                               .read_only = transaction->read_only,
                                               .rolls_back = transaction->rolls_back,
                                               .savepoint_from = transaction->rollback.from,
                                               .savepoint_to = transaction->rollback.to};
    rig_buf_init(&text, 0);
    rig_sent_sql_say_session(sent, "", &text);
    rig_sent_sql_say(sent, &question, "", &text);
    rig_buf_add_char(&text, '\n');
    show(NULL, rig_buf_text(&text));
    rig_buf_done(&text);
    free(reads);
    return RIG_OK;
}

/* The first ones that only read, and the first that write: usually they are asked in different ways. */
static enum rig_rc show_some(const struct rig_plan *plan, const char *meta, struct rig_generator *generator,
                             struct rig_err *err)
{
    const enum rig_workload workload = (enum rig_workload)plan->workload.type;
    struct rig_transaction transaction = {.client = 0};
    struct rig_sent_sql sent;
    const bool has_sql = rig_sent_sql_read(meta, &sent);
    int shown[2] = {0, 0};
    enum rig_rc rc = RIG_OK;
    for (uint64_t i = 0; rc == RIG_OK && i < LOOKED_AT; i++) {
        rig_generator_next(generator, &transaction);
        if (transaction.op_count == 0 || shown[transaction.read_only]++ >= SHOWN_OF_A_KIND)
            continue;
        print_question(&transaction, i + 1);
        if (has_sql)
            rc = show_sql(&sent, workload, &transaction, err);
        else
            rc = plan->driver->preview(plan->driver_options, workload, &transaction, show, NULL, err);
    }
    return rc;
}

/* Gives the record's lines about the statements of a driver of SQL databases; they stay empty for other drivers. */
static enum rig_rc find_statements(const struct rig_plan *plan, struct rig_buf *meta, struct rig_err *err)
{
    const struct rig_run_env env = {.options = plan->driver_options,
                                    .workload = (enum rig_workload)plan->workload.type,
                                    .client_count = (uint32_t)plan->clients.count,
                                    .seed = plan->seed,
                                    .run_name = "rig_run",
                                    .certificate = plan->certificate,
                                    .accounts = rig_generator_accounts(&plan->workload),
                                    .prefilled_keys = plan->prefilled_keys};
    struct rig_statement_texts texts = {.tell = add_form, .context = meta};
    if (plan->driver->statements == NULL)
        return RIG_OK;
    const enum rig_rc rc = plan->driver->statements(&env, &texts, err);
    if (rc == RIG_OK && texts.table_count == 0 && plan->driver->preview == NULL)
        return rig_fail(err, RIG_E_USAGE, "--requests: each statement of this workload is a text of its own");
    if (rc == RIG_OK && texts.table_count > 0)
        rig_sent_sql_add_head(texts.table_count, env.client_count, texts.locks_some, meta);
    return rc;
}

/* Prints to standard output. RIG_E_USAGE when the driver cannot show what it sends. */
static enum rig_rc cli_dry_run(const struct rig_plan *plan, struct rig_err *err)
{
    struct rig_generator *generator = NULL;
    struct rig_buf meta;
    if (plan->driver->preview == NULL && plan->driver->statements == NULL)
        return rig_fail(err, RIG_E_USAGE, "--requests: the driver %s does not show its requests", plan->driver->name);
    rig_buf_init(&meta, 0);
    enum rig_rc rc = find_statements(plan, &meta, err);
    if (rc == RIG_OK)
        rc = rig_generator_new(rig_plan_workload(plan, 0), plan->seed, 0, (uint32_t)plan->clients.count, &generator,
                               err);
    if (rc == RIG_OK)
        rc = show_some(plan, rig_buf_text(&meta), generator, err);
    rig_generator_free(generator);
    rig_buf_done(&meta);
    return rc;
}

static void print_reference(unsigned columns)
{
    struct rig_cli_drivers drivers;
    rig_cli_drivers_init(&drivers);
    rig_cli_drivers_leave_out_example(&drivers);
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_plan_write_reference(drivers.at, columns, &text);
    (void)fputs(rig_buf_text(&text), stdout);
    rig_buf_done(&text);
}

static void print_sections(void)
{
    rig_cli_say(
        "\nsections of a plan:\n"
        "  workload    type of data, number or time of transactions, their operations and keys\n"
        "  phases      a list of such workloads, one after the other\n"
        "  clients     how many, and how fast\n"
        "  database    driver, isolation level, servers, and the options of the driver\n"
        "  check       levels that must hold, evidence that is needed, limits of the check\n"
        "  nemesis     faults, and when they come\n"
        "  report      forms of the report\n"
        "`rig plan --explain` without a plan prints every key with its meaning, rig-plan(5) is the same as a page.\n");
}

static const struct rig_argument arguments_of_plan[] = {
    RIG_ARGUMENTS_OF_PLAN,
    {.name = "explain",
     .help = "a comment for each key, and also keys without a value; without a plan: every key with its meaning"},
    {.name = "requests", .help = "instead of the plan: the requests of some of its transactions (a dry run)"},
    {.name = "reference", .help = "instead of a plan: the reference page of all keys, as Markdown"},
    RIG_ARGUMENT_FORMAT,
    {.name = NULL},
};

static const struct rig_arguments_table table_of_plan = {
    .command = "plan",
    .positionals = "PLAN.yaml",
    .least_positionals = 0,
    .most_positionals = 1,
    .description =
        "Checks a plan and prints it resolved, with every default; the output is a plan again. Secrets stay\n"
        "variables if they came from variables, or become `***`. `-` reads the plan from standard input. Exit "
        "status\n"
        "64: the plan cannot be used, or not on this machine; stderr gives the reason.\n",
    .arguments = arguments_of_plan,
    .elsewhere = rig_cli_elsewhere_of_plan,
    .print_more = print_sections,
};

int rig_cli_plan(int argc, char **argv)
{
    struct rig_arguments arguments;
    int status = rig_arguments_parse(&table_of_plan, argc, argv, &arguments);
    if (status != RIG_ARGUMENTS_GO_ON || (status = rig_cli_take_target(&arguments)) != RIG_EXIT_OK)
        return status;
    if (rig_arguments_has(&arguments, "reference")) {
        print_reference(RIG_PLAN_MARKDOWN);
        return RIG_EXIT_OK;
    }
    if (arguments.positional_count == 0 && rig_arguments_has(&arguments, "explain")) {
        print_reference(rig_terminal_text_columns(stdout));
        return RIG_EXIT_OK;
    }
    if (arguments.positional_count == 0)
        return rig_arguments_miss(&table_of_plan);
    struct rig_plan *plan = NULL;
    status = rig_cli_load_plan(&arguments, &plan);
    if (status != RIG_EXIT_OK)
        return status;
    if (rig_arguments_has(&arguments, "requests")) {
        struct rig_err err = {0};
        status = cli_dry_run(plan, &err) == RIG_OK ? RIG_EXIT_OK : rig_cli_fail(&err);
        rig_plan_free(plan);
        return status;
    }
    struct rig_buf text;
    rig_buf_init(&text, 0);
    if (rig_arguments_json(&arguments))
        rig_plan_write_json(plan, &text);
    else
        rig_plan_write(plan, rig_arguments_has(&arguments, "explain"), &text);
    (void)fputs(rig_buf_text(&text), stdout);
    rig_buf_done(&text);
    struct rig_err missing = {0};
    if (rig_run_check(plan, &missing) != RIG_OK) {
        status = rig_rc_exit_status(missing.rc);
        rig_cli_complain("this plan cannot be run here: %s", missing.text);
    }
    rig_plan_free(plan);
    return status;
}
