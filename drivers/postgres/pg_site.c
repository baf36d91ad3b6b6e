#include "drivers/postgres/pg_site.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/run_files.h"
#include "drivers/local/local_machine.h"
#include "drivers/local/local_template.h"
#include "drivers/local/local_versions.h"

enum { ARGUMENTS_MOST = 32 };

/* On SIGQUIT the server also ends its children, each in a session of its own. */
static const struct rig_local_kind kind = {
    .name = "postgres",
    .node_prefix = "pg",
    .product = "PostgreSQL",
    .account_package = "postgresql",
    .refuses_root = true,
    .socket_name_bytes = sizeof ".s.PGSQL.65535" - 1,
    .fast_signal = SIGINT,
    .immediate_signal = SIGQUIT,
};

void rig_pg_site_init(struct rig_pg_site *site, const struct rig_run_env *env, const struct rig_pg_options *options)
{
    *site = (struct rig_pg_site){.options = options};
    rig_local_site_init(&site->local, &kind, env);
}

static enum rig_rc find_programs(struct rig_pg_site *site, struct rig_err *err)
{
    const struct rig_pg_options *options = site->options;
    const struct rig_pg_wish wish = {
        .bin_dir = options->sql.bin_dir, .version = options->sql.version, .servers = options->sql.servers};
    return rig_pg_binaries_find(&wish, site->bin_dir, sizeof site->bin_dir, err);
}

static bool has_program(const struct rig_pg_site *site, const char *name)
{
    const char *const programs[] = {name, NULL};
    return rig_local_has_programs(site->bin_dir, programs);
}

/* "postgres (PostgreSQL) 14.3", as the program says. */
static enum rig_rc ask_version(struct rig_pg_site *site, struct rig_local_version *version, struct rig_err *err)
{
    static const char log_name[] = RIG_RUN_LOG_OF_PG_VERSION, product[] = "(PostgreSQL) ";
    static const char *const arguments[] = {"postgres", "--version", NULL};
    char text[RIG_LOCAL_TAIL_BYTES];
    const int64_t deadline_ns = site->local.env->core->now_ns() + site->options->sql.start_timeout_ns;
    const enum rig_rc rc = rig_pg_site_run(site, arguments, log_name, false, deadline_ns, err);
    if (rc != RIG_OK)
        return rc;
    rig_local_log_tail(site->local.env, log_name, text);
    const char *number = strstr(text, product);
    if (number != NULL && rig_local_version_read(number + sizeof product - 1, version))
        return RIG_OK;
    return rig_fail(err, RIG_E_CLUSTER, "%.400s/postgres --version: `%.100s` is no version", site->bin_dir, text);
}

/* Clusters of several nodes need settings and programs that not every server has. */
static enum rig_rc check_replication(const struct rig_pg_site *site, const struct rig_local_version *version,
                                     struct rig_err *err)
{
    const struct rig_core *core = site->local.env->core;
    const bool rewinds = has_program(site, "pg_rewind"), backs_up = has_program(site, "pg_basebackup");
    if (version->major < RIG_PG_STANDBYS_SINCE)
        return rig_fail(err, RIG_E_PLAN,
                        "PostgreSQL %ld: rig starts standbys of version %d or later: give cluster.local.nodes: 1, or "
                        "another version",
                        version->major, RIG_PG_STANDBYS_SINCE);
    if (!backs_up)
        core->log(1, "postgres",
                  "%s has no pg_basebackup%s: a node whose data diverged from the primary's cannot be rebuilt%s",
                  site->bin_dir, rewinds ? "" : " and no pg_rewind", rewinds ? " unless pg_rewind can" : "");
    return RIG_OK;
}

static enum rig_rc check_programs(struct rig_pg_site *site, struct rig_err *err)
{
    const char *asked = site->options->sql.version;
    const bool of_version = asked != NULL && asked[0] != '\0';
    struct rig_local_version version, wanted;
    if (!rig_account_can_reach(&site->local.account, site->bin_dir))
        return rig_fail(err, RIG_E_PLAN,
                        "the user `%s` cannot reach %.400s, in which PostgreSQL's programs are: put them where it can, "
                        "or name another user as database.cluster.local.run-as",
                        site->local.account.name, site->bin_dir);
    if (!of_version && site->node_count == 1)
        return RIG_OK;
    enum rig_rc rc = ask_version(site, &version, err);
    if (rc == RIG_OK && of_version && rig_local_version_read(asked, &wanted) &&
        !rig_local_version_fits(&wanted, &version))
        rc =
            rig_fail(err, RIG_E_PLAN,
                     "database.cluster.local.version: %s is PostgreSQL %ld.%ld, and %s was asked for: `scripts/servers "
                     "%s` installs it",
                     site->bin_dir, version.major, version.minor, asked, asked);
    return rc == RIG_OK && site->node_count > 1 ? check_replication(site, &version, err) : rc;
}

enum rig_rc rig_pg_site_open(struct rig_pg_site *site, struct rig_err *err)
{
    const struct rig_core *core = site->local.env->core;
    site->node_count = site->options->sql.nodes > 1 ? (uint32_t)site->options->sql.nodes : 1;
    site->tcp = site->options->sql.listen == RIG_SQL_LISTEN_TCP || (core->routed != NULL && core->routed());
    enum rig_rc rc = find_programs(site, err);
    if (rc == RIG_OK)
        rc = rig_local_make_password(site->password, err);
    if (rc == RIG_OK)
        rc = rig_local_site_open(&site->local, site->options->sql.run_as, err);
    return rc == RIG_OK ? check_programs(site, err) : rc;
}

void rig_pg_site_close(struct rig_pg_site *site)
{
    rig_local_site_close(&site->local);
}

enum rig_rc rig_pg_site_run(struct rig_pg_site *site, const char *const *arguments, const char *log_name, bool always,
                            int64_t deadline_ns, struct rig_err *err)
{
    char program[RIG_PG_PATH_BYTES + 32];
    const char *full[ARGUMENTS_MOST + 1] = {program};
    for (size_t count = 1; arguments[count] != NULL; count++) {
        RIG_INVARIANT(count < ARGUMENTS_MOST);
        full[count] = arguments[count];
    }
    (void)snprintf(program, sizeof program, "%s/%s", site->bin_dir, arguments[0]);
    return rig_local_run(&site->local, full, log_name, always, deadline_ns, err);
}

/* ---- the data ---- */

static const char *const initdb_options[] = {"-U",
                                             RIG_PG_SUPERUSER,
                                             "--no-sync",
                                             "--no-locale",
                                             "--encoding=UTF8",
                                             "--auth-local=trust",
                                             "--auth-host=scram-sha-256",
                                             NULL};
enum { OPTION_COUNT = sizeof initdb_options / sizeof initdb_options[0] };

static enum rig_rc run_initdb(void *context, const char *data, int64_t deadline_ns, struct rig_err *err)
{
    const char *arguments[OPTION_COUNT + 3] = {"initdb", "-D", data};
    memcpy(arguments + 3, initdb_options, sizeof initdb_options);
    return rig_pg_site_run(context, arguments, RIG_RUN_LOG_OF_INITDB, false, deadline_ns, err);
}

enum rig_rc rig_pg_site_make_data(struct rig_pg_site *site, const char *data, int64_t deadline_ns, struct rig_err *err)
{
    char initdb[RIG_PG_PATH_BYTES + 32], postgres[RIG_PG_PATH_BYTES + 32];
    (void)snprintf(initdb, sizeof initdb, "%s/initdb", site->bin_dir);
    (void)snprintf(postgres, sizeof postgres, "%s/postgres", site->bin_dir);
    const char *const makers[] = {initdb, postgres, NULL};
    const struct rig_local_recipe recipe = {
        .programs = makers, .options = initdb_options, .make = run_initdb, .context = site};
    return rig_local_template_provide(&site->local, &recipe, data, deadline_ns, err);
}

/* ---- the programs ---- */

#define PACKAGED_ROOT "/usr/lib/postgresql"

static const char *const programs[] = {"initdb", "postgres", NULL};

static bool given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

/* ---- the choice ---- */

static enum rig_rc find_asked(const struct rig_pg_wish *wish, char *folder, size_t size, struct rig_err *err)
{
    struct rig_local_version asked;
    if (!rig_local_version_read(wish->version, &asked) ||
        !rig_local_version_find(wish->servers, PACKAGED_ROOT, programs, &asked, folder, size))
        return rig_fail(err, RIG_E_PLAN,
                        "database.cluster.local.version: there is no PostgreSQL %s in %s%s%s, in the caches of "
                        "scripts/servers or below " PACKAGED_ROOT
                        ": `scripts/servers %s` installs it, or name the folder of its programs as "
                        "database.cluster.local.bin-dir",
                        wish->version, given(wish->servers) ? wish->servers : "database.cluster.local.servers",
                        given(getenv("RIG_SERVERS")) ? ", " : ", $RIG_SERVERS",
                        given(getenv("RIG_SERVERS")) ? getenv("RIG_SERVERS") : "", wish->version);
    return RIG_OK;
}

enum rig_rc rig_pg_binaries_find(const struct rig_pg_wish *wish, char *folder, size_t size, struct rig_err *err)
{
    const char *asked = wish->bin_dir;
    if (given(asked)) {
        if (asked[0] != '/' || strlen(asked) >= size || !rig_local_has_programs(asked, programs))
            return rig_fail(err, RIG_E_PLAN,
                            "database.cluster.local.bin-dir: `%s` is not the absolute path of a folder with "
                            "executable initdb and postgres",
                            asked);
        (void)snprintf(folder, size, "%s", asked);
        return RIG_OK;
    }
    if (given(wish->version))
        return find_asked(wish, folder, size, err);
    if (rig_local_version_newest(PACKAGED_ROOT, programs, NULL, folder, size) ||
        rig_local_find_programs(programs, NULL, folder, size))
        return RIG_OK;
    return rig_fail(err, RIG_E_PLAN,
                    "PostgreSQL's initdb and postgres were not found below " PACKAGED_ROOT
                    " nor in PATH: install the package postgresql, or name their folder as "
                    "database.cluster.local.bin-dir");
}

bool rig_pg_site_has_version(const void *object, const char *version)
{
    const struct rig_pg_options *options = object;
    const struct rig_pg_wish wish = {.bin_dir = options->sql.bin_dir,
                                     .version = version == NULL ? options->sql.version : version,
                                     .servers = options->sql.servers};
    char folder[RIG_PG_PATH_BYTES];
    struct rig_err ignored = {0};
    return !given(wish.version) || rig_pg_binaries_find(&wish, folder, sizeof folder, &ignored) == RIG_OK;
}
