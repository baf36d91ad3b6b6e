#include "cli/arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/nearest.h"
#include "base/printable.h"
#include "cli/cli.h"

enum { HELP_COLUMN = 26 };

const char *const rig_argument_format_choices[] = {"text", "json", NULL};
const char *const rig_argument_result_choices[] = {"text", "json", "edn", NULL};

/* -- looking up ---------------------------------------------------------------------------------------------------- */

static const struct rig_argument *find_by_name(const struct rig_arguments_table *table, const char *name, size_t length)
{
    for (const struct rig_argument *argument = table->arguments; argument->name != NULL; argument++) {
        if (strlen(argument->name) == length && strncmp(argument->name, name, length) == 0)
            return argument;
    }
    return NULL;
}

static const struct rig_argument *find_by_letter(const struct rig_arguments_table *table, char letter)
{
    for (const struct rig_argument *argument = table->arguments; argument->name != NULL; argument++) {
        if (argument->letter == letter)
            return argument;
    }
    return NULL;
}

static int point_to_help(const struct rig_arguments_table *table)
{
    rig_cli_complain("`rig %s --help` shows the usage", table->command);
    return RIG_EXIT_USAGE;
}

/* How to get what an option of another command does; NULL where the table does not tell. */
static const char *remedy_for(const struct rig_arguments_table *table, const char *name, size_t length)
{
    for (const struct rig_argument_elsewhere *at = table->elsewhere; at != NULL && at->name != NULL; at++) {
        if (strlen(at->name) == length && strncmp(at->name, name, length) == 0)
            return at->remedy;
    }
    return NULL;
}

static int complain_unknown(const struct rig_arguments_table *table, const char *name, size_t length)
{
    const char *remedy = remedy_for(table, name, length);
    if (remedy != NULL) {
        rig_cli_complain("unknown option --%.*s; %s", (int)length, name, remedy);
        return point_to_help(table);
    }
    char wanted[RIG_NEAREST_BYTES + 1];
    const char *near = NULL;
    if (length < sizeof wanted) {
        memcpy(wanted, name, length);
        wanted[length] = '\0';
        struct rig_nearest nearest;
        rig_nearest_init(&nearest, wanted);
        for (const struct rig_argument *argument = table->arguments; argument->name != NULL; argument++)
            rig_nearest_offer(&nearest, argument->name);
        rig_nearest_offer(&nearest, "help");
        near = nearest.best;
    }
    if (near != NULL)
        rig_cli_complain("unknown option --%.*s; did you mean --%s?", (int)length, name, near);
    else
        rig_cli_complain("unknown option --%.*s", (int)length, name);
    return point_to_help(table);
}

/* -- help ---------------------------------------------------------------------------------------------------------- */

static void print_wrapped(const char *text, size_t indent)
{
    struct rig_buf out;
    rig_buf_init(&out, 0);
    rig_wrap(text, indent, rig_terminal_text_columns(stdout), &out);
    (void)fputs(rig_buf_text(&out), stdout);
    rig_buf_done(&out);
}

static void print_argument(const char *name, char letter, const char *value, bool repeatable, const char *help)
{
    char left[80];
    const int width =
        snprintf(left, sizeof left, "  %c%c%s--%s%s%s", letter == 0 ? ' ' : '-', letter == 0 ? ' ' : letter,
                 letter == 0 ? "  " : ", ", name, value == NULL ? "" : " ", value == NULL ? "" : value);
    if (width >= HELP_COLUMN - 1)
        printf("%s\n%*s", left, HELP_COLUMN, "");
    else
        printf("%-*s", HELP_COLUMN, left);
    struct rig_buf text;
    rig_buf_init(&text, 0);
    rig_buf_printf(&text, "%s%s", help, repeatable ? " (repeatable)" : "");
    print_wrapped(rig_buf_text(&text), HELP_COLUMN);
    rig_buf_done(&text);
}

void rig_arguments_print_prose(const char *text)
{
    struct rig_buf paragraph;
    rig_buf_init(&paragraph, 0);
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        if (text[0] != ' ')
            rig_buf_printf(&paragraph, "%s%.*s", paragraph.size == 0 ? "" : " ", (int)length, text);
        const char *next = text + length + (text[length] == '\0' ? 0 : 1);
        if (paragraph.size > 0 && (text[0] == ' ' || *next == '\0' || *next == ' ' || *next == '\n')) {
            print_wrapped(rig_buf_text(&paragraph), 0);
            rig_buf_clear(&paragraph);
        }
        if (text[0] == ' ' || length == 0)
            rig_cli_say("%.*s\n", (int)length, text);
        text = next;
    }
    rig_buf_done(&paragraph);
}

static void print_help(const struct rig_arguments_table *table)
{
    const char *gap = table->positionals[0] == '\0' ? "" : " ";
    rig_cli_say("usage: rig %s [option]...%s%s\n\n", table->command, gap, table->positionals);
    rig_arguments_print_prose(table->description);
    puts("\noptions:");
    for (const struct rig_argument *argument = table->arguments; argument->name != NULL; argument++)
        print_argument(argument->name, argument->letter, argument->value, argument->repeatable, argument->help);
    print_argument("help", 'h', NULL, false, "this text");
    if (table->print_more != NULL)
        table->print_more();
}

/* -- parsing ------------------------------------------------------------------------------------------------------- */

static int add_positional(struct rig_arguments *arguments, const char *text)
{
    if (arguments->positional_count == arguments->table->most_positionals ||
        arguments->positional_count == RIG_ARGUMENTS_MAX) {
        rig_cli_complain("unexpected argument `%s`", text);
        return point_to_help(arguments->table);
    }
    arguments->positionals[arguments->positional_count++] = text;
    return RIG_ARGUMENTS_GO_ON;
}

static int check_choice(const struct rig_argument *argument, const char *value)
{
    for (size_t i = 0; argument->choices[i] != NULL; i++) {
        if (strcmp(argument->choices[i], value) == 0)
            return RIG_ARGUMENTS_GO_ON;
    }
    const char *near = rig_nearest_of(value, argument->choices);
    if (near != NULL)
        rig_cli_complain("--%s: unknown value `%s`; did you mean `%s`?", argument->name, value, near);
    else
        rig_cli_complain("--%s: unknown value `%s`; expected %s", argument->name, value, argument->value);
    return RIG_EXIT_USAGE;
}

static int add_option(struct rig_arguments *arguments, const struct rig_argument *argument, const char *value)
{
    if (!argument->repeatable && rig_arguments_has(arguments, argument->name)) {
        rig_cli_complain("--%s was given twice", argument->name);
        return RIG_EXIT_USAGE;
    }
    if (arguments->given_count == RIG_ARGUMENTS_MAX) {
        rig_cli_complain("more than %d options", (int)RIG_ARGUMENTS_MAX);
        return RIG_EXIT_USAGE;
    }
    if (argument->choices != NULL) {
        const int status = check_choice(argument, value);
        if (status != RIG_ARGUMENTS_GO_ON)
            return status;
    }
    arguments->given[arguments->given_count++] = (struct rig_given_argument){argument, value};
    return RIG_ARGUMENTS_GO_ON;
}

/* The value of `argument`: what is attached, or the next word of the command line; NULL after a complaint. */
static const char *take_value(const struct rig_arguments_table *table, const struct rig_argument *argument,
                              const char *attached, int argc, char **argv, int *at)
{
    if (attached != NULL)
        return attached;
    if (*at + 1 < argc)
        return argv[++*at];
    rig_cli_complain("--%s needs a value: --%s %s", argument->name, argument->name, argument->value);
    (void)point_to_help(table);
    return NULL;
}

static int parse_long(struct rig_arguments *arguments, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + 2;
    const char *equals = strchr(name, '=');
    const size_t length = equals == NULL ? strlen(name) : (size_t)(equals - name);
    const char *attached = equals == NULL ? NULL : equals + 1;
    const struct rig_argument *argument = find_by_name(arguments->table, name, length);
    if (argument == NULL)
        return complain_unknown(arguments->table, name, length);
    if (argument->value == NULL) {
        if (attached != NULL) {
            rig_cli_complain("--%s takes no value", argument->name);
            return point_to_help(arguments->table);
        }
        return add_option(arguments, argument, NULL);
    }
    const char *value = take_value(arguments->table, argument, attached, argc, argv, at);
    return value == NULL ? RIG_EXIT_USAGE : add_option(arguments, argument, value);
}

static int parse_short(struct rig_arguments *arguments, int argc, char **argv, int *at)
{
    const char *word = argv[*at];
    const struct rig_argument *argument = find_by_letter(arguments->table, word[1]);
    if (argument == NULL || (argument->value == NULL && word[2] != '\0')) {
        rig_cli_complain("unknown option %s", word);
        return point_to_help(arguments->table);
    }
    if (argument->value == NULL)
        return add_option(arguments, argument, NULL);
    const char *attached = word[2] == '\0' ? NULL : word + 2;
    const char *value = take_value(arguments->table, argument, attached, argc, argv, at);
    return value == NULL ? RIG_EXIT_USAGE : add_option(arguments, argument, value);
}

/* --help wins over every mistake, wherever it stands before `--`. */
static bool asks_for_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    }
    return false;
}

static struct {
    rig_arguments_reader *read;
    void *context;
} reader;

void rig_arguments_read_tables(rig_arguments_reader *read, void *context)
{
    reader.read = read;
    reader.context = context;
}

int rig_arguments_parse(const struct rig_arguments_table *table, int argc, char **argv, struct rig_arguments *arguments)
{
    RIG_REQUIRE(argc >= 1 && table->arguments != NULL);
    *arguments = (struct rig_arguments){.table = table};
    if (reader.read != NULL) {
        reader.read(table, reader.context);
        return RIG_EXIT_OK;
    }
    if (asks_for_help(argc, argv)) {
        print_help(table);
        return RIG_EXIT_OK;
    }
    bool only_positionals = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        int status = RIG_ARGUMENTS_GO_ON;
        if (only_positionals || word[0] != '-' || word[1] == '\0')
            status = add_positional(arguments, word);
        else if (strcmp(word, "--") == 0)
            only_positionals = true;
        else if (word[1] == '-')
            status = parse_long(arguments, argc, argv, &i);
        else
            status = parse_short(arguments, argc, argv, &i);
        if (status != RIG_ARGUMENTS_GO_ON)
            return status;
    }
    return arguments->positional_count < table->least_positionals ? rig_arguments_miss(table) : RIG_ARGUMENTS_GO_ON;
}

int rig_arguments_miss(const struct rig_arguments_table *table)
{
    rig_cli_complain("missing argument: rig %s %s", table->command, table->positionals);
    return point_to_help(table);
}

/* -- asking -------------------------------------------------------------------------------------------------------- */

const char *rig_arguments_value_at(const struct rig_arguments *arguments, const char *name, size_t i)
{
    RIG_REQUIRE(find_by_name(arguments->table, name, strlen(name)) != NULL);
    for (size_t at = 0; at < arguments->given_count; at++) {
        if (strcmp(arguments->given[at].argument->name, name) == 0 && i-- == 0)
            return arguments->given[at].value;
    }
    return NULL;
}

const char *rig_arguments_value(const struct rig_arguments *arguments, const char *name)
{
    return rig_arguments_value_at(arguments, name, 0);
}

bool rig_arguments_has(const struct rig_arguments *arguments, const char *name)
{
    RIG_REQUIRE(find_by_name(arguments->table, name, strlen(name)) != NULL);
    for (size_t at = 0; at < arguments->given_count; at++) {
        if (strcmp(arguments->given[at].argument->name, name) == 0)
            return true;
    }
    return false;
}

static bool is_format(const struct rig_arguments *arguments, const char *wanted)
{
    const char *format = rig_arguments_value(arguments, "format");
    return format != NULL && strcmp(format, wanted) == 0;
}

bool rig_arguments_json(const struct rig_arguments *arguments)
{
    return is_format(arguments, "json");
}

bool rig_arguments_edn(const struct rig_arguments *arguments)
{
    return is_format(arguments, "edn");
}

bool rig_arguments_number(const struct rig_arguments *arguments, const char *name, uint64_t least, uint64_t most,
                          uint64_t *number)
{
    const char *text = rig_arguments_value(arguments, name);
    if (text == NULL)
        return true;
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    /* strtoull also takes spaces and signs. */
    const bool digits = text[0] >= '0' && text[0] <= '9' && *end == '\0';
    if (!digits || errno != 0 || value < least || value > most) {
        rig_cli_complain("--%s: expected a whole number from %" PRIu64 " to %" PRIu64 ", not `%s`", name, least, most,
                         text);
        return false;
    }
    *number = value;
    return true;
}
