/*
 * A few bytes of facts for each of very many keys. Neighbours share a page, which keeps the index small.
 *
 * Names are numbers; the bytes are opaque. A page notes the time of its last change.
 *
 * Space: the bytes, one or two more for their length, and 60 to 80 a page of 16 names. Time: a look-up; a change copies
 * its page. Threads: one.
 */
#ifndef RIG_CHECKER_JUDGE_STREAM_KEY_PAGES_H
#define RIG_CHECKER_JUDGE_STREAM_KEY_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "base/vec.h"

enum { RIG_PAGE_BITS = 4, RIG_PAGE_KEYS = 1 << RIG_PAGE_BITS };

struct rig_key_page {
    uint64_t number; /* name / RIG_PAGE_KEYS */
    uint8_t *bytes;  /* of each name held, in their order: a length, and that number of bytes */
    uint32_t size;
    uint32_t held; /* a bit a name */
    uint32_t last; /* when something was put there last */
};

RIG_VEC(struct rig_key_page, rig_key_page_vec)

/* Zeroed, it is empty. */
struct rig_key_pages {
    struct rig_key_page_vec pages;
    struct rig_table ids; /* number -> place in `pages` */
    size_t owned_bytes;
};

void rig_key_pages_done(struct rig_key_pages *pages);
size_t rig_key_pages_bytes(const struct rig_key_pages *pages);
/* Adds a name that is not there yet. False, with nothing changed, when memory runs out or a page would take 4 GiB. */
bool rig_key_pages_put(struct rig_key_pages *pages, uint64_t name, const uint8_t *bytes, size_t length, uint32_t now);
/* Borrowed until the next change; NULL: the name is not there. */
const uint8_t *rig_key_pages_get(const struct rig_key_pages *pages, uint64_t name, size_t *length);
/* Removes a name that is there. */
void rig_key_pages_remove(struct rig_key_pages *pages, uint64_t name);
/* Frees the page at a place and moves the last page there. */
void rig_key_pages_remove_page(struct rig_key_pages *pages, size_t place);
/* Frees unused memory after many pages were removed. */
void rig_key_pages_fit(struct rig_key_pages *pages);

#endif
