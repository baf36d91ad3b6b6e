#include "tests/unit/random_problem.h"

#include "base/bug.h"

enum { OPS = 4, KEYS = 8, FEW_KEYS = 3, FEW_TXNS = 8, SESSIONS = 3 };

struct drawn {
    uint32_t txns, keys, order[RANDOM_PROBLEM_TXNS]; /* order: hidden places */
    uint32_t ops[RANDOM_PROBLEM_TXNS], key[RANDOM_PROBLEM_TXNS][OPS];
    bool writes[RANDOM_PROBLEM_TXNS][OPS];
};

static uint32_t below(struct rig_rng *rng, uint32_t bound)
{
    return (uint32_t)rig_rng_below(rng, bound);
}

static bool one_of(struct rig_rng *rng, uint32_t of)
{
    return below(rng, of) == 0;
}

static void draw(struct rig_rng *rng, uint32_t most, struct drawn *drawn)
{
    const uint32_t ops = 2 + below(rng, OPS - 1), reads = 1 + below(rng, 3);
    drawn->txns = 2 + below(rng, most - 1);
    drawn->keys = 1 + below(rng, drawn->txns > FEW_TXNS ? KEYS : FEW_KEYS);
    for (uint32_t txn = 0; txn < drawn->txns; txn++) {
        const uint32_t other = below(rng, txn + 1);
        drawn->order[txn] = drawn->order[other];
        drawn->order[other] = txn;
        drawn->ops[txn] = 1 + below(rng, ops);
        for (uint32_t op = 0; op < drawn->ops[txn]; op++) {
            drawn->key[txn][op] = below(rng, drawn->keys);
            drawn->writes[txn][op] = below(rng, 4) >= reads;
        }
    }
    for (uint32_t i = 0; one_of(rng, 2) && i < drawn->txns; i++)
        drawn->order[i] = i;
}

static bool writes_key(const struct drawn *drawn, uint32_t txn, uint32_t key)
{
    for (uint32_t op = 0; op < drawn->ops[txn]; op++) {
        if (drawn->writes[txn][op] && drawn->key[txn][op] == key)
            return true;
    }
    return false;
}

/* Mostly the last version before the transaction in the hidden order, at times that before it, or any. */
static uint32_t draw_writer(struct rig_rng *rng, const struct drawn *drawn, uint32_t txn, uint32_t key)
{
    uint32_t last = RIG_PROBLEM_INITIAL, before = RIG_PROBLEM_INITIAL;
    for (uint32_t place = 0; place < drawn->txns; place++) {
        for (uint32_t other = 0; other < drawn->txns; other++) {
            if (drawn->order[other] == place && place < drawn->order[txn] && writes_key(drawn, other, key)) {
                before = last;
                last = other;
            }
        }
    }
    const bool few = drawn->txns <= FEW_TXNS;
    if (one_of(rng, few ? 6 : 6 * drawn->txns)) {
        const uint32_t any = below(rng, drawn->txns);
        return any != txn && writes_key(drawn, any, key) ? any : RIG_PROBLEM_INITIAL;
    }
    return one_of(rng, few ? 4 : 2 * drawn->txns) ? before : last;
}

static void add_ops(struct rig_rng *rng, const struct drawn *drawn, uint32_t txn, struct rig_problem *problem)
{
    bool written[KEYS] = {false};
    for (uint32_t op = 0; op < drawn->ops[txn]; op++) {
        const uint32_t key = drawn->key[txn][op];
        if (drawn->writes[txn][op]) {
            RIG_REQUIRE(rig_problem_add_write(problem, key, op));
            written[key] = true;
        } else if (!written[key] || one_of(rng, 8)) {
            const struct rig_problem_read read = {op, key, draw_writer(rng, drawn, txn, key)};
            RIG_REQUIRE(rig_problem_add_read(problem, &read));
        }
    }
}

static void add_pairs(struct rig_rng *rng, const struct drawn *drawn, struct rig_problem *problem)
{
    for (uint32_t count = below(rng, 4); count > 0; count--) {
        uint32_t a = below(rng, drawn->txns), b = below(rng, drawn->txns), key = below(rng, drawn->keys);
        if (a == b || !writes_key(drawn, a, key) || !writes_key(drawn, b, key))
            continue;
        const bool forward = (drawn->order[a] < drawn->order[b]) != one_of(rng, 10);
        const struct rig_problem_pair pair = {forward ? a : b, forward ? b : a,  key,
                                              RIG_ORDER_LIST,  RIG_PROBLEM_NONE, RIG_PROBLEM_NONE};
        RIG_REQUIRE(rig_problem_add_pair(problem, &pair));
    }
}

void random_problem(struct rig_rng *rng, uint32_t most, struct rig_problem *problem)
{
    struct drawn drawn;
    uint32_t last[SESSIONS] = {RIG_PROBLEM_NONE, RIG_PROBLEM_NONE, RIG_PROBLEM_NONE};
    const uint32_t sessions = 1 + below(rng, SESSIONS), span = 1 + below(rng, 12);
    *problem = (struct rig_problem){.has_realtime = true};
    draw(rng, most, &drawn);
    for (uint32_t txn = 0; txn < drawn.txns; txn++) {
        const uint32_t session = below(rng, sessions), before = last[session], ended = 100 + 3 * txn;
        uint32_t invoked = ended - 1 - below(rng, span * 3);
        if (before != RIG_PROBLEM_NONE && problem->txns.at[before].ended >= invoked)
            invoked = problem->txns.at[before].ended + 1;
        const bool unknown = one_of(rng, 8);
        const struct rig_problem_txn added = {.txn = txn,
                                              .session = session,
                                              .before = before,
                                              .invoked = invoked,
                                              .ended = unknown ? UINT32_MAX : ended};
        RIG_REQUIRE(rig_problem_add_txn(problem, &added));
        if (!unknown)
            last[session] = txn;
        add_ops(rng, &drawn, txn, problem);
    }
    if (one_of(rng, 3))
        add_pairs(rng, &drawn, problem);
    RIG_REQUIRE(rig_problem_finish(problem));
}
