#include "jobs/store/news.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/statistics.h"
#include "checker/model/level.h"

enum { EARLIER_MOST = 30, LATER_MOST = 1000, GAP_S = 4 * 3600, TIMED_LEAST = 4, EARLIER_TIMED_LEAST = 3 };

static const double significant = 0.05, slower_least = 0.05;

/* ---- nights ---- */

struct span {
    double start_s, end_s;
    const char *time;
};

static int number_at(const char *digits, size_t count)
{
    int number = 0;
    for (size_t i = 0; i < count; i++)
        number = number * 10 + (digits[i] - '0');
    return number;
}

/* Since 1970, of a time that names a run; -1: it is none. */
static double seconds_of(const char *time)
{
    if (!rig_stored_run_is_time(time))
        return -1;
    struct tm parts = {.tm_year = number_at(time, 4) - 1900,
                       .tm_mon = number_at(time + 4, 2) - 1,
                       .tm_mday = number_at(time + 6, 2),
                       .tm_hour = number_at(time + 9, 2),
                       .tm_min = number_at(time + 11, 2),
                       .tm_sec = number_at(time + 13, 2)};
    return (double)timegm(&parts) + number_at(time + 16, 3) / 1e3;
}

static int later_first(const void *a, const void *b)
{
    const double left = ((const struct span *)a)->start_s, right = ((const struct span *)b)->start_s;
    return (left < right) - (left > right);
}

/* The first run of the night that ends with spans[at]; `spans` has the latest first. */
static size_t begin_of_night(const struct span *spans, size_t count, size_t at)
{
    while (at + 1 < count && spans[at].start_s - spans[at + 1].end_s < GAP_S)
        at++;
    return at;
}

enum rig_rc rig_news_find_nights(const struct rig_run_list *list, const char *since, struct rig_news_nights *nights,
                                 struct rig_err *err)
{
    struct span *spans = calloc(list->count + 1, sizeof *spans);
    size_t count = 0, last = 0;
    *nights = (struct rig_news_nights){.since = since};
    if (spans == NULL)
        return rig_no_memory(err, "the news");
    for (size_t i = 0; i < list->count; i++) {
        const struct rig_stored_run *run = &list->runs[i];
        const double start_s = seconds_of(run->time);
        if (start_s >= 0)
            spans[count++] = (struct span){start_s, start_s + run->load_s + run->took_s, run->time};
    }
    if (count > 0)
        qsort(spans, count, sizeof *spans, later_first);
    if (since == NULL && count > 0) {
        last = begin_of_night(spans, count, 0);
        nights->since = spans[last++].time;
    }
    while (nights->since != NULL && last < count && strcmp(spans[last].time, nights->since) >= 0)
        last++;
    if (last < count)
        nights->before = spans[begin_of_night(spans, count, last)].time;
    free(spans);
    return RIG_OK;
}

/* ---- the runs that are compared ---- */

struct sample {
    const struct rig_stored_run *later[LATER_MOST], *earlier[EARLIER_MOST]; /* the latest first */
    uint32_t later_count, earlier_count;
};

struct finding {
    struct rig_news *news;
    const struct rig_news_nights *nights;
    bool out_of_memory;
};

static void tell(struct finding *finding, const struct rig_news_item *item)
{
    finding->out_of_memory |= !rig_news_items_add(&finding->news->items, *item);
}

static bool is_later(const struct rig_news_nights *nights, const struct rig_stored_run *run)
{
    return strcmp(run->time, nights->since) >= 0;
}

static bool is_run(const struct rig_stored_run *run)
{
    return run->state != RIG_STORED_FOREIGN && run->state != RIG_STORED_REMOVING && run->state != RIG_STORED_RUNNING &&
           !run->is_matrix && rig_stored_run_is_time(run->time);
}

/* A run without a result has no request: it is one of any. */
static bool is_same_case(const struct rig_stored_run *a, const struct rig_stored_run *b)
{
    return a->requested[0] == '\0' || b->requested[0] == '\0' ||
           (strcmp(a->requested, b->requested) == 0 && strcmp(a->isolation, b->isolation) == 0);
}

static uint32_t shown_in(const struct rig_stored_run *const *runs, uint32_t count, enum rig_anomaly anomaly)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < count; i++)
        shown += rig_stored_run_is_judged(runs[i]) && runs[i]->found[anomaly] > 0;
    return shown;
}

static uint32_t judged_in(const struct rig_stored_run *const *runs, uint32_t count)
{
    uint32_t judged = 0;
    for (uint32_t i = 0; i < count; i++)
        judged += rig_stored_run_is_judged(runs[i]);
    return judged;
}

/* The fewest transactions of a witness in these runs; UINT32_MAX: there is none. */
static uint32_t fewest_in(const struct rig_stored_run *const *runs, uint32_t count, enum rig_anomaly anomaly)
{
    uint32_t fewest = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (runs[i]->fewest[anomaly] > 0 && runs[i]->fewest[anomaly] < fewest)
            fewest = runs[i]->fewest[anomaly];
    }
    return fewest;
}

/* ---- anomalies ---- */

/* An item with the latest of the runs that have one of the anomalies, and the number of these runs. */
static struct rig_news_item item_of(const struct sample *sample, enum rig_news_kind kind, rig_anomaly_set anomalies)
{
    struct rig_news_item item = {.kind = kind,
                                 .anomalies = anomalies,
                                 .earlier = sample->earlier_count > 0 ? sample->earlier[0] : NULL,
                                 .runs = judged_in(sample->later, sample->later_count),
                                 .earlier_runs = judged_in(sample->earlier, sample->earlier_count)};
    for (uint32_t i = 0; i < sample->later_count + sample->earlier_count; i++) {
        const bool is_earlier = i >= sample->later_count;
        const struct rig_stored_run *run = is_earlier ? sample->earlier[i - sample->later_count] : sample->later[i];
        bool has_one = false;
        for (unsigned one = 0; one < RIG_ANOMALY_COUNT; one++)
            has_one |= (anomalies & RIG_ANOMALY_BIT(one)) != 0 && run->found[one] > 0;
        if (!has_one || !rig_stored_run_is_judged(run))
            continue;
        *(is_earlier ? &item.earlier_shown : &item.shown) += 1;
        item.run = item.run == NULL ? run : item.run;
    }
    if (item.run == NULL)
        item.run = sample->later[0];
    return item;
}

/* Whether there are new anomalies, gone ones. */
static void find_anomalies(struct finding *finding, const struct sample *sample, bool *is_new, bool *is_gone)
{
    const uint32_t last = sample->later_count < sample->earlier_count ? sample->later_count : sample->earlier_count;
    rig_anomaly_set new = 0, smaller = 0, gone = 0;
    for (unsigned one = 0; one < RIG_ANOMALY_COUNT; one++) {
        const enum rig_anomaly anomaly = (enum rig_anomaly)one;
        rig_anomaly_set forbidden = 0;
        for (uint32_t i = 0; i < sample->later_count; i++)
            forbidden |= sample->later[i]->forbidden;
        const rig_anomaly_set bit = RIG_ANOMALY_BIT(one) & forbidden;
        const uint32_t later = shown_in(sample->later, sample->later_count, anomaly);
        const uint32_t earlier = shown_in(sample->earlier, sample->earlier_count, anomaly);
        if (later > 0 && earlier == 0)
            new |= bit;
        else if (later > 0 && fewest_in(sample->later, sample->later_count, anomaly) <
                                  fewest_in(sample->earlier, sample->earlier_count, anomaly))
            smaller |= bit;
        else if (later == 0 && shown_in(sample->earlier, last, anomaly) > 0 &&
                 judged_in(sample->later, sample->later_count) > 0)
            gone |= bit;
    }
    *is_new = new != 0;
    *is_gone = gone != 0;
    struct rig_news_item item = item_of(sample, RIG_NEWS_ANOMALY, new);
    item.is_bad = true;
    if (new != 0)
        tell(finding, &item);
    item = item_of(sample, RIG_NEWS_SMALLER, smaller);
    if (smaller != 0)
        tell(finding, &item);
    item = item_of(sample, RIG_NEWS_GONE, gone);
    item.run = sample->later[0];
    if (gone != 0)
        tell(finding, &item);
}

/* ---- levels and verdicts ---- */

static void find_levels(struct finding *finding, const struct sample *sample)
{
    const uint32_t last = sample->later_count < sample->earlier_count ? sample->later_count : sample->earlier_count;
    uint64_t later = 0, earlier = 0, lately = 0;
    struct rig_news_item item = item_of(sample, RIG_NEWS_REFUTED, 0);
    for (uint32_t i = 0; i < sample->later_count; i++) {
        if ((sample->later[i]->refuted & ~later) != 0)
            item.run = sample->later[i];
        later |= sample->later[i]->refuted;
    }
    for (uint32_t i = 0; i < sample->earlier_count; i++) {
        earlier |= sample->earlier[i]->refuted;
        lately |= i < last ? sample->earlier[i]->refuted : 0;
    }
    item.levels = rig_levels_weakest(later & ~earlier);
    if (item.earlier_runs == 0 || item.runs == 0)
        return;
    if (item.levels != 0)
        tell(finding, &item);
    item = item_of(sample, RIG_NEWS_KEPT, 0);
    item.levels = rig_levels_weakest(lately & ~later);
    if (item.levels != 0)
        tell(finding, &item);
}

static int rank_of(const struct rig_stored_run *run)
{
    switch (run->state) {
    case RIG_STORED_OK:
        return 0;
    case RIG_STORED_UNDECIDED:
        return 1;
    case RIG_STORED_REFUTED:
        return 3;
    case RIG_STORED_FAILED:
    case RIG_STORED_RUNNING:
    case RIG_STORED_UNFINISHED:
    case RIG_STORED_DAMAGED:
    case RIG_STORED_REMOVING:
    case RIG_STORED_FOREIGN:
    case RIG_STORED_STATE_COUNT:
        break;
    }
    return 2;
}

/* The later run with the worst verdict against the latest earlier one. New anomalies and gone ones explain it. */
static void find_verdict(struct finding *finding, const struct sample *sample, bool is_new, bool is_gone)
{
    const struct rig_stored_run *run = sample->later[0];
    for (uint32_t i = 1; i < sample->later_count; i++)
        run = rank_of(sample->later[i]) > rank_of(run) ? sample->later[i] : run;
    const struct rig_stored_run *earlier = sample->earlier_count > 0 ? sample->earlier[0] : NULL;
    const int now = rank_of(run), then = earlier == NULL ? 0 : rank_of(earlier);
    struct rig_news_item item = {.run = run, .earlier = earlier};
    item.kind = now > then ? RIG_NEWS_WORSE : RIG_NEWS_BETTER;
    /* A reproduction that shows its anomaly again is a verdict about a known bug. */
    item.is_bad = now > then && !run->is_reproduction;
    if (now == then || (now == 3 && is_new) || (then == 3 && is_gone))
        return;
    tell(finding, &item);
}

/* ---- throughput and flaky names ---- */

static uint32_t rates_of(const struct rig_stored_run *const *runs, uint32_t count, double *logarithms)
{
    uint32_t timed = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double rate = rig_stored_run_is_judged(runs[i]) ? rig_stored_run_rate(runs[i]) : 0;
        if (rate > 0)
            logarithms[timed++] = log(rate);
    }
    return timed;
}

static double mean_of(const double *logarithms, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += logarithms[i];
    return exp(sum / count);
}

/* Adds an item for each name that can be tested; drop_chance() removes those that chance explains. */
static void find_rates(struct finding *finding, const struct sample *sample)
{
    double later[LATER_MOST], earlier[EARLIER_MOST];
    const uint32_t later_count = rates_of(sample->later, sample->later_count, later);
    const uint32_t earlier_count = rates_of(sample->earlier, sample->earlier_count, earlier);
    if (later_count == 0)
        return;
    if (earlier_count < EARLIER_TIMED_LEAST || later_count + earlier_count < TIMED_LEAST) {
        finding->news->untimed++;
        return;
    }
    struct rig_news_item item = item_of(sample, RIG_NEWS_SLOWER, 0);
    item.is_bad = true;
    item.runs = later_count;
    item.earlier_runs = earlier_count;
    item.rate = mean_of(later, later_count);
    item.earlier_rate = mean_of(earlier, earlier_count);
    item.p = rig_two_means(later, later_count, earlier, earlier_count);
    tell(finding, &item);
}

static void find_flaky(struct finding *finding, const struct sample *sample)
{
    struct rig_news_item item = item_of(sample, RIG_NEWS_FLAKY, 0);
    item.shown = item.runs = 0;
    for (uint32_t i = 0; i < sample->later_count + sample->earlier_count; i++) {
        const struct rig_stored_run *run =
            i < sample->later_count ? sample->later[i] : sample->earlier[i - sample->later_count];
        if (!rig_stored_run_is_judged(run) || run->state == RIG_STORED_UNDECIDED)
            continue;
        item.shown += run->state == RIG_STORED_REFUTED;
        item.runs++;
    }
    if (item.shown > 0 && item.shown < item.runs)
        tell(finding, &item);
}

/* Keeps the names that are slower by more than chance explains. */
static enum rig_rc drop_chance(struct rig_news *news, struct rig_err *err)
{
    double *p = calloc(news->items.count + 1, sizeof *p);
    size_t kept = 0;
    if (p == NULL)
        return rig_no_memory(err, "the news");
    for (size_t i = 0; i < news->items.count; i++)
        p[i] = news->items.at[i].kind == RIG_NEWS_SLOWER ? news->items.at[i].p : -1;
    rig_two_samples_adjust(p, (uint32_t)news->items.count);
    for (size_t i = 0; i < news->items.count; i++) {
        struct rig_news_item item = news->items.at[i];
        item.p = p[i] < 0 ? 0 : p[i];
        if (item.kind == RIG_NEWS_SLOWER && (p[i] >= significant || item.rate > item.earlier_rate * (1 - slower_least)))
            continue;
        news->items.at[kept++] = item;
    }
    news->items.count = kept;
    free(p);
    return RIG_OK;
}

/* ---- names ---- */

/* The runs of a name whose request and isolation are those of `first`. */
static void gather(const struct finding *finding, const struct rig_stored_run *runs, size_t count,
                   const struct rig_stored_run *first, struct sample *sample)
{
    sample->later_count = sample->earlier_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_run(&runs[i]) || !is_same_case(first, &runs[i]))
            continue;
        if (is_later(finding->nights, &runs[i]) && sample->later_count < LATER_MOST)
            sample->later[sample->later_count++] = &runs[i];
        else if (!is_later(finding->nights, &runs[i]) && sample->earlier_count < EARLIER_MOST)
            sample->earlier[sample->earlier_count++] = &runs[i];
    }
}

static void find_in_case(struct finding *finding, const struct sample *sample)
{
    bool is_new, is_gone;
    find_anomalies(finding, sample, &is_new, &is_gone);
    find_verdict(finding, sample, is_new, is_gone);
    find_levels(finding, sample);
    find_rates(finding, sample);
    find_flaky(finding, sample);
}

/* `runs`: all of one name, the latest first. */
static void find_in_name(struct finding *finding, const struct rig_stored_run *runs, size_t count)
{
    static _Thread_local struct sample sample;
    bool has_request = false, has_later = false;
    size_t newest = count;
    for (size_t i = 0; i < count; i++) {
        if (!is_run(&runs[i]))
            continue;
        newest = newest == count ? i : newest;
        has_later = has_later || is_later(finding->nights, &runs[i]);
        has_request = has_request || (is_later(finding->nights, &runs[i]) && runs[i].requested[0] != '\0');
    }
    if (newest < count && !has_later && finding->nights->before != NULL &&
        strcmp(runs[newest].time, finding->nights->before) >= 0)
        tell(finding, &(struct rig_news_item){.kind = RIG_NEWS_NOT_RUN, .run = &runs[newest]});
    for (size_t i = 0; i < count; i++) {
        bool is_told =
            !is_run(&runs[i]) || !is_later(finding->nights, &runs[i]) || (has_request && runs[i].requested[0] == '\0');
        for (size_t earlier = 0; earlier < i && !is_told; earlier++)
            is_told = is_run(&runs[earlier]) && is_same_case(&runs[earlier], &runs[i]) &&
                      (!has_request || runs[earlier].requested[0] != '\0');
        if (is_told)
            continue;
        gather(finding, runs, count, &runs[i], &sample);
        find_in_case(finding, &sample);
    }
}

static int by_kind(const void *a, const void *b)
{
    const struct rig_news_item *left = a, *right = b;
    if (left->is_bad != right->is_bad)
        return left->is_bad ? -1 : 1;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return (left->run > right->run) - (left->run < right->run); /* the order of the list */
}

enum rig_rc rig_news_find(const struct rig_run_list *list, const struct rig_news_nights *nights, struct rig_news *news,
                          struct rig_err *err)
{
    struct finding finding = {.news = news, .nights = nights};
    *news = (struct rig_news){.since = ""};
    if (nights->since == NULL)
        return RIG_OK;
    (void)snprintf(news->since, sizeof news->since, "%s", nights->since);
    for (size_t first = 0, end; first < list->count; first = end) {
        for (end = first; end < list->count && strcmp(list->runs[end].name, list->runs[first].name) == 0; end++) {
            news->runs += is_run(&list->runs[end]) && is_later(nights, &list->runs[end]);
            news->earlier_runs += is_run(&list->runs[end]) && !is_later(nights, &list->runs[end]);
        }
        find_in_name(&finding, &list->runs[first], end - first);
    }
    if (finding.out_of_memory)
        return rig_no_memory(err, "the news");
    const enum rig_rc rc = drop_chance(news, err);
    if (news->items.count > 0)
        qsort(news->items.at, news->items.count, sizeof *news->items.at, by_kind);
    for (size_t i = 0; i < news->items.count; i++)
        news->bad += news->items.at[i].is_bad;
    return rc;
}

void rig_news_done(struct rig_news *news)
{
    rig_news_items_done(&news->items);
}
