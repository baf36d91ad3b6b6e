/*
 * The applications, one file each (app_*.c).
 *
 * Private to generator/.
 */
#ifndef RIG_GENERATOR_APPLICATIONS_H
#define RIG_GENERATOR_APPLICATIONS_H

#include "generator/application.h"

extern const struct rig_application rig_app_tpcc;
extern const struct rig_application rig_app_rubis;
extern const struct rig_application rig_app_twitter;
extern const struct rig_application rig_app_smallbank;
extern const struct rig_application rig_app_courseware;
extern const struct rig_application rig_app_cart;

#endif
