/*
 * SmallBank (Alomari et al. 2008): all six transactions over customers with a savings and a checking account, which
 * snapshot isolation does not make serializable (Balance, WriteCheck and TransactSavings form the dangerous structure).
 * Nine of ten customers are drawn from a hot spot, one eighteenth of them, as there.
 */
#include "generator/applications.h"

enum { SAVINGS, CHECKING, ACCOUNT };
enum { HOT_PART = 18, LEAST_HOT = 2, HOT_OF_TEN = 9 };

static const struct rig_app_table tables[] = {
    [SAVINGS] = {"savings", 1, .by_users = true},
    [CHECKING] = {"checking", 1, .by_users = true},
    [ACCOUNT] = {"account", 1, .by_users = true, .read_only = true}, /* from a name to a customer */
};

/* Another one than `other`, unless that is -1. */
static int64_t any_customer(struct rig_app *app, int64_t other)
{
    const int64_t users = app->layout.users;
    const int64_t hot = users / HOT_PART < LEAST_HOT ? LEAST_HOT : users / HOT_PART;
    int64_t customer;
    do
        customer = (int64_t)rig_app_below(app, (uint64_t)(rig_app_below(app, 10) < HOT_OF_TEN ? hot : users));
    while (customer == other);
    rig_app_read(app, rig_app_row(app, ACCOUNT, customer));
    return customer;
}

static void balance(struct rig_app *app)
{
    const int64_t customer = any_customer(app, -1);
    rig_app_read(app, rig_app_row(app, SAVINGS, customer));
    rig_app_read(app, rig_app_row(app, CHECKING, customer));
}

static void deposit_checking(struct rig_app *app)
{
    rig_app_update(app, rig_app_row(app, CHECKING, any_customer(app, -1)));
}

static void transact_savings(struct rig_app *app)
{
    rig_app_update(app, rig_app_row(app, SAVINGS, any_customer(app, -1)));
}

static void amalgamate(struct rig_app *app)
{
    const int64_t from = any_customer(app, -1);
    const int64_t to = any_customer(app, from);
    rig_app_update(app, rig_app_row(app, SAVINGS, from));
    rig_app_update(app, rig_app_row(app, CHECKING, from));
    rig_app_update(app, rig_app_row(app, CHECKING, to));
}

static void write_check(struct rig_app *app)
{
    const int64_t customer = any_customer(app, -1);
    rig_app_read(app, rig_app_row(app, SAVINGS, customer));
    rig_app_update(app, rig_app_row(app, CHECKING, customer));
}

static void send_payment(struct rig_app *app)
{
    const int64_t from = any_customer(app, -1);
    const int64_t to = any_customer(app, from);
    rig_app_update(app, rig_app_row(app, CHECKING, from));
    rig_app_update(app, rig_app_row(app, CHECKING, to));
}

static const struct rig_app_card cards[] = {
    {"amalgamate", 3, RIG_APP_NO_UNIT, amalgamate},
    {"balance", 3, RIG_APP_NO_UNIT, balance},
    {"deposit-checking", 3, RIG_APP_NO_UNIT, deposit_checking},
    {"send-payment", 5, RIG_APP_NO_UNIT, send_payment},
    {"transact-savings", 3, RIG_APP_NO_UNIT, transact_savings},
    {"write-check", 3, RIG_APP_NO_UNIT, write_check},
};

const struct rig_application rig_app_smallbank = {
    RIG_ARRAY(tables, table_count, tables),
    RIG_ARRAY(cards, card_count, cards),
    .most_operations = 8,
    .most_keys = 5,
};
