#include "run/load/run_outages.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/bug.h"
#include "base/log.h"
#include "base/plural.h"

void rig_run_outages_init(struct rig_run_outages *outages)
{
    *outages = (struct rig_run_outages){.count = 0};
    RIG_INVARIANT(pthread_mutex_init(&outages->lock, NULL) == 0);
}

void rig_run_outages_done(struct rig_run_outages *outages)
{
    (void)pthread_mutex_destroy(&outages->lock);
}

static const char *skip_digits(const char *text)
{
    while (isdigit((unsigned char)*text))
        text++;
    return text;
}

static bool is_like(const char *a, const char *b)
{
    for (;;) {
        const char *a_next = skip_digits(a), *b_next = skip_digits(b);
        if ((a_next == a) != (b_next == b) || *a_next != *b_next)
            return false;
        if (*a_next == '\0')
            return true;
        a = a_next + 1;
        b = b_next + 1;
    }
}

static void tell_untold(struct rig_run_outage *kind)
{
    if (kind->untold > 0)
        rig_log(RIG_LOG_WARN, "client", "%" PRIu64 " more attempt%s to connect failed like this: %s", kind->untold,
                rig_plural(kind->untold), kind->text);
    kind->untold = 0;
}

/* The text is of the kind that is returned; `fresh`: it is the first. */
static struct rig_run_outage *find_kind(struct rig_run_outages *outages, const char *text, bool *fresh)
{
    struct rig_run_outage *oldest = &outages->kinds[0];
    *fresh = false;
    for (uint32_t i = 0; i < outages->count; i++) {
        struct rig_run_outage *kind = &outages->kinds[i];
        if (is_like(kind->text, text))
            return kind;
        oldest = kind->told_ns < oldest->told_ns ? kind : oldest;
    }
    *fresh = true;
    if (outages->count < RIG_OUTAGE_KINDS)
        return &outages->kinds[outages->count++];
    tell_untold(oldest);
    return oldest;
}

void rig_run_outages_note(struct rig_run_outages *outages, uint32_t client, const char *text, int64_t now_ns)
{
    char kept[RIG_OUTAGE_TEXT_BYTES];
    bool fresh = false;
    (void)snprintf(kept, sizeof kept, "%s", text);
    pthread_mutex_lock(&outages->lock);
    struct rig_run_outage *kind = find_kind(outages, kept, &fresh);
    if (!fresh && now_ns - kind->told_ns < RIG_OUTAGE_QUIET_NS) {
        kind->untold++;
    } else {
        tell_untold(kind);
        rig_log(RIG_LOG_WARN, "client", "client %" PRIu32 " cannot connect: %s", client, text);
        kind->told_ns = now_ns;
    }
    (void)snprintf(kind->text, sizeof kind->text, "%s", kept);
    pthread_mutex_unlock(&outages->lock);
}

void rig_run_outages_flush(struct rig_run_outages *outages)
{
    pthread_mutex_lock(&outages->lock);
    for (uint32_t i = 0; i < outages->count; i++)
        tell_untold(&outages->kinds[i]);
    outages->count = 0;
    pthread_mutex_unlock(&outages->lock);
}
