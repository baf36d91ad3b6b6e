/*
 * rig: which isolation guarantees did a running database keep, and which did it break?
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/version.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/ranked.h"
#include "drivers/driver.h"

static const struct rig_cli_command help_command = {"help", "the usage of a command: rig help COMMAND", NULL};

static void print_help(void)
{
    printf("usage: rig COMMAND [option]... [argument]...\n\n");
    rig_arguments_print_prose(
        "rig runs transactions against a database, records what its clients see, and reports which isolation\n"
        "guarantees held and which were broken, with witnesses that a person can check.\n");
    printf("\ncommands:\n");
    for (size_t i = 0; i < RIG_CLI_COMMAND_COUNT; i++)
        rig_cli_say("  %-12s%s\n", rig_cli_commands[i].name, rig_cli_commands[i].summary);
    rig_cli_say("  %-12s%s\n", help_command.name, help_command.summary);
    printf("\n");
    rig_arguments_print_prose(
        "`rig COMMAND --help` shows a command's options, `rig --version [--verbose]` the version.\n\n"
        "exit status: 0 no requested level was refuted, on enough evidence; 1 an anomaly that a requested level\n"
        "forbids; 2 undecided; 3 the run failed; 64 wrong usage or a bad plan or history; 70 a bug in rig\n");
}

static const struct rig_cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < RIG_CLI_COMMAND_COUNT; i++) {
        if (strcmp(rig_cli_commands[i].name, name) == 0)
            return &rig_cli_commands[i];
    }
    return strcmp(name, help_command.name) == 0 ? &help_command : NULL;
}

static int complain_unknown(const char *name)
{
    struct rig_nearest nearest;
    rig_nearest_init(&nearest, name);
    for (size_t i = 0; i < RIG_CLI_COMMAND_COUNT; i++)
        rig_nearest_offer(&nearest, rig_cli_commands[i].name);
    rig_nearest_offer(&nearest, help_command.name);
    const char *kind = name[0] == '-' ? "option" : "command";
    if (nearest.best != NULL)
        rig_cli_complain("unknown %s `%s`; did you mean `%s`?", kind, name, nearest.best);
    else
        rig_cli_complain("unknown %s `%s`", kind, name);
    rig_cli_complain("`rig --help` shows the commands");
    return RIG_EXIT_USAGE;
}

static int help_on(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--man") == 0)
        return rig_cli_manual(argv[2]);
    if (argc < 2 || strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0) {
        print_help();
        return RIG_EXIT_OK;
    }
    const struct rig_cli_command *command = find_command(argv[1]);
    if (command == NULL)
        return complain_unknown(argv[1]);
    char help[] = "--help";
    char *help_argv[] = {argv[1], help, NULL};
    return command->run(2, help_argv);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        rig_cli_complain("a command is missing; `rig --help` shows them");
        return RIG_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return help_on(argc - 1, argv + 1);
    if (strcmp(argv[1], "--version") == 0) {
        printf("rig %s (%s)\n", rig_version(), rig_commit());
        if (argc > 2 && strcmp(argv[2], "--verbose") == 0)
            rig_cli_say("compiler          %s\nbuild             %s\nlibraries         %s\ndriver interface  %u\n",
                        rig_compiler(), rig_build_type(), rig_libraries(), RIG_DRIVER_ABI);
        return RIG_EXIT_OK;
    }
    const struct rig_cli_command *command = find_command(argv[1]);
    if (command == NULL)
        return complain_unknown(argv[1]);
    /* Hunts refuse ranks: a night of one of them is not what eight machines were asked for. */
    const bool is_shared = command->run == rig_cli_run || command->run == rig_cli_check || command->run == rig_cli_hunt;
    const bool is_to_do = is_shared || rig_cli_ranked_alone(command->name);
    return is_to_do ? command->run(argc - 1, argv + 1) : RIG_EXIT_OK;
}

/*
 * A file that rig opens must not get the number of a standard descriptor that was closed: messages would go into it.
 * O_PATH: writing to such a descriptor still fails.
 */
static void hold_standard_descriptors(void)
{
    int fd = 0;
    while (fd >= 0 && fd <= STDERR_FILENO)
        fd = open("/", O_PATH);
    if (fd >= 0)
        (void)close(fd);
}

int main(int argc, char **argv)
{
    hold_standard_descriptors();
    (void)signal(SIGPIPE, SIG_IGN);
    const int status = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        if (errno == EPIPE) /* the reader has seen enough (`rig list levels | head`) */
            return status;
        rig_cli_complain("writing to standard output failed: %s", strerror(errno));
        return rig_cli_worst(status, RIG_EXIT_FAILED);
    }
    return status;
}
