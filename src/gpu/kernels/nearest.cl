/*
 * The rotation nearest to one matrix, from the shared arithmetic: what src/match/polar.c does for chunks of blocks.
 */

/* Of B diag(d); `r` is the previous rotation, which chooses where the nearest is ambiguous. */
static vmat3 nearest_rotation(vmat3 b, const vf d[3], vmat3 r)
{
    vmat3 a = b;
    for (int i = 0; i < 9; i++) {
        a.m[i] = a.m[i] * d[i % 3];
    }
    a = normalise(a);
    vmat3 cofactors = vmat_cofactors(a);
    vf det = vmat_determinant(a, cofactors), norm = vmat_dot(a, a), minors = vmat_dot(cofactors, cofactors), last;
    vm sound;
    vf lambda = foam_lambda(norm, minors, det, &last);
    vmat3 found = foam_rotation(a, lambda, last, norm, det, &sound);
    if (!sound) {
        found = polish(solve_doubtful(a, r), b, d);
    }
    if (vf_min(d[0], vf_min(d[1], d[2])) < SLENDER * vf_max(d[0], vf_max(d[1], d[2]))) {
        found = polish(found, b, d);
    }
    return found;
}
