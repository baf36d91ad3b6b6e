#include "tests/unit/cmocka_first.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "history/model/window.h"
#include "history/record/packing.h"
#include "history/record/record_cursor.h"
#include "history/record/record_encoder.h"
#include "history/source/event_walk.h"
#include "history/source/load.h"
#include "history/source/source.h"
#include "tests/history/history_model.h"

static struct rig_rng rng;

static int seeded(void **state)
{
    (void)state;
    uint64_t seed = rig_rng_fresh_seed();
    const char *given = getenv("RIG_TEST_SEED");
    if (given != NULL)
        seed = strtoull(given, NULL, 10);
    print_message("seed %llu\n", (unsigned long long)seed);
    rig_rng_init(&rng, seed, 0);
    return 0;
}

static void varints_come_back(void **state)
{
    (void)state;
    struct rig_buf buf;
    rig_buf_init(&buf, 0);
    for (int i = 0; i < 100000; i++) {
        uint64_t number = rig_rng_next(&rng) >> rig_rng_below(&rng, 64);
        rig_buf_clear(&buf);
        rig_varint_put(&buf, number);
        rig_varint_put_signed(&buf, (int64_t)number);
        const uint8_t *at = (const uint8_t *)buf.data;
        const uint8_t *end = at + buf.size;
        uint64_t got = 0, folded = 0;
        assert_true(rig_varint_get(&at, end, &got));
        assert_true(rig_varint_get(&at, end, &folded));
        assert_true(got == number && rig_unzigzag(folded) == (int64_t)number);
        assert_ptr_equal(at, end);
    }
    rig_buf_done(&buf);
}

static void bad_varints_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint8_t bytes[12];
        size_t count;
    } cases[] = {
        {{0x80}, 1},
        {{0x80, 0x00}, 2}, /* not minimal */
        {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02}, 10},
        {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x01}, 11},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const uint8_t *at = cases[i].bytes;
        uint64_t number;
        assert_false(rig_varint_get(&at, at + cases[i].count, &number));
    }
}

/* The reader's cursor and the plain function read the same numbers, and end at the same bytes. */
static void a_cursor_reads_varints(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[12];
        size_t count = 1 + (size_t)rig_rng_below(&rng, sizeof bytes);
        for (size_t b = 0; b < count; b++)
            bytes[b] = (uint8_t)(rig_rng_next(&rng) | (rig_rng_below(&rng, 3) != 0 ? 0x80 : 0));
        const uint8_t *at = bytes;
        struct rig_record_cursor cursor = {.at = bytes, .end = bytes + count};
        while (cursor.at < cursor.end) {
            uint64_t number = 0;
            bool there = rig_varint_get(&at, bytes + count, &number);
            assert_true(rig_cursor_number(&cursor) == number);
            assert_ptr_equal(cursor.bad, there ? NULL : at);
            assert_ptr_equal(cursor.at, there ? at : bytes + count);
        }
        if (cursor.bad == NULL)
            (void)rig_cursor_signed(&cursor);
        assert_non_null(cursor.bad);
    }
}

static void events_sort_by_time_then_kind(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static struct rig_event_time events[COUNT], spare[COUNT];
    for (uint32_t i = 0; i < COUNT; i++)
        events[i] = (struct rig_event_time){.time_ns = (int64_t)(i / 4 + rig_rng_below(&rng, 50)),
                                            .kind = (uint32_t)rig_rng_below(&rng, 2) & 1,
                                            .client = (uint32_t)rig_rng_below(&rng, 3) & 3,
                                            .ordinal = i};
    struct rig_event_time *sorted = rig_event_sort(events, spare, COUNT);
    assert_true(rig_event_is_sorted(sorted, COUNT));
    bool seen[COUNT] = {false};
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_false(seen[sorted[i].ordinal]);
        seen[sorted[i].ordinal] = true;
        if (i == 0 || sorted[i].time_ns != sorted[i - 1].time_ns)
            continue;
        assert_true(sorted[i - 1].kind <= sorted[i].kind);
        if (sorted[i - 1].kind == sorted[i].kind && sorted[i - 1].client == sorted[i].client)
            assert_true(sorted[i - 1].ordinal < sorted[i].ordinal);
    }
}

/* With one thread frames are read in order, with more of them blocks in any order. */
static enum rig_rc try_parse(const void *data, size_t size, unsigned threads, struct rig_history **history,
                             struct rig_err *err)
{
    struct rig_source_options options = {.load = {.form = RIG_FORM_RIG}, .threads = threads};
    struct rig_source *source = NULL;
    const struct rig_segment *segment = NULL;
    enum rig_rc rc = rig_source_open_memory("test.rig", data, size, &options, &source, err);
    if (rc != RIG_OK)
        return rc;
    struct rig_window *window = rig_window_new(rig_source_facts(source)->workload, 0);
    for (rc = rig_source_next(source, &segment, err); rc == RIG_OK && segment != NULL;) {
        rc = rig_window_add(window, segment, err);
        if (rc == RIG_OK)
            rc = rig_source_next(source, &segment, err);
    }
    if (rc == RIG_OK)
        rc = rig_window_give(window, rig_source_facts(source), history, err);
    else
        rig_window_free(window);
    rig_source_close(source);
    return rc;
}

static struct rig_history *parse_with(const void *data, size_t size, unsigned threads)
{
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    if (try_parse(data, size, threads, &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    return history;
}

static struct rig_history *parse(const void *data, size_t size)
{
    return parse_with(data, size, 1);
}

/* The model's events as a record of its own, with a frame after every `frame_events`; where each frame ends. */
struct encoded {
    struct rig_buf file;
    size_t frame_ends[4096];
    uint32_t frame_events[4096]; /* events up to that end */
    size_t frame_count;
};

static void encode_event(struct rig_record_encoder *encoder, const struct model *model, struct model_event event)
{
    const struct model_txn *txn = &model->txns[event.txn];
    if (!event.is_completion) {
        struct rig_record_moment when = {.time_ns = txn->invoke_ns};
        rig_record_encoder_invoke(encoder, txn->channel, when, txn->process, txn->invoke_ns - (int64_t)(event.txn % 3),
                                  txn->ops, txn->op_count);
        return;
    }
    struct rig_record_read reads[MODEL_MAX_OPS];
    for (uint32_t i = 0; i < txn->op_count; i++)
        reads[i] = (struct rig_record_read){.state = txn->reads[i].state,
                                            .count = txn->reads[i].count,
                                            .elements = txn->elements + txn->reads[i].first_element,
                                            .value = txn->reads[i].value};
    struct rig_record_completion completion = {
        .outcome = txn->outcome,
        .error = txn->error,
        .error_length = txn->error == NULL ? 0 : strlen(txn->error),
        .reads = txn->has_reads ? reads : NULL,
        .columns = &txn->columns,
        .spans = model_spans(txn),
        .names = model_names,
    };
    struct rig_record_moment when = {.time_ns = txn->complete_ns};
    rig_record_encoder_complete(encoder, txn->channel, when, &completion);
}

static void end_frame(struct encoded *encoded, struct rig_record_encoder *encoder, uint32_t events)
{
    const struct rig_buf *frame = rig_record_encoder_frame(encoder);
    assert_non_null(frame);
    rig_buf_add(&encoded->file, frame->data, frame->size);
    encoded->frame_ends[encoded->frame_count] = encoded->file.size;
    encoded->frame_events[encoded->frame_count++] = events;
}

enum { PACKED = 1 << 30 /* in `frame_events`, where this build can */ };

static void encode(struct encoded *encoded, const struct model *model, uint32_t frame_events, uint32_t key_limit,
                   size_t block_bytes)
{
    bool packed = (frame_events & PACKED) != 0 && rig_packing_available();
    frame_events &= ~(uint32_t)PACKED;
    struct rig_record_head head = {
        .workload = model->options->workload,
        .flags = packed ? RIG_RECORD_PACKED : 0U,
        .meta = "name: test",
        .columns = model->options->columns ? RIG_COLUMNS_KEPT : 0,
        .key_limit = key_limit,
        .block_bytes = block_bytes,
    };
    struct rig_record_encoder *encoder = rig_record_encoder_new(&head);
    *encoded = (struct encoded){0};
    rig_buf_init(&encoded->file, 0);
    rig_record_encoder_header(encoder, &encoded->file);
    encoded->frame_ends[encoded->frame_count++] = encoded->file.size;
    for (uint32_t i = 0; i < model->event_count; i++) {
        encode_event(encoder, model, model->events[i]);
        if ((i + 1) % frame_events == 0)
            end_frame(encoded, encoder, i + 1);
    }
    if (rig_record_encoder_pending_bytes(encoder) > 0)
        end_frame(encoded, encoder, model->event_count);
    const struct rig_buf *frame = rig_record_encoder_close(encoder, 0);
    rig_buf_add(&encoded->file, frame->data, frame->size);
    rig_record_encoder_free(encoder);
}

static struct model_options small_options(void)
{
    return (struct model_options){
        .txn_count = 30, .channel_count = 4, .key_count = 5, .first_ns = 1000, .columns = rig_rng_below(&rng, 2) == 0};
}

static void truncations(const struct model *model, size_t block_bytes, unsigned threads)
{
    struct encoded encoded;
    encode(&encoded, model, 3, 0, block_bytes);
    size_t frames = 0;
    for (size_t size = 1; size <= encoded.file.size; size++) {
        while (frames < encoded.frame_count && encoded.frame_ends[frames] <= size)
            frames++;
        /* A copy of exactly that size, so that a sanitizer detects a read behind the end. */
        void *copy = malloc(size);
        assert_non_null(copy);
        memcpy(copy, encoded.file.data, size);
        struct rig_history *history = parse_with(copy, size, threads);
        assert_int_equal(history->truncated, size < encoded.file.size);
        assert_int_equal(history->damaged_at, 0);
        struct rig_history *wanted = model_history(model, frames == 0 ? 0 : encoded.frame_events[frames - 1]);
        assert_same_history(history, wanted);
        if (frames > 0)
            assert_string_equal(history->meta, "name: test");
        rig_history_free(wanted);
        rig_history_free(history);
        free(copy);
    }
    rig_buf_done(&encoded.file);
}

static void every_truncation_loads_its_whole_frames(void **state)
{
    (void)state;
    struct model model;
    struct model_options options = small_options();
    model_make(&model, &options, &rng);
    truncations(&model, 0, 1);
    truncations(&model, 1, 1);
    truncations(&model, 1, 3);
    model_done(&model);
}

static void flip_every_bit(const struct model *model, uint32_t frame_events, size_t block_bytes, unsigned threads)
{
    struct encoded encoded;
    encode(&encoded, model, frame_events, 0, block_bytes);
    for (size_t bit = 0; bit < encoded.file.size * 8; bit++) {
        encoded.file.data[bit / 8] ^= (char)(1 << bit % 8);
        struct rig_history *history = NULL;
        struct rig_err err = {0};
        enum rig_rc rc = try_parse(encoded.file.data, encoded.file.size, threads, &history, &err);
        assert_int_equal(rc, bit / 8 < encoded.frame_ends[0] ? RIG_E_INPUT : RIG_OK);
        if (rc == RIG_OK) {
            assert_true(history->truncated);
            assert_true(history->damaged_at >= encoded.frame_ends[0] && history->damaged_at <= bit / 8);
            assert_int_equal(history->damaged_at + history->damaged_bytes, encoded.file.size);
        }
        rig_history_free(history);
        encoded.file.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    rig_buf_done(&encoded.file);
}

static void every_flipped_bit_is_noticed(void **state)
{
    (void)state;
    struct model model;
    struct model_options options = small_options();
    model_make(&model, &options, &rng);
    flip_every_bit(&model, 7, 0, 1);
    flip_every_bit(&model, 7, 1, 1);
    flip_every_bit(&model, 7, 1, 2);
    flip_every_bit(&model, PACKED | 20, 1, 2);
    model_done(&model);
}

/* A history in blocks of any length, and with keys dropped at every chance, is the same history. */
static void blocks_of(struct model_options options)
{
    static const size_t block_bytes[] = {0, 1, 1000, 20000};
    static const uint32_t key_limits[] = {0, 6};
    struct model model;
    model_make(&model, &options, &rng);
    struct rig_history *wanted = model_history(&model, model.event_count);
    size_t sizes[8];
    for (size_t i = 0; i < 8; i++) {
        struct encoded encoded;
        for (unsigned round = 0; round < 8; round++) {
            unsigned threads = 1 + round % 4;
            uint32_t packed = round < 4 ? 0 : PACKED;
            encode(&encoded, &model, packed | (i == 1 ? 5 : 100), key_limits[i / 4], block_bytes[i % 4]);
            sizes[i] = round < 4 ? encoded.file.size : sizes[i];
            assert_true(round < 4 || encoded.file.size <= sizes[i]);
            struct rig_history *history = parse_with(encoded.file.data, encoded.file.size, threads);
            assert_same_history(history, wanted);
            assert_meanwhile(history);
            assert_false(history->truncated);
            rig_history_free(history);
            rig_buf_done(&encoded.file);
        }
    }
    assert_true(sizes[1] > sizes[2] && sizes[2] > sizes[3] && sizes[3] >= sizes[0]); /* more blocks, more bytes */
    assert_true(sizes[4] > sizes[0]);                                                /* keys were dropped */
    rig_history_free(wanted);
    model_done(&model);
}

static void blocks_lose_nothing(void **state)
{
    (void)state;
    struct model_options options = {.txn_count = 5000, .channel_count = 8, .key_count = 60, .first_ns = -5};
    blocks_of(options);
    options.columns = true;
    blocks_of(options);
    options.workload = RIG_WORKLOAD_RW_REGISTER;
    blocks_of(options);
}

/* A damaged frame ends the readable part, also where whole blocks follow it; the reader reports them. */
static void damage_in_the_middle_is_reported(void **state)
{
    (void)state;
    struct model model;
    struct model_options options = small_options();
    struct encoded encoded;
    model_make(&model, &options, &rng);
    encode(&encoded, &model, 5, 0, 1);
    for (size_t frame = 0; frame + 2 < encoded.frame_count; frame++) {
        size_t at = encoded.frame_ends[frame];
        struct rig_source_options source_options = {.load = {.form = RIG_FORM_RIG}, .threads = 1 + frame % 2};
        struct rig_source *source = NULL;
        const struct rig_segment *segment = NULL;
        struct rig_err err = {0};
        encoded.file.data[at + RIG_FRAME_HEAD_BYTES + 9] ^= 1;
        assert_int_equal(
            rig_source_open_memory("test.rig", encoded.file.data, encoded.file.size, &source_options, &source, &err),
            RIG_OK);
        do
            assert_int_equal(rig_source_next(source, &segment, &err), RIG_OK);
        while (segment != NULL);
        assert_true(rig_source_facts(source)->truncated);
        assert_int_equal(rig_source_facts(source)->damaged_at, at);
        assert_int_equal(rig_source_facts(source)->damaged_bytes, encoded.file.size - at);
        assert_true(rig_source_facts(source)->damaged_frames >= encoded.frame_count - frame - 2);
        assert_true(rig_source_facts(source)->damaged_txns > 0);
        rig_source_close(source);
        struct rig_history *history = parse_with(encoded.file.data, encoded.file.size, 1 + (unsigned)frame % 2);
        struct rig_history *wanted = model_history(&model, encoded.frame_events[frame]);
        assert_same_history(history, wanted);
        rig_history_free(wanted);
        rig_history_free(history);
        encoded.file.data[at + RIG_FRAME_HEAD_BYTES + 9] ^= 1;
    }
    rig_buf_done(&encoded.file);
    model_done(&model);
}

/* A length past the end of the file looks like a cut; the closing frame after many damaged ones shows that it is not.
 * */
static void damage_in_all_frames_but_the_last_is_no_cut(void **state)
{
    (void)state;
    struct model model;
    struct model_options options = small_options();
    struct encoded encoded;
    model_make(&model, &options, &rng);
    encode(&encoded, &model, 5, 0, 1);
    assert_true(encoded.frame_count > 9);
    encoded.file.data[encoded.frame_ends[0] + 6] ^= 0x40;
    for (size_t frame = 1; frame + 1 < encoded.frame_count; frame++)
        encoded.file.data[encoded.frame_ends[frame] + RIG_FRAME_HEAD_BYTES] ^= 1;
    struct rig_history *history = parse_with(encoded.file.data, encoded.file.size, 1);
    assert_true(history->truncated);
    assert_int_equal(history->damaged_at, encoded.frame_ends[0]);
    rig_history_free(history);
    rig_buf_done(&encoded.file);
    model_done(&model);
}

static uint32_t completions_in(const struct model *model, uint32_t event_count)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < event_count; i++)
        count += model->events[i].is_completion;
    return count;
}

/* All segments that exist by now; returns the number of transactions that completed in them. */
static size_t take_what_is_there(struct rig_source *source, struct rig_window *window)
{
    const struct rig_segment *segment = NULL;
    struct rig_err err = {0};
    size_t completed = 0;
    do {
        if (rig_source_next(source, &segment, &err) != RIG_OK)
            fail_msg("%s", err.text);
        if (segment == NULL)
            break;
        completed += segment->txns.count;
        assert_int_equal(rig_window_add(window, segment, &err), RIG_OK);
    } while (segment != NULL);
    return completed;
}

/* A file that grows by any number of bytes: read up to its last whole frame, and on from there. `rest`: the number of
 * bytes cut off its end. */
static void follow(const struct model *model, const struct encoded *encoded, size_t rest)
{
    char path[] = "/tmp/rig-test-record-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    size_t written = encoded->frame_ends[0], frames = 1, completed = 0;
    assert_int_equal(write(fd, encoded->file.data, written), written);
    struct rig_source_options options = {.load = {.form = RIG_FORM_RIG}, .threads = 2, .follow = true};
    struct rig_source *source = NULL;
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    assert_int_equal(rig_source_open(path, &options, &source, &err), RIG_OK);
    const char *meta = rig_source_facts(source)->meta;
    assert_string_equal(meta, "name: test");
    struct rig_window *window = rig_window_new(rig_source_facts(source)->workload, 0);
    for (size_t end = encoded->file.size - rest; written < end;) {
        size_t more = 1 + (size_t)rig_rng_below(&rng, 150);
        more = more < end - written ? more : end - written;
        assert_int_equal(write(fd, encoded->file.data + written, more), more);
        written += more;
        while (frames < encoded->frame_count && encoded->frame_ends[frames] <= written)
            frames++;
        completed += take_what_is_there(source, window);
        assert_int_equal(completed, completions_in(model, encoded->frame_events[frames - 1]));
    }
    rig_source_settle(source);
    assert_int_equal(take_what_is_there(source, window), 0);
    assert_int_equal(rig_source_facts(source)->truncated, rest > 0);
    assert_ptr_equal(rig_source_facts(source)->meta, meta);
    assert_int_equal(rig_window_give(window, rig_source_facts(source), &history, &err), RIG_OK);
    struct rig_history *wanted = model_history(model, encoded->frame_events[frames - 1]);
    assert_same_history(history, wanted);
    rig_history_free(wanted);
    rig_history_free(history);
    rig_source_close(source);
    (void)close(fd);
    (void)unlink(path);
}

static void a_growing_file_is_followed(void **state)
{
    (void)state;
    struct model model;
    struct model_options options = {.txn_count = 300, .channel_count = 4, .key_count = 9, .first_ns = 7};
    model_make(&model, &options, &rng);
    for (unsigned round = 0; round < 6; round++) {
        struct encoded encoded;
        encode(&encoded, &model, (round < 4 ? 0 : PACKED) | 11, 0, round % 2 == 0 ? 0 : 300);
        follow(&model, &encoded, round < 2 ? 0 : 1 + (size_t)rig_rng_below(&rng, 400));
        rig_buf_done(&encoded.file);
    }
    model_done(&model);
}

static void a_second_invocation_leaves_the_first_open(void **state)
{
    (void)state;
    struct rig_record_head head = {.workload = RIG_WORKLOAD_LIST_APPEND};
    struct rig_record_encoder *encoder = rig_record_encoder_new(&head);
    struct rig_buf file;
    rig_buf_init(&file, 0);
    rig_record_encoder_header(encoder, &file);
    struct rig_op op = {.kind = RIG_OP_APPEND, .key = 1, .value = 1};
    rig_record_encoder_invoke(encoder, 0, (struct rig_record_moment){.time_ns = 1}, 7, 1, &op, 1);
    rig_record_encoder_invoke(encoder, 0, (struct rig_record_moment){.time_ns = 2}, 8, 2, &op, 1);
    struct rig_record_completion completion = {.outcome = RIG_OUTCOME_OK};
    rig_record_encoder_complete(encoder, 0, (struct rig_record_moment){.time_ns = 3}, &completion);
    const struct rig_buf *frame = rig_record_encoder_frame(encoder);
    rig_buf_add(&file, frame->data, frame->size);
    struct rig_history *history = parse(file.data, file.size);
    assert_int_equal(history->txn_count, 2);
    assert_int_equal(history->txns[0].process, 8);
    assert_int_equal(history->txns[1].process, 7);
    assert_int_equal(history->txns[1].complete_at, RIG_POSITION_NONE);
    assert_int_equal(history->txns[1].outcome, RIG_OUTCOME_INFO);
    rig_history_free(history);
    rig_buf_done(&file);
    rig_record_encoder_free(encoder);
}

static void saved_histories_come_back(void **state)
{
    (void)state;
    char path[] = "/tmp/rig-test-record-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    for (unsigned variant = 0; variant < 64; variant++) {
        struct model model;
        struct model_options options = {
            .workload = variant & 1 ? RIG_WORKLOAD_RW_REGISTER : RIG_WORKLOAD_LIST_APPEND,
            .txn_count = variant == 0 ? 0 : 700,
            .channel_count = 9,
            .key_count = 40,
            .first_ns = variant & 2 ? -1000 : 0,
            .no_invocations = (variant & 4) != 0,
            .text_keys = (variant & 8) != 0,
            .no_times = (variant & 16) != 0,
            .position_gaps = (variant & 32) != 0,
        };
        model_make(&model, &options, &rng);
        struct rig_history *wanted = model_history(&model, model.event_count);
        wanted->skipped_count = variant;
        wanted->truncated = variant % 3 == 0;
        struct rig_err err = {0};
        assert_int_equal(rig_history_save(wanted, path, &(struct rig_save_options){.form = RIG_FORM_RIG}, &err),
                         RIG_OK);
        struct rig_history *history = NULL;
        struct rig_load_options load = {0};
        if (rig_history_load(path, &load, &history, &err) != RIG_OK)
            fail_msg("variant %u: %s", variant, err.text);
        assert_same_history(history, wanted);
        assert_int_equal(history->skipped_count, variant);
        assert_int_equal(history->truncated, variant % 3 == 0);
        rig_history_free(history);
        rig_history_free(wanted);
        model_done(&model);
    }
    (void)unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(varints_come_back),
        cmocka_unit_test(bad_varints_are_refused),
        cmocka_unit_test(a_cursor_reads_varints),
        cmocka_unit_test(events_sort_by_time_then_kind),
        cmocka_unit_test(every_truncation_loads_its_whole_frames),
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(blocks_lose_nothing),
        cmocka_unit_test(damage_in_the_middle_is_reported),
        cmocka_unit_test(damage_in_all_frames_but_the_last_is_no_cut),
        cmocka_unit_test(a_growing_file_is_followed),
        cmocka_unit_test(a_second_invocation_leaves_the_first_open),
        cmocka_unit_test(saved_histories_come_back),
    };
    return cmocka_run_group_tests(tests, seeded, NULL);
}
