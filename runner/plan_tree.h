/*
 * A plan's YAML as a tree of nodes that know where they stand.
 *
 * Plans use the plain part of YAML: mappings, sequences and scalars. Anchors, aliases, tags, several documents, keys
 * that are not scalars, texts with a NUL or beyond RIG_PLAN_TEXT_BYTES, nesting beyond RIG_PLAN_DEPTH and files beyond
 * RIG_PLAN_BYTES are refused.
 * What is written on the command line with --set is put into the same tree and carries its own text as its place, so
 * that every later check treats both alike.
 *
 * Memory: an arena of the caller's, which also owns all texts; O(size of the file). Time: O(size), and O(number of keys
 * in a mapping) for each --set. Threads: one a tree. Private to runner/.
 */
#ifndef RIG_RUNNER_PLAN_TREE_H
#define RIG_RUNNER_PLAN_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { RIG_PLAN_BYTES = 1 << 20, RIG_PLAN_TEXT_BYTES = 1 << 14, RIG_PLAN_DEPTH = 16 };

struct rig_plan_place {
    const char *override; /* the text behind --set; NULL: in the file, at */
    uint32_t line;        /* both from 1; columns count characters */
    uint32_t column;
};

enum rig_plan_node_kind { RIG_PLAN_SCALAR, RIG_PLAN_MAPPING, RIG_PLAN_SEQUENCE };

struct rig_plan_node {
    enum rig_plan_node_kind kind;
    struct rig_plan_place place;
    const char *text;             /* of a scalar */
    bool is_null;                 /* a scalar that says "nothing": empty, `~` or `null`, and not quoted */
    struct rig_plan_entry *first; /* of a mapping or sequence */
    struct rig_plan_entry *last;
    size_t count;
};

struct rig_plan_entry {
    const char *key; /* NULL in a sequence */
    struct rig_plan_place key_place;
    struct rig_plan_node *value;
    struct rig_plan_entry *next;
};

struct rig_plan_tree {
    const char *file; /* borrowed; stands in every place */
    struct rig_arena *arena;
    struct rig_plan_node *root; /* a mapping */
};

/* Reads `size` bytes of YAML. Borrows `file` and `arena`. RIG_E_PLAN with the place; RIG_E_LIMIT out of memory. */
enum rig_rc rig_plan_tree_read(struct rig_plan_tree *tree, struct rig_arena *arena, const char *file, const char *text,
                               size_t size, struct rig_err *err);
/* Puts `a.b=c` into the tree, over what is there. Borrows `text`. */
enum rig_rc rig_plan_tree_set(struct rig_plan_tree *tree, const char *text, struct rig_err *err);

/* Fails with RIG_E_PLAN and `<place>: <text>`. */
enum rig_rc rig_plan_refuse(const struct rig_plan_tree *tree, const struct rig_plan_place *place, struct rig_err *err,
                            const char *format, ...) RIG_PRINTF(4, 5);

#endif
