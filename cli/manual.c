#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/version.h"
#include "cli/arguments.h"
#include "cli/plan_arguments.h"
#include "run/plan/plan.h"

/* -- text ---------------------------------------------------------------------------------------------------------- */

/*
 * Text of a line. Quoted between backquotes is set in bold. A line may break after the signs that part long words, so
 * that no line is too long.
 */
static void add_text(struct rig_buf *out, const char *text, size_t length)
{
    bool is_bold = false;
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        if (c == '`') {
            is_bold = !is_bold;
            rig_buf_add_text(out, is_bold ? "\\fB" : "\\fR");
        } else if (c == '\\' && i + 1 < length && text[i + 1] == '|') {
            continue; /* the table's sign for a bar in a cell */
        } else if (c == '\\') {
            rig_buf_add_text(out, "\\e");
        } else if (c == '-') {
            rig_buf_add_text(out, "\\-");
        } else if ((c == '.' || c == '\'') && (i == 0 || text[i - 1] == '\n')) {
            rig_buf_printf(out, "\\&%c", c);
        } else {
            rig_buf_add_char(out, c);
            if ((c == '|' || c == '/' || c == ',' || c == '=') && i + 1 < length && text[i + 1] != ' ')
                rig_buf_add_text(out, "\\:");
        }
    }
    if (is_bold)
        rig_buf_add_text(out, "\\fR");
}

static void add_words(struct rig_buf *out, const char *text)
{
    add_text(out, text, strlen(text));
}

static void begin_page(struct rig_buf *out, const char *name, const char *section, const char *kind)
{
    rig_buf_add_text(out, ".TH RIG\\-");
    for (const char *c = name; *c != '\0'; c++)
        rig_buf_add_char(out, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
    rig_buf_printf(out, " %s \"\" \"rig %s\" \"%s\"\n.SH NAME\nrig\\-%s \\- ", section, rig_version(), kind, name);
}

/* -- the page of a command ----------------------------------------------------------------------------------------- */

/* Paragraphs; a line that starts with a blank stands as it is. */
static void add_prose(struct rig_buf *out, const char *text)
{
    bool is_verbatim = false;
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        const bool verbatim = text[0] == ' ';
        if (verbatim != is_verbatim)
            rig_buf_add_text(out, verbatim ? ".PP\n.EX\n" : ".EE\n.PP\n");
        is_verbatim = verbatim;
        if (length == 0)
            rig_buf_add_text(out, ".PP");
        add_text(out, text, length);
        rig_buf_add_char(out, '\n');
        text += length + (text[length] == '\n');
    }
    if (is_verbatim)
        rig_buf_add_text(out, ".EE\n");
}

static void add_option(struct rig_buf *out, const struct rig_argument *argument)
{
    rig_buf_add_text(out, ".TP\n");
    if (argument->letter != 0)
        rig_buf_printf(out, "\\fB\\-%c\\fR, ", argument->letter);
    rig_buf_add_text(out, "\\fB\\-\\-");
    add_words(out, argument->name);
    rig_buf_add_text(out, "\\fR");
    if (argument->value != NULL) {
        rig_buf_add_text(out, " \\fI");
        add_words(out, argument->value);
        rig_buf_add_text(out, "\\fR");
    }
    rig_buf_add_char(out, '\n');
    add_words(out, argument->help);
    rig_buf_add_text(out, argument->repeatable ? "; may be repeated\n" : "\n");
}

struct page {
    struct rig_buf *out;
    size_t command;
};

static void write_command(const struct rig_arguments_table *table, void *context)
{
    const struct page *page = context;
    struct rig_buf *out = page->out;
    rig_buf_printf(out, "%s\n.SH SYNOPSIS\n.B rig %s\n.RI [ option ]...\n", rig_cli_commands[page->command].summary,
                   table->command);
    if (table->positionals[0] != '\0') {
        rig_buf_add_text(out, ".I ");
        add_words(out, table->positionals);
        rig_buf_add_char(out, '\n');
    }
    rig_buf_add_text(out, ".SH DESCRIPTION\n");
    add_prose(out, table->description);
    rig_buf_add_text(out, ".SH OPTIONS\nOptions and arguments may mix; \\fB\\-\\-\\fR ends the options.\n");
    for (const struct rig_argument *argument = table->arguments; argument->name != NULL; argument++)
        add_option(out, argument);
    rig_buf_add_text(out, ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nthe usage\n");
    rig_buf_add_text(out,
                     ".SH EXIT STATUS\n.BR rig (1)\nhas the exit statuses, the files of a run, and the environment.\n"
                     ".SH SEE ALSO\n.BR rig (1),\n");
    for (size_t i = 0; i < RIG_CLI_COMMAND_COUNT; i++) {
        if (i != page->command)
            rig_buf_printf(out, ".BR rig\\-%s (1),\n", rig_cli_commands[i].name);
    }
    rig_buf_add_text(out, ".BR rig\\-plan (5)\n");
}

/* -- the page of a plan's keys ------------------------------------------------------------------------------------- */

/* A row of a table: key, what it takes, its default, its meaning. */
static void add_row(struct rig_buf *out, const char *line, size_t length)
{
    const char *cells[4], *end = line + length;
    size_t lengths[4], count = 0;
    const char *at = line + 1;
    while (count < 4 && at < end) {
        const char *bar = at;
        while (bar < end && (*bar != '|' || bar[-1] == '\\'))
            bar++;
        while (at < bar && *at == ' ')
            at++;
        cells[count] = at;
        lengths[count] = (size_t)(bar - at);
        while (lengths[count] > 0 && at[lengths[count] - 1] == ' ')
            lengths[count]--;
        count++;
        at = bar + 1;
    }
    if (count < 4 || cells[0][0] != '`') /* the heading, and the line below it */
        return;
    rig_buf_add_text(out, ".TP\n");
    add_text(out, cells[0], lengths[0]);
    rig_buf_add_char(out, '\n');
    add_text(out, cells[3], lengths[3]);
    rig_buf_add_text(out, ".\nTakes ");
    add_text(out, cells[1], lengths[1]);
    rig_buf_add_text(out, "; ");
    if (cells[2][0] == '`')
        rig_buf_add_text(out, "default ");
    else if (lengths[2] == 4)
        rig_buf_add_text(out, "default ");
    add_text(out, cells[2], lengths[2]);
    rig_buf_add_text(out, ".\n");
}

/* The reference page, a line at a time. */
static void add_reference(struct rig_buf *out, const char *text)
{
    bool is_new = true; /* a paragraph has just begun */
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        if (text[0] == '#' && text[1] == '#') {
            rig_buf_add_text(out, ".SH ");
            add_text(out, text + 3, length - 3);
            rig_buf_add_char(out, '\n');
            is_new = true;
        } else if (text[0] == '|') {
            add_row(out, text, length);
        } else if (text[0] == '-' && text[1] == ' ') {
            rig_buf_add_text(out, ".IP \\(bu 2\n");
            add_text(out, text + 2, length - 2);
            rig_buf_add_char(out, '\n');
            is_new = false;
        } else if (length == 0) {
            if (!is_new)
                rig_buf_add_text(out, ".PP\n");
            is_new = true;
        } else if (text[0] != '#' && text[0] != '<') {
            const size_t blanks = strspn(text, " ");
            add_text(out, text + blanks, length - blanks);
            rig_buf_add_char(out, '\n');
            is_new = false;
        }
        text += length + (text[length] == '\n');
    }
}

static void write_plan(struct rig_buf *out)
{
    struct rig_cli_drivers drivers;
    struct rig_buf reference;
    rig_buf_init(&reference, 0);
    rig_cli_drivers_init(&drivers);
    rig_cli_drivers_leave_out_example(&drivers);
    rig_plan_write_reference(drivers.at, RIG_PLAN_MARKDOWN, &reference);
    begin_page(out, "plan", "5", "File Formats");
    rig_buf_add_text(out, "every key of a plan\n.SH DESCRIPTION\n");
    add_reference(out, rig_buf_text(&reference));
    rig_buf_add_text(out, ".SH SEE ALSO\n.BR rig (1),\n.BR rig\\-run (1),\n.BR rig\\-plan (1)\n");
    rig_buf_done(&reference);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static bool write_page(const char *name, struct rig_buf *out)
{
    if (strcmp(name, "plan.5") == 0) {
        write_plan(out);
        return true;
    }
    for (size_t i = 0; i < RIG_CLI_COMMAND_COUNT; i++) {
        if (strcmp(rig_cli_commands[i].name, name) != 0)
            continue;
        char command[32];
        (void)snprintf(command, sizeof command, "%s", name);
        char *argv[] = {command, NULL};
        struct page page = {.out = out, .command = i};
        begin_page(out, name, "1", "User Commands");
        rig_arguments_read_tables(write_command, &page);
        (void)rig_cli_commands[i].run(1, argv);
        rig_arguments_read_tables(NULL, NULL);
        return true;
    }
    return false;
}

int rig_cli_manual(const char *name)
{
    struct rig_buf out;
    rig_buf_init(&out, 0);
    const bool found = write_page(name, &out);
    (void)fputs(rig_buf_text(&out), stdout);
    rig_buf_done(&out);
    if (!found)
        rig_cli_complain("help --man: expected a command, or plan.5 for the keys of a plan, not `%s`", name);
    return found ? RIG_EXIT_OK : RIG_EXIT_USAGE;
}
