#include "drivers/etcd/etcd_live_watch.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"
#include "drivers/etcd/etcd_asking.h"

enum { PATH_BYTES = 512, CHUNK_BYTES = 65536 };

static const int64_t poll_ns = 10000000, retry_ns = 100000000, connection_ns = INT64_C(86400000000000);

static void rest(int64_t ns)
{
    const struct timespec pause = {.tv_nsec = ns};
    (void)nanosleep(&pause, NULL);
}

/* ---- the thread ---- */

static bool count_commit(void *context, uint64_t place, uint64_t id, uint32_t timeline)
{
    (void)context;
    (void)place;
    (void)id;
    (void)timeline;
    return true;
}

static bool count_version(void *context, int64_t key, const int64_t *elements, uint32_t count)
{
    (void)context;
    (void)key;
    (void)elements;
    (void)count;
    return true;
}

static enum rig_rc keep_line(void *context, const char *line, size_t size, struct rig_err *err)
{
    struct rig_etcd_live_watch *live = context;
    if (live->file_bytes + (int64_t)size >= RIG_ETCD_SPOOL_MOST)
        return rig_fail(err, RIG_E_LIMIT, "the changes fill their file of %" PRId64 " MiB", RIG_ETCD_SPOOL_MOST >> 20);
    if (fwrite(line, 1, size, live->file) != size || fputc('\n', live->file) == EOF)
        return rig_fail(err, RIG_E_DRIVER, "the file of changes cannot be written: %s", strerror(errno));
    live->file_bytes += (int64_t)size + 1;
    return RIG_OK;
}

/* Reads until the mark, a failure or the request to stop. */
static void *read_changes(void *object)
{
    struct rig_etcd_live_watch *live = object;
    const struct rig_core *core = live->run->env->core;
    struct rig_etcd_asking asking;
    char problem[RIG_ETCD_PROBLEM_BYTES] = "";
    enum rig_rc rc = rig_etcd_asking_begin(&asking, live->run, connection_ns, &live->wake, &live->watch.err);
    while (rc == RIG_OK && !atomic_load(&live->stopping) && !live->watch.ended && live->watch.err.rc == RIG_OK) {
        rig_etcd_watch_connect(&asking, &live->watch, core->now_ns() + connection_ns, problem);
        if (live->watch.ended || live->watch.err.rc != RIG_OK || atomic_load(&live->stopping))
            break;
        rig_etcd_asking_next(&asking);
        rest(retry_ns);
    }
    if (live->watch.err.rc != RIG_OK)
        core->log(1, "etcd", "the watch during the load ended: %s", live->watch.err.text);
    rig_etcd_asking_done(&asking);
    atomic_store(&live->finished, true);
    return NULL;
}

enum rig_rc rig_etcd_live_watch_begin(struct rig_etcd_live_watch *live, const struct rig_http_run *run,
                                      int64_t revision, struct rig_err *err)
{
    static const struct rig_certificate_sink counts = {.commit = count_commit, .version = count_version};
    char path[PATH_BYTES];
    *live = (struct rig_etcd_live_watch){.run = run};
    (void)snprintf(path, sizeof path, "%s/changes", run->env->work_dir);
    live->file = fopen(path, "w+be");
    if (live->file == NULL)
        return rig_fail(err, RIG_E_DRIVER, "%.300s: %s", path, strerror(errno));
    rig_etcd_watch_init(&live->watch, &counts, run->env->run_name, rig_workload_has_sequences(run->env->workload),
                        revision);
    live->watch.keep = keep_line;
    live->watch.keep_context = live;
    const int failed = rig_thread_start(&live->thread, read_changes, live);
    live->started = failed == 0;
    if (!live->started)
        return rig_fail(err, RIG_E_DRIVER, "the thread of the watch does not start: %s", strerror(failed));
    return RIG_OK;
}

/* ---- the end ---- */

static void join(struct rig_etcd_live_watch *live)
{
    if (!live->started)
        return;
    atomic_store(&live->stopping, true);
    rig_wake_raise(&live->wake);
    (void)pthread_join(live->thread, NULL);
    live->started = false;
}

enum rig_rc rig_etcd_live_watch_end(struct rig_etcd_live_watch *live, int64_t patience_ns, struct rig_etcd_watch *watch,
                                    struct rig_err *err)
{
    const struct rig_core *core = live->run->env->core;
    const int64_t until_ns = core->now_ns() + patience_ns;
    char chunk[CHUNK_BYTES];
    size_t size;
    while (!atomic_load(&live->finished) && core->now_ns() < until_ns && !core->stopping())
        rest(poll_ns);
    join(live);
    if (fflush(live->file) != 0 || fseek(live->file, 0, SEEK_SET) != 0)
        return rig_fail(err, RIG_E_DRIVER, "the file of changes cannot be read: %s", strerror(errno));
    while ((size = fread(chunk, 1, sizeof chunk, live->file)) > 0 && rig_etcd_watch_take(watch, chunk, size))
        ;
    if (ferror(live->file) != 0)
        return rig_fail(err, RIG_E_DRIVER, "the file of changes cannot be read: %s", strerror(errno));
    return RIG_OK;
}

void rig_etcd_live_watch_done(struct rig_etcd_live_watch *live)
{
    join(live);
    if (live->run == NULL)
        return;
    if (live->file != NULL)
        (void)fclose(live->file);
    rig_etcd_watch_done(&live->watch);
    *live = (struct rig_etcd_live_watch){.run = NULL};
}
