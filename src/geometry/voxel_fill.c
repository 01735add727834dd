/*
 * The inside of a body: what the outside cannot reach.
 *
 * The outside is flooded through unoccupied cells, from cell to cell across their faces, 64 cells of a row at a time. It
 * begins at the six sides of the box (all around it is outside). A word whose outside may have grown waits in a queue;
 * taken from it, its cells spread along the row, and words next to it that can grow because of it are queued in turn.
 * Each turn adds cells, so it ends, and the end does not depend on the order.
 */
#include "geometry/voxel.h"

typedef struct flood {
    const lmi_voxels *voxels;
    uint64_t *outside; /* a bit for each cell, laid out as the voxels' */
    uint64_t *waiting; /* a bit for each word: it is in the queue */
    uint32_t *queue;   /* a ring of word numbers */
    uint32_t words, row_words, layer_words;
    uint32_t head, length; /* of the queue */
} flood;

/* Bits of a word that are cells: all but those of the last word of a row are. */
static uint64_t cells_of_word(const lmi_voxels *voxels, uint32_t word_in_row)
{
    uint32_t rest = voxels->n[0] - 64 * word_in_row;
    return rest >= 64 ? ~0ull : ~(~0ull << rest);
}

/* `some` and all of `open` that is connected to it. */
static uint64_t spread(uint64_t some, uint64_t open)
{
    uint64_t up = open, down = open;
    for (int reach = 1; reach < 64; reach *= 2) {
        some |= up & (some << reach);
        up &= up << reach;
    }
    for (int reach = 1; reach < 64; reach *= 2) {
        some |= down & (some >> reach);
        down &= down >> reach;
    }
    return some;
}

/* Cells of `word` become outside. */
static void add(flood *f, uint32_t word, uint64_t cells)
{
    uint64_t open = ~f->voxels->bits[word] & cells_of_word(f->voxels, word % f->row_words);
    uint64_t fresh = cells & open & ~f->outside[word];
    if (fresh == 0) {
        return;
    }
    f->outside[word] |= fresh;
    if (!(f->waiting[word / 64] >> (word % 64) & 1)) {
        f->waiting[word / 64] |= 1ull << (word % 64);
        uint32_t tail = f->head + f->length < f->words ? f->head + f->length : f->head + f->length - f->words;
        f->queue[tail] = word;
        f->length++;
    }
}

static void take_first(flood *f)
{
    const lmi_voxels *v = f->voxels;
    uint32_t word = f->queue[f->head];
    f->head = f->head + 1 < f->words ? f->head + 1 : 0;
    f->length--;
    f->waiting[word / 64] &= ~(1ull << (word % 64));
    uint32_t x = word % f->row_words, y = word % f->layer_words / f->row_words, z = word / f->layer_words;
    uint64_t cells = spread(f->outside[word], ~v->bits[word] & cells_of_word(v, x));
    f->outside[word] = cells;
    if (x > 0) add(f, word - 1, cells << 63);
    if (x + 1 < f->row_words) add(f, word + 1, cells >> 63);
    if (y > 0) add(f, word - f->row_words, cells);
    if (y + 1 < v->n[1]) add(f, word + f->row_words, cells);
    if (z > 0) add(f, word - f->layer_words, cells);
    if (z + 1 < v->n[2]) add(f, word + f->layer_words, cells);
}

static void begin_at_sides(flood *f)
{
    const lmi_voxels *v = f->voxels;
    for (uint32_t z = 0, word = 0; z < v->n[2]; z++) {
        for (uint32_t y = 0; y < v->n[1]; y++, word += f->row_words) {
            if (y == 0 || z == 0 || y + 1 == v->n[1] || z + 1 == v->n[2]) {
                for (uint32_t x = 0; x < f->row_words; x++) {
                    add(f, word + x, ~0ull);
                }
            }
            add(f, word, 1);
            add(f, word + f->row_words - 1, 1ull << ((v->n[0] - 1) % 64));
        }
    }
}

bool lmi_voxels_fill(lmi_memory *memory, lmi_voxels *voxels)
{
    flood f = {.voxels = voxels, .row_words = voxels->row_words};
    f.layer_words = voxels->row_words * voxels->n[1];
    f.words = f.layer_words * voxels->n[2];
    f.outside = lmi_allocate(memory, f.words, sizeof *f.outside);
    f.waiting = lmi_allocate(memory, f.words / 64 + 1, sizeof *f.waiting);
    f.queue = lmi_allocate(memory, f.words, sizeof *f.queue);
    bool allocated = f.outside && f.waiting && f.queue;
    if (allocated) {
        begin_at_sides(&f);
        while (f.length > 0) {
            take_first(&f);
        }
        for (uint32_t word = 0; word < f.words; word++) {
            voxels->bits[word] = ~f.outside[word] & cells_of_word(voxels, word % f.row_words);
        }
    }
    lmi_release(memory, f.outside, f.words, sizeof *f.outside);
    lmi_release(memory, f.waiting, f.words / 64 + 1, sizeof *f.waiting);
    lmi_release(memory, f.queue, f.words, sizeof *f.queue);
    return allocated;
}
