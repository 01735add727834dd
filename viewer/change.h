/*
 * What a person can do to a running world, as data.
 *
 * Everything that the viewer does to a world is one of these changes, made between two steps. Because they are data, they can
 * be recorded with the frame they were made in and made again in the same frame: with the engine's determinism, that is what
 * lets the timeline return to any moment exactly.
 */
#ifndef LIMBER_VIEWER_CHANGE_H
#define LIMBER_VIEWER_CHANGE_H

#include "limber/scene.h"

typedef enum change_kind {
    CHANGE_GRAB,       /* takes hold of a particle; one at a time */
    CHANGE_PULL,       /* moves the point that it is pulled to */
    CHANGE_RELEASE,    /* lets go */
    CHANGE_MATERIAL,   /* of one body */
    CHANGE_EXAMPLES,   /* of one body: how much they count, and whether their mix is forced */
    CHANGE_GRAVITY,    /* of the world */
    CHANGE_SUBSTEPS,   /* of the world */
    CHANGE_SQUASH,     /* all particles of a body onto the level of its lowest one, at rest */
    CHANGE_INVERT,     /* all particles of a body to the other side of its centre: inside out */
    CHANGE_ADD,        /* another body like this one */
    CHANGE_THROW_BALL, /* a ball that flies, bounces off floors, and pushes what it hits */
    CHANGE_CUT,        /* everything that can be cut, with a triangle */
    CHANGE_WIDTHS,     /* of an octree's regions around a point: times a factor, which fades outwards */
    CHANGE_CELLS,      /* of an octree around a point: divided or joined until their sides are times a factor */
    CHANGE_EYE         /* where the world is looked at from */
} change_kind;

/* The examples of a body as a person sees and sets them: all groups of regions as one. */
typedef struct example_mix {
    float beta;
    bool forced;                    /* the weights are set, not found */
    float weights[LM_MAX_EXAMPLES]; /* the mean of all groups; when they are forced, those of each */
} example_mix;

typedef struct change {
    change_kind kind;
    lm_body_id body;   /* grab, material, examples, squash, invert, add */
    uint32_t particle; /* grab */
    lm_dvec3 point;    /* grab, pull: the target; add, throw: where it starts; widths, cells: the middle; eye; world */
    lm_vec3 vector;    /* gravity, m/s²; throw: the velocity, m/s */
    float size; /* throw: the ball's radius, metres; grab: how far around the particle is pulled along, metres; widths,
                        * cells: how far around the point */
    float factor;         /* widths, cells */
    lm_dvec3 blade[3];    /* cut: the corners of the triangle, world */
    uint32_t count;       /* substeps */
    lm_material material; /* material */
    example_mix examples; /* examples */
} change;

/* ------------------------------------------------------------------------------------------------------------------
 * What the changes leave behind beside the world itself. Plain data: copied into the timeline with every snapshot.
 */

#define COMPANY_BALLS 8   /* in flight at once; the oldest gives way */
#define COMPANY_BODIES 64 /* that were added */

typedef struct company_ball {
    lm_mover_id mover;
    lm_collider_id collider;
    lm_vec3 velocity;
    float radius;
    uint32_t frames_left;
} company_ball;

typedef struct company_body {
    lm_body_id id;
    uint32_t like; /* the scene's body that it is like */
} company_body;

typedef struct company {
    lm_drag_id grab; /* {0}: nothing is held */
    lm_body_id grabbed;
    uint32_t grabbed_particle;
    lm_dvec3 grab_target;
    company_ball balls[COMPANY_BALLS];
    uint32_t ball_count;
    company_body bodies[COMPANY_BODIES];
    uint32_t body_count;
    bool has_eye; /* the world was told where it is looked at from, */
    lm_dvec3 eye; /* from here */
} company;

/* Makes a change. On failure the world is as before, and *error says why. */
lm_result change_make(const change *change, lm_scene *scene, lm_world *world, company *company, lm_scene_error *error);

/* The examples of a body. False: it has none. */
bool change_get_examples(const lm_world *world, lm_body_id body, example_mix *mix);

/* Before each step of `seconds`: balls fall, bounce and go. */
lm_result company_move(company *company, lm_world *world, double seconds);

/* Takes the hand and the balls out of the world; bodies that were added stay. */
void company_leave(company *company, lm_world *world);

/* Which of the scene's bodies one is, or is like. UINT32_MAX: none. */
uint32_t company_find_like(const company *company, const lm_scene *scene, lm_body_id body);

#endif
