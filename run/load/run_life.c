#include "run/load/run.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/run_files.h"
#include "base/password.h"
#include "base/plural.h"
#include "base/printable.h"
#include "base/secret.h"
#include "base/thread.h"
#include "generator/model_calls.h"
#include "generator/programs/program_call.h"
#include "history/types/object_specification.h"
#include "history/types/sent_sql.h"
#include "run/load/run_client.h"
#include "run/load/run_result.h"
#include "run/load/run_state.h"
#include "run/plan/driver_needs.h"

enum { PATH_BYTES = 4096 };

/* -- one phase ----------------------------------------------------------------------------------------------------- */

static enum rig_rc start_threads(struct rig_run_state *run, uint32_t *started, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (*started = 0; *started < run->client_count; ++*started) {
        struct rig_run_client *client = &run->clients[*started];
        int error = rig_thread_start(&client->thread, rig_run_client_main, client);
        if (error != 0) {
            rc = rig_fail(err, RIG_E_LIMIT, "cannot start the thread of client %u: %s", *started, strerror(error));
            break;
        }
    }
    return rc;
}

/* False when a client does not come back. */
static bool join_threads(struct rig_run_state *run, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (;;) {
            struct timespec until;
            (void)clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec++;
            int error = pthread_timedjoin_np(run->clients[i].thread, NULL, &until);
            if (error == 0)
                break;
            RIG_INVARIANT(error == ETIMEDOUT);
            if (atomic_load(&run->ending.abandoned))
                return false;
        }
    }
    return true;
}

static enum rig_rc fail_unconnected(const struct rig_run_state *run, struct rig_err *err)
{
    for (uint32_t i = 0; i < run->client_count; i++) {
        const struct rig_err *first = &run->clients[i].session.first_err;
        if (first->rc != RIG_OK)
            return rig_fail(err, first->rc, "no client could connect: %s", first->text);
    }
    return rig_fail(err, RIG_E_CLUSTER, "no client could connect");
}

static bool any_client_connected(const struct rig_run_state *run)
{
    for (uint32_t i = 0; i < run->client_count; i++) {
        if (run->clients[i].session.is_open)
            return true;
    }
    return false;
}

/*
 * Takes all clients through one phase: sessions, barrier, transactions, until the last one is done. On RIG_E_DRIVER
 * with `abandoned` set there are threads left that must find the run in place.
 */
static enum rig_rc run_phase(struct rig_run_state *run, enum rig_run_phase phase, struct rig_err *err)
{
    atomic_store(&run->phase, (int)phase);
    rig_run_gate_close(&run->gate);
    for (uint32_t i = 0; i < run->client_count; i++)
        run->clients[i].session.failed_in_a_row = 0;
    uint32_t started = 0;
    enum rig_rc rc = start_threads(run, &started, err);
    rig_run_gate_await(&run->gate, started, &run->ending.abandoned);
    if (rc == RIG_OK && phase == RIG_RUN_LOAD && !rig_run_is_ending(run) && !any_client_connected(run))
        rc = fail_unconnected(run, err);
    if (phase == RIG_RUN_LOAD)
        rc = rig_run_part_gather(run, rc, err);
    if (rc != RIG_OK)
        rig_run_raise(run, RIG_STOP_END);
    if (phase == RIG_RUN_LOAD)
        rig_run_load_start(run, rig_clock_now_ns());
    if (phase == RIG_RUN_LOAD && run->faults.nemesis != NULL && rc == RIG_OK)
        rig_nemesis_begin(run->faults.nemesis, atomic_load(&run->load.start_ns));
    rig_run_gate_open(&run->gate);
    if (join_threads(run, started))
        return rc;
    return rig_fail(err, RIG_E_DRIVER, "%s", "a client does not return from the driver although it was interrupted");
}

/* -- load and final reads ------------------------------------------------------------------------------------------ */

static enum rig_rc run_phases(struct rig_run_state *run, struct rig_err *err)
{
    enum rig_rc rc = run_phase(run, RIG_RUN_LOAD, err);
    if (atomic_load(&run->ending.abandoned))
        return rc;
    const enum rig_rc all_ended = rig_run_part_load_ended(run, err);
    rc = rc == RIG_OK ? all_ended : rc;
    const bool by_itself = rc == RIG_OK && rig_run_stopped(run) == RIG_STOP_NONE;
    rig_run_raise(run, rc == RIG_OK ? RIG_STOP_LOAD : RIG_STOP_END);
    rig_run_load_end(run);
    rig_log(RIG_LOG_INFO, "run", "the load has ended");
    const enum rig_rc all_healed = rig_run_nemesis_heal_all(run, err);
    rc = rc == RIG_OK ? all_healed : rc;
    rig_run_load_measure(run, by_itself);
    if (rc != RIG_OK)
        return rc;
    if (run->part.rank > 0 || rig_generator_final_reads(&run->plan->workload) == RIG_FINAL_NONE ||
        rig_run_stopped(run) >= RIG_STOP_END)
        return RIG_OK;
    rc = rig_run_final_init(run, err);
    if (rc != RIG_OK)
        return rc;
    rc = run_phase(run, RIG_RUN_FINAL, err);
    rig_log(RIG_LOG_INFO, "run", RIG_RUN_LOG_READS_ENDED);
    return rc;
}

static enum rig_rc make_clients(struct rig_run_state *run, struct rig_err *err)
{
    size_t bytes = run->client_count * sizeof *run->clients;
    run->clients = aligned_alloc(alignof(struct rig_run_client), bytes);
    if (run->clients == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "%u client%s", run->client_count,
                        rig_plural(run->client_count));
    memset(run->clients, 0, bytes);
    enum rig_rc rc = rig_run_closing_init(run, err);
    for (uint32_t i = 0; i < run->client_count && rc == RIG_OK; i++)
        rc = rig_run_client_init(&run->clients[i], run, run->part.first_client + i, err);
    return rc == RIG_OK ? rig_run_load_init(run, err) : rc;
}

static void free_clients(struct rig_run_state *run)
{
    for (uint32_t i = 0; i < run->client_count && run->clients != NULL; i++)
        rig_run_client_done(&run->clients[i]);
    rig_run_load_done(run);
    rig_run_closing_done(run);
    rig_run_final_done(run);
    free(run->clients);
    run->clients = NULL;
}

static enum rig_rc record_path(const struct rig_run_state *run, char path[PATH_BYTES], struct rig_err *err)
{
    char name[32];
    rig_run_part_record(run, name, sizeof name);
    int length = snprintf(path, PATH_BYTES, "%s/%s", run->options->folder, name);
    if (length < 0 || (size_t)length >= PATH_BYTES)
        return rig_fail(err, RIG_E_IO, "%s: the path is too long", run->options->folder);
    return RIG_OK;
}

/* The side columns that transactions of this plan may have. */
static uint32_t columns_of(const struct rig_plan *plan)
{
    const uint32_t of_holds = RIG_COLUMN_BIT(RIG_COLUMN_HELD) | RIG_COLUMN_BIT(RIG_COLUMN_HELD_BEFORE);
    uint32_t columns = plan->driver->columns;
    for (uint32_t i = 0; i < rig_plan_phases(plan); i++)
        columns |= rig_plan_workload(plan, i)->long_share > 0 ? of_holds : 0;
    columns |= plan->certificate == RIG_CERTIFICATE_FULL ? RIG_COLUMN_BIT(RIG_COLUMN_VIEW) : 0;
    return columns | (rig_run_rolls_back(plan) ? RIG_COLUMN_BIT(RIG_COLUMN_SAVEPOINT) : 0);
}

static void add_form(void *context, enum rig_sql_form form, const char *text)
{
    rig_sent_sql_add_form(form, text, context);
}

/* The SQL that clients send, where the driver tells it. */
static enum rig_rc add_statements(const struct rig_run_state *run, struct rig_buf *meta, struct rig_err *err)
{
    const struct rig_driver *driver = run->plan->driver;
    struct rig_buf forms;
    rig_buf_init(&forms, 0);
    struct rig_statement_texts texts = {.tell = add_form, .context = &forms};
    const enum rig_rc rc = driver->statements == NULL ? RIG_OK : driver->statements(&run->env, &texts, err);
    if (rc == RIG_OK && texts.table_count > 0) {
        rig_sent_sql_add_head(texts.table_count, run->env.client_count, texts.locks_some, meta);
        rig_buf_add(meta, rig_buf_text(&forms), forms.size);
    }
    rig_buf_done(&forms);
    return rc;
}

static enum rig_rc open_recorder(struct rig_run_state *run, const char *path, struct rig_err *err)
{
    struct rig_buf yaml;
    rig_buf_init(&yaml, 0);
    rig_run_part_plan(run, &yaml);
    if (run->programs.program != NULL)
        rig_row_key_names(run->programs.program, &yaml);
    if (run->plan->workload.specification != NULL)
        rig_specification_write(run->plan->workload.specification, &yaml);
    enum rig_rc rc = add_statements(run, &yaml, err);
    struct rig_recorder_options options = {.path = path,
                                           .workload = (enum rig_workload)run->plan->workload.type,
                                           .channel_count = run->client_count,
                                           .origin_ns = run->part.origin_ns,
                                           .rank = rig_run_part_place(run),
                                           .simulated_time = run->simulated,
                                           .faults = run->part.rank == 0 &&
                                                     (run->plan->nemesis.entry_count > 0 || run->plan->phase_count > 0),
                                           .certificate = run->plan->certificate != RIG_CERTIFICATE_NONE,
                                           .columns = columns_of(run->plan),
                                           .names = &run->services.names,
                                           .pack = run->plan->compress == RIG_RECORD_COMPRESS_ZSTD,
                                           .meta = rig_buf_text(&yaml)};
    if (rc == RIG_OK)
        rc = rig_recorder_open(&options, &run->recorder, err);
    rig_buf_done(&yaml);
    return rc;
}

static enum rig_rc start_online(struct rig_run_state *run, const char *path, struct rig_err *err)
{
    const struct rig_online_options options = {.path = path,
                                               .workload = (enum rig_workload)run->plan->workload.type,
                                               .check = &run->plan->check,
                                               .partial = run->part.ranks != NULL};
    return run->plan->check.online ? rig_online_start(&options, &run->online, err) : RIG_OK;
}

/* The record is closed: of a run that went well the check belongs to the caller, unless the run has other records. */
static void hand_over_online(struct rig_run_state *run, struct rig_run_result *result, enum rig_rc rc)
{
    if (run->online != NULL && rc == RIG_OK && run->part.ranks == NULL) {
        rig_online_settle(run->online);
        result->online = run->online;
    } else {
        rig_online_free(run->online);
    }
    run->online = NULL;
}

/* The record's part of the life: from its opening to its closing, on every way out but that of abandoned clients. */
static enum rig_rc record_run(struct rig_run_state *run, struct rig_run_result *result, struct rig_err *err)
{
    char path[PATH_BYTES];
    enum rig_rc rc = record_path(run, path, err);
    if (rc == RIG_OK)
        rc = open_recorder(run, path, err);
    if (rc != RIG_OK)
        return rc;
    rc = start_online(run, path, err);
    if (rc == RIG_OK)
        rig_run_part_begin(run);
    if (rc == RIG_OK)
        rc = make_clients(run, err);
    if (rc == RIG_OK)
        rc = rig_run_nemesis_start(run, err);
    struct rig_run_monitor *monitor = NULL;
    if (rc == RIG_OK)
        rc = rig_run_monitor_start(run, &monitor, err);
    if (rc == RIG_OK)
        rc = run_phases(run, err);
    if (rc == RIG_OK && rig_run_stopped(run) < RIG_STOP_END && run->part.rank == 0)
        rig_run_conditions_check(run, result);
    rig_run_monitor_stop(monitor);
    rig_run_outages_flush(&run->outages);
    if (rc == RIG_OK && run->ending.failure.rc != RIG_OK)
        rc = rig_fail(err, run->ending.failure.rc, "%s", run->ending.failure.text);
    if (run->clients != NULL)
        rig_run_result_collect(run, result);
    if (atomic_load(&run->ending.abandoned)) {
        hand_over_online(run, result, RIG_E_DRIVER);
        return rc;
    }
    rig_run_certificate_take(run, rc != RIG_OK || rig_run_stopped(run) >= RIG_STOP_END);
    rig_run_part_close_record(run);
    enum rig_rc closed = rig_recorder_close(run->recorder, err);
    run->recorder = NULL;
    rig_run_certificate_done(run);
    if (run->clients != NULL)
        rig_run_result_check(run, result);
    const enum rig_rc others = rig_run_part_finish(run, result, rc == RIG_OK ? err : NULL);
    rc = rc == RIG_OK ? others : rc;
    free_clients(run);
    rc = rc == RIG_OK ? closed : rc;
    hand_over_online(run, result, rc);
    return rc;
}

/* -- the driver's life --------------------------------------------------------------------------------------------- */

static enum rig_rc check_stopped(const struct rig_run_state *run, struct rig_err *err)
{
    if (rig_run_interrupts(run) == 0)
        return RIG_OK;
    return rig_fail(err, RIG_E_INTERRUPTED, "stopped by a signal before the load began");
}

static void take_setting(void *context, const char *name, const char *value)
{
    struct rig_run_result *result = context;
    if (result->setting_count == RIG_RUN_SETTINGS_MOST)
        return;
    struct rig_run_setting *setting = &result->settings[result->setting_count++];
    struct rig_buf safe;
    rig_buf_init(&safe, 0);
    rig_password_mask(NULL, value, &safe);
    if (safe.data != NULL)
        rig_secret_redact(safe.data, safe.size + 1);
    (void)snprintf(setting->name, sizeof setting->name, "%s", name);
    (void)snprintf(setting->value, sizeof setting->value, "%s",
                   rig_password_is_key(name) ? RIG_SECRET_MASK : rig_buf_text(&safe));
    rig_printable_line(setting->name);
    rig_printable_line(setting->value);
    rig_buf_done(&safe);
}

static enum rig_rc set_up_and_record(struct rig_run_state *run, struct rig_run_result *result, struct rig_err *err)
{
    const struct rig_driver *driver = run->driver;
    enum rig_rc rc = driver->setup == NULL ? RIG_OK : driver->setup(run->driver_run, err);
    if (rc == RIG_OK && run->part.rank == 0)
        rc = rig_run_programs_load(run, err);
    if (rc == RIG_OK)
        rc = check_stopped(run, err);
    if (rc == RIG_OK) {
        if (driver->describe != NULL)
            driver->describe(run->driver_run, result->server, sizeof result->server);
        rig_secret_redact(result->server, sizeof result->server);
        rig_printable_line(result->server);
        if (driver->settings != NULL)
            driver->settings(run->driver_run, take_setting, result);
        rig_log(RIG_LOG_INFO, "run", "%u client%s against %s (%s), seed %llu", run->part.all_clients,
                rig_plural(run->part.all_clients), driver->name, result->server, (unsigned long long)run->plan->seed);
        const struct rig_run_task *task = run->options->task;
        rc = task == NULL ? record_run(run, result, err)
                          : task->run(task->context, driver, run->driver_run, &run->faults.setup.shims, err);
    }
    if (driver->teardown != NULL && !atomic_load(&run->ending.abandoned))
        driver->teardown(run->driver_run);
    return rc;
}

static enum rig_rc run_cluster(struct rig_run_state *run, struct rig_run_result *result, struct rig_err *err)
{
    const struct rig_cluster_ops *cluster = run->driver->cluster;
    if (cluster == NULL || !cluster->wanted(run->env.options)) {
        const enum rig_rc recorded = set_up_and_record(run, result, err);
        rig_run_nemesis_end(run);
        return recorded;
    }
    rig_run_services_note_cluster(run);
    rig_log(RIG_LOG_INFO, "run", "starting the cluster");
    const struct rig_run_task *task = run->options->task;
    enum rig_rc rc = rig_fault_setup_fit(&run->faults.setup, &run->plan->nemesis, task == NULL ? 0 : task->needs,
                                         cluster, run->driver_run, run->folder.path, err);
    if (rc == RIG_OK)
        rc = cluster->start(run->driver_run, err);
    if (rc == RIG_OK)
        rc = rig_fault_setup_check(&run->faults.setup, cluster, run->driver_run, err);
    if (rc == RIG_OK)
        rc = check_stopped(run, err);
    if (rc == RIG_OK)
        rc = set_up_and_record(run, result, err);
    cluster->stop(run->driver_run);
    rig_log(RIG_LOG_INFO, "run", "the cluster is down");
    rig_run_nemesis_end(run);
    rig_run_services_forget_cluster(run);
    return rc;
}

static enum rig_rc run_driver(struct rig_run_state *run, struct rig_run_result *result, struct rig_err *err)
{
    const struct rig_driver *driver = run->driver;
    run->driver_run = calloc(1, driver->run_size == 0 ? 1 : driver->run_size);
    if (run->driver_run == NULL)
        return rig_no_memory(err, "the driver");
    enum rig_rc rc = rig_fault_setup_init(&run->faults.setup, &run->plan->nemesis, run->plan->seed, err);
    if (rc == RIG_OK) {
        rc = driver->init(run->driver_run, &run->env, err);
        if (rc == RIG_OK)
            rc = run_cluster(run, result, err);
        if (atomic_load(&run->ending.abandoned))
            return rc;
        driver->done(run->driver_run);
    }
    rig_fault_setup_done(&run->faults.setup);
    free(run->driver_run);
    return rc;
}

enum rig_rc rig_run_check(const struct rig_plan *plan, struct rig_err *err)
{
    const struct rig_driver *driver = plan->driver;
    if ((driver->workloads & RIG_WORKLOAD_BIT(plan->workload.type)) == 0)
        return rig_fail(err, RIG_E_PLAN, "the driver %s cannot run this workload", driver->name);
    for (uint32_t i = 0; i < rig_plan_phases(plan); i++) {
        char problem[RIG_ERR_TEXT_BYTES];
        if (rig_driver_needs_unmet(rig_plan_workload(plan, i), driver, problem, sizeof problem))
            return rig_fail(err, RIG_E_PLAN, "workload: %s", problem);
    }
    return rig_run_nemesis_check(plan, err);
}

/* Some databases answer for one key at a time only. */
static uint32_t keys_a_read(const struct rig_plan *plan)
{
    const struct rig_driver *driver = plan->driver;
    const enum rig_workload workload = (enum rig_workload)plan->workload.type;
    const int64_t most = driver->most_keys == NULL ? 0 : driver->most_keys(plan->driver_options, workload);
    uint32_t wanted = rig_generator_keys_a_read(rig_plan_workload(plan, 0));
    for (uint32_t i = 1; i < rig_plan_phases(plan); i++) {
        const uint32_t own = rig_generator_keys_a_read(rig_plan_workload(plan, i));
        wanted = own < wanted ? own : wanted; /* lists are long */
    }
    return most > 0 && most < wanted ? (uint32_t)most : wanted;
}

/* The clauses that reads of the workload sql may have. */
static uint32_t run_clauses(const struct rig_plan *plan)
{
    uint32_t clauses = 0;
    for (uint32_t i = 0; i < rig_plan_phases(plan); i++)
        clauses |= rig_generator_clauses(rig_plan_workload(plan, i));
    return clauses;
}

static enum rig_rc init_state(struct rig_run_state *run, const struct rig_plan *plan,
                              const struct rig_run_options *options, struct rig_err *err)
{
    *run = (struct rig_run_state){.plan = plan,
                                  .options = options,
                                  .driver = plan->driver,
                                  .client_count = (uint32_t)plan->clients.count,
                                  .final.keys_a_read = keys_a_read(plan),
                                  .simulated = plan->driver->now_ns != NULL};
    atomic_store(&run->ending.stopped_by, (int)RIG_ANOMALY_COUNT);
    rig_run_part_init(run);
    RIG_INVARIANT(pthread_mutex_init(&run->faults.lock, NULL) == 0);
    rig_run_gate_init(&run->gate);
    rig_run_outages_init(&run->outages);
    rig_run_crashes_init(&run->crashes);
    for (uint32_t i = 0; i < rig_plan_phases(plan); i++) {
        run->phases[i] = rig_plan_workload(plan, i);
        run->phase_clients[i] = (uint32_t)rig_plan_clients(plan, i)->count;
    }
    rig_generated_questions_init(&run->generated, run->phases, run->phase_clients, rig_plan_phases(plan), plan->seed);
    run->questions = options->questions != NULL ? options->questions : &run->generated.questions;
    enum rig_rc rc = rig_run_services_init(run, err);
    run->env =
        (struct rig_run_env){.core = run->services.core,
                             .options = plan->driver_options,
                             .workload = (enum rig_workload)plan->workload.type,
                             .client_count = run->part.all_clients,
                             .seed = plan->seed,
                             .work_dir = run->folder.path,
                             .log_dir = options->folder,
                             .run_name = run->name,
                             .certificate = plan->versions_source.count > 0 ? RIG_CERTIFICATE_NONE : plan->certificate,
                             .accounts = rig_generator_accounts(&plan->workload),
                             .prefilled_keys = plan->prefilled_keys,
                             .rolls_back = rig_run_rolls_back(plan),
                             .clauses = run_clauses(plan)};
    if (plan->workload.specification != NULL) {
        run->calls = rig_model_calls_of(plan->workload.specification);
        run->env.calls = &run->calls;
    }
    if (options->task != NULL) { /* in place of the load, on tables of its own */
        run->env.rows = options->task->rows;
        run->env.texts = options->task->texts;
        run->env.accounts = (struct rig_accounts){0};
        run->env.prefilled_keys = 0;
    } else if (rc == RIG_OK) {
        rc = rig_run_programs_init(run, err);
    }
    return rc;
}

/* A run that issued nothing has failed, and where a signal came before, the signal is why. */
static enum rig_rc explain_nothing(const struct rig_run_state *run, const struct rig_run_result *result, enum rig_rc rc,
                                   struct rig_err *err)
{
    if (result->counters.invoked > 0 || run->options->task != NULL)
        return rc;
    if (rig_run_interrupts(run) == 0)
        return rc == RIG_OK ? rig_fail(err, RIG_E_CLUSTER, "no transaction was issued") : rc;
    struct rig_err why = {0};
    if (err != NULL) {
        why = *err;
        *err = (struct rig_err){0};
    }
    if (why.rc == RIG_OK || why.rc == RIG_E_INTERRUPTED)
        return rig_fail(err, RIG_E_INTERRUPTED, "stopped by a signal before the load began");
    return rig_fail(err, RIG_E_INTERRUPTED, "stopped by a signal before the load began: %.900s", why.text);
}

enum rig_rc rig_run(const struct rig_plan *plan, const struct rig_run_options *options, struct rig_run_result *result,
                    struct rig_err *err)
{
    RIG_REQUIRE(plan->clients.count >= 1 && plan->clients.count <= UINT16_MAX);
    RIG_REQUIRE(plan->phase_count <= RIG_PLAN_PHASES_MOST);
    memset(result, 0, sizeof *result);
    rig_clock_utc_text(result->started_utc, sizeof result->started_utc);
    enum rig_rc rc = rig_run_check(plan, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_run_state *run = calloc(1, sizeof *run);
    if (run == NULL)
        return rig_no_memory(err, "the run");
    rc = init_state(run, plan, options, err);
    if (rc == RIG_OK)
        rc = rig_run_part_name(run, err);
    if (rc == RIG_OK)
        rc = rig_run_part_folder(run, err);
    if (rc == RIG_OK)
        rc = run_driver(run, result, err);
    if (run->part.rank == 0)
        rig_run_folder_remove(&run->folder);
    result->crash_count = rig_run_crashes_take(&run->crashes, atomic_load(&run->load.start_ns), result->crashes);
    result->interrupted = atomic_load(&run->ending.interrupted);
    result->stopped_by_anomaly = atomic_load(&run->ending.stopped_by) != RIG_ANOMALY_COUNT;
    result->stopped_by = (enum rig_anomaly)atomic_load(&run->ending.stopped_by);
    rc = explain_nothing(run, result, rc, err);
    if (rc != RIG_OK) {
        rig_online_free(result->online);
        result->online = NULL;
    }
    if (err != NULL) {
        rig_secret_redact(err->text, sizeof err->text);
        rig_printable_lines(err->text);
    }
    if (atomic_load(&run->ending.abandoned))
        return rc; /* the client that did not come back still uses the run */
    rig_run_programs_done(run);
    rig_run_services_done(run);
    rig_run_outages_done(&run->outages);
    rig_run_crashes_done(&run->crashes);
    rig_run_gate_done(&run->gate);
    rig_run_part_done(run);
    (void)pthread_mutex_destroy(&run->faults.lock);
    free(run);
    return rc;
}
