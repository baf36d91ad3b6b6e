/* Loading: finds and maps the file of orders. A program without one, or with a wrong one, is left alone. */
#include "nemesis/shim/shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct rig_shim_control *orders;

struct rig_shim_control *rig_shim_orders(void)
{
    return orders;
}

void *rig_shim_real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* Splitmix64 of the number of the draw in this process and of the process. */
uint64_t rig_shim_draw(uint64_t seed)
{
    static _Atomic uint64_t number;
    uint64_t x = seed + atomic_fetch_add(&number, 1) + (uint64_t)getpid() * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static struct rig_shim_control *map_orders(const char *path)
{
    struct stat status;
    void *mapped = MAP_FAILED;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof(struct rig_shim_control))
        mapped = mmap(NULL, sizeof(struct rig_shim_control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    return mapped == MAP_FAILED ? NULL : mapped;
}

__attribute__((constructor)) static void attach(void)
{
    const int before = errno;
    const char *path = getenv(RIG_SHIM_VARIABLE);
    struct rig_shim_control *found = path == NULL ? NULL : map_orders(path);
    if (found != NULL && atomic_load(&found->magic) == RIG_SHIM_MAGIC) {
        (void)atomic_fetch_add(&found->attached, 1);
        orders = found;
    }
    errno = before;
}
