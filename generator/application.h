/*
 * Applications as loads: the transactions of a program with tables, where each row is a key (`workload.shape`).
 *
 * An application is a table of its tables, of its kinds of transactions, and of the units that these insert. Its rows
 * are
 *   standing  the rows that exist before the load, table by table from key 0 on;
 *   inserted  units of a few rows (an order and its lines), which transactions of the load add.
 * An update is a read of the row, then a write of a value that no other write of the row has; an insertion is a write
 * alone.
 *
 * A client deals its kinds of transactions from a shuffled deck of cards (as TPC-C, clause 5.2.4.2, has it), so each
 * round of one deck or a few inserts the same number of units: the units that another client has inserted before a
 * position are known without asking it, and streams stay pure functions of (options, seed, client, client_count).
 * Everything about a unit (the customer of an order, its lines) is a function of the seed and the unit's number.
 * Transactions use units of their own round and of the one before: with the round after that, a unit's rows have left
 * the load. Where several sessions issue one stream, a round has enough decks for most units of the round before to
 * exist. Reasons: docs/adr/0026.
 *
 * A value is 1 + client + j * client_count for the j-th write of a client to a standing row; an inserted row has the
 * value 1 from its insertion, and 2 from its only update.
 *
 * Space: 4 bytes a standing row that is written, a client. Time: O(operations) a transaction. Threads: one a stream.
 *
 * Private to generator/.
 */
#ifndef RIG_GENERATOR_APPLICATION_H
#define RIG_GENERATOR_APPLICATION_H

#include "base/vec.h"
#include "generator/generator.h"
#include "generator/keys.h"
#include "history/types/types.h"

enum { RIG_APP_TABLES = 8, RIG_APP_UNITS = 8, RIG_APP_DECK = 64 };

#define RIG_APP_NO_UNIT UINT8_MAX

struct rig_app;
struct rig_app_layout;

/* The standing rows of one table: factor, times each of the plan's sizes that is marked. */
struct rig_app_table {
    const char *name;
    uint32_t factor;
    bool by_warehouses, by_users, by_rows;
    bool read_only; /* after all tables that are not */
};

/* One kind of transaction. */
struct rig_app_card {
    const char *name;
    uint32_t count;                   /* of such cards in a deck */
    uint8_t inserts;                  /* the unit that each inserts, or RIG_APP_NO_UNIT */
    void (*ask)(struct rig_app *app); /* adds its operations, at least one */
};

struct rig_application {
    const struct rig_app_table *tables;
    const uint32_t *unit_rows; /* by unit */
    const struct rig_app_card *cards;
    uint32_t table_count, unit_count, card_count;
    uint32_t most_operations, most_keys; /* of a transaction */
    bool has_popularity;                 /* users are chosen by rig_app_popular() */
    /* Whether the unit has this row; NULL: it has all of them. */
    bool (*has_row)(const struct rig_app_layout *layout, uint32_t unit, uint64_t number, uint32_t row);
};

/* NULL for a shape that is no application. */
const struct rig_application *rig_application_of(int64_t shape);

/* The rows of an application's load, as far as they are the same for all clients. */
struct rig_app_layout {
    const struct rig_application *application;
    uint64_t seed;
    uint32_t client_count;
    int64_t warehouses, users, rows;
    int64_t first[RIG_APP_TABLES];
    int64_t written;  /* standing rows that are written: keys 0 .. written - 1 */
    int64_t standing; /* all standing rows */
    uint32_t deck;    /* transactions */
    uint32_t round;   /* transactions: those of some decks */
    uint32_t units_a_round[RIG_APP_UNITS];
    uint32_t unit_base[RIG_APP_UNITS]; /* of the rows that one client's round inserts */
    uint32_t inserted;                 /* rows of one client's round */
};

/* The number of standing rows; as a floating-point number, because it may exceed every limit. */
double rig_app_standing_rows(const struct rig_application *application, const struct rig_generator_options *options);
void rig_app_layout_init(struct rig_app_layout *layout, const struct rig_generator_options *options, uint64_t seed,
                         uint32_t client_count);
/* Every row that the transactions before `position` use has a key below this. */
int64_t rig_app_key_bound(const struct rig_app_layout *layout, uint64_t position);
/* Random numbers of this unit alone. */
struct rig_rng rig_app_unit_rng(const struct rig_app_layout *layout, uint32_t unit, uint64_t number);

/* One client's stream. */
struct rig_app {
    struct rig_app_layout layout;
    const struct rig_data_type *type;
    struct rig_rng *rng; /* of the generator */
    uint32_t client;
    struct rig_weighted_choice popularity; /* of users */
    uint32_t *written;                     /* values that this client has written, by standing row */
    uint8_t cards[RIG_APP_DECK];           /* shuffled */
    uint64_t round;                        /* the number of this round, from 0 */
    uint32_t card;                         /* being played */
    uint32_t played[RIG_APP_DECK];         /* cards of this round, by kind, without the present one */
    struct rig_op *ops;                    /* of the generator */
    uint32_t op_count;
    bool writes;
};

/* RIG_E_LIMIT. Borrows rng and ops, which has the application's most_operations. `layout`: of the same options. */
enum rig_rc rig_app_new(const struct rig_generator_options *options, const struct rig_app_layout *layout,
                        uint32_t client, struct rig_rng *rng, struct rig_op *ops, struct rig_app **app,
                        struct rig_err *err);
/* Frees; NULL is ignored. */
void rig_app_free(struct rig_app *app);
/* The transaction at `position`, each once and in order: fills op_count, ops and writes. */
void rig_app_next(struct rig_app *app, uint64_t position);

/* ---- for the cards of applications ---- */

static inline uint64_t rig_app_below(struct rig_app *app, uint64_t bound)
{
    return rig_rng_below(app->rng, bound);
}

static inline int64_t rig_app_row(const struct rig_app *app, uint32_t table, int64_t row)
{
    return app->layout.first[table] + row;
}

/* A user; the first ones are chosen most (zipf). */
int64_t rig_app_popular(struct rig_app *app, struct rig_rng *rng);

void rig_app_read(struct rig_app *app, int64_t key);
/* Standing rows. */
void rig_app_write(struct rig_app *app, int64_t key);
void rig_app_update(struct rig_app *app, int64_t key);

/* The present card inserts one unit: its number. */
uint64_t rig_app_new_unit(const struct rig_app *app);
/* A random unit of the round before, of any client; in the first round, one of this round. It may not exist yet. */
uint64_t rig_app_recent_unit(struct rig_app *app, uint32_t unit);
/*
 * A unit of the round before that no other transaction is given by this function, for the present card, of which a deck
 * has as many as units. False in the first round.
 */
bool rig_app_given_unit(const struct rig_app *app, uint32_t unit, uint64_t *number);
int64_t rig_app_unit_key(const struct rig_app_layout *layout, uint32_t unit, uint64_t number, uint32_t row);
void rig_app_insert(struct rig_app *app, uint64_t number, uint32_t row);
/* At most once for each row. */
void rig_app_update_inserted(struct rig_app *app, uint32_t unit, uint64_t number, uint32_t row);

#endif
