#include "history/record/record_cursor.h"

struct rig_long_number rig_record_long_number(const uint8_t *at, const uint8_t *end)
{
    struct rig_long_number number = {0};
    /* Times take two or three bytes. */
    if (end - at >= 3 && at[0] >= 0x80) {
        uint64_t low = at[0] & 0x7fU;
        if (at[1] < 0x80 && at[1] > 0)
            return (struct rig_long_number){.number = low | (uint64_t)at[1] << 7, .next = at + 2};
        if (at[1] >= 0x80 && at[2] < 0x80 && at[2] > 0)
            return (struct rig_long_number){.number = low | (at[1] & 0x7fU) << 7 | (uint64_t)at[2] << 14,
                                            .next = at + 3};
    }
    if (rig_varint_get(&at, end, &number.number))
        number.next = at;
    return number;
}
