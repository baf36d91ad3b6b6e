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
#include "base/machine.h"
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

static const char *own_place = "postgres db1 db2:5432";
static char last_entry[300]; /* the name of the entry that was told last */

/* "+": undone, "-": not, "=": of another machine, "x": forgotten; with a blank before it where a run is quiet about it.
 * */
static void note(void *context, const struct rig_journal_told *told)
{
    static const char fates[] = {[RIG_JOURNAL_UNDONE] = '+',
                                 [RIG_JOURNAL_NOT_UNDONE] = '-',
                                 [RIG_JOURNAL_LEFT_ALONE] = '=',
                                 [RIG_JOURNAL_FORGOTTEN] = 'x'};
    (void)context;
    (void)snprintf(last_entry, sizeof last_entry, "%s", told->entry);
    rig_buf_printf(&said, "%s%c %s\n", told->quiet ? " " : "", fates[told->fate], told->text);
}

static void heal_as(const struct rig_journal_request *request)
{
    rig_buf_done(&said);
    rig_buf_init(&said, 0);
    assert_int_equal(rig_journal_heal(request, &healing, &err), RIG_OK);
}

static void heal(bool forget)
{
    const struct rig_journal_request request = {.forget = forget, .visit = note};
    heal_as(&request);
}

/* As a run at the place does before it begins. */
static void heal_for(const char *place)
{
    const struct rig_journal_request request = {.place = place, .visit = note};
    heal_as(&request);
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
        if (rig_journal_open(&journal, own_place, &err) == RIG_OK)
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
    struct rig_process process;
    if (!rig_process_find(*(const pid_t *)context, &process) ||
        rig_journal_process(journal, "a paused process", &process, &token, &err) != RIG_OK)
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
    assert_true(rig_process_await_state(&process, true, 100 * RIG_NS_PER_S));
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
    assert_int_equal(rig_journal_open(&journal, own_place, &err), RIG_OK);
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

/* BOOT in the text stands for the present boot. */
static void write_journal(const char *name, const char *form, mode_t mode)
{
    char path[256], text[2048], id[RIG_BOOT_ID_BYTES];
    const char *boot = strstr(form, "BOOT");
    rig_process_boot_id(id);
    (void)snprintf(text, sizeof text, "%.*s%s%s", boot == NULL ? (int)strlen(form) : (int)(boot - form), form,
                   boot == NULL ? "" : id, boot == NULL ? "" : boot + 4);
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
    write_journal("1-7.undo", "rig-undo 1 BOOT 1 7\nremove 1 x /tmp/rig-no-such-folder\ncommand 2 cut / touch /tmp/no",
                  0600);
    heal(false);
    assert_int_equal(healing.healed, 1);
    assert_int_equal(files(), 0);
    static const char *const damaged[] = {
        "rig-undo 3 BOOT 1 7\n",
        "rig-undo 1 BOOT 1 7\nremove 1 x relative\n",
        "rig-undo 1 BOOT 1 7\nprocess 1 x y 7 -\n",
        "rig-undo 1 BOOT 1 7\ncommand 1 x / %zz\n",
        "rig-undo 1 BOOT 1 7\nunheard 1 x y\n",
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
    write_journal("1-7.undo", "rig-undo 1 BOOT 1 7\ncommand 1 x / true\n", 0666);
    heal(false);
    assert_int_equal(healing.healed + healing.failed, 0);
    assert_int_equal(chmod(journal_folder, 0777), 0);
    const struct rig_journal_request request = {.visit = note};
    assert_int_equal(rig_journal_heal(&request, &healing, &err), RIG_E_IO);
}

/* ---- whose entries they are ---- */

/* A journal of this machine, or of one that differs in one respect, as a rig writes it; NULL: as it is here. */
static void write_of(const struct rig_machine *machine, const char *entries)
{
    char text[1400];
    (void)snprintf(text, sizeof text, "rig-undo 2 %s 1 7 %s %s %s postgres%%20db1\n%s", machine->boot,
                   machine->id[0] == '\0' ? "%" : machine->id, machine->host, machine->numbers, entries);
    write_journal("0123456789abcdef-1-7.undo", text, 0600);
}

static void entries_of_other_machines_are_left_alone(void **state)
{
    (void)state;
    struct rig_machine here;
    char own[128], entries[512];
    rig_machine_identify(&here);
    (void)snprintf(own, sizeof own, "%s/rig-run", folder);
    (void)snprintf(entries, sizeof entries, "remove 1 files %s\ncommand 2 fault / touch %s/made\nnote 3 tables %%\n",
                   own, folder);
    struct rig_machine others[4];
    for (int i = 0; i < 4; i++)
        others[i] = here;
    (void)snprintf(others[0].id, sizeof others[0].id, "0123");     /* another installation with the same name */
    (void)snprintf(others[1].host, sizeof others[1].host, "else"); /* a container with the same machine-id and boot */
    (void)snprintf(others[2].numbers, sizeof others[2].numbers, "p4"); /* one with the same name, too */
    (void)snprintf(others[3].host, sizeof others[3].host, "else");     /* a copied machine */
    (void)snprintf(others[3].boot, sizeof others[3].boot, "b2");
    for (int i = 0; i < 4; i++) {
        assert_int_equal(mkdir(own, 0700), 0);
        write_of(&others[i], entries);
        heal_for("postgres db1");
        assert_string_equal(rig_buf_text(&said), "");
        heal(true);
        assert_int_equal(healing.left, 3);
        assert_int_equal(healing.healed + healing.failed, 0);
        assert_non_null(
            strstr(rig_buf_text(&said), i == 1 || i == 3 ? "of a rig on else" : "of a rig on another machine"));
        assert_int_equal(files(), 1);
        /* One that is asked for by name runs here; processes and folders of others are not here. */
        const char *const command[] = {"0123456789abcdef-1-7/2"}, *const all[] = {"0123456789abcdef-1-7"};
        const struct rig_journal_request one = {.entries = command, .entry_count = 1, .visit = note};
        heal_as(&one);
        assert_int_equal(healing.healed, 1);
        char file[128];
        (void)snprintf(file, sizeof file, "%s/made", folder);
        assert_int_equal(unlink(file), 0);
        const struct rig_journal_request rest = {.entries = all, .entry_count = 1, .visit = note};
        heal_as(&rest);
        assert_int_equal(healing.failed, 2);
        assert_non_null(strstr(rig_buf_text(&said), "it is not on this machine"));
        assert_int_equal(rmdir(own), 0);
        const struct rig_journal_request forget = {.forget = true, .entries = all, .entry_count = 1, .visit = note};
        heal_as(&forget);
        assert_int_equal(healing.forgotten, 2);
        assert_int_equal(files(), 0);
    }
    /* After a restart of this machine. */
    (void)snprintf(here.boot, sizeof here.boot, "b2");
    (void)snprintf(here.numbers, sizeof here.numbers, "p4");
    assert_int_equal(mkdir(own, 0700), 0);
    write_of(&here, entries);
    heal(false);
    assert_int_equal(healing.healed, 2);
    assert_int_equal(rmdir(own), -1);
}

/* A folder of the name that another program has made since. */
static void another_folder_with_the_name_is_left_alone(void **state)
{
    (void)state;
    struct rig_machine here;
    char own[128], entries[256];
    rig_machine_identify(&here);
    (void)snprintf(own, sizeof own, "%s/rig-run", folder);
    assert_int_equal(mkdir(own, 0700), 0);
    (void)snprintf(entries, sizeof entries, "remove 1 files %s 4711.1.1\n", own);
    write_of(&here, entries);
    heal(false);
    assert_non_null(strstr(rig_buf_text(&said), "is another folder by now"));
    assert_int_equal(rmdir(own), 0);
    (void)snprintf(own, sizeof own, "%s/mine", folder);
    assert_int_equal(mkdir(own, 0700), 0);
    (void)snprintf(entries, sizeof entries, "remove 1 files %s\n", own);
    write_of(&here, entries);
    heal(false);
    assert_int_equal(rmdir(own), 0);
}

/* Runs with a server of the killed one tell once; a person is told always. */
static void runs_are_told_once(void **state)
{
    (void)state;
    static const char *const others[] = {"sim", "postgres", "postgres db3 db1:5432", "mysql db1", "postgres db"};
    die_after(leave_note, NULL);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        heal_for(others[i]);
        assert_int_equal(rig_buf_text(&said)[0], ' ');
        assert_int_equal(healing.failed, 0);
    }
    heal_for("postgres db3 db2:5432");
    assert_int_equal(rig_buf_text(&said)[0], '-');
    assert_int_equal(healing.failed, 1);
    heal_for("postgres db2:5432 db1");
    assert_int_equal(rig_buf_text(&said)[0], ' ');
    for (int i = 0; i < 2; i++) {
        heal(false);
        assert_int_equal(rig_buf_text(&said)[0], '-');
    }
    const char *const entries[] = {last_entry};
    const struct rig_journal_request forget = {.forget = true, .entries = entries, .entry_count = 1, .visit = note};
    heal_as(&forget);
    assert_int_equal(rig_buf_text(&said)[0], 'x');
    assert_int_equal(files(), 0);
}

static void a_folder_that_cannot_be_had_is_refused(void **state)
{
    (void)state;
    struct rig_journal *journal = NULL;
    assert_int_equal(setenv("RIG_JOURNAL", "/proc/rig/undo", 1), 0);
    assert_int_equal(rig_journal_open(&journal, own_place, &err), RIG_E_IO);
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
        cmocka_unit_test_setup_teardown(entries_of_other_machines_are_left_alone, prepare, release),
        cmocka_unit_test_setup_teardown(another_folder_with_the_name_is_left_alone, prepare, release),
        cmocka_unit_test_setup_teardown(runs_are_told_once, prepare, release),
        cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_had_is_refused, prepare, release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
