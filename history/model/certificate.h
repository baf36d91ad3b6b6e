/*
 * The certificate of a run: the commits of a database and the versions that each of them made, in the order that the
 * database itself states (docs/adr/0034-certificates.md).
 *
 * A commit has a place in that order (PostgreSQL: the LSN of the commit; etcd: the revision) and its changes. A change
 * makes a version of a key. A version of a list is kept as the elements that it shares with the version before it and
 * those after them; a register has one element. A certificate covers the commits from before the first transaction of
 * the run up to some commit. If it is `complete`, it covers all of them, and no session of the run could commit any
 * more.
 *
 * After a failover the server goes on on another timeline, which forks from the one before it at some place. Commits of
 * the former timeline from this place on are lost: they are kept apart.
 *
 * Space: 24 bytes a commit, 24 a change, 8 an element; while it is built also the current versions of all keys.
 * Threads: one writer or many readers.
 */
#ifndef RIG_HISTORY_MODEL_CERTIFICATE_H
#define RIG_HISTORY_MODEL_CERTIFICATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/table.h"
#include "base/vec.h"
#include "history/model/txn_views.h"

struct rig_commit {
    uint64_t place; /* ascends from commit to commit */
    uint64_t id;    /* the transaction's number in the database; 0: none. Numbers may be reused on another timeline */
    uint32_t timeline;
    uint32_t first_change; /* into changes; the end is the next commit's first_change */
};

struct rig_change {
    int64_t key;    /* as the history names it */
    uint32_t kept;  /* elements that the version shares with the one before it */
    uint32_t first; /* into elements: those after them */
    uint32_t count;
    bool removed; /* the key was removed; kept and count are 0 */
};

/* The server left a timeline at a place, for the next one. */
struct rig_fork {
    uint32_t timeline, next;
    uint64_t place;
};

RIG_VEC(struct rig_commit, rig_commit_vec)
RIG_VEC(struct rig_fork, rig_fork_vec)
RIG_VEC(struct rig_change, rig_change_vec)
RIG_VEC(int64_t, rig_certificate_elements)

enum { RIG_CERTIFICATE_TEXT_BYTES = 512 };

struct rig_certificate {
    struct rig_commit_vec commits;
    struct rig_change_vec changes;
    struct rig_certificate_elements elements;
    struct rig_txn_views views; /* what statements were shown; empty unless the run asked for it */
    struct rig_fork_vec forks;  /* by ascending timelines and places */
    /* The commits that failovers lost, by ascending timeline and then place, each at or after the fork of its timeline.
     * The first version of a key there has all of its elements, so the first commit with a value made it unless the
     * certificate itself has it. Only commits, changes and elements are used. Owned; NULL: none. */
    struct rig_certificate *lost;
    bool by_timeline; /* it is such a list: places ascend on each timeline only */
    bool complete;
    bool last_only;  /* a commit has only the last version of each of its keys, and the keys in any order */
    char source[64]; /* "pgoutput" */
    char ending[RIG_CERTIFICATE_TEXT_BYTES]; /* why it is not complete; else empty */
};

void rig_certificate_init(struct rig_certificate *certificate);
void rig_certificate_done(struct rig_certificate *certificate);
/* The number of changes that a commit has. */
uint32_t rig_commit_change_count(const struct rig_certificate *certificate, uint32_t commit);
/* The changes of a commit. */
static inline const struct rig_change *rig_commit_changes(const struct rig_certificate *certificate, uint32_t commit)
{
    return certificate->changes.at + certificate->commits.at[commit].first_change;
}
/* Adds a fork; false when memory runs out, or where it does not ascend. */
bool rig_certificate_add_fork(struct rig_certificate *certificate, uint32_t timeline, uint64_t place, uint32_t next);
/* The fork that lost a commit; NULL: none did. */
const struct rig_fork *rig_certificate_fork_of(const struct rig_certificate *certificate,
                                               const struct rig_commit *commit);
/* The lost commits, to add to; NULL when memory runs out. */
struct rig_certificate *rig_certificate_make_lost(struct rig_certificate *certificate);
static inline size_t rig_certificate_lost_count(const struct rig_certificate *certificate)
{
    return certificate->lost == NULL ? 0 : certificate->lost->commits.count;
}
/* Whether a commit at the place may follow those that the certificate has. */
bool rig_certificate_ascends(const struct rig_certificate *certificate, uint64_t place, uint32_t timeline);

/* ---- building ---- */

struct rig_certificate_builder {
    struct rig_certificate *certificate; /* borrowed */
    struct rig_table keys;               /* key -> into current */
    struct rig_current_versions {
        struct rig_certificate_elements *at;
        size_t count, capacity;
    } current;
};

void rig_certificate_builder_init(struct rig_certificate_builder *builder, struct rig_certificate *certificate);
void rig_certificate_builder_done(struct rig_certificate_builder *builder);
/* Begins a commit; false when memory runs out, or for a place that does not ascend. */
bool rig_certificate_add_commit(struct rig_certificate_builder *builder, uint64_t place, uint64_t id,
                                uint32_t timeline);
/* Adds a version of a key to the last commit: all of its elements, or its removal (NULL). False when memory runs
 * out. */
bool rig_certificate_add_version(struct rig_certificate_builder *builder, int64_t key, const int64_t *elements,
                                 uint32_t count);

/*
 * A certificate of lines, as a command of the plan prints them (database.versions-source, docs/certificates.md):
 *
 *   PLACE KEY VALUE     a version of a key: a number, or all elements of a list with commas; `-`: the key was removed
 *   end                 the last line: no version is missing
 *
 * Blanks or tabs separate the fields. PLACE is a number that may have a fraction, of the commit that made the version;
 * lines may come in any order. Versions of one place are one commit, and of several versions of a key at one place the
 * last line is taken. Commits are numbered from 1 in the order of their places. Empty lines, and lines that begin with
 * #, are nothing.
 *
 * Time: sorting the lines. Space: 40 bytes a line beside the text and the certificate. Threads: one.
 */

/* Fills an empty certificate, which is complete then. RIG_E_INPUT, with the line, when one is not as above or the last
 * one is missing; RIG_E_LIMIT when memory runs out; the certificate has no commits then. */
enum rig_rc rig_certificate_of_lines(const char *text, size_t size, struct rig_certificate *certificate,
                                     struct rig_err *err);

/*
 * Makes a certificate of what a database says, call by call: the functions of a driver's struct rig_certificate_sink,
 * whose context is a struct rig_certificate_taking. They return false when memory runs out, or for what is out of
 * order.
 *
 * Threads: one.
 */

struct rig_certificate_taking {
    struct rig_certificate *certificate;         /* borrowed */
    struct rig_certificate_builder stream, lost; /* `lost` begins with the first commit that was */
    struct rig_certificate_builder *at;          /* the one with the last commit */
};

void rig_certificate_taking_init(struct rig_certificate_taking *taking, struct rig_certificate *certificate);
void rig_certificate_taking_done(struct rig_certificate_taking *taking);

bool rig_certificate_take_commit(void *context, uint64_t place, uint64_t id, uint32_t timeline);
bool rig_certificate_take_version(void *context, int64_t key, const int64_t *elements, uint32_t count);
bool rig_certificate_take_fork(void *context, uint32_t timeline, uint64_t place, uint32_t next);
bool rig_certificate_take_lost(void *context, uint64_t place, uint64_t id, uint32_t timeline);
bool rig_certificate_take_view(void *context, uint64_t number, uint64_t id, bool single, bool standby);
bool rig_certificate_take_snapshot(void *context, uint64_t xmin, uint64_t xmax, const uint64_t *active, uint32_t count);
bool rig_certificate_take_row(void *context, uint32_t op, uint64_t version, bool with_snapshot);
void rig_certificate_take_end(void *context, bool complete, const char *why);

#endif
