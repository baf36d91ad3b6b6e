/*
 * A mark in the environment of child processes, by which descendants are found that have left their session and closed
 * the tether (child.h), as daemons do.
 *
 * The mark has 128 random bits. A process whose environment has it from its start descends from the child that got it;
 * a program can remove it from what it starts, and is then not found.
 *
 * Threads: any.
 */
#ifndef RIG_BASE_CHILD_MARK_H
#define RIG_BASE_CHILD_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/process.h"

enum { RIG_CHILD_MARK_BYTES = 80 };

/* "NAME=<random>." begins the marks of one family of children; empty when the kernel gives no random bytes. */
void rig_child_mark_family(char family[RIG_CHILD_MARK_BYTES]);
/* The mark of the family's n-th child; empty when the family has none. */
void rig_child_mark_of(const char *family, uint64_t number, char mark[RIG_CHILD_MARK_BYTES]);

/* The living processes with the mark, or with any of the family: at most `capacity`; returns how many there are. An
 * empty text: none. */
uint32_t rig_child_mark_find(const char *mark, struct rig_process *found, uint32_t capacity);
/* Sends a signal to a process that still has the mark, and to no other one. False: it has ended, or may not be signalled. */
bool rig_child_mark_signal(const char *mark, const struct rig_process *process, int signal_number);

#endif
