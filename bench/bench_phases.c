/*
 * The cost of each phase of a check alone, where the cost that `rig check` reports does not separate them.
 *
 *   bench_phases HISTORY [phase]...
 *
 *   decode      the file into segments, on one thread, which are not kept
 *   window      segments to a window that drops nothing
 *   load        the whole history into memory
 *   infer       dependencies and anomalies that need no cycle, of the history in memory
 *   graph       the dependencies as a graph, which only histories with cycles need
 *   components  strongly connected components of all dependencies
 *   check       inference, every level, witnesses: all that follows on load
 *
 * Prints one JSON object: by phase, the ns a transaction and the most resident memory while the phase ran, in bytes a
 * transaction; and the transactions in the largest component. One run: `scripts/bench` repeats it and makes the table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "checker/judge/check.h"
#include "checker/model/components.h"
#include "checker/infer/list_inference.h"
#include "history/source/load.h"
#include "history/source/source.h"
#include "history/model/window.h"

struct subject {
    const char *path;
    struct rig_history *history;
    uint32_t component; /* transactions in the largest */
};

struct phase {
    const char *name;
    /* Does the work, and returns the time of its start, which leaves preparations out of the measurement. */
    int64_t (*run)(struct subject *subject, struct rig_err *err);
};

static _Noreturn void die(const char *what)
{
    (void)fprintf(stderr, "bench_phases: %s\n", what);
    exit(EXIT_FAILURE);
}

/* ---- memory ---- */

/* Restarts the kernel's peak. */
static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file == NULL)
        return;
    (void)fputs("5", file);
    (void)fclose(file);
}

static double peak_bytes(void)
{
    char line[256];
    long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtoll(line + 6, NULL, 10);
    }
    if (file != NULL)
        (void)fclose(file);
    return (double)kib * 1024;
}

/* ---- phases ---- */

/* Reads the segments into `window`, or, where that is NULL, drops them; returns the ns that the window took. */
static int64_t read_segments(const char *path, struct rig_window *window, struct rig_err *err)
{
    const struct rig_source_options options = {.threads = 1};
    struct rig_source *source = NULL;
    const struct rig_segment *segment = NULL;
    int64_t window_ns = 0;
    if (rig_source_open(path, &options, &source, err) != RIG_OK)
        return 0;
    while (rig_source_next(source, &segment, err) == RIG_OK && segment != NULL) {
        int64_t start = rig_clock_now_ns();
        if (window != NULL && rig_window_add(window, segment, err) != RIG_OK)
            break;
        window_ns += rig_clock_now_ns() - start;
    }
    rig_source_close(source);
    return window_ns;
}

static int64_t run_decode(struct subject *subject, struct rig_err *err)
{
    int64_t start = rig_clock_now_ns();
    (void)read_segments(subject->path, NULL, err);
    return start;
}

static int64_t run_window(struct subject *subject, struct rig_err *err)
{
    struct rig_window *window = rig_window_new(RIG_WORKLOAD_LIST_APPEND, 0);
    if (window == NULL)
        die("no memory");
    int64_t taken = read_segments(subject->path, window, err);
    rig_window_free(window);
    return rig_clock_now_ns() - taken;
}

static void keep_loaded(struct subject *subject, struct rig_err *err)
{
    if (subject->history == NULL)
        (void)rig_history_load(subject->path, &(struct rig_load_options){0}, &subject->history, err);
}

static int64_t run_load(struct subject *subject, struct rig_err *err)
{
    rig_history_free(subject->history);
    subject->history = NULL;
    int64_t start = rig_clock_now_ns();
    keep_loaded(subject, err);
    return start;
}

/* An inference of the history with its arena, for the phases that need one. */
struct inferred {
    struct rig_arena arena;
    struct rig_inference inference;
};

static enum rig_rc infer(const struct subject *subject, struct inferred *inferred, struct rig_err *err)
{
    *inferred = (struct inferred){0};
    rig_arena_init(&inferred->arena, 0);
    return rig_infer_list_append(subject->history, (struct rig_assumptions){0}, 1, &inferred->arena,
                                 &inferred->inference, err);
}

static void inferred_done(struct inferred *inferred)
{
    rig_inference_done(&inferred->inference);
    rig_arena_done(&inferred->arena);
}

static int64_t run_infer(struct subject *subject, struct rig_err *err)
{
    struct inferred inferred;
    int64_t start = rig_clock_now_ns();
    (void)infer(subject, &inferred, err);
    inferred_done(&inferred);
    return start;
}

static int64_t run_graph(struct subject *subject, struct rig_err *err)
{
    struct inferred inferred;
    int64_t start = 0;
    if (infer(subject, &inferred, err) == RIG_OK) {
        start = rig_clock_now_ns();
        (void)rig_inference_pack(&inferred.inference, err);
    }
    inferred_done(&inferred);
    return start;
}

static uint32_t largest_component(const struct rig_components *components, uint32_t txn_count)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < components->list.count; i++) {
        uint32_t txns = 0;
        for (uint32_t at = components->list.at[i].begin; at < components->list.at[i].end; at++)
            txns += components->order[at] < txn_count;
        largest = txns > largest ? txns : largest;
    }
    return largest;
}

static int64_t run_components(struct subject *subject, struct rig_err *err)
{
    struct inferred inferred;
    struct rig_components components = {0};
    int64_t start = 0;
    if (infer(subject, &inferred, err) == RIG_OK && rig_inference_pack(&inferred.inference, err) == RIG_OK) {
        struct rig_view view = {.graph = &inferred.inference.graph, .links = RIG_LINKS_ALL};
        start = rig_clock_now_ns();
        if (rig_components_find(view, &components, err) == RIG_OK)
            subject->component = largest_component(&components, subject->history->txn_count);
        rig_components_done(&components);
    }
    inferred_done(&inferred);
    return start;
}

static int64_t run_check(struct subject *subject, struct rig_err *err)
{
    struct rig_verdict *verdict = NULL;
    int64_t start = rig_clock_now_ns();
    if (rig_check(subject->history, &(struct rig_check_options){0}, &verdict, err) == RIG_OK)
        rig_verdict_free(verdict);
    return start;
}

/* In the order of the pipeline; the phases behind `load` have the history in memory. */
static const struct phase phases[] = {
    {"decode", run_decode}, {"window", run_window},         {"load", run_load},   {"infer", run_infer},
    {"graph", run_graph},   {"components", run_components}, {"check", run_check},
};

enum { PHASE_COUNT = sizeof phases / sizeof phases[0] };

/* ---- the whole ---- */

struct measured {
    bool wanted;
    double ns, bytes;
};

static struct measured measure(const struct phase *phase, struct subject *subject)
{
    struct rig_err err = {0};
    bool in_memory = phase->run != run_decode && phase->run != run_window && phase->run != run_load;
    if (in_memory)
        keep_loaded(subject, &err);
    forget_peak();
    int64_t start = phase->run(subject, &err);
    struct measured measured = {true, (double)(rig_clock_now_ns() - start), peak_bytes()};
    if (err.rc != RIG_OK)
        die(err.text);
    return measured;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], name) == 0)
            return true;
    }
    return argc <= 2;
}

static bool is_known(const char *name)
{
    for (size_t i = 0; i < PHASE_COUNT; i++) {
        if (strcmp(phases[i].name, name) == 0)
            return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    struct rig_err err = {0};
    struct subject subject = {.path = argc > 1 ? argv[1] : NULL};
    struct measured measured[PHASE_COUNT] = {{0}};
    if (argc < 2)
        die("usage: bench_phases HISTORY [decode|window|load|infer|graph|components|check]...");
    for (int i = 2; i < argc; i++) {
        if (!is_known(argv[i]))
            die("the phases are decode, window, load, infer, graph, components and check");
    }
    for (size_t i = 0; i < PHASE_COUNT; i++) {
        if (is_wanted(phases[i].name, argc, argv))
            measured[i] = measure(&phases[i], &subject);
    }
    keep_loaded(&subject, &err);
    if (err.rc != RIG_OK)
        die(err.text);
    double count = subject.history->txn_count == 0 ? 1 : subject.history->txn_count;
    (void)printf("{");
    for (size_t i = 0; i < PHASE_COUNT; i++) {
        if (measured[i].wanted)
            (void)printf("\"%s\": {\"ns\": %.1f, \"bytes\": %.1f}, ", phases[i].name, measured[i].ns / count,
                         measured[i].bytes / count);
    }
    (void)printf("\"transactions\": %u, \"component\": %u}\n", subject.history->txn_count, subject.component);
    rig_history_free(subject.history);
    return EXIT_SUCCESS;
}
