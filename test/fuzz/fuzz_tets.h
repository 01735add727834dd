/*
 * What the fuzz targets of tetrahedral meshes share: any bytes give either an error of one line, or a mesh that is what
 * io/tets.h promises.
 */
#ifndef LIMBER_FUZZ_TETS_H
#define LIMBER_FUZZ_TETS_H

#include "fuzz.h"

#include "limber/tets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_tets(const lm_tets_data *tets, bool faulty)
{
    if (tets->vertex_count < 4 && !faulty) abort();
    if (tets->tet_count == 0 || tets->tet_count > LM_TETS_MAX) abort();
    for (uint32_t n = 0; n < tets->vertex_count; n++) {
        lm_vec3 p = tets->positions[n];
        if (!(fabsf(p.x) <= LM_MAX_COORDINATE && fabsf(p.y) <= LM_MAX_COORDINATE && fabsf(p.z) <= LM_MAX_COORDINATE))
            abort();
    }
    for (uint32_t n = 0; n < tets->tet_count; n++) {
        const uint32_t *tet = tets->tets + 4 * (size_t)n;
        double edge[3][3];
        for (int k = 0; k < 4; k++)
            if (tet[k] >= tets->vertex_count) abort();
        for (int k = 0; k < 3; k++) {
            lm_vec3 from = tets->positions[tet[0]], to = tets->positions[tet[k + 1]];
            edge[k][0] = (double)to.x - from.x, edge[k][1] = (double)to.y - from.y, edge[k][2] = (double)to.z - from.z;
        }
        double six = edge[0][0] * (edge[1][1] * edge[2][2] - edge[1][2] * edge[2][1]) +
                     edge[0][1] * (edge[1][2] * edge[2][0] - edge[1][0] * edge[2][2]) +
                     edge[0][2] * (edge[1][0] * edge[2][1] - edge[1][1] * edge[2][0]);
        if (!faulty && !(six > 0.0)) abort();
    }
    for (size_t n = 0; n < 3 * (size_t)tets->triangle_count; n++)
        if (tets->triangles[n] >= tets->vertex_count) abort();
}

static void read_any_tets(const char *name, lm_tets_bytes file, const lm_tets_bytes *tetgen_tets, bool faulty)
{
    lm_tets_data tets;
    lm_mesh_error error = {""};
    lm_tets_options options = {.faulty = faulty};
    if (lm_tets_parse(name, file, tetgen_tets, &options, &tets, &error)) {
        check_tets(&tets, faulty);
        lm_tets_free(&tets);
    } else if (strchr(error.text, '\n') || error.text[0] == '\0' || tets.positions)
        abort();
}

#endif
