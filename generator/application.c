#include "generator/application.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

enum {
    INSERTED_VALUE = 1,
    UPDATED_VALUE = 2,
    ROUND_A_SESSION = 4, /* transactions: of the units of the round before, about 3 % are then of open transactions */
};

#define UNIT_SALT UINT64_C(0x756e69747326a7c1) /* keeps the streams of units apart from those of clients */

/* ---- layout ---- */

static double table_rows(const struct rig_app_table *table, const struct rig_generator_options *options)
{
    double count = table->factor;
    count *= table->by_warehouses ? (double)options->warehouses : 1;
    count *= table->by_users ? (double)options->users : 1;
    return count * (table->by_rows ? (double)options->rows : 1);
}

double rig_app_standing_rows(const struct rig_application *application, const struct rig_generator_options *options)
{
    double count = 0;
    for (uint32_t i = 0; i < application->table_count; i++)
        count += table_rows(&application->tables[i], options);
    return count;
}

static void lay_out_tables(struct rig_app_layout *layout, const struct rig_generator_options *options)
{
    const struct rig_application *application = layout->application;
    RIG_REQUIRE(application->table_count <= RIG_APP_TABLES);
    for (uint32_t i = 0; i < application->table_count; i++) {
        const struct rig_app_table *table = &application->tables[i];
        RIG_REQUIRE(table->read_only || layout->written == layout->standing);
        layout->first[i] = layout->standing;
        layout->standing += (int64_t)table_rows(table, options);
        if (!table->read_only)
            layout->written = layout->standing;
    }
}

static void lay_out_units(struct rig_app_layout *layout, int64_t sharing)
{
    const struct rig_application *application = layout->application;
    RIG_REQUIRE(application->unit_count <= RIG_APP_UNITS && application->card_count <= RIG_APP_DECK);
    for (uint32_t i = 0; i < application->card_count; i++) {
        const struct rig_app_card *card = &application->cards[i];
        layout->deck += card->count;
        if (card->inserts != RIG_APP_NO_UNIT)
            layout->units_a_round[card->inserts] += card->count;
    }
    RIG_REQUIRE(layout->deck <= RIG_APP_DECK);
    const uint32_t decks = 1 + ROUND_A_SESSION * (uint32_t)sharing / layout->deck;
    layout->round = layout->deck * decks;
    for (uint32_t unit = 0; unit < application->unit_count; unit++) {
        layout->units_a_round[unit] *= decks;
        layout->unit_base[unit] = layout->inserted;
        layout->inserted += layout->units_a_round[unit] * application->unit_rows[unit];
    }
}

void rig_app_layout_init(struct rig_app_layout *layout, const struct rig_generator_options *options, uint64_t seed,
                         uint32_t client_count)
{
    *layout = (struct rig_app_layout){.application = rig_application_of(options->shape),
                                      .seed = seed,
                                      .client_count = client_count,
                                      .warehouses = options->warehouses,
                                      .users = options->users,
                                      .rows = options->rows};
    RIG_REQUIRE(layout->application != NULL);
    lay_out_tables(layout, options);
    lay_out_units(layout, options->sharing);
}

int64_t rig_app_key_bound(const struct rig_app_layout *layout, uint64_t position)
{
    const uint64_t rounds = (position + layout->round - 1) / layout->round;
    return layout->standing + (int64_t)(rounds * layout->client_count * layout->inserted);
}

int64_t rig_app_unit_key(const struct rig_app_layout *layout, uint32_t unit, uint64_t number, uint32_t row)
{
    const uint64_t round_of_client = number / layout->units_a_round[unit];
    const uint64_t in_round = number % layout->units_a_round[unit];
    return layout->standing + (int64_t)(round_of_client * layout->inserted + layout->unit_base[unit] +
                                        in_round * layout->application->unit_rows[unit] + row);
}

struct rig_rng rig_app_unit_rng(const struct rig_app_layout *layout, uint32_t unit, uint64_t number)
{
    struct rig_rng rng;
    rig_rng_init(&rng, layout->seed ^ UNIT_SALT, number * RIG_APP_UNITS + unit);
    return rng;
}

/* ---- a client's stream ---- */

static bool make_popularity(struct rig_app *app, const struct rig_generator_options *options)
{
    if (!app->layout.application->has_popularity)
        return true;
    const uint32_t count = (uint32_t)options->users;
    double *weights = calloc(count, sizeof *weights);
    if (weights == NULL)
        return false;
    rig_weights(RIG_KEYS_ZIPF, options, count, weights);
    const bool made = rig_weighted_choice_init(&app->popularity, weights, count);
    free(weights);
    return made;
}

enum rig_rc rig_app_new(const struct rig_generator_options *options, const struct rig_app_layout *layout,
                        uint32_t client, struct rig_rng *rng, struct rig_op *ops, struct rig_app **app,
                        struct rig_err *err)
{
    RIG_REQUIRE(client < layout->client_count);
    struct rig_app *made = calloc(1, sizeof *made);
    if (made == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the application of client %u", client);
    made->type = &rig_data_types[options->type];
    made->rng = rng;
    made->ops = ops;
    made->client = client;
    made->layout = *layout;
    made->written = calloc((size_t)made->layout.written, sizeof *made->written);
    if (made->written == NULL || !make_popularity(made, options)) {
        rig_app_free(made);
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "the rows of the application; use fewer");
    }
    *app = made;
    return RIG_OK;
}

void rig_app_free(struct rig_app *app)
{
    if (app == NULL)
        return;
    rig_weighted_choice_done(&app->popularity);
    free(app->written);
    free(app);
}

static void shuffle(struct rig_app *app)
{
    const struct rig_application *application = app->layout.application;
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < application->card_count; kind++) {
        for (uint32_t i = 0; i < application->cards[kind].count; i++)
            app->cards[count++] = (uint8_t)kind;
    }
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t other = (uint32_t)rig_app_below(app, i);
        const uint8_t card = app->cards[i - 1];
        app->cards[i - 1] = app->cards[other];
        app->cards[other] = card;
    }
}

void rig_app_next(struct rig_app *app, uint64_t position)
{
    const uint32_t in_deck = (uint32_t)(position % app->layout.deck);
    app->round = position / app->layout.round;
    if (position % app->layout.round == 0)
        memset(app->played, 0, sizeof app->played);
    if (in_deck == 0)
        shuffle(app);
    app->card = app->cards[in_deck];
    app->op_count = 0;
    app->writes = false;
    app->layout.application->cards[app->card].ask(app);
    RIG_INVARIANT(app->op_count > 0);
    app->played[app->card]++;
}

/* ---- operations ---- */

static void add(struct rig_app *app, enum rig_op_kind kind, int64_t key, int64_t value)
{
    RIG_INVARIANT(app->op_count < app->layout.application->most_operations);
    app->ops[app->op_count++] = (struct rig_op){.kind = kind, .key = key, .value = value};
}

static void add_write(struct rig_app *app, int64_t key, int64_t value)
{
    add(app, app->type->write_op, key, value);
    app->writes = true;
}

void rig_app_read(struct rig_app *app, int64_t key)
{
    add(app, app->type->read_op, key, 0);
}

void rig_app_write(struct rig_app *app, int64_t key)
{
    RIG_INVARIANT(key < app->layout.written);
    add_write(app, key, 1 + (int64_t)app->client + app->written[key]++ * (int64_t)app->layout.client_count);
}

void rig_app_update(struct rig_app *app, int64_t key)
{
    rig_app_read(app, key);
    rig_app_write(app, key);
}

int64_t rig_app_popular(struct rig_app *app, struct rig_rng *rng)
{
    return rig_weighted_choice_draw(&app->popularity, rng);
}

/* ---- units ---- */

/* The number of a unit of one client's round. */
static uint64_t unit_number(const struct rig_app *app, uint32_t unit, uint64_t round, uint32_t client,
                            uint64_t in_round)
{
    return (round * app->layout.client_count + client) * app->layout.units_a_round[unit] + in_round;
}

uint64_t rig_app_new_unit(const struct rig_app *app)
{
    const struct rig_app_card *cards = app->layout.application->cards;
    const uint32_t unit = cards[app->card].inserts;
    const uint32_t decks = app->layout.round / app->layout.deck;
    uint64_t in_round = app->played[app->card];
    for (uint32_t kind = 0; kind < app->card; kind++)
        in_round += cards[kind].inserts == unit ? (uint64_t)cards[kind].count * decks : 0;
    return unit_number(app, unit, app->round, app->client, in_round);
}

uint64_t rig_app_recent_unit(struct rig_app *app, uint32_t unit)
{
    const uint64_t round = app->round == 0 ? 0 : app->round - 1;
    const uint32_t client = (uint32_t)rig_app_below(app, app->layout.client_count);
    return unit_number(app, unit, round, client, rig_app_below(app, app->layout.units_a_round[unit]));
}

/* Each round rotates the clients, so that a client is not always given the units of the same one. */
bool rig_app_given_unit(const struct rig_app *app, uint32_t unit, uint64_t *number)
{
    if (app->round == 0)
        return false;
    RIG_INVARIANT(app->played[app->card] < app->layout.units_a_round[unit]);
    const uint32_t client = (uint32_t)((app->client + app->round) % app->layout.client_count);
    *number = unit_number(app, unit, app->round - 1, client, app->played[app->card]);
    return true;
}

void rig_app_insert(struct rig_app *app, uint64_t number, uint32_t row)
{
    const uint32_t unit = app->layout.application->cards[app->card].inserts;
    add_write(app, rig_app_unit_key(&app->layout, unit, number, row), INSERTED_VALUE);
}

void rig_app_update_inserted(struct rig_app *app, uint32_t unit, uint64_t number, uint32_t row)
{
    const int64_t key = rig_app_unit_key(&app->layout, unit, number, row);
    rig_app_read(app, key);
    add_write(app, key, UPDATED_VALUE);
}
