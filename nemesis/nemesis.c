#include "nemesis/nemesis.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bug.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/secret.h"
#include "base/thread.h"
#include "nemesis/fault_context.h"
#include "nemesis/schedule.h"
#include "nemesis/targets.h"

enum { TARGETS_BYTES = 512, DESCRIBE_MOST = 4 };
static const int64_t tick_ns = 50 * RIG_NS_PER_MS;
/* How long a target may be missing: longer than a failover takes. */
static const int64_t target_wait_ns = 20 * RIG_NS_PER_S;
/* Each injection draws from a stream of its own, so that its draws do not depend on the others. */
static const uint64_t injection_streams = UINT64_C(1) << 34;

struct injection {
    uint64_t number;
    uint32_t entry, slot;
    const struct rig_fault *fault;
    struct rig_fault_site site;
    void *state;
    struct rig_evidence evidence;
    char targets[TARGETS_BYTES];
    int64_t heal_ns; /* monotonic */
};

struct rig_nemesis {
    struct rig_nemesis_config config;
    struct rig_fault_context context;
    struct rig_planned_schedule planned;
    struct rig_schedule *schedule; /* the planned one, or the config's */
    pthread_t thread;

    /* the thread's own */
    struct injection *under_way[RIG_NEMESIS_UNDER_WAY_MOST];
    uint64_t injections;
    int64_t target_missing_ns; /* since when the next fault finds no target; 0: it does */
    struct rig_err target_missing;
    uint32_t target_missing_entry;

    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t moved;
    int64_t start_ns; /* 0: the load has not begun */
    bool heal_all_wanted, recover_wanted, leave_wanted;
    bool all_healed; /* all is healed, and no further fault comes */
    bool recovered;
    struct rig_err err; /* the first */
    char describe[DESCRIBE_MOST][96];
    uint32_t described;
};

/* -- texts --------------------------------------------------------------------------------------------------------- */

static void describe_all(struct rig_nemesis *nemesis)
{
    pthread_mutex_lock(&nemesis->lock);
    nemesis->described = 0;
    for (uint32_t i = 0; i < RIG_NEMESIS_UNDER_WAY_MOST && nemesis->described < DESCRIBE_MOST; i++) {
        const struct injection *injection = nemesis->under_way[i];
        if (injection != NULL)
            (void)snprintf(nemesis->describe[nemesis->described++], sizeof nemesis->describe[0], "%s %.60s",
                           injection->fault->name, injection->targets);
    }
    pthread_mutex_unlock(&nemesis->lock);
}

void rig_nemesis_describe(struct rig_nemesis *nemesis, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    pthread_mutex_lock(&nemesis->lock);
    for (uint32_t i = 0; i < nemesis->described && used < size; i++) {
        const int length = snprintf(text + used, size - used, "%s%s", i == 0 ? "" : ", ", nemesis->describe[i]);
        used += length < 0 ? 0 : (size_t)length;
    }
    pthread_mutex_unlock(&nemesis->lock);
}

/* Parts of the text come from servers and commands. */
static void make_safe(char *text, size_t size)
{
    rig_secret_redact(text, size);
    rig_printable_line(text);
}

/* A line in the log, and an event. Evidence is logged only when it is new. */
static void report(const struct rig_nemesis *nemesis, struct injection *injection, enum rig_nemesis_step step,
                   struct rig_err *err)
{
    static const char *const said[] = {"injecting", "injected", "healing", "healed"};
    const bool failed = err != NULL && err->rc != RIG_OK;
    const bool withdrawn = failed && step == RIG_NEMESIS_INJECTED && err->rc == RIG_E_INTERRUPTED;
    make_safe(injection->evidence.text, sizeof injection->evidence.text);
    if (failed)
        make_safe(err->text, sizeof err->text);
    const struct rig_nemesis_event event = {
        .step = step,
        .injection = injection->number,
        .slot = injection->slot,
        .fault = injection->fault->name,
        .targets = injection->targets,
        .evidence = injection->evidence.text,
        .error = failed ? err->text : NULL,
        .withdrawn = withdrawn,
        .at_ns = rig_clock_now_ns(),
    };
    const char *text = failed ? err->text : step == RIG_NEMESIS_HEAL ? "" : event.evidence;
    rig_log(failed && !withdrawn ? RIG_LOG_ERROR : RIG_LOG_INFO, "nemesis", "%s #%llu %s%s%s%s%s",
            withdrawn ? "withdrawn"
            : failed  ? "FAILED"
                      : said[step],
            (unsigned long long)event.injection, event.fault, event.targets[0] == '\0' ? "" : " ", event.targets,
            text[0] == '\0' ? "" : ": ", text);
    nemesis->config.event(nemesis->config.context, &event);
}

/* Whether the plan lets the run continue when a fault of this entry fails. */
static bool may_fail(const struct rig_nemesis *nemesis, uint32_t entry)
{
    return nemesis->config.plan->entries[entry].schedule.on_failure == RIG_ON_FAILURE_CONTINUE;
}

/* `injection` NULL: the failure is not one of a single fault. */
static void note_failure(struct rig_nemesis *nemesis, const struct injection *injection, const char *doing,
                         const struct rig_err *why)
{
    struct rig_err err = {0};
    if (injection == NULL)
        (void)rig_fail(&err, why->rc, "nemesis: %s: %.800s", doing, why->text);
    else
        (void)rig_fail(&err, why->rc, "nemesis: %s %s%s%s: %.800s", doing, injection->fault->name,
                       injection->targets[0] == '\0' ? "" : " ", injection->targets, why->text);
    make_safe(err.text, sizeof err.text);
    const bool ends_run = injection == NULL || !may_fail(nemesis, injection->entry);
    pthread_mutex_lock(&nemesis->lock);
    const bool first = ends_run && nemesis->err.rc == RIG_OK;
    if (first)
        nemesis->err = err;
    pthread_mutex_unlock(&nemesis->lock);
    /* No error on the terminal: there it is printed as the reason of the run's failure. */
    rig_log(RIG_LOG_WARN, "nemesis", "%s", err.text + strlen("nemesis: "));
    if (first)
        nemesis->config.failed(nemesis->config.context, &err);
}

/* -- the site of a fault ------------------------------------------------------------------------------------------- */

static enum rig_rc site_undo(const struct rig_fault_site *site, const char *const *arguments, uint64_t *token,
                             struct rig_err *err)
{
    return rig_journal_command(rig_fault_context_of(site)->journal, "the undo of a fault", arguments, token, err);
}

static void site_forget(const struct rig_fault_site *site, uint64_t token)
{
    rig_journal_forget(rig_fault_context_of(site)->journal, token);
}

static struct injection *new_injection(struct rig_nemesis *nemesis, uint32_t entry, const struct rig_targets *targets,
                                       uint64_t random)
{
    const struct rig_nemesis_entry *planned = &nemesis->config.plan->entries[entry];
    struct injection *injection = calloc(1, sizeof *injection);
    if (injection == NULL)
        return NULL;
    const size_t state_size = planned->fault->state_size;
    injection->state = calloc(1, state_size == 0 ? 1 : state_size);
    if (injection->state == NULL) {
        free(injection);
        return NULL;
    }
    injection->number = ++nemesis->injections;
    injection->entry = entry;
    injection->fault = planned->fault;
    injection->site = (struct rig_fault_site){
        .core = nemesis->config.core,
        .cluster = nemesis->config.cluster,
        .run = nemesis->config.run,
        .options = planned->options,
        .node_count = targets->count,
        .random = random,
        .nemesis = &nemesis->context,
        .undo = site_undo,
        .forget = site_forget,
    };
    memcpy(injection->site.nodes, targets->at, targets->count * sizeof targets->at[0]);
    return injection;
}

/* -- one injection ------------------------------------------------------------------------------------------------- */

static bool is_over(const struct rig_nemesis *nemesis)
{
    return nemesis->config.is_over(nemesis->config.context);
}

/* The time from the start of the load. */
static int64_t load_ns(const struct rig_nemesis *nemesis)
{
    return rig_clock_now_ns() - nemesis->start_ns;
}

static void heal(struct rig_nemesis *nemesis, uint32_t slot)
{
    struct injection *injection = nemesis->under_way[slot];
    struct rig_err err = {0};
    report(nemesis, injection, RIG_NEMESIS_HEAL, NULL);
    enum rig_rc rc = rig_fault_heal(injection->fault, &injection->site, injection->state, &injection->evidence, &err);
    if (rc != RIG_OK) {
        /* Tries again: another fault, or a short failure, may have prevented the heal. */
        struct rig_err again = {0};
        rc = rig_fault_heal(injection->fault, &injection->site, injection->state, &injection->evidence, &again);
        if (rc == RIG_OK)
            err = (struct rig_err){0};
    }
    report(nemesis, injection, RIG_NEMESIS_HEALED, &err);
    if (rc != RIG_OK)
        note_failure(nemesis, injection, "cannot heal", &err);
    nemesis->under_way[slot] = NULL;
    nemesis->context.under_way--;
    describe_all(nemesis);
    nemesis->schedule->ops->over(nemesis->schedule, injection->entry, load_ns(nemesis));
    free(injection->state);
    free(injection);
}

static uint32_t free_slot(const struct rig_nemesis *nemesis)
{
    uint32_t slot = 0;
    while (slot < RIG_NEMESIS_UNDER_WAY_MOST && nemesis->under_way[slot] != NULL)
        slot++;
    return slot;
}

static bool share_node(const struct injection *a, const struct injection *b)
{
    for (uint32_t i = 0; i < a->site.node_count; i++) {
        for (uint32_t k = 0; k < b->site.node_count; k++) {
            if (a->site.nodes[i] == b->site.nodes[k])
                return true;
        }
    }
    return false;
}

/* Another fault that strikes one of the same nodes, or NULL. */
static const struct injection *find_rival(const struct rig_nemesis *nemesis, const struct injection *injection)
{
    for (uint32_t slot = 0; slot < RIG_NEMESIS_UNDER_WAY_MOST; slot++) {
        const struct injection *other = nemesis->under_way[slot];
        if (other != NULL && other != injection && share_node(other, injection))
            return other;
    }
    return NULL;
}

/* An effect hidden by another fault on the same node (it is down, say) is withdrawn. */
static enum rig_rc forgive_rival(const struct rig_nemesis *nemesis, const struct injection *injection, enum rig_rc rc,
                                 struct rig_err *err)
{
    const struct injection *rival = rc == RIG_E_CLUSTER ? find_rival(nemesis, injection) : NULL;
    if (rival == NULL)
        return rc;
    const struct rig_err why = *err;
    *err = (struct rig_err){0};
    return rig_fail(err, RIG_E_INTERRUPTED, "%.400s, while %s of %s was under way", why.text, rival->fault->name,
                    rival->targets);
}

/* When the load ends the clients leave: an effect not seen by then may have had no client to strike. */
static enum rig_rc forgive_end(const struct rig_nemesis *nemesis, enum rig_rc rc, struct rig_err *err)
{
    if (rc != RIG_E_CLUSTER || !is_over(nemesis))
        return rc;
    const struct rig_err why = *err;
    *err = (struct rig_err){0};
    return rig_fail(err, RIG_E_INTERRUPTED, "%.400s, and the load has ended", why.text);
}

/* Whether one of the two would resume what the other has stopped. */
static bool is_clash(const struct rig_fault *a, const struct rig_fault *b)
{
    const uint64_t both = RIG_FAULT_STOPS | RIG_FAULT_RESUMES;
    return ((a->needs & RIG_FAULT_RESUMES) != 0 && (b->needs & both) != 0) ||
           ((b->needs & RIG_FAULT_RESUMES) != 0 && (a->needs & both) != 0);
}

static enum rig_rc strike(const struct rig_nemesis *nemesis, struct injection *injection, struct rig_err *err)
{
    for (uint32_t slot = 0; slot < RIG_NEMESIS_UNDER_WAY_MOST; slot++) {
        const struct injection *other = nemesis->under_way[slot];
        if (other != NULL && other != injection && is_clash(injection->fault, other->fault) &&
            share_node(injection, other))
            return rig_fail(err, RIG_E_INTERRUPTED, "%s of %s is under way, and each of the two stops processes",
                            other->fault->name, other->targets);
    }
    return rig_fault_inject(injection->fault, &injection->site, injection->state, &injection->evidence, err);
}

static void inject(struct rig_nemesis *nemesis, struct injection *injection, int64_t length_ns)
{
    const uint32_t slot = free_slot(nemesis);
    RIG_INVARIANT(slot < RIG_NEMESIS_UNDER_WAY_MOST);
    struct rig_err err = {0};
    nemesis->under_way[slot] = injection;
    injection->slot = slot;
    nemesis->context.under_way++;
    describe_all(nemesis);
    report(nemesis, injection, RIG_NEMESIS_INJECT, NULL);
    enum rig_rc rc = strike(nemesis, injection, &err);
    rc = forgive_rival(nemesis, injection, rc, &err);
    rc = forgive_end(nemesis, rc, &err);
    if (rc != RIG_OK && nemesis->config.core->stopping())
        err.rc = rc = RIG_E_INTERRUPTED; /* given up because the run ends */
    report(nemesis, injection, RIG_NEMESIS_INJECTED, &err);
    injection->heal_ns = rig_clock_now_ns() + length_ns;
    if (rc == RIG_OK)
        return;
    if (rc != RIG_E_INTERRUPTED)
        note_failure(nemesis, injection, "no effect of", &err);
    heal(nemesis, slot);
}

/* Skips the next injection of the entry. */
static void skip(struct rig_nemesis *nemesis, uint32_t entry)
{
    (void)nemesis->schedule->ops->take(nemesis->schedule, entry, load_ns(nemesis));
    nemesis->schedule->ops->over(nemesis->schedule, entry, load_ns(nemesis));
    nemesis->target_missing_ns = 0;
}

/* The target nodes; false: none fits at the moment, or none ever will (then the run fails, or the fault is skipped). */
static bool find_targets(struct rig_nemesis *nemesis, const struct rig_scheduled_fault *fault, struct rig_rng *rng,
                         struct rig_targets *targets, char text[TARGETS_BYTES])
{
    const uint32_t entry = fault->entry;
    const struct rig_nemesis_entry *planned = &nemesis->config.plan->entries[entry];
    const char *target = fault->target != NULL ? fault->target : rig_fleet_target(planned);
    struct rig_fleet *fleet = &nemesis->context.fleet;
    struct rig_node_status nodes[RIG_NODES_MOST];
    struct rig_err err = {0};
    text[0] = '\0';
    *targets = (struct rig_targets){.count = 0};
    if (target[0] == '\0')
        return true; /* a fault without a node */
    for (uint32_t i = 0; i < fleet->count; i++)
        rig_fleet_status(fleet, i, &nodes[i]);
    const enum rig_rc rc = rig_targets_resolve(target, nodes, fleet->count, rng, targets, &err);
    if (rc == RIG_OK) {
        rig_targets_text(targets, nodes, text, TARGETS_BYTES);
        nemesis->target_missing_ns = 0;
        return true;
    }
    const int64_t now_ns = rig_clock_now_ns();
    if (nemesis->target_missing_ns == 0)
        nemesis->target_missing_ns = now_ns;
    nemesis->target_missing = err;
    nemesis->target_missing_entry = entry;
    if (rc == RIG_E_PLAN || now_ns - nemesis->target_missing_ns > target_wait_ns) {
        err.rc = RIG_E_CLUSTER;
        const struct injection without_target = {.entry = entry, .fault = planned->fault, .targets = ""};
        note_failure(nemesis, &without_target, "no target for", &err);
        if (may_fail(nemesis, entry))
            skip(nemesis, entry);
    }
    return false;
}

static void happen(struct rig_nemesis *nemesis, const struct rig_scheduled_fault *fault)
{
    struct rig_rng rng;
    struct rig_targets targets;
    char text[TARGETS_BYTES];
    rig_rng_init(&rng, nemesis->config.seed, injection_streams + nemesis->injections);
    const uint64_t random = rig_rng_next(&rng);
    if (!find_targets(nemesis, fault, &rng, &targets, text))
        return;
    struct injection *injection = new_injection(nemesis, fault->entry, &targets, random);
    if (injection == NULL) {
        struct rig_err err = {0};
        (void)rig_no_memory(&err, "an injection");
        note_failure(nemesis, NULL, "a fault", &err);
        return;
    }
    (void)snprintf(injection->targets, sizeof injection->targets, "%s", text);
    const int64_t length_ns = nemesis->schedule->ops->take(nemesis->schedule, fault->entry, load_ns(nemesis));
    inject(nemesis, injection, length_ns);
}

/* -- the thread ---------------------------------------------------------------------------------------------------- */

/* The network first: starting nodes again would wait for cut links. */
static void heal_all(struct rig_nemesis *nemesis)
{
    for (int round = 0; round < 2; round++) {
        for (uint32_t slot = RIG_NEMESIS_UNDER_WAY_MOST; slot-- > 0;) {
            const struct injection *injection = nemesis->under_way[slot];
            const bool network = injection != NULL && (injection->fault->needs & RIG_NEED_ROUTES) != 0;
            if (injection != NULL && network == (round == 0))
                heal(nemesis, slot);
        }
    }
}

static bool anything_under_way(const struct rig_nemesis *nemesis)
{
    for (uint32_t slot = 0; slot < RIG_NEMESIS_UNDER_WAY_MOST; slot++) {
        if (nemesis->under_way[slot] != NULL)
            return true;
    }
    return false;
}

/* A fault that needs care gets it; one that fails meanwhile is over. */
static void tend(struct rig_nemesis *nemesis, uint32_t slot)
{
    struct injection *injection = nemesis->under_way[slot];
    struct rig_err err = {0};
    if (injection->fault->tend == NULL || injection->fault->tend(&injection->site, injection->state, &err) == RIG_OK)
        return;
    note_failure(nemesis, injection, "no lasting effect of", &err);
    injection->heal_ns = 0;
}

/* Does the due work; returns the time of the next one (monotonic). */
static int64_t act(struct rig_nemesis *nemesis)
{
    int64_t now_ns = rig_clock_now_ns();
    int64_t next_ns = now_ns + tick_ns;
    for (uint32_t slot = 0; slot < RIG_NEMESIS_UNDER_WAY_MOST; slot++) {
        const struct injection *injection = nemesis->under_way[slot];
        if (injection != NULL)
            tend(nemesis, slot);
        if (injection != NULL && injection->heal_ns <= now_ns)
            heal(nemesis, slot);
        else if (injection != NULL && injection->heal_ns < next_ns)
            next_ns = injection->heal_ns;
    }
    const struct rig_scheduled_fault fault = nemesis->schedule->ops->next(nemesis->schedule);
    const bool room = nemesis->config.plan->options.overlap ? free_slot(nemesis) < RIG_NEMESIS_UNDER_WAY_MOST
                                                            : !anything_under_way(nemesis);
    if (fault.at_ns == RIG_SCHEDULE_NEVER || !room || nemesis->err.rc != RIG_OK)
        return next_ns;
    now_ns = rig_clock_now_ns();
    const int64_t due_ns = nemesis->start_ns + fault.at_ns;
    if (due_ns > now_ns)
        return due_ns < next_ns ? due_ns : next_ns;
    if (!is_over(nemesis))
        happen(nemesis, &fault);
    return nemesis->target_missing_ns != 0 ? next_ns : now_ns;
}

/* All nodes up and healthy. */
static void recover(struct rig_nemesis *nemesis)
{
    struct rig_err err = {0};
    struct rig_fleet *fleet = &nemesis->context.fleet;
    const int64_t start_ns = rig_clock_now_ns();
    enum rig_rc rc = nemesis->injections == 0 ? RIG_OK : rig_fleet_restore(fleet, &err);
    if (rc == RIG_OK)
        rc = rig_fleet_await_health(fleet, nemesis->config.plan->options.recover_ns, &err);
    if (rc == RIG_OK)
        rig_log(RIG_LOG_INFO, "nemesis", "all nodes are healthy, after %.1f s",
                (double)(rig_clock_now_ns() - start_ns) / 1e9);
    else if (!nemesis->config.core->stopping())
        note_failure(nemesis, NULL, "after the load", &err);
}

static void wait_until(struct rig_nemesis *nemesis, int64_t until_ns)
{
    const struct timespec until = {.tv_sec = until_ns / RIG_NS_PER_S, .tv_nsec = until_ns % RIG_NS_PER_S};
    (void)pthread_cond_timedwait(&nemesis->moved, &nemesis->lock, &until);
}

/* When every fault searched for a target until the load was over, the run tested nothing under faults. */
static void complain_of_nothing(struct rig_nemesis *nemesis)
{
    if (nemesis->injections > 0 || nemesis->target_missing_ns == 0 || nemesis->config.core->stopping() ||
        may_fail(nemesis, nemesis->target_missing_entry))
        return;
    nemesis->target_missing.rc = RIG_E_CLUSTER;
    note_failure(nemesis, NULL, "no fault was injected before the load ended", &nemesis->target_missing);
    nemesis->target_missing_ns = 0;
}

static void heal_and_recover(struct rig_nemesis *nemesis, bool recover_too)
{
    heal_all(nemesis);
    complain_of_nothing(nemesis);
    if (recover_too)
        recover(nemesis);
}

static void *nemesis_main(void *argument)
{
    struct rig_nemesis *nemesis = argument;
    int64_t next_ns = rig_clock_now_ns() + tick_ns;
    pthread_mutex_lock(&nemesis->lock);
    while (!nemesis->leave_wanted) {
        const bool to_heal_all =
            nemesis->heal_all_wanted && (!nemesis->all_healed || (nemesis->recover_wanted && !nemesis->recovered));
        const bool to_act = !nemesis->all_healed && nemesis->start_ns != 0;
        const bool recover_too = nemesis->recover_wanted;
        if (!to_heal_all && (!to_act || rig_clock_now_ns() < next_ns)) {
            if (!to_act)
                next_ns = rig_clock_now_ns() + tick_ns;
            wait_until(nemesis, next_ns);
            continue;
        }
        pthread_mutex_unlock(&nemesis->lock);
        if (to_heal_all || is_over(nemesis))
            heal_and_recover(nemesis, to_heal_all && recover_too);
        else
            next_ns = act(nemesis);
        if (is_over(nemesis))
            next_ns = rig_clock_now_ns() + tick_ns;
        pthread_mutex_lock(&nemesis->lock);
        if (to_heal_all) {
            nemesis->all_healed = true;
            nemesis->recovered = recover_too;
            nemesis->described = 0;
            (void)pthread_cond_broadcast(&nemesis->moved);
        }
    }
    pthread_mutex_unlock(&nemesis->lock);
    heal_all(nemesis);
    return NULL;
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

static void destroy(struct rig_nemesis *nemesis)
{
    rig_planned_schedule_done(&nemesis->planned);
    (void)pthread_mutex_destroy(&nemesis->lock);
    (void)pthread_cond_destroy(&nemesis->moved);
    free(nemesis);
}

static void init_locks(struct rig_nemesis *nemesis)
{
    pthread_condattr_t attributes;
    RIG_INVARIANT(pthread_condattr_init(&attributes) == 0);
    RIG_INVARIANT(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    RIG_INVARIANT(pthread_cond_init(&nemesis->moved, &attributes) == 0);
    (void)pthread_condattr_destroy(&attributes);
    RIG_INVARIANT(pthread_mutex_init(&nemesis->lock, NULL) == 0);
}

static enum rig_rc start_thread(struct rig_nemesis *nemesis, struct rig_err *err)
{
    const int error = rig_thread_start(&nemesis->thread, nemesis_main, nemesis);
    return error == 0 ? RIG_OK : rig_fail(err, RIG_E_LIMIT, "cannot start the nemesis's thread: %s", strerror(error));
}

enum rig_rc rig_nemesis_start(const struct rig_nemesis_config *config, struct rig_nemesis **nemesis,
                              struct rig_err *err)
{
    struct rig_nemesis *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_no_memory(err, "the nemesis");
    made->config = *config;
    made->context.journal = config->journal;
    made->context.setup = config->setup;
    made->context.is_over = config->is_over;
    made->context.context = config->context;
    init_locks(made);
    made->context.fleet = (struct rig_fleet){.cluster = config->cluster,
                                             .run = config->run,
                                             .run_name = config->run_name,
                                             .started = config->started,
                                             .plan = config->plan,
                                             .stopping = config->core->stopping};
    enum rig_rc rc = rig_fleet_init(&made->context.fleet, err);
    made->schedule = config->schedule != NULL ? config->schedule : &made->planned.schedule;
    if (rc == RIG_OK && config->schedule == NULL)
        rc = rig_planned_schedule_init(&made->planned, config->plan, config->seed, err);
    if (rc == RIG_OK)
        rc = start_thread(made, err);
    if (rc == RIG_OK)
        *nemesis = made;
    else
        destroy(made);
    return rc;
}

void rig_nemesis_begin(struct rig_nemesis *nemesis, int64_t start_ns)
{
    pthread_mutex_lock(&nemesis->lock);
    nemesis->start_ns = start_ns;
    (void)pthread_cond_broadcast(&nemesis->moved);
    pthread_mutex_unlock(&nemesis->lock);
}

enum rig_rc rig_nemesis_heal_all(struct rig_nemesis *nemesis, bool recover, struct rig_err *err)
{
    pthread_mutex_lock(&nemesis->lock);
    nemesis->heal_all_wanted = true;
    nemesis->recover_wanted = recover;
    if (recover && nemesis->described == 0)
        (void)snprintf(nemesis->describe[nemesis->described++], sizeof nemesis->describe[0], "recovery of all nodes");
    (void)pthread_cond_broadcast(&nemesis->moved);
    while (!nemesis->all_healed || (recover && !nemesis->recovered))
        (void)pthread_cond_wait(&nemesis->moved, &nemesis->lock);
    const enum rig_rc rc = nemesis->err.rc == RIG_OK ? RIG_OK : rig_fail(err, nemesis->err.rc, "%s", nemesis->err.text);
    pthread_mutex_unlock(&nemesis->lock);
    return rc;
}

void rig_nemesis_free(struct rig_nemesis *nemesis)
{
    if (nemesis == NULL)
        return;
    pthread_mutex_lock(&nemesis->lock);
    nemesis->leave_wanted = true;
    (void)pthread_cond_broadcast(&nemesis->moved);
    pthread_mutex_unlock(&nemesis->lock);
    (void)pthread_join(nemesis->thread, NULL);
    destroy(nemesis);
}
