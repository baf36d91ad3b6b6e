#include "checker/solve/breach_sweep.h"

#include <string.h>

#include "base/bug.h"
#include "checker/solve/breach_states.h"

enum { WORDS = 4, BATCH = 64 * WORDS, CLASSES = 3 };

static const uint32_t class_end[CLASSES] = {512, 8192, UINT32_MAX}; /* lengths */

struct bits {
    uint64_t words[WORDS];
};

/* The question `bit` begins at a transaction: at its write, which and all later versions are in question, or (NONE) at
 * the transaction alone. */
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
    uint32_t *first_beginning;  /* per write: or NONE */
    uint32_t *slot;             /* per key: into `begun`, or NONE */
    struct bit_sets begun;      /* the questions about the key that have begun at this rank */
    struct touched nodes, keys; /* to forget */
};

static void add(struct bits *to, const struct bits *from)
{
    for (unsigned i = 0; i < WORDS; i++)
        to->words[i] |= from->words[i];
}

/* The last transaction before this one in its process that has a rank, or NONE. */
static uint32_t process_before(const struct batch *batch, uint32_t node)
{
    uint32_t before = batch->problem->txns.at[node].before;
    while (before != RIG_PROBLEM_NONE && batch->sweep->rank[before] == RIG_PROBLEM_NONE)
        before = batch->problem->txns.at[before].before;
    return before;
}

static void add_reached(const struct batch *batch, uint32_t node, struct bits *bits)
{
    const uint32_t rank = batch->sweep->rank[node];
    if (rank >= batch->from && rank < batch->to)
        add(bits, &batch->reached.at[rank - batch->from]);
}

/* The questions that reach `node` by the edges that count before `op_end`. */
static struct bits arriving(const struct batch *batch, uint32_t node, uint32_t op_end)
{
    const struct rig_problem *problem = batch->problem;
    const struct rig_problem_txn *txn = &problem->txns.at[node];
    struct bits bits = {{0}};
    for (uint32_t r = txn[0].first_read; r < txn[1].first_read && batch->sweep->wr; r++) {
        const struct rig_problem_read *read = &problem->reads.at[r];
        if (read->writer != RIG_PROBLEM_INITIAL && read->op < op_end)
            add_reached(batch, read->writer, &bits);
    }
    for (uint32_t w = txn[0].first_write; w < txn[1].first_write && (batch->sweep->ww || batch->sweep->rw); w++) {
        const uint32_t before = batch->ordered->prev[w];
        if (problem->writes.at[w].first_op >= op_end)
            continue;
        if (before < problem->writes.count && batch->sweep->ww)
            add_reached(batch, problem->write_txn[before], &bits);
        for (uint32_t r = problem->reader_first[before]; r < problem->reader_first[before + 1] && batch->sweep->rw;
             r++) {
            if (problem->read_txn[problem->readers[r]] != node)
                add_reached(batch, problem->read_txn[problem->readers[r]], &bits);
        }
    }
    const uint32_t before =
        batch->ordered->child != NULL && op_end == UINT32_MAX ? process_before(batch, node) : RIG_PROBLEM_NONE;
    if (before != RIG_PROBLEM_NONE)
        add_reached(batch, before, &bits);
    return bits;
}

static bool begin_at(struct batch *batch, uint32_t node, uint32_t write, uint32_t bit)
{
    const uint32_t key = write == RIG_PROBLEM_NONE ? RIG_PROBLEM_NONE : batch->problem->writes.at[write].key;
    if (key != RIG_PROBLEM_NONE && batch->slot[key] == RIG_PROBLEM_NONE) {
        batch->slot[key] = (uint32_t)batch->begun.count;
        if (!touched_add(&batch->keys, key) || !bit_sets_add(&batch->begun, (struct bits){{0}}))
            return false;
    }
    const struct beginning beginning = {bit, write, batch->first_beginning[node]};
    batch->first_beginning[node] = (uint32_t)batch->beginnings.count;
    return touched_add(&batch->nodes, node) && beginnings_add(&batch->beginnings, beginning);
}

/* At the nearest ones that have a rank. */
static bool begin_at_followers(struct batch *batch, uint32_t node, uint32_t bit)
{
    bool ok = true, through = false;
    for (uint32_t last = RIG_PROBLEM_NONE; ok;) {
        last = rig_states_follower(batch->ordered, node, last, through);
        if (last == RIG_PROBLEM_NONE)
            break;
        through = batch->sweep->rank[last] == RIG_PROBLEM_NONE;
        ok = through || begin_at(batch, last, RIG_PROBLEM_NONE, bit);
    }
    return ok;
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
            ok = begin_at(batch, batch->problem->write_txn[later], later, bit);
    }
    return ok && (!batch->sweep->follows || begin_at_followers(batch, question->node, bit));
}

/* The questions that begin at the transaction, or began at an earlier version of a key that it writes. */
static void add_own(const struct batch *batch, uint32_t node, struct bits *bits)
{
    for (uint32_t i = batch->first_beginning[node]; i != RIG_PROBLEM_NONE; i = batch->beginnings.at[i].next) {
        const struct beginning *beginning = &batch->beginnings.at[i];
        struct bits *to = bits;
        if (beginning->write != RIG_PROBLEM_NONE)
            to = &batch->begun.at[batch->slot[batch->problem->writes.at[beginning->write].key]];
        to->words[beginning->bit / 64] |= UINT64_C(1) << beginning->bit % 64;
    }
    for (uint32_t w = batch->problem->txns.at[node].first_write; w < batch->problem->txns.at[node + 1].first_write;
         w++) {
        const uint32_t slot = batch->slot[batch->problem->writes.at[w].key];
        if (slot != RIG_PROBLEM_NONE)
            add(bits, &batch->begun.at[slot]);
    }
}

static void carry(struct batch *batch)
{
    memset(batch->reached.at, 0, (size_t)(batch->to - batch->from) * sizeof batch->reached.at[0]);
    for (uint32_t rank = batch->from; rank < batch->to; rank++) {
        const uint32_t node = batch->sweep->at[rank];
        if (node == RIG_PROBLEM_NONE)
            continue;
        struct bits bits = arriving(batch, node, UINT32_MAX);
        add_own(batch, node, &bits);
        batch->reached.at[rank - batch->from] = bits;
    }
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
    carry(batch);
    for (uint32_t i = 0; i < count; i++) {
        const struct bits bits = arriving(batch, questions[i].node, questions[i].op_end);
        questions[i].is_positive = (bits.words[i / 64] >> i % 64 & 1) != 0;
    }
    forget(batch);
    return true;
}

static unsigned class_of(const struct rig_sweep_question *question)
{
    unsigned class = 0;
    while (question->to - question->from >= class_end[class])
        class ++;
    return class;
}

/* By class, then by the first rank. */
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
        first[(size_t)class_of(question) * sweep->rank_count + question->from + 1]++;
    }
    for (size_t b = 0; b < buckets; b++)
        first[b + 1] += first[b];
    for (unsigned class = 0; class <= CLASSES; class ++)
        class_first[class] = first[(size_t) class * sweep->rank_count];
    for (size_t i = 0; i < questions->count; i++) {
        const struct rig_sweep_question *question = &questions->at[i];
        sorted[first[(size_t)class_of(question) * sweep->rank_count + question->from]++] = *question;
    }
    return sorted;
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
    return true;
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
        for (size_t i = class_first[class]; ok && i < class_first[class + 1]; i += BATCH) {
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
