/*
 * Rollback: two machines play one game over a network with delay.
 *
 * Learn: the same inputs give the same bits, so machines exchange inputs and no state; each steps on with a guess of what the other one does,
 * and when the real input arrives late, goes back to that frame (lm_world_load_state) and steps again.
 *
 *     cc rollback.c $(pkg-config --cflags --libs limber) -o rollback
 */
#include <limber/limber.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 300, DELAY = 6, HISTORY = DELAY + 1, PLAYERS = 2 };

/* One machine: its world, what it knows of everybody's inputs, and the states of the last frames. */
typedef struct machine {
    lm_world *world;
    lm_body_id players[PLAYERS];
    int inputs[PLAYERS][FRAMES]; /* -1, 0 or 1: a push to the left or to the right */
    int known;                   /* frames for which the other one's input has come */
    void *states[HISTORY];       /* before frame f, at f % HISTORY */
    size_t sizes[HISTORY];
    size_t capacity;
    int replayed; /* frames that were stepped again */
} machine;

/* What a player does at a frame; only its own machine knows at once. */
static int play(int player, int frame) { return (frame / (player ? 17 : 11)) % 3 - 1; }

static lm_body_id add_player(lm_world *world, double x)
{
    lm_vec3 points[27];
    for (int i = 0; i < 27; i++) {
        points[i] = (lm_vec3){0.25f * (float)(i % 3), 0.25f * (float)(i / 3 % 3), 0.25f * (float)(i / 9)};
    }
    lm_body_def def = lm_body_def_default();
    lm_body_id body = {0};
    def.points = points;
    def.point_count = 27;
    def.pose.position = (lm_dvec3){x, 0.5, 0.0};
    def.mask = 1; /* they bump into each other */
    lm_body_create(world, &def, &body);
    return body;
}

static int machine_make(machine *m)
{
    lm_world_def def = lm_world_def_default();
    lm_collider_def floor_def = lm_collider_def_default();
    lm_collider_id floor;
    *m = (machine){0};
    if (lm_world_create(&def, &m->world) != LM_OK) return 0;
    lm_collider_create(m->world, &floor_def, &floor);
    m->players[0] = add_player(m->world, -1.0);
    m->players[1] = add_player(m->world, 1.0);
    m->capacity = 2 * lm_world_state_size(m->world) + 65536; /* states grow a little with who touches whom */
    for (int i = 0; i < HISTORY; i++) {
        m->states[i] = malloc(m->capacity);
        if (!m->states[i]) return 0;
    }
    return 1;
}

static void machine_free(machine *m)
{
    lm_world_destroy(m->world);
    for (int i = 0; i < HISTORY; i++) free(m->states[i]);
}

/* Saves the state before a frame, applies the inputs of that frame and steps. */
static lm_result machine_step(machine *m, int frame)
{
    int slot = frame % HISTORY;
    lm_result result = lm_world_save_state(m->world, m->states[slot], m->capacity, &m->sizes[slot]);
    for (int p = 0; p < PLAYERS && result == LM_OK; p++) {
        lm_vec3 push = {3.0f * (float)m->inputs[p][frame], 0.0f, 0.0f};
        result = lm_body_add_force(m->world, m->players[p], push);
    }
    return result == LM_OK ? lm_world_step(m->world, 1.0 / 60.0) : result;
}

/* The other one's input for a frame arrives. If the guess was wrong: back to that frame, and forward again to `now`. */
static lm_result machine_hear(machine *m, int other, int frame, int input, int now)
{
    bool wrong = m->inputs[other][frame] != input;
    lm_result result = LM_OK;
    m->known = frame + 1;
    for (int f = frame; f < FRAMES; f++) m->inputs[other][f] = input; /* and the guess for what follows */
    if (!wrong) return LM_OK;
    result = lm_world_load_state(m->world, m->states[frame % HISTORY], m->sizes[frame % HISTORY]);
    for (int f = frame; f < now && result == LM_OK; f++, m->replayed++) result = machine_step(m, f);
    return result;
}

int main(void)
{
    machine machines[PLAYERS];
    lm_result result = LM_OK;
    for (int p = 0; p < PLAYERS; p++) {
        if (!machine_make(&machines[p])) return 1;
    }
    /* The network: what a machine sends at a frame arrives DELAY frames later. */
    for (int now = 0; now < FRAMES + DELAY && result == LM_OK; now++) {
        for (int p = 0; p < PLAYERS && result == LM_OK; p++) {
            int heard = now - DELAY, reached = now < FRAMES ? now : FRAMES;
            if (heard >= 0) result = machine_hear(&machines[p], 1 - p, heard, play(1 - p, heard), reached);
            if (now >= FRAMES || result != LM_OK) continue;
            machines[p].inputs[p][now] = play(p, now);
            result = machine_step(&machines[p], now);
        }
    }
    uint64_t hashes[PLAYERS];
    for (int p = 0; p < PLAYERS; p++) {
        hashes[p] = lm_world_hash(machines[p].world);
        printf("machine %d: hash %016llx after %d frames, %d of them stepped again\n", p, (unsigned long long)hashes[p],
               FRAMES, machines[p].replayed);
        machine_free(&machines[p]);
    }
    printf("%s\n", result == LM_OK && hashes[0] == hashes[1] ? "both see the same game" : "they have drifted apart");
    return result == LM_OK && hashes[0] == hashes[1] ? 0 : 1;
}
