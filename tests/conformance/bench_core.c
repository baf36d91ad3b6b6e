#include "tests/conformance/bench_core.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/option_parse.h"
#include "history/model/names.h"

static const size_t default_element_limit = (size_t)1 << 20;

/* ---- the services ---- */

static void core_log(int level, const char *area, const char *format, ...) RIG_PRINTF(3, 4);

static void core_log(int level, const char *area, const char *format, ...)
{
    if (level > 1)
        return;
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "%s: ", area);
    (void)vfprintf(stderr, format, arguments);
    (void)fputc('\n', stderr);
    va_end(arguments);
}

static struct rig_names bench_names = {.lock = PTHREAD_MUTEX_INITIALIZER};

const char *bench_name(int64_t number)
{
    struct rig_name_vec known = {0};
    const char *name = NULL;
    if (rig_names_follow(&bench_names, &known) && number >= 0 && (size_t)number < known.count)
        name = known.at[number];
    rig_name_vec_done(&known);
    return name;
}

static int64_t *core_elements(struct rig_transaction *transaction, size_t count)
{
    const struct bench_client *client = transaction->core_private;
    size_t wanted = transaction->element_count + count;
    if (wanted > client->element_limit)
        return NULL;
    if (wanted > transaction->element_capacity) {
        /* Always moves the array, so that a driver that keeps an old pointer fails. */
        int64_t *moved = malloc((wanted + 1) * sizeof *moved);
        if (moved == NULL)
            return NULL;
        if (transaction->element_count > 0)
            memcpy(moved, transaction->elements, transaction->element_count * sizeof *moved);
        free(transaction->elements);
        transaction->elements = moved;
        transaction->element_capacity = wanted;
    }
    return transaction->elements + transaction->element_count;
}

static bool core_hold(struct rig_transaction *transaction)
{
    struct bench_client *client = transaction->core_private;
    client->hold_calls++;
    rig_clock_sleep_until_ns(rig_clock_now_ns() + transaction->hold.duration_ns);
    return true;
}

static bool core_delay(struct rig_transaction *transaction)
{
    struct bench_client *client = transaction->core_private;
    client->delay_calls++;
    rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
    return true;
}

static enum rig_rc core_route(const char *from, const char *to, const char *host, uint16_t port, uint16_t *via,
                              struct rig_err *err)
{
    (void)from, (void)to, (void)host, (void)err;
    *via = port;
    return RIG_OK;
}

static uint64_t core_remind(const char *text)
{
    (void)text;
    return 0;
}

static void core_forget(uint64_t reminder)
{
    (void)reminder;
}

static bool core_routed(void)
{
    return false;
}

static bool core_stopping(void)
{
    return false;
}

static int64_t core_name(const char *text)
{
    return rig_names_number(&bench_names, text);
}

static const struct rig_core core = {
    .abi = RIG_DRIVER_ABI,
    .log = core_log,
    .now_ns = rig_clock_now_ns,
    .elements = core_elements,
    .hold = core_hold,
    .delay = core_delay,
    .stopping = core_stopping,
    .route = core_route,
    .routed = core_routed,
    .name = core_name,
    .remind = core_remind,
    .forget = core_forget,
};

/* ---- options ---- */

static void refuse(const char *text)
{
    (void)fprintf(stderr, "%s\n", text);
    exit(64);
}

static enum rig_rc parse_value(const struct rig_option *option, const char *text, struct rig_arena *arena,
                               void *options, struct rig_err *err)
{
    struct rig_text_list list;
    if (!rig_option_is_list(option))
        return rig_option_parse(option, text, options, err);
    const enum rig_rc rc = rig_option_split_list(arena, text, &list, err);
    if (rc == RIG_OK)
        rig_option_store_list(option, &list, options);
    return rc;
}

static void override(const struct bench_settings *settings, const char *text, struct rig_arena *arena, void *options)
{
    char name[128];
    size_t length = strcspn(text, "=");
    if (text[length] != '=' || length >= sizeof name)
        refuse("an override is written as option=value");
    memcpy(name, text, length);
    name[length] = '\0';
    const struct rig_option *option =
        settings->driver->options == NULL ? NULL : rig_option_find(settings->driver->options, name);
    struct rig_err err = {0};
    if (option == NULL)
        refuse("the driver has no such option");
    else if (parse_value(option, text + length + 1, arena, options, &err) != RIG_OK)
        refuse(err.text);
}

void *bench_options(const struct bench_settings *settings, struct rig_arena *arena)
{
    const struct rig_driver *driver = settings->driver;
    void *options = rig_arena_alloc(arena, driver->options_size + 1);
    struct rig_err err = {0};
    if (options == NULL)
        refuse("out of memory");
    if (driver->options != NULL && rig_option_defaults(driver->options, options, arena, &err) != RIG_OK)
        refuse(err.text);
    for (size_t i = 0; i < settings->override_count; i++)
        override(settings, settings->overrides[i], arena, options);
    return options;
}

/* ---- runs ---- */

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

void bench_run_stop(struct bench_run *run)
{
    const struct rig_driver *driver = run->driver;
    if (run->set_up && driver->teardown != NULL)
        driver->teardown(run->run);
    if (run->cluster_started)
        driver->cluster->stop(run->run);
    if (run->run != NULL)
        driver->done(run->run);
    free(run->run);
    rig_arena_done(&run->arena);
    (void)nftw(run->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    *run = (struct bench_run){0};
}

/* The folders of all runs of this process; a test that fails leaves its run behind. */
static char all_folders[128];
static unsigned folder_count;

static void remove_folders(void)
{
    (void)nftw(all_folders, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void bench_folder_make(struct bench_run *run)
{
    const bool first = folder_count++ == 0;
    const char *parent = getenv("TMPDIR");
    if (first)
        (void)snprintf(all_folders, sizeof all_folders, "%s/rig-conformance-XXXXXX", parent == NULL ? "/tmp" : parent);
    if (first && (mkdtemp(all_folders) == NULL || chmod(all_folders, 0711) != 0 || atexit(remove_folders) != 0))
        refuse("cannot make a temporary folder");
    (void)snprintf(run->folder, sizeof run->folder, "%s/%u", all_folders, folder_count);
    if (mkdir(run->folder, 0711) != 0 || chmod(run->folder, 0711) != 0)
        refuse("cannot make a temporary folder");
}

enum rig_rc bench_run_start(struct bench_run *run, const struct bench_settings *settings, enum rig_workload workload,
                            uint32_t client_count, uint64_t seed, struct rig_err *err)
{
    const struct rig_driver *driver = settings->driver;
    *run = (struct bench_run){.driver = driver};
    rig_arena_init(&run->arena, 0);
    run->options = bench_options(settings, &run->arena);
    bench_folder_make(run);
    (void)snprintf(run->name, sizeof run->name, "rig_bench_%ld_%llx", (long)getpid(),
                   (unsigned long long)core.now_ns());
    run->run = calloc(1, driver->run_size + 1);
    run->env = (struct rig_run_env){
        .core = &core,
        .options = run->options,
        .workload = workload,
        .client_count = client_count,
        .seed = seed,
        .work_dir = run->folder,
        .log_dir = run->folder,
        .run_name = run->name,
        .rows = settings->rows,
        .accounts = settings->accounts,
        .prefilled_keys = settings->prefilled_keys,
        .calls = settings->calls,
    };
    enum rig_rc rc = RIG_OK;
    if (driver->check != NULL)
        rc = driver->check(run->options, workload, err);
    if (rc == RIG_OK)
        rc = driver->init(run->run, &run->env, err);
    if (rc == RIG_OK && driver->cluster != NULL && driver->cluster->wanted(run->options)) {
        run->cluster_started = true;
        rc = driver->cluster->start(run->run, err);
    }
    if (rc == RIG_OK && driver->setup != NULL) {
        run->set_up = true;
        rc = driver->setup(run->run, err);
    }
    if (rc != RIG_OK)
        bench_run_stop(run);
    return rc;
}

/* ---- clients ---- */

enum rig_rc bench_client_open(struct bench_client *client, struct bench_run *run, uint32_t index, struct rig_err *err)
{
    client->run = run;
    client->index = index;
    client->session = calloc(1, run->driver->session_size + 1);
    if (client->element_limit == 0)
        client->element_limit = default_element_limit;
    if (client->session == NULL)
        return rig_fail(err, RIG_E_LIMIT, "out of memory");
    return run->driver->open(client->session, run->run, index, err);
}

void bench_client_close(struct bench_client *client, bool last)
{
    client->run->driver->close(client->session, last);
    free(client->session);
    client->session = NULL;
}

void bench_client_done(struct bench_client *client)
{
    free(client->transaction.reads);
    free(client->transaction.elements);
    client->transaction = (struct rig_transaction){0};
}

enum rig_outcome bench_client_transact_held(struct bench_client *client, const struct rig_op *ops, uint32_t op_count,
                                            const struct rig_hold *hold)
{
    const struct rig_driver *driver = client->run->driver;
    struct rig_transaction *transaction = &client->transaction;
    free(transaction->reads);
    free(transaction->elements);
    *transaction = (struct rig_transaction){
        .ops = ops,
        .op_count = op_count,
        .hold = *hold,
        .rollback = client->rollback,
        .rolls_back = client->rolls_back,
        .delayed = client->delayed,
        .client = client->index,
        .read_only = true,
        .reads = calloc(op_count + 1u, sizeof(struct rig_read)),
        .core_private = client,
    };
    for (uint32_t i = 0; i < op_count; i++)
        if (ops[i].kind != RIG_OP_READ_LIST && ops[i].kind != RIG_OP_READ_REGISTER)
            transaction->read_only = false;
    client->hold_calls = client->delay_calls = 0;
    client->invoke_ns = driver->now_ns == NULL ? rig_clock_now_ns() : driver->now_ns(client->session);
    enum rig_outcome outcome = driver->transact(client->session, transaction);
    client->complete_ns = driver->now_ns == NULL ? rig_clock_now_ns() : driver->now_ns(client->session);
    return outcome;
}

enum rig_outcome bench_client_transact(struct bench_client *client, const struct rig_op *ops, uint32_t op_count)
{
    const struct rig_hold none = {0};
    return bench_client_transact_held(client, ops, op_count, &none);
}
