#include "history/part_processes.h"

static const uint32_t none = RIG_TABLE_NONE;

static struct rig_part_process *add_process(struct rig_part *part, int64_t process, uint32_t *place)
{
    if (part->processes.count >= none - 1 || !rig_part_processes_reserve(&part->processes, part->processes.count + 1))
        return NULL;
    struct rig_part_process *added = &part->processes.at[part->processes.count];
    added->process = process;
    added->first = RIG_FIRST_NOTHING;
    added->open = false;
    *place = (uint32_t)part->processes.count++;
    return added;
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

void rig_part_open_process(struct rig_part *part, struct rig_part_process *process)
{
    uint32_t own = (uint32_t)(process - part->processes.at);
    process->open = true;
    process->before = part->last_open;
    process->behind = none;
    if (part->last_open == none)
        part->first_open = own;
    else
        part->processes.at[part->last_open].behind = own;
    part->last_open = own;
}

void rig_part_close_process(struct rig_part *part, struct rig_part_process *process)
{
    process->open = false;
    if (process->before == none)
        part->first_open = process->behind;
    else
        part->processes.at[process->before].behind = process->behind;
    if (process->behind == none)
        part->last_open = process->before;
    else
        part->processes.at[process->behind].before = process->before;
}
