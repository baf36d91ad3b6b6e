/*
 * Writes random rows and conditions of the workload sql, and which rows meet each condition by rig's evaluator.
 *
 *     row_conditions SEED COUNT
 *
 *     row BIT VALUES            of 60 rows: 2^number, and the values as SQL
 *     assignment ASSIGNMENTS    the assignments of one UPDATE of all rows; then the rows that it leaves
 *     condition SUM SQL         the sum of the bits of the rows that meet it
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers/sql/random_sql.h"
#include "history/types/row_ops.h"
#include "history/types/row_clauses.h"

enum { ROWS = 60, UPDATES = 300 };

static void say_rows(const uint32_t contents[static ROWS], struct rig_buf *text)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        rig_buf_clear(text);
        rig_row_say_contents(RIG_ROW_PLAIN_WORDS, contents[row], RIG_ROW_VALUE_COLUMNS, text);
        (void)printf("row %" PRIu64 " %s\n", UINT64_C(1) << row, rig_buf_text(text));
    }
}

int main(int count, char **arguments)
{
    uint32_t contents[ROWS];
    struct rig_rng rng;
    struct rig_buf text;
    if (count != 3)
        return 64;
    rig_rng_init(&rng, strtoull(arguments[1], NULL, 10), 0);
    rig_buf_init(&text, 0);
    for (uint32_t row = 0; row < ROWS; row++) {
        contents[row] = 0;
        for (uint32_t column = 0; column < RIG_ROW_VALUE_COLUMNS; column++)
            contents[row] =
                rig_row_with_code(contents[row], column, (uint32_t)rig_rng_below(&rng, RIG_ROW_VALUE_CODES));
    }
    say_rows(contents, &text);
    for (unsigned long i = strtoul(arguments[2], NULL, 10); i > 0; i--) {
        const uint64_t bits = rig_sql_random_tests(&rng);
        const struct rig_row_testings tests = rig_row_tests_of(bits);
        uint64_t sum = 0;
        for (uint32_t row = 0; row < ROWS; row++)
            sum += (uint64_t)rig_row_tests_hold(&tests, contents[row]) << row;
        rig_buf_clear(&text);
        rig_row_say_tests(RIG_ROW_PLAIN_WORDS, bits, &text);
        (void)printf("condition %" PRIu64 " %s\n", sum, rig_buf_text(&text));
    }
    for (uint32_t i = 0; i < UPDATES;) {
        const uint64_t payload = rig_rng_next(&rng) & 0xFFFFFF;
        const struct rig_row_assigning a = rig_row_assignment_of(payload, 0), b = rig_row_assignment_of(payload, 1);
        if (!rig_row_are_assignments(payload) || payload == 0 || (b.form != RIG_ROW_UNCHANGED && b.source == a.column))
            continue;
        i++;
        rig_buf_clear(&text);
        rig_row_say_assignments(RIG_ROW_PLAIN_WORDS, payload, ", ", &text);
        (void)printf("assignment %s\n", rig_buf_text(&text) + 2);
        for (uint32_t row = 0; row < ROWS; row++)
            contents[row] = rig_row_assign(contents[row], payload);
        say_rows(contents, &text);
    }
    rig_buf_done(&text);
    return 0;
}
