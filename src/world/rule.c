/*
 * Contact rules: friction and restitution between groups of bodies and colliders.
 */
#include "world/world.h"

#include <string.h>

void lmi_contact_rule_apply(const lm_world *world, uint32_t group_a, uint32_t group_b, double *friction,
                            double *restitution)
{
    lmi_contact_rules_apply(world->rules, world->rule_count, group_a, group_b, friction, restitution);
}

const char *lmi_contact_rule_fault(const lmi_contact_rule *rule)
{
    if (!rule->a || !rule->b) {
        return "both sets of groups need a bit";
    }
    if (!(rule->friction >= 0.0f && rule->friction <= 1e6f) && rule->friction != LM_CONTACT_COMBINED) {
        return "friction must be 0 to 1e6, or LM_CONTACT_COMBINED";
    }
    bool sound = (rule->restitution >= 0.0f && rule->restitution <= 1.0f) || rule->restitution == LM_CONTACT_COMBINED;
    return sound ? NULL : "restitution must be 0 to 1, or LM_CONTACT_COMBINED";
}

/* The rule for these two sets, or rule_count. */
static uint32_t find_rule(const lm_world *world, uint32_t a, uint32_t b)
{
    uint32_t n = 0;
    while (n < world->rule_count && !(world->rules[n].a == a && world->rules[n].b == b) &&
           !(world->rules[n].a == b && world->rules[n].b == a)) {
        n++;
    }
    return n;
}

static void remove_rule(lm_world *world, uint32_t index)
{
    world->rule_count--;
    memmove(&world->rules[index], &world->rules[index + 1], (world->rule_count - index) * sizeof *world->rules);
}

lm_result lm_world_set_contact_rule(lm_world *world, uint32_t group_a, uint32_t group_b, float friction,
                                    float restitution)
{
    lmi_gpu_edit(world);
    lmi_contact_rule rule = {group_a, group_b, friction, restitution};
    const char *fault = lmi_contact_rule_fault(&rule);
    if (fault) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_world_set_contact_rule: %s", fault);
    }
    uint32_t old = find_rule(world, group_a, group_b);
    if (old == world->rule_count && old == LM_MAX_CONTACT_RULES) {
        return lmi_fail(world, LM_ERROR_LIMIT, "lm_world_set_contact_rule: more than %d rules", LM_MAX_CONTACT_RULES);
    }
    if (old < world->rule_count) {
        remove_rule(world, old); /* the new one is the last that was given */
    }
    world->rules[world->rule_count++] = rule;
    lmi_rouse_all(world);
    return LM_OK;
}

lm_result lm_world_remove_contact_rule(lm_world *world, uint32_t group_a, uint32_t group_b)
{
    lmi_gpu_edit(world);
    uint32_t index = find_rule(world, group_a, group_b);
    if (index == world->rule_count) {
        return lmi_fail(world, LM_ERROR_ARGUMENT, "lm_world_remove_contact_rule: there is no rule for these groups");
    }
    remove_rule(world, index);
    lmi_rouse_all(world);
    return LM_OK;
}
