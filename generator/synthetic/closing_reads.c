#include "generator/synthetic/closing_reads.h"

#include <string.h>

#include "base/bug.h"

/* A key waits for further keys for at most this many questions: far fewer than a check holds at a time. */
enum { LONGEST_WAIT = 1024 };

enum rig_rc rig_closing_reads_init(struct rig_closing_reads *closing, const struct rig_generator_options *options,
                                   uint64_t seed, struct rig_err *err)
{
    *closing = (struct rig_closing_reads){.keeps_all = rig_generator_final_reads(options) == RIG_FINAL_ALL,
                                          .keys_a_read = rig_generator_keys_a_read(options)};
    return rig_key_schedule_init(&closing->keys, options, seed, 1, err);
}

void rig_closing_reads_done(struct rig_closing_reads *closing)
{
    rig_key_schedule_done(&closing->keys);
    rig_left_keys_done(&closing->waiting);
    rig_question_flags_done(&closing->complete);
}

int64_t rig_closing_reads_key_bound(const struct rig_closing_reads *closing)
{
    return closing->key_bound;
}

/* Moves the used part to the front once more than half is unused. */
static void compact_flags(struct rig_closing_reads *closing)
{
    struct rig_question_flags *flags = &closing->complete;
    if (closing->first_complete < 4096 || closing->first_complete < flags->count / 2)
        return;
    flags->count -= closing->first_complete;
    memmove(flags->at, flags->at + closing->first_complete, flags->count);
    closing->first_complete = 0;
}

static bool add_waiting(struct rig_closing_reads *closing, int64_t key, uint64_t left_at)
{
    struct rig_left_keys *waiting = &closing->waiting;
    if (closing->first_waiting >= 1024 && closing->first_waiting >= waiting->count / 2) {
        waiting->count -= closing->first_waiting;
        memmove(waiting->at, waiting->at + closing->first_waiting, waiting->count * sizeof waiting->at[0]);
        closing->first_waiting = 0;
    }
    return rig_left_keys_add(waiting, (struct rig_left_key){.key = key, .left_at = left_at});
}

bool rig_closing_reads_issue(struct rig_closing_reads *closing)
{
    uint64_t number = closing->issued++;
    while (rig_key_schedule_next(&closing->keys) <= number) {
        int64_t key = rig_key_schedule_leave(&closing->keys);
        if (!closing->keeps_all && !add_waiting(closing, key, number))
            return false;
    }
    compact_flags(closing);
    return rig_question_flags_add(&closing->complete, 0);
}

void rig_closing_reads_complete(struct rig_closing_reads *closing, uint64_t number)
{
    RIG_REQUIRE(number >= closing->oldest && number < closing->issued);
    closing->complete.at[closing->first_complete + (number - closing->oldest)] = 1;
    while (closing->oldest < closing->issued && closing->complete.at[closing->first_complete] != 0) {
        closing->first_complete++;
        closing->oldest++;
    }
}

bool rig_closing_reads_end(struct rig_closing_reads *closing)
{
    RIG_REQUIRE(closing->oldest == closing->issued);
    bool added = true;
    int64_t key;
    closing->key_bound = rig_key_schedule_bound(&closing->keys, closing->issued);
    for (key = 0; added && closing->keeps_all && key < closing->key_bound; key++)
        added = add_waiting(closing, key, 0);
    while (added && !closing->keeps_all && rig_key_schedule_rest(&closing->keys, closing->issued, &key))
        added = add_waiting(closing, key, 0);
    closing->oldest = closing->issued = UINT64_MAX; /* no key waits for further ones any more */
    return added;
}

uint32_t rig_closing_reads_take(struct rig_closing_reads *closing, int64_t *keys)
{
    const struct rig_left_keys *waiting = &closing->waiting;
    uint32_t count = 0;
    while (count < closing->keys_a_read && closing->first_waiting + count < waiting->count &&
           waiting->at[closing->first_waiting + count].left_at <= closing->oldest)
        count++;
    if (count == 0 ||
        (count < closing->keys_a_read && closing->oldest - waiting->at[closing->first_waiting].left_at < LONGEST_WAIT))
        return 0;
    for (uint32_t i = 0; i < count; i++)
        keys[i] = waiting->at[closing->first_waiting++].key;
    return count;
}
