#include "drivers/local/local_machine.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/rng.h"

enum { PATH_BYTES = 4096, FIRST_PORT = 10000, LEAST_PORTS = 1000, ALL_PORTS = 65536 };

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

bool rig_local_find_programs(const char *const *programs, const struct rig_account *account, char *folder, size_t size)
{
    const char *path = getenv("PATH");
    while (path != NULL && *path != '\0') {
        const size_t length = strcspn(path, ":");
        char candidate[PATH_BYTES];
        if (path[0] == '/' && length < sizeof candidate && length < size) {
            (void)snprintf(candidate, sizeof candidate, "%.*s", (int)length, path);
            if ((account == NULL || rig_account_can_reach(account, candidate)) &&
                rig_local_has_programs(candidate, programs)) {
                (void)snprintf(folder, size, "%s", candidate);
                return true;
            }
        }
        path += length + (path[length] == ':');
    }
    return false;
}

/* The ports that are handed out: below those that the system gives to outgoing connections, if there are enough. */
static uint32_t end_of_ports(void)
{
    char text[64] = "";
    FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    const char *line = file == NULL ? NULL : fgets(text, sizeof text, file);
    if (file != NULL)
        (void)fclose(file);
    const long low = line == NULL ? 0 : strtol(line, NULL, 10);
    return low >= FIRST_PORT + LEAST_PORTS && low <= ALL_PORTS ? (uint32_t)low : ALL_PORTS;
}

/* Ports are handed out in their order, from a random one on: none twice by this process, and seldom by two at a time.
 * */
static uint16_t next_port(void)
{
    static atomic_uint_fast64_t next;
    uint_fast64_t unset = 0;
    if (atomic_load(&next) == 0)
        (void)atomic_compare_exchange_strong(&next, &unset, rig_rng_fresh_seed() >> 1 | 1);
    return (uint16_t)(FIRST_PORT + atomic_fetch_add(&next, 1) % (end_of_ports() - FIRST_PORT));
}

/* 0, or the error. */
static int try_port(uint16_t port)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int error = fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) != 0 ? errno : 0;
    if (fd >= 0)
        (void)close(fd);
    return error;
}

enum rig_rc rig_local_free_ports(uint16_t *ports, size_t count, struct rig_err *err)
{
    uint32_t tries = 0;
    for (size_t found = 0; found < count; tries++) {
        ports[found] = next_port();
        const int error = tries < ALL_PORTS ? try_port(ports[found]) : EADDRINUSE;
        if (error != 0 && (error != EADDRINUSE || tries == ALL_PORTS))
            return rig_fail(err, RIG_E_CLUSTER, "no free port on 127.0.0.1: %s", strerror(error));
        found += error == 0;
    }
    return RIG_OK;
}

bool rig_local_port_was_taken(const struct rig_err *err)
{
    return strcasestr(err->text, "address already in use") != NULL;
}
