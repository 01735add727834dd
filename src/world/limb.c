#include "world/limb.h"

#include <math.h>
#include <string.h>

#define N LMI_LOAD_LAYERS
#define FAR UINT16_MAX
#define TWIST 0.4 /* shear modulus over Young's, at a Poisson's ratio of 0.25: twist is seldom what counts */
#define ENOUGH 8  /* parts of a section, of fewer second moments say nothing */
#define SIDES 1.5 /* cells of the grid that a section is long, at least */

static bool is_in(int y, int z, int x) { return y >= 0 && y < N && z >= 0 && z < N && x >= 0 && x < N; }

/* The cell beside one in one of 26 directions; null: none, or nothing is there. */
static const uint16_t *beside(const lmi_load *load, int i, int way, int *other)
{
    int k = way < 13 ? way : way + 1, y = i / (N * N) + k / 9 - 1, z = i / N % N + k / 3 % 3 - 1, x = i % N + k % 3 - 1;
    *other = (y * N + z) * N + x;
    return is_in(y, z, x) && load->cells[y][z][x] ? &load->cells[y][z][x] : NULL;
}

static bool is_filled(const lmi_load *load, int i) { return load->cells[i / (N * N)][i / N % N][i % N] != 0; }

/* How far each cell is from the ground through the body: sweeps there and back until nothing is shortened any more. */
static void find_distances(const lmi_load *load, lmi_limbs *limbs)
{
    const lm_dvec3 size = dvec_scale(dvec_sub(load->upper, load->lower), 1.0 / N);
    double step[26];
    for (int way = 0; way < 26; way++) {
        int k = way < 13 ? way : way + 1;
        double y = (k / 9 - 1) * size.y, z = (k / 3 % 3 - 1) * size.z, x = (k % 3 - 1) * size.x;
        step[way] = sqrt(x * x + y * y + z * z);
    }
    for (int i = 0; i < N * N * N; i++) {
        limbs->distance[i] = i < N * N && is_filled(load, i) ? 0.0 : INFINITY;
    }
    bool changed = true;
    for (int turn = 0; changed && turn < 4 * N; turn++) {
        changed = false;
        for (int n = 0; n < N * N * N; n++) {
            int i = turn % 2 ? N * N * N - 1 - n : n;
            for (int way = 0; way < 26 && is_filled(load, i); way++) {
                int other;
                if (beside(load, i, way, &other) && limbs->distance[other] + step[way] < limbs->distance[i]) {
                    limbs->distance[i] = limbs->distance[other] + step[way];
                    changed = true;
                }
            }
        }
        changed = changed || turn == 0;
    }
}

/* What is connected at about the same distance is a section. */
static void find_sections(const lmi_load *load, lmi_limbs *limbs)
{
    for (int i = 0; i < N * N * N; i++) {
        limbs->level[i] =
            limbs->distance[i] < 1e4 * limbs->length ? (uint16_t)(limbs->distance[i] / limbs->length) : FAR;
    }
    for (int i = 0; i < N * N * N; i++) {
        if (limbs->level[i] == FAR || limbs->of[i]) {
            continue;
        }
        if (limbs->count < LMI_LOAD_SECTIONS) { /* what is beyond belongs to the last one */
            limbs->limbs[limbs->count++].level = limbs->level[i];
        }
        int waiting = 0;
        limbs->stack[waiting++] = (uint16_t)i;
        limbs->of[i] = (uint16_t)limbs->count;
        while (waiting > 0) {
            int at = limbs->stack[--waiting], other;
            for (int way = 0; way < 26; way++) {
                if (beside(load, at, way, &other) && limbs->level[other] == limbs->level[at] && !limbs->of[other]) {
                    limbs->of[other] = limbs->of[at];
                    limbs->stack[waiting++] = (uint16_t)other;
                }
            }
        }
    }
}

/* What bears each section. Where it is more than one, neither is a limb, nor what bears them: a ring is not bent as a beam is. */
static void find_parents(const lmi_load *load, lmi_limbs *limbs)
{
    int other;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < N * N * N; i++) {
            lmi_limb *s = limbs->of[i] ? &limbs->limbs[limbs->of[i] - 1] : NULL;
            for (int way = 0; way < 26 && s && s->level > 0; way++) {
                if (beside(load, i, way, &other) && limbs->level[other] + 1 == s->level) {
                    uint16_t parent = limbs->of[other];
                    s->many = s->many || (s->parent && s->parent != parent);
                    s->parent = s->parent ? s->parent : parent;
                    limbs->limbs[parent - 1].stiff = limbs->limbs[parent - 1].stiff || (pass == 1 && s->many);
                }
            }
            limbs->farthest = s && s->level > limbs->farthest ? s->level : limbs->farthest;
        }
    }
}

bool lmi_limbs_begin(lmi_limbs *limbs, const lmi_load *load, double size)
{
    const lm_dvec3 side = dvec_scale(dvec_sub(load->upper, load->lower), SIDES / N);
    memset(limbs, 0, sizeof *limbs);
    limbs->length = fmax(fmax(fmax(side.x, side.y), side.z), size);
    if (!(limbs->length > 0.0)) {
        return false;
    }
    find_distances(load, limbs);
    find_sections(load, limbs);
    find_parents(load, limbs);
    return true;
}

void lmi_limbs_add(lmi_limbs *limbs, int cell, lm_dvec3 at, double mass, double own)
{
    lmi_limb *s = limbs->of[cell] ? &limbs->limbs[limbs->of[cell] - 1] : NULL;
    const double p[3] = {at.x, at.y, at.z};
    for (int i = 0; s && i < 9; i++) {
        s->square[i] += mass * (p[i / 3] * p[i % 3] + (i % 4 == 0 ? own : 0.0));
    }
    if (s) {
        s->mass += mass;
        s->parts++;
        s->at = dvec_add(s->at, dvec_scale(at, mass));
    }
}

/* Passes on what each bears, with its first moment. */
static void pass_loads(lmi_limbs *limbs)
{
    for (uint32_t n = 0; n < limbs->count; n++) {
        lmi_limb *s = &limbs->limbs[n];
        s->load = s->mass;
        s->moment = s->at;
        s->at = s->mass > 0.0 ? dvec_scale(s->at, 1.0 / s->mass) : s->at;
        for (int i = 0; i < 9; i++) {
            const double p[3] = {s->at.x, s->at.y, s->at.z};
            s->square[i] -= s->mass * p[i / 3] * p[i % 3];
        }
    }
    for (int level = limbs->farthest; level > 0; level--) {
        for (uint32_t n = 0; n < limbs->count; n++) {
            lmi_limb *s = &limbs->limbs[n];
            if (s->level == level && s->parent) {
                lmi_limb *to = &limbs->limbs[s->parent - 1];
                if (!s->many) {
                    to->load += s->load;
                    to->moment = dvec_add(to->moment, s->moment);
                }
                to->stiff = to->stiff || s->stiff;
            }
        }
    }
}

/* How a section turns under a moment, times e: K^-1 T with K = [a] C [a]^T + twist a a^T for each metre. */
static lm_dvec3 turn_of(const lmi_limb *s, lm_dvec3 a, lm_dvec3 moment, double length, double bent)
{
    const double cross[9] = {0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0}, axis[3] = {a.x, a.y, a.z};
    double half[9] = {0}, k[9] = {0}, across = 0.0;
    for (int i = 0; i < 27; i++) {
        half[i / 3] += cross[i / 9 * 3 + i % 3] * s->square[i % 3 * 3 + i / 3 % 3];
    }
    for (int i = 0; i < 27; i++) {
        k[i / 3] += half[i / 9 * 3 + i % 3] * cross[i / 3 % 3 * 3 + i % 3];
    }
    across = k[0] + k[4] + k[8];
    for (int i = 0; i < 9; i++) {
        double along = axis[i / 3] * axis[i % 3];
        k[i] += TWIST * across * along + s->mass * bent * ((i % 4 == 0) - along) + (i % 4 == 0 ? 1e-6 * across : 0.0);
    }
    double c0 = k[4] * k[8] - k[5] * k[7], c1 = k[5] * k[6] - k[3] * k[8], c2 = k[3] * k[7] - k[4] * k[6];
    double det = k[0] * c0 + k[1] * c1 + k[2] * c2;
    if (!(det > 0.0)) {
        return lm_dvec3_zero();
    }
    double by = length * length / det, x = moment.x, y = moment.y, z = moment.z;
    return dvec(by * (c0 * x + (k[2] * k[7] - k[1] * k[8]) * y + (k[1] * k[5] - k[2] * k[4]) * z),
                by * (c1 * x + (k[0] * k[8] - k[2] * k[6]) * y + (k[2] * k[3] - k[0] * k[5]) * z),
                by * (c2 * x + (k[1] * k[6] - k[0] * k[7]) * y + (k[0] * k[4] - k[1] * k[3]) * z));
}

static double sinks_at(const lmi_limb *s, lm_dvec3 p)
{
    return s->sinks - (s->turn.z * (p.x - s->at.x) - s->turn.x * (p.z - s->at.z));
}

void lmi_limbs_bend(lmi_limbs *limbs, double bent)
{
    pass_loads(limbs);
    for (int level = 1; level <= limbs->farthest; level++) {
        for (uint32_t n = 0; n < limbs->count; n++) {
            lmi_limb *s = &limbs->limbs[n];
            if (s->level != level || !s->parent) {
                continue;
            }
            const lmi_limb *from = &limbs->limbs[s->parent - 1];
            s->at = s->mass > 0.0 ? s->at : from->at;
            lm_dvec3 along = dvec_sub(s->at, from->at);
            double far = dvec_length(along);
            s->sinks = s->many ? 0.0 : sinks_at(from, s->at);
            s->turn = s->many ? lm_dvec3_zero() : from->turn;
            if (!s->many && !s->stiff && s->parts >= ENOUGH && far > 0.0) {
                lm_dvec3 arm = dvec_sub(s->moment, dvec_scale(s->at, s->load));
                lm_dvec3 turn = turn_of(s, dvec_scale(along, 1.0 / far), dvec(arm.z, 0.0, -arm.x), limbs->length, bent);
                s->turn = dvec_add(s->turn, turn);
            }
        }
    }
}

double lmi_limbs_sinks(const lmi_limbs *limbs, int cell, lm_dvec3 at)
{
    const lmi_limb *s = limbs->of[cell] ? &limbs->limbs[limbs->of[cell] - 1] : NULL;
    return s ? fmax(sinks_at(s, at), 0.0) : 0.0;
}
