#include "cli/reproduce_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/output_file.h"
#include "base/plural.h"
#include "base/run_files.h"
#include "cli/stage.h"
#include "history/source/load.h"
#include "history/types/types.h"
#include "jobs/shrink/scenario_text.h"
#include "nemesis/command.h"
#include "report/shrunk_report.h"
#include "run/scenario/script.h"

static const int64_t play_ns = INT64_C(120) * RIG_NS_PER_S;

/* ---- writing ---- */

struct writing {
    const struct rig_history *history;
    const struct rig_interleaving *interleaving;
    struct rig_arena arena;
    struct rig_transaction *transactions;
    uint32_t *names;
    bool *acknowledged;
    struct rig_script_turn *turns;
    uint32_t turn_count;
};

/* A key as the history names it, where that is a number. */
static int64_t key_of(const struct rig_history *history, uint32_t key)
{
    char name[64], *end;
    rig_history_key_name(history, key, name, sizeof name);
    const long long number = strtoll(name, &end, 10);
    return end > name && *end == '\0' ? number : (int64_t)key;
}

static bool take_read(struct writing *writing, const struct rig_txn_op *op, struct rig_transaction *transaction,
                      struct rig_read *read)
{
    read->state = op->read_state;
    read->value = op->value;
    if (op->read_state != RIG_READ_SEEN || !rig_op_reads_sequence(op->kind))
        return true;
    const struct rig_read_list list = rig_txn_op_list(writing->history, op);
    int64_t *elements = rig_arena_array(&writing->arena, transaction->element_count + list.count + 1, sizeof *elements);
    if (elements == NULL)
        return false;
    if (transaction->element_count > 0)
        memcpy(elements, transaction->elements, transaction->element_count * sizeof *elements);
    transaction->elements = elements;
    read->first_element = transaction->element_count;
    read->count = list.count;
    for (uint32_t i = 0; i < list.count; i++)
        elements[transaction->element_count++] = rig_read_element(&list, i);
    return true;
}

static bool take_transaction(struct writing *writing, uint32_t txn)
{
    const struct rig_history *history = writing->history;
    const struct rig_txn_op *from = rig_txn_ops(history, txn);
    const uint32_t count = rig_txn_op_count(history, txn);
    struct rig_transaction *into = &writing->transactions[txn];
    struct rig_op *ops = rig_arena_array(&writing->arena, count + 1, sizeof *ops);
    into->reads = rig_arena_array(&writing->arena, count + 1, sizeof *into->reads);
    if (ops == NULL || into->reads == NULL)
        return false;
    into->ops = ops;
    into->op_count = count;
    into->client = txn;
    into->read_only = true;
    writing->names[txn] = rig_txn_name(history, txn);
    writing->acknowledged[txn] = history->txns[txn].outcome == RIG_OUTCOME_OK;
    for (uint32_t i = 0; i < count; i++) {
        const bool reads = rig_op_reads(from[i].kind);
        ops[i] = (struct rig_op){
            .kind = from[i].kind, .key = key_of(history, from[i].key), .value = reads ? 0 : from[i].value};
        into->reads[i] = (struct rig_read){.state = RIG_READ_UNKNOWN};
        into->read_only = into->read_only && reads;
        if (reads && !take_read(writing, &from[i], into, &into->reads[i]))
            return false;
    }
    return true;
}

/* The statement before which the requests that do not commit are sent: the first read, where there is one, because they
 * show what it saw; else the beginning. */
static bool is_first(const struct rig_history *history, const struct rig_interleaved *step)
{
    const struct rig_txn_op *ops = rig_txn_ops(history, step->txn);
    const uint32_t count = rig_txn_op_count(history, step->txn);
    uint32_t read = 0;
    while (read < count && !rig_op_reads(ops[read].kind))
        read++;
    if (read == count)
        return step->statement == RIG_STATEMENT_BEGIN;
    return step->statement == RIG_STATEMENT_OPERATION && history->ops + step->op == ops + read;
}

static void add_turns(struct writing *writing)
{
    for (uint32_t i = 0; i < writing->interleaving->step_count; i++) {
        const struct rig_interleaved *step = &writing->interleaving->steps[i];
        const bool ends = step->statement == RIG_STATEMENT_END;
        if (ends || is_first(writing->history, step))
            writing->turns[writing->turn_count++] = (struct rig_script_turn){.transaction = step->txn, .ends = ends};
    }
}

static void show(void *context, const char *text)
{
    rig_buf_add_text(context, text);
}

static enum rig_rc write_part(struct writing *writing, const struct rig_plan *plan, const char *title,
                              struct rig_buf *script, struct rig_err *err)
{
    const uint32_t count = writing->history->txn_count;
    writing->transactions = rig_arena_array(&writing->arena, count + 1, sizeof *writing->transactions);
    writing->names = rig_arena_array(&writing->arena, count + 1, sizeof *writing->names);
    writing->acknowledged = rig_arena_array(&writing->arena, count + 1, sizeof *writing->acknowledged);
    writing->turns = rig_arena_array(&writing->arena, writing->interleaving->step_count + 1, sizeof *writing->turns);
    bool good = writing->transactions != NULL && writing->names != NULL && writing->acknowledged != NULL &&
                writing->turns != NULL;
    for (uint32_t txn = 0; good && txn < count; txn++) {
        writing->transactions[txn] = (struct rig_transaction){.client = txn};
        good = take_transaction(writing, txn);
    }
    if (!good)
        return rig_no_memory(err, "a script");
    add_turns(writing);
    const struct rig_script_part part = {.title = title,
                                         .transactions = writing->transactions,
                                         .names = writing->names,
                                         .acknowledged = writing->acknowledged,
                                         .transaction_count = count,
                                         .turns = writing->turns,
                                         .turn_count = writing->turn_count};
    const enum rig_rc rc =
        plan->driver->script(plan->driver_options, (enum rig_workload)plan->workload.type, &part, show, script, err);
    return rc == RIG_OK && script->failed ? rig_no_memory(err, "a script") : rc;
}

/* RIG_E_USAGE for data other than lists and registers; else the driver's errors. */
static enum rig_rc cli_requests_write(const struct rig_plan *plan, const struct rig_smallest_part *part,
                                      const struct rig_interleaving *interleaving, struct rig_buf *script,
                                      struct rig_err *err)
{
    const struct rig_history *history = part->history;
    const struct rig_data_type *type = &rig_data_types[history->workload];
    struct writing writing = {.history = history, .interleaving = interleaving};
    char title[128];
    if (rig_workload_is_object(history->workload) ||
        (type->shape != RIG_RESULT_LIST && type->shape != RIG_RESULT_VALUE))
        return rig_fail(err, RIG_E_USAGE, "a script of requests has lists or registers; this history is %s",
                        type->name);
    (void)snprintf(title, sizeof title, "%s of %u transaction%s.", rig_anomaly_info(part->anomaly)->name,
                   (unsigned)history->txn_count, rig_plural(history->txn_count));
    rig_arena_init(&writing.arena, 0);
    const enum rig_rc rc = write_part(&writing, plan, title, script, err);
    rig_arena_done(&writing.arena);
    return rc;
}

/* ---- playing ---- */

struct show {
    struct rig_cli_request_plays *plays;
    bool started; /* rig started the cluster, so the script gets its address; else it has that of the plan */
};

static enum rig_rc play_once(struct rig_cli_request_plays *plays, const char *url, struct rig_err *err)
{
    const char *const arguments[] = {plays->script, url};
    const struct rig_command command = {.arguments = {.at = (const char **)arguments, .count = url[0] == '\0' ? 1 : 2},
                                        .timeout_ns = play_ns};
    struct rig_command_answer answer;
    const enum rig_rc rc = rig_command_run(&command, &answer, err);
    if (rc != RIG_OK)
        return rc;
    if (answer.status > 1)
        return rig_fail(err, RIG_E_CLUSTER, "the script of the requests ended with status %d: %s", answer.status,
                        answer.line);
    plays->plays++;
    plays->shown += answer.status == 0;
    return RIG_OK;
}

static enum rig_rc play_all(void *context, const struct rig_driver *driver, void *driver_run,
                            const struct rig_shims *shims, struct rig_err *err)
{
    const struct show *show = context;
    struct rig_cli_request_plays *plays = show->plays;
    struct rig_node_address address = {.host = ""};
    char url[RIG_NODE_HOST_BYTES + 32] = "";
    (void)shims;
    if (driver->describe != NULL)
        driver->describe(driver_run, plays->server, sizeof plays->server);
    enum rig_rc rc = show->started ? driver->cluster->address(driver_run, 0, &address, err) : RIG_OK;
    if (rc == RIG_OK && show->started)
        (void)snprintf(url, sizeof url, "http://%s:%u", address.host, (unsigned)address.port);
    struct rig_err why = {.rc = rc};
    for (uint32_t i = 0; i < plays->repeat && why.rc == RIG_OK && atomic_load(plays->interrupts) == 0; i++)
        (void)play_once(plays, url, &why);
    if (rc == RIG_OK && why.rc != RIG_OK)
        (void)snprintf(plays->unplayed, sizeof plays->unplayed, "%s", why.text);
    return rc;
}

enum rig_rc rig_cli_requests_play(struct rig_cli_request_plays *plays, const struct rig_plan *plan, struct rig_err *err)
{
    const struct rig_cluster_ops *cluster = plan->driver->cluster;
    struct show show = {.plays = plays,
                        .started =
                            cluster != NULL && cluster->address != NULL && cluster->wanted(plan->driver_options)};
    const struct rig_run_task task = {.run = play_all, .context = &show};
    return rig_cli_stage_task(plan, &task, plays->interrupts, err);
}

enum { PATH_BYTES = 4096 + 64 };

enum rig_rc rig_cli_reproduce_save(const char *folder, const char *name, bool is_script, const struct rig_buf *text,
                                   struct rig_err *err)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    const enum rig_rc rc = rig_output_save(text, path, err);
    if (rc == RIG_OK && is_script && chmod(path, 0700) != 0)
        return rig_fail(err, RIG_E_IO, "%s: %s", path, strerror(errno));
    return rc;
}

/* The scripts for the clients of the database: those that speak SQL have one each, and PostgreSQL a specification. */
static enum rig_rc save_scripts(const struct rig_cli_reproduce_files *files, struct rig_err *err)
{
    static const struct {
        const char *driver, *name;
        enum rig_script_form form;
        bool is_script;
    } scripts[] = {{"postgres", RIG_RUN_SCRIPT_PSQL, RIG_SCRIPT_PSQL, true},
                   {"postgres", RIG_RUN_SCRIPT_ISOLATIONTESTER, RIG_SCRIPT_ISOLATIONTESTER, false},
                   {"mysql", RIG_RUN_SCRIPT_MYSQL, RIG_SCRIPT_MYSQL, true}};
    struct rig_buf isolation, text;
    enum rig_rc rc = RIG_OK;
    rig_buf_init(&isolation, 0);
    rig_buf_init(&text, 0);
    rig_cli_stage_isolation(files->plan, &isolation);
    for (size_t i = 0; rc == RIG_OK && i < sizeof scripts / sizeof scripts[0]; i++) {
        if (strcmp(scripts[i].driver, files->plan->driver->name) != 0)
            continue;
        rig_buf_clear(&text);
        rig_scenario_write_script(files->scenario, scripts[i].form, rig_buf_text(&isolation), &text);
        rc = rig_cli_reproduce_save(files->folder, scripts[i].name, scripts[i].is_script, &text, err);
    }
    /* A driver or a dialect without a shell has none. */
    struct rig_err none = {0};
    rig_buf_clear(&text);
    if (rc == RIG_OK && rig_scenario_write_shell(files->scenario, files->plan->driver, files->plan->driver_options,
                                                 &text, &none) == RIG_OK)
        rc = rig_cli_reproduce_save(files->folder, RIG_RUN_SCRIPT_SHELL, true, &text, err);
    rig_buf_done(&text);
    rig_buf_done(&isolation);
    return rc;
}

/* Without one where the part cannot be it. */
static enum rig_rc save_requests(struct rig_cli_reproduce_files *files, struct rig_err *err)
{
    struct rig_buf text;
    struct rig_err why = {0};
    rig_buf_init(&text, 0);
    enum rig_rc rc = cli_requests_write(files->plan, files->part, files->interleaving, &text, &why);
    if (rc == RIG_OK) {
        rc = rig_cli_reproduce_save(files->folder, RIG_RUN_SCRIPT_HTTP, true, &text, err);
        files->has_requests = rc == RIG_OK;
    } else {
        (void)snprintf(files->unplayed, sizeof files->unplayed, "%s", why.text);
        rc = rc == RIG_E_LIMIT ? rig_fail(err, rc, "%s", why.text) : RIG_OK;
    }
    rig_buf_done(&text);
    return rc;
}

/* Without a scenario where the part cannot be one. */
static enum rig_rc save_scenario(struct rig_cli_reproduce_files *files, struct rig_err *err)
{
    struct rig_buf yaml;
    struct rig_err why = {0};
    rig_buf_init(&yaml, 0);
    enum rig_rc rc = rig_cli_stage_check(files->plan->driver, &why);
    if (rc == RIG_OK)
        rc = rig_scenario_text(files->part, files->interleaving, &yaml, &why);
    if (rc != RIG_OK) {
        (void)snprintf(files->unplayed, sizeof files->unplayed, "%s", why.text);
        rig_buf_done(&yaml);
        return rc == RIG_E_LIMIT ? rig_fail(err, rc, "%s", why.text) : RIG_OK;
    }
    rc = rig_cli_reproduce_save(files->folder, RIG_RUN_SCENARIO, false, &yaml, err);
    if (rc == RIG_OK)
        rc = rig_scenario_parse("scenario.yaml", rig_buf_text(&yaml), yaml.size, &files->scenario, err);
    rig_buf_done(&yaml);
    return rc == RIG_OK ? save_scripts(files, err) : rc;
}

enum rig_rc rig_cli_reproduce_write(struct rig_cli_reproduce_files *files, struct rig_err *err)
{
    static const struct rig_save_options form = {.form = RIG_FORM_JSON_LINES};
    char path[PATH_BYTES];
    struct rig_buf text;
    rig_buf_init(&text, 0);
    (void)snprintf(path, sizeof path, "%s/" RIG_RUN_PART, files->folder);
    enum rig_rc rc = rig_history_save(files->part->history, path, &form, err);
    rig_report_shrunk_text(files->part, files->interleaving, NULL, &text);
    if (rc == RIG_OK)
        rc = rig_cli_reproduce_save(files->folder, RIG_RUN_WITNESS, false, &text, err);
    rig_buf_clear(&text);
    if (files->plan != NULL)
        rig_plan_write(files->plan, false, &text);
    if (rc == RIG_OK && files->plan != NULL)
        rc = rig_cli_reproduce_save(files->folder, RIG_RUN_PLAN, false, &text, err);
    rig_buf_done(&text);
    if (rc != RIG_OK || files->plan == NULL)
        return rc;
    return files->plan->driver->script != NULL ? save_requests(files, err) : save_scenario(files, err);
}
