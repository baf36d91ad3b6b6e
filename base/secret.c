#include "base/secret.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

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

/*
 * The number of bytes at the start of `text` that show the secret in any form; 0: none do. `inside_base64`: the
 * character before them, if there is one, shows some of its bits. `is_cut`: the text may end within a secret.
 */
static size_t secret_forms_match(const struct rig_secret_forms *forms, const char *text, bool is_cut,
                                 bool *inside_base64)
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

/* Copies `text`. False without memory. */
static bool secret_forms_make(struct rig_secret_forms *forms, const char *text, size_t length)
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

/* Sets the bytes that a form of the secret may start with. */
static void secret_forms_starts(const struct rig_secret_forms *forms, bool starts[256])
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

/* A text that fills its buffer except for these bytes may have been truncated. */
enum { CUT_LEAST_BYTES = 128, CUT_SLACK_BYTES = 8 };

/* All secrets at one moment. A set is immutable: threads read it without a lock, and a new secret makes a new set.
 * Older sets are kept, because a thread may still read them. */
struct secret_set {
    const struct secret_set *older;
    bool starts[256]; /* the bytes that a secret may start with, in any of its forms */
    size_t count;
    struct rig_secret_forms *forms[]; /* longest first, so that no part of one stays visible */
};

static _Atomic(const struct secret_set *) newest; /* NULL: there is none */
static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;

/* The set with one more secret at place `at`; NULL when memory runs out. */
static struct secret_set *extend(const struct secret_set *set, size_t at, const char *text, size_t length)
{
    const size_t count = set == NULL ? 0 : set->count;
    struct secret_set *made = calloc(1, sizeof *made + (count + 1) * sizeof made->forms[0]);
    struct rig_secret_forms *forms = calloc(1, sizeof *forms);
    if (made == NULL || forms == NULL || !secret_forms_make(forms, text, length)) {
        free(made);
        free(forms);
        return NULL;
    }
    if (set != NULL)
        memcpy(made->starts, set->starts, sizeof made->starts);
    secret_forms_starts(forms, made->starts);
    for (size_t i = 0; i < count; i++)
        made->forms[i < at ? i : i + 1] = set->forms[i];
    made->forms[at] = forms;
    made->count = count + 1;
    made->older = set;
    return made;
}

static bool add(const char *text, size_t length)
{
    const struct secret_set *set = atomic_load(&newest);
    const size_t count = set == NULL ? 0 : set->count;
    size_t at = 0;
    for (; at < count && set->forms[at]->length >= length; at++) {
        if (strcmp(set->forms[at]->text, text) == 0)
            return true;
    }
    const struct secret_set *made = count == RIG_SECRET_MAX ? NULL : extend(set, at, text, length);
    if (made != NULL)
        atomic_store(&newest, made);
    return made != NULL;
}

bool rig_secret_register(const char *text)
{
    if (text == NULL || strlen(text) < RIG_SECRET_SHORTEST)
        return true;
    pthread_mutex_lock(&register_lock);
    const bool added = add(text, strlen(text));
    pthread_mutex_unlock(&register_lock);
    return added;
}

/* The longest piece at the start of `text` that shows a secret; 0: none. */
static size_t shown_at(const struct secret_set *set, const char *text, bool is_cut, bool *inside_base64)
{
    size_t longest = 0;
    for (size_t i = 0; i < set->count; i++) {
        bool inside = false;
        const size_t length = secret_forms_match(set->forms[i], text, is_cut, &inside);
        if (length > longest) {
            longest = length;
            *inside_base64 = inside;
        }
    }
    return longest;
}

void rig_secret_redact(char *text, size_t size)
{
    RIG_REQUIRE(memchr(text, '\0', size) != NULL);
    const struct secret_set *set = atomic_load_explicit(&newest, memory_order_acquire);
    if (set == NULL)
        return;
    static const size_t mask_length = sizeof RIG_SECRET_MASK - 1;
    const bool is_cut = size >= CUT_LEAST_BYTES && strlen(text) + CUT_SLACK_BYTES >= size;
    char *to = text;
    const char *kept_from = text; /* after the last mask */
    for (const char *at = text; *at != '\0';) {
        bool inside_base64 = false;
        const size_t length = set->starts[(unsigned char)*at] ? shown_at(set, at, is_cut, &inside_base64) : 0;
        if (length == 0) {
            *to++ = *at++;
            continue;
        }
        /* The character before holds the first bits of the secret's first byte. */
        if (inside_base64 && to > kept_from)
            to--;
        /* The mask is never longer than what shows a secret, so the text only shrinks. */
        memcpy(to, RIG_SECRET_MASK, mask_length);
        to += mask_length;
        kept_from = to;
        at += length;
    }
    *to = '\0';
}
