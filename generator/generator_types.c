#include "generator/generator_types.h"

#include <math.h>

#include "generator/group_ops.h"
#include "generator/sql_shapes.h"
#include "generator/sql_statements.h"
#include "generator/workload.h"
#include "history/types/object_specification.h"
#include "history/types/row_ops.h"

/*
 * Transactions that show long forks: each key is written once, by a transaction of its own, and the keys of a group are
 * read together about the time at which they are written (Jepsen's long-fork; Sovran et al., SOSP 2011).
 *
 * Group g has the keys g * size to g * size + size - 1. Client c's j-th write is that of key j * client_count + c, so
 * that all clients together write each key, once. A transaction at position p is a write exactly when
 * position * (1 - reads), with a phase of the client's own, passes a whole number: so at any position all clients are
 * at about the same key, and a read takes one of the `keys.active` groups around it.
 *
 * Everything follows from the position, and the keys need no pool.
 */

static const double never = 9e18; /* a position that no run reaches; fits 64 bits */

/* The number of the client's writes before the position. */
static uint64_t writes_before(const struct rig_generator *generator, uint64_t position)
{
    const double phase = (double)generator->client / generator->client_count;
    return (uint64_t)((double)position * (1 - generator->options.reads) + phase);
}

/* Groups that all clients together begin to write, a position. */
static double groups_a_position(const struct rig_generator_options *options, uint32_t client_count)
{
    return (1 - options->reads) * client_count / (double)options->group;
}

/* The most groups by which the group of a client may differ from groups_a_position() times its position. */
static int64_t spread(const struct rig_generator_options *options, uint32_t client_count)
{
    return client_count / options->group + 2 + options->active_keys / 2;
}

static uint32_t read_group(struct rig_generator *generator, struct rig_op *ops, int64_t near)
{
    const int64_t size = generator->options.group, around = generator->options.active_keys;
    int64_t group = near / size - around / 2 + (int64_t)rig_rng_below(&generator->rng, (uint64_t)around);
    const int64_t first = (int64_t)rig_rng_below(&generator->rng, (uint64_t)size);
    group = group < 0 ? 0 : group;
    for (int64_t i = 0; i < size; i++)
        ops[i] = (struct rig_op){.kind = generator->type->read_op, .key = group * size + (first + i) % size};
    return (uint32_t)size;
}

/* Writes one transaction; returns the number of operations. */
static uint32_t fork_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only)
{
    const uint64_t writes = writes_before(generator, generator->position);
    const int64_t key = (int64_t)(writes * generator->client_count + generator->client);
    *read_only = writes_before(generator, generator->position + 1) == writes;
    if (*read_only)
        return read_group(generator, ops, key);
    ops[0] = (struct rig_op){.kind = generator->type->write_op, .key = key, .value = 1};
    return 1;
}

/* The most keys of a transaction. */
static uint32_t fork_keys(const struct rig_generator_options *options)
{
    return (uint32_t)options->group;
}

/* The position from which on no client uses the key; UINT64_MAX: there is none. */
static uint64_t fork_leaves_at(const struct rig_generator_options *options, uint32_t client_count, int64_t key)
{
    const double groups = groups_a_position(options, client_count);
    const double group = (double)(key / options->group + 1 + spread(options, client_count));
    const double position = groups > 0 ? ceil(group / groups) : never;
    return position < never ? (uint64_t)position : UINT64_MAX;
}

/* Every key that transactions before `position` have used is below. */
static int64_t fork_key_bound(const struct rig_generator_options *options, uint32_t client_count, uint64_t position)
{
    const double group = (double)position * groups_a_position(options, client_count);
    return ((int64_t)group + 1 + spread(options, client_count)) * options->group;
}

/*
 * Operations on numbers that increments change: counters, and the accounts of a bank.
 *
 * An increment adds 1 to `amount.most`, or with the chance `amount.negative` subtracts it. A transfer reads two
 * accounts, takes an amount from the first and adds it to the second; other transactions of a bank read all accounts
 * (Jepsen's bank). The accounts are the keys of a pool that no key leaves.
 */

enum { TRANSFER_OPERATIONS = 4 };

static int64_t draw_amount(struct rig_generator *generator)
{
    return 1 + (int64_t)rig_rng_below(&generator->rng, (uint64_t)generator->options.amount_most);
}

/* `negative`: the chance that an increment subtracts. */
static struct rig_op draw_on(struct rig_generator *generator, const struct rig_key_slot *slot, bool reads,
                             double negative)
{
    if (reads)
        return (struct rig_op){.kind = generator->type->read_op, .key = slot->key};
    const bool subtracts = negative > 0 && rig_rng_unit(&generator->rng) < negative;
    return (struct rig_op){.kind = generator->type->write_op,
                           .key = slot->key,
                           .value = subtracts ? -draw_amount(generator) : draw_amount(generator)};
}

/* The same on the slot's key. */
static struct rig_op counter_on(struct rig_generator *generator, struct rig_key_slot *slot, bool reads)
{
    return draw_on(generator, slot, reads, generator->options.amount_negative);
}

/* A read of the slot's account, or one side of a transfer: only where it is undone, since it changes the total. */
static struct rig_op bank_on(struct rig_generator *generator, struct rig_key_slot *slot, bool reads)
{
    return draw_on(generator, slot, reads, 0.5);
}

/* Writes one operation on a counter; true when it reads. */
static bool counter_op(struct rig_generator *generator, struct rig_op *op)
{
    const bool reads = rig_generator_reads(generator);
    *op = counter_on(generator, rig_key_pool_draw(&generator->keys, &generator->rng), reads);
    return reads;
}

static uint32_t read_all(const struct rig_generator *generator, struct rig_op *ops)
{
    const uint32_t count = (uint32_t)generator->options.accounts;
    for (uint32_t i = 0; i < count; i++)
        ops[i] = (struct rig_op){.kind = generator->type->read_op, .key = i};
    return count;
}

/* Writes a transfer, or a read of all balances; returns the number of operations. */
static uint32_t bank_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only)
{
    *read_only = rig_generator_reads(generator);
    if (*read_only)
        return read_all(generator, ops);
    const int64_t accounts = generator->options.accounts;
    const int64_t from = rig_key_pool_draw(&generator->keys, &generator->rng)->key;
    const int64_t to = (from + 1 + (int64_t)rig_rng_below(&generator->rng, (uint64_t)accounts - 1)) % accounts;
    const int64_t amount = draw_amount(generator);
    ops[0] = (struct rig_op){.kind = generator->type->read_op, .key = from};
    ops[1] = (struct rig_op){.kind = generator->type->read_op, .key = to};
    ops[2] = (struct rig_op){.kind = generator->type->write_op, .key = from, .value = -amount};
    ops[3] = (struct rig_op){.kind = generator->type->write_op, .key = to, .value = amount};
    return TRANSFER_OPERATIONS;
}

/* The most keys of a transaction. */
static uint32_t bank_keys(const struct rig_generator_options *options)
{
    return (uint32_t)options->accounts;
}

struct rig_accounts rig_generator_accounts(const struct rig_generator_options *options)
{
    if (!rig_generator_types[options->type].stays)
        return (struct rig_accounts){0};
    return (struct rig_accounts){
        .count = options->accounts, .balance = options->balance, .negative = options->negative_balances};
}

/*
 * Transactions of the workload predicate: statements on the rows of tables (history/types/row_ops.h).
 *
 * A statement that writes inserts a row, or updates or deletes those that meet a condition. Conditions ask
 * for a class, for some classes, for a range of ids among the latest, or for all ids from one of them on, where rows
 * are inserted: so inserts and updates meet reads that do not show them.
 */

enum {
    CLASSES = 4,
    OPS_A_STATEMENT = 3, /* the condition, the read and the write */
    LATEST_SERIALS = 48, /* conditions ask for ids up to this many serials ago */
    WIDEST = 12,
};

static const double counted_share = 0.1,
                    summed_share = 0.15; /* of the reads: those that count, and these or that add up */

static int64_t below(struct rig_generator *generator, int64_t bound)
{
    return (int64_t)rig_rng_below(&generator->rng, (uint64_t)bound);
}

static int64_t draw_condition(struct rig_generator *generator, const struct rig_key_slot *slot, enum rig_row_form form)
{
    const int64_t choice = below(generator, 10);
    if (choice < 4)
        return rig_row_condition_value(RIG_ROW_BY_CLASS, form, below(generator, CLASSES), 0);
    if (choice < 6)
        return rig_row_condition_value(RIG_ROW_BY_CLASS, form, below(generator, CLASSES - 1), 1);
    const int64_t next = generator->first_value + slot->written * generator->value_step;
    const int64_t back = 1 + below(generator, next < LATEST_SERIALS ? next : LATEST_SERIALS);
    const int64_t least = next > back ? next - back : 0;
    return rig_row_condition_value(RIG_ROW_BY_ID, form, least, choice < 8 ? below(generator, WIDEST) : RIG_ROW_ENDLESS);
}

/* Returns the number of operations; *reads is false when it writes. */
static uint32_t draw_statement(struct rig_generator *generator, struct rig_op *ops, bool *reads)
{
    *reads = rig_generator_reads(generator);
    struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    const struct rig_data_type *type = generator->type;
    const double choice = rig_rng_unit(&generator->rng), updates = generator->options.updates;
    const enum rig_rows_action action = choice < updates                                ? RIG_ROWS_UPDATE
                                        : choice < updates + generator->options.deletes ? RIG_ROWS_DELETE
                                                                                        : RIG_ROWS_INSERT;
    const enum rig_row_form form = !*reads || choice >= summed_share ? RIG_ROW_LISTED
                                   : choice < counted_share          ? RIG_ROW_COUNTED
                                                                     : RIG_ROW_SUMMED;
    uint32_t count = 0;
    if (*reads || action != RIG_ROWS_INSERT) {
        ops[count++] = (struct rig_op){type->write_op, slot->key, draw_condition(generator, slot, form)};
        ops[count++] = (struct rig_op){type->read_op, slot->key, 0};
    }
    if (!*reads) {
        const int64_t class = action == RIG_ROWS_DELETE ? 0 : below(generator, CLASSES);
        const int64_t serial = rig_generator_value(generator, slot);
        ops[count++] = (struct rig_op){type->write_op, slot->key, rig_row_number(serial, class, action)};
    }
    return count;
}

/* Writes one transaction of such statements; returns the number of operations. */
static uint32_t statements_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only,
                                       uint32_t (*draw)(struct rig_generator *, struct rig_op *, bool *))
{
    const struct rig_generator_options *options = &generator->options;
    const int64_t statements =
        options->min_operations + below(generator, options->max_operations - options->min_operations + 1);
    uint32_t count = 0;
    *read_only = true;
    for (int64_t i = 0; i < statements; i++) {
        bool reads;
        count += draw(generator, ops + count, &reads);
        *read_only &= reads;
    }
    return count;
}

static uint32_t rows_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only)
{
    return statements_transaction(generator, ops, read_only, draw_statement);
}

static uint32_t sql_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only)
{
    const double shapes = generator->reads_only ? 0 : generator->options.shapes;
    if (shapes == 0 || rig_rng_unit(&generator->rng) >= shapes)
        return statements_transaction(generator, ops, read_only, rig_sql_statement_draw);
    *read_only = false;
    return rig_sql_shape_draw(generator, ops);
}

/* The most operations of a transaction, three for a statement; and the writes of one, on average, also of logs. */
static uint32_t rows_operations(const struct rig_generator_options *options)
{
    return (uint32_t)options->max_operations * OPS_A_STATEMENT;
}

static uint32_t sql_operations(const struct rig_generator_options *options)
{
    const uint32_t statements = (uint32_t)options->max_operations;
    const bool few = options->shapes > 0 && statements < RIG_SQL_SHAPE_STATEMENTS;
    return (few ? RIG_SQL_SHAPE_STATEMENTS : statements) * RIG_SQL_OPS_A_STATEMENT;
}

static double rows_writes(const struct rig_generator_options *options)
{
    return (double)(options->min_operations + options->max_operations) / 2 * (1 - options->reads);
}

/*
 * Transactions of logs: sends, each directly followed by the poll that is its acknowledgement, and polls. A poll moves
 * its consumer, so that no transaction only reads.
 */
static uint32_t log_transaction(struct rig_generator *generator, struct rig_op *ops, bool *read_only)
{
    const struct rig_generator_options *options = &generator->options;
    const int64_t operations =
        options->min_operations + below(generator, options->max_operations - options->min_operations + 1);
    uint32_t count = 0;
    *read_only = false;
    for (int64_t i = 0; i < operations; i++) {
        const bool polls = rig_generator_reads(generator);
        struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
        ops[count++] = rig_generator_op(generator, slot, polls);
        if (!polls)
            ops[count++] = rig_generator_op(generator, slot, true);
    }
    return count;
}

static uint32_t log_operations(const struct rig_generator_options *options)
{
    return (uint32_t)options->max_operations * 2;
}

/*
 * Transactions of one operation on one object (history/types/types.h).
 *
 * Registers get few different values, so that a comparison often holds. A client acquires a lock and releases it in its
 * next transaction; it does not know whether the lock was granted, so the database has to refuse a release by a client
 * that does not hold the lock. A string is digits (drivers/driver.h), which appends and puts repeat. Values that enter
 * a queue or a stack are unique.
 */

static int64_t draw_value(struct rig_generator *generator)
{
    return (int64_t)rig_rng_below(&generator->rng, (uint64_t)generator->options.values);
}

/* Each writes the operations of a transaction, and returns their number; *reads: it only reads. */
static uint32_t register_transaction(struct rig_generator *generator, struct rig_op *ops, bool *reads)
{
    *reads = rig_generator_reads(generator);
    const struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    if (*reads) {
        ops[0] = (struct rig_op){.kind = RIG_OP_READ_REGISTER, .key = slot->key};
        return 1;
    }
    const bool compares = rig_rng_unit(&generator->rng) < generator->options.compare_and_sets;
    uint32_t count = 0;
    if (compares)
        ops[count++] = (struct rig_op){RIG_OP_EXPECT, slot->key, draw_value(generator)};
    ops[count++] = (struct rig_op){RIG_OP_WRITE, slot->key, draw_value(generator)};
    return count;
}

/* Digits from 1 to 9: a zero would be lost in front. */
static int64_t draw_digit(struct rig_generator *generator)
{
    return 1 + (int64_t)rig_rng_below(&generator->rng, 9);
}

/* A put is two digits, so that few puts are alike. */
static uint32_t string_transaction(struct rig_generator *generator, struct rig_op *ops, bool *reads)
{
    *reads = rig_generator_reads(generator);
    const struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    ops[0] = (struct rig_op){.kind = RIG_OP_READ_REGISTER, .key = slot->key};
    if (*reads)
        return 1;
    const bool puts = rig_rng_unit(&generator->rng) < generator->options.puts;
    ops[0] = (struct rig_op){puts ? RIG_OP_WRITE : RIG_OP_EXTEND, slot->key, draw_digit(generator)};
    if (puts)
        ops[0].value = ops[0].value * 10 + draw_digit(generator);
    return 1;
}

/* The slot may have moved on to a fresh lock meanwhile, which is then released without having been acquired. */
static uint32_t lock_transaction(struct rig_generator *generator, struct rig_op *ops, bool *reads)
{
    struct rig_key_slot *slot = generator->partner;
    const bool acquires = slot == NULL;
    if (acquires)
        slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    generator->partner = acquires ? slot : NULL;
    ops[0] = (struct rig_op){RIG_OP_EXPECT, slot->key, acquires ? 0 : 1};
    ops[1] = (struct rig_op){RIG_OP_WRITE, slot->key, acquires ? 1 : 0};
    *reads = false;
    return 2;
}

/* An acquisition, then work, perhaps further acquisitions of a reentrant lock, and a release, after which a client may
 * go on as if it had not released the lock. The owner is the client. */
static uint32_t owner_transaction(struct rig_generator *generator, struct rig_op *ops, bool *reads)
{
    enum { REENTERS = 4, STAYS = 4 }; /* one in 4 */
    const struct rig_generator_options *options = &generator->options;
    struct rig_key_slot *slot = generator->partner;
    const bool acquires = slot == NULL, works = rig_rng_unit(&generator->rng) < options->lock_work;
    const bool reenters = options->lock_kind == RIG_LOCK_REENTRANT && rig_rng_below(&generator->rng, REENTERS) == 0;
    const bool stays = rig_rng_below(&generator->rng, STAYS) == 0;
    uint32_t count = 0;
    if (acquires)
        slot = generator->partner = rig_key_pool_draw(&generator->keys, &generator->rng);
    *reads = false;
    if (!acquires && works) {
        ops[0] = (struct rig_op){.kind = RIG_OP_TOKEN, .key = slot->key};
        return 1;
    }
    if (!acquires && !reenters) {
        ops[0] = (struct rig_op){RIG_OP_FREE, slot->key, generator->client};
        generator->partner = stays ? slot : NULL;
        return 1;
    }
    const int64_t limit = options->lock_kind == RIG_LOCK_OWNER       ? 1
                          : options->lock_kind == RIG_LOCK_REENTRANT ? -options->lock_most
                                                                     : options->lock_most;
    ops[count++] = (struct rig_op){RIG_OP_HOLD, slot->key, generator->client};
    if (limit != 1 || options->lock_lease_ns > 0)
        ops[count++] = (struct rig_op){RIG_OP_LIMIT, slot->key, limit};
    if (options->lock_lease_ns > 0)
        ops[count++] = (struct rig_op){RIG_OP_LEASE, slot->key, options->lock_lease_ns};
    ops[count++] = (struct rig_op){.kind = RIG_OP_TOKEN, .key = slot->key};
    return count;
}

static uint32_t row_transaction(struct rig_generator *generator, struct rig_op *ops, bool *reads)
{
    const bool takes = rig_generator_reads(generator);
    ops[0] = rig_generator_op(generator, rig_key_pool_draw(&generator->keys, &generator->rng), takes);
    *reads = false;
    return 1;
}

static int64_t draw_argument(struct rig_generator *generator, const struct rig_model_argument *argument)
{
    if (argument->kind == RIG_ARGUMENT_CLIENT)
        return generator->client;
    if (argument->kind == RIG_ARGUMENT_LIST)
        return argument->values[rig_rng_below(&generator->rng, argument->value_count)];
    return argument->least + (int64_t)rig_rng_below(&generator->rng, (uint64_t)(argument->most - argument->least) + 1);
}

/* A call of an operation of the model, each as often as its weight says. */
static uint32_t call_transaction(struct rig_generator *generator, struct rig_op *ops, bool *reads)
{
    const struct rig_specification *specification = generator->options.specification;
    const struct rig_model_operation *operation = specification->operations;
    const struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    double all = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < specification->operation_count; i++)
        all += specification->operations[i].weight;
    for (double drawn = rig_rng_unit(&generator->rng) * all; drawn >= operation->weight; operation++) {
        drawn -= operation->weight;
        if (operation + 1 == specification->operations + specification->operation_count)
            break;
    }
    *reads = false;
    ops[count++] = (struct rig_op){RIG_OP_CALL, slot->key, operation->number};
    for (uint32_t i = 0; i < operation->argument_count; i++)
        ops[count++] = (struct rig_op){RIG_OP_ARGUMENT, slot->key, draw_argument(generator, &operation->arguments[i])};
    if (operation->has_result)
        ops[count++] = (struct rig_op){.kind = RIG_OP_RESULT, .key = slot->key};
    return count;
}

static void give_client(const struct rig_specification *specification, struct rig_op *ops, uint32_t client)
{
    const struct rig_model_operation *operation = specification->operations;
    for (uint32_t i = 0; operation->number != ops[0].value && i + 1 < specification->operation_count; i++)
        operation++;
    for (uint32_t i = 0; i < operation->argument_count; i++) {
        if (operation->arguments[i].kind == RIG_ARGUMENT_CLIENT)
            ops[i + 1].value = client;
    }
}

void rig_generator_give_owner(const struct rig_generator_options *options, struct rig_op *ops, uint32_t count,
                              uint32_t client)
{
    if (count > 0 && (ops[0].kind == RIG_OP_HOLD || ops[0].kind == RIG_OP_FREE))
        ops[0].value = client;
    if (count > 0 && ops[0].kind == RIG_OP_CALL)
        give_client(options->specification, ops, client);
}

/* The share of transactions that count as a write to their key. */
static double object_writes(const struct rig_generator_options *options)
{
    const bool writes = options->type == RIG_WORKLOAD_MUTEX || options->type == RIG_WORKLOAD_LOCK ||
                        options->type == RIG_WORKLOAD_MODEL;
    return writes ? 1 : 1 - options->reads;
}

/* The same on the slot's key. */
static struct rig_op unique_on(struct rig_generator *generator, struct rig_key_slot *slot, bool reads)
{
    return rig_generator_op(generator, slot, reads);
}

bool rig_unique_op(struct rig_generator *generator, struct rig_op *op)
{
    const bool reads = rig_generator_reads(generator);
    struct rig_key_slot *slot = rig_key_pool_draw(&generator->keys, &generator->rng);
    *op = rig_generator_op(generator, slot, reads);
    return reads;
}

#define OBJECTS(how, most) .draw_transaction = (how), .most_operations = (most), .most_keys = 1, .writes = object_writes

#define GROUPS(how, share)                                                                                             \
    .draw_transaction = (how), .writes = (share), .most_operations = RIG_GROUP_OPERATIONS, .keys = rig_group_keys,     \
    .leaves_at = rig_group_leaves_at, .key_bound = rig_group_key_bound

const struct rig_generator_type rig_generator_types[RIG_WORKLOAD_COUNT] = {
    [RIG_WORKLOAD_LIST_APPEND] = {.draw = rig_unique_op, .draw_on = unique_on, .has_rows = true},
    [RIG_WORKLOAD_RW_REGISTER] = {.draw = rig_unique_op, .draw_on = unique_on, .has_rows = true},
    [RIG_WORKLOAD_SET] = {.draw = rig_unique_op, .draw_on = unique_on},
    [RIG_WORKLOAD_CAS_REGISTER] = {OBJECTS(register_transaction, 2)},
    [RIG_WORKLOAD_MUTEX] = {OBJECTS(lock_transaction, 2), .no_final_reads = true},
    [RIG_WORKLOAD_LOCK] = {OBJECTS(owner_transaction, 4), .no_final_reads = true},
    [RIG_WORKLOAD_MODEL] = {OBJECTS(call_transaction, RIG_CALL_OPS), .no_final_reads = true},
    [RIG_WORKLOAD_QUEUE] = {OBJECTS(row_transaction, 1), .drains = true},
    [RIG_WORKLOAD_STACK] = {OBJECTS(row_transaction, 1), .drains = true},
    [RIG_WORKLOAD_APPEND_REGISTER] = {OBJECTS(string_transaction, 1)},
    [RIG_WORKLOAD_COUNTER] = {.draw = counter_op, .draw_on = counter_on},
    [RIG_WORKLOAD_BANK] = {.draw_transaction = bank_transaction,
                           .draw_on = bank_on,
                           .most_operations = TRANSFER_OPERATIONS,
                           .keys = bank_keys,
                           .stays = true},
    [RIG_WORKLOAD_LONG_FORK] = {.draw_transaction = fork_transaction,
                                .most_operations = 1,
                                .keys = fork_keys,
                                .leaves_at = fork_leaves_at,
                                .key_bound = fork_key_bound},
    [RIG_WORKLOAD_MONOTONIC] = {GROUPS(rig_monotonic_transaction, rig_monotonic_writes)},
    [RIG_WORKLOAD_MULTI_KEY] = {GROUPS(rig_multi_key_transaction, rig_multi_key_writes)},
    [RIG_WORKLOAD_DIRTY_READS] = {GROUPS(rig_whole_group_transaction, rig_whole_group_writes)},
    [RIG_WORKLOAD_UNIQUE_IDS] = {.draw_transaction = rig_claim_transaction,
                                 .most_operations = 2,
                                 .most_keys = 1,
                                 .leaves_at = rig_claim_leaves_at,
                                 .key_bound = rig_claim_key_bound},
    [RIG_WORKLOAD_PREDICATE] = {.draw_transaction = rows_transaction, .writes = rows_writes, .keys = rows_operations},
    [RIG_WORKLOAD_SQL] = {.begin = rig_sql_templates_draw,
                          .draw_transaction = sql_transaction,
                          .writes = rows_writes,
                          .keys = sql_operations},
    [RIG_WORKLOAD_LOG] = {.draw_transaction = log_transaction,
                          .writes = rows_writes,
                          .keys = log_operations,
                          .drains = true},
    [RIG_WORKLOAD_SEQUENTIAL] = {.draw_transaction = rig_sequence_transaction,
                                 .most_operations = 1,
                                 .most_keys = 1,
                                 .leaves_at = rig_sequence_leaves_at,
                                 .key_bound = rig_sequence_key_bound},
};
