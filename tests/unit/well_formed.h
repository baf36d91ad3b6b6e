/*
 * Whether a page is well-formed: every element that is opened is closed, in the right order. Void elements and those
 * that close themselves are left out; the text of scripts and styles is none of the page's elements.
 */
#ifndef RIG_TESTS_UNIT_WELL_FORMED_H
#define RIG_TESTS_UNIT_WELL_FORMED_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/cmocka_first.h"

enum { WELL_FORMED_DEPTH = 64, WELL_FORMED_NAME = 24 };

static inline bool is_one_of(const char *name, size_t length, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strlen(*names) == length && strncmp(name, *names, length) == 0)
            return true;
    return false;
}

static inline void assert_well_formed(const char *html)
{
    static const char *const voids[] = {"!DOCTYPE", "meta", "br", "hr", "input", "link", "wbr", NULL};
    static const char *const raws[] = {"script", "style", NULL};
    char open[WELL_FORMED_DEPTH][WELL_FORMED_NAME];
    size_t depth = 0;
    for (const char *at = strchr(html, '<'); at != NULL; at = strchr(at + 1, '<')) {
        const bool closes = at[1] == '/';
        const char *name = at + 1 + closes, *end = strchr(at, '>');
        const size_t length = strcspn(name, " >/\n");
        assert_non_null(end);
        assert_true(length > 0 && length < sizeof open[0]);
        if (is_one_of(name, length, voids) || end[-1] == '/')
            continue;
        if (!closes) {
            assert_true(depth < WELL_FORMED_DEPTH);
            (void)snprintf(open[depth++], sizeof open[0], "%.*s", (int)length, name);
            if (is_one_of(name, length, raws)) {
                char ending[WELL_FORMED_NAME + 3];
                (void)snprintf(ending, sizeof ending, "</%s", open[depth - 1]);
                at = strstr(end, ending);
                assert_non_null(at);
                at--;
            }
            continue;
        }
        assert_true(depth > 0);
        depth--;
        if (strlen(open[depth]) != length || strncmp(open[depth], name, length) != 0)
            fail_msg("</%.*s> closes <%s>", (int)length, name, open[depth]);
    }
    assert_int_equal(depth, 0);
}

#endif
