/*
 * The page of a store: one file without scripts. The news at its top (NULL: none); for each name: what its runs showed
 * and could have shown, the course of throughput, latency and anomalies from run to run, and every run with a link to
 * its report.
 */
#ifndef RIG_JOBS_STORE_INDEX_PAGE_H
#define RIG_JOBS_STORE_INDEX_PAGE_H

#include "base/buf.h"
#include "jobs/store/news.h"
#include "jobs/store/run_list.h"

/* Parts that only the page of `rig serve` has. */
struct rig_index_live {
    const char *script; /* its path on the server */
    const char *chosen; /* `folder` of the run that the next one is compared with; NULL: none was chosen */
    /* Adds the progress of a run that is under way, escaped. */
    void (*say_progress)(void *context, const struct rig_stored_run *run, struct rig_buf *out);
    void *context;
};

/* `base`: the path from the page's folder to the store, "" or with its slash at the end, for links. `live`:
 * NULL for a file. */
void rig_index_page_write(const struct rig_run_list *list, const struct rig_news *news, const char *base,
                          const struct rig_index_live *live, struct rig_buf *out);

#endif
