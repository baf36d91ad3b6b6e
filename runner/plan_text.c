#include "runner/plan_text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bug.h"
#include "base/secret.h"
#include "base/utf8.h"

enum { LONGEST_EXPANDED_BYTES = 1 << 16 };

/* -- variables ----------------------------------------------------------------------------------------------------- */

static size_t name_length(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    if (text[0] == '\0' || strchr(letters, text[0]) == NULL)
        return 0;
    return 1 + strspn(text + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
}

/* Writes the value of what stands behind `${` at `at`, and moves `at` behind its `}`. */
static enum rig_rc expand_one(const char **at, struct rig_buf *out, struct rig_err *err)
{
    const char *name = *at;
    const size_t length = name_length(name);
    const char *rest = name + length;
    const bool has_default = strncmp(rest, ":-", 2) == 0;
    const char *fallback = has_default ? rest + 2 : rest;
    const char *end = has_default ? strchr(fallback, '}') : (*rest == '}' ? rest : NULL);
    char variable[128];
    if (length == 0 || length >= sizeof variable || end == NULL)
        return rig_fail(err, RIG_E_PLAN,
                        "expected `${NAME}` or `${NAME:-default}` behind a `${`; a `$` itself is written as `$$`");
    memcpy(variable, name, length);
    variable[length] = '\0';
    *at = end + 1;
    const char *value = getenv(variable);
    if (value != NULL && (value[0] != '\0' || !has_default)) {
        rig_buf_add_text(out, value);
        return RIG_OK;
    }
    if (!has_default)
        return rig_fail(err, RIG_E_PLAN,
                        "the environment variable %s is not set; set it, or give a default: `${%s:-default}`", variable,
                        variable);
    rig_buf_add(out, fallback, (size_t)(end - fallback));
    return RIG_OK;
}

enum rig_rc rig_plan_expand(struct rig_arena *arena, const char *text, const char **expanded, struct rig_err *err)
{
    if (strchr(text, '$') == NULL) {
        *expanded = text;
        return RIG_OK;
    }
    struct rig_buf out;
    rig_buf_init(&out, LONGEST_EXPANDED_BYTES);
    enum rig_rc rc = RIG_OK;
    for (const char *at = text; *at != '\0' && rc == RIG_OK;) {
        if (at[0] == '$' && at[1] == '{') {
            at += 2;
            rc = expand_one(&at, &out, err);
        } else if (at[0] == '$' && at[1] == '$') {
            rig_buf_add_char(&out, '$');
            at += 2;
        } else {
            rig_buf_add_char(&out, *at++);
        }
    }
    for (size_t at = 0; rc == RIG_OK && at < out.size;) {
        const size_t length = rig_utf8_decode(out.data + at, out.size - at, NULL);
        if (length == 0)
            rc = rig_fail(err, RIG_E_PLAN, "not UTF-8 with its variables expanded");
        at += length;
    }
    if (rc == RIG_OK && out.failed)
        rc = rig_fail(err, RIG_E_PLAN, "longer than %d bytes with its variables expanded", (int)LONGEST_EXPANDED_BYTES);
    if (rc == RIG_OK) {
        *expanded = rig_arena_text(arena, rig_buf_text(&out), out.size);
        if (*expanded == NULL)
            rc = rig_fail(err, RIG_E_LIMIT, "out of memory for a plan");
    }
    rig_buf_done(&out);
    return rc;
}

/* -- where passwords are ------------------------------------------------------------------------------------------- */

static const char blanks[] = " \t\r\n";

/* Behind `password =`: quoted with backslash escapes, or up to the next blank. */
static struct rig_password_span value_span(const char *text, size_t start)
{
    size_t at = start;
    if (text[at] != '\'' && text[at] != '"')
        return (struct rig_password_span){start, strcspn(text + start, blanks)};
    const char quote = text[at++];
    while (text[at] != '\0' && text[at] != quote)
        at += text[at] == '\\' && text[at + 1] != '\0' ? 2 : 1;
    if (text[at] == quote)
        at++;
    return (struct rig_password_span){start, at - start};
}

/* Whether the `length` bytes at `text` end in a word that names a password. */
static bool ends_in_password_word(const char *text, size_t length)
{
    static const char *const words[] = {"password", "passwd", "passphrase", "pwd", "secret", "token"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t word = strlen(words[i]);
        if (length >= word && strncasecmp(text + length - word, words[i], word) == 0)
            return true;
    }
    return false;
}

static bool find_assignment(const char *text, size_t from, struct rig_password_span *span)
{
    for (const char *equals = strchr(text + from, '='); equals != NULL; equals = strchr(equals + 1, '=')) {
        size_t key_end = (size_t)(equals - text);
        while (key_end > 0 && strchr(blanks, text[key_end - 1]) != NULL)
            key_end--;
        if (!ends_in_password_word(text, key_end))
            continue;
        const size_t start = (size_t)(equals - text) + 1;
        *span = value_span(text, start + strspn(text + start, blanks));
        if (span->length > 0)
            return true;
    }
    return false;
}

/*
 * In `scheme://user:password@host/`: from the first colon to the last `@` of the authority. A password with a raw `/`,
 * `?` or `#` cuts the authority short; then what follows the colon is no port, and everything up to the last `@`
 * counts.
 */
static bool url_span(const char *authority, const char *text, struct rig_password_span *span)
{
    const size_t whole = strcspn(authority, blanks);
    const size_t proper = strcspn(authority, " \t\r\n/?#");
    const char *colon = memchr(authority, ':', proper);
    if (colon == NULL)
        return false;
    const char *start = colon + 1;
    const char *at_sign = memrchr(start, '@', proper - (size_t)(start - authority));
    const char behind_digits = start[strspn(start, "0123456789")];
    const bool is_port = behind_digits == '\0' || strchr(" \t\r\n/?#,", behind_digits) != NULL;
    if (at_sign == NULL && !is_port)
        at_sign = memrchr(start, '@', whole - (size_t)(start - authority));
    if (at_sign == NULL || at_sign == start)
        return false;
    *span = (struct rig_password_span){(size_t)(start - text), (size_t)(at_sign - start)};
    return true;
}

static bool find_in_url(const char *text, size_t from, struct rig_password_span *span)
{
    for (const char *found = strstr(text + from, "://"); found != NULL; found = strstr(found + 3, "://")) {
        if (url_span(found + 3, text, span))
            return true;
    }
    return false;
}

bool rig_password_find(const char *text, size_t from, struct rig_password_span *span)
{
    struct rig_password_span assigned;
    struct rig_password_span in_url;
    const bool has_assigned = find_assignment(text, from, &assigned);
    const bool has_url = find_in_url(text, from, &in_url);
    if (!has_assigned && !has_url)
        return false;
    *span = has_url && (!has_assigned || in_url.start < assigned.start) ? in_url : assigned;
    RIG_INVARIANT(span->length > 0 && span->start >= from);
    return true;
}

bool rig_password_is_key(const char *key)
{
    return ends_in_password_word(key, strlen(key));
}

/* -- hiding them --------------------------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c == '\0' ? NULL : strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
    return found == NULL ? -1 : (int)(found - digits);
}

/* %41 -> A, in place. */
static void decode_percent(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0'; to++) {
        const int high = at[0] == '%' ? hex_digit(at[1]) : -1;
        const int low = high >= 0 ? hex_digit(at[2]) : -1;
        const int byte = low >= 0 ? high * 16 + low : 0;
        if (byte != 0) {
            *to = (char)byte;
            at += 3;
        } else {
            *to = *at++;
        }
    }
    *to = '\0';
}

/* 'it\'s' -> it's, in place. */
static void decode_quotes(char *text)
{
    const size_t length = strlen(text);
    if (length < 2 || (text[0] != '\'' && text[0] != '"') || text[length - 1] != text[0])
        return;
    char *to = text;
    for (size_t at = 1; at < length - 1; at++) {
        if (text[at] == '\\' && at + 1 < length - 1)
            at++;
        *to++ = text[at];
    }
    *to = '\0';
}

/* As written, cut where other notations end a value, and decoded. */
static bool register_span(const char *text, struct rig_password_span span)
{
    char *copy = strndup(text + span.start, span.length);
    if (copy == NULL)
        return false;
    const bool quoted = copy[0] == '\'' || copy[0] == '"';
    if (quoted)
        decode_quotes(copy);
    bool taken = rig_secret_register(copy);
    if (!quoted) {
        decode_percent(copy);
        taken = rig_secret_register(copy) && taken;
        (void)memcpy(copy, text + span.start, span.length);
        copy[strcspn(copy, "&;,#")] = '\0';
        taken = rig_secret_register(copy) && taken;
        decode_percent(copy);
        taken = rig_secret_register(copy) && taken;
    }
    free(copy);
    return taken;
}

bool rig_password_register(const char *text)
{
    struct rig_password_span span;
    for (size_t from = 0; rig_password_find(text, from, &span); from = span.start + span.length) {
        if (!register_span(text, span))
            return false;
    }
    return true;
}

void rig_password_mask(const char *text, struct rig_buf *out)
{
    struct rig_password_span span;
    size_t from = 0;
    while (rig_password_find(text, from, &span)) {
        rig_buf_add(out, text + from, span.start - from);
        rig_buf_add_text(out, RIG_SECRET_MASK);
        from = span.start + span.length;
    }
    rig_buf_add_text(out, text + from);
}
