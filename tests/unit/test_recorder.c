#include "tests/unit/cmocka_first.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "history/source/load.h"
#include "history/model/read_list.h"
#include "history/record/record_frame.h"
#include "history/record/recorder.h"
#include "tests/history/history_model.h"

static struct rig_rng rng;
static char folder[64];
static char path[96];

static int seeded(void **state)
{
    (void)state;
    uint64_t seed = rig_rng_fresh_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    rig_rng_init(&rng, seed, 0);
    return 0;
}

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/rig-test-recorder-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    (void)snprintf(path, sizeof path, "%s/history.rig", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static struct rig_recorder *open_recorder(struct rig_recorder_options options)
{
    options.path = path;
    struct rig_recorder *recorder = NULL;
    struct rig_err err = {0};
    if (rig_recorder_open(&options, &recorder, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return recorder;
}

static void close_recorder(struct rig_recorder *recorder)
{
    struct rig_err err = {0};
    if (rig_recorder_close(recorder, &err) != RIG_OK)
        fail_msg("%s", err.text);
}

static struct rig_history *load(void)
{
    struct rig_load_options options = {0};
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    if (rig_history_load(path, &options, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

static void record_event(struct rig_recorder *recorder, const struct model *model, struct model_event event)
{
    const struct model_txn *txn = &model->txns[event.txn];
    struct rig_channel *channel = rig_recorder_channel(recorder, txn->channel);
    int64_t times[2 * MODEL_MAX_OPS];
    for (uint32_t i = 0; i < 2 * model_spans(txn).count; i++)
        times[i] = txn->invoke_ns + txn->times[i];
    if (event.is_completion)
        rig_channel_columns(channel, &txn->columns, times);
    if (event.is_completion)
        rig_channel_complete(channel, txn->complete_ns, txn->outcome, txn->has_reads ? txn->reads : NULL, txn->elements,
                             txn->error);
    else
        rig_channel_invoke(channel, txn->process, txn->invoke_ns, txn->invoke_ns, txn->ops, txn->op_count);
}

static const struct rig_rank third = {.number = 2, .count = 4, .run = {1, 2, 255}};

static struct rig_clock_sample sample_at(uint32_t event)
{
    return (struct rig_clock_sample){.local_ns = (int64_t)event * 1000 - 7,
                                     .offset_ns = event % 2 == 0 ? INT64_MIN / 2 : (int64_t)event,
                                     .error_ns = event};
}

/* A sample before every 500th event, the first one among them. */
static void assert_samples(const struct rig_history *history, uint32_t event_count)
{
    assert_int_equal(history->rank.number, third.number);
    assert_int_equal(history->rank.count, third.count);
    assert_memory_equal(history->rank.run, third.run, sizeof third.run);
    assert_int_equal(history->clock_count, (event_count + 499) / 500);
    for (uint32_t i = 0; i < history->clock_count; i++) {
        const struct rig_clock_sample wanted = sample_at(i * 500);
        assert_int_equal(history->clock[i].local_ns, wanted.local_ns);
        assert_int_equal(history->clock[i].offset_ns, wanted.offset_ns);
        assert_int_equal(history->clock[i].error_ns, wanted.error_ns);
    }
}

/* Written once more, as rig convert does. */
static void assert_samples_are_kept(const struct rig_history *history, uint32_t event_count)
{
    struct rig_err err = {0};
    const struct rig_save_options options = {.form = RIG_FORM_RIG};
    if (rig_history_save(history, path, &options, &err) != RIG_OK)
        fail_msg("%s", err.text);
    struct rig_history *again = load();
    assert_samples(again, event_count);
    assert_same_history(again, history);
    rig_history_free(again);
}

static void random_runs_come_back(void **state)
{
    (void)state;
    for (unsigned variant = 0; variant < 6; variant++) {
        struct model model;
        struct model_options options = {
            .workload = variant % 2 == 0 ? RIG_WORKLOAD_LIST_APPEND : RIG_WORKLOAD_RW_REGISTER,
            .txn_count = 20000,
            .channel_count = 1 + variant * 3,
            .key_count = 200,
            .first_ns = 1,
            .columns = variant > 1,
        };
        struct rig_names names;
        rig_names_init(&names);
        for (int64_t i = 0; i < MODEL_NAMES; i++)
            assert_true(rig_names_number(&names, model_names[i]) == i);
        model_make(&model, &options, &rng);
        /* The last variants use rings of 4 KiB, which records fill and overtake. */
        struct rig_recorder *recorder = open_recorder((struct rig_recorder_options){
            .workload = options.workload,
            .channel_count = options.channel_count,
            .channel_bytes = variant < 4 ? 0 : 1,
            .simulated_time = true,
            .columns = options.columns ? RIG_COLUMNS_KEPT : 0,
            .names = &names,
            .rank = variant % 2 == 0 ? NULL : &third,
            .meta = "name: test\n",
        });
        for (uint32_t i = 0; i < model.event_count; i++) {
            const struct rig_clock_sample sample = sample_at(i);
            if (variant % 2 != 0 && i % 500 == 0)
                rig_recorder_clock(recorder, &sample);
            record_event(recorder, &model, model.events[i]);
        }
        close_recorder(recorder);
        struct rig_history *history = load();
        struct rig_history *wanted = model_history(&model, model.event_count);
        assert_same_history(history, wanted);
        assert_false(history->truncated);
        assert_string_equal(history->meta, "name: test\n");
        if (variant % 2 == 0)
            assert_int_equal(history->rank.count, 0);
        else
            assert_samples(history, model.event_count);
        assert_int_equal(history->rank.origin_ns, 0);
        if (variant % 2 != 0)
            assert_samples_are_kept(history, model.event_count);
        rig_names_done(&names);
        rig_history_free(wanted);
        rig_history_free(history);
        model_done(&model);
        assert_int_equal(unlink(path), 0);
    }
}

static const struct rig_op append_one = {.kind = RIG_OP_APPEND, .key = 1, .value = 1};

static void times_count_from_the_origin(void **state)
{
    (void)state;
    struct rig_recorder *recorder = open_recorder((struct rig_recorder_options){.channel_count = 1, .origin_ns = 1000});
    struct rig_channel *channel = rig_recorder_channel(recorder, 0);
    rig_channel_invoke(channel, 4, 1500, 1200, &append_one, 1);
    rig_channel_complete(channel, 1500, RIG_OUTCOME_OK, NULL, NULL, NULL);
    rig_channel_invoke(channel, 4, 1500, 1500, &append_one, 1); /* at once */
    rig_channel_complete(channel, 1500, RIG_OUTCOME_OK, NULL, NULL, NULL);
    close_recorder(recorder);
    struct rig_history *history = load();
    assert_int_equal(history->txn_count, 2);
    assert_int_equal(history->txns[0].invoke_ns, 500);
    assert_int_equal(history->txns[0].complete_ns, 500);
    assert_int_equal(history->txns[0].complete_at, 1);
    assert_int_equal(history->txns[1].invoke_ns, 501);
    assert_int_equal(history->txns[1].invoke_at, 2);
    rig_history_free(history);
}

/* Faults are recorded between the transactions, by their times, and whole; a long text is cut. */
static void faults_stand_among_the_transactions(void **state)
{
    (void)state;
    static char longest[2000];
    memset(longest, 'x', sizeof longest - 1);
    struct rig_recorder *recorder =
        open_recorder((struct rig_recorder_options){.channel_count = 1, .origin_ns = 1000, .faults = true});
    struct rig_channel *channel = rig_recorder_channel(recorder, 0);
    struct rig_fault_event event = {
        .time_ns = 1200, .injection = 1, .fault = "kill", .targets = "pg-1, pg-2", .text = ""};
    rig_channel_invoke(channel, 4, 1100, 1100, &append_one, 1);
    rig_recorder_fault(recorder, &event);
    rig_channel_complete(channel, 1300, RIG_OUTCOME_OK, NULL, NULL, NULL);
    event = (struct rig_fault_event){.time_ns = 1400,
                                     .injection = UINT32_MAX,
                                     .step = RIG_FAULT_HEAL,
                                     .failed = true,
                                     .fault = "f",
                                     .targets = "",
                                     .text = longest,
                                     .ok = 1,
                                     .fail = UINT64_MAX,
                                     .info = 3};
    rig_recorder_fault(recorder, &event);
    close_recorder(recorder);
    struct rig_history *history = load();
    assert_int_equal(history->txn_count, 1);
    assert_int_equal(history->txns[0].invoke_at, 0);
    assert_int_equal(history->txns[0].complete_at, 2);
    assert_int_equal(history->fault_count, 2);
    const struct rig_fault_event *first = &history->faults[0], *last = &history->faults[1];
    assert_int_equal(first->time_ns, 200);
    assert_int_equal(first->position, 1);
    assert_int_equal(first->injection, 1);
    assert_int_equal(first->step, RIG_FAULT_INJECT);
    assert_false(first->failed);
    assert_string_equal(first->fault, "kill");
    assert_string_equal(first->targets, "pg-1, pg-2");
    assert_string_equal(first->text, "");
    assert_int_equal(last->position, 3);
    assert_int_equal(last->injection, UINT32_MAX);
    assert_int_equal(last->step, RIG_FAULT_HEAL);
    assert_true(last->failed);
    assert_string_equal(last->targets, "");
    assert_int_equal(strlen(last->text), RIG_RECORDER_ERROR_BYTES);
    assert_true(last->ok == 1 && last->fail == UINT64_MAX && last->info == 3);
    rig_history_free(history);
}

static void wait_for_events(const struct rig_recorder *recorder, uint64_t count)
{
    struct rig_recorder_stats stats = {0};
    while (stats.events < count) {
        (void)sched_yield();
        rig_recorder_stats(recorder, &stats);
    }
}

/* Events with a time before that of events that were written already. */
static void late_events_move_to_the_last_time(void **state)
{
    (void)state;
    struct rig_recorder *recorder = open_recorder((struct rig_recorder_options){.channel_count = 2, .origin_ns = 1});
    struct rig_channel *first = rig_recorder_channel(recorder, 0);
    struct rig_channel *second = rig_recorder_channel(recorder, 1);
    rig_channel_invoke(first, 0, 1001, 1001, &append_one, 1);
    rig_channel_complete(first, 2001, RIG_OUTCOME_OK, NULL, NULL, NULL);
    wait_for_events(recorder, 2);
    rig_channel_invoke(second, 1, 501, 501, &append_one, 1);
    rig_channel_complete(second, 3001, RIG_OUTCOME_OK, NULL, NULL, NULL);
    close_recorder(recorder);
    struct rig_history *history = load();
    assert_int_equal(history->txn_count, 2);
    assert_int_equal(history->txns[1].process, 1);
    assert_int_equal(history->txns[1].invoke_ns, 2000);
    assert_int_equal(history->txns[1].invoke_at, 2);
    assert_int_equal(history->txns[1].complete_ns, 3000);
    rig_history_free(history);
}

/* The operations of a program are known at its end: until then nothing later is written, and its time stays. */
static void a_transaction_that_has_begun_keeps_its_time(void **state)
{
    (void)state;
    enum { LATER = 20000 };
    struct rig_recorder *recorder =
        open_recorder((struct rig_recorder_options){.channel_count = 2, .channel_bytes = 1 << 12, .origin_ns = 1});
    struct rig_channel *first = rig_recorder_channel(recorder, 0);
    struct rig_channel *second = rig_recorder_channel(recorder, 1);
    rig_channel_invoke(first, 0, 1001, 1001, &append_one, 1);
    rig_channel_complete(first, 2001, RIG_OUTCOME_OK, NULL, NULL, NULL);
    wait_for_events(recorder, 2);
    rig_channel_begin(second);
    const int64_t begun_ns = rig_clock_now_ns();
    for (int i = 0; i < LATER; i++) { /* the ring is small: the writer has taken most of them when the last is in */
        const struct rig_op op = {.kind = RIG_OP_APPEND, .key = 1, .value = 2 + i};
        const int64_t now_ns = rig_clock_now_ns();
        rig_channel_invoke(first, 0, now_ns, now_ns, &op, 1);
        rig_channel_complete(first, rig_clock_now_ns(), RIG_OUTCOME_OK, NULL, NULL, NULL);
    }
    struct rig_recorder_stats stats = {0};
    rig_recorder_stats(recorder, &stats);
    assert_int_equal(stats.events, 2);
    rig_channel_invoke(second, 1, begun_ns, begun_ns, &append_one, 1);
    wait_for_events(recorder, LATER);
    rig_channel_complete(second, rig_clock_now_ns(), RIG_OUTCOME_OK, NULL, NULL, NULL);
    close_recorder(recorder);
    struct rig_history *history = load();
    assert_int_equal(history->txn_count, LATER + 2);
    uint32_t found = 0;
    for (uint32_t i = 0; i < history->txn_count; i++) {
        if (history->txns[i].process == 1) {
            assert_int_equal(history->txns[i].invoke_ns, begun_ns - 1);
            found++;
        }
    }
    assert_int_equal(found, 1);
    rig_history_free(history);
}

/* Simulated times come from another clock: an event is held until no channel can still add one before it. */
static void simulated_times_are_never_late(void **state)
{
    (void)state;
    struct rig_recorder *recorder =
        open_recorder((struct rig_recorder_options){.channel_count = 2, .simulated_time = true});
    struct rig_channel *first = rig_recorder_channel(recorder, 0);
    struct rig_channel *second = rig_recorder_channel(recorder, 1);
    rig_channel_invoke(second, 1, 10, 10, &append_one, 1);
    rig_channel_invoke(first, 0, 20, 20, &append_one, 1);
    rig_channel_complete(first, 30, RIG_OUTCOME_OK, NULL, NULL, NULL);
    rig_channel_invoke(first, 0, 40, 40, &append_one, 1);
    rig_channel_complete(second, 35, RIG_OUTCOME_OK, NULL, NULL, NULL);
    wait_for_events(recorder, 3);
    rig_channel_complete(first, 50, RIG_OUTCOME_OK, NULL, NULL, NULL);
    rig_channel_invoke(second, 1, 36, 36, &append_one, 1);
    rig_channel_complete(second, 60, RIG_OUTCOME_OK, NULL, NULL, NULL);
    close_recorder(recorder);
    struct rig_history *history = load();
    assert_int_equal(history->txn_count, 4);
    assert_int_equal(history->txns[1].complete_ns, 35);
    assert_int_equal(history->txns[2].complete_ns, 50);
    assert_int_equal(history->txns[3].invoke_ns, 36);
    assert_int_equal(history->txns[3].invoke_at, 4);
    rig_history_free(history);
}

/* Completion and invocation of two clients in one nanosecond: concurrent. */
static void equal_times_are_concurrent(void **state)
{
    (void)state;
    struct rig_recorder *recorder = open_recorder((struct rig_recorder_options){.channel_count = 2, .origin_ns = 1});
    struct rig_channel *first = rig_recorder_channel(recorder, 0);
    struct rig_channel *second = rig_recorder_channel(recorder, 1);
    rig_channel_invoke(first, 0, 10, 10, &append_one, 1);
    rig_channel_complete(first, 20, RIG_OUTCOME_OK, NULL, NULL, NULL);
    rig_channel_invoke(second, 1, 20, 20, &append_one, 1);
    rig_channel_complete(second, 30, RIG_OUTCOME_OK, NULL, NULL, NULL);
    close_recorder(recorder);
    struct rig_history *history = load();
    assert_int_equal(history->txns[0].process, 0);
    assert_true(history->txns[1].invoke_at < history->txns[0].complete_at);
    rig_history_free(history);
}

static void long_lists_and_errors_pass_a_small_ring(void **state)
{
    (void)state;
    enum { COUNT = 300000 };
    int64_t *elements = malloc(COUNT * sizeof *elements);
    assert_non_null(elements);
    for (int64_t i = 0; i < COUNT; i++)
        elements[i] = i * i;
    char error[3000];
    memset(error, 'e', sizeof error - 1);
    error[sizeof error - 1] = '\0';
    memcpy(error + RIG_RECORDER_ERROR_BYTES - 2, "\xe2\x82\xac", 3); /* a character across the cut */
    struct rig_recorder *recorder =
        open_recorder((struct rig_recorder_options){.channel_count = 1, .channel_bytes = 1});
    struct rig_channel *channel = rig_recorder_channel(recorder, 0);
    struct rig_op op = {.kind = RIG_OP_READ_LIST, .key = INT64_MIN};
    struct rig_read read = {.state = RIG_READ_SEEN, .count = COUNT};
    rig_channel_invoke(channel, -5, 100, 100, &op, 1);
    rig_channel_complete(channel, 200, RIG_OUTCOME_INFO, &read, elements, error);
    struct rig_recorder_stats stats;
    rig_recorder_stats(recorder, &stats);
    assert_true(stats.stalls > 0);
    close_recorder(recorder);
    struct rig_history *history = load();
    assert_int_equal(history->txns[0].process, -5);
    struct rig_read_list list = rig_txn_op_list(history, rig_txn_ops(history, 0));
    assert_int_equal(list.count, COUNT);
    assert_true(rig_read_same(&list, &(struct rig_read_list){.at = elements, .shared = COUNT, .count = COUNT}, COUNT));
    assert_int_equal(strlen(history->errors[0]), RIG_RECORDER_ERROR_BYTES - 2);
    assert_int_equal(history->errors[0][RIG_RECORDER_ERROR_BYTES - 3], 'e');
    rig_history_free(history);
    free(elements);
}

static void an_existing_file_is_kept(void **state)
{
    (void)state;
    close_recorder(open_recorder((struct rig_recorder_options){.channel_count = 1}));
    struct rig_recorder_options options = {.path = path, .channel_count = 1};
    struct rig_recorder *recorder = NULL;
    struct rig_err err = {0};
    assert_int_equal(rig_recorder_open(&options, &recorder, &err), RIG_E_IO);
    assert_null(recorder);
    assert_non_null(strstr(err.text, "File exists"));
    rig_history_free(load());
}

/* Clients write past a file size limit: they go on, the failure is reported, the written part stays. */
static void a_full_disk_loses_no_frame(void **state)
{
    (void)state;
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    assert_int_equal(sigaction(SIGXFSZ, &ignore, &before), 0);
    struct rlimit old, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 100000;
    struct rig_recorder *recorder =
        open_recorder((struct rig_recorder_options){.channel_count = 2, .channel_bytes = 1});
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    uint32_t sent = 0;
    uint32_t after_failure = 0;
    while (after_failure < 2000 && sent < 10000000) {
        struct rig_channel *channel = rig_recorder_channel(recorder, sent % 2);
        struct rig_op op = {.kind = RIG_OP_APPEND, .key = sent, .value = sent};
        rig_channel_invoke(channel, sent, rig_clock_now_ns(), rig_clock_now_ns(), &op, 1);
        rig_channel_complete(channel, rig_clock_now_ns(), RIG_OUTCOME_OK, NULL, NULL, NULL);
        sent++;
        after_failure += rig_recorder_failed(recorder);
    }
    assert_int_equal(after_failure, 2000);
    struct rig_err err = {0};
    assert_int_equal(rig_recorder_close(recorder, &err), RIG_E_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(sigaction(SIGXFSZ, &before, NULL), 0);
    assert_non_null(strstr(err.text, "cannot write: File too large; the record ends after"));
    struct rig_history *history = load();
    assert_true(history->truncated);
    assert_true(history->txn_count > 100);
    for (uint32_t i = 0; i < history->txn_count; i++)
        assert_true(history->txns[i].process < (int64_t)sent);
    rig_history_free(history);
}

static void no_file_without_room_for_its_header(void **state)
{
    (void)state;
    struct rig_recorder_options options = {.path = "/nonexistent-folder/history.rig", .channel_count = 1};
    struct rig_recorder *recorder = NULL;
    struct rig_err err = {0};
    assert_int_equal(rig_recorder_open(&options, &recorder, &err), RIG_E_IO);
    assert_non_null(strstr(err.text, "No such file"));
    close_recorder(NULL);
    close_recorder(open_recorder((struct rig_recorder_options){.channel_count = 1}));
}

/* ---- Concurrent clients of one shared list ---- */

enum { CLIENTS = 8 };

/* The database: one list that every client appends to and reads. */
struct shared_list {
    pthread_mutex_t lock;
    int64_t elements[1 << 16];
    uint32_t count;
    _Atomic bool stop;
};

struct client_run {
    struct shared_list *list;
    struct rig_recorder *recorder;
    uint32_t index;
    uint32_t most;
};

static void *run_client(void *argument)
{
    struct client_run *run = argument;
    struct rig_channel *channel = rig_recorder_channel(run->recorder, run->index);
    static _Thread_local int64_t elements[1 << 16];
    for (uint32_t i = 0; i < run->most && !atomic_load(&run->list->stop); i++) {
        int64_t value = (int64_t)i * CLIENTS + run->index;
        struct rig_op ops[2] = {{.kind = RIG_OP_APPEND, .key = 1, .value = value},
                                {.kind = RIG_OP_READ_LIST, .key = 1}};
        struct rig_read reads[2] = {{.state = RIG_READ_UNKNOWN}, {.state = RIG_READ_SEEN}};
        int64_t now_ns = rig_clock_now_ns();
        rig_channel_invoke(channel, run->index, now_ns, now_ns, ops, 2);
        pthread_mutex_lock(&run->list->lock);
        if (run->list->count == sizeof run->list->elements / sizeof run->list->elements[0])
            run->list->count = 0;
        run->list->elements[run->list->count++] = value;
        reads[1].count = run->list->count < 100 ? run->list->count : 100;
        memcpy(elements, run->list->elements + run->list->count - reads[1].count, reads[1].count * sizeof *elements);
        pthread_mutex_unlock(&run->list->lock);
        rig_channel_complete(channel, rig_clock_now_ns(), RIG_OUTCOME_OK, reads, elements, NULL);
    }
    return NULL;
}

static void start_clients(struct shared_list *list, struct rig_recorder *recorder, struct client_run *runs,
                          pthread_t *threads, uint32_t most)
{
    for (uint32_t i = 0; i < CLIENTS; i++) {
        runs[i] = (struct client_run){.list = list, .recorder = recorder, .index = i, .most = most};
        if (pthread_create(&threads[i], NULL, run_client, &runs[i]) != 0)
            abort();
    }
}

static struct shared_list *new_list(void)
{
    struct shared_list *list = calloc(1, sizeof *list);
    if (list == NULL || pthread_mutex_init(&list->lock, NULL) != 0)
        abort();
    return list;
}

/* Every element that was read was appended by an invocation in the history, by the client that its value names. */
static void assert_no_effect_without_cause(const struct rig_history *history)
{
    uint32_t appended[CLIENTS] = {0}; /* per client: values invoked, which are consecutive */
    for (uint32_t i = 0; i < history->txn_count; i++)
        appended[history->txns[i].process]++;
    for (uint32_t i = 0; i < history->txn_count; i++) {
        struct rig_read_list list = rig_txn_op_list(history, rig_txn_ops(history, i) + 1);
        for (uint32_t e = 0; e < list.count; e++)
            assert_true(rig_read_element(&list, e) / CLIENTS < (int64_t)appended[rig_read_element(&list, e) % CLIENTS]);
    }
}

static void every_frame_is_a_consistent_cut(void **state)
{
    (void)state;
    struct shared_list *list = new_list();
    struct client_run runs[CLIENTS];
    pthread_t threads[CLIENTS];
    struct rig_recorder *recorder =
        open_recorder((struct rig_recorder_options){.channel_count = CLIENTS, .channel_bytes = 1 << 15});
    start_clients(list, recorder, runs, threads, 1000);
    for (uint32_t i = 0; i < CLIENTS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    close_recorder(recorder);
    struct rig_buf file;
    rig_buf_init(&file, 0);
    struct rig_err err = {0};
    assert_int_equal(rig_buf_read_file(&file, path, &err), RIG_OK);
    struct rig_history *history = NULL;
    struct rig_load_options options = {0};
    uint32_t frames = 0;
    uint32_t last_count = 0;
    for (size_t at = RIG_RECORD_START_BYTES; at < file.size; frames++) {
        struct rig_frame frame;
        assert_true(rig_frame_read((const uint8_t *)file.data + at, file.size - at, frames, &frame));
        at += RIG_FRAME_HEAD_BYTES + frame.size;
        assert_int_equal(rig_history_parse(path, file.data, at, &options, &history, &err), RIG_OK);
        assert_no_effect_without_cause(history);
        assert_true(history->txn_count >= last_count);
        last_count = history->txn_count;
        rig_history_free(history);
    }
    assert_int_equal(last_count, CLIENTS * 1000);
    assert_true(frames > 3);
    rig_buf_done(&file);
    free(list);
}

static void record_for_ever(void)
{
    struct shared_list *list = new_list();
    struct client_run runs[CLIENTS];
    pthread_t threads[CLIENTS];
    struct rig_recorder_options options = {.path = path, .channel_count = CLIENTS};
    struct rig_recorder *recorder = NULL;
    struct rig_err err = {0};
    if (rig_recorder_open(&options, &recorder, &err) != RIG_OK)
        _exit(1);
    start_clients(list, recorder, runs, threads, UINT32_MAX);
    (void)alarm(60);
    for (;;)
        (void)pause();
}

static void a_killed_process_leaves_a_readable_record(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            record_for_ever();
        struct stat status = {0};
        int64_t deadline_ns = rig_clock_now_ns() + 100 * RIG_NS_PER_S;
        off_t enough = (off_t)(3 + round) << 20; /* of several frames */
        while ((stat(path, &status) != 0 || status.st_size < enough) && rig_clock_now_ns() < deadline_ns)
            rig_clock_sleep_until_ns(rig_clock_now_ns() + RIG_NS_PER_MS);
        assert_int_equal(kill(child, SIGKILL), 0);
        int ended;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_true(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
        struct rig_history *history = load();
        assert_true(history->truncated);
        assert_true(history->txn_count > 100);
        assert_no_effect_without_cause(history);
        rig_history_free(history);
        assert_int_equal(unlink(path), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_runs_come_back, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(times_count_from_the_origin, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(faults_stand_among_the_transactions, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(late_events_move_to_the_last_time, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_transaction_that_has_begun_keeps_its_time, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(simulated_times_are_never_late, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(equal_times_are_concurrent, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(long_lists_and_errors_pass_a_small_ring, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(an_existing_file_is_kept, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_full_disk_loses_no_frame, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(no_file_without_room_for_its_header, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(every_frame_is_a_consistent_cut, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_killed_process_leaves_a_readable_record, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, seeded, NULL);
}
