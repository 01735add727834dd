/*
 * The particles that hold the two sides of a contact, and sums over them.
 *
 * Side a is a touch point, x = sum w_i x_i. Side b is a place in a body: the particles of a carrier, whose weights are affine in
 * the place (w_i + g_i . d, lmi_bulk_grip), or the eight corners of a cell of a lattice. Weights are worked out where they are
 * needed: contacts come and go, and what holds them does not.
 */

#define MAP_FLOATS 12 /* as in meet.cl */

typedef struct holds {
    __global const uint *point_first, *point_rider;
    __global const float *point_weight;
    __global const uint *map_first, *map_rider;
    __global const float4 *map_hold; /* weight and gradient */
    __global const uint *corners;    /* [cells][8] particles */
} holds;

#define HOLD_ARGUMENTS                                                                                                \
    __global const uint *point_first, __global const uint *point_rider, __global const float *point_weight,           \
        __global const uint *map_first, __global const uint *map_rider, __global const float4 *map_hold,              \
        __global const uint *corners
#define HOLDS                                                                                                         \
    {                                                                                                                 \
        point_first, point_rider, point_weight, map_first, map_rider, map_hold, corners                               \
    }

static inline float weight_of_map(float4 hold, quad place)
{
    return hold.x + ((hold.y * place.x + hold.z * place.y) + hold.w * place.z);
}

/* Of the corner k of a cell; its bits say which side of the cell it is on. */
static inline float weight_of_corner(uint k, quad place)
{
    float x = k & 1 ? place.x : 1.0f - place.x, y = k & 2 ? place.y : 1.0f - place.y;
    return x * y * (k & 4 ? place.z : 1.0f - place.z);
}

static quad sum_point(const holds *o, uint point, __global const float4 *of)
{
    quad sum = quad_of(0.0f, 0.0f, 0.0f);
    for (uint k = o->point_first[point]; k < o->point_first[point + 1]; k++) {
        sum += o->point_weight[k] * of[o->point_rider[k]];
    }
    return sum;
}

static quad sum_map(const holds *o, uint map, quad place, __global const float4 *of)
{
    quad sum = quad_of(0.0f, 0.0f, 0.0f);
    for (uint k = o->map_first[map]; k < o->map_first[map + 1]; k++) {
        sum += weight_of_map(o->map_hold[k], place) * of[o->map_rider[k]];
    }
    return sum;
}

static quad sum_cell(const holds *o, uint cell, quad place, __global const float4 *of)
{
    quad sum = quad_of(0.0f, 0.0f, 0.0f);
    for (uint k = 0; k < 8; k++) {
        sum += weight_of_corner(k, place) * of[o->corners[8 * cell + k]];
    }
    return sum;
}

static quad sum_other(const holds *o, const lmi_gpu_contact *c, __global const float4 *of)
{
    return c->cell == LMI_GPU_NONE ? sum_map(o, c->map, c->place, of) : sum_cell(o, c->cell, c->place, of);
}

/* Side a less side b, which is `wall` where b is no body. */
static quad contact_sum(const holds *o, const lmi_gpu_contact *c, __global const float4 *of, quad wall)
{
    quad sum = sum_point(o, c->point, of) - (c->b == LMI_GPU_NONE ? wall : sum_other(o, c, of));
    return quad_of(sum.x, sum.y, sum.z);
}

/* Contacts with a body are put into buckets: one for each of its maps, one for each place of a lattice. */
static uint bucket_of_contact(__global const lmi_gpu_meeter *meeters, __global const lmi_gpu_bulk *solids,
                              const lmi_gpu_contact *c)
{
    __global const lmi_gpu_meeter *m = meeters + c->b;
    __global const lmi_gpu_bulk *s = solids + c->b;
    return s->first_bucket + (c->cell == LMI_GPU_NONE ? c->map - m->first_map : m->maps + (c->cell - s->first_cell));
}

/* --- bodies that answer as a whole: contact/push.h --- */

/* A body as a contact sees it, while velocities are solved or while positions are. */
typedef struct side {
    quad linear, angular; /* what it was given as a whole: velocity and spin, or way and turn */
    quad other;           /* its mean velocity; or the drift of its centre */
    quad turning[3];      /* inverse of the inertia */
    float rigid, inverse_mass;
} side;

static side side_of(__global const lmi_gpu_push *p, bool positions)
{
    side s;
    s.linear = positions ? p->move : p->velocity;
    s.angular = positions ? p->turn : p->spin;
    s.other = positions ? p->drift : p->mean;
    s.turning[0] = p->turning[0], s.turning[1] = p->turning[1], s.turning[2] = p->turning[2];
    s.rigid = p->rigid;
    s.inverse_mass = p->inverse_mass;
    return s;
}

static quad turning_of(const side *s, quad torque)
{
    return (s->turning[0] * torque.x + s->turning[1] * torque.y) + s->turning[2] * torque.z;
}

static quad side_motion(const side *s, quad arm) { return s->linear + quad_cross(s->angular, arm); }

static float side_mobility(const side *s, quad arm, quad n)
{
    quad lever = quad_cross(arm, n);
    return s->rigid > 0.0f ? s->rigid * (s->inverse_mass + quad_dot(lever, turning_of(s, lever))) : 0.0f;
}

/* b: nothing is read of it where the contact is with a wall. */
static float mobility_of(const lmi_gpu_contact *c, const side *a, const side *b, quad n)
{
    float sum = c->plain + side_mobility(a, c->arm_a, n);
    return c->b == LMI_GPU_NONE ? sum : sum + c->ratio * side_mobility(b, c->arm_b, n);
}
