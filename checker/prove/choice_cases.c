#include "checker/prove/choice_cases.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

enum { STEPS_MOST = 1 << 28, MEMBERS_MOST = 1 << 24 };

#define NONE UINT32_MAX

/* A choice in the search. */
struct tried {
    uint32_t read;
    uint32_t chosen_at; /* depth, from 0; NONE: it is not chosen */
    uint32_t barred_by; /* the case whose other choices are made; NONE */
    uint32_t last;      /* membership in `links`; NONE */
};

/* A choice's membership in a case, and the one before. */
struct membership {
    uint32_t number, next;
};

RIG_VEC(struct membership, memberships)

struct search {
    struct rig_choice_cases *cases;
    uint32_t read_count;
    struct tried *choices;
    uint32_t *left;               /* per read: choices that are not barred */
    uint32_t *made;               /* per read: its choice; NONE */
    struct rig_case_numbers open; /* per case: members that are not chosen */
    struct memberships links;
    struct rig_case_numbers path;    /* chosen choices, by depth */
    struct rig_case_numbers bars;    /* barred choices, in turn */
    struct rig_case_numbers bars_at; /* per depth: the bars before it */
    struct rig_case_numbers follows; /* scratch: the members of a further case */
    uint64_t steps;
};

void rig_choice_cases_done(struct rig_choice_cases *cases)
{
    rig_case_numbers_done(&cases->first);
    rig_case_numbers_done(&cases->members);
    rig_case_numbers_done(&cases->ends);
}

static uint32_t begin_of(const struct search *s, uint32_t number)
{
    return number == 0 ? 0 : s->cases->ends.at[number - 1];
}

/* Bars the choice that a case leaves open alone, if it is not barred. */
static bool bar_last(struct search *s, uint32_t number)
{
    for (uint32_t i = begin_of(s, number); i < s->cases->ends.at[number]; i++) {
        const uint32_t choice = s->cases->members.at[i];
        struct tried *tried = &s->choices[choice];
        s->steps++;
        if (tried->chosen_at != NONE || tried->barred_by != NONE)
            continue;
        tried->barred_by = number;
        s->left[tried->read]--;
        return rig_case_numbers_add(&s->bars, choice);
    }
    return true;
}

/* Links the last case to its members, and bars what it leaves open alone. */
static bool link_case(struct search *s, uint32_t number)
{
    uint32_t open = 0;
    for (uint32_t i = begin_of(s, number); i < s->cases->ends.at[number]; i++) {
        struct tried *tried = &s->choices[s->cases->members.at[i]];
        if (!memberships_add(&s->links, (struct membership){number, tried->last}))
            return false;
        tried->last = (uint32_t)s->links.count - 1;
        open += tried->chosen_at == NONE;
    }
    RIG_INVARIANT(open > 0 && s->open.count == number);
    return rig_case_numbers_add(&s->open, open) && (open > 1 || bar_last(s, number));
}

static bool choose(struct search *s, uint32_t choice)
{
    struct tried *tried = &s->choices[choice];
    bool done = rig_case_numbers_add(&s->bars_at, (uint32_t)s->bars.count);
    RIG_INVARIANT(tried->barred_by == NONE && tried->chosen_at == NONE && s->made[tried->read] == NONE);
    tried->chosen_at = (uint32_t)s->path.count;
    s->made[tried->read] = choice;
    done = done && rig_case_numbers_add(&s->path, choice);
    for (uint32_t at = tried->last; done && at != NONE; at = s->links.at[at].next) {
        const uint32_t number = s->links.at[at].number;
        s->steps++;
        RIG_INVARIANT(s->open.at[number] > 1);
        if (--s->open.at[number] == 1)
            done = bar_last(s, number);
    }
    return done;
}

/* Takes choices back until `depth` are left. */
static void go_back(struct search *s, uint32_t depth)
{
    while (s->path.count > depth) {
        const uint32_t choice = s->path.at[--s->path.count];
        struct tried *tried = &s->choices[choice];
        tried->chosen_at = NONE;
        s->made[tried->read] = NONE;
        for (uint32_t at = tried->last; at != NONE; at = s->links.at[at].next)
            s->open.at[s->links.at[at].number]++;
        const uint32_t bars = s->bars_at.at[--s->bars_at.count];
        while (s->bars.count > bars) {
            struct tried *barred = &s->choices[s->bars.at[--s->bars.count]];
            barred->barred_by = NONE;
            s->left[barred->read]++;
        }
    }
}

static int compare_numbers(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* The choices that bar all of the read's, each once. */
static bool gather(struct search *s, uint32_t read)
{
    struct rig_case_numbers *follows = &s->follows;
    follows->count = 0;
    for (uint32_t c = s->cases->first.at[read]; c < s->cases->first.at[read + 1]; c++) {
        const uint32_t number = s->choices[c].barred_by;
        RIG_INVARIANT(number != NONE);
        for (uint32_t i = begin_of(s, number); i < s->cases->ends.at[number]; i++) {
            const uint32_t member = s->cases->members.at[i];
            RIG_INVARIANT(member == c || s->choices[member].chosen_at != NONE);
            s->steps++;
            if (member != c && !rig_case_numbers_add(follows, member))
                return false;
        }
    }
    if (follows->count > 1)
        qsort(follows->at, follows->count, sizeof follows->at[0], compare_numbers);
    size_t kept = 0;
    for (size_t i = 0; i < follows->count; i++) {
        if (kept == 0 || follows->at[kept - 1] != follows->at[i])
            follows->at[kept++] = follows->at[i];
    }
    follows->count = kept;
    return true;
}

/* A read has no choice left: those that barred them do not go together. The search goes on where the last of these is
 * barred. False when memory runs out. */
static bool refute(struct search *s, uint32_t read, bool *ended)
{
    uint32_t deepest = NONE, second = NONE;
    if (!gather(s, read))
        return false;
    *ended = s->follows.count == 0;
    for (size_t i = 0; i < s->follows.count; i++) {
        const uint32_t at = s->choices[s->follows.at[i]].chosen_at;
        if (deepest == NONE || at > deepest) {
            second = deepest;
            deepest = at;
        } else if (second == NONE || at > second) {
            second = at;
        }
    }
    if (*ended)
        return true;
    go_back(s, second == NONE ? 0 : second + 1);
    for (size_t i = 0; i < s->follows.count; i++) {
        if (!rig_case_numbers_add(&s->cases->members, s->follows.at[i]))
            return false;
    }
    return rig_case_numbers_add(&s->cases->ends, (uint32_t)s->cases->members.count) &&
           link_case(s, (uint32_t)s->cases->ends.count - 1);
}

/* The read without a choice that has the fewest left; NONE: all have one. */
static uint32_t next_read(struct search *s)
{
    uint32_t best = NONE;
    for (uint32_t read = 0; read < s->read_count; read++) {
        if (s->made[read] == NONE && (best == NONE || s->left[read] < s->left[best]))
            best = read;
    }
    s->steps += s->read_count;
    return best;
}

static uint32_t first_left(const struct search *s, uint32_t read)
{
    uint32_t choice = s->cases->first.at[read];
    while (s->choices[choice].barred_by != NONE)
        choice++;
    RIG_INVARIANT(choice < s->cases->first.at[read + 1]);
    return choice;
}

static enum rig_cases_left search(struct search *s)
{
    for (;;) {
        bool ended = false;
        const uint32_t read = next_read(s);
        if (read == NONE)
            return RIG_CASES_LEFT_SOME;
        if (s->steps > STEPS_MOST || s->cases->members.count > MEMBERS_MOST)
            return RIG_CASES_LEFT_UNKNOWN;
        if (s->left[read] > 0 ? !choose(s, first_left(s, read)) : !refute(s, read, &ended))
            return RIG_CASES_LEFT_UNKNOWN;
        if (ended)
            return RIG_CASES_LEFT_NONE;
    }
}

static bool begin(struct search *s)
{
    const uint32_t choice_count = s->cases->first.at[s->read_count];
    s->choices = malloc(((size_t)choice_count + 1) * sizeof s->choices[0]);
    s->left = malloc(((size_t)s->read_count + 1) * sizeof s->left[0]);
    s->made = malloc(((size_t)s->read_count + 1) * sizeof s->made[0]);
    if (s->choices == NULL || s->left == NULL || s->made == NULL)
        return false;
    for (uint32_t read = 0; read < s->read_count; read++) {
        s->left[read] = s->cases->first.at[read + 1] - s->cases->first.at[read];
        s->made[read] = NONE;
        for (uint32_t c = s->cases->first.at[read]; c < s->cases->first.at[read + 1]; c++)
            s->choices[c] = (struct tried){.read = read, .chosen_at = NONE, .barred_by = NONE, .last = NONE};
    }
    for (uint32_t number = 0; number < s->cases->ends.count; number++) {
        if (!link_case(s, number))
            return false;
    }
    return true;
}

enum rig_cases_left rig_choice_cases_left(struct rig_choice_cases *cases)
{
    RIG_REQUIRE(cases->first.count > 0);
    struct search s = {.cases = cases, .read_count = (uint32_t)cases->first.count - 1};
    const enum rig_cases_left left = begin(&s) ? search(&s) : RIG_CASES_LEFT_UNKNOWN;
    free(s.choices);
    free(s.left);
    free(s.made);
    rig_case_numbers_done(&s.open);
    rig_case_numbers_done(&s.path);
    rig_case_numbers_done(&s.bars);
    rig_case_numbers_done(&s.bars_at);
    rig_case_numbers_done(&s.follows);
    memberships_done(&s.links);
    return left;
}
