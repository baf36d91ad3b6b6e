/*
 * Command-line arguments of one subcommand: one table makes both the parser and the --help.
 *
 *   static const struct rig_argument arguments[] = {
 *       {.name = "seed", .value = "N", .help = "seed of every random choice"},
 *       {.name = "set", .value = "A.B=C", .repeatable = true, .help = "..."},
 *       RIG_ARGUMENT_FORMAT,
 *       {.name = NULL},
 *   };
 *   static const struct rig_arguments_table table = {"run", "PLAN.yaml", 1, 1, "What it does, in prose.", arguments};
 *
 *   struct rig_arguments args;
 *   const int status = rig_arguments_parse(&table, argc, argv, &args);
 *   if (status != RIG_ARGUMENTS_GO_ON)
 *       return status;
 *   ... rig_arguments_value(&args, "seed") ... args.positionals[0] ...
 *
 * Read are `--name VALUE`, `--name=VALUE`, `-x VALUE`, `-xVALUE`, `--` (only positional arguments follow) and `-` alone
 * (positional: standard input or output). All commands have --help and -h. Options and positional arguments may mix.
 */
#ifndef RIG_CLI_ARGUMENTS_H
#define RIG_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rig_argument {
    const char *name;           /* without the dashes; NULL ends a table */
    char letter;                /* its short form (`-o`), or 0 */
    const char *value;          /* the value's name in the help ("N"); NULL: a flag without a value */
    const char *const *choices; /* NULL-ended; NULL: any text */
    bool repeatable;            /* else a second one is refused */
    const char *help;           /* one sentence, without a full stop */
};

extern const char *const rig_argument_format_choices[]; /* text, json */
extern const char *const rig_argument_result_choices[]; /* text, json, edn */
#define RIG_ARGUMENT_FORMAT                                                                                            \
    {                                                                                                                  \
        .name = "format", .value = "text|json", .choices = rig_argument_format_choices,                                \
        .help = "form of the result; text when not given"                                                              \
    }

/* For commands that check a history. */
#define RIG_ARGUMENT_RESULT_FORMAT                                                                                     \
    {                                                                                                                  \
        .name = "format", .value = "text|json|edn", .choices = rig_argument_result_choices,                            \
        .help = "form of the result; edn is the map of Elle: `:valid?`, `:anomaly-types`, `:not`; text when not given" \
    }

/* An option that a command does not take, though another command does. */
struct rig_argument_elsewhere {
    const char *name;   /* without the dashes; NULL ends a table */
    const char *remedy; /* after "unknown option --NAME; " */
};

struct rig_arguments_table {
    const char *command;     /* "run" */
    const char *positionals; /* as the usage line shows them ("IN OUT"); "" for none */
    size_t least_positionals, most_positionals;
    const char *description; /* a paragraph or more, ended by a line break */
    const struct rig_argument *arguments;
    const struct rig_argument_elsewhere *elsewhere; /* NULL: none */
    void (*print_more)(void);                       /* what --help prints after the options; NULL: nothing */
};

enum { RIG_ARGUMENTS_MAX = 256 };

struct rig_given_argument {
    const struct rig_argument *argument;
    const char *value; /* NULL for a flag */
};

/* Borrows argv. */
struct rig_arguments {
    const struct rig_arguments_table *table;
    struct rig_given_argument given[RIG_ARGUMENTS_MAX];
    size_t given_count;
    const char *positionals[RIG_ARGUMENTS_MAX];
    size_t positional_count;
};

/*
 * RIG_ARGUMENTS_GO_ON when the command is to be carried out; else the exit status: 0 after --help was printed, 64 after
 * a complaint on stderr. argv[0] is the subcommand's name.
 */
#define RIG_ARGUMENTS_GO_ON (-1)
int rig_arguments_parse(const struct rig_arguments_table *table, int argc, char **argv,
                        struct rig_arguments *arguments);

/*
 * While there is a reader, rig_arguments_parse() gives it the table and returns RIG_EXIT_OK, so that a command can be
 * asked for its options without being carried out. NULL: parse again. From the main thread.
 */
typedef void rig_arguments_reader(const struct rig_arguments_table *table, void *context);
void rig_arguments_read_tables(rig_arguments_reader *reader, void *context);

/* `name` must be in the table. */
bool rig_arguments_has(const struct rig_arguments *arguments, const char *name);
/* The value given for `name`, the first when repeated, or NULL. */
const char *rig_arguments_value(const struct rig_arguments *arguments, const char *name);
/* The i-th value given for a repeatable `name`, in the order of the command line; NULL past the end. */
const char *rig_arguments_value_at(const struct rig_arguments *arguments, const char *name, size_t i);
/* True for `--format json`. */
bool rig_arguments_json(const struct rig_arguments *arguments);
/* Whether --format is edn. */
bool rig_arguments_edn(const struct rig_arguments *arguments);
/*
 * The value of `name` as a whole number in [least, most], decimal digits only. `*number` stays as it is when the option
 * was not given. False after a complaint on stderr: return RIG_EXIT_USAGE then.
 */
bool rig_arguments_number(const struct rig_arguments *arguments, const char *name, uint64_t least, uint64_t most,
                          uint64_t *number);

/* Prints paragraphs as wide as the terminal, where an empty line parts them. A line that begins with a blank ends the
 * paragraph before it. */
void rig_arguments_print_prose(const char *text);

/* Complains that a positional argument is missing; returns RIG_EXIT_USAGE. */
int rig_arguments_miss(const struct rig_arguments_table *table);

#endif
