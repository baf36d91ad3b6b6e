/*
 * Forgets all registered secrets, so that tests do not depend on each other. rig itself never does.
 *
 * The library that has this contains base/secret.c too, in place of the one of base/: link it before rig_base.
 */
#ifndef RIG_TESTS_UNIT_FORGET_SECRETS_H
#define RIG_TESTS_UNIT_FORGET_SECRETS_H

/* While no other thread registers or redacts. */
void forget_secrets(void);

#endif
