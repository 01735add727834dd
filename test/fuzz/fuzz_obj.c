/*
 * Any bytes as an OBJ file: either an error of one line, or a mesh whose indices are in range and whose report can be
 * made.
 */
#include "fuzz.h"

#include "io/mesh_report.h"
#include "io/obj.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    obj_mesh mesh;
    obj_error error;
    if (!obj_parse("fuzz.obj", (const char *)data, size, &mesh, &error)) {
        if (strchr(error.text, '\n') || error.text[0] == '\0') abort();
        return 0;
    }
    mesh_report report;
    if (mesh_report_make(mesh.positions, mesh.vertex_count, mesh.triangles, mesh.triangle_count, &report) != LM_OK)
        abort();
    if (mesh.vertex_count == 0 || report.parts > mesh.vertex_count) abort();
    obj_mesh_free(&mesh);
    return 0;
}
