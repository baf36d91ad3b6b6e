/*
 * The tables of TPC-C (TPC Benchmark C, revision 5.11, clause 1.3): their columns, statements, first rows (clause
 * 4.3.3.1) and consistency conditions (clause 3.3.2).
 *
 * Cells are numbers: amounts in cents, taxes and discounts in 1/10000, a last name by the number of its syllables
 * (clause 4.3.2.3), dates as 0 and 1. Texts that no transaction decides by are one filler column. The sizes are
 * options: customers of a district (3,000 in the standard; each has one order at first), and items (100,000).
 *
 * Private to generator/programs/.
 */
#ifndef RIG_GENERATOR_PROGRAMS_TPCC_TABLES_H
#define RIG_GENERATOR_PROGRAMS_TPCC_TABLES_H

#include "generator/programs/program.h"

enum tpcc_table {
    TPCC_WAREHOUSE,
    TPCC_DISTRICT,
    TPCC_CUSTOMER,
    TPCC_HISTORY,
    TPCC_NEW_ORDER,
    TPCC_ORDERS,
    TPCC_ORDER_LINE,
    TPCC_ITEM,
    TPCC_STOCK,
    TPCC_TABLES,
};

/* Columns, by table. */
enum { W_ID, W_TAX, W_YTD };
enum { D_W_ID, D_ID, D_TAX, D_YTD, D_NEXT_O_ID };
enum {
    C_W_ID,
    C_D_ID,
    C_ID,
    C_LAST,
    C_FIRST,
    C_DISCOUNT,
    C_BALANCE,
    C_YTD_PAYMENT,
    C_PAYMENT_CNT,
    C_DELIVERY_CNT,
    CUSTOMER_COLUMNS = C_DELIVERY_CNT + 1 + RIG_PROGRAM_OWN_COUNT,
};
enum { NO_W_ID, NO_D_ID, NO_O_ID };
enum { O_W_ID, O_D_ID, O_ID, O_C_ID, O_CARRIER_ID, O_OL_CNT, O_ALL_LOCAL };
enum {
    OL_W_ID,
    OL_D_ID,
    OL_O_ID,
    OL_NUMBER,
    OL_I_ID,
    OL_SUPPLY_W_ID,
    OL_DELIVERY_D,
    OL_QUANTITY,
    OL_AMOUNT,
    ORDER_LINE_COLUMNS = OL_AMOUNT + 1 + RIG_PROGRAM_OWN_COUNT,
};
enum { I_ID, I_IM_ID, I_PRICE };
enum { S_W_ID, S_I_ID, S_QUANTITY, S_YTD, S_ORDER_CNT, S_REMOTE_CNT };

enum tpcc_query {
    TPCC_CUSTOMERS_BY_NAME, /* by first name */
    TPCC_LAST_ORDER,        /* of a customer */
    TPCC_OLDEST_NEW_ORDER,  /* of a district */
    TPCC_LINES_OF_ORDER,
    TPCC_LINES_OF_ORDERS, /* from an order on, below another */
    TPCC_QUERIES,
};

enum tpcc_update {
    TPCC_PAY_WAREHOUSE,
    TPCC_PAY_DISTRICT,
    TPCC_TAKE_ORDER_NUMBER,
    TPCC_PAY_CUSTOMER,
    TPCC_CHARGE_CUSTOMER, /* for a delivery */
    TPCC_CARRY_ORDER,
    TPCC_DELIVER_LINE,
    TPCC_TAKE_STOCK,
    TPCC_UPDATES,
};

enum { TPCC_DISTRICTS = 10, TPCC_MOST_LINES = 15, TPCC_LEAST_LINES = 5, TPCC_NAMES = 1000, TPCC_CONDITIONS = 12 };

extern const struct rig_program_table tpcc_tables[TPCC_TABLES];
extern const struct rig_row_statement tpcc_queries[TPCC_QUERIES];
extern const struct rig_program_update tpcc_updates[TPCC_UPDATES];
extern const struct rig_program_condition tpcc_conditions[TPCC_CONDITIONS];

/* The last names that customers of a district have: about three customers have each. */
int64_t tpcc_name_count(const struct rig_program_size *size);
enum rig_rc tpcc_load(struct rig_program_loader *loader, struct rig_err *err);

#endif
