#include "base/bug.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static void (*_Atomic exit_handler)(void);
static atomic_flag exiting = ATOMIC_FLAG_INIT;

void rig_bug_on_exit(void (*handler)(void))
{
    atomic_store(&exit_handler, handler);
}

_Noreturn void rig_bug(const char *file, int line, const char *condition)
{
    (void)fprintf(stderr, "rig: BUG at %s:%d: %s\n", file, line, condition);
    void (*handler)(void) = atomic_load(&exit_handler);
    if (!atomic_flag_test_and_set(&exiting) && handler != NULL)
        handler();
    _exit(70);
}
