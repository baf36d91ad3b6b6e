#include "history/model/names.h"

#include <string.h>

#include "base/bug.h"
#include "history/model/columns.h"

void rig_names_init(struct rig_names *names)
{
    RIG_INVARIANT(pthread_mutex_init(&names->lock, NULL) == 0);
    rig_text_table_init(&names->texts, 0);
}

void rig_names_done(struct rig_names *names)
{
    (void)pthread_mutex_destroy(&names->lock);
    rig_text_table_done(&names->texts);
}

int64_t rig_names_number(struct rig_names *names, const char *text)
{
    const size_t length = strnlen(text, RIG_COLUMN_NAME_BYTES);
    if (!rig_column_name_fits(text, length))
        return RIG_COLUMN_NONE;
    pthread_mutex_lock(&names->lock);
    uint32_t number = rig_text_table_get(&names->texts, text, length);
    if (number == RIG_TABLE_NONE && names->texts.count < RIG_NAMES_MOST)
        number = rig_text_table_put(&names->texts, text, length);
    pthread_mutex_unlock(&names->lock);
    return number == RIG_TABLE_NONE ? RIG_COLUMN_NONE : (int64_t)number;
}

bool rig_names_follow(struct rig_names *names, struct rig_name_vec *known)
{
    bool fits = true;
    pthread_mutex_lock(&names->lock);
    while (fits && known->count < names->texts.count)
        fits = rig_name_vec_add(known, names->texts.texts[known->count]);
    pthread_mutex_unlock(&names->lock);
    return fits;
}
