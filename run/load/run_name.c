#include "run/load/run_name.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"

enum rig_rc rig_run_name_make(char name[RIG_RUN_NAME_BYTES], struct rig_err *err)
{
    char utc[32]; /* 20260131T235959.123Z */
    uint32_t number = 0;
    rig_clock_utc_text(utc, sizeof utc);
    if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number)
        return rig_fail(err, RIG_E_IO, "no random number for the run's name: %s", strerror(errno));
    (void)snprintf(name, RIG_RUN_NAME_BYTES, "rig_%.8s_%.6s_%08x", utc, utc + 9, (unsigned)number);
    return RIG_OK;
}
