#include <math.h>
#include <string.h>

#include "base/json_members.h"
#include "base/plural.h"
#include "base/statistics.h"
#include "checker/model/level.h"
#include "jobs/store/news.h"
#include "jobs/store/run_table.h"
#include "report/tell.h"
#include "report/words.h"

enum { LINES_MOST = 40, NAMED_MOST = 3, PAGE_ITEMS_MOST = 12, CHANCE_PERCENT = 5 };

static const struct {
    const char *name, *heading;
} kinds[RIG_NEWS_COUNT] = {
#define NEWS_ROW(id, name, heading) {name, heading},
    RIG_NEWS_TABLE(NEWS_ROW)
#undef NEWS_ROW
};

/* ---- a sentence for an item ---- */

/* Each cycle has a name by predicates and one without: where there are both, one is enough. */
static bool is_twin(const struct rig_news_item *item, enum rig_anomaly anomaly)
{
    enum rig_anomaly plain;
    return rig_anomaly_is_by_predicate(anomaly, &plain) && (item->anomalies & RIG_ANOMALY_BIT(plain)) != 0;
}

static void add_names(const struct rig_news_item *item, struct rig_buf *out)
{
    unsigned named = 0, more = 0;
    for (unsigned one = 0; one < RIG_ANOMALY_COUNT; one++) {
        if ((item->anomalies & RIG_ANOMALY_BIT(one)) == 0 || is_twin(item, (enum rig_anomaly)one))
            continue;
        if (named == NAMED_MOST) {
            more++;
            continue;
        }
        rig_buf_printf(out, "%s%s", named++ == 0 ? "" : ", ", rig_anomaly_info((enum rig_anomaly)one)->name);
        const struct rig_stored_run *run = item->kind == RIG_NEWS_GONE ? item->earlier : item->run;
        if (run->fewest[one] > 0)
            rig_tell(out, " of %n transaction%p", run->fewest[one], run->fewest[one]);
    }
    if (more > 0)
        rig_buf_printf(out, " and %u other%s", more, rig_plural(more));
}

static void add_earlier(uint32_t runs, struct rig_buf *out)
{
    rig_tell(out, "%n earlier run%p", runs, runs);
}

static void add_why(const struct rig_stored_run *run, struct rig_buf *out)
{
    rig_buf_add_text(out, rig_stored_state_words[run->state]);
    if (run->why[0] != '\0')
        rig_tell(out, " (%c)", run->why);
    else if (run->broken[0] != '\0' && run->state == RIG_STORED_REFUTED)
        rig_tell(out, " (breaks %c)", run->broken);
}

static void say_anomalies(const struct rig_news_item *item, struct rig_buf *out)
{
    add_names(item, out);
    rig_tell(out, ", in %n of %n run%p; ", item->shown, item->runs, item->runs);
    if (item->earlier_runs == 0) {
        rig_buf_add_text(out, "no earlier run to compare with");
    } else {
        rig_buf_add_text(out, item->kind == RIG_NEWS_SMALLER ? "in more transactions in " : "in none of ");
        add_earlier(item->earlier_runs, out);
    }
}

/* With the share of earlier runs that have it, estimated as (k + 1) / (n + 2), all later runs lack it by chance. */
static bool is_chance(const struct rig_news_item *item)
{
    const double share = (item->earlier_shown + 1.0) / (item->earlier_runs + 2.0);
    return pow(1 - share, item->runs) * 100 >= CHANCE_PERCENT;
}

static void say_gone(const struct rig_news_item *item, struct rig_buf *out)
{
    add_names(item, out);
    rig_tell(out, ", in %n of ", item->earlier_shown);
    add_earlier(item->earlier_runs, out);
    rig_tell(out, "; not in %n run%p since%s", item->runs, item->runs, is_chance(item) ? ", which may be chance" : "");
}

static void say_levels(const struct rig_news_item *item, struct rig_buf *out)
{
    rig_words_levels(out, item->levels);
    if (item->kind == RIG_NEWS_KEPT) {
        rig_tell(out, ": not refuted in %n run%p since", item->runs, item->runs);
        return;
    }
    rig_buf_add_text(out, ": refuted in none of ");
    add_earlier(item->earlier_runs, out);
}

static void say_verdict(const struct rig_news_item *item, struct rig_buf *out)
{
    add_why(item->run, out);
    if (item->earlier == NULL) {
        rig_buf_add_text(out, "; no earlier run to compare with");
    } else {
        rig_buf_add_text(out, "; before it was ");
        add_why(item->earlier, out);
    }
}

static void say_rate(const struct rig_news_item *item, struct rig_buf *out)
{
    rig_tell(out, "%n acknowledged a second, ", (uint64_t)llround(item->rate));
    rig_buf_printf(out, "%.1f %% less than the ", (1 - item->rate / item->earlier_rate) * 100);
    rig_tell(out, "%n of ", (uint64_t)llround(item->earlier_rate));
    add_earlier(item->earlier_runs, out);
    rig_buf_printf(out, item->p < 0.0001 ? " (p < 0.0001)" : " (p = %.4f)", item->p);
}

static void say_flaky(const struct rig_news_item *item, struct rig_buf *out)
{
    const struct rig_interval share = rig_interval_of_share(item->shown, item->runs);
    rig_tell(out, "refuted in %n of %n run%p: ", item->shown, item->runs, item->runs);
    rig_buf_printf(out, "%.1f %% to %.1f %% at 95 %%", share.least * 100, share.most * 100);
}

static void say(const struct rig_news_item *item, struct rig_buf *out)
{
    switch (item->kind) {
    case RIG_NEWS_ANOMALY:
    case RIG_NEWS_SMALLER:
        say_anomalies(item, out);
        break;
    case RIG_NEWS_GONE:
        say_gone(item, out);
        break;
    case RIG_NEWS_REFUTED:
    case RIG_NEWS_KEPT:
        say_levels(item, out);
        break;
    case RIG_NEWS_WORSE:
    case RIG_NEWS_BETTER:
        say_verdict(item, out);
        break;
    case RIG_NEWS_SLOWER:
        say_rate(item, out);
        break;
    case RIG_NEWS_FLAKY:
        say_flaky(item, out);
        break;
    case RIG_NEWS_NOT_RUN:
        rig_buf_add_text(out, "no run since this one");
        break;
    case RIG_NEWS_COUNT:
        break;
    }
}

/* "3 bad, 2 other"; "nothing new". */
static void say_counts(const struct rig_news *news, struct rig_buf *out)
{
    const size_t other = news->items.count - news->bad;
    if (news->items.count == 0)
        rig_buf_add_text(out, "Nothing new.");
    else
        rig_tell(out, "%n bad, %n other.", news->bad, other);
}

static void say_scope(const struct rig_news *news, struct rig_buf *out)
{
    if (news->since[0] == '\0') {
        rig_buf_add_text(out, "no runs");
        return;
    }
    rig_tell(out, "since %c: %n run%p, ", news->since, news->runs, news->runs);
    rig_tell(out, "%n earlier", news->earlier_runs);
}

static void say_untimed(const struct rig_news *news, struct rig_buf *out)
{
    rig_tell(out, "Throughput of %n name%p not compared: fewer than 3 earlier runs.", news->untimed, news->untimed);
}

/* ---- text and Markdown ---- */

struct form {
    const char *title, *heading, *item; /* what comes before each */
    bool is_markdown;
    size_t lines_most;
};

static void add_clean(const struct form *form, const struct rig_buf *text, struct rig_buf *out)
{
    for (const char *at = rig_buf_text(text); *at != '\0'; at++) {
        if (form->is_markdown && strchr("\\`*_[]<>|#", *at) != NULL)
            rig_buf_add_char(out, '\\');
        rig_buf_add_char(out, *at);
    }
}

static void add_item(const struct form *form, const struct rig_news_item *item, struct rig_buf *out)
{
    struct rig_buf words;
    rig_buf_init(&words, 0);
    rig_run_table_name(item->run, &words);
    rig_buf_add_text(&words, ": ");
    say(item, &words);
    rig_buf_add_text(out, form->item);
    add_clean(form, &words, out);
    rig_buf_add_char(out, '\n');
    rig_buf_done(&words);
}

/* Each item takes a line, each heading two; the last two lines are left for what does not fit and for the throughput.
 */
static void add_items(const struct form *form, const struct rig_news *news, struct rig_buf *out)
{
    size_t lines = 2, told = 0;
    for (; told < news->items.count; told++) {
        const struct rig_news_item *item = &news->items.at[told];
        const bool is_first = told == 0 || item->kind != item[-1].kind || item->is_bad != item[-1].is_bad;
        lines += is_first ? 3 : 1;
        if (lines > form->lines_most - 3)
            break;
        if (is_first)
            rig_buf_printf(out, "\n%s%s\n%s", form->heading, kinds[item->kind].heading, form->is_markdown ? "\n" : "");
        add_item(form, item, out);
    }
    const size_t left = news->items.count - told;
    if (left > 0 || news->untimed > 0)
        rig_buf_add_char(out, '\n');
    if (left > 0)
        rig_tell(out, "%n more: `rig store news --format json` has all.\n", left);
    if (news->untimed > 0) {
        say_untimed(news, out);
        rig_buf_add_char(out, '\n');
    }
}

static void add_all(const struct form *form, const struct rig_news *news, const char *store, struct rig_buf *out)
{
    struct rig_buf words;
    rig_buf_init(&words, 0);
    rig_tell(&words, "News of %c ", store);
    say_scope(news, &words);
    rig_buf_add_text(out, form->title);
    add_clean(form, &words, out);
    rig_buf_add_text(out, form->is_markdown ? "\n\n" : "\n");
    say_counts(news, out);
    rig_buf_add_char(out, '\n');
    add_items(form, news, out);
    rig_buf_done(&words);
}

void rig_news_text(const struct rig_news *news, const char *store, struct rig_buf *out)
{
    static const struct form form = {"", "", "  ", false, LINES_MOST};
    add_all(&form, news, store, out);
}

void rig_news_markdown(const struct rig_news *news, const char *store, struct rig_buf *out)
{
    static const struct form form = {"## ", "### ", "- ", true, SIZE_MAX};
    add_all(&form, news, store, out);
}

/* ---- JSON ---- */

static void add_json_anomalies(struct rig_json_writer *json, const struct rig_news_item *item)
{
    const struct rig_stored_run *run = item->kind == RIG_NEWS_GONE ? item->earlier : item->run;
    rig_json_begin_array(json, "anomalies");
    for (unsigned one = 0; one < RIG_ANOMALY_COUNT; one++) {
        if ((item->anomalies & RIG_ANOMALY_BIT(one)) != 0)
            rig_json_object(json, NULL, "name: %s, transactions: %d", rig_anomaly_info((enum rig_anomaly)one)->name,
                            run->fewest[one]);
    }
    rig_json_end(json);
    rig_json_begin_array(json, "levels");
    for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++) {
        if ((item->levels & RIG_LEVEL_BIT(level)) != 0)
            rig_json_string(json, NULL, rig_level_info((enum rig_level)level)->name);
    }
    rig_json_end(json);
}

static void add_json_item(struct rig_json_writer *json, const struct rig_news_item *item)
{
    const struct rig_stored_run *earlier = item->earlier;
    struct rig_buf words;
    rig_buf_init(&words, 0);
    say(item, &words);
    rig_json_begin_object(json, NULL);
    rig_json_members(json, "kind: %s, bad: %b, name: %s, time: %s, earlier: %s, text: %s", kinds[item->kind].name,
                     item->is_bad, item->run->name, item->run->time, earlier == NULL ? NULL : earlier->time,
                     rig_buf_text(&words));
    rig_json_members(json, "state: %s, earlier_state: %s", rig_stored_state_words[item->run->state],
                     earlier == NULL ? NULL : rig_stored_state_words[earlier->state]);
    rig_json_members(json, "shown: %d, runs: %d, earlier_shown: %d, earlier_runs: %d", item->shown, item->runs,
                     item->earlier_shown, item->earlier_runs);
    add_json_anomalies(json, item);
    if (item->kind == RIG_NEWS_SLOWER) {
        rig_json_members(json, "rate: %f, earlier_rate: %f", item->rate, item->earlier_rate);
        rig_json_number(json, "p", item->p);
    }
    if (item->kind == RIG_NEWS_FLAKY) {
        const struct rig_interval share = rig_interval_of_share(item->shown, item->runs);
        rig_json_members(json, "share_least: %f, share_most: %f", share.least, share.most);
    }
    rig_json_end(json);
    rig_buf_done(&words);
}

void rig_news_json(const struct rig_news *news, const char *store, struct rig_buf *out)
{
    struct rig_json_writer json;
    rig_json_init_indented(&json, out, 1, 2);
    rig_json_begin_object(&json, NULL);
    rig_json_members(&json, "store: %s, since: %s, runs: %d, earlier_runs: %d, bad: %d, untimed: %d", store,
                     news->since[0] == '\0' ? NULL : news->since, news->runs, news->earlier_runs, news->bad,
                     news->untimed);
    rig_json_begin_array(&json, "news");
    for (size_t i = 0; i < news->items.count; i++)
        add_json_item(&json, &news->items.at[i]);
    rig_json_end(&json);
    rig_json_end(&json);
    rig_buf_add_char(out, '\n');
}

/* ---- the page ---- */

void rig_news_page(const struct rig_news *news, const char *base, struct rig_buf *out)
{
    struct rig_buf words;
    rig_buf_init(&words, 0);
    say_scope(news, &words);
    rig_tell(out, "<h2>News</h2>\n<p>%h. ", rig_buf_text(&words));
    say_counts(news, out);
    rig_buf_add_text(out, "</p>\n");
    if (news->items.count > 0)
        rig_buf_add_text(out, "<div class=\"wide\"><table class=\"runs\"><tbody>\n");
    for (size_t i = 0; i < news->items.count && i < PAGE_ITEMS_MOST; i++) {
        const struct rig_news_item *item = &news->items.at[i];
        rig_buf_clear(&words);
        say(item, &words);
        rig_tell(out, "<tr><td class=\"%s\">%s</td><td>", item->is_bad ? "bad" : "none", kinds[item->kind].heading);
        rig_run_table_link(item->run, base, item->run->name, out);
        rig_tell(out, "</td><td>%h</td></tr>\n", rig_buf_text(&words));
    }
    if (news->items.count > 0)
        rig_buf_add_text(out, "</tbody></table></div>\n");
    if (news->items.count > PAGE_ITEMS_MOST)
        rig_tell(out, "<p class=\"dim\">%n more: `rig store news` has all.</p>\n",
                 news->items.count - (size_t)PAGE_ITEMS_MOST);
    rig_buf_done(&words);
}
