#include "checker/infer/set_times.h"

#include "checker/infer/inference.h"

/* The reads of an element; RIG_POSITION_NONE: nothing. */
struct sight {
    int64_t known_ns, absent_ns;
    uint32_t known_at;   /* a completion */
    uint32_t present_at; /* the last invocation of a read that shows it */
    uint32_t absent_at;  /* the last invocation of a read that misses it */
};

struct timing {
    const struct rig_history *history;
    const struct rig_sets *sets;
    const uint8_t *keys; /* those that are measured; NULL: all */
    struct rig_set_marks marks;
    struct sight *sights; /* per element */
    /* Reads that show the first n elements of their key's spine, together, at prefix_first[key] + n. */
    struct sight *prefixes;
    uint32_t *prefix_first; /* per key, and one more */
    uint32_t *place;        /* per element: its first place in the spine; or the spine's length */
};

static bool is_measured(const struct timing *timing, uint32_t key)
{
    return timing->keys == NULL || timing->keys[key] != 0;
}

static void become_known(struct sight *sight, const struct rig_txn *by)
{
    if (sight->known_at != RIG_POSITION_NONE && sight->known_at <= by->complete_at)
        return;
    sight->known_at = by->complete_at;
    sight->known_ns = by->complete_ns;
}

static bool is_later(uint32_t at, uint32_t than)
{
    return than == RIG_POSITION_NONE || at > than;
}

/* A read that shows some elements, and misses the others. */
static void take_prefix(struct sight *prefix, const struct rig_txn *reader)
{
    become_known(prefix, reader);
    if (!is_later(reader->invoke_at, prefix->absent_at))
        return;
    prefix->present_at = prefix->absent_at = reader->invoke_at;
    prefix->absent_ns = reader->invoke_ns;
}

static void take_read(struct timing *timing, const struct rig_txn *reader, const struct rig_txn_op *read)
{
    const struct rig_sets *sets = timing->sets;
    const struct rig_read_list list = rig_txn_op_list(timing->history, read);
    if (list.shared == list.count) {
        take_prefix(&timing->prefixes[timing->prefix_first[read->key] + list.count], reader);
        return;
    }
    rig_set_marks_take(&timing->marks, sets, read);
    for (uint32_t i = sets->key_first[read->key]; i < sets->key_first[read->key + 1]; i++) {
        struct sight *sight = &timing->sights[i];
        if (rig_set_is_marked(&timing->marks, i)) {
            become_known(sight, reader);
            if (is_later(reader->invoke_at, sight->present_at))
                sight->present_at = reader->invoke_at;
        } else if (is_later(reader->invoke_at, sight->absent_at)) {
            sight->absent_at = reader->invoke_at;
            sight->absent_ns = reader->invoke_ns;
        }
    }
}

/* The reads that show an element, and those that miss it, become part of its sight. */
static void add_present(struct sight *sight, const struct sight *reads)
{
    if (reads->known_at == RIG_POSITION_NONE)
        return;
    if (sight->known_at == RIG_POSITION_NONE || reads->known_at < sight->known_at) {
        sight->known_at = reads->known_at;
        sight->known_ns = reads->known_ns;
    }
    if (is_later(reads->present_at, sight->present_at))
        sight->present_at = reads->present_at;
}

static void add_absent(struct sight *sight, const struct sight *reads)
{
    if (reads->absent_at == RIG_POSITION_NONE || !is_later(reads->absent_at, sight->absent_at))
        return;
    sight->absent_at = reads->absent_at;
    sight->absent_ns = reads->absent_ns;
}

static const struct sight no_sight = {
    .known_at = RIG_POSITION_NONE, .present_at = RIG_POSITION_NONE, .absent_at = RIG_POSITION_NONE};

/* The element at its first place there; RIG_SET_NONE: none. */
static uint32_t element_at(const struct timing *timing, uint32_t key, uint32_t place)
{
    const uint32_t element = rig_sets_find(timing->sets, key, timing->history->spines[key].at[place]);
    return element != RIG_SET_NONE && timing->place[element] == place ? element : RIG_SET_NONE;
}

/* Reads of more than its place show an element, all others miss it. */
static void spread_prefixes(struct timing *timing, uint32_t key)
{
    const struct rig_sets *sets = timing->sets;
    const struct sight *prefixes = &timing->prefixes[timing->prefix_first[key]];
    const uint32_t length = timing->prefix_first[key + 1] - timing->prefix_first[key] - 1;
    struct sight present = no_sight, absent = no_sight;
    for (uint32_t i = sets->key_first[key]; i < sets->key_first[key + 1]; i++)
        timing->place[i] = length;
    for (uint32_t at = length; at > 0; at--) {
        const uint32_t element = rig_sets_find(sets, key, timing->history->spines[key].at[at - 1]);
        if (element != RIG_SET_NONE)
            timing->place[element] = at - 1;
    }
    for (uint32_t at = length; at > 0; at--) {
        const uint32_t element = element_at(timing, key, at - 1);
        add_present(&present, &prefixes[at]);
        if (element != RIG_SET_NONE)
            add_present(&timing->sights[element], &present);
    }
    for (uint32_t at = 0; at < length; at++) {
        const uint32_t element = element_at(timing, key, at);
        add_absent(&absent, &prefixes[at]);
        if (element != RIG_SET_NONE)
            add_absent(&timing->sights[element], &absent);
    }
    add_absent(&absent, &prefixes[length]);
    for (uint32_t i = sets->key_first[key]; i < sets->key_first[key + 1]; i++) {
        if (timing->place[i] == length)
            add_absent(&timing->sights[i], &absent);
    }
}

static bool init_prefixes(struct timing *timing, struct rig_arena *arena)
{
    const struct rig_history *history = timing->history;
    timing->prefix_first = rig_arena_room(arena, (size_t)history->key_count + 1, sizeof *timing->prefix_first);
    timing->place = rig_arena_room(arena, (size_t)timing->sets->element_count + 1, sizeof *timing->place);
    if (timing->prefix_first == NULL || timing->place == NULL)
        return false;
    size_t total = 0;
    for (uint32_t key = 0; key < history->key_count; key++) {
        timing->prefix_first[key] = (uint32_t)total;
        total += is_measured(timing, key) ? (size_t)history->spines[key].count + 1 : 0;
        if (total >= UINT32_MAX)
            return false;
    }
    timing->prefix_first[history->key_count] = (uint32_t)total;
    timing->prefixes = rig_arena_room(arena, total + 1, sizeof *timing->prefixes);
    for (size_t i = 0; timing->prefixes != NULL && i < total; i++)
        timing->prefixes[i] = no_sight;
    return timing->prefixes != NULL;
}

/* False: the history has no times. */
static bool take_txns(struct timing *timing)
{
    const struct rig_history *history = timing->history;
    for (uint32_t i = 0; i < timing->sets->element_count; i++) {
        const struct rig_txn *writer = &history->txns[timing->sets->elements[i].writer];
        timing->sights[i] = no_sight;
        if (writer->outcome == RIG_OUTCOME_OK)
            become_known(&timing->sights[i], writer);
    }
    for (uint32_t txn = 0; txn < history->txn_count; txn++) {
        const struct rig_txn *reader = &history->txns[txn];
        const struct rig_txn_op *ops = rig_txn_ops(history, txn);
        if (reader->outcome != RIG_OUTCOME_OK)
            continue;
        if (reader->invoke_ns == RIG_NO_TIME || reader->complete_ns == RIG_NO_TIME)
            return false;
        for (uint32_t i = 0; i < rig_txn_op_count(history, txn); i++) {
            if (rig_set_is_read(&ops[i]) && is_measured(timing, ops[i].key))
                take_read(timing, reader, &ops[i]);
        }
    }
    for (uint32_t key = 0; key < history->key_count; key++) {
        if (is_measured(timing, key))
            spread_prefixes(timing, key);
    }
    return true;
}

/* ---- the result ---- */

/* Whether `a` stands before `b`: its latency is higher, or as high, and it was added first. */
static bool is_staler(const struct rig_stale_element *a, const struct rig_stale_element *b)
{
    if (a->latency_ns != b->latency_ns)
        return a->latency_ns > b->latency_ns;
    return a->writer != b->writer ? a->writer < b->writer : a->value < b->value;
}

static void keep_worst(struct rig_element_times *times, const struct rig_stale_element *stale)
{
    uint32_t at = times->worst_count < RIG_STALE_KEPT ? times->worst_count++ : RIG_STALE_KEPT;
    for (; at > 0 && is_staler(stale, &times->worst[at - 1]); at--) {
        if (at < RIG_STALE_KEPT)
            times->worst[at] = times->worst[at - 1];
    }
    if (at < RIG_STALE_KEPT)
        times->worst[at] = *stale;
}

/* Counts a known element; the latency of a stable one, else -1. */
static int64_t classify(const struct sight *sight, struct rig_element_times *times)
{
    const bool shown = sight->present_at != RIG_POSITION_NONE, missed = sight->absent_at != RIG_POSITION_NONE;
    const bool missed_later = missed && sight->absent_at > sight->known_at;
    times->known++;
    if (shown && (!missed || sight->absent_at <= sight->present_at)) {
        times->stable++;
        times->stale += missed_later;
        return missed_later ? sight->absent_ns - sight->known_ns : 0;
    }
    times->lost += missed_later;
    times->never_read += !missed_later;
    return -1;
}

static void name_key(const struct rig_history *history, uint32_t key, struct rig_stale_element *stale)
{
    stale->key_form = history->key_texts != NULL   ? history->keyword_keys ? RIG_KEY_KEYWORD : RIG_KEY_TEXT
                      : history->row_names != NULL ? RIG_KEY_ROW
                                                   : RIG_KEY_NUMBER;
    stale->key = history->key_texts == NULL ? history->keys[key] : 0;
    rig_history_key_name(history, key, stale->key_name, sizeof stale->key_name);
}

static void add_elements(const struct timing *timing, struct rig_element_timing *all)
{
    const struct rig_history *history = timing->history;
    struct rig_element_times *times = &all->times;
    for (uint32_t i = 0; i < timing->sets->element_count; i++) {
        const struct rig_set_element *element = &timing->sets->elements[i];
        if (!is_measured(timing, element->key))
            continue;
        times->attempted += history->txns[element->writer].outcome != RIG_OUTCOME_FAIL;
        if (timing->sights[i].known_at == RIG_POSITION_NONE)
            continue;
        const int64_t latency_ns = classify(&timing->sights[i], times);
        if (latency_ns >= 0)
            rig_histogram_add(&all->latencies, latency_ns);
        if (latency_ns <= 0 ||
            (times->worst_count == RIG_STALE_KEPT && latency_ns < times->worst[RIG_STALE_KEPT - 1].latency_ns))
            continue;
        struct rig_stale_element stale = {
            .value = element->value, .latency_ns = latency_ns, .writer = rig_txn_name(history, element->writer)};
        name_key(history, element->key, &stale);
        keep_worst(times, &stale);
    }
}

void rig_set_times(const struct rig_inference *inference, const uint8_t *keys, struct rig_arena *arena,
                   struct rig_element_timing *all)
{
    struct timing timing = {.history = inference->history, .sets = &inference->sets, .keys = keys};
    all->began = true;
    all->failed |= !timing.history->has_invocations;
    if (all->failed)
        return;
    timing.sights = rig_arena_room(arena, (size_t)timing.sets->element_count + 1, sizeof *timing.sights);
    all->failed = timing.sights == NULL || !rig_set_marks_init(&timing.marks, timing.sets, arena) ||
                  !init_prefixes(&timing, arena) || !take_txns(&timing);
    if (!all->failed)
        add_elements(&timing, all);
}

void rig_set_times_conclude(const struct rig_element_timing *timing, struct rig_element_times *times)
{
    *times = (struct rig_element_times){.measured = false};
    if (!timing->began || timing->failed)
        return;
    *times = timing->times;
    times->measured = true;
    for (size_t i = 0; i < RIG_ELEMENT_QUANTILES; i++)
        times->quantile_ns[i] = rig_histogram_percentile(&timing->latencies, rig_element_percents[i]);
}
