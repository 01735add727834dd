/*
 * Adds contacts to a list. Writes the list alone, so that bodies may be searched side by side.
 */
#include "contact/solver.h"

uint32_t lmi_contacts_limit(const lmi_body *body)
{
    uint32_t points = body->touch.count ? body->touch.count : body->particle_count;
    return points < LMI_MOST_CONTACTS ? points : LMI_MOST_CONTACTS;
}

uint32_t lmi_contacts_rows(const lmi_body *body) { return body->touch.count ? body->touch.most_rows : 1; }

static lmi_found *last_stiff(const lmi_contact_list *list) { return &list->found[list->limit - list->stiff]; }

/* Whether the last contact in the list is one of the same cell with the same partner. */
static bool same_cell(const lmi_contact_list *list, const lmi_contact_def *def, uint32_t leader)
{
    if (list->run_count == 0 || leader == LMI_NONE) {
        return false;
    }
    const lmi_run *run = &list->runs[list->run_count - 1];
    return run->stiff && run->count > 0 && run->a == def->a && run->b == def->b && run->wall == def->wall &&
           last_stiff(list)->point == leader;
}

/* Takes the last contact, a stiff one, out of the list. */
static void drop_last(lmi_contact_list *list)
{
    list->ref_count = last_stiff(list)->first_ref;
    list->runs[list->run_count - 1].count--;
    list->stiff--;
}

static uint32_t hold(lmi_ref *refs, const uint32_t *rider, const float *weight, uint32_t count, uint32_t stride)
{
    uint32_t held = 0;
    for (uint32_t n = 0; n < count; n++) {
        float w = weight[(size_t)n * stride];
        if (w != 0.0f) {
            refs[held++] = (lmi_ref){rider[(size_t)n * stride], w};
        }
    }
    return held;
}

static void put(float to[3], lm_dvec3 from) { to[0] = (float)from.x, to[1] = (float)from.y, to[2] = (float)from.z; }

/* Where a point is, from the body's origin. */
static void put_place(float to[3], const lmi_contact_def *def)
{
    quad at = {0};
    for (uint32_t n = 0; n < def->count_a; n++) {
        size_t k = (size_t)n * def->stride_a;
        at = quad_add_scaled(at, def->weight_a[k], quad_load(def->a->x + (size_t)def->rider_a[k] * 4));
    }
    put(to, quad_to(at));
}

/* The run that the next contact belongs to. */
static lmi_run *run_of(lmi_contact_list *list, const lmi_contact_def *def, bool stiff)
{
    lmi_run *run = list->run_count ? &list->runs[list->run_count - 1] : NULL;
    if (!run || run->a != def->a || run->b != def->b || run->wall != def->wall || run->stiff != stiff) {
        run = run && run->count == 0 ? run : &list->runs[list->run_count++];
        *run = (lmi_run){.a = def->a,
                         .b = def->b,
                         .wall = def->wall,
                         .first = stiff ? list->stiff : list->soft,
                         .stiff = stiff,
                         .forgets = list->forgets};
    }
    return run;
}

void lmi_contact_notice(lmi_contact_list *list, const lmi_noticed *noticed)
{
    if (list->noticed_count == list->limit) {
        lmi_solver_take(list->solver, list, 1);
    }
    list->noticed[list->noticed_count++] = *noticed;
}

void lmi_contact_add(lmi_contact_list *list, const lmi_contact_def *def)
{
    bool stiff = !list->presses && (def->a->rigid > 0.0f || (def->b && def->b->rigid > 0.0f));
    bool near = !list->presses && !stiff && def->depth < 0.0;
    const lmi_body *body = def->a->body;
    if (near && !body->touched) {
        return; /* nobody asks who is near */
    }
    if (list->soft + list->stiff == list->limit || list->ref_count + def->count_a + def->count_b > list->ref_limit) {
        lmi_solver_take(list->solver, list, 1);
    }
    uint32_t point = def->point != LMI_NONE && stiff ? body->touch.leader[def->point] : def->point;
    if (stiff && def->depth < 0.02 * body->rest_size && same_cell(list, def, point)) {
        if (def->depth <= (double)last_stiff(list)->depth + 1e-3 * body->rest_size) {
            return;
        }
        drop_last(list);
    }
    lmi_run *run = run_of(list, def, stiff);
    lmi_found *c = stiff ? &list->found[list->limit - ++list->stiff] : &list->found[list->soft++];
    run->count++;
    put(c->normal, def->normal);
    put(c->extra, def->b && !def->wall ? def->off : def->surface);
    c->depth = (float)def->depth;
    c->friction = (float)def->friction;
    c->restitution = (float)def->restitution;
    c->shallow = (float)def->shallow;
    c->point = point;
    c->first_ref = list->ref_count;
    c->count_a = c->count_b = 0;
    c->near = near;
    if (near) {
        put_place(c->extra, def);
        return;
    }
    lmi_ref *refs = list->refs + list->ref_count;
    c->count_a = (uint16_t)hold(refs, def->rider_a, def->weight_a, def->count_a, def->stride_a);
    if (def->b) {
        c->count_b = (uint16_t)hold(refs + c->count_a, def->rider_b, def->weight_b, def->count_b, 1);
    }
    list->ref_count += (uint32_t)c->count_a + c->count_b;
}
