/*
 * rig matrix MATRIX.yaml: plans or scenarios × servers × levels × faults × seeds, and a table of the results.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/option_parse.h"
#include "base/output_file.h"
#include "base/password.h"
#include "base/printable.h"
#include "cli/arguments.h"
#include "cli/check_progress.h"
#include "cli/cli.h"
#include "cli/command_matrix.h"
#include "cli/matrix_job.h"
#include "cli/matrix_selection.h"
#include "cli/stop_signals.h"
#include "jobs/matrix/matrix_report.h"
#include "jobs/store/store_folder.h"

static const char matrix_store[] = "matrix";
static const char *const rerun_choices[] = {"failed", "news", NULL};

static const struct rig_argument matrix_arguments[] = {
    {.name = "set", .value = "A.B=C", .repeatable = true, .help = "set a key of every plan, after the matrix"},
    {.name = "servers",
     .value = "DIR",
     .help = "folder of servers by version, for database.cluster.local.version; $RIG_SERVERS by default"},
    {.name = "output",
     .letter = 'o',
     .value = "DIR",
     .help =
         "keep the runs in this folder instead of matrix/<name>/<time>; continue there if it has some of this matrix"},
    {.name = "resume", .help = "continue in matrix/<name>/latest: runs that have a result are kept"},
    {.name = "budget", .value = "TIME", .help = "time for all runs, instead of the matrix's budget"},
    {.name = "bisect",
     .help = "run only what finds the first bad one of the matrix's servers: both ends, then the one in the middle"},
    {.name = "from", .value = "SERVER", .help = "with --bisect: one end; the first server when not given"},
    {.name = "to", .value = "SERVER", .help = "with --bisect: the other end; the last server when not given"},
    {.name = "only",
     .value = "NAME",
     .repeatable = true,
     .help = "run only the cells of this database, server, level or fault (by its name in the matrix)"},
    {.name = "rerun",
     .value = "failed|news",
     .choices = rerun_choices,
     .help = "run only the cells that did not hold in matrix/<name>/latest, or those with bad news (rig store news)"},
    {.name = "list", .help = "do not run: list the runs, with the settings of each"},
    RIG_ARGUMENT_QUIET,
    RIG_ARGUMENT_FORMAT,
    {.name = NULL},
};

static const struct rig_arguments_table matrix_table = {
    .command = "matrix",
    .positionals = "MATRIX.yaml",
    .least_positionals = 1,
    .most_positionals = 1,
    .description =
        "Runs the plans or plays the scenarios of a matrix on each server, at each level, with each fault "
        "and seed, one\n"
        "after the other, and writes a table: matrix.html, matrix.txt, matrix.json, junit.xml, github.txt and "
        "summary.md\n"
        "in its folder, and the folder of each run. SIGINT or SIGTERM ends the run under way and the matrix; --resume "
        "continues.\n"
        "Exit status: 1 a promised level is refuted somewhere; else 3 a run failed; else 2 one is undecided "
        "or was not\n"
        "run; 0 every cell holds. With --bisect: 0 each series of servers has its answer; else 2.\n",
    .arguments = matrix_arguments,
};

struct job_state {
    char key[RIG_CLI_MATRIX_KEY_BYTES];
    struct rig_matrix_ending ending;
    struct rig_matrix_cells cells;
};

struct state {
    const struct rig_arguments *args;
    void (*write)(const struct rig_matrix_facts *facts, struct rig_buf *out); /* of another command; NULL */
    struct rig_matrix *matrix;
    struct rig_cli_matrix_runner runner;
    struct job_state *jobs; /* one for each of the matrix */
    struct rig_arena arena; /* texts of cells */
    char folder[RIG_STORE_PATH_BYTES];
    char started_utc[32];
    int lock, mark;     /* descriptors that hold the folder and its mark; -1: none */
    size_t done;        /* jobs that have a result */
    const char *ending; /* why the rest has none; NULL */
    const char *overrides[RIG_ARGUMENTS_MAX + 1];
    struct rig_bisection bisection;
    bool is_bisected;                   /* it has a result */
    struct rig_matrix_skipped *skipped; /* at most one for each job */
    size_t skipped_count;
};

/* ---- the folder ---- */

/* Only a folder that is empty, or has this matrix, is written into. */
static enum rig_rc check_folder(const struct state *s, const char *folder, struct rig_err *err)
{
    char path[RIG_STORE_PATH_BYTES + 32];
    (void)snprintf(path, sizeof path, "%s/matrix.json", folder);
    struct rig_buf text, name;
    struct rig_err ignored = {0};
    rig_buf_init(&text, 256 << 20);
    rig_buf_init(&name, 0);
    enum rig_rc rc = rig_buf_read_file(&text, path, &ignored);
    rig_buf_add_text(&name, "\"name\": ");
    rig_json_quote(&name, s->matrix->name, strlen(s->matrix->name));
    if (rc != RIG_OK)
        rc = rig_fail(err, RIG_E_USAGE, "%s: has no matrix to continue (%s)", folder, ignored.text);
    else if (strstr(rig_buf_text(&text), rig_buf_text(&name)) == NULL)
        rc = rig_fail(err, RIG_E_USAGE, "%s: has another matrix than %s", folder, s->matrix->name);
    rig_buf_done(&text);
    rig_buf_done(&name);
    return rc;
}

static enum rig_rc lock_folder(struct state *s, struct rig_err *err)
{
    char path[RIG_STORE_PATH_BYTES + 32];
    (void)snprintf(path, sizeof path, "%s/lock", s->folder);
    s->lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (s->lock < 0)
        return rig_fail(err, RIG_E_IO, "%s: %s", path, strerror(errno));
    return flock(s->lock, LOCK_EX | LOCK_NB) == 0
               ? RIG_OK
               : rig_fail(err, RIG_E_USAGE, "%s: another rig is running this matrix", s->folder);
}

/* A matrix that is continued holds its mark again; the folders of earlier rigs have none. */
static enum rig_rc hold_again(struct state *s, struct rig_err *err)
{
    const int folder = open(s->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const enum rig_run_mark mark = folder < 0 ? RIG_RUN_MARK_NONE : rig_run_mark_take(folder, &s->mark);
    if (folder >= 0)
        (void)close(folder);
    rig_output_own_run(s->folder);
    return mark == RIG_RUN_MARK_HELD ? rig_fail(err, RIG_E_USAGE, "%s: another rig is running this matrix", s->folder)
                                     : RIG_OK;
}

static enum rig_rc prepare_folder(struct state *s, struct rig_err *err)
{
    const char *output = rig_arguments_value(s->args, "output");
    struct rig_err not_empty = {0};
    enum rig_rc rc;
    if (rig_arguments_has(s->args, "resume")) {
        (void)snprintf(s->folder, sizeof s->folder, "%s/%s/latest", matrix_store, s->matrix->name);
        rc = check_folder(s, s->folder, err);
    } else if (output == NULL) {
        rc = rig_store_make(matrix_store, s->matrix->name, s->folder, &s->mark, err);
    } else {
        rc = rig_store_take(output, s->folder, &s->mark, &not_empty);
        if (rc == RIG_E_USAGE && not_empty.rc == RIG_E_USAGE) {
            (void)snprintf(s->folder, sizeof s->folder, "%s", output);
            rc = check_folder(s, s->folder, err);
        } else if (rc != RIG_OK) {
            *err = not_empty;
        }
    }
    if (rc == RIG_OK && s->mark < 0)
        rc = hold_again(s, err);
    return rc == RIG_OK ? lock_folder(s, err) : rc;
}

/* ---- the reports ---- */

static enum rig_rc save(const struct state *s, const struct rig_matrix_facts *facts, const char *name,
                        void (*write)(const struct rig_matrix_facts *, struct rig_buf *), struct rig_err *err)
{
    char path[RIG_STORE_PATH_BYTES + 32];
    struct rig_buf text;
    rig_buf_init(&text, 0);
    (void)snprintf(path, sizeof path, "%s/%s", s->folder, name);
    write(facts, &text);
    rig_printable_buf(&text);
    const enum rig_rc rc = rig_output_save(&text, path, err);
    rig_buf_done(&text);
    return rc;
}

static void write_whole_junit(const struct rig_matrix_facts *facts, struct rig_buf *out)
{
    rig_matrix_write_junit(facts, NULL, out);
}

static enum rig_rc save_all(const struct state *s, const struct rig_matrix_facts *facts, struct rig_err *err)
{
    enum rig_rc rc = save(s, facts, "matrix.json", rig_matrix_write_json, err);
    if (rc == RIG_OK)
        rc = save(s, facts, "matrix.html", rig_matrix_write_page, err);
    if (rc == RIG_OK)
        rc = save(s, facts, "matrix.txt", rig_matrix_write_text, err);
    if (rc == RIG_OK)
        rc = save(s, facts, "github.txt", rig_matrix_write_annotations, err);
    if (rc == RIG_OK)
        rc = save(s, facts, "summary.md", rig_matrix_write_summary, err);
    return rc == RIG_OK ? save(s, facts, "junit.xml", write_whole_junit, err) : rc;
}

/* Gives the exit status that the cells mean. `print`: the result goes to standard output, too. */
static enum rig_rc report(struct state *s, bool print, int *status, struct rig_err *err)
{
    struct rig_matrix_cells cells = {.at = NULL};
    struct rig_matrix_grid grid;
    struct rig_arena arena;
    bool fits = true;
    rig_arena_init(&arena, 0);
    for (size_t i = 0; i < s->matrix->job_count; i++) {
        if (rig_arguments_has(s->args, "bisect") && s->jobs[i].ending.end == RIG_MATRIX_NOT_STARTED)
            continue; /* it need not run */
        for (size_t j = 0; j < s->jobs[i].cells.count; j++)
            fits = fits && rig_matrix_cells_add(&cells, s->jobs[i].cells.at[j]);
    }
    enum rig_rc rc = fits ? rig_matrix_grid_init(s->matrix, &cells, &arena, &grid, err)
                          : rig_no_memory(err, "the cells of the matrix");
    if (rc == RIG_OK) {
        struct rig_matrix_facts facts = {.matrix = s->matrix,
                                         .cells = &cells,
                                         .grid = &grid,
                                         .folder = s->folder,
                                         .started_utc = s->started_utc,
                                         .ending = s->ending,
                                         .bisection = s->is_bisected ? &s->bisection : NULL,
                                         .skipped = s->skipped,
                                         .skipped_count = s->skipped_count,
                                         .columns = rig_cli_row_columns()};
        struct rig_buf text;
        rig_buf_init(&text, 0);
        *status = s->is_bisected ? rig_bisection_status(&s->bisection) : rig_matrix_grid_status(&grid);
        /* The result goes out first: a page that cannot be written must not take it away. */
        if (print && rig_arguments_json(s->args))
            rig_matrix_write_json(&facts, &text);
        else if (print)
            (s->write != NULL ? s->write : rig_matrix_write_text)(&facts, &text);
        if (rig_arguments_json(s->args))
            rig_cli_print_data(&text);
        else
            rig_cli_print(&text);
        facts.columns = 0; /* in files */
        rc = save_all(s, &facts, err);
        rig_buf_done(&text);
    }
    rig_matrix_cells_done(&cells);
    rig_arena_done(&arena);
    return rc;
}

static bool is_talkative(const struct state *s)
{
    return !rig_arguments_has(s->args, "quiet") && !rig_arguments_json(s->args);
}

/* "[3/36] PostgreSQL 15, read committed: holds (12.1 s)" */
static void announce(const struct state *s, size_t number)
{
    const struct job_state *job = &s->jobs[number];
    uint32_t counts[RIG_MATRIX_STATE_COUNT] = {0};
    struct rig_buf line;
    if (!is_talkative(s))
        return;
    rig_buf_init(&line, 0);
    if (rig_arguments_has(s->args, "bisect"))
        rig_buf_printf(&line, "[%zu] ", s->done);
    else
        rig_buf_printf(&line, "[%zu/%zu] ", s->done, s->matrix->job_count);
    rig_matrix_say_job(&s->matrix->jobs[number], &line);
    for (size_t i = 0; i < job->cells.count; i++)
        counts[job->cells.at[i].state]++;
    if (job->cells.count == 1 && job->cells.at[0].scenario == NULL) {
        rig_buf_printf(&line, ": %s", job->cells.at[0].word);
        if (job->cells.at[0].state >= RIG_MATRIX_UNDECIDED && job->cells.at[0].state != RIG_MATRIX_ANOMALIES)
            rig_buf_printf(&line, ": %s", job->cells.at[0].detail);
    }
    const char *separator = ": ";
    for (int state = 0; state < RIG_MATRIX_STATE_COUNT && s->matrix->jobs[number].database->scenarios.count > 0;
         state++) {
        if (counts[state] > 0)
            rig_buf_printf(&line, "%s%u %s", separator, counts[state],
                           rig_matrix_state_words((enum rig_matrix_state)state));
        separator = counts[state] > 0 ? ", " : separator;
    }
    rig_buf_printf(&line, " (%.1f s)\n", job->ending.seconds);
    rig_cli_print(&line);
    (void)fflush(stdout);
    rig_buf_done(&line);
}

/* The JUnit file of a job, for those that take one file a cell. */
static enum rig_rc save_junit(const struct state *s, size_t number, struct rig_err *err)
{
    char path[RIG_STORE_PATH_BYTES + RIG_MATRIX_ID_BYTES + 32];
    struct rig_buf text;
    const struct rig_matrix_facts facts = {.matrix = s->matrix, .cells = &s->jobs[number].cells};
    rig_buf_init(&text, 0);
    (void)snprintf(path, sizeof path, "%s/cells/%s/junit.xml", s->folder, s->matrix->jobs[number].id);
    rig_matrix_write_junit(&facts, &s->matrix->jobs[number], &text);
    rig_printable_buf(&text);
    const enum rig_rc rc = rig_output_save(&text, path, err);
    rig_buf_done(&text);
    return rc;
}

/* ---- the jobs ---- */

static enum rig_rc read_cells(struct state *s, size_t number, struct rig_err *err)
{
    struct job_state *job = &s->jobs[number];
    job->cells.count = 0;
    return rig_matrix_read_cells(s->folder, &s->matrix->jobs[number], &job->ending, &s->arena, &job->cells, err);
}

/* A job that failed runs again: its reason may be gone. */
static bool is_kept(const struct job_state *job)
{
    for (size_t i = 0; i < job->cells.count; i++) {
        if (job->cells.at[i].state == RIG_MATRIX_FAILED || job->cells.at[i].state == RIG_MATRIX_NOT_RUN)
            return false;
    }
    return true;
}

/* A result is never replaced: one of another setting would be lost, and with it what it found. */
static enum rig_rc refuse_other(const struct state *s, const struct rig_matrix_job *job, const char *key,
                                const char *what, struct rig_err *err)
{
    struct rig_matrix_ending ending = {.end = RIG_MATRIX_NOT_STARTED};
    if ((key != NULL && rig_matrix_read_ending(s->folder, job, key, &ending)) ||
        !rig_matrix_read_ending(s->folder, job, NULL, &ending) || ending.status < RIG_EXIT_OK ||
        ending.status > RIG_EXIT_UNDECIDED)
        return RIG_OK;
    return rig_fail(err, RIG_E_USAGE, "%s: has a result of %s, %s; %s", s->folder, job->id, what,
                    rig_arguments_has(s->args, "resume") ? "leave out --resume, which begins a new folder"
                                                         : "name another folder by -o");
}

/* Refuses a folder with results that the matrix, as it is now, would replace or leave out. */
static enum rig_rc check_results(const struct state *s, struct rig_err *err)
{
    char path[RIG_STORE_PATH_BYTES + 32];
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < s->matrix->job_count && rc == RIG_OK; i++)
        rc = refuse_other(s, &s->matrix->jobs[i], s->jobs[i].key, "made by another rig, plan or setting", err);
    (void)snprintf(path, sizeof path, "%s/cells", s->folder);
    DIR *cells = opendir(path);
    for (const struct dirent *entry; cells != NULL && rc == RIG_OK && (entry = readdir(cells)) != NULL;) {
        const struct rig_matrix_job other = {.id = entry->d_name};
        bool is_known = entry->d_name[0] == '.';
        for (size_t i = 0; i < s->matrix->job_count && !is_known; i++)
            is_known = strcmp(s->matrix->jobs[i].id, entry->d_name) == 0;
        if (!is_known)
            rc = refuse_other(s, &other, NULL, "which the matrix no longer has", err);
    }
    if (cells != NULL)
        (void)closedir(cells);
    return rc;
}

/* The results that an earlier rig left in the folder. */
static enum rig_rc take_finished(struct state *s, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < s->matrix->job_count && rc == RIG_OK; i++) {
        struct job_state *job = &s->jobs[i];
        (void)rig_matrix_read_ending(s->folder, &s->matrix->jobs[i], job->key, &job->ending);
        rc = read_cells(s, i, err);
        if (rc == RIG_OK && !is_kept(job)) {
            job->ending = (struct rig_matrix_ending){.end = RIG_MATRIX_NOT_STARTED};
            rc = read_cells(s, i, err);
        } else {
            s->done++;
        }
    }
    if (rc == RIG_OK && s->done > 0 && is_talkative(s))
        printf("%zu of %zu runs are kept\n", s->done, s->matrix->job_count);
    return rc;
}

/* Why no further job begins; NULL: it may. */
static const char *why_stop(const struct state *s)
{
    if (atomic_load(s->runner.interrupts) > 0)
        return "The matrix was interrupted; --resume continues it.";
    if (s->runner.deadline_ns > 0 && rig_clock_now_ns() >= s->runner.deadline_ns)
        return "The budget was spent before every run had its turn; --resume continues the matrix.";
    return NULL;
}

static enum rig_rc run_job(struct state *s, size_t number, struct rig_err *err)
{
    struct job_state *job = &s->jobs[number];
    enum rig_rc rc = rig_cli_matrix_run(&s->runner, &s->matrix->jobs[number], job->key, &job->ending, err);
    if (rc == RIG_OK)
        rc = read_cells(s, number, err);
    if (rc == RIG_OK)
        rc = save_junit(s, number, err);
    s->done++;
    if (rc == RIG_OK)
        announce(s, number);
    return rc;
}

static enum rig_rc run_all(struct state *s, int *status, struct rig_err *err)
{
    int64_t reported_ns = 0;
    enum rig_rc rc = report(s, false, status, err); /* now the folder is known to be of this matrix */
    for (size_t i = 0; i < s->matrix->job_count && rc == RIG_OK && s->ending == NULL; i++) {
        if (s->jobs[i].ending.end != RIG_MATRIX_NOT_STARTED)
            continue;
        s->ending = why_stop(s);
        if (s->ending != NULL)
            break;
        rc = run_job(s, i, err);
        if (rc == RIG_OK && s->jobs[i].ending.end == RIG_MATRIX_STOPPED)
            s->ending = why_stop(s);
        if (rc == RIG_OK && rig_clock_now_ns() - reported_ns > RIG_NS_PER_S) {
            rc = report(s, false, status, err);
            reported_ns = rig_clock_now_ns();
        }
    }
    const enum rig_rc last = report(s, true, status, err);
    return rc == RIG_OK ? last : rc;
}

/* Runs a job that has no result yet, and gives the worst of its cells. */
static enum rig_rc run_for_bisection(void *context, size_t number, enum rig_matrix_state *state, struct rig_err *err)
{
    struct state *s = context;
    const struct job_state *job = &s->jobs[number];
    enum rig_rc rc = RIG_OK;
    s->ending = why_stop(s);
    if (job->ending.end == RIG_MATRIX_NOT_STARTED && s->ending == NULL)
        rc = run_job(s, number, err);
    *state = job->cells.count == 0 ? RIG_MATRIX_NOT_RUN : RIG_MATRIX_HOLDS;
    for (size_t i = 0; i < job->cells.count; i++)
        *state = job->cells.at[i].state > *state ? job->cells.at[i].state : *state;
    return rc;
}

static enum rig_rc bisect(struct state *s, int *status, struct rig_err *err)
{
    const struct rig_bisection_request request = {.matrix = s->matrix,
                                                  .from = rig_arguments_value(s->args, "from"),
                                                  .to = rig_arguments_value(s->args, "to"),
                                                  .arena = &s->arena,
                                                  .run = run_for_bisection,
                                                  .context = s};
    enum rig_rc rc = report(s, false, status, err); /* now the folder is known to be of this matrix */
    if (rc == RIG_OK)
        rc = rig_bisection_find(&request, &s->bisection, err);
    s->is_bisected = rc == RIG_OK;
    return rc == RIG_OK ? report(s, true, status, err) : rc;
}

static int list_jobs(const struct state *s)
{
    struct rig_err err = {0};
    for (size_t i = 0; i < s->matrix->job_count; i++) {
        const struct rig_matrix_job *job = &s->matrix->jobs[i];
        struct rig_matrix_texts settings;
        if (rig_matrix_job_settings(s->matrix, job, &settings, &err) != RIG_OK)
            return rig_cli_fail(&err);
        printf("%s: %s", job->id, job->plan);
        for (size_t j = 0; j < settings.count; j++) {
            struct rig_buf shown;
            rig_buf_init(&shown, 0);
            rig_password_mask(NULL, settings.at[j], &shown);
            printf(" --set '%s'", rig_buf_text(&shown));
            rig_buf_done(&shown);
        }
        if (job->values[RIG_MATRIX_RUNS]->seed != NULL)
            printf(" --seed %s", job->values[RIG_MATRIX_RUNS]->seed);
        if (job->database->scenarios.count > 0)
            printf(" (%zu scenarios)", job->database->scenarios.count);
        (void)puts("");
    }
    return RIG_EXIT_OK;
}

static enum rig_rc read_budget(struct state *s, struct rig_err *err)
{
    static const struct rig_option option = {
        .name = "budget", .type = RIG_OPTION_DURATION, .least = 1e9, .most = 31.0 * 24 * 3600 * 1e9};
    const char *text = rig_arguments_value(s->args, "budget");
    struct rig_err problem = {0};
    if (text != NULL && rig_option_parse(&option, text, &s->matrix->budget_ns, &problem) != RIG_OK)
        return rig_fail(err, RIG_E_USAGE, "--budget: %s", problem.text);
    return RIG_OK;
}

/* The problem of a level without "--set KEY=VALUE: ", which is no argument of the command line. */
static const char *without_setting(const struct rig_matrix_value *level, const char *problem)
{
    for (size_t i = 0; i < level->settings.count; i++) {
        const char *setting = level->settings.at[i], *found = strstr(problem, setting);
        if (found != NULL && strncmp(found + strlen(setting), ": ", 2) == 0)
            return found + strlen(setting) + 2;
    }
    return problem;
}

/*
 * Skips a job that cannot be planned, if it can without its level: then the level is what the database lacks. Else
 * `problem` is the error.
 */
static enum rig_rc skip_level(struct state *s, const struct rig_matrix_job *job, const struct rig_err *problem,
                              struct rig_err *err)
{
    static const struct rig_matrix_value no_level = {.name = ""};
    const struct rig_matrix_value *level = job->values[RIG_MATRIX_LEVELS];
    struct rig_matrix_job other = *job;
    char key[RIG_CLI_MATRIX_KEY_BYTES];
    struct rig_err ignored = {0};
    other.values[RIG_MATRIX_LEVELS] = &no_level;
    if (problem->rc != RIG_E_PLAN || rig_cli_matrix_key(&s->runner, &other, key, &ignored) != RIG_OK)
        return rig_fail(err, problem->rc, "%s", problem->text);
    const char *reason = without_setting(level, problem->text);
    reason = rig_arena_text(&s->arena, reason, strlen(reason));
    if (reason == NULL)
        return rig_no_memory(err, "the levels that are skipped");
    s->skipped[s->skipped_count++] = (struct rig_matrix_skipped){.level = level, .reason = reason};
    return RIG_OK;
}

/* Every plan is checked before the first run begins. */
static enum rig_rc check_plans(struct state *s, struct rig_err *err)
{
    struct rig_matrix_job *jobs = s->matrix->jobs;
    size_t kept = 0;
    enum rig_rc rc = RIG_OK;
    for (size_t i = 0; i < s->matrix->job_count && rc == RIG_OK; i++) {
        struct rig_err problem = {0};
        if (rig_cli_matrix_key(&s->runner, &jobs[i], s->jobs[kept].key, &problem) == RIG_OK)
            jobs[kept++] = jobs[i];
        else
            rc = s->write != NULL ? skip_level(s, &jobs[i], &problem, err)
                                  : rig_fail(err, problem.rc, "%s", problem.text);
    }
    if (rc == RIG_OK && kept == 0 && s->skipped_count > 0)
        rc = rig_fail(err, RIG_E_PLAN, "%s: %s", s->skipped[0].level->name, s->skipped[0].reason);
    s->matrix->job_count = rc == RIG_OK ? kept : s->matrix->job_count;
    return rc;
}

static enum rig_rc load(struct state *s, struct rig_err *err)
{
    const char *servers = rig_arguments_value(s->args, "servers");
    enum rig_rc rc = rig_matrix_load(s->args->positionals[0], &s->matrix, err);
    if (rc == RIG_OK)
        rc = read_budget(s, err);
    if (rc == RIG_OK)
        rc = rig_cli_matrix_select(s->args, matrix_store, s->matrix, err);
    if (rc == RIG_OK && servers != NULL) {
        char *path = realpath(servers, NULL);
        if (path == NULL)
            rc = rig_fail(err, RIG_E_USAGE, "--servers: %s: %s", servers, strerror(errno));
        else if (setenv("RIG_SERVERS", path, 1) != 0)
            rc = rig_no_memory(err, "--servers");
        free(path);
    }
    if (rc != RIG_OK)
        return rc;
    for (size_t i = 0; (s->overrides[i] = rig_arguments_value_at(s->args, "set", i)) != NULL;)
        i++;
    s->runner.matrix = s->matrix;
    s->runner.folder = s->folder;
    s->runner.overrides = s->overrides;
    s->jobs = calloc(s->matrix->job_count + 1, sizeof *s->jobs);
    s->skipped = rig_arena_array(&s->arena, s->matrix->job_count + 1, sizeof *s->skipped);
    if (s->jobs == NULL || s->skipped == NULL)
        return rig_no_memory(err, "the matrix");
    return check_plans(s, err);
}

static int run_matrix(struct state *s)
{
    struct rig_err err = {0};
    int status = RIG_EXIT_FAILED;
    enum rig_rc rc = load(s, &err);
    if (rc == RIG_OK && rig_arguments_has(s->args, "list"))
        return list_jobs(s);
    if (rc == RIG_OK && s->matrix->job_count == 0) {
        rig_cli_say("%s: no cell has to run again\n", s->matrix->name);
        return RIG_EXIT_OK;
    }
    if (rc == RIG_OK)
        rc = prepare_folder(s, &err);
    if (rc == RIG_OK)
        rc = check_results(s, &err);
    if (rc != RIG_OK)
        return rig_cli_fail(&err);
    rig_clock_utc_text(s->started_utc, sizeof s->started_utc);
    if (is_talkative(s) && s->write == NULL)
        rig_cli_say("%s: %zu runs, folder %s\n", s->matrix->name, s->matrix->job_count, s->folder);
    rc = take_finished(s, &err);
    s->runner.interrupts = rig_cli_stop_signals_begin();
    s->runner.deadline_ns = s->matrix->budget_ns == 0 ? 0 : rig_clock_now_ns() + s->matrix->budget_ns;
    if (rc == RIG_OK)
        rc = rig_cli_matrix_runner_init(&s->runner, &err);
    if (rc == RIG_OK)
        rc = rig_arguments_has(s->args, "bisect") ? bisect(s, &status, &err) : run_all(s, &status, &err);
    rig_cli_matrix_runner_done(&s->runner);
    rig_cli_stop_signals_end();
    if (rc == RIG_OK && is_talkative(s) && s->write == NULL)
        rig_cli_say("page: %s/matrix.html\n", s->folder);
    return rc == RIG_OK ? status : rig_cli_worst(status, rig_cli_fail(&err));
}

int rig_cli_matrix(int argc, char **argv)
{
    return rig_cli_matrix_for(argc, argv, NULL);
}

int rig_cli_matrix_for(int argc, char **argv, void (*write)(const struct rig_matrix_facts *facts, struct rig_buf *out))
{
    struct rig_arguments args;
    int status = rig_arguments_parse(&matrix_table, argc, argv, &args);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    if (rig_arguments_has(&args, "resume") && rig_arguments_has(&args, "output")) {
        rig_cli_complain("--resume and -o: leave out one of them; -o DIR continues by itself");
        return RIG_EXIT_USAGE;
    }
    if (rig_arguments_has(&args, "resume") && rig_arguments_has(&args, "rerun")) {
        rig_cli_complain("--resume and --rerun: leave out one of them; --rerun begins a new folder");
        return RIG_EXIT_USAGE;
    }
    if (!rig_arguments_has(&args, "bisect") && (rig_arguments_has(&args, "from") || rig_arguments_has(&args, "to"))) {
        rig_cli_complain("--from and --to are for --bisect");
        return RIG_EXIT_USAGE;
    }
    struct state *s = calloc(1, sizeof *s);
    if (s == NULL)
        return RIG_EXIT_FAILED;
    s->args = &args;
    s->write = write;
    s->lock = s->mark = -1;
    rig_arena_init(&s->arena, 0);
    status = run_matrix(s);
    for (size_t i = 0; s->jobs != NULL && i < s->matrix->job_count; i++)
        rig_matrix_cells_done(&s->jobs[i].cells);
    free(s->jobs);
    rig_arena_done(&s->arena);
    rig_matrix_free(s->matrix);
    if (s->lock >= 0)
        (void)close(s->lock);
    if (s->mark >= 0)
        (void)close(s->mark);
    free(s);
    return status;
}
