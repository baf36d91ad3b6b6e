#include "cli/dry_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret.h"
#include "generator/generator.h"
#include "history/types/types.h"

enum { LOOKED_AT = 200, SHOWN_OF_A_KIND = 2 };

static void show(void *context, const char *text)
{
    (void)context;
    char *safe = strdup(text);
    if (safe != NULL)
        rig_secret_redact(safe, strlen(safe) + 1);
    (void)fputs(safe == NULL ? RIG_SECRET_MASK : safe, stdout);
    free(safe);
}

static void print_question(const struct rig_transaction *transaction, uint64_t number)
{
    (void)printf("transaction %" PRIu64 ":", number);
    for (uint32_t i = 0; i < transaction->op_count; i++) {
        const struct rig_op *op = &transaction->ops[i];
        (void)printf(" [%s %" PRId64, rig_op_infos[op->kind].name, op->key);
        if (!rig_op_reads(op->kind))
            (void)printf(" %" PRId64, op->value);
        (void)printf("]");
    }
    (void)printf("\n\n");
}

/* The first ones that only read, and the first that write: usually they are asked in different ways. */
static enum rig_rc show_some(const struct rig_plan *plan, struct rig_generator *generator, struct rig_err *err)
{
    const enum rig_workload workload = (enum rig_workload)plan->workload.type;
    struct rig_transaction transaction = {.client = 0};
    int shown[2] = {0, 0};
    enum rig_rc rc = RIG_OK;
    for (uint64_t i = 0; rc == RIG_OK && i < LOOKED_AT; i++) {
        rig_generator_next(generator, &transaction);
        if (transaction.op_count == 0 || shown[transaction.read_only]++ >= SHOWN_OF_A_KIND)
            continue;
        print_question(&transaction, i + 1);
        rc = plan->driver->preview(plan->driver_options, workload, &transaction, show, NULL, err);
    }
    return rc;
}

enum rig_rc rig_cli_dry_run(const struct rig_plan *plan, struct rig_err *err)
{
    struct rig_generator *generator = NULL;
    if (plan->driver->preview == NULL)
        return rig_fail(err, RIG_E_USAGE, "--requests: the driver %s does not show its requests", plan->driver->name);
    enum rig_rc rc =
        rig_generator_new(rig_plan_workload(plan, 0), plan->seed, 0, (uint32_t)plan->clients.count, &generator, err);
    if (rc == RIG_OK)
        rc = show_some(plan, generator, err);
    rig_generator_free(generator);
    return rc;
}
