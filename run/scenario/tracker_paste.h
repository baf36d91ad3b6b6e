/*
 * A paste of SQL as bug trackers have it, read as an interleaving: statements in their order, and before them the
 * session that sends them.
 *
 *   create table t (id int primary key, v int);      statements before the first session are the setup
 *   -- T1
 *   begin;
 *   update t set v = 1 where id = 1;
 *   T2: select * from t;
 *   T1> commit;
 *   -- final
 *   select * from t;                                  queries of a new session at the end
 *
 * A comment names a session when it begins with T1, s2, conn_1, A, "session 1", "client B" and the like; what follows
 * in it is not read. A comment after a statement on the same line is that statement's. `-- setup` and `-- final` begin
 * those parts. Prompts of clients, tables of results and messages such as `Query OK` are left out. A statement ends
 * with a semicolon outside of texts and bodies in dollars, or before the next session.
 *
 * A paste expects nothing: its play shows what happens. Pure functions.
 */
#ifndef RIG_RUN_SCENARIO_TRACKER_PASTE_H
#define RIG_RUN_SCENARIO_TRACKER_PASTE_H

#include "run/scenario/sql_scenario.h"

/* Whether the file's name says that it is one: it ends with .sql or .txt. */
bool rig_tracker_paste_is_one(const char *file);
/* RIG_E_PLAN with the line. `name` stands for the file. Freed with rig_sql_scenario_free(). */
enum rig_rc rig_tracker_paste_parse(const char *name, const char *text, size_t size,
                                    struct rig_sql_scenario **interleaving, struct rig_err *err);

#endif
