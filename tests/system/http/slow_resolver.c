/*
 * A getaddrinfo() that takes a minute for one name, slow.invalid. Preloaded, or linked into a test in place of the C
 * library's.
 */
#include <dlfcn.h>
#include <netdb.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>

typedef int lookup(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **found);

__attribute__((visibility("default"))) int getaddrinfo(const char *name, const char *service,
                                                       const struct addrinfo *hints, struct addrinfo **found)
{
    lookup *real = (lookup *)(uintptr_t)dlsym(RTLD_NEXT, "getaddrinfo");
    if (name == NULL || strcmp(name, "slow.invalid") != 0)
        return real(name, service, hints, found);
    (void)poll(NULL, 0, 60000);
    return EAI_AGAIN;
}
