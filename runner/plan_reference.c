/*
 * Every key of a plan, from the option tables.
 */
#include <string.h>

#include "base/option_parse.h"
#include "nemesis/faults.h"
#include "runner/plan_sections.h"

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

static void write_table(const char *title, const char *about, const struct rig_option *table, bool markdown,
                        struct rig_buf *out)
{
    if (!markdown) {
        rig_buf_printf(out, "\n%s\n", title);
        for (; table->name != NULL; table++)
            rig_buf_printf(out, "  %-34s%s%s%s\n", table->name, table->help,
                           table->default_text == NULL ? "" : "; default ",
                           table->default_text == NULL ? "" : table->default_text);
        return;
    }
    rig_buf_printf(out, "\n## %s\n\n%s\n\n| key | takes | default | what it does |\n|---|---|---|---|\n", title, about);
    for (; table->name != NULL; table++)
        write_row(table, out);
}

struct fault_writer {
    bool markdown;
    struct rig_buf *out;
    const char *driver; /* whose faults are written; NULL: the generic ones */
};

static void write_fault(void *context, const struct rig_fault *fault, bool driver_own)
{
    const struct fault_writer *writer = context;
    char title[128];
    if (driver_own != (writer->driver != NULL) || fault->options == NULL || fault->options[0].name == NULL)
        return;
    (void)snprintf(title, sizeof title, writer->markdown ? "%s`%s`%s%s" : "nemesis.faults, %s%s%s%s:",
                   writer->markdown ? "Fault " : "fault ", fault->name, writer->driver == NULL ? "" : " of driver ",
                   writer->driver == NULL ? "" : writer->driver);
    write_table(title, fault->summary, fault->options, writer->markdown, writer->out);
}

static void write_nemesis(const struct rig_driver *const *drivers, bool markdown, struct rig_buf *out)
{
    write_table(markdown ? "`nemesis`" : "nemesis:",
                "Which faults come, and when (`rig list faults`). A list of faults may stand in its place: `nemesis: "
                "[...]` is\n`nemesis: {faults: [...]}`. `--set nemesis.faults.0.every=5s` changes the first, `--set "
                "nemesis.faults=[]` leaves all out.\nNothing is injected before the load starts, and everything is "
                "healed when it ends.",
                rig_nemesis_table, markdown, out);
    write_table(
        markdown ? "`nemesis`, each element of `faults`" : "nemesis.faults, each:",
        "When it happens, and to whom; the fault's own keys stand beside. Times count from the start of the load.",
        rig_nemesis_entry_table, markdown, out);
    write_table(
        markdown ? "`nemesis`, each entry of `nodes`" : "nemesis.nodes, each:",
        "By which commands faults reach a node that rig did not start: `nodes: {db1: {kill: \"ssh {node} systemctl "
        "kill -s KILL\npostgresql\", start: \"ssh {node} systemctl start postgresql\"}}`. `{node}` stands for its "
        "name. A command is split at blanks\noutside of quotes and runs without a shell; `[sh, -c, \"...\"]` asks "
        "for one.",
        rig_nemesis_node_table, markdown, out);
    struct fault_writer writer = {.markdown = markdown, .out = out};
    rig_fault_each(NULL, write_fault, &writer);
    for (; *drivers != NULL; drivers++) {
        writer.driver = (*drivers)->name;
        rig_fault_each((*drivers)->cluster, write_fault, &writer);
    }
}

static const char introduction[] =
    "# Plans: every key\n\n"
    "<!-- Written by `rig plan --reference` from the option tables; a test compares the two. -->\n\n"
    "A plan is one YAML mapping of the keys below, in any order. A dot in a name means nesting: `keys.active` in\n"
    "`workload` is `workload: {keys: {active: 10}}`, and `--set workload.keys.active=10` on the command line. `rig "
    "plan\n"
    "PLAN.yaml` checks a plan and prints it with every default.\n\n"
    "- Durations carry a unit: `ns`, `us`, `ms`, `s`, `m` or `h`. Sizes too: `B`, `KiB`, `MiB`, `GiB` or `TiB`.\n"
    "- In texts, `${NAME}` stands for a variable of the environment, `${NAME:-default}` for its value or the default "
    "when\n"
    "  it is unset or empty, and `$$` for one `$`.\n"
    "- Secrets are shown nowhere: values of secret options and of HTTP headers, `password=...` in a connection "
    "string,\n"
    "  `scheme://user:password@host`, `-u user:password` and `-H 'Authorization: ...'` in commands, and variables "
    "whose\n"
    "  name ends in a word such as `PASSWORD`, `SECRET`, `TOKEN` or `API_KEY`. Logs, errors and the record show `***`\n"
    "  instead, also where a server echoes a secret in base64, percent-encoded or escaped.\n"
    "- A printed or stored plan keeps `${NAME}` where the secret came from a variable, and runs again where the "
    "variable "
    "is\n"
    "  set. A secret that stands in the plan itself becomes `***`; such a plan is refused until the secret is given, "
    "best "
    "by a\n"
    "  variable: `--set 'database.password=${PGPASSWORD}'`.\n"
    "- Anchors, aliases, tags, several documents, repeated keys, nesting deeper than 16 levels, texts longer than 16 "
    "KiB\n"
    "  and plans larger than 1 MiB are refused.\n"
    "- `--set SECTION.KEY=VALUE` wins over the file and is checked in the same way; a list is written as `a,b` or "
    "`[a,b]`.\n";

void rig_plan_write_reference(const struct rig_driver *const *drivers, bool markdown, struct rig_buf *out)
{
    if (markdown)
        rig_buf_add_text(out, introduction);
    write_table(markdown ? "The top" : "keys of a plan:", "Beside the sections that follow.", rig_plan_top_table,
                markdown, out);
    write_table(markdown ? "`workload`" : "workload:", "What the clients do.", rig_generator_option_table, markdown,
                out);
    write_table(markdown ? "`clients`" : "clients:", "How many clients there are, and how they go about it.",
                rig_plan_clients_table, markdown, out);
    write_table(markdown ? "`check`" : "check:", "What the exit status depends on.", rig_plan_check_table, markdown,
                out);
    write_table(markdown ? "`database`" : "database:", "Which driver talks to the database; its own keys stand beside.",
                rig_plan_database_table, markdown, out);
    write_nemesis(drivers, markdown, out);
    for (; *drivers != NULL; drivers++) {
        char title[96];
        if ((*drivers)->options == NULL || (*drivers)->options[0].name == NULL)
            continue;
        (void)snprintf(title, sizeof title,
                       markdown ? "`database`, driver `%s`" : "database, driver %s:", (*drivers)->name);
        write_table(title, (*drivers)->summary, (*drivers)->options, markdown, out);
    }
}
