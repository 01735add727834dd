/*
 * The solver of contacts against a plain one in double precision, which goes through soft contacts one after the other as the
 * equations of contact/contact.h have them; and the same bits on every instruction set, for any number of workers, and
 * whatever else stands in the lanes beside a contact.
 */
#include "base/dmath.h"
#include "contact/soft.h"
#include "contact/solver.h"
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#define BODIES 9
#define PLACES 60
#define CONTACTS 900
#define MOST_REFS 7
#define SECONDS (1.0 / 120.0)

typedef struct contact {
    uint32_t a, b; /* b == BODIES: a wall */
    uint32_t count_a, count_b, rider_a[MOST_REFS], rider_b[MOST_REFS];
    float weight_a[MOST_REFS], weight_b[MOST_REFS];
    double normal[3], surface[3], off[3], depth, friction, restitution, shallow;
    double pressed, braked[3]; /* what its point was given last time */
} contact;

typedef struct heap {
    _Alignas(64) float x[BODIES][PLACES * 4], v[BODIES][PLACES * 4];
    double mean_mass[BODIES];
    contact contacts[CONTACTS];
} heap;

static double drawn(uint64_t *seed) /* 0 to 1 */
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 40) / 16777216.0;
}

/* Particles that hold a point; the weights add up to 1, some are below 0. */
static uint32_t draw_side(uint64_t *seed, uint32_t *rider, float *weight)
{
    uint32_t count = 1 + (uint32_t)(drawn(seed) * MOST_REFS), first = (uint32_t)(drawn(seed) * (PLACES - MOST_REFS));
    double sum = 0.0;
    for (uint32_t n = 0; n < count; n++) {
        rider[n] = first + n;
        weight[n] = (float)(drawn(seed) - 0.1);
        sum += weight[n];
    }
    if (sum < 0.2) {
        count = 1;
        weight[0] = 1.0f;
        sum = 1.0;
    }
    for (uint32_t n = 0; n < count; n++) {
        weight[n] /= (float)sum;
    }
    return count;
}

static void draw_vector(uint64_t *seed, double size, double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = size * (2.0 * drawn(seed) - 1.0);
    }
}

/* Runs of contacts between the same bodies, with walls among them. */
static void draw_heap(heap *h, uint64_t seed)
{
    for (int b = 0; b < BODIES; b++) {
        h->mean_mass[b] = 0.2 + drawn(&seed);
        for (int n = 0; n < PLACES; n++) {
            for (int i = 0; i < 3; i++) {
                h->x[b][n * 4 + i] = (float)(drawn(&seed) - 0.5);
                h->v[b][n * 4 + i] = (float)(2.0 * drawn(&seed) - 1.0);
            }
            h->x[b][n * 4 + 3] = 1.0f;
            h->v[b][n * 4 + 3] = (float)(0.5 + drawn(&seed));
        }
    }
    for (int n = 0; n < CONTACTS; n++) {
        contact *c = &h->contacts[n];
        if (n == 0 || drawn(&seed) < 0.08) {
            c->a = (uint32_t)(drawn(&seed) * BODIES);
            c->b = (uint32_t)(drawn(&seed) * (BODIES + 1));
            c->b = c->b == c->a ? BODIES : c->b;
        } else {
            c->a = c[-1].a;
            c->b = c[-1].b;
        }
        c->count_a = draw_side(&seed, c->rider_a, c->weight_a);
        c->count_b = draw_side(&seed, c->rider_b, c->weight_b);
        draw_vector(&seed, 1.0, c->normal);
        double length = sqrt(c->normal[0] * c->normal[0] + c->normal[1] * c->normal[1] + c->normal[2] * c->normal[2]);
        for (int i = 0; i < 3; i++) {
            c->normal[i] /= length;
        }
        draw_vector(&seed, 0.5, c->surface);
        draw_vector(&seed, 0.01, c->off);
        c->depth = 0.02 * drawn(&seed);
        c->friction = drawn(&seed);
        c->restitution = 0.5 * drawn(&seed);
        c->shallow = 0.01 * drawn(&seed);
        c->pressed = fmax(0.1 * (drawn(&seed) - 0.3), 0.0);
        draw_vector(&seed, 0.1 * drawn(&seed), c->braked);
    }
}

/* --- the plain solver --- */

typedef struct plain {
    double x[BODIES][PLACES][3], v[BODIES][PLACES][3];
    double load[BODIES][PLACES], bears[BODIES][PLACES];
    double deep[CONTACTS], level[CONTACTS], bounce[CONTACTS], share[CONTACTS];
    double ahead[CONTACTS][3], braked[CONTACTS][3], more[CONTACTS][3], pressed[CONTACTS], shifted[CONTACTS],
        along[CONTACTS];
} plain;

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void see(const heap *h, const contact *c, double (*of)[PLACES][3], bool velocity, double out[3])
{
    (void)h;
    for (int i = 0; i < 3; i++) {
        out[i] = velocity && c->b == BODIES ? -(double)(float)c->surface[i] : 0.0;
        for (uint32_t n = 0; n < c->count_a; n++) {
            out[i] += c->weight_a[n] * of[c->a][c->rider_a[n]][i];
        }
        for (uint32_t n = 0; c->b < BODIES && n < c->count_b; n++) {
            out[i] -= c->weight_b[n] * of[c->b][c->rider_b[n]][i];
        }
    }
}

static void give(const heap *h, const contact *c, double (*to)[PLACES][3], const double impulse[3])
{
    for (int i = 0; i < 3; i++) {
        for (uint32_t n = 0; n < c->count_a; n++) {
            to[c->a][c->rider_a[n]][i] += c->weight_a[n] / h->v[c->a][c->rider_a[n] * 4 + 3] * impulse[i];
        }
        for (uint32_t n = 0; c->b < BODIES && n < c->count_b; n++) {
            to[c->b][c->rider_b[n]][i] -= h->mean_mass[c->a] / h->mean_mass[c->b] * c->weight_b[n] /
                                          h->v[c->b][c->rider_b[n] * 4 + 3] * impulse[i];
        }
    }
}

static void plain_begin(const heap *h, plain *p, uint32_t count)
{
    memset(p, 0, sizeof *p);
    for (int b = 0; b < BODIES; b++) {
        for (int n = 0; n < PLACES * 3; n++) {
            p->x[b][n / 3][n % 3] = h->x[b][n / 3 * 4 + n % 3];
            p->v[b][n / 3][n % 3] = h->v[b][n / 3 * 4 + n % 3];
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        const contact *c = &h->contacts[k];
        for (uint32_t n = 0; n < c->count_a; n++) {
            p->load[c->a][c->rider_a[n]] += fabs((double)c->weight_a[n]);
        }
        for (uint32_t n = 0; c->b < BODIES && n < c->count_b; n++) {
            p->load[c->b][c->rider_b[n]] += fabs((double)c->weight_b[n]);
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        const contact *c = &h->contacts[k];
        double u[3], at[3];
        for (uint32_t n = 0; n < c->count_a; n++) {
            uint32_t place = c->rider_a[n];
            p->deep[k] += fabs((double)c->weight_a[n]) / h->v[c->a][place * 4 + 3] * p->load[c->a][place];
        }
        for (uint32_t n = 0; c->b < BODIES && n < c->count_b; n++) {
            uint32_t place = c->rider_b[n];
            p->deep[k] += h->mean_mass[c->a] / h->mean_mass[c->b] * fabs((double)c->weight_b[n]) /
                          h->v[c->b][place * 4 + 3] * p->load[c->b][place];
        }
        see(h, c, p->v, true, u);
        see(h, c, p->x, false, at);
        double approach = -dot(u, c->normal), came = SECONDS * approach;
        double depth = fmin(c->depth, fmax(SECONDS * (LMI_PART_SPEED + 1.5 * fmax(approach, 0.0)), 2.0 * LMI_LEFT));
        p->bounce[k] = approach > LMI_BOUNCE_SPEED ? c->restitution * approach : 0.0;
        p->share[k] = came > 0.0 ? fmin(depth / came, 1.0) : 0.0;
        p->level[k] = depth + dot(at, c->normal) - LMI_LEFT;
    }
}

/* The sums of sizes of impulses on a contact's particles: side b in units of a's mass. */
static void plain_bear(const heap *h, plain *p, const contact *c, double size)
{
    for (uint32_t n = 0; n < c->count_a; n++) {
        p->bears[c->a][c->rider_a[n]] += size * fabs((double)c->weight_a[n]) / h->v[c->a][c->rider_a[n] * 4 + 3];
    }
    for (uint32_t n = 0; c->b < BODIES && n < c->count_b; n++) {
        p->bears[c->b][c->rider_b[n]] += size * h->mean_mass[c->a] / h->mean_mass[c->b] * fabs((double)c->weight_b[n]) /
                                         h->v[c->b][c->rider_b[n] * 4 + 3];
    }
}

/* What points were given last time, no more of it than loses energy. */
static void plain_warm(const heap *h, plain *p, uint32_t count)
{
    double work = 0.0, u[3];
    int whole = 0, part = 0;
    for (uint32_t k = 0; k < count; k++) {
        const contact *c = &h->contacts[k];
        plain_bear(h, p, c, sqrt(c->pressed * c->pressed + dot(c->braked, c->braked)) * (c->pressed > 0.0));
    }
    for (uint32_t k = 0; k < count; k++) {
        const contact *c = &h->contacts[k];
        double braked[3], impulse[3], borne = 0.0, along = dot(c->braked, c->normal);
        for (int i = 0; i < 3; i++) {
            braked[i] = c->braked[i] - along * c->normal[i];
        }
        double size = sqrt(dot(braked, braked)), most = c->friction * c->pressed;
        for (int i = 0; i < 3; i++) {
            braked[i] *= size > most ? most / size : 1.0;
            impulse[i] = c->pressed * c->normal[i] + braked[i];
        }
        for (uint32_t n = 0; n < c->count_a; n++) {
            borne += fabs((double)c->weight_a[n]) * p->bears[c->a][c->rider_a[n]];
        }
        for (uint32_t n = 0; c->b < BODIES && n < c->count_b; n++) {
            borne += fabs((double)c->weight_b[n]) * p->bears[c->b][c->rider_b[n]];
        }
        see(h, c, p->v, true, u);
        double takes = fmax(-dot(impulse, u), 0.0);
        borne *= sqrt(dot(impulse, impulse));
        double keeps = 2.0 * takes < borne ? 2.0 * takes / borne : 1.0;
        whole += c->pressed > 0.0 && keeps == 1.0;
        part += keeps < 1.0;
        p->pressed[k] = keeps * c->pressed;
        for (int i = 0; i < 3; i++) {
            p->braked[k][i] = keeps * braked[i];
            p->ahead[k][i] = keeps * impulse[i];
        }
        work += 0.5 * h->mean_mass[c->a] * dot(p->ahead[k], u);
    }
    for (uint32_t k = 0; k < count; k++) {
        give(h, &h->contacts[k], p->v, p->ahead[k]);
    }
    for (uint32_t k = 0; k < count; k++) {
        see(h, &h->contacts[k], p->v, true, u);
        work += 0.5 * h->mean_mass[h->contacts[k].a] * dot(p->ahead[k], u);
    }
    assert_true(work < 0.0); /* what all of them do together */
    assert_true(whole > 0 && part > 100);
}

static void plain_velocities(const heap *h, plain *p, uint32_t count, double beta)
{
    for (uint32_t k = 0; k < count; k++) {
        const contact *c = &h->contacts[k];
        const double *n = c->normal;
        double u[3], total[3], before[3];
        see(h, c, p->v, true, u);
        double along = dot(p->ahead[k], n), un = dot(u, n);
        for (int i = 0; i < 3; i++) {
            before[i] = p->pressed[k] * n[i] + p->braked[k][i];
            total[i] = p->ahead[k][i] - along * n[i] - (u[i] - un * n[i]) / p->deep[k];
        }
        p->pressed[k] = fmax(along + (p->bounce[k] - un) / p->deep[k], 0.0);
        double most = c->friction * p->pressed[k], size = sqrt(dot(total, total));
        for (int i = 0; i < 3; i++) {
            p->braked[k][i] = size > most ? most / size * total[i] : total[i];
            double now = p->pressed[k] * n[i] + p->braked[k][i], ahead = now + beta * (now - before[i]);
            p->more[k][i] = ahead - p->ahead[k][i];
            p->ahead[k][i] = ahead;
        }
    }
    for (uint32_t k = 0; k < count; k++) {
        give(h, &h->contacts[k], p->v, p->more[k]);
    }
}

static void plain_take_back(const heap *h, plain *p, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        double way[3];
        if (p->pressed[k] > 0.0) {
            p->shifted[k] = p->share[k] * SECONDS * p->pressed[k];
            p->level[k] += p->share[k] * SECONDS * p->bounce[k];
            for (int i = 0; i < 3; i++) {
                way[i] = p->shifted[k] * h->contacts[k].normal[i] + SECONDS * p->braked[k][i];
            }
            give(h, &h->contacts[k], p->x, way);
        }
        p->along[k] = p->shifted[k];
    }
}

static void plain_positions(const heap *h, plain *p, uint32_t count, bool first, double beta)
{
    for (uint32_t k = 0; k < count; k++) {
        const contact *c = &h->contacts[k];
        double at[3];
        see(h, c, p->x, false, at);
        double depth = p->level[k] - dot(at, c->normal);
        if (first && c->b < BODIES) {
            double below = fmax(depth, 0.0), shallow = fmin(below, c->shallow);
            double keeps = (1.0 - fmin(LMI_EASE_SHALLOW * SECONDS, 1.0)) * shallow +
                           (1.0 - fmin(LMI_EASE * SECONDS, 0.5)) * (below - shallow);
            p->level[k] -= keeps;
            depth -= keeps;
        }
        double shifted = fmax(p->along[k] + depth / p->deep[k], 0.0),
               ahead = shifted + beta * (shifted - p->shifted[k]);
        for (int i = 0; i < 3; i++) {
            p->more[k][i] = (ahead - p->along[k]) * c->normal[i];
        }
        p->shifted[k] = shifted;
        p->along[k] = ahead;
    }
    for (uint32_t k = 0; k < count; k++) {
        give(h, &h->contacts[k], p->x, p->more[k]);
    }
}

static void plain_solve(const heap *h, plain *p, uint32_t count)
{
    plain_begin(h, p, count);
    plain_warm(h, p, count);
    for (uint32_t n = 0; n < LMI_SOFT_PASSES; n++) {
        plain_velocities(h, p, count, lmi_soft_further(n, LMI_SOFT_PASSES));
    }
    plain_take_back(h, p, count);
    for (uint32_t n = 0; n < LMI_SOFT_SHIFTS; n++) {
        plain_positions(h, p, count, n == 0, lmi_soft_further(n, LMI_SOFT_SHIFTS));
    }
}

/* --- the solver --- */

/* Solves a heap in place. `lists`: in how many lists the contacts come; `near`: contacts that are only near stand among them. */
static void solve(heap *h, lm_isa isa, uint32_t workers, uint32_t lists, bool near)
{
    lm_world *world = make_world_with(0.0, isa, workers);
    static lmi_body bodies[BODIES];
    static lmi_push pushes[BODIES];
    static lmi_touching touched[BODIES];
    static lmi_warm warm[BODIES][2 * CONTACTS];
    lmi_solver solver = {0};
    lmi_surface wall = {0};
    lmi_solver_room room = {.rows_a = MOST_REFS,
                            .rows_b = MOST_REFS,
                            .owners = BODIES,
                            .nodes = BODIES,
                            .places = BODIES * PLACES,
                            .events = near};
    lmi_solver_room_contacts(&room, 3 * CONTACTS, 3 * CONTACTS);
    assert_true(lmi_solver_reserve(&world->memory, &solver, &room));
    memset(warm, 0, sizeof warm);
    for (uint32_t k = 0; k < CONTACTS; k++) {
        lmi_warm *w = &warm[h->contacts[k].a][k];
        w->pressed = (float)h->contacts[k].pressed;
        for (int i = 0; i < 3; i++) {
            w->braked[i] = (float)h->contacts[k].braked[i];
        }
    }
    lmi_solver_begin(&solver, world, SECONDS, LMI_SWEEPS, BODIES);
    solver.workers = world->workers;
    for (uint32_t b = 0; b < BODIES; b++) {
        bodies[b] = (lmi_body){.x = h->x[b],
                               .v = h->v[b],
                               .mean_mass = h->mean_mass[b],
                               .rest_size = 1.0,
                               .place_count = PLACES,
                               .touch = {.count = CONTACTS, .warm = warm[b]}};
        pushes[b] = (lmi_push){.body = &bodies[b], .x = h->x[b], .v = h->v[b], .owner = b, .node = b};
        solver.owners[b] = (lmi_owner){.body = &bodies[b], .first_place = b * PLACES};
        bodies[b].touched = near ? &touched[b] : NULL;
    }
    lmi_contact_list list[8];
    for (uint32_t n = 0; n < lists; n++) {
        list[n] = lmi_solver_list(&solver, n * (3 * CONTACTS / lists), 3 * CONTACTS / lists);
    }
    for (uint32_t k = 0; k < CONTACTS; k++) {
        const contact *c = &h->contacts[k];
        lmi_contact_def def = {.a = &pushes[c->a],
                               .b = c->b < BODIES ? &pushes[c->b] : NULL,
                               .rider_a = c->rider_a,
                               .weight_a = c->weight_a,
                               .count_a = c->count_a,
                               .stride_a = 1,
                               .rider_b = c->rider_b,
                               .weight_b = c->weight_b,
                               .count_b = c->count_b,
                               .normal = dvec(c->normal[0], c->normal[1], c->normal[2]),
                               .surface = dvec(c->surface[0], c->surface[1], c->surface[2]),
                               .off = dvec(c->off[0], c->off[1], c->off[2]),
                               .depth = c->depth,
                               .friction = c->friction,
                               .restitution = c->restitution,
                               .shallow = c->shallow,
                               .wall = c->b < BODIES ? NULL : &wall,
                               .point = k};
        lmi_contact_list *to = &list[k * lists / CONTACTS];
        if (near && k % 3 == 0) {
            lmi_contact_def only = def;
            only.depth = -0.001;
            lmi_contact_add(to, &only);
        }
        lmi_contact_add(to, &def);
    }
    if (near) { /* nobody reads what is put down */
        solver.room.events = false;
        for (uint32_t b = 0; b < BODIES; b++) {
            bodies[b].touched = NULL;
        }
    }
    lmi_solver_take(&solver, list, lists);
    lmi_solver_solve(&solver);
    assert_int_equal(solver.stats.soft, near ? CONTACTS + (CONTACTS + 2) / 3 : CONTACTS);
    assert_int_equal(solver.stats.passes, LMI_SOFT_PASSES);
    assert_true(solver.stats.residual > 0.0f && solver.stats.residual < 10.0f);
    lmi_solver_free(&world->memory, &solver);
    lm_world_destroy(world);
}

static void as_the_equations_have_it(void **context)
{
    (void)context;
    static heap h;
    static plain p;
    for (uint64_t seed = 1; seed < 6; seed++) {
        draw_heap(&h, seed);
        plain_solve(&h, &p, CONTACTS);
        double moved = 0.0;
        heap *now = malloc(sizeof *now);
        assert_non_null(now);
        memcpy(now, &h, sizeof h);
        solve(now, LM_ISA_BEST, 1, 1, false);
        for (int n = 0; n < BODIES * PLACES * 3; n++) {
            int b = n / (PLACES * 3), k = n / 3 % PLACES, i = n % 3;
            assert_true(fabs(now->v[b][k * 4 + i] - p.v[b][k][i]) < 2e-5);
            assert_true(fabs(now->x[b][k * 4 + i] - p.x[b][k][i]) < 1e-6);
            moved = fmax(moved, fabs(now->v[b][k * 4 + i] - (double)h.v[b][k * 4 + i]));
        }
        assert_true(moved > 0.1);
        free(now);
    }
}

static void the_same_bits(void **context)
{
    (void)context;
    static heap first, other;
    draw_heap(&first, 17);
    memcpy(&other, &first, sizeof first);
    heap *start = malloc(sizeof *start);
    assert_non_null(start);
    memcpy(start, &first, sizeof first);
    solve(&first, LM_ISA_SCALAR, 1, 1, false);
    for (int isa = LM_ISA_SCALAR; isa < LM_ISA_COUNT; isa++) {
        for (uint32_t n = 0; n < 4 && lm_isa_supported((lm_isa)isa); n++) {
            memcpy(&other, start, sizeof other);
            solve(&other, (lm_isa)isa, 1 + n, n == 3 ? 5 : 1, n > 1);
            assert_memory_equal(other.x, first.x, sizeof first.x);
            assert_memory_equal(other.v, first.v, sizeof first.v);
        }
    }
    free(start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_equations_have_it), cmocka_unit_test(the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
