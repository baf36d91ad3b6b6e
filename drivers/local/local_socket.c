#include "drivers/local/local_socket.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROCESSES_MOST = 1024, LINE_BYTES = 512, INODES_MOST = 16, STATE_LISTEN = 0x0A };

/* One row of the kernel's table. */
struct row {
    unsigned long local, remote; /* ports */
    unsigned long state, inode;
};

/* The port of "0100007F:1F90"; 0 when it is no address. */
static unsigned long port_of(const char *address)
{
    const char *colon = strchr(address, ':');
    return colon == NULL ? 0 : strtoul(colon + 1, NULL, 16);
}

static bool read_row(char *line, struct row *row)
{
    enum { LOCAL = 1, REMOTE = 2, STATE = 3, INODE = 9, FIELDS = 10 };
    const char *fields[FIELDS] = {NULL};
    char *rest = NULL;
    size_t count = 0;
    for (char *field = strtok_r(line, " ", &rest); count < FIELDS && field != NULL; field = strtok_r(NULL, " ", &rest))
        fields[count++] = field;
    if (count < FIELDS)
        return false;
    *row = (struct row){.local = port_of(fields[LOCAL]),
                        .remote = port_of(fields[REMOTE]),
                        .state = strtoul(fields[STATE], NULL, 16),
                        .inode = strtoul(fields[INODE], NULL, 10)};
    return true;
}

unsigned long rig_local_socket_connected(uint16_t local, uint16_t remote)
{
    char line[LINE_BYTES];
    unsigned long inode = 0;
    FILE *table = fopen("/proc/net/tcp", "re");
    if (table == NULL)
        return 0;
    while (inode == 0 && fgets(line, sizeof line, table) != NULL) {
        struct row row;
        if (read_row(line, &row) && row.local == local && row.remote == remote)
            inode = row.inode;
    }
    (void)fclose(table);
    return inode;
}

static bool process_holds(pid_t pid, unsigned long inode)
{
    char path[64];
    char wanted[64];
    bool holds = false;
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    (void)snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder != NULL && !holds && (entry = readdir(folder)) != NULL) {
        char target[64];
        const ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
        if (length > 0) {
            target[length] = '\0';
            holds = strcmp(target, wanted) == 0;
        }
    }
    if (folder != NULL)
        (void)closedir(folder);
    return holds;
}

bool rig_local_socket_is_of(unsigned long inode, const struct rig_child *child)
{
    pid_t pids[PROCESSES_MOST];
    /* The main process is first, and the most likely one. */
    const pid_t main_pid = rig_child_pid(child);
    if (inode == 0)
        return false;
    if (main_pid > 0 && process_holds(main_pid, inode))
        return true;
    const uint32_t count = rig_child_processes(child, pids, PROCESSES_MOST);
    for (uint32_t i = 0; i < count && i < PROCESSES_MOST; i++) {
        if (pids[i] != main_pid && process_holds(pids[i], inode))
            return true;
    }
    return false;
}

/* Adds the inodes of sockets that listen on the port; several can, with SO_REUSEPORT. */
static uint32_t find_listeners(const char *path, uint16_t port, unsigned long *inodes, uint32_t count)
{
    char line[LINE_BYTES];
    FILE *table = fopen(path, "re");
    if (table == NULL)
        return count;
    while (count < INODES_MOST && fgets(line, sizeof line, table) != NULL) {
        struct row row;
        if (read_row(line, &row) && row.local == port && row.state == STATE_LISTEN)
            inodes[count++] = row.inode;
    }
    (void)fclose(table);
    return count;
}

bool rig_local_socket_listens(const struct rig_child *child, uint16_t port)
{
    unsigned long inodes[INODES_MOST];
    uint32_t count = find_listeners("/proc/net/tcp", port, inodes, 0);
    count = find_listeners("/proc/net/tcp6", port, inodes, count);
    for (uint32_t i = 0; i < count; i++) {
        if (rig_local_socket_is_of(inodes[i], child))
            return true;
    }
    return false;
}
