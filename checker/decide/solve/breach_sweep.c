#include "checker/decide/solve/breach_sweep.h"

#include <string.h>

#include "base/bug.h"

enum { WORDS = 4, BATCH = 64 * WORDS, CLASSES = 3 };

static const uint32_t class_end[CLASSES] = {512, 8192, UINT32_MAX}; /* lengths */

struct bits {
    uint64_t words[WORDS];
};

/* The question `bit` begins at a write of a transaction: this version and all later ones are in question. */
struct beginning {
    uint32_t bit, write;
    uint32_t next; /* of the same transaction, or NONE */
};

RIG_VEC(struct bits, bit_sets)
RIG_VEC(struct beginning, beginnings)
RIG_VEC(uint32_t, touched)

struct batch {
    const struct rig_sweep *sweep;
    const struct rig_ordered *ordered;
    const struct rig_problem *problem;
    struct rig_sweep_question *questions;
    uint32_t count, from, to;
    struct bit_sets reached; /* per rank from `from` on: the questions whose writers reach the transaction */
    struct beginnings beginnings;
    uint32_t *first_beginning;        /* per write: or NONE */
    uint32_t *slot;                   /* per key: into `begun`, or NONE */
    struct bit_sets begun;            /* the questions about the key that have begun at this rank */
    struct touched nodes, keys;       /* to forget */
    uint32_t *reader_first, *readers; /* as the problem's; transactions that have a rank */
};

static void add(struct bits *to, const struct bits *from)
{
    for (unsigned i = 0; i < WORDS; i++)
        to->words[i] |= from->words[i];
}

static void add_reached(const struct batch *batch, uint32_t node, struct bits *bits)
{
    const uint32_t rank = batch->sweep->rank[node];
    if (rank >= batch->from && rank < batch->to)
        add(bits, &batch->reached.at[rank - batch->from]);
}

/* The questions that reach the operations of a node, from the first one on. */
struct arrivals {
    uint32_t node, op_end;
    uint32_t read, write; /* that come next */
    struct bits bits;
};

static void arrive_at_write(const struct batch *batch, struct arrivals *arrivals, uint32_t write)
{
    const struct rig_problem *problem = batch->problem;
    const uint32_t before = batch->ordered->prev[write];
    if (before < problem->writes.count && batch->sweep->ww)
        add_reached(batch, problem->write_txn[before], &arrivals->bits);
    if (!batch->sweep->rw)
        return;
    for (uint32_t r = batch->reader_first[before]; r < batch->reader_first[before + 1]; r++) {
        if (batch->readers[r] != arrivals->node)
            add_reached(batch, batch->readers[r], &arrivals->bits);
    }
}

/* The questions that reach `node` by the edges that count before `op_end`. `arrivals` may have those of the same node
 * before an earlier operation. */
static void arrive(const struct batch *batch, uint32_t node, uint32_t op_end, struct arrivals *arrivals)
{
    const struct rig_problem *problem = batch->problem;
    const struct rig_problem_txn *txn = &problem->txns.at[node];
    if (arrivals->node != node || arrivals->op_end > op_end)
        *arrivals = (struct arrivals){.node = node, .read = txn[0].first_read, .write = txn[0].first_write};
    arrivals->op_end = op_end;
    for (; arrivals->read < txn[1].first_read && problem->reads.at[arrivals->read].op < op_end; arrivals->read++) {
        const uint32_t writer = problem->reads.at[arrivals->read].writer;
        if (writer != RIG_PROBLEM_INITIAL && batch->sweep->wr)
            add_reached(batch, writer, &arrivals->bits);
    }
    for (; arrivals->write < txn[1].first_write && problem->writes.at[arrivals->write].first_op < op_end;
         arrivals->write++)
        arrive_at_write(batch, arrivals, arrivals->write);
    if (batch->ordered->child != NULL && batch->ordered->lead[node] != RIG_PROBLEM_NONE)
        add_reached(batch, batch->ordered->lead[node], &arrivals->bits);
}

static bool begin_at(struct batch *batch, uint32_t write, uint32_t bit)
{
    RIG_REQUIRE(bit < batch->count && write < batch->problem->writes.count);
    const uint32_t key = batch->problem->writes.at[write].key, node = batch->problem->write_txn[write];
    if (batch->slot[key] == RIG_PROBLEM_NONE) {
        batch->slot[key] = (uint32_t)batch->begun.count;
        if (!touched_add(&batch->keys, key) || !bit_sets_add(&batch->begun, (struct bits){{0}}))
            return false;
    }
    const struct beginning beginning = {bit, write, batch->first_beginning[node]};
    batch->first_beginning[node] = (uint32_t)batch->beginnings.count;
    return touched_add(&batch->nodes, node) && beginnings_add(&batch->beginnings, beginning);
}

static bool begin_question(struct batch *batch, uint32_t bit)
{
    const struct rig_sweep_question *question = &batch->questions[bit];
    bool ok = true;
    batch->from = question->from < batch->from ? question->from : batch->from;
    batch->to = question->to > batch->to ? question->to : batch->to;
    for (uint32_t r = question->read_begin; ok && r < question->read_end; r++) {
        const uint32_t later = batch->ordered->next[batch->ordered->version[r]];
        if (later != RIG_PROBLEM_NONE && batch->sweep->rank[batch->problem->write_txn[later]] < question->to)
            ok = begin_at(batch, later, bit);
    }
    return ok;
}

/* The questions that begin at the transaction, or began at an earlier version of a key that it writes. */
static void add_own(const struct batch *batch, uint32_t node, struct bits *bits)
{
    for (uint32_t i = batch->first_beginning[node]; i != RIG_PROBLEM_NONE; i = batch->beginnings.at[i].next) {
        const struct beginning *beginning = &batch->beginnings.at[i];
        RIG_INVARIANT(batch->slot[batch->problem->writes.at[beginning->write].key] < batch->begun.count);
        struct bits *to = &batch->begun.at[batch->slot[batch->problem->writes.at[beginning->write].key]];
        to->words[beginning->bit / 64] |= UINT64_C(1) << beginning->bit % 64;
    }
    for (uint32_t w = batch->problem->txns.at[node].first_write; w < batch->problem->txns.at[node + 1].first_write;
         w++) {
        const uint32_t slot = batch->slot[batch->problem->writes.at[w].key];
        if (slot != RIG_PROBLEM_NONE)
            add(bits, &batch->begun.at[slot]);
    }
}

static bool carry(struct batch *batch)
{
    RIG_REQUIRE(batch->from < batch->to && batch->to <= batch->sweep->rank_count);
    const struct rig_problem_txn *txns = batch->problem->txns.at;
    memset(batch->reached.at, 0, (size_t)(batch->to - batch->from) * sizeof batch->reached.at[0]);
    for (uint32_t rank = batch->from; rank < batch->to; rank++) {
        const uint32_t node = batch->sweep->at[rank];
        if (node == RIG_PROBLEM_NONE)
            continue;
        RIG_INVARIANT(batch->sweep->rank[node] == rank);
        const uint32_t ops =
            txns[node + 1].first_read - txns[node].first_read + txns[node + 1].first_write - txns[node].first_write;
        if (rig_deadline_is_over(batch->ordered->deadline, 1 + ops))
            return true;
        struct arrivals arrivals = {.node = RIG_PROBLEM_NONE};
        arrive(batch, node, UINT32_MAX, &arrivals);
        add_own(batch, node, &arrivals.bits);
        batch->reached.at[rank - batch->from] = arrivals.bits;
    }
    return true;
}

static void forget(struct batch *batch)
{
    for (size_t i = 0; i < batch->nodes.count; i++)
        batch->first_beginning[batch->nodes.at[i]] = RIG_PROBLEM_NONE;
    for (size_t i = 0; i < batch->keys.count; i++)
        batch->slot[batch->keys.at[i]] = RIG_PROBLEM_NONE;
    batch->nodes.count = batch->keys.count = batch->beginnings.count = batch->begun.count = 0;
}

static bool answer_batch(struct batch *batch, struct rig_sweep_question *questions, uint32_t count)
{
    RIG_REQUIRE(count > 0 && count <= BATCH);
    batch->questions = questions;
    batch->count = count;
    batch->from = UINT32_MAX;
    batch->to = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!begin_question(batch, i))
            return false;
    }
    if (!bit_sets_reserve(&batch->reached, batch->to - batch->from))
        return false;
    if (!carry(batch))
        return false;
    struct arrivals arrivals = {.node = RIG_PROBLEM_NONE};
    for (uint32_t i = 0; i < count; i++) {
        arrive(batch, questions[i].node, questions[i].op_end, &arrivals);
        questions[i].is_positive = (arrivals.bits.words[i / 64] >> i % 64 & 1) != 0;
    }
    forget(batch);
    return true;
}

static unsigned class_of(const struct rig_sweep_question *question)
{
    RIG_REQUIRE(question->from < question->to);
    unsigned class = 0;
    while (question->to - question->from >= class_end[class])
        class ++;
    return class;
}

/* By class, then by the end, so that the questions about one transaction stay together. */
static struct rig_sweep_question *sort(const struct rig_sweep *sweep, const struct rig_sweep_questions *questions,
                                       size_t class_first[CLASSES + 1], struct rig_arena *arena)
{
    const size_t buckets = (size_t)CLASSES * sweep->rank_count;
    uint32_t *first = rig_arena_array(arena, buckets + 2, sizeof first[0]);
    struct rig_sweep_question *sorted = rig_arena_room(arena, questions->count + 1, sizeof sorted[0]);
    if (first == NULL || sorted == NULL)
        return NULL;
    for (size_t i = 0; i < questions->count; i++) {
        const struct rig_sweep_question *question = &questions->at[i];
        RIG_REQUIRE(question->from < question->to && question->to <= sweep->rank_count);
        first[(size_t)class_of(question) * sweep->rank_count + question->to]++; /* to: one past a rank */
    }
    for (size_t b = 0; b < buckets; b++)
        first[b + 1] += first[b];
    for (unsigned class = 0; class <= CLASSES; class ++)
        class_first[class] = first[(size_t) class * sweep->rank_count];
    RIG_INVARIANT(class_first[0] == 0 && class_first[CLASSES] == questions->count);
    for (size_t i = 0; i < questions->count; i++) {
        const struct rig_sweep_question *question = &questions->at[i];
        sorted[first[(size_t)class_of(question) * sweep->rank_count + question->to - 1]++] = *question;
    }
    return sorted;
}

/* The transactions that read each version and have rw edges. */
static bool list_readers(struct batch *batch, struct rig_arena *arena)
{
    const struct rig_problem *problem = batch->problem;
    const size_t versions = problem->writes.count + problem->key_count;
    batch->reader_first = rig_arena_room(arena, versions + 1, sizeof(uint32_t));
    batch->readers = rig_arena_room(arena, problem->reads.count + 1, sizeof(uint32_t));
    if (batch->reader_first == NULL || batch->readers == NULL)
        return false;
    uint32_t count = 0;
    for (size_t version = 0; version < versions; version++) {
        batch->reader_first[version] = count;
        for (uint32_t i = problem->reader_first[version]; i < problem->reader_first[version + 1]; i++) {
            const uint32_t reader = problem->read_txn[problem->readers[i]];
            if (batch->sweep->mute == NULL || !batch->sweep->mute[reader])
                batch->readers[count++] = reader;
        }
    }
    RIG_INVARIANT(count <= problem->reads.count);
    batch->reader_first[versions] = count;
    return true;
}

static bool init(struct batch *batch, const struct rig_sweep *sweep, struct rig_arena *arena)
{
    const struct rig_problem *problem = sweep->ordered->problem;
    *batch = (struct batch){.sweep = sweep, .ordered = sweep->ordered, .problem = problem};
    batch->first_beginning = rig_arena_room(arena, (size_t)problem->txn_count + 1, sizeof(uint32_t));
    batch->slot = rig_arena_room(arena, (size_t)problem->key_count + 1, sizeof(uint32_t));
    if (batch->first_beginning == NULL || batch->slot == NULL)
        return false;
    memset(batch->first_beginning, 0xff, problem->txn_count * sizeof(uint32_t));
    memset(batch->slot, 0xff, problem->key_count * sizeof(uint32_t));
    return !sweep->rw || list_readers(batch, arena);
}

bool rig_sweep_answer(const struct rig_sweep *sweep, struct rig_sweep_questions *questions, struct rig_arena *arena)
{
    struct batch batch;
    size_t class_first[CLASSES + 1];
    if (questions->count == 0)
        return true;
    struct rig_sweep_question *sorted = sort(sweep, questions, class_first, arena);
    bool ok = sorted != NULL && init(&batch, sweep, arena);
    if (!ok)
        return false;
    for (unsigned class = 0; class < CLASSES; class ++) {
        for (size_t i = class_first[class]; ok && i < class_first[class + 1] && !sweep->ordered->deadline->spent;
             i += BATCH) {
            const size_t left = class_first[class + 1] - i;
            ok = answer_batch(&batch, sorted + i, (uint32_t)(left < BATCH ? left : BATCH));
        }
    }
    memcpy(questions->at, sorted, questions->count * sizeof sorted[0]);
    bit_sets_done(&batch.reached);
    bit_sets_done(&batch.begun);
    beginnings_done(&batch.beginnings);
    touched_done(&batch.nodes);
    touched_done(&batch.keys);
    return ok;
}
