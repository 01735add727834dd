/*
 * Load and draw: a mesh from a file falls on a floor, in a window.
 *
 * Learn: a body and its skin from a mesh file (limber::io); the loop that every game has: steps of fixed length, as many as the clock asks for,
 * and a picture between the last two, so that motion is smooth whatever the screen's rate.
 *
 *     cc draw.c $(pkg-config --cflags --libs limber-io limber-shapes sdl2 epoxy) -lm -o draw
 *     ./draw [model.obj]        # a duck without a file; R drops it again, Escape ends
 *     ./draw --frames 60        # draws 60 pictures, one for each step, and ends
 */
#include <SDL.h>
#include <epoxy/gl.h>
#include <limber/limber.h>
#include <limber/mesh.h>
#include <limber/shapes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double step_seconds = 1.0 / 60.0;

static const char *const vertex_text = "#version 330\n"
                                       "layout(location = 0) in vec3 position;\n"
                                       "layout(location = 1) in vec3 normal;\n"
                                       "uniform mat4 camera;\n"
                                       "out vec3 n;\n"
                                       "void main() { n = normal; gl_Position = camera * vec4(position, 1); }\n";
static const char *const fragment_text =
    "#version 330\n"
    "in vec3 n;\n"
    "uniform vec3 colour;\n"
    "out vec4 pixel;\n"
    "void main() { float light = 0.35 + 0.65 * max(dot(normalize(n), normalize(vec3(1, 2, 1.5))), 0.0);\n"
    "              pixel = vec4(colour * light, 1); }\n";

/* The body, and its surface after the last step and after the one before. */
typedef struct game {
    lm_world *world;
    lm_body_id body;
    uint32_t vertices, triangles;
    lm_vec3 *before, *now, *normals, *shown;
} game;

static int game_make(game *g, const char *path)
{
    lm_mesh_data mesh = {0};
    lm_mesh_error error;
    lm_shape_mesh duck = {0};
    lm_body_def def = lm_body_def_default();
    lm_skin_def skin = lm_skin_def_default();
    lm_world_def world_def = lm_world_def_default();
    lm_collider_def floor_def = lm_collider_def_default();
    lm_collider_id floor;
    if (path) {
        if (!lm_mesh_read(path, NULL, &mesh, &error)) return fprintf(stderr, "%s\n", error.text), 0;
        lm_mesh_use(&mesh, LM_MESH_LATTICE, 1000, &def, &skin);
    } else {
        lm_shape_def shape = lm_shape_def_default();
        shape.name = "duck";
        shape.size = lm_shape_natural_size("duck");
        shape.detail = 30;
        if (lm_shape_make_mesh(&shape, &duck) != LM_OK) return 0;
        mesh.positions = duck.vertices;
        mesh.vertex_count = duck.vertex_count;
        mesh.triangles = duck.triangles;
        mesh.triangle_count = duck.triangle_count;
        lm_mesh_use(&mesh, LM_MESH_LATTICE, 1000, &def, &skin);
    }
    def.lattice.width = 3;
    def.pose.position.y = 1.0;
    world_def.substeps = 4;
    lm_result result = lm_world_create(&world_def, &g->world);
    if (result == LM_OK) result = lm_collider_create(g->world, &floor_def, &floor);
    if (result == LM_OK) result = lm_body_create(g->world, &def, &g->body);
    if (result == LM_OK) result = lm_body_set_skin(g->world, g->body, &skin);
    g->vertices = mesh.vertex_count;
    g->triangles = mesh.triangle_count;
    g->before = calloc(g->vertices, sizeof *g->before);
    g->now = calloc(g->vertices, sizeof *g->now);
    g->normals = calloc(g->vertices, sizeof *g->normals);
    g->shown = calloc(g->vertices, sizeof *g->shown);
    if (path) lm_mesh_free(&mesh);
    lm_shape_mesh_free(&duck);
    if (result != LM_OK) fprintf(stderr, "%s\n", lm_result_text(result));
    return result == LM_OK && g->before && g->now && g->normals && g->shown;
}

static void game_step(game *g)
{
    lm_vec3 *swap = g->before;
    g->before = g->now;
    g->now = swap;
    lm_world_step(g->world, step_seconds);
    lm_body_get_skin(g->world, g->body, lm_dvec3_zero(), g->now, g->normals);
}

/* The surface at a share of the way from the last step but one to the last. */
static void game_blend(game *g, float share)
{
    for (uint32_t i = 0; i < g->vertices; i++) {
        g->shown[i].x = g->before[i].x + share * (g->now[i].x - g->before[i].x);
        g->shown[i].y = g->before[i].y + share * (g->now[i].y - g->before[i].y);
        g->shown[i].z = g->before[i].z + share * (g->now[i].z - g->before[i].z);
    }
}

static void game_free(game *g)
{
    lm_world_destroy(g->world);
    free(g->before);
    free(g->now);
    free(g->normals);
    free(g->shown);
}

static GLuint compile(GLenum kind, const char *text)
{
    GLuint shader = glCreateShader(kind);
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    return shader;
}

/* A camera at (0, 1, 3.5) that looks along -z, as columns. */
static void set_camera(GLint place, float aspect)
{
    const float f = 1.8f, near = 0.1f, far = 50.0f, a = (far + near) / (near - far),
                b = 2.0f * far * near / (near - far);
    const float m[16] = {f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, a, -1, 0, -0.7f * f, -3.5f * a + b, 3.5f};
    glUniformMatrix4fv(place, 1, GL_FALSE, m);
}

int main(int argc, char **argv)
{
    const lm_vec3 ground[4] = {{-9, 0, -9}, {-9, 0, 2}, {9, 0, 2}, {9, 0, -9}},
                  up[4] = {{0, 1, 0}, {0, 1, 0}, {0, 1, 0}, {0, 1, 0}};
    bool counted = argc == 3 && strcmp(argv[1], "--frames") == 0, running = true;
    int frames = counted ? atoi(argv[2]) : 0;
    game g = {0};
    if (!game_make(&g, argc == 2 ? argv[1] : NULL)) return 1;
    if (SDL_Init(SDL_INIT_VIDEO) != 0) return fprintf(stderr, "%s\n", SDL_GetError()), 1;
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_CORE);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 3);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, 3);
    SDL_GL_SetAttribute(SDL_GL_DEPTH_SIZE, 24);
    SDL_Window *window =
        SDL_CreateWindow("Limber", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, 960, 540, SDL_WINDOW_OPENGL);
    if (!window || !SDL_GL_CreateContext(window)) return fprintf(stderr, "%s\n", SDL_GetError()), 1;

    GLuint program = glCreateProgram(), array, buffers[2], indices;
    glAttachShader(program, compile(GL_VERTEX_SHADER, vertex_text));
    glAttachShader(program, compile(GL_FRAGMENT_SHADER, fragment_text));
    glLinkProgram(program);
    glUseProgram(program);
    set_camera(glGetUniformLocation(program, "camera"), 960.0f / 540.0f);
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    glGenBuffers(2, buffers);
    glGenBuffers(1, &indices);
    uint32_t *triangles = malloc(3 * sizeof *triangles * g.triangles);
    if (!triangles) return 1;
    lm_body_get_skin_triangles(g.world, g.body, triangles);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, indices);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (GLsizeiptr)(3 * sizeof *triangles * g.triangles), triangles, GL_STATIC_DRAW);
    free(triangles);
    glEnable(GL_DEPTH_TEST);
    glClearColor(0.75f, 0.82f, 0.9f, 1);
    game_step(&g);
    game_step(&g);

    Uint64 last = SDL_GetPerformanceCounter();
    double owed = 0.0; /* seconds that have passed and are not stepped yet */
    for (int frame = 0; running && (!counted || frame < frames); frame++) {
        SDL_Event event;
        while (SDL_PollEvent(&event)) {
            bool key = event.type == SDL_KEYDOWN;
            if (event.type == SDL_QUIT || (key && event.key.keysym.sym == SDLK_ESCAPE)) running = false;
            lm_pose start = lm_pose_identity();
            start.position.y = 1.0;
            if (key && event.key.keysym.sym == SDLK_r) lm_body_set_pose(g.world, g.body, start, false);
        }
        Uint64 time = SDL_GetPerformanceCounter();
        owed += counted ? step_seconds : (double)(time - last) / (double)SDL_GetPerformanceFrequency();
        last = time;
        if (owed > 0.25) owed = 0.25; /* after a pause: rather slow than a spiral of steps */
        for (; owed >= step_seconds; owed -= step_seconds) game_step(&g);
        game_blend(&g, (float)(owed / step_seconds));

        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        for (int pass = 0; pass < 2; pass++) { /* the ground, then the body */
            const GLsizeiptr size = (GLsizeiptr)(sizeof(lm_vec3) * (pass ? g.vertices : 4));
            for (GLuint i = 0; i < 2; i++) {
                const lm_vec3 *data = pass ? (i ? g.normals : g.shown) : (i ? up : ground);
                glBindBuffer(GL_ARRAY_BUFFER, buffers[i]);
                glBufferData(GL_ARRAY_BUFFER, size, data, GL_STREAM_DRAW);
                glEnableVertexAttribArray(i);
                glVertexAttribPointer(i, 3, GL_FLOAT, GL_FALSE, 0, NULL);
            }
            glUniform3f(glGetUniformLocation(program, "colour"), pass ? 1.0f : 0.5f, pass ? 0.75f : 0.55f,
                        pass ? 0.1f : 0.6f);
            if (pass)
                glDrawElements(GL_TRIANGLES, (GLsizei)(3 * g.triangles), GL_UNSIGNED_INT, NULL);
            else
                glDrawArrays(GL_TRIANGLE_FAN, 0, 4);
        }
        SDL_GL_SwapWindow(window);
    }
    unsigned char pixel[4];
    glReadPixels(480, 180, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    printf("the pixel below the middle is %d %d %d\n", pixel[0], pixel[1], pixel[2]);
    game_free(&g);
    SDL_Quit();
    return 0;
}
