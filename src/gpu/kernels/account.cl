/*
 * Who touches whom: the account of a step, where somebody asks (contact events, sleep). lmi_place and `add` of contact/touching.h.
 *
 * Each body that meets others has a list of the bodies and colliders that it touches, with the sums of lmi_touching for each, over
 * all substeps of a step. In a substep a work-group takes a body, and a work-item one of those that it may touch: it goes through the
 * contacts of the body in their order and adds up those that are its own. No two groups write the same list: two bodies that
 * touch have an entry each, for the points of the one and for those of the other, and the host adds them up.
 *
 *   account_offsets   one work-group, at the end of a step: where the entries of each body go
 *   account_gather    one work-group a body: its entries, side by side with those of the others
 *   account_sleepers  once a body: whether it comes near one that sleeps, which the host has to see
 */

#define TOUCH_CHANNELS LMI_GPU_TOUCH_CHANNELS

/* What a body has of one that it touches, in a substep. */
typedef struct account {
    double sums[TOUCH_CHANNELS];
    bool has, pressing;
} account;

static account account_none(void)
{
    account none;
    none.has = none.pressing = false;
    for (int c = 0; c < TOUCH_CHANNELS; c++) {
        none.sums[c] = 0.0;
    }
    return none;
}

/* A place where a body touches something: lmi_place. */
static void account_add(account *to, lm_dvec3 point, lm_dvec3 normal, lm_dvec3 impulse, double pressed, double approach,
                        bool pressing)
{
    const double weight = pressed + LMI_UNPRESSED;
    const double at[9] = {weight * point.x, weight * point.y, weight * point.z, weight * normal.x, weight * normal.y,
                          weight * normal.z, impulse.x, impulse.y, impulse.z};
    to->has = true;
    to->pressing = to->pressing || pressing;
    to->sums[LMI_GPU_TOUCH_WEIGHT] += weight;
    for (int i = 0; i < 9; i++) {
        to->sums[LMI_GPU_TOUCH_POINT + i] += at[i];
    }
    to->sums[LMI_GPU_TOUCH_PRESSED] += pressed;
    to->sums[LMI_GPU_TOUCH_APPROACH] = fmax(to->sums[LMI_GPU_TOUCH_APPROACH], pressing ? approach : 0.0);
}

/* Where an account goes in the list of its body: the entry that is there, or a new one behind those of the work-items before. Returns
 * LMI_GPU_NONE where there is nothing to tell; LMI_GPU_TOLD and above: there is no room. *known: it is there already. All work-items
 * of a group come here together. */
static uint account_entry(__local uint *slots, __global const lmi_gpu_told *list, uint count, uint key, bool has, uint *fresh,
                          bool *known)
{
    const uint id = get_local_id(0);
    uint at = LMI_GPU_NONE;
    for (uint n = 0; has && n < count; n++) {
        at = list[n].with == key ? n : at;
    }
    *known = at != LMI_GPU_NONE;
    slots[id] = has && !*known;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint before = 0, all = 0;
    for (uint n = 0; n < GROUP; n++) {
        before += n < id ? slots[n] : 0;
        all += slots[n];
    }
    *fresh = all;
    return has && !*known ? count + before : at;
}

/* Adds what each work-item has with `key` to the list of the group's body. counts: of each body, its entries and those that had no
 * room. summed: somebody wants to know more than who touches whom. */
static void account_note(__local uint *slots, uint key, const account *own, uint summed, __global lmi_gpu_told *lists,
                         __global double *all, __global uint *counts)
{
    const uint who = get_group_id(0), count = counts[2 * who];
    bool known;
    uint fresh, at = account_entry(slots, lists + who * LMI_GPU_TOLD, count, key, own->has, &fresh, &known);
    if (get_local_id(0) == 0 && fresh) {
        counts[2 * who] = min(count + fresh, (uint)LMI_GPU_TOLD);
        counts[2 * who + 1] += count + fresh - min(count + fresh, (uint)LMI_GPU_TOLD);
    }
    if (at >= LMI_GPU_TOLD) {
        return;
    }
    at += who * LMI_GPU_TOLD;
    lists[at].who = who;
    lists[at].with = key;
    lists[at].pressing = own->pressing || (known && lists[at].pressing);
    for (int c = 0; summed && c < TOUCH_CHANNELS; c++) {
        __global double *to = all + at * TOUCH_CHANNELS + c;
        double before = known ? *to : 0.0;
        *to = c == LMI_GPU_TOUCH_APPROACH ? fmax(before, own->sums[c]) : before + own->sums[c];
    }
}

#ifdef ACCOUNT_ENDS

/* found: entries of all bodies, and those that had no room. */
__kernel __attribute__((reqd_work_group_size(WIDE, 1, 1))) void account_offsets(__global const uint *counts, uint count,
                                                                               __global uint *first, __global uint *found)
{
    __local uint sums[WIDE], lost[WIDE];
    uint id = get_local_id(0), each = (count + WIDE - 1) / WIDE, begin = min(id * each, count), end = min(begin + each, count);
    uint sum = 0, left_out = 0;
    for (uint n = begin; n < end; n++) {
        sum += counts[2 * n];
        left_out += counts[2 * n + 1];
    }
    sums[id] = sum;
    lost[id] = left_out;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint at = 0, lost_before = 0;
    for (uint n = 0; n < id; n++) {
        at += sums[n];
        lost_before += lost[n];
    }
    if (id == WIDE - 1) {
        found[0] = at + sum;
        found[1] = lost_before + left_out;
    }
    for (uint n = begin; n < end; n++) {
        first[n] = at;
        at += counts[2 * n];
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
account_gather(__global const uint *counts, __global const uint *first, __global const lmi_gpu_told *lists,
               __global const double *all, uint summed, __global lmi_gpu_told *to, __global double *to_sums)
{
    const uint who = get_group_id(0), id = get_local_id(0), from = who * LMI_GPU_TOLD;
    for (uint n = id; n < counts[2 * who]; n += GROUP) {
        to[first[who] + n] = lists[from + n];
    }
    for (uint n = id; summed && n < counts[2 * who] * TOUCH_CHANNELS; n += GROUP) {
        to_sums[first[who] * TOUCH_CHANNELS + n] = all[from * TOUCH_CHANNELS + n];
    }
}

__kernel void account_sleepers(__global const lmi_gpu_meeter *meeters, uint count, __global const lmi_gpu_sleeper *sleepers,
                               uint sleeper_count, volatile __global uint *stop)
{
    uint n = get_global_id(0);
    if (n >= count) {
        return;
    }
    __global const lmi_gpu_meeter *m = meeters + n;
    bool near = false;
    for (uint k = 0; k < sleeper_count && !near; k++) {
        __global const lmi_gpu_sleeper *s = sleepers + k;
        near = (m->mask & s->group) && (s->mask & m->group);
        for (int i = 0; i < 3; i++) {
            near = near && m->lower[i] <= s->upper[i] && s->lower[i] <= m->upper[i];
        }
    }
    if (near) {
        atomic_or(stop, LMI_GPU_WAKING); /* in any order */
    }
}

#endif
