/*
 * rig check HISTORY: a recorded history, from wherever, judged against the levels of isolation.
 */
#include <malloc.h>
#include <string.h>

#include "base/output_file.h"
#include "base/run_files.h"
#include "checker/infer/type_inference.h"
#include "checker/judge/asked.h"
#include "checker/judge/check_source.h"
#include "checker/judge/minimum.h"
#include "checker/model/assumption.h"
#include "cli/arguments.h"
#include "cli/check_progress.h"
#include "cli/check_run.h"
#include "cli/cli.h"
#include "cli/input_path.h"
#include "cli/known_bugs.h"
#include "cli/outputs.h"
#include "cli/ranked.h"
#include "cli/requests.h"
#include "cli/saved_run.h"
#include "history/types/types.h"
#include "report/server_log.h"
#include "run/plan/plan.h"
#include "run/ranks/rank_seat.h"

enum { MOST_THREADS = 64, MAPPED_BYTES = 128 << 10 };

static const struct rig_argument check_arguments[] = {
    RIG_ARGUMENT_WORKLOAD,
    RIG_ARGUMENT_PERMITS,
    RIG_ARGUMENT_REENTRANT,
    RIG_ARGUMENT_LEASE,
    RIG_ARGUMENT_MODEL,
    {.name = "excerpt", .help = "the history is part of a longer one: values without a writer were written outside it"},
    RIG_ARGUMENT_LEVEL,
    RIG_ARGUMENT_ANOMALY,
    RIG_ARGUMENT_ASSUME,
    RIG_ARGUMENT_PREFILLED,
    RIG_ARGUMENT_INITIAL,
    {.name = "negative-balances", .help = "accounts of a bank may have balances below 0"},
    {.name = "total", .value = "N", .help = "total of all accounts of a bank; that of the first read when not given"},
    RIG_ARGUMENT_LATTICE,
    RIG_ARGUMENT_BUDGET,
    RIG_ARGUMENT_DURABILITY,
    RIG_ARGUMENT_MINIMUM,
    RIG_ARGUMENT_REQUIRE,
    RIG_ARGUMENT_KNOWN,
    RIG_ARGUMENT_MAX_WITNESSES,
    RIG_ARGUMENT_MAX_MEMORY,
    {.name = "threads", .value = "N", .help = "number of threads; the number of cores when not given"},
    {.name = "window",
     .value = "N",
     .help = "check a long history of lists in batches of at least N transactions; 98304 when not given"},
    RIG_ARGUMENT_NO_PROGRESS,
    RIG_ARGUMENT_PROGRESS,
    RIG_ARGUMENT_QUIET,
    RIG_ARGUMENT_BRIEF,
    RIG_ARGUMENT_VERBOSE,
    RIG_ARGUMENT_RESULT_FORMAT,
    RIG_ARGUMENT_REPORT,
    {.name = "proof",
     .value = "FILE",
     .help = "write a proof of the verdict to FILE, which rig-verify replays (docs/proof-format.md)"},
    {.name = "output", .letter = 'o', .value = "DIR", .help = "also write all reports and the witnesses into DIR"},
    {.name = NULL},
};

static const struct rig_arguments_table check_table = {
    .command = "check",
    .positionals = "HISTORY...",
    .least_positionals = 1,
    .most_positionals = RIG_CLI_PATHS_MOST,
    .description =
        "Checks a recorded history: history.rig, operations as JSON lines or EDN in the field names of Jepsen, a "
        "folder\n"
        "with logs of Cobra, or a file of dbcop, PolySI, Plume or AWDIT.\n"
        "HISTORY may also be the folder of a run, or `store/NAME` for the latest one; it is judged by the requests "
        "of the run\n"
        "unless options replace them. `-` reads standard input. Without --level the request is strict\n"
        "serializable; the fate of every level is shown in any case.\n"
        "Several records are those of the ranks of one run (history.0.rig history.1.rig ...), which are checked "
        "together.\n"
        "Under mpirun all ranks share the check (docs/mpi.md).\n",
    .arguments = check_arguments,
};

static bool read_assumptions(const struct rig_arguments *args, struct rig_check_options *options)
{
    unsigned *assumptions = &options->assumptions;
    uint64_t total = 0;
    if (!rig_arguments_number(args, "total", 0, INT64_MAX / 2, &total))
        return false;
    options->total = (struct rig_known_total){.known = rig_arguments_has(args, "total"), .value = (int64_t)total};
    if (rig_arguments_has(args, "negative-balances"))
        *assumptions |= RIG_ASSUMES_NEGATIVE_BALANCES;
    return rig_cli_read_assume(args, options);
}

/*
 * Freed memory is to go back to the system: glibc raises the size from which that is so with the first large block
 * that is freed, and lets each thread have memory of its own.
 */
static void mind_memory(size_t limit_bytes)
{
    if (limit_bytes == 0)
        return;
    (void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
    (void)mallopt(M_ARENA_MAX, 1);
}

/* Threads and the least number of transactions in a window. */
static bool read_amounts(const struct rig_arguments *args, struct rig_source_options *source,
                         struct rig_stream_options *options)
{
    uint64_t threads = 0, window = 0;
    if (!rig_arguments_number(args, "threads", 1, MOST_THREADS, &threads) ||
        !rig_arguments_number(args, "window", 1, UINT32_MAX / 2, &window))
        return false;
    source->threads = (unsigned)threads;
    options->on_one_thread = threads == 1;
    options->least_new = (uint32_t)window;
    /* Small windows are for seeing what happens at their borders. */
    options->idle = (uint32_t)(window == 0 || window / 4 > RIG_WINDOWS_IDLE ? 0 : window / 4 + 1);
    return true;
}

/* Options that only a bank has. */
static enum rig_rc check_bank(const struct rig_arguments *args, enum rig_workload workload, struct rig_err *err)
{
    static const char *const names[] = {"negative-balances", "total"};
    const struct rig_type_inference *type = rig_type_inference(workload);
    for (size_t i = 0; i < sizeof names / sizeof names[0] && type != NULL; i++) {
        if (rig_arguments_has(args, names[i]) && (type->anomalies & RIG_ANOMALY_BIT(RIG_ANOMALY_NEGATIVE_BALANCE)) == 0)
            return rig_fail(err, RIG_E_USAGE, "--%s is for bank; this history is %s", names[i],
                            rig_data_types[workload].name);
    }
    return RIG_OK;
}

static const char *name_of(const struct rig_arguments *args)
{
    return args->positional_count > 1               ? "the records"
           : strcmp(args->positionals[0], "-") == 0 ? "standard input"
                                                    : args->positionals[0];
}

/* Gives the source in any case; a proof reads it again. */
static enum rig_rc check(const struct rig_arguments *args, struct rig_source_options *from,
                         struct rig_stream_options *options, struct rig_cli_check_ranks *ranks,
                         struct rig_source **opened, struct rig_verdict **verdict, struct rig_err *err)
{
    struct rig_source *source;
    from->load.limit_bytes = options->check.limit_bytes;
    from->by_blocks = ranks != NULL;
    enum rig_rc rc = rig_source_open_ranks(args->positionals, args->positional_count, from, &source, err);
    if (rc != RIG_OK)
        return rc;
    *opened = source;
    enum rig_workload workload = rig_source_facts(source)->workload;
    const struct rig_type_inference *type = rig_type_inference(workload);
    if (rig_arguments_has(args, "assume") && type != NULL && type->assumptions == 0)
        rc = rig_fail(err, RIG_E_USAGE, "--assume is for rw-register; this history is %s",
                      rig_data_types[workload].name);
    if (rc == RIG_OK && rig_arguments_has(args, "proof") && type != NULL && type->no_proofs)
        rc = rig_fail(err, RIG_E_USAGE, "--proof: rig-verify replays no proofs of the type %s; leave --proof out",
                      rig_data_types[workload].name);
    if (rc == RIG_OK && from->load.excerpt && (RIG_WORKLOADS_OF_NAMED_WRITERS >> (unsigned)workload & 1) == 0)
        rc = rig_fail(err, RIG_E_USAGE,
                      "--excerpt: a history of %s needs all of its operations, so an excerpt shows nothing",
                      rig_data_types[workload].name);
    if (rc == RIG_OK)
        rc = check_bank(args, workload, err);
    if (rc == RIG_OK)
        rc = rig_cli_check_initial(args, workload, err);
    if (rc == RIG_OK)
        rc = rig_asked_require_possible(workload, options->check.anomalies, err);
    if (rc == RIG_OK && rig_arguments_value(args, "proof") != NULL)
        rc = rig_cli_proof_check(options->check.lattice, err);
    const struct rig_source_facts *facts = rig_source_facts(source);
    rig_cli_take_load(facts->meta, facts->has_all_rows, &options->check);
    if (rc == RIG_OK && ranks != NULL)
        rig_cli_check_ranks_open(ranks, args->positionals, args->positional_count, from, options);
    return rc == RIG_OK ? rig_check_source(source, name_of(args), options, verdict, err) : rc;
}

/* The title of reports: the file's name without its folders. */
static const char *title_of(const char *path)
{
    if (strcmp(path, "-") == 0)
        return "standard input";
    const char *slash = strrchr(path, '/');
    return slash == NULL || slash[1] == '\0' ? path : slash + 1;
}

/* The result goes out first: a report that cannot be written must not take it away. */
static enum rig_rc write_all(const struct rig_arguments *args, const struct rig_source_options *source,
                             const char *title, const struct rig_report_run *run, const struct rig_verdict *verdict,
                             struct rig_err *err)
{
    enum rig_rc rc = rig_cli_print_result(verdict, run, NULL, args, err);
    const char *folder = rig_arguments_value(args, "output");
    struct rig_course *course = NULL;
    if (rc == RIG_OK && (folder != NULL || rig_arguments_has(args, "report")))
        course = rig_cli_course(args->positionals, args->positional_count, source, verdict, run);
    if (rc == RIG_OK)
        rc = rig_cli_write_requested(verdict, run, course, title, args, err);
    if (rc == RIG_OK && folder != NULL)
        rc = rig_cli_write_reports(verdict, run, course, title, folder, RIG_CLI_ALL_REPORTS, err);
    rig_course_free(course);
    return rc;
}

/* The reports of a run may be made again in its folder, from its own record. */
static void own_run(const char *path)
{
    char folder[RIG_CLI_PATH_BYTES];
    const char *slash = strrchr(path, '/');
    if (!rig_run_file_is_record(slash == NULL ? path : slash + 1))
        return;
    (void)snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 1 : (int)(slash - path + 1),
                   slash == NULL ? "." : path);
    rig_output_own_run(folder);
}

/* A check can take long: paths that cannot be written are refused before it begins. */
static enum rig_rc check_outputs(const struct rig_arguments *args, struct rig_err *err)
{
    const char *folder = rig_arguments_value(args, "output");
    for (size_t i = 0; i < args->positional_count; i++) {
        rig_cli_guard_history(args->positionals[i]);
        own_run(args->positionals[i]);
    }
    const char *proof = rig_arguments_value(args, "proof");
    enum rig_rc rc = folder == NULL ? RIG_OK : rig_cli_check_folder(folder, err);
    if (rc == RIG_OK && proof != NULL)
        rc = rig_output_check(proof, err);
    return rc == RIG_OK ? rig_cli_check_requested(args, err) : rc;
}

/* One command's history, and how to judge it. */
struct checking {
    const struct rig_arguments *args;
    struct rig_source_options *source;
    struct rig_stream_options *options;
    struct rig_cli_check_ranks *ranks; /* NULL: there is one process */
    const struct rig_minimum *minimum;
    struct rig_cli_known_bugs *known;
    const struct rig_cli_saved_run *saved;
    const char *folder; /* of the run; empty: none */
    const char *title;
};

static int judge(const struct checking *c)
{
    const struct rig_arguments *args = c->args;
    const struct rig_cli_saved_run *saved = c->saved;
    struct rig_err err = {0}, unproved = {0};
    struct rig_verdict *verdict = NULL;
    struct rig_source *opened = NULL;
    const char *proof = rig_arguments_value(args, "proof");
    struct rig_server_logs *logs = NULL;
    struct rig_cli_check_progress progress;
    struct rig_report_run there = saved->run;
    const struct rig_report_run *run = saved->found ? &there : NULL;
    rig_cli_check_progress_init(&progress, rig_cli_progress_look(args));
    c->options->watch = rig_cli_check_progress_watch(&progress);
    enum rig_rc rc = check(args, c->source, c->options, c->ranks, &opened, &verdict, &err);
    rig_cli_check_progress_done(&progress);
    if (rc == RIG_OK && c->ranks != NULL && c->ranks->helpers.why.rc != RIG_OK)
        rig_cli_complain("rank 0 has checked alone: %s", c->ranks->helpers.why.text);
    const struct rig_cli_judged judged = {args->positionals, args->positional_count, &c->source->load,
                                          &c->options->check, run};
    if (rc == RIG_OK)
        rc = rig_cli_known_bugs_compare(c->known, &judged, verdict, &err);
    if (rc == RIG_OK)
        rc = rig_verdict_weigh(verdict, c->minimum, &saved->effort, &err);
    const bool is_judged = rc == RIG_OK;
    if (rc == RIG_OK && c->folder[0] != '\0')
        there.logs = logs = rig_server_logs_read(c->folder, verdict);
    if (rc == RIG_OK)
        rc = write_all(args, c->source, saved->run.name != NULL ? saved->run.name : c->title, run, verdict, &err);
    int status = is_judged ? rig_cli_verdict_status(verdict) : RIG_EXIT_OK;
    if (rc != RIG_OK)
        status = rig_cli_worst(status, rig_cli_fail(&err));
    (void)fflush(stdout); /* the verdict is there while its proof is made */
    if (is_judged && proof != NULL &&
        rig_cli_proof_write(opened, name_of(args), &c->options->check, rig_cli_proof_decides(verdict), proof,
                            &unproved) != RIG_OK)
        status = rig_cli_worst(status, rig_cli_fail(&unproved));
    rig_source_close(opened);
    rig_server_logs_free(logs);
    rig_verdict_free(verdict);
    return status;
}

/* `ranks` NULL: there is one process. */
static int check_command(int argc, char **argv, struct rig_cli_check_ranks *ranks)
{
    struct rig_arguments args;
    const int status = rig_arguments_parse(&check_table, argc, argv, &args);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    struct rig_stream_options options = {0};
    struct rig_minimum minimum = RIG_MINIMUM_OF_HISTORY;
    struct rig_source_options source = {.load = {.form = RIG_FORM_AUTO}};
    struct rig_err err = {0};
    if (!rig_cli_read_requests(&args, &options.check) || !rig_cli_read_decision(&args, &options.check) ||
        !rig_cli_read_minimum(&args, &minimum) || !read_assumptions(&args, &options.check) ||
        !rig_cli_reports_are_known(&args) || !read_amounts(&args, &source, &options))
        return RIG_EXIT_USAGE;
    if (rig_arguments_has(&args, "proof") && rig_arguments_has(&args, "excerpt")) {
        rig_cli_complain("--proof is not for an excerpt: rig-verify replays proofs of whole histories, in which each "
                         "value has a writer; leave --proof or --excerpt out");
        return RIG_EXIT_USAGE;
    }
    if (rig_arguments_has(&args, "proof") && rig_arguments_has(&args, "window")) {
        rig_cli_complain("--proof needs the whole history at once: leave --window out");
        return RIG_EXIT_USAGE;
    }
    rig_cli_read_workload(&args, &source.load);
    if (!rig_cli_read_model(&args, &source.load) || !rig_cli_read_lock_rules(&args, &source.load))
        return RIG_EXIT_USAGE;
    source.load.excerpt = rig_arguments_has(&args, "excerpt");
    mind_memory(options.check.limit_bytes);
    const char *title = title_of(args.positionals[0]);
    struct rig_cli_saved_run saved = {.storage = NULL};
    static struct rig_cli_paths paths;
    char folder[RIG_CLI_PATH_BYTES] = "";
    enum rig_rc rc = rig_cli_find_histories(args.positionals, args.positional_count, &paths, &err);
    if (rc == RIG_OK)
        rc = rig_cli_saved_run_take(args.positionals[0], &args, &options.check, &minimum, &saved, &err);
    rig_cli_read_durability(&args, &options.check);
    if (rc == RIG_OK && saved.found && rig_cli_find_run(args.positionals[0], folder, NULL) != RIG_OK)
        folder[0] = '\0'; /* without the lines of the servers' logs */
    for (size_t i = 0; i < paths.count; i++)
        args.positionals[i] = paths.at[i];
    args.positional_count = paths.count;
    struct rig_cli_known_bugs known;
    const bool is_read = rig_cli_known_bugs_read(&known, &args, saved.run.plan_yaml);
    if (rc == RIG_OK && is_read)
        rc = check_outputs(&args, &err);
    const struct checking checking = {&args, &source, &options, ranks, &minimum, &known, &saved, folder, title};
    const int result = !is_read ? RIG_EXIT_USAGE : rc == RIG_OK ? judge(&checking) : rig_cli_fail(&err);
    rig_cli_known_bugs_done(&known);
    rig_cli_saved_run_done(&saved);
    rig_cli_paths_done(&paths);
    return result;
}

static int lead(int argc, char **argv, struct rig_team *team)
{
    struct rig_cli_check_ranks ranks;
    struct rig_err err = {0};
    if (team == NULL)
        return check_command(argc, argv, NULL);
    if (rig_cli_check_ranks_begin(&ranks, team, &err) != RIG_OK) {
        rig_cli_complain("rank 0 checks alone: %s", err.text);
        rig_team_free(team);
        return check_command(argc, argv, NULL);
    }
    const int status = check_command(argc, argv, &ranks);
    rig_cli_check_ranks_end(&ranks, status);
    return status;
}

int rig_cli_check(int argc, char **argv)
{
    static const struct rig_cli_ranked_work work = {
        .lead = lead, .follow = rig_cli_check_ranks_follow, .alone = "check"};
    uint32_t rank;
    return rig_rank_seat_is_direct(&rank) ? rig_cli_ranked(&work, argc, argv) : check_command(argc, argv, NULL);
}
