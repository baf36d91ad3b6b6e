#include "history/import/cobra_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "history/import/cobra_logs.h"

static int is_log(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && length <= RIG_COBRA_NAME_BYTES &&
           strcmp(entry->d_name + length - 4, ".log") == 0;
}

/* The regular file of this name in the folder, or -1. */
static int open_log(int folder, const char *name)
{
    struct stat status;
    const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        return fd;
    if (fd >= 0)
        (void)close(fd);
    return -1;
}

bool rig_cobra_folder(const char *path)
{
    char bytes[16];
    bool found = false;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return false;
    for (const struct dirent *entry = readdir(folder); entry != NULL && !found; entry = readdir(folder)) {
        const int fd = is_log(entry) ? open_log(dirfd(folder), entry->d_name) : -1;
        if (fd < 0)
            continue;
        const ssize_t size = read(fd, bytes, sizeof bytes);
        found = size > 0 && rig_cobra_single_log(bytes, (size_t)size);
        (void)close(fd);
    }
    (void)closedir(folder);
    return found;
}

void rig_cobra_folder_visit(const char *path, void (*visit)(const char *log))
{
    char log[4096];
    DIR *folder = opendir(path);
    for (const struct dirent *entry = folder == NULL ? NULL : readdir(folder); entry != NULL; entry = readdir(folder)) {
        const int length = is_log(entry) ? snprintf(log, sizeof log, "%s/%s", path, entry->d_name) : -1;
        if (length > 0 && (size_t)length < sizeof log)
            visit(log);
    }
    if (folder != NULL)
        (void)closedir(folder);
}

static void put_number(char *at, uint64_t number)
{
    for (unsigned i = 8; i-- > 0; number >>= 8)
        at[i] = (char)(unsigned char)number;
}

static enum rig_rc read_log(int folder, const char *path, const char *name, struct rig_buf *buf, struct rig_err *err)
{
    enum { SIZES_BYTES = 16 };
    const size_t head_at = buf->size;
    const size_t name_length = strlen(name);
    const int fd = open_log(folder, name);
    if (fd < 0)
        return rig_fail(err, RIG_E_IO, "%s/%s: cannot open: %s", path, name,
                        errno != 0 ? strerror(errno) : "it is not a file");
    const char sizes[SIZES_BYTES] = {0};
    rig_buf_add(buf, sizes, sizeof sizes);
    rig_buf_add(buf, name, name_length);
    const size_t content_at = buf->size;
    enum rig_rc rc = buf->failed ? RIG_E_LIMIT : rig_buf_read_up_to(buf, fd, SIZE_MAX, name, err);
    (void)close(fd);
    if (rc != RIG_OK)
        return rc;
    put_number(buf->data + head_at, name_length);
    put_number(buf->data + head_at + 8, buf->size - content_at);
    return RIG_OK;
}

enum rig_rc rig_cobra_folder_read(const char *path, struct rig_buf *buf, struct rig_err *err)
{
    struct dirent **entries = NULL;
    struct rig_err why = {0};
    const int count = scandir(path, &entries, is_log, versionsort);
    const int folder = count < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum rig_rc rc = folder < 0 ? rig_fail(&why, RIG_E_IO, "%s: cannot open: %s", path, strerror(errno)) : RIG_OK;
    rig_buf_add(buf, RIG_COBRA_MARK, RIG_COBRA_MARK_BYTES);
    for (int i = 0; i < count; i++) {
        errno = 0;
        if (rc == RIG_OK)
            rc = read_log(folder, path, entries[i]->d_name, buf, &why);
        free(entries[i]);
    }
    free(entries);
    if (folder >= 0)
        (void)close(folder);
    if (rc == RIG_E_LIMIT)
        return rig_fail(
            err, rc, "%s: the logs of a folder are kept in memory, and may take half of it; raise --max-memory", path);
    return rc == RIG_OK ? RIG_OK : rig_fail(err, rc, "%s", why.text);
}
