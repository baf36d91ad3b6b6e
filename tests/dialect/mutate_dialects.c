/*
 * Randomly damaged dialects: each is accepted, or rejected with its place; nothing crashes or hangs.
 *
 *     mutate_dialects FILE...        RIG_MUTATIONS: mutations of each file; RIG_SEED
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "drivers/http/http_preview.h"

enum { MUTATIONS = 3000, CHANGES_MOST = 4 };

static const char *const pieces[] = {
    "${key}",
    "${value|base64}",
    "${",
    "}",
    "$each: keys",
    "{$if: writes, $then: 1}",
    "- ",
    ": ",
    "\n",
    "\n  ",
    "[*]",
    "$.",
    "[",
    "]",
    "outcome: fail",
    "true",
    "phase: x",
    "for: writes",
    "\"",
    "'",
    "#",
    "~",
    "4xx",
    "|",
    "$$",
    "{",
    "not exists",
};
enum { PIECE_COUNT = sizeof pieces / sizeof pieces[0] };

/* Removes a part of the text, or inserts something. */
static void mutate(struct rig_rng *rng, const struct rig_buf *from, struct rig_buf *to)
{
    const size_t at = (size_t)rig_rng_below(rng, from->size + 1);
    const size_t cut = rig_rng_below(rng, 2) == 0 ? 0 : (size_t)rig_rng_below(rng, 24);
    const size_t behind = at + cut < from->size ? at + cut : from->size;
    rig_buf_clear(to);
    rig_buf_add(to, from->data, at);
    if (rig_rng_below(rng, 3) > 0)
        rig_buf_add_text(to, pieces[rig_rng_below(rng, PIECE_COUNT)]);
    if (rig_rng_below(rng, 8) == 0)
        rig_buf_add_char(to, (char)rig_rng_below(rng, 256));
    rig_buf_add(to, from->data + behind, from->size - behind);
}

static void show(void *context, const char *text)
{
    size_t *shown = context;
    *shown += strlen(text);
}

/* An accepted dialect can be rendered, or the error says why not. */
static bool previews(const struct rig_dialect *dialect)
{
    static const struct rig_op lists[] = {{RIG_OP_READ_LIST, 1, 0}, {RIG_OP_APPEND, 2, 3}, {RIG_OP_READ_LIST, 2, 0}};
    static const struct rig_op registers[] = {{RIG_OP_READ_REGISTER, 1, 0}, {RIG_OP_WRITE, 2, 3}, {RIG_OP_WRITE, 2, 4}};
    size_t shown = 0;
    bool good = true;
    for (int workload = 0; workload < RIG_WORKLOAD_COUNT; workload++) {
        struct rig_err err = {0};
        struct rig_transaction question = {.ops = workload == RIG_WORKLOAD_RW_REGISTER ? registers : lists};
        for (question.op_count = 1; dialect->workloads[workload].given && question.op_count <= 3; question.op_count++) {
            const enum rig_rc rc =
                rig_http_preview(dialect, (enum rig_workload)workload, &question, show, &shown, &err);
            good = good && (rc == RIG_OK || (rc == RIG_E_PLAN && err.text[0] != '\0'));
        }
    }
    return good;
}

/* Whether the text is accepted, or rejected with a place. */
static bool holds(const struct rig_buf *text, int *taken)
{
    struct rig_dialect *dialect = NULL;
    struct rig_err err = {0};
    const enum rig_rc rc = rig_dialect_parse("d.yaml", rig_buf_text(text), text->size, NULL, &dialect, &err);
    if (rc == RIG_OK) {
        const bool good = previews(dialect);
        ++*taken;
        rig_dialect_free(dialect);
        return good;
    }
    unsigned line = 0;
    const bool placed = strncmp(err.text, "d.yaml:", 7) == 0 && (line = (unsigned)strtoul(err.text + 7, NULL, 10)) > 0;
    return rc == RIG_E_PLAN && err.rc == rc && placed && dialect == NULL;
}

static int run_file(const char *path, struct rig_rng *rng, long count)
{
    struct rig_buf whole, buffers[2];
    struct rig_err err = {0};
    int taken = 0;
    rig_buf_init(&whole, 0);
    rig_buf_init(&buffers[0], 0);
    rig_buf_init(&buffers[1], 0);
    bool good = rig_buf_read_file(&whole, path, &err) == RIG_OK && holds(&whole, &taken) && taken == 1;
    for (long i = 0; good && i < count; i++) {
        const uint64_t changes = 1 + rig_rng_below(rng, CHANGES_MOST);
        mutate(rng, &whole, &buffers[0]);
        for (uint64_t c = 1; c < changes; c++)
            mutate(rng, &buffers[(c + 1) % 2], &buffers[c % 2]);
        const struct rig_buf *text = &buffers[(changes + 1) % 2];
        good = holds(text, &taken);
        if (!good)
            (void)printf("%s, mutation %ld:\n%s\n", path, i, rig_buf_text(text));
    }
    (void)printf("%s: %d of %ld taken\n", path, taken - 1, count);
    rig_buf_done(&whole);
    rig_buf_done(&buffers[0]);
    rig_buf_done(&buffers[1]);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct rig_rng rng;
    const char *seed = getenv("RIG_SEED");
    const char *count = getenv("RIG_MUTATIONS");
    int failed = argc < 2 ? 1 : 0;
    rig_rng_init(&rng, seed == NULL ? 1 : strtoull(seed, NULL, 10), 0);
    for (int i = 1; i < argc; i++)
        failed += run_file(argv[i], &rng, count == NULL ? MUTATIONS : strtol(count, NULL, 10));
    return failed == 0 ? 0 : 1;
}
