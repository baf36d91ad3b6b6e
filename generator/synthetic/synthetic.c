#include "generator/synthetic/synthetic.h"

#include <inttypes.h>
#include <string.h>

#include "base/nearest.h"
#include "base/option_parse.h"
#include "base/sha256.h"
#include "drivers/built_in.h"
#include "generator/synthetic/simulation.h"
#include "generator/synthetic/synthetic_records.h"
#include "history/types/object_specification.h"
#include "history/types/types.h"

/*
 * Rings: transactions that all overlap in real time, each with one edge to the next.
 *
 * Transaction i appends 1 to key i and reads a neighbour's key: that of the one before it, with its append (wr into i),
 * or that of the one after it, still empty (rw out of i). In a mixed ring the links from even transactions are wr, the
 * others rw; with an odd number of transactions the last two edges are both wr.
 */

struct link {
    struct rig_op ops[3];
    struct rig_record_read reads[3];
    uint32_t op_count;
};

static const int64_t element = 1;

static void make_link(const struct rig_synthetic *synthetic, uint32_t i, uint32_t count, struct link *link)
{
    const struct rig_data_type *type = &rig_data_types[synthetic->workload.type];
    const int64_t shape = synthetic->shape;
    uint32_t before = i == 0 ? count - 1 : i - 1, after = i + 1 == count ? 0 : i + 1;
    bool wr_in = shape == RIG_SHAPE_RING_WR || (shape == RIG_SHAPE_RING_MIXED && before % 2 == 0);
    bool rw_out = shape == RIG_SHAPE_RING_RW || (shape == RIG_SHAPE_RING_MIXED && i % 2 == 1);
    *link = (struct link){.ops = {{.kind = type->write_op, .key = i, .value = element}}, .op_count = 1};
    if (wr_in) {
        link->ops[link->op_count] = (struct rig_op){.kind = type->read_op, .key = before};
        link->reads[link->op_count++] =
            (struct rig_record_read){.state = RIG_READ_SEEN, .count = 1, .elements = &element};
    }
    if (rw_out) {
        link->ops[link->op_count] = (struct rig_op){.kind = type->read_op, .key = after};
        link->reads[link->op_count++] = (struct rig_record_read){.state = RIG_READ_SEEN};
    }
}

static enum rig_rc ring_write(const struct rig_synthetic *synthetic, struct rig_synthetic_records *records,
                              struct rig_synthetic_counts *counts, struct rig_err *err)
{
    uint32_t count = (uint32_t)synthetic->workload.transactions;
    struct link link;
    enum rig_rc rc = RIG_OK;
    for (uint32_t i = 0; rc == RIG_OK && i < count; i++) {
        make_link(synthetic, i, count, &link);
        const struct rig_client_event event = {i, link.op_count, i, i, link.ops};
        rc = rig_synthetic_records_invoke(records, &event, err);
    }
    for (uint32_t i = 0; rc == RIG_OK && i < count; i++) {
        make_link(synthetic, i, count, &link);
        const struct rig_record_completion completion = {.outcome = RIG_OUTCOME_OK, .reads = link.reads};
        const struct rig_client_event event = {i, link.op_count, i, (int64_t)count + i, link.ops};
        rc = rig_synthetic_records_complete(records, &event, &completion, err);
        counts->operations += link.op_count;
    }
    counts->transactions = counts->ok = counts->keys = count;
    return rc;
}

/* By enum rig_synthetic_shape. */
static const char *const shapes[] = {
#define SHAPE_NAME(id, name, help) name,
    RIG_SYNTHETIC_SHAPE_TABLE(SHAPE_NAME)
#undef SHAPE_NAME
        NULL};

/* By enum rig_certificate_mode. */
static const char *const certificates[] = {"none", "stream", "full", NULL};

/* Positions are 32 bits, two a transaction; a tenth of them is reserved for reads beyond the requested transactions. */
#define MOST_TRANSACTIONS 1.9e9

static const struct rig_option synthetic_option_table[] = {
    {.name = "shape",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct rig_synthetic, shape),
     .default_text = "simulated",
     .choices = shapes,
     .help = "shape of the history"},
    {.name = "clients.count",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct rig_synthetic, clients),
     .default_text = "20",
     .least = 1,
     .most = RIG_SIM_TICK_NS - 2,
     .help = "concurrent clients"},
    {.name = "seed",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct rig_synthetic, seed),
     .default_text = "1",
     .least = 0,
     .most = 9e15,
     .help = "seed of all random choices"},
    {.name = "database.certificate",
     .type = RIG_OPTION_CHOICE,
     .offset = offsetof(struct rig_synthetic, certificate),
     .default_text = "none",
     .choices = certificates,
     .help = "what the simulated database says of itself: nothing, its commits, or the snapshots and writers of rows, "
             "too; with the workload `predicate`"},
    {.name = "ranks.count",
     .type = RIG_OPTION_INT,
     .offset = offsetof(struct rig_synthetic, ranks),
     .default_text = "1",
     .least = 1,
     .most = RIG_RANKS_MOST,
     .help = "number of records, as a run of several ranks leaves them"},
    {.name = "ranks.clock-error",
     .type = RIG_OPTION_DURATION,
     .offset = offsetof(struct rig_synthetic, clock_error_ns),
     .default_text = "35us",
     .least = 0,
     .most = 60e9,
     .help = "most by which a measured difference of two ranks' clocks is wrong; 0s: time is simulated, as "
             "is that of objects when this is not set"},
    {.name = NULL},
};

static const struct group {
    const char *prefix;
    size_t offset;
} groups[] = {{"workload.", offsetof(struct rig_synthetic, workload)},
              {"database.", offsetof(struct rig_synthetic, sim)}};

enum rig_rc rig_synthetic_defaults(struct rig_synthetic *synthetic, struct rig_err *err)
{
    struct rig_arena arena; /* of lists, which these tables do not have */
    rig_arena_init(&arena, 0);
    *synthetic = (struct rig_synthetic){0};
    enum rig_rc rc = rig_option_defaults(synthetic_option_table, synthetic, &arena, err);
    if (rc == RIG_OK)
        rc = rig_option_defaults(rig_generator_option_table, &synthetic->workload, &arena, err);
    if (rc == RIG_OK)
        rc = rig_option_defaults(rig_driver_sim.options, &synthetic->sim, &arena, err);
    rig_arena_done(&arena);
    synthetic->workload.transactions = 100000;
    return rc;
}

/* Remembers the settings that have an effect only together with others. */
static void note_given(struct rig_synthetic *synthetic, const char *name)
{
    static const char *const always[] = {
        "shape", "seed", "workload.type", "workload.transactions", "ranks.count", "ranks.clock-error"};
    synthetic->has_bug_rate |= strcmp(name, "database.bug-rate") == 0;
    synthetic->has_patience |= strcmp(name, "database.patience") == 0;
    synthetic->has_clock_error |= strcmp(name, "ranks.clock-error") == 0;
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++) {
        if (strcmp(name, always[i]) == 0)
            return;
    }
    (void)snprintf(synthetic->simulation_setting, sizeof synthetic->simulation_setting, "%s", name);
}

/* Settings are the same in any order. */
static void mix_run(struct rig_synthetic *synthetic, const char *assignment)
{
    unsigned char digest[RIG_SHA256_BYTES];
    rig_sha256_of(assignment, strlen(assignment), digest);
    for (size_t i = 0; i < sizeof synthetic->run; i++)
        synthetic->run[i] ^= digest[i];
}

/* `prefix` is that of the group without this name in its table. */
static enum rig_rc complain_unknown(const char *assignment, const char *prefix, const struct rig_option *table,
                                    struct rig_err *err)
{
    char name[RIG_NEAREST_BYTES + 1];
    struct rig_nearest nearest;
    struct rig_buf quoted;
    const char *name_at = assignment + strlen(prefix);
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(name_at, "="), name_at);
    rig_nearest_init(&nearest, name);
    for (const struct rig_option *option = table; option->name != NULL; option++)
        rig_nearest_offer(&nearest, option->name);
    rig_buf_init(&quoted, 0);
    rig_option_quote(assignment, &quoted);
    enum rig_rc rc = RIG_E_PLAN;
    if (strchr(assignment, '=') == NULL)
        (void)rig_fail(err, rc, "%s has no value; expected NAME=VALUE, such as `workload.keys.active=100`",
                       rig_buf_text(&quoted));
    else if (nearest.best != NULL)
        (void)rig_fail(err, rc, "%s sets nothing here; did you mean `%s%s`?", rig_buf_text(&quoted), prefix,
                       nearest.best);
    else
        (void)rig_fail(
            err, rc,
            "%s sets nothing here; settings are `workload.` and `database.` keys as in a plan with the driver "
            "`sim` (docs/plan-reference.md), `clients.count`, `seed`, `shape`, `ranks.count` and "
            "`ranks.clock-error`",
            rig_buf_text(&quoted));
    rig_buf_done(&quoted);
    return rc;
}

enum rig_rc rig_synthetic_set(struct rig_synthetic *synthetic, const char *assignment, struct rig_err *err)
{
    const struct rig_option *const tables[] = {rig_generator_option_table, rig_driver_sim.options};
    const struct rig_option *table = synthetic_option_table;
    const char *prefix = "";
    char *object = (char *)synthetic;
    char name[RIG_SYNTHETIC_NAME_BYTES] = "";
    const char *equals = strchr(assignment, '=');
    if (equals == NULL || (size_t)(equals - assignment) >= sizeof name)
        return complain_unknown(assignment, prefix, table, err);
    memcpy(name, assignment, (size_t)(equals - assignment));
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        size_t length = strlen(groups[i].prefix);
        if (strncmp(name, groups[i].prefix, length) == 0 && rig_option_find(table, name) == NULL) {
            table = tables[i];
            object = (char *)synthetic + groups[i].offset;
            prefix = groups[i].prefix;
        }
    }
    const struct rig_option *option = rig_option_find(table, name + strlen(prefix));
    if (option == NULL)
        return complain_unknown(assignment, prefix, table, err);
    struct rig_err inner = {0};
    if (rig_option_parse(option, equals + 1, object, &inner) != RIG_OK)
        return rig_fail(err, inner.rc, "%s: %s", name, inner.text);
    if (synthetic->workload.model != NULL && synthetic->workload.specification == NULL &&
        rig_specification_open(synthetic->workload.model, &synthetic->workload.specification, err) != RIG_OK)
        return err->rc;
    note_given(synthetic, name);
    mix_run(synthetic, assignment);
    return RIG_OK;
}

static enum rig_rc check_simulated(const struct rig_synthetic *synthetic, struct rig_err *err)
{
    enum rig_rc rc = rig_sim_options_check(&synthetic->sim, (enum rig_workload)synthetic->workload.type, err);
    if (rc != RIG_OK)
        return rc;
    if (synthetic->has_bug_rate && synthetic->sim.bug == RIG_SIM_BUG_NONE)
        return rig_fail(
            err, RIG_E_PLAN,
            "`database.bug-rate` has no effect: `database.bug` is `none`; name a bug, or leave the rate out");
    if (synthetic->certificate != RIG_CERTIFICATE_NONE &&
        !rig_sim_certifies((enum rig_workload)synthetic->workload.type))
        return rig_fail(err, RIG_E_PLAN,
                        "the simulated database gives a `certificate` for the workload `predicate` only; leave "
                        "`database.certificate` out");
    if (synthetic->has_patience)
        return rig_fail(err, RIG_E_PLAN,
                        "`database.patience` has no effect: no client waits in real time; leave it "
                        "out");
    return RIG_OK;
}

enum rig_rc rig_synthetic_check(const struct rig_synthetic *synthetic, struct rig_err *err)
{
    enum rig_rc rc = rig_generator_check(&synthetic->workload, err);
    if (rc != RIG_OK)
        return rc;
    if (synthetic->ranks == 1 && synthetic->has_clock_error)
        return rig_fail(err, RIG_E_PLAN, "`ranks.clock-error` has no effect with one rank; leave it out");
    if (synthetic->workload.program)
        return rig_fail(err, RIG_E_PLAN,
                        "`workload.program` needs a database: a program decides by what it reads; leave it out");
    if (synthetic->workload.prefill)
        return rig_fail(
            err, RIG_E_PLAN,
            "`workload.keys.prefill` needs a database, which has rows; leave it out, and check the history with "
            "`--prefilled`");
    bool is_ring = synthetic->shape != RIG_SHAPE_SIMULATED && synthetic->shape != RIG_SHAPE_BLIND;
    const char *shape = shapes[synthetic->shape];
    if (synthetic->workload.duration_ns != 0)
        return rig_fail(err, RIG_E_PLAN,
                        "`workload.duration` has no effect: time is simulated; give `workload.transactions` alone");
    if (synthetic->workload.long_most > 0)
        return rig_fail(err, RIG_E_PLAN,
                        "`workload.long-transactions.at-most` has no effect on a simulation; leave it out");
    if (synthetic->workload.rollback_share > 0 && is_ring)
        return rig_fail(err, RIG_E_PLAN, "`workload.savepoints.share` has no effect on shape `%s`; leave it out",
                        shape);
    if ((double)synthetic->workload.transactions > MOST_TRANSACTIONS)
        return rig_fail(err, RIG_E_PLAN,
                        "`workload.transactions` is %" PRId64 ", and a history has 2^32 events at most; use up to %.0f",
                        synthetic->workload.transactions, MOST_TRANSACTIONS);
    if (synthetic->shape != RIG_SHAPE_SIMULATED && rig_data_types[synthetic->workload.type].shape != RIG_RESULT_LIST)
        return rig_fail(err, RIG_E_PLAN, "shape `%s` needs the workload `list-append`", shape);
    if (!is_ring)
        return check_simulated(synthetic, err);
    if (synthetic->simulation_setting[0] != '\0')
        return rig_fail(err, RIG_E_PLAN,
                        "`%s` has no effect on shape `%s`, which comes from no database; leave it out, or use shape "
                        "`simulated`",
                        synthetic->simulation_setting, shape);
    return RIG_OK;
}

enum rig_rc rig_synthetic_write(const struct rig_synthetic *synthetic, const char *path,
                                const struct rig_save_options *save, const struct rig_synthetic_watch *watch,
                                struct rig_synthetic_counts *counts, struct rig_err *err)
{
    struct rig_synthetic_records *records = NULL;
    struct rig_synthetic_counts made = {0};
    enum rig_rc rc = rig_synthetic_check(synthetic, err);
    if (rc == RIG_OK)
        rc = rig_synthetic_records_open(synthetic, path, save, &records, err);
    if (rc != RIG_OK)
        return rc;
    if (synthetic->shape == RIG_SHAPE_SIMULATED || synthetic->shape == RIG_SHAPE_BLIND)
        rc = rig_simulation_write(synthetic, records, watch, &made, err);
    else
        rc = ring_write(synthetic, records, &made, err);
    rc = rig_synthetic_records_close(records, rc, &made.bytes, err);
    if (rc == RIG_OK)
        *counts = made;
    return rc;
}
