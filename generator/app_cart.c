/*
 * Shopping carts (MonkeyDB, Biswas et al. 2021): users add items to their carts, remove them, change quantities, and
 * look at the whole cart; each cart and each of its lines is a key. Users are as active as `keys.zipf-exponent` says.
 */
#include "generator/applications.h"

enum { CART, LINE };
enum { LINES = 8 }; /* of a cart */

static const struct rig_app_table tables[] = {
    [CART] = {"cart", 1, .by_users = true},
    [LINE] = {"line", LINES, .by_users = true},
};

static int64_t any_line(struct rig_app *app, int64_t user)
{
    return rig_app_row(app, LINE, user * LINES + (int64_t)rig_app_below(app, LINES));
}

/* Adds or removes an item. */
static void change_items(struct rig_app *app)
{
    const int64_t user = rig_app_popular(app, app->rng);
    rig_app_update(app, any_line(app, user));
    rig_app_update(app, rig_app_row(app, CART, user));
}

static void change_quantity(struct rig_app *app)
{
    rig_app_update(app, any_line(app, rig_app_popular(app, app->rng)));
}

static void show(struct rig_app *app)
{
    const int64_t user = rig_app_popular(app, app->rng);
    rig_app_read(app, rig_app_row(app, CART, user));
    for (int i = 0; i < LINES; i++)
        rig_app_read(app, rig_app_row(app, LINE, user * LINES + i));
}

static const struct rig_app_card cards[] = {
    {"add-item", 8, RIG_APP_NO_UNIT, change_items},
    {"remove-item", 3, RIG_APP_NO_UNIT, change_items},
    {"change-quantity", 4, RIG_APP_NO_UNIT, change_quantity},
    {"show", 5, RIG_APP_NO_UNIT, show},
};

const struct rig_application rig_app_cart = {
    RIG_ARRAY(tables, table_count, tables),
    RIG_ARRAY(cards, card_count, cards),
    .most_operations = 1 + LINES,
    .most_keys = 1 + LINES,
    .has_popularity = true,
};
