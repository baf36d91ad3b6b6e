#include "jobs/serve/web_server.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/data_folder.h"

enum { BACKLOG = 64 };

static enum rig_rc load_module(const struct rig_web_module **module, struct rig_err *err)
{
    char where[PATH_MAX];
    void *handle = rig_module_open(RIG_WEB_MODULE, RTLD_NOW | RTLD_LOCAL, where, sizeof where);
    if (handle == NULL) {
        const char *why = dlerror();
        return rig_fail(err, RIG_E_DRIVER,
                        "this rig has no module for HTTP (%s): install the package rig-web, or build rig where "
                        "libmicrohttpd-dev is installed",
                        why == NULL ? RIG_WEB_MODULE " is not there" : why);
    }
    *module = dlsym(handle, RIG_WEB_SYMBOL);
    if (*module == NULL || (*module)->struct_size != sizeof(struct rig_web_module))
        return rig_fail(err, RIG_E_DRIVER, "%s is no module of this rig", where);
    return RIG_OK;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
    return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
}

static enum rig_rc describe(struct rig_web_server *server, struct rig_err *err)
{
    struct sockaddr_storage bound = {.ss_family = AF_UNSPEC};
    socklen_t size = sizeof bound;
    char host[INET6_ADDRSTRLEN], port[8];
    if (getsockname(server->listener, (struct sockaddr *)&bound, &size) != 0 ||
        getnameinfo((struct sockaddr *)&bound, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return rig_fail(err, RIG_E_IO, "the address of the server: %s", strerror(errno));
    server->is_loopback = is_loopback((struct sockaddr *)&bound);
    (void)snprintf(server->address, sizeof server->address, bound.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host,
                   port);
    return RIG_OK;
}

static enum rig_rc listen_at(const char *address, unsigned port, int *listener, struct rig_err *err)
{
    const struct addrinfo wanted = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                    .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char service[16];
    const int one = 1;
    (void)snprintf(service, sizeof service, "%u", port);
    if (getaddrinfo(strcmp(address, "localhost") == 0 ? "127.0.0.1" : address, service, &wanted, &found) != 0)
        return rig_fail(err, RIG_E_USAGE, "`%s` is no address; expected one like 127.0.0.1, ::1 or 0.0.0.0", address);
    *listener = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool good = *listener >= 0 && setsockopt(*listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
                      bind(*listener, found->ai_addr, found->ai_addrlen) == 0 && listen(*listener, BACKLOG) == 0;
    const int error = errno;
    freeaddrinfo(found);
    if (good)
        return RIG_OK;
    if (*listener >= 0)
        (void)close(*listener);
    *listener = -1;
    return error == EADDRINUSE
               ? rig_fail(err, RIG_E_USAGE, "%s port %u is in use; --port names another, --port 0 takes a free one",
                          address, port)
               : rig_fail(err, RIG_E_USAGE, "cannot listen at %s port %u: %s", address, port, strerror(error));
}

enum rig_rc rig_web_listen(struct rig_web_server *server, const char *address, unsigned port, struct rig_err *err)
{
    *server = (struct rig_web_server){.listener = -1};
    enum rig_rc rc = load_module(&server->module, err);
    if (rc == RIG_OK)
        rc = listen_at(address, port, &server->listener, err);
    return rc == RIG_OK ? describe(server, err) : rc;
}

enum rig_rc rig_web_serve(struct rig_web_server *server, rig_web_answer_fn *answer, void *context, struct rig_err *err)
{
    server->daemon = server->module->start(server->listener, answer, context);
    server->listener = -1;
    return server->daemon != NULL ? RIG_OK : rig_fail(err, RIG_E_LIMIT, "the server of HTTP cannot start its threads");
}

void rig_web_stop(struct rig_web_server *server)
{
    if (server->daemon != NULL)
        server->module->stop(server->daemon);
    else if (server->listener >= 0)
        (void)close(server->listener);
    server->daemon = NULL;
    server->listener = -1;
}
