/*
 * What the move made of a lattice, in its record: the end of a substep. The kernel `conclude` (body.cl) does it for bodies that
 * many work-groups have moved; a small one is concluded by the work-group that has moved it (small.cl).
 */

static lm_dvec3 dvec_of(RECORD const float *a) { return dvec(a[0], a[1], a[2]); }
static lm_dvec3 dvec_at(RECORD const double *a) { return dvec(a[0], a[1], a[2]); }

static void put(RECORD float *to, lm_dvec3 a)
{
    to[0] = (float)a.x;
    to[1] = (float)a.y;
    to[2] = (float)a.z;
}

static void put_double(RECORD double *to, lm_dvec3 a)
{
    to[0] = a.x;
    to[1] = a.y;
    to[2] = a.z;
}

static bool is_sound(lm_dvec3 a) { return a.x - a.x == 0.0 && a.y - a.y == 0.0 && a.z - a.z == 0.0; }

/* What the move gave to a lattice's motion and should not have: find_drift in lattice/lattice_motion.c. */
static void find_drift(RECORD lmi_gpu_body *b, __local const double *sums, double h)
{
    /* With regional damping the sums are of changes of velocity. */
    double rate = b->damping_regional > 0.0f ? 1.0 : fmin(b->alpha / h, 1e30), inertia[6];
    lm_dvec3 net = dvec_scale(dvec(sums[0], sums[1], sums[2]), rate);
    lm_dvec3 turn = dvec_scale(dvec(sums[3], sums[4], sums[5]), rate); /* about the origin; wanted about the centre */
    turn = dvec_sub(turn, dvec_cross(dvec_of(b->centre), net));
    for (int i = 0; i < 6; i++) {
        inertia[i] = b->inertia[i];
    }
    lm_dvec3 velocity = lm_dvec3_zero(), spin = velocity;
    if (b->pinned) {
        put_double(b->impulse, dvec_add(dvec_at(b->impulse), net));
        net = turn = lm_dvec3_zero();
    } else {
        net = dvec_add(net, dvec_at(b->owed_momentum));
        turn = dvec_add(turn, dvec_at(b->owed_angular));
        if (!is_sound(net) || !is_sound(turn)) {
            net = turn = lm_dvec3_zero();
        }
        velocity = dvec_scale(net, b->mass > 0.0 ? 1.0 / b->mass : 0.0);
        spin = lmi_dmat_solve_spin(inertia, turn);
        velocity = dvec_limit(velocity, LM_MAX_SPEED);
        spin = dvec_limit(spin, LM_MAX_SPEED);
    }
    put(b->drift_centre, dvec_of(b->centre));
    put(b->drift_velocity, velocity);
    put(b->drift_spin, spin);
    put_double(b->owed_momentum, net);
    put_double(b->owed_angular, turn);
}

/* What the move made of a lattice: drift, bounds, and where its sums are taken from. */
static void conclude_record(RECORD lmi_gpu_body *b, __local const double *sums, double h)
{
    find_drift(b, sums, h);
    for (int i = 0; i < 3; i++) {
        b->lower[i] = (float)sums[LMI_GPU_LOWER + i];
        b->upper[i] = (float)sums[LMI_GPU_UPPER + i];
        b->origin[i] += b->velocity[i] * h; /* it has gone along */
        b->at[i] = 0.0f;
        b->from[i] = b->velocity[i];
        b->impulse[i] += sums[LMI_GPU_IMPULSE + i];
    }
    b->contacts = (uint)sums[LMI_GPU_TOUCHED];
}
