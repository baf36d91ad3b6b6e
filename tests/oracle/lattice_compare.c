/*
 * Compares rig's lattice of levels with the second oracle (executions.h) on random small histories.
 *
 *   lattice_compare [--count N] [--seed S] [--print]
 *
 * Level A implies level B when each history with an execution at A has one at B. The exit status is 1 when rig's table
 * claims an implication that some history contradicts; the smallest such history found is printed. --print prints the
 * implications that no history contradicts, beside those of the table, and for each other pair of levels the smallest
 * history that contradicts it.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/level_meaning.h"
#include "tests/oracle/small_execution.h"
#include "tests/oracle/small_random.h"
#include "tests/oracle/small_wild.h"

struct lattice {
    uint64_t contradicted[RIG_LEVEL_COUNT]; /* bits of the levels that the level does not imply */
    int size[RIG_LEVEL_COUNT][RIG_LEVEL_COUNT];
    struct small_history smallest[RIG_LEVEL_COUNT][RIG_LEVEL_COUNT];
    uint64_t histories, with[RIG_LEVEL_COUNT]; /* with an execution at each level */
};

static const char *name_of(int level)
{
    return rig_level_info((enum rig_level)level)->name;
}

static int size_of(const struct small_history *history)
{
    int size = 100 * history->txn_count;
    for (int t = 0; t < history->txn_count; t++) {
        size += 10 * history->txns[t].op_count + (history->txns[t].outcome != SMALL_OK ? 5 : 0);
        for (int i = 0; i < history->txns[t].op_count; i++)
            size += history->txns[t].ops[i].count;
    }
    return size;
}

static void note(const struct small_history *history, struct lattice *lattice)
{
    struct executions executions;
    const int size = size_of(history);
    executions_find(history, 0, &executions);
    lattice->histories++;
    for (int a = 0; a < RIG_LEVEL_COUNT; a++) {
        if (!level_exists(&executions, (enum rig_level)a))
            continue;
        lattice->with[a]++;
        for (int b = 0; b < RIG_LEVEL_COUNT; b++) {
            if (level_exists(&executions, (enum rig_level)b) ||
                ((lattice->contradicted[a] & RIG_LEVEL_BIT(b)) != 0 && lattice->size[a][b] <= size))
                continue;
            lattice->contradicted[a] |= RIG_LEVEL_BIT(b);
            lattice->size[a][b] = size;
            lattice->smallest[a][b] = *history;
        }
    }
}

static void explore(uint64_t seed, uint64_t count, struct lattice lattices[2])
{
    for (uint64_t number = 0; number < count; number++) {
        struct small_history history;
        const struct small_shape shape = {.registers = number % 2 != 0, .least = 2, .most = EXECUTION_TXNS};
        if (number % 8 < 2)
            small_wild(seed, number, &history);
        else
            small_execution(seed, number, shape, &history);
        note(&history, &lattices[history.registers]);
    }
}

struct pair {
    int stronger, weaker;
};

static bool contradicts(const struct small_history *history, void *context)
{
    const struct pair *pair = context;
    struct executions executions;
    executions_find(history, 0, &executions);
    return level_exists(&executions, (enum rig_level)pair->stronger) &&
           !level_exists(&executions, (enum rig_level)pair->weaker);
}

static void print_example(struct small_history history, int a, int b)
{
    struct pair pair = {a, b};
    small_shrink(&history, contradicts, &pair);
    printf("%s does not imply %s:\n", name_of(a), name_of(b));
    small_print(&history, "    ", stdout);
}

static void print_names(const char *title, uint64_t levels)
{
    if (levels == 0)
        return;
    printf("    %s", title);
    for (int b = 0; b < RIG_LEVEL_COUNT; b++) {
        if ((levels & RIG_LEVEL_BIT(b)) != 0)
            printf(" %s", name_of(b));
    }
    printf("\n");
}

static uint64_t implied(const struct lattice *lattice, int a)
{
    return (RIG_LEVEL_BIT(RIG_LEVEL_COUNT) - 1) & ~lattice->contradicted[a];
}

/* The levels directly below: those that no other level between implies. */
static uint64_t directly_below(const struct lattice *lattice, int a)
{
    uint64_t below = 0, direct;
    for (int b = 0; b < RIG_LEVEL_COUNT; b++) {
        const bool equal = (implied(lattice, b) & RIG_LEVEL_BIT(a)) != 0;
        below |= (implied(lattice, a) & RIG_LEVEL_BIT(b)) != 0 && !equal ? RIG_LEVEL_BIT(b) : 0;
    }
    direct = below;
    for (int b = 0; b < RIG_LEVEL_COUNT; b++) {
        for (int c = 0; c < RIG_LEVEL_COUNT && (below & RIG_LEVEL_BIT(b)) != 0; c++) {
            const bool strictly =
                (implied(lattice, b) & RIG_LEVEL_BIT(c)) != 0 && (implied(lattice, c) & RIG_LEVEL_BIT(b)) == 0;
            direct &= strictly ? ~RIG_LEVEL_BIT(c) : ~UINT64_C(0);
        }
    }
    return direct;
}

static void print_lattice(const struct lattice *lattice)
{
    printf("of %llu histories\n", (unsigned long long)lattice->histories);
    for (int a = 0; a < RIG_LEVEL_COUNT; a++) {
        const uint64_t below = rig_level_info((enum rig_level)a)->below, all = implied(lattice, a);
        uint64_t equal = 0;
        for (int b = 0; b < RIG_LEVEL_COUNT; b++) {
            if (b != a && (all & RIG_LEVEL_BIT(b)) != 0 && (implied(lattice, b) & RIG_LEVEL_BIT(a)) != 0)
                equal |= RIG_LEVEL_BIT(b);
        }
        printf("%s (%llu have an execution)\n", name_of(a), (unsigned long long)lattice->with[a]);
        print_names("equal:", equal);
        print_names("directly implies:", directly_below(lattice, a));
        print_names("implies, and rig's table does not say so:", all & ~below);
        print_names("DOES NOT IMPLY, but rig's table says so:", below & ~all);
    }
    for (int a = 0; a < RIG_LEVEL_COUNT; a++) {
        for (int b = 0; b < RIG_LEVEL_COUNT; b++) {
            if ((lattice->contradicted[a] & RIG_LEVEL_BIT(b)) != 0)
                print_example(lattice->smallest[a][b], a, b);
        }
    }
}

static int count_false_claims(const struct lattice *lattice)
{
    int count = 0;
    for (int a = 0; a < RIG_LEVEL_COUNT; a++) {
        const uint64_t wrong = rig_level_info((enum rig_level)a)->below & lattice->contradicted[a];
        for (int b = 0; b < RIG_LEVEL_COUNT; b++) {
            if ((wrong & RIG_LEVEL_BIT(b)) == 0)
                continue;
            printf("FALSE: rig's table says otherwise: ");
            print_example(lattice->smallest[a][b], a, b);
            count++;
        }
    }
    return count;
}

int main(int argc, char **argv)
{
    uint64_t seed = 1, count = 10000;
    bool print = false;
    int wrong = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--print") == 0) {
            print = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) {
            seed = strtoull(argv[++i], NULL, 10);
        } else if (i + 1 < argc && strcmp(argv[i], "--count") == 0) {
            count = strtoull(argv[++i], NULL, 10);
        } else {
            fprintf(stderr, "usage: lattice_compare [--count N] [--seed S] [--print]\n");
            return 64;
        }
    }
    struct lattice *lattices = calloc(2, sizeof *lattices);
    if (lattices == NULL)
        return 70;
    explore(seed, count, lattices);
    for (int registers = 0; registers < 2; registers++) {
        printf("%s: ", registers ? "registers" : "lists");
        printf("%llu histories\n", (unsigned long long)lattices[registers].histories);
        if (print)
            print_lattice(&lattices[registers]);
        wrong += count_false_claims(&lattices[registers]);
    }
    free(lattices);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
