/*
 * Starting a thread of rig's: it takes no signals, which are for the main thread, and logs where its starter does.
 */
#ifndef RIG_BASE_THREAD_H
#define RIG_BASE_THREAD_H

#include <pthread.h>

/* As pthread_create() with default attributes: 0, or an error number. */
int rig_thread_start(pthread_t *thread, void *(*run)(void *argument), void *argument);

#endif
