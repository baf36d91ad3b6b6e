#include "generator/weighted_choice.h"

#include <math.h>
#include <stdlib.h>

/* At least one, so that there is a key for the accesses. */
static uint32_t count_hot(const struct rig_generator_options *options, uint32_t count)
{
    const double hot = options->hot_keys * count;
    return hot < 1 ? 1 : hot > count ? count : (uint32_t)(hot + 0.5);
}

static double hot_cold_weight(const struct rig_generator_options *options, uint32_t count, uint32_t i)
{
    const uint32_t hot = count_hot(options, count);
    if (hot == count)
        return 1;
    return i < hot ? options->hot_accesses / hot : (1 - options->hot_accesses) / (count - hot);
}

static double raw_weight(enum rig_key_distribution distribution, const struct rig_generator_options *options,
                         uint32_t count, uint32_t i)
{
    switch (distribution) {
    case RIG_KEYS_EXPONENTIAL:
        return ldexp(1, -(int)(i < 1000 ? i : 1000));
    case RIG_KEYS_ZIPF:
        return pow((double)i + 1, -options->zipf_exponent);
    case RIG_KEYS_HOT_COLD:
        return hot_cold_weight(options, count, i);
    case RIG_KEYS_UNIFORM:
        break;
    }
    return 1;
}

void rig_weights(enum rig_key_distribution distribution, const struct rig_generator_options *options, uint32_t count,
                 double *weights)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += weights[i] = raw_weight(distribution, options, count, i);
    for (uint32_t i = 0; i < count; i++)
        weights[i] /= sum;
}

/* Vose's construction: things lighter than the mean borrow their difference from heavier ones. */
static void build(struct rig_weighted_choice *choice, double *scaled, uint32_t *work)
{
    uint32_t count = choice->count, light = 0, heavy = count;
    for (uint32_t i = 0; i < count; i++) {
        if (scaled[i] < 1)
            work[light++] = i;
        else
            work[--heavy] = i;
    }
    while (light > 0 && heavy < count) {
        uint32_t poor = work[--light], rich = work[heavy];
        choice->stay[poor] = (uint32_t)(scaled[poor] * 0x1.0p32);
        choice->alias[poor] = rich;
        scaled[rich] -= 1 - scaled[poor];
        if (scaled[rich] < 1) {
            heavy++;
            work[light++] = rich;
        }
    }
    /* The remaining things have weight 1 but for rounding. */
    while (light > 0 || heavy < count) {
        uint32_t i = light > 0 ? work[--light] : work[heavy++];
        choice->stay[i] = UINT32_MAX;
        choice->alias[i] = i;
    }
}

bool rig_weighted_choice_init(struct rig_weighted_choice *choice, const double *weights, uint32_t count)
{
    *choice = (struct rig_weighted_choice){
        .count = count, .stay = calloc(count, sizeof *choice->stay), .alias = calloc(count, sizeof *choice->alias)};
    double *scaled = calloc(count, sizeof *scaled);
    uint32_t *work = calloc(count, sizeof *work);
    const bool complete = choice->stay != NULL && choice->alias != NULL && scaled != NULL && work != NULL;
    if (complete) {
        for (uint32_t i = 0; i < count; i++)
            scaled[i] = weights[i] * count;
        build(choice, scaled, work);
    } else {
        rig_weighted_choice_done(choice);
    }
    free(scaled);
    free(work);
    return complete;
}

void rig_weighted_choice_done(struct rig_weighted_choice *choice)
{
    free(choice->stay);
    free(choice->alias);
    *choice = (struct rig_weighted_choice){0};
}
