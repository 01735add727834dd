/*
 * From nodes and tetrahedra with the numbers of a file to a sound mesh: nodes by their index, repetitions and slivers left out,
 * inverted tetrahedra refused, all the right way round, nodes that nobody uses left out, and the surface.
 */
#include "io/tets_reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------
 * Nodes by their numbers
 */

typedef struct tag_place {
    uint64_t tag;
    uint32_t place;
} tag_place;

static int compare_tags(const void *a, const void *b)
{
    const tag_place *x = a, *y = b;
    if (x->tag != y->tag) return x->tag < y->tag ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Sorted by tag; null when memory ran out or a number is there twice. */
static tag_place *sort_nodes(tets_reader *reader)
{
    uint32_t count = reader->file.mesh.vertex_count;
    bool ascending = true;
    tag_place *sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    if (!sorted) {
        lmi_mesh_reader_out_of_memory(&reader->file);
        return NULL;
    }
    for (uint32_t n = 0; n < count; n++) {
        sorted[n] = (tag_place){reader->node_tags[n], n};
        ascending = ascending && (n == 0 || sorted[n].tag > sorted[n - 1].tag);
    }
    if (!ascending) qsort(sorted, count, sizeof *sorted, compare_tags);
    for (uint32_t n = 1; n < count; n++) {
        if (sorted[n].tag == sorted[n - 1].tag) {
            lmi_mesh_reader_fail(&reader->file, "node %llu is there twice", (unsigned long long)sorted[n].tag);
            free(sorted);
            return NULL;
        }
    }
    return sorted;
}

/* UINT32_MAX: there is no such node. Most files count them without gaps. */
static uint32_t find_node(const tag_place *sorted, uint32_t count, uint64_t tag)
{
    if (count == 0 || tag < sorted[0].tag) return UINT32_MAX;
    uint64_t guess = tag - sorted[0].tag;
    if (guess < count && sorted[guess].tag == tag) return sorted[guess].place;
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sorted[middle].tag < tag)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && sorted[low].tag == tag ? sorted[low].place : UINT32_MAX;
}

static bool resolve_corners(tets_reader *reader)
{
    lm_tets_data *data = &reader->data;
    tag_place *sorted = sort_nodes(reader);
    if (!sorted) return false;
    data->tets = malloc(((size_t)data->tet_count + 1) * 4 * sizeof *data->tets);
    bool done = data->tets || lmi_mesh_reader_out_of_memory(&reader->file);
    for (size_t n = 0; done && n < 4 * (size_t)data->tet_count; n++) {
        data->tets[n] = find_node(sorted, reader->file.mesh.vertex_count, reader->corner_tags[n]);
        if (data->tets[n] == UINT32_MAX)
            done = lmi_mesh_reader_fail(&reader->file, "tetrahedron %llu has node %llu, which does not exist",
                                        (unsigned long long)reader->tet_tags[n / 4],
                                        (unsigned long long)reader->corner_tags[n]);
    }
    free(sorted);
    return done;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Repetitions
 */

typedef struct sorted_tet {
    uint32_t corner[4]; /* ascending */
    uint32_t tet;
} sorted_tet;

static int compare_corners(const void *a, const void *b)
{
    const sorted_tet *x = a, *y = b;
    for (int i = 0; i < 4; i++)
        if (x->corner[i] != y->corner[i]) return x->corner[i] < y->corner[i] ? -1 : 1;
    return x->tet < y->tet ? -1 : x->tet > y->tet;
}

static bool same_corners(const sorted_tet *a, const sorted_tet *b)
{
    return memcmp(a->corner, b->corner, sizeof a->corner) == 0;
}

static void put_in_order(uint32_t *corner)
{
    for (int i = 1; i < 4; i++)
        for (int j = i; j > 0 && corner[j] < corner[j - 1]; j--) {
            uint32_t swap = corner[j];
            corner[j] = corner[j - 1];
            corner[j - 1] = swap;
        }
}

static bool drop_repeated(tets_reader *reader)
{
    lm_tets_data *data = &reader->data;
    uint32_t count = data->tet_count, kept = 0;
    sorted_tet *sorted = malloc(((size_t)count + 1) * sizeof *sorted);
    bool *again = calloc((size_t)count + 1, sizeof *again);
    bool room = sorted && again;
    for (uint32_t n = 0; room && n < count; n++) {
        memcpy(sorted[n].corner, data->tets + 4 * (size_t)n, sizeof sorted[n].corner);
        sorted[n].tet = n;
        put_in_order(sorted[n].corner);
    }
    if (room) qsort(sorted, count, sizeof *sorted, compare_corners);
    for (uint32_t n = 1; room && n < count; n++) again[sorted[n].tet] = same_corners(&sorted[n - 1], &sorted[n]);
    for (uint32_t n = 0; room && n < count; n++) {
        if (again[n]) continue;
        memmove(data->tets + 4 * (size_t)kept, data->tets + 4 * (size_t)n, 4 * sizeof *data->tets);
        memmove(reader->corner_tags + 4 * (size_t)kept, reader->corner_tags + 4 * (size_t)n, 4 * sizeof(uint64_t));
        reader->tet_tags[kept++] = reader->tet_tags[n];
    }
    if (room) data->repeated = count - kept, data->tet_count = kept;
    free(sorted);
    free(again);
    return room || lmi_mesh_reader_out_of_memory(&reader->file);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Volumes
 */

static double six_volumes(const lm_vec3 *positions, const uint32_t *tet, double *longest)
{
    double edge[3][3], at[4][3];
    *longest = 0.0;
    for (int i = 0; i < 4; i++) {
        lm_vec3 p = positions[tet[i]];
        at[i][0] = (double)p.x, at[i][1] = (double)p.y, at[i][2] = (double)p.z;
        for (int j = 0; j < i; j++) {
            double x = at[i][0] - at[j][0], y = at[i][1] - at[j][1], z = at[i][2] - at[j][2];
            *longest = fmax(*longest, sqrt(x * x + y * y + z * z));
        }
        for (int c = 0; i > 0 && c < 3; c++) edge[i - 1][c] = at[i][c] - at[0][c];
    }
    return edge[0][0] * (edge[1][1] * edge[2][2] - edge[1][2] * edge[2][1]) +
           edge[0][1] * (edge[1][2] * edge[2][0] - edge[1][0] * edge[2][2]) +
           edge[0][2] * (edge[1][0] * edge[2][1] - edge[1][1] * edge[2][0]);
}

static bool fail_tet(tets_reader *reader, uint32_t tet, const char *what)
{
    const uint64_t *corner = reader->corner_tags + 4 * (size_t)tet;
    return lmi_mesh_reader_fail(&reader->file, "tetrahedron %llu (nodes %llu, %llu, %llu, %llu) %s",
                                (unsigned long long)reader->tet_tags[tet], (unsigned long long)corner[0],
                                (unsigned long long)corner[1], (unsigned long long)corner[2],
                                (unsigned long long)corner[3], what);
}

static int kind_of(const tets_reader *reader, uint32_t tet, double *volume)
{
    double longest, six = six_volumes(reader->file.mesh.positions, reader->data.tets + 4 * (size_t)tet, &longest);
    *volume = fabs(six) / 6.0;
    return !(fabs(six) > LM_TETS_FLATTEST * longest * longest * longest) ? 2 : six < 0.0;
}

/* Leaves out those without volume: meshers leave slivers, and a body is as well off without them. */
static void drop_flat(tets_reader *reader)
{
    lm_tets_data *data = &reader->data;
    uint32_t kept = 0;
    for (uint32_t n = 0; n < data->tet_count; n++) {
        double volume;
        if (kind_of(reader, n, &volume) == 2) continue;
        memmove(data->tets + 4 * (size_t)kept, data->tets + 4 * (size_t)n, 4 * sizeof *data->tets);
        memmove(reader->corner_tags + 4 * (size_t)kept, reader->corner_tags + 4 * (size_t)n, 4 * sizeof(uint64_t));
        reader->tet_tags[kept++] = reader->tet_tags[n];
    }
    data->tet_count = kept;
}

/* Finds the first of each kind; turns all when most are inverted. */
static bool check_volumes(tets_reader *reader, bool faulty)
{
    lm_tets_data *data = &reader->data;
    uint32_t count[3] = {0}, first[3] = {0}; /* right, inverted, flat */
    for (uint32_t n = 0; n < data->tet_count; n++) {
        double volume;
        int kind = kind_of(reader, n, &volume);
        if (count[kind]++ == 0) first[kind] = n;
        data->volume += volume;
    }
    data->turned = count[1] > count[0];
    int wrong = !data->turned;
    data->flat = count[2], data->inverted = count[wrong];
    data->first_flat_tag = count[2] ? reader->tet_tags[first[2]] : 0;
    data->first_inverted_tag = count[wrong] ? reader->tet_tags[first[wrong]] : 0;
    if (count[2] == data->tet_count && !faulty)
        return fail_tet(reader, first[2], "has no volume, and no other has any");
    if (data->inverted > 0 && !faulty)
        return fail_tet(reader, first[wrong], "is inverted: it is turned against most others");
    if (data->flat > 0 && !faulty) drop_flat(reader);
    for (size_t n = 0; data->turned && n < data->tet_count; n++) {
        uint32_t *tet = data->tets + 4 * n, corner = tet[2];
        tet[2] = tet[3];
        tet[3] = corner;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Nodes that nobody uses, and the rest
 */

static bool drop_unused(tets_reader *reader)
{
    lm_tets_data *data = &reader->data;
    lm_mesh_data *mesh = &reader->file.mesh;
    uint32_t *place = malloc(((size_t)mesh->vertex_count + 1) * sizeof *place), kept = 0;
    if (!place) return lmi_mesh_reader_out_of_memory(&reader->file);
    memset(place, 0xff, mesh->vertex_count * sizeof *place);
    for (size_t n = 0; n < 4 * (size_t)data->tet_count; n++) place[data->tets[n]] = 0;
    for (uint32_t n = 0; n < mesh->vertex_count; n++) {
        if (place[n] == UINT32_MAX) continue;
        place[n] = kept;
        mesh->positions[kept++] = mesh->positions[n];
    }
    for (size_t n = 0; n < 4 * (size_t)data->tet_count; n++) data->tets[n] = place[data->tets[n]];
    data->dropped = mesh->vertex_count - kept;
    mesh->vertex_count = kept;
    free(place);
    return true;
}

bool lmi_tets_reader_check(tets_reader *reader, const lm_tets_options *options)
{
    lm_tets_data *data = &reader->data;
    lm_mesh_data *mesh = &reader->file.mesh;
    reader->file.line = 0;
    if (mesh->vertex_count == 0) return lmi_mesh_reader_fail(&reader->file, "it has no nodes");
    if (data->tet_count == 0)
        return lmi_mesh_reader_fail(&reader->file, "it has no tetrahedra, only %llu elements of other kinds",
                                    (unsigned long long)data->others);
    if (!resolve_corners(reader) || !drop_repeated(reader) || !check_volumes(reader, options->faulty) ||
        !drop_unused(reader))
        return false;
    data->triangles = lm_tets_surface(data->tets, data->tet_count, &data->triangle_count, &data->crowded);
    if (!data->triangles) return lmi_mesh_reader_out_of_memory(&reader->file);
    for (uint32_t n = 0; options->z_up && n < mesh->vertex_count; n++) {
        lm_vec3 p = mesh->positions[n];
        mesh->positions[n] = (lm_vec3){p.x, p.z, -p.y};
    }
    data->positions = mesh->positions;
    data->vertex_count = mesh->vertex_count;
    mesh->positions = NULL;
    return true;
}
