/*
 * A YAML file as a tree of nodes with their places in the file: plans, and what drivers describe in YAML.
 *
 * Supports the plain part of YAML: mappings, sequences and scalars. Anchors, aliases, tags, several documents, keys
 * that are not scalars, texts with a NUL or beyond RIG_YAML_TEXT_BYTES, nesting beyond RIG_YAML_DEPTH and files beyond
 * RIG_YAML_BYTES are refused. Values of --set go into the same tree, with their text as their place, so that every
 * later check treats both alike.
 *
 * Memory: an arena of the caller's, which also owns all texts; O(size of the file). Time: O(size), and O(number of keys
 * in a mapping) for each --set. Threads: one a tree. A library of its own (rig_yaml), the only one that links libyaml.
 */
#ifndef RIG_BASE_YAML_TREE_H
#define RIG_BASE_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum { RIG_YAML_BYTES = 1 << 20, RIG_YAML_TEXT_BYTES = 1 << 14, RIG_YAML_DEPTH = 16 };

struct rig_yaml_place {
    const char *override; /* the argument of --set; NULL: in the file, at */
    uint32_t line;        /* both from 1; columns count characters */
    uint32_t column;
};

enum rig_yaml_node_kind { RIG_YAML_SCALAR, RIG_YAML_MAPPING, RIG_YAML_SEQUENCE };

struct rig_yaml_node {
    enum rig_yaml_node_kind kind;
    struct rig_yaml_place place;
    const char *text;             /* of a scalar */
    bool plain;                   /* a scalar without quotes */
    bool is_null;                 /* a null scalar: empty, `~` or `null`, and not quoted */
    struct rig_yaml_entry *first; /* of a mapping or sequence */
    struct rig_yaml_entry *last;
    size_t count;
};

struct rig_yaml_entry {
    const char *key; /* NULL in a sequence */
    struct rig_yaml_place key_place;
    struct rig_yaml_node *value;
    struct rig_yaml_entry *next;
};

struct rig_yaml_tree {
    const char *what; /* borrowed; what the file is, for messages: "plan" */
    const char *file; /* borrowed; stands in every place */
    struct rig_arena *arena;
    struct rig_yaml_node *root; /* a mapping */
};

/*
 * Reads `size` bytes of YAML. Borrows `what`, `file` and `arena`. RIG_E_PLAN with the place; RIG_E_LIMIT out of memory.
 */
enum rig_rc rig_yaml_tree_read(struct rig_yaml_tree *tree, struct rig_arena *arena, const char *what, const char *file,
                               const char *text, size_t size, struct rig_err *err);
/* Sets `a.b=c` in the tree, replacing an earlier value; `a.b=[{c: d}, ...]` sets a list of mappings. Copies `text`. */
enum rig_rc rig_yaml_tree_set(struct rig_yaml_tree *tree, const char *text, struct rig_err *err);

/* Fails with RIG_E_PLAN and `<place>: <text>`. */
enum rig_rc rig_yaml_refuse(const struct rig_yaml_tree *tree, const struct rig_yaml_place *place, struct rig_err *err,
                            const char *format, ...) RIG_PRINTF(4, 5);

/* `path` as the file of `tree` means it: relative to the folder of the file. In the arena; NULL: out of memory. */
const char *rig_yaml_beside(const struct rig_yaml_tree *tree, const char *path);

/*
 * Reading a YAML tree whose mappings have known keys: scenarios and matrices. (Plans are read by option tables.)
 *
 * Each function refuses with RIG_E_PLAN at the place in the file, naming what was expected.
 */

/* Takes a key out of a mapping that may have it. */
void rig_yaml_remove(struct rig_yaml_node *mapping, const char *key);
/* The value of a key of a mapping, or NULL. */
struct rig_yaml_node *rig_yaml_value(const struct rig_yaml_node *mapping, const char *key);
/* Refuses a mapping with other keys than `known`, NULL-ended, and what is no mapping. */
enum rig_rc rig_yaml_check_keys(const struct rig_yaml_tree *tree, const struct rig_yaml_node *node,
                                const char *const *known, struct rig_err *err);
/* The value of a key, which must be there and of this kind. */
enum rig_rc rig_yaml_need(const struct rig_yaml_tree *tree, const struct rig_yaml_node *mapping, const char *key,
                          enum rig_yaml_node_kind kind, struct rig_yaml_node **value, struct rig_err *err);
/* The text of a scalar that is not null. */
enum rig_rc rig_yaml_text(const struct rig_yaml_tree *tree, const struct rig_yaml_node *node, const char **text,
                          struct rig_err *err);
/* Both: the text of a key that must be there. */
enum rig_rc rig_yaml_need_text(const struct rig_yaml_tree *tree, const struct rig_yaml_node *mapping, const char *key,
                               const char **text, struct rig_err *err);
/* The text of a key that must be there, as one printable line in `arena`, for messages. */
enum rig_rc rig_yaml_need_line(const struct rig_yaml_tree *tree, const struct rig_yaml_node *mapping, const char *key,
                               struct rig_arena *arena, const char **text, struct rig_err *err);
/* A scalar, or a list or mapping on one line, as `--set KEY=` takes it. Refuses texts in quotes with `\`, `"` or a line
 * break. */
enum rig_rc rig_yaml_write_value(const struct rig_yaml_tree *tree, const struct rig_yaml_node *node,
                                 struct rig_buf *out, struct rig_err *err);

#endif
