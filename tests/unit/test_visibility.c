/*
 * Snapshots of a certificate against a known order of visibility, drawn at random: each snapshot shows a prefix of it.
 */
#include "tests/unit/cmocka_first.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "checker/evidence/visibility.h"

enum { COMMITS = 40, SNAPSHOTS = 30, FIRST_ID = 1000 };

struct drawn {
    struct rig_certificate certificate;
    struct rig_columns columns;
    struct rig_txn txns[SNAPSHOTS + 1];
    struct rig_history history;
    uint32_t visible[COMMITS]; /* commits in the order in which they become visible */
    uint32_t prefixes[SNAPSHOTS];
    uint32_t writers[COMMITS];
    struct rig_arena arena;
    struct rig_visibility visibility;
};

static void shuffle(struct rig_rng *rng, uint32_t *at, uint32_t count)
{
    for (uint32_t i = count; i-- > 1;) {
        const uint32_t j = (uint32_t)rig_rng_below(rng, i + 1), held = at[i];
        at[i] = at[j];
        at[j] = held;
    }
}

static int ascending(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The snapshot that shows the first `prefix` commits, with a transaction in progress that never commits (an odd
 * number). */
static void add_snapshot(struct drawn *d, uint32_t prefix)
{
    uint64_t active[COMMITS + 1], xmax = FIRST_ID;
    uint32_t count = 0;
    for (uint32_t i = 0; i < prefix; i++) {
        const uint64_t id = d->certificate.commits.at[d->visible[i]].id;
        xmax = id >= xmax ? id + 1 : xmax;
    }
    for (uint32_t i = prefix; i < COMMITS; i++) {
        const uint64_t id = d->certificate.commits.at[d->visible[i]].id;
        if (id < xmax)
            active[count++] = id;
    }
    if (xmax > FIRST_ID + 1)
        active[count++] = FIRST_ID + 1;
    qsort(active, count, sizeof *active, ascending);
    assert_true(rig_txn_views_add_snapshot(&d->certificate.views, count > 0 ? active[0] : xmax, xmax, active, count));
}

static void draw(struct drawn *d, struct rig_rng *rng)
{
    uint32_t ids[COMMITS];
    *d = (struct drawn){.history = {.txns = d->txns, .txn_count = SNAPSHOTS}};
    rig_certificate_init(&d->certificate);
    rig_columns_init(&d->columns, 0);
    rig_arena_init(&d->arena, 0);
    for (uint32_t i = 0; i < COMMITS; i++) {
        ids[i] = d->visible[i] = i;
        d->writers[i] = RIG_VIEW_NONE;
    }
    shuffle(rng, ids, COMMITS);
    shuffle(rng, d->visible, COMMITS);
    for (uint32_t i = 0; i < COMMITS; i++)
        assert_true(rig_commit_vec_add(&d->certificate.commits,
                                       (struct rig_commit){.place = i + 1, .id = FIRST_ID + 2 * ids[i]}));
    for (uint32_t i = 0; i < SNAPSHOTS; i++) {
        const struct rig_txn_view view = {.number = i + 1};
        d->txns[i] =
            (struct rig_txn){.outcome = RIG_OUTCOME_OK, .invoke_at = 2 * i, .complete_at = 2 * i + 1, .first_op = i};
        d->prefixes[i] = (uint32_t)rig_rng_below(rng, COMMITS + 1);
        assert_true(rig_txn_views_add(&d->certificate.views, &view));
        add_snapshot(d, d->prefixes[i]);
        assert_true(rig_txn_views_add_row(&d->certificate.views, 0, 0, true));
        assert_true(rig_column_values_add(&d->columns.of[RIG_COLUMN_VIEW], (int64_t)view.number));
    }
    d->txns[SNAPSHOTS].first_op = SNAPSHOTS; /* one operation each */
    d->history.certificate = &d->certificate;
    d->history.columns = &d->columns;
}

static void drop(struct drawn *d)
{
    rig_certificate_done(&d->certificate);
    rig_columns_done(&d->columns);
    rig_arena_done(&d->arena);
}

static void build(struct drawn *d)
{
    assert_true(rig_visibility_build(&d->history, d->writers, &d->arena, &d->visibility));
}

static void snapshots_show_prefixes(void **state)
{
    struct rig_rng rng;
    (void)state;
    rig_rng_init(&rng, 7, 0);
    for (int round = 0; round < 200; round++) {
        struct drawn d;
        draw(&d, &rng);
        build(&d);
        const struct rig_visibility *v = &d.visibility;
        assert_int_equal(v->chain_count, SNAPSHOTS);
        assert_int_equal(v->forks, 0);
        for (uint32_t s = 0; s < SNAPSHOTS; s++) {
            assert_int_equal(rig_visibility_snapshot(v, s, 0), s);
            assert_int_equal(rig_visibility_prefix(v, s), d.prefixes[s]);
            for (uint32_t i = 0; i < COMMITS; i++) {
                assert_int_equal(rig_visibility_sees(v, s, d.visible[i]), i < d.prefixes[s]);
                assert_int_equal(rig_visibility_sees(v, s, v->order[i]), i < d.prefixes[s]);
                assert_int_equal(v->places[v->order[i]], i);
            }
        }
        drop(&d);
    }
}

/* Its own number is in no snapshot of a transaction, but to others it is in progress. */
static void own_commits_are_not_in_own_snapshots(void **state)
{
    struct rig_rng rng;
    (void)state;
    rig_rng_init(&rng, 8, 0);
    for (int round = 0; round < 200; round++) {
        struct drawn d;
        draw(&d, &rng);
        struct rig_txn_views *views = &d.certificate.views;
        const uint32_t s = (uint32_t)rig_rng_below(&rng, SNAPSHOTS), prefix = d.prefixes[s];
        struct rig_snapshot *snapshot = &views->snapshots.at[s];
        const uint32_t own = prefix < COMMITS ? d.visible[prefix] : UINT32_MAX;
        uint64_t *active = views->active.at + snapshot->first_active;
        for (uint32_t i = 0; own != UINT32_MAX && i < snapshot->active_count; i++) {
            if (active[i] != d.certificate.commits.at[own].id)
                continue;
            memmove(active + i, active + i + 1, (snapshot->active_count - i - 1) * sizeof *active);
            snapshot->active_count--;
            views->views.at[s].id = d.certificate.commits.at[own].id;
            break;
        }
        build(&d);
        assert_int_equal(d.visibility.forks, 0);
        assert_int_equal(rig_visibility_prefix(&d.visibility, s), prefix);
        drop(&d);
    }
}

static void forks_are_found(void **state)
{
    struct rig_rng rng;
    int forks = 0;
    (void)state;
    rig_rng_init(&rng, 9, 0);
    for (int round = 0; round < 200; round++) {
        struct drawn d;
        draw(&d, &rng);
        /* Another order of visibility for one more transaction. */
        struct rig_snapshot *snapshot = &d.certificate.views.snapshots.at[SNAPSHOTS - 1];
        snapshot->active_count = 0;
        snapshot->xmax = FIRST_ID + COMMITS;
        build(&d);
        const struct rig_visibility *v = &d.visibility;
        bool fork = false;
        for (uint32_t a = 0; a < SNAPSHOTS; a++)
            fork |= rig_visibility_difference(v, a, SNAPSHOTS - 1) != RIG_COMMIT_NONE &&
                    rig_visibility_difference(v, SNAPSHOTS - 1, a) != RIG_COMMIT_NONE;
        assert_int_equal(fork, v->forks > 0);
        if (v->forks > 0) {
            const uint32_t a = v->chain[v->fork_at], b = v->chain[v->fork_at + 1];
            const uint32_t x = rig_visibility_difference(v, a, b), y = rig_visibility_difference(v, b, a);
            assert_true(rig_visibility_sees(v, a, x) && !rig_visibility_sees(v, b, x));
            assert_true(rig_visibility_sees(v, b, y) && !rig_visibility_sees(v, a, y));
        }
        forks += fork;
        drop(&d);
    }
    assert_true(forks > 100);
}

/* A commit of a transaction that began after the snapshot's had completed: its number was used before a crash. */
static void numbers_that_are_used_again_are_not_trusted(void **state)
{
    struct rig_rng rng;
    struct drawn d;
    (void)state;
    rig_rng_init(&rng, 10, 0);
    draw(&d, &rng);
    d.prefixes[3] = 0;
    d.writers[d.visible[0]] = SNAPSHOTS - 1; /* of the last transaction, which every snapshot but empty ones shows */
    build(&d);
    for (uint32_t s = 0; s + 1 < SNAPSHOTS; s++)
        assert_int_equal(d.visibility.shown[s].usable,
                         d.visibility.shown[s].limit == 0 ||
                             d.visibility.shown[s].limit <= d.visibility.ranks[d.visible[0]]);
    assert_true(d.visibility.set_aside > 0);
    drop(&d);
    draw(&d, &rng);
    d.certificate.commits.at[5].id = d.certificate.commits.at[6].id;
    build(&d);
    assert_int_equal(d.visibility.chain_count, 0);
    drop(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_show_prefixes),
        cmocka_unit_test(own_commits_are_not_in_own_snapshots),
        cmocka_unit_test(forks_are_found),
        cmocka_unit_test(numbers_that_are_used_again_are_not_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
