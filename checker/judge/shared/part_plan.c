#include "checker/judge/shared/part_plan.h"

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
    else if (whole->txn_count + census->txn_count >= RIG_LIFE_OPEN - 1)
        whole->odd = "it is too long";
    if (whole->odd != NULL)
        return true;
    bool fits = true;
    for (size_t i = 0; fits && i < census->lives.count; i++) {
        const struct rig_key_life *life = &census->lives.at[i];
        const uint32_t last = life->last == RIG_LIFE_OPEN ? RIG_LIFE_OPEN : before + life->last;
        fits = rig_part_census_note(whole, life->key, before + life->first, last);
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
    for (size_t i = 0; i < whole->lives.count; i++) {
        const struct rig_key_life *life = &whole->lives.at[i];
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
