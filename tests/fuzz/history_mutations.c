/*
 * The corpus of the history fuzzer, and random histories with random damage, as a plain test: no crash, no hang, no
 * leak (under the sanitizers), and every accepted input meets the guarantees of history/model/history.h.
 *
 *   history_mutations CORPUS [SEED]
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "history/model/history_order.h"
#include "history/record/packing.h"
#include "history/record/record_writer.h"
#include "history/types/types.h"
#include "history/source/load.h"
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

/* ---- certificates ---- */

static void add_commits(struct rig_certificate *certificate, uint32_t timeline, uint64_t place)
{
    struct rig_certificate_builder builder;
    int64_t elements[8];
    rig_certificate_builder_init(&builder, certificate);
    for (uint64_t commits = rig_rng_below(&rng, 5); commits > 0; commits--) {
        place += 1 + rig_rng_below(&rng, 1000);
        bool added = rig_certificate_add_commit(&builder, place, rig_rng_below(&rng, 900), timeline);
        for (uint64_t changes = rig_rng_below(&rng, 4); changes > 0; changes--) {
            const uint32_t count = (uint32_t)rig_rng_below(&rng, 8);
            for (uint32_t i = 0; i < count; i++)
                elements[i] = (int64_t)rig_rng_below(&rng, 9);
            const bool removed = rig_rng_below(&rng, 4) == 0;
            added &= rig_certificate_add_version(&builder, (int64_t)rig_rng_below(&rng, 6), removed ? NULL : elements,
                                                 removed ? 0 : count);
        }
        if (!added)
            abort();
    }
    rig_certificate_builder_done(&builder);
}

static void add_views(struct rig_txn_views *views)
{
    for (uint64_t number = 1; rig_rng_below(&rng, 3) > 0; number += 1 + rig_rng_below(&rng, 5)) {
        const struct rig_txn_view view = {.number = number,
                                          .id = rig_rng_below(&rng, 900),
                                          .single = rig_rng_below(&rng, 2) == 0,
                                          .standby = rig_rng_below(&rng, 2) == 0};
        const uint64_t xmin = 1 + rig_rng_below(&rng, 900), active[] = {xmin, xmin + 2};
        if (!rig_txn_views_add(views, &view) ||
            !rig_txn_views_add_snapshot(views, xmin, xmin + 4, active, (uint32_t)rig_rng_below(&rng, 3)) ||
            !rig_txn_views_add_row(views, 0, rig_rng_below(&rng, 900), true) ||
            !rig_txn_views_add_row(views, 2, 0, false))
            abort();
    }
}

/* A certificate of the history, which need not fit it. */
static void certify(struct rig_history *history)
{
    struct rig_certificate *certificate = &((struct rig_history_storage *)history->storage)->certificate;
    const uint64_t fork = 6000;
    add_commits(certificate, 1, 0);
    if (rig_rng_below(&rng, 2) == 0) {
        if (!rig_certificate_add_fork(certificate, 1, fork, 2) || rig_certificate_make_lost(certificate) == NULL)
            abort();
        add_commits(certificate->lost, 1, fork);
        if (certificate->lost->commits.count == 0) {
            rig_certificate_done(certificate->lost);
            free(certificate->lost);
            certificate->lost = NULL;
        }
    }
    add_views(&certificate->views);
    certificate->complete = rig_rng_below(&rng, 2) == 0;
    certificate->last_only = rig_rng_below(&rng, 2) == 0;
    (void)snprintf(certificate->source, sizeof certificate->source, "test");
    history->certificate = certificate;
}

static bool holds_registers_only(enum rig_form form)
{
    return form == RIG_FORM_PLUME || form == RIG_FORM_DBCOP;
}

/* False for a history that the form cannot hold. */
static bool try_file(const char *path, enum rig_form form, struct rig_buf *buf)
{
    const enum rig_workload drawn = (enum rig_workload)rig_rng_below(&rng, RIG_WORKLOAD_COUNT);
    struct model_options options = {
        .exchange = true,
        /* The operations are no calls of a model. */
        .workload =
            holds_registers_only(form) || rig_workload_has_specification(drawn) ? RIG_WORKLOAD_RW_REGISTER : drawn,
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
    if (!holds_registers_only(form) && rig_rng_below(&rng, 2) == 0)
        certify(history);
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
