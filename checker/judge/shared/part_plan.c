#include "checker/judge/shared/part_plan.h"

#include <string.h>

#include "base/err.h"
#include "checker/evidence/claims.h"

#define LIFE_OPEN UINT32_MAX /* last use: a transaction that never completes names the key */

void rig_part_census_init(struct rig_part_census *census)
{
    *census = (struct rig_part_census){.odd = NULL};
    rig_table_init(&census->places);
    rig_arena_init(&census->texts, 0);
}

void rig_part_census_done(struct rig_part_census *census)
{
    rig_key_lifetimes_done(&census->lifetimes);
    rig_table_done(&census->places);
    rig_block_counts_done(&census->blocks);
    rig_fault_event_vec_done(&census->faults);
    rig_rank_sums_vec_done(&census->ranks);
    rig_rank_processes_done(&census->processes);
    rig_arena_done(&census->texts);
}

/* Adds the uses of a key. False when memory runs out. */
static bool part_census_note(struct rig_part_census *census, int64_t key, uint32_t first, uint32_t last)
{
    uint32_t *place = rig_table_put(&census->places, (uint64_t)key);
    if (place == NULL)
        return false;
    if (*place != RIG_TABLE_NONE) {
        census->lifetimes.at[*place].last = last;
        return true;
    }
    if (census->lifetimes.count >= RIG_TABLE_NONE ||
        !rig_key_lifetimes_add(&census->lifetimes, (struct rig_key_lifetime){key, first, last}))
        return false;
    *place = (uint32_t)(census->lifetimes.count - 1);
    return true;
}

/* Why a record with this segment cannot be shared; NULL: it can. */
static const char *oddity_of(const struct rig_segment *segment)
{
    if (segment->unordered)
        return "its events are not in the order of their times";
    if ((rig_columns_given(&segment->columns) & RIG_CLAIM_COLUMNS) != 0)
        return "the database gave its transactions places, which are compared over the whole history";
    if (segment->skipped_count + segment->lost_count + segment->reused_count > 0)
        return "it leaves operations out";
    return segment->keys.count > 0 && segment->keys.at[0].text != NULL ? "its keys are texts" : NULL;
}

/* Open transactions stand last: every segment repeats them until they complete. */
static bool note_segment(struct rig_part_census *census, const struct rig_segment *segment, bool begins_block)
{
    const uint32_t before = (uint32_t)census->txn_count, behind = before + (uint32_t)segment->txns.count;
    bool fits = !begins_block || rig_block_counts_add(&census->blocks, 0);
    for (size_t i = 0; fits && i < segment->keys.count; i++)
        fits = part_census_note(census, segment->keys.at[i].key, before, behind);
    for (size_t i = 0; fits && i < segment->open_ops.count; i++)
        fits = part_census_note(census, segment->keys.at[segment->open_ops.at[i].key].key, before, LIFE_OPEN);
    census->txn_count = behind;
    census->open_count = segment->open.count;
    if (fits)
        census->blocks.at[census->blocks.count - 1] += (uint32_t)segment->txns.count;
    return fits;
}

static bool note_ranks(struct rig_part_census *census, const struct rig_source *source)
{
    const struct rig_rank_facts *ranks = &rig_source_facts(source)->ranks;
    bool fits = rig_source_processes(source, &census->processes);
    for (uint32_t i = 0; fits && i < ranks->count; i++) {
        const struct rig_rank_fact *rank = &ranks->ranks[i];
        fits = rig_rank_sums_vec_add(&census->ranks, (struct rig_rank_sums){rank->txn_count, rank->error_ns});
    }
    return fits;
}

static void look_at_end(struct rig_part_census *census, const struct rig_source_facts *facts)
{
    if (facts->truncated || facts->damaged_at != 0)
        census->odd = "it does not end with a closing frame";
    else if (!facts->has_invocations)
        census->odd = "it has completions without invocations";
}

enum rig_rc rig_part_census_take(struct rig_part_census *census, struct rig_source *source, size_t begin, size_t end,
                                 struct rig_err *err)
{
    const struct rig_source_facts *facts = rig_source_facts(source);
    const struct rig_segment *segment = NULL;
    const bool is_last = end >= facts->size_bytes;
    size_t at = begin, block = SIZE_MAX; /* where the next segment begins, and its block */
    enum rig_rc rc = rig_source_start_at(source, &(struct rig_source_start){.block = begin, .uses_only = true}, err);
    for (; rc == RIG_OK && census->odd == NULL && (is_last || at < end); at = rig_source_given_end(source)) {
        rc = rig_source_next(source, &segment, err);
        if (rc != RIG_OK || segment == NULL)
            break;
        census->odd = census->txn_count + segment->txns.count >= LIFE_OPEN - 1 ? "it is too long" : oddity_of(segment);
        if (census->odd == NULL && !note_segment(census, segment, at != block))
            return rig_memory_limit(err, "the keys of the history");
        block = at;
    }
    if (rc == RIG_OK && census->odd == NULL && segment == NULL && !is_last)
        census->odd = "it ends early";
    if (rc == RIG_OK && census->odd == NULL && is_last)
        look_at_end(census, facts);
    rig_source_marks(source, &census->start_mark, &census->end_mark);
    if (rc == RIG_OK && !rig_fault_event_keep_all(&census->faults, &census->texts, facts->faults, facts->fault_count))
        rc = rig_memory_limit(err, "the events of faults");
    if (rc == RIG_OK && !note_ranks(census, source))
        rc = rig_memory_limit(err, "the processes of the ranks");
    return rc;
}

/* ---- bytes ---- */

struct head {
    uint64_t txn_count, open_count, start_mark, end_mark, life_count, block_count, rank_count, process_count,
        fault_count;
    uint64_t odd_size; /* 0: it is not odd */
};

static void put_text(struct rig_buf *bytes, const char *text)
{
    const uint64_t size = strlen(text) + 1;
    rig_buf_add(bytes, &size, sizeof size);
    rig_buf_add(bytes, text, size);
}

bool rig_part_census_put(const struct rig_part_census *census, struct rig_buf *bytes)
{
    const struct head head = {census->txn_count,       census->open_count,
                              census->start_mark,      census->end_mark,
                              census->lifetimes.count, census->blocks.count,
                              census->ranks.count,     census->processes.count,
                              census->faults.count,    census->odd == NULL ? 0 : strlen(census->odd) + 1};
    rig_buf_add(bytes, &head, sizeof head);
    rig_buf_add(bytes, census->lifetimes.at, census->lifetimes.count * sizeof *census->lifetimes.at);
    rig_buf_add(bytes, census->blocks.at, census->blocks.count * sizeof *census->blocks.at);
    rig_buf_add(bytes, census->ranks.at, census->ranks.count * sizeof *census->ranks.at);
    rig_buf_add(bytes, census->processes.at, census->processes.count * sizeof *census->processes.at);
    for (size_t i = 0; i < census->faults.count; i++) {
        const struct rig_fault_event *event = &census->faults.at[i];
        rig_buf_add(bytes, event, sizeof *event);
        put_text(bytes, event->fault);
        put_text(bytes, event->targets);
        put_text(bytes, event->text);
    }
    if (census->odd != NULL)
        rig_buf_add(bytes, census->odd, head.odd_size);
    return !bytes->failed;
}

struct reading {
    const char *at, *end;
};

static bool take(struct reading *r, void *into, uint64_t size)
{
    if (size > (uint64_t)(r->end - r->at))
        return false;
    if (size > 0)
        memcpy(into, r->at, size);
    r->at += size;
    return true;
}

/* In the arena. NULL: none is there. */
static const char *take_text(struct reading *r, uint64_t size, struct rig_arena *texts)
{
    if (size == 0 || size > (uint64_t)(r->end - r->at) || r->at[size - 1] != '\0')
        return NULL;
    const char *text = rig_arena_text(texts, r->at, size - 1);
    r->at += size;
    return text;
}

static const char *take_sized_text(struct reading *r, struct rig_arena *texts)
{
    uint64_t size = 0;
    return take(r, &size, sizeof size) ? take_text(r, size, texts) : NULL;
}

static bool take_fault(struct reading *r, struct rig_part_census *census)
{
    struct rig_fault_event event;
    if (!take(r, &event, sizeof event))
        return false;
    event.fault = take_sized_text(r, &census->texts);
    event.targets = event.fault == NULL ? NULL : take_sized_text(r, &census->texts);
    event.text = event.targets == NULL ? NULL : take_sized_text(r, &census->texts);
    return event.text != NULL && rig_fault_event_vec_add(&census->faults, event);
}

bool rig_part_census_get(struct rig_part_census *census, const char *bytes, size_t size)
{
    struct reading r = {bytes, bytes + size};
    struct head head;
    if (!take(&r, &head, sizeof head) || head.life_count > size / sizeof *census->lifetimes.at ||
        head.block_count > size / sizeof *census->blocks.at || head.rank_count > size / sizeof *census->ranks.at ||
        head.process_count > size / sizeof *census->processes.at ||
        !rig_key_lifetimes_reserve(&census->lifetimes, head.life_count) ||
        !rig_block_counts_reserve(&census->blocks, head.block_count) ||
        !rig_rank_sums_vec_reserve(&census->ranks, head.rank_count) ||
        !rig_rank_processes_reserve(&census->processes, head.process_count) ||
        !take(&r, census->lifetimes.at, head.life_count * sizeof *census->lifetimes.at) ||
        !take(&r, census->blocks.at, head.block_count * sizeof *census->blocks.at) ||
        !take(&r, census->ranks.at, head.rank_count * sizeof *census->ranks.at) ||
        !take(&r, census->processes.at, head.process_count * sizeof *census->processes.at))
        return false;
    census->txn_count = head.txn_count;
    census->open_count = head.open_count;
    census->start_mark = head.start_mark;
    census->end_mark = head.end_mark;
    census->lifetimes.count = head.life_count;
    census->blocks.count = head.block_count;
    census->ranks.count = head.rank_count;
    census->processes.count = head.process_count;
    for (uint64_t i = 0; i < head.fault_count; i++) {
        if (!take_fault(&r, census))
            return false;
    }
    if (head.odd_size > 0 && (census->odd = take_text(&r, head.odd_size, &census->texts)) == NULL)
        return false;
    return r.at == r.end;
}

/* BLOCKS_LEAST: of a part. The longest stretch that a process reads may be MOST_SHARE percent of the record. */
enum { BLOCKS_LEAST = 4, MOST_SHARE = 75 };

static uint32_t block_at(const struct rig_source_offsets *blocks, size_t offset)
{
    uint32_t block = 0;
    while (block + 1 < blocks->count && blocks->at[block] < offset)
        block++;
    return block;
}

void rig_part_plan_init(struct rig_part_plan *plan)
{
    *plan = (struct rig_part_plan){.count = 0};
    rig_part_census_init(&plan->whole);
    rig_table_init(&plan->rank_of);
}

bool rig_part_plan_divide(struct rig_part_plan *plan, const struct rig_source_offsets *blocks, size_t size_bytes,
                          uint32_t count)
{
    plan->count = count;
    if (count > RIG_PARTS_MOST || blocks->count / BLOCKS_LEAST < count)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        plan->first_block[i] = block_at(blocks, size_bytes / count * i);
        if (i > 0 && plan->first_block[i] < plan->first_block[i - 1] + BLOCKS_LEAST / 2)
            return false;
        plan->at[i].begin = blocks->at[plan->first_block[i]];
    }
    plan->first_block[count] = (uint32_t)blocks->count;
    for (uint32_t i = 0; i < count; i++)
        plan->at[i].end = i + 1 < count ? plan->at[i + 1].begin : size_bytes;
    return plan->first_block[count] >= plan->first_block[count - 1] + BLOCKS_LEAST / 2;
}

void rig_part_plan_done(struct rig_part_plan *plan)
{
    rig_part_census_done(&plan->whole);
    rig_table_done(&plan->rank_of);
}

/* Those of earlier parts, too. */
static bool add_ranks(struct rig_part_census *whole, const struct rig_part_census *census)
{
    bool fits = true;
    for (size_t i = 0; fits && i < census->ranks.count; i++) {
        const struct rig_rank_sums *sums = &census->ranks.at[i];
        if (i == whole->ranks.count) {
            fits = rig_rank_sums_vec_add(&whole->ranks, *sums);
            continue;
        }
        struct rig_rank_sums *into = &whole->ranks.at[i];
        into->txn_count = sums->txn_count > into->txn_count ? sums->txn_count : into->txn_count;
        into->error_ns = sums->error_ns > into->error_ns ? sums->error_ns : into->error_ns;
    }
    return fits;
}

/* Each process belongs to one rank. */
static bool add_processes(struct rig_part_plan *plan, const struct rig_part_census *census)
{
    for (size_t i = 0; i < census->processes.count; i++) {
        const struct rig_rank_process *process = &census->processes.at[i];
        uint32_t *rank = rig_table_put(&plan->rank_of, (uint32_t)process->process);
        if (rank == NULL)
            return false;
        if (*rank != RIG_TABLE_NONE && *rank != process->rank)
            plan->whole.odd = "one of its processes is in two records";
        *rank = process->rank;
    }
    return true;
}

bool rig_part_plan_add(struct rig_part_plan *plan, uint32_t part, const struct rig_part_census *census)
{
    struct rig_part_census *whole = &plan->whole;
    const uint32_t before = (uint32_t)whole->txn_count;
    if (census->odd != NULL)
        whole->odd = census->odd;
    else if (census->blocks.count != plan->first_block[part + 1] - plan->first_block[part] ||
             (part > 0 && census->ranks.count != whole->ranks.count))
        whole->odd = "its blocks were read in another way";
    else if (part > 0 && census->start_mark != whole->end_mark)
        whole->odd = "it is damaged";
    else if (whole->txn_count + census->txn_count >= LIFE_OPEN - 1)
        whole->odd = "it is too long";
    if (whole->odd != NULL)
        return true;
    bool fits = true;
    for (size_t i = 0; fits && i < census->lifetimes.count; i++) {
        const struct rig_key_lifetime *life = &census->lifetimes.at[i];
        const uint32_t last = life->last == LIFE_OPEN ? LIFE_OPEN : before + life->last;
        fits = part_census_note(whole, life->key, before + life->first, last);
    }
    for (size_t i = 0; fits && i < census->blocks.count; i++)
        fits = rig_block_counts_add(&whole->blocks, census->blocks.at[i]);
    whole->txn_count += census->txn_count;
    whole->open_count = census->open_count;
    whole->end_mark = census->end_mark;
    plan->at[part].begin_txn = before;
    plan->at[part].end_txn = (uint32_t)whole->txn_count;
    return fits && add_ranks(whole, census) && add_processes(plan, census) &&
           rig_fault_event_keep_all(&whole->faults, &whole->texts, census->faults.at, census->faults.count);
}

/* The first use of a key that is used before the border and after `after`; the border itself without any. */
static uint32_t first_use(const struct rig_part_census *whole, uint32_t border, uint32_t after)
{
    uint32_t first = border;
    for (size_t i = 0; i < whole->lifetimes.count; i++) {
        const struct rig_key_lifetime *life = &whole->lifetimes.at[i];
        if (life->first < first && life->last > after)
            first = life->first;
    }
    return first;
}

/* The last block that begins at this transaction or before it, with the transactions before it. */
static uint32_t block_of(const struct rig_part_census *whole, uint32_t txn, uint32_t *txns_before)
{
    uint32_t block = 0;
    *txns_before = 0;
    while (block + 1 < whole->blocks.count && *txns_before + whole->blocks.at[block] <= txn)
        *txns_before += whole->blocks.at[block++];
    return block;
}

/* One block earlier, since some transactions wait for one that completed after them. */
static void find_begin(struct rig_part_plan *plan, const struct rig_source_offsets *blocks,
                       struct rig_shared_part *part)
{
    const struct rig_part_census *whole = &plan->whole;
    uint32_t before;
    uint32_t block = block_of(whole, first_use(whole, part->begin_txn, part->begin_txn), &before);
    if (block > 0)
        before -= whole->blocks.at[--block];
    block = block_of(whole, first_use(whole, part->begin_txn, before), &before);
    part->read_from = blocks->at[block];
    part->read_from_txn = before;
}

void rig_part_plan_finish(struct rig_part_plan *plan, const struct rig_source_offsets *blocks)
{
    const size_t size_bytes = plan->at[plan->count - 1].end;
    for (uint32_t i = 0; i < plan->count; i++) {
        struct rig_shared_part *part = &plan->at[i];
        part->read_from = part->begin;
        part->read_from_txn = part->begin_txn;
        if (i > 0)
            find_begin(plan, blocks, part);
        if ((part->end - part->read_from) / MOST_SHARE > size_bytes / 100)
            plan->whole.odd = "its keys are in use for too long";
    }
}
