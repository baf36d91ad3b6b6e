#include "history/text/part/part_processes.h"

static const uint32_t none = RIG_TABLE_NONE;

static struct rig_part_process *add_process(struct rig_part *part, int64_t process, uint32_t *place)
{
    if (part->processes.count >= none - 1 || !rig_part_processes_reserve(&part->processes, part->processes.count + 1))
        return NULL;
    struct rig_part_process *added = &part->processes.at[part->processes.count];
    added->process = process;
    part->has_negative_process |= process < 0;
    added->first = RIG_FIRST_NOTHING;
    added->open = added->abandoned = false;
    *place = (uint32_t)part->processes.count++;
    return added;
}

/* Where the tables have the number of the process's entry; NULL when memory runs out. */
static uint32_t *place_of(struct rig_part *part, int64_t process)
{
    const bool small = process >= 0 && process < RIG_PART_SMALL_PROCESSES;
    return small ? &part->process_of_small[process] : rig_table_put(&part->process_of, (uint64_t)process);
}

struct rig_part_process *rig_part_abandon(struct rig_part *part, struct rig_part_process *process)
{
    uint32_t *place = place_of(part, process->process);
    process->abandoned = true;
    struct rig_part_process *again = place == NULL ? NULL : add_process(part, process->process, place);
    if (again != NULL)
        again->first = RIG_FIRST_INVOKED_AGAIN;
    return again;
}

struct rig_part_process *rig_part_find_process(struct rig_part *part, int64_t process)
{
    uint32_t *place;
    if (process >= 0 && process < RIG_PART_SMALL_PROCESSES) {
        place = &part->process_of_small[process];
        if (*place < part->processes.count && part->processes.at[*place].process == process)
            return &part->processes.at[*place];
        return add_process(part, process, place);
    }
    place = rig_table_put(&part->process_of, (uint64_t)process);
    if (place == NULL)
        return NULL;
    return *place == none ? add_process(part, process, place) : &part->processes.at[*place];
}
