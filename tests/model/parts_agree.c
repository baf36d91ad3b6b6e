/*
 * Checking records in parts, by several processes, against checking them alone: parts_agree [--seeds N] [--first-seed
 * N]
 *
 * Histories of the simulated database, right and with each of its mistakes, are written in blocks of a few hundred
 * bytes: as one record, and as those of several ranks, with clocks that agree, are shifted, drift or step. Helpers,
 * here in this process, and a leader check each record together; if they come to a verdict, it must be that of one
 * process, and valid. Checkpoints that state wrong times are noticed. A record with a damaged bit is never shared;
 * neither are records without those of one rank. Where one process refuses the records, so do several. Then answers are
 * spoilt, one at a time: a part that is missing, a border that is another one, one transaction too many. No verdict may
 * come of that. At least some records must be shared, or the test has tested nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checker/judge/check_source.h"
#include "checker/judge/shared/shared_check.h"
#include "checker/judge/stream/stream_part.h"
#include "history/record/record_cursor.h"
#include "history/record/record_file.h"
#include "history/record/record_frame.h"
#include "history/record/record_writer.h"
#include "tests/model/sim_history.h"
#include "tests/model/split_ranks.h"

enum { MOST_HELPERS = 7, ANSWER_HEAD = 8, MOST_RANKS = 4, STEP_NS = 1000 };

enum spoil {
    SPOIL_NOTHING,
    SPOIL_LOST,
    SPOIL_LOST_EARLY,
    SPOIL_CUT,
    SPOIL_BORDER,
    SPOIL_COUNT,
    SPOIL_BAD,
    SPOIL_KINDS
};

struct totals {
    uint64_t checks, shared, shared_ranks, alone, spoilt, problems;
};

/* One record, or those of all ranks. */
struct records {
    const char *name;
    const char *paths[MOST_RANKS];
    size_t count;
    struct rig_source_options from;
};

struct crew {
    struct rig_source *sources[MOST_HELPERS];
    struct rig_buf tasks[MOST_HELPERS];
    uint32_t told[MOST_HELPERS]; /* tasks so far */
    struct rig_stream_options options;
    enum spoil spoil;
    uint32_t spoilt; /* helper */
    bool did_spoil;
    char refused[RIG_ERR_TEXT_BYTES]; /* why there is no verdict */
};

static void fail(struct totals *totals, const char *name, uint32_t helpers, const char *what, const char *detail)
{
    totals->problems++;
    (void)printf("FAILED: %s, %" PRIu32 " helpers: %s %s\n", name, helpers, what, detail);
}

/* ---- helpers ---- */

static bool is_gone(struct crew *crew, struct rig_err *why)
{
    crew->did_spoil = true;
    (void)rig_fail(why, RIG_E_CLUSTER, "it is gone");
    return false;
}

static bool tell(void *context, uint32_t helper, const struct rig_buf *task, struct rig_err *why)
{
    struct crew *crew = context;
    if (crew->spoil == SPOIL_LOST_EARLY && helper == crew->spoilt && crew->told[helper]++ == 1)
        return is_gone(crew, why);
    rig_buf_clear(&crew->tasks[helper]);
    rig_buf_add(&crew->tasks[helper], task->data, task->size);
    return true;
}

/* Changes the answer about a part that was judged. */
static void spoil_part(struct crew *crew, struct rig_buf *answer)
{
    struct rig_stream_part part;
    memcpy(&part, answer->data + ANSWER_HEAD, sizeof part);
    if (!part.good)
        return;
    crew->did_spoil = true;
    part.before.digest ^= crew->spoil == SPOIL_BORDER;
    part.ok += crew->spoil == SPOIL_COUNT;
    part.good = crew->spoil != SPOIL_BAD;
    memcpy(answer->data + ANSWER_HEAD, &part, sizeof part);
    if (crew->spoil == SPOIL_CUT)
        answer->size--;
}

static bool await(void *context, uint32_t helper, struct rig_buf *answer, struct rig_err *why)
{
    struct crew *crew = context;
    rig_shared_help(crew->sources[helper], &crew->options, &crew->tasks[helper], answer);
    if (crew->spoil == SPOIL_NOTHING || helper != crew->spoilt)
        return true;
    if (crew->spoil == SPOIL_LOST)
        return is_gone(crew, why);
    if (answer->size == ANSWER_HEAD + sizeof(struct rig_stream_part))
        spoil_part(crew, answer);
    return true;
}

/* ---- comparing ---- */

static const char *difference(const struct rig_verdict *a, const struct rig_verdict *b)
{
    if (a->valid != b->valid)
        return "another validity";
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if (a->levels[level].fate != b->levels[level].fate ||
            strcmp(a->levels[level].reason, b->levels[level].reason) != 0)
            return rig_level_info((enum rig_level)level)->name;
    }
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++) {
        if (a->findings[anomaly].count != b->findings[anomaly].count)
            return rig_anomaly_info((enum rig_anomaly)anomaly)->name;
    }
    const struct rig_scope *x = &a->scope, *y = &b->scope;
    if (x->ranks.count != y->ranks.count || x->ranks.bound_ns != y->ranks.bound_ns)
        return "other ranks";
    for (uint32_t i = 0; i < x->ranks.count; i++) {
        const struct rig_rank_fact *r = &x->ranks.ranks[i], *q = &y->ranks.ranks[i];
        if ((r->name == NULL) != (q->name == NULL) || r->txn_count != q->txn_count || r->error_ns != q->error_ns ||
            r->largest_step != q->largest_step || r->truncated != q->truncated || r->damaged_at != q->damaged_at)
            return "another rank";
    }
    if (memcmp(a->edge_count, b->edge_count, sizeof a->edge_count) != 0)
        return "other edges";
    return x->txn_count != y->txn_count || x->op_count != y->op_count || x->committed_count != y->committed_count ||
                   x->unknown_reads != y->unknown_reads || x->unordered_keys != y->unordered_keys ||
                   x->unsettled != y->unsettled || x->has_invocations != y->has_invocations ||
                   a->ok_count != b->ok_count || a->fail_count != b->fail_count || a->info_count != b->info_count ||
                   strcmp(a->summary, b->summary) != 0
               ? "another scope"
               : NULL;
}

static struct rig_source *open_records(const struct records *records)
{
    struct rig_source *source = NULL;
    struct rig_err err = {0};
    if (rig_source_open_ranks(records->paths, records->count, &records->from, &source, &err) != RIG_OK) {
        (void)printf("%s\n", err.text);
        abort();
    }
    return source;
}

static struct rig_verdict *check(const struct records *records, struct crew *crew, struct rig_helpers *helpers)
{
    struct rig_err err = {0};
    struct rig_verdict *verdict = NULL;
    struct rig_source *source = open_records(records);
    struct rig_stream_options options = crew->options;
    options.helpers = helpers;
    if (rig_check_source(source, records->name, &options, &verdict, &err) != RIG_OK)
        (void)snprintf(crew->refused, sizeof crew->refused, "%s", err.text);
    rig_source_close(source);
    return verdict;
}

static void check_with(struct totals *totals, const struct records *records, uint32_t count,
                       const struct rig_verdict *alone, const char *refused, enum spoil spoil)
{
    const char *name = records->name;
    struct crew crew = {.options = {.least_new = 40, .growth = 1}, .spoil = spoil, .spoilt = count / 2};
    struct rig_helpers helpers = {.context = &crew, .count = count, .tell = tell, .await = await};
    for (uint32_t i = 0; i < count; i++) {
        crew.sources[i] = open_records(records);
        rig_buf_init(&crew.tasks[i], 0);
    }
    struct rig_verdict *verdict = check(records, &crew, &helpers);
    const bool shared = helpers.why.rc == RIG_OK;
    const char *differs = verdict == NULL || alone == NULL ? NULL : difference(alone, verdict);
    totals->checks++;
    totals->shared += shared;
    totals->shared_ranks += shared && records->count > 1;
    totals->alone += !shared;
    totals->spoilt += crew.did_spoil;
    if (verdict == NULL && strcmp(crew.refused, refused) != 0)
        fail(totals, name, count, "failed:", crew.refused);
    if (verdict != NULL && alone == NULL)
        fail(totals, name, count, "was not refused, though one process says", refused);
    if (differs != NULL)
        fail(totals, name, count, "differs:", differs);
    if (shared && crew.did_spoil)
        fail(totals, name, count, "a spoilt answer was believed", "");
    if (crew.did_spoil && (spoil == SPOIL_LOST || spoil == SPOIL_LOST_EARLY) &&
        strcmp(helpers.why.text, "it is gone") != 0)
        fail(totals, name, count, "a helper was lost, and this was said:", helpers.why.text);
    if (verdict != NULL && alone != NULL && shared && alone->valid == RIG_VALID_FALSE)
        fail(totals, name, count, "was shared, and is not valid", "");
    rig_verdict_free(verdict);
    for (uint32_t i = 0; i < count; i++) {
        rig_source_close(crew.sources[i]);
        rig_buf_done(&crew.tasks[i]);
    }
}

/* ---- histories ---- */

/* Several processes come to the result of one; `is_alone`: without sharing the check, and `is_refused`: to no
 * verdict. */
static void check_records(struct totals *totals, const struct records *records, uint64_t seed, bool is_alone,
                          bool is_refused)
{
    static const uint32_t counts[] = {1, 2, 3, MOST_HELPERS};
    const uint64_t shared = totals->shared;
    struct crew none = {.options = {.least_new = 40, .growth = 1}};
    struct rig_verdict *alone = check(records, &none, NULL);
    if ((alone == NULL) != is_refused)
        fail(totals, records->name, 0, "one process:", alone == NULL ? none.refused : "is content");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        check_with(totals, records, counts[i], alone, none.refused, SPOIL_NOTHING);
    if (alone != NULL)
        check_with(totals, records, counts[seed % 3], alone, "", (enum spoil)(1 + seed % (SPOIL_KINDS - 1)));
    if (is_alone && totals->shared > shared)
        fail(totals, records->name, 0, "was shared, and is damaged or not whole", "");
    rig_verdict_free(alone);
}

/* One bit of the second half of the record, where it has no header. */
static void damage(const char *path, uint64_t seed)
{
    FILE *file = fopen(path, "r+be");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        abort();
    const long size = ftell(file), at = size / 2 + (long)(seed * 7919 % (uint64_t)(size / 2));
    const bool found = fseek(file, at, SEEK_SET) == 0;
    const int byte = found ? fgetc(file) : EOF;
    if (byte == EOF || fseek(file, at, SEEK_SET) != 0 || fputc(byte ^ 1 << seed % 8, file) == EOF || fclose(file) != 0)
        abort();
}

/* The checkpoint states an earlier time of the event before it. False where that takes another number of bytes. */
static bool lie_in(struct rig_buf *frame, uint64_t number, bool has_positions)
{
    enum { EARLIER_NS = 40 * STEP_NS };
    uint8_t *payload = (uint8_t *)frame->data + RIG_FRAME_HEAD_BYTES;
    struct rig_record_cursor cursor = {.at = payload + RIG_CHECKPOINT_NUMBER_BYTES,
                                       .end = (uint8_t *)frame->data + frame->size};
    struct rig_buf wrong;
    for (int skipped = 0; skipped < 2 + has_positions; skipped++)
        (void)rig_cursor_number(&cursor);
    uint8_t *time = payload + (cursor.at - payload);
    rig_buf_init(&wrong, 0);
    rig_varint_put_signed(&wrong, rig_cursor_signed(&cursor) - EARLIER_NS);
    const bool fits = wrong.size == (size_t)(cursor.at - time);
    if (fits) {
        memcpy(time, wrong.data, wrong.size);
        rig_frame_seal(frame, 0, RIG_FRAME_CHECKPOINT, number);
    }
    rig_buf_done(&wrong);
    return fits;
}

/* One checkpoint of the record's second half, whose frame stays undamaged. False: there is none. */
static bool lie(const char *path, uint64_t seed)
{
    struct rig_buf bytes, frame;
    struct rig_record_file file;
    const struct rig_load_options options = {.form = RIG_FORM_RIG};
    FILE *stream = fopen(path, "r+be");
    bool lied = false;
    char piece[4096];
    rig_buf_init(&bytes, 0);
    rig_buf_init(&frame, 0);
    if (stream == NULL)
        abort();
    for (size_t got; (got = fread(piece, 1, sizeof piece, stream)) > 0;)
        rig_buf_add(&bytes, piece, got);
    if (rig_record_file_init(&file, path, bytes.data, bytes.size, &options, NULL) != RIG_OK)
        abort();
    uint64_t number = 1, left = seed % 8;
    for (size_t at = file.header_end, end; at < bytes.size && (end = rig_record_frame_end(&file, at)) != 0; at = end) {
        rig_buf_clear(&frame);
        rig_buf_add(&frame, bytes.data + at, end - at);
        if (!lied && at > bytes.size / 2 && rig_record_frame_is(&file, at, RIG_FRAME_CHECKPOINT) && left-- == 0 &&
            lie_in(&frame, number, (file.shape.flags & RIG_RECORD_POSITIONS) != 0)) {
            lied = true;
            if (fseek(stream, (long)at, SEEK_SET) != 0 || fwrite(frame.data, 1, frame.size, stream) != frame.size)
                abort();
        }
        number++;
    }
    if (fclose(stream) != 0)
        abort();
    rig_record_file_done(&file);
    rig_buf_done(&bytes);
    rig_buf_done(&frame);
    return lied;
}

static void check_one_record(struct totals *totals, const struct rig_history *history, const char *name,
                             const char *path, uint64_t seed, bool damages)
{
    struct rig_output output;
    struct rig_err err = {0};
    const struct rig_record_write_options options = {.frame_bytes = 150, .block_bytes = 400 + seed % 500};
    const struct records one = {name, {path}, 1, {.threads = 1, .by_blocks = true}};
    if (rig_output_open(&output, path, &err) != RIG_OK ||
        rig_output_close(&output, rig_record_write(history, &options, &output, &err), &err) != RIG_OK) {
        fail(totals, name, 0, "cannot be written:", err.text);
        return;
    }
    check_records(totals, &one, seed, false, false);
    if (!damages)
        return;
    damage(path, seed);
    check_records(totals, &one, seed, true, false);
}

/* One whose samples of the clock are damaged cannot. */
static bool can_be_opened(const struct records *records)
{
    struct rig_source *source = NULL;
    struct rig_err err = {0};
    const bool opened = rig_source_open_ranks(records->paths, records->count, &records->from, &source, &err) == RIG_OK;
    rig_source_close(source);
    return opened;
}

static void check_ranks(struct totals *totals, struct rig_history *history, const char *name, const char *prefix,
                        uint64_t seed, bool damages)
{
    const bool steps = seed % 7 == 3;
    struct split_ranks split = {
        .count = 2 + (uint32_t)(seed % (MOST_RANKS - 1)),
        .seed = seed,
        .shift_ns = seed % 5 == 0 ? 0 : INT64_C(5000000000),
        .error_ns = (int64_t)(seed % 4) * (int64_t)(seed % 4) * 10 * STEP_NS,
        .drift = seed % 2 == 0 ? 0 : 5e-5,
        .sample_count = 2 + (uint32_t)(seed % 40),
        .step_ns = steps ? (int64_t)100 * STEP_NS : 0,
        .frame_bytes = 150,
        .block_bytes = 400 + seed % 500,
    };
    char titles[160], paths[MOST_RANKS][64];
    struct records records = {
        titles, {NULL}, split.count, {.threads = 1 + (unsigned)(seed % 2), .load = {.part_bytes = 100 + seed % 900}}};
    (void)snprintf(titles, sizeof titles, "%s, %u ranks", name, (unsigned)split.count);
    for (uint32_t rank = 0; rank < split.count; rank++) {
        (void)snprintf(paths[rank], sizeof paths[rank], "%s.%u.rig", prefix, (unsigned)rank);
        records.paths[(rank + seed) % split.count] = paths[rank];
    }
    split_ranks_spread_times(history, STEP_NS, 1 + (uint32_t)(seed % 3));
    split_ranks(history, &split, prefix);
    check_records(totals, &records, seed, false, false);
    if (damages) {
        damage(paths[seed % split.count], seed);
        if (can_be_opened(&records))
            check_records(totals, &records, seed, true, false);
        records.count--;
        check_records(totals, &records, seed, true, false);
        records.count++;
        split_ranks(history, &split, prefix);
        if (lie(paths[seed % split.count], seed))
            check_records(totals, &records, seed, true, true);
        split.moves = true;
        split_ranks(history, &split, prefix);
        check_records(totals, &records, seed, true, true);
    }
    for (uint32_t rank = 0; rank < split.count; rank++)
        (void)remove(paths[rank]);
}

static void check_simulated(struct totals *totals, enum rig_sim_isolation isolation, enum rig_sim_bug bug,
                            uint64_t seed)
{
    struct sim_settings settings;
    struct seen_run run;
    char name[128], path[] = "/tmp/rig-parts-XXXXXX";
    sim_settings_init(&settings, isolation, bug);
    settings.seed = seed;
    settings.txn_count = 3000;
    settings.sim.info_rate = seed % 3 == 0 ? 0.02 : 0;
    settings.session_count = 1 + (uint32_t)(seed % 8);
    settings.workload.active_keys = 2 + (uint32_t)(seed % 5);
    settings.workload.appends_per_key = 4 + (uint32_t)(seed % 13);
    seen_run_init(&run, &settings);
    struct rig_history *history = seen_run_history(&run, (enum rig_workload)settings.workload.type);
    seen_run_done(&run);
    (void)snprintf(name, sizeof name, "%s, bug %s, seed %" PRIu64, rig_sim_isolation_names[isolation],
                   rig_sim_bug_names[bug], seed);
    const int fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0)
        abort();
    check_one_record(totals, history, name, path, seed, bug == RIG_SIM_BUG_NONE);
    check_ranks(totals, history, name, path, seed, bug == RIG_SIM_BUG_NONE);
    (void)remove(path);
    rig_history_free(history);
}

static uint64_t number_after(int argc, char **argv, const char *name, const char *fallback)
{
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0)
            fallback = argv[i + 1];
    }
    return strtoull(fallback, NULL, 10);
}

int main(int argc, char **argv)
{
    struct totals totals = {0};
    const uint64_t first = number_after(argc, argv, "--first-seed", "1"),
                   count = number_after(argc, argv, "--seeds", "1");
    for (uint64_t seed = first; seed < first + count; seed++) {
        for (int i = 0; i < 3; i++)
            check_simulated(&totals, RIG_SIM_SERIALIZABLE, RIG_SIM_BUG_NONE, 3 * seed + (uint64_t)i);
        check_simulated(&totals, RIG_SIM_SNAPSHOT, RIG_SIM_BUG_NONE, seed);
        check_simulated(&totals, RIG_SIM_READ_COMMITTED, RIG_SIM_BUG_NONE, seed);
        for (int bug = RIG_SIM_BUG_NONE + 1; rig_sim_bug_names[bug] != NULL; bug++)
            check_simulated(&totals, RIG_SIM_SERIALIZABLE, (enum rig_sim_bug)bug, seed);
    }
    (void)printf("%" PRIu64 " checks, %" PRIu64 " of them shared (%" PRIu64 " of several ranks), %" PRIu64
                 " alone, %" PRIu64 " with a spoilt answer; %" PRIu64 " problems\n",
                 totals.checks, totals.shared, totals.shared_ranks, totals.alone, totals.spoilt, totals.problems);
    const uint64_t least = totals.checks / 40;
    return totals.problems == 0 && totals.shared_ranks > least && totals.shared - totals.shared_ranks > least &&
                   totals.spoilt > 0
               ? EXIT_SUCCESS
               : EXIT_FAILURE;
}
