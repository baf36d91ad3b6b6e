/*
 * rig serve STORE: the runs on disk in a browser.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/option_parse.h"
#include "cli/arguments.h"
#include "cli/cli.h"
#include "cli/stop_signals.h"
#include "jobs/serve/web_server.h"
#include "jobs/serve/site.h"

enum { PORT = 8437, WAIT_NS = 100 * 1000 * 1000 };

static const struct rig_argument serve_arguments[] = {
    {.name = "listen",
     .value = "ADDRESS",
     .help = "address of this machine to listen at; 127.0.0.1 when not given, which only this machine reaches"},
    {.name = "port", .value = "N", .help = "port to listen at; 8437 when not given, 0 takes a free one"},
    {.name = NULL},
};

static const struct rig_arguments_table serve_table = {
    .command = "serve",
    .positionals = "[STORE]",
    .least_positionals = 0,
    .most_positionals = 1,
    .description =
        "Shows the runs of a store (`store` when not given) as pages for a browser: the index with what is new, each\n"
        "report, the progress and the findings of runs that are under way, and two runs side by side. The pages "
        "change\n"
        "with the store. Nothing is written, and only files that rig wrote are shown. SIGINT or SIGTERM ends it.\n",
    .arguments = serve_arguments,
};

static enum rig_rc read_port(const char *text, int64_t *port, struct rig_err *err)
{
    static const struct rig_option option = {.name = "port", .type = RIG_OPTION_INT, .least = 0, .most = 65535};
    struct rig_err problem = {0};
    *port = PORT;
    if (text == NULL || rig_option_parse(&option, text, port, &problem) == RIG_OK)
        return RIG_OK;
    return rig_fail(err, RIG_E_USAGE, "--port: %s", problem.text);
}

static void await_signal(const atomic_int *interrupts)
{
    static const struct timespec wait = {.tv_nsec = WAIT_NS};
    while (atomic_load(interrupts) == 0)
        (void)nanosleep(&wait, NULL); /* a signal ends it at once */
}

static enum rig_rc serve(const char *store, const char *address, unsigned port, struct rig_err *err)
{
    struct rig_web_server server = {.listener = -1};
    struct rig_site *site = NULL;
    const atomic_int *interrupts = rig_cli_stop_signals_begin();
    enum rig_rc rc = rig_site_new(store, &site, err);
    if (rc == RIG_OK)
        rc = rig_web_listen(&server, address, port, err);
    if (rc == RIG_OK && server.is_loopback)
        rig_site_require_host(site, server.address);
    if (rc == RIG_OK)
        rc = rig_web_serve(&server, rig_site_answer, site, err);
    if (rc == RIG_OK) {
        printf("%s: http://%s/\n", store, server.address);
        (void)fflush(stdout);
        if (!server.is_loopback)
            rig_cli_complain("every machine that reaches %s can read the runs of %s", server.address, store);
        await_signal(interrupts);
    }
    rig_web_stop(&server);
    rig_site_free(site);
    rig_cli_stop_signals_end();
    return rc;
}

int rig_cli_serve(int argc, char **argv)
{
    struct rig_arguments args;
    struct rig_err err = {0};
    int64_t port = PORT;
    const int status = rig_arguments_parse(&serve_table, argc, argv, &args);
    if (status != RIG_ARGUMENTS_GO_ON)
        return status;
    const char *address = rig_arguments_value(&args, "listen");
    enum rig_rc rc = read_port(rig_arguments_value(&args, "port"), &port, &err);
    if (rc == RIG_OK)
        rc = serve(args.positional_count == 0 ? "store" : args.positionals[0], address == NULL ? "127.0.0.1" : address,
                   (unsigned)port, &err);
    return rc == RIG_OK ? RIG_EXIT_OK : rig_cli_fail(&err);
}
