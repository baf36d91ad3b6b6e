#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/run_files.h"
#include "base/vec.h"

enum { NAME_ATTEMPTS = 100, NAME_SHOWN = 200 };

/* ---- inputs ---- */

struct guarded {
    dev_t device;
    ino_t inode;
};
RIG_VEC(struct guarded, guarded_vec)

static struct guarded_vec guarded; /* as long as the process */

void rig_output_guard(const char *path)
{
    struct stat status;
    const int failed = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &status) : stat(path, &status);
    if (failed != 0 || !S_ISREG(status.st_mode))
        return;
    RIG_REQUIRE(guarded_vec_add(&guarded, (struct guarded){status.st_dev, status.st_ino}));
}

static enum rig_rc refuse_input(const struct stat *status, const char *path, struct rig_err *err)
{
    for (size_t i = 0; i < guarded.count; i++) {
        if (guarded.at[i].device == status->st_dev && guarded.at[i].inode == status->st_ino)
            return rig_fail(err, RIG_E_USAGE, "%s: is an input of this command; write to another file", path);
    }
    return RIG_OK;
}

/* ---- runs ---- */

static struct guarded_vec own_runs; /* as long as the process */

void rig_output_own_run(const char *folder)
{
    struct stat status;
    if (stat(folder, &status) == 0 && S_ISDIR(status.st_mode))
        RIG_REQUIRE(guarded_vec_add(&own_runs, (struct guarded){status.st_dev, status.st_ino}));
}

/* Refuses the place of a run's file in the folder of a run that this command does not write. `path`: with links
 * resolved. */
static enum rig_rc refuse_run(const char *path, const char *shown, struct rig_err *err)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX], mark[PATH_MAX + 16];
    struct stat status;
    if (rig_run_file_find(RIG_RUN_PLACE_RUN, slash == NULL ? path : slash + 1) == RIG_RUN_PLACE_NONE)
        return RIG_OK;
    const int length = slash == NULL ? snprintf(folder, sizeof folder, ".")
                                     : snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path);
    if (length < 0 || (size_t)length >= sizeof folder)
        return RIG_OK; /* no such path can be opened */
    (void)snprintf(mark, sizeof mark, "%s/" RIG_RUN_MARK, folder);
    if (lstat(mark, &status) != 0 || stat(folder, &status) != 0)
        return RIG_OK;
    for (size_t i = 0; i < own_runs.count; i++) {
        if (own_runs.at[i].device == status.st_dev && own_runs.at[i].inode == status.st_ino)
            return RIG_OK;
    }
    return rig_fail(err, RIG_E_USAGE,
                    "%s: belongs to a run of rig, whose record this command does not read; name "
                    "another folder or file",
                    shown);
}

/* ---- what stands at the path ---- */

enum place { PLACE_NEW, PLACE_FILE, PLACE_STREAM };

struct destination {
    enum place place;
    char *path; /* with links resolved; NULL: `descriptor` */
    int descriptor;
    struct stat status; /* not of PLACE_NEW */
};

/* The descriptor that a path names, or -1. Opening the path anew would truncate a file. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const size_t length = strlen(folders[i]);
        const char *digits = path + length;
        if (strncmp(path, folders[i], length) == 0 && *digits != '\0' && strlen(digits) < 8 &&
            digits[strspn(digits, "0123456789")] == '\0')
            return (int)strtol(digits, NULL, 10);
    }
    return -1;
}

static enum rig_rc refuse(const char *path, const char *why, struct rig_err *err)
{
    return rig_fail(err, RIG_E_USAGE, "%s: %s; name a regular file, a pipe or a character device", path, why);
}

static enum rig_rc find_kind(struct destination *out, const char *path, struct rig_err *err)
{
    out->place = PLACE_STREAM;
    if (S_ISREG(out->status.st_mode))
        out->place = PLACE_FILE;
    else if (S_ISDIR(out->status.st_mode))
        return refuse(path, "is a folder", err);
    else if (S_ISBLK(out->status.st_mode))
        return refuse(path, "is a block device", err);
    else if (S_ISSOCK(out->status.st_mode))
        return refuse(path, "is a socket", err);
    return refuse_input(&out->status, path, err);
}

static enum rig_rc follow(struct destination *out, const char *path, struct rig_err *err)
{
    const uid_t owner = out->status.st_uid;
    if (owner != 0 && owner != geteuid())
        return refuse(path, "is a link that another user made", err);
    out->path = realpath(path, NULL);
    if (out->path == NULL && errno == ENOENT)
        return refuse(path, "is a link to a file that does not exist", err);
    if (out->path == NULL || stat(out->path, &out->status) != 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot follow the link: %s", path, strerror(errno));
    return RIG_OK;
}

/* `out->path` is the caller's on success. */
static enum rig_rc find(const char *path, struct destination *out, struct rig_err *err)
{
    *out = (struct destination){.descriptor = descriptor_of(path)};
    enum rig_rc rc = RIG_OK;
    if (out->descriptor >= 0) {
        if (fstat(out->descriptor, &out->status) != 0)
            return rig_fail(err, RIG_E_IO, "%s: %s", path, strerror(errno));
        out->place = PLACE_STREAM;
        return refuse_input(&out->status, path, err);
    }
    if (lstat(path, &out->status) != 0) {
        if (errno != ENOENT)
            return rig_fail(err, RIG_E_IO, "%s: cannot create: %s", path, strerror(errno));
        out->place = PLACE_NEW;
        out->path = strdup(path);
    } else {
        if (S_ISLNK(out->status.st_mode))
            rc = follow(out, path, err);
        else
            out->path = strdup(path);
        if (rc == RIG_OK)
            rc = find_kind(out, path, err);
    }
    if (rc == RIG_OK && out->path == NULL)
        rc = rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "its name", path);
    if (rc == RIG_OK && out->place != PLACE_STREAM)
        rc = refuse_run(out->path, path, err);
    if (rc != RIG_OK)
        free(out->path);
    return rc;
}

bool rig_output_replaces(const char *path)
{
    struct destination destination;
    struct rig_err ignored = {.rc = RIG_OK};
    if (find(path, &destination, &ignored) != RIG_OK)
        return false;
    free(destination.path);
    return destination.place == PLACE_FILE;
}

/* ---- in place ---- */

static enum rig_rc open_stream(struct rig_output *out, const struct destination *destination, struct rig_err *err)
{
    if (destination->descriptor == STDOUT_FILENO) {
        out->fd = STDOUT_FILENO;
        out->path = strcmp(out->path, "-") == 0 ? "standard output" : out->path;
        return RIG_OK;
    }
    out->fd = destination->path == NULL ? fcntl(destination->descriptor, F_DUPFD_CLOEXEC, 3)
                                        : open(destination->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
    struct stat status;
    if (out->fd < 0 || fstat(out->fd, &status) != 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot open: %s", out->path, strerror(errno));
    if (status.st_dev != destination->status.st_dev || status.st_ino != destination->status.st_ino)
        return rig_fail(err, RIG_E_IO, "%s: was replaced while rig opened it", out->path);
    return RIG_OK;
}

/* ---- beside its place ---- */

/* A new name in the folder each time, from 64 random bits. */
static char *random_name(const char *name)
{
    uint64_t number = 0;
    char *made = NULL;
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number ||
        asprintf(&made, ".%.*s.%016" PRIx64 ".tmp", NAME_SHOWN, name, number) < 0)
        return NULL;
    return made;
}

/* Without a name if the file system supports that, so that a killed rig leaves nothing. */
static int open_nameless(int folder)
{
    char link[64];
    const int fd = openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (access(link, F_OK) == 0)
        return fd;
    (void)close(fd); /* no /proc: it could not be given a name later */
    return -1;
}

static int open_named(struct rig_output *out)
{
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        char *name = random_name(out->name);
        if (name == NULL)
            return -1;
        const int fd = openat(out->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0) {
            out->temporary = name;
            return fd;
        }
        free(name);
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

static int open_folder(const char *path, const char *slash)
{
    if (slash == NULL)
        return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char *folder = slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
    const int fd = folder == NULL ? -1 : open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    return fd;
}

static enum rig_rc open_replacement(struct rig_output *out, const struct destination *destination, struct rig_err *err)
{
    const char *slash = strrchr(destination->path, '/');
    out->name = strdup(slash == NULL ? destination->path : slash + 1);
    if (out->name == NULL)
        return rig_fail(err, RIG_E_LIMIT, "%s: " RIG_NO_MEMORY "its name", out->path);
    out->folder = open_folder(destination->path, slash);
    if (out->folder >= 0) {
        out->fd = open_nameless(out->folder);
        if (out->fd < 0)
            out->fd = open_named(out);
    }
    if (out->fd < 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot create: %s", out->path, strerror(errno));
    /* The file keeps its permissions; where that fails, those of a new file are no wider than the user's mask. */
    if (destination->place == PLACE_FILE)
        (void)fchmod(out->fd, destination->status.st_mode & 0777);
    return RIG_OK;
}

/* ---- an output ---- */

static void release(struct rig_output *output)
{
    if (output->fd > STDERR_FILENO)
        (void)close(output->fd);
    if (output->temporary != NULL)
        (void)unlinkat(output->folder, output->temporary, 0);
    if (output->folder >= 0)
        (void)close(output->folder);
    free(output->temporary);
    free(output->name);
    *output = (struct rig_output){.folder = -1, .fd = -1};
}

enum rig_rc rig_output_open(struct rig_output *output, const char *path, struct rig_err *err)
{
    struct rig_output out = {.path = path, .folder = -1, .fd = -1};
    struct destination destination;
    enum rig_rc rc = find(path, &destination, err);
    if (rc != RIG_OK)
        return rc;
    rc = destination.place == PLACE_STREAM ? open_stream(&out, &destination, err)
                                           : open_replacement(&out, &destination, err);
    free(destination.path);
    if (rc == RIG_OK)
        *output = out;
    else
        release(&out);
    return rc;
}

bool rig_output_is_of_path(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == EPERM || error == EROFS ||
           error == ELOOP || error == ENAMETOOLONG || error == EISDIR || error == EOPNOTSUPP;
}

enum rig_rc rig_output_check(const char *path, struct rig_err *err)
{
    struct rig_output out = {.path = path, .folder = -1, .fd = -1};
    struct rig_err why = {.rc = RIG_OK};
    struct destination destination;
    errno = 0;
    enum rig_rc rc = find(path, &destination, &why);
    if (rc == RIG_OK) {
        if (destination.place != PLACE_STREAM)
            rc = open_replacement(&out, &destination, &why);
        const int error = errno;
        release(&out);
        free(destination.path);
        errno = error;
    }
    if (rc == RIG_OK)
        return RIG_OK;
    return rig_fail(err, rc == RIG_E_IO && rig_output_is_of_path(errno) ? RIG_E_USAGE : rc, "%s", why.text);
}

enum rig_rc rig_output_write(struct rig_output *output, const void *bytes, size_t count, struct rig_err *err)
{
    const char *from = bytes;
    while (count > 0) {
        const ssize_t done = write(output->fd, from, count);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return rig_fail(err, RIG_E_IO, "%s: cannot write: %s", output->path, strerror(errno));
        from += done;
        count -= (size_t)done;
    }
    return RIG_OK;
}

static bool give_name(struct rig_output *output)
{
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", output->fd);
    for (int attempt = 0; output->temporary == NULL && attempt < NAME_ATTEMPTS; attempt++) {
        char *name = random_name(output->name);
        if (name == NULL)
            return false;
        if (linkat(AT_FDCWD, link, output->folder, name, AT_SYMLINK_FOLLOW) == 0) {
            output->temporary = name;
            break;
        }
        free(name);
        if (errno != EEXIST)
            return false;
    }
    return output->temporary != NULL;
}

static enum rig_rc take_place(struct rig_output *output, struct rig_err *err)
{
    struct stat status;
    if (!give_name(output))
        return rig_fail(err, RIG_E_IO, "%s: cannot name the file: %s", output->path, strerror(errno));
    if (fstatat(output->folder, output->name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        if (!S_ISREG(status.st_mode))
            return rig_fail(err, RIG_E_IO, "%s: was replaced while rig wrote; it stays as it is", output->path);
        const enum rig_rc rc = refuse_input(&status, output->path, err);
        if (rc != RIG_OK)
            return rc;
    }
    const int fd = output->fd;
    output->fd = -1;
    if (close(fd) != 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot close: %s", output->path, strerror(errno));
    if (renameat(output->folder, output->temporary, output->folder, output->name) != 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot put the new file there: %s", output->path, strerror(errno));
    free(output->temporary);
    output->temporary = NULL;
    return RIG_OK;
}

enum rig_rc rig_output_close(struct rig_output *output, enum rig_rc rc, struct rig_err *err)
{
    if (rc == RIG_OK && output->name != NULL)
        rc = take_place(output, err);
    if (output->name == NULL && output->fd > STDERR_FILENO) {
        const int fd = output->fd;
        output->fd = -1;
        if (close(fd) != 0 && rc == RIG_OK)
            rc = rig_fail(err, RIG_E_IO, "%s: cannot close: %s", output->path, strerror(errno));
    }
    release(output);
    return rc;
}

enum rig_rc rig_output_save(const struct rig_buf *buf, const char *path, struct rig_err *err)
{
    if (buf->failed)
        return rig_fail(err, RIG_E_LIMIT, "%s: the text is larger than %zu bytes, or there is no memory for it", path,
                        buf->limit);
    struct rig_output output;
    const enum rig_rc rc = rig_output_open(&output, path, err);
    return rc == RIG_OK ? rig_output_close(&output, rig_output_write(&output, buf->data, buf->size, err), err) : rc;
}

/* ---- logs and links ---- */

int rig_output_append(const char *path)
{
    struct stat status;
    /* O_NONBLOCK: a pipe without a reader fails instead of blocking; a regular file does not mind. */
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644);
    if (fd < 0 || (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)))
        return fd;
    (void)close(fd);
    errno = ENOTSUP;
    return -1;
}

enum rig_rc rig_output_link(const char *target, const char *path, struct rig_err *err)
{
    struct stat status;
    if (lstat(path, &status) == 0 && !S_ISLNK(status.st_mode))
        return rig_fail(err, RIG_E_IO, "%s: is not a link; rig does not replace it", path);
    uint64_t number = 0;
    char temporary[PATH_MAX];
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return rig_fail(err, RIG_E_IO, "%s: no random name: %s", path, strerror(errno));
    const int length = snprintf(temporary, sizeof temporary, "%s.%016" PRIx64 ".tmp", path, number);
    if (length < 0 || (size_t)length >= sizeof temporary)
        return rig_fail(err, RIG_E_IO, "%s: the path is too long", path);
    if (symlink(target, temporary) != 0)
        return rig_fail(err, RIG_E_IO, "%s: cannot create the link: %s", path, strerror(errno));
    if (rename(temporary, path) == 0)
        return RIG_OK;
    const enum rig_rc rc = rig_fail(err, RIG_E_IO, "%s: cannot move the link: %s", path, strerror(errno));
    (void)unlink(temporary);
    return rc;
}
