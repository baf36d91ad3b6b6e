#include "base/secret_forms.h"

#include <stdlib.h>
#include <string.h>

/* -- one character of an encoded text ------------------------------------------------------------------------------ */

/* The bytes that a piece of text encodes. */
struct decoded {
    char bytes[4];
    size_t count;  /* 0: not an escape */
    size_t length; /* of the piece */
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    const char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The number written by the `count` hexadecimal digits at `text`; negative if they are not digits. */
static long hex_number(const char *text, size_t count)
{
    long number = 0;
    for (size_t i = 0; i < count; i++) {
        const int digit = hex_digit(text[i]);
        if (digit < 0)
            return -1;
        number = number * 16 + digit;
    }
    return number;
}

static struct decoded one_byte(char byte, size_t length)
{
    return (struct decoded){.bytes = {byte}, .count = 1, .length = length};
}

/* A code point in UTF-8. */
static struct decoded code_point(long code, size_t length)
{
    struct decoded made = {.length = length};
    if (code <= 0)
        return made;
    if (code < 0x80)
        return one_byte((char)code, length);
    const size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char heads[] = {0, 0xC0, 0xE0, 0xF0};
    made.bytes[0] = (char)(unsigned char)(heads[more] | (unsigned)(code >> (6 * more)));
    for (size_t i = 1; i <= more; i++)
        made.bytes[i] = (char)(unsigned char)(0x80 | (unsigned)(code >> (6 * (more - i)) & 0x3F));
    made.count = more + 1;
    return made;
}

static struct decoded unicode_escape(const char *text)
{
    const long first = hex_number(text + 2, 4);
    const bool pair = first >= 0xD800 && first < 0xDC00 && text[6] == '\\' && text[7] == 'u';
    const long second = pair ? hex_number(text + 8, 4) : -1;
    if (second >= 0xDC00 && second < 0xE000)
        return code_point(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00), 12);
    return code_point(first, 6);
}

static struct decoded backslash(const char *text)
{
    static const char names[] = "nrtbf0", bytes[] = "\n\r\t\b\f";
    if (text[1] == 'u')
        return unicode_escape(text);
    if (text[1] == 'x') {
        const long byte = hex_number(text + 2, 2);
        return byte > 0 ? one_byte((char)(unsigned char)byte, 4) : (struct decoded){.count = 0};
    }
    const char *found = text[1] == '\0' ? NULL : strchr(names, text[1]);
    const size_t at = found == NULL ? sizeof bytes : (size_t)(found - names);
    return at < sizeof bytes - 1 ? one_byte(bytes[at], 2) : (struct decoded){.count = 0};
}

/* &amp; and the like, &#39; and &#x27;. */
static struct decoded entity(const char *text)
{
    static const struct {
        const char *name;
        char byte;
    } names[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strncmp(text, names[i].name, strlen(names[i].name)) == 0)
            return one_byte(names[i].byte, strlen(names[i].name));
    }
    if (text[1] != '#')
        return (struct decoded){.count = 0};
    const bool hex = text[2] == 'x' || text[2] == 'X';
    char *end = NULL;
    const long code = hex_digit(text[hex ? 3 : 2]) < 0 ? 0 : strtol(text + (hex ? 3 : 2), &end, hex ? 16 : 10);
    if (end == NULL || *end != ';' || code > 0x10FFFF)
        return (struct decoded){.count = 0};
    return code_point(code, (size_t)(end - text) + 1);
}

static struct decoded decode(const char *text)
{
    if (text[0] == '%') {
        const long byte = hex_number(text + 1, 2);
        return byte > 0 ? one_byte((char)(unsigned char)byte, 3) : (struct decoded){.count = 0};
    }
    if (text[0] == '+')
        return one_byte(' ', 1);
    if (text[0] == '\\')
        return backslash(text);
    return text[0] == '&' ? entity(text) : (struct decoded){.count = 0};
}

/* -- a form at a place --------------------------------------------------------------------------------------------- */

/* base64 has two alphabets. */
static char standard(char c)
{
    return c == '-' ? '+' : c == '_' ? '/' : c;
}

/* The number of bytes of `text` that encode the next bytes of `wanted`; 0: none. `taken`: how many of `wanted`. */
static size_t step(const char *text, const char *wanted, bool base64, size_t *taken)
{
    const struct decoded made = decode(text);
    *taken = 1;
    if (made.count == 1 && base64 && *text != '+' && standard(made.bytes[0]) == *wanted)
        return made.length;
    if (made.count > 0 && !base64 && strncmp(made.bytes, wanted, made.count) == 0) {
        *taken = made.count;
        return made.length;
    }
    if (*text == *wanted || (base64 && standard(*text) == *wanted))
        return 1;
    *taken = 0;
    return *text == '\\' ? 1 : 0; /* before a quote, a slash or another escaped character */
}

/* The number of bytes of `text` that show `wanted`; 0: they do not. If the text is truncated, the rest of `wanted` is
 * assumed. */
static size_t match_escaped(const char *text, const char *wanted, bool base64, bool is_cut)
{
    size_t at = 0, done = 0;
    while (wanted[done] != '\0') {
        size_t taken = 0;
        const size_t length = text[at] == '\0' ? 0 : step(text + at, wanted + done, base64, &taken);
        if (text[at] == '\0' && is_cut && done >= RIG_SECRET_SHORTEST)
            return at;
        const bool doubled = length == 0 && done > 0 && (text[at] == '\'' || text[at] == '"') &&
                             text[at] == wanted[done - 1]; /* SQL writes a quote twice */
        if ((length == 0 && !doubled) || (taken == 0 && done == 0))
            return 0;
        at += doubled ? 1 : length;
        done += taken;
    }
    return at;
}

static size_t match_hex(const struct rig_secret_forms *forms, const char *text, bool is_cut)
{
    size_t done = 0;
    for (; done < forms->length; done++) {
        const char *at = text + 2 * done;
        if (at[0] == '\0' || at[1] == '\0')
            return is_cut && done >= RIG_SECRET_SHORTEST ? 2 * done + strlen(at) : 0;
        if (hex_number(at, 2) != (unsigned char)forms->text[done])
            return 0;
    }
    return 2 * done;
}

static bool is_base64(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || standard(c) == '+' ||
           standard(c) == '/';
}

size_t rig_secret_forms_match(const struct rig_secret_forms *forms, const char *text, bool is_cut, bool *inside_base64)
{
    size_t longest = strncmp(text, forms->text, forms->length) == 0 ? forms->length : 0;
    const size_t escaped = match_escaped(text, forms->text, false, is_cut);
    const size_t hex = match_hex(forms, text, is_cut);
    *inside_base64 = false;
    longest = escaped > longest ? escaped : longest;
    longest = hex > longest ? hex : longest;
    for (size_t shift = 0; shift < RIG_SECRET_SHIFTS; shift++) {
        size_t length = match_escaped(text, forms->base64[shift], true, is_cut);
        if (length > 0 && forms->goes_on[shift] && is_base64(text[length]))
            length++;
        if (length <= longest)
            continue;
        longest = length;
        *inside_base64 = shift > 0;
    }
    return longest;
}

/* -- making them --------------------------------------------------------------------------------------------------- */

/* The base64 of the secret after `shift` other bytes, without the characters that hold bits of bytes before or after
 * it. */
static char *base64_core(const char *text, size_t length, size_t shift, bool *goes_on)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t first = (8 * shift + 5) / 6, end = 8 * (shift + length) / 6;
    char *core = malloc(end - first + 1);
    if (core == NULL)
        return NULL;
    for (size_t i = first; i < end; i++) {
        unsigned six = 0;
        for (size_t bit = 6 * i; bit < 6 * i + 6; bit++) {
            const unsigned char byte = (unsigned char)text[bit / 8 - shift];
            six = six << 1 | (byte >> (7 - bit % 8) & 1);
        }
        core[i - first] = alphabet[six];
    }
    core[end - first] = '\0';
    *goes_on = 8 * (shift + length) % 6 != 0;
    return core;
}

bool rig_secret_forms_make(struct rig_secret_forms *forms, const char *text, size_t length)
{
    *forms = (struct rig_secret_forms){.text = strdup(text), .length = length};
    bool made = forms->text != NULL;
    for (size_t shift = 0; shift < RIG_SECRET_SHIFTS && made; shift++) {
        forms->base64[shift] = base64_core(text, length, shift, &forms->goes_on[shift]);
        made = forms->base64[shift] != NULL;
    }
    if (!made)
        rig_secret_forms_free(forms);
    return made;
}

void rig_secret_forms_free(struct rig_secret_forms *forms)
{
    free(forms->text);
    for (size_t shift = 0; shift < RIG_SECRET_SHIFTS; shift++)
        free(forms->base64[shift]);
    *forms = (struct rig_secret_forms){.text = NULL};
}

void rig_secret_forms_starts(const struct rig_secret_forms *forms, bool starts[256])
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char first = (unsigned char)forms->text[0];
    const char digit = hex[first >> 4];
    starts[first] = true;
    starts['%'] = starts['\\'] = starts['&'] = starts['+'] = starts['-'] = starts['_'] = true;
    starts[(unsigned char)digit] = true;
    starts[digit >= 'a' ? (unsigned char)(digit - 'a' + 'A') : (unsigned char)digit] = true;
    for (size_t shift = 0; shift < RIG_SECRET_SHIFTS; shift++)
        starts[(unsigned char)forms->base64[shift][0]] = true;
}
