#include "tests/unit/cmocka_first.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/rng.h"
#include "history/source/form_reader.h"
#include "history/record/packing.h"
#include "history/model/window.h"
#include "tests/history/history_model.h"

/*
 * A form for tests: every byte is a transaction that appends it, at the byte's offset in the file as position, to key
 * 0. A comma ends a part, after at most eight bytes. 'x' cannot be parsed, 'j' not joined. Bytes behind the last comma
 * are incomplete.
 */
struct toy {
    bool waits[64]; /* this part, until the next one is parsed */
    const char *data;
    size_t size;
    size_t joined; /* transactions */
    unsigned parse_count, most_at_once;
    unsigned at_once;
    pthread_mutex_t lock;
    pthread_cond_t parsed;
    bool is_parsed[64];
};

static struct toy toy;
static struct rig_err err;

static int start(void **state)
{
    (void)state;
    err = (struct rig_err){0};
    toy = (struct toy){0};
    pthread_mutex_init(&toy.lock, NULL);
    pthread_cond_init(&toy.parsed, NULL);
    return 0;
}

static enum rig_rc toy_open(const char *name, const char *data, size_t size, const struct rig_load_options *options,
                            struct rig_source_facts *facts, void **state, struct rig_err *e)
{
    (void)options;
    toy.data = data;
    toy.size = size;
    toy.joined = 0;
    *state = &toy;
    facts->meta = "about it";
    return data[0] == '!' ? rig_fail(e, RIG_E_INPUT, "%s: cannot be opened", name) : RIG_OK;
}

static size_t toy_cut(void *state, size_t begin)
{
    (void)state;
    size_t end = toy.size;
    while (end > begin && (toy.data[end - 1] != ',' || end - begin > 8))
        end--;
    return end;
}

static void take_turns(size_t begin)
{
    pthread_mutex_lock(&toy.lock);
    toy.parse_count++;
    toy.at_once++;
    toy.most_at_once = toy.at_once > toy.most_at_once ? toy.at_once : toy.most_at_once;
    size_t part = begin / 8;
    assert_true(part < 63);
    while (toy.waits[part] && !toy.is_parsed[part + 1])
        pthread_cond_wait(&toy.parsed, &toy.lock);
    toy.is_parsed[part] = true;
    toy.at_once--;
    pthread_cond_broadcast(&toy.parsed);
    pthread_mutex_unlock(&toy.lock);
}

static enum rig_rc toy_parse(void *state, size_t begin, size_t end, struct rig_segment *segment, struct rig_err *e)
{
    (void)state;
    assert_int_equal(segment->txns.count + segment->ops.count + segment->keys.count, 0);
    take_turns(begin);
    bool fits = rig_segment_keys_add(&segment->keys, (struct rig_segment_key){.key = 0});
    for (size_t i = begin; i < end && fits; i++) {
        if (toy.data[i] == 'x')
            return rig_fail(e, RIG_E_INPUT, "byte %zu", i);
        struct rig_txn_op mop = {.kind = RIG_OP_APPEND, .value = toy.data[i]};
        struct rig_txn txn = {.invoke_at = RIG_POSITION_NONE, .complete_at = (uint32_t)i};
        txn.first_op = (uint32_t)(i - begin);
        fits = rig_txn_vec_add(&segment->txns, txn) && rig_txn_op_vec_add(&segment->ops, mop);
    }
    segment->skipped_count = 1;
    return fits ? RIG_OK : rig_fail(e, RIG_E_LIMIT, "no memory");
}

static enum rig_rc toy_join(void *state, struct rig_segment *segment, struct rig_err *e)
{
    assert_ptr_equal(state, &toy);
    assert_int_equal(segment->txns.at[0].complete_at, toy.joined);
    for (size_t i = 0; i < segment->ops.count; i++) {
        if (segment->ops.at[i].value == 'j')
            return rig_fail(e, RIG_E_INPUT, "join at byte %zu", toy.joined + i);
    }
    toy.joined += segment->txns.count;
    return RIG_OK;
}

static enum rig_rc toy_finish(void *state, struct rig_source_facts *facts, struct rig_err *e)
{
    (void)e;
    assert_ptr_equal(state, &toy);
    facts->truncated = true;
    return RIG_OK;
}

static void toy_grow(void *state, const char *data, size_t size)
{
    assert_ptr_equal(state, &toy);
    toy.data = data;
    toy.size = size;
}

static void toy_close(void *state)
{
    (void)state;
}

static struct rig_form_reader toy_reader = {
    .open = toy_open,
    .cut = toy_cut,
    .parse = toy_parse,
    .join = toy_join,
    .finish = toy_finish,
    .grow = toy_grow,
    .close = toy_close,
};

static struct rig_source *open_text(const char *text, bool parallel, unsigned threads)
{
    struct rig_source *source = NULL;
    struct rig_source_options options = {.threads = threads};
    toy_reader.parallel = parallel;
    enum rig_rc rc = rig_source_open_form("toy", text, strlen(text), &toy_reader, &options, &source, &err);
    if (rc != RIG_OK)
        fail_msg("%s", err.text);
    return source;
}

/* Reads on, to the end or the present end; the bytes are those of `text` from *at on. */
static enum rig_rc read_on(struct rig_source *source, const char *text, size_t *at)
{
    const struct rig_segment *segment = NULL;
    enum rig_rc rc = rig_source_next(source, &segment, &err);
    while (rc == RIG_OK && segment != NULL) {
        for (size_t i = 0; i < segment->ops.count; i++)
            assert_int_equal(segment->ops.at[i].value, text[(*at)++]);
        rc = rig_source_next(source, &segment, &err);
    }
    return rc;
}

static const char sixteen[] = "aaaaaaa,bbbbbbb,ccccccc,ddddddd,eeeeeee,fffffff,ggggggg,hhhhhhh,"
                              "iiiiiii,kkkkkkk,lllllll,mmmmmmm,nnnnnnn,ooooooo,ppppppp,qqqqqqq,";

static void parts_come_in_order(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        for (unsigned parallel = 0; parallel <= 1; parallel++) {
            struct rig_source *source = open_text(sixteen, parallel == 1, threads);
            size_t at = 0;
            assert_int_equal(read_on(source, sixteen, &at), RIG_OK);
            assert_int_equal(at, strlen(sixteen));
            const struct rig_source_facts *facts = rig_source_facts(source);
            assert_true(facts->truncated);
            assert_int_equal(facts->skipped_count, 16);
            assert_int_equal(facts->size_bytes, strlen(sixteen));
            assert_string_equal(facts->meta, "about it");
            assert_int_equal(read_on(source, sixteen, &at), RIG_OK); /* the end stays the end */
            assert_true(toy.most_at_once <= (parallel == 1 ? threads : 1));
            rig_source_close(source);
            (void)start(NULL);
        }
    }
}

static void parts_may_be_ready_in_any_order(void **state)
{
    (void)state;
    toy.waits[0] = toy.waits[2] = true; /* further ones could wait for memory that the limit refuses */
    struct rig_source *source = open_text(sixteen, true, 3);
    size_t at = 0;
    assert_int_equal(read_on(source, sixteen, &at), RIG_OK);
    assert_int_equal(at, strlen(sixteen));
    assert_true(toy.most_at_once >= 2);
    rig_source_close(source);
}

static void the_first_error_wins(void **state)
{
    (void)state;
    static const char text[] = "aaaaaaa,bbbbbbb,ccccccc,ddxdddd,eexeeee,fffffff,";
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        (void)start(NULL);
        toy.waits[3] = threads == 3; /* the later error is seen first */
        struct rig_source *source = open_text(text, true, threads);
        size_t at = 0;
        assert_int_equal(read_on(source, text, &at), RIG_E_INPUT);
        assert_string_equal(err.text, "byte 26");
        assert_int_equal(at, 24);
        err = (struct rig_err){0};
        assert_int_equal(read_on(source, text, &at), RIG_E_INPUT); /* the error stays */
        assert_string_equal(err.text, "byte 26");
        rig_source_close(source);
    }
}

static void errors_of_joining_come_in_order(void **state)
{
    (void)state;
    static const char text[] = "aaaaaaa,bbbbbbj,cccxccc,ddddddd,";
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        (void)start(NULL);
        struct rig_source *source = open_text(text, true, threads);
        size_t at = 0;
        assert_int_equal(read_on(source, text, &at), RIG_E_INPUT);
        assert_string_equal(err.text, "join at byte 14");
        rig_source_close(source);
    }
}

static void a_source_may_be_closed_early(void **state)
{
    (void)state;
    for (int read = 0; read < 6; read++) {
        struct rig_source *source = open_text(sixteen, read % 2 == 0, 3);
        const struct rig_segment *segment = NULL;
        for (int i = 0; i < read; i++)
            assert_int_equal(rig_source_next(source, &segment, &err), RIG_OK);
        rig_source_close(source);
        assert_true(toy.parse_count <= 16);
        (void)start(NULL);
    }
    rig_source_close(NULL);
}

static void no_more_than_a_few_parts_are_ahead(void **state)
{
    (void)state;
    struct rig_source *source = open_text(sixteen, true, 3);
    const struct rig_segment *segment = NULL;
    assert_int_equal(rig_source_next(source, &segment, &err), RIG_OK);
    assert_int_equal(rig_source_next(source, &segment, &err), RIG_OK);
    rig_source_close(source); /* nothing behind this is parsed */
    assert_true(toy.parse_count <= 1 + 5);
}

static void a_source_rewinds(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct rig_source *source = open_text(sixteen, true, threads);
        const struct rig_segment *segment = NULL;
        for (int i = 0; i < 3; i++)
            assert_int_equal(rig_source_next(source, &segment, &err), RIG_OK);
        for (int round = 0; round < 2; round++) {
            assert_int_equal(rig_source_rewind(source, &err), RIG_OK);
            size_t at = 0;
            assert_int_equal(read_on(source, sixteen, &at), RIG_OK);
            assert_int_equal(at, strlen(sixteen));
            assert_int_equal(rig_source_facts(source)->skipped_count, 16);
        }
        rig_source_close(source);
    }
}

static void failed_opens_give_the_reason(void **state)
{
    (void)state;
    struct rig_source *source = NULL;
    struct rig_source_options options = {.threads = 1};
    assert_int_equal(rig_source_open_form("toy", "!", 1, &toy_reader, &options, &source, &err), RIG_E_INPUT);
    assert_string_equal(err.text, "toy: cannot be opened");
    err = (struct rig_err){0};
    assert_int_equal(rig_source_open_memory("it", NULL, 0, &options, &source, &err), RIG_E_INPUT);
    assert_string_equal(err.text, "it: is empty; a history has at least a header or one operation");
    err = (struct rig_err){0};
    assert_int_equal(rig_source_open_memory("it", "hello", 5, &options, &source, &err), RIG_E_INPUT);
    assert_string_equal(err.text, "it:1:1: is not a recognised history (expected .rig, JSON lines, EDN, Jepsen's "
                                  "history.txt, or a form of Cobra, dbcop, PolySI, Plume or AWDIT; each also as .gz or "
                                  ".zst)");
    err = (struct rig_err){0};
    assert_int_equal(rig_source_open("/", &options, &source, &err), RIG_E_IO);
    assert_string_equal(err.text, "/: is a folder; name the history in it");
    err = (struct rig_err){0};
    assert_int_equal(rig_source_open("/nothing/here", &options, &source, &err), RIG_E_IO);
    err = (struct rig_err){0};
    options.load.form = RIG_FORM_RIG;
    assert_int_equal(rig_source_open_memory("it", "{}", 2, &options, &source, &err), RIG_E_INPUT);
    assert_string_equal(err.text, "it: byte 0: is not a record of rig; let rig recognise its form");
    err = (struct rig_err){0};
    options = (struct rig_source_options){.follow = true};
    assert_int_equal(rig_source_open_memory("it", "{}", 2, &options, &source, &err), RIG_E_INPUT);
    assert_string_equal(err.text, "it: only rig's own form can be followed while it grows");
}

/* ---- files ---- */

static int make_file(char *path, size_t size)
{
    (void)snprintf(path, size, "/tmp/rig-test-source-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    return fd;
}

static void append(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void a_growing_file_is_followed(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        (void)start(NULL);
        char path[64];
        int fd = make_file(path, sizeof path);
        append(fd, "aaa,bb");
        struct rig_source *source = NULL;
        struct rig_source_options options = {.threads = threads, .follow = true};
        toy_reader.parallel = true;
        assert_int_equal(rig_source_open_form(path, NULL, 0, &toy_reader, &options, &source, &err), RIG_OK);
        static const char text[] = "aaa,bbbbb,ccc,dd,eee";
        size_t at = 0;
        assert_int_equal(read_on(source, text, &at), RIG_OK);
        assert_int_equal(at, 4);
        assert_int_equal(read_on(source, text, &at), RIG_OK); /* nothing new */
        append(fd, "bbb,ccc,d");
        assert_int_equal(read_on(source, text, &at), RIG_OK);
        assert_int_equal(at, 14);
        append(fd, "d,eee"); /* more than the source has mapped when it settles */
        rig_source_settle(source);
        assert_false(rig_source_facts(source)->truncated);
        assert_int_equal(read_on(source, text, &at), RIG_OK);
        assert_int_equal(at, strlen(text));
        assert_true(rig_source_facts(source)->truncated);
        rig_source_close(source);
        (void)close(fd);
        (void)unlink(path);
    }
}

static void a_large_file_is_read_in_parts(void **state)
{
    (void)state;
    char path[64];
    int fd = make_file(path, sizeof path);
    enum { SIZE = 40 << 20 };
    assert_int_equal(ftruncate(fd, SIZE - 4), 0);
    assert_int_equal(lseek(fd, 0, SEEK_END), SIZE - 4);
    append(fd, "abc,");
    struct rig_source *source = NULL;
    struct rig_source_options options = {.load.form = RIG_FORM_JSON_LINES, .threads = 1};
    assert_int_equal(rig_source_open_form(path, NULL, 0, &toy_reader, &options, &source, &err), RIG_OK);
    assert_int_equal(toy.size, SIZE);
    assert_int_equal(toy.data[SIZE - 4], 'a');
    assert_int_equal(toy.data[SIZE / 2], 0);
    rig_source_close(source);
    (void)close(fd);
    (void)unlink(path);
}

/* ---- the forms themselves, against what was written ---- */

static struct rig_history *load_with(const char *path, const struct rig_source_options *options)
{
    struct rig_source *source = NULL;
    const struct rig_segment *segment = NULL;
    struct rig_history *history = NULL;
    enum rig_rc rc = rig_source_open(path, options, &source, &err);
    if (rc != RIG_OK)
        fail_msg("%s", err.text);
    struct rig_window *window = rig_window_new(rig_source_facts(source)->workload, 0);
    assert_non_null(window);
    while (rc == RIG_OK) {
        rc = rig_source_next(source, &segment, &err);
        if (rc == RIG_OK && segment == NULL)
            break;
        if (rc == RIG_OK)
            rc = rig_window_add(window, segment, &err);
    }
    if (rc != RIG_OK || rig_window_give(window, rig_source_facts(source), &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    rig_source_close(source);
    return history;
}

static struct rig_history *load(const char *path, unsigned threads)
{
    return load_with(path, &(struct rig_source_options){.threads = threads});
}

static void every_form_is_a_source(void **state)
{
    (void)state;
    static const enum rig_form forms[] = {RIG_FORM_RIG, RIG_FORM_JSON_LINES, RIG_FORM_EDN};
    struct rig_rng rng;
    rig_rng_init(&rng, 20261122, 0);
    char path[64];
    int fd = make_file(path, sizeof path);
    for (unsigned round = 0; round < 24; round++) {
        struct model model;
        struct model_options options = {
            .txn_count = round % 8 == 7 ? 30000 : 700,
            .channel_count = 9,
            .key_count = 30,
            .first_ns = 100,
            .exchange = round % 3 != 0,
            .text_keys = round % 4 == 1,
        };
        model_make(&model, &options, &rng);
        struct rig_history *wanted = model_history(&model, model.event_count);
        assert_int_equal(rig_history_save(wanted, path, &(struct rig_save_options){.form = forms[round % 3]}, &err),
                         RIG_OK);
        struct rig_history *history = load(path, round % 2 == 0 ? 1 : 3);
        assert_same_history(history, wanted);
        rig_history_free(history);
        rig_history_free(wanted);
        model_done(&model);
    }
    (void)close(fd);
    (void)unlink(path);
}

/* Under a limit that is too small for a block; its frames end parts anywhere. */
static void frames_are_read_in_parts(void **state)
{
    (void)state;
    static const size_t part_bytes[] = {1, 37, 4096, 0};
    struct rig_rng rng;
    rig_rng_init(&rng, 20261124, 0);
    char path[64];
    int fd = make_file(path, sizeof path);
    for (unsigned round = 0; round < 16; round++) {
        struct model model;
        struct model_options options = {.txn_count = round % 4 < 2 ? 2000 : 30000,
                                        .channel_count = 9,
                                        .key_count = 30,
                                        .first_ns = 100,
                                        .text_keys = round % 4 == 1};
        const struct rig_save_options how = {.form = RIG_FORM_RIG, .pack = round % 8 > 3 && rig_packing_available()};
        model_make(&model, &options, &rng);
        struct rig_history *wanted = model_history(&model, model.event_count);
        assert_int_equal(rig_history_save(wanted, path, &how, &err), RIG_OK);
        const struct rig_source_options in_parts = {
            .load = {.part_bytes = part_bytes[round % 4], .limit_bytes = (size_t)24 << 20}, .threads = 1 + round / 8};
        struct rig_history *history = load_with(path, &in_parts);
        assert_same_history(history, wanted);
        rig_history_free(history);
        rig_history_free(wanted);
        model_done(&model);
    }
    (void)close(fd);
    (void)unlink(path);
}

/* Adds the available part of the source to the window; the present end is not the window's end. */
static void add_what_there_is(struct rig_source *source, struct rig_window *window)
{
    const struct rig_segment *segment = NULL;
    enum rig_rc rc = rig_source_next(source, &segment, &err);
    while (rc == RIG_OK && segment != NULL) {
        rc = rig_window_add(window, segment, &err);
        if (rc == RIG_OK)
            rc = rig_source_next(source, &segment, &err);
    }
    if (rc != RIG_OK)
        fail_msg("%s", err.text);
}

/* Copies the file to one that grows by pieces of any size, which cut frames anywhere, and follows that. */
static struct rig_history *follow(const struct rig_buf *file, const char *path, int fd, unsigned threads,
                                  struct rig_rng *rng)
{
    struct rig_source *source = NULL;
    struct rig_source_options options = {.threads = threads, .follow = true};
    struct rig_history *history = NULL;
    size_t at = file->size < 400 ? file->size : 400; /* the header is whole */
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, file->data, at, 0), (ssize_t)at);
    if (rig_source_open(path, &options, &source, &err) != RIG_OK)
        fail_msg("%s", err.text);
    struct rig_window *window = rig_window_new(rig_source_facts(source)->workload, 0);
    while (at < file->size) {
        add_what_there_is(source, window);
        size_t more = 1 + (size_t)rig_rng_below(rng, 20000);
        more = more < file->size - at ? more : file->size - at;
        assert_int_equal(pwrite(fd, file->data + at, more, (off_t)at), (ssize_t)more);
        at += more;
    }
    rig_source_settle(source);
    add_what_there_is(source, window);
    assert_false(rig_source_facts(source)->truncated);
    if (rig_window_give(window, rig_source_facts(source), &history, &err) != RIG_OK)
        fail_msg("%s", err.text);
    rig_source_close(source);
    return history;
}

static void a_growing_record_is_followed(void **state)
{
    (void)state;
    struct rig_rng rng;
    rig_rng_init(&rng, 20261123, 0);
    char path[64];
    int fd = make_file(path, sizeof path);
    for (unsigned round = 0; round < 6; round++) {
        struct model model;
        struct model_options options = {.txn_count = 8000, .channel_count = 12, .key_count = 25, .first_ns = 100};
        model_make(&model, &options, &rng);
        struct rig_history *wanted = model_history(&model, model.event_count);
        struct rig_buf file;
        rig_buf_init(&file, 0);
        assert_int_equal(rig_history_save(wanted, path, &(struct rig_save_options){.form = RIG_FORM_RIG}, &err),
                         RIG_OK);
        assert_int_equal(rig_buf_read_file(&file, path, &err), RIG_OK);
        (void)close(fd); /* saving replaced the file */
        (void)unlink(path);
        fd = make_file(path, sizeof path);
        struct rig_history *history = follow(&file, path, fd, round % 2 == 0 ? 1 : 3, &rng);
        assert_same_history(history, wanted);
        rig_history_free(history);
        rig_history_free(wanted);
        rig_buf_done(&file);
        model_done(&model);
    }
    (void)close(fd);
    (void)unlink(path);
}

static void a_pipe_is_read_whole(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    append(ends[1], "{\"type\": \"ok\", \"process\": 0, \"f\": \"txn\", \"value\": [[\"append\", 5, 1]]}\n");
    (void)close(ends[1]);
    char path[32];
    (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    struct rig_source *source = NULL;
    struct rig_source_options options = {.threads = 2};
    const struct rig_segment *segment = NULL;
    if (rig_source_open(path, &options, &source, &err) != RIG_OK)
        fail_msg("%s", err.text);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(rig_source_next(source, &segment, &err), RIG_OK);
        assert_non_null(segment);
        assert_int_equal(segment->txns.count, 1);
        assert_int_equal(rig_source_next(source, &segment, &err), RIG_OK);
        assert_null(segment);
        assert_int_equal(rig_source_facts(source)->held_bytes, rig_source_facts(source)->size_bytes);
        assert_int_equal(rig_source_rewind(source, &err), RIG_OK);
    }
    rig_source_close(source);
    (void)close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(parts_come_in_order, start),
        cmocka_unit_test_setup(parts_may_be_ready_in_any_order, start),
        cmocka_unit_test_setup(the_first_error_wins, start),
        cmocka_unit_test_setup(errors_of_joining_come_in_order, start),
        cmocka_unit_test_setup(a_source_may_be_closed_early, start),
        cmocka_unit_test_setup(no_more_than_a_few_parts_are_ahead, start),
        cmocka_unit_test_setup(a_source_rewinds, start),
        cmocka_unit_test_setup(failed_opens_give_the_reason, start),
        cmocka_unit_test_setup(frames_are_read_in_parts, start),
        cmocka_unit_test_setup(a_growing_file_is_followed, start),
        cmocka_unit_test_setup(a_large_file_is_read_in_parts, start),
        cmocka_unit_test_setup(every_form_is_a_source, start),
        cmocka_unit_test_setup(a_growing_record_is_followed, start),
        cmocka_unit_test_setup(a_pipe_is_read_whole, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
