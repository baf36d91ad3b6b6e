/*
 * The steps that tests of conformance share: runs, clients, and transactions whose answers obey the contract.
 */
#ifndef RIG_TESTS_CONFORMANCE_CONFORMANCE_STEPS_H
#define RIG_TESTS_CONFORMANCE_CONFORMANCE_STEPS_H

#include "tests/conformance/bench_core.h"

enum { BENCH_SEED = 20 };

/* The driver to test, with its options; set before the tests run. */
extern struct bench_settings settings;

/* The driver `null`, which answers and stores nothing. */
bool keeps_nothing(void);
/* The driver stores what it gets, and runs the workload with these options. */
bool runs(enum rig_workload workload);

/* These fail the test instead of returning an error. */
void start(struct bench_run *run, enum rig_workload workload, uint32_t client_count);
void open_client(struct bench_client *client, struct bench_run *run, uint32_t index);
/* One line of text, and whether there must be one. */
void assert_line(const char *text, size_t size, bool wanted);
/* The conditions on every answer, whatever the outcome; transact() holds each answer to them. */
void assert_answer(const struct bench_client *client, enum rig_outcome outcome);
enum rig_outcome transact(struct bench_client *client, const struct rig_op *ops, uint32_t op_count);
void transact_ok(struct bench_client *client, const struct rig_op *ops, uint32_t op_count);
void finish(struct bench_client *client, struct bench_run *run);

#endif
