#include "history/import/cobra_logs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define COBRA_MARK "Cobra's logs, read by rig\n"
enum {
    COBRA_MARK_BYTES = sizeof COBRA_MARK - 1,
    COBRA_NAME_BYTES = 255, /* of a log's name, at most */
};

/* Numbers that stand for no transaction or write of the history. */
static const uint64_t initial_id = 0xbebeebee; /* the value was there when the run began */
static const uint64_t absent_id = 0xdeadbeef;  /* the key was absent */
static const uint64_t removal_id = 0xabcdefab; /* a write that deletes the key */

enum { SHORT_BYTES = 9, WRITE_BYTES = 25, READ_BYTES = 33, MOST_CLIENTS = 1 << 20 };

struct record {
    char type;    /* 'S' start, 'C' commit, 'A' abort, 'W' write, 'R' read */
    uint64_t txn; /* of S, C and A, and of the write that was read */
    uint64_t write;
    uint64_t key;
};

/* One client's log within the bytes. */
struct log {
    const char *name;
    size_t name_length;
    const char *data;
    size_t size, at;
    int32_t process;
};

struct decoder {
    const char *name; /* of the folder */
    const char *data;
    size_t size, at;
    struct rig_sessions *sessions;
    struct rig_table written; /* a hash of key and write -> not RIG_TABLE_NONE */
    struct rig_table missing; /* transaction that no log has -> its number in the sessions */
    bool has_other_names;     /* not T<number>.log: clients are numbered */
    int32_t next_process;     /* above those of the clients */
    struct rig_err *err;
};

static uint64_t load(const char *at)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < 8; i++)
        number = number << 8 | (unsigned char)at[i];
    return number;
}

static bool recognise(const char *data, size_t size)
{
    return size >= COBRA_MARK_BYTES && memcmp(data, COBRA_MARK, COBRA_MARK_BYTES) == 0;
}

bool rig_cobra_single_log(const char *data, size_t size)
{
    bool is_binary = false;
    for (size_t i = 1; i < SHORT_BYTES && i < size; i++)
        is_binary |= (unsigned char)data[i] < ' ' || (unsigned char)data[i] >= 0x7f;
    return is_binary && size > SHORT_BYTES && data[0] == 'S' && memchr("RWCA", data[SHORT_BYTES], 4) != NULL;
}

static enum rig_rc fail(const struct decoder *d, const struct log *log, size_t at, const char *text)
{
    return rig_fail(d->err, RIG_E_INPUT, "%s/%.*s: byte %zu: %s", d->name, (int)log->name_length, log->name, at, text);
}

/* The number in T12.log; -1 if the name has another form. */
static int64_t number_in(const struct log *log)
{
    int64_t number = 0;
    if (log->name_length < 6 || log->name_length > 14 || log->name[0] != 'T')
        return -1;
    for (size_t i = 1; i < log->name_length - 4; i++) {
        if (log->name[i] < '0' || log->name[i] > '9' || (i == 1 && log->name[i] == '0' && log->name_length > 6))
            return -1;
        number = number * 10 + (log->name[i] - '0');
    }
    return number <= INT32_MAX / 2 ? number : -1;
}

/* The next client's log; false at the end, and for a sequence of bytes that rig_cobra_folder_read() does not make. */
static bool next_log(struct decoder *d, struct log *log, enum rig_rc *rc)
{
    enum { SIZES_BYTES = 16 };
    if (d->at == d->size)
        return false;
    const size_t left = d->size - d->at;
    const uint64_t name_length = left < SIZES_BYTES ? UINT64_MAX : load(d->data + d->at);
    const uint64_t size = left < SIZES_BYTES ? UINT64_MAX : load(d->data + d->at + 8);
    if (name_length > COBRA_NAME_BYTES || size > left - SIZES_BYTES || name_length > left - SIZES_BYTES - size) {
        *rc = rig_fail(d->err, RIG_E_INPUT, "%s: byte %zu: the folder's logs are cut", d->name, d->at);
        return false;
    }
    const char *name = d->data + d->at + SIZES_BYTES;
    *log = (struct log){
        .name = name, .name_length = (size_t)name_length, .data = name + name_length, .size = (size_t)size};
    d->at += SIZES_BYTES + (size_t)(name_length + size);
    return true;
}

static size_t record_bytes(char type)
{
    return type == 'S' || type == 'C' || type == 'A' ? SHORT_BYTES
           : type == 'W'                             ? WRITE_BYTES
           : type == 'R'                             ? READ_BYTES
                                                     : 0;
}

static enum rig_rc read_record(const struct decoder *d, struct log *log, struct record *record)
{
    const char *at = log->data + log->at;
    const size_t bytes = record_bytes(*at);
    if (bytes == 0)
        return fail(d, log, log->at, "expected S, C, A, R or W, which begin a record");
    if (log->size - log->at < bytes)
        return fail(d, log, log->at, "a record has no end; the log was cut");
    *record = (struct record){.type = *at, .txn = load(at + 1)};
    if (*at == 'W')
        *record = (struct record){.type = 'W', .write = load(at + 1), .key = load(at + 9)};
    if (*at == 'R') {
        record->write = load(at + 9);
        record->key = load(at + 17);
    }
    log->at += bytes;
    return RIG_OK;
}

static uint64_t hash_write(const struct record *record)
{
    const uint64_t words[] = {record->key, record->write};
    return XXH3_64bits(words, sizeof words);
}

static void take_write(struct decoder *d, uint32_t txn, const struct record *record)
{
    struct rig_sessions *s = d->sessions;
    const uint32_t key = rig_sessions_number_key(s, (int64_t)record->key);
    if (s->no_memory)
        return;
    if (record->write == removal_id) {
        rig_sessions_remove(s, txn, key);
        return;
    }
    uint32_t *written = rig_sessions_put(s, &d->written, hash_write(record));
    if (written != NULL)
        *written = 0;
    rig_sessions_write(s, txn, key, (int64_t)record->write);
}

static bool is_initial(const struct record *record)
{
    return (record->txn == initial_id || record->txn == absent_id) &&
           (record->write == initial_id || record->write == absent_id);
}

static void take_read(struct decoder *d, uint32_t txn, const struct record *record)
{
    struct rig_sessions *s = d->sessions;
    const uint32_t key = rig_sessions_number_key(s, (int64_t)record->key);
    if (s->no_memory)
        return;
    if (record->txn == initial_id && record->write == initial_id)
        rig_sessions_read_initial(s, txn, key);
    else if (is_initial(record))
        rig_sessions_read(s, txn, key, RIG_READ_NIL, 0);
    else
        rig_sessions_read(s, txn, key, record->write == removal_id ? RIG_READ_UNKNOWN : RIG_READ_SEEN,
                          (int64_t)record->write);
}

/* The records from S to C. */
static enum rig_rc read_txn(struct decoder *d, struct log *log)
{
    struct record record = {0};
    const size_t start_at = log->at;
    enum rig_rc rc = read_record(d, log, &record);
    if (rc == RIG_OK && record.type != 'S')
        return fail(d, log, start_at, "expected S, the start of a transaction");
    const uint64_t id = record.txn;
    const uint32_t txn = rc == RIG_OK ? rig_sessions_begin(d->sessions, log->process, RIG_OUTCOME_OK) : 0;
    while (rc == RIG_OK && !d->sessions->no_memory) {
        const size_t at = log->at;
        if (at == log->size)
            return fail(d, log, start_at, "a transaction has no commit; the log was cut");
        rc = read_record(d, log, &record);
        if (rc != RIG_OK)
            break;
        if (record.type == 'S')
            return fail(d, log, at, "a transaction starts before the last one committed");
        if (record.type == 'C' || record.type == 'A') {
            if (record.type == 'A')
                rig_sessions_abort(d->sessions, txn);
            return record.txn == id ? RIG_OK
                                    : fail(d, log, at, "the end of another transaction than the one that started");
        }
        if (record.type == 'R' && !is_initial(&record) && (record.txn == initial_id || record.txn == absent_id))
            return fail(d, log, at, "a read of one of Cobra's own keys for its rounds; record without rounds");
        if (record.type == 'W')
            take_write(d, txn, &record);
        else
            take_read(d, txn, &record);
    }
    return rc;
}

/* ---- transactions that no log has ---- */

/* A client writes its log once it knows that it committed: what another read without such a log is of unknown
 * outcome. */
static void take_missing(struct decoder *d, const struct record *record)
{
    struct rig_sessions *s = d->sessions;
    uint32_t *written = rig_sessions_put(s, &d->written, hash_write(record));
    if (written == NULL || *written != RIG_TABLE_NONE)
        return;
    *written = 0;
    uint32_t *txn = rig_sessions_put(s, &d->missing, record->txn);
    if (txn == NULL)
        return;
    if (*txn == RIG_TABLE_NONE)
        *txn = rig_sessions_begin(s, d->next_process++, RIG_OUTCOME_INFO);
    const uint32_t key = rig_sessions_number_key(s, (int64_t)record->key);
    if (!s->no_memory)
        rig_sessions_write(s, *txn, key, (int64_t)record->write);
}

static enum rig_rc each_log(struct decoder *d, enum rig_rc (*visit)(struct decoder *d, struct log *log))
{
    enum rig_rc rc = RIG_OK;
    struct log log;
    int32_t place = 0;
    for (d->at = COBRA_MARK_BYTES; rc == RIG_OK && !d->sessions->no_memory && next_log(d, &log, &rc);) {
        log.process = d->has_other_names ? place : (int32_t)number_in(&log);
        if (log.process >= d->next_process)
            d->next_process = log.process + 1;
        rc = place++ < MOST_CLIENTS ? visit(d, &log) : fail(d, &log, 0, "too many clients");
    }
    return rc;
}

static enum rig_rc note_name(struct decoder *d, struct log *log)
{
    d->has_other_names |= number_in(log) < 0;
    return RIG_OK;
}

static enum rig_rc read_log(struct decoder *d, struct log *log)
{
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && !d->sessions->no_memory && log->at < log->size)
        rc = read_txn(d, log);
    return rc;
}

static enum rig_rc find_missing(struct decoder *d, struct log *log)
{
    struct record record = {0};
    enum rig_rc rc = RIG_OK;
    while (rc == RIG_OK && !d->sessions->no_memory && log->at < log->size) {
        rc = read_record(d, log, &record);
        if (rc == RIG_OK && record.type == 'R' && !is_initial(&record) && record.write != removal_id)
            take_missing(d, &record);
    }
    return rc;
}

static enum rig_rc decode(const char *name, const char *data, size_t size, struct rig_sessions *sessions,
                          struct rig_err *err)
{
    struct decoder d = {.name = name, .data = data, .size = size, .sessions = sessions, .err = err};
    rig_table_init(&d.written);
    rig_table_init(&d.missing);
    enum rig_rc rc = each_log(&d, note_name);
    if (rc == RIG_OK)
        rc = each_log(&d, read_log);
    if (rc == RIG_OK && !sessions->no_memory)
        rc = each_log(&d, find_missing);
    rig_sessions_drop(sessions, &d.written);
    rig_sessions_drop(sessions, &d.missing);
    return rc;
}

const struct rig_session_form rig_cobra_form = {
    .what = "a folder with logs of Cobra",
    .recognise = recognise,
    .decode = decode,
};

static int is_log(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && length <= COBRA_NAME_BYTES &&
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

static enum rig_rc folder_read_log(int folder, const char *path, const char *name, struct rig_buf *buf,
                                   struct rig_err *err)
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
    rig_buf_add(buf, COBRA_MARK, COBRA_MARK_BYTES);
    for (int i = 0; i < count; i++) {
        errno = 0;
        if (rc == RIG_OK)
            rc = folder_read_log(folder, path, entries[i]->d_name, buf, &why);
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
