#include "tests/unit/cmocka_first.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "history/text/scan/text_block.h"

enum { ROUNDS = 200000, TEXT_BYTES = 512, LANES_BYTES = 128, NUMBERS_BYTES = 64, SLOT_BITS = 6 };

static struct rig_rng rng;

/* A form of text, as the grammar has it. */
struct form {
    struct rig_lane_syntax syntax;
    const char *name, *write, *read, *between, *null;
    char blank;
};

static struct form forms[] = {
    {.name = "append", .write = "\"append\"", .read = "\"r\"", .between = ",[", .null = "null", .blank = ','},
    {.name = "w", .write = "\"w\"", .read = "\"r\"", .between = ",[", .null = "null", .blank = ','},
    {.name = "inc", .write = "\"inc\"", .read = "\"r\"", .between = ",[", .null = "null", .blank = ','},
    {.name = "append", .write = ":append", .read = ":r", .between = " [", .null = "nil", .blank = ' '},
    {.name = "w", .write = ":w", .read = ":r", .between = " [", .null = "nil", .blank = ' '},
    {.name = "inc", .write = ":inc", .read = ":r", .between = " [", .null = "nil", .blank = ' '},
};

/* The operations of a transaction, read one character after the other. */
struct expected {
    struct rig_txn_op ops[RIG_LANES];
    struct rig_lane_read reads[RIG_LANES];
    struct rig_lane_txn txn;
};

static const struct rig_text_block *block_with_lanes(void)
{
    size_t count = 0;
    const struct rig_text_block *const *blocks = rig_text_blocks(&count);
    if (blocks[0]->micros == NULL) {
        print_message("no AVX-512 here: nothing is read in lanes\n");
        skip();
    }
    return blocks[0];
}

static bool take(const char **at, const char *text)
{
    size_t length = strlen(text);
    if (memcmp(*at, text, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool take_number(const char **at, int64_t *number)
{
    const char *from = *at;
    for (*number = 0; **at >= '0' && **at <= '9' && *at - from < 9; ++*at)
        *number = *number * 10 + (**at - '0');
    return *at > from && *at - from <= 8 && (*from != '0' || *at - from == 1);
}

static bool expect_op(const struct form *form, const char **at, const char *text, struct expected *expected,
                      const struct rig_lane_slots *slots)
{
    struct rig_lane_txn *txn = &expected->txn;
    struct rig_txn_op *op = &expected->ops[txn->op_count];
    int64_t key;
    bool reads = take(at, form->read);
    if ((!reads && !take(at, form->write)) || *(*at)++ != form->blank || !take_number(at, &key) ||
        *(*at)++ != form->blank)
        return false;
    uint32_t slot = (uint32_t)key * RIG_LANE_HASH >> (32 - SLOT_BITS);
    bool is_there = slots->at[slot].tag == (uint32_t)key;
    *op = (struct rig_txn_op){.key = is_there ? slots->at[slot].id : (uint32_t)key, .kind = (uint8_t)(2 + reads)};
    txn->missing |= (uint32_t)!is_there << 2 * txn->op_count;
    if (reads)
        expected->reads[txn->read_count++] = (struct rig_lane_read){(uint16_t)txn->op_count, (uint16_t)(*at - text)};
    txn->op_count++;
    return (reads ? take(at, form->null) : take_number(at, &op->value)) && take(at, "]");
}

static bool expect_micros(const struct form *form, const char *text, struct expected *expected,
                          const struct rig_lane_slots *slots)
{
    const char *at = text + 2;
    *expected = (struct expected){0};
    do {
        if (expected->txn.op_count == RIG_LANES || !expect_op(form, &at, text, expected, slots))
            return false;
    } while (take(&at, form->between));
    expected->txn.length = (uint32_t)(at + 1 - text);
    return *at == ']' && at + 1 - text <= LANES_BYTES;
}

__attribute__((format(printf, 2, 3))) static void add(char *text, const char *format, ...)
{
    size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    assert_true((size_t)vsnprintf(text + length, TEXT_BYTES - length, format, args) < TEXT_BYTES - length);
    va_end(args);
}

/* Mostly short, and seldom 0, or longer than a lane. */
static void add_number(char *text)
{
    static const unsigned long long limits[] = {10, 100, 100, 1000, 10000, 1000000, 100000000, 10000000000};
    add(text, "%llu", (unsigned long long)rig_rng_below(&rng, limits[rig_rng_below(&rng, 8)]));
}

/* Returns its length. The bytes behind it look like more of it. */
static size_t make_txn(const struct form *form, char *text)
{
    const uint64_t most = rig_rng_below(&rng, 8) == 0 ? 10 : 5;
    uint64_t count = 1 + rig_rng_below(&rng, most);
    memset(text, ']', TEXT_BYTES);
    text[0] = '\0';
    add(text, "[[");
    for (uint64_t i = 0; i < count; i++) {
        bool reads = rig_rng_below(&rng, 2) == 0;
        add(text, "%s%s%c", i == 0 ? "" : form->between, reads ? form->read : form->write, form->blank);
        add_number(text);
        add(text, "%c", form->blank);
        if (reads)
            add(text, "%s", form->null);
        else
            add_number(text);
        add(text, "]");
    }
    add(text, "]");
    size_t length = strlen(text);
    text[length] = rig_rng_below(&rng, 2) == 0 ? ']' : '}';
    return length;
}

/* Removes, adds or replaces a byte or two. */
static void spoil(char *text, size_t from, size_t length)
{
    static const char likely[] = "[],: \"0123456789-nr";
    for (uint64_t left = 1 + rig_rng_below(&rng, 2); left > 0; left--) {
        char *at = text + from + rig_rng_below(&rng, length - from);
        const size_t behind = (size_t)(text + TEXT_BYTES - at - 1);
        const uint64_t change = rig_rng_below(&rng, 3);
        if (change == 0) {
            memmove(at, at + 1, behind);
            continue;
        }
        if (change == 1)
            memmove(at + 1, at, behind);
        *at = rig_rng_below(&rng, 8) == 0 ? (char)rig_rng_below(&rng, 256)
                                          : likely[rig_rng_below(&rng, sizeof likely - 1)];
    }
}

static void fill_slots(struct rig_lane_slot *slots)
{
    memset(slots, 0xff, sizeof *slots << SLOT_BITS);
    for (uint32_t key = 0; key < 90; key += 1 + (uint32_t)rig_rng_below(&rng, 2))
        slots[key * RIG_LANE_HASH >> (32 - SLOT_BITS)] = (struct rig_lane_slot){.id = key + 1000, .tag = key};
}

static void micros_are_those_of_the_text(void **state)
{
    (void)state;
    const struct rig_text_block *block = block_with_lanes();
    struct rig_lane_slot table[1 << SLOT_BITS];
    const struct rig_lane_slots slots = {.at = table, .shift = 32 - SLOT_BITS, .mask = (1 << SLOT_BITS) - 1};
    unsigned usual = 0, unusual = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct form *form = &forms[rig_rng_below(&rng, sizeof forms / sizeof forms[0])];
        char text[TEXT_BYTES];
        struct expected expected, got = {0};
        if (round % 1000 == 0)
            fill_slots(table);
        size_t text_length = make_txn(form, text);
        if (rig_rng_below(&rng, 2) == 0)
            spoil(text, 2, text_length);
        bool fits = expect_micros(form, text, &expected, &slots);
        if (block->micros(text, &form->syntax, &slots, 2, got.ops, got.reads, &got.txn) != fits)
            fail_msg("%.128s: %s", text, fits ? "not taken" : "taken");
        usual += fits;
        unusual += !fits;
        if (fits && (memcmp(&got.txn, &expected.txn, sizeof got.txn) != 0 ||
                     memcmp(got.ops, expected.ops, expected.txn.op_count * sizeof got.ops[0]) != 0 ||
                     memcmp(got.reads, expected.reads, expected.txn.read_count * sizeof got.reads[0]) != 0))
            fail_msg("%.128s: %u operations, %u reads, missing %x; got %u, %u, %x", text, expected.txn.op_count,
                     expected.txn.read_count, expected.txn.missing, got.txn.op_count, got.txn.read_count,
                     got.txn.missing);
    }
    assert_true(usual > ROUNDS / 4 && unusual > ROUNDS / 4);
}

/* Up to eight bytes between the brackets and the first name make it as long as another name. */
static void bytes_before_the_first_name_are_noticed(void **state)
{
    (void)state;
    const struct rig_text_block *block = block_with_lanes();
    struct rig_lane_slot table[1 << SLOT_BITS];
    const struct rig_lane_slots slots = {.at = table, .shift = 32 - SLOT_BITS, .mask = (1 << SLOT_BITS) - 1};
    fill_slots(table);
    for (size_t i = 0; i < 16 * sizeof forms / sizeof forms[0]; i++) {
        const struct form *form = &forms[i / 16];
        char text[TEXT_BYTES];
        struct expected got;
        memset(text, ']', sizeof text);
        text[0] = '\0';
        add(text, "[[%.*s%s%s%c5%c%s]]", (int)(i % 8), "rrrrrrr", i % 8 > 0 ? "[" : "",
            i % 16 < 8 ? form->read : form->write, form->blank, form->blank, i % 16 < 8 ? form->null : "7");
        text[strlen(text)] = '}';
        if (block->micros(text, &form->syntax, &slots, 2, got.ops, got.reads, &got.txn) != (i % 8 == 0))
            fail_msg("%.40s: %s", text, i % 8 == 0 ? "not taken" : "taken");
    }
}

static uint32_t expect_numbers(const struct form *form, const char *text, int64_t *numbers, uint32_t *length)
{
    const char *at = text;
    uint32_t count = 0;
    while (*at == form->blank) {
        at++;
        if (count == RIG_LANES || !take_number(&at, &numbers[count++]))
            return RIG_LANES_NONE;
    }
    *length = (uint32_t)(at - text);
    return *at == ']' && *length < NUMBERS_BYTES ? count : RIG_LANES_NONE;
}

static void numbers_are_those_of_the_text(void **state)
{
    (void)state;
    const struct rig_text_block *block = block_with_lanes();
    unsigned usual = 0, unusual = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct form *form = &forms[rig_rng_below(&rng, sizeof forms / sizeof forms[0])];
        char text[TEXT_BYTES];
        int64_t expected[RIG_LANES], got[RIG_LANES];
        uint32_t expected_length = 0, length = 0;
        memset(text, form->blank, sizeof text);
        text[0] = '\0';
        for (uint64_t left = rig_rng_below(&rng, rig_rng_below(&rng, 4) == 0 ? 11 : 5); left > 0; left--) {
            add(text, "%c", form->blank);
            add_number(text);
        }
        add(text, "]");
        if (rig_rng_below(&rng, 2) == 0)
            spoil(text, 0, strlen(text));
        uint32_t count = expect_numbers(form, text, expected, &expected_length);
        if (block->numbers(text, &form->syntax, got, &length) != count)
            fail_msg("%.64s: not %u", text, count);
        usual += count != RIG_LANES_NONE;
        unusual += count == RIG_LANES_NONE;
        if (count != RIG_LANES_NONE && (length != expected_length || memcmp(got, expected, count * sizeof got[0]) != 0))
            fail_msg("%.64s: other numbers", text);
    }
    assert_true(usual > ROUNDS / 4 && unusual > ROUNDS / 8);
}

int main(void)
{
    uint64_t seed = rig_rng_fresh_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    rig_rng_init(&rng, seed, 0);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        rig_lane_syntax_init(&forms[i].syntax, forms[i].name, forms[i].blank == ' ');
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(micros_are_those_of_the_text),
        cmocka_unit_test(bytes_before_the_first_name_are_noticed),
        cmocka_unit_test(numbers_are_those_of_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
