#include "generator/synthetic/synthetic_records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/bug.h"
#include "base/clock.h"
#include "base/rng.h"
#include "history/types/object_specification.h"
#include "history/types/types.h"

enum { NAME_BYTES = 4096 };

static const int64_t most_shift_ns = 5 * RIG_NS_PER_S, sample_every_ns = RIG_NS_PER_S;
static const double most_drift = 20e-6;
static const uint64_t rounding_ns = 1; /* of times on a clock that drifts */

/* A rank, and its clock: at the time t of rank 0's record it shows origin_ns + t (1 + drift). */
struct record {
    struct rig_output output;
    struct rig_event_writer *writer;
    char *path; /* NULL: that of the caller */
    int64_t origin_ns;
    double drift;
};

struct rig_synthetic_records {
    struct record *records;
    uint32_t count;  /* of ranks */
    uint32_t opened; /* files of the first ones */
    uint64_t event_count;
    uint64_t error_ns;
    int64_t rank_0_ns; /* what rank 0's clock showed at the time 0 of its record; 0: the time is simulated */
    int64_t now_ns;    /* of the latest event, on rank 0's clock */
    int64_t sample_ns; /* when clocks are measured next */
    struct rig_rng rng;
};

enum rig_rc rig_synthetic_record_path(const struct rig_synthetic *synthetic, const char *path, uint32_t rank,
                                      char *text, size_t size)
{
    static const char suffix[] = ".rig";
    const size_t length = strlen(path), suffix_length = strlen(suffix);
    const bool has = length > suffix_length && strcmp(path + length - suffix_length, suffix) == 0;
    const int stem = (int)(has ? length - suffix_length : length);
    const int written = synthetic->ranks == 1
                            ? snprintf(text, size, "%s", path)
                            : snprintf(text, size, "%.*s.%" PRIu32 "%s", stem, path, rank, has ? suffix : "");
    return written >= 0 && (size_t)written < size ? RIG_OK : RIG_E_USAGE;
}

static int64_t up_to(struct rig_rng *rng, int64_t most)
{
    return (int64_t)rig_rng_below(rng, 2 * (uint64_t)most + 1) - most;
}

/* ---- clocks ---- */

static void draw_clocks(struct rig_synthetic_records *records, const struct rig_synthetic *synthetic)
{
    rig_rng_init(&records->rng, (uint64_t)synthetic->seed, 0x72616e6b);
    const bool is_object = rig_workload_is_object((enum rig_workload)synthetic->workload.type);
    records->error_ns = is_object && !synthetic->has_clock_error ? 0 : (uint64_t)synthetic->clock_error_ns;
    if (records->count == 1 || records->error_ns == 0)
        return;
    records->rank_0_ns = 1000 * RIG_NS_PER_S;
    records->records[0].origin_ns = records->rank_0_ns;
    for (uint32_t r = 1; r < records->count; r++) {
        records->records[r].origin_ns = records->rank_0_ns + up_to(&records->rng, most_shift_ns);
        records->records[r].drift = most_drift * (double)up_to(&records->rng, 1000) / 1000;
    }
}

/* Ascends as `time_ns` does; times that differ may become equal. */
static int64_t record_time(const struct record *record, int64_t time_ns)
{
    return record->drift == 0 ? time_ns : time_ns + (int64_t)((double)time_ns * record->drift);
}

/* Measures the clocks of all ranks at the time `when_ns` of rank 0's record. */
static enum rig_rc sample(struct rig_synthetic_records *records, int64_t when_ns, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (uint32_t r = 1; rc == RIG_OK && r < records->count; r++) {
        struct record *record = &records->records[r];
        const int64_t local_ns = record->origin_ns + record_time(record, when_ns);
        const int64_t wrong_ns = up_to(&records->rng, (int64_t)records->error_ns);
        const struct rig_clock_sample taken = {.local_ns = local_ns,
                                               .offset_ns = records->rank_0_ns + when_ns - local_ns + wrong_ns,
                                               .error_ns = records->error_ns + rounding_ns};
        rc = rig_event_writer_clock(record->writer, &taken, err);
    }
    return rc;
}

/* The rank of an event of the client at `*time_ns`, which becomes the time in the rank's record. */
static enum rig_rc route(struct rig_synthetic_records *records, uint32_t client, int64_t *time_ns,
                         struct record **record, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    *record = &records->records[client % records->count];
    records->event_count++;
    if (records->rank_0_ns == 0)
        return RIG_OK;
    for (; rc == RIG_OK && *time_ns >= records->sample_ns; records->sample_ns += sample_every_ns)
        rc = sample(records, records->sample_ns, err);
    records->now_ns = *time_ns;
    *time_ns = record_time(*record, *time_ns);
    return rc;
}

/* ---- files ---- */

static enum rig_rc name_record(struct record *record, const struct rig_synthetic *synthetic, const char *path,
                               uint32_t number, struct rig_err *err)
{
    char text[NAME_BYTES];
    if (rig_synthetic_record_path(synthetic, path, number, text, sizeof text) != RIG_OK)
        return rig_fail(err, RIG_E_USAGE, "%s: the path is too long", path);
    record->path = strdup(text);
    return record->path == NULL ? rig_no_memory(err, "writing a history") : RIG_OK;
}

static enum rig_rc open_record(struct rig_synthetic_records *records, const struct rig_synthetic *synthetic,
                               const char *path, const struct rig_save_options *save, struct rig_err *err)
{
    const uint32_t of_holds = RIG_COLUMN_BIT(RIG_COLUMN_HELD) | RIG_COLUMN_BIT(RIG_COLUMN_HELD_BEFORE);
    const struct rig_generator_options *workload = &synthetic->workload;
    const uint32_t number = records->opened;
    struct record *record = &records->records[number];
    struct rig_rank rank = {.number = number, .count = records->count, .origin_ns = record->origin_ns};
    struct rig_buf meta;
    memcpy(rank.run, synthetic->run, sizeof rank.run);
    rig_buf_init(&meta, 0);
    if (workload->specification != NULL)
        rig_specification_write(workload->specification, &meta);
    const struct rig_event_writer_options options = {
        .save = *save,
        .workload = (enum rig_workload)workload->type,
        .certificate = synthetic->certificate != RIG_CERTIFICATE_NONE && number == 0,
        .columns = (workload->long_share > 0 ? of_holds : 0) |
                   (synthetic->certificate == RIG_CERTIFICATE_FULL ? RIG_COLUMN_BIT(RIG_COLUMN_VIEW) : 0) |
                   (workload->rollback_share > 0 ? RIG_COLUMN_BIT(RIG_COLUMN_SAVEPOINT) : 0),
        .rank = records->count == 1 ? NULL : &rank,
        .meta = meta.size == 0 ? NULL : rig_buf_text(&meta)};
    enum rig_rc rc = records->count == 1 ? RIG_OK : name_record(record, synthetic, path, number, err);
    if (rc == RIG_OK)
        rc = rig_output_open(&record->output, record->path == NULL ? path : record->path, err);
    if (rc == RIG_OK) {
        records->opened++;
        rc = rig_event_writer_new(&options, &record->output, &record->writer, err);
    }
    rig_buf_done(&meta);
    return rc;
}

enum rig_rc rig_synthetic_records_open(const struct rig_synthetic *synthetic, const char *path,
                                       const struct rig_save_options *save, struct rig_synthetic_records **records,
                                       struct rig_err *err)
{
    struct rig_synthetic_records *made = calloc(1, sizeof *made);
    if (made != NULL)
        made->records = calloc((size_t)synthetic->ranks, sizeof *made->records);
    if (made == NULL || made->records == NULL) {
        free(made);
        return rig_no_memory(err, "writing a history");
    }
    made->count = (uint32_t)synthetic->ranks;
    draw_clocks(made, synthetic);
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && made->opened < made->count)
        rc = open_record(made, synthetic, path, save, err);
    if (rc == RIG_OK)
        *records = made;
    else
        (void)rig_synthetic_records_close(made, rc, NULL, err);
    return rc;
}

enum rig_rc rig_synthetic_records_close(struct rig_synthetic_records *records, enum rig_rc rc, uint64_t *bytes,
                                        struct rig_err *err)
{
    if (rc == RIG_OK && records->rank_0_ns != 0)
        rc = sample(records, records->now_ns + 1, err);
    for (uint32_t r = 0; rc == RIG_OK && r < records->opened; r++)
        rc = rig_event_writer_finish(records->records[r].writer, err);
    if (rc == RIG_OK)
        *bytes = rig_synthetic_records_bytes(records);
    for (uint32_t r = 0; r < records->count; r++) {
        struct record *record = &records->records[r];
        rig_event_writer_free(record->writer);
        if (r < records->opened)
            rc = rig_output_close(&record->output, rc, err);
        free(record->path);
    }
    free(records->records);
    free(records);
    return rc;
}

/* ---- events ---- */

enum rig_rc rig_synthetic_records_invoke(struct rig_synthetic_records *records, const struct rig_client_event *event,
                                         struct rig_err *err)
{
    struct rig_client_event routed = *event;
    struct record *record;
    const enum rig_rc rc = route(records, event->client, &routed.time_ns, &record, err);
    return rc != RIG_OK ? rc : rig_event_writer_invoke(record->writer, &routed, err);
}

enum rig_rc rig_synthetic_records_complete(struct rig_synthetic_records *records, const struct rig_client_event *event,
                                           const struct rig_record_completion *completion, struct rig_err *err)
{
    struct rig_client_event routed = *event;
    struct record *record;
    const enum rig_rc rc = route(records, event->client, &routed.time_ns, &record, err);
    return rc != RIG_OK ? rc : rig_event_writer_complete(record->writer, &routed, completion, err);
}

void rig_synthetic_records_forget(struct rig_synthetic_records *records, int64_t key)
{
    for (uint32_t r = 0; r < records->count; r++)
        rig_event_writer_forget(records->records[r].writer, key);
}

enum rig_rc rig_synthetic_records_certify(struct rig_synthetic_records *records,
                                          const struct rig_certificate *certificate, struct rig_err *err)
{
    return rig_event_writer_certify(records->records[0].writer, certificate, err);
}

uint64_t rig_synthetic_records_bytes(const struct rig_synthetic_records *records)
{
    uint64_t sum = 0;
    for (uint32_t r = 0; r < records->count; r++)
        sum += rig_event_writer_bytes(records->records[r].writer);
    return sum;
}

uint64_t rig_synthetic_records_count(const struct rig_synthetic_records *records)
{
    return records->event_count;
}
