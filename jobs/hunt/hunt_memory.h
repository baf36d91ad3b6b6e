/*
 * The memory of a hunt: a file of JSON lines that is only appended to, so that a hunt that is killed loses nothing and
 * the next one goes on. docs/hunt.md has the form.
 *
 *   {"rig-hunt": 1, "target": "mysql 127.0.0.1:3306"}        the first line; 1 is the version of the form
 *   {"run": ..., "base": "try", "set": {"level": ...}, ...}  a run
 *   {"find": 1, "anomaly": "lost-update", ...}               a find; once more when another version showed it
 *
 * Values of a key that the space no longer has are forgotten with their run. A last line that was cut off is ignored.
 * One process at a time has the file (flock).
 */
#ifndef RIG_JOBS_HUNT_HUNT_MEMORY_H
#define RIG_JOBS_HUNT_HUNT_MEMORY_H

#include "base/json_write.h"
#include "jobs/hunt/hunt_choice.h"
#include "jobs/hunt/hunt_finds.h"

enum { RIG_HUNT_MEMORY_VERSION = 1, RIG_HUNT_PATH_BYTES = 4096 };

struct rig_hunt_memory {
    int file; /* -1: none */
    char path[RIG_HUNT_PATH_BYTES];
    uint64_t runs;                    /* in the file */
    char server[RIG_HUNT_TEXT_BYTES]; /* that of the last run; or empty */
};

/* More of a run than its outcome. */
struct rig_hunt_run_facts {
    uint64_t seed;
    const char *server, *reason;
    int status;   /* of `rig run` */
    bool is_kept; /* on servers that are kept between runs */
};

/*
 * Opens or begins the file, and tells `choice` and `finds` what is in it. RIG_E_USAGE for the memory of another target
 * or of a newer rig, a file that is none, and one that another hunt holds.
 */
enum rig_rc rig_hunt_memory_open(const char *path, const char *target, struct rig_hunt_choice *choice,
                                 struct rig_hunt_finds *finds, struct rig_hunt_memory *memory, struct rig_err *err);
enum rig_rc rig_hunt_memory_add_run(struct rig_hunt_memory *memory, const struct rig_hunt_space *space,
                                    const struct rig_hunt_point *point, const struct rig_hunt_outcome *outcome,
                                    const struct rig_hunt_run_facts *facts, struct rig_err *err);
enum rig_rc rig_hunt_memory_add_find(struct rig_hunt_memory *memory, const struct rig_hunt_space *space,
                                     const struct rig_hunt_find *find, struct rig_err *err);
void rig_hunt_memory_close(struct rig_hunt_memory *memory);

/* The point as a member: {"level": "serializable", "workload.type": "set"}. */
void rig_hunt_point_json(const struct rig_hunt_space *space, const struct rig_hunt_point *point,
                         struct rig_json_writer *json, const char *name);

#endif
