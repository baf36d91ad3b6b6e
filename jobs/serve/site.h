/*
 * The pages of a store for browsers: the index, comparisons, runs under way, and the files of runs. Read-only.
 *
 *   /                         the index, always as the store is now; ?with=RUN: with a run chosen for a comparison
 *   /compare?a=RUN&b=RUN      two runs side by side
 *   /<name>/<time>/           the report of a run; while it is under way, its progress
 *   /<name>/<time>/<file>     a file of a run (store_file.h); `latest` in place of the time leads to the newest run
 *   /live.js                  asks for a page again every second
 *
 * The list of runs is read at most twice a second, and less often where reading takes long: at most a tenth of the time
 * is spent on it.
 */
#ifndef RIG_JOBS_SERVE_SITE_H
#define RIG_JOBS_SERVE_SITE_H

#include "base/err.h"
#include "jobs/serve/web_module.h"

struct rig_site;

/* RIG_E_INPUT: `store` is no readable folder. */
enum rig_rc rig_site_new(const char *store, struct rig_site **site, struct rig_err *err);
/*
 * Answers only requests to this address ("127.0.0.1:8437") and to localhost: a page of another site, whose name leads
 * to the loopback address, gets nothing. Before the first request; without it any Host is taken.
 */
void rig_site_require_host(struct rig_site *site, const char *address);
/* A rig_web_answer_fn; `site` is the context. */
void rig_site_answer(void *site, const struct rig_web_request *request, struct rig_web_answer *answer);
/* After the server has stopped. Takes NULL. */
void rig_site_free(struct rig_site *site);

#endif
