#include "checker/model/problem.h"

#include <string.h>

#include "base/bug.h"

enum { MANY_WRITES = 16 }; /* of one transaction */

void rig_problem_done(struct rig_problem *problem)
{
    rig_problem_txns_done(&problem->txns);
    rig_problem_reads_done(&problem->reads);
    rig_problem_writes_done(&problem->writes);
    rig_problem_pairs_done(&problem->pairs);
    free(problem->writer_first);
    free(problem->writers);
    free(problem->writer_write);
    free(problem->reader_first);
    free(problem->readers);
    free(problem->read_txn);
    free(problem->write_txn);
    *problem = (struct rig_problem){0};
}

bool rig_problem_add_txn(struct rig_problem *problem, const struct rig_problem_txn *txn)
{
    struct rig_problem_txn added = *txn;
    RIG_REQUIRE(problem->txn_count == 0 || problem->txns.at[problem->txn_count - 1].txn < txn->txn);
    RIG_REQUIRE(txn->before == RIG_PROBLEM_NONE || txn->before < problem->txn_count);
    added.first_read = (uint32_t)problem->reads.count;
    added.first_write = (uint32_t)problem->writes.count;
    if (!rig_problem_txns_add(&problem->txns, added))
        return false;
    problem->txn_count++;
    if (added.session >= problem->session_count)
        problem->session_count = added.session + 1;
    return true;
}

static void note_key(struct rig_problem *problem, uint32_t key)
{
    if (key >= problem->key_count)
        problem->key_count = key + 1;
}

bool rig_problem_add_read(struct rig_problem *problem, const struct rig_problem_read *read)
{
    RIG_REQUIRE(problem->txn_count > 0 && read->writer != problem->txn_count - 1);
    note_key(problem, read->key);
    return rig_problem_reads_add(&problem->reads, *read);
}

bool rig_problem_add_write(struct rig_problem *problem, uint32_t key, uint32_t op)
{
    RIG_REQUIRE(problem->txn_count > 0);
    const uint32_t first = problem->txns.at[problem->txn_count - 1].first_write;
    note_key(problem, key);
    for (size_t i = problem->writes.count; i-- > first;) {
        struct rig_problem_write *write = &problem->writes.at[i];
        if (write->key == key) {
            RIG_REQUIRE(write->last_op < op);
            write->last_op = op;
            return true;
        }
    }
    return rig_problem_writes_add(&problem->writes, (struct rig_problem_write){key, op, op});
}

bool rig_problem_add_pair(struct rig_problem *problem, const struct rig_problem_pair *pair)
{
    RIG_REQUIRE(pair->before != pair->after);
    return rig_problem_pairs_add(&problem->pairs, *pair);
}

static uint32_t *numbers(size_t count)
{
    return calloc(count + 1, sizeof(uint32_t));
}

/* Counts at [i + 1] become offsets: bucket i begins at [i] once each place has been handed out. */
static void make_offsets(uint32_t *first, size_t buckets)
{
    for (size_t i = 0; i < buckets; i++)
        first[i + 1] += first[i];
}

static void index_writes(struct rig_problem *problem)
{
    uint32_t *first = problem->writer_first;
    for (uint32_t txn = 0; txn < problem->txn_count; txn++) {
        for (uint32_t w = problem->txns.at[txn].first_write; w < problem->txns.at[txn + 1].first_write; w++) {
            problem->write_txn[w] = txn;
            first[problem->writes.at[w].key + 1]++;
        }
    }
    make_offsets(first, problem->key_count);
    for (uint32_t w = (uint32_t)problem->writes.count; w-- > 0;) {
        const uint32_t place = --first[problem->writes.at[w].key + 1];
        problem->writers[place] = problem->write_txn[w];
        problem->writer_write[place] = w;
    }
    memmove(first, first + 1, problem->key_count * sizeof first[0]);
    first[problem->key_count] = (uint32_t)problem->writes.count;
}

/* A transaction may have written all keys, as the first one of a benchmark does: then the key has fewer writers. */
static uint32_t find_writer(const struct rig_problem *problem, uint32_t txn, uint32_t key)
{
    uint32_t low = problem->writer_first[key], high = problem->writer_first[key + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (problem->writers[middle] == txn)
            return problem->writer_write[middle];
        if (problem->writers[middle] < txn)
            low = middle + 1;
        else
            high = middle;
    }
    return RIG_PROBLEM_NONE;
}

uint32_t rig_problem_write_of(const struct rig_problem *problem, uint32_t txn, uint32_t key)
{
    const uint32_t first = problem->txns.at[txn].first_write, end = problem->txns.at[txn + 1].first_write;
    if (end - first > MANY_WRITES)
        return find_writer(problem, txn, key);
    for (uint32_t w = first; w < end; w++) {
        if (problem->writes.at[w].key == key)
            return w;
    }
    return RIG_PROBLEM_NONE;
}

/* The version that a read returned, as an index of reader_first. */
static uint32_t version_of(const struct rig_problem *problem, const struct rig_problem_read *read)
{
    if (read->writer == RIG_PROBLEM_INITIAL)
        return (uint32_t)problem->writes.count + read->key;
    const uint32_t write = rig_problem_write_of(problem, read->writer, read->key);
    RIG_REQUIRE(write != RIG_PROBLEM_NONE);
    return write;
}

static void index_reads(struct rig_problem *problem)
{
    const size_t versions = problem->writes.count + problem->key_count;
    uint32_t *first = problem->reader_first;
    for (uint32_t txn = 0; txn < problem->txn_count; txn++) {
        for (uint32_t r = problem->txns.at[txn].first_read; r < problem->txns.at[txn + 1].first_read; r++) {
            problem->read_txn[r] = txn;
            first[version_of(problem, &problem->reads.at[r]) + 1]++;
        }
    }
    make_offsets(first, versions);
    for (size_t r = problem->reads.count; r-- > 0;)
        problem->readers[--first[version_of(problem, &problem->reads.at[r]) + 1]] = (uint32_t)r;
    memmove(first, first + 1, versions * sizeof first[0]);
    first[versions] = (uint32_t)problem->reads.count;
}

bool rig_problem_finish(struct rig_problem *problem)
{
    const struct rig_problem_txn end = {.first_read = (uint32_t)problem->reads.count,
                                        .first_write = (uint32_t)problem->writes.count};
    problem->writer_first = numbers(problem->key_count + 1);
    problem->writers = numbers(problem->writes.count);
    problem->writer_write = numbers(problem->writes.count);
    problem->reader_first = numbers(problem->writes.count + problem->key_count + 1);
    problem->readers = numbers(problem->reads.count);
    problem->read_txn = numbers(problem->reads.count);
    problem->write_txn = numbers(problem->writes.count);
    if (problem->writer_first == NULL || problem->writers == NULL || problem->writer_write == NULL ||
        problem->reader_first == NULL || problem->readers == NULL || problem->read_txn == NULL ||
        problem->write_txn == NULL || !rig_problem_txns_add(&problem->txns, end))
        return false;
    index_writes(problem);
    index_reads(problem);
    return true;
}

/* ---- parts ---- */

/* Per node: the place of the nearest one before it in its process that stays, or NONE. */
static void find_leads(const struct rig_problem *problem, const uint32_t *place, uint32_t *lead)
{
    for (uint32_t node = 0; node < problem->txn_count; node++) {
        const uint32_t before = problem->txns.at[node].before;
        lead[node] = before;
        if (before != RIG_PROBLEM_NONE)
            lead[node] = place[before] == RIG_PROBLEM_NONE ? lead[before] : place[before];
    }
}

/* `rest`: a version of a transaction that is left out counts as the initial state. */
static bool copy_txn(const struct rig_problem *problem, const uint32_t *place, uint32_t lead, uint32_t node, bool rest,
                     struct rig_problem *part)
{
    struct rig_problem_txn txn = problem->txns.at[node];
    txn.before = lead;
    bool ok = rig_problem_add_txn(part, &txn);
    for (uint32_t r = problem->txns.at[node].first_read; ok && r < problem->txns.at[node + 1].first_read; r++) {
        struct rig_problem_read read = problem->reads.at[r];
        if (read.writer != RIG_PROBLEM_INITIAL) {
            read.writer = place[read.writer];
            if (read.writer == RIG_PROBLEM_NONE && !rest)
                continue;
            read.writer = read.writer == RIG_PROBLEM_NONE ? RIG_PROBLEM_INITIAL : read.writer;
        }
        ok = rig_problem_add_read(part, &read);
    }
    for (uint32_t w = problem->txns.at[node].first_write; ok && w < problem->txns.at[node + 1].first_write; w++)
        ok = rig_problem_writes_add(&part->writes, problem->writes.at[w]); /* one a key already */
    return ok;
}

/* The pairs of a problem by what comes before; only where some transactions are left out. */
struct by_before {
    uint32_t *first; /* per node, and one more: into */
    uint32_t *pairs;
    uint32_t *seen;  /* per node: the search that met it */
    uint32_t *stack; /* of nodes */
    uint32_t search;
};

static bool index_pairs(const struct rig_problem *problem, struct by_before *index)
{
    index->first = numbers(problem->txn_count + 1);
    index->pairs = numbers(problem->pairs.count);
    index->seen = numbers(problem->txn_count);
    index->stack = numbers(problem->txn_count);
    if (index->first == NULL || index->pairs == NULL || index->seen == NULL || index->stack == NULL)
        return false;
    for (size_t p = 0; p < problem->pairs.count; p++)
        index->first[problem->pairs.at[p].before + 1]++;
    make_offsets(index->first, problem->txn_count);
    for (size_t p = problem->pairs.count; p-- > 0;)
        index->pairs[--index->first[problem->pairs.at[p].before + 1]] = (uint32_t)p;
    memmove(index->first, index->first + 1, problem->txn_count * sizeof index->first[0]);
    index->first[problem->txn_count] = (uint32_t)problem->pairs.count;
    return true;
}

/* From `pair`, which reads of lists show and whose `after` is left out, to the versions after it that stay: the same
 * reads show these. */
static bool add_bridges(const struct rig_problem *problem, const uint32_t *place, struct by_before *index,
                        const struct rig_problem_pair *pair, struct rig_problem *part)
{
    uint32_t count = 0;
    index->search++;
    index->stack[count++] = pair->after;
    while (count > 0) {
        const uint32_t via = index->stack[--count];
        for (uint32_t i = index->first[via]; i < index->first[via + 1]; i++) {
            struct rig_problem_pair next = problem->pairs.at[index->pairs[i]];
            if (next.key != pair->key || next.source != RIG_ORDER_LIST || next.after == pair->before ||
                index->seen[next.after] == index->search)
                continue;
            index->seen[next.after] = index->search;
            if (place[next.after] == RIG_PROBLEM_NONE) {
                index->stack[count++] = next.after;
                continue;
            }
            next.before = place[pair->before];
            next.after = place[next.after];
            if (!rig_problem_add_pair(part, &next))
                return false;
        }
    }
    return true;
}

static bool copy_pairs(const struct rig_problem *problem, const uint32_t *place, struct by_before *index,
                       struct rig_problem *part)
{
    bool ok = true;
    for (size_t p = 0; ok && p < problem->pairs.count; p++) {
        struct rig_problem_pair pair = problem->pairs.at[p];
        if (place[pair.before] == RIG_PROBLEM_NONE)
            continue;
        if (place[pair.after] == RIG_PROBLEM_NONE) {
            ok = pair.source != RIG_ORDER_LIST || add_bridges(problem, place, index, &pair, part);
            continue;
        }
        pair.before = place[pair.before];
        pair.after = place[pair.after];
        ok = rig_problem_add_pair(part, &pair);
    }
    return ok;
}

static bool make_part(const struct rig_problem *problem, const uint32_t *keep, uint32_t count, bool rest,
                      struct rig_problem *part)
{
    const size_t nodes = (size_t)problem->txn_count + 1;
    uint32_t *place = malloc(nodes * sizeof place[0]), *lead = malloc(nodes * sizeof lead[0]);
    struct by_before index = {0};
    bool ok = place != NULL && lead != NULL && index_pairs(problem, &index);
    *part = (struct rig_problem){.has_realtime = problem->has_realtime};
    for (uint32_t node = 0; ok && node < problem->txn_count; node++)
        place[node] = RIG_PROBLEM_NONE;
    for (uint32_t i = 0; ok && i < count; i++) {
        RIG_REQUIRE(i == 0 || keep[i - 1] < keep[i]);
        place[keep[i]] = i;
    }
    if (ok)
        find_leads(problem, place, lead);
    for (uint32_t i = 0; ok && i < count; i++)
        ok = copy_txn(problem, place, lead[keep[i]], keep[i], rest, part);
    ok = ok && copy_pairs(problem, place, &index, part);
    part->key_count = ok ? problem->key_count : 0;
    ok = ok && rig_problem_finish(part);
    free(place);
    free(lead);
    free(index.first);
    free(index.pairs);
    free(index.seen);
    free(index.stack);
    if (!ok)
        rig_problem_done(part);
    return ok;
}

bool rig_problem_part(const struct rig_problem *problem, const uint32_t *keep, uint32_t count, struct rig_problem *part)
{
    return make_part(problem, keep, count, false, part);
}

bool rig_problem_rest(const struct rig_problem *problem, const uint32_t *keep, uint32_t count, struct rig_problem *rest)
{
    return make_part(problem, keep, count, true, rest);
}
