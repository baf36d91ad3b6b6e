/*
 * RUBiS, an auction site (Amza et al. 2002), as Cobra and PolySI drive it: users register, list items, bid, buy and
 * comment, and look at all of that; a row a key. About half of the transactions only read.
 *
 * `users` are the registered users, `rows` the items on offer; the load adds to both.
 */
#include "generator/applications.h"

enum { USER, ITEM };
enum { NEW_USER, NEW_ITEM, BID, PURCHASE, COMMENT };
enum { ITEMS_A_PAGE = 8, BIDS_SHOWN = 3 };

static const struct rig_app_table tables[] = {
    [USER] = {"user", 1, .by_users = true},
    [ITEM] = {"item", 1, .by_rows = true},
};

static const uint32_t unit_rows[] = {[NEW_USER] = 1, [NEW_ITEM] = 1, [BID] = 1, [PURCHASE] = 1, [COMMENT] = 1};

static int64_t any_user(struct rig_app *app)
{
    return rig_app_row(app, USER, (int64_t)rig_app_below(app, (uint64_t)app->layout.users));
}

static int64_t any_item(struct rig_app *app)
{
    return rig_app_row(app, ITEM, (int64_t)rig_app_below(app, (uint64_t)app->layout.rows));
}

static void read_recent(struct rig_app *app, uint32_t unit)
{
    rig_app_read(app, rig_app_unit_key(&app->layout, unit, rig_app_recent_unit(app, unit), 0));
}

/* One page of a search. */
static void browse(struct rig_app *app)
{
    for (int i = 0; i < ITEMS_A_PAGE; i++)
        rig_app_read(app, any_item(app));
}

static void view_item(struct rig_app *app)
{
    rig_app_read(app, any_item(app));
    rig_app_read(app, any_user(app));
    for (int i = 0; i < BIDS_SHOWN; i++)
        read_recent(app, BID);
}

static void view_user(struct rig_app *app)
{
    rig_app_read(app, any_user(app));
    read_recent(app, COMMENT);
    read_recent(app, PURCHASE);
    read_recent(app, NEW_ITEM);
}

/* The name must not be taken. */
static void register_user(struct rig_app *app)
{
    read_recent(app, NEW_USER);
    rig_app_insert(app, rig_app_new_unit(app), 0);
}

static void list_item(struct rig_app *app)
{
    rig_app_read(app, any_user(app));
    rig_app_insert(app, rig_app_new_unit(app), 0);
}

/* The item has the number of bids and the highest one. */
static void bid(struct rig_app *app)
{
    rig_app_read(app, any_user(app));
    rig_app_update(app, any_item(app));
    rig_app_insert(app, rig_app_new_unit(app), 0);
}

/* The seller's rating changes, and the item's quantity. */
static void buy_now(struct rig_app *app)
{
    rig_app_read(app, any_user(app));
    rig_app_update(app, any_item(app));
    rig_app_update(app, any_user(app));
    rig_app_insert(app, rig_app_new_unit(app), 0);
}

static void comment(struct rig_app *app)
{
    rig_app_read(app, any_item(app));
    rig_app_update(app, any_user(app));
    rig_app_insert(app, rig_app_new_unit(app), 0);
}

static const struct rig_app_card cards[] = {
    {"browse", 8, RIG_APP_NO_UNIT, browse},
    {"view-item", 2, RIG_APP_NO_UNIT, view_item},
    {"view-user", 2, RIG_APP_NO_UNIT, view_user},
    {"register-user", 1, NEW_USER, register_user},
    {"list-item", 3, NEW_ITEM, list_item},
    {"bid", 4, BID, bid},
    {"buy-now", 2, PURCHASE, buy_now},
    {"comment", 3, COMMENT, comment},
};

const struct rig_application rig_app_rubis = {
    RIG_ARRAY(tables, table_count, tables),
    RIG_ARRAY(unit_rows, unit_count, unit_rows),
    RIG_ARRAY(cards, card_count, cards),
    .most_operations = ITEMS_A_PAGE,
    .most_keys = ITEMS_A_PAGE,
};
