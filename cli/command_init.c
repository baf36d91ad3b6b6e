/*
 * rig init URL: a commented plan for a database.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/output_file.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/target_plan.h"
#include "cli/target_url.h"

enum { PATH_BYTES = 4096 };

static const struct rig_argument arguments_of_init[] = {
    {.name = "set",
     .value = "A.B=C",
     .repeatable = true,
     .help = "set a key of the plan, such as workload.duration=60s"},
    {.name = "output", .letter = 'o', .value = "FILE", .help = "write the plan there; standard output when not given"},
    {.name = "force", .help = "replace the file if it is there"},
    {.name = NULL},
};

static const struct rig_arguments_table table_of_init = {
    .command = "init",
    .positionals = "URL",
    .least_positionals = 1,
    .most_positionals = 1,
    .description =
        "Writes a plan for `rig run` on the database of a URL (`rig try --help` has the forms), at the strongest "
        "level\n"
        "that the database has, with every key and a comment that says what it does. It connects to nothing. A\n"
        "password is not written: the plan takes it from the variable RIG_PASSWORD.\n",
    .arguments = arguments_of_init,
};

static enum rig_rc check_output(const struct rig_arguments *args, struct rig_err *err)
{
    const char *file = rig_arguments_value(args, "output");
    if (file == NULL || rig_arguments_has(args, "force") || !rig_output_replaces(file))
        return RIG_OK;
    return rig_fail(err, RIG_E_USAGE, "%s: is there already; --force replaces it", file);
}

static enum rig_rc init(const struct rig_arguments *args, const struct rig_buf *settings, struct rig_buf *secrets,
                        struct rig_err *err)
{
    static const char head[] =
        "# A plan for one database: `rig run FILE` runs it, docs/plan-reference.md has each key.\n"
        "# Lines that begin with `#` are keys without a value.\n";
    char matrix[PATH_BYTES];
    struct rig_buf yaml;
    const char *file = rig_arguments_value(args, "output");
    rig_buf_init(&yaml, 0);
    rig_buf_add_text(&yaml, head);
    enum rig_rc rc = rig_target_plan_matrix(settings, matrix, sizeof matrix, err);
    if (rc == RIG_OK)
        rc = rig_target_plan_write(settings, matrix, args, &yaml, secrets, err);
    if (rc == RIG_OK && file != NULL)
        rc = rig_output_save(&yaml, file, err);
    else if (rc == RIG_OK)
        (void)fwrite(rig_buf_text(&yaml), 1, yaml.size, stdout);
    rig_buf_done(&yaml);
    return rc;
}

int rig_cli_init(int argc, char **argv)
{
    struct rig_arguments args;
    struct rig_buf settings, secrets;
    struct rig_err err = {0};
    const int status = rig_arguments_parse(&table_of_init, argc, argv, &args);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    rig_buf_init(&settings, 0);
    rig_buf_init(&secrets, 0);
    enum rig_rc rc = check_output(&args, &err);
    if (rc == RIG_OK)
        rc = rig_target_url_settings(args.positionals[0], &settings, &err);
    rig_target_url_hide(args.positionals[0]);
    if (rc == RIG_OK)
        rc = init(&args, &settings, &secrets, &err);
    if (rc == RIG_OK && secrets.size > 0)
        rig_cli_complain("the plan has no secret: set %s in the environment of `rig run`", rig_buf_text(&secrets));
    rig_buf_done(&settings);
    rig_buf_done(&secrets);
    return rc == RIG_OK ? RIG_EXIT_OK : rig_cli_fail(&err);
}
