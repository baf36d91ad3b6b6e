/*
 * The machine that rig runs on. Threads: any.
 */
#ifndef RIG_BASE_MACHINE_H
#define RIG_BASE_MACHINE_H

#include <stddef.h>

#include "base/process.h"

enum { RIG_MACHINE_ID_BYTES = 40, RIG_MACHINE_HOST_BYTES = 72, RIG_MACHINE_KEY_BYTES = 17 };

/*
 * The place where rig's processes and files are: a machine, or a container on one. Others can share its home. Neither
 * text tells all of them apart: containers share the boot, and often the identity that their image has; copied virtual
 * machines share identity and name.
 */
struct rig_machine {
    char id[RIG_MACHINE_ID_BYTES];      /* of the installation (machine-id(5)); empty: none */
    char host[RIG_MACHINE_HOST_BYTES];  /* its name */
    char boot[RIG_BOOT_ID_BYTES];       /* of the kernel's start; empty: none */
    char numbers[RIG_MACHINE_ID_BYTES]; /* the namespace of process numbers; empty: none */
};

void rig_machine_identify(struct rig_machine *machine);
/* 64 bits of all four, in hexadecimal digits: for names of files. */
void rig_machine_key(const struct rig_machine *machine, char key[RIG_MACHINE_KEY_BYTES]);
/* Whether `other` describes this machine, or this container, now or before its last start. */
bool rig_machine_is(const struct rig_machine *machine, const struct rig_machine *other);

/* The memory that this process may use at most: the machine's, or less where its control group or a resource limit
 * says so. */
size_t rig_machine_memory_bytes(void);

#endif
