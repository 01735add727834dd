/*
 * The part of a snapshot that says how things touch: rules, method, sleep, and who touches whom.
 */
#include "contact/touching.h"
#include "snapshot/archive.h"

/* Friction and restitution between groups. */
static void visit_rules(archive *a, lm_world *world)
{
    visit_u32(a, &world->rule_count);
    refuse_if(a, world->rule_count > LM_MAX_CONTACT_RULES);
    for (uint32_t n = 0; ok(a) && n < world->rule_count; n++) {
        lmi_contact_rule *rule = &world->rules[n];
        visit_u32(a, &rule->a);
        visit_u32(a, &rule->b);
        visit_float(a, &rule->friction);
        visit_float(a, &rule->restitution);
        refuse_if(a, lmi_contact_rule_fault(rule) != NULL);
    }
}

/* Who touches whom: the next step says who still does. */
static void visit_touchings(archive *a, lm_world *world)
{
    uint32_t count = world->touchings ? world->touchings->now.count : 0;
    VISIT_ENUM(a, world->contact_method, LM_CONTACT_METHOD_COUNT);
    visit_bool(a, &world->contact_events);
    visit_bool(a, &world->sleep.enabled);
    visit_float(a, &world->sleep.speed);
    visit_float(a, &world->sleep.seconds);
    refuse_if(a, lmi_sleep_fault(&world->sleep) != NULL);
    LMI_POOL_EACH(&world->bodies, n) { refuse_if(a, lmi_body_at(world, n)->asleep && !world->sleep.enabled); }
    visit_count(a, &count, 57);
    if (a->mode == LOAD && ok(a) && count) {
        a->out_of_memory = !lmi_touchings_allocate(world, count);
    }
    for (uint32_t n = 0; ok(a) && n < count; n++) {
        lmi_touching *t = &world->touchings->now.records[world->touchings->now.order[n]];
        visit_u32(a, &t->a);
        visit_u32(a, &t->b);
        visit_u32(a, &t->generation_a);
        visit_u32(a, &t->generation_b);
        VISIT_ENUM(a, t->kind, LMI_TOUCHING_KIND_COUNT);
        visit_dvec3(a, &t->point);
        visit_dvec3(a, &t->normal);
        /* What was destroyed since may be named, but no slot that never was. */
        uint32_t others = t->kind == LMI_TOUCHES_COLLIDER ? world->colliders.slots : world->bodies.slots;
        refuse_if(a, t->a >= world->bodies.slots || t->b >= others);
        refuse_if(a, a->mode == LOAD && n > 0 && lmi_touching_compare(t - 1, t) >= 0);
    }
}

void lmi_visit_contacts(archive *a, lm_world *world)
{
    visit_rules(a, world);
    visit_touchings(a, world);
}
