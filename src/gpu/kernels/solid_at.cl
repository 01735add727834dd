/*
 * A mesh or a height map out of the records, and the depth of a point in it: depth_in_solid in contact/contact.c.
 */

/* The arrays of all of them. */
typedef struct solid_arrays {
    __global float *heights;
    __global lmi_heights_span *spans;
    __global float *faces;
    __global lmi_mesh_node *nodes;
    __global int8_t *cells;
} solid_arrays;

static lm_dvec3 dvec_there(__global const double *a) { return dvec(a[0], a[1], a[2]); }

static lmi_mesh mesh_at(__global const lmi_gpu_ground *s, const solid_arrays *all)
{
    lmi_mesh m;
    m.solid = s->solid != 0;
    m.faces = (__global float(*)[9])(all->faces + 9 * s->faces);
    m.nodes = all->nodes + s->nodes;
    m.lower = dvec_there(s->lower);
    m.upper = dvec_there(s->upper);
    m.skin = s->skin;
    m.cells = all->cells + s->cells;
    m.first = dvec_there(s->corner);
    m.cell = s->cell;
    for (int i = 0; i < 3; i++) {
        m.size[i] = s->size[i];
    }
    return m;
}

static lmi_heights map_at(__global const lmi_gpu_ground *s, const solid_arrays *all)
{
    lmi_heights m;
    m.n[0] = s->n[0];
    m.n[1] = s->n[1];
    m.spacing = s->spacing;
    m.heights = all->heights + s->heights;
    m.level_count = s->levels;
    for (uint level = 0; level < s->levels; level++) {
        m.side[level][0] = s->side[level][0];
        m.side[level][1] = s->side[level][1];
        m.start[level] = s->start[level];
    }
    m.spans = all->spans + s->spans;
    m.skin = s->skin;
    return m;
}

/* How deep a point at x (in a body's coordinates) is that was at `from` when the substep began, and is kept `margin` metres off;
 * n leads out. At most 0: it touches nothing. */
static float solid_depth(__global const lmi_gpu_surface *s, __global const lmi_gpu_ground *solids, const solid_arrays *all,
                         const double origin[3], const float x[3], const float from[3], float margin, double h, float n[3])
{
    lm_dvec3 here = dvec(x[0], x[1], x[2]), there = dvec(from[0], from[1], from[2]), out = lm_dvec3_zero();
    lm_dvec3 p = dvec_add(dvec(origin[0], origin[1], origin[2]), here);
    lm_dvec3 way = lmi_solid_way(dvec_there(s->velocity), dvec_there(s->spin), dvec_there(s->pivot), h, p,
                                 dvec_sub(here, there));
    dmat3 rotation;
    for (int i = 0; i < 9; i++) {
        rotation.m[i / 3][i % 3] = s->rotation[i];
    }
    p = dmat_apply_transposed(&rotation, dvec_sub(p, dvec_there(s->position)));
    way = dmat_apply_transposed(&rotation, way);
    __global const lmi_gpu_ground *record = solids + s->solid;
    lmi_solid solid = {0, 0};
    lmi_mesh mesh;
    lmi_heights map;
    if (record->levels) {
        map = map_at(record, all);
        solid.heights = &map;
    } else {
        mesh = mesh_at(record, all);
        solid.mesh = &mesh;
    }
    float depth = (float)lmi_solid_depth(&solid, p, way, margin, &out);
    out = dmat_apply(&rotation, out);
    n[0] = (float)out.x;
    n[1] = (float)out.y;
    n[2] = (float)out.z;
    return depth;
}
