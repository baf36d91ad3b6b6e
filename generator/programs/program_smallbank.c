/*
 * SmallBank (Alomari, Cahill, Fekete, Roehm 2008): customers with a savings and a checking account. Snapshot isolation
 * does not make it serializable: Balance, WriteCheck and TransactSavings form the dangerous structure, in which a check
 * is judged by savings that another transaction withdraws.
 *
 * Nine of ten customers are drawn from a hot spot, one eighteenth of them, as there. Amounts are cents.
 */
#include "generator/programs/program.h"
#include "generator/programs/program_call.h"

enum { ACCOUNT, SAVINGS, CHECKING };
enum { CUSTOMER, BALANCE };         /* columns of savings and checking */
enum { SET_SAVINGS, SET_CHECKING }; /* updates */
enum { HOT_PART = 18, LEAST_HOT = 2, HOT_OF_TEN = 9, BEFORE = 10000, PENALTY = 100, CUSTOMER_BITS = 24 };

#define OWNED_TABLE(id)                                                                                                \
    {                                                                                                                  \
        .rows = {.name = id,                                                                                           \
                 .columns = {"customer", "balance", RIG_PROGRAM_OWN_COLUMNS},                                          \
                 .column_count = 4,                                                                                    \
                 .key_count = 1},                                                                                      \
        .key_bits = {CUSTOMER_BITS}, .standing = true                                                                  \
    }

static const struct rig_program_table tables[] = {
    /* From a name to a customer. */
    [ACCOUNT] = {.rows = {.name = "account",
                          .columns = {"name", "customer", RIG_PROGRAM_OWN_COLUMNS},
                          .column_count = 4,
                          .key_count = 1},
                 .key_bits = {CUSTOMER_BITS},
                 .standing = true},
    [SAVINGS] = OWNED_TABLE("savings"),
    [CHECKING] = OWNED_TABLE("checking"),
};

static const struct rig_program_update updates[] = {
    [SET_SAVINGS] = {SAVINGS, {BALANCE}, 1},
    [SET_CHECKING] = {CHECKING, {BALANCE}, 1},
};

static enum rig_rc load(struct rig_program_loader *loader, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (int64_t i = 0; i < loader->size->users && rc == RIG_OK; i++) {
        rc = loader->add(loader, ACCOUNT, RIG_KEY(i, i), err);
        if (rc == RIG_OK)
            rc = loader->add(loader, SAVINGS, RIG_KEY(i, BEFORE), err);
        if (rc == RIG_OK)
            rc = loader->add(loader, CHECKING, RIG_KEY(i, BEFORE), err);
    }
    return rc;
}

/* ---- the inputs ---- */

/* A name; another one than `other`, unless that is -1. */
static int64_t any_name(struct rig_program_call *call, int64_t other)
{
    const int64_t users = call->size.users;
    const int64_t hot = users / HOT_PART < LEAST_HOT ? LEAST_HOT : users / HOT_PART;
    int64_t name;
    do
        name = rig_program_draw(call, 0, (rig_program_draw(call, 1, 10) <= HOT_OF_TEN ? hot : users) - 1);
    while (name == other);
    return name;
}

static int64_t any_amount(struct rig_program_call *call)
{
    return rig_program_draw(call, 1, BEFORE / 10);
}

/* ---- the transactions ---- */

static bool find_customer(struct rig_program_call *call, int64_t name, int64_t *customer)
{
    const int64_t *row = rig_program_read(call, ACCOUNT, RIG_KEY(name));
    if (row != NULL)
        *customer = row[1];
    return row != NULL;
}

static bool read_balance(struct rig_program_call *call, uint32_t table, int64_t customer, bool to_update,
                         int64_t *balance)
{
    const int64_t *row = to_update ? rig_program_read_for_update(call, table, RIG_KEY(customer))
                                   : rig_program_read(call, table, RIG_KEY(customer));
    if (row != NULL)
        *balance = row[BALANCE];
    return row != NULL;
}

static bool balance(struct rig_program_call *call)
{
    int64_t customer, savings, checking;
    return find_customer(call, any_name(call, -1), &customer) &&
           read_balance(call, SAVINGS, customer, false, &savings) &&
           read_balance(call, CHECKING, customer, false, &checking);
}

static bool deposit_checking(struct rig_program_call *call)
{
    const int64_t name = any_name(call, -1), amount = any_amount(call);
    int64_t customer;
    return find_customer(call, name, &customer) &&
           rig_program_add(call, SET_CHECKING, RIG_KEY(customer), RIG_KEY(amount)) != NULL;
}

static bool transact_savings(struct rig_program_call *call)
{
    const int64_t name = any_name(call, -1), amount = any_amount(call) * (rig_program_draw(call, 0, 1) == 0 ? -1 : 1);
    int64_t customer, savings;
    if (!find_customer(call, name, &customer) || !read_balance(call, SAVINGS, customer, true, &savings))
        return false;
    if (savings + amount < 0)
        return rig_program_roll_back(call, "the savings do not cover the withdrawal");
    return rig_program_set(call, SET_SAVINGS, RIG_KEY(customer), RIG_KEY(savings + amount));
}

static bool amalgamate(struct rig_program_call *call)
{
    const int64_t from_name = any_name(call, -1), to_name = any_name(call, from_name);
    int64_t from, to, savings, checking;
    return find_customer(call, from_name, &from) && find_customer(call, to_name, &to) &&
           read_balance(call, SAVINGS, from, true, &savings) && read_balance(call, CHECKING, from, true, &checking) &&
           rig_program_set(call, SET_SAVINGS, RIG_KEY(from), RIG_KEY(0)) &&
           rig_program_set(call, SET_CHECKING, RIG_KEY(from), RIG_KEY(0)) &&
           rig_program_add(call, SET_CHECKING, RIG_KEY(to), RIG_KEY(savings + checking)) != NULL;
}

/* A check that both accounts together do not cover costs a penalty. */
static bool write_check(struct rig_program_call *call)
{
    const int64_t name = any_name(call, -1), amount = any_amount(call);
    int64_t customer, savings, checking;
    if (!find_customer(call, name, &customer) || !read_balance(call, SAVINGS, customer, false, &savings) ||
        !read_balance(call, CHECKING, customer, true, &checking))
        return false;
    const int64_t paid = savings + checking < amount ? amount + PENALTY : amount;
    return rig_program_set(call, SET_CHECKING, RIG_KEY(customer), RIG_KEY(checking - paid));
}

static bool send_payment(struct rig_program_call *call)
{
    const int64_t from_name = any_name(call, -1), to_name = any_name(call, from_name), amount = any_amount(call);
    int64_t from, to, checking;
    if (!find_customer(call, from_name, &from) || !find_customer(call, to_name, &to) ||
        !read_balance(call, CHECKING, from, true, &checking))
        return false;
    if (checking < amount)
        return rig_program_roll_back(call, "the checking account does not cover the payment");
    return rig_program_set(call, SET_CHECKING, RIG_KEY(from), RIG_KEY(checking - amount)) &&
           rig_program_add(call, SET_CHECKING, RIG_KEY(to), RIG_KEY(amount)) != NULL;
}

static const struct rig_program_kind kinds[] = {
    {"amalgamate", 3, false, amalgamate},
    {"balance", 3, true, balance},
    {"deposit-checking", 3, false, deposit_checking},
    {"send-payment", 5, false, send_payment},
    {"transact-savings", 3, false, transact_savings},
    {"write-check", 3, false, write_check},
};

static const struct rig_program_condition conditions[] = {
    {.name = "smallbank-savings",
     .text = "no savings account is overdrawn",
     .source = "TransactSavings rolls back a withdrawal beyond the balance",
     .sql = "SELECT customer, balance FROM {savings} WHERE balance < 0 ORDER BY customer",
     .columns = {"customer", "balance"}},
};

const struct rig_program rig_program_smallbank = {
    .name = "smallbank",
    RIG_ARRAY(tables, table_count, tables),
    RIG_ARRAY(updates, update_count, updates),
    RIG_ARRAY(kinds, kind_count, kinds),
    RIG_ARRAY(conditions, condition_count, conditions),
    .load = load,
};
