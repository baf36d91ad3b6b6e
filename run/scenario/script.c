#include "run/scenario/script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const rig_script_form_names[RIG_SCRIPT_FORM_COUNT + 1] = {[RIG_SCRIPT_PSQL] = "psql",
                                                                      [RIG_SCRIPT_MYSQL] = "mysql",
                                                                      [RIG_SCRIPT_ISOLATIONTESTER] = "isolationtester",
                                                                      [RIG_SCRIPT_SHELL] = "shell"};

static void add_create(const struct rig_scenario *scenario, struct rig_buf *out)
{
    const struct rig_row_table *table = &scenario->table;
    rig_buf_printf(out, "CREATE TABLE %s (", table->name);
    for (uint32_t i = 0; i < table->column_count; i++)
        rig_buf_printf(out, "%s bigint NOT NULL, ", table->columns[i]);
    rig_buf_printf(out, "PRIMARY KEY (%s)", table->columns[0]);
    if (table->unique != 0)
        rig_buf_printf(out, ", UNIQUE (%s)", table->columns[table->unique]);
    if (table->refers != 0)
        rig_buf_printf(out, ", FOREIGN KEY (%s) REFERENCES %s (%s)", table->columns[table->refers], table->name,
                       table->columns[table->unique]);
    rig_buf_add_text(out, "); ");
}

static void add_insert(const struct rig_scenario *scenario, struct rig_buf *out)
{
    const uint32_t columns = scenario->table.column_count;
    if (scenario->rows.count == 0)
        return;
    rig_buf_printf(out, "INSERT INTO %s VALUES ", scenario->table.name);
    for (uint32_t row = 0; row < scenario->rows.count; row++) {
        for (uint32_t column = 0; column < columns; column++)
            rig_buf_printf(out, "%s%" PRId64,
                           column > 0 ? ", "
                           : row > 0  ? ", ("
                                      : "(",
                           scenario->rows.cells[(size_t)row * columns + column]);
        rig_buf_add_char(out, ')');
    }
    rig_buf_add_text(out, "; ");
}

static void add_expected(const struct rig_scenario *scenario, const char *comment, struct rig_buf *out)
{
    rig_buf_printf(out, "%s %s (%s). It is shown if, for one of these lines,\n", comment, scenario->title,
                   scenario->anomaly);
    for (uint32_t i = 0; i < scenario->sign_count; i++) {
        const struct rig_scenario_sign *sign = &scenario->signs[i];
        const uint32_t columns = scenario->table.column_count;
        rig_buf_printf(out, "%s   these commit:", comment);
        for (uint32_t session = 0; session < scenario->session_count; session++) {
            if (sign->committed >> session & 1)
                rig_buf_printf(out, " %s", scenario->sessions[session]);
        }
        for (uint32_t j = 0; j < sign->answer_count; j++) {
            const struct rig_scenario_answer *answer = &sign->answers[j];
            rig_buf_printf(out, "; step %u gives", (unsigned)answer->step + 1);
            if (answer->rows.count == 0)
                rig_buf_add_text(out, " no rows");
            for (uint32_t cell = 0; cell < answer->rows.count * columns; cell++)
                rig_buf_printf(out, "%s%" PRId64 "%s", cell % columns == 0 ? " (" : ", ", answer->rows.cells[cell],
                               cell % columns == columns - 1 ? ")" : "");
        }
        rig_buf_add_char(out, '\n');
    }
}

/* ---- isolationtester ---- */

static void add_specification(const struct rig_scenario *scenario, const char *isolation, struct rig_buf *out)
{
    add_expected(scenario, "#", out);
    rig_buf_add_text(out, "setup\n{\n  ");
    add_create(scenario, out);
    add_insert(scenario, out);
    rig_buf_printf(out, "\n}\n\nteardown\n{\n  DROP TABLE %s;\n}\n", scenario->table.name);
    for (uint32_t session = 0; session < scenario->session_count; session++) {
        rig_buf_printf(out, "\nsession %s\nsetup { BEGIN ISOLATION LEVEL %s; }\n", scenario->sessions[session],
                       isolation);
        for (uint32_t i = 0; i < scenario->step_count; i++) {
            if (scenario->steps[i].session == session)
                rig_buf_printf(out, "step s%u { %s; }\n", (unsigned)i + 1, scenario->steps[i].text);
        }
    }
    rig_buf_add_text(out, "\npermutation");
    for (uint32_t i = 0; i < scenario->step_count; i++)
        rig_buf_printf(out, " s%u", (unsigned)i + 1);
    rig_buf_add_char(out, '\n');
}

/* ---- shell scripts ---- */

/* The parts of a shell script in which the clients differ. */
struct client {
    const char *run;      /* the client, reading statements from standard input and printing bare rows at once */
    const char *database; /* its last argument */
    const char *strict;   /* an option: end at the first error, with a status other than 0 */
    const char *lenient;  /* an option: go on after an error */
    const char *begin;    /* the text before the isolation level */
    const char *begun;    /* the text after the isolation level */
    const char *mark;     /* prints "step" and the number of the step, which follows */
    const char *marked;
    const char *server; /* how to name the server */
};

static const struct client clients[] = {
    [RIG_SCRIPT_PSQL] = {.run = "psql -X -q -A -t",
                         .database = "",
                         .strict = " -v ON_ERROR_STOP=1",
                         .lenient = "",
                         .begin = "BEGIN ISOLATION LEVEL ",
                         .begun = "; ",
                         .mark = "\\echo step ",
                         .marked = "",
                         .server = "PGHOST, PGPORT, PGUSER and PGDATABASE name it"},
    [RIG_SCRIPT_MYSQL] = {.run = "mysql --batch --skip-column-names --unbuffered",
                          .database = " ${MYSQL_DATABASE:-test}",
                          .strict = "",
                          .lenient = " --force",
                          .begin = "SET SESSION TRANSACTION ISOLATION LEVEL ",
                          .begun = "; START TRANSACTION; ",
                          .mark = "SELECT \"step ",
                          .marked = "\";",
                          .server = "~/.my.cnf and MYSQL_DATABASE name it"},
};

/* Sends a statement to a session, and shows what it answers. */
static const char step_function[] =
    "# Sends a statement, and waits until it has run; after PATIENCE_MS (250) it waits for another session.\n"
    "step() {\n"
    "    local shown=$(wc -l < \"$folder/$1\")\n"
    "    echo \"$2  $1  $3\"\n"
    "    echo \"$3;\" >&\"${to[$1]}\"\n"
    "    mark \"$2\" >&\"${to[$1]}\"\n"
    "    for ((i = 0; i < ${PATIENCE_MS:-250}; i += 10)); do\n"
    "        if grep -q \"^step $2 *\\$\" \"$folder/$1\"; then\n"
    "            tail -n \"+$((shown + 1))\" \"$folder/$1\" | sed '/^step [0-9]* *$/d; /^ *$/d; s/^/        /'\n"
    "            return\n"
    "        fi\n"
    "        sleep 0.01\n"
    "    done\n"
    "    echo '        waits'\n"
    "}\n";

static bool is_first(const struct rig_scenario *scenario, uint32_t step)
{
    for (uint32_t i = 0; i < step; i++) {
        if (scenario->steps[i].session == scenario->steps[step].session)
            return false;
    }
    return true;
}

static void add_sessions(const struct rig_scenario *scenario, struct rig_buf *out)
{
    rig_buf_add_text(out, "for session in");
    for (uint32_t i = 0; i < scenario->session_count; i++)
        rig_buf_printf(out, " %s", scenario->sessions[i]);
    rig_buf_add_text(out, "; do\n");
}

static void add_manual(const struct rig_scenario *scenario, const char *server, struct rig_buf *out)
{
    rig_buf_printf(
        out,
        "# The last line says SHOWN (exit status 0) or NOT SHOWN (1); the status is 3 where nothing was done.\n"
        "# The server: %s. The table %s must not exist; it is removed at the end.\nset -u\n",
        server, scenario->table.name);
}

/* The table, and a client for each session that reads from a pipe. */
static void add_opening(const struct rig_scenario *scenario, const struct client *client, struct rig_buf *out)
{
    rig_buf_add_text(out, "#!/bin/bash\n");
    add_expected(scenario, "#", out);
    add_manual(scenario, client->server, out);
    rig_buf_printf(out, "client() { %s \"$@\"%s; }\n", client->run, client->database);
    rig_buf_printf(out, "mark() { echo '%s'\"$1\"'%s'; }\necho '", client->mark, client->marked);
    add_create(scenario, out);
    rig_buf_printf(out, "' | client%s || exit 3\necho '", client->strict);
    add_insert(scenario, out);
    rig_buf_add_text(out, "' | client\nfolder=$(mktemp -d)\ndeclare -A to\n");
    add_sessions(scenario, out);
    rig_buf_printf(out,
                   "    mkfifo \"$folder/$session.in\"\n"
                   "    : > \"$folder/$session\"\n"
                   "    client%s < \"$folder/$session.in\" >> \"$folder/$session\" 2>&1 &\n"
                   "    exec {fd}> \"$folder/$session.in\"\n"
                   "    to[$session]=$fd\n"
                   "done\n",
                   client->lenient);
}

/* Shells differ in what they print around the rows of an answer: a row is a line with numbers and without letters. */
static const char judge_functions[] =
    "# The rows that a step of a session gave, in ascending order.\n"
    "rows() {\n"
    "    awk -v n=\"$2\" '\n"
    "        /^ *step [0-9]+ *$/ { if ($2 == n) { found = 1; exit } count = 0; next }\n"
    "        !/[A-Za-z]/ && /[0-9]/ { gsub(/[^-0-9]+/, \" \"); gsub(/^ | $/, \"\"); row[count++] = $0 }\n"
    "        END { if (!found) print \"no answer\"; for (i = 0; found && i < count; i++) print row[i] }\n"
    "    ' \"$folder/$1\" | LC_ALL=C sort | tr '\\n' ';'\n"
    "}\n"
    "committed() { ! grep -qiE 'error|fail|fatal|exception|deadlock' \"$folder/$1\"; }\n";

static int compare_texts(const void *one, const void *other)
{
    return strcmp(one, other);
}

/* The rows as rows() of the script prints them. */
static void add_rows(const struct rig_scenario_rows *rows, uint32_t columns, struct rig_buf *out)
{
    enum { ROW_BYTES = 21 * RIG_ROW_COLUMNS };
    char texts[RIG_SCENARIO_ROWS_MOST][ROW_BYTES];
    for (uint32_t row = 0; row < rows->count; row++) {
        size_t length = 0;
        for (uint32_t column = 0; column < columns; column++)
            length += (size_t)snprintf(texts[row] + length, ROW_BYTES - length, "%s%" PRId64, column == 0 ? "" : " ",
                                       rows->cells[(size_t)row * columns + column]);
    }
    qsort(texts, rows->count, sizeof texts[0], compare_texts);
    for (uint32_t row = 0; row < rows->count; row++)
        rig_buf_printf(out, "%s;", texts[row]);
}

/* Sets `shown` to 0 where all of one sign is so. */
static void add_judgement(const struct rig_scenario *scenario, struct rig_buf *out)
{
    rig_buf_add_text(out, judge_functions);
    rig_buf_add_text(out, "shown=1\n");
    for (uint32_t i = 0; i < scenario->sign_count; i++) {
        const struct rig_scenario_sign *sign = &scenario->signs[i];
        rig_buf_add_text(out, "if true");
        for (uint32_t session = 0; session < scenario->session_count; session++) {
            if (sign->committed >> session & 1)
                rig_buf_printf(out, " && committed %s", scenario->sessions[session]);
        }
        for (uint32_t j = 0; j < sign->answer_count; j++) {
            const struct rig_scenario_answer *answer = &sign->answers[j];
            rig_buf_printf(out, " &&\n    [ \"$(rows %s %u)\" = '",
                           scenario->sessions[scenario->steps[answer->step].session], (unsigned)answer->step + 1);
            add_rows(&answer->rows, scenario->table.column_count, out);
            rig_buf_add_text(out, "' ]");
        }
        rig_buf_add_text(out, "; then\n    shown=0\nfi\n");
    }
}

/* `drop`: statements that remove the table. The last line of the output is the result, and so is the exit status. */
static void add_closing(const struct rig_scenario *scenario, const char *drop, struct rig_buf *out)
{
    rig_buf_add_text(out, "for fd in \"${to[@]}\"; do\n"
                          "    exec {fd}>&-\n"
                          "done\n"
                          "wait\n"
                          "echo 'all answers, by session:'\n");
    add_sessions(scenario, out);
    rig_buf_add_text(out,
                     "    awk -v session=\"$session\" '{ print \"    \" session \": \" $0 }' \"$folder/$session\"\n"
                     "done\n");
    add_judgement(scenario, out);
    rig_buf_printf(out,
                   "rm -r \"$folder\"\n"
                   "echo '%s' | client > /dev/null\n"
                   "if [ $shown = 0 ]; then echo SHOWN; else echo NOT SHOWN; fi\n"
                   "exit $shown\n",
                   drop);
}

static void add_shell(const struct rig_scenario *scenario, const struct client *client, const char *isolation,
                      struct rig_buf *out)
{
    add_opening(scenario, client, out);
    rig_buf_add_text(out, step_function);
    for (uint32_t i = 0; i < scenario->step_count; i++) {
        const struct rig_scenario_step *step = &scenario->steps[i];
        rig_buf_printf(out, "step %s %u '", scenario->sessions[step->session], (unsigned)i + 1);
        if (is_first(scenario, i))
            rig_buf_printf(out, "%s%s%s", client->begin, isolation, client->begun);
        rig_buf_printf(out, "%s'\n", step->text);
    }
    char drop[128];
    (void)snprintf(drop, sizeof drop, "DROP TABLE %s;", scenario->table.name);
    add_closing(scenario, drop, out);
}

void rig_scenario_write_script(const struct rig_scenario *scenario, enum rig_script_form form, const char *isolation,
                               struct rig_buf *out)
{
    if (form == RIG_SCRIPT_ISOLATIONTESTER)
        add_specification(scenario, isolation, out);
    else
        add_shell(scenario, &clients[form], isolation, out);
}

/* ---- the shell that a driver names ---- */

/* Within single quotes of bash. */
static void add_quoted(const char *text, struct rig_buf *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            rig_buf_add_text(out, "'\\''");
        else
            rig_buf_add_char(out, *text);
    }
}

/* The statement with its values in the place of the question marks, within single quotes of bash. */
static void add_values(const char *text, const int64_t *values, struct rig_buf *out)
{
    for (; *text != '\0'; text++) {
        if (*text == '?')
            rig_buf_printf(out, "%" PRId64, *values++);
        else
            add_quoted((char[]){*text, '\0'}, out);
    }
}

static void add_mark(const struct rig_row_shell *shell, struct rig_buf *out)
{
    const char *const mark = rig_buf_text(&shell->mark), *const number = strstr(mark, "{n}");
    struct rig_buf before;
    rig_buf_init(&before, 0);
    rig_buf_add(&before, mark, number == NULL ? strlen(mark) : (size_t)(number - mark));
    rig_buf_add_text(out, "mark() { echo '");
    add_quoted(rig_buf_text(&before), out);
    rig_buf_add_text(out, "'\"$1\"'");
    add_quoted(number == NULL ? "" : number + strlen("{n}"), out);
    rig_buf_add_text(out, "'; }\n");
    rig_buf_done(&before);
}

/* Shells differ in what they print of an error, and in their status: a table that exists is told by a line without
 * letters, the number of its rows. */
static void refuse_table(const struct rig_scenario *scenario, const struct rig_row_shell *shell, struct rig_buf *out)
{
    rig_buf_add_text(out, "if echo '");
    add_quoted(rig_buf_text(&shell->setup), out);
    rig_buf_printf(out,
                   "SELECT COUNT(*) FROM %s;' | client 2>&1 | grep -q '^[^a-zA-Z]*[0-9][^a-zA-Z]*$'; then\n"
                   "    echo 'the table %s exists: nothing was done' >&2\n"
                   "    exit 3\n"
                   "fi\n",
                   scenario->table.name, scenario->table.name);
}

/* The table with its rows, and a process of the shell for each session, which has answered. */
static void open_shells(const struct rig_scenario *scenario, const struct rig_row_shell *shell, struct rig_buf *out)
{
    const uint32_t columns = scenario->table.column_count;
    const struct rig_buf *insert = &shell->statements[scenario->statement_count];
    rig_buf_add_text(out, "#!/bin/bash\n");
    add_expected(scenario, "#", out);
    add_manual(scenario, rig_buf_text(&shell->server), out);
    rig_buf_printf(out, "client() { %s; }\n", rig_buf_text(&shell->run));
    add_mark(shell, out);
    refuse_table(scenario, shell, out);
    rig_buf_add_text(out, "folder=$(mktemp -d)\ndeclare -A to\necho '");
    add_quoted(rig_buf_text(&shell->setup), out);
    add_quoted(rig_buf_text(&shell->begin), out);
    add_quoted(rig_buf_text(&shell->create), out);
    rig_buf_printf(out, "\n%s;\n", rig_buf_text(&shell->commit));
    add_quoted(rig_buf_text(&shell->begin), out);
    for (uint32_t row = 0; row < scenario->rows.count; row++) {
        add_values(rig_buf_text(insert), &scenario->rows.cells[(size_t)row * columns], out);
        rig_buf_add_text(out, ";\n");
    }
    rig_buf_printf(out, "%s;' | client\n", rig_buf_text(&shell->commit));
    add_sessions(scenario, out);
    rig_buf_add_text(out, "    mkfifo \"$folder/$session.in\"\n"
                          "    : > \"$folder/$session\"\n"
                          "    client < \"$folder/$session.in\" >> \"$folder/$session\" 2>&1 &\n"
                          "    exec {fd}> \"$folder/$session.in\"\n"
                          "    to[$session]=$fd\n"
                          "    echo '");
    add_quoted(rig_buf_text(&shell->setup), out);
    rig_buf_add_text(out, "' >&\"$fd\"\n"
                          "    mark 0 >&\"$fd\"\n"
                          "done\n");
    add_sessions(scenario, out);
    rig_buf_add_text(out, "    for i in {1..600}; do\n"
                          "        grep -q '^step 0 *$' \"$folder/$session\" && continue 2\n"
                          "        sleep 0.1\n"
                          "    done\n"
                          "    echo \"the shell of $session does not answer:\" >&2\n"
                          "    cat \"$folder/$session\" >&2\n"
                          "    exit 3\n"
                          "done\n");
}

static void add_steps(const struct rig_scenario *scenario, const struct rig_row_shell *shell, struct rig_buf *out)
{
    for (uint32_t i = 0; i < scenario->step_count; i++) {
        const struct rig_scenario_step *step = &scenario->steps[i];
        rig_buf_printf(out, "step %s %u '", scenario->sessions[step->session], (unsigned)i + 1);
        if (is_first(scenario, i))
            add_quoted(rig_buf_text(&shell->begin), out);
        if (step->act == RIG_SCENARIO_STATEMENT)
            add_values(rig_buf_text(&shell->statements[step->statement]), step->values, out);
        else
            add_quoted(rig_buf_text(step->act == RIG_SCENARIO_ROLLBACK ? &shell->rollback : &shell->commit), out);
        rig_buf_add_text(out, "'\n");
    }
}

enum rig_rc rig_scenario_write_shell(const struct rig_scenario *scenario, const struct rig_driver *driver,
                                     const void *options, struct rig_buf *out, struct rig_err *err)
{
    struct rig_row_statement statements[RIG_SCENARIO_STEPS_MOST + 1];
    struct rig_buf texts[RIG_SCENARIO_STEPS_MOST + 1];
    const uint32_t count = scenario->statement_count + 1;
    const struct rig_row_schema rows = {
        .tables = &scenario->table, .table_count = 1, .statements = statements, .statement_count = count};
    struct rig_row_shell shell = {.statements = texts};
    struct rig_buf *const words[] = {&shell.run,    &shell.server,   &shell.setup, &shell.begin,
                                     &shell.commit, &shell.rollback, &shell.mark,  &shell.create};
    if (driver->rows == NULL || driver->rows->shell == NULL)
        return rig_fail(err, RIG_E_PLAN, "driver %s knows no shell of the database", driver->name);
    memcpy(statements, scenario->statements, scenario->statement_count * sizeof statements[0]);
    statements[scenario->statement_count] = (struct rig_row_statement){.act = RIG_ROW_INSERT};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        rig_buf_init(words[i], 0);
    for (uint32_t i = 0; i < count; i++)
        rig_buf_init(&texts[i], 0);
    const enum rig_rc rc = driver->rows->shell(options, &rows, &shell, err);
    if (rc == RIG_OK) {
        struct rig_buf drop;
        rig_buf_init(&drop, 0);
        open_shells(scenario, &shell, out);
        rig_buf_add_text(out, step_function);
        add_steps(scenario, &shell, out);
        add_quoted(rig_buf_text(&shell.setup), &drop);
        add_quoted(rig_buf_text(&shell.begin), &drop);
        rig_buf_printf(&drop, "DROP TABLE %s;\n%s;", scenario->table.name, rig_buf_text(&shell.commit));
        add_closing(scenario, rig_buf_text(&drop), out);
        rig_buf_done(&drop);
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        rig_buf_done(words[i]);
    for (uint32_t i = 0; i < count; i++)
        rig_buf_done(&texts[i]);
    return rc;
}
