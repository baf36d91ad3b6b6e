/*
 * The memory of the SAT solver against the estimate of rig_sat_bytes(): clauses of several lengths and numbers, each
 * case in a process of its own. The last cases have no solution that is found in the time that they get, so that the
 * solver learns clauses until then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rng.h"
#include "checker/decide/solve/sat.h"

static const int64_t most_ns = 10 * RIG_NS_PER_S;

struct size {
    uint32_t variables, clauses, length;
    bool hard; /* clauses at random; else some order meets them all */
};

static const struct size sizes[] = {
    {10000, 20000, 3, false},   {200000, 2000, 2, false},    {200000, 1600000, 2, false},
    {100000, 200000, 3, false}, {500000, 1000000, 3, false}, {100000, 200000, 6, false},
    {50000, 100000, 20, false}, {400, 1720, 3, true},        {20000, 84000, 3, true},
};

/* Bytes: of the process now ("VmRSS:"), or at most ("VmHWM:"). */
static size_t memory_of(const char *field)
{
    char line[256];
    size_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, field, strlen(field)) == 0)
            kib = strtoull(line + strlen(field), NULL, 10);
    }
    if (file != NULL)
        (void)fclose(file);
    return kib << 10;
}

/* The way round of the pair in the order that meets all clauses of a case that is not hard. */
static bool is_turned(uint32_t pair)
{
    return (pair * 2654435761U) >> 31 != 0;
}

static bool add_clause(struct rig_sat *sat, const struct size *size, struct rig_rng *rng)
{
    bool ok = true;
    for (uint32_t i = 0; i < size->length; i++) {
        const uint32_t pair = (uint32_t)rig_rng_below(rng, size->variables);
        const bool turned = size->hard || i > 0 ? rig_rng_below(rng, 2) == 0 : is_turned(pair);
        ok = ok && rig_sat_add(sat, rig_sat_literal(sat, 2 * pair + turned, 2 * pair + !turned));
    }
    return ok && rig_sat_close(sat);
}

static int measure(const struct size *size)
{
    struct rig_rng rng;
    struct rig_sat sat;
    const size_t before = memory_of("VmRSS:");
    const struct rig_solve_budget budget = {.deadline_ns = rig_clock_now_ns() + most_ns, .limit_bytes = SIZE_MAX};
    rig_rng_init(&rng, 1, 0);
    bool ok = rig_sat_init(&sat, &budget);
    for (uint32_t i = 0; ok && i < size->variables; i++)
        ok = rig_sat_literal(&sat, 2 * i, 2 * i + 1) != 0;
    for (uint32_t i = 0; ok && i < size->clauses; i++)
        ok = add_clause(&sat, size, &rng);
    ok = ok && (rig_sat_solve(&sat) == RIG_ANSWER_YES) != size->hard;
    const double taken = (double)(memory_of("VmHWM:") - before), estimate = (double)rig_sat_bytes(&sat);
    (void)printf("%9u %9u %7u %9zu %9.1f %9.1f %6.2f\n", size->variables, size->clauses, size->length,
                 sat.learned_literals, taken / 1e6, estimate / 1e6, estimate / taken);
    rig_sat_done(&sat);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(void)
{
    (void)printf("%9s %9s %7s %9s %9s %9s %6s\n", "variables", "clauses", "length", "learned", "MB", "estimate",
                 "ratio");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        int status = 0;
        (void)fflush(stdout);
        const pid_t child = fork();
        if (child == 0)
            return measure(&sizes[i]);
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
