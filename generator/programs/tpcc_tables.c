#include "generator/programs/tpcc_tables.h"

#include "generator/programs/program_call.h"

/* Bits of the columns in a row's key. */
enum { WAREHOUSE_BITS = 14, DISTRICT_BITS = 4, CUSTOMER_BITS = 20, ORDER_BITS = 24, LINE_BITS = 4, ITEM_BITS = 20 };
enum { HISTORY_BITS = 56 };

#define OWN                RIG_PROGRAM_OWN_COLUMNS
#define COLUMNS(count)     .column_count = (count) + RIG_PROGRAM_OWN_COUNT
#define WAREHOUSE_DISTRICT WAREHOUSE_BITS, DISTRICT_BITS

const struct rig_program_table tpcc_tables[TPCC_TABLES] = {
    [TPCC_WAREHOUSE] = {.rows = {.name = "warehouse",
                                 .columns = {"w_id", "w_tax", "w_ytd", OWN},
                                 COLUMNS(3),
                                 .key_count = 1,
                                 .filler_bytes = 60},
                        .key_bits = {WAREHOUSE_BITS},
                        .standing = true},
    [TPCC_DISTRICT] = {.rows = {.name = "district",
                                .columns = {"d_w_id", "d_id", "d_tax", "d_ytd", "d_next_o_id", OWN},
                                COLUMNS(5),
                                .key_count = 2,
                                .filler_bytes = 60},
                       .key_bits = {WAREHOUSE_DISTRICT},
                       .standing = true},
    [TPCC_CUSTOMER] = {.rows = {.name = "customer",
                                .columns = {"c_w_id", "c_d_id", "c_id", "c_last", "c_first", "c_discount", "c_balance",
                                            "c_ytd_payment", "c_payment_cnt", "c_delivery_cnt", OWN},
                                COLUMNS(10),
                                .key_count = 3,
                                .index = {C_W_ID, C_D_ID, C_LAST},
                                .index_count = 3,
                                .filler_bytes = 400},
                       .key_bits = {WAREHOUSE_DISTRICT, CUSTOMER_BITS},
                       .standing = true},
    [TPCC_HISTORY] = {.rows = {.name = "history",
                               .columns = {"h_id", "h_c_w_id", "h_c_d_id", "h_c_id", "h_w_id", "h_d_id", "h_amount",
                                           OWN},
                               COLUMNS(7),
                               .key_count = 1},
                      .key_bits = {HISTORY_BITS}},
    [TPCC_NEW_ORDER] =
        {.rows = {.name = "new_order", .columns = {"no_w_id", "no_d_id", "no_o_id", OWN}, COLUMNS(3), .key_count = 3},
         .key_bits = {WAREHOUSE_DISTRICT, ORDER_BITS},
         .deletes = true},
    [TPCC_ORDERS] = {.rows = {.name = "orders",
                              .columns = {"o_w_id", "o_d_id", "o_id", "o_c_id", "o_carrier_id", "o_ol_cnt",
                                          "o_all_local", OWN},
                              COLUMNS(7),
                              .key_count = 3,
                              .index = {O_W_ID, O_D_ID, O_C_ID, O_ID},
                              .index_count = 4},
                     .key_bits = {WAREHOUSE_DISTRICT, ORDER_BITS}},
    [TPCC_ORDER_LINE] = {.rows = {.name = "order_line",
                                  .columns = {"ol_w_id", "ol_d_id", "ol_o_id", "ol_number", "ol_i_id", "ol_supply_w_id",
                                              "ol_delivery_d", "ol_quantity", "ol_amount", OWN},
                                  COLUMNS(9),
                                  .key_count = 4,
                                  .filler_bytes = 24},
                         .key_bits = {WAREHOUSE_DISTRICT, ORDER_BITS, LINE_BITS}},
    [TPCC_ITEM] = {.rows = {.name = "item",
                            .columns = {"i_id", "i_im_id", "i_price", OWN},
                            COLUMNS(3),
                            .key_count = 1,
                            .filler_bytes = 60},
                   .key_bits = {ITEM_BITS}},
    [TPCC_STOCK] = {.rows = {.name = "stock",
                             .columns = {"s_w_id", "s_i_id", "s_quantity", "s_ytd", "s_order_cnt", "s_remote_cnt", OWN},
                             COLUMNS(6),
                             .key_count = 2,
                             .filler_bytes = 250},
                    .key_bits = {WAREHOUSE_BITS, ITEM_BITS},
                    .standing = true},
};

const struct rig_row_statement tpcc_queries[TPCC_QUERIES] = {
    [TPCC_CUSTOMERS_BY_NAME] = {.act = RIG_ROW_SELECT,
                                .table = TPCC_CUSTOMER,
                                .conditions = {{C_W_ID, RIG_ROW_EQUAL},
                                               {C_D_ID, RIG_ROW_EQUAL},
                                               {C_LAST, RIG_ROW_EQUAL}},
                                .condition_count = 3,
                                .ordered = true,
                                .order = C_FIRST},
    [TPCC_LAST_ORDER] = {.act = RIG_ROW_SELECT,
                         .table = TPCC_ORDERS,
                         .conditions = {{O_W_ID, RIG_ROW_EQUAL}, {O_D_ID, RIG_ROW_EQUAL}, {O_C_ID, RIG_ROW_EQUAL}},
                         .condition_count = 3,
                         .ordered = true,
                         .order = O_ID,
                         .descending = true,
                         .limit = 1},
    [TPCC_OLDEST_NEW_ORDER] = {.act = RIG_ROW_SELECT,
                               .table = TPCC_NEW_ORDER,
                               .conditions = {{NO_W_ID, RIG_ROW_EQUAL}, {NO_D_ID, RIG_ROW_EQUAL}},
                               .condition_count = 2,
                               .ordered = true,
                               .order = NO_O_ID,
                               .limit = 1},
    [TPCC_LINES_OF_ORDER] = {.act = RIG_ROW_SELECT,
                             .table = TPCC_ORDER_LINE,
                             .conditions = {{OL_W_ID, RIG_ROW_EQUAL},
                                            {OL_D_ID, RIG_ROW_EQUAL},
                                            {OL_O_ID, RIG_ROW_EQUAL}},
                             .condition_count = 3},
    [TPCC_LINES_OF_ORDERS] = {.act = RIG_ROW_SELECT,
                              .table = TPCC_ORDER_LINE,
                              .conditions = {{OL_W_ID, RIG_ROW_EQUAL},
                                             {OL_D_ID, RIG_ROW_EQUAL},
                                             {OL_O_ID, RIG_ROW_AT_LEAST},
                                             {OL_O_ID, RIG_ROW_BELOW}},
                              .condition_count = 4},
};

const struct rig_program_update tpcc_updates[TPCC_UPDATES] = {
    [TPCC_PAY_WAREHOUSE] = {TPCC_WAREHOUSE, {W_YTD}, 1},
    [TPCC_PAY_DISTRICT] = {TPCC_DISTRICT, {D_YTD}, 1},
    [TPCC_TAKE_ORDER_NUMBER] = {TPCC_DISTRICT, {D_NEXT_O_ID}, 1},
    [TPCC_PAY_CUSTOMER] = {TPCC_CUSTOMER, {C_BALANCE, C_YTD_PAYMENT, C_PAYMENT_CNT}, 3},
    [TPCC_CHARGE_CUSTOMER] = {TPCC_CUSTOMER, {C_BALANCE, C_DELIVERY_CNT}, 2},
    [TPCC_CARRY_ORDER] = {TPCC_ORDERS, {O_CARRIER_ID}, 1},
    [TPCC_DELIVER_LINE] = {TPCC_ORDER_LINE, {OL_DELIVERY_D}, 1},
    [TPCC_TAKE_STOCK] = {TPCC_STOCK, {S_QUANTITY, S_YTD, S_ORDER_CNT, S_REMOTE_CNT}, 4},
};

/* ---- conditions ---- */

const struct rig_program_condition tpcc_conditions[TPCC_CONDITIONS] = {
    {.name = "tpcc-1",
     .text = "the sum of a warehouse is that of its districts: W_YTD = sum(D_YTD)",
     .source = "TPC-C 3.3.2.1",
     .sql = "SELECT w_id, w_ytd, total FROM (SELECT w_id, w_ytd,"
            " (SELECT sum(d_ytd) FROM {district} WHERE d_w_id = w_id) AS total FROM {warehouse}) t"
            " WHERE total IS NULL OR w_ytd <> total ORDER BY w_id",
     .columns = {"w_id", "w_ytd", "sum(d_ytd)"}},
    {.name = "tpcc-2",
     .text = "the next order number of a district follows its last order and its last new order: D_NEXT_O_ID - 1 = "
             "max(O_ID) = max(NO_O_ID)",
     .source = "TPC-C 3.3.2.2",
     .sql = "SELECT d_w_id, d_id, d_next_o_id, last_order, last_new FROM (SELECT d_w_id, d_id, d_next_o_id,"
            " (SELECT max(o_id) FROM {orders} WHERE o_w_id = d_w_id AND o_d_id = d_id) AS last_order,"
            " (SELECT max(no_o_id) FROM {new_order} WHERE no_w_id = d_w_id AND no_d_id = d_id) AS last_new"
            " FROM {district}) t WHERE last_order IS NULL OR d_next_o_id - 1 <> last_order OR last_new <> last_order"
            " ORDER BY d_w_id, d_id",
     .columns = {"d_w_id", "d_id", "d_next_o_id", "max(o_id)", "max(no_o_id)"}},
    {.name = "tpcc-3",
     .text = "the new orders of a district follow one another: max(NO_O_ID) - min(NO_O_ID) + 1 = count",
     .source = "TPC-C 3.3.2.3",
     .sql = "SELECT no_w_id, no_d_id, min(no_o_id), max(no_o_id), count(*) FROM {new_order} GROUP BY no_w_id, no_d_id"
            " HAVING max(no_o_id) - min(no_o_id) + 1 <> count(*) ORDER BY no_w_id, no_d_id",
     .columns = {"no_w_id", "no_d_id", "min(no_o_id)", "max(no_o_id)", "count"}},
    {.name = "tpcc-4",
     .text = "a district has as many lines as its orders say: sum(O_OL_CNT) = number of order lines",
     .source = "TPC-C 3.3.2.4",
     .sql = "SELECT d_w_id, d_id, told, found FROM (SELECT d_w_id, d_id,"
            " (SELECT sum(o_ol_cnt) FROM {orders} WHERE o_w_id = d_w_id AND o_d_id = d_id) AS told,"
            " (SELECT count(*) FROM {order_line} WHERE ol_w_id = d_w_id AND ol_d_id = d_id) AS found"
            " FROM {district}) t WHERE told IS NULL OR told <> found ORDER BY d_w_id, d_id",
     .columns = {"d_w_id", "d_id", "sum(o_ol_cnt)", "order lines"}},
    {.name = "tpcc-5",
     .text = "an order has no carrier if, and only if, it is a new order",
     .source = "TPC-C 3.3.2.5",
     .sql = "SELECT o_w_id, o_d_id, o_id, o_carrier_id, is_new FROM (SELECT o_w_id, o_d_id, o_id, o_carrier_id,"
            " (SELECT count(*) FROM {new_order} WHERE no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id)"
            " AS is_new FROM {orders}) t WHERE (o_carrier_id = 0) <> (is_new = 1) ORDER BY o_w_id, o_d_id, o_id",
     .columns = {"o_w_id", "o_d_id", "o_id", "o_carrier_id", "new orders"}},
    {.name = "tpcc-6",
     .text = "an order has as many lines as it says: O_OL_CNT = number of its order lines",
     .source = "TPC-C 3.3.2.6",
     .sql = "SELECT o_w_id, o_d_id, o_id, o_ol_cnt, found FROM (SELECT o_w_id, o_d_id, o_id, o_ol_cnt,"
            " (SELECT count(*) FROM {order_line} WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id)"
            " AS found FROM {orders}) t WHERE o_ol_cnt <> found ORDER BY o_w_id, o_d_id, o_id",
     .columns = {"o_w_id", "o_d_id", "o_id", "o_ol_cnt", "order lines"}},
    {.name = "tpcc-7",
     .text = "a line is delivered if, and only if, its order has a carrier",
     .source = "TPC-C 3.3.2.7",
     .sql = "SELECT ol_w_id, ol_d_id, ol_o_id, ol_number, o_carrier_id FROM {order_line} JOIN {orders}"
            " ON o_w_id = ol_w_id AND o_d_id = ol_d_id AND o_id = ol_o_id"
            " WHERE (ol_delivery_d = 0) <> (o_carrier_id = 0) ORDER BY ol_w_id, ol_d_id, ol_o_id, ol_number",
     .columns = {"ol_w_id", "ol_d_id", "ol_o_id", "ol_number", "o_carrier_id"}},
    {.name = "tpcc-8",
     .text = "the sum of a warehouse is that of its payments: W_YTD = sum(H_AMOUNT)",
     .source = "TPC-C 3.3.2.8",
     .sql = "SELECT w_id, w_ytd, total FROM (SELECT w_id, w_ytd,"
            " (SELECT sum(h_amount) FROM {history} WHERE h_w_id = w_id) AS total FROM {warehouse}) t"
            " WHERE total IS NULL OR w_ytd <> total ORDER BY w_id",
     .columns = {"w_id", "w_ytd", "sum(h_amount)"}},
    {.name = "tpcc-9",
     .text = "the sum of a district is that of its payments: D_YTD = sum(H_AMOUNT)",
     .source = "TPC-C 3.3.2.9",
     .sql = "SELECT d_w_id, d_id, d_ytd, total FROM (SELECT d_w_id, d_id, d_ytd,"
            " (SELECT sum(h_amount) FROM {history} WHERE h_w_id = d_w_id AND h_d_id = d_id) AS total"
            " FROM {district}) t WHERE total IS NULL OR d_ytd <> total ORDER BY d_w_id, d_id",
     .columns = {"d_w_id", "d_id", "d_ytd", "sum(h_amount)"}},
    {.name = "tpcc-10",
     .text = "a customer owes what was delivered and not paid: C_BALANCE = sum of the delivered lines - sum(H_AMOUNT)",
     .source = "TPC-C 3.3.2.10",
     .sql = "SELECT c_w_id, c_d_id, c_id, c_balance, COALESCE(delivered, 0), COALESCE(paid, 0) FROM {customer}"
            " LEFT JOIN (SELECT o_w_id, o_d_id, o_c_id, sum(ol_amount) AS delivered FROM {orders} JOIN {order_line}"
            " ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE ol_delivery_d <> 0"
            " GROUP BY o_w_id, o_d_id, o_c_id) d ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id"
            " LEFT JOIN (SELECT h_c_w_id, h_c_d_id, h_c_id, sum(h_amount) AS paid FROM {history}"
            " GROUP BY h_c_w_id, h_c_d_id, h_c_id) p ON h_c_w_id = c_w_id AND h_c_d_id = c_d_id AND h_c_id = c_id"
            " WHERE c_balance <> COALESCE(delivered, 0) - COALESCE(paid, 0) ORDER BY c_w_id, c_d_id, c_id",
     .columns = {"c_w_id", "c_d_id", "c_id", "c_balance", "sum(ol_amount)", "sum(h_amount)"}},
    /* The clause gives the number of the first rows, 2100 of 3000; each later delivery adds one, and counts it for a
     * customer. */
    {.name = "tpcc-11",
     .text =
         "the delivered orders of a district are the first ones and those counted for its customers: count(ORDER) - "
         "count(NEW-ORDER) = 7/10 of the customers + sum(C_DELIVERY_CNT)",
     .source = "TPC-C 3.3.2.11",
     .sql = "SELECT d_w_id, d_id, orders_found, new_found, counted FROM (SELECT d_w_id, d_id,"
            " (SELECT count(*) FROM {orders} WHERE o_w_id = d_w_id AND o_d_id = d_id) AS orders_found,"
            " (SELECT count(*) FROM {new_order} WHERE no_w_id = d_w_id AND no_d_id = d_id) AS new_found,"
            " (SELECT count(*) FROM {customer} WHERE c_w_id = d_w_id AND c_d_id = d_id) AS customers,"
            " (SELECT sum(c_delivery_cnt) FROM {customer} WHERE c_w_id = d_w_id AND c_d_id = d_id) AS counted"
            " FROM {district}) t"
            " WHERE (orders_found - new_found - counted) * 10 <> customers * 7 - (customers * 7) % 10"
            " ORDER BY d_w_id, d_id",
     .columns = {"d_w_id", "d_id", "orders", "new orders", "sum(c_delivery_cnt)"}},
    {.name = "tpcc-12",
     .text = "a customer has paid, or owes, what was delivered: C_BALANCE + C_YTD_PAYMENT = sum of the delivered lines",
     .source = "TPC-C 3.3.2.12",
     .sql = "SELECT c_w_id, c_d_id, c_id, c_balance + c_ytd_payment, delivered FROM (SELECT c_w_id, c_d_id, c_id,"
            " c_balance, c_ytd_payment, (SELECT COALESCE(sum(ol_amount), 0) FROM {orders} JOIN {order_line}"
            " ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id WHERE o_w_id = c_w_id AND o_d_id = c_d_id"
            " AND o_c_id = c_id AND ol_delivery_d <> 0) AS delivered FROM {customer}) t"
            " WHERE c_balance + c_ytd_payment <> delivered ORDER BY c_w_id, c_d_id, c_id",
     .columns = {"c_w_id", "c_d_id", "c_id", "c_balance + c_ytd_payment", "sum(ol_amount)"}},
};

/* ---- the first rows ---- */

enum { FIRST_PAYMENT = 1000, FIRST_CARRIER = 1, DELIVERED_OF_TEN = 7, MOST_PRICE = 10000, LEAST_PRICE = 100 };

static int64_t draw(struct rig_program_loader *loader, int64_t least, int64_t most)
{
    return least + (int64_t)rig_rng_below(&loader->rng, (uint64_t)(most - least) + 1);
}

int64_t tpcc_name_count(const struct rig_program_size *size)
{
    const int64_t count = size->users / 3;
    return count < 1 ? 1 : count > TPCC_NAMES ? TPCC_NAMES : count;
}

static enum rig_rc load_items(struct rig_program_loader *loader, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (int64_t i = 1; i <= loader->size->rows && rc == RIG_OK; i++)
        rc = loader->add(loader, TPCC_ITEM, RIG_KEY(i, draw(loader, 1, 10000), draw(loader, LEAST_PRICE, MOST_PRICE)),
                         err);
    return rc;
}

static enum rig_rc load_stock(struct rig_program_loader *loader, int64_t w, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (int64_t i = 1; i <= loader->size->rows && rc == RIG_OK; i++)
        rc = loader->add(loader, TPCC_STOCK, RIG_KEY(w, i, draw(loader, 10, 100), 0, 0, 0), err);
    return rc;
}

static enum rig_rc load_customer(struct rig_program_loader *loader, int64_t w, int64_t d, int64_t c,
                                 struct rig_err *err)
{
    const int64_t names = tpcc_name_count(loader->size);
    const int64_t last = c <= names ? c - 1 : draw(loader, 0, names - 1);
    const int64_t *cells =
        RIG_KEY(w, d, c, last, draw(loader, 0, INT32_MAX), draw(loader, 0, 5000), -FIRST_PAYMENT, FIRST_PAYMENT, 1, 0);
    enum rig_rc rc = loader->add(loader, TPCC_CUSTOMER, cells, err);
    /* Numbers that no later payment has: those of clients stay below 2^48. */
    const int64_t payment = (INT64_C(1) << 48) + (w * TPCC_DISTRICTS + d) * ((int64_t)1 << CUSTOMER_BITS) + c;
    if (rc == RIG_OK)
        rc = loader->add(loader, TPCC_HISTORY, RIG_KEY(payment, w, d, c, w, d, FIRST_PAYMENT), err);
    return rc;
}

/* The first seven of ten orders are delivered, at no charge. */
static enum rig_rc load_order(struct rig_program_loader *loader, int64_t w, int64_t d, int64_t o, int64_t customer,
                              struct rig_err *err)
{
    const bool delivered = o * 10 <= loader->size->users * DELIVERED_OF_TEN;
    const int64_t lines = draw(loader, TPCC_LEAST_LINES, TPCC_MOST_LINES);
    enum rig_rc rc =
        loader->add(loader, TPCC_ORDERS, RIG_KEY(w, d, o, customer, delivered ? FIRST_CARRIER : 0, lines, 1), err);
    if (rc == RIG_OK && !delivered)
        rc = loader->add(loader, TPCC_NEW_ORDER, RIG_KEY(w, d, o), err);
    for (int64_t line = 1; line <= lines && rc == RIG_OK; line++) {
        const int64_t amount = delivered ? 0 : draw(loader, 1, 999999);
        const int64_t item = draw(loader, 1, loader->size->rows);
        rc = loader->add(loader, TPCC_ORDER_LINE, RIG_KEY(w, d, o, line, item, w, delivered ? 1 : 0, 5, amount), err);
    }
    return rc;
}

/* Orders belong to the customers in an order that a step of the district makes. */
static int64_t customer_of(const struct rig_program_loader *loader, int64_t d, int64_t o)
{
    return 1 + (o + d) % loader->size->users;
}

static enum rig_rc load_district(struct rig_program_loader *loader, int64_t w, int64_t d, struct rig_err *err)
{
    const int64_t customers = loader->size->users;
    const int64_t *cells = RIG_KEY(w, d, draw(loader, 0, 2000), customers * FIRST_PAYMENT, customers + 1);
    enum rig_rc rc = loader->add(loader, TPCC_DISTRICT, cells, err);
    for (int64_t i = 1; i <= customers && rc == RIG_OK; i++) {
        rc = load_customer(loader, w, d, i, err);
        if (rc == RIG_OK)
            rc = load_order(loader, w, d, i, customer_of(loader, d, i), err);
    }
    return rc;
}

enum rig_rc tpcc_load(struct rig_program_loader *loader, struct rig_err *err)
{
    enum rig_rc rc = load_items(loader, err);
    for (int64_t w = 1; w <= loader->size->warehouses && rc == RIG_OK; w++) {
        const int64_t ytd = TPCC_DISTRICTS * loader->size->users * FIRST_PAYMENT;
        rc = loader->add(loader, TPCC_WAREHOUSE, RIG_KEY(w, draw(loader, 0, 2000), ytd), err);
        if (rc == RIG_OK)
            rc = load_stock(loader, w, err);
        for (int64_t d = 1; d <= TPCC_DISTRICTS && rc == RIG_OK; d++)
            rc = load_district(loader, w, d, err);
    }
    return rc;
}
