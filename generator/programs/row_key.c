#include "generator/programs/row_key.h"

#include "base/bug.h"
#include "history/types/row_names.h"

void rig_row_key_names(const struct rig_program *program, struct rig_buf *line)
{
    rig_buf_printf(line, RIG_ROW_NAMES_LINE "%d", RIG_ROW_KEY_TABLE_BITS);
    for (uint32_t i = 0; i < program->table_count; i++) {
        const struct rig_program_table *table = &program->tables[i];
        rig_buf_printf(line, " %s", table->rows.name);
        for (uint32_t j = 0; j < table->rows.key_count; j++)
            rig_buf_printf(line, ":%u", table->key_bits[j]);
    }
    rig_buf_add_char(line, '\n');
}

int64_t rig_row_key_pack(const struct rig_program *program, uint32_t table, const int64_t *columns)
{
    const struct rig_program_table *described = &program->tables[table];
    uint64_t key = 0;
    unsigned bits = RIG_ROW_KEY_TABLE_BITS;
    for (uint32_t i = 0; i < described->rows.key_count; i++) {
        const unsigned width = described->key_bits[i];
        if (columns[i] < 0 || (uint64_t)columns[i] >> width != 0)
            return -1;
        key = key << width | (uint64_t)columns[i];
        bits += width;
    }
    RIG_REQUIRE(bits < 64 && table >> RIG_ROW_KEY_TABLE_BITS == 0);
    return (int64_t)(key << RIG_ROW_KEY_TABLE_BITS | table);
}

uint32_t rig_row_key_unpack(const struct rig_program *program, int64_t key, int64_t columns[RIG_PROGRAM_KEY_COLUMNS])
{
    const uint32_t table = (uint32_t)((uint64_t)key & ((1U << RIG_ROW_KEY_TABLE_BITS) - 1));
    RIG_REQUIRE(table < program->table_count);
    const struct rig_program_table *described = &program->tables[table];
    uint64_t left = (uint64_t)key >> RIG_ROW_KEY_TABLE_BITS;
    for (uint32_t i = described->rows.key_count; i-- > 0;) {
        columns[i] = (int64_t)(left & ((UINT64_C(1) << described->key_bits[i]) - 1));
        left >>= described->key_bits[i];
    }
    return table;
}
