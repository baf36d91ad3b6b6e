#include "drivers/local/local_machine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/bug.h"

enum { PATH_BYTES = 4096 };

bool rig_local_has_programs(const char *folder, const char *const *programs)
{
    for (; *programs != NULL; programs++) {
        char path[PATH_BYTES];
        const int length = snprintf(path, sizeof path, "%s/%s", folder, *programs);
        if (length < 0 || (size_t)length >= sizeof path || access(path, X_OK) != 0)
            return false;
    }
    return true;
}

bool rig_local_find_programs(const char *const *programs, char *folder, size_t size)
{
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        const size_t length = strcspn(path, ":");
        char candidate[PATH_BYTES];
        if (path[0] == '/' && length < sizeof candidate && length < size) {
            (void)snprintf(candidate, sizeof candidate, "%.*s", (int)length, path);
            if (rig_local_has_programs(candidate, programs)) {
                (void)snprintf(folder, size, "%s", candidate);
                return true;
            }
        }
        path += length + (path[length] == ':');
    }
    return false;
}

/* `*holder` keeps the port taken until all are found, so that they differ. */
static bool find_port(uint16_t *port, int *holder)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    *holder = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*holder < 0 || bind(*holder, (struct sockaddr *)&address, size) != 0 ||
        getsockname(*holder, (struct sockaddr *)&address, &size) != 0)
        return false;
    *port = ntohs(address.sin_port);
    return true;
}

enum rig_rc rig_local_free_ports(uint16_t *ports, size_t count, struct rig_err *err)
{
    int holders[RIG_LOCAL_PORTS_MOST];
    size_t tried = 0;
    bool found = true;
    RIG_REQUIRE(count <= RIG_LOCAL_PORTS_MOST);
    for (; found && tried < count; tried++)
        found = find_port(&ports[tried], &holders[tried]);
    const int error = errno;
    for (size_t i = 0; i < tried; i++) {
        if (holders[i] >= 0)
            (void)close(holders[i]);
    }
    return found ? RIG_OK : rig_fail(err, RIG_E_CLUSTER, "no free port on 127.0.0.1: %s", strerror(error));
}

bool rig_local_port_was_taken(const struct rig_err *err)
{
    return strcasestr(err->text, "address already in use") != NULL;
}
