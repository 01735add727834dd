/*
 * Abuse: bodies of every maker and mode, put into states that no simulation would lead to, must stay finite, and where
 * nothing prevents it come back to a rigid copy of their rest shape.
 * How long that may take follows from the body's slowest mode (mangle.h).
 */
#include "test/world/mangle.h"

#include <stdlib.h>
#include <string.h>

#define FINITE_STEPS 1000

/* Bodies that would need more steps than this are not waited for: they hang together by a hinge or less. */
#define MOST_STEPS 8000.0

#define MAX_POINTS 32
#define MAX_MEMBERS 2048
#define BODIES_TOGETHER 50

static uint32_t case_count = 1000;

typedef enum cloud_kind {
    CLOUD_BOX,    /* 3 x 3 x 2 to 5 x 2 x 2 */
    CLOUD_BLOB,   /* random points */
    CLOUD_SHEET,  /* flat */
    CLOUD_LINE,   /* straight */
    CLOUD_SMALL,  /* one, two or three points */
    CLOUD_DOUBLE, /* each point twice */
    CLOUD_COUNT
} cloud_kind;

static const char *const maker_names[LM_CLUSTERS_KIND_COUNT] = {"counts", "size",     "lists",
                                                                "kmeans", "elements", "rings"};
static const char *const cloud_names[CLOUD_COUNT] = {"box", "blob", "sheet", "line", "small", "double"};

typedef enum linkage {
    LINKED_NOT,
    LINKED_LOOSELY, /* from every region to every other over pairs of which each shares at least half of its points */
    LINKED_WELL     /* and all regions that share any points share at least half: no hinges beside the links */
} linkage;

typedef struct specimen {
    uint32_t index; /* of the case */
    lm_body_id body;
    cloud_kind cloud;
    mangled_kind mangled;
    lm_cluster_kind maker;
    lm_material material;
    double size;
    linkage linked;
    double share;   /* of the slowest mode */
    uint32_t steps; /* within which it must be itself again; 0: it need not */
    lm_vec3 points[MAX_POINTS];
    uint32_t count;
    uint32_t elements[4 * 8 * MAX_POINTS], element_count, element_size;
    uint32_t offsets[MAX_POINTS + 1], members[MAX_MEMBERS], list_count;
} specimen;

/* ---- rest shapes ---- */

/* The element of a point: itself and its nearest. */
static void nearest_elements(specimen *s, uint32_t size)
{
    s->element_size = size;
    s->element_count = 0;
    if (s->count < size) return;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t *element = s->elements + size * s->element_count++;
        element[0] = i;
        for (uint32_t n = 1; n < size; n++) {
            double best = INFINITY;
            for (uint32_t j = 0; j < s->count; j++) {
                bool taken = false;
                for (uint32_t k = 0; k < n; k++) taken = taken || element[k] == j;
                double away = ref_length(ref_sub(to_double(s->points[i]), to_double(s->points[j])));
                if (taken || away >= best) continue;
                best = away;
                element[n] = j;
            }
        }
    }
}

static void fill_grid(specimen *s, uint32_t nx, uint32_t ny, uint32_t nz)
{
    lm_vec3 *points = grid_points(nx, ny, nz, 0.1);
    s->count = nx * ny * nz;
    memcpy(s->points, points, s->count * sizeof *points);
    free(points);
}

static void make_cloud(specimen *s, random_state *random)
{
    uint32_t n;
    switch (s->cloud) {
    case CLOUD_BOX:
        if (random_below(random, 2))
            fill_grid(s, 3, 3, 2);
        else
            fill_grid(s, 3 + random_below(random, 4), 2, 2);
        nearest_elements(s, 4);
        break;
    case CLOUD_BLOB:
        s->count = 6 + random_below(random, 15);
        for (uint32_t i = 0; i < s->count; i++) s->points[i] = to_float(random_in_cube(random, 0.2));
        nearest_elements(s, 4);
        break;
    case CLOUD_SHEET:
        fill_grid(s, 3 + random_below(random, 3), 1, 3);
        nearest_elements(s, 3);
        break;
    case CLOUD_LINE:
        fill_grid(s, 1, 3 + random_below(random, 6), 1);
        nearest_elements(s, 2);
        break;
    case CLOUD_SMALL:
        s->count = 1 + random_below(random, 3);
        for (uint32_t i = 0; i < s->count; i++) s->points[i] = to_float(random_in_cube(random, 0.2));
        nearest_elements(s, 2);
        break;
    default:
        n = 4 + random_below(random, 6);
        for (uint32_t i = 0; i < n; i++) s->points[i] = s->points[n + i] = to_float(random_in_cube(random, 0.2));
        s->count = 2 * n;
        nearest_elements(s, 4);
        break;
    }
    s->size = 0.0;
    for (uint32_t i = 0; i < s->count; i++)
        for (uint32_t j = 0; j < i; j++)
            s->size = fmax(s->size, ref_length(ref_sub(to_double(s->points[i]), to_double(s->points[j]))));
    if (s->size == 0.0) s->size = 0.1;
}

/* ---- clusters ---- */

static const lm_vec3 *sort_points;
static ref_vec sort_axis;

static int compare_along_axis(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    double x = ref_dot(sort_axis, to_double(sort_points[i])), y = ref_dot(sort_axis, to_double(sort_points[j]));
    return x != y ? (x < y ? -1 : 1) : (i < j ? -1 : i > j);
}

/* Windows over the points in order along a direction (the longest for most bodies), each half over the next, so that any
 * two have either half of their points in common or none. A number of points that no half divides makes one window. */
static void make_half_shared_lists(specimen *s, random_state *random)
{
    uint32_t order[MAX_POINTS], n = 0;
    for (uint32_t i = 0; i < s->count; i++) order[i] = i;
    sort_points = s->points;
    sort_axis = random_below(random, 4) ? ref_v(1.0, 0.011, 0.0037) : random_in_cube(random, 1.0);
    if (s->cloud == CLOUD_LINE) sort_axis = ref_v(0, 1, 0);
    qsort(order, s->count, sizeof *order, compare_along_axis);
    uint32_t half = 2 + random_below(random, 6);
    for (uint32_t tries = 0; tries < 6 && s->count % half != 0; tries++) half = half == 7 ? 2 : half + 1;
    if (s->count % half != 0 || s->count < 2 * half) half = s->count;
    s->list_count = 0;
    for (uint32_t first = 0; first == 0 || first + 2 * half <= s->count; first += half) {
        for (uint32_t k = first; k < first + 2 * half && k < s->count; k++) s->members[n++] = order[k];
        s->offsets[++s->list_count] = n;
    }
}

static void make_clusters(specimen *s, lm_clusters *clusters, random_state *random)
{
    clusters->kind = s->maker;
    clusters->overlap = (float)random_range(random, 0.2, 1.0);
    for (int a = 0; a < 3; a++) clusters->counts[a] = 1 + random_below(random, 3);
    clusters->cell_size = (float)random_range(random, 0.08, 0.3);
    clusters->count = 1 + random_below(random, 4);
    clusters->rings = random_below(random, 3);
    clusters->element_size = s->element_size;
    if (s->maker == LM_CLUSTERS_LISTS) {
        make_half_shared_lists(s, random);
        clusters->offsets = s->offsets;
        clusters->members = s->members;
        clusters->list_count = s->list_count;
    }
    if (s->maker == LM_CLUSTERS_ELEMENTS || s->maker == LM_CLUSTERS_RINGS ||
        (s->maker == LM_CLUSTERS_KMEANS && random_below(random, 2))) {
        clusters->elements = s->elements;
        clusters->element_count = s->element_count;
    }
    if (s->element_count == 0 && (s->maker == LM_CLUSTERS_ELEMENTS || s->maker == LM_CLUSTERS_RINGS))
        clusters->kind = s->maker = LM_CLUSTERS_COUNTS; /* a single point has no mesh */
}

static uint32_t bit_count(uint32_t bits)
{
    uint32_t count = 0;
    for (; bits != 0; bits &= bits - 1) count++;
    return count;
}

static uint32_t root_of(const uint32_t *parent, uint32_t r)
{
    while (parent[r] != r) r = parent[r];
    return r;
}

static linkage linkage_of(const lm_world *world, const specimen *s)
{
    lm_body_info info;
    assert_ok(lm_body_get_info(world, s->body, &info));
    uint32_t *offsets = calloc(info.regions + 1, sizeof *offsets),
             *members = calloc(info.memberships + 1, sizeof *members);
    uint32_t *parent = calloc(info.regions + 1, sizeof *parent), *sets = calloc(info.regions + 1, sizeof *sets);
    assert_ok(lm_body_get_regions(world, s->body, offsets, members));
    uint32_t covered = 0;
    for (uint32_t r = 0; r < info.regions; r++) {
        parent[r] = r;
        for (uint32_t k = offsets[r]; k < offsets[r + 1]; k++) sets[r] |= 1u << members[k];
        covered |= sets[r];
    }
    bool well = true;
    for (uint32_t r = 0; r < info.regions; r++)
        for (uint32_t o = 0; o < r; o++) {
            uint32_t shared = bit_count(sets[r] & sets[o]);
            if (2 * shared >= offsets[r + 1] - offsets[r] && 2 * shared >= offsets[o + 1] - offsets[o])
                parent[root_of(parent, r)] = root_of(parent, o);
            else
                well = well && shared == 0;
        }
    bool linked = info.regions > 0 && bit_count(covered) == s->count;
    for (uint32_t r = 1; r < info.regions; r++) linked = linked && root_of(parent, r) == root_of(parent, 0);
    free(offsets);
    free(members);
    free(parent);
    free(sets);
    return !linked ? LINKED_NOT : well ? LINKED_WELL : LINKED_LOOSELY;
}

/* ---- states ---- */

static void mangle(lm_world *world, const specimen *s, random_state *random, bool moving)
{
    lm_vec3 x[MAX_POINTS], v[MAX_POINTS];
    ref_mat turn = random_rotation(random), axes = random_rotation(random);
    ref_vec at = random_in_cube(random, 10.0);
    for (uint32_t i = 0; i < s->count; i++) {
        ref_vec a = ref_mat_vec(axes, to_double(s->points[i])), r = random_in_cube(random, s->size);
        x[i] = to_float(ref_mat_vec(turn, mangled(s->mangled, a, r)));
        v[i] =
            moving ? to_float(random_in_cube(random, pow(10.0, random_range(random, -2.0, 4.0)))) : (lm_vec3){0, 0, 0};
    }
    assert_ok(lm_body_set_state(world, s->body, to_dvec3(at), x, v));
}

/* Damping around what is critical for the slowest mode, and the number of steps this gives it. */
static void set_damping(lm_world *world, specimen *s, random_state *random)
{
    double ratio = random_range(random, 0.3, 1.5);
    s->steps = damp_to_recover(world, s->body, &s->material, ratio, s->share, s->mangled, s->size, MOST_STEPS);
}

static lm_material random_material(random_state *random, bool recoverable)
{
    lm_material material = lm_material_default();
    material.mode = (lm_mode)random_below(random, LM_MODE_COUNT);
    material.stiffness = recoverable || random_below(random, 2) ? LM_STIFFNESS_ALPHA : LM_STIFFNESS_HERTZ;
    material.alpha = random_below(random, 3) ? (float)random_range(random, 0.2, 1.0) : 1.0f;
    material.beta = (float)random_range(random, 0.0, recoverable ? 0.9 : 0.95);
    if (recoverable) return material;
    material.hertz = (float)pow(10.0, random_range(random, -1.0, 4.0));
    material.damping_ratio = random_below(random, 2) ? 0.0f : (float)random_range(random, 0.0, 2.0);
    material.damping = random_below(random, 2) ? 0.0f : (float)random_range(random, 0.0, 100.0);
    if (random_below(random, 2)) {
        material.yield = (float)random_range(random, 0.001, 1.5);
        material.creep = (float)pow(10.0, random_range(random, -1.0, 4.0));
        material.max_plastic = (float)random_range(random, 0.0, 0.9);
    }
    return material;
}

static void make_specimen(lm_world *world, uint32_t index, specimen *s)
{
    random_state random = {index};
    memset(s, 0, sizeof *s);
    bool recoverable = index % 2 == 0;
    s->index = index;
    s->cloud = (cloud_kind)random_below(&random, CLOUD_COUNT);
    s->mangled = (mangled_kind)random_below(&random, MANGLED_COUNT);
    s->maker = (lm_cluster_kind)random_below(&random, LM_CLUSTERS_KIND_COUNT);
    if (recoverable && random_below(&random, 2)) s->maker = LM_CLUSTERS_LISTS; /* the ones sure to share half */
    make_cloud(s, &random);
    lm_body_def def = lm_body_def_default();
    def.mask = 0;
    def.points = s->points;
    def.point_count = s->count;
    def.material = s->material = random_material(&random, recoverable);
    float masses[MAX_POINTS];
    for (uint32_t i = 0; i < s->count; i++) masses[i] = (float)pow(10.0, random_range(&random, -0.5, 0.5));
    if (random_below(&random, 2)) def.masses = masses;
    make_clusters(s, &def.clusters, &random);
    s->body = make_body(world, &def);
    s->linked = linkage_of(world, s);
    if (recoverable && s->linked != LINKED_NOT) {
        float share;
        assert_ok(lm_body_get_slowest_mode(world, s->body, &share));
        s->share = (double)share;
        if (share > 0.0f) set_damping(world, s, &random);
    }
    mangle(world, s, &random, !recoverable);
}

static void report(const specimen *s, const char *what, double value)
{
    print_error("case %u: %s, %s, %s, mode %d, beta %g, alpha %g, yield %g, share %g, %u points, %u steps: %s %g\n",
                s->index, cloud_names[s->cloud], maker_names[s->maker], mangled_names[s->mangled], s->material.mode,
                (double)s->material.beta, (double)s->material.alpha, (double)s->material.yield, s->share, s->count,
                s->steps, what, value);
}

/* ---- the test ---- */

typedef struct tally {
    uint32_t cases, infinite;
    uint32_t well, nudged, lost; /* well linked; of those held up by a symmetry; not recovered */
    uint32_t loosely, elsewhere; /* loosely linked; of those not recovered */
    uint32_t by_maker[LM_CLUSTERS_KIND_COUNT], by_mode[LM_MODE_COUNT], by_mangled[MANGLED_COUNT];
    double longest; /* steps */
    double worst;   /* residual of the well linked */
} tally;

/* A straight body collapsed to a point never leaves its line, a sheet in a plane never leaves the plane, and a region that
 * has come to point the wrong way there is pulled neither to the one side nor to the other. Noise of a hundred thousandth
 * of the size, which every scene has, must be enough to let it fall, and then it gets its number of steps again. */
static double residual_after_nudge(const lm_world *world, const specimen *s)
{
    lm_world *other = make_world(0.0);
    specimen *again = calloc(1, sizeof *again);
    make_specimen(other, s->index, again);
    double left = left_after_nudge(world, s->body, other, again->body, s->index, s->size, s->steps);
    free(again);
    lm_world_destroy(other);
    return left;
}

/* Regions that are linked loosely may have more than one shape to rest in, as a row of hinged plates has: a few tetrahedra
 * of which one is turned inside out between its neighbours. Those are counted, and must be few. */
static void check_recovered(const lm_world *world, const specimen *s, tally *t)
{
    double left = deformation(world, s->body) / s->size;
    bool recovered = left < 0.01;
    if (s->linked == LINKED_LOOSELY) {
        t->loosely++;
        t->elsewhere += !recovered;
        return;
    }
    t->well++;
    t->by_maker[s->maker]++;
    t->by_mode[s->material.mode]++;
    t->by_mangled[s->mangled]++;
    t->longest = fmax(t->longest, s->steps);
    if (!recovered && (s->cloud == CLOUD_LINE || s->cloud == CLOUD_SHEET) && s->mangled != MANGLED_HUGE) {
        t->nudged++;
        left = residual_after_nudge(world, s);
        recovered = left < 0.01;
    }
    if (!(left <= t->worst)) t->worst = left;
    if (!recovered && t->lost++ < 20) report(s, "not itself again, off by", left);
}

static void abuse(uint32_t first, uint32_t count, tally *t)
{
    lm_world *world = make_world(0.0);
    specimen *all = calloc(count, sizeof *all);
    uint32_t last = FINITE_STEPS;
    for (uint32_t k = 0; k < count; k++) {
        make_specimen(world, first + k, &all[k]);
        last = all[k].steps > last ? all[k].steps : last;
    }
    for (uint32_t step = 1; step <= last; step++) {
        assert_ok(lm_world_step(world, FRAME));
        if (step == FINITE_STEPS || step == 1 || step == 30)
            for (uint32_t k = 0; k < count; k++) {
                if (motion_read(world, all[k].body, lm_dvec3_zero()).finite) continue;
                t->infinite++;
                report(&all[k], "not finite after steps:", step);
            }
        for (uint32_t k = 0; k < count; k++)
            if (all[k].steps == step) check_recovered(world, &all[k], t);
    }
    t->cases += count;
    free(all);
    lm_world_destroy(world);
}

static void mangled_bodies_stay_finite_and_recover(void **context)
{
    (void)context;
    tally t = {0};
    for (uint32_t first = 0; first < case_count; first += BODIES_TOGETHER)
        abuse(first, case_count - first < BODIES_TOGETHER ? case_count - first : BODIES_TOGETHER, &t);
    print_message("%u cases, %u well linked (at most %.0f steps, %u nudged): largest residual %.3g; %u of %u loosely "
                  "linked ones rest in another shape\n",
                  t.cases, t.well, t.longest, t.nudged, t.worst, t.elsewhere, t.loosely);
    for (int k = 0; k < LM_CLUSTERS_KIND_COUNT; k++) print_message("  %s %u", maker_names[k], t.by_maker[k]);
    for (int k = 0; k < MANGLED_COUNT; k++) print_message("  %s %u", mangled_names[k], t.by_mangled[k]);
    print_message("  modes %u %u %u\n", t.by_mode[0], t.by_mode[1], t.by_mode[2]);
    assert_int_equal(t.infinite, 0);
    assert_int_equal(t.lost, 0);
    assert_true(t.well >= t.cases / 4);
    assert_true(t.nudged * 500 <= t.well);
    assert_true(t.elsewhere * 10 <= t.loosely);
    for (int k = 0; k < LM_CLUSTERS_KIND_COUNT; k++) assert_true(t.by_maker[k] > 0);
}

/* The number of cases may be given. */
int main(int argc, char **argv)
{
    if (argc > 1) case_count = (uint32_t)strtoul(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mangled_bodies_stay_finite_and_recover),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
