#include "base/utf8.h"

#include <stdbool.h>

#include "base/bug.h"

size_t rig_utf8_decode(const char *text, size_t left, uint32_t *code)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    RIG_REQUIRE(left > 0);
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t length = 1; length <= 4; length++) {
        if ((bytes[0] & forms[length - 1].mask) != forms[length - 1].lead)
            continue;
        if (left < length)
            return 0;
        uint32_t value = bytes[0] & (unsigned char)~forms[length - 1].mask;
        for (size_t i = 1; i < length; i++) {
            if ((bytes[i] & 0xc0) != 0x80)
                return 0;
            value = value << 6 | (bytes[i] & 0x3fU);
        }
        const bool surrogate = value >= 0xd800 && value <= 0xdfff;
        if (value < forms[length - 1].least || value > 0x10ffff || surrogate)
            return 0;
        if (code != NULL)
            *code = value;
        return length;
    }
    return 0;
}
