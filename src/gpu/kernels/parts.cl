/*
 * Connected parts of lattices, after body.cl, whose functions they share: each has a record of its own, with the motion, drift, sums
 * and bounds of its particles. Frame, origin and what the kernels of lattices read besides are in the body's record, to which
 * `kind` of a part leads.
 *
 * A body's record has the sums of all its parts, no drift of its own, and is neither overstretched nor collapsed: each part by
 * itself may be.
 */

/* After `prepare`, one work-item a part: what it does for a body of one part. */
static void prepare_part(RECORD lmi_gpu_body *p, __global const lmi_gpu_body *b, double h, const float change[3])
{
    for (int i = 0; i < 3; i++) { /* the body's origin has followed it */
        float by = b->shift[i];
        p->lower[i] -= by;
        p->upper[i] -= by;
        p->drift_centre[i] -= by;
        p->at[i] -= by;
    }
    p->damping_now = b->damping_now;
    p->damping_regional = b->damping_regional;
    settle_drift(p);
    find_motion(p, change);
    p->stop = find_trouble(p, h);
    find_owed(p);
    find_change(p, change);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
prepare_parts(__global const lmi_gpu_body *bodies, __global lmi_gpu_body *parts, __global lmi_gpu_body *before, uint count,
              double h, float change_x, float change_y, float change_z, __global uint *stop)
{
    __local lmi_gpu_body records[HERD];
    const uint first = get_group_id(0) * HERD, id = get_local_id(0), size = GROUP / HERD, n = first + id / size;
    if (n < count) {
        take_record(records + id / size, parts + n, id % size, size);
        give_record(before + n, records + id / size, id % size, size); /* its own words: no barrier is needed */
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id < HERD && first + id < count) {
        const float change[3] = {change_x, change_y, change_z};
        prepare_part(records + id, bodies + records[id].kind, h, change);
        if (records[id].stop) {
            atomic_or((volatile __global uint *)stop, records[id].stop); /* in any order: all of them */
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (n < count) {
        give_record(parts + n, records + id / size, id % size, size);
    }
}

/* measure of body.cl, of the particles of a part: chunks of a list. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
measure_parts(__global const lmi_gpu_body *parts, __global const lmi_gpu_chunk *chunks, __global const uint *list,
              __global const float4 *x, __global const float4 *v, __global float *partials)
{
    __local float slots[16][GROUP];
    const lmi_gpu_chunk c = chunks[get_group_id(0)];
    __global const lmi_gpu_body *p = parts + c.body;
    float s[16];
    for (int i = 0; i < 16; i++) {
        s[i] = 0.0f;
    }
    for (uint n = get_local_id(0); n < c.count; n += GROUP) {
        const uint particle = list[c.first + n];
        add_motion(p, x[particle], v[particle], s);
    }
    put_motion(s, slots, partials + c.partial * LMI_GPU_CHANNELS);
}

/* After `conclude`, one work-group a part. */
__kernel void conclude_parts(__global lmi_gpu_body *bodies, __global lmi_gpu_body *parts, __global const float *partials,
                             double h, uint measured)
{
    __local double slots[REDUCE_GROUP], sums[LMI_GPU_CHANNELS];
    __local lmi_gpu_body record;
    __global lmi_gpu_body *part = parts + get_group_id(0), *body = bodies + part->kind;
    const uint id = get_local_id(0), size = get_local_size(0);
    take_record(&record, part, id, size);
    total(partials, measured ? part->first_measure : part->first_partial, measured ? part->measures : part->partials,
          size / LMI_GPU_CHANNELS, slots, sums);
    if (id < 16) {
        record.sums[id] = sums[LMI_GPU_MASS + id];
    }
    if (id == 0 && !measured) {
        find_drift(&record, sums, h);
        for (int i = 0; i < 3; i++) {
            record.lower[i] = (float)sums[LMI_GPU_LOWER + i];
            record.upper[i] = (float)sums[LMI_GPU_UPPER + i];
            record.at[i] = 0.0f;
            record.from[i] = body->velocity[i];
        }
        if (record.parts) { /* the first of its body, which has no drift of its own */
            for (int i = 0; i < 3; i++) {
                body->drift_velocity[i] = body->drift_spin[i] = 0.0f;
                body->owed_momentum[i] = body->owed_angular[i] = 0.0;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    give_record(part, &record, id, size);
}
