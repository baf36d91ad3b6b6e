/*
 * Shopping carts (MonkeyDB, Biswas et al. 2021): users add items to their carts, remove them, change quantities and
 * look at the whole cart. A cart counts its lines, which are inserted and deleted, and inserted again.
 *
 * Low numbers of users are the active ones: a user is drawn below a number that was drawn.
 */
#include "generator/programs/program.h"
#include "generator/programs/program_call.h"

enum { CART, LINE };
enum { CART_USER, LINES };
enum { LINE_USER, LINE_ITEM, QUANTITY };
enum { LINES_OF_CART };
enum { COUNT_LINES, ADD_QUANTITY, SET_QUANTITY };
enum { USER_BITS = 24, ITEM_BITS = 8, ITEMS = 8, MOST_QUANTITY = 9 };

static const struct rig_program_table tables[] = {
    [CART] = {.rows = {.name = "cart",
                       .columns = {"username", "lines", RIG_PROGRAM_OWN_COLUMNS},
                       .column_count = 4,
                       .key_count = 1},
              .key_bits = {USER_BITS},
              .standing = true},
    [LINE] = {.rows = {.name = "line",
                       .columns = {"username", "item", "quantity", RIG_PROGRAM_OWN_COLUMNS},
                       .column_count = 5,
                       .key_count = 2},
              .key_bits = {USER_BITS, ITEM_BITS},
              .deletes = true},
};

static const struct rig_row_statement queries[] = {
    [LINES_OF_CART] = {.act = RIG_ROW_SELECT,
                       .table = LINE,
                       .conditions = {{LINE_USER, RIG_ROW_EQUAL}},
                       .condition_count = 1,
                       .ordered = true,
                       .order = LINE_ITEM},
};

static const struct rig_program_update updates[] = {
    [COUNT_LINES] = {CART, {LINES}, 1},
    [ADD_QUANTITY] = {LINE, {QUANTITY}, 1},
    [SET_QUANTITY] = {LINE, {QUANTITY}, 1},
};

static enum rig_rc load(struct rig_program_loader *loader, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (int64_t i = 0; i < loader->size->users && rc == RIG_OK; i++)
        rc = loader->add(loader, CART, RIG_KEY(i, 0), err);
    return rc;
}

static int64_t any_user(struct rig_program_call *call)
{
    return rig_program_draw(call, 0, rig_program_draw(call, 0, call->size.users - 1));
}

static int64_t any_item(struct rig_program_call *call)
{
    return rig_program_draw(call, 0, ITEMS - 1);
}

static bool add_item(struct rig_program_call *call)
{
    const int64_t user = any_user(call), item = any_item(call);
    if (rig_program_find(call, LINE, RIG_KEY(user, item)) != NULL)
        return rig_program_add(call, ADD_QUANTITY, RIG_KEY(user, item), RIG_KEY(1)) != NULL;
    return !call->failed && rig_program_insert(call, LINE, RIG_KEY(user, item, 1)) &&
           rig_program_add(call, COUNT_LINES, RIG_KEY(user), RIG_KEY(1)) != NULL;
}

static bool remove_item(struct rig_program_call *call)
{
    const int64_t user = any_user(call), item = any_item(call);
    bool found;
    if (!rig_program_delete(call, LINE, RIG_KEY(user, item), &found))
        return false;
    if (!found)
        return rig_program_roll_back(call, "the item is not in the cart");
    return rig_program_add(call, COUNT_LINES, RIG_KEY(user), RIG_KEY(-1)) != NULL;
}

static bool change_quantity(struct rig_program_call *call)
{
    const int64_t user = any_user(call), item = any_item(call), quantity = rig_program_draw(call, 1, MOST_QUANTITY);
    if (rig_program_find(call, LINE, RIG_KEY(user, item)) == NULL)
        return rig_program_roll_back(call, "the item is not in the cart");
    return rig_program_set(call, SET_QUANTITY, RIG_KEY(user, item), RIG_KEY(quantity));
}

static bool show(struct rig_program_call *call)
{
    const int64_t user = any_user(call), *rows;
    if (rig_program_read(call, CART, RIG_KEY(user)) == NULL)
        return false;
    (void)rig_program_query(call, LINES_OF_CART, RIG_KEY(user), &rows);
    return !call->failed;
}

static const struct rig_program_kind kinds[] = {
    {"add-item", 8, false, add_item},
    {"remove-item", 3, false, remove_item},
    {"change-quantity", 4, false, change_quantity},
    {"show", 5, true, show},
};

static const struct rig_program_condition conditions[] = {
    {.name = "cart-lines",
     .text = "a cart counts its lines",
     .source = "each new line and each removal changes both",
     .sql = "SELECT username, lines, found FROM (SELECT c.username, c.lines,"
            " (SELECT count(*) FROM {line} l WHERE l.username = c.username) AS found FROM {cart} c) t"
            " WHERE lines <> found ORDER BY username",
     .columns = {"username", "lines", "found"}},
};

const struct rig_program rig_program_cart = {
    .name = "cart",
    RIG_ARRAY(tables, table_count, tables),
    RIG_ARRAY(queries, query_count, queries),
    RIG_ARRAY(updates, update_count, updates),
    RIG_ARRAY(kinds, kind_count, kinds),
    RIG_ARRAY(conditions, condition_count, conditions),
    .load = load,
};
