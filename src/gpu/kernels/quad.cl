/*
 * base/quad.h for a device, and the names of C's library that texts shared with the host use.
 */

typedef float4 quad;

#define fmaxf fmax
#define fminf fmin
#define fabsf fabs
#define sqrtf sqrt

static inline quad quad_of(float x, float y, float z) { return (float4)(x, y, z, 0.0f); }
static inline quad quad_from(lm_dvec3 a) { return quad_of((float)a.x, (float)a.y, (float)a.z); }
#define quad_add(a, b) ((a) + (b))
#define quad_sub(a, b) ((a) - (b))
#define quad_scale(a, by) ((a) * (by))
#define quad_add_scaled(a, by, b) ((a) + (by) * (b))
static inline lm_dvec3 quad_to(quad a) { return dvec(a.x, a.y, a.z); }
static inline float quad_dot(quad a, quad b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
static inline float quad_length(quad a) { return sqrt(quad_dot(a, a)); }
static inline quad quad_cross(quad a, quad b)
{
    return quad_of(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
