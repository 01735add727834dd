#include "geometry/distance.h"
#include "base/pool.h"

#include <string.h>

static size_t node_at(const lmi_nodes *g, uint32_t x, uint32_t y, uint32_t z)
{
    return ((size_t)z * g->n[1] + y) * g->n[0] + x;
}

static lm_dvec3 position_of(const lmi_nodes *g, uint32_t x, uint32_t y, uint32_t z)
{
    return dvec(g->first.x + x * g->cell, g->first.y + y * g->cell, g->first.z + z * g->cell);
}

/* The point of triangle abc nearest to p: by which corner, edge or face it is in front of. */
static lm_dvec3 nearest_on(lm_dvec3 p, lm_dvec3 a, lm_dvec3 b, lm_dvec3 c)
{
    lm_dvec3 ab = dvec_sub(b, a), ac = dvec_sub(c, a), ap = dvec_sub(p, a);
    double d1 = dvec_dot(ab, ap), d2 = dvec_dot(ac, ap);
    if (d1 <= 0.0 && d2 <= 0.0) {
        return a;
    }
    lm_dvec3 bp = dvec_sub(p, b), cp = dvec_sub(p, c);
    double d3 = dvec_dot(ab, bp), d4 = dvec_dot(ac, bp), d5 = dvec_dot(ab, cp), d6 = dvec_dot(ac, cp);
    if (d3 >= 0.0 && d4 <= d3) {
        return b;
    }
    if (d6 >= 0.0 && d5 <= d6) {
        return c;
    }
    double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        return dvec_add(a, dvec_scale(ab, d1 / (d1 - d3)));
    }
    if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        return dvec_add(a, dvec_scale(ac, d2 / (d2 - d6)));
    }
    if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
        return dvec_add(b, dvec_scale(dvec_sub(c, b), (d4 - d3) / ((d4 - d3) + (d5 - d6))));
    }
    double inverse = 1.0 / (va + vb + vc);
    return dvec_add(a, dvec_add(dvec_scale(ab, vb * inverse), dvec_scale(ac, vc * inverse)));
}

typedef struct maker {
    lmi_nodes *grid;
    lm_dvec3 *nearest; /* of nodes near a triangle: the nearest point of the surface */
    uint32_t *source;  /* the node whose nearest point is the nearest here too, as far as is known */
    double *best;      /* distance to it, or infinite */
    int8_t *changed;   /* the pass of spread_nearest that found that; -1 before it */
    uint8_t *crossed;  /* bits 0..2: the edge to the next node along x, y, z crosses a triangle */
    uint8_t *outside;
    uint32_t *queue;
} maker;

static void range_of(const lmi_nodes *g, double low, double high, int axis, uint32_t *from, uint32_t *to)
{
    double first = axis == 0 ? g->first.x : axis == 1 ? g->first.y : g->first.z;
    double a = floor((low - first) / g->cell), b = ceil((high - first) / g->cell), most = (double)g->n[axis] - 1.0;
    *from = (uint32_t)lmi_min(lmi_max(a, 0.0), most);
    *to = (uint32_t)lmi_min(lmi_max(b, 0.0), most);
}

/* Whether the edge from p along an axis, one cell long, crosses the triangle; borders count. */
static bool crosses(lm_dvec3 p, int axis, double cell, const lm_dvec3 corner[3], lm_dvec3 area)
{
    double n[3] = {area.x, area.y, area.z};
    double along = n[axis] * cell, above = dvec_dot(dvec_sub(corner[0], p), area), size = dvec_length(area);
    if (!(fabs(along) > 1e-9 * size * cell)) {
        return false; /* the edge lies in its plane; the neighbours' edges cross */
    }
    double t = above / along;
    if (!(t >= -1e-6 && t <= 1.0 + 1e-6)) {
        return false;
    }
    lm_dvec3 hit = dvec(p.x + (axis == 0 ? t * cell : 0.0), p.y + (axis == 1 ? t * cell : 0.0),
                        p.z + (axis == 2 ? t * cell : 0.0));
    for (int k = 0; k < 3; k++) {
        lm_dvec3 side = dvec_cross(dvec_sub(corner[(k + 1) % 3], corner[k]), dvec_sub(hit, corner[k]));
        if (dvec_dot(side, area) < -1e-6 * size * size) {
            return false;
        }
    }
    return true;
}

/* On bounds that only save work, for what rounding may do to them. */
#define SPARE 1.01

/* Distances of the nodes around a triangle, and the edges that it crosses. */
static void add_triangle(maker *m, const lm_dvec3 corner[3])
{
    const lmi_nodes *g = m->grid;
    lm_dvec3 area = dvec_cross(dvec_sub(corner[1], corner[0]), dvec_sub(corner[2], corner[0]));
    if (!(dvec_length(area) > 0.0)) {
        return;
    }
    uint32_t from[3], to[3];
    double band = 1.5 * g->cell, c[3][3];
    const lm_dvec3 middle = dvec_scale(dvec_add(corner[0], dvec_add(corner[1], corner[2])), 1.0 / 3.0);
    const double radius =
        SPARE * lmi_max(dvec_length(dvec_sub(corner[0], middle)),
                        lmi_max(dvec_length(dvec_sub(corner[1], middle)), dvec_length(dvec_sub(corner[2], middle))));
    for (int k = 0; k < 3; k++) {
        c[k][0] = corner[k].x, c[k][1] = corner[k].y, c[k][2] = corner[k].z;
    }
    for (int a = 0; a < 3; a++) {
        double low = lmi_min(c[0][a], lmi_min(c[1][a], c[2][a])), high = lmi_max(c[0][a], lmi_max(c[1][a], c[2][a]));
        range_of(g, low - band, high + band, a, &from[a], &to[a]);
    }
    for (uint32_t z = from[2]; z <= to[2]; z++) {
        for (uint32_t y = from[1]; y <= to[1]; y++) {
            for (uint32_t x = from[0]; x <= to[0]; x++) {
                size_t at = node_at(g, x, y, z);
                lm_dvec3 p = position_of(g, x, y, z), off = dvec_sub(p, middle);
                double within = SPARE * lmi_max(m->best[at], g->cell) + radius;
                if (dvec_dot(off, off) > within * within) {
                    continue; /* no point of it is nearer, and no edge of the node crosses it */
                }
                lm_dvec3 near = nearest_on(p, corner[0], corner[1], corner[2]);
                double distance = dvec_length(dvec_sub(near, p));
                if (distance < m->best[at]) {
                    m->best[at] = distance;
                    m->nearest[at] = near;
                    m->source[at] = (uint32_t)at;
                }
                for (int a = 0; a < 3 && distance <= g->cell * 1.001; a++) {
                    m->crossed[at] |= (uint8_t)(crosses(p, a, g->cell, corner, area) << a);
                }
            }
        }
    }
}

/* Marks what can be reached from the border. */
static void flood(maker *m)
{
    const lmi_nodes *g = m->grid;
    size_t step[3] = {1, g->n[0], (size_t)g->n[0] * g->n[1]};
    uint32_t head = 0, tail = 0;
    for (uint32_t z = 0; z < g->n[2]; z++) {
        for (uint32_t y = 0; y < g->n[1]; y++) {
            for (uint32_t x = 0; x < g->n[0]; x++) {
                bool border = x == 0 || y == 0 || z == 0 || x + 1 == g->n[0] || y + 1 == g->n[1] || z + 1 == g->n[2];
                if (border) {
                    size_t at = node_at(g, x, y, z);
                    m->outside[at] = 1;
                    m->queue[tail++] = (uint32_t)at;
                }
            }
        }
    }
    while (head < tail) {
        uint32_t at = m->queue[head++];
        uint32_t where[3] = {at % g->n[0], at / g->n[0] % g->n[1], at / g->n[0] / g->n[1]};
        for (int a = 0; a < 3; a++) {
            for (int side = 0; side < 2; side++) {
                if (side ? where[a] + 1 == g->n[a] : where[a] == 0) {
                    continue;
                }
                size_t other = side ? at + step[a] : at - step[a];
                bool wall = m->crossed[side ? at : other] >> a & 1;
                if (!wall && !m->outside[other]) {
                    m->outside[other] = 1;
                    m->queue[tail++] = (uint32_t)other;
                }
            }
        }
    }
}

/* Cells by which a point may be nearer one cell on, with some to spare. */
#define NEARER 1.001

/* What a node makes of the nearest point that its neighbour at `other` knows, in a pass of spread_nearest. */
static inline void take_nearest(maker *m, size_t at, lm_dvec3 p, size_t other, int pass)
{
    if (m->source[other] == m->source[at] || m->best[other] - NEARER * m->grid->cell > m->best[at]) {
        return;
    }
    double distance = dvec_length(dvec_sub(m->nearest[m->source[other]], p));
    if (distance < m->best[at]) {
        m->best[at] = distance;
        m->source[at] = m->source[other];
        m->changed[at] = (int8_t)pass;
    }
}

/* Nodes take the best of their neighbours', in sweeps along every diagonal, twice; of a neighbour only what is new since they asked it. */
static void spread_nearest(maker *m)
{
    const lmi_nodes *g = m->grid;
    const size_t plane = (size_t)g->n[0] * g->n[1];
    for (int pass = 0; pass < 16; pass++) {
        int asked[3]; /* the last pass that went the same way along an axis */
        for (int a = 0; a < 3; a++) {
            asked[a] = pass - 1;
            while (asked[a] >= 0 && (asked[a] ^ pass) >> a & 1) {
                asked[a]--;
            }
            asked[a] = asked[a] < 0 ? -2 : asked[a];
        }
        for (uint32_t k = 0; k < g->n[2]; k++) {
            const uint32_t z = pass & 4 ? g->n[2] - 1 - k : k;
            for (uint32_t j = 0; j < g->n[1]; j++) {
                const uint32_t y = pass & 2 ? g->n[1] - 1 - j : j;
                for (uint32_t i = 0; i < g->n[0]; i++) {
                    const uint32_t x = pass & 1 ? g->n[0] - 1 - i : i;
                    const size_t at = node_at(g, x, y, z);
                    const lm_dvec3 p = position_of(g, x, y, z);
                    const size_t other[3] = {pass & 1 ? at + 1 : at - 1, pass & 2 ? at + g->n[0] : at - g->n[0],
                                             pass & 4 ? at + plane : at - plane};
                    const bool there[3] = {i > 0, j > 0, k > 0};
                    for (int a = 0; a < 3; a++) {
                        if (there[a] && m->changed[other[a]] > asked[a]) {
                            take_nearest(m, at, p, other[a], pass);
                        }
                    }
                }
            }
        }
    }
}

static void measure(maker *m, const lmi_touch_mesh *mesh, size_t nodes)
{
    for (size_t n = 0; n < nodes; n++) {
        m->best[n] = INFINITY;
        m->source[n] = LMI_NONE;
        m->changed[n] = -1;
    }
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        lm_dvec3 corner[3];
        for (int k = 0; k < 3; k++) {
            corner[k] = dvec_from(mesh->vertices[mesh->triangles[(size_t)t * 3 + k]]);
        }
        add_triangle(m, corner);
    }
    flood(m);
    spread_nearest(m);
    bool hollow = true;
    for (size_t n = 0; n < nodes; n++) {
        hollow = hollow && m->outside[n];
    }
    for (size_t n = 0; n < nodes; n++) {
        double distance = lmi_min(m->best[n], 1e30);
        m->grid->distance[n] = (float)(hollow ? distance - 0.5 * m->grid->cell : m->outside[n] ? distance : -distance);
    }
}

bool lmi_distance_mesh(lmi_memory *memory, const lmi_touch_mesh *mesh, lmi_nodes *grid)
{
    size_t nodes = (size_t)grid->n[0] * grid->n[1] * grid->n[2];
    maker m = {.grid = grid,
               .nearest = lmi_allocate(memory, nodes, sizeof *m.nearest),
               .source = lmi_allocate(memory, nodes, sizeof *m.source),
               .changed = lmi_allocate(memory, nodes, sizeof *m.changed),
               .best = lmi_allocate(memory, nodes, sizeof *m.best),
               .crossed = lmi_allocate(memory, nodes, sizeof *m.crossed),
               .outside = lmi_allocate(memory, nodes, sizeof *m.outside),
               .queue = lmi_allocate(memory, nodes, sizeof *m.queue)};
    bool ok = m.nearest && m.source && m.changed && m.best && m.crossed && m.outside && m.queue;
    if (ok) {
        measure(&m, mesh, nodes);
    }
    lmi_release(memory, m.nearest, nodes, sizeof *m.nearest);
    lmi_release(memory, m.source, nodes, sizeof *m.source);
    lmi_release(memory, m.changed, nodes, sizeof *m.changed);
    lmi_release(memory, m.best, nodes, sizeof *m.best);
    lmi_release(memory, m.crossed, nodes, sizeof *m.crossed);
    lmi_release(memory, m.outside, nodes, sizeof *m.outside);
    lmi_release(memory, m.queue, nodes, sizeof *m.queue);
    return ok;
}

/* --- balls --- */

/* A ball around a point; value: distance from its surface. */
typedef struct ball {
    float at[3], radius;
} ball;

/* For each node the ball whose surface is nearest, as far as is known. */
typedef struct sources {
    lmi_nodes *grid;
    ball *balls;
    uint32_t *ball_of; /* [nodes] or LMI_NONE */
    float *value;      /* [nodes] */
    float nearer;      /* metres by which a ball may be nearer at the next node */
} sources;

static void offer(const sources *s, size_t node, const float p[3], uint32_t candidate)
{
    const ball *b = &s->balls[candidate];
    float x = p[0] - b->at[0], y = p[1] - b->at[1], z = p[2] - b->at[2];
    float value = sqrtf((x * x + y * y) + z * z) - b->radius;
    if (value < s->value[node]) {
        s->value[node] = value;
        s->ball_of[node] = candidate;
    }
}

/* A node takes what a neighbour knows. A ball is nearer here than there by no more than the two are apart. */
static inline void take(const sources *s, size_t node, const float p[3], size_t other)
{
    const uint32_t candidate = s->ball_of[other];
    if (candidate != LMI_NONE && candidate != s->ball_of[node] && s->value[other] - s->nearer < s->value[node]) {
        offer(s, node, p, candidate);
    }
}

/* The neighbours that come before a node on the way there; on the way back those behind it come first. */
#define BEFORE 13
static const int8_t before_node[BEFORE][3] = {{-1, -1, -1}, {0, -1, -1}, {1, -1, -1}, {-1, 0, -1}, {0, 0, -1},
                                              {1, 0, -1},   {-1, 1, -1}, {0, 1, -1},  {1, 1, -1},  {-1, -1, 0},
                                              {0, -1, 0},   {1, -1, 0},  {-1, 0, 0}};

/* Passes balls on from node to node, there and back, twice: then every node has the nearest, or one that is hardly further. */
static void pass_on(const sources *s)
{
    const lmi_nodes *g = s->grid;
    const uint32_t *n = g->n;
    for (int round = 0; round < 4; round++) {
        const bool back = round & 1;
        const int way = back ? -1 : 1;
        ptrdiff_t step[BEFORE];
        for (int b = 0; b < BEFORE; b++) {
            step[b] = way * (((ptrdiff_t)before_node[b][2] * n[1] + before_node[b][1]) * n[0] + before_node[b][0]);
        }
        for (uint32_t k = 0; k < n[2]; k++) {
            const uint32_t z = back ? n[2] - 1 - k : k;
            for (uint32_t j = 0; j < n[1]; j++) {
                const uint32_t y = back ? n[1] - 1 - j : j;
                const bool in_row = j > 0 && j + 1 < n[1] && k > 0;
                for (uint32_t i = 0; i < n[0]; i++) {
                    const uint32_t x = back ? n[0] - 1 - i : i;
                    const size_t node = node_at(g, x, y, z);
                    const lm_vec3 at = vec_from(position_of(g, x, y, z));
                    const float p[3] = {at.x, at.y, at.z};
                    const bool inner = in_row && i > 0 && i + 1 < n[0];
                    for (int b = 0; b < BEFORE; b++) {
                        const int8_t *d = before_node[b];
                        if (inner ||
                            (i + (uint32_t)d[0] < n[0] && j + (uint32_t)d[1] < n[1] && k + (uint32_t)d[2] < n[2])) {
                            take(s, node, p, (size_t)((ptrdiff_t)node + step[b])); /* below 0 wraps */
                        }
                    }
                }
            }
        }
    }
}

static void forget(const sources *s, size_t nodes)
{
    for (size_t at = 0; at < nodes; at++) {
        s->ball_of[at] = LMI_NONE;
        s->value[at] = INFINITY;
    }
}

/* Each point starts at the nodes around it. */
static void start_points(const sources *s, const lm_vec3 *points, uint32_t count, double radius)
{
    lmi_nodes *g = s->grid;
    for (uint32_t n = 0; n < count; n++) {
        ball b = {{points[n].x, points[n].y, points[n].z}, (float)radius};
        s->balls[n] = b;
        uint32_t from[3], to[3];
        for (int a = 0; a < 3; a++) {
            range_of(g, b.at[a], b.at[a], a, &from[a], &to[a]);
        }
        for (uint32_t k = from[2]; k <= to[2]; k++) {
            for (uint32_t j = from[1]; j <= to[1]; j++) {
                for (uint32_t i = from[0]; i <= to[0]; i++) {
                    lm_vec3 at = vec_from(position_of(g, i, j, k));
                    const float p[3] = {at.x, at.y, at.z};
                    offer(s, node_at(g, i, j, k), p, n);
                }
            }
        }
    }
}

/* What lies between balls and cannot be reached from outside is inside: as deep as the nearest node outside is far, less
 * that node's own distance. */
static void fill_gaps(const sources *s, const uint8_t *outside)
{
    lmi_nodes *g = s->grid;
    size_t step[3] = {1, g->n[0], (size_t)g->n[0] * g->n[1]}, nodes = step[2] * g->n[2];
    uint32_t count = 0;
    forget(s, nodes);
    for (size_t at = 0; at < nodes; at++) {
        uint32_t where[3] = {(uint32_t)(at % g->n[0]), (uint32_t)(at / g->n[0] % g->n[1]), (uint32_t)(at / step[2])};
        bool next = false;
        for (int a = 0; a < 3 && outside[at]; a++) {
            next =
                next || (where[a] > 0 && !outside[at - step[a]]) || (where[a] + 1 < g->n[a] && !outside[at + step[a]]);
        }
        if (next) {
            lm_vec3 p = vec_from(position_of(g, where[0], where[1], where[2]));
            ball b = {{p.x, p.y, p.z}, g->distance[at]};
            s->balls[count] = b;
            s->ball_of[at] = count++;
            s->value[at] = -b.radius;
        }
    }
    pass_on(s);
    for (size_t at = 0; at < nodes; at++) {
        if (!outside[at] && s->ball_of[at] != LMI_NONE) {
            float deep = s->value[at] > 0.0f ? s->value[at] : 0.0f;
            g->distance[at] = g->distance[at] < -deep ? g->distance[at] : -deep;
        }
    }
}

bool lmi_distance_balls(lmi_memory *memory, const lm_vec3 *points, uint32_t count, double radius, lmi_nodes *g)
{
    size_t nodes = (size_t)g->n[0] * g->n[1] * g->n[2], most = nodes > count ? nodes : count;
    maker m = {.grid = g,
               .crossed = lmi_allocate(memory, nodes, sizeof *m.crossed),
               .outside = lmi_allocate(memory, nodes, sizeof *m.outside),
               .queue = lmi_allocate(memory, nodes, sizeof *m.queue)};
    sources s = {.grid = g,
                 .balls = lmi_allocate(memory, most, sizeof *s.balls),
                 .ball_of = lmi_allocate(memory, nodes, sizeof *s.ball_of),
                 .value = lmi_allocate(memory, nodes, sizeof *s.value),
                 .nearer = (float)(2.0 * g->cell)};
    bool ok = m.crossed && m.outside && m.queue && s.balls && s.ball_of && s.value;
    if (ok) {
        forget(&s, nodes);
        start_points(&s, points, count, radius);
        pass_on(&s);
        memcpy(g->distance, s.value, nodes * sizeof *s.value);
    }
    for (size_t at = 0; ok && at < nodes; at++) { /* no way into a ball */
        size_t next[3] = {at + 1, at + g->n[0], at + (size_t)g->n[0] * g->n[1]};
        for (int a = 0; a < 3; a++) {
            bool wall = g->distance[at] <= 0.0f || (next[a] < nodes && g->distance[next[a]] <= 0.0f);
            m.crossed[at] |= (uint8_t)(wall << a);
        }
    }
    if (ok) {
        flood(&m);
        fill_gaps(&s, m.outside);
    }
    lmi_release(memory, m.crossed, nodes, sizeof *m.crossed);
    lmi_release(memory, m.outside, nodes, sizeof *m.outside);
    lmi_release(memory, m.queue, nodes, sizeof *m.queue);
    lmi_release(memory, s.balls, most, sizeof *s.balls);
    lmi_release(memory, s.ball_of, nodes, sizeof *s.ball_of);
    lmi_release(memory, s.value, nodes, sizeof *s.value);
    return ok;
}
