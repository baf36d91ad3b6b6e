/*
 * The keys of a record that is being written.
 *
 * A key gets a number, that of its definition, at its first use in a block. The next block starts with the keys in use:
 * a key that was unused for 16 times its usual interval has probably left the load.
 *
 * Space: 96 bytes a key, 8 an element of a spine. A look-up of a key that was used lately costs one cache line.
 */
#ifndef RIG_HISTORY_RECORD_ENCODER_BLOCKS_H
#define RIG_HISTORY_RECORD_ENCODER_BLOCKS_H

#include "base/table.h"
#include "base/vec.h"
#include "history/model/growing_list.h"
#include "history/record/record_encoder.h"

struct rig_encoder_key {
    int64_t key;
    int64_t last_value;
    uint64_t first_at; /* numbers of the events that used it first and last */
    uint64_t used_at;
    struct rig_growing_list spine;
    uint64_t origin;       /* of the spine's first `origin_count` elements */
    uint32_t origin_count; /* at most spine.count */
    uint32_t use_count;
    uint32_t id;         /* in the block; ascends with definition */
    uint32_t open_count; /* operations of open transactions on it */
    bool live;
    bool left; /* no later event names it */
};

RIG_VEC(struct rig_encoder_key, rig_encoder_key_vec)
RIG_VEC(uint32_t, rig_encoder_id_vec)

enum { RIG_ENCODER_RECENT = 1024 };

struct rig_encoder_keys {
    struct rig_encoder_key_vec entries;
    struct rig_encoder_id_vec free_entries;
    struct rig_table entry_of_key;
    uint32_t recent[RIG_ENCODER_RECENT]; /* by a key's lowest bits: a candidate for its entry, + 1 */
    struct rig_list_pool pool;
    size_t spine_elements; /* of live entries */
    uint32_t live_count;
    uint32_t next_id;
    bool failed; /* memory ran out */
};

void rig_encoder_keys_init(struct rig_encoder_keys *keys);
void rig_encoder_keys_done(struct rig_encoder_keys *keys);

/* The key's entry, or RIG_TABLE_NONE. */
uint32_t rig_encoder_keys_search(struct rig_encoder_keys *keys, int64_t key);
/* A new entry with the id next_id. Sets `failed` when memory runs out. */
uint32_t rig_encoder_keys_add(struct rig_encoder_keys *keys, int64_t key, uint64_t event);
/* Makes the spine equal to the read, which shares `shared` elements with it and is longer. */
void rig_encoder_keys_follow(struct rig_encoder_keys *keys, struct rig_encoder_key *entry,
                             const struct rig_record_read *read, uint32_t shared);

/*
 * The entries that a checkpoint at event `now` keeps: those in use, in the order of their ids. `most_bytes`: keeps the
 * last used ones, for a checkpoint of about this size if possible; SIZE_MAX: no bound. *bytes is its estimated size.
 */
bool rig_encoder_keys_choose(const struct rig_encoder_keys *keys, uint64_t now, size_t most_bytes,
                             struct rig_encoder_id_vec *kept, size_t *bytes);
/* Drops all others, and numbers those kept from 0. */
void rig_encoder_keys_keep(struct rig_encoder_keys *keys, const struct rig_encoder_id_vec *kept);

static inline uint32_t rig_encoder_keys_find(struct rig_encoder_keys *keys, int64_t key)
{
    uint32_t recent = keys->recent[(uint64_t)key % RIG_ENCODER_RECENT];
    if (recent != 0 && keys->entries.at[recent - 1].key == key && keys->entries.at[recent - 1].live)
        return recent - 1;
    return rig_encoder_keys_search(keys, key);
}

#endif
