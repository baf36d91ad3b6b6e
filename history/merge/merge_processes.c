#include "history/merge/merge_processes.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BITS = 12, PAGE_PROCESSES = 1 << PAGE_BITS, PAGES = 1 << (32 - PAGE_BITS) };

/* A process's rank + 1, and the position after its last completion in the record. */
struct rig_merge_process {
    uint32_t rank;
    uint32_t ended;
};

bool rig_merge_processes_init(struct rig_merge_processes *processes)
{
    processes->pages = calloc(PAGES, sizeof(struct rig_merge_process *));
    return processes->pages != NULL;
}

void rig_merge_processes_done(struct rig_merge_processes *processes)
{
    for (size_t i = 0; processes->pages != NULL && i < PAGES; i++)
        free(processes->pages[i]);
    free(processes->pages);
    processes->pages = NULL;
}

void rig_merge_processes_reset(struct rig_merge_processes *processes)
{
    for (size_t i = 0; i < PAGES; i++) {
        if (processes->pages[i] != NULL)
            memset(processes->pages[i], 0, PAGE_PROCESSES * sizeof(struct rig_merge_process));
    }
}

static struct rig_merge_process *process_of(struct rig_merge_processes *processes, int32_t number)
{
    const uint32_t at = (uint32_t)number;
    struct rig_merge_process **page = &processes->pages[at >> PAGE_BITS];
    if (*page == NULL)
        *page = calloc(PAGE_PROCESSES, sizeof **page);
    return *page == NULL ? NULL : &(*page)[at & (PAGE_PROCESSES - 1)];
}

static enum rig_rc check(const struct rig_merge_process *process, const struct rig_merge_rank *ranks, uint32_t rank,
                         int32_t number, uint32_t invoked, struct rig_err *err)
{
    if (process == NULL)
        return rig_fail(err, RIG_E_LIMIT, RIG_NO_MEMORY "merging the records");
    if (process->rank != 0 && process->rank != rank + 1)
        return rig_fail(err, RIG_E_INPUT,
                        "process %ld is in %s and in %s: the processes of different ranks must have different numbers",
                        (long)number, ranks[process->rank - 1].name, ranks[rank].name);
    if (process->rank != 0 && invoked < process->ended)
        return rig_fail(
            err, RIG_E_INPUT,
            "%s: process %ld has transactions that overlap; records of several ranks can be checked together "
            "if each process runs one transaction after the other",
            ranks[rank].name, (long)number);
    return RIG_OK;
}

enum rig_rc rig_merge_processes_check(struct rig_merge_processes *processes, const struct rig_merge_rank *ranks,
                                      uint32_t rank, int32_t number, uint32_t invoked, struct rig_err *err)
{
    return check(process_of(processes, number), ranks, rank, number, invoked, err);
}

enum rig_rc rig_merge_processes_note(struct rig_merge_processes *processes, const struct rig_merge_rank *ranks,
                                     uint32_t rank, const struct rig_txn *txns, size_t count, struct rig_err *err)
{
    for (size_t i = 0; i < count; i++) {
        struct rig_merge_process *process = process_of(processes, txns[i].process);
        if (process == NULL || (process->rank != rank + 1 && process->rank != 0) || txns[i].invoke_at < process->ended)
            return check(process, ranks, rank, txns[i].process, txns[i].invoke_at, err);
        process->rank = rank + 1;
        process->ended = txns[i].complete_at == RIG_POSITION_NONE ? UINT32_MAX : txns[i].complete_at + 1;
    }
    return RIG_OK;
}

bool rig_merge_processes_list(const struct rig_merge_processes *processes, const struct rig_merge_rank *ranks,
                              struct rig_rank_processes *list)
{
    bool fits = true;
    for (size_t page = 0; page < PAGES && fits; page++) {
        for (size_t at = 0; processes->pages[page] != NULL && at < PAGE_PROCESSES && fits; at++) {
            const struct rig_merge_process *process = &processes->pages[page][at];
            const uint32_t number = (uint32_t)(page << PAGE_BITS | at);
            if (process->rank != 0)
                fits = rig_rank_processes_add(
                    list, (struct rig_rank_process){(int32_t)number, ranks[process->rank - 1].number});
        }
    }
    return fits;
}
