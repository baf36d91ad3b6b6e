/* Small records that become large in memory: their memory stays below the limit. */
#include "tests/unit/cmocka_first.h"

#include <string.h>

#include "base/output_file.h"
#include "history/record/packing.h"
#include "history/record/record_cursor.h"
#include "history/record/record_frame.h"
#include "history/source/load.h"
#include "tests/unit/counted_heap.h"

enum { MANY = 4 << 20, NO_TIME = RIG_EVENT_NO_TIME };
static const size_t mib = (size_t)1 << 20;

struct bomb {
    struct rig_buf file;
    size_t frame;
    uint64_t number;
    struct rig_packer *packer;
    unsigned version;
    bool packed;
};

static void put(struct bomb *bomb, uint64_t number)
{
    rig_varint_put(&bomb->file, number);
}

static void put_many(struct bomb *bomb, uint8_t byte, size_t count)
{
    memset(rig_buf_reserve(&bomb->file, count), byte, count);
    bomb->file.size += count;
}

static void begin(struct bomb *bomb)
{
    bomb->frame = rig_frame_begin(&bomb->file);
}

static void end(struct bomb *bomb, unsigned type)
{
    const size_t skipped = type == RIG_FRAME_CHECKPOINT ? RIG_CHECKPOINT_NUMBER_BYTES : 0;
    const bool packs = bomb->packed && (type == RIG_FRAME_CHECKPOINT || type == RIG_FRAME_EVENTS);
    if (packs && rig_packer_pack(bomb->packer, &bomb->file, bomb->frame + RIG_FRAME_HEAD_BYTES + skipped))
        type |= RIG_FRAME_PACKED;
    rig_frame_seal(&bomb->file, bomb->frame, type, bomb->number++);
}

static void begin_checkpoint(struct bomb *bomb)
{
    uint8_t number[RIG_CHECKPOINT_NUMBER_BYTES];
    begin(bomb);
    rig_put_u64(number, bomb->number);
    rig_buf_add(&bomb->file, number, sizeof number);
    put_many(bomb, 0, 3); /* events, transactions, time */
}

static void make(struct bomb *bomb, unsigned version, bool packed)
{
    *bomb = (struct bomb){.version = version, .packed = packed, .packer = rig_packer_new()};
    rig_buf_init(&bomb->file, 0);
    rig_record_start(&bomb->file);
    bomb->file.data[RIG_RECORD_MAGIC_BYTES] = (char)version;
    begin(bomb);
    put(bomb, RIG_WORKLOAD_LIST_APPEND);
    put(bomb, version == 1 ? RIG_RECORD_POSITIONS : packed ? RIG_RECORD_PACKED : 0);
    put_many(bomb, 0, 3); /* start, left out, metadata */
    end(bomb, RIG_FRAME_HEADER);
}

static void make_with_checkpoint(struct bomb *bomb, bool packed)
{
    make(bomb, 2, packed);
    begin_checkpoint(bomb);
    put_many(bomb, 0, 2); /* keys, open transactions */
    end(bomb, RIG_FRAME_CHECKPOINT);
}

static void invoke(struct bomb *bomb, uint64_t client, uint64_t op_count)
{
    const unsigned tag = RIG_INVOKE_COUNT_FOLLOWS << RIG_INVOKE_COUNT_SHIFT | NO_TIME;
    put_many(bomb, (uint8_t)(tag | (bomb->version == 1 ? RIG_INVOKE_ON_TIME_1 : 0U)), 1);
    if (bomb->version > 1)
        put(bomb, RIG_UNUSUAL_ON_TIME);
    put(bomb, client);
    if (bomb->version == 1)
        put(bomb, 0); /* position */
    put(bomb, client << 1);
    put(bomb, op_count);
}

static void complete(struct bomb *bomb, uint64_t client, enum rig_outcome outcome, bool reads)
{
    put(bomb, RIG_EVENT_COMPLETE | (unsigned)outcome << RIG_COMPLETE_OUTCOME_SHIFT | NO_TIME |
                  (reads ? RIG_COMPLETE_READS : 0U));
    put(bomb, client);
    if (bomb->version == 1)
        put(bomb, 0);
}

/* Defines a key, or uses the last one. */
static void read_key(struct bomb *bomb, bool defines)
{
    put(bomb, defines ? 1 : 3);
    if (defines)
        put(bomb, 0);
}

/* A transaction of one read, which sees a list of `more` more elements than the spine. */
static void read_longer(struct bomb *bomb, bool defines, enum rig_outcome outcome, uint64_t more)
{
    invoke(bomb, 0, 1);
    read_key(bomb, defines);
    complete(bomb, 0, outcome, true);
    put(bomb, RIG_READ_CODE_LONGER + 2 * (more - 1));
    put_many(bomb, 2, more);
}

static void read_apart(struct bomb *bomb, enum rig_outcome outcome, uint64_t shared, uint64_t own)
{
    invoke(bomb, 0, 1);
    read_key(bomb, false);
    complete(bomb, 0, outcome, true);
    put(bomb, RIG_READ_CODE_APART);
    put(bomb, shared);
    put(bomb, own);
    put_many(bomb, 4, own);
}

/* ---- the bombs ---- */

static void many_operations(struct bomb *bomb)
{
    make_with_checkpoint(bomb, true);
    begin(bomb);
    invoke(bomb, 0, MANY * 8);
    read_key(bomb, true);
    put_many(bomb, 3, MANY * 8 - 1);
    complete(bomb, 0, RIG_OUTCOME_OK, false);
    end(bomb, RIG_FRAME_EVENTS);
}

static void many_open_operations(struct bomb *bomb)
{
    make_with_checkpoint(bomb, true);
    begin(bomb);
    for (uint64_t client = 0; client < 4000; client++) {
        invoke(bomb, client, 4000);
        read_key(bomb, client == 0);
        put_many(bomb, 3, 3999);
    }
    end(bomb, RIG_FRAME_EVENTS);
}

static void many_frames(struct bomb *bomb)
{
    make_with_checkpoint(bomb, true);
    for (uint64_t i = 0; i < 8; i++) {
        begin(bomb);
        for (uint64_t j = 0; j < 2000; j++) {
            invoke(bomb, 0, 2000);
            read_key(bomb, i + j == 0);
            put_many(bomb, 3, 1999);
            complete(bomb, 0, RIG_OUTCOME_OK, false);
        }
        end(bomb, RIG_FRAME_EVENTS);
    }
}

static void long_spine(struct bomb *bomb)
{
    make(bomb, 2, true);
    begin_checkpoint(bomb);
    put(bomb, 1);
    put_many(bomb, 0, 2); /* key, last value */
    put(bomb, MANY * 8);
    put_many(bomb, 2, MANY * 8);
    put(bomb, 0);
    end(bomb, RIG_FRAME_CHECKPOINT);
}

static void many_keys(struct bomb *bomb)
{
    make(bomb, 2, true);
    begin_checkpoint(bomb);
    put(bomb, MANY * 2);
    put_many(bomb, 0, (size_t)MANY * 2 * 3);
    put(bomb, 0);
    end(bomb, RIG_FRAME_CHECKPOINT);
}

static void many_open_transactions(struct bomb *bomb)
{
    make(bomb, 2, true);
    begin_checkpoint(bomb);
    bomb->file.data[bomb->file.size - 3] = 1; /* one event before it */
    put(bomb, 0);
    put(bomb, MANY);
    for (int i = 0; i < MANY; i++) {
        put(bomb, 0); /* client */
        put(bomb, 1); /* this many positions ago */
        put(bomb, 0); /* process */
        put(bomb, 1); /* without time */
        put(bomb, 0); /* operations */
    }
    end(bomb, RIG_FRAME_CHECKPOINT);
}

/* Each list leaves the spine at its end, and becomes the spine: the earlier ones stay. */
static void spines_of_spines(struct bomb *bomb, unsigned version)
{
    if (version == 1)
        make(bomb, 1, false);
    else
        make_with_checkpoint(bomb, true);
    begin(bomb);
    read_longer(bomb, true, RIG_OUTCOME_OK, 100000);
    for (uint64_t i = 0; i < 1000; i++)
        read_apart(bomb, RIG_OUTCOME_OK, 99999 + i, 2);
    end(bomb, RIG_FRAME_EVENTS);
}

static void spines_of_spines_1(struct bomb *bomb)
{
    spines_of_spines(bomb, 1);
}

static void spines_of_spines_2(struct bomb *bomb)
{
    spines_of_spines(bomb, 2);
}

/* In version 1 the list of a failed transaction is the spine, of which no other read may keep any element. */
static void branches_of_failures(struct bomb *bomb)
{
    make(bomb, 1, false);
    begin(bomb);
    read_longer(bomb, true, RIG_OUTCOME_FAIL, 100000);
    for (uint64_t i = 0; i < 1000; i++)
        read_apart(bomb, RIG_OUTCOME_FAIL, 99999 - i, 1);
    end(bomb, RIG_FRAME_EVENTS);
}

/* ---- the test ---- */

static void explode(void (*make_bomb)(struct bomb *), size_t limit_bytes)
{
    struct bomb bomb;
    make_bomb(&bomb);
    rig_packer_free(bomb.packer);
    struct rig_load_options options = {.form = RIG_FORM_RIG, .limit_bytes = limit_bytes};
    struct rig_history *history = NULL;
    struct rig_err err = {0};
    const size_t before = restart_heap_peak();
    const enum rig_rc rc = rig_history_parse("bomb.rig", bomb.file.data, bomb.file.size, &options, &history, &err);
    const size_t peak = heap_peak_since(before);
    if (rc != RIG_OK && (rc != RIG_E_LIMIT || strstr(err.text, "max-memory") == NULL))
        fail_msg("%s", err.text); /* the bomb is no record, or the remedy is not named */
    if (peak > limit_bytes)
        fail_msg("%zu bytes became %zu under a limit of %zu: %s", bomb.file.size, peak, limit_bytes, err.text);
    rig_history_free(history);
    rig_buf_done(&bomb.file);
}

static const struct {
    const char *name;
    void (*make)(struct bomb *bomb);
} bombs[] = {
    {"many-operations", many_operations},
    {"many-open-operations", many_open_operations},
    {"many-frames", many_frames},
    {"long-spine", long_spine},
    {"many-keys", many_keys},
    {"many-open-transactions", many_open_transactions},
    {"spines-of-spines-1", spines_of_spines_1},
    {"spines-of-spines-2", spines_of_spines_2},
    {"branches-of-failures", branches_of_failures},
};

static void no_bomb_takes_more_than_the_limit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        explode(bombs[i].make, 16 * mib);
        explode(bombs[i].make, 64 * mib);
    }
}

static void save_all(const char *folder)
{
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        struct bomb bomb;
        struct rig_err err = {0};
        char path[256];
        bombs[i].make(&bomb);
        (void)snprintf(path, sizeof path, "%s/%s.rig", folder, bombs[i].name);
        assert_int_equal(rig_output_save(&bomb.file, path, &err), RIG_OK);
        rig_packer_free(bomb.packer);
        rig_buf_done(&bomb.file);
    }
}

/* With a folder: saves the bombs there, for tests/attack/memory.py. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_bomb_takes_more_than_the_limit)};
    if (!rig_packing_available())
        return 77;
    if (argc == 2)
        save_all(argv[1]);
    return argc == 2 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
