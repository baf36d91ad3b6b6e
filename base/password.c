#include "base/password.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/bug.h"
#include "base/secret.h"

static const char blanks[] = " \t\r\n";

/* A piece of the text that is looked at, as offsets. */
struct piece {
    size_t start, end;
};

static size_t skip_blanks(const char *text, size_t at)
{
    return at + strspn(text + at, blanks);
}

/* -- names of secrets ---------------------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether the `length` bytes at `text` end in a word that names a secret. */
static bool ends_in_secret_word(const char *text, size_t length)
{
    static const struct {
        const char *word;
        bool is_whole; /* no letter before it */
    } words[] = {{"password", false},      {"passwd", false},      {"passphrase", false}, {"pwd", false},
                 {"secret", false},        {"token", false},       {"apikey", false},     {"api-key", false},
                 {"api_key", false},       {"access-key", false},  {"access_key", false}, {"secret-key", false},
                 {"secret_key", false},    {"account-key", false}, {"accountkey", false}, {"account_key", false},
                 {"credential", false},    {"credentials", false}, {"cookie", true},      {"pass", true},
                 {"authorization", false}, {"auth", true},         {"pw", true}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t word = strlen(words[i].word);
        if (length < word || strncasecmp(text + length - word, words[i].word, word) != 0)
            continue;
        if (!words[i].is_whole || length == word || !is_letter(text[length - word - 1]))
            return true;
    }
    return false;
}

bool rig_password_is_key(const char *key)
{
    return ends_in_secret_word(key, strlen(key));
}

static bool ends_in(const char *text, size_t length, const char *word)
{
    const size_t size = strlen(word);
    return length >= size && strncasecmp(text + length - size, word, size) == 0;
}

/* -- header lines -------------------------------------------------------------------------------------------------- */

/* `Bearer `, `Basic `: the scheme before what it authenticates by. */
static size_t skip_scheme(const char *text, size_t start, size_t end)
{
    size_t at = start;
    while (at < end && (is_letter(text[at]) || text[at] == '-'))
        at++;
    const size_t rest = skip_blanks(text, at);
    return at > start && rest > at && rest < end ? rest : start;
}

static bool is_public_header(const char *name, size_t length)
{
    static const char *const names[] = {"accept",           "accept-charset",   "accept-encoding",
                                        "accept-language",  "cache-control",    "connection",
                                        "content-encoding", "content-language", "content-length",
                                        "content-type",     "expect",           "host",
                                        "pragma",           "prefer",           "te",
                                        "user-agent"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == length && strncasecmp(name, names[i], length) == 0)
            return true;
    }
    return false;
}

/* The secret is the value of each cookie; in any other header everything but the authentication scheme. */
static bool find_in_header(const char *text, struct piece line, size_t from, struct rig_password_span *span)
{
    const char *colon = memchr(text + line.start, ':', line.end - line.start);
    if (colon == NULL)
        return false;
    const size_t name = (size_t)(colon - text) - line.start;
    size_t start = line.start + name + 1;
    start += strspn(text + start, " \t\"'\\");
    if (is_public_header(text + line.start, name))
        return false;
    if (!ends_in(text + line.start, name, "cookie")) {
        if (ends_in(text + line.start, name, "authorization"))
            start = skip_scheme(text, start, line.end);
        *span = (struct rig_password_span){start, start < line.end ? line.end - start : 0};
        return span->length > 0 && line.end > from;
    }
    while (start < line.end) {
        size_t end = start + strcspn(text + start, ";");
        if (end > line.end)
            end = line.end;
        const char *equals = memchr(text + start, '=', end - start);
        const size_t value = equals == NULL ? start : (size_t)(equals - text) + 1;
        if (end > value && end > from) {
            *span = (struct rig_password_span){value, end - value};
            return true;
        }
        start = skip_blanks(text, end + 1 > line.end ? line.end : end + 1);
    }
    return false;
}

/* -- assignments and members --------------------------------------------------------------------------------------- */

/* The value after `password =`: quoted with backslash escapes, up to the next blank, or a mask. */
static struct rig_password_span value_span(const char *text, size_t start)
{
    size_t at = start;
    if (strncmp(text + start, RIG_SECRET_MASK, sizeof RIG_SECRET_MASK - 1) == 0)
        return (struct rig_password_span){start, sizeof RIG_SECRET_MASK - 1};
    if (text[at] != '\'' && text[at] != '"')
        return (struct rig_password_span){start, strcspn(text + start, blanks)};
    const char quote = text[at++];
    while (text[at] != '\0' && text[at] != quote)
        at += text[at] == '\\' && text[at + 1] != '\0' ? 2 : 1;
    if (text[at] == quote)
        at++;
    return (struct rig_password_span){start, at - start};
}

/* Where the key before the `=` or `:` at `sign` ends; without the quote of a JSON key. */
static size_t key_end(const char *text, size_t sign)
{
    size_t end = sign;
    while (end > 0 && strchr(blanks, text[end - 1]) != NULL)
        end--;
    while (end > 0 && (text[end - 1] == '"' || text[end - 1] == '\'' || text[end - 1] == '\\'))
        end--;
    return end;
}

static bool find_assignment(const char *text, size_t from, struct rig_password_span *span)
{
    for (const char *equals = strchr(text + from, '='); equals != NULL; equals = strchr(equals + 1, '=')) {
        const size_t sign = (size_t)(equals - text);
        if (!ends_in_secret_word(text, key_end(text, sign)))
            continue;
        *span = value_span(text, skip_blanks(text, sign + 1));
        if (span->length > 0)
            return true;
    }
    return false;
}

/* The value after `"password":` in JSON, `password: ` in YAML, or `Authorization: ` in a header within a longer text.
 * */
static bool find_member(const char *text, size_t from, struct rig_password_span *span)
{
    for (const char *colon = strchr(text + from, ':'); colon != NULL; colon = strchr(colon + 1, ':')) {
        const size_t sign = (size_t)(colon - text), end = key_end(text, sign);
        if (!ends_in_secret_word(text, end) || strncmp(colon, "://", 3) == 0)
            continue;
        size_t start = skip_blanks(text, sign + 1);
        if (text[start] == '\\')
            start++;
        if (ends_in(text, end, "authorization") || ends_in(text, end, "cookie")) {
            start += text[start] == '"' || text[start] == '\'' ? 1 : 0;
            struct piece line = {end, start + strcspn(text + start, "\"'\r\n")};
            while (line.start > 0 && (is_letter(text[line.start - 1]) || text[line.start - 1] == '-'))
                line.start--;
            if (find_in_header(text, line, from, span))
                return true;
            continue;
        }
        *span = value_span(text, start);
        if (span->length > 0)
            return true;
    }
    return false;
}

/* -- URLs ---------------------------------------------------------------------------------------------------------- */

/*
 * In `scheme://user:password@host/`: from the first colon to the last `@` of the authority. A password with a raw `/`,
 * `?` or `#` cuts the authority short; then the text after the colon is not a port, and everything up to the last `@`
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

/* -- arguments of commands ----------------------------------------------------------------------------------------- */

enum role { ROLE_NONE, ROLE_WHOLE, ROLE_BEHIND_COLON, ROLE_HEADER, ROLE_COOKIE };

struct word {
    const char *text;
    size_t length;
};

static bool is_word(struct word word, const char *text)
{
    return strlen(text) == word.length && strncmp(word.text, text, word.length) == 0;
}

static bool is_one_of(struct word word, const char *const *texts)
{
    for (size_t i = 0; texts[i] != NULL; i++) {
        if (is_word(word, texts[i]))
            return true;
    }
    return false;
}

/* The program that `word` names when its short options have meanings of their own; else `known`. */
static struct word program_of(struct word word, struct word known)
{
    static const char *const programs[] = {
        "mysql", "mysqladmin", "mysqldump", "mariadb", "mariadb-admin", "sshpass",           "mongosh",
        "mongo", "cqlsh",      "redis-cli", "sqlcmd",  "valkey-cli",    "clickhouse-client", NULL};
    const char *slash = memrchr(word.text, '/', word.length);
    const struct word base =
        slash == NULL ? word : (struct word){slash + 1, word.length - (size_t)(slash + 1 - word.text)};
    return is_one_of(base, programs) ? base : known;
}

/* The last of several short options behind one dash, when it takes a value (`-su`); else 0. */
static char last_letter(struct word option)
{
    if (option.length < 3 || option.text[0] != '-')
        return 0;
    for (size_t i = 1; i < option.length; i++) {
        if (!is_letter(option.text[i]))
            return 0;
    }
    return strchr("uUHb", option.text[option.length - 1]) == NULL ? 0 : option.text[option.length - 1];
}

/* How the value of this option of a command is to be read. */
static enum role role_of(struct word option, struct word program)
{
    static const char *const users[] = {"-u", "--user", "-U", "--proxy-user", "--basic-auth", NULL};
    static const char *const headers[] = {"-H", "--header", "--proxy-header", NULL};
    static const char *const cookies[] = {"-b", "--cookie", NULL};
    static const char *const short_passwords[] = {"-p", "-a", "-P", NULL};
    const char bundled[] = {'-', last_letter(option), '\0'}; /* `-su bob:pw` */
    if (bundled[1] != 0)
        option = (struct word){bundled, 2};
    if (is_one_of(option, users))
        return ROLE_BEHIND_COLON;
    if (is_one_of(option, headers))
        return ROLE_HEADER;
    if (is_one_of(option, cookies))
        return ROLE_COOKIE;
    if (is_word(option, "--oauth2-bearer") || (program.length > 0 && is_one_of(option, short_passwords)))
        return ROLE_WHOLE;
    return option.length > 2 && option.text[0] == '-' && ends_in_secret_word(option.text, option.length) ? ROLE_WHOLE
                                                                                                         : ROLE_NONE;
}

/* `{port}`, `{port:2}`: the plan's placeholder for a value that rig gives. */
static bool is_placeholder(const char *text, struct piece piece)
{
    const size_t length = piece.end - piece.start;
    return length > 2 && text[piece.start] == '{' && text[piece.end - 1] == '}' &&
           strspn(text + piece.start + 1, "abcdefghijklmnopqrstuvwxyz0123456789:") == length - 2;
}

/* The secret in the value `piece` of an option. */
static bool find_in_value(const char *text, struct piece piece, enum role role, size_t from,
                          struct rig_password_span *span)
{
    if (piece.end - piece.start >= 2 && (text[piece.start] == '"' || text[piece.start] == '\'') &&
        text[piece.end - 1] == text[piece.start]) {
        piece.start++;
        piece.end--;
    }
    if (piece.start >= piece.end || role == ROLE_NONE || is_placeholder(text, piece))
        return false;
    if (role == ROLE_HEADER)
        return find_in_header(text, piece, from, span);
    const char sign = role == ROLE_COOKIE ? '=' : ':';
    const char *found = role == ROLE_WHOLE ? NULL : memchr(text + piece.start, sign, piece.end - piece.start);
    if (role != ROLE_WHOLE && found == NULL)
        return false;
    const size_t start = found == NULL ? piece.start : (size_t)(found - text) + 1;
    *span = (struct rig_password_span){start, piece.end - start};
    return start < piece.end && piece.end > from;
}

/* `--user=bob:pw`, `-ubob:pw`. */
static bool find_attached(const char *text, struct piece piece, struct word program, size_t from,
                          struct rig_password_span *span)
{
    const size_t length = piece.end - piece.start;
    if (length < 3 || text[piece.start] != '-')
        return false;
    const char *equals = memchr(text + piece.start, '=', length);
    const bool is_long = text[piece.start + 1] == '-';
    const size_t option = !is_long ? 2 : equals == NULL ? length : (size_t)(equals - text) - piece.start;
    const struct piece value = {piece.start + option + (is_long && equals != NULL ? 1 : 0), piece.end};
    return find_in_value(text, value, role_of((struct word){text + piece.start, option}, program), from, span);
}

/* The end of the word at `at`; quotes keep blanks together. */
static size_t word_end(const char *text, size_t at)
{
    char quote = 0;
    for (; text[at] != '\0' && (quote != 0 || strchr(" \t\r\n;|", text[at]) == NULL); at++) {
        if (quote == text[at])
            quote = 0;
        else if (quote == 0 && (text[at] == '"' || text[at] == '\''))
            quote = text[at];
    }
    return at;
}

/* How to read the word at `text` after the word `before`: as its value, or as a separate word. */
static enum role role_before(const char *text, struct word before, struct word program)
{
    return strncmp(text, "--", 2) == 0 ? ROLE_NONE : role_of(before, program);
}

/* Word by word: an argument may be a line for a shell. */
static bool find_in_argument(const struct rig_password_context *context, const char *text, size_t from,
                             struct rig_password_span *span)
{
    struct word program = {"", 0}, before = {"", 0};
    for (size_t i = 0; i < context->before_count; i++) {
        before = (struct word){context->before[i], strlen(context->before[i])};
        program = program_of(before, program);
    }
    const enum role role = role_before(text, before, program);
    if (role != ROLE_NONE)
        return find_in_value(text, (struct piece){0, strlen(text)}, role, from, span);
    for (size_t at = 0; text[at] != '\0';) {
        const struct piece piece = {at, word_end(text, at)};
        const struct word word = {text + at, piece.end - at};
        if (word.length > 0 && (find_in_value(text, piece, role_before(text + at, before, program), from, span) ||
                                find_attached(text, piece, program, from, span)))
            return true;
        if (word.length > 0) {
            program = program_of(word, program);
            before = word;
        }
        at = text[piece.end] == '\0' ? piece.end : piece.end + 1;
    }
    return false;
}

/* -- all of them --------------------------------------------------------------------------------------------------- */

bool rig_password_find(const struct rig_password_context *context, const char *text, size_t from,
                       struct rig_password_span *span)
{
    struct rig_password_span found[4];
    const bool is_header = context != NULL && context->place == RIG_PASSWORD_HEADER;
    bool is_there[4] = {!is_header && find_assignment(text, from, &found[0]), find_in_url(text, from, &found[1]),
                        !is_header && find_member(text, from, &found[2]), false};
    if (is_header)
        is_there[3] = find_in_header(text, (struct piece){0, strlen(text)}, from, &found[3]);
    else if (context != NULL && context->place == RIG_PASSWORD_ARGUMENT)
        is_there[3] = find_in_argument(context, text, from, &found[3]);
    const struct rig_password_span *best = NULL;
    for (size_t i = 0; i < 4; i++) {
        if (!is_there[i])
            continue;
        if (found[i].start < from) {
            found[i].length -= from - found[i].start;
            found[i].start = from;
        }
        if (best == NULL || found[i].start < best->start ||
            (found[i].start == best->start && found[i].length > best->length))
            best = &found[i];
    }
    if (best == NULL)
        return false;
    *span = *best;
    RIG_INVARIANT(span->length > 0 && span->start >= from);
    return true;
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

/* Registers what `Basic <base64>` in a header encodes: user with password, and the password alone. */
static bool register_basic(const char *text)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char plain[512];
    size_t size = 0;
    unsigned bits = 0, count = 0;
    for (; *text != '\0' && *text != '=' && size + 1 < sizeof plain; text++) {
        const char *found = strchr(alphabet, *text);
        if (found == NULL)
            return true;
        bits = (bits << 6 | (unsigned)(found - alphabet)) & 0xFFFF;
        count += 6;
        if (count >= 8) {
            count -= 8;
            plain[size++] = (char)(unsigned char)(bits >> count & 0xFF);
        }
    }
    plain[size] = '\0';
    const char *colon = strchr(plain, ':');
    return colon == NULL || (rig_secret_register(plain) && rig_secret_register(colon + 1));
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
        taken = register_basic(copy) && taken;
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

/* A password too short to be hidden by itself is hidden behind its user: `user:password`, which Basic authentication
 * encodes. */
static bool register_pair(const char *text, struct rig_password_span span)
{
    if (span.length >= RIG_SECRET_SHORTEST || span.start == 0 || text[span.start - 1] != ':')
        return true;
    size_t start = span.start - 1;
    while (start > 0 && strchr(" \t\r\n/'\"=", text[start - 1]) == NULL)
        start--;
    if (start == span.start - 1)
        return true;
    return register_span(text, (struct rig_password_span){start, span.start + span.length - start});
}

bool rig_password_register(const struct rig_password_context *context, const char *text)
{
    struct rig_password_span span;
    for (size_t from = 0; rig_password_find(context, text, from, &span); from = span.start + span.length) {
        if (!register_span(text, span) || !register_pair(text, span))
            return false;
    }
    return true;
}

void rig_password_mask(const struct rig_password_context *context, const char *text, struct rig_buf *out)
{
    struct rig_password_span span;
    size_t from = 0;
    while (rig_password_find(context, text, from, &span)) {
        rig_buf_add(out, text + from, span.start - from);
        rig_buf_add_text(out, RIG_SECRET_MASK);
        from = span.start + span.length;
    }
    rig_buf_add_text(out, text + from);
}
