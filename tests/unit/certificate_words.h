/*
 * The commits and versions of a certificate (struct rig_certificate_sink), in words, for tests of the decoders that
 * hand them over.
 *
 * A version is " KEY=1,2;" or " KEY=removed;". A test words the commits itself, because databases number them in
 * different ways. One test program includes it once. Threads: one.
 */
#ifndef RIG_TESTS_UNIT_CERTIFICATE_WORDS_H
#define RIG_TESTS_UNIT_CERTIFICATE_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* All words so far; the test initialises, clears and frees it. */
static struct rig_buf taken;

static bool take_version(void *context, int64_t key, const int64_t *elements, uint32_t count)
{
    (void)context;
    rig_buf_printf(&taken, " %lld=", (long long)key);
    for (uint32_t i = 0; elements != NULL && i < count; i++)
        rig_buf_printf(&taken, "%s%lld", i == 0 ? "" : ",", (long long)elements[i]);
    rig_buf_add_text(&taken, elements == NULL ? "removed;" : ";");
    return true;
}

#endif
