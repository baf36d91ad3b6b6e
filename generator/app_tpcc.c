/*
 * TPC-C (TPC Benchmark C, revision 5.11, clause 2): all five transactions, a row a key.
 *
 * The mix is the standard's deck of cards (clause 5.2.4.2): ten New-Order and ten Payment to one of each other kind. A
 * Delivery delivers ten orders, each in a transaction of its own (clause 2.7.1.2 leaves that to the implementation).
 * The Stock-Level transaction looks at three recent orders of its district, not at twenty, so that its transaction
 * stays within the limits of databases such as etcd. The warehouse is drawn for each transaction, and not fixed for a
 * terminal. Customers are chosen by number, not by name, and no New-Order rolls back.
 *
 * `users` are the customers of a district (3000 in the standard), `rows` the items (100,000 there).
 */
#include "generator/applications.h"

enum { WAREHOUSE, DISTRICT, CUSTOMER, STOCK, ITEM };
enum { ORDER, HISTORY };
enum { ORDER_ROW, NEW_ORDER_ROW, LINE_ROWS }; /* of the unit ORDER; its lines come last */

enum {
    DISTRICTS = 10, /* of a warehouse */
    LEAST_LINES = 5,
    MOST_LINES = 15,
    LEVEL_ORDERS = 3,
    LEVEL_LOOKS = 40, /* recent orders that a Stock-Level looks through for those of its district */
};

static const struct rig_app_table tables[] = {
    [WAREHOUSE] = {"warehouse", 1, .by_warehouses = true},
    [DISTRICT] = {"district", DISTRICTS, .by_warehouses = true},
    [CUSTOMER] = {"customer", DISTRICTS, .by_warehouses = true, .by_users = true},
    [STOCK] = {"stock", 1, .by_warehouses = true, .by_rows = true},
    [ITEM] = {"item", 1, .by_rows = true, .read_only = true},
};

static const uint32_t unit_rows[] = {[ORDER] = LINE_ROWS + MOST_LINES, [HISTORY] = 1};

/* The standard's NURand (clause 2.1.6), the constant A in about its ratio to the range: the next power of two below
   range / share, less one. */
static int64_t non_uniform(struct rig_rng *rng, int64_t range, int64_t share)
{
    int64_t a = 1;
    while (a * 2 <= range / share)
        a *= 2;
    return (int64_t)((rig_rng_below(rng, (uint64_t)a) | rig_rng_below(rng, (uint64_t)range)) % (uint64_t)range);
}

static int64_t any_customer(const struct rig_app_layout *layout, struct rig_rng *rng, int64_t district)
{
    return district * layout->users + non_uniform(rng, layout->users, 2);
}

static int64_t any_item(const struct rig_app_layout *layout, struct rig_rng *rng)
{
    return non_uniform(rng, layout->rows, 12);
}

/* A warehouse: in `percent` of a hundred draws another one than `home`, where there is another one. */
static int64_t maybe_remote(const struct rig_app_layout *layout, struct rig_rng *rng, int64_t home, uint64_t percent)
{
    if (layout->warehouses == 1 || rig_rng_below(rng, 100) >= percent)
        return home;
    return (home + 1 + (int64_t)rig_rng_below(rng, (uint64_t)layout->warehouses - 1)) % layout->warehouses;
}

struct order {
    int64_t warehouse, district, customer;
    uint32_t lines;
    struct rig_rng rng; /* its lines follow */
};

struct line {
    int64_t item, stock;
};

static struct order order_of(const struct rig_app_layout *layout, uint64_t number)
{
    struct order order = {.rng = rig_app_unit_rng(layout, ORDER, number)};
    order.district = (int64_t)rig_rng_below(&order.rng, (uint64_t)layout->warehouses * DISTRICTS);
    order.warehouse = order.district / DISTRICTS;
    order.lines = LEAST_LINES + (uint32_t)rig_rng_below(&order.rng, MOST_LINES - LEAST_LINES + 1);
    order.customer = any_customer(layout, &order.rng, order.district);
    return order;
}

/* Called for one line after the other. */
static struct line next_line(const struct rig_app_layout *layout, struct order *order)
{
    const int64_t item = any_item(layout, &order->rng);
    const int64_t supply = maybe_remote(layout, &order->rng, order->warehouse, 1);
    return (struct line){.item = item, .stock = supply * layout->rows + item};
}

static bool has_row(const struct rig_app_layout *layout, uint32_t unit, uint64_t number, uint32_t row)
{
    return unit != ORDER || row < LINE_ROWS || row < LINE_ROWS + order_of(layout, number).lines;
}

static void read_order_row(struct rig_app *app, uint64_t number, uint32_t row)
{
    rig_app_read(app, rig_app_unit_key(&app->layout, ORDER, number, row));
}

static void new_order(struct rig_app *app)
{
    const uint64_t number = rig_app_new_unit(app);
    struct order order = order_of(&app->layout, number);
    rig_app_read(app, rig_app_row(app, WAREHOUSE, order.warehouse));
    rig_app_update(app, rig_app_row(app, DISTRICT, order.district));
    rig_app_read(app, rig_app_row(app, CUSTOMER, order.customer));
    rig_app_insert(app, number, ORDER_ROW);
    rig_app_insert(app, number, NEW_ORDER_ROW);
    for (uint32_t i = 0; i < order.lines; i++) {
        const struct line line = next_line(&app->layout, &order);
        rig_app_read(app, rig_app_row(app, ITEM, line.item));
        rig_app_update(app, rig_app_row(app, STOCK, line.stock));
        rig_app_insert(app, number, LINE_ROWS + i);
    }
}

static void payment(struct rig_app *app)
{
    const int64_t district = (int64_t)rig_app_below(app, (uint64_t)app->layout.warehouses * DISTRICTS);
    const int64_t warehouse = district / DISTRICTS;
    const int64_t lives_in = maybe_remote(&app->layout, app->rng, warehouse, 15);
    const int64_t lives_at =
        lives_in == warehouse ? district : lives_in * DISTRICTS + (int64_t)rig_app_below(app, DISTRICTS);
    rig_app_update(app, rig_app_row(app, WAREHOUSE, warehouse));
    rig_app_update(app, rig_app_row(app, DISTRICT, district));
    rig_app_update(app, rig_app_row(app, CUSTOMER, any_customer(&app->layout, app->rng, lives_at)));
    rig_app_insert(app, rig_app_new_unit(app), 0);
}

static void order_status(struct rig_app *app)
{
    const uint64_t number = rig_app_recent_unit(app, ORDER);
    const struct order order = order_of(&app->layout, number);
    rig_app_read(app, rig_app_row(app, CUSTOMER, order.customer));
    read_order_row(app, number, ORDER_ROW);
    for (uint32_t i = 0; i < order.lines; i++)
        read_order_row(app, number, LINE_ROWS + i);
}

/* The order is no longer new, has a carrier and a date on each line, and its customer pays. */
static void delivery(struct rig_app *app)
{
    uint64_t number;
    if (!rig_app_given_unit(app, ORDER, &number)) {
        read_order_row(app, rig_app_recent_unit(app, ORDER), NEW_ORDER_ROW); /* there is none yet */
        return;
    }
    const struct order order = order_of(&app->layout, number);
    rig_app_update_inserted(app, ORDER, number, NEW_ORDER_ROW);
    rig_app_update_inserted(app, ORDER, number, ORDER_ROW);
    for (uint32_t i = 0; i < order.lines; i++)
        rig_app_update_inserted(app, ORDER, number, LINE_ROWS + i);
    rig_app_update(app, rig_app_row(app, CUSTOMER, order.customer));
}

static void read_stock_of(struct rig_app *app, uint64_t number, struct order *order)
{
    for (uint32_t i = 0; i < order->lines; i++) {
        read_order_row(app, number, LINE_ROWS + i);
        rig_app_read(app, rig_app_row(app, STOCK, next_line(&app->layout, order).stock));
    }
}

static void stock_level(struct rig_app *app)
{
    uint64_t number = rig_app_recent_unit(app, ORDER);
    struct order order = order_of(&app->layout, number);
    const int64_t district = order.district;
    rig_app_read(app, rig_app_row(app, DISTRICT, district));
    read_stock_of(app, number, &order);
    uint32_t found = 1;
    for (uint32_t i = 0; i < LEVEL_LOOKS && found < LEVEL_ORDERS; i++) {
        number = rig_app_recent_unit(app, ORDER);
        order = order_of(&app->layout, number);
        if (order.district != district)
            continue;
        read_stock_of(app, number, &order);
        found++;
    }
}

static const struct rig_app_card cards[] = {
    {"new-order", 10, ORDER, new_order},
    {"payment", 10, HISTORY, payment},
    {"order-status", 1, RIG_APP_NO_UNIT, order_status},
    {"delivery", 10, RIG_APP_NO_UNIT, delivery},
    {"stock-level", 1, RIG_APP_NO_UNIT, stock_level},
};

const struct rig_application rig_app_tpcc = {
    RIG_ARRAY(tables, table_count, tables),
    RIG_ARRAY(unit_rows, unit_count, unit_rows),
    RIG_ARRAY(cards, card_count, cards),
    .most_operations = 1 + LEVEL_ORDERS * MOST_LINES * 2,
    .most_keys = 1 + LEVEL_ORDERS * MOST_LINES * 2,
    .has_row = has_row,
};
