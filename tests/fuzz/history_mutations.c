/*
 * The corpus of the history fuzzer, and random histories with random damage, as a plain test: no crash, no hang, no
 * leak (under the sanitizers), and every accepted input meets the guarantees of history/history.h.
 *
 *   history_mutations CORPUS [SEED]
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "history/load.h"
#include "history/record/packing.h"
#include "history/record/record_writer.h"
#include "tests/fuzz/history_property.h"
#include "tests/history/history_model.h"

enum { MUTATIONS = 1000, PER_HISTORY = 20 };

static struct rig_rng rng;

/* Records in blocks of any length, packed or not. */
static enum rig_rc save(const struct rig_history *history, const char *path, enum rig_form form, struct rig_err *err)
{
    if (form != RIG_FORM_RIG)
        return rig_history_save(history, path, &(struct rig_save_options){.form = form}, err);
    const struct rig_record_write_options options = {
        .pack = rig_packing_available() && rig_rng_below(&rng, 4) == 0,
        .frame_bytes = 1 + (size_t)rig_rng_below(&rng, 500),
        .block_bytes = (size_t)rig_rng_below(&rng, 600),
    };
    struct rig_output output;
    enum rig_rc rc = rig_output_open(&output, path, err);
    if (rc == RIG_OK)
        rc = rig_output_close(&output, rig_record_write(history, &options, &output, err), err);
    return rc;
}

static bool holds_registers_only(enum rig_form form)
{
    return form == RIG_FORM_PLUME || form == RIG_FORM_DBCOP;
}

/* False for a history that the form cannot hold. */
static bool try_file(const char *path, enum rig_form form, struct rig_buf *buf)
{
    struct model_options options = {
        .exchange = true,
        .workload = holds_registers_only(form) ? RIG_WORKLOAD_RW_REGISTER
                                               : (enum rig_workload)rig_rng_below(&rng, RIG_WORKLOAD_COUNT),
        .txn_count = 5 + (uint32_t)rig_rng_below(&rng, 40),
        .channel_count = 4,
        .key_count = 6,
        .text_keys = rig_rng_below(&rng, 3) == 0,
        .no_invocations = rig_rng_below(&rng, 3) == 0,
        .position_gaps = rig_rng_below(&rng, 2) == 0,
    };
    struct model model;
    struct rig_err err = {0};
    model_make(&model, &options, &rng);
    struct rig_history *history = model_history(&model, model.event_count);
    rig_buf_clear(buf);
    const enum rig_rc rc = save(history, path, form, &err);
    const bool saved = rc == RIG_OK && rig_buf_read_file(buf, path, &err) == RIG_OK && buf->size > 0;
    if (!saved && !(holds_registers_only(form) && (rc == RIG_OK || rc == RIG_E_INPUT)))
        abort();
    rig_history_free(history);
    model_done(&model);
    return saved;
}

static void make_file(const char *path, enum rig_form form, struct rig_buf *buf)
{
    enum { TRIES = 10000 };
    for (unsigned i = 0; !try_file(path, form, buf); i++) {
        if (i == TRIES)
            abort();
    }
}

static size_t below(size_t bound)
{
    return (size_t)rig_rng_below(&rng, bound == 0 ? 1 : bound);
}

static size_t damage(uint8_t *data, size_t size)
{
    static const char *const words[] = {"null", "nil", "[", "]", "{", "}", "\"", "-", "9999999999999999999",
                                        "#_",   ",",   ":", "(", "\n"};
    size_t at = below(size);
    switch (below(6)) {
    case 0:
        data[at] ^= (uint8_t)(1U << below(8));
        return size;
    case 1:
        data[at] = (uint8_t)rig_rng_next(&rng);
        return size;
    case 2: /* cut */
        return at + 1;
    case 3: { /* a piece moved over another */
        size_t from = below(size);
        size_t count = below(size - (from > at ? from : at));
        memmove(data + at, data + from, count);
        return size;
    }
    case 4: { /* a piece omitted */
        size_t count = below(size - at < 40 ? size - at : 40);
        memmove(data + at, data + at + count, size - at - count);
        return size - count;
    }
    default: {
        const char *word = words[below(sizeof words / sizeof words[0])];
        size_t count = strlen(word) < size - at ? strlen(word) : size - at;
        memcpy(data + at, word, count);
        return size;
    }
    }
}

static bool mutate(const char *path, enum rig_form form)
{
    struct rig_buf buf;
    unsigned accepted = 0;
    rig_buf_init(&buf, 0);
    uint8_t *copy = NULL;
    for (unsigned i = 0; i < MUTATIONS; i++) {
        if (i % PER_HISTORY == 0) {
            make_file(path, form, &buf);
            copy = realloc(copy, buf.size);
        }
        if (copy == NULL)
            abort();
        memcpy(copy, buf.data, buf.size);
        size_t size = buf.size;
        for (size_t times = 1 + below(4); times > 0 && size > 1; times--)
            size = damage(copy, size);
        accepted += history_property(copy, size) == RIG_OK;
    }
    free(copy);
    rig_buf_done(&buf);
    printf("form %d: %u of %d accepted\n", (int)form, accepted, MUTATIONS);
    return accepted > 0 && accepted < MUTATIONS;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : rig_rng_fresh_seed();
    printf("seed %llu\n", (unsigned long long)seed);
    (void)fflush(stdout);
    rig_rng_init(&rng, seed, 0);
    char path[] = "/tmp/rig-history-mutations-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0)
        abort();
    static const enum rig_form forms[] = {RIG_FORM_RIG, RIG_FORM_JSON_LINES, RIG_FORM_EDN, RIG_FORM_PLUME,
                                          RIG_FORM_DBCOP};
    enum { FORM_COUNT = sizeof forms / sizeof *forms };
    int failed = 0;
    for (unsigned i = 0; i < FORM_COUNT; i++)
        failed += !mutate(path, forms[i]);
    (void)unlink(path);
    printf("%d passed, %d failed\n", FORM_COUNT - failed, failed);
    return failed == 0 ? 0 : 1;
}
