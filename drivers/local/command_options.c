#include "drivers/local/command_options.h"

#include <regex.h>
#include <signal.h>
#include <string.h>

#include "drivers/local/command_text.h"
#include "drivers/local/local_site.h"

const char *const rig_command_signal_names[] = {"TERM", "INT", "QUIT", "HUP", "KILL", NULL};

int rig_command_stop_signal(const struct rig_command_options *options)
{
    static const int signals[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGKILL};
    return signals[options->stop_signal];
}

/* rig's own variables of a node's environment. */
enum { OWN_VARIABLES = 4 };

static enum rig_rc check_environment(const struct rig_text_list *environment, struct rig_err *err)
{
    if (environment->count > RIG_LOCAL_VARIABLES_MOST - OWN_VARIABLES)
        return rig_fail(err, RIG_E_PLAN, "`cluster.local.environment`: more than %d variables",
                        RIG_LOCAL_VARIABLES_MOST - OWN_VARIABLES);
    for (size_t i = 0; i < environment->count; i++) {
        const char *text = environment->at[i], *equals = strchr(text, '=');
        if (equals == NULL || equals == text)
            return rig_fail(err, RIG_E_PLAN, "`cluster.local.environment`: expected NAME=value, not `%.60s`", text);
    }
    return RIG_OK;
}

static enum rig_rc check_pattern(const char *pattern, struct rig_err *err)
{
    regex_t compiled;
    char problem[128];
    const int error = regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB);
    if (error == 0) {
        regfree(&compiled);
        return RIG_OK;
    }
    (void)regerror(error, &compiled, problem, sizeof problem);
    return rig_fail(err, RIG_E_PLAN, "`cluster.local.ready.log`: `%.60s` is not a regular expression: %s", pattern,
                    problem);
}

/* Without `command` the others have no effect. */
static enum rig_rc check_alone(const struct rig_command_options *options, struct rig_err *err)
{
    const struct {
        const char *key;
        bool given;
    } others[] = {
        {"nodes", options->nodes > 1},
        {"prepare", options->prepare != NULL},
        {"ready.log", options->ready_log != NULL},
        {"ready.command", options->ready_command.count > 0},
        {"environment", options->environment.count > 0},
        {"roles", options->roles.count > 0},
        {"promote", options->promote.count > 0},
        {"follow", options->follow.count > 0},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (others[i].given)
            return rig_fail(err, RIG_E_PLAN,
                            "`cluster.local.%s` is for servers that rig starts: give their command as "
                            "`cluster.local.command`, or leave it out",
                            others[i].key);
    }
    return RIG_OK;
}

static enum rig_rc check_texts(const struct rig_command_options *options, struct rig_err *err)
{
    const unsigned nodes = (unsigned)options->nodes;
    const struct {
        const char *key;
        const struct rig_text_list *list;
    } lists[] = {
        {"cluster.local.command", &options->command}, {"cluster.local.ready.command", &options->ready_command},
        {"cluster.local.roles", &options->roles},     {"cluster.local.promote", &options->promote},
        {"cluster.local.follow", &options->follow},   {"cluster.local.environment", &options->environment},
    };
    enum rig_rc rc = rig_command_text_check("cluster.local.prepare", options->prepare, nodes, err);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && rc == RIG_OK; i++)
        rc = rig_command_list_check(lists[i].key, lists[i].list, nodes, err);
    return rc;
}

enum rig_rc rig_command_options_check(const struct rig_command_options *options, struct rig_err *err)
{
    if (options->command.count == 0)
        return check_alone(options, err);
    enum rig_rc rc = check_environment(&options->environment, err);
    if (rc == RIG_OK && options->ready_log != NULL)
        rc = check_pattern(options->ready_log, err);
    if (rc == RIG_OK && options->promote.count > 0 && options->roles.count == 0)
        rc = rig_fail(err, RIG_E_PLAN,
                      "`cluster.local.promote`: without `cluster.local.roles` rig cannot see that a node became the "
                      "primary: give a command that prints a node's role");
    return rc == RIG_OK ? check_texts(options, err) : rc;
}
