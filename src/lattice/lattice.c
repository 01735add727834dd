#include "base/compiler.h"
#include "lattice/lattice_break.h"
#include "lattice/lattice_plates.h"
#include "lattice/lattice_regions.h"

#include <stdlib.h>
#include <string.h>

/* --- axes --- */

/* The cells along the lattice's own axes. */
static bool turn_cells(lmi_memory *memory, const lmi_voxels *from, uint32_t turn, lmi_voxels *to)
{
    *to = *from;
    for (uint32_t a = 0; a < 3; a++) {
        to->n[a] = from->n[(a + turn) % 3];
    }
    to->row_words = to->n[0] / 64 + (to->n[0] % 64 != 0);
    size_t words = (size_t)to->row_words * to->n[1] * to->n[2];
    to->bits = lmi_allocate(memory, words, sizeof *to->bits);
    if (!to->bits) {
        return false;
    }
    for (uint32_t z = 0; z < from->n[2]; z++) {
        for (uint32_t y = 0; y < from->n[1]; y++) {
            const uint64_t *row = lmi_voxels_row(from, y, z);
            for (uint32_t word = 0; word < from->row_words; word++) {
                for (uint64_t left = row[word]; left; left &= left - 1) {
                    uint32_t cell[3] = {word * 64 + (uint32_t)lmi_low_bit(left), y, z};
                    uint32_t x = cell[turn % 3], u = cell[(1 + turn) % 3], v = cell[(2 + turn) % 3];
                    to->bits[((size_t)v * to->n[1] + u) * to->row_words + x / 64] |= (uint64_t)1 << (x % 64);
                }
            }
        }
    }
    return true;
}

static void free_cells(lmi_memory *memory, lmi_voxels *cells)
{
    lmi_release(memory, cells->bits, (size_t)cells->row_words * cells->n[1] * cells->n[2], sizeof *cells->bits);
}

/* Runs of blocks are fastest up to this many cells. */
#define LONG_ENOUGH 224u

/* The axis of rows: the longest, but none that is longer than need be, because planes should be small. */
static uint32_t choose_axis(const uint32_t n[3])
{
    uint32_t best = 3, longest = 0;
    for (uint32_t a = 0; a < 3; a++) {
        bool fits = n[a] < LONG_ENOUGH && n[a] >= LMI_BLOCK;
        best = fits && (best == 3 || n[a] > n[best]) ? a : best;
        longest = n[a] > n[longest] ? a : longest;
    }
    return best < 3 ? best : longest;
}

/* --- blocks --- */

/* Calls for each set bit of a row of corners. */
#define EACH_BIT(row, words, x)                                                                                        \
    for (uint32_t word_ = 0; word_ < (words); word_++)                                                                 \
        for (uint64_t left_ = (row)[word_]; left_; left_ &= left_ - 1)                                                 \
            for (uint32_t x = word_ * 64 + (uint32_t)lmi_low_bit(left_), once_ = 1; once_; once_ = 0)

/* The phase with the fewest blocks, their number, and that of the particles. */
static uint32_t choose_phase(const lmi_voxels *cells, uint64_t *row, uint64_t *particles, uint64_t *blocks)
{
    uint64_t count[LMI_BLOCK] = {0};
    uint32_t words = lmi_voxels_corner_words(cells), best = 0;
    *particles = 0;
    for (uint32_t z = 0; z <= cells->n[2]; z++) {
        for (uint32_t y = 0; y <= cells->n[1]; y++) {
            uint32_t last[LMI_BLOCK];
            memset(last, 0xff, sizeof last);
            *particles += lmi_voxels_corner_row(cells, y, z, row);
            EACH_BIT(row, words, x)
            {
                for (uint32_t phase = 0; phase < LMI_BLOCK; phase++) {
                    uint32_t block = (x + phase) / LMI_BLOCK;
                    count[phase] += block != last[phase];
                    last[phase] = block;
                }
            }
        }
    }
    for (uint32_t phase = 1; phase < LMI_BLOCK; phase++) {
        best = count[phase] < count[best] ? phase : best;
    }
    *blocks = count[best];
    return best;
}

/* The table of blocks, sorted by z, y, x. Returns their number; the map has it by then. */
static uint32_t map_blocks(const lmi_voxels *cells, uint32_t phase, uint64_t *row, lmi_lattice_map *map)
{
    uint32_t words = lmi_voxels_corner_words(cells), blocks = 0;
    for (uint32_t z = 0; z <= cells->n[2]; z++) {
        for (uint32_t y = 0; y <= cells->n[1]; y++) {
            uint32_t *at = map->block + ((size_t)z * (cells->n[1] + 1) + y) * map->blocks_x;
            memset(at, 0xff, map->blocks_x * sizeof *at);
            lmi_voxels_corner_row(cells, y, z, row);
            EACH_BIT(row, words, x)
            {
                uint32_t block = (x + phase) / LMI_BLOCK;
                blocks += at[block] == LMI_LATTICE_NONE;
                at[block] = blocks - 1;
            }
        }
    }
    return blocks;
}

/* The corner of a packed one along the lattice's own axes. */
static void turned(const lmi_lattice *l, uint64_t corner, int32_t at[3])
{
    uint32_t of[3];
    lmi_voxels_unpack(corner, of);
    for (uint32_t a = 0; a < 3; a++) {
        at[a] = (int32_t)of[(a + l->turn) % 3];
    }
}

static bool is_at(const lmi_lattice *l, const lmi_lattice_map *map, const uint16_t *masks, int32_t x, int32_t y,
                  int32_t z)
{
    return lmi_lattice_row_bits(l, map, masks, x, 1, y, z) & 1;
}

/* Takes absent corners out, and puts the cells that have one aside. LM_ERROR_ARGUMENT: there is no such corner, or it comes twice. */
static lm_result take_absent(lmi_memory *memory, const lmi_voxels *cells, const lmi_lattice_map *map, lmi_lattice *l)
{
    const size_t count = (size_t)l->block_count + 1;
    bool ok = true;
    if (cells->absent_count == 0) {
        return LM_OK;
    }
    l->absent = lmi_copy(memory, cells->absent, cells->absent_count, sizeof *l->absent, &ok);
    l->absent_count = ok ? cells->absent_count : 0;
    l->ragged = lmi_allocate(memory, count, sizeof *l->ragged);
    if (!ok || !l->ragged) {
        return LM_ERROR_MEMORY;
    }
    for (uint32_t n = 0; n < l->absent_count; n++) {
        int32_t at[3];
        turned(l, l->absent[n], at);
        if (at[0] < 0 || at[0] >= (int32_t)l->size[0] || !is_at(l, map, l->occupied, at[0], at[1], at[2])) {
            return LM_ERROR_ARGUMENT;
        }
        uint32_t x = (uint32_t)at[0] + l->phase;
        uint32_t block = map->block[((size_t)at[2] * l->size[1] + (size_t)at[1]) * map->blocks_x + x / LMI_BLOCK];
        l->occupied[block] &= (uint16_t) ~(1u << x % LMI_BLOCK);
        l->particle_count--;
    }
    for (uint32_t n = 0; n < l->block_count * LMI_BLOCK; n++) {
        bool whole = true;
        int32_t at[3];
        lmi_lattice_corner(l, n, at);
        for (int32_t k = 0; l->cell[n / LMI_BLOCK] >> n % LMI_BLOCK & 1 && whole && k < 8; k++) {
            whole = is_at(l, map, l->occupied, at[0] + (k & 1), at[1] + (k >> 1 & 1), at[2] + (k >> 2));
        }
        if (!whole) {
            l->ragged[n / LMI_BLOCK] |= (uint16_t)(1u << n % LMI_BLOCK);
            l->cell[n / LMI_BLOCK] &= (uint16_t) ~(1u << n % LMI_BLOCK);
        }
    }
    return l->particle_count ? LM_OK : LM_ERROR_ARGUMENT;
}

static bool fill_blocks(lmi_memory *memory, const lmi_voxels *cells, uint64_t *row, const lmi_lattice_map *map,
                        lmi_lattice *l)
{
    size_t count = (size_t)l->block_count + 1;
    l->occupied = lmi_allocate(memory, count, sizeof *l->occupied);
    l->cell = lmi_allocate(memory, count, sizeof *l->cell);
    l->active = lmi_allocate(memory, count, sizeof *l->active);
    l->degree = lmi_allocate(memory, count * LMI_BLOCK, sizeof *l->degree);
    l->at = lmi_allocate(memory, count, sizeof *l->at);
    l->plane_block = lmi_allocate(memory, (size_t)l->plane_count + 1, sizeof *l->plane_block);
    if (!l->occupied || !l->cell || !l->active || !l->degree || !l->at || !l->plane_block) {
        return false;
    }
    uint32_t words = lmi_voxels_corner_words(cells);
    for (uint32_t z = 0; z < l->size[2]; z++) {
        for (uint32_t y = 0; y < l->size[1]; y++) {
            const uint32_t *at = map->block + ((size_t)z * l->size[1] + y) * map->blocks_x;
            lmi_voxels_corner_row(cells, y, z, row);
            EACH_BIT(row, words, x)
            {
                uint32_t block = at[(x + l->phase) / LMI_BLOCK], lane = (x + l->phase) % LMI_BLOCK;
                l->occupied[block] = (uint16_t)(l->occupied[block] | 1u << lane);
                if (lmi_voxels_cell(cells, x, y, z)) {
                    l->cell[block] = (uint16_t)(l->cell[block] | 1u << lane);
                }
                l->at[block][0] = (int32_t)(x - lane);
                l->at[block][1] = (int32_t)y;
                l->at[block][2] = (int32_t)z;
                l->plane_block[z + 1] = block + 1;
            }
        }
        l->plane_block[z + 1] = l->plane_block[z + 1] > l->plane_block[z] ? l->plane_block[z + 1] : l->plane_block[z];
    }
    return true;
}

/* --- places --- */

/* Which blocks of the box take part in sums, one byte each. */
enum { HAS_PARTICLES = 1, IN_REACH_X = 2, COLUMN_Y = 4, COLUMN_Z = 8, COLUMN_YZ = 16, IN_REACH_XY = 32 };

static inline size_t box_index(const lmi_lattice *l, const lmi_lattice_map *map, uint32_t b, uint32_t y, uint32_t z)
{
    return ((size_t)z * l->size[1] + y) * map->blocks_x + b;
}

/* Sets `to` in every block from which a block with `from` is at most `width` away along y (stride 1 row) or z. */
static void spread(uint8_t *flags, const lmi_lattice *l, const lmi_lattice_map *map, bool along_z, uint8_t from,
                   uint8_t to)
{
    int32_t count = (int32_t)(along_z ? l->size[2] : l->size[1]), w = (int32_t)l->width;
    for (uint32_t other = 0; other < (along_z ? l->size[1] : l->size[2]); other++) {
        for (uint32_t b = 0; b < map->blocks_x; b++) {
            int32_t done = 0; /* blocks below are set */
            for (int32_t n = 0; n < count; n++) {
                size_t at =
                    along_z ? box_index(l, map, b, other, (uint32_t)n) : box_index(l, map, b, (uint32_t)n, other);
                if (!(flags[at] & from)) {
                    continue;
                }
                int32_t k = n - w > done ? n - w : done;
                done = n + w + 1 < count ? n + w + 1 : count;
                for (; k < done; k++) {
                    size_t k_at =
                        along_z ? box_index(l, map, b, other, (uint32_t)k) : box_index(l, map, b, (uint32_t)k, other);
                    flags[k_at] |= to;
                }
            }
        }
    }
}

/* Blocks with particles; those beside them that a sum along x passes on its way to a column that has some; those above or
 * below them that a sum in the plane passes. What is not passed is zero, or wanted by nobody. */
static void find_places(const lmi_lattice *l, const lmi_lattice_map *map, uint8_t *flags)
{
    uint32_t low = (1u << l->width) - 1, high = low << (LMI_BLOCK - l->width);
    for (uint32_t z = 0; z < l->size[2]; z++) {
        for (uint32_t y = 0; y < l->size[1]; y++) {
            for (uint32_t b = 0; b < map->blocks_x; b++) {
                size_t at = box_index(l, map, b, y, z);
                uint32_t block = map->block[at];
                if (block == LMI_LATTICE_NONE) {
                    continue;
                }
                flags[at] |= HAS_PARTICLES | IN_REACH_X;
                if (b > 0 && (l->occupied[block] & low)) {
                    flags[at - 1] |= IN_REACH_X;
                }
                if (b + 1 < map->blocks_x && (l->occupied[block] & high)) {
                    flags[at + 1] |= IN_REACH_X;
                }
            }
        }
    }
    spread(flags, l, map, false, HAS_PARTICLES, COLUMN_Y);
    spread(flags, l, map, true, HAS_PARTICLES, COLUMN_Z);
    spread(flags, l, map, true, COLUMN_Y, COLUMN_YZ);
    spread(flags, l, map, false, IN_REACH_X, IN_REACH_XY);
}

static inline bool is_place(uint8_t flags)
{
    return (flags & HAS_PARTICLES) || ((flags & IN_REACH_X) && (flags & COLUMN_YZ)) ||
           ((flags & IN_REACH_XY) && (flags & COLUMN_Z));
}

/* Numbers the places of the box (0: none), and counts them by plane and run. `run` may be null. */
static void number_places(lmi_lattice *l, const lmi_lattice_map *map, const uint8_t *flags, uint32_t *place)
{
    l->place_count = l->run_count = l->most_places = l->longest_run = 0;
    for (uint32_t z = 0; z < l->size[2]; z++) {
        uint32_t in_plane = 1;
        l->plane_place[z] = l->place_count;
        l->plane_run[z] = l->run_count;
        for (uint32_t y = 0; y < l->size[1]; y++) {
            uint32_t length = 0;
            for (uint32_t b = 0; b < map->blocks_x; b++) {
                size_t at = box_index(l, map, b, y, z);
                bool is = is_place(flags[at]);
                place[at] = is ? in_plane : 0;
                if (is && length == 0) {
                    if (l->run) {
                        lmi_lattice_run run = {in_plane, 0, y};
                        l->run[l->run_count] = run;
                    }
                    l->run_count++;
                }
                length = is ? length + 1 : 0;
                in_plane += is;
                if (l->run && is) {
                    l->run[l->run_count - 1].length = length;
                }
                l->longest_run = length > l->longest_run ? length : l->longest_run;
            }
        }
        l->place_count += in_plane;
        l->most_places = in_plane > l->most_places ? in_plane : l->most_places;
    }
    l->plane_place[l->size[2]] = l->place_count;
    l->plane_run[l->size[2]] = l->run_count;
}

static void link_places(lmi_lattice *l, const lmi_lattice_map *map, const uint32_t *place)
{
    int32_t w = (int32_t)l->width;
    for (uint32_t n = 0; n < l->place_count; n++) {
        l->block[n] = l->block_count;
    }
    for (int32_t z = 0; z < (int32_t)l->size[2]; z++) {
        for (int32_t y = 0; y < (int32_t)l->size[1]; y++) {
            for (uint32_t b = 0; b < map->blocks_x; b++) {
                size_t at = box_index(l, map, b, (uint32_t)y, (uint32_t)z);
                if (!place[at]) {
                    continue;
                }
                uint32_t here = l->plane_place[z] + place[at];
                l->block[here] = map->block[at] == LMI_LATTICE_NONE ? l->block_count : map->block[at];
                if (!l->along_y) {
                    continue;
                }
                uint32_t *ly = l->along_y + (size_t)here * 2 * l->width, *lz = l->along_z + (size_t)here * 2 * l->width;
                for (int32_t k = 1; k <= w; k++) {
                    for (int32_t up = 0; up < 2; up++) {
                        int32_t oy = y + (up ? k : -k), oz = z + (up ? k : -k);
                        bool in_y = oy >= 0 && oy < (int32_t)l->size[1], in_z = oz >= 0 && oz < (int32_t)l->size[2];
                        *ly++ = in_y ? place[box_index(l, map, b, (uint32_t)oy, (uint32_t)z)] : 0;
                        *lz++ = in_z ? place[box_index(l, map, b, (uint32_t)y, (uint32_t)oz)] : 0;
                    }
                }
            }
        }
    }
}

static void free_places(lmi_memory *memory, lmi_lattice *l)
{
    size_t planes = (size_t)l->plane_count + 1, links = (size_t)l->place_count * 2 * l->width;
    lmi_release(memory, l->plane_place, planes, sizeof *l->plane_place);
    lmi_release(memory, l->plane_run, planes, sizeof *l->plane_run);
    lmi_release(memory, l->run, l->run_count, sizeof *l->run);
    lmi_release(memory, l->block, l->place_count, sizeof *l->block);
    lmi_release(memory, l->along_y, links, sizeof *l->along_y);
    lmi_release(memory, l->along_z, links, sizeof *l->along_z);
    l->plane_place = l->plane_run = l->block = l->along_y = l->along_z = NULL;
    l->run = NULL;
}

/* With plates nothing is summed along the axes: only blocks with particles have places, and these have no links. */
static bool make_places(lmi_memory *memory, const lmi_lattice_map *map, lmi_lattice *l)
{
    const bool plated = lmi_lattice_is_plated(l);
    size_t box = (size_t)map->blocks_x * l->size[1] * l->size[2];
    uint8_t *flags = lmi_allocate(memory, box, sizeof *flags);
    uint32_t *place = lmi_allocate(memory, box, sizeof *place);
    l->plane_place = lmi_allocate(memory, (size_t)l->plane_count + 1, sizeof *l->plane_place);
    l->plane_run = lmi_allocate(memory, (size_t)l->plane_count + 1, sizeof *l->plane_run);
    bool ok = flags && place && l->plane_place && l->plane_run;
    if (ok) {
        find_places(l, map, flags);
        for (size_t n = 0; plated && n < box; n++) {
            flags[n] &= HAS_PARTICLES;
        }
        number_places(l, map, flags, place);
        size_t links = (size_t)l->place_count * 2 * l->width;
        l->run = lmi_allocate(memory, l->run_count, sizeof *l->run);
        l->block = lmi_allocate(memory, l->place_count, sizeof *l->block);
        l->along_y = plated ? NULL : lmi_allocate(memory, links, sizeof *l->along_y);
        l->along_z = plated ? NULL : lmi_allocate(memory, links, sizeof *l->along_z);
        ok = l->run && l->block && (plated || (l->along_y && l->along_z));
    }
    if (ok) {
        number_places(l, map, flags, place);
        link_places(l, map, place);
    }
    lmi_release(memory, flags, box, sizeof *flags);
    lmi_release(memory, place, box, sizeof *place);
    return ok;
}

/* --- slabs --- */

/* Whether a plane is so near a cut that whoever ends a sweep there reads its sums: within `width` of planes that are
 * themselves within `width` of the cut. */
static bool is_near_cut(const lmi_lattice *l, uint32_t z)
{
    bool near = false;
    for (uint32_t n = 1; n < l->slab_count; n++) {
        const uint32_t cut = l->slab[n].first;
        near = near || (z + 2 * l->width >= cut && z < cut + 2 * l->width);
    }
    return near;
}

/* The cuts depend on the lattice alone, never on the number of workers. A slab may be thinner than regions are wide: then all
 * its planes wait for its neighbours, and it reads more planes than it has. */
static bool make_slabs(lmi_memory *memory, lmi_lattice *l)
{
    uint32_t thinnest = l->width + 4 > 6 ? l->width + 4 : 6, most = l->plane_count / thinnest;
    l->slab_count = l->particle_count / LMI_LATTICE_SLAB;
    l->slab_count = l->slab_count > most ? most : l->slab_count;
    l->slab_count = l->slab_count ? l->slab_count : 1;
    l->slab = lmi_allocate(memory, l->slab_count, sizeof *l->slab);
    l->kept = lmi_allocate(memory, l->plane_count, sizeof *l->kept);
    if (!l->slab || !l->kept) {
        return false;
    }
    uint32_t plane = 0;
    for (uint32_t n = 0; n < l->slab_count; n++) {
        uint64_t until = (uint64_t)l->block_count * (n + 1) / l->slab_count;
        uint32_t last = plane + thinnest, latest = l->plane_count - (l->slab_count - n - 1) * thinnest;
        while (last < latest && l->plane_block[last] < until) {
            last++;
        }
        last = n + 1 == l->slab_count || last > latest ? latest : last;
        lmi_lattice_slab slab = {plane, last};
        l->slab[n] = slab;
        plane = last;
    }
    l->kept_count = 0;
    for (uint32_t z = 0; z < l->plane_count; z++) {
        const lmi_lattice_storey *storey = lmi_lattice_is_plated(l) ? &l->plates.storey[z] : NULL;
        l->kept[z] = is_near_cut(l, z) ? l->kept_count : LMI_LATTICE_NONE;
        l->kept_count += l->kept[z] == LMI_LATTICE_NONE ? 0 : storey ? storey[1].plate - storey->plate : 1;
    }
    return true;
}

static size_t kept_floats(const lmi_lattice *l)
{
    return l->kept_count * (lmi_lattice_is_plated(l) ? 1 : (size_t)6 * l->most_places) * LMI_BLOCK;
}

bool lmi_lattice_make_list_room(lmi_memory *memory, lmi_lattice *l)
{
    l->irregular_moments = lmi_allocate(memory, (size_t)l->irregular_count * LMI_BLOCK, sizeof(float));
    l->irregular_transforms = lmi_allocate(memory, ((size_t)l->irregular_count + 1) * LMI_BLOCK, sizeof(float));
    l->corrections = lmi_allocate(memory, (size_t)l->scatter.owner_count * 4, sizeof(float));
    return l->irregular_moments && l->irregular_transforms && l->corrections;
}

void lmi_lattice_free_lists(lmi_memory *memory, lmi_lattice *l)
{
    lmi_release(memory, l->irregular_moments, (size_t)l->irregular_count * LMI_BLOCK, sizeof(float));
    lmi_release(memory, l->irregular_transforms, ((size_t)l->irregular_count + 1) * LMI_BLOCK, sizeof(float));
    lmi_release(memory, l->corrections, (size_t)l->scatter.owner_count * 4, sizeof(float));
    lmi_release(memory, l->listed, l->scatter.owner_count, sizeof *l->listed);
    lmi_release(memory, l->direct, l->irregular_count, sizeof *l->direct);
    lmi_lattice_lists_free(memory, l, &l->gather);
    lmi_lattice_lists_free(memory, l, &l->scatter);
    l->irregular_moments = l->irregular_transforms = l->corrections = NULL;
    l->listed = l->direct = NULL;
    l->irregular_count = 0;
}

static bool make_room(lmi_memory *memory, lmi_lattice *l)
{
    l->kept_sums = lmi_allocate(memory, kept_floats(l), sizeof(float));
    return l->kept_sums && lmi_lattice_make_list_room(memory, l);
}

/* --- the whole --- */

static lm_result make_with(lmi_memory *memory, const lmi_voxels *cells, uint64_t *row, lmi_lattice_scheme scheme,
                           const lmi_lattice_breaks *breaks, lmi_lattice *l)
{
    uint64_t particles, blocks;
    l->phase = choose_phase(cells, row, &particles, &blocks);
    if ((blocks + 1) * LMI_BLOCK > LM_MAX_PARTICLES) {
        return LM_ERROR_LIMIT; /* before much is allocated */
    }
    l->particle_count = (uint32_t)particles;
    lmi_lattice_map map = {NULL, (l->size[0] + l->phase + LMI_BLOCK - 1) / LMI_BLOCK};
    size_t box = (size_t)map.blocks_x * l->size[1] * l->size[2];
    map.block = lmi_allocate(memory, box, sizeof *map.block);
    lm_result result = LM_ERROR_MEMORY;
    if (map.block) {
        l->block_count = map_blocks(cells, l->phase, row, &map);
        result = fill_blocks(memory, cells, row, &map, l) ? take_absent(memory, cells, &map, l) : LM_ERROR_MEMORY;
        result = result == LM_OK && !make_places(memory, &map, l) ? LM_ERROR_MEMORY : result;
        if (result == LM_OK && breaks) {
            scheme = LMI_LATTICE_LISTS;
            l->map = map;
            map.block = NULL;
            result = lmi_lattice_start_breaks(memory, breaks, l);
        }
        result = result == LM_OK ? lmi_lattice_find_regions(memory, breaks ? &l->map : &map, scheme, l) : result;
        if (result == LM_OK && lmi_lattice_is_plated(l)) {
            free_places(memory, l);
            result = make_places(memory, &map, l) ? LM_OK : LM_ERROR_MEMORY;
        }
    }
    if (result == LM_OK && !(make_slabs(memory, l) && lmi_lattice_find_parts(memory, l) && make_room(memory, l))) {
        result = LM_ERROR_MEMORY;
    }
    lmi_release(memory, map.block, box, sizeof *map.block);
    return result;
}

lm_result lmi_lattice_make(lmi_memory *memory, const lmi_voxels *voxels, uint32_t width, lmi_lattice_scheme scheme,
                           const lmi_lattice_breaks *breaks, lmi_lattice *l)
{
    memset(l, 0, sizeof *l);
    if (voxels->cell_count == 0 || width < 1 || width > LMI_LATTICE_MAX_WIDTH) {
        return LM_ERROR_ARGUMENT;
    }
    l->spacing = voxels->spacing;
    l->first = voxels->first;
    l->width = width;
    l->turn = choose_axis(voxels->n);
    lmi_voxels cells;
    lm_result result = LM_ERROR_MEMORY;
    bool turned = turn_cells(memory, voxels, l->turn, &cells);
    uint32_t words = turned ? lmi_voxels_corner_words(&cells) : 0;
    uint64_t *row = lmi_allocate(memory, words, sizeof *row);
    if (turned && row) {
        memcpy(l->cells, voxels->n, sizeof l->cells);
        for (int a = 0; a < 3; a++) {
            l->size[a] = cells.n[a] + 1;
        }
        l->plane_count = l->size[2];
        result = make_with(memory, &cells, row, scheme, breaks, l);
    }
    lmi_release(memory, row, words, sizeof *row);
    if (cells.bits) {
        free_cells(memory, &cells);
    }
    if (result != LM_OK) {
        lmi_lattice_free(memory, l);
    }
    return result;
}

void lmi_lattice_free(lmi_memory *memory, lmi_lattice *l)
{
    size_t blocks = (size_t)l->block_count + 1, planes = (size_t)l->plane_count + 1;
    lmi_release(memory, l->occupied, blocks, sizeof *l->occupied);
    lmi_release(memory, l->cell, blocks, sizeof *l->cell);
    lmi_release(memory, l->active, blocks, sizeof *l->active);
    lmi_release(memory, l->degree, blocks * LMI_BLOCK, sizeof *l->degree);
    lmi_release(memory, l->at, blocks, sizeof *l->at);
    lmi_lattice_free_parts(memory, l);
    free_places(memory, l);
    lmi_release(memory, l->plane_block, planes, sizeof *l->plane_block);
    lmi_release(memory, l->kept_sums, kept_floats(l), sizeof(float));
    lmi_lattice_plates_free(memory, l);
    lmi_lattice_free_lists(memory, l);
    lmi_lattice_end_breaks(memory, l);
    lmi_release(memory, l->absent, l->absent_count, sizeof *l->absent);
    lmi_release(memory, l->ragged, blocks, sizeof *l->ragged);
    lmi_release(memory, l->slab, l->slab_count, sizeof *l->slab);
    lmi_release(memory, l->kept, l->plane_count, sizeof *l->kept);
    lmi_release(memory, l->constants_of, blocks, sizeof *l->constants_of);
    lmi_release(memory, l->constants, (size_t)l->constants_capacity * l->channels * LMI_BLOCK, sizeof *l->constants);
    memset(l, 0, sizeof *l);
}

/* --- looking things up --- */

uint32_t lmi_lattice_find_block(const lmi_lattice *l, int32_t x, int32_t y, int32_t z)
{
    if (z < 0 || z >= (int32_t)l->size[2]) {
        return LMI_LATTICE_NONE;
    }
    if (l->map.block) {
        int32_t at = x + (int32_t)l->phase;
        bool in = at >= 0 && at < (int32_t)(l->map.blocks_x * LMI_BLOCK) && y >= 0 && y < (int32_t)l->size[1];
        size_t row = ((size_t)z * l->size[1] + (size_t)y) * l->map.blocks_x;
        return in ? l->map.block[row + (size_t)(at / LMI_BLOCK)] : LMI_LATTICE_NONE;
    }
    uint32_t low = l->plane_block[z], high = l->plane_block[z + 1];
    while (low < high) { /* the first block that does not end before (x, y) */
        uint32_t middle = low + (high - low) / 2;
        const int32_t *at = l->at[middle];
        bool before = at[1] < y || (at[1] == y && at[0] + LMI_BLOCK <= x);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    bool found = low < l->plane_block[z + 1] && l->at[low][1] == y && l->at[low][0] <= x;
    return found ? low : LMI_LATTICE_NONE;
}

uint32_t lmi_lattice_find(const lmi_lattice *l, int32_t x, int32_t y, int32_t z)
{
    uint32_t block = lmi_lattice_find_block(l, x, y, z);
    if (block == LMI_LATTICE_NONE) {
        return LMI_LATTICE_NONE;
    }
    uint32_t lane = (uint32_t)(x - l->at[block][0]);
    return l->occupied[block] >> lane & 1 ? block * LMI_BLOCK + lane : LMI_LATTICE_NONE;
}

lm_dvec3 lmi_lattice_rest(const lmi_lattice *l, uint32_t particle)
{
    int32_t corner[3];
    double at[3];
    lmi_lattice_corner(l, particle, corner);
    for (uint32_t a = 0; a < 3; a++) {
        at[(a + l->turn) % 3] = corner[a] * l->spacing;
    }
    lm_dvec3 rest = {l->first.x + at[0], l->first.y + at[1], l->first.z + at[2]};
    return rest;
}

uint64_t lmi_lattice_cells(const lmi_lattice *l, uint32_t x, uint32_t y, uint32_t z)
{
    uint64_t bits = 0;
    for (uint32_t n = 0; n < 64 && x + n < l->cells[0]; n++) {
        int32_t at[3] = {(int32_t)(x + n), (int32_t)y, (int32_t)z};
        uint32_t t = l->turn, block = lmi_lattice_find_block(l, at[t % 3], at[(1 + t) % 3], at[(2 + t) % 3]);
        if (block != LMI_LATTICE_NONE) {
            uint32_t cells = l->cell[block] | (l->ragged ? l->ragged[block] : 0u);
            bits |= (uint64_t)(cells >> (at[t % 3] - l->at[block][0]) & 1) << n;
        }
    }
    return bits;
}

static void copy_lists(lmi_memory *memory, const lmi_lattice *l, lmi_lattice_lists *t, bool *ok)
{
    size_t planes = (size_t)l->plane_count + 1, rows = (size_t)t->row_count * LMI_BLOCK;
    LMI_COPY_ARRAY(memory, t, owner, t->owner_count, ok);
    LMI_COPY_ARRAY(memory, t, plane_owner, planes, ok);
    LMI_COPY_ARRAY(memory, t, plane_group, planes, ok);
    LMI_COPY_ARRAY(memory, t, group_row, (size_t)t->group_count + 1, ok);
    LMI_COPY_ARRAY(memory, t, who, (size_t)t->group_count * LMI_BLOCK, ok);
    LMI_COPY_ARRAY(memory, t, member, rows, ok);
    LMI_COPY_ARRAY(memory, t, offset, 4 * rows, ok);
}

static void copy_plates(lmi_memory *memory, const lmi_lattice *l, lmi_lattice_plates *t, bool *ok)
{
    LMI_COPY_ARRAY(memory, t, storey, (size_t)l->plane_count + 1, ok);
    LMI_COPY_ARRAY(memory, t, stack, l->particle_count, ok);
    LMI_COPY_ARRAY(memory, t, leaves, t->leaves_count, ok);
    LMI_COPY_ARRAY(memory, t, pair, t->pair_count, ok);
    LMI_COPY_ARRAY(memory, t, plate, t->plate_count, ok);
    LMI_COPY_ARRAY(memory, t, floor, t->floor_count, ok);
}

static void copy_places(lmi_memory *memory, lmi_lattice *t, bool *ok)
{
    size_t planes = (size_t)t->plane_count + 1, links = (size_t)t->place_count * 2 * t->width;
    LMI_COPY_ARRAY(memory, t, plane_place, planes, ok);
    LMI_COPY_ARRAY(memory, t, plane_run, planes, ok);
    LMI_COPY_ARRAY(memory, t, plane_block, planes, ok);
    LMI_COPY_ARRAY(memory, t, run, t->run_count, ok);
    LMI_COPY_ARRAY(memory, t, block, t->place_count, ok);
    LMI_COPY_ARRAY(memory, t, along_y, links, ok);
    LMI_COPY_ARRAY(memory, t, along_z, links, ok);
}

bool lmi_lattice_copy(lmi_memory *memory, const lmi_lattice *l, lmi_lattice *t)
{
    size_t blocks = (size_t)l->block_count + 1;
    bool ok = true;
    *t = *l;
    LMI_COPY_ARRAY(memory, t, occupied, blocks, &ok);
    LMI_COPY_ARRAY(memory, t, cell, blocks, &ok);
    LMI_COPY_ARRAY(memory, t, active, blocks, &ok);
    LMI_COPY_ARRAY(memory, t, degree, blocks * LMI_BLOCK, &ok);
    LMI_COPY_ARRAY(memory, t, at, blocks, &ok);
    LMI_COPY_ARRAY(memory, t, slab_part, l->slab_part ? l->slab_part_first[l->slab_count] : 0, &ok);
    LMI_COPY_ARRAY(memory, t, slab_part_first, (size_t)l->slab_count + 1, &ok);
    LMI_COPY_ARRAY(memory, t, part_of_block, blocks, &ok);
    LMI_COPY_ARRAY(memory, t, part, blocks * LMI_BLOCK, &ok);
    copy_places(memory, t, &ok);
    copy_plates(memory, l, &t->plates, &ok);
    copy_lists(memory, l, &t->gather, &ok);
    copy_lists(memory, l, &t->scatter, &ok);
    LMI_COPY_ARRAY(memory, t, direct, l->irregular_count, &ok);
    LMI_COPY_ARRAY(memory, t, listed, l->scatter.owner_count, &ok);
    LMI_COPY_ARRAY(memory, t, slab, l->slab_count, &ok);
    LMI_COPY_ARRAY(memory, t, kept, l->plane_count, &ok);
    LMI_COPY_ARRAY(memory, t, kept_sums, kept_floats(l), &ok);
    LMI_COPY_ARRAY(memory, t, irregular_moments, (size_t)l->irregular_count * LMI_BLOCK, &ok);
    LMI_COPY_ARRAY(memory, t, irregular_transforms, ((size_t)l->irregular_count + 1) * LMI_BLOCK, &ok);
    LMI_COPY_ARRAY(memory, t, corrections, (size_t)l->scatter.owner_count * 4, &ok);
    LMI_COPY_ARRAY(memory, t, constants_of, blocks, &ok);
    LMI_COPY_ARRAY(memory, t, constants, (size_t)l->constants_capacity * l->channels * LMI_BLOCK, &ok);
    if (!ok) {
        if (!t->slab_part_first) { /* its length is there */
            lmi_release(memory, t->slab_part, l->slab_part ? l->slab_part_first[l->slab_count] : 0,
                        sizeof *t->slab_part);
            t->slab_part = NULL;
        }
        lmi_lattice_free(memory, t);
    }
    return ok;
}
