/*
 * Making an extracted surface even, in rounds: each vertex moves along the surface towards the middle of its neighbours,
 * and back onto the surface; then the diagonal of two neighbouring triangles is exchanged where the angles facing it sum
 * to more than half a turn (Delaunay's criterion). From time to time edges that are much too short shrink to a point. All
 * of it keeps the surface closed, and takes the thin triangles away.
 *
 * An edge is known by the place in the list of triangles where it begins: edge e runs from triangles[e] to the next corner
 * of its triangle, and twin[e] is the same edge seen from the other triangle.
 *
 * Nearly all the time goes into evaluating the field where vertices move. No vertex looks at what another becomes: large
 * meshes are moved by all cores, in pieces.
 *
 * Deterministic: doubles with + - * / and sqrt only, vertices and edges in a fixed order.
 */
#include "base/tasks.h"
#include "model.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 14
#define SHRINK_EVERY 3    /* rounds: short edges are looked for */
#define LAST_STEPS 3      /* onto the surface, after all rounds */
#define MOVES 2           /* in each round, before diagonals are checked */
#define PULL 0.6          /* share of the way to the neighbours' middle */
#define LONGEST_STEP 0.5  /* towards the surface at a time, in cells */
#define SAMPLE_REACH 0.12 /* from the point to where the field is sampled, along each axis, in cells */
#define SHORTEST_EDGE 0.4 /* shorter ones are taken out, in cells */
#define LEAST_VALENCE 3   /* triangles around a vertex */
#define LARGEST_VALENCE 9
#define PIECE 512u        /* vertices that one core moves at a time */
#define MANY_POINTS 4096u /* fewer are moved sooner than threads start */

typedef struct relaxation {
    const shape_model *model;
    double cell;
    draft_mesh *mesh;
    uint32_t *twin;
    uint32_t *valence;
    field_point *sums;
    bool *removed;        /* triangles on their way out */
    lmi_workers *workers; /* null: the calling thread does everything */
} relaxation;

/* ------------------------------------------------------------------------------------------------------------------
 * Along the surface
 */

/* The field around a point, from the corners of a tetrahedron. Its mean there in place of its value at the point smooths
 * away what is smaller than a cell, which triangles of that size could only follow by folding. */
typedef struct field_sample {
    double value;
    field_point slope;
} field_sample;

static field_sample sample_at(const relaxation *r, field_point p)
{
    double e = SAMPLE_REACH * r->cell;
    double a = r->model->field(field_at(p.x + e, p.y - e, p.z - e));
    double b = r->model->field(field_at(p.x - e, p.y - e, p.z + e));
    double c = r->model->field(field_at(p.x - e, p.y + e, p.z - e));
    double d = r->model->field(field_at(p.x + e, p.y + e, p.z + e));
    double scale = 0.25 / e;
    return (field_sample){0.25 * (a + b + c + d),
                          {scale * (a - b - c + d), scale * (-a - b + c + d), scale * (-a + b - c + d)}};
}

static field_point onto_surface(const relaxation *r, field_point p)
{
    field_sample sample = sample_at(r, p);
    double steep = field_dot(sample.slope, sample.slope);
    if (!(steep > 1e-6)) return p; /* a crease or a centre: no direction is better than another */
    double length = fabs(sample.value) / sqrt(steep);
    double share = length > LONGEST_STEP * r->cell ? LONGEST_STEP * r->cell / length : 1.0;
    double step = share * sample.value / steep;
    return field_at(p.x - step * sample.slope.x, p.y - step * sample.slope.y, p.z - step * sample.slope.z);
}

static void add_to(field_point *sum, field_point p)
{
    sum->x += p.x;
    sum->y += p.y;
    sum->z += p.z;
}

/* Towards the middle of the neighbours, whose sum is known. */
static field_point moved(const relaxation *r, size_t i)
{
    field_point p = r->mesh->points[i], slope = sample_at(r, p).slope;
    double share = 1.0 / r->valence[i], steep = field_dot(slope, slope);
    field_point pull = field_less(field_at(r->sums[i].x * share, r->sums[i].y * share, r->sums[i].z * share), p);
    double along = steep > 1e-6 ? field_dot(pull, slope) / steep : 0.0;
    p.x += PULL * (pull.x - along * slope.x);
    p.y += PULL * (pull.y - along * slope.y);
    p.z += PULL * (pull.z - along * slope.z);
    return onto_surface(r, p);
}

static field_point settled(const relaxation *r, size_t i)
{
    field_point p = r->mesh->points[i];
    for (int step = 0; step < LAST_STEPS; step++) p = onto_surface(r, p);
    return p;
}

static size_t piece_end(const relaxation *r, uint32_t piece)
{
    size_t end = ((size_t)piece + 1) * PIECE;
    return end < r->mesh->point_count ? end : r->mesh->point_count;
}

static void move_piece(void *context, uint32_t piece)
{
    relaxation *r = context;
    for (size_t i = (size_t)piece * PIECE; i < piece_end(r, piece); i++) r->mesh->points[i] = moved(r, i);
}

static void settle_piece(void *context, uint32_t piece)
{
    relaxation *r = context;
    for (size_t i = (size_t)piece * PIECE; i < piece_end(r, piece); i++) r->mesh->points[i] = settled(r, i);
}

static void for_pieces(relaxation *r, lm_task *task)
{
    uint32_t pieces = (uint32_t)((r->mesh->point_count + PIECE - 1) / PIECE);
    if (r->workers) {
        lmi_workers_run(r->workers, task, r, pieces);
    } else {
        for (uint32_t piece = 0; piece < pieces; piece++) task(r, piece);
    }
}

static void move_points(relaxation *r)
{
    const draft_mesh *mesh = r->mesh;
    memset(r->sums, 0, mesh->point_count * sizeof *r->sums);
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        const uint32_t *corner = mesh->triangles + 3 * t;
        for (int c = 0; c < 3; c++) add_to(&r->sums[corner[c]], mesh->points[corner[(c + 1) % 3]]);
    }
    for_pieces(r, move_piece);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Diagonals
 */

static uint32_t next_edge(uint32_t e) { return e % 3 == 2 ? e - 2 : e + 1; }

static uint32_t previous_edge(uint32_t e) { return e % 3 == 0 ? e + 2 : e - 1; }

/* Edges by the vertex they begin at; the twin of the edge from a to b is then among the few that begin at b. */
static bool find_twins(relaxation *r)
{
    const draft_mesh *mesh = r->mesh;
    size_t edges = 3 * mesh->triangle_count;
    uint32_t *first = calloc(mesh->point_count + 1, sizeof *first), *sorted = malloc(edges * sizeof *sorted);
    memset(r->valence, 0, mesh->point_count * sizeof *r->valence);
    if (first && sorted) {
        for (size_t e = 0; e < edges; e++) r->valence[mesh->triangles[e]]++;
        for (size_t i = 0; i < mesh->point_count; i++) first[i + 1] = first[i] + r->valence[i];
        for (size_t e = edges; e-- > 0;) sorted[--first[mesh->triangles[e] + 1]] = (uint32_t)e;
        /* first[i + 1] has become the beginning of vertex i's edges */
        for (uint32_t e = 0; e < edges; e++) {
            uint32_t from = mesh->triangles[e], to = mesh->triangles[next_edge(e)];
            for (uint32_t k = 0; k < r->valence[to]; k++) {
                uint32_t other = sorted[first[to + 1] + k];
                if (mesh->triangles[next_edge(other)] == from) r->twin[e] = other;
            }
        }
    }
    bool good = first && sorted;
    free(first);
    free(sorted);
    return good;
}

static field_point normal_of(field_point a, field_point b, field_point c)
{
    field_point u = field_less(b, a), v = field_less(c, a);
    return field_at(u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x);
}

static bool looks_along(field_point a, field_point b, field_point c, field_point direction)
{
    return field_dot(normal_of(a, b, c), direction) > 0.0;
}

static field_point middle_of(field_point a, field_point b)
{
    return field_at(0.5 * (a.x + b.x), 0.5 * (a.y + b.y), 0.5 * (a.z + b.z));
}

/* The cotangent of the angle at `tip` between a and b. */
static double cotangent(field_point tip, field_point a, field_point b)
{
    double area = field_length(normal_of(tip, a, b));
    double along = field_dot(field_less(a, tip), field_less(b, tip));
    return area > 0.0 ? along / area : along > 0.0 ? 1e30 : -1e30;
}

static bool are_joined(const relaxation *r, uint32_t edge_from_a, uint32_t b)
{
    const uint32_t *corners = r->mesh->triangles;
    uint32_t e = edge_from_a;
    do {
        if (corners[next_edge(e)] == b) return true;
        e = r->twin[previous_edge(e)]; /* the next edge that begins at a */
    } while (e != edge_from_a);
    return false;
}

/* Whether edge e (from a to b, with c before it and d behind it) should become the edge from c to d. */
static bool should_turn(const relaxation *r, uint32_t e)
{
    const uint32_t *corners = r->mesh->triangles;
    const field_point *points = r->mesh->points;
    uint32_t back = r->twin[e];
    uint32_t a = corners[e], b = corners[back], c = corners[previous_edge(e)], d = corners[previous_edge(back)];
    if (r->valence[a] <= LEAST_VALENCE || r->valence[b] <= LEAST_VALENCE) return false;
    if (r->valence[c] >= LARGEST_VALENCE || r->valence[d] >= LARGEST_VALENCE) return false;
    field_point A = points[a], B = points[b], C = points[c], D = points[d];
    if (cotangent(C, A, B) + cotangent(D, B, A) > -1e-9) return false;

    /* The new triangles must look the way the old ones did: no folds. */
    field_point one = normal_of(A, B, C), two = normal_of(B, A, D);
    field_point sum = field_at(one.x + two.x, one.y + two.y, one.z + two.z);
    if (!looks_along(A, D, C, sum) || !looks_along(B, C, D, sum)) {
        /* Unless the old ones were folded themselves. */
        field_point out = sample_at(r, middle_of(A, B)).slope;
        if (!looks_along(A, D, C, out) || !looks_along(B, C, D, out)) return false;
    }
    return !are_joined(r, previous_edge(e), d);
}

static void make_twins(relaxation *r, uint32_t e, uint32_t other)
{
    r->twin[e] = other;
    r->twin[other] = e;
}

/* Triangles a b c and b a d become d c a and c d b; edge e then runs from d to c. */
static void turn_edge(relaxation *r, uint32_t e)
{
    uint32_t *corners = r->mesh->triangles;
    uint32_t back = r->twin[e];
    uint32_t bc = next_edge(e), ca = previous_edge(e), ad = next_edge(back), db = previous_edge(back);
    uint32_t a = corners[e], b = corners[back], c = corners[ca], d = corners[db];
    uint32_t beyond_bc = r->twin[bc], beyond_ca = r->twin[ca], beyond_ad = r->twin[ad], beyond_db = r->twin[db];

    corners[e] = d, corners[bc] = c, corners[ca] = a;
    corners[back] = c, corners[ad] = d, corners[db] = b;
    make_twins(r, bc, beyond_ca); /* c a */
    make_twins(r, ca, beyond_ad); /* a d */
    make_twins(r, ad, beyond_db); /* d b */
    make_twins(r, db, beyond_bc); /* b c */
    r->valence[a]--, r->valence[b]--;
    r->valence[c]++, r->valence[d]++;
}

static void turn_edges(relaxation *r)
{
    for (uint32_t e = 0; e < 3 * r->mesh->triangle_count; e++)
        if (e < r->twin[e] && should_turn(r, e)) turn_edge(r, e);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Short edges
 */

static uint32_t next_around(const relaxation *r, uint32_t e) { return r->twin[previous_edge(e)]; }

/* How many vertices are neighbours of both ends. More than two: the edge is the waist of something, and must stay. */
static uint32_t shared_neighbours(const relaxation *r, uint32_t e)
{
    const uint32_t *corners = r->mesh->triangles;
    uint32_t shared = 0, from_a = e, back = r->twin[e];
    do {
        uint32_t from_b = back;
        do {
            shared += corners[next_edge(from_a)] == corners[next_edge(from_b)];
            from_b = next_around(r, from_b);
        } while (from_b != back);
        from_a = next_around(r, from_a);
    } while (from_a != e);
    return shared;
}

/* Whether the triangles around the vertex where edge e begins keep looking the same way, or come to look `out`, when it
 * moves to p; the two at the edge itself do not count. */
static bool can_move(const relaxation *r, uint32_t e, field_point p, field_point out)
{
    const uint32_t *corners = r->mesh->triangles;
    const field_point *points = r->mesh->points;
    for (uint32_t at = next_around(r, e); at != e; at = next_around(r, at)) {
        if (at / 3 == r->twin[e] / 3) continue;
        field_point b = points[corners[next_edge(at)]], c = points[corners[previous_edge(at)]];
        if (!looks_along(p, b, c, normal_of(points[corners[at]], b, c)) && !looks_along(p, b, c, out)) return false;
    }
    return true;
}

static bool can_shrink(const relaxation *r, uint32_t e, field_point middle)
{
    const uint32_t *corners = r->mesh->triangles;
    uint32_t back = r->twin[e];
    uint32_t a = corners[e], b = corners[back], c = corners[previous_edge(e)], d = corners[previous_edge(back)];
    uint32_t together = r->valence[a] + r->valence[b] - 4;
    field_point out = sample_at(r, middle).slope;
    return together >= LEAST_VALENCE && together <= LARGEST_VALENCE && r->valence[c] > LEAST_VALENCE &&
           r->valence[d] > LEAST_VALENCE && shared_neighbours(r, e) == 2 && can_move(r, e, middle, out) &&
           can_move(r, back, middle, out);
}

/* The end of edge e becomes its beginning, which moves to the middle; the triangles on both sides go. */
static void shrink_edge(relaxation *r, uint32_t e, field_point middle)
{
    uint32_t *corners = r->mesh->triangles;
    uint32_t back = r->twin[e], a = corners[e], b = corners[back];
    uint32_t bc = next_edge(e), ca = previous_edge(e), ad = next_edge(back), db = previous_edge(back);
    uint32_t at = back;
    do {
        corners[at] = a;
        at = next_around(r, at);
    } while (at != back);
    make_twins(r, r->twin[bc], r->twin[ca]);
    make_twins(r, r->twin[ad], r->twin[db]);
    r->removed[e / 3] = r->removed[back / 3] = true;
    r->valence[a] += r->valence[b] - 4;
    r->valence[b] = 0;
    r->valence[corners[ca]]--, r->valence[corners[db]]--;
    r->mesh->points[a] = middle;
}

/* Closes the gaps in the lists. `sums` is used for the places, which are whole numbers. */
static void close_gaps(relaxation *r)
{
    draft_mesh *mesh = r->mesh;
    size_t points = 0, triangles = 0;
    for (size_t i = 0; i < mesh->point_count; i++) {
        if (r->valence[i] == 0) continue;
        r->sums[i].x = (double)points;
        mesh->points[points++] = mesh->points[i];
    }
    for (size_t t = 0; t < mesh->triangle_count; t++) {
        if (r->removed[t]) continue;
        for (size_t c = 0; c < 3; c++)
            mesh->triangles[3 * triangles + c] = (uint32_t)r->sums[mesh->triangles[3 * t + c]].x;
        triangles++;
    }
    mesh->point_count = points;
    mesh->triangle_count = triangles;
}

static bool shrink_edges(relaxation *r)
{
    const draft_mesh *mesh = r->mesh;
    double shortest = SHORTEST_EDGE * SHORTEST_EDGE * r->cell * r->cell;
    memset(r->removed, 0, mesh->triangle_count * sizeof *r->removed);
    for (uint32_t e = 0; e < 3 * mesh->triangle_count; e++) {
        if (r->removed[e / 3]) continue;
        field_point p = mesh->points[mesh->triangles[e]], q = mesh->points[mesh->triangles[next_edge(e)]];
        field_point along = field_less(q, p);
        if (field_dot(along, along) >= shortest) continue;
        field_point middle = middle_of(p, q);
        if (can_shrink(r, e, middle)) shrink_edge(r, e, middle);
    }
    close_gaps(r);
    return find_twins(r);
}

/* ------------------------------------------------------------------------------------------------------------------
 * The rounds
 */

lm_result lmi_shape_relax(const shape_model *model, double cell, draft_mesh *mesh)
{
    relaxation r = {.model = model, .cell = cell, .mesh = mesh};
    r.twin = malloc(3 * mesh->triangle_count * sizeof *r.twin);
    r.valence = malloc(mesh->point_count * sizeof *r.valence);
    r.sums = malloc(mesh->point_count * sizeof *r.sums);
    r.removed = malloc(mesh->triangle_count * sizeof *r.removed);
    lmi_memory memory;
    lmi_memory_init(&memory, &(lm_allocator){0});
    if (mesh->point_count >= MANY_POINTS) r.workers = lmi_workers_create(&memory, 0, &(lm_tasks){0});
    bool good = r.twin && r.valence && r.sums && r.removed && find_twins(&r);
    for (int round = 0; round < ROUNDS && good; round++) {
        for (int move = 0; move < MOVES; move++) move_points(&r);
        turn_edges(&r);
        if (round % SHRINK_EVERY == SHRINK_EVERY - 1) good = shrink_edges(&r);
    }
    if (good) for_pieces(&r, settle_piece);
    if (r.workers) lmi_workers_destroy(r.workers, &memory);
    free(r.twin);
    free(r.valence);
    free(r.sums);
    free(r.removed);
    return good ? LM_OK : LM_ERROR_MEMORY;
}
