/*
 * Good plans, damaged a thousand times: none may crash or hang the reader, or be rejected without a place.
 *
 *   mutate_plans PLAN.yaml...
 *
 * Deterministic; RIG_TEST_SEED gives another seed. A damaged plan that breaks the property is printed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/rng.h"
#include "tests/plan/plan_property.h"

enum { ROUNDS = 1000, PLANS_MAX = 64, LONGEST_RUN_S = 120 };

struct plans {
    struct rig_buf at[PLANS_MAX];
    size_t count;
};

static size_t below(struct rig_rng *rng, size_t bound)
{
    return (size_t)rig_rng_below(rng, bound);
}

/* Replaces `length` bytes at `at` by `count` others. */
static void replace(struct rig_buf *text, size_t at, size_t length, const char *bytes, size_t count)
{
    struct rig_buf made;
    rig_buf_init(&made, 0);
    rig_buf_add(&made, text->data, at);
    rig_buf_add(&made, bytes, count);
    rig_buf_add(&made, text->data + at + length, text->size - at - length);
    rig_buf_done(text);
    *text = made;
}

static const char *const words[] = {"null",
                                    "~",
                                    "true",
                                    "-1",
                                    "1e9",
                                    "99999999999999999999",
                                    "10x",
                                    "50%",
                                    "30s",
                                    "64MiB",
                                    "[]",
                                    "{}",
                                    "[a, b]",
                                    "{a: b}",
                                    "&a",
                                    "*a",
                                    "!!int",
                                    "---\n",
                                    "...\n",
                                    "# ",
                                    "\"",
                                    "'",
                                    "${X}",
                                    "${X:-y}",
                                    "$$",
                                    "***",
                                    "password=secret ",
                                    "x://u:secret@h",
                                    "\t",
                                    "\n",
                                    ": ",
                                    "- ",
                                    "? ",
                                    "<<: ",
                                    "driver: sim",
                                    "\xff",
                                    "\xc3\xa4",
                                    "\xef\xbb\xbf",
                                    "|\n",
                                    ">\n",
                                    "%YAML 1.1\n"};

/* One damage, of a kind and at a place chosen at random. */
static void damage(struct rig_buf *text, const struct plans *plans, struct rig_rng *rng)
{
    if (text->size == 0)
        return;
    const size_t at = below(rng, text->size);
    const size_t rest = text->size - at;
    const size_t length = 1 + below(rng, rest < 40 ? rest : 40);
    switch (rig_rng_below(rng, 7)) {
    case 0: /* another bit */
        text->data[at] = (char)(text->data[at] ^ (1 << rig_rng_below(rng, 8)));
        break;
    case 1: /* another byte */
        text->data[at] = (char)rig_rng_next(rng);
        break;
    case 2: /* less */
        replace(text, at, length, "", 0);
        break;
    case 3: { /* the same twice */
        char copy[64];
        memcpy(copy, text->data + at, length);
        replace(text, at, 0, copy, length);
        break;
    }
    case 4: { /* a piece of another plan */
        const struct rig_buf *other = &plans->at[below(rng, plans->count)];
        const size_t from = below(rng, other->size);
        const size_t count = 1 + below(rng, other->size - from < 200 ? other->size - from : 200);
        replace(text, at, length, other->data + from, count);
        break;
    }
    case 5: { /* a meaningful word */
        const char *word = words[below(rng, sizeof words / sizeof words[0])];
        replace(text, at, rig_rng_below(rng, 2) == 0 ? 0 : length, word, strlen(word));
        break;
    }
    default: /* cut off */
        replace(text, at, rest, "", 0);
        break;
    }
}

static bool run_round(const struct plans *plans, struct rig_rng *rng, int round, bool *taken)
{
    static char problem[PLAN_PROBLEM_BYTES];
    struct rig_buf text;
    rig_buf_init(&text, 0);
    const struct rig_buf *plan = &plans->at[below(rng, plans->count)];
    rig_buf_add(&text, plan->data, plan->size);
    for (uint64_t left = 1 + rig_rng_below(rng, 4); left > 0; left--)
        damage(&text, plans, rng);
    const bool holds = plan_property_holds(text.size == 0 ? "" : text.data, text.size, taken, problem);
    if (!holds)
        printf("FAILED round %d: %s\n--- the plan:\n%.*s\n---\n", round, problem, (int)text.size,
               text.size == 0 ? "" : text.data);
    rig_buf_done(&text);
    return holds;
}

static uint64_t chosen_seed(void)
{
    const char *text = getenv("RIG_TEST_SEED");
    return text == NULL ? 20260221 : strtoull(text, NULL, 10);
}

int main(int argc, char **argv)
{
    struct plans plans = {.count = 0};
    for (int i = 1; i < argc && plans.count < PLANS_MAX; i++) {
        struct rig_err err = {0};
        struct rig_buf *plan = &plans.at[plans.count++];
        rig_buf_init(plan, 0);
        if (rig_buf_read_file(plan, argv[i], &err) != RIG_OK || plan->size == 0) {
            printf("%s: %s\n", argv[i], err.text);
            return 2;
        }
    }
    if (plans.count == 0)
        return 2;
    const uint64_t seed = chosen_seed();
    printf("seed %" PRIu64 "\n", seed);
    (void)fflush(stdout);
    (void)alarm(LONGEST_RUN_S); /* a hang ends the process, and so the test */
    struct rig_rng rng;
    rig_rng_init(&rng, seed, 0);
    int failed = 0;
    int taken_count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        bool taken = false;
        failed += run_round(&plans, &rng, round, &taken) ? 0 : 1;
        taken_count += taken ? 1 : 0;
    }
    for (size_t i = 0; i < plans.count; i++)
        rig_buf_done(&plans.at[i]);
    printf("%d damaged plans were taken, %d refused\n", taken_count, ROUNDS - taken_count);
    printf("%d passed, %d failed\n", ROUNDS - failed, failed);
    /* Damage that never or always matters tests nothing. */
    return failed == 0 && taken_count > ROUNDS / 100 && taken_count < ROUNDS - ROUNDS / 10 ? 0 : 1;
}
