/*
 * The faults of a run as people see them: one episode an injection, from before it was injected until it was healed,
 * put together from the steps that the history holds.
 *
 * Space: one episode an injection. Time: linear in the steps for putting together, and in the episodes for looking up.
 */
#ifndef RIG_REPORT_EPISODES_H
#define RIG_REPORT_EPISODES_H

#include "base/buf.h"
#include "base/vec.h"
#include "checker/model/verdict.h"

struct rig_episode {
    uint32_t injection;
    const char *fault, *targets; /* borrowed of the verdict, as the others */
    const char *text;            /* the evidence, or why it failed */
    int64_t from_ns, to_ns;      /* as in the history; RIG_NO_TIME: unknown */
    bool took_effect, healed;
    bool failed;             /* could not be injected, or healed */
    bool withdrawn;          /* the end of the load, or another fault, kept it from showing an effect */
    bool counted;            /* it took effect, and is known how many transactions */
    uint64_t begun[3];       /* completed before, by outcome; 0 where older records do not have it */
    uint64_t ok, fail, info; /* completed meanwhile */
    int64_t effect_ns;       /* how long it was in effect, from injected to about to be healed */
    uint64_t effect_ok;      /* acknowledged then */
    size_t group;            /* index */
};

RIG_VEC(struct rig_episode, rig_episode_vec)

/*
 * Episodes that a report shows as one line: the same fault of the same targets with the same ending, when there are
 * more than RIG_EPISODES_SINGLE of them; else one by itself.
 */
struct rig_episode_group {
    size_t first, last; /* indices; the episodes between them that have this group's index belong to it */
    uint64_t count;
    uint64_t ok, fail, info; /* completed while one of them was under way, each once */
    uint64_t until[3];       /* completed when the last of them ended */
    int64_t until_ns;        /* its end; RIG_NO_TIME: no time is known */
    int64_t total_ns, longest_ns;
};

enum { RIG_EPISODES_SINGLE = 4 };

RIG_VEC(struct rig_episode_group, rig_episode_group_vec)

struct rig_episodes {
    struct rig_episode_vec of;           /* in the order of their injection */
    struct rig_episode_vec phases;       /* of the load, in order; their names are targets */
    struct rig_episode_group_vec groups; /* in the order of their first injection */
    int64_t zero_ns;                     /* what times are shown from */
};

/* In the order of their injection. Frees with rig_episodes_done(). Without memory there are fewer. */
void rig_episodes_init(struct rig_episodes *episodes, const struct rig_verdict *verdict);
void rig_episodes_done(struct rig_episodes *episodes);

/* "fill, 0.000 s - 10.012 s: 1,203 ok, 20 fail, 3 unknown"; of a phase that did not end without the counts. */
void rig_episode_phase_text(struct rig_buf *out, const struct rig_episodes *episodes, const struct rig_episode *phase);
/* Whether one of them took effect. */
bool rig_episodes_had_effect(const struct rig_episodes *episodes);
/* "kill of pg-1, 12.300 s - 15.310 s". */
void rig_episode_name(struct rig_buf *out, const struct rig_episodes *episodes, const struct rig_episode *episode);
/* "kill of pg-1, 312 times, 0.100 s - 31.240 s: 40.1 ms each, 45 ms at most"; of a single episode its name. */
void rig_episode_group_name(struct rig_buf *out, const struct rig_episodes *episodes,
                            const struct rig_episode_group *group);
/* "1,203 ok, 20 fail, 3 unknown meanwhile"; nothing where it is not known. */
void rig_episode_group_counts(struct rig_buf *out, const struct rig_episodes *episodes,
                              const struct rig_episode_group *group);
/* It was in effect for half a second or longer, and nothing was acknowledged. */
bool rig_episode_is_barren(const struct rig_episode *episode);
/* Whether the witness's transactions happened, in part, during the episode. */
bool rig_episode_touches(const struct rig_episode *episode, const struct rig_history *history,
                         const struct rig_witness *witness);
/* "In phase storm. During kill of pg-1, 12.300 s - 15.310 s; and restart of ..."; nothing when the load has no phases
 * and no fault was under way. */
void rig_episodes_of_witness(struct rig_buf *out, const struct rig_episodes *episodes,
                             const struct rig_history *history, const struct rig_witness *witness);

#endif
