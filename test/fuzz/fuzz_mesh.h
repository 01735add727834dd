/*
 * What the fuzz targets of the mesh readers share: any bytes as a mesh file give either an error of one line, or a mesh
 * that is what io/mesh.h promises, can be welded, and whose report can be made.
 */
#ifndef LIMBER_FUZZ_MESH_H
#define LIMBER_FUZZ_MESH_H

#include "fuzz.h"

#include "limber/mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_mesh(const lm_mesh_data *mesh)
{
    if (mesh->vertex_count == 0 || mesh->vertex_count > LM_MAX_PARTICLES) abort();
    for (uint32_t i = 0; i < mesh->vertex_count; i++) {
        lm_vec3 p = mesh->positions[i];
        if (!(fabsf(p.x) <= LM_MAX_COORDINATE && fabsf(p.y) <= LM_MAX_COORDINATE && fabsf(p.z) <= LM_MAX_COORDINATE))
            abort();
        lm_vec3 n = mesh->normals ? mesh->normals[i] : (lm_vec3){0.0f, 0.0f, 0.0f};
        float length = n.x * n.x + n.y * n.y + n.z * n.z;
        if (length != 0.0f && fabsf(length - 1.0f) > 1e-5f) abort();
    }
    for (size_t i = 0; i < 3u * (size_t)mesh->triangle_count; i++)
        if (mesh->triangles[i] >= mesh->vertex_count) abort();
    for (uint32_t i = 0; i < mesh->part_count; i++) {
        const lm_mesh_part *part = &mesh->parts[i];
        if (part->triangle_count == 0 || part->first_triangle + part->triangle_count > mesh->triangle_count) abort();
        if (strchr(mesh->names + part->name, '\n')) abort();
    }
}

static void read_any_mesh(const char *name, const void *bytes, size_t size)
{
    lm_mesh_data mesh;
    lm_mesh_error error = {""};
    lm_mesh_options options = {.weld = -1.0f};
    if (!lm_mesh_parse(name, bytes, size, &options, &mesh, &error)) {
        if (strchr(error.text, '\n') || error.text[0] == '\0' || mesh.positions) abort();
        return;
    }
    check_mesh(&mesh);
    if (mesh.triangle_count < 100000) { /* a report takes a while, and teaches the fuzzer nothing */
        lm_mesh_report report;
        if (lm_mesh_inspect(mesh.positions, mesh.vertex_count, mesh.triangles, mesh.triangle_count, &report) != LM_OK)
            abort();
        if (report.parts > mesh.vertex_count) abort();
    }
    uint32_t before = mesh.vertex_count;
    if (lm_mesh_weld(&mesh, size % 2 ? 0.0f : 0.5f) != LM_OK) abort();
    if (mesh.vertex_count + mesh.welded != before) abort();
    check_mesh(&mesh);
    lm_mesh_free(&mesh);
}

#endif
