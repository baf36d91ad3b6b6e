#include "drivers/postgres/pg_site.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/bug.h"

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

static enum rig_rc make_password(struct rig_pg_site *site, struct rig_err *err)
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return rig_fail(err, RIG_E_CLUSTER, "no random bytes for a password: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(site->password + 2 * i, 3, "%02x", bytes[i]);
    return RIG_OK;
}

enum rig_rc rig_pg_site_open(struct rig_pg_site *site, struct rig_err *err)
{
    const struct rig_core *core = site->local.env->core;
    site->node_count = site->options->nodes > 1 ? (uint32_t)site->options->nodes : 1;
    site->tcp = site->options->listen == RIG_PG_LISTEN_TCP || (core->routed != NULL && core->routed());
    enum rig_rc rc = rig_pg_binaries_find(site->options->bin_dir, site->bin_dir, sizeof site->bin_dir, err);
    if (rc == RIG_OK)
        rc = make_password(site, err);
    return rc == RIG_OK ? rig_local_site_open(&site->local, site->options->run_as, err) : rc;
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
