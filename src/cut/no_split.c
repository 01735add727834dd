/* What takes the place of split.c in a build that must be small (LIMBER_SPLIT off): pieces stay parts of their bodies. */
#include "world/world.h"

static lm_result refuse(const lm_world *world, const char *name)
{
    return lmi_fail(world, LM_ERROR_UNSUPPORTED, "%s: this build of the library leaves pieces in their bodies", name);
}

lm_result lm_body_get_piece_infos(const lm_world *world, lm_body_id id, lm_piece_info *pieces)
{
    (void)id, (void)pieces;
    return refuse(world, "lm_body_get_piece_infos");
}

lm_result lm_body_split(lm_world *world, lm_body_id id, const uint32_t *groups, lm_body_id *made, uint32_t capacity,
                        uint32_t *count)
{
    (void)id, (void)groups, (void)made, (void)capacity;
    *count = 0;
    return refuse(world, "lm_body_split");
}

uint32_t lm_world_get_splits(const lm_world *world, lm_split *splits, uint32_t capacity)
{
    (void)world, (void)splits, (void)capacity;
    return 0;
}

lm_piece_limits lm_piece_limits_default(void) { return (lm_piece_limits){0}; }

lm_result lm_body_drop_pieces(lm_world *world, lm_body_id id, const lm_piece_limits *limits, lm_dropped *dropped)
{
    (void)id, (void)limits, (void)dropped;
    return refuse(world, "lm_body_drop_pieces");
}
