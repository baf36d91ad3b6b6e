/*
 * The news of a store: what its runs show since a time that the runs before it did not: for each name, the later runs
 * against up to 30 earlier ones with the same request and isolation.
 *
 * A night is a row of runs without a gap of 4 hours or more between the end of one and the start of the next. News
 * begin with the last night of the store unless a time is given.
 *
 *   anomalies    of those that the request forbids: new ones, which no earlier run has; in fewer transactions than
 *                ever; and gone ones, which the latest earlier runs have, as many as there are later ones
 *   levels       those refuted in a later run and in no earlier one, and the reverse
 *   verdicts     that of the latest run against that of the latest earlier one
 *   throughput   the rates of the later runs against those of the earlier ones: Student's t test of their logarithms
 *                (base/statistics.h). The runs are the observations, because nights differ by more than the parts of
 *                one load do. Told with at least 4 runs, 3 of them earlier; the mean at least 5 % lower; p below 0.05
 *                with Holm's correction for all names
 *   flaky        names that are refuted in some of these runs and not in others, with the interval of the share
 *   not run      names of the night before without a later run
 *
 * Time: O(runs log runs). Space: O(runs). Threads: one a list.
 */
#ifndef RIG_JOBS_STORE_NEWS_H
#define RIG_JOBS_STORE_NEWS_H

#include "base/buf.h"
#include "base/vec.h"
#include "jobs/store/run_list.h"

/* X(id, name for JSON, heading), in the order in which they are told */
#define RIG_NEWS_TABLE(X)                                                                                              \
    X(ANOMALY, "new-anomaly", "New anomalies")                                                                         \
    X(WORSE, "worse-verdict", "Worse verdicts")                                                                        \
    X(SLOWER, "slower", "Slower")                                                                                      \
    X(REFUTED, "level-refuted", "Levels refuted now")                                                                  \
    X(SMALLER, "smaller-anomaly", "Known anomalies in fewer transactions")                                             \
    X(GONE, "gone-anomaly", "Anomalies not seen again")                                                                \
    X(KEPT, "level-not-refuted", "Levels no longer refuted")                                                           \
    X(BETTER, "better-verdict", "Better verdicts")                                                                     \
    X(FLAKY, "flaky", "Flaky")                                                                                         \
    X(NOT_RUN, "not-run", "Not run")

enum rig_news_kind {
#define RIG_NEWS_ENUM(id, name, heading) RIG_NEWS_##id,
    RIG_NEWS_TABLE(RIG_NEWS_ENUM)
#undef RIG_NEWS_ENUM
        RIG_NEWS_COUNT
};

/* Members that its kind does not need are zero. The runs are those of the list. */
struct rig_news_item {
    enum rig_news_kind kind;
    bool is_bad;
    const struct rig_stored_run *run;     /* the latest one that shows it; of `not run`: the latest one of the name */
    const struct rig_stored_run *earlier; /* the latest earlier one, or NULL */
    rig_anomaly_set anomalies;
    uint64_t levels;      /* bits */
    uint32_t shown, runs; /* of `runs` later runs, `shown` have it; of `flaky`: of all */
    uint32_t earlier_shown, earlier_runs;
    double rate, earlier_rate, p; /* of throughput: geometric means, acknowledged a second */
};

RIG_VEC(struct rig_news_item, rig_news_items)

struct rig_news {
    char since[RIG_RUN_LIST_SINCE_BYTES]; /* as rig_run_list_since() gives it; "" in an empty store */
    struct rig_news_items items;          /* by kind, then by name */
    size_t runs, earlier_runs;
    uint32_t bad;     /* items */
    uint32_t untimed; /* names with a load in a later run, and too few runs to compare its throughput */
};

/* The texts are those of the list or of the caller. */
struct rig_news_nights {
    const char *since;  /* the later runs begin here; NULL: there is no run */
    const char *before; /* the night before them begins here; NULL: there is none */
};

/* `since`: NULL for the last night. RIG_E_LIMIT out of memory. */
enum rig_rc rig_news_find_nights(const struct rig_run_list *list, const char *since, struct rig_news_nights *nights,
                                 struct rig_err *err);
/* `list` may be a part of the one with the nights. It stays unchanged, and lives at least as long as the news.
 * RIG_E_LIMIT out of memory; release the news in any case. */
enum rig_rc rig_news_find(const struct rig_run_list *list, const struct rig_news_nights *nights, struct rig_news *news,
                          struct rig_err *err);
void rig_news_done(struct rig_news *news);

/* At most 40 lines; `store`: its path, for people. */
void rig_news_text(const struct rig_news *news, const char *store, struct rig_buf *out);
void rig_news_markdown(const struct rig_news *news, const char *store, struct rig_buf *out);
void rig_news_json(const struct rig_news *news, const char *store, struct rig_buf *out);
/* The section at the top of the page of a store; `base` as for rig_index_page_write(). */
void rig_news_page(const struct rig_news *news, const char *base, struct rig_buf *out);

#endif
