/*
 * Every allocation of reading a plan fails once: the first in one round, the second in the next, and so on. After each
 * failure the plan is accepted, or rejected with a text, nothing crashes, and (under the address sanitizer) nothing
 * leaks.
 *
 *   fail_allocations PLAN.yaml...
 *
 * rig's own calls are caught by the linker (--wrap); those of shared libraries are not.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/secret.h"
#include "run/plan/plan.h"
#include "tests/unit/forget_secrets.h"

enum { ROUNDS_MAX = 20000, LONGEST_RUN_S = 200 };

static long countdown = -1; /* the allocation that fails when this reaches 0; negative: none */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
char *__real_strndup(const char *text, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);

static bool fails_now(void)
{
    return countdown >= 0 && countdown-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return fails_now() ? NULL : __real_realloc(memory, size);
}

char *__wrap_strdup(const char *text)
{
    return fails_now() ? NULL : __real_strdup(text);
}

char *__wrap_strndup(const char *text, size_t size)
{
    return fails_now() ? NULL : __real_strndup(text, size);
}

struct tally {
    int rounds, refused, wrong;
};

/* One round: false once every allocation has failed once. */
static bool run_round(const struct rig_buf *text, long which, bool good, struct tally *tally)
{
    struct rig_plan *plan = NULL;
    struct rig_err err = {0};
    countdown = which;
    const enum rig_rc rc = rig_plan_parse(&(struct rig_plan_text){"plan.yaml", rig_buf_text(text), text->size}, NULL, 0,
                                          NULL, &plan, &err);
    const bool over = countdown >= 0;
    countdown = -1;
    tally->rounds++;
    tally->refused += rc == RIG_OK ? 0 : 1;
    const bool consistent = (rc == RIG_OK) == (plan != NULL) && err.rc == rc;
    if (!consistent || (over && (rc == RIG_OK) != good)) {
        tally->wrong++;
        printf("FAILED allocation %ld: code %d, `%s`\n", which, (int)rc, err.text);
    }
    rig_plan_free(plan);
    forget_secrets();
    return !over;
}

int main(int argc, char **argv)
{
    struct tally tally = {0};
    (void)alarm(LONGEST_RUN_S);
    for (int i = 1; i < argc; i++) {
        struct rig_buf text;
        struct rig_err err = {0};
        rig_buf_init(&text, 0);
        if (rig_buf_read_file(&text, argv[i], &err) != RIG_OK) {
            printf("%s\n", err.text);
            rig_buf_done(&text);
            return 2;
        }
        const bool good = strstr(argv[i], "/bad/") == NULL;
        long which = 0;
        while (which < ROUNDS_MAX && run_round(&text, which, good, &tally))
            which++;
        if (which < 3 || which == ROUNDS_MAX) {
            printf("FAILED %s: %ld allocations\n", argv[i], which);
            tally.wrong++;
        }
        rig_buf_done(&text);
    }
    printf("%d allocations failed in turn, %d plans refused\n", tally.rounds, tally.refused);
    printf("%d passed, %d failed\n", tally.rounds - tally.wrong, tally.wrong);
    return tally.wrong == 0 && tally.rounds > 0 ? 0 : 1;
}
