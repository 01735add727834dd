/*
 * Load and draw: a mesh from a file falls on a floor, in a window.
 *
 * Learn: a body and its skin from a mesh file (limber::io); the loop that every game has: steps of fixed length, as many as the clock asks for,
 * and a picture between the last two, so that motion is smooth whatever the screen's rate.
 *
 *     cc draw.c $(pkg-config --cflags --libs limber-io sdl2 epoxy) -lm -o draw
 *     ./draw model.obj        # R drops it again, Escape ends; with a number after it: as many pictures, one for each step
 */
#include <SDL.h>
#include <epoxy/gl.h>
#include <limber/limber.h>
#include <limber/mesh.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double step_seconds = 1.0 / 60.0;
static const lm_pose above = {{0, 1, 0}, {0, 0, 0, 1}}; /* where it starts */
static const char *const vertex_text =
    "#version 330\nlayout(location = 0) in vec3 position;\nlayout(location = 1) in vec3 normal;\nout vec3 n;\n"
    "void main() { n = normal; vec3 p = position - vec3(0, 0.7, 3.5); /* the camera is there and looks along -z */\n"
    "              gl_Position = vec4(1.0125 * p.x, 1.8 * p.y, -1.004 * p.z - 0.2, -p.z); }\n";
static const char *const fragment_text =
    "#version 330\nin vec3 n;\nuniform vec3 colour;\nout vec4 pixel;\n"
    "void main() { pixel = vec4(colour * (0.35 + 0.65 * max(dot(normalize(n), vec3(0.37, 0.74, 0.56)), 0.0)), 1); }\n";

/* The body, and its surface after the last step and after the one before. */
typedef struct game {
    lm_world *world;
    lm_body_id body;
    uint32_t vertices, triangles;
    lm_vec3 *before, *now, *normals, *shown;
} game;

static bool game_make(game *g, const lm_mesh_data *mesh)
{
    lm_world_def world_def = lm_world_def_default();
    lm_collider_def floor_def = lm_collider_def_default();
    lm_body_def def = lm_body_def_default();
    lm_skin_def skin = lm_skin_def_default();
    lm_collider_id floor;
    lm_mesh_use(mesh, LM_MESH_LATTICE, 1000, &def, &skin);
    def.lattice.width = 3;
    def.pose = above;
    if (lm_world_create(&world_def, &g->world) != LM_OK) return false;
    g->vertices = mesh->vertex_count;
    g->triangles = mesh->triangle_count;
    g->before = calloc(4 * (size_t)g->vertices, sizeof *g->before); /* all four in one array */
    g->now = g->before + g->vertices;
    g->normals = g->now + g->vertices;
    g->shown = g->normals + g->vertices;
    return g->before && lm_collider_create(g->world, &floor_def, &floor) == LM_OK &&
           lm_body_create(g->world, &def, &g->body) == LM_OK && lm_body_set_skin(g->world, g->body, &skin) == LM_OK;
}

static void game_step(game *g)
{
    memcpy(g->before, g->now, g->vertices * sizeof *g->now);
    lm_world_step(g->world, step_seconds);
    lm_body_get_skin(g->world, g->body, lm_dvec3_zero(), g->now, g->normals);
}

static lm_vec3 mix(lm_vec3 a, lm_vec3 b, float t)
{
    return (lm_vec3){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
}

static void attach(GLuint program, GLenum kind, const char *text)
{
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glAttachShader(program, shader);
}

/* Positions and normals for what is drawn next. */
static void upload(const GLuint buffers[2], const lm_vec3 *positions, const lm_vec3 *normals, uint32_t count)
{
    for (GLuint i = 0; i < 2; i++) {
        glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
        glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(count * sizeof(lm_vec3)), i ? normals : positions, GL_STREAM_DRAW);
        glEnableVertexAttribArray(i);
        glVertexAttribPointer(i, 3, GL_FLOAT, GL_FALSE, 0, NULL);
    }
}

int main(int argc, char **argv)
{
    const lm_vec3 ground[4] = {{-9, 0, -9}, {-9, 0, 2}, {9, 0, 2}, {9, 0, -9}}, y = {0, 1, 0}, up[4] = {y, y, y, y};
    const int frames = argc > 2 ? atoi(argv[2]) : 0; /* 0: until somebody ends it */
    lm_mesh_data mesh;
    lm_mesh_error error;
    game g;
    if (argc < 2) return fprintf(stderr, "usage: draw MESH [FRAMES]\n"), 1;
    if (!lm_mesh_read(argv[1], NULL, &mesh, &error)) return fprintf(stderr, "%s\n", error.text), 1;
    if (!game_make(&g, &mesh)) return 1;

    SDL_Init(SDL_INIT_VIDEO);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_CORE);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, 3);
    SDL_Window *window = SDL_CreateWindow("Limber", 0, 0, 960, 540, SDL_WINDOW_OPENGL);
    if (!window || !SDL_GL_CreateContext(window)) return fprintf(stderr, "%s\n", SDL_GetError()), 1;
    GLuint program = glCreateProgram(), array, buffers[3];
    attach(program, GL_VERTEX_SHADER, vertex_text);
    attach(program, GL_FRAGMENT_SHADER, fragment_text);
    glLinkProgram(program);
    glUseProgram(program);
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glGenBuffers(3, buffers);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[2]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)(12 * (size_t)g.triangles), mesh.triangles, GL_STATIC_DRAW);
    lm_mesh_free(&mesh);
    glEnable(GL_DEPTH_TEST);
    for (int n = 0; n < 2; n++) game_step(&g); /* there is one before the last */
    bool running = true;
    double owed = 0.0; /* seconds that have passed and are not stepped yet */
    Uint64 last = SDL_GetPerformanceCounter();
    for (int frame = 0; running && (frames == 0 || frame < frames); frame++) {
        SDL_Event event;
        while (SDL_PollEvent(&event)) {
            const SDL_Keycode key = event.type == SDL_KEYDOWN ? event.key.keysym.sym : 0;
            if (event.type == SDL_QUIT || key == SDLK_ESCAPE) running = false;
            if (key == SDLK_r) lm_body_set_pose(g.world, g.body, above, false);
        }
        const Uint64 time = SDL_GetPerformanceCounter();
        owed += frames ? step_seconds : (double)(time - last) / (double)SDL_GetPerformanceFrequency();
        last = time;
        if (owed > 0.25) owed = 0.25; /* after a pause: rather slow than a spiral of steps */
        for (; owed >= step_seconds; owed -= step_seconds) game_step(&g);
        for (uint32_t i = 0; i < g.vertices; i++) g.shown[i] = mix(g.before[i], g.now[i], (float)(owed / step_seconds));

        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        upload(buffers, ground, up, 4);
        glUniform3f(glGetUniformLocation(program, "colour"), 0.5f, 0.55f, 0.6f);
        glDrawArrays(GL_TRIANGLE_FAN, 0, 4);
        upload(buffers, g.shown, g.normals, g.vertices);
        glUniform3f(glGetUniformLocation(program, "colour"), 1.0f, 0.75f, 0.1f);
        glDrawElements(GL_TRIANGLES, (GLsizei)(3 * g.triangles), GL_UNSIGNED_INT, NULL);
        SDL_GL_SwapWindow(window);
    }
    unsigned char pixel[4]; /* for the test of this example */
    glReadPixels(480, 180, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    printf("the pixel below the middle is %d %d %d\n", pixel[0], pixel[1], pixel[2]);
    lm_world_destroy(g.world);
    free(g.before);
    return 0;
}
