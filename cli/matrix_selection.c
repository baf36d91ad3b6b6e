#include "cli/matrix_selection.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/run_files.h"
#include "jobs/store/news.h"

/* ---- --only ---- */

static bool is_wanted(const struct rig_matrix_job *job, const char *name)
{
    bool wanted = strcmp(job->database->name, name) == 0;
    for (int axis = 0; axis < RIG_MATRIX_AXES; axis++)
        wanted = wanted || strcmp(job->values[axis]->name, name) == 0;
    return wanted;
}

/* Names the levels, each once: jobs of one level follow one another or repeat. */
static enum rig_rc refuse_name(const struct rig_matrix *matrix, const char *name, struct rig_err *err)
{
    struct rig_buf levels;
    rig_buf_init(&levels, 600);
    for (size_t job = 0; job < matrix->job_count; job++) {
        const char *level = matrix->jobs[job].values[RIG_MATRIX_LEVELS]->name;
        bool seen = level[0] == '\0';
        for (size_t other = 0; other < job && !seen; other++)
            seen = strcmp(matrix->jobs[other].values[RIG_MATRIX_LEVELS]->name, level) == 0;
        if (!seen)
            rig_buf_printf(&levels, "%s%s", levels.size == 0 ? "; levels: " : ", ", level);
    }
    const enum rig_rc rc =
        rig_fail(err, RIG_E_USAGE, "no database, server, level or fault is named `%s`%s", name, rig_buf_text(&levels));
    rig_buf_done(&levels);
    return rc;
}

/* --only leaves the other jobs out. Each name must match some job. */
static enum rig_rc select_named(const struct rig_arguments *args, struct rig_matrix *matrix, struct rig_err *err)
{
    size_t kept = 0;
    const char *name;
    for (size_t i = 0; (name = rig_arguments_value_at(args, "only", i)) != NULL; i++) {
        bool found = false;
        for (size_t job = 0; job < matrix->job_count; job++)
            found = found || is_wanted(&matrix->jobs[job], name);
        if (!found)
            return refuse_name(matrix, name, err);
    }
    for (size_t job = 0; rig_arguments_has(args, "only") && job < matrix->job_count; job++) {
        bool wanted = false;
        for (size_t i = 0; (name = rig_arguments_value_at(args, "only", i)) != NULL; i++)
            wanted = wanted || is_wanted(&matrix->jobs[job], name);
        if (wanted)
            matrix->jobs[kept++] = matrix->jobs[job];
    }
    if (rig_arguments_has(args, "only"))
        matrix->job_count = kept;
    return RIG_OK;
}

/* ---- --rerun ---- */

/* "nightly/20261130T010203.456Z/cells/ID/run": whether the run is one of the job. */
static bool is_run_of(const struct rig_stored_run *run, const struct rig_matrix_job *job)
{
    const char *id = strstr(run->folder, "/" RIG_RUN_MATRIX_CELLS "/");
    if (!run->is_cell || id == NULL)
        return false;
    id += strlen("/" RIG_RUN_MATRIX_CELLS "/");
    const size_t length = strlen(job->id);
    return strncmp(id, job->id, length) == 0 && (id[length] == '/' || id[length] == '\0');
}

/* The cells of the latest matrix that ran and do not hold. */
static bool has_failed(const struct rig_run_list *list, const char *latest, const struct rig_matrix_job *job)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct rig_stored_run *run = &list->runs[i];
        if (strcmp(run->time, latest) == 0 && run->state != RIG_STORED_OK && is_run_of(run, job))
            return true;
    }
    return false;
}

/* The cells with bad news: all runs of their name. */
static bool is_bad_news(const struct rig_run_list *list, const struct rig_news *news, const struct rig_matrix_job *job)
{
    for (size_t item = 0; item < news->items.count; item++) {
        for (size_t i = 0; news->items.at[item].is_bad && i < list->count; i++) {
            if (strcmp(list->runs[i].name, news->items.at[item].run->name) == 0 && is_run_of(&list->runs[i], job))
                return true;
        }
    }
    return false;
}

/* Leaves this matrix and its cells. */
static void keep_matrix(struct rig_run_list *list, const char *name)
{
    const size_t length = strlen(name);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        const char *given = list->runs[i].name;
        if (strncmp(given, name, length) == 0 && (given[length] == '\0' || given[length] == '/'))
            list->runs[kept++] = list->runs[i];
    }
    list->count = kept;
}

static enum rig_rc select_again(const char *which, const char *store, struct rig_matrix *matrix, struct rig_err *err)
{
    struct rig_run_list list = {.store = -1};
    struct rig_news news = {.since = ""};
    struct rig_news_nights nights;
    const char *latest = "";
    size_t kept = 0;
    enum rig_rc rc = access(store, F_OK) == 0 ? rig_run_list_read(store, &list, err) : RIG_OK;
    if (rc == RIG_OK)
        rc = rig_news_find_nights(&list, NULL, &nights, err);
    if (rc == RIG_OK) {
        keep_matrix(&list, matrix->name);
        rc = rig_news_find(&list, &nights, &news, err);
    }
    for (size_t i = 0; i < list.count; i++)
        latest = list.runs[i].is_matrix && strcmp(list.runs[i].time, latest) > 0 ? list.runs[i].time : latest;
    if (rc == RIG_OK && latest[0] == '\0')
        rc = rig_fail(err, RIG_E_USAGE, "--rerun: %s has no finished run of the matrix %s; run it once without --rerun",
                      store, matrix->name);
    for (size_t i = 0; i < matrix->job_count && rc == RIG_OK; i++) {
        const struct rig_matrix_job *job = &matrix->jobs[i];
        if (strcmp(which, "failed") == 0 ? has_failed(&list, latest, job) : is_bad_news(&list, &news, job))
            matrix->jobs[kept++] = *job;
    }
    if (rc == RIG_OK)
        matrix->job_count = kept;
    rig_news_done(&news);
    rig_run_list_done(&list);
    return rc;
}

enum rig_rc rig_cli_matrix_select(const struct rig_arguments *args, const char *store, struct rig_matrix *matrix,
                                  struct rig_err *err)
{
    const char *again = rig_arguments_value(args, "rerun");
    const enum rig_rc rc = select_named(args, matrix, err);
    return rc == RIG_OK && again != NULL ? select_again(again, store, matrix, err) : rc;
}
