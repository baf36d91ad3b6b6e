#include "checker/check_source.h"

#include <string.h>

#include "base/clock.h"

/* What a byte of a history takes in memory while it is checked as a whole, by form: measured (bench/RESULTS.md). */
enum { BYTES_PER_BYTE_RIG = 10, BYTES_PER_BYTE_TEXT = 2, BYTES_AT_LEAST = 16 << 20 };

uint64_t rig_check_planned_bytes(enum rig_form form, uint64_t size_bytes)
{
    uint64_t factor = form == RIG_FORM_RIG ? BYTES_PER_BYTE_RIG : BYTES_PER_BYTE_TEXT;
    return size_bytes * factor + BYTES_AT_LEAST;
}

struct run {
    struct rig_source *source;
    struct rig_windows_options options;
    int64_t waited_ns;
    struct rig_err *err;
};

/* One pass over the source. `*conflict` receives why it has to be gone through again, or NULL. */
static enum rig_rc pass(struct run *run, struct rig_verdict **verdict, const char **conflict)
{
    struct rig_windows *windows;
    const struct rig_source_facts *facts = rig_source_facts(run->source);
    enum rig_rc rc = rig_windows_begin(facts->workload, &run->options, &windows, run->err);
    if (rc != RIG_OK)
        return rc;
    const struct rig_segment *segment = NULL;
    do {
        int64_t start = rig_clock_now_ns();
        rc = rig_source_next(run->source, &segment, run->err);
        run->waited_ns += rig_clock_now_ns() - start;
        if (rc == RIG_OK && segment != NULL)
            rc = rig_windows_feed(windows, segment, run->err);
        *conflict = rig_windows_conflict(windows);
    } while (rc == RIG_OK && segment != NULL && *conflict == NULL);
    if (rc == RIG_OK && *conflict == NULL) {
        rc = rig_windows_finish(windows, facts, verdict, run->err);
        if (rc == RIG_OK && *verdict == NULL)
            *conflict = "next to nothing was observed";
        return rc;
    }
    rig_windows_free(windows);
    return rc;
}

static enum rig_rc refuse(const struct run *run, uint64_t planned, const char *why)
{
    return rig_fail(run->err, RIG_E_LIMIT,
                    "this history has to be checked as a whole (%s), which takes about %llu MiB; --max-memory allows "
                    "%zu MiB",
                    why, (unsigned long long)(planned >> 20), run->options.check.limit_bytes >> 20);
}

/* Why windows cannot be used, or NULL. */
static const char *needs_all(const struct rig_source_facts *facts)
{
    if (facts->workload != RIG_WORKLOAD_LIST_APPEND)
        return "the versions of registers are ordered over all of it";
    return facts->can_rewind ? NULL : "it comes through a pipe, which cannot be read twice";
}

enum rig_rc rig_check_source(struct rig_source *source, const char *name, const struct rig_windows_options *options,
                             struct rig_verdict **verdict, struct rig_err *err)
{
    const struct rig_source_facts *facts = rig_source_facts(source);
    const uint64_t planned = rig_check_planned_bytes(facts->form, facts->size_bytes);
    const size_t limit = options->check.limit_bytes;
    struct run run = {.source = source, .options = *options, .err = err};
    const char *why = needs_all(facts);
    run.options.name = name;
    run.options.keep_all |= why != NULL;
    if (why != NULL && limit > 0 && planned > limit)
        return refuse(&run, planned, why);
    const char *conflict = NULL;
    uint32_t pass_count = 1;
    enum rig_rc rc = pass(&run, verdict, &conflict);
    if (rc == RIG_OK && conflict != NULL) {
        if (limit > 0 && planned > limit)
            return refuse(&run, planned, conflict);
        run.options.keep_all = true;
        rc = rig_source_rewind(source, err);
        if (rc == RIG_OK)
            rc = pass(&run, verdict, &conflict);
        pass_count++;
    }
    if (rc != RIG_OK)
        return rc;
    struct rig_cost *cost = &(*verdict)->cost;
    cost->read_ms += (double)run.waited_ns / (double)RIG_NS_PER_MS;
    cost->planned_bytes = limit > 0 && planned > limit ? limit : planned;
    cost->pass_count = pass_count;
    return RIG_OK;
}

enum rig_rc rig_check_file(const char *path, const struct rig_source_options *source,
                           const struct rig_windows_options *options, struct rig_verdict **verdict, struct rig_err *err)
{
    struct rig_source *opened;
    int64_t start = rig_clock_now_ns();
    enum rig_rc rc = rig_source_open(path, source, &opened, err);
    double open_ms = (double)(rig_clock_now_ns() - start) / (double)RIG_NS_PER_MS;
    if (rc != RIG_OK)
        return rc;
    rc = rig_check_source(opened, strcmp(path, "-") == 0 ? "standard input" : path, options, verdict, err);
    if (rc == RIG_OK)
        (*verdict)->cost.read_ms += open_ms;
    rig_source_close(opened);
    return rc;
}
