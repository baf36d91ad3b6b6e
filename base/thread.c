#include "base/thread.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/log.h"

struct start {
    void *(*run)(void *argument);
    void *argument;
    struct rig_log_file *log;
};

static void *thread_main(void *argument)
{
    const struct start start = *(struct start *)argument;
    free(argument);
    rig_log_use(start.log);
    void *result = start.run(start.argument);
    rig_log_close();
    return result;
}

int rig_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument)
{
    struct start *start = malloc(sizeof *start);
    if (start == NULL)
        return ENOMEM;
    *start = (struct start){.run = run, .argument = argument, .log = rig_log_share()};
    sigset_t all, before;
    (void)sigfillset(&all);
    RIG_INVARIANT(pthread_sigmask(SIG_BLOCK, &all, &before) == 0);
    const int error = pthread_create(thread, NULL, thread_main, start);
    RIG_INVARIANT(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    if (error != 0) {
        rig_log_release(start->log);
        free(start);
    }
    return error;
}
