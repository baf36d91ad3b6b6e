/*
 * C-Twitter, the small clone of Twitter of Cobra (Tan et al. 2020) and PolySI: users tweet, follow and unfollow others,
 * and look at timelines and followers; a row a key. Following writes both rows without reading them. Users are as
 * popular as `keys.zipf-exponent` says.
 */
#include "generator/applications.h"

enum { USER, FOLLOWING, FOLLOWERS };
enum { TWEET };
enum { TEXT_ROW, INDEX_ROW, TWEET_ROWS }; /* of the unit TWEET */
enum { USERS_SHOWN = 10, MOST_TWEETS_SHOWN = 10 };

static const struct rig_app_table tables[] = {
    [USER] = {"user", 1, .by_users = true}, /* with the user's last tweet */
    [FOLLOWING] = {"following", 1, .by_users = true},
    [FOLLOWERS] = {"followers", 1, .by_users = true},
};

static const uint32_t unit_rows[] = {[TWEET] = TWEET_ROWS};

static int64_t author_of(struct rig_app *app, uint64_t number)
{
    struct rig_rng rng = rig_app_unit_rng(&app->layout, TWEET, number);
    return rig_app_popular(app, &rng);
}

static void tweet(struct rig_app *app)
{
    const uint64_t number = rig_app_new_unit(app);
    rig_app_insert(app, number, TEXT_ROW);
    rig_app_insert(app, number, INDEX_ROW);
    rig_app_update(app, rig_app_row(app, USER, author_of(app, number)));
}

static void follow(struct rig_app *app)
{
    const int64_t user = (int64_t)rig_app_below(app, (uint64_t)app->layout.users);
    rig_app_write(app, rig_app_row(app, FOLLOWING, user));
    rig_app_write(app, rig_app_row(app, FOLLOWERS, rig_app_popular(app, app->rng)));
}

static void show_follow(struct rig_app *app)
{
    const int64_t user = rig_app_popular(app, app->rng);
    rig_app_read(app, rig_app_row(app, FOLLOWING, user));
    rig_app_read(app, rig_app_row(app, FOLLOWERS, user));
    for (int i = 0; i < USERS_SHOWN; i++)
        rig_app_read(app, rig_app_row(app, USER, rig_app_popular(app, app->rng)));
}

/* The last tweets of some followed users. */
static void timeline(struct rig_app *app)
{
    const int64_t user = (int64_t)rig_app_below(app, (uint64_t)app->layout.users);
    rig_app_read(app, rig_app_row(app, FOLLOWING, user));
    for (uint64_t left = rig_app_below(app, MOST_TWEETS_SHOWN + 1); left > 0; left--) {
        const uint64_t number = rig_app_recent_unit(app, TWEET);
        rig_app_read(app, rig_app_row(app, USER, author_of(app, number)));
        rig_app_read(app, rig_app_unit_key(&app->layout, TWEET, number, TEXT_ROW));
    }
}

static const struct rig_app_card cards[] = {
    {"tweet", 4, TWEET, tweet},
    {"follow", 2, RIG_APP_NO_UNIT, follow},
    {"show-follow", 2, RIG_APP_NO_UNIT, show_follow},
    {"timeline", 2, RIG_APP_NO_UNIT, timeline},
};

const struct rig_application rig_app_twitter = {
    RIG_ARRAY(tables, table_count, tables), RIG_ARRAY(unit_rows, unit_count, unit_rows),
    RIG_ARRAY(cards, card_count, cards),    .most_operations = 1 + 2 * MOST_TWEETS_SHOWN,
    .most_keys = 1 + 2 * MOST_TWEETS_SHOWN, .has_popularity = true,
};
