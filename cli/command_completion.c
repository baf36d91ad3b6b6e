/*
 * rig completion: a script for bash, zsh or fish that completes commands, options and their values, made from the
 * tables by which the commands read their arguments.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/data_folder.h"
#include "checker/model/anomaly.h"
#include "checker/model/level.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/plan_arguments.h"
#include "jobs/store/run_list.h"
#include "run/plan/plan.h"

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

/* Words that the scripts ask for when they are needed: they are of this folder, or too many. */
static const char *const word_kinds[] = {"keys", "plans", "bugs", "runs", NULL};

static const struct rig_argument completion_arguments[] = {
    {.name = "words",
     .value = "KIND",
     .choices = word_kinds,
     .help = "instead of a script: the words of a kind, a line each: keys of plans, names of plans and of known bugs, "
             "runs of the folder `store`"},
    {.name = NULL},
};

static const struct rig_arguments_table completion_table = {
    .command = "completion",
    .positionals = "bash|zsh|fish",
    .least_positionals = 0,
    .most_positionals = 1,
    .description =
        "Prints a script that completes commands, options and their values. In bash: `source <(rig completion\n"
        "bash)`; in zsh, after compinit: `source <(rig completion zsh)`; in fish: `rig completion fish | source`.\n",
    .arguments = completion_arguments,
};

/* -- words --------------------------------------------------------------------------------------------------------- */

static void print_keys(void)
{
    struct rig_cli_drivers drivers;
    struct rig_buf keys;
    rig_buf_init(&keys, 0);
    rig_cli_drivers_init(&drivers);
    rig_cli_drivers_leave_out_example(&drivers);
    rig_plan_write_keys(drivers.at, &keys);
    (void)fputs(rig_buf_text(&keys), stdout);
    rig_buf_done(&keys);
}

/* Names of shipped files, without the folder. */
static void print_names(const char *subfolder)
{
    struct rig_arena arena;
    struct rig_text_list names = {.count = 0};
    struct rig_err err = {0};
    rig_arena_init(&arena, 0);
    if (rig_data_folder_names(&rig_data_configs, subfolder, &arena, &names, &err) == RIG_OK) {
        for (size_t i = 0; i < names.count; i++)
            (void)puts(names.at[i]);
    }
    rig_arena_done(&arena);
}

static void print_runs(void)
{
    struct rig_run_list list = {.store = -1};
    struct rig_err err = {0};
    if (rig_run_list_read("store", &list, &err) == RIG_OK) {
        for (size_t i = 0; i < list.count; i++) {
            if (!list.runs[i].is_cell && list.runs[i].name[0] != '\0')
                (void)printf("%s/%s\n", list.runs[i].name, list.runs[i].time);
        }
    }
    rig_run_list_done(&list);
}

static void print_words(const char *kind)
{
    if (strcmp(kind, "keys") == 0)
        print_keys();
    else if (strcmp(kind, "plans") == 0)
        print_names("");
    else if (strcmp(kind, "bugs") == 0)
        print_names("/reproductions");
    else
        print_runs();
}

/* The kind of words that an option of this value takes; NULL: files. */
static const char *kind_of(const struct rig_argument *argument)
{
    if (argument->value == NULL)
        return NULL;
    if (strcmp(argument->name, "set") == 0)
        return "keys";
    return strcmp(argument->name, "known") == 0 ? "bugs" : NULL;
}

/* Commands whose arguments have names, beside files. */
static const struct {
    const char *command, *kinds;
} named[] = {{"run", "plans"}, {"plan", "plans"}, {"reproduce", "bugs runs"}, {"store", "runs"}};

/* -- what the tables say ------------------------------------------------------------------------------------------- */

struct script {
    struct rig_buf out;
    void (*option)(struct script *script, const struct rig_arguments_table *table, const struct rig_argument *argument);
};

static void read_table(const struct rig_arguments_table *table, void *context)
{
    struct script *script = context;
    for (const struct rig_argument *argument = table->arguments; argument->name != NULL; argument++)
        script->option(script, table, argument);
}

static void read_command(struct script *script, size_t i)
{
    char name[32];
    (void)snprintf(name, sizeof name, "%s", rig_cli_commands[i].name);
    char *argv[] = {name, NULL};
    rig_arguments_read_tables(read_table, script);
    (void)rig_cli_commands[i].run(1, argv);
    rig_arguments_read_tables(NULL, NULL);
}

/* Whether add_values() knows them; where it does not, a file's name is offered. */
static bool has_values(const struct rig_argument *argument)
{
    return argument->choices != NULL || (argument->value != NULL && (strcmp(argument->value, "LEVEL") == 0 ||
                                                                     strcmp(argument->value, "ANOMALY") == 0));
}

static void add_values(struct rig_buf *out, const struct rig_argument *argument)
{
    if (argument->choices != NULL) {
        for (size_t i = 0; argument->choices[i] != NULL; i++)
            rig_buf_printf(out, "%s%s", i == 0 ? "" : " ", argument->choices[i]);
    } else if (strcmp(argument->value, "LEVEL") == 0) {
        for (unsigned level = 0; level < RIG_LEVEL_COUNT; level++)
            rig_buf_printf(out, "%s%s", level == 0 ? "" : " ", rig_level_info((enum rig_level)level)->name);
    } else {
        for (unsigned anomaly = 0; anomaly < RIG_ANOMALY_COUNT; anomaly++)
            rig_buf_printf(out, "%s%s", anomaly == 0 ? "" : " ", rig_anomaly_info((enum rig_anomaly)anomaly)->name);
    }
}

/* Text for a place between single quotes; a backslash before each character of `special`. The shells differ in how a
 * quote is written there; a typographic one needs no escape in any of them. */
static void add_text(struct rig_buf *out, const char *special, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (strchr(special, *c) != NULL)
            rig_buf_add_char(out, '\\');
        if (*c == '\'')
            rig_buf_add_text(out, "\xe2\x80\x99");
        else
            rig_buf_add_char(out, *c);
    }
}

/* -- bash ---------------------------------------------------------------------------------------------------------- */

static void bash_name(struct script *script, const struct rig_arguments_table *table,
                      const struct rig_argument *argument)
{
    (void)table;
    rig_buf_printf(&script->out, " --%s", argument->name);
    if (argument->letter != 0)
        rig_buf_printf(&script->out, " -%c", argument->letter);
}

static void bash_values(struct script *script, const struct rig_arguments_table *table,
                        const struct rig_argument *argument)
{
    if (argument->value == NULL)
        return;
    rig_buf_printf(&script->out, "    %s:--%s", table->command, argument->name);
    if (argument->letter != 0)
        rig_buf_printf(&script->out, " | %s:-%c", table->command, argument->letter);
    if (kind_of(argument) != NULL) {
        rig_buf_printf(&script->out, ") values=$(rig completion --words %s 2>/dev/null) ;;\n", kind_of(argument));
        return;
    }
    rig_buf_add_text(&script->out, ") values='");
    if (has_values(argument))
        add_values(&script->out, argument);
    else
        rig_buf_add_text(&script->out, "<file>");
    rig_buf_add_text(&script->out, "' ;;\n");
}

static void write_bash(struct script *script)
{
    struct rig_buf *out = &script->out;
    rig_buf_add_text(out, "# bash completion of rig; made by `rig completion bash`.\n"
                          "_rig() {\n"
                          "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
                          "  local command=${COMP_WORDS[1]} options='' values='' kind=''\n"
                          "  COMPREPLY=()\n"
                          "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                          "    COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < RIG_CLI_COMMAND_COUNT; i++)
        rig_buf_printf(out, "%s ", rig_cli_commands[i].name);
    rig_buf_add_text(out, "help --help --version' -- \"$current\"))\n    return\n  fi\n"
                          "  if [ \"$previous\" = = ]; then # bash makes words of --level=LEVEL at the sign\n"
                          "    previous=${COMP_WORDS[COMP_CWORD-2]}\n"
                          "  elif [ \"$current\" = = ]; then\n"
                          "    current=''\n"
                          "  fi\n"
                          "  case $command:$previous in\n");
    script->option = bash_values;
    for (size_t i = 0; i < RIG_CLI_COMMAND_COUNT; i++)
        read_command(script, i);
    rig_buf_add_text(out, "  esac\n"
                          "  if [ \"$values\" = '<file>' ]; then\n"
                          "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
                          "    return\n"
                          "  elif [ -n \"$values\" ]; then\n"
                          "    COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
                          "    case ${COMPREPLY[0]} in *=) compopt -o nospace 2>/dev/null ;; esac\n"
                          "    return\n"
                          "  fi\n"
                          "  case $command in\n");
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        rig_buf_printf(
            out,
            "    %s) [[ $current = -* ]] || for kind in %s; do values=\"$values $(rig completion --words $kind "
            "2>/dev/null)\"; done ;;\n",
            named[i].command, named[i].kinds);
    rig_buf_add_text(out, "  esac\n"
                          "  case $command in\n");
    script->option = bash_name;
    for (size_t i = 0; i < RIG_CLI_COMMAND_COUNT; i++) {
        rig_buf_printf(out, "    %s) options='--help", rig_cli_commands[i].name);
        read_command(script, i);
        rig_buf_add_text(out, "' ;;\n");
    }
    rig_buf_add_text(out,
                     "  esac\n"
                     "  case $current in\n"
                     "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")) ;;\n"
                     "    *) COMPREPLY=($(compgen -f -- \"$current\") $(compgen -W \"$values\" -- \"$current\")) ;;\n"
                     "  esac\n"
                     "}\n"
                     "complete -o filenames -F _rig rig\n");
}

/* -- zsh ----------------------------------------------------------------------------------------------------------- */

static void zsh_spelling(struct rig_buf *out, const struct rig_argument *argument, const char *spelling)
{
    rig_buf_printf(out, "        '%s%s%s[", argument->repeatable ? "*" : "", spelling,
                   argument->value == NULL ? ""
                   : spelling[1] == '-'    ? "="
                                           : "+");
    add_text(out, "[]:\\", argument->help);
    rig_buf_add_char(out, ']');
    if (argument->value != NULL) {
        rig_buf_add_text(out, ":value:");
        if (kind_of(argument) != NULL) {
            rig_buf_printf(out, "{compadd -S \"\" -- ${(f)\"$(rig completion --words %s 2>/dev/null)\"}}",
                           kind_of(argument));
        } else if (has_values(argument)) {
            rig_buf_add_char(out, '(');
            add_values(out, argument);
            rig_buf_add_char(out, ')');
        } else {
            rig_buf_add_text(out, "_files");
        }
    }
    rig_buf_add_text(out, "' \\\n");
}

static void zsh_option(struct script *script, const struct rig_arguments_table *table,
                       const struct rig_argument *argument)
{
    (void)table;
    char spelling[80];
    (void)snprintf(spelling, sizeof spelling, "--%s", argument->name);
    zsh_spelling(&script->out, argument, spelling);
    if (argument->letter == 0)
        return;
    (void)snprintf(spelling, sizeof spelling, "-%c", argument->letter);
    zsh_spelling(&script->out, argument, spelling);
}

static void write_zsh(struct script *script)
{
    struct rig_buf *out = &script->out;
    rig_buf_add_text(out, "#compdef rig\n"
                          "# zsh completion of rig; made by `rig completion zsh`.\n"
                          "_rig() {\n"
                          "  if (( CURRENT == 2 )); then\n"
                          "    local -a commands=(\n");
    for (size_t i = 0; i < RIG_CLI_COMMAND_COUNT; i++) {
        rig_buf_printf(out, "      '%s:", rig_cli_commands[i].name);
        add_text(out, "[]:\\", rig_cli_commands[i].summary);
        rig_buf_add_text(out, "'\n");
    }
    rig_buf_add_text(out, "    )\n    _describe command commands\n    return\n  fi\n"
                          "  local command=$words[2]\n"
                          "  shift words\n"
                          "  (( CURRENT-- ))\n"
                          "  case $command in\n");
    script->option = zsh_option;
    for (size_t i = 0; i < RIG_CLI_COMMAND_COUNT; i++) {
        rig_buf_printf(out, "    %s)\n      _arguments \\\n        '--help[usage of the command]' \\\n",
                       rig_cli_commands[i].name);
        read_command(script, i);
        const char *kinds = NULL;
        for (size_t row = 0; row < sizeof named / sizeof named[0]; row++)
            kinds = strcmp(named[row].command, rig_cli_commands[i].name) == 0 ? named[row].kinds : kinds;
        if (kinds == NULL)
            rig_buf_add_text(out, "        '*:file:_files' ;;\n");
        else
            rig_buf_printf(out,
                           "        '*:name:{for kind in %s; do compadd -- ${(f)\"$(rig completion --words $kind "
                           "2>/dev/null)\"}; done; _files}' ;;\n",
                           kinds);
    }
    rig_buf_add_text(out, "  esac\n}\n"
                          "if [ \"${funcstack[1]}\" = _rig ]; then _rig \"$@\"; else compdef _rig rig; fi\n");
}

/* -- fish ---------------------------------------------------------------------------------------------------------- */

static void fish_option(struct script *script, const struct rig_arguments_table *table,
                        const struct rig_argument *argument)
{
    struct rig_buf *out = &script->out;
    rig_buf_printf(out, "complete -c rig -n '__fish_seen_subcommand_from %s' -l %s", table->command, argument->name);
    if (argument->letter != 0)
        rig_buf_printf(out, " -s %c", argument->letter);
    if (kind_of(argument) != NULL) {
        rig_buf_printf(out, " -x -a '(rig completion --words %s 2>/dev/null)'", kind_of(argument));
    } else if (has_values(argument)) {
        rig_buf_add_text(out, " -x -a '");
        add_values(out, argument);
        rig_buf_add_char(out, '\'');
    } else if (argument->value != NULL) {
        rig_buf_add_text(out, " -r");
    }
    rig_buf_add_text(out, " -d '");
    add_text(out, "\\", argument->help);
    rig_buf_add_text(out, "'\n");
}

static void write_fish(struct script *script)
{
    struct rig_buf *out = &script->out;
    rig_buf_add_text(out, "# fish completion of rig; made by `rig completion fish`.\n");
    for (size_t i = 0; i < RIG_CLI_COMMAND_COUNT; i++) {
        rig_buf_printf(out, "complete -c rig -n __fish_use_subcommand -f -a %s -d '", rig_cli_commands[i].name);
        add_text(out, "\\", rig_cli_commands[i].summary);
        rig_buf_add_text(out, "'\n");
    }
    script->option = fish_option;
    for (size_t i = 0; i < RIG_CLI_COMMAND_COUNT; i++)
        read_command(script, i);
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
        rig_buf_printf(
            out,
            "complete -c rig -n '__fish_seen_subcommand_from %s' -a '(for kind in %s; rig completion --words "
            "$kind 2>/dev/null; end)'\n",
            named[i].command, named[i].kinds);
}

int rig_cli_completion(int argc, char **argv)
{
    static void (*const writers[])(struct script *) = {write_bash, write_zsh, write_fish};
    struct rig_arguments arguments;
    const int status = rig_arguments_parse(&completion_table, argc, argv, &arguments);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    if (rig_arguments_has(&arguments, "words")) {
        print_words(rig_arguments_value(&arguments, "words"));
        return RIG_EXIT_OK;
    }
    if (arguments.positional_count == 0)
        return rig_arguments_miss(&completion_table);
    for (size_t i = 0; shells[i] != NULL; i++) {
        if (strcmp(shells[i], arguments.positionals[0]) != 0)
            continue;
        struct script script = {.option = NULL};
        rig_buf_init(&script.out, 0);
        writers[i](&script);
        (void)fputs(rig_buf_text(&script.out), stdout);
        rig_buf_done(&script.out);
        return RIG_EXIT_OK;
    }
    rig_cli_complain("unknown shell `%s`; expected bash, zsh or fish", arguments.positionals[0]);
    return RIG_EXIT_USAGE;
}
