/* A mesh as what a body is made of: pointers from the definitions of the core to the arrays of the mesh. */
#include "limber/mesh.h"

void lm_mesh_use(const lm_mesh_data *mesh, lm_mesh_kind kind, uint32_t particles, lm_body_def *def, lm_skin_def *skin)
{
    if (kind == LM_MESH_POINTS) {
        def->points = mesh->positions;
        def->point_count = mesh->vertex_count;
    } else if (kind == LM_MESH_LATTICE) {
        def->lattice.vertices = mesh->positions;
        def->lattice.vertex_count = mesh->vertex_count;
        def->lattice.triangles = mesh->triangles;
        def->lattice.triangle_count = mesh->triangle_count;
        if (particles > 0) def->lattice.particles = particles;
    } else if (kind == LM_MESH_OCTREE) {
        def->octree.vertices = mesh->positions;
        def->octree.vertex_count = mesh->vertex_count;
        def->octree.triangles = mesh->triangles;
        def->octree.triangle_count = mesh->triangle_count;
        if (particles > 0) def->octree.particles = particles;
    } else if (kind == LM_MESH_TETS) {
        def->tets.vertices = mesh->positions;
        def->tets.vertex_count = mesh->vertex_count;
        def->tets.triangles = mesh->triangles;
        def->tets.triangle_count = mesh->triangle_count;
        if (particles > 0) def->tets.particles = particles;
    }
    if (skin) {
        skin->vertices = mesh->positions;
        skin->vertex_count = mesh->vertex_count;
        skin->triangles = mesh->triangles;
        skin->triangle_count = mesh->triangle_count;
    }
}
