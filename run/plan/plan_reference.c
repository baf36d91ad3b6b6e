/*
 * Every key of a plan, from the option tables.
 */
#include <stdio.h>
#include <string.h>

#include "base/option_parse.h"
#include "base/printable.h"
#include "nemesis/faults.h"
#include "run/plan/plan_sections.h"

enum { NAME_COLUMNS = 36 };

/* A table cell: `|` would end it. */
static void add_cell(const char *text, struct rig_buf *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            rig_buf_add_char(out, '\\');
        rig_buf_add_char(out, *text);
    }
}

static void write_row(const struct rig_option *option, struct rig_buf *out)
{
    struct rig_buf takes;
    rig_buf_init(&takes, 0);
    rig_option_describe(option, &takes);
    rig_buf_printf(out, "| `%s` | ", option->name);
    add_cell(rig_buf_text(&takes), out);
    rig_buf_add_text(out, " | ");
    if (option->default_text != NULL) {
        rig_buf_add_char(out, '`');
        add_cell(option->default_text, out);
        rig_buf_add_char(out, '`');
    } else {
        rig_buf_add_text(out, option->required ? "required" : "none");
    }
    rig_buf_add_text(out, " | ");
    add_cell(option->help, out);
    rig_buf_add_text(out, " |\n");
    rig_buf_done(&takes);
}

/* As `rig plan --explain` shows it. */
static void write_line(const struct rig_option *option, unsigned columns, struct rig_buf *out)
{
    struct rig_buf help;
    rig_buf_init(&help, 0);
    rig_buf_printf(&help, "%s%s%s", option->help, option->default_text == NULL ? "" : "; default ",
                   option->default_text == NULL ? "" : option->default_text);
    if (strlen(option->name) + 2 > NAME_COLUMNS - 2)
        rig_buf_printf(out, "  %s\n%*s", option->name, (int)NAME_COLUMNS, "");
    else
        rig_buf_printf(out, "  %-*s", (int)NAME_COLUMNS - 2, option->name);
    rig_wrap(rig_buf_text(&help), NAME_COLUMNS, columns, out);
    rig_buf_done(&help);
}

static void write_table(const char *title, const char *about, const struct rig_option *table, unsigned columns,
                        struct rig_buf *out)
{
    if (columns != RIG_PLAN_MARKDOWN) {
        rig_buf_printf(out, "\n%s\n", title);
        for (; table->name != NULL; table++)
            write_line(table, columns, out);
        return;
    }
    rig_buf_printf(out,
                   "\n"
                   "## %s\n"
                   "\n"
                   "%s\n"
                   "\n"
                   "| key | takes | default | meaning |\n"
                   "|---|---|---|---|\n",
                   title, about);
    for (; table->name != NULL; table++)
        write_row(table, out);
}

struct fault_writer {
    unsigned columns;
    struct rig_buf *out;
    const char *driver; /* writes its faults; NULL: the generic ones */
};

static void write_fault(void *context, const struct rig_fault *fault, bool driver_own)
{
    const struct fault_writer *writer = context;
    char title[128];
    if (driver_own != (writer->driver != NULL) || fault->options == NULL || fault->options[0].name == NULL)
        return;
    (void)snprintf(title, sizeof title,
                   writer->columns == RIG_PLAN_MARKDOWN ? "%s`%s`%s%s" : "nemesis.faults, %s%s%s%s:",
                   writer->columns == RIG_PLAN_MARKDOWN ? "Fault " : "fault ", fault->name,
                   writer->driver == NULL ? "" : " of driver ", writer->driver == NULL ? "" : writer->driver);
    write_table(title, fault->summary, fault->options, writer->columns, writer->out);
}

static void write_nemesis(const struct rig_driver *const *drivers, unsigned columns, struct rig_buf *out)
{
    write_table(columns == RIG_PLAN_MARKDOWN ? "`nemesis`" : "nemesis:",
                "Faults and their schedules (`rig list faults`). A list of faults may replace the mapping: `nemesis: "
                "[...]` means\n"
                "`nemesis: {faults: [...]}`. `--set nemesis.faults.0.every=5s` changes the first, `--set "
                "nemesis.faults=[]` removes all, `--set 'nemesis.faults=[{fault: kill, every: 5s}]'` sets others.\n"
                "Nothing is injected before the load starts, and everything is healed when it ends.",
                rig_nemesis_table, columns, out);
    write_table(columns == RIG_PLAN_MARKDOWN ? "`nemesis`, each element of `faults`" : "nemesis.faults, each:",
                "Schedule and targets, beside the keys of the fault itself. Times count from the start of the load.",
                rig_nemesis_entry_table, columns, out);
    write_table(
        columns == RIG_PLAN_MARKDOWN ? "`nemesis`, each entry of `nodes`" : "nemesis.nodes, each:",
        "Commands by which faults reach a node that rig did not start: `nodes: {db1: {kill: \"ssh {node} systemctl "
        "kill -s KILL\n"
        "postgresql\", start: \"ssh {node} systemctl start postgresql\"}}`. `{node}` is its name, `{host}` and "
        "`{port}` are\n"
        "its address. A command is split at blanks outside of quotes and runs without a shell; `[sh, -c, \"...\"]`\n"
        "uses one.",
        rig_nemesis_node_table, columns, out);
    struct fault_writer writer = {.columns = columns, .out = out};
    rig_fault_each(NULL, write_fault, &writer);
    for (; *drivers != NULL; drivers++) {
        writer.driver = (*drivers)->name;
        rig_fault_each((*drivers)->cluster, write_fault, &writer);
    }
}

static const char introduction[] =
    "# Plans: every key\n\n"
    "<!-- Written by `rig plan --reference` from the option tables; a test compares the two. -->\n\n"
    "A plan is one YAML mapping with the keys below, in any order. A dot in a name means nesting: `keys.active` in\n"
    "`workload` is `workload: {keys: {active: 10}}`, and `--set workload.keys.active=10` on the command line.\n"
    "`rig plan PLAN.yaml` checks a plan and prints it with every default.\n\n"
    "```sh\n"
    "rig plan pg-serializable --set workload.keys.active=10   # checked, and printed with every default\n"
    "```\n\n"
    "- Durations carry a unit: `ns`, `us`, `ms`, `s`, `m` or `h`. Sizes too: `B`, `KiB`, `MiB`, `GiB` or `TiB`.\n"
    "- In texts, `${NAME}` stands for a variable of the environment, `${NAME:-default}` for its value or the\n"
    "  default when it is unset or empty, and `$$` for one `$`.\n"
    "- Secrets are never shown: values of secret options and of HTTP headers, `password=...` in a connection\n"
    "  string, `scheme://user:password@host`, `-u user:password` and `-H 'Authorization: ...'` in commands, and\n"
    "  variables with a name that ends in a word such as `PASSWORD`, `SECRET`, `TOKEN` or `API_KEY`. Logs, errors\n"
    "  and the record show `***` instead, also where a server echoes a secret in base64, percent-encoded or escaped.\n"
    "- A printed or stored plan keeps `${NAME}` if the secret came from a variable, and can run again if the\n"
    "  variable is set. A secret in the plan itself becomes `***`; such a plan is refused until the\n"
    "  secret is given, best as a variable: `--set 'database.password=${PGPASSWORD}'`.\n"
    "- Anchors, aliases, tags, several documents, repeated keys, nesting deeper than 16 levels, texts longer than\n"
    "  16 KiB and plans larger than 1 MiB are refused.\n"
    "- `--set SECTION.KEY=VALUE` overrides the file and is checked in the same way; a list is written as `a,b` or\n"
    "  `[a,b]`. `--level X` is short for `--set check.levels=X`; so are `--anomaly`, `--assume`, `--lattice`, "
    "`--budget`,\n"
    "  `--minimum`, `--require`, `--known` and `--max-witnesses` for their keys of `check`.\n";

void rig_plan_write_reference(const struct rig_driver *const *drivers, unsigned columns, struct rig_buf *out)
{
    if (columns == RIG_PLAN_MARKDOWN)
        rig_buf_add_text(out, introduction);
    write_table(columns == RIG_PLAN_MARKDOWN ? "The top" : "keys of a plan:", "Keys outside of the sections below.",
                rig_plan_top_table, columns, out);
    write_table(columns == RIG_PLAN_MARKDOWN ? "`workload`" : "workload:", "The transactions of the clients.",
                rig_generator_option_table, columns, out);
    write_table(columns == RIG_PLAN_MARKDOWN ? "`clients`" : "clients:",
                "The number of clients, their rate and their connections.", rig_plan_clients_table, columns, out);
    write_table(
        columns == RIG_PLAN_MARKDOWN ? "`phases`, each element" : "phases, each:",
        "A list of phases, which run one after the other in one record. Beside these keys a phase may have those "
        "of\n"
        "`workload`; what it does not give is as in `workload` and `clients`. Each phase has `transactions`, "
        "`duration`\n"
        "or both, which `workload` has not then. A phase has fresh keys; those of the shape general stay for all "
        "phases of\n"
        "that shape. Times of faults count from the start of the first phase.",
        rig_plan_phase_table, columns, out);
    write_table(columns == RIG_PLAN_MARKDOWN ? "`check`" : "check:", "The conditions of the exit status.",
                rig_plan_check_table, columns, out);
    write_table(columns == RIG_PLAN_MARKDOWN ? "`database`" : "database:",
                "The driver of the database, and the keys of that driver.", rig_plan_database_table, columns, out);
    write_nemesis(drivers, columns, out);
    for (; *drivers != NULL; drivers++) {
        char title[96];
        if ((*drivers)->options == NULL || (*drivers)->options[0].name == NULL)
            continue;
        (void)snprintf(
            title, sizeof title,
            columns == RIG_PLAN_MARKDOWN ? "`database`, driver `%s`" : "database, driver %s:", (*drivers)->name);
        write_table(title, (*drivers)->summary, (*drivers)->options, columns, out);
    }
}

/* -- keys ---------------------------------------------------------------------------------------------------------- */

static bool has_line(const struct rig_buf *lines, const char *line)
{
    const size_t length = strlen(line);
    for (const char *at = rig_buf_text(lines); (at = strstr(at, line)) != NULL; at += length) {
        if ((at == rig_buf_text(lines) || at[-1] == '\n') && at[length] == '\n')
            return true;
    }
    return false;
}

static void write_keys(const char *section, const struct rig_option *table, struct rig_buf *out)
{
    for (; table != NULL && table->name != NULL; table++) {
        char key[256];
        (void)snprintf(key, sizeof key, "%s%s=", section, table->name);
        if (!has_line(out, key))
            rig_buf_printf(out, "%s\n", key);
    }
}

void rig_plan_write_keys(const struct rig_driver *const *drivers, struct rig_buf *out)
{
    write_keys("", rig_plan_top_table, out);
    write_keys("workload.", rig_generator_option_table, out);
    write_keys("clients.", rig_plan_clients_table, out);
    write_keys("check.", rig_plan_check_table, out);
    write_keys("database.", rig_plan_database_table, out);
    write_keys("nemesis.", rig_nemesis_table, out);
    for (; *drivers != NULL; drivers++)
        write_keys("database.", (*drivers)->options, out);
}

void rig_plan_visit_tables(const struct rig_driver *driver, rig_plan_table_visitor *visitor, void *context)
{
    visitor(context, "workload.", rig_generator_option_table);
    visitor(context, "clients.", rig_plan_clients_table);
    if (driver->options != NULL)
        visitor(context, "database.", driver->options);
}
