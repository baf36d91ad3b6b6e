/*
 * The search for choices that cases leave (checker/prove/choice_cases.h), against all combinations.
 *
 *   choice_cases_compare [COUNT]
 *
 * Each of a few reads has a few choices, and random cases refute some of these together.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/rng.h"
#include "checker/prove/choice_cases.h"

enum { READS_MOST = 7, CHOICES_MOST = 4 };

struct drawn {
    struct rig_choice_cases cases;
    uint32_t reads;
};

static uint32_t below(struct rig_rng *rng, uint32_t bound)
{
    return (uint32_t)rig_rng_below(rng, bound);
}

/* A case has a choice of each of some reads. */
static void draw_case(struct rig_rng *rng, struct drawn *drawn)
{
    const uint32_t first = below(rng, drawn->reads), size = 1 + below(rng, 3);
    for (uint32_t i = 0; i < size && i < drawn->reads; i++) {
        const uint32_t read = (first + i * (1 + below(rng, 2))) % drawn->reads;
        const uint32_t *at = &drawn->cases.first.at[read];
        const uint32_t choice = at[0] + below(rng, at[1] - at[0]);
        const uint32_t begin = drawn->cases.ends.count == 0 ? 0 : drawn->cases.ends.at[drawn->cases.ends.count - 1];
        bool is_there = false;
        for (size_t m = begin; m < drawn->cases.members.count; m++)
            is_there |= drawn->cases.members.at[m] >= at[0] && drawn->cases.members.at[m] < at[1];
        RIG_REQUIRE(is_there || rig_case_numbers_add(&drawn->cases.members, choice));
    }
    RIG_REQUIRE(rig_case_numbers_add(&drawn->cases.ends, (uint32_t)drawn->cases.members.count));
}

static void draw(struct rig_rng *rng, struct drawn *drawn)
{
    uint32_t choices = 0;
    *drawn = (struct drawn){.reads = 1 + below(rng, READS_MOST)};
    for (uint32_t read = 0; read < drawn->reads; read++) {
        RIG_REQUIRE(rig_case_numbers_add(&drawn->cases.first, choices));
        choices += 1 + below(rng, CHOICES_MOST);
    }
    RIG_REQUIRE(rig_case_numbers_add(&drawn->cases.first, choices));
    const uint32_t count = below(rng, 6 * choices + 1);
    for (uint32_t i = 0; i < count; i++)
        draw_case(rng, drawn);
}

/* Whether no case is wholly among the choices. */
static bool is_left(const struct drawn *drawn, const uint32_t *made)
{
    uint32_t begin = 0;
    for (size_t number = 0; number < drawn->cases.ends.count; number++) {
        bool all = true;
        for (; begin < drawn->cases.ends.at[number]; begin++) {
            bool there = false;
            for (uint32_t read = 0; read < drawn->reads; read++)
                there |= made[read] == drawn->cases.members.at[begin];
            all &= there;
        }
        if (all)
            return false;
    }
    return true;
}

static bool any_left(const struct drawn *drawn)
{
    uint32_t made[READS_MOST], read = 0;
    for (uint32_t i = 0; i < drawn->reads; i++)
        made[i] = drawn->cases.first.at[i];
    while (read < drawn->reads) {
        if (is_left(drawn, made))
            return true;
        for (read = 0; read < drawn->reads; read++) { /* the next combination */
            if (++made[read] < drawn->cases.first.at[read + 1])
                break;
            made[read] = drawn->cases.first.at[read];
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
    struct rig_rng rng;
    long none = 0, some = 0;
    rig_rng_init(&rng, 5, 0);
    for (long number = 0; number < count; number++) {
        struct drawn drawn;
        draw(&rng, &drawn);
        const bool expected = any_left(&drawn);
        const enum rig_cases_left left = rig_choice_cases_left(&drawn.cases);
        rig_choice_cases_done(&drawn.cases);
        if (left != (expected ? RIG_CASES_LEFT_SOME : RIG_CASES_LEFT_NONE)) {
            (void)printf("number %ld: %s combination is left, and the search says %d\n", number, expected ? "a" : "no",
                         (int)left);
            return EXIT_FAILURE;
        }
        some += expected;
        none += !expected;
    }
    (void)printf("%ld with a combination left, %ld without\n", some, none);
    return some > count / 20 && none > count / 20 ? EXIT_SUCCESS : EXIT_FAILURE;
}
