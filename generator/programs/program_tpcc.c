/*
 * TPC-C (TPC Benchmark C, revision 5.11): all five transactions of a wholesale supplier, with the mix of clause 5.2.3,
 * the inputs of clauses 2.4 to 2.8, and the non-uniform random numbers of clause 2.1.6.
 *
 * It differs from the standard where that measures speed: no terminals, think times and deferred queue; a client serves
 * all districts of one warehouse; texts are left out (C_DATA of bad credit among them). The lines of an order are in
 * the order of their items, so that New-Orders do not deadlock on stock.
 *
 * Each order takes its number from the district that it reads, each payment adds to the sums of a warehouse and a
 * district, and each delivery finds the oldest new order: what isolation loses there breaks the conditions of clause
 * 3.3.2 (tpcc_tables.c).
 */
#include "generator/programs/program.h"
#include "generator/programs/program_call.h"
#include "generator/programs/tpcc_tables.h"

enum { NEVER_PERCENT = 1, REMOTE_ITEM_PERCENT = 1, REMOTE_CUSTOMER_PERCENT = 15, BY_NAME_PERCENT = 60 };
enum { ORDERS_OF_STOCK_LEVEL = 20, LEAST_STOCK = 10, REFILL = 91, CARRIERS = 10 };

/* ---- the inputs ---- */

static bool chance(struct rig_program_call *call, int64_t percent)
{
    return rig_program_draw(call, 1, 100) <= percent;
}

/* NURand over [least, most] with A next to the standard's share of the range, which is a third or less. */
static int64_t draw_non_uniform(struct rig_program_call *call, int64_t least, int64_t most)
{
    const int64_t range = most - least + 1;
    int64_t a = 1;
    while (a * 2 <= range / 3)
        a *= 2;
    a--;
    const int64_t c = 259 % (a + 1);
    return ((rig_program_draw(call, 0, a) | rig_program_draw(call, least, most)) + c) % range + least;
}

static int64_t home_warehouse(const struct rig_program_call *call)
{
    return 1 + call->client % call->size.warehouses;
}

static int64_t any_district(struct rig_program_call *call)
{
    return rig_program_draw(call, 1, TPCC_DISTRICTS);
}

/* Another warehouse than `home`, or that one if there is no other. */
static int64_t remote_warehouse(struct rig_program_call *call, int64_t home)
{
    if (call->size.warehouses == 1)
        return home;
    const int64_t other = rig_program_draw(call, 1, call->size.warehouses - 1);
    return other + (other >= home);
}

/* A customer, by number or by last name. */
struct customer {
    int64_t w, d;
    int64_t id; /* 0: by name */
    int64_t name;
};

static struct customer any_customer(struct rig_program_call *call, int64_t w, int64_t d)
{
    if (chance(call, BY_NAME_PERCENT))
        return (struct customer){w, d, 0, draw_non_uniform(call, 0, tpcc_name_count(&call->size) - 1)};
    return (struct customer){w, d, draw_non_uniform(call, 1, call->size.users), 0};
}

/* The middle one of the customers with the name, ordered by first name (clause 2.5.2.2). */
static bool find_customer(struct rig_program_call *call, struct customer *customer)
{
    if (customer->id != 0)
        return true;
    const int64_t *rows;
    const uint32_t count =
        rig_program_query(call, TPCC_CUSTOMERS_BY_NAME, RIG_KEY(customer->w, customer->d, customer->name), &rows);
    if (count == 0)
        return rig_program_roll_back(call, "no customer has the name");
    customer->id = rows[(size_t)((count - 1) / 2) * CUSTOMER_COLUMNS + C_ID];
    return true;
}

/* ---- New-Order (clause 2.4) ---- */

struct line {
    int64_t item, supply_w, quantity;
};

struct order {
    int64_t w, d, customer;
    int64_t line_count;
    bool all_local;
    struct line lines[TPCC_MOST_LINES];
};

static void add_line(struct order *order, struct line line)
{
    int64_t at = order->line_count++;
    for (; at > 0 && order->lines[at - 1].item > line.item; at--)
        order->lines[at] = order->lines[at - 1];
    order->lines[at] = line;
    order->all_local &= line.supply_w == order->w;
}

static void draw_order(struct rig_program_call *call, struct order *order)
{
    *order = (struct order){.w = home_warehouse(call), .d = any_district(call), .all_local = true};
    order->customer = draw_non_uniform(call, 1, call->size.users);
    const int64_t count = rig_program_draw(call, TPCC_LEAST_LINES, TPCC_MOST_LINES);
    const bool unused = chance(call, NEVER_PERCENT);
    for (int64_t i = 1; i <= count; i++) {
        const bool remote = chance(call, REMOTE_ITEM_PERCENT);
        struct line line = {.item = draw_non_uniform(call, 1, call->size.rows),
                            .supply_w = remote ? remote_warehouse(call, order->w) : order->w,
                            .quantity = rig_program_draw(call, 1, 10)};
        if (unused && i == count)
            line.item = call->size.rows + 1;
        add_line(order, line);
    }
}

static bool take_stock(struct rig_program_call *call, const struct order *order, const struct line *line)
{
    const int64_t *key = RIG_KEY(line->supply_w, line->item);
    const int64_t *stock = rig_program_read_for_update(call, TPCC_STOCK, key);
    if (stock == NULL)
        return false;
    const bool enough = stock[S_QUANTITY] >= line->quantity + LEAST_STOCK;
    return rig_program_set(call, TPCC_TAKE_STOCK, key,
                           RIG_KEY(stock[S_QUANTITY] - line->quantity + (enough ? 0 : REFILL),
                                   stock[S_YTD] + line->quantity, stock[S_ORDER_CNT] + 1,
                                   stock[S_REMOTE_CNT] + (line->supply_w != order->w)));
}

static bool order_line(struct rig_program_call *call, const struct order *order, int64_t o, int64_t number)
{
    const struct line *line = &order->lines[number - 1];
    const int64_t *item = rig_program_find(call, TPCC_ITEM, RIG_KEY(line->item));
    if (item == NULL)
        return rig_program_roll_back(call, "an item number is not valid"); /* 1 % of the orders */
    const int64_t amount = line->quantity * item[I_PRICE];
    return take_stock(call, order, line) && rig_program_insert(call, TPCC_ORDER_LINE,
                                                               RIG_KEY(order->w, order->d, o, number, line->item,
                                                                       line->supply_w, 0, line->quantity, amount));
}

static bool new_order(struct rig_program_call *call)
{
    struct order order;
    draw_order(call, &order);
    if (rig_program_read(call, TPCC_WAREHOUSE, RIG_KEY(order.w)) == NULL)
        return false;
    const int64_t *district = rig_program_add(call, TPCC_TAKE_ORDER_NUMBER, RIG_KEY(order.w, order.d), RIG_KEY(1));
    if (district == NULL)
        return false;
    const int64_t o = district[D_NEXT_O_ID] - 1;
    if (rig_program_read(call, TPCC_CUSTOMER, RIG_KEY(order.w, order.d, order.customer)) == NULL ||
        !rig_program_insert(call, TPCC_ORDERS,
                            RIG_KEY(order.w, order.d, o, order.customer, 0, order.line_count, order.all_local)) ||
        !rig_program_insert(call, TPCC_NEW_ORDER, RIG_KEY(order.w, order.d, o)))
        return false;
    for (int64_t number = 1; number <= order.line_count; number++) {
        if (!order_line(call, &order, o, number))
            return false;
    }
    return true;
}

/* ---- Payment (clause 2.5) ---- */

static bool payment(struct rig_program_call *call)
{
    const int64_t w = home_warehouse(call), d = any_district(call), amount = rig_program_draw(call, 100, 500000);
    const bool remote = chance(call, REMOTE_CUSTOMER_PERCENT);
    struct customer customer =
        remote ? any_customer(call, remote_warehouse(call, w), any_district(call)) : any_customer(call, w, d);
    return rig_program_add(call, TPCC_PAY_WAREHOUSE, RIG_KEY(w), RIG_KEY(amount)) != NULL &&
           rig_program_add(call, TPCC_PAY_DISTRICT, RIG_KEY(w, d), RIG_KEY(amount)) != NULL &&
           find_customer(call, &customer) &&
           rig_program_add(call, TPCC_PAY_CUSTOMER, RIG_KEY(customer.w, customer.d, customer.id),
                           RIG_KEY(-amount, amount, 1)) != NULL &&
           rig_program_insert(call, TPCC_HISTORY,
                              RIG_KEY(rig_program_fresh(call), customer.w, customer.d, customer.id, w, d, amount));
}

/* ---- Order-Status (clause 2.6) ---- */

static bool order_status(struct rig_program_call *call)
{
    struct customer customer = any_customer(call, home_warehouse(call), any_district(call));
    if (!find_customer(call, &customer) ||
        rig_program_read(call, TPCC_CUSTOMER, RIG_KEY(customer.w, customer.d, customer.id)) == NULL)
        return false;
    const int64_t *rows;
    if (rig_program_query(call, TPCC_LAST_ORDER, RIG_KEY(customer.w, customer.d, customer.id), &rows) == 0)
        return !call->failed; /* a customer without an order */
    (void)rig_program_query(call, TPCC_LINES_OF_ORDER, RIG_KEY(customer.w, customer.d, rows[O_ID]), &rows);
    return !call->failed;
}

/* ---- Delivery (clause 2.7) ---- */

/* Marks the lines of an order delivered, and adds up their amounts. */
static bool deliver_lines(struct rig_program_call *call, int64_t w, int64_t d, int64_t o, int64_t *amount)
{
    const int64_t *rows;
    int64_t numbers[TPCC_MOST_LINES];
    const uint32_t count = rig_program_query(call, TPCC_LINES_OF_ORDER, RIG_KEY(w, d, o), &rows);
    if (count > TPCC_MOST_LINES)
        return rig_program_roll_back(call, "an order has more lines than any order was given");
    for (uint32_t i = 0; i < count; i++) {
        numbers[i] = rows[(size_t)i * ORDER_LINE_COLUMNS + OL_NUMBER];
        *amount += rows[(size_t)i * ORDER_LINE_COLUMNS + OL_AMOUNT];
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!rig_program_set(call, TPCC_DELIVER_LINE, RIG_KEY(w, d, o, numbers[i]), RIG_KEY(1)))
            return false;
    }
    return !call->failed;
}

/* Delivers the oldest new order of a district, if there is one and no other delivery took it. */
static bool deliver(struct rig_program_call *call, int64_t w, int64_t d, int64_t carrier)
{
    const int64_t *rows;
    if (rig_program_query(call, TPCC_OLDEST_NEW_ORDER, RIG_KEY(w, d), &rows) == 0)
        return !call->failed;
    const int64_t o = rows[NO_O_ID];
    bool found;
    if (!rig_program_delete(call, TPCC_NEW_ORDER, RIG_KEY(w, d, o), &found) || !found)
        return !call->failed && call->rollback == NULL;
    const int64_t *order = rig_program_read_for_update(call, TPCC_ORDERS, RIG_KEY(w, d, o));
    if (order == NULL)
        return false;
    const int64_t customer = order[O_C_ID];
    int64_t amount = 0;
    return rig_program_set(call, TPCC_CARRY_ORDER, RIG_KEY(w, d, o), RIG_KEY(carrier)) &&
           deliver_lines(call, w, d, o, &amount) &&
           rig_program_add(call, TPCC_CHARGE_CUSTOMER, RIG_KEY(w, d, customer), RIG_KEY(amount, 1)) != NULL;
}

static bool delivery(struct rig_program_call *call)
{
    const int64_t w = home_warehouse(call), carrier = rig_program_draw(call, 1, CARRIERS);
    for (int64_t d = 1; d <= TPCC_DISTRICTS; d++) {
        if (!deliver(call, w, d, carrier))
            return false;
    }
    return true;
}

/* ---- Stock-Level (clause 2.8) ---- */

/* The items of the district's last orders, each once. */
static uint32_t recent_items(struct rig_program_call *call, int64_t w, int64_t d, int64_t next,
                             int64_t items[ORDERS_OF_STOCK_LEVEL * TPCC_MOST_LINES])
{
    const int64_t *rows;
    const uint32_t count =
        rig_program_query(call, TPCC_LINES_OF_ORDERS, RIG_KEY(w, d, next - ORDERS_OF_STOCK_LEVEL, next), &rows);
    uint32_t item_count = 0;
    for (uint32_t i = 0; i < count && item_count < ORDERS_OF_STOCK_LEVEL * TPCC_MOST_LINES; i++) {
        const int64_t item = rows[(size_t)i * ORDER_LINE_COLUMNS + OL_I_ID];
        uint32_t at = 0;
        while (at < item_count && items[at] != item)
            at++;
        if (at == item_count)
            items[item_count++] = item;
    }
    return item_count;
}

static bool stock_level(struct rig_program_call *call)
{
    const int64_t w = home_warehouse(call), d = any_district(call);
    int64_t items[ORDERS_OF_STOCK_LEVEL * TPCC_MOST_LINES];
    const int64_t *district = rig_program_read(call, TPCC_DISTRICT, RIG_KEY(w, d));
    if (district == NULL)
        return false;
    const uint32_t count = recent_items(call, w, d, district[D_NEXT_O_ID], items);
    for (uint32_t i = 0; i < count; i++) {
        if (rig_program_read(call, TPCC_STOCK, RIG_KEY(w, items[i])) == NULL)
            return false;
    }
    return !call->failed;
}

static const struct rig_program_kind kinds[] = {
    {"new-order", 45, false, new_order}, {"payment", 43, false, payment},       {"order-status", 4, true, order_status},
    {"delivery", 4, false, delivery},    {"stock-level", 4, true, stock_level},
};

const struct rig_program rig_program_tpcc = {
    .name = "tpcc",
    RIG_ARRAY(tables, table_count, tpcc_tables),
    RIG_ARRAY(queries, query_count, tpcc_queries),
    RIG_ARRAY(updates, update_count, tpcc_updates),
    RIG_ARRAY(kinds, kind_count, kinds),
    RIG_ARRAY(conditions, condition_count, tpcc_conditions),
    .load = tpcc_load,
};
