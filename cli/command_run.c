/*
 * rig run: drives the load of a plan, records it, checks it, reports.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/output_file.h"
#include "base/run_files.h"
#include "checker/judge/check_source.h"
#include "checker/judge/minimum.h"
#include "cli/arguments.h"
#include "cli/check_progress.h"
#include "cli/check_run.h"
#include "cli/cli.h"
#include "cli/command_run.h"
#include "cli/input_path.h"
#include "cli/interruption.h"
#include "cli/known_bugs.h"
#include "cli/outputs.h"
#include "cli/plan_arguments.h"
#include "cli/provenance.h"
#include "cli/ranked.h"
#include "cli/requests.h"
#include "cli/stop_signals.h"
#include "history/model/builder.h"
#include "jobs/store/store_folder.h"
#include "report/server_log.h"
#include "run/load/run.h"
#include "run/load/run_folder.h"
#include "run/plan/plan_check.h"
#include "run/ranks/rank_seat.h"

static const struct rig_argument arguments_of_run[] = {
    RIG_ARGUMENTS_OF_PLAN,
    {.name = "output",
     .letter = 'o',
     .value = "DIR",
     .help = "keep the run's files in this folder, new or empty, instead of store/<name>/<time>"},
    RIG_ARGUMENT_REPORT,
    RIG_ARGUMENT_NO_PROGRESS,
    RIG_ARGUMENT_PROGRESS,
    RIG_ARGUMENT_QUIET,
    RIG_ARGUMENT_BRIEF,
    RIG_ARGUMENT_VERBOSE,
    RIG_ARGUMENT_RESULT_FORMAT,
    {.name = NULL},
};

static const struct rig_arguments_table table_of_run = {
    .command = "run",
    .positionals = "PLAN.yaml",
    .least_positionals = 1,
    .most_positionals = 1,
    .description =
        "Starts the cluster or uses the one in the plan, runs the load, records what the clients see, checks\n"
        "it and reports. The first SIGINT or SIGTERM ends the load; the record is checked and reported. The\n"
        "second interrupts the clients too.\n",
    .arguments = arguments_of_run,
    .elsewhere = rig_cli_elsewhere_of_plan,
};

/* One run of the command, from the folder to the reports. */
struct job {
    const struct rig_cli_run_request *request;
    const struct rig_plan *plan;
    const struct rig_arguments *arguments;
    bool is_quiet; /* only the result, or nothing */
    char folder[RIG_STORE_PATH_BYTES];
    bool decides; /* the verdict, any level */
    int hold;     /* on the folder's mark; -1 */
    struct rig_run_result result;
    struct rig_report_latency latencies[4];
    struct rig_report_error errors[RIG_RUN_ERROR_ROWS];
    struct rig_report_moment moments[RIG_TIMELINE_MOST];
    struct rig_table_condition conditions[RIG_RUN_CONDITIONS_MOST];
    struct rig_server_crash crashes[RIG_RUN_CRASHES_MOST];
    struct rig_report_run facts;
    struct rig_buf plan_yaml;
    struct rig_cli_provenance provenance;
    struct rig_cli_known_bugs known;
    struct rig_cli_paths records; /* once they were looked for */
    int64_t start_ns;             /* of the run, by the monotonic clock */
    int64_t took_ns;              /* of the clock on the wall, also where the load's time is simulated */
    struct rig_cli_check_progress progress;
    char progress_file[RIG_STORE_PATH_BYTES + 64];
    char failure[RIG_ERR_TEXT_BYTES]; /* why the run failed; empty: it did not */
    bool is_judged;                   /* there was a verdict: its reports are not to be replaced */
};

/* -- the run ------------------------------------------------------------------------------------------------------- */

static void path_in(const struct job *job, const char *name, char path[RIG_STORE_PATH_BYTES + 64])
{
    (void)snprintf(path, RIG_STORE_PATH_BYTES + 64, "%s/%s", job->folder, name);
}

/* The record; with several ranks that of rank 0. */
static void record_of(const struct job *job, char path[RIG_STORE_PATH_BYTES + 64])
{
    path_in(job, job->request->ranks != NULL ? "history.0.rig" : RIG_RUN_RECORD, path);
}

static enum rig_rc prepare_folder(struct job *job, struct rig_err *err)
{
    const char *output = job->request->output;
    enum rig_rc rc = output != NULL ? rig_store_take(output, job->folder, &job->hold, err)
                                    : rig_store_make(job->plan->store, job->plan->name, job->folder, &job->hold, err);
    if (rc != RIG_OK)
        return rc;
    char path[RIG_STORE_PATH_BYTES + 64];
    path_in(job, RIG_RUN_PLAN, path);
    rig_plan_write(job->plan, false, &job->plan_yaml);
    rc = rig_output_save(&job->plan_yaml, path, err);
    if (rc != RIG_OK)
        return rc;
    path_in(job, RIG_RUN_LOG, path);
    return rig_log_open(path, err);
}

static void announce(const struct job *job)
{
    if (job->is_quiet || rig_arguments_has(job->arguments, "brief"))
        return;
    rig_cli_say("%s: seed %" PRIu64 ", folder %s\n", job->plan->name, job->plan->seed, job->folder);
    (void)fflush(stdout);
}

static struct rig_progress_look progress_look(const struct job *job)
{
    struct rig_progress_look look = rig_cli_progress_look(job->arguments);
    look.file = job->progress_file;
    return look;
}

static enum rig_rc drive(struct job *job, struct rig_err *err)
{
    const struct rig_run_options options = {.interrupts = rig_cli_stop_signals_begin(),
                                            .folder = job->folder,
                                            .ranks = job->request->ranks,
                                            .progress = progress_look(job)};
    const int64_t start_ns = rig_clock_now_ns();
    rig_cli_time_limit_begin(start_ns, job->plan->time_limit_ns);
    enum rig_rc rc = rig_run(job->plan, &options, &job->result, err);
    rig_cli_time_limit_end();
    rig_cli_stop_signals_end();
    job->start_ns = start_ns;
    rig_cli_interruption_limit(job->plan->time_limit_ns == 0 ? 0 : start_ns + job->plan->time_limit_ns);
    job->took_ns = rig_clock_now_ns() - start_ns;
    struct rig_err redaction = {0};
    if (rig_cli_redact_logs(job->folder, &redaction) != RIG_OK) {
        rig_log(RIG_LOG_WARN, "run", "the logs of the nodes may contain secrets: %s", redaction.text);
        rig_cli_complain("the logs of the nodes may contain secrets: %s", redaction.text);
    }
    if (rc != RIG_OK)
        rig_log(RIG_LOG_INFO, "run", "the run failed: %s", err->text);
    return rc;
}

static bool has_record(const struct job *job)
{
    char path[RIG_STORE_PATH_BYTES + 64];
    record_of(job, path);
    return job->result.counters.invoked > 0 && access(path, R_OK) == 0;
}

/* Those that there are, of all ranks. */
static const struct rig_cli_paths *records_of(struct job *job)
{
    const char *folder = job->folder;
    struct rig_err err = {0};
    if (job->records.count == 0 && has_record(job) && rig_cli_find_histories(&folder, 1, &job->records, &err) != RIG_OK)
        rig_cli_paths_done(&job->records);
    return &job->records;
}

/* Where to look after a failure. */
static void name_files(const struct job *job)
{
    char path[RIG_STORE_PATH_BYTES + 64];
    record_of(job, path);
    if (has_record(job))
        rig_cli_complain("the record up to the failure is %s", path);
    path_in(job, RIG_RUN_LOG, path);
    rig_cli_complain("the log is %s", path);
}

/* -- the facts for the reports ------------------------------------------------------------------------------------- */

static void add_latency(struct job *job, const char *name, const struct rig_histogram *histogram)
{
    if (rig_histogram_count(histogram) == 0)
        return;
    job->latencies[job->facts.latency_count++] =
        (struct rig_report_latency){.name = name,
                                    .count = rig_histogram_count(histogram),
                                    .mean_ns = (int64_t)rig_histogram_mean(histogram),
                                    .p50_ns = rig_histogram_percentile(histogram, 50),
                                    .p90_ns = rig_histogram_percentile(histogram, 90),
                                    .p99_ns = rig_histogram_percentile(histogram, 99),
                                    .p999_ns = rig_histogram_percentile(histogram, 99.9),
                                    .max_ns = rig_histogram_max(histogram)};
}

/* The name of the isolation level that the driver was told, or the shares of several, when it has such an option. */
static const char *isolation_of(const struct rig_plan *plan)
{
    const struct rig_option *option = plan->driver->options;
    const char *shares = rig_plan_isolation_shares(plan->driver, plan->driver_options);
    if (shares != NULL && shares[0] != '\0')
        return shares;
    for (; option != NULL && option->name != NULL; option++) {
        if (strcmp(option->name, "isolation") != 0 || option->type != RIG_OPTION_CHOICE)
            continue;
        int64_t index;
        memcpy(&index, (const char *)plan->driver_options + option->offset, sizeof index);
        return option->choices[index];
    }
    return NULL;
}

/* Where a person should look first. */
static const char *best_report(const struct job *job)
{
    const uint32_t forms = job->plan->reports;
    return (forms & 1U << RIG_REPORT_HTML) != 0   ? RIG_RUN_HTML
           : (forms & 1U << RIG_REPORT_TEXT) != 0 ? RIG_RUN_TEXT
                                                  : RIG_RUN_RESULTS;
}

static void collect_facts(struct job *job)
{
    const struct rig_run_result *result = &job->result;
    rig_cli_provenance_add(&job->provenance, result);
    job->facts = (struct rig_report_run){
        .provenance = job->provenance.facts,
        .name = job->plan->name,
        .driver = job->plan->driver->name,
        .server = result->server,
        .isolation = isolation_of(job->plan),
        .started_utc = result->started_utc,
        .folder = job->folder,
        .report = best_report(job),
        .plan_yaml = rig_buf_text(&job->plan_yaml),
        .plan_path = job->provenance.plan_path[0] == '\0' ? NULL : job->provenance.plan_path,
        .plan_line = job->provenance.plan_line,
        .seed = job->plan->seed,
        .client_count = (uint32_t)job->plan->clients.count,
        .load_s = (double)result->load_ns / (double)RIG_NS_PER_S,
        .took_s = (double)job->took_ns / (double)RIG_NS_PER_S,
        .final_reads = result->final_reads,
        .planned_faults = job->plan->nemesis.entry_count,
        .unread = result->unread,
        .unread_text = result->unread > 0 ? result->unread_text : NULL,
        .interrupted = result->interrupted,
        .failed = job->failure[0] == '\0' ? NULL : job->failure,
        .stopped_by = result->stopped_by_anomaly ? rig_anomaly_info(result->stopped_by)->name : NULL,
        .latencies = job->latencies,
        .errors = job->errors,
        .error_count = result->errors.count,
        .moments = job->moments,
        .moment_count = result->timeline.count};
    for (uint32_t i = 0; i < result->timeline.count; i++) {
        const struct rig_run_moment *moment = &result->timeline.at[i];
        job->moments[i] =
            (struct rig_report_moment){moment->at_ns, moment->ok, moment->fail, moment->info, moment->p99_ns};
    }
    add_latency(job, "read-only", &result->latency.by_kind[RIG_LATENCY_READ_ONLY]);
    add_latency(job, "writing", &result->latency.by_kind[RIG_LATENCY_WRITING]);
    add_latency(job, "held open", &result->latency.by_kind[RIG_LATENCY_HELD_OPEN]);
    if (job->plan->clients.rate > 0)
        add_latency(job, "from intended start", &result->latency.intended);
    for (uint32_t i = 0; i < result->errors.count; i++) {
        const struct rig_run_error *error = &result->errors.rows[i];
        const char *outcome = error->outcome == RIG_OUTCOME_FAIL ? "fail" : "info";
        job->errors[i] = (struct rig_report_error){outcome, error->code, error->text, error->count};
    }
}

/* -- the verdict --------------------------------------------------------------------------------------------------- */

static void point_to_report(const struct job *job)
{
    if (job->is_quiet || rig_cli_shows_screen(job->arguments))
        return;
    printf("report: %s/%s\n", job->folder, best_report(job));
}

static enum rig_rc report(struct job *job, const struct rig_verdict *verdict, struct rig_err *err)
{
    const struct rig_cli_run_request *request = job->request;
    job->decides = rig_cli_proof_decides(verdict);
    collect_facts(job);
    if (request->judged != NULL)
        request->judged(request->context, verdict, &job->facts);
    struct rig_server_logs *logs = rig_server_logs_read(job->folder, verdict);
    job->facts.logs = logs;
    const struct rig_source_options source = {.load = {.form = RIG_FORM_RIG}};
    const struct rig_cli_paths *paths = records_of(job);
    struct rig_course *course =
        paths->count == 0 ? NULL
                          : rig_cli_course((const char *const *)paths->at, paths->count, &source, verdict, &job->facts);
    const bool wanted = rig_arguments_json(job->arguments) || rig_arguments_edn(job->arguments) ||
                        job->failure[0] == '\0' || verdict->scope.txn_count > 0;
    enum rig_rc rc = RIG_OK;
    /* The result goes out first: a report that cannot be written must not take it away. */
    if (wanted && !request->silent) /* without a transaction the complaint says enough */
        rc = rig_cli_print_result(verdict, &job->facts, course, job->arguments, err);
    const enum rig_rc kept =
        rig_cli_write_reports(verdict, &job->facts, course, job->plan->name, job->folder, job->plan->reports, err);
    rc = rc == RIG_OK ? kept : rc;
    if (rc == RIG_OK && !request->silent)
        rc = rig_cli_write_requested(verdict, &job->facts, course, job->plan->name, job->arguments, err);
    rig_course_free(course);
    job->facts.logs = NULL;
    rig_server_logs_free(logs);
    if (rc == RIG_OK)
        point_to_report(job);
    return rc;
}

static void collect_conditions(struct job *job)
{
    for (uint32_t i = 0; i < job->result.condition_count; i++) {
        const struct rig_run_condition *from = &job->result.conditions[i];
        struct rig_table_condition *into = &job->conditions[i];
        *into = (struct rig_table_condition){.name = from->name,
                                             .text = from->text,
                                             .source = from->source,
                                             .guaranteed_by = from->guaranteed_by,
                                             .problem = from->problem[0] == '\0' ? NULL : from->problem,
                                             .broken = from->broken};
        while (into->row_count < RIG_CONDITION_ROWS && into->row_count < from->broken) {
            into->rows[into->row_count] = from->rows[into->row_count];
            into->row_count++;
        }
    }
}

static void collect_crashes(struct job *job)
{
    for (uint32_t i = 0; i < job->result.crash_count; i++) {
        const struct rig_run_crash *from = &job->result.crashes[i];
        job->crashes[i] = (struct rig_server_crash){.node = from->node,
                                                    .signal = from->signal,
                                                    .exit_status = from->exit_status,
                                                    .at_ns = from->at_ns,
                                                    .log_tail = from->log_tail,
                                                    .fault = from->fault[0] == '\0' ? NULL : from->fault,
                                                    .fails = from->fault[0] == '\0' &&
                                                             job->plan->check.server_crash == RIG_SERVER_CRASH_FAILS};
    }
}

static struct rig_check_options requests_of(const struct job *job)
{
    const struct rig_check_section *section = &job->plan->check;
    return (struct rig_check_options){
        .levels = section->levels,
        .anomalies = section->anomalies,
        .assumptions = section->assumptions,
        .total = section->total,
        .initial = section->initial,
        .lattice = section->lattice,
        .budget_ns = rig_cli_time_limit_share(job->start_ns, job->plan->time_limit_ns, section->budget_ns),
        .max_witnesses = (uint32_t)section->max_witnesses,
        .durability = (enum rig_promise)section->durability};
}

/* The entries were read once already, with the plan. */
static enum rig_rc compare_known(struct job *job, struct rig_verdict *verdict, struct rig_err *err)
{
    const struct rig_cli_paths *paths = records_of(job);
    const struct rig_check_options check = requests_of(job);
    const struct rig_load_options load = {.form = RIG_FORM_RIG};
    const struct rig_report_run run = {
        .driver = job->plan->driver->name, .isolation = isolation_of(job->plan), .server = job->result.server};
    if (paths->count == 0)
        return RIG_OK;
    job->known.names = job->plan->check.known;
    job->known.required = job->plan->check.known_required;
    const struct rig_cli_judged judged = {(const char *const *)paths->at, paths->count, &load, &check, &run};
    return rig_cli_known_bugs_compare(&job->known, &judged, verdict, err);
}

/* Gives the exit status that the verdict means in `status`, also where its reports cannot be written. */
static enum rig_rc conclude(struct job *job, struct rig_verdict *verdict, int *status, struct rig_err *err)
{
    struct rig_effort effort = job->result.effort;
    effort.interrupted = job->result.interrupted;
    effort.planned_faults = job->plan->nemesis.entry_count;
    effort.failure = job->failure[0] == '\0' ? NULL : job->failure;
    if (job->result.errors.count > 0) {
        effort.error_code = job->result.errors.rows[0].code;
        effort.error_text = job->result.errors.rows[0].text;
        effort.error_count = job->result.errors.rows[0].count;
    }
    collect_conditions(job);
    effort.conditions = job->conditions;
    effort.condition_count = job->result.condition_count;
    collect_crashes(job);
    effort.crashes = job->crashes;
    effort.crash_count = job->result.crash_count;
    job->is_judged = true;
    enum rig_rc rc = compare_known(job, verdict, err);
    if (rc == RIG_OK)
        rc = rig_verdict_weigh(verdict, &job->plan->check.minimum, &effort, err);
    if (rc == RIG_OK) {
        *status = rig_cli_verdict_status(verdict);
        rc = report(job, verdict, err);
    }
    rig_log(RIG_LOG_INFO, "run", "checked: %s", verdict->summary == NULL ? "" : verdict->summary);
    return rc;
}

/* From its beginning, in so much memory; 0: in any. `guess_failed`: the check that went along with the run took a key
 * to be done with that was not. */
static enum rig_rc check_within(struct job *job, bool guess_failed, size_t limit_bytes, struct rig_verdict **verdict,
                                struct rig_err *err)
{
    const struct rig_source_options from = {.load = {.form = RIG_FORM_RIG, .limit_bytes = limit_bytes}};
    struct rig_stream_options options = {
        .check = requests_of(job), .guess_failed = guess_failed, .watch = rig_cli_check_progress_watch(&job->progress)};
    options.check.limit_bytes = limit_bytes;
    return rig_cli_check_run(job->folder, rig_run_ranks_team(job->request->ranks), &from, &options, verdict, err);
}

/* `online`: after a check during the run, whose limit holds here, too, unless no check is possible within it. */
static enum rig_rc check_record(struct job *job, bool online, int *status, struct rig_err *err)
{
    struct rig_verdict *verdict = NULL;
    struct rig_err limited = {.rc = RIG_OK};
    enum rig_rc rc = RIG_E_LIMIT;
    if (online)
        rc = check_within(job, online, (size_t)job->plan->check.online_memory_bytes, &verdict, &limited);
    if (online && rc == RIG_E_LIMIT)
        rig_log(RIG_LOG_WARN, "check", "checking without the limit check.online-memory: %s", limited.text);
    if (rc == RIG_E_LIMIT)
        rc = check_within(job, online, 0, &verdict, err);
    else if (rc != RIG_OK)
        *err = limited;
    rig_cli_check_progress_done(&job->progress);
    if (rc == RIG_OK)
        rc = conclude(job, verdict, status, err);
    rig_verdict_free(verdict);
    return rc;
}

/* By the check that went along with the run, if it came through, else of the record from its beginning. */
static enum rig_rc judge(struct job *job, int *status, struct rig_err *err)
{
    struct rig_online *online = job->result.online;
    rig_cli_check_progress_init(&job->progress, progress_look(job));
    struct rig_verdict *verdict =
        online == NULL ? NULL : rig_online_finish(online, rig_cli_check_progress_watch(&job->progress));
    if (verdict != NULL)
        rig_cli_check_progress_done(&job->progress);
    enum rig_rc rc = RIG_OK;
    if (verdict != NULL)
        rc = conclude(job, verdict, status, err);
    rig_online_free(online);
    return verdict != NULL ? rc : check_record(job, online != NULL, status, err);
}

/* Writes the reports of a run without a record: a job must not find none, or those of an earlier run. */
static enum rig_rc report_nothing(struct job *job, struct rig_err *err)
{
    const struct rig_check_options options = requests_of(job);
    struct rig_history_builder *builder = rig_history_builder_new((enum rig_workload)job->plan->workload.type, 0);
    struct rig_history *history = NULL;
    struct rig_verdict *verdict = NULL;
    int status = RIG_EXIT_FAILED;
    enum rig_rc rc =
        builder == NULL ? rig_no_memory(err, "the reports") : rig_history_builder_finish(builder, &history, err);
    if (rc == RIG_OK)
        rc = rig_check(history, &options, &verdict, err);
    if (rc == RIG_OK)
        rc = conclude(job, verdict, &status, err);
    rig_verdict_free(verdict);
    rig_history_free(history);
    return rc;
}

/* The record could not be judged. */
static void report_unjudged(struct job *job, const struct rig_err *why)
{
    struct rig_err err = {0};
    (void)rig_cli_fail(why);
    if (job->failure[0] == '\0')
        (void)snprintf(job->failure, sizeof job->failure, "%.*s", (int)sizeof job->failure - 1, why->text);
    if (!job->is_judged && report_nothing(job, &err) != RIG_OK)
        (void)rig_cli_fail(&err);
}

/* The record up to the failure is checked: an anomaly in it stands, whatever made the run fail. */
static int report_failure(struct job *job, const struct rig_err *why)
{
    struct rig_err err = {0};
    const int failed = rig_cli_fail(why);
    int status = failed;
    (void)snprintf(job->failure, sizeof job->failure, "%s", why->text);
    rig_cli_check_progress_init(&job->progress, progress_look(job));
    enum rig_rc rc = has_record(job) ? check_record(job, false, &status, &err) : report_nothing(job, &err);
    if (rc != RIG_OK)
        report_unjudged(job, &err);
    name_files(job);
    return rig_cli_worst(status, failed);
}

/* The verdict stands without its proof, so that an anomaly keeps its status. */
static int keep_proof(struct job *job, int status)
{
    char path[RIG_STORE_PATH_BYTES + 64];
    const struct rig_check_options options = requests_of(job);
    const struct rig_source_options from = {.load = {.form = RIG_FORM_RIG}};
    struct rig_source *source = NULL;
    struct rig_err err = {0};
    if (!job->plan->check.proof)
        return status;
    path_in(job, RIG_RUN_PROOF, path);
    const struct rig_cli_paths *paths = records_of(job);
    enum rig_rc rc = paths->count > 0
                         ? rig_source_open_ranks((const char *const *)paths->at, paths->count, &from, &source, &err)
                         : rig_fail(&err, RIG_E_IO, "%s: the record is not there", job->folder);
    if (rc == RIG_OK)
        rc = rig_cli_proof_write(source, paths->count == 1 ? paths->at[0] : job->folder, &options, job->decides, path,
                                 &err);
    rig_source_close(source);
    if (rc == RIG_OK)
        return status;
    rig_log(RIG_LOG_INFO, "run", "no proof was written: %s", err.text);
    const int failed = rig_cli_fail(&err);
    return rig_cli_worst(status, failed);
}

static int run_job(struct job *job)
{
    struct rig_err err = {0};
    int status = RIG_EXIT_FAILED;
    enum rig_rc rc = prepare_folder(job, &err);
    if (rc != RIG_OK)
        return rig_cli_fail(&err);
    path_in(job, RIG_RUN_PROGRESS, job->progress_file);
    rig_cli_provenance_init(&job->provenance);
    rig_cli_provenance_find_plan(&job->provenance, job->plan->path);
    announce(job);
    rig_cli_heal_leftovers(job->plan);
    if (job->request->ranks != NULL)
        rc = rig_run_ranks_lead(job->request->ranks, job->plan, job->folder, &err);
    if (rc != RIG_OK)
        return rig_cli_fail(&err);
    rc = drive(job, &err);
    if (rc != RIG_OK)
        return report_failure(job, &err);
    rc = judge(job, &status, &err);
    if (rc == RIG_OK)
        return keep_proof(job, status);
    rig_log(RIG_LOG_INFO, "run", "the record could not be judged: %s", err.text);
    /* A record of rig's own that rig cannot use is not the user's mistake. */
    if (err.rc == RIG_E_INPUT)
        err.rc = RIG_E_BUG;
    report_unjudged(job, &err);
    name_files(job);
    return rig_cli_worst(status, rig_rc_exit_status(err.rc));
}

int rig_cli_run_plan(const struct rig_cli_run_request *request)
{
    static struct job job; /* some 200 KiB */
    const struct rig_arguments *arguments = request->arguments;
    job = (struct job){.request = request,
                       .plan = request->plan,
                       .arguments = arguments,
                       .hold = -1,
                       .is_quiet = request->silent || rig_arguments_has(arguments, "quiet") ||
                                   rig_arguments_json(arguments) || rig_arguments_edn(arguments)};
    rig_buf_init(&job.plan_yaml, 0);
    rig_arena_init(&job.known.arena, 0);
    const int status = run_job(&job);
    if (job.progress_file[0] != '\0')
        (void)unlink(job.progress_file); /* the results take its place */
    rig_log_close();
    if (job.hold >= 0)
        (void)close(job.hold);
    rig_buf_done(&job.plan_yaml);
    rig_cli_known_bugs_done(&job.known);
    rig_cli_paths_done(&job.records);
    return status;
}

static int run_command(int argc, char **argv, struct rig_run_ranks *ranks)
{
    struct rig_arguments arguments;
    int status = rig_arguments_parse(&table_of_run, argc, argv, &arguments);
    if (status != RIG_ARGUMENTS_GO_ON || (status = rig_cli_take_target(&arguments)) != RIG_EXIT_OK)
        return status;
    struct rig_err err = {0};
    if (!rig_cli_reports_are_known(&arguments))
        return RIG_EXIT_USAGE;
    rig_output_guard(arguments.positionals[0]);
    if (rig_cli_check_requested(&arguments, &err) != RIG_OK)
        return rig_cli_fail(&err);
    struct rig_plan *plan = NULL;
    status = rig_cli_load_plan(&arguments, &plan);
    if (status != RIG_EXIT_OK)
        return status;
    const struct rig_cli_run_request request = {
        .plan = plan, .arguments = &arguments, .ranks = ranks, .output = rig_arguments_value(&arguments, "output")};
    status = rig_cli_run_plan(&request);
    rig_plan_free(plan);
    return status;
}

/* The run of a rank above 0. */
static enum rig_rc follow_run(struct rig_run_ranks *ranks, struct rig_err *err)
{
    struct rig_run_folder folder = {.journal = NULL};
    const atomic_int *interrupts = rig_cli_stop_signals_begin();
    enum rig_rc rc = rig_run_folder_make(&folder, false, false, "", err);
    if (rc == RIG_OK) {
        char log[sizeof folder.path + 16];
        (void)snprintf(log, sizeof log, "%s/" RIG_RUN_LOG, folder.path);
        rc = rig_log_open(log, err);
        if (rc == RIG_OK)
            rc = rig_run_ranks_follow(ranks, interrupts, folder.path, err);
        rig_log_close();
        rig_run_folder_remove(&folder);
    }
    rig_cli_stop_signals_end();
    return rc;
}

/* Rank 0 checks, with this rank as a helper, and says what a failure of it means for the run, unless rank 0 is gone. */
static int follow_check(struct rig_run_ranks *ranks, const struct rig_err *failure)
{
    struct rig_err lost = {0};
    int status = RIG_EXIT_FAILED;
    (void)signal(SIGTERM, SIG_IGN); /* mpirun ends the ranks that are left when rank 0 has an anomaly to tell */
    struct rig_team *team = rig_run_ranks_team(ranks);
    rig_cli_check_ranks_help(team);
    if (rig_team_await_status(team, &status, &lost) == RIG_OK)
        return status;
    rig_cli_complain("rank %u: %s", rig_team_rank(team), failure->rc == RIG_OK ? lost.text : failure->text);
    return RIG_EXIT_OK; /* rank 0's process has the status of the run */
}

static int lead(int argc, char **argv, struct rig_team *team)
{
    struct rig_run_ranks *ranks = NULL;
    struct rig_err err = {0};
    if (team == NULL)
        return run_command(argc, argv, NULL);
    if (rig_run_ranks_new(team, &ranks, &err) != RIG_OK)
        return rig_cli_fail(&err);
    const int status = run_command(argc, argv, ranks);
    (void)fflush(NULL);
    rig_run_ranks_free(ranks, status);
    return status;
}

static int follow(struct rig_team *team)
{
    struct rig_run_ranks *ranks = NULL;
    struct rig_err err = {0};
    if (rig_run_ranks_new(team, &ranks, &err) != RIG_OK)
        return rig_cli_fail(&err);
    (void)follow_run(ranks, &err);
    const int status = follow_check(ranks, &err);
    (void)fflush(NULL);
    rig_run_ranks_free(ranks, status);
    return status;
}

int rig_cli_run(int argc, char **argv)
{
    static const struct rig_cli_ranked_work work = {.lead = lead, .follow = follow};
    return rig_rank_seat_is_given() ? rig_cli_ranked(&work, argc, argv) : run_command(argc, argv, NULL);
}
