#include "cli/kept_servers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "cli/stage.h"
#include "drivers/texts.h"

enum { ACCESS_MOST = 16 };

static const int64_t look_ns = INT64_C(100000000);       /* between two looks at signals */
static const int64_t lock_wait_ns = INT64_C(4000000000); /* of sessions that send texts; this one has none */

struct rig_cli_kept_servers {
    struct rig_plan *plan;
    pthread_t thread;
    pthread_mutex_t lock;   /* guards what follows */
    pthread_cond_t changed; /* `is_up`, `is_over` or `is_ended` */
    bool is_up;             /* they answered; `driver` and `driver_run` hold until it is false again */
    bool is_over;           /* the thread is about to return, with `err` */
    bool is_ended;          /* they are to be stopped */
    atomic_int interrupts;  /* the same for the run */
    const struct rig_driver *driver;
    void *driver_run;
    const char *access[ACCESS_MOST];
    struct rig_text_list all_access;
    struct rig_arena arena;
    struct rig_err err;
};

bool rig_cli_kept_servers_wanted(const struct rig_plan *plan)
{
    const struct rig_cluster_ops *cluster = plan->driver->cluster;
    return cluster != NULL && cluster->access != NULL && cluster->wanted(plan->driver_options);
}

static void take_access(void *context, const char *setting)
{
    struct rig_cli_kept_servers *servers = context;
    const char *kept = rig_arena_text(&servers->arena, setting, strlen(setting));
    if (kept != NULL && servers->all_access.count < ACCESS_MOST)
        servers->access[servers->all_access.count++] = kept;
}

/* The task: the servers are there until they are to be stopped. */
static enum rig_rc keep(void *context, const struct rig_driver *driver, void *driver_run, const struct rig_shims *shims,
                        struct rig_err *err)
{
    struct rig_cli_kept_servers *servers = context;
    (void)shims;
    (void)pthread_mutex_lock(&servers->lock);
    const enum rig_rc rc = driver->cluster->access(driver_run, take_access, servers, err);
    servers->driver = driver;
    servers->driver_run = driver_run;
    servers->is_up = rc == RIG_OK;
    (void)pthread_cond_broadcast(&servers->changed);
    while (servers->is_up && !servers->is_ended)
        (void)pthread_cond_wait(&servers->changed, &servers->lock);
    servers->is_up = false;
    (void)pthread_mutex_unlock(&servers->lock);
    return rc;
}

static void *live(void *context)
{
    static const struct rig_row_schema no_tables;
    struct rig_cli_kept_servers *servers = context;
    const struct rig_text_env texts = {.lock_wait_ns = lock_wait_ns, .nodes = NULL};
    /* With texts, the account of clients may do what a run of any type of data needs. */
    const struct rig_run_task task = {.rows = &no_tables,
                                      .texts = servers->plan->driver->texts == NULL ? NULL : &texts,
                                      .run = keep,
                                      .context = servers};
    struct rig_err err = {0};
    (void)rig_cli_stage_task(servers->plan, &task, &servers->interrupts, &err);
    (void)pthread_mutex_lock(&servers->lock);
    servers->is_over = true;
    servers->err = err;
    (void)pthread_cond_broadcast(&servers->changed);
    (void)pthread_mutex_unlock(&servers->lock);
    return NULL;
}

/* Waits until they are up or there was an error, and looks at the signals meanwhile. */
static bool await_start(struct rig_cli_kept_servers *servers, const atomic_int *interrupts)
{
    (void)pthread_mutex_lock(&servers->lock);
    while (!servers->is_up && !servers->is_over) {
        struct timespec until;
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        const int64_t at_ns = (int64_t)until.tv_nsec + look_ns;
        until.tv_sec += at_ns / RIG_NS_PER_S;
        until.tv_nsec = at_ns % RIG_NS_PER_S;
        (void)pthread_cond_timedwait(&servers->changed, &servers->lock, &until);
        if (atomic_load(interrupts) > 0)
            atomic_store(&servers->interrupts, 1);
    }
    const bool is_up = servers->is_up;
    (void)pthread_mutex_unlock(&servers->lock);
    return is_up;
}

static bool init_locks(struct rig_cli_kept_servers *servers)
{
    pthread_condattr_t monotonic;
    if (pthread_mutex_init(&servers->lock, NULL) != 0)
        return false;
    if (pthread_condattr_init(&monotonic) != 0)
        return false;
    const bool made = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
                      pthread_cond_init(&servers->changed, &monotonic) == 0;
    (void)pthread_condattr_destroy(&monotonic);
    return made;
}

enum rig_rc rig_cli_kept_servers_start(struct rig_plan *plan, const atomic_int *interrupts,
                                       struct rig_cli_kept_servers **servers, struct rig_err *err)
{
    struct rig_cli_kept_servers *made = calloc(1, sizeof *made);
    if (made == NULL || !init_locks(made)) {
        free(made);
        rig_plan_free(plan);
        return rig_no_memory(err, "servers");
    }
    made->plan = plan;
    made->all_access.at = made->access;
    rig_arena_init(&made->arena, 0);
    if (pthread_create(&made->thread, NULL, live, made) != 0) {
        rig_plan_free(plan);
        free(made);
        return rig_no_memory(err, "the thread of servers");
    }
    if (await_start(made, interrupts)) {
        *servers = made;
        return RIG_OK;
    }
    const struct rig_err failed = made->err;
    rig_cli_kept_servers_end(made);
    if (atomic_load(interrupts) > 0)
        return rig_fail(err, RIG_E_INTERRUPTED, "stopped by a signal");
    return rig_fail(err, failed.rc == RIG_OK ? RIG_E_CLUSTER : failed.rc, "%s", failed.text);
}

const struct rig_text_list *rig_cli_kept_servers_access(const struct rig_cli_kept_servers *servers)
{
    return &servers->all_access;
}

bool rig_cli_kept_servers_answer(struct rig_cli_kept_servers *servers)
{
    (void)pthread_mutex_lock(&servers->lock);
    bool all = servers->is_up;
    const struct rig_cluster_ops *cluster = all ? servers->driver->cluster : NULL;
    for (uint32_t node = 0; all && node < cluster->node_count(servers->driver_run); node++) {
        struct rig_node_status status = {.reachable = false};
        struct rig_err ignored = {0};
        all = cluster->status(servers->driver_run, node, &status, &ignored) == RIG_OK && status.reachable;
    }
    (void)pthread_mutex_unlock(&servers->lock);
    return all;
}

void rig_cli_kept_servers_end(struct rig_cli_kept_servers *servers)
{
    if (servers == NULL)
        return;
    (void)pthread_mutex_lock(&servers->lock);
    servers->is_ended = true;
    atomic_store(&servers->interrupts, 1);
    (void)pthread_cond_broadcast(&servers->changed);
    (void)pthread_mutex_unlock(&servers->lock);
    (void)pthread_join(servers->thread, NULL);
    (void)pthread_cond_destroy(&servers->changed);
    (void)pthread_mutex_destroy(&servers->lock);
    rig_plan_free(servers->plan);
    rig_arena_done(&servers->arena);
    free(servers);
}
