/*
 * Reads and writes the forms of solver-based checkers, which have sessions but no times: see docs/history-format.md.
 *
 * Such a file is decoded when it is opened, since an operation may refer to what comes much later. Its transactions are
 * then given in parts, as those of any form.
 *
 * Space: that of history/import/register_sessions.h while the source is open; under a limit, at most a quarter of it.
 */
#ifndef RIG_HISTORY_IMPORT_SESSION_READER_H
#define RIG_HISTORY_IMPORT_SESSION_READER_H

#include "history/source/form_reader.h"
#include "history/import/register_sessions.h"

/* One for all these forms: the options name the form. */
extern const struct rig_form_reader rig_session_reader;

/* By the first bytes; RIG_FORM_AUTO: none of these forms. */
enum rig_form rig_session_recognise(const char *data, size_t size);

/*
 * How a form is decoded. Fails with RIG_E_INPUT for malformed bytes; if only memory runs out, it may return RIG_OK, and
 * the sessions tell.
 */
struct rig_session_form {
    const char *what; /* "a text of ..." */
    bool zero_is_initial;
    /* Whether a file that begins with these bytes has this form. */
    bool (*recognise)(const char *data, size_t size);
    enum rig_rc (*decode)(const char *name, const char *data, size_t size, struct rig_sessions *sessions,
                          struct rig_err *err);
};

#endif
