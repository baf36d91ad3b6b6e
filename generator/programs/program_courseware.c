/*
 * Courseware (Gotsman et al. 2016; MonkeyDB, Biswas et al. 2021): students enrol in courses that open and close.
 *
 * An enrolment reads that the course is open and writes its roll; a closing reads that the roll is empty and writes the
 * course. Under snapshot isolation both can commit, and a student is in a closed course.
 *
 * `users` are the students, `rows` the courses.
 */
#include "generator/programs/program.h"
#include "generator/programs/program_call.h"

enum { STUDENT, COURSE, ROLL, ENROLMENT };
enum { COURSE_ID, OPEN, CAPACITY };
enum { ROLL_ID, STUDENTS };
enum { ENROLMENTS_OF_COURSE };
enum { SET_OPEN, COUNT_STUDENTS };
enum { ID_BITS = 24, CAPACITY_SHARE = 4 };

static const struct rig_program_table tables[] = {
    [STUDENT] = {.rows = {.name = "student",
                          .columns = {"student", "year", RIG_PROGRAM_OWN_COLUMNS},
                          .column_count = 4,
                          .key_count = 1},
                 .key_bits = {ID_BITS},
                 .standing = true},
    [COURSE] = {.rows = {.name = "course",
                         .columns = {"course", "is_open", "capacity", RIG_PROGRAM_OWN_COLUMNS},
                         .column_count = 5,
                         .key_count = 1},
                .key_bits = {ID_BITS},
                .standing = true},
    [ROLL] = {.rows = {.name = "roll",
                       .columns = {"course", "students", RIG_PROGRAM_OWN_COLUMNS},
                       .column_count = 4,
                       .key_count = 1},
              .key_bits = {ID_BITS},
              .standing = true},
    [ENROLMENT] = {.rows = {.name = "enrolment",
                            .columns = {"course", "student", RIG_PROGRAM_OWN_COLUMNS},
                            .column_count = 4,
                            .key_count = 2},
                   .key_bits = {ID_BITS, ID_BITS},
                   .deletes = true},
};

static const struct rig_row_statement queries[] = {
    [ENROLMENTS_OF_COURSE] = {.act = RIG_ROW_SELECT,
                              .table = ENROLMENT,
                              .conditions = {{0, RIG_ROW_EQUAL}},
                              .condition_count = 1,
                              .ordered = true,
                              .order = 1},
};

static const struct rig_program_update updates[] = {
    [SET_OPEN] = {COURSE, {OPEN}, 1},
    [COUNT_STUDENTS] = {ROLL, {STUDENTS}, 1},
};

static enum rig_rc load(struct rig_program_loader *loader, struct rig_err *err)
{
    enum rig_rc rc = RIG_OK;
    for (int64_t i = 0; i < loader->size->users && rc == RIG_OK; i++)
        rc = loader->add(loader, STUDENT, RIG_KEY(i, 1), err);
    for (int64_t i = 0; i < loader->size->rows && rc == RIG_OK; i++) {
        rc = loader->add(loader, COURSE, RIG_KEY(i, 1, 1 + loader->size->users / CAPACITY_SHARE), err);
        if (rc == RIG_OK)
            rc = loader->add(loader, ROLL, RIG_KEY(i, 0), err);
    }
    return rc;
}

static int64_t any_student(struct rig_program_call *call)
{
    return rig_program_draw(call, 0, call->size.users - 1);
}

static int64_t any_course(struct rig_program_call *call)
{
    return rig_program_draw(call, 0, call->size.rows - 1);
}

static bool enrol(struct rig_program_call *call)
{
    const int64_t student = any_student(call), course = any_course(call);
    if (rig_program_read(call, STUDENT, RIG_KEY(student)) == NULL)
        return false;
    const int64_t *row = rig_program_read(call, COURSE, RIG_KEY(course));
    if (row == NULL)
        return false;
    const int64_t capacity = row[CAPACITY];
    if (row[OPEN] == 0)
        return rig_program_roll_back(call, "the course is closed");
    if (rig_program_find(call, ENROLMENT, RIG_KEY(course, student)) != NULL)
        return rig_program_roll_back(call, "the student is in the course");
    const int64_t *roll = rig_program_add(call, COUNT_STUDENTS, RIG_KEY(course), RIG_KEY(1));
    if (roll == NULL)
        return false;
    if (roll[STUDENTS] > capacity)
        return rig_program_roll_back(call, "the course is full");
    return rig_program_insert(call, ENROLMENT, RIG_KEY(course, student));
}

static bool leave(struct rig_program_call *call)
{
    const int64_t student = any_student(call), course = any_course(call);
    bool found;
    if (!rig_program_delete(call, ENROLMENT, RIG_KEY(course, student), &found))
        return false;
    if (!found)
        return rig_program_roll_back(call, "the student is not in the course");
    return rig_program_add(call, COUNT_STUDENTS, RIG_KEY(course), RIG_KEY(-1)) != NULL;
}

static bool show(struct rig_program_call *call)
{
    const int64_t course = any_course(call), *rows;
    if (rig_program_read(call, COURSE, RIG_KEY(course)) == NULL ||
        rig_program_read(call, ROLL, RIG_KEY(course)) == NULL)
        return false;
    (void)rig_program_query(call, ENROLMENTS_OF_COURSE, RIG_KEY(course), &rows);
    return !call->failed;
}

static bool open_course(struct rig_program_call *call)
{
    const int64_t course = any_course(call);
    return rig_program_read_for_update(call, COURSE, RIG_KEY(course)) != NULL &&
           rig_program_set(call, SET_OPEN, RIG_KEY(course), RIG_KEY(1));
}

static bool close_course(struct rig_program_call *call)
{
    const int64_t course = any_course(call);
    const int64_t *roll = rig_program_read(call, ROLL, RIG_KEY(course));
    if (roll == NULL)
        return false;
    if (roll[STUDENTS] > 0)
        return rig_program_roll_back(call, "students are in the course");
    return rig_program_read_for_update(call, COURSE, RIG_KEY(course)) != NULL &&
           rig_program_set(call, SET_OPEN, RIG_KEY(course), RIG_KEY(0));
}

static const struct rig_program_kind kinds[] = {
    {"enrol", 5, false, enrol},
    {"leave", 7, false, leave},
    {"show", 4, true, show},
    {"open-course", 3, false, open_course},
    {"close-course", 3, false, close_course},
};

static const struct rig_program_condition conditions[] = {
    {.name = "courseware-closed",
     .text = "no student is in a closed course",
     .source = "a course with students is not closed, and no student enrols in a closed one",
     .sql = "SELECT c.course, c.is_open, r.students FROM {course} c JOIN {roll} r ON r.course = c.course"
            " WHERE c.is_open = 0 AND r.students > 0 ORDER BY c.course",
     .columns = {"course", "is_open", "students"},
     .needs_more_than_snapshots = true},
    {.name = "courseware-capacity",
     .text = "no course has more students than places",
     .source = "an enrolment in a full course rolls back",
     .sql = "SELECT c.course, c.capacity, r.students FROM {course} c JOIN {roll} r ON r.course = c.course"
            " WHERE r.students > c.capacity ORDER BY c.course",
     .columns = {"course", "capacity", "students"}},
    {.name = "courseware-roll",
     .text = "a roll counts the enrolments of its course",
     .source = "each enrolment and each leaving changes both",
     .sql = "SELECT course, students, found FROM (SELECT r.course, r.students,"
            " (SELECT count(*) FROM {enrolment} e WHERE e.course = r.course) AS found FROM {roll} r) t"
            " WHERE students <> found ORDER BY course",
     .columns = {"course", "students", "enrolments"}},
};

const struct rig_program rig_program_courseware = {
    .name = "courseware",
    RIG_ARRAY(tables, table_count, tables),
    RIG_ARRAY(queries, query_count, queries),
    RIG_ARRAY(updates, update_count, updates),
    RIG_ARRAY(kinds, kind_count, kinds),
    RIG_ARRAY(conditions, condition_count, conditions),
    .load = load,
};
