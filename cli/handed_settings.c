#include "cli/handed_settings.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

extern char **environ;

#define VARIABLE "RIG_SETTINGS"
enum { TEXT_MOST = 128 * 1024 - 1 }; /* of Linux, for a text of an environment */

void rig_cli_handed_begin(struct rig_cli_handed *handed)
{
    *handed = (struct rig_cli_handed){.environment = NULL};
    rig_buf_init(&handed->text, TEXT_MOST);
    rig_buf_add_text(&handed->text, VARIABLE "=");
    rig_json_init(&handed->writer, &handed->text);
    rig_json_begin_array(&handed->writer, NULL);
}

void rig_cli_handed_add(struct rig_cli_handed *handed, const char *setting)
{
    rig_json_string(&handed->writer, NULL, setting);
}

enum rig_rc rig_cli_handed_end(struct rig_cli_handed *handed, struct rig_err *err)
{
    RIG_REQUIRE(handed->environment == NULL);
    rig_json_end(&handed->writer);
    if (handed->text.failed)
        return rig_fail(err, RIG_E_LIMIT, "the settings of a run have more than %d bytes", (int)TEXT_MOST);
    size_t count = 0, kept = 0;
    while (environ[count] != NULL)
        count++;
    handed->environment = calloc(count + 2, sizeof *handed->environment);
    if (handed->environment == NULL)
        return rig_no_memory(err, "the environment of a run");
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], VARIABLE "=", sizeof VARIABLE) != 0)
            handed->environment[kept++] = environ[i];
    }
    handed->environment[kept] = rig_buf_text(&handed->text);
    return RIG_OK;
}

void rig_cli_handed_done(struct rig_cli_handed *handed)
{
    free(handed->environment);
    rig_buf_done(&handed->text);
    handed->environment = NULL;
}

enum rig_rc rig_cli_handed_take(struct rig_buf *settings, struct rig_err *err)
{
    const char *text = getenv(VARIABLE);
    if (text == NULL)
        return RIG_OK;
    json_t *root = json_loads(text, 0, NULL);
    bool fits = json_is_array(root);
    for (size_t i = 0; fits && i < json_array_size(root); i++) {
        const char *setting = json_string_value(json_array_get(root, i));
        fits = setting != NULL;
        if (fits)
            rig_buf_add(settings, setting, strlen(setting) + 1);
    }
    json_decref(root);
    (void)unsetenv(VARIABLE);
    return fits ? RIG_OK
                : rig_fail(err, RIG_E_USAGE,
                           "the environment variable " VARIABLE
                           " is no JSON array of texts: rig sets it for its own runs; unset it");
}
