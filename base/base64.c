#include "base/base64.h"

#include <stdint.h>

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '-')
        return 62;
    return c == '/' || c == '_' ? 63 : -1;
}

size_t rig_base64_decode(const char *text, size_t size, char *bytes)
{
    size_t length = size, count = 0;
    uint32_t bits = 0;
    while (length > 0 && text[length - 1] == '=' && size - length < 2)
        length--;
    if (length % 4 == 1)
        return SIZE_MAX;
    for (size_t i = 0; i < length; i++) {
        const int digit = digit_of(text[i]);
        if (digit < 0)
            return SIZE_MAX;
        bits = bits << 6 | (uint32_t)digit;
        if (i % 4 == 1)
            bytes[count++] = (char)(bits >> 4 & 0xFF);
        else if (i % 4 == 2)
            bytes[count++] = (char)(bits >> 2 & 0xFF);
        else if (i % 4 == 3)
            bytes[count++] = (char)(bits & 0xFF);
    }
    return count;
}

void rig_base64_add(const char *bytes, size_t size, bool for_urls, struct rig_buf *out)
{
    static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const char *digits = for_urls ? url : base64;
    for (size_t at = 0; at < size; at += 3) {
        uint32_t bits = (uint32_t)(unsigned char)bytes[at] << 16;
        bits |= at + 1 < size ? (uint32_t)(unsigned char)bytes[at + 1] << 8 : 0;
        bits |= at + 2 < size ? (uint32_t)(unsigned char)bytes[at + 2] : 0;
        const size_t chars = size - at >= 3 ? 4 : size - at + 1;
        for (size_t i = 0; i < chars; i++)
            rig_buf_add_char(out, digits[bits >> (18 - 6 * i) & 63]);
        for (size_t i = chars; !for_urls && i < 4; i++)
            rig_buf_add_char(out, '=');
    }
}
