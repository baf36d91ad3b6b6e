/* The first server that shows a find, by the bisection of matrices (jobs/matrix/bisection.h). */
#include "cli/hunter_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/statistics.h"
#include "jobs/matrix/bisection.h"

enum { RUNS_LEAST = 3, RUNS_MOST = 15 };

/* The servers, and their runs, as the jobs of a matrix: job n is run n % runs of server n / runs. */
struct servers {
    struct rig_hunter *h;
    const struct rig_hunt_find *find;
    uint32_t runs;
    struct rig_matrix_value servers[RIG_HUNT_OTHERS_MOST], level, nothing;
    struct rig_matrix_job jobs[RIG_HUNT_OTHERS_MOST * RUNS_MOST];
    struct rig_matrix_database database;
    struct rig_matrix matrix;
};

/* As many as miss a bug with half the rate of the find in at most 5 % of all cases. */
static uint32_t runs_for(const struct rig_hunt_find *find)
{
    const uint32_t runs = rig_interval_trials((double)find->shown / find->of / 2, RUNS_MOST);
    return runs < RUNS_LEAST ? RUNS_LEAST : runs;
}

static void make_matrix(struct servers *s)
{
    const struct rig_hunt_others *others = s->h->request->bisect;
    s->nothing.name = "";
    s->level.name = s->find->level;
    s->database.name = "";
    s->database.axes[RIG_MATRIX_SERVERS] = (struct rig_matrix_values){s->servers, others->count};
    for (uint32_t i = 0; i < others->count; i++)
        s->servers[i].name = others->at[i].name;
    for (uint32_t job = 0; job < others->count * s->runs; job++)
        s->jobs[job] = (struct rig_matrix_job){.database = &s->database,
                                               .plan = "",
                                               .values = {[RIG_MATRIX_SERVERS] = &s->servers[job / s->runs],
                                                          [RIG_MATRIX_LEVELS] = &s->level,
                                                          [RIG_MATRIX_FAULTS] = &s->nothing,
                                                          [RIG_MATRIX_RUNS] = &s->nothing},
                                               .id = ""};
    s->matrix.jobs = s->jobs;
    s->matrix.job_count = (size_t)others->count * s->runs;
}

static enum rig_rc run_job(void *context, size_t job, enum rig_matrix_state *state, struct rig_err *err)
{
    static const enum rig_matrix_state states[] = {[RIG_PLAN_SHOWS] = RIG_MATRIX_ANOMALIES,
                                                   [RIG_PLAN_MISSES] = RIG_MATRIX_HOLDS,
                                                   [RIG_PLAN_REFUSED] = RIG_MATRIX_FAILED,
                                                   [RIG_PLAN_OVER] = RIG_MATRIX_NOT_RUN};
    struct servers *s = context;
    (void)err;
    s->h->other = &s->h->request->bisect->at[job / s->runs];
    *state = states[rig_hunter_try(s->h, &s->find->point, s->find->length)];
    s->h->other = NULL;
    return RIG_OK;
}

static void keep(const struct rig_bisection *bisection, struct rig_hunt_find *find)
{
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_bisection_say(bisection, &text);
    (void)snprintf(find->bisection, sizeof find->bisection, "%s", rig_buf_text(&text));
    for (char *at = find->bisection; *at != '\0'; at++)
        *at = *at == '\n' ? ' ' : *at;
    rig_buf_done(&text);
    const struct rig_bisection_series *series = &bisection->series[0];
    if (bisection->count == 0 || series->end != RIG_BISECTION_FOUND)
        return;
    const struct rig_matrix_value *servers = series->job->database->axes[RIG_MATRIX_SERVERS].at;
    (void)snprintf(find->bad, sizeof find->bad, "%s", servers[series->bad].name);
    (void)snprintf(find->good, sizeof find->good, "%s", servers[series->good].name);
}

void rig_hunter_bisect(struct rig_hunter *h, struct rig_hunt_find *find)
{
    struct rig_arena arena;
    struct rig_bisection bisection;
    if (h->request->bisect == NULL || h->request->bisect->count < 2)
        return;
    struct servers *s = calloc(1, sizeof *s);
    if (s == NULL)
        return; /* a find without its first server is one all the same */
    rig_arena_init(&arena, 0);
    s->h = h;
    s->find = find;
    s->runs = runs_for(find);
    make_matrix(s);
    const struct rig_bisection_request request = {.matrix = &s->matrix, .arena = &arena, .run = run_job, .context = s};
    struct rig_err ignored = {0};
    if (rig_bisection_find(&request, &bisection, &ignored) == RIG_OK)
        keep(&bisection, find);
    rig_arena_done(&arena);
    free(s);
}
