#include "tests/unit/cmocka_first.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/folder.h"
#include "nemesis/journal.h"
#include "base/process.h"
#include "tests/unit/journal_entries.h"

static char folder[64];
static char journal_folder[128];
static struct rig_err err;
static struct rig_journal_healing healing;
static struct rig_buf said;

static int prepare(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/rig-journal-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(journal_folder, sizeof journal_folder, "%s/undo", folder);
    assert_int_equal(setenv("RIG_JOURNAL", journal_folder, 1), 0);
    err = (struct rig_err){0};
    rig_buf_init(&said, 0);
    return 0;
}

static int release(void **state)
{
    (void)state;
    rig_buf_done(&said);
    rig_folder_remove(folder);
    return 0;
}

static void note(void *context, const char *text, bool healed)
{
    (void)context;
    rig_buf_printf(&said, "%s %s\n", healed ? "+" : "-", text);
}

static void heal(bool forget)
{
    rig_buf_done(&said);
    rig_buf_init(&said, 0);
    assert_int_equal(rig_journal_heal(note, NULL, forget, &healing, &err), RIG_OK);
}

static int files(void)
{
    DIR *entries = opendir(journal_folder);
    int count = 0;
    const struct dirent *entry;
    while (entries != NULL && (entry = readdir(entries)) != NULL)
        count += entry->d_name[0] == '.' ? 0 : 1;
    if (entries != NULL)
        (void)closedir(entries);
    return count;
}

/* A rig that dies by SIGKILL after its last line. */
static void die_after(void (*act)(struct rig_journal *journal, void *context), void *context)
{
    const pid_t child = fork();
    if (child == 0) {
        struct rig_journal *journal = NULL;
        if (rig_journal_open(&journal, &err) == RIG_OK)
            act(journal, context);
        (void)raise(SIGKILL);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static char made[2][128];

static void leave_commands(struct rig_journal *journal, void *context)
{
    uint64_t token = 0, forgotten = 0;
    (void)context;
    const char *const first[] = {"touch", made[0], NULL};
    const char *const other[] = {"false", "with a blank", "", NULL};
    const char *const last[] = {"sh", "-c", "test ! -e \"$1\" && touch \"$2\"", "sh", made[0], made[1], NULL};
    if (rig_journal_command(journal, "the first", first, &token, &err) != RIG_OK ||
        rig_journal_command(journal, "done already", other, &forgotten, &err) != RIG_OK ||
        rig_journal_command(journal, "the last", last, &token, &err) != RIG_OK)
        _exit(1);
    rig_journal_forget(journal, forgotten);
}

/* Latest first, skipping commands that are already done; and once only. */
static void commands_of_the_dead_are_run(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        (void)snprintf(made[i], sizeof made[i], "%s/made %d", folder, i);
    die_after(leave_commands, NULL);
    assert_int_equal(files(), 1);
    heal(false);
    assert_int_equal(healing.healed, 2);
    assert_int_equal(healing.failed, 0);
    assert_int_equal(healing.rigs, 1);
    assert_non_null(strstr(rig_buf_text(&said), "+ the last: sh -c"));
    assert_null(strstr(rig_buf_text(&said), "done already"));
    assert_int_equal(access(made[0], F_OK), 0);
    assert_int_equal(access(made[1], F_OK), 0); /* made while the first was missing: the order was reversed */
    assert_int_equal(files(), 0);
    heal(false);
    assert_int_equal(healing.healed, 0);
}

static void leave_failing(struct rig_journal *journal, void *context)
{
    uint64_t token = 0;
    const char *const fails[] = {"sh", "-c", "echo 'no such host'; exit 4", NULL};
    (void)context;
    if (rig_journal_command(journal, "a fault of db1", fails, &token, &err) != RIG_OK)
        _exit(1);
}

static void failed_entries_stay_until_they_are_forgotten(void **state)
{
    (void)state;
    die_after(leave_failing, NULL);
    for (int i = 0; i < 2; i++) {
        heal(false);
        assert_int_equal(healing.failed, 1);
        assert_non_null(strstr(rig_buf_text(&said), "sh ended with status 4: no such host"));
        assert_int_equal(files(), 1);
    }
    heal(true);
    assert_int_equal(files(), 0);
}

static void leave_note(struct rig_journal *journal, void *context)
{
    uint64_t token = 0, done = 0;
    (void)context;
    if (rig_journal_note(journal, "tables are on db1: `DROP SCHEMA x` removes them", &token, &err) != RIG_OK ||
        rig_journal_note(journal, "gone by now", &done, &err) != RIG_OK)
        _exit(1);
    rig_journal_forget(journal, done);
}

static void notes_are_reported_until_they_are_forgotten(void **state)
{
    (void)state;
    die_after(leave_note, NULL);
    for (int i = 0; i < 2; i++) {
        heal(false);
        assert_int_equal(healing.failed, 1);
        assert_string_equal(rig_buf_text(&said), "- tables are on db1: `DROP SCHEMA x` removes them\n");
    }
    heal(true);
    assert_int_equal(files(), 0);
}

static void leave_process(struct rig_journal *journal, void *context)
{
    uint64_t token = 0;
    if (rig_journal_process(journal, "a paused process", *(const pid_t *)context, &token, &err) != RIG_OK)
        _exit(1);
}

static void die_quietly(int number)
{
    (void)number;
    _exit(0);
}

/* Stopped, with a segment of shared memory. A stubborn process does not end when asked. */
static void stopped_process_is_ended(bool stubborn)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        const struct sigaction action = {.sa_handler = stubborn ? SIG_IGN : die_quietly};
        const int segment = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
        (void)sigaction(SIGINT, &action, NULL);
        if (segment < 0 || shmat(segment, NULL, 0) == (void *)-1 ||
            write(ready[1], &segment, sizeof segment) != sizeof segment)
            _exit(1);
        for (;;)
            (void)pause();
    }
    int own = -1;
    assert_int_equal(read(ready[0], &own, sizeof own), sizeof own);
    (void)close(ready[0]);
    (void)close(ready[1]);
    struct shmid_ds status_of_segment;
    assert_int_equal(shmctl(own, IPC_STAT, &status_of_segment), 0);
    struct rig_process process;
    assert_true(rig_process_find(child, &process));
    assert_true(rig_process_signal(&process, SIGSTOP));
    assert_true(rig_process_await_state(&process, true, RIG_NS_PER_S));
    die_after(leave_process, &child);
    heal(false);
    assert_int_equal(healing.healed, 2);
    assert_non_null(strstr(rig_buf_text(&said), stubborn ? "was killed" : "was ended"));
    assert_non_null(strstr(rig_buf_text(&said), "was removed"));
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (stubborn)
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    else
        assert_true(WIFEXITED(status));
    assert_false(rig_process_lives(&process));
    assert_int_equal(shmctl(own, IPC_STAT, &status_of_segment), -1);
}

static void stopped_processes_are_ended(void **state)
{
    (void)state;
    stopped_process_is_ended(false);
    stopped_process_is_ended(true);
}

/* A process number that was reused since is left alone. */
static void another_process_with_the_number_is_left_alone(void **state)
{
    (void)state;
    char line[256], id[RIG_BOOT_ID_BYTES], path[256];
    struct rig_process self;
    assert_true(rig_process_find(getpid(), &self));
    rig_process_boot_id(id);
    assert_int_equal(mkdir(journal_folder, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/1-7.undo", journal_folder);
    (void)snprintf(line, sizeof line, "rig-undo 1 %s 1 7\nprocess 1 x %ld %llu %s\n", id, (long)self.pid,
                   (unsigned long long)self.started + 1, id);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(write(fd, line, strlen(line)) == (ssize_t)strlen(line));
    (void)close(fd);
    heal(false);
    assert_int_equal(healing.healed, 1);
    assert_non_null(strstr(rig_buf_text(&said), "is gone"));
}

/* The living heal themselves; a line that was cut was never acknowledged. */
static void the_living_are_left_alone(void **state)
{
    (void)state;
    struct rig_journal *journal = NULL;
    uint64_t token = 0;
    const char *const arguments[] = {"true", NULL};
    assert_int_equal(rig_journal_open(&journal, &err), RIG_OK);
    assert_int_equal(files(), 0);
    assert_int_equal(rig_journal_command(journal, "x", arguments, &token, &err), RIG_OK);
    assert_int_equal(journal_entries(), 1);
    assert_int_equal(files(), 1);
    heal(true);
    assert_int_equal(healing.healed + healing.failed, 0);
    assert_int_equal(files(), 1);
    rig_journal_forget(journal, token);
    rig_journal_close(journal);
    assert_int_equal(files(), 0);
}

static void write_journal(const char *name, const char *text, mode_t mode)
{
    char path[256];
    (void)mkdir(journal_folder, 0700);
    (void)snprintf(path, sizeof path, "%s/%s", journal_folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    (void)close(fd);
}

static void damaged_files_are_said_and_kept(void **state)
{
    (void)state;
    write_journal("1-7.undo", "rig-undo 1 - 1 7\nremove 1 x /tmp/rig-no-such-folder\ncommand 2 cut / touch /tmp/no",
                  0600);
    heal(false);
    assert_int_equal(healing.healed, 1);
    assert_int_equal(files(), 0);
    static const char *const damaged[] = {
        "rig-undo 2 - 1 7\n",
        "rig-undo 1 - 1 7\nremove 1 x relative\n",
        "rig-undo 1 - 1 7\nprocess 1 x y 7 -\n",
        "rig-undo 1 - 1 7\ncommand 1 x / %zz\n",
        "rig-undo 1 - 1 7\nunheard 1 x y\n",
    };
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
        write_journal("1-7.undo", damaged[i], 0600);
        heal(false);
        assert_int_equal(healing.failed, 1);
        assert_non_null(
            strstr(rig_buf_text(&said), i == 0 ? "1-7.undo:1: this rig cannot" : "1-7.undo:2: this rig cannot"));
        assert_int_equal(files(), 1);
    }
    /* A journal that others may have written to is not run. */
    write_journal("1-7.undo", "rig-undo 1 - 1 7\ncommand 1 x / true\n", 0666);
    heal(false);
    assert_int_equal(healing.healed + healing.failed, 0);
    assert_int_equal(chmod(journal_folder, 0777), 0);
    assert_int_equal(rig_journal_heal(note, NULL, false, &healing, &err), RIG_E_IO);
}

static void a_folder_that_cannot_be_had_is_refused(void **state)
{
    (void)state;
    struct rig_journal *journal = NULL;
    assert_int_equal(setenv("RIG_JOURNAL", "/proc/rig/undo", 1), 0);
    assert_int_equal(rig_journal_open(&journal, &err), RIG_E_IO);
    assert_non_null(strstr(err.text, "set RIG_JOURNAL to a folder of yours"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(commands_of_the_dead_are_run, prepare, release),
        cmocka_unit_test_setup_teardown(failed_entries_stay_until_they_are_forgotten, prepare, release),
        cmocka_unit_test_setup_teardown(notes_are_reported_until_they_are_forgotten, prepare, release),
        cmocka_unit_test_setup_teardown(stopped_processes_are_ended, prepare, release),
        cmocka_unit_test_setup_teardown(another_process_with_the_number_is_left_alone, prepare, release),
        cmocka_unit_test_setup_teardown(the_living_are_left_alone, prepare, release),
        cmocka_unit_test_setup_teardown(damaged_files_are_said_and_kept, prepare, release),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_had_is_refused, prepare, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
