#include "cli/plan_arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/handed_settings.h"
#include "cli/target_url.h"
#include "drivers/loader.h"

/* Options that are short for --set. With `joined`, all values of one option are one list; else each is KEY=VALUE. */
static const struct {
    const char *option, *key;
    bool joined;
} shorthands[] = {
    {"level", "check.levels=", true},    {"anomaly", "check.anomalies=", true},
    {"assume", "check.assume=", true},   {"minimum", "check.minimum.", false},
    {"lattice", "check.lattice=", true}, {"budget", "check.budget=", true},
    {"require", "check.require=", true}, {"max-witnesses", "check.max-witnesses=", true},
    {"known", "check.known=", true},
};

const struct rig_argument_elsewhere rig_cli_elsewhere_of_plan[] = {
    {"workload", "the plan has this setting: --set workload.type=WORKLOAD"},
    {"transactions", "the plan has this setting: --set workload.transactions=N"},
    {"duration", "the plan has this setting: --set workload.duration=TIME"},
    {"clients", "the plan has this setting: --set clients.count=N"},
    {"isolation", "the plan has this setting: --set database.isolation=LEVEL"},
    {"report", "the plan has this setting: --set report=FORM,..."},
    {"max-memory", "`rig check` has this option, also for the folder of a run"},
    {"threads", "`rig check` has this option, also for the folder of a run"},
    {"window", "`rig check` has this option, also for the folder of a run"},
    {NULL, NULL},
};

/* The overrides of one command line, in order; the texts lie in `buf`, each with its ending NUL. */
enum { FIRST_MOST = 1024, OVERRIDES_MOST = FIRST_MOST + RIG_ARGUMENTS_MAX };
struct overrides {
    struct rig_plan_override at[OVERRIDES_MOST]; /* text NULL: at its offset in `buf` */
    size_t offsets[OVERRIDES_MOST];
    size_t count;
    struct rig_buf buf;
};

static void begin_override(struct overrides *overrides, const char *key)
{
    if (overrides->buf.size > 0)
        rig_buf_add_char(&overrides->buf, '\0'); /* a second one does no harm */
    overrides->offsets[overrides->count++] = overrides->buf.size;
    rig_buf_add_text(&overrides->buf, key);
}

static void add_shorthand(const struct rig_arguments *arguments, size_t row, struct overrides *overrides)
{
    const char *value;
    for (size_t i = 0; (value = rig_arguments_value_at(arguments, shorthands[row].option, i)) != NULL; i++) {
        if (i == 0 || !shorthands[row].joined)
            begin_override(overrides, shorthands[row].key);
        else
            rig_buf_add_char(&overrides->buf, ',');
        rig_buf_add_text(&overrides->buf, value);
    }
}

/* Those of the rig that started this one. */
static enum rig_rc add_handed(struct overrides *overrides, struct rig_err *err)
{
    const size_t begin = overrides->buf.size;
    const enum rig_rc rc = rig_cli_handed_take(&overrides->buf, err);
    if (rc != RIG_OK)
        return rc;
    const char *texts = rig_buf_text(&overrides->buf);
    for (size_t at = begin; at < overrides->buf.size; at += strlen(texts + at) + 1) {
        if (overrides->count == FIRST_MOST)
            return rig_fail(err, RIG_E_LIMIT, "more than %d settings", (int)FIRST_MOST);
        overrides->offsets[overrides->count++] = at;
    }
    return RIG_OK;
}

/* --set before the shorthands, so that the later ones win. */
static enum rig_rc collect(const struct rig_arguments *arguments, const struct rig_text_list *first,
                           bool has_shorthands, struct overrides *overrides, struct rig_err *err)
{
    const char *text;
    for (size_t i = 0; i < first->count && overrides->count < FIRST_MOST; i++)
        overrides->at[overrides->count++].text = first->at[i];
    const enum rig_rc rc = add_handed(overrides, err);
    for (size_t i = 0; (text = rig_arguments_value_at(arguments, "set", i)) != NULL; i++)
        overrides->at[overrides->count++].text = text;
    for (size_t row = 0; has_shorthands && row < sizeof shorthands / sizeof shorthands[0]; row++)
        add_shorthand(arguments, row, overrides);
    const char *texts = rig_buf_text(&overrides->buf);
    for (size_t i = 0; i < overrides->count; i++) {
        if (overrides->at[i].text == NULL)
            overrides->at[i].text = texts + overrides->offsets[i];
    }
    return rc;
}

/* --servers is $RIG_SERVERS, which drivers read. */
static enum rig_rc name_servers(const struct rig_arguments *arguments, struct rig_err *err)
{
    const char *folder = rig_arguments_value_at(arguments, "servers", 0);
    if (folder == NULL)
        return RIG_OK;
    char *path = realpath(folder, NULL);
    if (path == NULL)
        return rig_fail(err, RIG_E_PLAN, "--servers: %s: %s", folder, strerror(errno));
    const bool named = setenv("RIG_SERVERS", path, 1) == 0;
    free(path);
    return named ? RIG_OK : rig_no_memory(err, "--servers");
}

static int load(const char *path, const struct rig_text_list *first, bool has_shorthands,
                const struct rig_arguments *arguments, struct rig_plan **plan)
{
    uint64_t seed = 0;
    if (!rig_arguments_number(arguments, "seed", 0, INT64_MAX, &seed))
        return RIG_EXIT_USAGE;
    const uint64_t *given_seed = rig_arguments_has(arguments, "seed") ? &seed : NULL;
    struct overrides overrides = {.count = 0};
    rig_buf_init(&overrides.buf, 0);
    struct rig_err err = {0};
    enum rig_rc rc = collect(arguments, first, has_shorthands, &overrides, &err);
    if (rc == RIG_OK && overrides.buf.failed)
        rc = rig_no_memory(&err, "the options");
    if (rc == RIG_OK)
        rc = name_servers(arguments, &err);
    if (rc == RIG_OK)
        rc = rig_plan_load(path, overrides.at, overrides.count, given_seed, plan, &err);
    rig_buf_done(&overrides.buf);
    return rc == RIG_OK ? RIG_EXIT_OK : rig_cli_fail(&err);
}

int rig_cli_take_target(struct rig_arguments *arguments)
{
    static struct rig_buf settings; /* of the process, as argv is */
    const char *url = rig_arguments_value(arguments, "on");
    const struct rig_argument *set = arguments->table->arguments;
    struct rig_err why = {0}, err = {0};
    if (url == NULL)
        return RIG_EXIT_OK;
    rig_buf_init(&settings, 0);
    const enum rig_rc rc = rig_target_url_settings(url, &settings, &why);
    rig_target_url_hide(url);
    if (rc != RIG_OK) {
        (void)rig_fail(&err, rc, "--on: %s", why.text);
        return rig_cli_fail(&err);
    }
    while (strcmp(set->name, "set") != 0)
        set++;
    struct rig_given_argument given[RIG_ARGUMENTS_MAX];
    const char *texts = rig_buf_text(&settings);
    size_t count = 0;
    for (size_t at = 0; at < settings.size && count < RIG_ARGUMENTS_MAX; at += strlen(texts + at) + 1)
        given[count++] = (struct rig_given_argument){.argument = set, .value = texts + at};
    if (count + arguments->given_count > RIG_ARGUMENTS_MAX) {
        rig_cli_complain("more than %d options", (int)RIG_ARGUMENTS_MAX);
        return RIG_EXIT_USAGE;
    }
    memcpy(given + count, arguments->given, arguments->given_count * sizeof *given);
    arguments->given_count += count;
    memcpy(arguments->given, given, arguments->given_count * sizeof *given);
    return RIG_EXIT_OK;
}

int rig_cli_load_plan(const struct rig_arguments *arguments, struct rig_plan **plan)
{
    const struct rig_text_list none = {.at = NULL};
    return load(arguments->positionals[0], &none, true, arguments, plan);
}

int rig_cli_load_plan_at(const char *path, const struct rig_text_list *first, const struct rig_arguments *arguments,
                         struct rig_plan **plan)
{
    return load(path, first, false, arguments, plan);
}

static void take_driver(void *context, const char *name, const struct rig_driver *driver, const char *problem)
{
    struct rig_cli_drivers *drivers = context;
    (void)name;
    if (problem != NULL)
        rig_cli_complain("%s", problem);
    else if (drivers->count < RIG_CLI_DRIVERS_MAX)
        drivers->at[drivers->count++] = driver;
}

void rig_cli_drivers_init(struct rig_cli_drivers *drivers)
{
    *drivers = (struct rig_cli_drivers){.count = 0};
    rig_driver_each(take_driver, drivers);
}

void rig_cli_drivers_leave_out_example(struct rig_cli_drivers *drivers)
{
    size_t kept = 0;
    for (size_t i = 0; i < drivers->count; i++) {
        if (strcmp(drivers->at[i]->name, "skeleton") != 0)
            drivers->at[kept++] = drivers->at[i];
    }
    drivers->at[kept] = NULL;
    drivers->count = kept;
}
