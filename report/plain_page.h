/*
 * The frame of pages beside the report of a run: tables of many runs. One file without scripts, readable on paper, on a
 * phone, in the dark.
 *
 * Classes: banner, good, bad, open, broken, none, allowed (also of cells), dim, warn, key, wide (scrolls), grid, runs,
 * n (numbers), pair (two columns of equal width).
 */
#ifndef RIG_REPORT_PLAIN_PAGE_H
#define RIG_REPORT_PLAIN_PAGE_H

#include "base/buf.h"

/* Up to `<main>`. */
void rig_plain_page_begin(struct rig_buf *out, const char *title);
/* The same of a page that `rig serve` makes: `script`, a path on the server, is loaded, and may ask the server. */
void rig_plain_page_begin_live(struct rig_buf *out, const char *title, const char *script);
void rig_plain_page_end(struct rig_buf *out);

#endif
