/*
 * Joints in a substep, as the files of this room share them: rows (joint_solve.c), and the equations of all of them (joint_direct.c).
 */
#ifndef LMI_JOINING_H
#define LMI_JOINING_H

#include "joint/joint.h"

typedef struct lmi_row {
    lm_dvec3 direction;
    bool angular;
    lm_dvec3 lever[2]; /* of the spins of a and b */
    lm_dvec3 turns[2]; /* the spins that an impulse of 1 makes */
    double bias, soft; /* b and g */
    double given;      /* L */
} lmi_row;

/* A joint in a substep. */
typedef struct lmi_joined {
    uint32_t joint;
    lmi_side side[2];
    lm_dvec3 point; /* where both ends are pushed */
    lmi_row rows[6];
    int count;
    double factor[6][6]; /* of K + g: L D L^T, D on the diagonal; 0 where nothing yields */
    double apart, turned;
    uint32_t first_row,
        coupled; /* its first row among those of all joints; the first joint that it is coupled with, or itself */
} lmi_joined;

/* All of them; and their rows as one system of equations, where no patches overlap but those that are the same. */
typedef struct lmi_joining {
    lmi_joined *joined;
    uint32_t count, capacity;
    bool direct; /* solve it as one */
    bool known;  /* whether it is to be: for joints of this structure */
    uint64_t structure;
    uint32_t rows;
    uint32_t *first; /* [rows] the first column of a row that is not 0 */
    size_t *row;     /* [rows] where its column 0 would be in `factor` */
    double *factor;  /* L below the diagonal, D on it */
    double *lacks;   /* [rows] what is lacking; then impulses */
    uint32_t row_capacity, first_capacity, factor_capacity, lacks_capacity;
} lmi_joining;

int lmi_joint_rows(lm_joint_kind kind);

/* K of two rows of one joint. */
double lmi_row_mobility(const lmi_joined *joined, const lmi_row *a, const lmi_row *b);

/* joint_direct.c: memory for so many rows and numbers; K + g, row by row from its first column on, becomes its factors; and the solution of
 * the equations, where `lacks` becomes impulses. */
bool lmi_direct_room(lm_world *world, lmi_joining *all, uint32_t rows, uint32_t numbers);
void lmi_direct_divide(lmi_joining *all);

/* Memory for all joints there are, false when there is none; the equations of those that act. */
bool lmi_direct_reserve(lm_world *world, lmi_joining *all);
void lmi_direct_free(lm_world *world, lmi_joining *all);
void lmi_direct_factorise(const lm_world *world, lmi_joining *all);
void lmi_direct_solve(lmi_joining *all);

#endif
