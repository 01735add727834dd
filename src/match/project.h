/*
 * The point of a convex hull that is nearest to a given one: a small quadratic programme, solved exactly.
 *
 *     minimise  w^T G w / 2 - b^T w      over  w_k >= 0,  sum w_k <= 1
 *
 * The rest pose is one more corner of the hull, corner 0, with the weight w_0 = 1 - sum w_k; its row of G and its b are 0. Then
 * all corners are alike, and this is the active set method: start at the best corner, or with a mix that is near; on the corners that are free solve
 * without regard to signs; where a weight would become negative stop on the way and take its corner out, else let the corner
 * in that the gradient speaks for most, until there is none. Every iterate is a mix of corners, so that whatever rounding does,
 * the weights are not negative and sum to 1, and the worst that can happen is a point a little off the nearest.
 *
 * Koyama et al. 2012, section 4.2, clip negative weights one by one, which misses the nearest point and need not end.
 *
 * Written over a number that is one double or a vector of lanes: the including file says which. Lanes take as many rounds as
 * the slowest one of a vector needs, and one that is done does not change: no result depends on its neighbours.
 *
 *     number, mask, number_set1, number_lt, number_select, number_max, number_abs, mask_and, mask_or, mask_not, mask_any
 *     PROJECT_TOLERANCE    by how much a gradient must speak for a corner, for numbers about 1
 *     PROJECT_LEAST_PIVOT  what is less is rounding
 *     PROJECT_INLINE       how functions are declared
 */

#define PROJECT_MOST (LM_MAX_EXAMPLES + 1)

/* Factors of a symmetric positive definite matrix, L diag(1 / inverse) L^T. */
typedef struct project_factors {
    number low[LM_MAX_EXAMPLES][LM_MAX_EXAMPLES];
    number inverse[LM_MAX_EXAMPLES];
} project_factors;

/* Element i, j with i <= j of an upper triangle row by row. */
PROJECT_INLINE int project_at(int n, int i, int j) { return i * n - i * (i - 1) / 2 + (j - i); }

PROJECT_INLINE number project_element(int n, const number *gram, int i, int j)
{
    return gram[i < j ? project_at(n, i, j) : project_at(n, j, i)];
}

/* Of the rows and columns that are free; the others are those of the identity. */
PROJECT_INLINE void project_factorise(int n, const number *gram, const mask *is_free, project_factors *f)
{
    const number zero = number_set1(0.0f), one = number_set1(1.0f);
    number pivot[LM_MAX_EXAMPLES];
    for (int j = 0; j < n; j++) {
        number d = number_select(is_free[j + 1], gram[project_at(n, j, j)], one);
        for (int k = 0; k < j; k++) {
            d = d - f->low[j][k] * f->low[j][k] * pivot[k];
        }
        pivot[j] = number_max(d, number_set1(PROJECT_LEAST_PIVOT));
        f->inverse[j] = one / pivot[j];
        for (int i = j + 1; i < n; i++) {
            number e = number_select(mask_and(is_free[i + 1], is_free[j + 1]), gram[project_at(n, j, i)], zero);
            for (int k = 0; k < j; k++) {
                e = e - f->low[i][k] * f->low[j][k] * pivot[k];
            }
            f->low[i][j] = e * f->inverse[j];
        }
    }
}

PROJECT_INLINE void project_solve(int n, const project_factors *f, number *x)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            x[i] = x[i] - f->low[i][k] * x[k];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] = x[i] * f->inverse[i];
        for (int k = i + 1; k < n; k++) {
            x[i] = x[i] - f->low[k][i] * x[k];
        }
    }
}

/* The weights of the free corners that minimise, whatever their signs; those of the others are 0. Without corner 0 the sum is
 * held at 1 by a multiplier. */
PROJECT_INLINE void project_free(int n, const number *gram, const number *b, const mask *is_free, number *z)
{
    const number zero = number_set1(0.0f), one = number_set1(1.0f);
    number best[LM_MAX_EXAMPLES], ones[LM_MAX_EXAMPLES], sum = zero, sum_ones = zero;
    project_factors f;
    f.low[1][0] = zero; /* as for w in project_weights */
    project_factorise(n, gram, is_free, &f);
    for (int k = 0; k < n; k++) {
        best[k] = number_select(is_free[k + 1], b[k], zero);
        ones[k] = number_select(is_free[k + 1], one, zero);
    }
    project_solve(n, &f, best);
    project_solve(n, &f, ones);
    for (int k = 0; k < n; k++) {
        sum = sum + best[k];
        sum_ones = sum_ones + ones[k];
    }
    number multiplier = (sum - one) / number_select(number_lt(zero, sum_ones), sum_ones, one);
    multiplier = number_select(is_free[0], zero, multiplier);
    z[0] = number_select(is_free[0], one - sum, zero);
    for (int k = 0; k < n; k++) {
        z[k + 1] = best[k] - multiplier * ones[k];
    }
}

/* The best single corner; the first of equals. */
PROJECT_INLINE void project_start(int n, const number *gram, const number *b, mask *is_free, number *w)
{
    const number zero = number_set1(0.0f), one = number_set1(1.0f), half = number_set1(0.5f);
    number best = zero;
    is_free[0] = number_lt(zero, one);
    for (int k = 0; k < n; k++) {
        number gain = b[k] - half * gram[project_at(n, k, k)];
        is_free[k + 1] = number_lt(best, gain);
        best = number_select(is_free[k + 1], gain, best);
        for (int i = 0; i <= k; i++) {
            is_free[i] = mask_and(is_free[i], mask_not(is_free[k + 1]));
        }
    }
    for (int i = 0; i <= n; i++) {
        w[i] = number_select(is_free[i], one, zero);
    }
}

/* From w towards z as far as no weight becomes negative; the one that stops it leaves. Returns where nothing stopped it. */
PROJECT_INLINE mask project_move(int n, const number *z, mask done, mask *is_free, number *w)
{
    const number zero = number_set1(0.0f), one = number_set1(1.0f);
    /* The least share of the way w / (w - z) that takes a weight to 0, as a fraction: one division for all. */
    number have = one, lose = one;
    mask leaves[PROJECT_MOST], whole = number_lt(zero, one);
    for (int i = 0; i <= n; i++) {
        leaves[i] = mask_and(is_free[i], number_lt(z[i], zero));
        leaves[i] = mask_and(leaves[i], number_lt(w[i] * lose, have * (w[i] - z[i])));
        have = number_select(leaves[i], w[i], have);
        lose = number_select(leaves[i], w[i] - z[i], lose);
        whole = mask_and(whole, mask_not(leaves[i]));
        for (int k = 0; k < i; k++) {
            leaves[k] = mask_and(leaves[k], mask_not(leaves[i]));
        }
    }
    number step = have / lose;
    for (int i = 0; i <= n; i++) {
        number next = number_select(whole, z[i], number_max(w[i] + step * (z[i] - w[i]), zero));
        next = number_select(leaves[i], zero, next);
        w[i] = number_select(done, w[i], next);
        is_free[i] = mask_and(is_free[i], mask_or(done, mask_not(leaves[i])));
    }
    return whole;
}

/* Frees the corner that would help most. Returns where none would. */
PROJECT_INLINE mask project_enter(int n, const number *gram, const number *b, mask may, mask *is_free, const number *w)
{
    const number zero = number_set1(0.0f);
    number gradient[PROJECT_MOST], level = zero, most = number_set1(PROJECT_TOLERANCE);
    gradient[0] = zero;
    for (int k = 0; k < n; k++) {
        number g = b[k];
        for (int j = 0; j < n; j++) {
            g = g - project_element(n, gram, k, j) * w[j + 1];
        }
        gradient[k + 1] = g;
        level = level + w[k + 1] * g;
        most = number_max(most, number_set1(PROJECT_TOLERANCE) * number_abs(b[k]));
    }
    mask enters[PROJECT_MOST], none = number_lt(zero, number_set1(1.0f));
    for (int i = 0; i <= n; i++) {
        number gain = gradient[i] - level;
        enters[i] = mask_and(number_lt(most, gain), mask_not(is_free[i]));
        most = number_select(enters[i], gain, most);
        none = mask_and(none, mask_not(enters[i]));
        for (int k = 0; k < i; k++) {
            enters[k] = mask_and(enters[k], mask_not(enters[i]));
        }
    }
    for (int i = 0; i <= n; i++) {
        is_free[i] = mask_or(is_free[i], mask_and(may, enters[i]));
    }
    return none;
}

/* A mix that is near: the corners in it are free. */
PROJECT_INLINE void project_resume(int n, const number *from, mask *is_free, number *w)
{
    const number zero = number_set1(0.0f), one = number_set1(1.0f);
    number left = one;
    for (int k = 0; k < n; k++) {
        w[k + 1] = number_max(number_select(number_lt(left, from[k]), left, from[k]), zero);
        left = left - w[k + 1];
        is_free[k + 1] = number_lt(zero, w[k + 1]);
    }
    is_free[0] = number_lt(number_set1(PROJECT_TOLERANCE), left); /* what is less is rounding */
    mask none = mask_not(is_free[0]);
    for (int k = 0; k < n; k++) {
        none = mask_and(none, mask_not(is_free[k + 1]));
    }
    is_free[0] = mask_or(is_free[0], none);
    w[0] = left;
}

/* `from`: weights that may be near, or null. What is found depends on them in its rounding only, and where examples depend on
 * each other. */
PROJECT_INLINE void project_weights(int n, const number *gram, const number *b, const number *from, number *out)
{
    const number zero = number_set1(0.0f), one = number_set1(1.0f);
    number w[PROJECT_MOST], z[PROJECT_MOST], sum = zero;
    mask is_free[PROJECT_MOST], all = number_lt(zero, one), done = mask_not(all);
    for (int i = 0; i < PROJECT_MOST; i++) {
        w[i] = zero; /* so that compilers which do not know n see that nothing else is read */
        is_free[i] = all;
    }
    if (from) {
        project_resume(n, from, is_free, w);
    } else {
        project_start(n, gram, b, is_free, w);
        done = project_enter(n, gram, b, all, is_free, w);
    }
    for (int round = 0; round < 4 * (n + 1) && mask_any(mask_not(done)); round++) {
        project_free(n, gram, b, is_free, z);
        mask whole = project_move(n, z, done, is_free, w);
        mask none = project_enter(n, gram, b, mask_and(whole, mask_not(done)), is_free, w);
        done = mask_or(done, mask_and(whole, none));
    }
    for (int k = 0; k < n; k++) {
        sum = sum + w[k + 1];
    }
    number share = one / number_max(sum, one); /* rounding may have left a little more than 1 */
    for (int k = 0; k < n; k++) {
        out[k] = w[k + 1] * share;
    }
}
