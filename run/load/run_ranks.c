#include "run/load/run_ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/plural.h"
#include "base/run_files.h"
#include "base/thread.h"
#include "run/load/remote_driver.h"
#include "run/load/run_part.h"
#include "run/load/run_state.h"

/* The first word of rank 0; the plan follows it, if there is one. */
struct plan_word {
    bool has_plan;
    uint64_t seed;
    uint32_t name_bytes;
};

struct rig_team *rig_run_ranks_team(const struct rig_run_ranks *ranks)
{
    return ranks == NULL ? NULL : ranks->team;
}

void rig_run_ranks_record(uint32_t rank, char *name, size_t size)
{
    (void)snprintf(name, size, RIG_RUN_RECORD_OF_RANK, rank);
}

/* -- what other ranks say ------------------------------------------------------------------------------------------ */

static void stop_run(struct rig_run_state *run, const struct rig_run_stop_word *word)
{
    if (word->interrupted)
        atomic_store(&run->ending.interrupted, true);
    if (word->anomaly != RIG_ANOMALY_COUNT) {
        int none = RIG_ANOMALY_COUNT;
        (void)atomic_compare_exchange_strong(&run->ending.stopped_by, &none, word->anomaly);
    }
    rig_run_raise(run, (enum rig_run_stop)word->stop);
}

static void hear_stop(struct rig_run_ranks *ranks, const struct rig_buf *body)
{
    struct rig_run_stop_word word;
    if (body->size != sizeof word)
        return;
    memcpy(&word, body->data, sizeof word);
    if (word.stop < RIG_STOP_NONE || word.stop > RIG_STOP_ABORT || word.anomaly < 0 || word.anomaly > RIG_ANOMALY_COUNT)
        return;
    pthread_mutex_lock(&ranks->lock);
    struct rig_run_stop_word *asked = &ranks->asked;
    asked->stop = word.stop > asked->stop ? word.stop : asked->stop;
    asked->interrupted |= word.interrupted;
    asked->anomaly = asked->anomaly == RIG_ANOMALY_COUNT ? word.anomaly : asked->anomaly;
    if (ranks->run != NULL)
        stop_run(ranks->run, &word);
    pthread_mutex_unlock(&ranks->lock);
}

static void hear_counts(struct rig_run_ranks *ranks, uint32_t rank, const struct rig_buf *body)
{
    struct rig_run_counts_word word;
    if (body->size != sizeof word)
        return;
    memcpy(&word, body->data, sizeof word);
    struct rig_run_other *other = &ranks->others[rank];
    pthread_mutex_lock(&ranks->lock);
    other->ok = word.ok;
    other->fail = word.fail;
    other->info = word.info;
    pthread_mutex_unlock(&ranks->lock);
}

static void hear_horizon(struct rig_run_ranks *ranks, uint32_t rank, const struct rig_buf *body)
{
    struct rig_run_horizon word;
    if (body->size != sizeof word)
        return;
    memcpy(&word, body->data, sizeof word);
    pthread_mutex_lock(&ranks->lock);
    if (ranks->rank > 0 || word.promised >= ranks->others[rank].horizon.promised)
        ranks->others[rank].horizon = word; /* of a rank that has ended, an earlier promise may come later */
    pthread_mutex_unlock(&ranks->lock);
}

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            bytes += written;
            size -= (size_t)written;
        }
    }
    return true;
}

/* Appends to a file of the run's folder. On the thread of that rank, which alone writes to it. */
static void keep_bytes(struct rig_run_ranks *ranks, const char *name, int *fd, const struct rig_buf *body)
{
    char path[PATH_MAX + 40];
    (void)snprintf(path, sizeof path, "%s/%s", ranks->folder, name);
    if (ranks->folder[0] == '\0')
        return; /* the run has not come so far */
    if (*fd == -1)
        *fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (*fd == -2 || (*fd >= 0 && write_all(*fd, body->data, body->size)))
        return;
    rig_log(RIG_LOG_ERROR, "ranks", "%s: cannot write: %s", path, strerror(errno));
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -2;
}

static void hear_bytes(struct rig_run_ranks *ranks, uint32_t rank, enum rig_team_kind kind, const struct rig_buf *body)
{
    char name[32];
    if (kind == RIG_TEAM_RECORD)
        rig_run_ranks_record(rank, name, sizeof name);
    else
        (void)snprintf(name, sizeof name, RIG_RUN_LOG_OF_RANK, rank);
    struct rig_run_other *other = &ranks->others[rank];
    keep_bytes(ranks, name, kind == RIG_TEAM_RECORD ? &other->record_fd : &other->log_fd, body);
}

static void hear(void *context, uint32_t rank, enum rig_team_kind kind, const struct rig_buf *body)
{
    struct rig_run_ranks *ranks = context;
    if (kind == RIG_TEAM_STOP)
        hear_stop(ranks, body);
    else if (kind == RIG_TEAM_COUNTS && ranks->rank == 0)
        hear_counts(ranks, rank, body);
    else if (kind == RIG_TEAM_HORIZON)
        hear_horizon(ranks, rank, body);
    else if (ranks->rank == 0)
        hear_bytes(ranks, rank, kind, body);
}

void rig_run_ranks_attach(struct rig_run_ranks *ranks, struct rig_run_state *run)
{
    pthread_mutex_lock(&ranks->lock);
    ranks->run = run;
    stop_run(run, &ranks->asked);
    pthread_mutex_unlock(&ranks->lock);
}

void rig_run_ranks_detach(struct rig_run_ranks *ranks)
{
    pthread_mutex_lock(&ranks->lock);
    ranks->run = NULL;
    pthread_mutex_unlock(&ranks->lock);
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

enum rig_rc rig_run_ranks_new(struct rig_team *team, struct rig_run_ranks **ranks, struct rig_err *err)
{
    struct rig_run_ranks *made = calloc(1, sizeof *made);
    enum rig_rc rc = made == NULL ? rig_no_memory(err, "the ranks") : RIG_OK;
    if (rc == RIG_OK && rig_team_ranks(team) > RIG_RUN_RANKS_MOST)
        rc = rig_fail(err, RIG_E_LIMIT, "%u ranks: a run has at most %d", rig_team_ranks(team), RIG_RUN_RANKS_MOST);
    if (rc != RIG_OK) {
        free(made);
        rig_team_free(team);
        return rc;
    }
    made->team = team;
    made->rank = rig_team_rank(team);
    made->rank_count = rig_team_ranks(team);
    made->asked.anomaly = RIG_ANOMALY_COUNT;
    rig_buf_init(&made->plan_yaml, 0);
    RIG_INVARIANT(pthread_mutex_init(&made->lock, NULL) == 0);
    for (uint32_t i = 0; i < RIG_RUN_RANKS_MOST; i++)
        made->others[i].record_fd = made->others[i].log_fd = -1;
    const struct rig_team_listener listener = {.context = made, .heard = hear};
    rc = rig_team_begin(team, &listener, err);
    if (rc == RIG_OK)
        *ranks = made;
    else
        rig_run_ranks_free(made, rig_rc_exit_status(rc));
    return rc;
}

void rig_run_ranks_free(struct rig_run_ranks *ranks, int status)
{
    if (ranks == NULL)
        return;
    const struct plan_word no_plan = {.has_plan = false};
    if (ranks->rank == 0) {
        rig_team_tell_all(ranks->team, RIG_TEAM_PLAN, &no_plan, sizeof no_plan);
        rig_team_dismiss(ranks->team, status);
    }
    rig_team_free(ranks->team);
    for (uint32_t i = 0; i < RIG_RUN_RANKS_MOST; i++) {
        if (ranks->others[i].record_fd >= 0)
            (void)close(ranks->others[i].record_fd);
        if (ranks->others[i].log_fd >= 0)
            (void)close(ranks->others[i].log_fd);
    }
    rig_buf_done(&ranks->plan_yaml);
    (void)pthread_mutex_destroy(&ranks->lock);
    free(ranks);
}

/* -- the plan ------------------------------------------------------------------------------------------------------ */

/*
 * Whether ranks connect to the servers themselves. With faults they do not: rig's proxy and what faults stop are on
 * rank 0's machine. Nor to servers that rig starts, which listen there.
 */
static bool connects_itself(const struct rig_plan *plan)
{
    const struct rig_cluster_ops *cluster = plan->driver->cluster;
    return (plan->driver->features & RIG_DRIVER_JOINS) != 0 && plan->nemesis.entry_count == 0 &&
           (cluster == NULL || !cluster->wanted(plan->driver_options));
}

/* A rank waits for its own clients to end a phase, so that each needs one in each phase; simulated time cannot pass
 * without some clients of another rank. */
static enum rig_rc check_phases(const struct rig_plan *plan, uint32_t rank_count, struct rig_err *err)
{
    const int64_t all = plan->clients.count, least = rig_run_part_first((uint32_t)all, rank_count - 1, rank_count) + 1;
    for (uint32_t i = 0; i < plan->phase_count; i++) {
        const int64_t count = rig_plan_clients(plan, i)->count;
        if (plan->driver->now_ns != NULL && count < all)
            return rig_fail(err, RIG_E_PLAN,
                            "%s: phase %s has %lld of %lld clients: on several ranks a database with simulated time "
                            "needs all clients in each phase",
                            plan->path, plan->phases[i].name, (long long)count, (long long)all);
        if (count < least)
            return rig_fail(err, RIG_E_PLAN,
                            "%s: phase %s has %lld client%s, none of them on rank %u: raise its clients.count to %lld "
                            "or more, or start fewer ranks",
                            plan->path, plan->phases[i].name, (long long)count, rig_plural((uint64_t)count),
                            rank_count - 1, (long long)least);
    }
    return RIG_OK;
}

/* The first thing in the plan that several ranks cannot do, and why (docs/mpi.md); NULL: none. */
static const char *first_unfit(const struct rig_plan *plan)
{
    const bool is_object = rig_workload_is_object((enum rig_workload)plan->workload.type);
    return plan->workload.program && !connects_itself(plan) ? "workload.program on servers that rig starts, or with "
                                                              "faults: a program's statements cannot be passed on "
                                                              "to rank 0"
           : plan->certificate != RIG_CERTIFICATE_NONE
               ? "database.certificate: after the loss of a rank it would tell of commits that are in no record"
           : is_object && plan->driver->now_ns == NULL
               ? "operations on objects (workload.type): an order of them needs one clock"
               : NULL;
}

/* Whether several ranks can run the plan. RIG_E_PLAN. */
static enum rig_rc run_ranks_check(const struct rig_plan *plan, uint32_t rank_count, struct rig_err *err)
{
    const char *what = first_unfit(plan);
    if (what != NULL)
        return rig_fail(err, RIG_E_PLAN,
                        "%s: only a run in one process can have %s; remove it, or start rig without mpirun", plan->path,
                        what);
    if (plan->clients.count < rank_count)
        return rig_fail(err, RIG_E_PLAN, "%s: %lld client%s for %u ranks: raise clients.count, or start fewer ranks",
                        plan->path, (long long)plan->clients.count, rig_plural((uint64_t)plan->clients.count),
                        rank_count);
    for (uint32_t i = 0; i < rig_plan_phases(plan); i++) {
        const int64_t transactions = rig_plan_workload(plan, i)->transactions, count = rig_plan_clients(plan, i)->count;
        if (transactions > 0 && transactions < count)
            return rig_fail(err, RIG_E_PLAN,
                            "%s: with several ranks each client needs a transaction: raise %s to %lld or more",
                            plan->path, plan->phase_count == 0 ? "workload.transactions" : "transactions of each phase",
                            (long long)count);
    }
    return check_phases(plan, rank_count, err);
}

enum rig_rc rig_run_ranks_lead(struct rig_run_ranks *ranks, const struct rig_plan *plan, const char *folder,
                               struct rig_err *err)
{
    const enum rig_rc rc = run_ranks_check(plan, ranks->rank_count, err);
    if (rc != RIG_OK)
        return rc;
    (void)snprintf(ranks->folder, sizeof ranks->folder, "%s", folder);
    const struct plan_word word = {.has_plan = true, .seed = plan->seed, .name_bytes = (uint32_t)strlen(plan->path)};
    struct rig_buf body, yaml;
    rig_buf_init(&body, 0);
    rig_buf_init(&yaml, 0);
    rig_plan_write(plan, false, &yaml);
    rig_buf_add(&body, &word, sizeof word);
    rig_buf_add(&body, plan->path, word.name_bytes);
    rig_buf_add(&body, rig_buf_text(&yaml), yaml.size);
    if (!body.failed)
        rig_team_tell_all(ranks->team, RIG_TEAM_PLAN, body.data, body.size);
    const bool failed = body.failed;
    rig_buf_done(&yaml);
    rig_buf_done(&body);
    return failed ? rig_no_memory(err, "the plan") : RIG_OK;
}

/* Gives NULL when rank 0 has none for it. */
static enum rig_rc receive_plan(struct rig_run_ranks *ranks, struct rig_plan **plan, struct rig_err *err)
{
    struct rig_buf body;
    struct plan_word word;
    rig_buf_init(&body, 0);
    *plan = NULL;
    enum rig_rc rc = rig_team_await(ranks->team, 0, RIG_TEAM_PLAN, &body, err);
    if (rc == RIG_OK && body.size >= sizeof word)
        memcpy(&word, body.data, sizeof word);
    else
        word.has_plan = false;
    if (rc == RIG_OK && word.has_plan && word.name_bytes <= body.size - sizeof word) {
        char name[PATH_MAX];
        (void)snprintf(name, sizeof name, "%.*s", (int)word.name_bytes, body.data + sizeof word);
        const size_t before = sizeof word + word.name_bytes;
        rig_buf_add(&ranks->plan_yaml, body.data + before, body.size - before);
        const struct rig_plan_text text = {name, rig_buf_text(&ranks->plan_yaml), ranks->plan_yaml.size};
        rc = rig_plan_parse(&text, NULL, 0, &word.seed, plan, err);
    }
    rig_buf_done(&body);
    return rc;
}

/* -- ranks above 0 ------------------------------------------------------------------------------------------------- */

/* Sends the record to rank 0 while it grows. */
struct shipper {
    struct rig_run_ranks *ranks;
    pthread_t thread;
    atomic_bool is_last; /* the record is complete */
    bool has_thread;
    int fd;
};

static const int64_t ship_every_ns = 50 * RIG_NS_PER_MS;
enum { SHIP_BYTES = 1 << 20, RIG_RANK_LOG_MOST = 64 << 20 };

/* False: rank 0 is gone, or there is no reading the record. */
static bool ship_all(struct shipper *shipper, const char *path, char *bytes)
{
    if (shipper->fd < 0)
        shipper->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (shipper->fd < 0)
        return errno == ENOENT;
    for (;;) {
        const ssize_t got = read(shipper->fd, bytes, SHIP_BYTES);
        if (got == 0)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        if (got > 0 && !rig_team_tell(shipper->ranks->team, 0, RIG_TEAM_RECORD, bytes, (size_t)got))
            return false;
    }
}

static void tell_counts(struct rig_run_ranks *ranks)
{
    struct rig_run_counts_word word = {.ok = 0};
    pthread_mutex_lock(&ranks->lock);
    for (uint32_t i = 0; ranks->is_recording && i < ranks->run->client_count; i++) {
        const struct rig_run_counts *counts = &ranks->run->clients[i].counts;
        word.ok += rig_run_read(&counts->ok);
        word.fail += rig_run_read(&counts->fail);
        word.info += rig_run_read(&counts->info);
    }
    pthread_mutex_unlock(&ranks->lock);
    (void)rig_team_tell(ranks->team, 0, RIG_TEAM_COUNTS, &word, sizeof word);
}

static void *ship_main(void *argument)
{
    struct shipper *shipper = argument;
    char name[32], path[PATH_MAX + 40];
    char *bytes = malloc(SHIP_BYTES);
    rig_run_ranks_record(shipper->ranks->rank, name, sizeof name);
    (void)snprintf(path, sizeof path, "%s/%s", shipper->ranks->folder, name);
    for (bool goes_on = bytes != NULL; goes_on;) {
        const bool is_last = atomic_load(&shipper->is_last);
        goes_on = ship_all(shipper, path, bytes) && !is_last;
        if (goes_on) {
            tell_counts(shipper->ranks);
            rig_clock_sleep_until_ns(rig_clock_now_ns() + ship_every_ns);
        }
    }
    free(bytes);
    return NULL;
}

static enum rig_rc await_begin(struct rig_run_ranks *ranks, struct rig_err *err)
{
    struct rig_buf body;
    rig_buf_init(&body, 0);
    enum rig_rc rc = rig_team_await(ranks->team, 0, RIG_TEAM_BEGIN, &body, err);
    if (rc == RIG_OK && body.size != sizeof ranks->begun)
        rc = rig_fail(err, RIG_E_BUG, "rank 0 says %zu bytes where it was to say %zu", body.size, sizeof ranks->begun);
    if (rc == RIG_OK)
        memcpy(&ranks->begun, body.data, sizeof ranks->begun);
    rig_buf_done(&body);
    return rc;
}

static enum rig_rc run_plan(struct rig_run_ranks *ranks, const struct rig_plan *plan, const atomic_int *interrupts,
                            struct rig_run_result_word *word)
{
    struct rig_remote_options remote = {.team = ranks->team};
    struct rig_driver driver = *plan->driver;
    struct rig_plan own = *plan;
    driver.setup = NULL; /* rank 0 has done that */
    driver.teardown = NULL;
    driver.settings = NULL;
    rig_log(RIG_LOG_INFO, "ranks", "%s",
            connects_itself(plan) ? "this rank connects to the servers itself"
                                  : "rank 0 passes this rank's transactions on");
    if (!connects_itself(plan)) {
        rig_remote_driver_init(&driver, plan->driver);
        own.driver_options = &remote;
    }
    own.driver = &driver;
    ranks->has_faults = plan->nemesis.entry_count > 0;
    own.nemesis.entry_count = 0;
    const struct rig_run_options options = {.interrupts = interrupts, .folder = ranks->folder, .ranks = ranks};
    struct shipper shipper = {.ranks = ranks, .fd = -1};
    shipper.has_thread = rig_thread_start(&shipper.thread, ship_main, &shipper) == 0;
    enum rig_rc rc = shipper.has_thread ? rig_run(&own, &options, &word->result, &word->err)
                                        : rig_fail(&word->err, RIG_E_LIMIT, "cannot start a thread for the record");
    atomic_store(&shipper.is_last, true);
    if (shipper.has_thread)
        (void)pthread_join(shipper.thread, NULL);
    if (shipper.fd >= 0)
        (void)close(shipper.fd);
    return rc;
}

/* Its own log, which lies beside its record. */
static void tell_log(struct rig_run_ranks *ranks)
{
    struct rig_buf log;
    char path[PATH_MAX + 40];
    (void)snprintf(path, sizeof path, "%s/" RIG_RUN_LOG, ranks->folder);
    rig_buf_init(&log, RIG_RANK_LOG_MOST);
    if (rig_buf_read_file(&log, path, NULL) == RIG_OK)
        (void)rig_team_tell(ranks->team, 0, RIG_TEAM_LOG, log.data, log.size);
    rig_buf_done(&log);
}

enum rig_rc rig_run_ranks_follow(struct rig_run_ranks *ranks, const atomic_int *interrupts, const char *folder,
                                 struct rig_err *err)
{
    struct rig_plan *plan = NULL;
    struct rig_run_result_word *word = calloc(1, sizeof *word);
    if (word == NULL)
        return rig_no_memory(err, "the results of this rank");
    (void)snprintf(ranks->folder, sizeof ranks->folder, "%s", folder);
    enum rig_rc rc = receive_plan(ranks, &plan, &word->err);
    if (plan != NULL)
        rc = await_begin(ranks, &word->err);
    if (plan != NULL && rc == RIG_OK)
        rc = run_plan(ranks, plan, interrupts, word);
    /* Rank 0 waits for each step, also of a rank that did not come so far. */
    if (!ranks->has_told_ready)
        (void)rig_team_tell(ranks->team, 0, RIG_TEAM_READY, NULL, 0);
    if (!ranks->has_told_ended)
        (void)rig_team_tell(ranks->team, 0, RIG_TEAM_ENDED, NULL, 0);
    tell_log(ranks);
    if (plan != NULL || rc != RIG_OK)
        (void)rig_team_tell(ranks->team, 0, RIG_TEAM_RESULT, word, sizeof *word);
    rig_plan_free(plan);
    if (rc != RIG_OK)
        (void)rig_fail(err, RIG_E_CLUSTER, "%s", word->err.text);
    free(word);
    return rc;
}
