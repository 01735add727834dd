/*
 * The region of a particle, found in the cube around it (lattice_regions.h).
 *
 * A row of the cube along x is a word of bits: a few shifts for each row, so that a region of five thousand particles takes
 * microseconds. The cells come with those around the cube that touch it, because two of its corners may be neighbours by one of
 * them.
 *
 * Most regions are found without a search for each member. With p a path of neighbours from the middle to a particle at
 * offset d, of n steps and inside the cube, step k is at most k from the middle and n - k from the end:
 *
 *   n <= width + 1                      all of the path is within `width` of both ends
 *   n = width + e,  |d| <= width + 1 - e   the same
 *
 * Whoever cannot be reached inside the cube at all is no member. The few that are left are searched for one by one, in the
 * intersection of both cubes.
 */
#include "lattice/lattice_regions.h"

#include <string.h>

#define SIDE LMI_LATTICE_SIDE

typedef uint32_t cube_bits[SIDE][SIDE];

uint32_t lmi_lattice_row_bits(const lmi_lattice *l, const lmi_lattice_map *map, const uint16_t *masks, int32_t x,
                              uint32_t count, int32_t y, int32_t z)
{
    if (y < 0 || z < 0 || y >= (int32_t)l->size[1] || z >= (int32_t)l->size[2]) {
        return 0;
    }
    int32_t start = x + (int32_t)l->phase;
    int32_t first = start >= 0 ? start / LMI_BLOCK : -((LMI_BLOCK - 1 - start) / LMI_BLOCK);
    uint64_t bits = 0;
    for (int32_t b = first; b * LMI_BLOCK < start + (int32_t)count; b++) {
        uint32_t block = LMI_LATTICE_NONE;
        if (!map) {
            block = lmi_lattice_find_block(l, b * LMI_BLOCK - (int32_t)l->phase, y, z);
        } else if (b >= 0 && b < (int32_t)map->blocks_x) {
            block = map->block[((size_t)z * l->size[1] + (size_t)y) * map->blocks_x + (size_t)b];
        }
        if (block != LMI_LATTICE_NONE) {
            bits |= (uint64_t)masks[block] << ((b - first) * LMI_BLOCK);
        }
    }
    return (uint32_t)(bits >> (start - first * LMI_BLOCK)) & (uint32_t)(((uint64_t)1 << count) - 1);
}

/* ---- what is in the cube ---- */

/* The blocks of a cube's rows and of those before them, found once: a row is in three of them at most. */
static void find_rows(const lmi_lattice *l, const lmi_lattice_map *map, const int32_t corner[3], lmi_lattice_cube *c)
{
    const int32_t w = (int32_t)l->width, side = 2 * w + 2, start = corner[0] - w - 1 + (int32_t)l->phase;
    const int32_t first = start >= 0 ? start / LMI_BLOCK : -1;
    c->shift = (uint32_t)(start - first * LMI_BLOCK);
    const int32_t blocks = ((int32_t)c->shift + side + LMI_BLOCK - 1) / LMI_BLOCK;
    for (int32_t n = 0; n < side * side; n++) {
        const int32_t y = corner[1] - w - 1 + n % side, z = corner[2] - w - 1 + n / side;
        uint32_t *block = c->block[n / side][n % side];
        block[0] = block[1] = block[2] = l->block_count;
        if (y < 0 || z < 0 || y >= (int32_t)l->size[1] || z >= (int32_t)l->size[2]) {
            continue;
        }
        for (int32_t k = 0; k < blocks; k++) {
            uint32_t found = LMI_LATTICE_NONE;
            if (!map) {
                found = lmi_lattice_find_block(l, (first + k) * LMI_BLOCK - (int32_t)l->phase, y, z);
            } else if (first + k >= 0 && first + k < (int32_t)map->blocks_x) {
                found = map->block[((size_t)z * l->size[1] + (size_t)y) * map->blocks_x + (size_t)(first + k)];
            }
            block[k] = found == LMI_LATTICE_NONE ? l->block_count : found;
        }
    }
}

/* A row of lanes from the corner before the cube's first on; y and z count from the row before the first, too. The masks have
 * none past the last block. */
static inline uint32_t row_from(const lmi_lattice_cube *c, const uint16_t *masks, int32_t y, int32_t z)
{
    const uint32_t *block = c->block[z][y];
    uint64_t bits =
        masks[block[0]] | (uint64_t)masks[block[1]] << LMI_BLOCK | (uint64_t)masks[block[2]] << (2 * LMI_BLOCK);
    return (uint32_t)(bits >> c->shift);
}

/* The corners of a row of the cube. */
static inline uint32_t row_of(const lmi_lattice *l, const lmi_lattice_cube *c, const uint16_t *masks, int32_t y,
                              int32_t z)
{
    return row_from(c, masks, y + 1, z + 1) >> 1 & ((1u << (2 * l->width + 1)) - 1);
}

static void load_cells(const lmi_lattice *l, const lmi_lattice_map *map, const int32_t corner[3], lmi_lattice_cube *c)
{
    const int32_t w = (int32_t)l->width, side = 2 * w + 2;
    const uint32_t all = (1u << side) - 1, inner = all >> 2 << 1;
    const uint16_t *whole = lmi_lattice_whole(l);
    find_rows(l, map, corner, c);
    c->full = true;
    c->torn_within = c->torn_beside = false;
    for (int32_t z = 0; z < side; z++) {
        for (int32_t y = 0; y < side; y++) {
            const bool within = z > 0 && y > 0 && z < side - 1 && y < side - 1;
            const uint32_t bits = row_from(c, whole, y, z) & all;
            c->cells[z][y] = bits;
            c->full = c->full && (!within || (bits & inner) == inner);
            if (l->whole) {
                c->torn[z][y] = ~bits & row_from(c, l->cell, y, z) & all;
                c->torn[z][y] |= l->ragged ? row_from(c, l->ragged, y, z) & all : 0;
                c->torn_beside = c->torn_beside || c->torn[z][y];
                c->torn_within = c->torn_within || (within && (c->torn[z][y] & inner));
            }
        }
    }
    for (int32_t axis = 0; c->torn_within && axis < 3; axis++) {
        for (int32_t z = 0; z <= 2 * w; z++) {
            for (int32_t y = 0; y <= 2 * w; y++) {
                c->bond[axis][z][y] = row_of(l, c, l->bond[axis], y, z);
            }
        }
    }
}

/* ---- within `width` steps ---- */

/* Bits x and x + 1 of four rows as the corners of a cell: bit 0 of a corner's number is x, bit 1 y, bit 2 z. */
static uint32_t corners_of(uint32_t rows[][SIDE], int32_t x, int32_t y)
{
    return (rows[0][y] >> x & 3) | (rows[0][y + 1] >> x & 3) << 2 | (rows[1][y] >> x & 3) << 4 |
           (rows[1][y + 1] >> x & 3) << 6;
}

/* From corners of a torn cell to all that unbroken edges lead to. */
static uint32_t spread_in_cell(lmi_lattice_cube *c, int32_t x, int32_t y, int32_t z, uint32_t from)
{
    uint32_t along_x = corners_of(&c->bond[0][z], x, y) & 0x55, along_y = corners_of(&c->bond[1][z], x, y) & 0x33;
    uint32_t along_z = corners_of(&c->bond[2][z], x, y) & 0x0f, before;
    do {
        before = from;
        from |= (from & along_x) << 1 | (from >> 1 & along_x);
        from |= (from & along_y) << 2 | (from >> 2 & along_y);
        from |= (from & along_z) << 4 | (from >> 4 & along_z);
    } while (from != before);
    return from;
}

/* What a step reaches through the torn cells of a row; `before` is what was reached so far. */
static void step_in_torn(const lmi_lattice *l, lmi_lattice_cube *c, cube_bits before, int32_t y, int32_t z)
{
    const uint32_t within = (1u << 2 * l->width) - 1;
    for (uint32_t left = c->torn[z + 1][y + 1] >> 1 & within; left; left &= left - 1) {
        int32_t x = lmi_low_bit(left);
        uint32_t from = corners_of(&before[z], x, y), to = from ? spread_in_cell(c, x, y, z, from) : 0;
        c->reach[z][y] |= (to & 3) << x;
        c->reach[z][y + 1] |= (to >> 2 & 3) << x;
        c->reach[z + 1][y] |= (to >> 4 & 3) << x;
        c->reach[z + 1][y + 1] |= (to >> 6 & 3) << x;
    }
}

/* From the particle in the middle, `width` steps, by cells of the cube. */
static void walk(const lmi_lattice *l, lmi_lattice_cube *c)
{
    const int32_t w = (int32_t)l->width;
    const uint32_t within = (1u << 2 * w) - 1;
    const size_t row = (2 * (size_t)l->width + 1) * sizeof c->reach[0][0];
    cube_bits touched, before;
    for (int32_t z = 0; z <= 2 * w; z++) {
        memset(c->reach[z], 0, row);
    }
    c->reach[w][w] = 1u << w;
    for (int32_t step = 1; step <= w; step++) {
        for (int32_t z = 0; c->torn_within && z <= 2 * w; z++) {
            memcpy(before[z], c->reach[z], row);
        }
        for (int32_t z = w - step; z < w + step; z++) {
            for (int32_t y = w - step; y < w + step; y++) {
                uint32_t near = c->reach[z][y] | c->reach[z][y + 1] | c->reach[z + 1][y] | c->reach[z + 1][y + 1];
                touched[z][y] = (near | near >> 1) & c->cells[z + 1][y + 1] >> 1 & within;
            }
        }
        for (int32_t z = w - step; z < w + step; z++) {
            for (int32_t y = w - step; y < w + step; y++) {
                uint32_t ends = touched[z][y] | touched[z][y] << 1;
                c->reach[z][y] |= ends;
                c->reach[z][y + 1] |= ends;
                c->reach[z + 1][y] |= ends;
                c->reach[z + 1][y + 1] |= ends;
                if (c->torn_within) {
                    step_in_torn(l, c, before, y, z);
                }
            }
        }
    }
}

/* ---- connected inside the intersection of both cubes ---- */

/* Corners low to high - 1 of a cube. */
typedef struct box {
    int32_t low[3], high[3];
} box;

/* What the cube of a corner has in common with it. */
static box common_box(int32_t w, const int32_t at[3])
{
    box b;
    for (int a = 0; a < 3; a++) {
        b.low[a] = at[a] > w ? at[a] - w : 0;
        b.high[a] = (at[a] < w ? at[a] + w : 2 * w) + 1;
    }
    return b;
}

/* The corners of whole cells that have a corner in `from` among those of two rows by two, in one word. */
static inline uint32_t neighbours(const lmi_lattice_cube *c, uint32_t from, int32_t y, int32_t z)
{
    uint32_t touched = (from | from << 1) & c->cells[z][y];
    return touched | touched >> 1;
}

/* One step from `from` to all neighbours in the cube, into `to`. Returns whether there are more of them. */
static bool step_in_cube(const lmi_lattice *l, const lmi_lattice_cube *c, cube_bits from, cube_bits to)
{
    const int32_t side = 2 * (int32_t)l->width + 1;
    const uint32_t all = (1u << side) - 1;
    uint32_t more = 0;
    for (int32_t z = 0; z < side; z++) {
        memcpy(to[z], from[z], (size_t)side * sizeof to[z][0]);
    }
    for (int32_t z = 0; z <= side; z++) { /* of cells */
        const int32_t below = z > 0 ? z - 1 : 0, above = z < side ? z : side - 1;
        for (int32_t y = 0; y <= side; y++) {
            const int32_t left = y > 0 ? y - 1 : 0, right = y < side ? y : side - 1;
            uint32_t near = from[below][left] | from[below][right] | from[above][left] | from[above][right];
            uint32_t ends = near ? neighbours(c, near, y, z) & all : 0;
            to[below][left] |= ends, to[below][right] |= ends, to[above][left] |= ends, to[above][right] |= ends;
        }
    }
    for (int32_t z = 0; z < side; z++) {
        for (int32_t y = 0; y < side; y++) {
            more |= to[z][y] ^ from[z][y];
        }
    }
    return more != 0;
}

static bool has_all(cube_bits found, cube_bits wanted, const box *where)
{
    const uint32_t bits = (1u << where->high[0]) - (1u << where->low[0]);
    uint32_t missing = 0;
    for (int32_t z = where->low[2]; z < where->high[2]; z++) {
        for (int32_t y = where->low[1]; y < where->high[1]; y++) {
            missing |= wanted[z][y] & ~found[z][y] & bits;
        }
    }
    return missing == 0;
}

/* All of `wanted` in a box that is connected with the middle inside another one, and maybe more. */
static void flood(const lmi_lattice *l, const lmi_lattice_cube *c, const box *b, cube_bits wanted, const box *where,
                  cube_bits to)
{
    const int32_t w = (int32_t)l->width;
    const uint32_t all = (1u << b->high[0]) - (1u << b->low[0]);
    bool more = true;
    memset(to, 0, sizeof(cube_bits));
    to[w][w] = 1u << w;
    for (int32_t pass = 0; more; pass++) { /* up and down by turns */
        more = false;
        for (int32_t k = b->low[2]; k <= b->high[2]; k++) {
            const int32_t z = pass % 2 ? b->high[2] + b->low[2] - k : k;
            const int32_t below = z > b->low[2] ? z - 1 : z, above = z < b->high[2] ? z : z - 1;
            for (int32_t j = b->low[1]; j <= b->high[1]; j++) {
                const int32_t y = pass % 2 ? b->high[1] + b->low[1] - j : j;
                const int32_t left = y > b->low[1] ? y - 1 : y, right = y < b->high[1] ? y : y - 1;
                uint32_t *four[4] = {&to[below][left], &to[below][right], &to[above][left], &to[above][right]};
                uint32_t near = *four[0] | *four[1] | *four[2] | *four[3];
                uint32_t ends = near ? neighbours(c, near, y, z) & all : 0;
                for (int n = 0; n < 4; n++) {
                    more = more || (ends & ~*four[n]);
                    *four[n] |= ends;
                }
            }
        }
        more = more && !has_all(to, wanted, where);
    }
}

/* Whether a torn cell touches a box. */
static bool is_torn(const lmi_lattice_cube *c, const box *b)
{
    const uint32_t all = (1u << (b->high[0] + 1)) - (1u << b->low[0]);
    bool torn = false;
    for (int32_t z = b->low[2]; c->torn_beside && z <= b->high[2] && !torn; z++) {
        for (int32_t y = b->low[1]; y <= b->high[1] && !torn; y++) {
            torn = c->torn[z][y] & all;
        }
    }
    return torn;
}

/* Those whose box has that of a corner in it: between the middle and the corner. */
static box nearer_box(int32_t w, const int32_t at[3])
{
    box b;
    for (int a = 0; a < 3; a++) {
        b.low[a] = at[a] < w ? at[a] : w;
        b.high[a] = (at[a] > w ? at[a] : w) + 1;
    }
    return b;
}

/* Takes those of `open` into the region that are connected inside the box of a corner and nearer than it: they are in their
 * own boxes, too, which have that one in them. */
static void take_connected(const lmi_lattice *l, lmi_lattice_cube *c, cube_bits open, const int32_t at[3])
{
    const int32_t w = (int32_t)l->width;
    const box common = common_box(w, at), nearer = nearer_box(w, at);
    const uint32_t bits = (1u << nearer.high[0]) - (1u << nearer.low[0]);
    cube_bits found;
    flood(l, c, &common, open, &nearer, found);
    for (int32_t z = nearer.low[2]; z < nearer.high[2]; z++) {
        for (int32_t y = nearer.low[1]; y < nearer.high[1]; y++) {
            const uint32_t members = open[z][y] & found[z][y] & bits;
            c->reach[z][y] |= members;
            open[z][y] &= ~members;
        }
    }
}

/* Those of `open` in a part of an octant of the cube: the smallest box around them. False where there are none. */
static bool find_open(cube_bits open, const box *part, box *found)
{
    const uint32_t bits = (1u << part->high[0]) - (1u << part->low[0]);
    uint32_t any = 0;
    *found = (box){{SIDE, SIDE, SIDE}, {0, 0, 0}};
    for (int32_t z = part->low[2]; z < part->high[2]; z++) {
        for (int32_t y = part->low[1]; y < part->high[1]; y++) {
            const uint32_t here = open[z][y] & bits;
            if (here) {
                any |= here;
                found->low[1] = y < found->low[1] ? y : found->low[1];
                found->high[1] = y >= found->high[1] ? y + 1 : found->high[1];
                found->low[2] = z < found->low[2] ? z : found->low[2];
                found->high[2] = z + 1;
            }
        }
    }
    if (any) {
        found->low[0] = lmi_low_bit(any);
        found->high[0] = lmi_high_bit(any) + 1;
    }
    return any != 0;
}

/* The corner of a part of an octant that is nearest to the middle, or farthest from it. */
static void end_of(int32_t w, const box *part, bool nearest, int32_t at[3])
{
    for (int a = 0; a < 3; a++) {
        const bool above = part->low[a] >= w;
        at[a] = above == nearest ? part->low[a] : part->high[a] - 1;
    }
}

/* Those of `open` in a part of an octant are no members if they are not connected with the middle inside the box of the nearest corner: it
 * has the boxes of all of them in it. */
static void drop_unconnected(const lmi_lattice *l, const lmi_lattice_cube *c, cube_bits open, const box *part)
{
    int32_t at[3];
    end_of((int32_t)l->width, part, true, at);
    const box common = common_box((int32_t)l->width, at);
    const uint32_t bits = (1u << part->high[0]) - (1u << part->low[0]);
    cube_bits found;
    flood(l, c, &common, open, part, found);
    for (int32_t z = part->low[2]; z < part->high[2]; z++) {
        for (int32_t y = part->low[1]; y < part->high[1]; y++) {
            open[z][y] &= found[z][y] | ~bits;
        }
    }
}

/* Decides all that are open in a part of an octant: members are those that are connected inside the box of the farthest of them, which all of
 * their boxes have in them. Where neither end decides them, by halves. */
static void search_part(const lmi_lattice *l, lmi_lattice_cube *c, cube_bits open, const box *part)
{
    box left;
    int32_t at[3];
    if (!find_open(open, part, &left)) {
        return;
    }
    end_of((int32_t)l->width, &left, false, at);
    take_connected(l, c, open, at);
    if (!find_open(open, part, &left)) {
        return;
    }
    drop_unconnected(l, c, open, &left);
    if (!find_open(open, part, &left)) {
        return;
    }
    int longest = 0;
    for (int a = 1; a < 3; a++) {
        longest = left.high[a] - left.low[a] > left.high[longest] - left.low[longest] ? a : longest;
    }
    box half = left;
    half.high[longest] = left.low[longest] + (left.high[longest] - left.low[longest] + 1) / 2;
    left.low[longest] = half.high[longest];
    search_part(l, c, open, &half);
    search_part(l, c, open, &left);
}

/* Beside broken links: one by one, but those whose boxes are torn. */
static void search_torn(const lmi_lattice *l, lmi_lattice_cube *c, cube_bits open)
{
    for (int32_t z = 0; z <= 2 * (int32_t)l->width; z++) {
        for (int32_t y = 0; y <= 2 * (int32_t)l->width; y++) {
            for (uint32_t left = open[z][y]; left; left &= left - 1) {
                const int32_t one[3] = {lmi_low_bit(left), y, z};
                const box common = common_box((int32_t)l->width, one);
                if (!is_torn(c, &common)) {
                    cube_bits alone = {{0}};
                    alone[z][y] = 1u << one[0];
                    take_connected(l, c, alone, one);
                }
            }
        }
    }
}

/* Decides all that are open. */
static void search(const lmi_lattice *l, lmi_lattice_cube *c, cube_bits open)
{
    const int32_t w = (int32_t)l->width;
    if (c->torn_beside) {
        search_torn(l, c, open);
        return;
    }
    for (uint32_t octant = 0; octant < 8; octant++) {
        box part;
        for (int a = 0; a < 3; a++) {
            part.low[a] = octant >> a & 1 ? w : 0;
            part.high[a] = octant >> a & 1 ? 2 * w + 1 : w + 1;
        }
        search_part(l, c, open, &part);
    }
}

/* Bits of a row that are no farther than `far` from the middle. */
static uint32_t near_bits(int32_t w, int32_t far, int32_t y, int32_t z)
{
    bool row = far >= 0 && y >= w - far && y <= w + far && z >= w - far && z <= w + far;
    return row ? ((1u << (2 * far + 1)) - 1) << (w - far) : 0;
}

static bool is_all(const lmi_lattice *l, const lmi_lattice_cube *c)
{
    uint32_t other = 0;
    for (uint32_t z = 0; z <= 2 * l->width; z++) {
        for (uint32_t y = 0; y <= 2 * l->width; y++) {
            other |= c->corners[z][y] ^ c->reach[z][y];
        }
    }
    return other == 0;
}

/* From what `width` steps reach to the region. */
static void join(const lmi_lattice *l, lmi_lattice_cube *c)
{
    const int32_t w = (int32_t)l->width;
    cube_bits one, other, open;
    memcpy(one, c->reach, sizeof one);
    uint32_t(*from)[SIDE] = one, (*to)[SIDE] = other, undecided = 0;
    for (int32_t beyond = 1; step_in_cube(l, c, from, to); beyond++) {
        uint32_t(*swap)[SIDE] = from;
        for (int32_t z = 0; !c->torn_beside && z <= 2 * w; z++) {
            for (int32_t y = 0; y <= 2 * w; y++) {
                c->reach[z][y] |= to[z][y] & ~from[z][y] & near_bits(w, w + 1 - beyond, y, z);
            }
        }
        from = to;
        to = swap;
        if (beyond == 1 && is_all(l, c)) {
            return;
        }
    }
    for (int32_t z = 0; z <= 2 * w; z++) {
        for (int32_t y = 0; y <= 2 * w; y++) {
            open[z][y] = from[z][y] & ~c->reach[z][y];
            undecided |= open[z][y];
        }
    }
    if (undecided) {
        search(l, c, open);
    }
}

/* ---- regions ---- */

void lmi_lattice_find_region(const lmi_lattice *l, const lmi_lattice_map *map, uint32_t particle, lmi_lattice_cube *c)
{
    const int32_t side = 2 * (int32_t)l->width + 1;
    int32_t corner[3];
    lmi_lattice_corner(l, particle, corner);
    load_cells(l, map, corner, c);
    if (c->full) {
        c->members = (uint32_t)(side * side * side);
        c->regular = true;
        return;
    }
    for (int32_t z = 0; z < side; z++) {
        for (int32_t y = 0; y < side; y++) {
            c->corners[z][y] = row_of(l, c, l->occupied, y, z);
        }
    }
    walk(l, c);
    if (!is_all(l, c)) {
        join(l, c);
    }
    c->members = 0;
    for (int32_t z = 0; z < side; z++) {
        for (int32_t y = 0; y < side; y++) {
            c->members += (uint32_t)lmi_bit_count(c->reach[z][y]);
        }
    }
    c->regular = is_all(l, c);
}

void lmi_lattice_fill_full(const lmi_lattice *l, lmi_lattice_cube *c)
{
    for (uint32_t z = 0; c->full && z <= 2 * l->width; z++) {
        for (uint32_t y = 0; y <= 2 * l->width; y++) {
            c->reach[z][y] = (1u << (2 * l->width + 1)) - 1;
        }
    }
}

uint32_t lmi_lattice_region(const lmi_lattice *l, uint32_t particle, uint32_t *members)
{
    lmi_lattice_cube c;
    int32_t w = (int32_t)l->width;
    uint32_t count = 0;
    lmi_lattice_find_region(l, lmi_lattice_map_of(l), particle, &c);
    lmi_lattice_fill_full(l, &c);
    for (int32_t z = 0; z <= 2 * w; z++) {
        for (int32_t y = 0; y <= 2 * w; y++) {
            for (uint32_t left = c.reach[z][y]; left; left &= left - 1) {
                members[count++] = lmi_lattice_cube_place(&c, lmi_low_bit(left), y, z);
            }
        }
    }
    return count;
}

uint32_t lmi_lattice_count_others(const lmi_lattice *l, const lmi_lattice_cube *c)
{
    uint32_t occupied = 0;
    for (uint32_t z = 0; z <= 2 * l->width; z++) {
        for (uint32_t y = 0; y <= 2 * l->width; y++) {
            occupied += (uint32_t)lmi_bit_count(c->corners[z][y]);
        }
    }
    return occupied - c->members;
}

uint32_t lmi_lattice_count_active(const lmi_lattice *l, const lmi_lattice_map *map, uint32_t particle)
{
    lmi_lattice_cube c;
    int32_t w = (int32_t)l->width;
    uint32_t count = 0;
    lmi_lattice_find_region(l, map, particle, &c);
    for (int32_t z = 0; z <= 2 * w; z++) {
        for (int32_t y = 0; y <= 2 * w; y++) {
            uint32_t active = row_of(l, &c, l->active, y, z);
            count += (uint32_t)lmi_bit_count(c.full ? active : active & c.reach[z][y]);
        }
    }
    return count;
}
