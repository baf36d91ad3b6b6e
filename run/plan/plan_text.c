#include "run/plan/plan_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/password.h"
#include "base/printable.h"
#include "base/secret.h"

enum {
    LONGEST_EXPANDED_BYTES = 1 << 16,
    BLANK = 1, /* a character that no text of a plan has */
};

/* -- variables ----------------------------------------------------------------------------------------------------- */

static size_t name_length(const char *text)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    if (text[0] == '\0' || strchr(letters, text[0]) == NULL)
        return 0;
    return 1 + strspn(text + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
}

/* Writes the value of what stands after `${` at `at`, and moves `at` after its `}`. */
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
        return rig_fail(err, RIG_E_PLAN, "expected `${NAME}` or `${NAME:-default}`; write `$$` for a `$` itself");
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
            rc = rig_no_memory(err, "a plan");
    }
    rig_buf_done(&out);
    return rc;
}

/* -- secrets ------------------------------------------------------------------------------------------------------- */

/* A `${...}` in a text that could be expanded. */
struct reference {
    const char *start, *end;
    const char *fallback; /* the default, up to the `}`; NULL: none */
    char name[128];
};

/* The first one at `text` or after it. */
static bool find_reference(const char *text, struct reference *reference)
{
    for (const char *at = strchr(text, '$'); at != NULL; at = strchr(at, '$')) {
        if (at[1] != '{') {
            at += at[1] == '$' ? 2 : 1;
            continue;
        }
        const size_t length = name_length(at + 2);
        const char *end = strchr(at + 2, '}');
        if (end == NULL || length == 0 || length >= sizeof reference->name)
            return false;
        *reference = (struct reference){.start = at, .end = end + 1};
        memcpy(reference->name, at + 2, length);
        reference->name[length] = '\0';
        reference->fallback = at[2 + length] == ':' ? at + 2 + length + 2 : NULL;
        return true;
    }
    return false;
}

static bool any_reference(const char *text)
{
    struct reference reference;
    return find_reference(text, &reference);
}

static struct rig_password_context context_of(const struct rig_option *option, const char *const *before, size_t count)
{
    return (struct rig_password_context){.place = option->type == RIG_OPTION_HEADERS   ? RIG_PASSWORD_HEADER
                                                  : option->type == RIG_OPTION_COMMAND ? RIG_PASSWORD_ARGUMENT
                                                                                       : RIG_PASSWORD_TEXT,
                                         .before = before,
                                         .before_count = count};
}

bool rig_plan_register(const struct rig_option *option, const struct rig_plan_before *before, const char *raw,
                       const char *expanded)
{
    const struct rig_password_context context = context_of(option, before->expanded, before->count);
    struct reference reference;
    if (!rig_password_register(&context, expanded) ||
        (option->type == RIG_OPTION_SECRET && !rig_secret_register(expanded)))
        return false;
    for (const char *at = raw; find_reference(at, &reference); at = reference.end) {
        if (rig_password_is_key(reference.name) && !rig_secret_register(getenv(reference.name)))
            return false;
    }
    return true;
}

/* `raw` with each reference as a word, in place: what stands in a default is no part of what is around it. */
static void blank_references(char *raw)
{
    struct reference reference;
    for (const char *at = raw; find_reference(at, &reference); at = reference.end)
        memset(raw + (reference.start - raw), BLANK, (size_t)(reference.end - reference.start));
}

/* The text of a span between references. */
static bool register_pieces(const char *blanked, struct rig_password_span span)
{
    const char blank[] = {BLANK, '\0'};
    char *copy = strndup(blanked + span.start, span.length), *rest = copy;
    bool taken = copy != NULL;
    for (char *piece = strsep(&rest, blank); piece != NULL && taken; piece = strsep(&rest, blank))
        taken = rig_secret_register(piece);
    free(copy);
    return taken;
}

static bool register_fallbacks(const char *raw)
{
    struct reference reference;
    bool taken = true;
    for (const char *at = raw; taken && find_reference(at, &reference); at = reference.end) {
        if (reference.fallback == NULL)
            continue;
        char *fallback = strndup(reference.fallback, (size_t)(reference.end - 1 - reference.fallback));
        taken = fallback != NULL && rig_password_register(NULL, fallback) &&
                (!rig_password_is_key(reference.name) || rig_secret_register(fallback));
        free(fallback);
    }
    return taken;
}

bool rig_plan_register_raw(const char *raw)
{
    if (!any_reference(raw))
        return rig_password_register(NULL, raw);
    char *blanked = strdup(raw);
    if (blanked == NULL || !register_fallbacks(raw)) {
        free(blanked);
        return false;
    }
    blank_references(blanked);
    struct rig_password_span span;
    bool taken = true;
    for (size_t from = 0; taken && rig_password_find(NULL, blanked, from, &span); from = span.start + span.length)
        taken = register_pieces(blanked, span);
    free(blanked);
    return taken;
}

/* A reference keeps its name; of its default, what may be shown. */
static void show_reference(const struct reference *reference, bool is_secret, struct rig_buf *out)
{
    if (reference->fallback == NULL || reference->fallback + 1 == reference->end) {
        rig_buf_add(out, reference->start, (size_t)(reference->end - reference->start));
        return;
    }
    rig_buf_add(out, reference->start, (size_t)(reference->fallback - reference->start));
    if (is_secret || rig_password_is_key(reference->name)) {
        rig_buf_add_text(out, RIG_SECRET_MASK);
    } else {
        char *fallback = strndup(reference->fallback, (size_t)(reference->end - 1 - reference->fallback));
        rig_password_mask(NULL, fallback == NULL ? RIG_SECRET_MASK : fallback, out);
        free(fallback);
    }
    rig_buf_add_char(out, '}');
}

/* The next secret of `raw` that ends after `from`. `blanked`: the same without its references. */
static bool find_secret(const struct rig_option *option, const struct rig_password_context *context,
                        const char *blanked, size_t from, struct rig_password_span *span)
{
    const size_t length = strlen(blanked);
    if (option->type != RIG_OPTION_SECRET)
        return rig_password_find(context, blanked, from, span);
    *span = (struct rig_password_span){from, length - from};
    return from < length;
}

/* Writes `raw` with its references, the rest of each secret masked. */
static void show_raw(const struct rig_option *option, const struct rig_password_context *context, const char *raw,
                     const char *blanked, struct rig_buf *out)
{
    struct rig_password_span span = {0};
    struct reference reference;
    bool is_there = find_secret(option, context, blanked, 0, &span);
    bool is_reference = find_reference(raw, &reference), is_masked = false;
    for (size_t at = 0; raw[at] != '\0';) {
        while (is_there && at >= span.start + span.length)
            is_there = find_secret(option, context, blanked, at, &span);
        const bool is_secret = is_there && at >= span.start;
        if (is_reference && raw + at == reference.start) {
            show_reference(&reference, is_secret, out);
            at = (size_t)(reference.end - raw);
            is_reference = find_reference(reference.end, &reference);
            is_masked = false;
            continue;
        }
        if (!is_secret)
            rig_buf_add_char(out, raw[at]);
        else if (!is_masked)
            rig_buf_add_text(out, RIG_SECRET_MASK);
        is_masked = is_secret;
        at++;
    }
}

/* Whether the text, expanded, may stand in a plan. */
static bool is_harmless(const struct rig_option *option, const struct rig_plan_before *before, const char *raw,
                        const char *blanked, const char *expanded)
{
    const struct rig_password_context context = context_of(option, before->expanded, before->count);
    const struct rig_password_context raw_context = context_of(option, before->raw, before->count);
    struct rig_password_span span;
    struct reference reference;
    if (option->type == RIG_OPTION_SECRET || rig_password_find(&context, expanded, 0, &span) ||
        rig_password_find(&raw_context, blanked, 0, &span))
        return false;
    /* A command may hand a variable on to anything. */
    if (option->type == RIG_OPTION_COMMAND && any_reference(raw))
        return false;
    for (const char *at = raw; find_reference(at, &reference); at = reference.end) {
        if (rig_password_is_key(reference.name))
            return false;
    }
    return true;
}

enum rig_rc rig_plan_show(struct rig_arena *arena, const struct rig_option *option,
                          const struct rig_plan_before *before, const char *raw, const char *expanded,
                          const char **shown, struct rig_err *err)
{
    const struct rig_password_context context = context_of(option, before->raw, before->count);
    struct rig_buf out;
    rig_buf_init(&out, 0);
    char *blanked = strdup(raw);
    if (blanked == NULL)
        return rig_no_memory(err, "a plan");
    blank_references(blanked);
    *shown = NULL;
    if (!is_harmless(option, before, raw, blanked, expanded)) {
        show_raw(option, &context, raw, blanked, &out);
        *shown = out.failed ? NULL : rig_arena_text(arena, rig_buf_text(&out), out.size);
        if (*shown == NULL)
            *shown = RIG_SECRET_MASK;
    }
    free(blanked);
    rig_buf_done(&out);
    return RIG_OK;
}
