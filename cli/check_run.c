#include "cli/check_run.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "checker/judge/asked.h"
#include "cli/cli.h"
#include "cli/input_path.h"

/* The first task of a helper: what is to be checked, and how; then the records, each with its path. */
struct opening {
    struct rig_source_options from;
    struct rig_stream_options options; /* its pointers are NULL */
    uint64_t record_count;
};

struct record {
    uint64_t size, mark;
    uint64_t path_bytes; /* with a NUL */
};

/* The first and the last bytes of a file, as a number: ranks on different machines must not read different files. */
static bool mark_file(const char *path, uint64_t *size, uint64_t *mark)
{
    enum { MARKED_BYTES = 1 << 16 };
    static unsigned char bytes[MARKED_BYTES];
    struct stat is;
    *mark = UINT64_C(14695981039346656037);
    FILE *file = stat(path, &is) == 0 && S_ISREG(is.st_mode) ? fopen(path, "rbe") : NULL; /* a pipe may never open */
    if (file == NULL)
        return false;
    bool good = fseeko(file, 0, SEEK_END) == 0;
    *size = good ? (uint64_t)ftello(file) : 0;
    const off_t places[] = {0, *size > MARKED_BYTES ? (off_t)(*size - MARKED_BYTES) : 0};
    for (size_t i = 0; good && i < sizeof places / sizeof places[0]; i++) {
        good = fseeko(file, places[i], SEEK_SET) == 0;
        const size_t count = good ? fread(bytes, 1, sizeof bytes, file) : 0;
        for (size_t at = 0; at < count; at++)
            *mark = (*mark ^ bytes[at]) * UINT64_C(1099511628211);
    }
    (void)fclose(file);
    return good;
}

/* ---- rank 0 ---- */

static void hear(void *context, uint32_t rank, enum rig_team_kind kind, const struct rig_buf *body)
{
    (void)context, (void)rank, (void)kind, (void)body; /* a check has no messages at any time */
}

static bool tell(void *context, uint32_t helper, const struct rig_buf *task, struct rig_err *why)
{
    if (rig_team_tell(context, helper + 1, RIG_TEAM_TASK, task->data, task->size))
        return true;
    (void)rig_team_await(context, helper + 1, RIG_TEAM_ANSWER, NULL, why); /* it is lost: there is none */
    return false;
}

static bool await(void *context, uint32_t helper, struct rig_buf *answer, struct rig_err *why)
{
    rig_buf_clear(answer);
    return rig_team_await(context, helper + 1, RIG_TEAM_ANSWER, answer, why) == RIG_OK;
}

/* Rank 0 of a team that is connected, whose other ranks help. */
static void cli_check_ranks_init(struct rig_cli_check_ranks *ranks, struct rig_team *team)
{
    *ranks = (struct rig_cli_check_ranks){.team = team, .helpers = {.context = team, .tell = tell, .await = await}};
}

enum rig_rc rig_cli_check_ranks_begin(struct rig_cli_check_ranks *ranks, struct rig_team *team, struct rig_err *err)
{
    const struct rig_team_listener listener = {.heard = hear};
    cli_check_ranks_init(ranks, team);
    return rig_team_begin(team, &listener, err);
}

/* Each rank answers with nothing, or why it cannot open the records. */
static bool hear_openings(struct rig_cli_check_ranks *ranks)
{
    struct rig_err *why = &ranks->helpers.why;
    struct rig_buf answer;
    rig_buf_init(&answer, 0);
    for (uint32_t rank = 1; rank < rig_team_ranks(ranks->team); rank++) {
        struct rig_err lost = {0};
        const bool heard = await(ranks->team, rank - 1, &answer, &lost);
        if (why->rc == RIG_OK && (!heard || answer.size > 0))
            (void)rig_fail(why, RIG_E_CLUSTER, "%s", heard ? rig_buf_text(&answer) : lost.text);
    }
    rig_buf_done(&answer);
    return why->rc == RIG_OK;
}

static bool add_record(struct rig_buf *task, const char *path)
{
    char whole[PATH_MAX];
    struct record record = {.size = 0};
    if (realpath(path, whole) == NULL || !mark_file(whole, &record.size, &record.mark))
        return false;
    record.path_bytes = strlen(whole) + 1;
    rig_buf_add(task, &record, sizeof record);
    rig_buf_add(task, whole, record.path_bytes);
    return true;
}

void rig_cli_check_ranks_open(struct rig_cli_check_ranks *ranks, const char *const *paths, size_t path_count,
                              const struct rig_source_options *from, struct rig_stream_options *options)
{
    struct opening opening = {.from = *from, .options = *options, .record_count = path_count};
    struct rig_err *why = &ranks->helpers.why;
    struct rig_buf task;
    bool are_files = true;
    opening.options.watch = NULL; /* the only pointer that a command sets before */
    rig_buf_init(&task, RIG_SHARED_BYTES_MOST);
    rig_buf_add(&task, &opening, sizeof opening);
    for (size_t i = 0; i < path_count && are_files; i++)
        are_files = add_record(&task, paths[i]);
    if (!are_files || task.failed) {
        (void)rig_fail(why, RIG_E_INPUT, "only files are checked in parts");
    } else {
        for (uint32_t rank = 1; rank < rig_team_ranks(ranks->team); rank++)
            (void)rig_team_tell(ranks->team, rank, RIG_TEAM_TASK, task.data, task.size);
        ranks->helpers.count = hear_openings(ranks) ? rig_team_ranks(ranks->team) - 1 : 0;
    }
    options->helpers = &ranks->helpers;
    rig_buf_done(&task);
}

void rig_cli_check_ranks_end(struct rig_cli_check_ranks *ranks, int status)
{
    (void)fflush(NULL);
    rig_team_dismiss(ranks->team, status);
    rig_team_free(ranks->team);
}

/* ---- the others ---- */

/* The path of the record at *at, which must be the same file here. Moves *at after it. */
static enum rig_rc look_at_record(const struct rig_buf *task, size_t *at, const char **path, struct rig_err *err)
{
    struct record record;
    uint64_t size = 0, mark = 0;
    if (task->size - *at < sizeof record)
        return rig_fail(err, RIG_E_BUG, "another process began with an incomplete list of records");
    memcpy(&record, task->data + *at, sizeof record);
    *at += sizeof record;
    if (record.path_bytes == 0 || task->size - *at < record.path_bytes ||
        task->data[*at + record.path_bytes - 1] != '\0')
        return rig_fail(err, RIG_E_BUG, "another process began with a record without a path");
    *path = task->data + *at;
    *at += record.path_bytes;
    if (!mark_file(*path, &size, &mark))
        return rig_fail(err, RIG_E_IO, "%s: cannot be read there", *path);
    return size == record.size && mark == record.mark ? RIG_OK
                                                      : rig_fail(err, RIG_E_IO, "%s: is another file there", *path);
}

static enum rig_rc open_records(const struct rig_buf *task, struct opening *opening, struct rig_source **source,
                                struct rig_err *err)
{
    size_t at = sizeof *opening;
    if (task->size < sizeof *opening)
        return rig_fail(err, RIG_E_BUG, "another process began with something else than a record");
    memcpy(opening, task->data, sizeof *opening);
    if (opening->record_count == 0 || opening->record_count > task->size / sizeof(struct record))
        return rig_fail(err, RIG_E_BUG, "another process began with a wrong number of records");
    const char **paths = calloc(opening->record_count, sizeof *paths);
    enum rig_rc rc = paths == NULL ? rig_no_memory(err, "the paths of the records") : RIG_OK;
    for (uint64_t i = 0; i < opening->record_count && rc == RIG_OK; i++)
        rc = look_at_record(task, &at, &paths[i], err);
    if (rc == RIG_OK)
        rc = rig_source_open_ranks(paths, opening->record_count, &opening->from, source, err);
    free(paths);
    return rc;
}

void rig_cli_check_ranks_help(struct rig_team *team)
{
    static struct opening opening; /* one check a process */
    struct rig_source *source = NULL;
    struct rig_buf task, answer;
    struct rig_err err = {0};
    rig_buf_init(&task, RIG_SHARED_BYTES_MOST);
    rig_buf_init(&answer, RIG_SHARED_BYTES_MOST);
    while (rig_team_await(team, 0, RIG_TEAM_TASK, &task, &err) == RIG_OK) {
        rig_buf_clear(&answer);
        if (source != NULL)
            rig_shared_help(source, &opening.options, &task, &answer);
        else if (open_records(&task, &opening, &source, &err) != RIG_OK)
            rig_buf_add_text(&answer, err.text);
        (void)rig_team_tell(team, 0, RIG_TEAM_ANSWER, answer.data, answer.size);
        rig_buf_clear(&task);
        err = (struct rig_err){0};
    }
    rig_source_close(source);
    rig_buf_done(&task);
    rig_buf_done(&answer);
}

int rig_cli_check_ranks_follow(struct rig_team *team)
{
    const struct rig_team_listener listener = {.heard = hear};
    struct rig_err err = {0};
    int status = RIG_EXIT_OK; /* rank 0's process has the status of the check */
    if (rig_team_begin(team, &listener, &err) == RIG_OK) {
        rig_cli_check_ranks_help(team);
        (void)signal(SIGTERM, SIG_IGN); /* mpirun ends the ranks that are left when rank 0 has an anomaly to tell */
        (void)rig_team_await_status(team, &status, &err);
    }
    rig_team_free(team);
    return status;
}

/* The record of a run: one file, or one for each rank. */
struct run_record {
    struct rig_source *source;
    const char *name;
    const struct rig_cli_paths *paths;
    const struct rig_source_options *by;
};

static enum rig_rc check(const struct run_record *record, struct rig_team *team,
                         const struct rig_stream_options *options, struct rig_verdict **verdict, struct rig_err *err)
{
    struct rig_cli_check_ranks ranks;
    struct rig_stream_options shared = *options;
    if (team == NULL)
        return rig_check_source(record->source, record->name, options, verdict, err);
    cli_check_ranks_init(&ranks, team);
    rig_cli_check_ranks_open(&ranks, (const char *const *)record->paths->at, record->paths->count, record->by, &shared);
    const enum rig_rc rc = rig_check_source(record->source, record->name, &shared, verdict, err);
    if (ranks.helpers.why.rc != RIG_OK)
        rig_log(RIG_LOG_INFO, "check", "rank 0 has checked alone: %s", ranks.helpers.why.text);
    else if (rc == RIG_OK)
        rig_log(RIG_LOG_INFO, "check", "%u ranks have shared the check", (unsigned)(*verdict)->cost.process_count);
    return rc;
}

enum rig_rc rig_cli_check_run(const char *folder, struct rig_team *team, const struct rig_source_options *from,
                              const struct rig_stream_options *options, struct rig_verdict **verdict,
                              struct rig_err *err)
{
    static struct rig_cli_paths paths; /* one command a process */
    struct rig_source *source = NULL;
    struct rig_source_options by = *from;
    const int64_t start_ns = rig_clock_now_ns();
    by.by_blocks = team != NULL;
    enum rig_rc rc = rig_cli_find_histories(&folder, 1, &paths, err);
    if (rc == RIG_OK)
        rc = rig_source_open_ranks((const char *const *)paths.at, paths.count, &by, &source, err);
    const double open_ms = (double)(rig_clock_now_ns() - start_ns) / (double)RIG_NS_PER_MS;
    if (rc == RIG_OK)
        rc = rig_asked_require_possible(rig_source_facts(source)->workload, options->check.anomalies, err);
    if (rc == RIG_OK) {
        const struct run_record record = {source, paths.count > 1 ? folder : paths.at[0], &paths, &by};
        rc = check(&record, team, options, verdict, err);
    }
    if (rc == RIG_OK)
        (*verdict)->cost.read_ms += open_ms;
    rig_source_close(source);
    rig_cli_paths_done(&paths);
    return rc;
}
