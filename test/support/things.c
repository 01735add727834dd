#include "test/support/things.h"
#include "limber/shapes.h"

#include <stdlib.h>

const char *const sampling_names[SAMPLINGS] = {"clusters", "skinned", "lattice", "fine lattice", "tets", "octree"};

thing_def thing_default(sampling kind)
{
    thing_def def = {.kind = kind, .shape = "box", .size = {1, 1, 1}, .mass = 2.0f};
    def.pose = lm_pose_identity();
    def.material = soft_material(0.5, 0.0);
    return def;
}

lm_body_id add_thing(lm_world *world, sampling kind, const char *shape, lm_vec3 size, lm_pose pose,
                     const lm_material *material, lm_vec3 velocity)
{
    thing_def def = thing_default(kind);
    def.shape = shape;
    def.size = size;
    def.pose = pose;
    def.material = *material;
    def.velocity = velocity;
    return thing_make(world, &def);
}

lm_body_id thing_make(lm_world *world, const thing_def *thing)
{
    lm_shape_def how = lm_shape_def_default();
    lm_shape_mesh mesh;
    lm_shape_cloud cloud = {0};
    how.name = thing->shape;
    how.size = thing->size;
    how.detail = 6;
    assert_ok(lm_shape_make_mesh(&how, &mesh));
    lm_body_def def = lm_body_def_default();
    def.mass = thing->mass;
    def.material = thing->material;
    def.pose = thing->pose;
    def.velocity = thing->velocity;
    def.spin = thing->spin;
    def.mask = thing->mask;
    def.self_contact = thing->self_contact;
    def.penalty = thing->penalty;
    sampling kind = thing->kind;
    lm_vec3 size = thing->size, *inner = NULL;
    if (kind == LATTICE || kind == FINE) {
        float longest = fmaxf(size.x, fmaxf(size.y, size.z));
        def.lattice.vertices = mesh.vertices;
        def.lattice.vertex_count = mesh.vertex_count;
        def.lattice.triangles = mesh.triangles;
        def.lattice.triangle_count = mesh.triangle_count;
        def.lattice.spacing = longest / (kind == LATTICE ? 3.3f : 6.7f);
        def.lattice.width = kind == LATTICE ? 3 : 4;
    } else if (kind == TETS) {
        def.tets.vertices = mesh.vertices;
        def.tets.vertex_count = mesh.vertex_count;
        def.tets.triangles = mesh.triangles;
        def.tets.triangle_count = mesh.triangle_count;
        def.tets.particles = 150;
        def.material.hertz *= 4.0f; /* its regions are small, and the body as a whole is so much softer */
    } else if (kind == OCTREE) {
        float longest = fmaxf(size.x, fmaxf(size.y, size.z));
        def.octree.vertices = mesh.vertices;
        def.octree.vertex_count = mesh.vertex_count;
        def.octree.triangles = mesh.triangles;
        def.octree.triangle_count = mesh.triangle_count;
        def.octree.spacing = longest / 10.5f;
        def.octree.levels = 2;
        def.octree.width = 0.9f * longest;
        def.material.hertz *= 2.0f; /* as with tets */
    } else {
        assert_ok(lm_shape_make_cloud(&how, &mesh, mesh.vertex_count + 60, &cloud));
        inner = malloc(cloud.point_count * sizeof *inner);
        for (uint32_t n = 0; n < cloud.point_count; n++) {
            float in = kind == SKINNED ? 0.95f : 1.0f;
            inner[n] = (lm_vec3){in * cloud.points[n].x, in * cloud.points[n].y, in * cloud.points[n].z};
        }
        def.points = inner;
        def.point_count = cloud.point_count;
    }
    def.contact_points = kind == SKINNED || kind == TETS ? LM_CONTACT_SURFACE : LM_CONTACT_AUTO;
    lm_body_id body = make_body(world, &def);
    if (kind == SKINNED || kind == TETS) {
        lm_skin_def skin = lm_skin_def_default();
        skin.vertices = mesh.vertices;
        skin.vertex_count = mesh.vertex_count;
        skin.triangles = mesh.triangles;
        skin.triangle_count = mesh.triangle_count;
        assert_ok(lm_body_set_skin(world, body, &skin));
    }
    free(inner);
    if (cloud.points) lm_shape_cloud_free(&cloud);
    lm_shape_mesh_free(&mesh);
    return body;
}

lm_material stiff_material(double friction, double restitution)
{
    lm_material material = lm_material_default();
    material.mode = LM_MODE_RIGID;
    material.stiffness = LM_STIFFNESS_ALPHA;
    material.alpha = 1.0f;
    material.damping = 1e4f;
    material.friction = (float)friction;
    material.restitution = (float)restitution;
    return material;
}

lm_material soft_material(double friction, double restitution)
{
    lm_material material = lm_material_default();
    material.hertz = 8.0f;
    material.damping_ratio = 0.3f;
    material.friction = (float)friction;
    material.restitution = (float)restitution;
    return material;
}
