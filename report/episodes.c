#include "report/episodes.h"
#include "report/tell.h"

#include <string.h>

#include "report/words.h"

enum { NAMED_MOST = 3 };
/* A fault that is no longer than this may well fall between two transactions. */
static const int64_t long_enough_ns = 500000000;

static struct rig_episode *find(struct rig_episode_vec *of, uint32_t injection)
{
    for (size_t i = of->count; i-- > 0;) {
        if (of->at[i].injection == injection)
            return &of->at[i];
    }
    return NULL;
}

static bool is_withdrawal(const struct rig_fault_event *event)
{
    return event->failed && event->step == RIG_FAULT_INJECTED &&
           strncmp(event->text, RIG_FAULT_WITHDRAWN, sizeof RIG_FAULT_WITHDRAWN - 1) == 0;
}

static void take_step(struct rig_episode *episode, const struct rig_fault_event *event)
{
    const int64_t before_ns = episode->to_ns;
    episode->to_ns = event->time_ns;
    const bool failed = event->failed && !is_withdrawal(event);
    /* Why it was withdrawn, or failed, is not to be hidden by what was seen of its healing. */
    if (event->text[0] != '\0' && !episode->failed && (!episode->withdrawn || failed))
        episode->text = event->text;
    episode->withdrawn |= is_withdrawal(event);
    episode->failed |= failed;
    if (event->step == RIG_FAULT_INJECT) {
        episode->begun[RIG_OUTCOME_OK] = event->ok;
        episode->begun[RIG_OUTCOME_FAIL] = event->fail;
        episode->begun[RIG_OUTCOME_INFO] = event->info;
    }
    if (event->step == RIG_FAULT_INJECTED)
        episode->took_effect = !event->failed;
    if (event->step == RIG_FAULT_HEALED)
        episode->healed = !event->failed;
    if (!episode->took_effect)
        return;
    if (event->step == RIG_FAULT_HEAL && before_ns != RIG_NO_TIME && event->time_ns != RIG_NO_TIME) {
        episode->effect_ns = event->time_ns - before_ns;
        episode->effect_ok = event->ok;
    }
    if (event->step == RIG_FAULT_HEALED) {
        episode->counted = true;
        episode->ok = event->ok;
        episode->fail = event->fail;
        episode->info = event->info;
    }
}

static bool are_alike(const struct rig_episode *a, const struct rig_episode *b)
{
    return strcmp(a->fault, b->fault) == 0 && strcmp(a->targets, b->targets) == 0 && a->took_effect == b->took_effect &&
           a->healed == b->healed && a->failed == b->failed && a->withdrawn == b->withdrawn &&
           rig_episode_is_barren(a) == rig_episode_is_barren(b);
}

static uint64_t count_alike(const struct rig_episodes *episodes, const struct rig_episode *like)
{
    uint64_t count = 0;
    for (size_t i = 0; i < episodes->of.count; i++)
        count += are_alike(&episodes->of.at[i], like);
    return count;
}

/* The group of an episode like this one that is folded; the number of groups: there is none yet. */
static size_t find_group(const struct rig_episodes *episodes, const struct rig_episode *like)
{
    size_t group = 0;
    while (group < episodes->groups.count && (episodes->groups.at[group].count <= RIG_EPISODES_SINGLE ||
                                              !are_alike(&episodes->of.at[episodes->groups.at[group].first], like)))
        group++;
    return group;
}

static void add_rest(uint64_t *sum, uint64_t end, uint64_t until)
{
    *sum += end > until ? end - until : 0;
}

/* Episodes of a group can overlap: a transaction that completed during several of them counts once. They come in the
 * order of their beginning. */
static void add_episode_counts(struct rig_episode_group *group, const struct rig_episode *episode, bool timed)
{
    const uint64_t end[3] = {[RIG_OUTCOME_OK] = episode->begun[RIG_OUTCOME_OK] + episode->ok,
                             [RIG_OUTCOME_FAIL] = episode->begun[RIG_OUTCOME_FAIL] + episode->fail,
                             [RIG_OUTCOME_INFO] = episode->begun[RIG_OUTCOME_INFO] + episode->info};
    const bool overlaps = timed && group->until_ns != RIG_NO_TIME && episode->from_ns < group->until_ns;
    const uint64_t *before = overlaps ? group->until : episode->begun;
    if (overlaps && episode->to_ns <= group->until_ns)
        return;
    add_rest(&group->ok, end[RIG_OUTCOME_OK], before[RIG_OUTCOME_OK]);
    add_rest(&group->fail, end[RIG_OUTCOME_FAIL], before[RIG_OUTCOME_FAIL]);
    add_rest(&group->info, end[RIG_OUTCOME_INFO], before[RIG_OUTCOME_INFO]);
    if (timed) {
        memcpy(group->until, end, sizeof end);
        group->until_ns = episode->to_ns;
    }
}

static void join_group(struct rig_episodes *episodes, size_t at)
{
    struct rig_episode *episode = &episodes->of.at[at];
    struct rig_episode_group *group = &episodes->groups.at[episode->group];
    const bool timed = episode->from_ns != RIG_NO_TIME && episode->to_ns != RIG_NO_TIME;
    const int64_t length_ns = timed ? episode->to_ns - episode->from_ns : 0;
    group->last = at;
    add_episode_counts(group, episode, timed);
    group->total_ns += length_ns;
    group->longest_ns = length_ns > group->longest_ns ? length_ns : group->longest_ns;
}

/* Time: episodes x groups, and episodes once more for each group and each single episode. */
static void make_groups(struct rig_episodes *episodes)
{
    for (size_t i = 0; i < episodes->of.count; i++) {
        struct rig_episode *episode = &episodes->of.at[i];
        episode->group = find_group(episodes, episode);
        if (episode->group == episodes->groups.count) {
            const uint64_t alike = count_alike(episodes, episode);
            const struct rig_episode_group fresh = {
                .first = i, .count = alike > RIG_EPISODES_SINGLE ? alike : 1, .until_ns = RIG_NO_TIME};
            if (!rig_episode_group_vec_add(&episodes->groups, fresh))
                return;
        }
        join_group(episodes, i);
    }
}

void rig_episodes_init(struct rig_episodes *episodes, const struct rig_verdict *verdict)
{
    const struct rig_scope *scope = &verdict->scope;
    *episodes = (struct rig_episodes){.zero_ns = rig_history_zero_ns(verdict->history)};
    for (size_t i = 0; i < scope->fault_count; i++) {
        const struct rig_fault_event *event = &scope->faults[i];
        struct rig_episode_vec *to = rig_fault_event_is_phase(event) ? &episodes->phases : &episodes->of;
        struct rig_episode *episode = find(to, event->injection);
        if (episode == NULL) {
            const struct rig_episode fresh = {.injection = event->injection,
                                              .fault = event->fault,
                                              .targets = event->targets,
                                              .text = "",
                                              .from_ns = event->time_ns};
            if (!rig_episode_vec_add(to, fresh))
                return;
            episode = &to->at[to->count - 1];
        }
        take_step(episode, event);
    }
    make_groups(episodes);
}

void rig_episodes_done(struct rig_episodes *episodes)
{
    rig_episode_vec_done(&episodes->of);
    rig_episode_vec_done(&episodes->phases);
    rig_episode_group_vec_done(&episodes->groups);
}

bool rig_episodes_had_effect(const struct rig_episodes *episodes)
{
    bool had = false;
    for (size_t i = 0; i < episodes->of.count; i++)
        had |= episodes->of.at[i].took_effect;
    return had;
}

static void add_times(struct rig_buf *out, const struct rig_episodes *episodes, const struct rig_episode *episode)
{
    if (episode->from_ns == RIG_NO_TIME || episode->to_ns == RIG_NO_TIME)
        return;
    const int64_t from_ns = episode->from_ns - episodes->zero_ns; /* a phase begins before its first invocation */
    rig_buf_printf(out, ", %.3f s - ", from_ns < 0 ? 0.0 : (double)from_ns / 1e9);
    if (episode->healed)
        rig_buf_printf(out, "%.3f s", (double)(episode->to_ns - episodes->zero_ns) / 1e9);
    else
        rig_buf_add_text(out, "?");
}

void rig_episode_name(struct rig_buf *out, const struct rig_episodes *episodes, const struct rig_episode *episode)
{
    rig_words_clean(out, episode->fault, false);
    if (episode->targets[0] != '\0')
        rig_tell(out, " of %c", episode->targets);
    add_times(out, episodes, episode);
}

static void add_counts(struct rig_buf *out, uint64_t ok, uint64_t fail, uint64_t info)
{
    rig_tell(out, "%n ok, %n fail, %n unknown", ok, fail, info);
}

void rig_episode_phase_text(struct rig_buf *out, const struct rig_episodes *episodes, const struct rig_episode *phase)
{
    rig_words_clean(out, phase->targets, false);
    add_times(out, episodes, phase);
    if (!phase->counted)
        return;
    rig_buf_add_text(out, ": ");
    add_counts(out, phase->ok, phase->fail, phase->info);
}

void rig_episode_group_name(struct rig_buf *out, const struct rig_episodes *episodes,
                            const struct rig_episode_group *group)
{
    const struct rig_episode *first = &episodes->of.at[group->first], *last = &episodes->of.at[group->last];
    if (group->count == 1) {
        rig_episode_name(out, episodes, first);
        return;
    }
    rig_words_clean(out, first->fault, false);
    if (first->targets[0] != '\0')
        rig_tell(out, " of %c", first->targets);
    rig_tell(out, ", %n times", group->count);
    if (first->from_ns == RIG_NO_TIME || last->to_ns == RIG_NO_TIME)
        return;
    rig_buf_printf(out, ", %.3f s - %.3f s: ", (double)(first->from_ns - episodes->zero_ns) / 1e9,
                   (double)(last->to_ns - episodes->zero_ns) / 1e9);
    rig_tell(out, "%t each, %t at most", group->total_ns / (int64_t)group->count, group->longest_ns);
}

void rig_episode_group_counts(struct rig_buf *out, const struct rig_episodes *episodes,
                              const struct rig_episode_group *group)
{
    if (!episodes->of.at[group->first].counted)
        return;
    add_counts(out, group->ok, group->fail, group->info);
    rig_buf_add_text(out, " meanwhile");
}

bool rig_episode_is_barren(const struct rig_episode *episode)
{
    return episode->took_effect && episode->effect_ok == 0 && episode->effect_ns >= long_enough_ns;
}

bool rig_episode_touches(const struct rig_episode *episode, const struct rig_history *history,
                         const struct rig_witness *witness)
{
    int64_t from_ns = INT64_MAX, to_ns = INT64_MIN;
    if (episode->from_ns == RIG_NO_TIME || episode->to_ns == RIG_NO_TIME)
        return false;
    for (uint32_t i = 0; i < witness->txn_count; i++) {
        const struct rig_txn *txn = &history->txns[witness->txns[i]];
        const int64_t times[] = {txn->invoke_ns, txn->complete_ns};
        for (size_t t = 0; t < sizeof times / sizeof times[0]; t++) {
            if (times[t] == RIG_NO_TIME)
                continue;
            from_ns = times[t] < from_ns ? times[t] : from_ns;
            to_ns = times[t] > to_ns ? times[t] : to_ns;
        }
    }
    return from_ns <= to_ns && from_ns <= (episode->healed ? episode->to_ns : INT64_MAX) && to_ns >= episode->from_ns;
}

static void add_phases(struct rig_buf *out, const struct rig_episodes *episodes, const struct rig_history *history,
                       const struct rig_witness *witness)
{
    size_t named = 0;
    for (size_t i = 0; i < episodes->phases.count; i++) {
        if (!rig_episode_touches(&episodes->phases.at[i], history, witness))
            continue;
        rig_tell(out, "%s%c", named++ == 0 ? "In phase " : ", ", episodes->phases.at[i].targets);
    }
    if (named > 0)
        rig_buf_add_char(out, '.');
}

void rig_episodes_of_witness(struct rig_buf *out, const struct rig_episodes *episodes,
                             const struct rig_history *history, const struct rig_witness *witness)
{
    size_t named = 0, further = 0;
    add_phases(out, episodes, history, witness);
    const char *begin = out->size > 0 ? " During " : "During ";
    for (size_t i = 0; i < episodes->of.count; i++) {
        const struct rig_episode *episode = &episodes->of.at[i];
        if (!rig_episode_touches(episode, history, witness))
            continue;
        if (named == NAMED_MOST) {
            further++;
            continue;
        }
        rig_buf_add_text(out, named++ == 0 ? begin : "; ");
        rig_episode_name(out, episodes, episode);
    }
    if (further > 0)
        rig_tell(out, "; and %n more", further);
    if (named > 0)
        rig_buf_add_char(out, '.');
}
