/*
 * Courseware (Gotsman et al. 2016; MonkeyDB, Biswas et al. 2021): students enrol in courses that are opened, closed and
 * deleted. An enrolment reads the course and writes its roll, closing reads the roll and writes the course: under
 * snapshot isolation a student can enrol in a closed course.
 *
 * `users` are the students, `rows` the courses.
 */
#include "generator/applications.h"

enum { STUDENT, COURSE, ROLL };

static const struct rig_app_table tables[] = {
    [STUDENT] = {"student", 1, .by_users = true},
    [COURSE] = {"course", 1, .by_rows = true}, /* its state and capacity */
    [ROLL] = {"roll", 1, .by_rows = true},     /* its students */
};

static int64_t any_student(struct rig_app *app)
{
    return rig_app_row(app, STUDENT, (int64_t)rig_app_below(app, (uint64_t)app->layout.users));
}

static int64_t any_course(struct rig_app *app)
{
    return (int64_t)rig_app_below(app, (uint64_t)app->layout.rows);
}

static void enrol(struct rig_app *app)
{
    const int64_t course = any_course(app);
    rig_app_read(app, any_student(app));
    rig_app_read(app, rig_app_row(app, COURSE, course));
    rig_app_update(app, rig_app_row(app, ROLL, course));
}

static void query(struct rig_app *app)
{
    const int64_t course = any_course(app);
    rig_app_read(app, rig_app_row(app, COURSE, course));
    rig_app_read(app, rig_app_row(app, ROLL, course));
    rig_app_read(app, any_student(app));
}

static void register_student(struct rig_app *app)
{
    rig_app_update(app, any_student(app));
}

static void open_course(struct rig_app *app)
{
    rig_app_update(app, rig_app_row(app, COURSE, any_course(app)));
}

static void close_course(struct rig_app *app)
{
    const int64_t course = any_course(app);
    rig_app_read(app, rig_app_row(app, ROLL, course));
    rig_app_update(app, rig_app_row(app, COURSE, course));
}

static void delete_course(struct rig_app *app)
{
    const int64_t course = any_course(app);
    rig_app_update(app, rig_app_row(app, ROLL, course));
    rig_app_update(app, rig_app_row(app, COURSE, course));
}

static const struct rig_app_card cards[] = {
    {"enrol", 8, RIG_APP_NO_UNIT, enrol},
    {"query", 5, RIG_APP_NO_UNIT, query},
    {"register-student", 2, RIG_APP_NO_UNIT, register_student},
    {"open-course", 2, RIG_APP_NO_UNIT, open_course},
    {"close-course", 2, RIG_APP_NO_UNIT, close_course},
    {"delete-course", 1, RIG_APP_NO_UNIT, delete_course},
};

const struct rig_application rig_app_courseware = {
    RIG_ARRAY(tables, table_count, tables),
    RIG_ARRAY(cards, card_count, cards),
    .most_operations = 4,
    .most_keys = 3,
};
