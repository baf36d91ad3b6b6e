#include "checker/judge/shared/shared_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "checker/infer/type_inference.h"
#include "checker/judge/shared/part_plan.h"
#include "checker/judge/stream/stream_part.h"

enum task_kind { TASK_CENSUS, TASK_JUDGE };

/* A task, before the lifetimes of the keys that a judging process needs. Numbers as in struct rig_shared_part. */
struct task {
    uint64_t kind, life_count;
    struct rig_shared_part part;
    uint64_t is_last;
};

/* Before the content of an answer. */
struct answer_head {
    uint64_t failed; /* the content is the text of the error */
};

/* ---- the tasks, in any process ---- */

static bool fill_census(struct rig_census *census, struct rig_table *whole, const struct task *task,
                        const struct rig_key_lifetime *lifetimes)
{
    bool fits = census != NULL;
    for (uint64_t i = 0; fits && i < task->life_count; i++) {
        fits = rig_census_put(census, lifetimes[i].key, lifetimes[i].last);
        uint32_t *place = fits && lifetimes[i].first >= task->part.read_from_txn
                              ? rig_table_put(whole, (uint64_t)lifetimes[i].key)
                              : NULL;
        if (place != NULL)
            *place = 0;
        else
            fits &= lifetimes[i].first < task->part.read_from_txn;
    }
    return fits;
}

static void tell(const struct rig_stream_options *options, struct rig_source *source, const struct task *task,
                 struct rig_check_progress *progress)
{
    const struct rig_shared_part *part = &task->part;
    progress->share = (double)(rig_source_given_end(source) - part->read_from) / (double)(part->end - part->read_from);
    if (options->watch != NULL)
        options->watch->tell(options->watch->context, progress);
}

/* Whether the part may still be good. */
static bool is_clean(const struct rig_stream *windows)
{
    uint64_t found[RIG_ANOMALY_COUNT], count = 0;
    rig_stream_found(windows, found);
    for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
        count += found[anomaly];
    return count == 0 && rig_stream_conflict(windows) == NULL;
}

/* Feeds the part, with what is read before it. */
static enum rig_rc feed(struct rig_stream *windows, struct rig_source *source, const struct rig_stream_options *options,
                        const struct task *task, const struct rig_table *whole, struct rig_stream_part *result,
                        struct rig_err *err)
{
    const struct rig_segment *segment = NULL;
    const struct rig_source_facts *facts = rig_source_facts(source);
    struct rig_check_progress progress = {.pass = 2};
    bool is_in_part = task->part.read_from == task->part.begin;
    enum rig_rc rc = RIG_OK;
    result->good = is_in_part;
    while (rc == RIG_OK && (task->is_last || rig_source_given_end(source) < task->part.end)) {
        rc = rig_source_next(source, &segment, err);
        rig_stream_source(windows, facts->held_bytes + facts->parts_bytes, rig_source_share(source));
        if (rc != RIG_OK || segment == NULL)
            break;
        rc = rig_stream_feed(windows, segment, err);
        progress.txn_count += segment->txns.count;
        if (rc == RIG_OK && !is_in_part && rig_source_given_end(source) >= task->part.begin) {
            rc = rig_stream_skip(windows, whole, result, err);
            is_in_part = true;
        }
        result->good &= is_clean(windows);
        if (is_in_part && !result->good)
            break;
        tell(options, source, task, &progress);
    }
    return rc;
}

struct part_windows {
    struct rig_stream *stream;
    struct rig_census *census;
};

/* Judges a part. The windows of one that is good are left in *kept unless that is NULL. */
static enum rig_rc judge(struct rig_source *source, const struct rig_stream_options *given, const struct task *task,
                         const struct rig_key_lifetime *lifetimes, struct rig_stream_part *result,
                         struct part_windows *kept, struct rig_err *err)
{
    const struct rig_source_start start = {.block = task->part.read_from, .txn_count = task->part.read_from_txn};
    struct rig_stream_options options = *given;
    struct rig_stream *windows = NULL;
    struct rig_census *census = rig_census_new();
    struct rig_table whole;
    rig_table_init(&whole);
    *result = (struct rig_stream_part){.good = false};
    options.census = census;
    enum rig_rc rc =
        fill_census(census, &whole, task, lifetimes) ? RIG_OK : rig_memory_limit(err, "the keys of the history");
    if (rc == RIG_OK)
        rc = rig_source_start_at(source, &start, err);
    if (rc == RIG_OK)
        rc = rig_stream_begin(rig_source_facts(source)->workload, &options, &windows, err);
    if (rc == RIG_OK)
        rig_stream_warm(windows, task->part.read_from_txn, task->part.read_from < task->part.begin);
    if (rc == RIG_OK)
        rc = feed(windows, source, &options, task, &whole, result, err);
    if (rc == RIG_OK && result->good)
        rc = rig_stream_end_part(windows, task->is_last != 0, result, err);
    rig_table_done(&whole);
    if (rc == RIG_OK && result->good && kept != NULL) {
        *kept = (struct part_windows){windows, census};
        return RIG_OK;
    }
    rig_stream_free(windows);
    rig_census_free(census);
    return rc;
}

static enum rig_rc do_task(struct rig_source *source, const struct rig_stream_options *options,
                           const struct rig_buf *bytes, struct rig_buf *answer, struct rig_err *err)
{
    struct task task;
    if (bytes->size < sizeof task)
        return rig_fail(err, RIG_E_INPUT, "a task without a beginning");
    memcpy(&task, bytes->data, sizeof task);
    if (task.kind == TASK_CENSUS) {
        struct rig_part_census census;
        rig_part_census_init(&census);
        enum rig_rc rc = rig_part_census_take(&census, source, task.part.begin, task.part.end, err);
        if (rc == RIG_OK && !rig_part_census_put(&census, answer))
            rc = rig_memory_limit(err, "the keys of the history");
        rig_part_census_done(&census);
        return rc;
    }
    if (bytes->size != sizeof task + task.life_count * sizeof(struct rig_key_lifetime))
        return rig_fail(err, RIG_E_INPUT, "a task with an incomplete list of keys");
    struct rig_stream_part part;
    const struct rig_key_lifetime *lifetimes = (const void *)(bytes->data + sizeof task);
    const enum rig_rc rc = judge(source, options, &task, lifetimes, &part, NULL, err);
    if (rc == RIG_OK)
        rig_buf_add(answer, &part, sizeof part);
    return rc;
}

void rig_shared_help(struct rig_source *source, const struct rig_stream_options *options, const struct rig_buf *task,
                     struct rig_buf *answer)
{
    struct answer_head head = {.failed = 0};
    struct rig_err err = {0};
    rig_buf_clear(answer);
    rig_buf_add(answer, &head, sizeof head);
    if (do_task(source, options, task, answer, &err) == RIG_OK)
        return;
    head.failed = 1;
    rig_buf_clear(answer);
    rig_buf_add(answer, &head, sizeof head);
    rig_buf_add_text(answer, err.text);
}

/* ---- the leader ---- */

static const char not_clean[] = "a part of it shows an anomaly, or could not be told from the one before";

struct leading {
    struct rig_source *source;
    const struct rig_stream_options *options;
    struct rig_helpers *helpers;
    struct rig_source_offsets blocks;
    struct rig_part_plan plan;
    struct rig_buf bytes;
    struct rig_stream_part parts[RIG_PARTS_MOST];
    struct part_windows first;
};

/* Why the record is not shared. False. */
static bool leave(struct leading *l, const char *why)
{
    if (l->helpers->why.rc == RIG_OK)
        (void)rig_fail(&l->helpers->why, RIG_E_LIMIT, "%s", why);
    return false;
}

/* The content of the helper's answer. False: there is none. */
static bool hear(struct leading *l, uint32_t helper, const char **content, size_t *size)
{
    struct rig_err why = {0};
    struct answer_head head;
    if (!l->helpers->await(l->helpers->context, helper, &l->bytes, &why))
        return leave(l, why.text);
    if (l->bytes.size < sizeof head)
        return leave(l, "an answer of another process is cut");
    memcpy(&head, l->bytes.data, sizeof head);
    *content = l->bytes.data + sizeof head;
    *size = l->bytes.size - sizeof head;
    return head.failed ? leave(l, rig_buf_text(&l->bytes) + sizeof head) : true;
}

/* After one that is not good no helper is asked again, so the others need not be heard. */
static bool hear_all(struct leading *l,
                     bool (*take)(struct leading *l, uint32_t part, const char *content, size_t size))
{
    bool good = true;
    for (uint32_t helper = 0; good && helper < l->helpers->count; helper++) {
        const char *content = NULL;
        size_t size = 0;
        good = hear(l, helper, &content, &size) && take(l, helper + 1, content, size);
    }
    return good;
}

static bool tell_task(struct leading *l, uint32_t part, enum task_kind kind)
{
    const struct rig_part_census *whole = &l->plan.whole;
    struct task task = {.kind = kind, .part = l->plan.at[part], .is_last = part + 1 == l->plan.count};
    rig_buf_clear(&l->bytes);
    rig_buf_add(&l->bytes, &task, sizeof task);
    for (size_t i = 0; kind == TASK_JUDGE && i < whole->lifetimes.count; i++) {
        const struct rig_key_lifetime *life = &whole->lifetimes.at[i];
        if (life->last <= task.part.read_from_txn || life->first >= task.part.end_txn)
            continue;
        rig_buf_add(&l->bytes, life, sizeof *life);
        task.life_count++;
    }
    if (l->bytes.failed)
        return leave(l, "its keys do not fit into memory");
    memcpy(l->bytes.data, &task, sizeof task);
    struct rig_err why = {0};
    return part == 0 || l->helpers->tell(l->helpers->context, part - 1, &l->bytes, &why) || leave(l, why.text);
}

static bool take_census(struct leading *l, uint32_t part, const char *content, size_t size)
{
    struct rig_part_census census;
    rig_part_census_init(&census);
    bool good = rig_part_census_get(&census, content, size) || leave(l, "an answer of another process is damaged");
    if (good && !rig_part_plan_add(&l->plan, part, &census))
        good = leave(l, "its keys do not fit into memory");
    if (good && l->plan.whole.odd != NULL)
        good = leave(l, l->plan.whole.odd);
    rig_part_census_done(&census);
    return good;
}

/* The keys of all parts, and from where each is read. */
static bool take_all_censuses(struct leading *l)
{
    struct rig_part_census own;
    struct rig_err err = {0};
    for (uint32_t part = 1; part < l->plan.count; part++) {
        if (!tell_task(l, part, TASK_CENSUS))
            return false;
    }
    rig_part_census_init(&own);
    const struct rig_shared_part *first = &l->plan.at[0];
    bool good = rig_part_census_take(&own, l->source, first->begin, first->end, &err) == RIG_OK || leave(l, err.text);
    if (good && !rig_part_plan_add(&l->plan, 0, &own))
        good = leave(l, "its keys do not fit into memory");
    if (good && l->plan.whole.odd != NULL)
        good = leave(l, l->plan.whole.odd);
    rig_part_census_done(&own);
    good = good && hear_all(l, take_census);
    if (good)
        rig_part_plan_finish(&l->plan, &l->blocks);
    return good && (l->plan.whole.odd == NULL || leave(l, l->plan.whole.odd));
}

static bool take_part(struct leading *l, uint32_t part, const char *content, size_t size)
{
    struct rig_stream_part *into = &l->parts[part];
    if (size != sizeof *into)
        return leave(l, "an answer of another process is cut");
    memcpy(into, content, size);
    return true;
}

/* Both sides of each border say the same, and each transaction was judged. */
static bool parts_agree(struct leading *l)
{
    uint64_t txn_count = 0;
    for (uint32_t i = 0; i < l->plan.count; i++) {
        const struct rig_stream_part *part = &l->parts[i];
        const struct rig_stream_border *before = &part->before, *behind = i == 0 ? before : &l->parts[i - 1].behind;
        if (!part->good || !part->has_invocations)
            return leave(l, not_clean);
        if (before->count != behind->count || before->digest != behind->digest)
            return leave(l, "two parts disagree about their border");
        txn_count += part->ok + part->fail + part->info;
    }
    return txn_count == l->plan.whole.txn_count + l->plan.whole.open_count || leave(l, "parts of it are missing");
}

static bool judge_all(struct leading *l)
{
    struct rig_err err = {0};
    struct task own;
    for (uint32_t part = l->plan.count; part-- > 0;) {
        if (!tell_task(l, part, TASK_JUDGE))
            return false;
    }
    memcpy(&own, l->bytes.data, sizeof own); /* the first part's */
    const struct rig_key_lifetime *lifetimes = (const void *)(l->bytes.data + sizeof own);
    const bool good =
        judge(l->source, l->options, &own, lifetimes, &l->parts[0], &l->first, &err) == RIG_OK || leave(l, err.text);
    if (good && !l->parts[0].good)
        return leave(l, not_clean);
    return good && hear_all(l, take_part) && parts_agree(l);
}

/* The facts of the ranks, where there are several, with the sums of all parts. */
static enum rig_rc sum_ranks(struct leading *l, struct rig_source_facts *facts, struct rig_rank_fact **ranks,
                             struct rig_err *err)
{
    const struct rig_rank_sums_vec *sums = &l->plan.whole.ranks;
    *ranks = NULL;
    if (facts->ranks.count == 0)
        return RIG_OK;
    RIG_INVARIANT(sums->count == facts->ranks.count);
    *ranks = malloc(sums->count * sizeof **ranks);
    if (*ranks == NULL)
        return rig_no_memory(err, "the facts of the ranks");
    for (size_t i = 0; i < sums->count; i++) {
        const int64_t error_ns = sums->at[i].error_ns;
        (*ranks)[i] = facts->ranks.ranks[i];
        (*ranks)[i].txn_count = sums->at[i].txn_count;
        (*ranks)[i].error_ns = error_ns;
        facts->ranks.bound_ns = 2 * error_ns > facts->ranks.bound_ns ? 2 * error_ns : facts->ranks.bound_ns;
    }
    facts->ranks.ranks = *ranks;
    return RIG_OK;
}

/* The facts of the source are those of the first part. */
static enum rig_rc conclude(struct leading *l, struct rig_verdict **verdict, struct rig_err *err)
{
    struct rig_source_facts facts = *rig_source_facts(l->source);
    struct rig_rank_fact *ranks = NULL;
    facts.faults = l->plan.whole.faults.at;
    facts.fault_count = l->plan.whole.faults.count;
    facts.truncated = false;
    for (uint32_t part = 1; part < l->plan.count; part++)
        rig_stream_add_part(l->first.stream, &l->parts[part]);
    enum rig_rc rc = sum_ranks(l, &facts, &ranks, err);
    if (rc == RIG_OK) {
        rc = rig_stream_finish_parts(l->first.stream, &facts, verdict, err);
        l->first.stream = NULL;
    }
    free(ranks);
    if (rc == RIG_OK)
        (*verdict)->cost.process_count = l->plan.count;
    return rc;
}

/* Whether the type is judged in windows of known orders, and the options leave windows to rig. */
static bool is_fit(struct leading *l)
{
    const struct rig_source_facts *facts = rig_source_facts(l->source);
    const struct rig_type_inference *type = rig_type_inference(facts->workload);
    if (type == NULL || type->whole || type->objects || type->time_elements != NULL || !type->total_orders)
        return leave(l, "only lists are checked in parts");
    if (facts->keyword_keys || facts->value_keys)
        return leave(l, "its keys are texts");
    if (l->options->keep_all || l->options->in_windows || l->options->guess_failed)
        return leave(l, "it is to be checked in another way");
    if (l->helpers->count >= RIG_PARTS_MOST)
        return leave(l, "at most 64 processes share a check");
    if (!rig_source_blocks(l->source, &l->blocks))
        return leave(l, "only records in blocks, without a certificate, are checked in parts");
    return rig_part_plan_divide(&l->plan, &l->blocks, facts->size_bytes, l->helpers->count + 1) ||
           leave(l, "it is too short");
}

enum rig_rc rig_check_shared(struct rig_source *source, const struct rig_stream_options *options,
                             struct rig_helpers *helpers, struct rig_verdict **verdict, struct rig_err *err)
{
    struct leading *l = calloc(1, sizeof *l);
    enum rig_rc rc = RIG_OK;
    *verdict = NULL;
    helpers->why = (struct rig_err){0};
    if (l == NULL)
        return rig_no_memory(err, "the parts of the history");
    *l = (struct leading){.source = source, .options = options, .helpers = helpers};
    rig_part_plan_init(&l->plan);
    rig_buf_init(&l->bytes, RIG_SHARED_BYTES_MOST);
    if (is_fit(l) && take_all_censuses(l) && judge_all(l))
        rc = conclude(l, verdict, err);
    rig_stream_free(l->first.stream);
    rig_census_free(l->first.census);
    rig_part_plan_done(&l->plan);
    rig_source_offsets_done(&l->blocks);
    rig_buf_done(&l->bytes);
    free(l);
    return rc;
}
