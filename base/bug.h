/*
 * Assertions that are always on.
 *
 * RIG_REQUIRE states what a caller must ensure; RIG_INVARIANT what the module itself must ensure. A failure is a bug in
 * rig: it prints file, line and condition to stderr, calls the handler (the command line installs one that stops the
 * servers it has started) and exits with status 70.
 *
 * RIG_COSTLY is an invariant that takes at least as long as the code that it checks: it is evaluated in builds with
 * RIG_COSTLY_CHECKS only, which the presets dev and asan-ubsan set.
 */
#ifndef RIG_BASE_BUG_H
#define RIG_BASE_BUG_H

#define RIG_REQUIRE(condition)   ((condition) ? (void)0 : rig_bug(__FILE__, __LINE__, "requires " #condition))
#define RIG_INVARIANT(condition) ((condition) ? (void)0 : rig_bug(__FILE__, __LINE__, "invariant " #condition))
#define RIG_COSTLY(condition)                                                                                          \
    (!RIG_COSTLY_CHECKS || (condition) ? (void)0 : rig_bug(__FILE__, __LINE__, "invariant " #condition))

#ifndef RIG_COSTLY_CHECKS
#define RIG_COSTLY_CHECKS 0
#endif

_Noreturn void rig_bug(const char *file, int line, const char *condition);

/* Runs once, before the exit of rig_bug(), in place of an earlier handler; NULL for none. From any thread. */
void rig_bug_on_exit(void (*handler)(void));

#endif
