/*
 * What each particle, region and touch point has, body by body, in snapshots and in state alone: counted, written, checked and read by the
 * same calls. It is most of the bytes, and is copied. Touch points that touch nothing, which are most, and blocks of lattices that have
 * not flowed take a bit or a byte each.
 *
 * Nothing is read that was not checked: the checks look at the bytes, not at the world.
 */
#include "fracture/fracture.h"
#include "snapshot/archive.h"
#include "snapshot/copy.h"
#include "world/body.h"
#include "world/in_step.h"

#include <float.h>
#include <string.h>

typedef struct copier {
    lmi_copy_mode mode;
    unsigned char *bytes;
    size_t at, size; /* of the buffer, where there is one */
    bool fault;      /* it is too small, or holds what cannot be */
} copier;

/* The next `size` bytes; null where there is nothing to do with them. */
static unsigned char *take_bytes(copier *c, size_t size)
{
    size_t at = c->at;
    if (c->bytes && (c->fault || size > c->size - at)) {
        c->fault = true;
        return NULL;
    }
    c->at += size;
    return c->bytes ? c->bytes + at : NULL;
}

static inline void put_word(unsigned char *to, uint32_t word)
{
    to[0] = (unsigned char)word;
    to[1] = (unsigned char)(word >> 8);
    to[2] = (unsigned char)(word >> 16);
    to[3] = (unsigned char)(word >> 24);
}

static inline uint32_t get_word(const unsigned char *from)
{
    return from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

/* Floats go as they are where memory is little-endian, as nearly everywhere. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FLOATS_AS_THEY_ARE 1
#else
#define FLOATS_AS_THEY_ARE 0
#endif

static inline void put_floats(unsigned char *to, const float *values, uint32_t count)
{
    if (FLOATS_AS_THEY_ARE) {
        memcpy(to, values, count * sizeof *values);
        return;
    }
    for (uint32_t n = 0; n < count; n++) {
        uint32_t word;
        memcpy(&word, &values[n], sizeof word);
        put_word(to + (size_t)n * 4, word);
    }
}

static inline void get_floats(const unsigned char *from, float *values, uint32_t count)
{
    if (FLOATS_AS_THEY_ARE) {
        memcpy(values, from, count * sizeof *values);
        return;
    }
    for (uint32_t n = 0; n < count; n++) {
        uint32_t word = get_word(from + (size_t)n * 4);
        memcpy(&values[n], &word, sizeof word);
    }
}

/* Whether floats are within -most to most: without the sign their bits are in the order of their values, what is no number last. */
static bool are_within(const unsigned char *from, size_t count, float most)
{
    uint32_t limit, beyond = 0;
    memcpy(&limit, &most, sizeof limit);
    for (size_t n = 0; n < count; n++) {
        beyond |= (get_word(from + n * 4) & 0x7fffffffu) > limit;
    }
    return !beyond;
}

/* x y z of every particle, four floats apart. */
static void copy_vectors(copier *c, const lmi_body *body, float *values, float most)
{
    unsigned char *p = take_bytes(c, (size_t)body->particle_count * 12);
    if (p && c->mode == LMI_COPY_CHECK) {
        c->fault = c->fault || !are_within(p, (size_t)body->particle_count * 3, most);
    } else if (p && c->mode == LMI_COPY_WRITE) {
        LMI_PARTICLES_EACH(body, n)
        {
            put_floats(p, values + (size_t)n * 4, 3);
            p += 12;
        }
    } else if (p) {
        LMI_PARTICLES_EACH(body, n)
        {
            get_floats(p, values + (size_t)n * 4, 3);
            p += 12;
        }
    }
}

/* So many floats, `stride` apart, each within -most to most. */
static void copy_floats(copier *c, float *values, uint32_t count, uint32_t stride, float most)
{
    unsigned char *p = take_bytes(c, (size_t)count * 4);
    if (p && c->mode == LMI_COPY_CHECK) {
        c->fault = c->fault || !are_within(p, count, most);
    }
    for (uint32_t n = 0; p && c->mode == LMI_COPY_WRITE && n < count; n++) {
        put_floats(p + (size_t)n * 4, values + (size_t)n * stride, 1);
    }
    for (uint32_t n = 0; p && c->mode == LMI_COPY_READ && n < count; n++) {
        get_floats(p + (size_t)n * 4, values + (size_t)n * stride, 1);
    }
}

static void copy_regions(copier *c, const lm_world *world, lmi_body *body)
{
    for (uint32_t r = 0; r < body->region_count; r++) {
        uint32_t stride;
        float *rotation = lmi_body_rotation(world, body, r, &stride);
        copy_floats(c, rotation, 9, stride, 1.001f);
        if (body->plastic_material) {
            float *plastic = lmi_body_plastic(world, body, r, &stride);
            copy_floats(c, plastic, 6, stride, 100.0f);
        }
    }
}

/* Blocks that have not flowed are 1 on the diagonal. */
static void copy_flowed(copier *c, lmi_lattice_plastic *plastic, uint32_t block)
{
    const uint32_t size = 6 * LMI_BLOCK;
    float *state = plastic->state + (size_t)block * size;
    unsigned char *flag = take_bytes(c, 1);
    if (flag && c->mode == LMI_COPY_WRITE) {
        *flag = plastic->flowed[block];
    }
    uint8_t flowed = flag ? *flag : c->mode == LMI_COPY_COUNT ? plastic->flowed[block] : 1;
    c->fault = c->fault || flowed > 1;
    if (flag && c->mode == LMI_COPY_READ) {
        plastic->flowed[block] = flowed;
    }
    if (flowed) {
        copy_floats(c, state, size, 1, 100.0f);
    }
    for (uint32_t n = 0; flag && !flowed && c->mode == LMI_COPY_READ && n < size; n++) {
        state[n] = n < 3 * LMI_BLOCK ? 1.0f : 0.0f;
    }
}

/* What of a touch point is not zero: impulses, `behind`, the other body. */
enum { WARM_PRESSED = 1, WARM_BEHIND = 2, WARM_OTHER = 4, WARM_ALL = 7 };

static size_t warm_bytes(uint32_t parts)
{
    return 1 + (parts & WARM_PRESSED ? 16u : 0u) + (parts & WARM_BEHIND ? 12u : 0u) + (parts & WARM_OTHER ? 20u : 0u);
}

static bool is_nothing(const lmi_warm *w)
{
    uint64_t words[sizeof *w / 8];
    memcpy(words, w, sizeof words);
    return !(words[0] | words[1] | words[2] | words[3] | words[4] | words[5]);
}

_Static_assert(sizeof(lmi_warm) == 48, "is_nothing looks at all of it");

static uint32_t parts_of(const lmi_warm *w)
{
    static const lmi_warm none = {0};
    bool other = w->other || w->generation || memcmp(w->out, none.out, sizeof w->out) != 0;
    bool pressed = memcmp(&w->pressed, &none.pressed, sizeof w->pressed) != 0 ||
                   memcmp(w->braked, none.braked, sizeof w->braked) != 0;
    bool behind = memcmp(w->behind, none.behind, sizeof w->behind) != 0;
    return (pressed ? WARM_PRESSED : 0u) | (behind ? WARM_BEHIND : 0u) | (other ? WARM_OTHER : 0u);
}

static void put_warm(unsigned char *p, const lmi_warm *w, uint32_t parts)
{
    *p++ = (unsigned char)parts;
    if (parts & WARM_PRESSED) {
        put_floats(p, &w->pressed, 1);
        put_floats(p + 4, w->braked, 3);
        p += 16;
    }
    if (parts & WARM_BEHIND) {
        put_floats(p, w->behind, 3);
        p += 12;
    }
    if (parts & WARM_OTHER) {
        put_word(p, w->other);
        put_word(p + 4, w->generation);
        put_floats(p + 8, w->out, 3);
    }
}

static lmi_warm get_warm(const unsigned char *p)
{
    lmi_warm w = {0};
    uint32_t parts = *p++;
    if (parts & WARM_PRESSED) {
        get_floats(p, &w.pressed, 1);
        get_floats(p + 4, w.braked, 3);
        p += 16;
    }
    if (parts & WARM_BEHIND) {
        get_floats(p, w.behind, 3);
        p += 12;
    }
    if (parts & WARM_OTHER) {
        w.other = get_word(p);
        w.generation = get_word(p + 4);
        get_floats(p + 8, w.out, 3);
    }
    return w;
}

static bool warm_is_sound(const lmi_warm *w, const lm_world *world)
{
    bool sound = w->pressed >= 0.0f && w->pressed <= FLT_MAX && w->other <= world->bodies.slots;
    for (int i = 0; i < 3; i++) {
        sound = sound && fabsf(w->braked[i]) <= FLT_MAX && fabsf(w->behind[i]) <= LM_MAX_COORDINATE &&
                fabsf(w->out[i]) <= 100.0f;
    }
    return sound;
}

/* One touch point that touches something, or did. */
static void copy_warm(copier *c, const lm_world *world, lmi_warm *warm)
{
    size_t at = c->at;
    uint32_t parts = WARM_ALL;
    if (c->mode == LMI_COPY_WRITE || c->mode == LMI_COPY_COUNT) {
        parts = parts_of(warm);
    } else if (c->bytes) {
        c->fault = c->fault || at >= c->size || c->bytes[at] > WARM_ALL || c->bytes[at] == 0;
        parts = c->fault ? 0 : c->bytes[at];
    }
    unsigned char *p = take_bytes(c, warm_bytes(parts));
    if (p && c->mode == LMI_COPY_WRITE) {
        put_warm(p, warm, parts);
    } else if (p && c->mode == LMI_COPY_READ) {
        *warm = get_warm(p);
    } else if (p) {
        lmi_warm w = get_warm(p);
        c->fault = c->fault || !warm_is_sound(&w, world);
    }
}

/* Eight of them: a bit for each, and those that are not nothing. */
static void copy_warms(copier *c, const lm_world *world, lmi_warm *warm, uint32_t count)
{
    static const lmi_warm none = {0};
    unsigned char *at = take_bytes(c, 1);
    unsigned bits = c->mode == LMI_COPY_BOUND ? 0xff : 0;
    if (c->mode == LMI_COPY_WRITE || c->mode == LMI_COPY_COUNT) {
        for (uint32_t n = 0; n < count; n++) {
            bits |= (unsigned)!is_nothing(&warm[n]) << n;
        }
    } else if (at) {
        bits = *at;
    }
    if (at && c->mode == LMI_COPY_WRITE) {
        *at = (unsigned char)bits;
    }
    for (uint32_t n = 0; n < count; n++) {
        if (bits >> n & 1) {
            copy_warm(c, world, &warm[n]);
        } else if (c->mode == LMI_COPY_READ) {
            warm[n] = none;
        }
    }
}

static void copy_all(copier *c, lm_world *world)
{
    LMI_POOL_EACH(&world->bodies, n)
    {
        lmi_body *body = lmi_body_in_step(world, n);
        copy_vectors(c, body, body->x, LM_MAX_COORDINATE);
        copy_vectors(c, body, body->v, body->asleep ? 0.0f : LM_MAX_SPEED);
        copy_regions(c, world, body);
        lmi_lattice_plastic *plastic = body->lattice ? &body->lattice->plastic : NULL;
        for (uint32_t b = 0; plastic && plastic->state && b <= body->lattice->shape.block_count; b++) {
            copy_flowed(c, plastic, b);
        }
        for (uint32_t k = 0; k < body->touch.count; k += 8) {
            uint32_t left = body->touch.count - k;
            copy_warms(c, world, body->touch.warm + k, left < 8 ? left : 8);
        }
    }
}

bool lmi_copy_particles(lm_world *world, lmi_copy_mode mode, unsigned char *bytes, size_t *at, size_t size)
{
    copier c = {.mode = mode, .bytes = bytes, .at = *at, .size = size};
    copy_all(&c, world);
    *at = c.at;
    return !c.fault;
}
