/*
 * fracture/: links of a lattice that break: which are strained too much, and what the body becomes.
 *
 * reads   definitions, positions of a body, blades
 * writes  the body: its lattice, parts, skin; the breaks of the step
 * uses    geometry lattice world; in sources also base skin contact
 *
 *   fracture.c  definitions       fracture_break.c  in a step       chips.c  the smallest pieces, and blades
 *
 * Bodies that can break: what a lattice body has besides (include/limber/limber.h, Fracture).
 *
 * Links break at the beginning of a step, with the other things that can fail: everything that a broken body will be is made
 * aside (a plan), and put in place when all bodies have what they need.
 */
#ifndef LMI_FRACTURE_H
#define LMI_FRACTURE_H

#include "geometry/blade.h"
#include "lattice/lattice.h"
#include "lattice/lattice_body.h"
#include "lattice/lattice_break.h"
#include "world/world.h"

struct lmi_opening;
struct lmi_slit_plan;
struct lmi_open_lists;

/* A link that is stretched beyond its limit. */
typedef struct lmi_strained {
    lmi_lattice_link link;
    float strain, limit;
    double beyond; /* how many times its limit */
} lmi_strained;

/* What a body becomes. */
typedef struct lmi_break_plan {
    lmi_lattice next;
    lmi_lattice_change change;
    double *weights;         /* [places] of fits */
    float *velocity_moments; /* null: the body has none */
    float *stiffness;        /* null: the body has none */
    lmi_lattice_part *part;  /* null, as the next two: the parts stay */
    lmi_lattice_motion *motion;
    lmi_lattice_sums *sums;
    struct lmi_open_lists *skin; /* null: the body has none */
} lmi_break_plan;

typedef struct lmi_fracture {
    lm_fracture_def def; /* without pointers */
    bool breaks;         /* by strain; else only when asked to */
    float *factors;      /* [places], or null: 1 */
    float least_factor;
    uint32_t *chips;     /* [places], below */
    uint32_t *grains;    /* [places], or null: there are none; chips are of one */
    uint32_t broken;     /* links so far */
    uint64_t links_hash; /* stands for the broken links, in whichever order they broke */
    lmi_lattice_link
        *inborn; /* [inborn_count] sorted: links that were broken when the skin was given, which shows it */
    uint32_t inborn_count, inborn_room;
    lmi_skin whole;              /* of a body that has broken: the skin as it was given */
    uint64_t whole_hash;         /* lmi_hash_shape with that skin */
    struct lmi_opening *opening; /* that skin as it opens (skin/skin_open.h); null: the body has no skin */
    lmi_break_plan *plan;
    uint16_t *deep; /* [blocks] lanes of particles that had links to all sides when nothing was broken */
    /* Room that grows when links are strained, and stays. */
    lmi_strained *strained;
    uint32_t strained_count, strained_capacity, chosen;
    lmi_lattice_link *links;
    uint32_t link_capacity;
} lmi_fracture;

void lmi_fracture_free(lm_world *world, lmi_body *body);

/* A lattice that cannot break as it will be once it can, made before its first cut (cut/ready.h). */
typedef struct lmi_links lmi_links;

/* LM_ERROR_LIMIT or LM_ERROR_MEMORY. */
lm_result lmi_links_make(lm_world *world, const lmi_body *body, lmi_links **links);
void lmi_links_free(lm_world *world, lmi_links *links); /* null is allowed */

/* What a cut replaces before it is certain that there is memory for all of it. */
typedef struct lmi_fracture_undo {
    lmi_links *links; /* null, or what the cut begins with; it stays here where the body needs no links */
    bool laid_out;    /* the body had no links: its lattice was another, and so was what touches */
    lmi_lattice_body lattice;
    lmi_touch touch;
    lmi_bulk *bulk;
    struct lmi_cubes *cubes;
    struct lmi_mould *surface;
    lm_contact_points contact_points;
    bool shown; /* the skin opens between links: it did not, or blades had cut it */
    lmi_skin skin;
    struct lmi_slit *slit;
    uint64_t shape_hash, whole_hash;
    struct lmi_opening *opening; /* that was taken away */
} lmi_fracture_undo;

/* In the end: what was replaced goes, and the body wakes; or all is as it was. Both leave nothing in `undo` but links that nobody needed. */
void lmi_fracture_settle(lm_world *world, const lmi_body *body, lmi_fracture_undo *undo);
void lmi_fracture_restore(lm_world *world, lmi_body *body, lmi_fracture_undo *undo);

/* A lattice whose links may break in the place of the body's own, with these broken already. `weighed`: none is, and the
 * lattice gets its constants too. `undo`: null, or takes what was there. On failure nothing has changed. */
lm_result lmi_fracture_start(lm_world *world, lmi_body *body, const lmi_lattice_breaks *breaks, bool weighed,
                             lmi_fracture_undo *undo);

/* The same of a body with a definition and nothing that follows from it, with these links broken, and all that follows. LM_ERROR_ARGUMENT:
 * they cannot be. */
lm_result lmi_fracture_remake(lm_world *world, lmi_body *body, const lmi_lattice_link *links, uint32_t count);

/* Lets a lattice break as a sound definition says. `opens`: its skin opens between the links that break; else blades cut it
 * (skin/slit.h). `undo`: null, or takes what was there, and the body sleeps on until that is settled. On failure nothing has changed. */
lm_result lmi_fracture_set(lm_world *world, lmi_body *body, const lm_fracture_def *def, bool opens,
                           lmi_fracture_undo *undo);

/* These links are inborn, in place of others; and whether one is. False when out of memory. */
bool lmi_fracture_bear(lm_world *world, lmi_fracture *fracture, const lmi_lattice_link *links, uint32_t count);
bool lmi_fracture_is_inborn(const lmi_fracture *fracture, lmi_lattice_link link);

/* What follows from the definition: grains, which have room, and the lowest factor. */
void lmi_fracture_derive(lmi_body *body);
const char *lmi_fracture_fault(const lm_fracture_def *def); /* null when it is sound; pointers and cookie aside */

/* Finds the deep particles, for which there is room. */
void lmi_fracture_find_deep(lmi_body *body);

static inline size_t lmi_fracture_deep_blocks(const lmi_body *body)
{
    return (size_t)body->place_count / LMI_BLOCK + 1;
}

/* Its particles touch others, and its pieces each other (contact/rubble.h). */
static inline bool lmi_is_rubble(const lmi_body *body)
{
    return body->fracture && (body->mask != 0 || body->self_contact);
}

/* The strain at which a link breaks. */
double lmi_fracture_limit(const lmi_body *body, lmi_lattice_link link);

/* Of a link that broke, as it counts in links_hash. */
uint64_t lmi_fracture_link_hash(lmi_lattice_link link);

/* Before a step: what is strained too much breaks, in all bodies or, for want of memory, in none. */
bool lmi_fracture_step(lm_world *world);

/* Breaks what a blade parts: links from chip to chip. `slit` (or null): the blade cuts the skin too. Nothing
 * has changed on failure. */
lm_result lmi_fracture_cut(lm_world *world, uint32_t slot, lmi_body *body, const lmi_stroke *stroke,
                           struct lmi_slit_plan *slit, uint32_t *broken);

/* The links that hold and that the blade parts, as strained ones. False when out of memory. */
bool lmi_fracture_find_parted(lm_world *world, lmi_body *body, const lmi_blade *blade, const lmi_stroke *stroke);

/* Before a cut: a lattice that cannot break gets links that only a blade or lm_body_break breaks, unless the blade parts none of
 * them; then it stays as it is, without fracture. `undo` takes what was there. On failure nothing has changed. */
lm_result lmi_fracture_ready_for_blade(lm_world *world, lmi_body *body, const lmi_stroke *stroke, bool opens,
                                       lmi_fracture_undo *undo);

/* Skins of bodies that can break (skin/skin_open.c). After the body got another skin: it is made ready to open, and open where
 * links are broken. The body has its chips. False when out of memory; then nothing has changed. */
bool lmi_fracture_skin(lm_world *world, lmi_body *body);

/* From here on the skin, if there is one, opens between links: one that blades have cut is as it was given, and open where links are
 * broken. `undo`: null, or takes what was there. False when out of memory; then nothing has changed. */
bool lmi_fracture_open_links(lm_world *world, lmi_body *body, lmi_fracture_undo *undo);

/* Its two halves: what may fail, and putting it in place. */
struct lmi_opening *lmi_fracture_opening(lm_world *world, const lmi_body *body);
void lmi_fracture_show(lm_world *world, lmi_body *body, struct lmi_opening *opening, lmi_fracture_undo *undo);

/* ---- chips ----
 *
 * Chips: what a lattice breaks into at most.
 *
 * A site has one particle, so two pieces can not both have it. If any link could break, cracks would leave particles without a
 * single whole cell, which nothing says how to turn, or pieces that are connected by cells that both need. So particles are
 * divided into chips of two a side, the corners of every second cell along each axis: these cells have no corner in common, and
 * only links from chip to chip break. Particles at the border that are in no such cell belong to a chip beside them. Every chip
 * holds together, and has a whole cell, so that a piece of one chip moves, turns and carries its surface as any other.
 */

/* The chip of each particle ([blocks + 1][LMI_BLOCK]): the lowest corner of its cell, all of whose corners belong to it.
 * LMI_LATTICE_NONE where there is no particle. */
void lmi_lattice_find_chips(const lmi_lattice *lattice, uint32_t *chips);

#endif
