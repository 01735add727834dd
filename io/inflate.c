/*
 * A stream is a header, blocks, and a checksum of what they hold. A block is stored as it is, or is a sequence of codes:
 * bytes, and copies of what came before (a length and a distance). Codes are shorter for what is frequent; a block brings
 * the lengths of its codes along, themselves in codes, or uses those that the format fixes. From the lengths alone follow the
 * codes: those of one length are consecutive numbers, in the order of what they stand for.
 */
#include "io/inflate.h"

#include <stdlib.h>
#include <string.h>

#define WINDOW 32768u /* bytes that a copy may reach back */
#define MOST_BITS 15  /* of a code */
#define MOST_LITERALS 288
#define MOST_DISTANCES 32
#define END_OF_BLOCK 256

/* A set of codes: how many there are of each length, and what they stand for in the order of the codes. */
typedef struct code_table {
    uint16_t counts[MOST_BITS + 1];
    uint16_t symbols[MOST_LITERALS];
} code_table;

typedef struct inflating {
    const inflate_ends *ends;
    const uint8_t *at, *end; /* of the piece being read */
    uint32_t bits;           /* read and not used yet, the next one lowest */
    uint32_t bit_count;
    uint8_t window[WINDOW];
    uint32_t used;   /* of the window, since it was last given out */
    bool wrapped;    /* the window has been full: all of it can be copied from */
    uint32_t sum[2]; /* of the checksum */
    inflate_result result;
    code_table literals, distances;
} inflating;

static bool fail(inflating *f, inflate_result result)
{
    f->result = f->result == INFLATE_OK ? result : f->result;
    return false;
}

/* ------------------------------------------------------------------------------------------------------------------
 * In and out
 */

static bool read_byte(inflating *f, uint32_t *byte)
{
    while (f->at == f->end) {
        size_t length = 0;
        const uint8_t *piece = f->ends->next(f->ends->user, &length);
        if (piece == NULL) {
            return fail(f, INFLATE_TRUNCATED);
        }
        f->at = piece;
        f->end = piece + length;
    }
    *byte = *f->at++;
    return true;
}

/* Up to 16 bits, the first one lowest; 0 after a failure, which f->result tells. */
static uint32_t read_bits(inflating *f, uint32_t count)
{
    while (f->bit_count < count) {
        uint32_t byte;
        if (!read_byte(f, &byte)) {
            return 0;
        }
        f->bits |= byte << f->bit_count;
        f->bit_count += 8;
    }
    uint32_t value = f->bits & ((1u << count) - 1u);
    f->bits >>= count;
    f->bit_count -= count;
    return value;
}

/* Adler's checksum: sums modulo 65521, of the bytes and of those sums. */
static void add_to_sum(inflating *f)
{
    uint32_t a = f->sum[0], b = f->sum[1];
    for (uint32_t i = 0; i < f->used;) {
        uint32_t stop = f->used - i < 5552 ? f->used : i + 5552; /* no sum overflows before that */
        for (; i < stop; i++) {
            a += f->window[i];
            b += a;
        }
        a %= 65521u;
        b %= 65521u;
    }
    f->sum[0] = a;
    f->sum[1] = b;
}

static bool give_out(inflating *f)
{
    add_to_sum(f);
    bool go_on = f->used == 0 || f->ends->take(f->ends->user, f->window, f->used);
    f->wrapped = f->wrapped || f->used == WINDOW;
    f->used = f->used == WINDOW ? 0 : f->used;
    return go_on || fail(f, INFLATE_STOPPED);
}

static bool put(inflating *f, uint32_t byte)
{
    f->window[f->used++] = (uint8_t)byte;
    return f->used < WINDOW || give_out(f);
}

static bool copy(inflating *f, uint32_t distance, uint32_t length)
{
    if (distance > (f->wrapped ? WINDOW : f->used)) {
        return fail(f, INFLATE_CORRUPT);
    }
    for (uint32_t i = 0; i < length; i++) {
        if (!put(f, f->window[(f->used + WINDOW - distance) % WINDOW])) {
            return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------------------
 * Codes
 */

/* From the lengths of all codes, 0 for what does not occur. More codes than lengths allow is an error; fewer too, unless
 * there is only one. */
static bool make_table(inflating *f, code_table *table, const uint8_t *lengths, uint32_t count)
{
    uint16_t places[MOST_BITS + 2] = {0};
    memset(table->counts, 0, sizeof table->counts);
    for (uint32_t i = 0; i < count; i++) {
        table->counts[lengths[i]]++;
    }
    int32_t room = 1;
    uint32_t codes = 0;
    for (uint32_t length = 1; length <= MOST_BITS; length++) {
        room = 2 * room - table->counts[length];
        if (room < 0) {
            return fail(f, INFLATE_CORRUPT);
        }
        codes += table->counts[length];
        places[length + 1] = (uint16_t)codes;
    }
    if (room > 0 && (codes > 1 || table->counts[1] != codes)) {
        return fail(f, INFLATE_CORRUPT);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (lengths[i] > 0) {
            table->symbols[places[lengths[i]]++] = (uint16_t)i;
        }
    }
    return true;
}

/* Bit after bit: codes of a length begin where those of the length before end. */
static bool read_symbol(inflating *f, const code_table *table, uint32_t *symbol)
{
    uint32_t code = 0, first = 0, place = 0;
    for (uint32_t length = 1; length <= MOST_BITS; length++) {
        code |= read_bits(f, 1);
        if (f->result != INFLATE_OK) {
            return false;
        }
        uint32_t count = table->counts[length];
        if (code - first < count) {
            *symbol = table->symbols[place + (code - first)];
            return true;
        }
        place += count;
        first = (first + count) << 1;
        code <<= 1;
    }
    return fail(f, INFLATE_CORRUPT);
}

/* The lengths that the format fixes. */
static bool fixed_tables(inflating *f)
{
    uint8_t lengths[MOST_LITERALS];
    memset(lengths, 8, 144);
    memset(lengths + 144, 9, 112);
    memset(lengths + 256, 7, 24);
    memset(lengths + 280, 8, 8);
    if (!make_table(f, &f->literals, lengths, MOST_LITERALS)) {
        return false;
    }
    memset(lengths, 5, MOST_DISTANCES);
    return make_table(f, &f->distances, lengths, MOST_DISTANCES);
}

/* Lengths in codes of `table`: 0 to 15 are lengths, 16 repeats the last one, 17 and 18 are runs of zeros. */
static bool read_lengths(inflating *f, const code_table *table, uint8_t *lengths, uint32_t count)
{
    uint32_t done = 0;
    while (done < count) {
        uint32_t symbol, value = 0, times = 1;
        if (!read_symbol(f, table, &symbol)) {
            return false;
        }
        if (symbol < 16) {
            value = symbol;
        } else if (symbol == 16) {
            times = 3 + read_bits(f, 2);
            value = done > 0 ? lengths[done - 1] : 16;
        } else {
            times = symbol == 17 ? 3 + read_bits(f, 3) : 11 + read_bits(f, 7);
        }
        if (value > MOST_BITS || times > count - done) {
            return fail(f, INFLATE_CORRUPT);
        }
        memset(lengths + done, (int)value, times);
        done += times;
    }
    return f->result == INFLATE_OK;
}

/* Those that the block brings along. */
static bool own_tables(inflating *f)
{
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[MOST_LITERALS + MOST_DISTANCES] = {0};
    uint32_t literals = 257 + read_bits(f, 5), distances = 1 + read_bits(f, 5), count = 4 + read_bits(f, 4);
    for (uint32_t i = 0; i < count; i++) {
        lengths[order[i]] = (uint8_t)read_bits(f, 3);
    }
    if (f->result != INFLATE_OK || !make_table(f, &f->literals, lengths, 19)) {
        return false;
    }
    if (literals > 286 || !read_lengths(f, &f->literals, lengths, literals + distances) || lengths[END_OF_BLOCK] == 0) {
        return fail(f, INFLATE_CORRUPT);
    }
    return make_table(f, &f->literals, lengths, literals) &&
           make_table(f, &f->distances, lengths + literals, distances);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Blocks
 */

/* Lengths and distances stand in groups: so many extra bits are added to the first value of the group. */
static bool read_copy(inflating *f, uint32_t symbol)
{
    static const uint16_t first_length[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                              31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                            2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    if (symbol > 285) {
        return fail(f, INFLATE_CORRUPT);
    }
    uint32_t length = first_length[symbol - 257] + read_bits(f, length_bits[symbol - 257]);
    uint32_t group;
    if (!read_symbol(f, &f->distances, &group)) {
        return false;
    }
    if (group > 29) {
        return fail(f, INFLATE_CORRUPT);
    }
    uint32_t bits = group < 4 ? 0 : group / 2 - 1;
    uint32_t distance = 1 + (group < 4 ? group : (2 + group % 2) << bits) + read_bits(f, bits);
    return f->result == INFLATE_OK && copy(f, distance, length);
}

static bool coded_block(inflating *f)
{
    for (;;) {
        uint32_t symbol;
        if (!read_symbol(f, &f->literals, &symbol)) {
            return false;
        }
        if (symbol == END_OF_BLOCK) {
            return true;
        }
        if (!(symbol < END_OF_BLOCK ? put(f, symbol) : read_copy(f, symbol))) {
            return false;
        }
    }
}

/* Begins with the next whole byte. */
static bool stored_block(inflating *f)
{
    f->bits = f->bit_count = 0;
    uint32_t length = read_bits(f, 16), inverse = read_bits(f, 16);
    if (f->result != INFLATE_OK || (length ^ inverse) != 0xffffu) {
        return fail(f, INFLATE_CORRUPT);
    }
    for (uint32_t i = 0; i < length; i++) {
        uint32_t byte;
        if (!read_byte(f, &byte) || !put(f, byte)) {
            return false;
        }
    }
    return true;
}

static bool all_blocks(inflating *f)
{
    for (bool last = false; !last;) {
        last = read_bits(f, 1) == 1;
        uint32_t kind = read_bits(f, 2);
        if (f->result != INFLATE_OK) {
            return false;
        }
        bool good = false;
        if (kind == 0) {
            good = stored_block(f);
        } else if (kind < 3) {
            good = (kind == 1 ? fixed_tables(f) : own_tables(f)) && coded_block(f);
        } else {
            good = fail(f, INFLATE_CORRUPT);
        }
        if (!good) {
            return false;
        }
    }
    return true;
}

/* The header says how it is compressed and how far copies reach, and is a multiple of 31. No preset dictionary. */
static bool read_header(inflating *f)
{
    uint32_t method = 0, flags = 0;
    if (!read_byte(f, &method) || !read_byte(f, &flags)) {
        return false;
    }
    bool good = (method & 15u) == 8 && method >> 4 <= 7 && (flags & 32u) == 0 && (256 * method + flags) % 31 == 0;
    return good || fail(f, INFLATE_CORRUPT);
}

static bool check_sum(inflating *f)
{
    uint32_t sum = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t byte;
        if (!read_byte(f, &byte)) {
            return false;
        }
        sum = sum << 8 | byte;
    }
    return sum == (f->sum[1] << 16 | f->sum[0]) || fail(f, INFLATE_CORRUPT);
}

inflate_result lmi_inflate_stream(const inflate_ends *ends)
{
    inflating *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return INFLATE_MEMORY;
    }
    f->ends = ends;
    f->sum[0] = 1;
    bool ok = read_header(f) && all_blocks(f) && give_out(f) && check_sum(f);
    inflate_result result = ok ? INFLATE_OK : f->result;
    free(f);
    return result;
}
