/*
 * Vertices on the cells of a lattice and on tetrahedra, a vertex in each lane: the arithmetic of skin_lattice.c and
 * skin_tets.c, where the equations are.
 *
 * Compiled by the host for each instruction set and, as a text of gpu/program.c, by a device. Include after base/lanes.h.
 */
#ifndef LMI_SKIN_CARRY_H
#define LMI_SKIN_CARRY_H

/* To length 1; zero where there is none. */
static inline void to_unit_length(vf n[3])
{
    /* Squares of what is almost flat would vanish. */
    vf largest = vf_max(vf_max(vf_abs(n[0]), vf_abs(n[1])), vf_abs(n[2]));
    vm any = vf_lt(vf_set1(1e-30f), largest);
    vf divisor = vf_select(any, largest, vf_set1(1.0f));
    for (int i = 0; i < 3; i++) {
        n[i] = n[i] / divisor;
    }
    vf length = vf_sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int i = 0; i < 3; i++) {
        n[i] = vf_select(any, n[i] / vf_select(any, length, vf_set1(1.0f)), vf_set1(0.0f));
    }
}

/* One coordinate: where the vertex is, and its change over a cell along x, y and z. */
static inline vf interpolate(const vf c[8], const vf place[3], vf change[3])
{
    vf along_x[4], at[4], along_y[2], face[2], slope[2];
    for (int k = 0; k < 4; k++) { /* the four edges along x */
        along_x[k] = c[2 * k + 1] - c[2 * k];
        at[k] = c[2 * k] + place[0] * along_x[k];
    }
    for (int k = 0; k < 2; k++) { /* the faces below and above */
        along_y[k] = at[2 * k + 1] - at[2 * k];
        face[k] = at[2 * k] + place[1] * along_y[k];
        slope[k] = along_x[2 * k] + place[1] * (along_x[2 * k + 1] - along_x[2 * k]);
    }
    change[0] = slope[0] + place[2] * (slope[1] - slope[0]);
    change[1] = along_y[0] + place[2] * (along_y[1] - along_y[0]);
    change[2] = face[1] - face[0];
    return face[0] + place[2] * change[2];
}

/* n = cof(F) N, to length 1; zero where the cell is flat or there is no normal at rest. */
static inline void turn_normal(vf F[3][3], const vf rest[3], vf out[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        vf x = F[j][1] * F[k][2] - F[k][1] * F[j][2];
        vf y = F[j][2] * F[k][0] - F[k][2] * F[j][0];
        vf z = F[j][0] * F[k][1] - F[k][0] * F[j][1];
        out[i] = x * rest[0] + y * rest[1] + z * rest[2];
    }
    to_unit_length(out);
}

/* A vertex in a cell with its corners (x y z w each), its place there, and its normal at rest. */
static inline void carry_in_cell(vf corner[8][4], const vf place[3], const vf rest[3], vf per_spacing, vf position[3],
                                 vf normal[3])
{
    vf F[3][3];
    for (int i = 0; i < 3; i++) {
        vf c[8], change[3];
        for (int k = 0; k < 8; k++) {
            c[k] = corner[k][i];
        }
        position[i] = interpolate(c, place, change);
        for (int a = 0; a < 3; a++) {
            F[i][a] = change[a] * per_spacing;
        }
    }
    turn_normal(F, rest, normal);
}

/* A vertex in a tetrahedron, with the weights of corners 1 to 3 and its rest normal times the rest edges. */
static inline void carry_in_tet(vf corner[4][4], const vf weight[3], const vf along[3], vf position[3], vf normal[3])
{
    vf edge[3][3];
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 3; c++) {
            edge[i][c] = corner[i + 1][c] - corner[0][c];
        }
    }
    for (int c = 0; c < 3; c++) {
        int d = (c + 1) % 3, e = (c + 2) % 3;
        vf area[3];
        position[c] = corner[0][c] + ((weight[0] * edge[0][c] + weight[1] * edge[1][c]) + weight[2] * edge[2][c]);
        for (int i = 0; i < 3; i++) {
            const vf *a = edge[(i + 1) % 3], *b = edge[(i + 2) % 3];
            area[i] = a[d] * b[e] - a[e] * b[d];
        }
        normal[c] = (along[0] * area[0] + along[1] * area[1]) + along[2] * area[2];
    }
    to_unit_length(normal);
}

#endif
