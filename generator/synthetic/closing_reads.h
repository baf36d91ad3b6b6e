/*
 * Finished keys: they have left the load (generator/load_schedule.h), and no transaction that could name them is open.
 * Each is read once more, so that its last versions have a reader, and then its state can be dropped.
 *
 * Questions of the generator are numbered from 0 in the order in which they are issued.
 *
 * Time: O(1) a question, O(log active keys) a key. Space: 16 bytes a waiting key, 1 byte a question after the oldest
 * open one. Private to generator/synthetic/. Threads: one.
 */
#ifndef RIG_GENERATOR_SYNTHETIC_CLOSING_READS_H
#define RIG_GENERATOR_SYNTHETIC_CLOSING_READS_H

#include "base/vec.h"
#include "generator/load_schedule.h"

struct rig_left_key {
    int64_t key;
    uint64_t left_at; /* questions from this number on do not name it */
};

RIG_VEC(struct rig_left_key, rig_left_keys)
RIG_VEC(uint8_t, rig_question_flags)

struct rig_closing_reads {
    struct rig_key_schedule keys;
    uint32_t keys_a_read; /* that one transaction reads, as in a run */
    bool keeps_all;       /* keys are finished only at the end */
    int64_t key_bound;    /* at the end */
    struct rig_left_keys waiting;
    size_t first_waiting;
    struct rig_question_flags complete; /* of the questions from `oldest` on */
    size_t first_complete;
    uint64_t oldest; /* open question, or the next one */
    uint64_t issued;
};

enum rig_rc rig_closing_reads_init(struct rig_closing_reads *closing, const struct rig_generator_options *options,
                                   uint64_t seed, struct rig_err *err);
/* Frees; safe after a failed or no init of a zeroed object. */
void rig_closing_reads_done(struct rig_closing_reads *closing);

/* The next question is issued. False when memory runs out. */
bool rig_closing_reads_issue(struct rig_closing_reads *closing);
void rig_closing_reads_complete(struct rig_closing_reads *closing, uint64_t number);
/* All questions were issued and are complete: every key that was ever used is finished. */
bool rig_closing_reads_end(struct rig_closing_reads *closing);
/* Takes finished keys, at most keys_a_read; fewer only when they have waited for long, or at the end. */
uint32_t rig_closing_reads_take(struct rig_closing_reads *closing, int64_t *keys);

/* At the end: all keys that were ever used are below this. */
int64_t rig_closing_reads_key_bound(const struct rig_closing_reads *closing);

#endif
