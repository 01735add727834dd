#include "scene/geometry.h"

/* Taylor series on at most an eighth of a turn: the first term left out is below 1e-19. */
static double small_sine(double x)
{
    double square = x * x;
    double sum = 1.0;
    for (int n = 18; n >= 2; n -= 2) {
        sum = 1.0 - sum * square / (double)(n * (n + 1));
    }
    return x * sum;
}

static double small_cosine(double x)
{
    double square = x * x;
    double sum = 1.0;
    for (int n = 19; n >= 1; n -= 2) {
        sum = 1.0 - sum * square / (double)(n * (n + 1));
    }
    return sum;
}

void lmi_sine_cosine(double degrees, double *sine, double *cosine)
{
    double turned = fmod(degrees, 360.0); /* exact */
    double quarter = floor(turned / 90.0 + 0.5);
    double angle = (turned - 90.0 * quarter) * RADIANS_PER_DEGREE;
    double s = small_sine(angle);
    double c = small_cosine(angle);
    switch ((int)quarter & 3) {
    case 0: *sine = s, *cosine = c; break;
    case 1: *sine = c, *cosine = -s; break;
    case 2: *sine = -s, *cosine = -c; break;
    default: *sine = -c, *cosine = s; break;
    }
}

rotation lmi_rotation_identity(void) { return (rotation){0.0, 0.0, 0.0, 1.0}; }

static rotation normalised(rotation r)
{
    double scale = 1.0 / sqrt(r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w);
    return (rotation){r.x * scale, r.y * scale, r.z * scale, r.w * scale};
}

rotation lmi_rotation_about(lm_dvec3 axis, double degrees)
{
    double sine, cosine;
    lmi_sine_cosine(0.5 * degrees, &sine, &cosine);
    lm_dvec3 v = vector_scale(axis, sine / vector_length(axis));
    return (rotation){v.x, v.y, v.z, cosine};
}

rotation lmi_rotation_from_euler(lm_dvec3 degrees)
{
    rotation x = lmi_rotation_about(vector(1.0, 0.0, 0.0), degrees.x);
    rotation y = lmi_rotation_about(vector(0.0, 1.0, 0.0), degrees.y);
    rotation z = lmi_rotation_about(vector(0.0, 0.0, 1.0), degrees.z);
    return normalised(lmi_rotation_then(lmi_rotation_then(x, y), z));
}

rotation lmi_rotation_from_up(lm_dvec3 direction)
{
    lm_dvec3 up = vector_scale(direction, 1.0 / vector_length(direction));
    if (up.y < -0.999999999) {
        return (rotation){1.0, 0.0, 0.0, 0.0}; /* straight down: half a turn about x */
    }
    /* The axis is Y x up and has the length sin(angle); (1 + cos, axis) is twice cos(angle/2) times the quaternion. */
    return normalised((rotation){up.z, 0.0, -up.x, 1.0 + up.y});
}

rotation lmi_rotation_then(rotation first, rotation then)
{
    rotation a = then, b = first;
    return (rotation){a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

lm_dvec3 lmi_rotation_apply(rotation r, lm_dvec3 v)
{
    lm_dvec3 u = vector(r.x, r.y, r.z);
    lm_dvec3 t = vector_scale(vector_cross(u, v), 2.0);
    return vector_add(vector_add(v, vector_scale(t, r.w)), vector_cross(u, t));
}

lm_quat lmi_rotation_narrow(rotation r) { return (lm_quat){(float)r.x, (float)r.y, (float)r.z, (float)r.w}; }

static uint64_t random_bits(random_source *source)
{
    source->state += 0x9e3779b97f4a7c15u;
    uint64_t z = source->state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

random_source lmi_random_start(uint32_t seed, uint32_t index)
{
    random_source source = {(uint64_t)seed << 32 | index};
    source.state = random_bits(&source);
    return source;
}

double lmi_random_signed(random_source *source) { return (double)(random_bits(source) >> 11) * 0x1p-52 - 1.0; }

lm_dvec3 lmi_random_vector(random_source *source)
{
    double x = lmi_random_signed(source);
    double y = lmi_random_signed(source);
    double z = lmi_random_signed(source);
    return vector(x, y, z);
}
