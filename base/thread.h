/*
 * Starts a thread of rig: it blocks signals, which are for the main thread, and shares the log of its starter.
 */
#ifndef RIG_BASE_THREAD_H
#define RIG_BASE_THREAD_H

#include <pthread.h>

/* As pthread_create() with default attributes: 0, or an error number. */
int rig_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
