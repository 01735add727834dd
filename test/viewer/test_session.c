/* Sessions and their timeline, the clock, the camera, and what the viewer remembers: everything below the window. */
#define _POSIX_C_SOURCE 200809L

#include "test/support/support.h"
#include "viewer/camera.h"
#include "viewer/catalogue.h"
#include "viewer/clock.h"
#include "viewer/files.h"
#include "viewer/history.h"
#include "viewer/parameters.h"
#include "viewer/session.h"
#include "viewer/settings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static session *open_session(const char *name)
{
    lm_scene_error error;
    session_options options = {.threads = 1};
    session *s = session_open(name, &options, &error);
    assert_non_null(s);
    return s;
}

static void step(session *s, uint32_t frames)
{
    lm_scene_error error;
    for (uint32_t i = 0; i < frames; i++) {
        assert_int_equal(session_step(s, &error), LM_OK);
    }
}

static void seek(session *s, uint32_t frame)
{
    lm_scene_error error;
    assert_int_equal(session_seek(s, frame, &error), LM_OK);
    assert_int_equal(s->frame, frame);
}

static void make(session *s, change made)
{
    lm_scene_error error;
    assert_int_equal(session_change(s, &made, &error), LM_OK);
}

/* ---- time ---- */

static void any_frame_can_be_returned_to(void **context)
{
    (void)context;
    session *s = open_session("sticks"); /* which holds drags of its own */
    lm_body_id body = lm_scene_get_body(s->scene, 1).id;
    uint64_t hashes[91];
    for (uint32_t i = 0; i <= 90; i++) {
        hashes[i] = lm_world_hash(s->world);
        if (i == 20) {
            make(s, (change){.kind = CHANGE_GRAB, .body = body, .point = {1.0, 2.0, 1.0}, .size = 0.3f});
        } else if (i > 20 && i < 30) {
            make(s, (change){.kind = CHANGE_PULL, .point = {1.0, 2.0 + 0.1 * i, 1.0}});
            make(s, (change){.kind = CHANGE_PULL, .point = {1.5, 2.0 + 0.1 * i, 1.0}});
        } else if (i == 30) {
            make(s, (change){.kind = CHANGE_RELEASE});
        } else if (i == 40) {
            make(s, (change){.kind = CHANGE_INVERT, .body = body});
            make(s, (change){.kind = CHANGE_ADD, .body = body, .point = {0.0, 3.0, 0.0}});
        } else if (i == 50) {
            make(s, (change){.kind = CHANGE_THROW_BALL, .point = {0, 0, 4}, .vector = {0, 0, -9}, .size = 0.3f});
        }
        if (i < 90) {
            step(s, 1);
        }
    }
    const uint32_t visits[] = {89, 90, 3, 45, 44, 46, 25, 90, 0, 31, 30, 29, 51, 90};
    for (size_t i = 0; i < sizeof visits / sizeof visits[0]; i++) {
        seek(s, visits[i]);
        assert_true(s->hash == hashes[visits[i]]);
        assert_true(s->hash == lm_world_hash(s->world));
    }
    assert_int_equal(s->mismatches, 0);
    assert_int_equal(s->company.body_count, 1);
    session_close(s);
}

/* Keys so far apart as those of a large world. */
static void frames_between_keys_are_stepped_to(void **context)
{
    (void)context;
    session *s = open_session("modes");
    uint64_t hashes[101];
    for (uint32_t i = 0; i <= 100; i++) {
        hashes[i] = s->hash;
        size_t keys = s->timeline.key_count;
        step(s, 1);
        if (s->timeline.key_count > keys && s->frame % 40 != 0) { /* as if it had not been wanted */
            timeline_key *last = &s->timeline.keys[--s->timeline.key_count];
            session_free_key(last);
        }
    }
    assert_int_equal(s->timeline.key_count, 3);
    for (int i = 100; i > 0; i -= 7) {
        seek(s, (uint32_t)i);
        assert_true(s->hash == hashes[i]);
    }
    seek(s, 39); /* on the way there keys were left, so that 38 is near */
    assert_int_equal(timeline_find_key(&s->timeline, 38)->frame, 32);
    seek(s, 38);
    assert_true(s->hash == hashes[38]);
    seek(s, 101);
    seek(s, 3);
    assert_int_equal(s->timeline.key_count, 3); /* and they do not pile up */
    assert_int_equal(s->mismatches, 0);
    session_close(s);
}

static session *open_text(const char *text)
{
    char path[] = "/tmp/limber-scene-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    session *s = open_session(path);
    remove(path);
    return s;
}

static uint32_t particles_seen_from(session *s, double distance, uint32_t frames)
{
    lm_scene_error error;
    lm_body_info info;
    for (uint32_t i = 0; i < frames; i++) {
        assert_int_equal(session_look_from(s, (lm_dvec3){0.0, 0.0, distance}, &error), LM_OK);
        step(s, 1);
    }
    assert_int_equal(lm_body_get_info(s->world, lm_scene_get_body(s->scene, 0).id, &info), LM_OK);
    return info.particles;
}

#define SEEN_BOX                                                                                                       \
    "\"limber\": 1, \"title\": \"a box that is looked at\", \"frames\": 60, \"gravity\": [0, 0, 0], \"bodies\": [{"    \
    "\"name\": \"a\", \"shape\": {\"name\": \"box\"}, \"octree\": {\"spacing\": 0.0625, \"levels\": 2, "               \
    "\"detail\": 0}, \"detail\": {\"eye_angle\": 2, \"per_step\": 2000, \"hold\": 0}}]}"

/* Bodies whose detail goes by the eye are finer where the camera is nearer, and time goes back with it. */
static void the_camera_is_the_eye(void **context)
{
    (void)context;
    session *s = open_text("{" SEEN_BOX);
    uint32_t far = particles_seen_from(s, 50.0, 20);
    uint64_t before = s->hash;
    uint32_t near = particles_seen_from(s, 1.5, 20);
    uint64_t after = s->hash;
    assert_true(near > 2 * far);
    assert_int_equal(s->timeline.change_count, 2); /* only when it moves */
    seek(s, 20);
    assert_true(s->hash == before);
    particles_seen_from(s, 50.0, 20); /* along what is recorded nobody looks anew */
    assert_true(s->hash == after && s->mismatches == 0);
    assert_true(particles_seen_from(s, 50.0, 20) < near);
    session_close(s);

    s = open_text("{\"eye\": [0, 0, 50], " SEEN_BOX); /* the scene's own */
    assert_int_equal(particles_seen_from(s, 1.5, 20), far);
    assert_int_equal(s->timeline.change_count, 0);
    session_close(s);

    s = open_session("modes"); /* nothing goes by it */
    particles_seen_from(s, 1.5, 2);
    assert_int_equal(s->timeline.change_count, 0);
    session_close(s);
}

/* The scene's own drags begin and end at their times, however often those are passed. */
static void the_scene_keeps_its_hold(void **context)
{
    (void)context;
    static const char text[] =
        "{\"limber\": 1, \"title\": \"held for a while\", \"frames\": 60, \"bodies\": [{\"name\": \"a\","
        "\"shape\": {\"name\": \"box\"}}], \"drags\": [{\"body\": \"a\", \"particle\": 0, \"from\": 0.1,"
        "\"until\": 0.7, \"offset\": [0, 2, 0]}]}";
    char path[] = "/tmp/limber-held-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, sizeof text - 1) == (ssize_t)(sizeof text - 1));
    close(file);
    session *s = open_session(path);
    remove(path);
    lm_scene_error error;
    uint32_t end = lm_scene_frames(s->scene);
    step(s, end);
    uint64_t last = s->hash;
    seek(s, end / 3);
    uint64_t third = s->hash;
    step(s, end - end / 3); /* past the moment at which it lets go */
    assert_true(s->hash == last && s->mismatches == 0);
    seek(s, 1);
    step(s, end - 1);
    assert_true(s->hash == last);
    seek(s, end / 3);
    assert_true(s->hash == third && s->mismatches == 0);
    assert_int_equal(session_restart(s, false, &error), LM_OK);
    step(s, end);
    assert_true(s->hash == last);
    session_close(s);
}

/* A hash that is not what it was must not go unnoticed. */
static void a_wrong_frame_is_noticed(void **context)
{
    (void)context;
    session *s = open_session("modes");
    step(s, 10);
    for (uint32_t i = 5; i <= 8; i++) {
        s->timeline.hashes[i]++;
    }
    seek(s, 4);
    assert_int_equal(s->mismatches, 0);
    step(s, 4);
    assert_int_equal(s->mismatches, 4);
    session_close(s);
}

/* What is done in the past replaces what came after it, snapshots among them. */
static void another_future_replaces_the_first(void **context)
{
    (void)context;
    session *s = open_session("sticks");
    uint64_t hashes[21];
    step(s, 20);
    seek(s, 10);
    make(s, (change){.kind = CHANGE_SQUASH, .body = lm_scene_get_body(s->scene, 1).id});
    assert_int_equal(session_last(s), 10);
    for (uint32_t i = 10; i < 20; i++) {
        step(s, 1);
        hashes[s->frame] = s->hash;
    }
    for (uint32_t i = 20; i > 10; i--) {
        seek(s, i);
        assert_true(s->hash == hashes[i]);
    }
    assert_int_equal(s->mismatches, 0);
    session_close(s);
}

static void changes_made_at_the_end_are_kept(void **context)
{
    (void)context;
    session *s = open_session("modes");
    lm_body_id body = lm_scene_get_body(s->scene, 0).id;
    step(s, 5);
    make(s, (change){.kind = CHANGE_SQUASH, .body = body});
    uint64_t squashed = s->hash;
    seek(s, 2);
    seek(s, 5);
    assert_true(lm_world_hash(s->world) == squashed);
    assert_int_equal(s->mismatches, 0);
    session_close(s);
}

static void restarting_restores_everything(void **context)
{
    (void)context;
    session *s = open_session("squeeze-duck");
    uint64_t start = s->hash;
    lm_scene_error error;
    lm_body_id body = lm_scene_get_body(s->scene, 0).id;
    lm_material first, now;
    assert_int_equal(lm_body_get_material(s->world, body, &first), LM_OK);
    lm_material changed = first;
    changed.hertz = 2.5f;
    make(s, (change){.kind = CHANGE_MATERIAL, .body = body, .material = changed});
    make(s, (change){.kind = CHANGE_GRAVITY, .vector = {1.0f, 2.0f, 3.0f}});
    make(s, (change){.kind = CHANGE_SUBSTEPS, .count = 7});
    make(s, (change){.kind = CHANGE_ADD, .body = body, .point = {0.0, 3.0, 0.0}});
    step(s, 30);
    assert_int_equal(session_restart(s, true, &error), LM_OK);
    assert_true(s->hash == start && s->frame == 0);
    lm_body_get_material(s->world, body, &now);
    assert_true(now.hertz == 2.5f && lm_world_get_substeps(s->world) == 7 && lm_world_get_gravity(s->world).y == 2.0f);
    assert_int_equal(lm_world_get_bodies(s->world, NULL, 0), 1);
    step(s, 30);
    assert_int_equal(session_restart(s, false, &error), LM_OK);
    assert_true(s->hash == start && s->frame == 0);
    lm_body_get_material(s->world, body, &now);
    assert_memory_equal(&now, &first, sizeof now);
    assert_true(lm_world_get_substeps(s->world) == s->substeps && s->company.body_count == 0);
    session_close(s);
}

/* Ten seconds, and no more memory than that. */
static void old_frames_are_forgotten(void **context)
{
    (void)context;
    session *s = open_session("plastic-cube");
    lm_body_id body = lm_scene_get_body(s->scene, 0).id;
    size_t most = 0;
    for (uint32_t i = 0; i < 1500; i++) {
        if (i % 50 == 0) {
            make(s, (change){.kind = CHANGE_SQUASH, .body = body});
        }
        step(s, 1);
        size_t held = timeline_memory(&s->timeline);
        most = i < 700 && held > most ? held : most;
        assert_true(i < 700 || held <= most + most / 8);
    }
    assert_in_range(session_last(s) - session_first(s), TIMELINE_FRAMES, TIMELINE_FRAMES + TIMELINE_KEY_FRAMES);
    seek(s, session_first(s));
    step(s, 100);
    seek(s, session_last(s));
    assert_int_equal(s->mismatches, 0);
    session_close(s);
}

static void threads_and_instruction_sets_change_nothing(void **context)
{
    (void)context;
    session *a = open_session("sticks"), *b = open_session("sticks");
    lm_scene_error error;
    step(a, 12);
    step(b, 12);
    assert_int_equal(session_set_host(a, 3, LM_ISA_SCALAR, &error), LM_OK);
    assert_int_equal(lm_world_get_workers(a->world), 3);
    assert_int_equal(lm_world_get_isa(a->world), LM_ISA_SCALAR);
    step(a, 12);
    step(b, 12);
    assert_true(a->hash == b->hash);
    seek(a, 3);
    seek(b, 3);
    assert_true(a->hash == b->hash && a->mismatches == 0);
    session_close(a);
    session_close(b);
}

/* ---- the clock ---- */

/* Windows of 30, 60 and 144 frames a second make the same steps. */
static void steps_do_not_depend_on_the_frame_rate(void **context)
{
    (void)context;
    const double rates[] = {30.0, 60.0, 144.0};
    for (int k = 0; k < 3; k++) {
        viewer_clock clock;
        uint32_t steps = 0;
        clock_start(&clock, 1.0);
        for (int i = 0; i < (int)(2.0 * rates[k]); i++) {
            clock_pass(&clock, 1.0 / rates[k]);
            while (clock_take_step(&clock, 1.0 / 60.0, 0.0, 1.0)) {
                steps++;
            }
        }
        assert_in_range(steps, 119, 120);
        assert_true(fabs(clock_factor(&clock) - 1.0) < 0.05);
    }
}

/* Steps that take twice as long as they are worth: half the speed, and the factor says so. */
static void it_slows_down_honestly(void **context)
{
    (void)context;
    viewer_clock clock;
    clock_start(&clock, 1.0);
    uint32_t steps = 0, behind = 0;
    for (int i = 0; i < 60; i++) {
        double spent = 0.0;
        clock_pass(&clock, 0.1);
        while (clock_take_step(&clock, 1.0 / 60.0, spent, 0.05)) {
            spent += 1.0 / 30.0;
            steps++;
        }
        behind += clock.behind;
    }
    assert_int_equal(steps, 120); /* two of the six that are due in each frame of the window */
    assert_int_equal(behind, 60);
    assert_true(fabs(clock_factor(&clock) - 1.0 / 3.0) < 0.02);
    clock_pass(&clock, 0.1); /* the steps become quick: only what is due now is made, not what was dropped */
    for (steps = 0; clock_take_step(&clock, 1.0 / 60.0, 0.0, 0.05); steps++) {
    }
    assert_int_equal(steps, 6);
    clock_start(&clock, 0.25);
    assert_true(clock_factor(&clock) == 0.25);
    clock_pass(&clock, 30.0); /* the window was hidden: that is not caught up with */
    steps = 0;
    while (clock_take_step(&clock, 1.0 / 60.0, 0.0, 1.0)) {
        steps++;
    }
    assert_true(steps <= 2);
}

/* ---- the camera ---- */

static void what_is_under_the_mouse_stays_there(void **context)
{
    (void)context;
    draw_camera seen = {{3.0, 2.0, 5.0}, {0.0, 1.0, 0.0}, 40.0};
    orbit_camera camera = camera_from(&seen, 4.0);
    camera_set_aspect(&camera, 4.0 / 3.0);
    draw_camera drawn = camera_for_drawing(&camera);
    assert_true(fabs(drawn.at.x - 3.0) < 1e-9 && fabs(drawn.at.y - 2.0) < 1e-9 && fabs(drawn.at.z - 5.0) < 1e-9);
    assert_true(drawn.field_of_view > 40.0); /* narrower than 16:9 */
    lm_dvec3 point = camera_point(&drawn, 600.0, 130.0, 800, 600, drawn.look_at);
    double where[3];
    assert_true(draw_project(&drawn, 800, 600, point, where));
    assert_true(fabs(where[0] - 600.0) < 1e-3 && fabs(where[1] - 130.0) < 1e-3);
    lm_vec3 ray = camera_ray(&drawn, 600.0, 130.0, 800, 600);
    assert_true(fabsf(ray.x * ray.x + ray.y * ray.y + ray.z * ray.z - 1.0f) < 1e-5f);
    camera_zoom(&camera, 2.0, 600.0, 130.0, 800, 600);
    drawn = camera_for_drawing(&camera);
    assert_true(draw_project(&drawn, 800, 600, point, where));
    assert_true(fabs(where[0] - 600.0) < 1e-3 && fabs(where[1] - 130.0) < 1e-3);
    camera_pan(&camera, 50.0, -20.0, 600.0);
    drawn = camera_for_drawing(&camera);
    assert_true(draw_project(&drawn, 800, 600, point, where));
    assert_true(fabs(where[0] - 650.0) < 1e-3 && fabs(where[1] - 110.0) < 1e-3);
    for (int i = 0; i < 100; i++) {
        camera_orbit(&camera, 30.0, 70.0, 600.0);
    }
    assert_true(camera.elevation < 1.5708 && camera_for_drawing(&camera).at.y > camera.middle.y);
}

/* ---- tables and files ---- */

/* Every number of the material is in the table: a slider that is missing shows here. */
static void every_parameter_is_in_the_table(void **context)
{
    (void)context;
    lm_material material = lm_material_default();
    size_t bytes = 0;
    for (uint32_t i = 0; parameter_at(i) != NULL; i++) {
        const parameter *p = parameter_at(i);
        float before = parameter_get(p, &material);
        assert_true(before <= p->most && p->low < p->high && p->high <= p->most);
        parameter_set(p, &material, 0.5f * p->high);
        assert_true(parameter_get(p, &material) == 0.5f * p->high);
        parameter_set(p, &material, -1.0f);
        assert_true(parameter_get(p, &material) == (p->whole ? 1.0f : 0.0f));
        parameter_set(p, &material, INFINITY);
        assert_true(parameter_get(p, &material) == p->most);
        assert_ptr_equal(parameter_find(p->key), p);
        bytes += sizeof(float);
    }
    size_t choices = sizeof material.mode + sizeof material.stiffness + sizeof material.damping_kind;
    assert_int_equal(bytes + choices, sizeof material);
    assert_null(parameter_find("nothing"));
}

static void settings_survive(void **context)
{
    (void)context;
    char path[] = "/tmp/limber-settings-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    settings kept = settings_default();
    kept.width = 1000;
    kept.panel = false;
    kept.page = 3;
    kept.panel_width = 400;
    assert_true(settings_write(&kept, path));
    settings read = settings_read(path);
    assert_true(read.width == 1000 && !read.panel && read.page == 3 && read.panel_width == 400 && read.height == 800);
    remove(path);
    read = settings_read(path);
    assert_true(read.width == settings_default().width && read.panel);
}

static void scenes_are_found_by_words(void **context)
{
    (void)context;
    char sentence[] = "A duck is squashed flat";
    catalogue_entry entry = {"squeeze-duck", sentence};
    assert_true(catalogue_matches(&entry, ""));
    assert_true(catalogue_matches(&entry, "DUCK flat"));
    assert_true(catalogue_matches(&entry, "  queeze "));
    assert_false(catalogue_matches(&entry, "duck cube"));
    catalogue all;
    assert_true(catalogue_read(&all));
    assert_true(all.count > 5 && catalogue_find(&all, "modes") < all.count && catalogue_find(&all, "x") == UINT32_MAX);
    assert_true(strlen(all.entries[0].sentence) > 10);
    catalogue_free(&all);
}

static void folders_are_shown(void **context)
{
    (void)context;
    file_list list = {.folder = NULL};
    file_list_show(&list, SOURCE_DIR "/scenes");
    assert_true(list.count > 8 && list.entries[0].kind == FILE_FOLDER);
    assert_string_equal(list.entries[0].name, "..");
    bool crowd = false;
    for (uint32_t n = 1; n < list.count; n++) {
        crowd = crowd || (list.entries[n].kind == FILE_SCENE && strcmp(list.entries[n].name, "crowd.json") == 0);
        assert_true(n == 1 || strcmp(list.entries[n - 1].name, list.entries[n].name) < 0);
    }
    assert_true(crowd);
    file_list_show(&list, SOURCE_DIR "/no such folder");
    assert_true(list.count == 0 && list.problem[0] != '\0');
    file_list_free(&list);
    assert_int_equal(file_kind_of("a.obj"), FILE_MESH);
    assert_int_equal(file_kind_of("a.limber"), FILE_SNAPSHOT);
    assert_int_equal(file_kind_of("a.txt"), FILE_OTHER);
}

/* Stages are summed over workers; the graph shares out the time on the wall. */
static void times_add_up(void **context)
{
    (void)context;
    history h = {.next = 0};
    lm_stats stats = {.step_seconds = 0.004};
    stats.stage_seconds[LM_STAGE_FIT] = 0.006;
    stats.stage_seconds[LM_STAGE_GATHER] = 0.002;
    history_add(&h, &stats);
    assert_true(fabsf(history_mean_step(&h) - 4.0f) < 1e-3f && fabsf(history_mean(&h, LM_STAGE_FIT) - 3.0f) < 1e-3f);
    assert_true(history_top(&h) == 5.0f);
    stats.stage_seconds[LM_STAGE_FIT] = 0.001;
    history_add(&h, &stats);
    assert_true(fabsf(h.milliseconds[LM_STAGE_COUNT][1] - 1.0f) < 1e-3f); /* what no stage counts */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_frame_can_be_returned_to),
        cmocka_unit_test(frames_between_keys_are_stepped_to),
        cmocka_unit_test(the_scene_keeps_its_hold),
        cmocka_unit_test(the_camera_is_the_eye),
        cmocka_unit_test(a_wrong_frame_is_noticed),
        cmocka_unit_test(another_future_replaces_the_first),
        cmocka_unit_test(changes_made_at_the_end_are_kept),
        cmocka_unit_test(restarting_restores_everything),
        cmocka_unit_test(old_frames_are_forgotten),
        cmocka_unit_test(threads_and_instruction_sets_change_nothing),
        cmocka_unit_test(steps_do_not_depend_on_the_frame_rate),
        cmocka_unit_test(it_slows_down_honestly),
        cmocka_unit_test(what_is_under_the_mouse_stays_there),
        cmocka_unit_test(every_parameter_is_in_the_table),
        cmocka_unit_test(settings_survive),
        cmocka_unit_test(scenes_are_found_by_words),
        cmocka_unit_test(folders_are_shown),
        cmocka_unit_test(times_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
