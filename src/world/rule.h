/*
 * Friction and restitution between two sets of groups: the one text that the host and devices (gpu/kernels/walls.cl) read.
 */
#ifndef LMI_RULE_H
#define LMI_RULE_H

#ifndef __OPENCL_VERSION__
#include <stdint.h>
#endif

/* The memory in which the rules lie: a device has a name for it. */
#ifndef LMI_FAR
#define LMI_FAR
#endif

/* A number below 0 (LM_CONTACT_COMBINED): as the materials say. */
typedef struct lmi_contact_rule {
    uint32_t a, b;
    float friction, restitution;
} lmi_contact_rule;

/* What counts between two groups, in place of what their materials say: the last rule that fits. */
static inline void lmi_contact_rules_apply(LMI_FAR const lmi_contact_rule *rules, uint32_t count, uint32_t a,
                                           uint32_t b, double *friction, double *restitution)
{
    for (uint32_t n = count; n > 0; n--) {
        LMI_FAR const lmi_contact_rule *rule = rules + (n - 1);
        if (((rule->a & a) && (rule->b & b)) || ((rule->a & b) && (rule->b & a))) {
            *friction = rule->friction >= 0.0f ? rule->friction : *friction;
            *restitution = rule->restitution >= 0.0f ? rule->restitution : *restitution;
            return;
        }
    }
}

#endif
