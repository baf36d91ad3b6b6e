/*
 * Declarative options: one table per section of a plan and per plugin.
 *
 * A table entry names one option; the same table makes the parser, `rig plan`, --help, the reference page and the error
 * messages. A dotted name is a nested key: "keys.active" is `keys: {active: 10}` in the plan and `--set
 * workload.keys.active=10` on the command line. A single value for such a group is that of its option `required`, if it
 * has one: `tls: true` is `tls: {required: true}`. Values are stored into an options object of the table's owner, at
 * `offset`, as the type says; texts are owned by the plan and live as long as it.
 *
 * This header is installed for drivers.
 */
#ifndef RIG_BASE_OPTION_H
#define RIG_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, C type of the stored value, what a person may write) */
#define RIG_OPTION_TYPE_TABLE(X)                                                                                       \
    X(RIG_OPTION_BOOL, bool, "true or false")                                                                          \
    X(RIG_OPTION_INT, int64_t, "a whole number")                                                                       \
    X(RIG_OPTION_DOUBLE, double, "a number")                                                                           \
    X(RIG_OPTION_SHARE, double, "a percentage (`50%`) or a fraction from 0 to 1; stored as a fraction")                \
    X(RIG_OPTION_DURATION, int64_t, "a duration with its unit (`250ms`, `30s`, `5m`, `1h`); stored in ns")             \
    X(RIG_OPTION_SIZE, int64_t, "a size with its unit (`64KiB`, `64MiB`, `2GiB`); stored in bytes")                    \
    X(RIG_OPTION_RATE, double, "a rate a second, or `unlimited`; unlimited is stored as 0")                            \
    X(RIG_OPTION_TEXT, const char *, "a text; NULL when not given and without a default")                              \
    X(RIG_OPTION_SECRET, const char *, "a text that is never shown")                                                   \
    X(RIG_OPTION_CHOICE, int64_t, "one of the names in `choices`; stored as its index there")                          \
    X(RIG_OPTION_TEXT_LIST, struct rig_text_list, "a list of texts")                                                   \
    X(RIG_OPTION_COMMAND, struct rig_text_list,                                                                        \
      "a command: a line, split at blanks outside of quotes and run without a shell, or a list of its arguments")      \
    X(RIG_OPTION_HEADERS, struct rig_text_list,                                                                        \
      "a list of header lines, `Name: value`, with values that are never shown")

enum rig_option_type {
#define RIG_OPTION_TYPE_ENUM(name, type, text) name,
    RIG_OPTION_TYPE_TABLE(RIG_OPTION_TYPE_ENUM)
#undef RIG_OPTION_TYPE_ENUM
};

struct rig_text_list {
    const char *const *at;
    size_t count;
};

/* The offset of a field in an options object that is a member of another one, for tables that several owners share. */
#define RIG_OPTION_WITHIN(owner, member, type, field) (offsetof(owner, member) + offsetof(type, field))

/* How `rig hunt` varies an option (docs/hunt.md). */
struct rig_option_variation {
    double chance;      /* that a drawn point sets the option; 1: always, also to the default */
    const char *values; /* separated by blanks; NULL: all choices, or true and false */
    const char *with; /* settings of the plan that it needs, separated by blanks: "clients.bursts.off=20ms". `|` stands
                           between values of which each will do. A key that the point sets keeps its value; one of a
                           key that every point sets is a condition: "workload.type=predicate|sql". NULL: none */
};
#define RIG_OPTION_VARIATION(...) (&(const struct rig_option_variation){__VA_ARGS__})
#define RIG_OPTION_VARIED(...)    .varied = RIG_OPTION_VARIATION(__VA_ARGS__)

struct rig_option {
    const char *name; /* NULL ends a table */
    enum rig_option_type type;
    size_t offset;              /* where in the options object */
    const char *default_text;   /* as it would be written in a plan; NULL: none (0, false, NULL, empty) */
    double least, most;         /* inclusive range of numbers, in stored units; both 0: any */
    const char *const *choices; /* NULL-ended; RIG_OPTION_CHOICE only */
    const char *help;           /* one sentence; what it does, not what type it has */
    bool required;              /* must be given */
    const struct rig_option_variation *varied; /* NULL: `rig hunt` leaves it as it is */
};

#endif
