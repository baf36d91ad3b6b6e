#include "history/model/certificate.h"

#include <string.h>

#include "base/bug.h"

void rig_certificate_init(struct rig_certificate *certificate)
{
    *certificate = (struct rig_certificate){.complete = false};
}

void rig_certificate_done(struct rig_certificate *certificate)
{
    rig_commit_vec_done(&certificate->commits);
    rig_change_vec_done(&certificate->changes);
    rig_certificate_elements_done(&certificate->elements);
    rig_txn_views_done(&certificate->views);
    rig_fork_vec_done(&certificate->forks);
    if (certificate->lost != NULL)
        rig_certificate_done(certificate->lost);
    free(certificate->lost);
    rig_certificate_init(certificate);
}

uint32_t rig_commit_change_count(const struct rig_certificate *certificate, uint32_t commit)
{
    RIG_REQUIRE(commit < certificate->commits.count);
    const size_t end = commit + (size_t)1 < certificate->commits.count
                           ? certificate->commits.at[commit + 1].first_change
                           : certificate->changes.count;
    return (uint32_t)end - certificate->commits.at[commit].first_change;
}

bool rig_certificate_add_fork(struct rig_certificate *certificate, uint32_t timeline, uint64_t place, uint32_t next)
{
    const struct rig_fork_vec *forks = &certificate->forks;
    const struct rig_fork *last = forks->count == 0 ? NULL : &forks->at[forks->count - 1];
    if (next <= timeline || (last != NULL && (timeline < last->next || place < last->place)))
        return false;
    return rig_fork_vec_add(&certificate->forks, (struct rig_fork){.timeline = timeline, .next = next, .place = place});
}

const struct rig_fork *rig_certificate_fork_of(const struct rig_certificate *certificate,
                                               const struct rig_commit *commit)
{
    for (size_t i = 0; i < certificate->forks.count; i++) {
        const struct rig_fork *fork = &certificate->forks.at[i];
        if (fork->timeline == commit->timeline)
            return commit->place >= fork->place ? fork : NULL;
    }
    return NULL;
}

struct rig_certificate *rig_certificate_make_lost(struct rig_certificate *certificate)
{
    if (certificate->lost == NULL && (certificate->lost = calloc(1, sizeof *certificate->lost)) != NULL)
        certificate->lost->by_timeline = true;
    return certificate->lost;
}

bool rig_certificate_ascends(const struct rig_certificate *certificate, uint64_t place, uint32_t timeline)
{
    if (certificate->commits.count == 0)
        return true;
    const struct rig_commit *last = &certificate->commits.at[certificate->commits.count - 1];
    if (certificate->by_timeline && timeline != last->timeline)
        return timeline > last->timeline;
    return place > last->place;
}

/* ---- building ---- */

void rig_certificate_builder_init(struct rig_certificate_builder *builder, struct rig_certificate *certificate)
{
    *builder = (struct rig_certificate_builder){.certificate = certificate};
    rig_table_init(&builder->keys);
}

void rig_certificate_builder_done(struct rig_certificate_builder *builder)
{
    for (size_t i = 0; i < builder->current.count; i++)
        rig_certificate_elements_done(&builder->current.at[i]);
    free(builder->current.at);
    rig_table_done(&builder->keys);
    *builder = (struct rig_certificate_builder){0};
}

bool rig_certificate_add_commit(struct rig_certificate_builder *builder, uint64_t place, uint64_t id, uint32_t timeline)
{
    struct rig_certificate *into = builder->certificate;
    if (into->commits.count >= UINT32_MAX || into->changes.count >= UINT32_MAX ||
        !rig_certificate_ascends(into, place, timeline))
        return false;
    return rig_commit_vec_add(&into->commits, (struct rig_commit){.place = place,
                                                                  .id = id,
                                                                  .timeline = timeline,
                                                                  .first_change = (uint32_t)into->changes.count});
}

/* The current version of the key; NULL when memory runs out. */
static struct rig_certificate_elements *find_current(struct rig_certificate_builder *builder, int64_t key)
{
    struct rig_current_versions *current = &builder->current;
    if (current->count == current->capacity) {
        const size_t capacity = current->capacity == 0 ? 64 : current->capacity * 2;
        struct rig_certificate_elements *at = realloc(current->at, capacity * sizeof *at);
        if (at == NULL)
            return NULL;
        current->at = at;
        current->capacity = capacity;
    }
    uint32_t *place = rig_table_put(&builder->keys, (uint64_t)key);
    if (place == NULL)
        return NULL;
    if (*place == RIG_TABLE_NONE) {
        *place = (uint32_t)current->count;
        current->at[current->count++] = (struct rig_certificate_elements){0};
    }
    return &current->at[*place];
}

bool rig_certificate_add_version(struct rig_certificate_builder *builder, int64_t key, const int64_t *elements,
                                 uint32_t count)
{
    struct rig_certificate *into = builder->certificate;
    RIG_REQUIRE(into->commits.count > 0);
    struct rig_certificate_elements *current = find_current(builder, key);
    if (current == NULL || into->elements.count + count > UINT32_MAX || into->changes.count >= UINT32_MAX)
        return false;
    uint32_t kept = 0;
    while (kept < count && kept < current->count && current->at[kept] == elements[kept])
        kept++;
    const struct rig_change change = {.key = key,
                                      .kept = kept,
                                      .first = (uint32_t)into->elements.count,
                                      .count = count - kept,
                                      .removed = elements == NULL};
    if (!rig_change_vec_add(&into->changes, change) ||
        !rig_certificate_elements_reserve(&into->elements, into->elements.count + change.count) ||
        !rig_certificate_elements_reserve(current, count))
        return false;
    for (uint32_t i = kept; i < count; i++) {
        into->elements.at[into->elements.count++] = elements[i];
        current->at[i] = elements[i];
    }
    current->count = count;
    return true;
}
