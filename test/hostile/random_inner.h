/* What the files of random worlds share (random_world.h). */
#ifndef LIMBER_TEST_HOSTILE_RANDOM_INNER_H
#define LIMBER_TEST_HOSTILE_RANDOM_INNER_H

#include "test/hostile/random_world.h"

#include <stdarg.h>

static inline void tell(const random_world *r, const char *format, ...)
{
    if (r->tell == NULL) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vfprintf(r->tell, format, arguments);
    va_end(arguments);
    fputc('\n', r->tell);
}

static inline bool may(const random_world *r, random_source *random, uint32_t feature, double probability)
{
    bool drawn = random_source_chance(random, probability); /* drawn anyway: fewer features leave the rest as it is */
    return drawn && (r->features & feature) != 0;
}

static inline lm_dvec3 moved(lm_dvec3 from, lm_vec3 by)
{
    return (lm_dvec3){from.x + (double)by.x, from.y + (double)by.y, from.z + (double)by.z};
}

/* --- random_surroundings.c --- */

lm_mover_id random_add_mover(random_world *r, random_source *random);
lm_result random_add_collider(random_world *r, random_source *random, uint32_t index);
void random_add_field(random_world *r, random_source *random);
lm_result random_add_crates(random_world *r, random_source *random);

#endif
