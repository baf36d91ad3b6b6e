/*
 * The main() of a fuzzer that is built without libFuzzer: runs each file of the given folders once.
 */
#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "tests/fuzz/fuzz_target.h"

enum { LONGEST_INPUT_S = 20 };

static int replay_file(const char *path)
{
    struct rig_buf bytes;
    struct rig_err err = {0};
    rig_buf_init(&bytes, 0);
    if (rig_buf_read_file(&bytes, path, &err) != RIG_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        rig_buf_done(&bytes);
        return -1;
    }
    (void)alarm(LONGEST_INPUT_S); /* a hang ends the process, and so the test */
    (void)LLVMFuzzerTestOneInput((const uint8_t *)rig_buf_text(&bytes), bytes.size);
    (void)alarm(0);
    rig_buf_done(&bytes);
    return 1;
}

/* The number of files replayed; -1 when a file could not be read. */
static int replay_folder(const char *path)
{
    DIR *folder = opendir(path);
    if (folder == NULL) {
        (void)fprintf(stderr, "%s: no such folder\n", path);
        return -1;
    }
    int count = 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL && count >= 0; entry = readdir(folder)) {
        char file[4096];
        struct stat status;
        const int length = snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (length < 0 || (size_t)length >= sizeof file || stat(file, &status) != 0 || !S_ISREG(status.st_mode))
            continue;
        count = replay_file(file) < 0 ? -1 : count + 1;
    }
    (void)closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    int count = 0;
    for (int i = 1; i < argc; i++) {
        const int done = replay_folder(argv[i]);
        if (done <= 0) {
            printf("%s: nothing replayed\n%d passed, 1 failed\n", argv[i], count);
            return 1;
        }
        count += done;
    }
    printf("%d passed, 0 failed\n", count);
    return count > 0 ? 0 : 1;
}
