/*
 * Which of the texts and outcomes of an interleaving are those of a server.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "run/scenario/sql_scenario.h"

enum { PRODUCT_BYTES = 64 };

/* "mariadb-10.11": the product, and its version, which may be empty. */
static const char *split(const char *engine, char product[static PRODUCT_BYTES])
{
    size_t length = strlen(engine);
    const char *dash = strrchr(engine, '-');
    const bool has_version = dash != NULL && isdigit((unsigned char)dash[1]);
    if (has_version)
        length = (size_t)(dash - engine);
    if (length >= PRODUCT_BYTES)
        length = PRODUCT_BYTES - 1;
    memcpy(product, engine, length);
    product[length] = '\0';
    return has_version ? dash + 1 : "";
}

static const char *find(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (; *text != '\0' && length > 0; text++) {
        if (strncasecmp(text, word, length) == 0)
            return text;
    }
    return NULL;
}

unsigned rig_engine_fit(const char *engine, const char *server)
{
    char product[PRODUCT_BYTES];
    const char *version = split(engine, product);
    const char *at = find(server, product);
    const size_t length = strlen(version);
    if (at == NULL)
        return 0;
    if (length == 0)
        return 2;
    at += strlen(product);
    at += strcspn(at, "0123456789");
    return strncmp(at, version, length) == 0 && isdigit((unsigned char)at[length]) == 0 ? 3 : 1;
}

const char *rig_engine_text_for(const struct rig_engine_texts *texts, const char *server)
{
    const char *best = NULL;
    unsigned best_fit = 0;
    for (uint32_t i = 0; i < texts->count; i++) {
        const struct rig_engine_text *text = &texts->at[i];
        const unsigned fit = text->engine == NULL ? 1 : rig_engine_fit(text->engine, server);
        if (fit > best_fit) {
            best_fit = fit;
            best = text->text;
        }
    }
    return best;
}

static bool is_separator(char c)
{
    return c == ' ' || c == '-' || c == '_' || c == ',';
}

/* "read-committed" is "READ COMMITTED". */
static bool is_level(const char *one, const char *other)
{
    for (;;) {
        while (is_separator(*one))
            one++;
        while (is_separator(*other))
            other++;
        if (*one == '\0' || *other == '\0')
            return *one == *other;
        if (tolower((unsigned char)*one++) != tolower((unsigned char)*other++))
            return false;
    }
}

static bool has_level(const struct rig_expected_outcome *outcome, const char *level)
{
    for (uint32_t i = 0; i < outcome->level_count; i++) {
        if (is_level(outcome->levels[i], level))
            return true;
    }
    return false;
}

const struct rig_expected_outcome *rig_sql_scenario_outcome(const struct rig_sql_scenario *interleaving,
                                                            const char *server, const char *level)
{
    const struct rig_expected_outcome *best = NULL;
    unsigned best_fit = 0, groups = 0;
    for (uint32_t i = 0; i < interleaving->outcome_count; i++) {
        const struct rig_expected_outcome *outcome = &interleaving->outcomes[i];
        const unsigned fit = rig_engine_fit(outcome->engine, server);
        groups += fit > 0;
        if (fit > best_fit && (level == NULL || level[0] == '\0' || has_level(outcome, level))) {
            best_fit = fit;
            best = outcome;
        }
    }
    return (level == NULL || level[0] == '\0') && groups > 1 ? NULL : best;
}
