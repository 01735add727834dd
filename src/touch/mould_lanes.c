/*
 * The carriers of a mould in lanes, for kernels that bring sixteen of them at once to where their particles are (touch/carriers.c).
 */
#include "base/block.h"
#include "touch/mould.h"

#include <string.h>

/* The carrier in a lane. */
static uint32_t carrier_at(const lmi_mould *s, uint32_t lane)
{
    return lane < s->carrier_count ? lane : s->carrier_count - 1;
}

static void put_lane(const lmi_mould *s, uint32_t lane)
{
    const uint32_t c = carrier_at(s, lane);
    const float own = lane == c ? 1.0f : 0.0f;
    const float rest[3] = {s->rest[c].x, s->rest[c].y, s->rest[c].z};
    float *to = s->lanes + (size_t)(lane / LMI_BLOCK) * LMI_MOULD_LANES * LMI_BLOCK + lane % LMI_BLOCK;
    for (uint32_t i = 0; i < 3; i++) {
        to[(LMI_MOULD_REST + i) * LMI_BLOCK] = rest[i];
        to[(LMI_MOULD_ACROSS + i) * LMI_BLOCK] = s->across[4 * (size_t)c + i];
        to[(LMI_MOULD_LEVER + i) * LMI_BLOCK] = own * s->lever[3 * (size_t)c + i];
    }
    to[LMI_MOULD_SHARE * LMI_BLOCK] = own / (float)s->carrier_count;
}

static void put_rows(const lmi_mould *s, uint32_t lane)
{
    const uint32_t c = carrier_at(s, lane), block = lane / LMI_BLOCK;
    for (uint32_t row = s->first_row[block], n = 0; row < s->first_row[block + 1]; row++, n++) {
        const size_t at = (size_t)row * LMI_BLOCK + lane % LMI_BLOCK, k = (size_t)c * s->carrier_riders + n;
        float *hold = s->row_hold + (size_t)row * 4 * LMI_BLOCK + lane % LMI_BLOCK;
        const bool used = n < s->used[c];
        s->row_rider[at] = used ? s->rider[k] : s->rider[(size_t)c * s->carrier_riders];
        hold[0] = used ? s->weight[k] : 0.0f;
        for (uint32_t i = 0; i < 3; i++) {
            hold[(i + 1) * LMI_BLOCK] = used ? s->gradient[3 * k + i] : 0.0f;
        }
    }
}

bool lmi_mould_lay_out(lmi_memory *memory, lmi_mould *s)
{
    if (s->lanes || s->carrier_count == 0) {
        return true;
    }
    uint32_t rows = 0;
    s->block_count = (s->carrier_count + LMI_BLOCK - 1) / LMI_BLOCK;
    s->first_row = lmi_allocate(memory, (size_t)s->block_count + 1, sizeof *s->first_row);
    for (uint32_t block = 0; block < s->block_count && s->first_row; block++) {
        uint32_t most = 0;
        for (uint32_t c = block * LMI_BLOCK; c < (block + 1) * LMI_BLOCK && c < s->carrier_count; c++) {
            most = s->used[c] > most ? s->used[c] : most;
        }
        s->first_row[block + 1] = rows += most;
    }
    s->row_count = rows;
    s->row_rider = lmi_allocate(memory, (size_t)rows * LMI_BLOCK, sizeof *s->row_rider);
    s->row_hold = lmi_allocate(memory, (size_t)rows * 4 * LMI_BLOCK, sizeof *s->row_hold);
    s->lanes = lmi_allocate(memory, (size_t)s->block_count * LMI_MOULD_LANES * LMI_BLOCK, sizeof *s->lanes);
    if (!s->first_row || !s->row_rider || !s->row_hold || !s->lanes) {
        lmi_mould_free_lanes(memory, s);
        return false;
    }
    for (uint32_t lane = 0; lane < s->block_count * LMI_BLOCK; lane++) {
        put_lane(s, lane);
        put_rows(s, lane);
    }
    return true;
}

void lmi_mould_free_lanes(lmi_memory *memory, lmi_mould *s)
{
    lmi_release(memory, s->first_row, (size_t)s->block_count + 1, sizeof *s->first_row);
    lmi_release(memory, s->row_rider, (size_t)s->row_count * LMI_BLOCK, sizeof *s->row_rider);
    lmi_release(memory, s->row_hold, (size_t)s->row_count * 4 * LMI_BLOCK, sizeof *s->row_hold);
    lmi_release(memory, s->lanes, (size_t)s->block_count * LMI_MOULD_LANES * LMI_BLOCK, sizeof *s->lanes);
    s->first_row = s->row_rider = NULL;
    s->row_hold = s->lanes = NULL;
    s->block_count = s->row_count = 0;
}
