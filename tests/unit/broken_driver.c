/*
 * A driver with one fault, chosen by BROKEN when it is built, for tests/unit/test_loader.c: each makes the loader
 * reject it. BROKEN_NONE is a valid one.
 */
#include "drivers/driver.h"

#define BROKEN_NONE   0
#define BROKEN_ABI    1
#define BROKEN_SIZE   2
#define BROKEN_HOOK   3
#define BROKEN_SYMBOL 4
#define BROKEN_NAME   5

static enum rig_rc broken_init(void *run, const struct rig_run_env *env, struct rig_err *err)
{
    (void)run;
    (void)env;
    (void)err;
    return RIG_OK;
}

static void broken_done(void *run)
{
    (void)run;
}

static enum rig_rc broken_open(void *session, void *run, uint32_t client, struct rig_err *err)
{
    (void)session;
    (void)run;
    (void)client;
    return rig_fail(err, RIG_E_DRIVER, "this driver opens nothing");
}

static enum rig_outcome broken_transact(void *session, struct rig_transaction *transaction)
{
    (void)session;
    (void)transaction;
    return RIG_OUTCOME_FAIL;
}

static void broken_interrupt(void *session)
{
    (void)session;
}

static void broken_close(void *session, bool last)
{
    (void)session;
    (void)last;
}

#if BROKEN == BROKEN_SYMBOL
#define EXPORTED not_the_symbol
#else
#define EXPORTED rig_driver
#endif

RIG_DRIVER_EXPORT extern const struct rig_driver EXPORTED;
const struct rig_driver EXPORTED = {
    .abi = RIG_DRIVER_ABI + (BROKEN == BROKEN_ABI),
    .struct_size = sizeof(struct rig_driver) - 8 * (BROKEN == BROKEN_SIZE),
    .name = BROKEN == BROKEN_NAME ? "another" : BROKEN_FILE,
    .summary = "a driver for the tests of the loader",
    .workloads = RIG_WORKLOAD_BIT(RIG_WORKLOAD_LIST_APPEND),
    .init = broken_init,
    .done = broken_done,
    .open = broken_open,
    .transact = broken_transact,
    .interrupt = BROKEN == BROKEN_HOOK ? NULL : broken_interrupt,
    .close = broken_close,
};
