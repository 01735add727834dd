/* The table of the scene format. Everything that reads, checks or documents scenes follows it. */
#include "scene/format.h"

#include "limber/shapes.h"
#include "scene/measure.h"

#include <string.h>

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* The words of the table. */
#define FIELD(structure, member, kind, ...)                                                                            \
    {                                                                                                                  \
        .name = #member, .type = kind, .offset = offsetof(structure, member), __VA_ARGS__                              \
    }
#define REQUIRED .required = true
#define RANGE(least, most) .low = (least), .high = (most)
#define ABOVE(least, most) .above_low = true, .low = (least), .high = (most)
#define UNIT(text) .unit = (text)
#define STANDARD(json) .standard = (json)
#define CHOICE(names) .choice = (names)
#define OF(structure) .record = &(structure)
#define DOC(text) .doc = (text)
#define GROUPS(list) list, COUNT(list)
#define NO_GROUPS NULL, 0
#define RECORD(title, structure, list, group_list, text)                                                               \
    {                                                                                                                  \
        title, text, sizeof(structure), list, COUNT(list), group_list                                                  \
    }

#define ANY_SEED 4294967295.0
#define ANY_GROUPS 4294967295.0
#define MOST_SPEED 1e6
#define MOST_TIME 1e6

/* ------------------------------------------------------------------------------------------------------------------
 * Names to choose from
 */

#define CHOICES(function, ...)                                                                                         \
    static const char *function(uint32_t index)                                                                        \
    {                                                                                                                  \
        static const char *const names[] = {__VA_ARGS__};                                                              \
        return index < COUNT(names) ? names[index] : NULL;                                                             \
    }

CHOICES(mode_name, "rigid", "linear", "quadratic")                                   /* in the order of lm_mode */
CHOICES(lattice_mass_name, "volume", "equal")                                        /* of lm_lattice_mass */
CHOICES(tets_mass_name, "volume", "equal")                                           /* of lm_tets_mass */
CHOICES(damping_name, "global", "regional")                                          /* of lm_damping */
CHOICES(collider_shape_name, "plane", "sphere", "capsule", "box", "heights", "mesh") /* of lm_shape */
CHOICES(field_kind_name, "uniform", "wind", "point")                                 /* of lm_field_kind */
CHOICES(skin_name, "particles", "regions")                                           /* of lm_skin_kind */
CHOICES(each_name, "triangle", "edge", "particle", "element")                        /* of cluster_each */
CHOICES(origin_name, "centre", "bottom", "file")                                     /* of mesh_origin */
CHOICES(contact_method_name, "solved", "penalty", "cube_map")                        /* of lm_contact_method */
CHOICES(joint_kind_name, "glue", "ball", "hinge", "distance", "slider")              /* of lm_joint_kind */
CHOICES(contact_points_name, "auto", "particles", "surface")                         /* of lm_contact_points */
CHOICES(attach_name, "distance", "groups")                                           /* of skeleton_attach */
CHOICES(up_name, "y", "z")
CHOICES(axis_name, "x", "y", "z")
CHOICES(function_name, "x", "y", "z", "xx", "yy", "zz", "xy", "yz", "zx")
CHOICES(when_name, "end", "max", "min", "mean") /* of expect_when */

/* ------------------------------------------------------------------------------------------------------------------
 * Parts of bodies
 */

static const format_field box_fields[] = {
    FIELD(scene_box, min, FIELD_VECTOR, REQUIRED, UNIT("m"), DOC("lowest corner")),
    FIELD(scene_box, max, FIELD_VECTOR, REQUIRED, UNIT("m"), DOC("highest corner")),
};
static const format_record box_record =
    RECORD("box", scene_box, box_fields, NO_GROUPS, "A box along the axes, for choosing.");

static const format_field shape_fields[] = {
    FIELD(scene_shape, name, FIELD_CHOICE, REQUIRED, CHOICE(lm_shape_name), DOC("which procedural model")),
    FIELD(scene_shape, size, FIELD_VECTOR, ABOVE(0.0, 1e5), UNIT("m"),
          DOC("extents along the axes; absent: the model's natural size")),
    FIELD(scene_shape, detail, FIELD_COUNT, RANGE(1, 64), STANDARD("4"),
          DOC("edges of the surface are about the longest extent divided by this")),
};
static const format_record shape_record =
    RECORD("shape", scene_shape, shape_fields, NO_GROUPS,
           "A procedural model, centred on the body's origin, which also becomes the surface.");

static const format_field mesh_fields[] = {
    FIELD(scene_mesh, file, FIELD_TEXT, REQUIRED,
          DOC("OBJ, PLY, STL, glTF, GLB or another format that `limber info` reads; relative to the scene file")),
    FIELD(scene_mesh, longest, FIELD_NUMBER, ABOVE(0.0, 1e5), UNIT("m"),
          DOC("the mesh is scaled so that the longest side of its box is this; absent: the file's units are metres")),
    FIELD(scene_mesh, up, FIELD_CHOICE, STANDARD("\"y\""), CHOICE(up_name), DOC("which axis of the file points up")),
    FIELD(scene_mesh, weld, FIELD_NUMBER, RANGE(0.0, 1e5), STANDARD("0"),
          DOC("vertices at most this far apart become one, in the file's units")),
    FIELD(scene_mesh, origin, FIELD_CHOICE, STANDARD("\"centre\""), CHOICE(origin_name),
          DOC("the body's origin: the middle of the mesh's box, the middle of the underside of it, or the file's own")),
};
static const format_record mesh_record =
    RECORD("mesh", scene_mesh, mesh_fields, NO_GROUPS,
           "A triangle mesh from a file, which also becomes the surface: any soup of triangles (see docs/meshes.md).");

static const format_field lattice_fields[] = {
    FIELD(scene_lattice, spacing, FIELD_NUMBER, ABOVE(0.0, 1e5), UNIT("m"), DOC("side of a cell")),
    FIELD(scene_lattice, particles, FIELD_COUNT, RANGE(8, SCENE_MAX_PARTICLES), STANDARD("3000"),
          DOC("or about how many particles there are, for which the spacing is found")),
    FIELD(scene_lattice, width, FIELD_COUNT, RANGE(0, 8), STANDARD("0"),
          DOC("how many cells a region reaches along every axis; with hertz and alpha wider is stiffer, and 0 is 1; "
              "else 0 "
              "is about an eighth of the body's size")),
    FIELD(scene_lattice, width_metres, FIELD_NUMBER, ABOVE(0.0, 1e5), UNIT("m"),
          DOC("or how far it reaches, so that the body is as stiff at another spacing")),
    FIELD(scene_lattice, mass, FIELD_CHOICE, STANDARD("\"volume\""), CHOICE(lattice_mass_name),
          DOC("particles have the mass of the volume around them, or equal shares of the body's")),
    FIELD(scene_lattice, shell, FIELD_FLAG, STANDARD("false"),
          DOC("only the cells that the surface touches, not those that it encloses")),
};
static const field_group lattice_groups[] = {{{"spacing", "particles"}, false}, {{"width", "width_metres"}, false}};
static const format_record lattice_record =
    RECORD("lattice", scene_lattice, lattice_fields, GROUPS(lattice_groups),
           "The space that a shape or mesh takes up, divided into cubic cells. Their corners are the particles, and "
           "around each of them is a region.");

static const format_field tets_fields[] = {
    FIELD(scene_tets, file, FIELD_TEXT,
          DOC("a file of tetrahedra in the coordinates of the mesh's file, placed as that is; absent: the mesh's own "
              "where its file has some")),
    FIELD(scene_tets, spacing, FIELD_NUMBER, ABOVE(0.0, 1e5), UNIT("m"),
          DOC("or side of the cells that are divided into tetrahedra")),
    FIELD(scene_tets, particles, FIELD_COUNT, RANGE(8, SCENE_MAX_PARTICLES), STANDARD("2000"),
          DOC("or about how many particles there are, for which the spacing is found")),
    FIELD(scene_tets, mass, FIELD_CHOICE, STANDARD("\"volume\""), CHOICE(tets_mass_name),
          DOC("tetrahedra share their mass among their corners, or all particles have the same")),
};
static const field_group tets_groups[] = {{{"file", "spacing", "particles"}, false}};
static const format_record tets_record = RECORD(
    "tets", scene_tets, tets_fields, GROUPS(tets_groups),
    "Tetrahedra, from a file or made of a shape or mesh: their corners are the particles, and around each of them "
    "is a region, all that share a tetrahedron with it. The surface rides on them.");

static const format_field surface_fields[] = {
    FIELD(scene_surface, detail, FIELD_COUNT, RANGE(1, 256),
          DOC("of the surface, in place of the shape's own: a fine surface on a few particles")),
    FIELD(scene_surface, skin, FIELD_CHOICE, STANDARD("\"particles\""), CHOICE(skin_name),
          DOC("vertices follow weighted particles, or a smooth blend of the regions' motions (for few particles)")),
};
static const format_record surface_record =
    RECORD("surface", scene_surface, surface_fields, NO_GROUPS, "What is drawn of a shape, and how it follows.");

static const format_field zone_fields[] = {
    FIELD(scene_zone, where, FIELD_RECORD, OF(box_record), DOC("a box, in the body's frame")),
    FIELD(scene_zone, near, FIELD_VECTOR, UNIT("m"), DOC("or the middle of a ball, in the body's frame")),
    FIELD(scene_zone, radius, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), STANDARD("0"), DOC("of the ball")),
    FIELD(scene_zone, fade, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), STANDARD("0"),
          DOC("outside the zone the value goes back to 1 over this distance")),
    FIELD(scene_zone, value, FIELD_NUMBER, REQUIRED, RANGE(0.0, 1e6), DOC("in the zone; elsewhere it is 1")),
};
static const field_group zone_groups[] = {{{"where", "near"}, true}, {{"where", "radius"}, false}};
static const format_record zone_record =
    RECORD("zone", scene_zone, zone_fields, GROUPS(zone_groups),
           "A part of a body that differs from the rest. Where zones overlap, their values multiply.");

static const format_field part_fields[] = {
    FIELD(scene_part, group, FIELD_TEXT, REQUIRED, DOC("a part that the model names, as thumb of a hand")),
    FIELD(scene_part, value, FIELD_NUMBER, REQUIRED, RANGE(1e-6, 1e6), DOC("in the part; elsewhere it is 1")),
};
static const format_record part_record =
    RECORD("part", scene_part, part_fields, NO_GROUPS,
           "A named part of a procedural model that differs from the rest, and fades into it.");

static const format_field octree_fields[] = {
    FIELD(scene_octree, spacing, FIELD_NUMBER, ABOVE(0.0, 1e5), UNIT("m"),
          DOC("side of the finest cells; absent: 1/64 of the longest side")),
    FIELD(scene_octree, levels, FIELD_COUNT, RANGE(0, 8), STANDARD("3"),
          DOC("base cells are this many times twice as wide")),
    FIELD(scene_octree, detail, FIELD_NUMBER, RANGE(0.0, 1000.0), STANDARD("2"),
          DOC("cells across what is thin; 0: all cells are base cells, but for size_zones")),
    FIELD(scene_octree, particles, FIELD_COUNT, RANGE(1, SCENE_MAX_PARTICLES),
          DOC("or about how many particles there are, for which the detail is found")),
    FIELD(scene_octree, width, FIELD_NUMBER, ABOVE(0.0, 1e5), UNIT("m"),
          DOC("how far a region reaches; wider is stiffer; absent: the side of a base cell")),
    FIELD(scene_octree, width_zones, FIELD_RECORDS, OF(zone_record),
          DOC("where regions are wider or narrower, as factors above 0")),
    FIELD(scene_octree, width_groups, FIELD_RECORDS, OF(part_record), DOC("the same for named parts of the model")),
    FIELD(scene_octree, size_zones, FIELD_RECORDS, OF(zone_record),
          DOC("where cells are no larger than this share of a base cell, at most 1")),
    FIELD(scene_octree, slack, FIELD_NUMBER, RANGE(0.0, 4.0), STANDARD("0.5"),
          DOC("share by which regions may be wider where that takes fewer sums")),
    FIELD(scene_octree, shell, FIELD_FLAG, STANDARD("false"),
          DOC("only the cells that the surface touches, not those that it encloses")),
};
static const field_group octree_groups[] = {{{"detail", "particles"}, false}};
static const format_record octree_record = RECORD(
    "octree", scene_octree, octree_fields, GROUPS(octree_groups),
    "The space that a shape or mesh takes up, divided into cubic cells, small where it is thin and large where it "
    "is thick. In the middle of each is a particle with a region around it.");

static const format_field detail_fields[] = {
    FIELD(scene_detail, touch_size, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), STANDARD("0"),
          DOC("cells near contacts, drags and pins that move are divided down to this side; 0: none are")),
    FIELD(scene_detail, touch_radius, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), STANDARD("0"), DOC("how near")),
    FIELD(scene_detail, eye_angle, FIELD_NUMBER, RANGE(0.0, 180.0), UNIT("deg"), STANDARD("0"),
          DOC("cells that look larger from the scene's `eye` are divided, those that would still look half as large "
              "joined; 0: "
              "off")),
    FIELD(scene_detail, finest, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), STANDARD("0"),
          DOC("no cell is divided below this side; 0: as far as there are cells")),
    FIELD(scene_detail, coarsest, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), STANDARD("0"),
          DOC("none is joined beyond this side; 0: as far as there are cells")),
    FIELD(scene_detail, budget, FIELD_COUNT, RANGE(0, SCENE_MAX_PARTICLES), STANDARD("0"),
          DOC("particles at most; 0: no limit")),
    FIELD(scene_detail, per_step, FIELD_COUNT, RANGE(1, 1000000), STANDARD("64"),
          DOC("cells divided or joined in one step at most")),
    FIELD(scene_detail, hold, FIELD_NUMBER, RANGE(0.0, 3600.0), UNIT("s"), STANDARD("0.5"),
          DOC("how long detail stays after its reason has gone")),
};
static const format_record detail_record = RECORD("detail", scene_detail, detail_fields, NO_GROUPS,
                                                  "How an octree divides and joins its cells while it moves.");

static const format_field clusters_fields[] = {
    FIELD(scene_clusters, counts, FIELD_COUNTS, RANGE(1, 1024), STANDARD("[1, 1, 1]"),
          DOC("the bounding box is divided into this many cells along x, y, z")),
    FIELD(scene_clusters, size, FIELD_NUMBER, ABOVE(0.0, 1e5), UNIT("m"),
          DOC("the same with cells of about this size")),
    FIELD(scene_clusters, lists, FIELD_INDEX_LISTS, DOC("the clusters themselves, as lists of particle indices")),
    FIELD(scene_clusters, overlap, FIELD_NUMBER, RANGE(0.0, 1.0), STANDARD("0.25"),
          DOC("each cell grows on every side by this share of its size")),
    FIELD(scene_clusters, kmeans, FIELD_COUNT, RANGE(1, 1048576),
          DOC("this many compact groups, each with its neighbours added")),
    FIELD(scene_clusters, rings, FIELD_COUNT, RANGE(0, 64), STANDARD("1"),
          DOC("kmeans: how many times neighbours are added")),
    FIELD(scene_clusters, each, FIELD_CHOICE, CHOICE(each_name),
          DOC("one for each triangle or edge of the surface (a body without inner particles), one for each particle "
              "with its neighbours, or one for each of `elements`")),
    FIELD(scene_clusters, elements, FIELD_INDEX_LISTS,
          DOC("tetrahedra or others of 2 to 8 particles, all alike: what `each` and kmeans take as neighbours; absent: "
              "the surface's edges, and the six nearest of inner particles")),
};
static const field_group clusters_groups[] = {{{"counts", "size", "lists", "kmeans", "each"}, false},
                                              {{"overlap", "lists", "kmeans", "each"}, false},
                                              {{"rings", "counts", "size", "lists", "each"}, false},
                                              {{"elements", "counts", "size", "lists"}, false}};
static const format_record clusters_record =
    RECORD("clusters", scene_clusters, clusters_fields, GROUPS(clusters_groups),
           "How the particles are divided into overlapping regions. Cells without particles make no region.");

static const format_field material_fields[] = {
    FIELD(scene_material, preset, FIELD_CHOICE, CHOICE(lm_material_preset_name),
          DOC("a material by its name, with its density where the body has neither mass nor density; what else is "
              "given changes "
              "it")),
    FIELD(scene_material, mode, FIELD_CHOICE, STANDARD("\"linear\""), CHOICE(mode_name),
          DOC("what the fit follows without resisting")),
    FIELD(scene_material, hertz, FIELD_NUMBER, RANGE(0.0, 1e6), UNIT("Hz"),
          DOC("frequency at which a single rigid region rings; 8 where neither young nor sag nor alpha is given")),
    FIELD(scene_material, young, FIELD_NUMBER, ABOVE(0.0, 1e15), UNIT("Pa"),
          DOC("in place of hertz: Young's modulus, the same on every sampling and at every spacing")),
    FIELD(scene_material, poisson, FIELD_NUMBER, RANGE(0.0, 0.46), STANDARD("0.3"),
          DOC("Poisson's ratio, with young and sag; in rigid mode it is 0")),
    FIELD(scene_material, sag, FIELD_NUMBER, ABOVE(0.0, 10.0),
          DOC("in place of hertz: the share of its height by which it sinks under its own weight")),
    FIELD(scene_material, damping_ratio, FIELD_NUMBER, RANGE(0.0, 1e3), STANDARD("0.1"),
          DOC("of that ringing, with young and sag of the body's slowest stretching; 1 is critical")),
    FIELD(scene_material, alpha, FIELD_NUMBER, RANGE(0.0, 1.0), STANDARD("0.5"),
          DOC("in place of hertz: the share of the way to the goal in one substep")),
    FIELD(scene_material, damping, FIELD_NUMBER, RANGE(0.0, 1e6), UNIT("1/s"), STANDARD("0"),
          DOC("with alpha: the rate at which deformation velocity decays")),
    FIELD(scene_material, damping_kind, FIELD_CHOICE, STANDARD("\"global\""), CHOICE(damping_name),
          DOC("towards the motion of the body as a whole, or of the regions around each particle (lattices and "
              "octrees)")),
    FIELD(scene_material, damping_every, FIELD_COUNT, RANGE(1, 1024), STANDARD("1"),
          DOC("every how many substeps it is damped, at the same rate in all")),
    FIELD(scene_material, beta, FIELD_NUMBER, RANGE(0.0, 0.95), STANDARD("0.5"),
          DOC("the share of the deformation that the mode follows; no effect in rigid mode")),
    FIELD(scene_material, yield, FIELD_NUMBER, RANGE(0.0, 1e3), STANDARD("0"),
          DOC("strain above which the shape flows and keeps what it has got; 0: it never does")),
    FIELD(scene_material, creep, FIELD_NUMBER, RANGE(0.0, 1e6), UNIT("1/s"), STANDARD("5"),
          DOC("how fast strain becomes lasting while it is above the yield")),
    FIELD(scene_material, max_plastic, FIELD_NUMBER, RANGE(0.0, 0.9), STANDARD("0.5"),
          DOC("lasting strain stays below this")),
    FIELD(scene_material, friction, FIELD_NUMBER, RANGE(0.0, 1e3), STANDARD("0.5"),
          DOC("Coulomb's coefficient; a contact takes the root of the product of both")),
    FIELD(scene_material, restitution, FIELD_NUMBER, RANGE(0.0, 1.0), STANDARD("0"),
          DOC("a contact takes the larger of both")),
};
static const field_group material_groups[] = {
    {{"hertz", "alpha", "young", "sag"}, false}, {{"poisson", "hertz", "alpha"}, false}, {{"poisson", "beta"}, false},
    {{"damping", "young", "sag"}, false},        {{"damping_ratio", "alpha"}, false},    {{"hertz", "damping"}, false},
    {{"damping_ratio", "damping"}, false}};
static const format_record material_record =
    RECORD("material", scene_material, material_fields, GROUPS(material_groups),
           "Stiffness, damping and surface. In an event only the fields given are changed.");

bool lmi_format_takes_word(const format_field *field)
{
    return field->type == FIELD_RECORD && field->record == &material_record;
}

static const format_field mode_fields[] = {
    FIELD(scene_mode, axis, FIELD_CHOICE, REQUIRED, CHOICE(axis_name), DOC("the coordinate that grows")),
    FIELD(scene_mode, function, FIELD_CHOICE, REQUIRED, CHOICE(function_name),
          DOC("of the place: a coordinate, or the product of two")),
    FIELD(scene_mode, amount, FIELD_NUMBER, REQUIRED, RANGE(-1e5, 1e5),
          DOC("by how much: no unit for one coordinate, 1/m for a product of two")),
};
static const format_record mode_record =
    RECORD("mode", scene_mode, mode_fields, NO_GROUPS,
           "One of the 27 basis functions of the quadratic fit: a coordinate grows by a multiple of a function.");

static const format_field deform_fields[] = {
    FIELD(scene_deform, modes, FIELD_RECORDS, OF(mode_record), DOC("single modes of the quadratic fit, added up")),
    FIELD(scene_deform, scale, FIELD_VECTOR, RANGE(-100.0, 100.0), STANDARD("[1, 1, 1]"),
          DOC("along the axes; 0 flattens, negative turns inside out")),
    FIELD(scene_deform, shear, FIELD_VECTOR, RANGE(-100.0, 100.0), STANDARD("[0, 0, 0]"),
          DOC("[a, b, c]: x grows by a y + b z, and y by c z")),
    FIELD(scene_deform, squash, FIELD_NUMBER, RANGE(-10.0, 0.99), STANDARD("0"),
          DOC("shorter along the axis by this share, and as much wider as keeps the volume; negative: longer")),
    FIELD(scene_deform, taper, FIELD_NUMBER, RANGE(-1e5, 1e5), UNIT("1/m"), STANDARD("0"),
          DOC("sections grow by this share for each metre along the axis")),
    FIELD(scene_deform, twist, FIELD_NUMBER, RANGE(-1e5, 1e5), UNIT("deg/m"), STANDARD("0"),
          DOC("turn about the axis, growing along it")),
    FIELD(scene_deform, bend, FIELD_NUMBER, RANGE(-1e5, 1e5), UNIT("deg/m"), STANDARD("0"),
          DOC("curvature of the axis, towards the next axis in the order x, y, z, x")),
    FIELD(scene_deform, curve, FIELD_NUMBER, RANGE(-1e5, 1e5), UNIT("m"), STANDARD("0"),
          DOC("the axis becomes a wave, an S about the middle: how far it goes to either side")),
    FIELD(scene_deform, wave, FIELD_NUMBER, ABOVE(0.0, 1e5), UNIT("m"), STANDARD("1"), DOC("the length of that wave")),
    FIELD(scene_deform, axis, FIELD_CHOICE, STANDARD("\"y\""), CHOICE(axis_name),
          DOC("of squash, taper, twist, bend and curve")),
    FIELD(scene_deform, rotate, FIELD_ROTATION, UNIT("deg"), STANDARD("[0, 0, 0]"), DOC("turned about `about`")),
    FIELD(scene_deform, about, FIELD_VECTOR, UNIT("m"), STANDARD("[0, 0, 0]"), DOC("what `rotate` turns about")),
    FIELD(scene_deform, move, FIELD_VECTOR, UNIT("m"), STANDARD("[0, 0, 0]"), DOC("and moved by this")),
    FIELD(scene_deform, noise, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), STANDARD("0"),
          DOC("each particle is displaced at random by up to this along each axis")),
    FIELD(scene_deform, seed, FIELD_COUNT, RANGE(0, ANY_SEED), STANDARD("1"), DOC("of the noise")),
    FIELD(scene_deform, where, FIELD_RECORD, OF(box_record), DOC("only in this box, in the body's frame; absent: all")),
    FIELD(scene_deform, fade, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), STANDARD("0"),
          DOC("and less and less up to this distance from the box")),
};
static const format_record deform_record = RECORD("deform", scene_deform, deform_fields, NO_GROUPS,
                                                  "A displacement of the particles from the rest shape, applied in the "
                                                  "body's frame in this order: modes, scale, shear, squash, taper, "
                                                  "twist, bend, curve, rotate and move, noise.");

static const format_field pose_fields[] = {
    FIELD(scene_pose, file, FIELD_TEXT,
          DOC("of a body with a mesh: the same vertices at other positions, from another mesh, a glTF file with morph "
              "targets, or an MDD or PC2 file; scaled as the mesh is")),
    FIELD(scene_pose, target, FIELD_TEXT,
          DOC("morph target of a glTF file: its name, or its number from 0; without `file`, of the body's mesh")),
    FIELD(scene_pose, frame, FIELD_COUNT, RANGE(0, 4294967295.0), STANDARD("0"),
          DOC("frame of an MDD or PC2 file, counted from 0")),
    FIELD(scene_pose, deform, FIELD_RECORDS, OF(deform_record),
          DOC("what becomes of it, or of the rest shape, one after the other")),
};
static const format_record pose_record =
    RECORD("pose", scene_pose, pose_fields, NO_GROUPS, "A pose that a body likes to deform into.");

static const format_field examples_fields[] = {
    FIELD(scene_examples, poses, FIELD_RECORDS, REQUIRED, OF(pose_record),
          DOC("1 to 8; the rest pose is always there")),
    FIELD(scene_examples, beta, FIELD_NUMBER, RANGE(0.0, 1.0), STANDARD("0.95"),
          DOC("how much of the mix of poses counts; the rest pose gets the remainder, so that the body returns")),
    FIELD(scene_examples, groups, FIELD_RECORDS, OF(box_record),
          DOC("boxes in the body's frame: the regions in each have a mix of their own, those in none no examples; "
              "absent: the body as a whole")),
    FIELD(scene_examples, each_region, FIELD_FLAG, STANDARD("false"), DOC("every region has a mix of its own")),
    FIELD(scene_examples, weights, FIELD_NUMBERS, RANGE(0.0, 1.0),
          DOC("a mix that is forced, one for each pose, at most 1 in all; absent: it is found")),
};
static const field_group examples_groups[] = {{{"groups", "each_region"}, false}};
static const format_record examples_record = RECORD(
    "examples", scene_examples, examples_fields, GROUPS(examples_groups),
    "Poses that the body likes to deform into: of all mixes of them and the rest pose, the one that is nearest to "
    "the body takes the place of the rest shape.");

static const format_field bone_keyframe_fields[] = {
    FIELD(scene_bone_keyframe, time, FIELD_NUMBER, REQUIRED, RANGE(0.0, MOST_TIME), UNIT("s"),
          DOC("later than the one before")),
    FIELD(scene_bone_keyframe, rotate, FIELD_VECTOR, RANGE(-1e6, 1e6), UNIT("deg"), STANDARD("[0, 0, 0]"),
          DOC("about its joint, x then y then z, along the axes that the body has at rest, turned with the parent; the "
              "angles are interpolated, so 720 is two turns")),
    FIELD(scene_bone_keyframe, move, FIELD_VECTOR, UNIT("m"), STANDARD("[0, 0, 0]"),
          DOC("of the joint, along the same axes")),
};
static const format_record bone_keyframe_record =
    RECORD("bone_keyframe", scene_bone_keyframe, bone_keyframe_fields, NO_GROUPS,
           "How a bone is turned and moved against its parent at a time, as a change of the rest pose.");

static const format_field bone_fields[] = {
    FIELD(scene_bone, name, FIELD_TEXT, REQUIRED, DOC("its own, or that of a bone of the model (`infant` has some)")),
    FIELD(scene_bone, parent, FIELD_TEXT,
          DOC("name of the bone that carries it; absent: none, or that of the model's bone")),
    FIELD(scene_bone, joint, FIELD_VECTOR, UNIT("m"),
          DOC("where it begins and turns, in the body's frame at rest; needed unless the model has the bone")),
    FIELD(scene_bone, tail, FIELD_VECTOR, UNIT("m"), DOC("where it ends; absent: at its joint")),
    FIELD(scene_bone, radius, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), DOC("in place of the skeleton's own")),
    FIELD(scene_bone, fade, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), DOC("in place of the skeleton's own")),
    FIELD(scene_bone, keyframes, FIELD_RECORDS, OF(bone_keyframe_record),
          DOC("how it moves; before the first and after the last it keeps still against its parent")),
};
static const format_record bone_record =
    RECORD("bone", scene_bone, bone_fields, NO_GROUPS, "A rigid bone, and how it moves.");

static const format_field skeleton_fields[] = {
    FIELD(scene_skeleton, bones, FIELD_RECORDS, OF(bone_record),
          DOC("those that move, where the model or the mesh's file has a skeleton; else all")),
    FIELD(scene_skeleton, attach, FIELD_CHOICE, STANDARD("\"distance\""), CHOICE(attach_name),
          DOC("how a particle is shared among bones in reach: by its distance from each, or by the groups of the model "
              "(skin weights of a glTF file) that are called as the bones are")),
    FIELD(scene_skeleton, radius, FIELD_NUMBER, REQUIRED, RANGE(0.0, 1e5), UNIT("m"),
          DOC("particles that are at rest at most this far from a bone are held by it")),
    FIELD(scene_skeleton, fade, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), STANDARD("0"),
          DOC("farther ones are pulled, less and less up to this distance beyond the radius")),
    FIELD(scene_skeleton, hertz, FIELD_NUMBER, RANGE(0.0, 1e6), UNIT("Hz"), STANDARD("8"),
          DOC("of the pull on a particle that is half attached")),
    FIELD(scene_skeleton, damping_ratio, FIELD_NUMBER, RANGE(0.0, 1e3), STANDARD("0.5"), DOC("of that pull")),
    FIELD(scene_skeleton, loop, FIELD_NUMBER, ABOVE(0.0, MOST_TIME), UNIT("s"),
          DOC("the keyframes or the animation begin again after this time; absent: they do not")),
    FIELD(scene_skeleton, smooth, FIELD_FLAG, STANDARD("false"),
          DOC("bones come to rest at each keyframe; else they move evenly from one to the next")),
    FIELD(
        scene_skeleton, animation, FIELD_TEXT,
        DOC("of a body with a mesh from a glTF file that has a skin: name of the animation that moves it; absent: the "
            "first, if there is one")),
};
static const format_record skeleton_record =
    RECORD("skeleton", scene_skeleton, skeleton_fields, NO_GROUPS,
           "Rigid bones inside the body, moved by keyframes or by the animation of a file: they carry and pull the "
           "particles near them, and nothing moves them.");

static const format_field vary_fields[] = {
    FIELD(scene_vary, rotate, FIELD_VECTOR, RANGE(0.0, 360.0), UNIT("deg"), STANDARD("[0, 0, 0]"),
          DOC("turned further by up to this about x, y, z, either way")),
    FIELD(scene_vary, size, FIELD_NUMBER, RANGE(0.0, 0.9), STANDARD("0"), DOC("larger or smaller by up to this share")),
    FIELD(scene_vary, velocity, FIELD_VECTOR, RANGE(0.0, MOST_SPEED), UNIT("m/s"), STANDARD("[0, 0, 0]"),
          DOC("up to this along each axis, either way")),
    FIELD(scene_vary, spin, FIELD_VECTOR, RANGE(0.0, 1e6), UNIT("deg/s"), STANDARD("[0, 0, 0]"),
          DOC("up to this about each axis, either way")),
};
static const format_record vary_record =
    RECORD("vary", scene_vary, vary_fields, NO_GROUPS, "How copies differ from each other, at random.");

static const format_field repeat_fields[] = {
    FIELD(scene_repeat, grid, FIELD_COUNTS, REQUIRED, RANGE(1, 10000),
          DOC("copies along x, y, z; x runs fastest, then z, then y (layer by layer from below)")),
    FIELD(scene_repeat, spacing, FIELD_VECTOR, REQUIRED, UNIT("m"),
          DOC("from one copy to the next; the grid is centred on `at`")),
    FIELD(scene_repeat, jitter, FIELD_VECTOR, RANGE(0.0, 1e9), UNIT("m"), STANDARD("[0, 0, 0]"),
          DOC("moved by up to this along each axis, either way")),
    FIELD(scene_repeat, seed, FIELD_COUNT, RANGE(0, ANY_SEED), STANDARD("1"), DOC("of jitter and vary")),
    FIELD(scene_repeat, vary, FIELD_RECORD, OF(vary_record), DOC("how the copies differ")),
};
static const format_record repeat_record =
    RECORD("repeat", scene_repeat, repeat_fields, NO_GROUPS,
           "Many bodies from one entry; copy 17 of \"ball\" is called \"ball[17]\".");

static const format_field fracture_fields[] = {
    FIELD(scene_fracture, limit, FIELD_NUMBER, RANGE(0.0, 1e6), STANDARD("0.1"),
          DOC("strain at which a link between neighbouring particles breaks: 0.1 is a tenth longer than at rest")),
    FIELD(scene_fracture, variation, FIELD_NUMBER, RANGE(0.0, 1.0), STANDARD("0"),
          DOC("each link has a limit of its own, drawn from `limit` less to `limit` plus this share of it")),
    FIELD(scene_fracture, seed, FIELD_COUNT, RANGE(0, ANY_SEED), STANDARD("1"), DOC("of what is drawn")),
    FIELD(scene_fracture, grain, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), STANDARD("0"),
          DOC("size of the grains that the body is made of and that break apart easily; 0: there are none")),
    FIELD(scene_fracture, grain_strength, FIELD_NUMBER, RANGE(0.0, 1.0), STANDARD("0.3"),
          DOC("limits of links between grains, as a share of what they would be")),
    FIELD(scene_fracture, zones, FIELD_RECORDS, OF(zone_record),
          DOC("where links are tougher or weaker, as factors of their limits; a link has the lower one of its ends'")),
};
static const format_record fracture_record = RECORD(
    "fracture", scene_fracture, fracture_fields, NO_GROUPS,
    "How a lattice breaks: links that are stretched too far do, and pieces that nothing holds go their own way.");

static const format_field body_fields[] = {
    FIELD(scene_body_entry, name, FIELD_TEXT,
          DOC("how pins, drags, events and expectations refer to it; absent: \"body\" and its number")),
    FIELD(scene_body_entry, shape, FIELD_RECORD, OF(shape_record), DOC("a procedural model")),
    FIELD(scene_body_entry, mesh, FIELD_RECORD, OF(mesh_record),
          DOC("or a mesh from a file, for a lattice, tets or an octree")),
    FIELD(scene_body_entry, points, FIELD_VECTORS, UNIT("m"), DOC("or the particles themselves, in the body's frame")),
    FIELD(scene_body_entry, lattice, FIELD_RECORD, OF(lattice_record),
          DOC("makes a lattice of the shape or mesh, in place of clusters")),
    FIELD(scene_body_entry, tets, FIELD_RECORD, OF(tets_record),
          DOC("or tetrahedra, of the shape or mesh or from a file")),
    FIELD(scene_body_entry, octree, FIELD_RECORD, OF(octree_record), DOC("or an octree of the shape or mesh")),
    FIELD(
        scene_body_entry, surface, FIELD_RECORD, OF(surface_record),
        DOC("of a shape; absent: its vertices are particles, and pictures show a finer one; that of a lattice rides on "
            "its cells and is as fine as it is asked to be")),
    FIELD(scene_body_entry, particles, FIELD_COUNT, RANGE(1, 1048576),
          DOC("the exact number of particles in a shape; absent: as dense as its surface")),
    FIELD(scene_body_entry, mass, FIELD_NUMBER, ABOVE(0.0, 1e12), UNIT("kg"), STANDARD("1"),
          DOC("of the whole body, shared evenly")),
    FIELD(scene_body_entry, density, FIELD_NUMBER, ABOVE(0.0, 1e6), UNIT("kg/m³"),
          DOC("or mass from the volume of the shape, or of a mesh that is closed")),
    FIELD(scene_body_entry, masses, FIELD_NUMBERS, ABOVE(0.0, 1e12), UNIT("kg"), DOC("or one for each of `points`")),
    FIELD(scene_body_entry, mass_zones, FIELD_RECORDS, OF(zone_record),
          DOC("where particles weigh more or less, as factors above 0; the body's mass stays")),
    FIELD(scene_body_entry, stiffness_zones, FIELD_RECORDS, OF(zone_record),
          DOC("where the body is softer, as shares of the material's pull, at most 1; a region takes the mean of its "
              "particles")),
    FIELD(scene_body_entry, clusters, FIELD_RECORD, OF(clusters_record), DOC("absent: the whole body is one region")),
    FIELD(scene_body_entry, material, FIELD_RECORD, OF(material_record), DOC("absent: the defaults")),
    FIELD(scene_body_entry, examples, FIELD_RECORD, OF(examples_record), DOC("poses that it likes to deform into")),
    FIELD(scene_body_entry, skeleton, FIELD_RECORD, OF(skeleton_record), DOC("rigid bones inside it that move")),
    FIELD(scene_body_entry, fracture, FIELD_RECORD, OF(fracture_record), DOC("lets a lattice break")),
    FIELD(scene_body_entry, detail, FIELD_RECORD, OF(detail_record),
          DOC("lets an octree divide and join its cells while it moves")),
    FIELD(scene_body_entry, contact_radius, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), STANDARD("0"),
          DOC("distance kept between what touches and colliders")),
    FIELD(scene_body_entry, contact_points, FIELD_CHOICE, STANDARD("\"auto\""), CHOICE(contact_points_name),
          DOC("what of it touches: its particles, or points on its surface; auto: the surface of a lattice, else "
              "particles")),
    FIELD(scene_body_entry, group, FIELD_COUNT, RANGE(0, ANY_GROUPS), STANDARD("1"),
          DOC("the groups it is in, as bits: 1, 2, 4, 8, ... or a sum of them")),
    FIELD(scene_body_entry, mask, FIELD_COUNT, RANGE(0, ANY_GROUPS), STANDARD("4294967295"),
          DOC("the groups whose bodies it touches, as bits: two bodies touch when each is in a group of the other's "
              "mask; absent: all; 0: colliders only")),
    FIELD(scene_body_entry, self_contact, FIELD_FLAG, STANDARD("false"),
          DOC("parts of it that are far from each other at rest touch, too")),
    FIELD(scene_body_entry, at, FIELD_VECTOR, UNIT("m"), STANDARD("[0, 0, 0]"), DOC("where the body's origin starts")),
    FIELD(scene_body_entry, rotate, FIELD_ROTATION, UNIT("deg"), STANDARD("[0, 0, 0]"),
          DOC("how the body starts turned")),
    FIELD(scene_body_entry, velocity, FIELD_VECTOR, RANGE(-MOST_SPEED, MOST_SPEED), UNIT("m/s"), STANDARD("[0, 0, 0]"),
          DOC("to start with")),
    FIELD(scene_body_entry, spin, FIELD_VECTOR, RANGE(-1e6, 1e6), UNIT("deg/s"), STANDARD("[0, 0, 0]"),
          DOC("to start with, about the centre of mass, along the world's axes")),
    FIELD(scene_body_entry, collider_mask, FIELD_COUNT, RANGE(0, ANY_GROUPS), STANDARD("4294967295"),
          DOC("groups of colliders that it touches, as bits; absent: all")),
    FIELD(scene_body_entry, penalty, FIELD_NUMBER, RANGE(0.0, 1e12), UNIT("N/m"), STANDARD("0"),
          DOC("its constant where `contact_method` is penalty or cube_map; 0: what its particles bear")),
    FIELD(scene_body_entry, may_sleep, FIELD_FLAG, STANDARD("true"), DOC("where the scene has `sleep`")),
    FIELD(scene_body_entry, state, FIELD_RECORD, OF(deform_record), DOC("a deformation to start from")),
    FIELD(scene_body_entry, repeat, FIELD_RECORD, OF(repeat_record), DOC("make many of them")),
    FIELD(scene_body_entry, colour, FIELD_COLOUR, DOC("in pictures; absent: the model's own colours")),
    FIELD(scene_body_entry, colours, FIELD_COLOURS, DOC("or several, which the copies take in turn")),
    FIELD(scene_body_entry, label, FIELD_TEXT, DOC("words written below it in pictures")),
};
static const field_group body_groups[] = {{{"shape", "points", "mesh"}, true},
                                          {{"points", "lattice", "particles", "tets", "octree"}, false},
                                          {{"lattice", "clusters", "tets", "octree"}, false},
                                          {{"mass", "density", "masses"}, false},
                                          {{"shape", "masses"}, false},
                                          {{"mesh", "masses"}, false},
                                          {{"points", "density"}, false},
                                          {{"points", "surface"}, false},
                                          {{"mesh", "surface"}, false},
                                          {{"colour", "colours"}, false}};
static const format_record body_record =
    RECORD("body", scene_body_entry, body_fields, GROUPS(body_groups), "A deformable body, or with `repeat` many.");

/* ------------------------------------------------------------------------------------------------------------------
 * What acts on bodies
 */

static const format_field keyframe_fields[] = {
    FIELD(scene_keyframe, time, FIELD_NUMBER, REQUIRED, RANGE(0.0, MOST_TIME), UNIT("s"),
          DOC("later than the one before")),
    FIELD(scene_keyframe, at, FIELD_VECTOR, UNIT("m"), STANDARD("[0, 0, 0]"), DOC("position at that time")),
    FIELD(scene_keyframe, rotate, FIELD_VECTOR, RANGE(-1e6, 1e6), UNIT("deg"), STANDARD("[0, 0, 0]"),
          DOC("about x, then y, then z; the angles are interpolated, so 720 is two turns")),
};
static const format_record keyframe_record = RECORD("keyframe", scene_keyframe, keyframe_fields, NO_GROUPS,
                                                    "A pose at a time; between two of them the mover moves evenly.");

static const format_field mover_fields[] = {
    FIELD(scene_mover, name, FIELD_TEXT, REQUIRED, DOC("how colliders and pins refer to it")),
    FIELD(scene_mover, at, FIELD_VECTOR, UNIT("m"), STANDARD("[0, 0, 0]"), DOC("where it starts")),
    FIELD(scene_mover, rotate, FIELD_ROTATION, UNIT("deg"), STANDARD("[0, 0, 0]"), DOC("how it starts turned")),
    FIELD(scene_mover, velocity, FIELD_VECTOR, RANGE(-MOST_SPEED, MOST_SPEED), UNIT("m/s"), STANDARD("[0, 0, 0]"),
          DOC("constant; with a mass, at the start")),
    FIELD(scene_mover, spin, FIELD_VECTOR, RANGE(-1e6, 1e6), UNIT("deg/s"), STANDARD("[0, 0, 0]"),
          DOC("constant, about its origin, along the world's axes; with a mass, at the start")),
    FIELD(scene_mover, mass, FIELD_NUMBER, ABOVE(0.0, 1e12), UNIT("kg"),
          DOC("then it is a rigid body that is pushed; its origin is its centre of mass")),
    FIELD(scene_mover, inertia, FIELD_VECTOR, RANGE(0.0, 1e24), UNIT("kg m²"),
          DOC("moments about its axes; absent: those of its colliders, filled evenly")),
    FIELD(scene_mover, keyframes, FIELD_RECORDS, OF(keyframe_record),
          DOC("or poses over time; before the first and after the last it stands still")),
};
static const field_group mover_groups[] = {{{"keyframes", "at"}, false},
                                           {{"keyframes", "rotate"}, false},
                                           {{"keyframes", "velocity"}, false},
                                           {{"keyframes", "spin"}, false},
                                           {{"keyframes", "mass"}, false}};
static const format_record mover_record =
    RECORD("mover", scene_mover, mover_fields, GROUPS(mover_groups),
           "A frame that moves as told or, with a mass, as it is pushed. Colliders, pins and joints ride on it.");

static const format_field heights_fields[] = {
    FIELD(scene_heights, columns, FIELD_COUNT, RANGE(2, 4096), STANDARD("65"), DOC("samples along x")),
    FIELD(scene_heights, rows, FIELD_COUNT, RANGE(2, 4096), STANDARD("65"), DOC("samples along z")),
    FIELD(scene_heights, spacing, FIELD_NUMBER, ABOVE(0.0, 1e5), UNIT("m"), STANDARD("0.25"),
          DOC("from one sample to the next; the middle of the map is the collider's `at`")),
    FIELD(scene_heights, size, FIELD_NUMBER, ABOVE(0.0, 1e6), UNIT("m"),
          DOC("or from the first sample along x to the last; as far apart are samples along z")),
    FIELD(scene_heights, values, FIELD_NUMBERS, RANGE(-1e6, 1e6), UNIT("m"),
          DOC("the heights, row after row along x: `columns` times `rows` of them")),
    FIELD(scene_heights, formula, FIELD_TEXT,
          DOC("or the height at x and z, in metres from the middle: numbers, x, z, pi, + - * / ^ ( ), sin, cos, exp, "
              "sqrt, "
              "abs, floor, min, max")),
    FIELD(scene_heights, file, FIELD_TEXT,
          DOC("or a PNG picture, a sample for each pixel: bright is high, colours count as shades of grey; its upper "
              "left "
              "corner is at the lowest x and z; relative to the scene file")),
    FIELD(scene_heights, height, FIELD_NUMBER, RANGE(-1e6, 1e6), UNIT("m"), STANDARD("1"),
          DOC("of white in the picture; black is 0")),
};
static const field_group heights_groups[] = {{{"values", "formula", "file"}, true},
                                             {{"spacing", "size"}, false},
                                             {{"file", "columns"}, false},
                                             {{"file", "rows"}, false},
                                             {{"height", "values", "formula"}, false}};
static const format_record heights_record = RECORD("heights", scene_heights, heights_fields, GROUPS(heights_groups),
                                                   "A height map: solid below, with nothing beyond its borders.");

static const format_field cache_fields[] = {
    FIELD(scene_cache, file, FIELD_TEXT,
          DOC("PC2, MDD, GLB or glTF, with the vertices of the mesh's file in their order; relative to the scene file; "
              "absent: the mesh's own file, a GLB or glTF one")),
    FIELD(scene_cache, fps, FIELD_NUMBER, ABOVE(0.0, 1e6), STANDARD("60"), DOC("frames in a second of a PC2 file")),
    FIELD(scene_cache, animation, FIELD_TEXT,
          DOC("name of the animation in a GLB or glTF file; absent: its first one")),
    FIELD(scene_cache, start, FIELD_NUMBER, RANGE(-1e6, 1e6), UNIT("s"), STANDARD("0"),
          DOC("the time of the file at which the scene begins")),
    FIELD(scene_cache, speed, FIELD_NUMBER, RANGE(-1e3, 1e3), STANDARD("1"),
          DOC("seconds of the file in a second; below 0: backwards")),
    FIELD(scene_cache, loop, FIELD_FLAG, STANDARD("false"),
          DOC("begins again at its end; else it stays as it is there. The last frame should be as the first one")),
};
static const format_record cache_record =
    RECORD("cache", scene_cache, cache_fields, NO_GROUPS,
           "How the vertices of a mesh move: a point cache or an animation from a file (see docs/export.md).");

static const format_field collider_fields[] = {
    FIELD(scene_collider, shape, FIELD_CHOICE, REQUIRED, CHOICE(collider_shape_name),
          DOC("a plane is solid below, and so is a height map; a capsule's axis is y")),
    FIELD(scene_collider, at, FIELD_VECTOR, UNIT("m"), STANDARD("[0, 0, 0]"),
          DOC("its centre, or a point of the plane; in the mover's frame if it has one")),
    FIELD(scene_collider, rotate, FIELD_ROTATION, UNIT("deg"), STANDARD("[0, 0, 0]"), DOC("how it is turned")),
    FIELD(scene_collider, normal, FIELD_VECTOR, STANDARD("[0, 1, 0]"),
          DOC("in place of rotate: where its y axis points (the free side of a plane)")),
    FIELD(scene_collider, radius, FIELD_NUMBER, ABOVE(0.0, 1e6), UNIT("m"), STANDARD("0.5"),
          DOC("of a sphere or capsule")),
    FIELD(scene_collider, length, FIELD_NUMBER, RANGE(0.0, 1e6), UNIT("m"), STANDARD("1"),
          DOC("of a capsule's axis, without the round ends")),
    FIELD(scene_collider, size, FIELD_VECTOR, ABOVE(0.0, 1e6), UNIT("m"), STANDARD("[1, 1, 1]"),
          DOC("extents of a box")),
    FIELD(scene_collider, heights, FIELD_RECORD, OF(heights_record), DOC("of a height map")),
    FIELD(scene_collider, mesh, FIELD_RECORD, OF(mesh_record), DOC("of a mesh: from a file")),
    FIELD(scene_collider, cache, FIELD_RECORD, OF(cache_record),
          DOC("how the vertices of `mesh` move; absent: they do not")),
    FIELD(scene_collider, model, FIELD_RECORD, OF(shape_record), DOC("or a procedural model")),
    FIELD(scene_collider, vertices, FIELD_VECTORS, UNIT("m"), DOC("or its corners, with `triangles`")),
    FIELD(scene_collider, triangles, FIELD_INDEX_LISTS, DOC("three indices of `vertices` each")),
    FIELD(scene_collider, solid, FIELD_FLAG, STANDARD("false"),
          DOC("a mesh with an inside: closed, facing outward; else both sides of a sheet of no thickness")),
    FIELD(scene_collider, mover, FIELD_TEXT, DOC("name of the mover it rides on")),
    FIELD(scene_collider, friction, FIELD_NUMBER, RANGE(0.0, 1e3), STANDARD("0.5"), DOC("Coulomb's coefficient")),
    FIELD(scene_collider, restitution, FIELD_NUMBER, RANGE(0.0, 1.0), STANDARD("0"),
          DOC("how much of the speed bounces back")),
    FIELD(scene_collider, group, FIELD_COUNT, RANGE(0, ANY_GROUPS), STANDARD("1"),
          DOC("the groups it is in, as bits: 1, 2, 4, 8, ... or a sum of them")),
    FIELD(scene_collider, mask, FIELD_COUNT, RANGE(0, ANY_GROUPS), STANDARD("4294967295"),
          DOC("groups of bodies that it stops, as bits; absent: all")),
    FIELD(scene_collider, colour, FIELD_COLOUR, DOC("in pictures; absent: the renderer's choice")),
};
static const field_group collider_groups[] = {{{"rotate", "normal"}, false}, {{"mesh", "model", "vertices"}, false}};
static const format_record collider_record =
    RECORD("collider", scene_collider, collider_fields, GROUPS(collider_groups), "A solid that bodies cannot enter.");

static const format_field pin_fields[] = {
    FIELD(scene_pin, body, FIELD_TEXT, REQUIRED, DOC("name of a body; of one with `repeat`, every copy")),
    FIELD(scene_pin, particles, FIELD_INDICES, DOC("indices of the particles to hold")),
    FIELD(scene_pin, where, FIELD_RECORD, OF(box_record),
          DOC("or those whose rest position lies in this box, in the body's frame")),
    FIELD(scene_pin, mover, FIELD_TEXT, DOC("name of the mover that carries them; absent: they stay")),
};
static const field_group pin_groups[] = {{{"particles", "where"}, true}};
static const format_record pin_record =
    RECORD("pin", scene_pin, pin_fields, GROUPS(pin_groups),
           "Holds particles where they are at the start, or where a mover takes them.");

static const format_field joint_fields[] = {
    FIELD(scene_joint, kind, FIELD_CHOICE, STANDARD("\"glue\""), CHOICE(joint_kind_name),
          DOC("what it leaves free: nothing, turning, turning about the axis, all but the distance, sliding along the "
              "axis")),
    FIELD(scene_joint, body, FIELD_TEXT, REQUIRED, DOC("name of a body; of one with `repeat`, every copy")),
    FIELD(scene_joint, to, FIELD_TEXT,
          DOC("name of the other body, with as many copies, or one that all are joined to; absent: the mover, or the "
              "world")),
    FIELD(scene_joint, mover, FIELD_TEXT, DOC("or name of the mover that it is joined to")),
    FIELD(scene_joint, at, FIELD_VECTOR, REQUIRED, UNIT("m"),
          DOC("where it is on the body at the start, in the world")),
    FIELD(scene_joint, from, FIELD_VECTOR, UNIT("m"), DOC("where it is on the other end; absent: at the same place")),
    FIELD(scene_joint, step, FIELD_VECTOR, UNIT("m"), STANDARD("[0, 0, 0]"),
          DOC("from one copy's place to the next one's")),
    FIELD(scene_joint, chain, FIELD_FLAG, STANDARD("false"),
          DOC("each copy but the first is joined to the one before it")),
    FIELD(scene_joint, axis, FIELD_VECTOR, STANDARD("[0, 0, 1]"), DOC("of a hinge or a slider, in the world")),
    FIELD(scene_joint, radius, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), STANDARD("0"),
          DOC("it holds the particles within this, at rest, of the one nearest to it, and at least eight")),
    FIELD(scene_joint, whole, FIELD_FLAG, STANDARD("false"), DOC("or all particles, as for rigid bodies")),
    FIELD(scene_joint, length, FIELD_NUMBER, RANGE(0.0, 1e6), UNIT("m"),
          DOC("of a distance; absent: what it is at the start")),
    FIELD(scene_joint, hertz, FIELD_NUMBER, RANGE(0.0, 1e6), UNIT("Hz"), STANDARD("0"),
          DOC("of a spring, as if it held the bodies as a whole; 0: as stiff as can be")),
    FIELD(scene_joint, damping_ratio, FIELD_NUMBER, RANGE(0.0, 1e3), STANDARD("1"), DOC("of that spring")),
    FIELD(scene_joint, max_force, FIELD_NUMBER, ABOVE(0.0, 3e38), UNIT("N"), STANDARD("3e38"),
          DOC("it breaks beyond this")),
    FIELD(scene_joint, max_torque, FIELD_NUMBER, ABOVE(0.0, 3e38), UNIT("N m"), STANDARD("3e38"),
          DOC("or beyond this")),
};
static const field_group joint_groups[] = {
    {{"to", "mover"}, false}, {{"to", "chain"}, false}, {{"radius", "whole"}, false}};
static const format_record joint_record = RECORD("joint", scene_joint, joint_fields, GROUPS(joint_groups),
                                                 "Joins a body to another, to a mover or to the world.");

static const format_field drag_keyframe_fields[] = {
    FIELD(scene_drag_keyframe, time, FIELD_NUMBER, REQUIRED, RANGE(0.0, MOST_TIME), UNIT("s"),
          DOC("later than the one before")),
    FIELD(scene_drag_keyframe, target, FIELD_VECTOR, REQUIRED, UNIT("m"),
          DOC("where the spring pulls to at that time")),
};
static const format_record drag_keyframe_record =
    RECORD("drag_keyframe", scene_drag_keyframe, drag_keyframe_fields, NO_GROUPS,
           "A target at a time; between two of them it moves evenly.");

static const format_field drag_fields[] = {
    FIELD(scene_drag, body, FIELD_TEXT, REQUIRED, DOC("name of a body; of one with `repeat`, every copy")),
    FIELD(scene_drag, particle, FIELD_COUNT, RANGE(0, 16777215), DOC("index of the particle to pull")),
    FIELD(scene_drag, nearest, FIELD_VECTOR, UNIT("m"),
          DOC("or the one whose rest position is nearest to this, in the body's frame")),
    FIELD(scene_drag, radius, FIELD_NUMBER, RANGE(0.0, 1e5), UNIT("m"), STANDARD("0"),
          DOC("particles within this of it, at rest, are pulled along")),
    FIELD(scene_drag, target, FIELD_VECTOR, UNIT("m"), DOC("where the spring pulls to, in the world")),
    FIELD(scene_drag, offset, FIELD_VECTOR, UNIT("m"),
          DOC("or this far from where the particle is when the drag begins")),
    FIELD(scene_drag, keyframes, FIELD_RECORDS, OF(drag_keyframe_record), DOC("or a moving target")),
    FIELD(scene_drag, hertz, FIELD_NUMBER, ABOVE(0.0, 1e6), UNIT("Hz"), STANDARD("2"),
          DOC("stiffness, as if the spring held the whole body's mass")),
    FIELD(scene_drag, damping_ratio, FIELD_NUMBER, RANGE(0.0, 1e3), STANDARD("1"), DOC("of that spring")),
    FIELD(scene_drag, max_force, FIELD_NUMBER, ABOVE(0.0, 3e38), UNIT("N"), STANDARD("3e38"),
          DOC("it pulls no harder than this")),
    FIELD(scene_drag, from, FIELD_NUMBER, RANGE(0.0, MOST_TIME), UNIT("s"), STANDARD("0"), DOC("when it begins")),
    FIELD(scene_drag, until, FIELD_NUMBER, RANGE(0.0, MOST_TIME), UNIT("s"), STANDARD("1e6"), DOC("when it lets go")),
};
static const field_group drag_groups[] = {{{"particle", "nearest"}, true}, {{"target", "offset", "keyframes"}, true}};
static const format_record drag_record = RECORD("drag", scene_drag, drag_fields, GROUPS(drag_groups),
                                                "A spring that pulls a particle and its surroundings: a hand.");

static const format_field field_fields[] = {
    FIELD(scene_field, kind, FIELD_CHOICE, REQUIRED, CHOICE(field_kind_name),
          DOC("the same acceleration everywhere, air that drags along, or a pull towards a point")),
    FIELD(scene_field, vector, FIELD_VECTOR, RANGE(-MOST_SPEED, MOST_SPEED), STANDARD("[0, 0, 0]"),
          DOC("uniform: acceleration in m/s²; wind: its velocity in m/s")),
    FIELD(scene_field, at, FIELD_VECTOR, UNIT("m"), STANDARD("[0, 0, 0]"), DOC("of the point")),
    FIELD(scene_field, strength, FIELD_NUMBER, RANGE(-1e6, 1e6), STANDARD("1"),
          DOC("wind: rate of dragging in 1/s; point: acceleration in m/s², negative pushes away")),
    FIELD(scene_field, radius, FIELD_NUMBER, ABOVE(0.0, 1e6), UNIT("m"), STANDARD("1"),
          DOC("where the pull of the point ends")),
    FIELD(scene_field, gusts, FIELD_NUMBER, RANGE(0.0, 10.0), STANDARD("0"),
          DOC("the vector swells and fades by this share of itself")),
    FIELD(scene_field, gust_seconds, FIELD_NUMBER, ABOVE(0.0, MOST_TIME), UNIT("s"), STANDARD("2"),
          DOC("from one gust to the next")),
};
static const format_record field_record =
    RECORD("field", scene_field, field_fields, NO_GROUPS, "A force that acts on every particle.");

/* ------------------------------------------------------------------------------------------------------------------
 * What happens, and what must come out
 */

static const format_field cut_fields[] = {
    FIELD(scene_cut, a, FIELD_VECTOR, REQUIRED, UNIT("m"), DOC("one end of the edge, in the world")),
    FIELD(scene_cut, b, FIELD_VECTOR, REQUIRED, UNIT("m"), DOC("its other end")),
    FIELD(scene_cut, to_a, FIELD_VECTOR, REQUIRED, UNIT("m"), DOC("where the first end goes")),
    FIELD(scene_cut, to_b, FIELD_VECTOR, REQUIRED, UNIT("m"), DOC("where the other end goes")),
    FIELD(scene_cut, seconds, FIELD_NUMBER, RANGE(0.0, MOST_TIME), UNIT("s"), STANDARD("0"),
          DOC("how long it takes, evenly; 0: one frame")),
    FIELD(scene_cut, finest, FIELD_NUMBER, RANGE(0.0, 1e6), UNIT("m"), STANDARD("0"),
          DOC("cells that the edge stops in are divided down to this side; 0: as far as there are cells")),
};
static const format_record cut_record =
    RECORD("cut", scene_cut, cut_fields, NO_GROUPS, "A straight blade: all that it sweeps over is parted.");

static const format_field slice_fields[] = {
    FIELD(scene_slice, at, FIELD_VECTOR, REQUIRED, UNIT("m"), DOC("a point of the first plane, in the world")),
    FIELD(scene_slice, normal, FIELD_VECTOR, STANDARD("[0, 1, 0]"), DOC("across the planes; need not have length 1")),
    FIELD(scene_slice, count, FIELD_COUNT, RANGE(1, LM_MAX_SLICES), STANDARD("1"), DOC("how many planes there are")),
    FIELD(scene_slice, distance, FIELD_NUMBER, ABOVE(0.0, 1e6), UNIT("m"), STANDARD("0.1"),
          DOC("from one plane to the next, along the normal")),
};
static const format_record slice_record =
    RECORD("slice", scene_slice, slice_fields, NO_GROUPS, "Parallel planes that cut a body into slices.");

static const format_field stamp_fields[] = {
    FIELD(scene_stamp, shape, FIELD_RECORD, OF(shape_record), DOC("a procedural model")),
    FIELD(scene_stamp, mesh, FIELD_RECORD, OF(mesh_record), DOC("or a mesh from a file")),
    FIELD(scene_stamp, at, FIELD_VECTOR, UNIT("m"), STANDARD("[0, 0, 0]"), DOC("its origin, in the world")),
    FIELD(scene_stamp, rotate, FIELD_ROTATION, UNIT("deg"), STANDARD("[0, 0, 0]"), DOC("how it is turned")),
    FIELD(scene_stamp, finest, FIELD_NUMBER, RANGE(0.0, 1e6), UNIT("m"), STANDARD("0"),
          DOC("cells that it ends in are divided down to this side; 0: as far as there are cells")),
};
static const field_group stamp_groups[] = {{{"shape", "mesh"}, true}};
static const format_record stamp_record =
    RECORD("stamp", scene_stamp, stamp_fields, GROUPS(stamp_groups),
           "A closed surface that cuts its own shape out of a body, as a cookie cutter or a drill does.");

static const format_field split_fields[] = {
    FIELD(scene_split, push, FIELD_NUMBER, RANGE(0.0, MOST_SPEED), UNIT("m/s"), STANDARD("0"),
          DOC("that each of the bodies is given, away from the middle of all of them")),
    FIELD(scene_split, least_mass, FIELD_NUMBER, RANGE(0.0, 1e12), UNIT("kg"), STANDARD("0"),
          DOC("lighter pieces are destroyed first")),
    FIELD(scene_split, least_volume, FIELD_NUMBER, RANGE(0.0, 1e12), UNIT("m³"), STANDARD("0"),
          DOC("smaller pieces are destroyed first")),
    FIELD(scene_split, most, FIELD_COUNT, RANGE(0, 1000000), STANDARD("0"),
          DOC("of what is left the lightest are destroyed until there are so many; 0: no limit")),
};
static const format_record split_record =
    RECORD("split", scene_split, split_fields, NO_GROUPS,
           "Pieces become bodies of their own; the heaviest keeps the name, and the others have none.");

static const format_field refine_fields[] = {
    FIELD(scene_refine, centre, FIELD_VECTOR, REQUIRED, UNIT("m"), DOC("of the ball, in the world")),
    FIELD(scene_refine, radius, FIELD_NUMBER, REQUIRED, ABOVE(0.0, 1e5), UNIT("m"), DOC("of the ball")),
    FIELD(scene_refine, size, FIELD_NUMBER, REQUIRED, ABOVE(0.0, 1e5), UNIT("m"),
          DOC("side that cells in it get: larger ones are divided, smaller ones joined")),
};
static const format_record refine_record =
    RECORD("refine", scene_refine, refine_fields, NO_GROUPS,
           "A brush: cells in a ball, as the body is then, become finer or coarser. For octrees.");

static const format_field event_fields[] = {
    FIELD(scene_event, time, FIELD_NUMBER, REQUIRED, RANGE(0.0, MOST_TIME), UNIT("s"),
          DOC("rounded to the nearest frame")),
    FIELD(scene_event, body, FIELD_TEXT, DOC("name of a body; of one with `repeat`, every copy; absent: all")),
    FIELD(scene_event, material, FIELD_RECORD, OF(material_record), DOC("changes the fields given")),
    FIELD(scene_event, impulse, FIELD_VECTOR, UNIT("N s"), DOC("a blow, as on a rigid body")),
    FIELD(scene_event, point, FIELD_VECTOR, UNIT("m"),
          DOC("where the blow lands, in the world; absent: the centre of mass")),
    FIELD(scene_event, velocity, FIELD_VECTOR, RANGE(-MOST_SPEED, MOST_SPEED), UNIT("m/s"),
          DOC("replaces the velocity of every particle")),
    FIELD(scene_event, deform, FIELD_RECORD, OF(deform_record),
          DOC("moves the particles to the rest shape deformed so, where the body is and as it is turned")),
    FIELD(scene_event, cut, FIELD_RECORD, OF(cut_record),
          DOC("cuts bodies, from then on for as long as the blade moves")),
    FIELD(scene_event, slice, FIELD_RECORD, OF(slice_record), DOC("cuts bodies into slices")),
    FIELD(scene_event, stamp, FIELD_RECORD, OF(stamp_record), DOC("cuts a shape out of bodies")),
    FIELD(scene_event, split, FIELD_RECORD, OF(split_record), DOC("makes bodies of the pieces of bodies")),
    FIELD(scene_event, refine, FIELD_RECORD, OF(refine_record), DOC("divides or joins cells of octrees")),
    FIELD(scene_event, eye, FIELD_VECTOR, UNIT("m"), DOC("where the scene's `eye` is from then on")),
    FIELD(scene_event, gravity, FIELD_VECTOR, RANGE(-1e4, 1e4), UNIT("m/s²"), DOC("of the whole world from then on")),
};
static const format_record event_record =
    RECORD("event", scene_event, event_fields, NO_GROUPS,
           "Something that happens at a time. Several actions in one event are applied in this order.");

static const format_field expect_fields[] = {
    FIELD(scene_expect, measure, FIELD_CHOICE, REQUIRED, CHOICE(lmi_measure_name), DOC("what is measured, see below")),
    FIELD(scene_expect, body, FIELD_TEXT, DOC("of which body; of one with `repeat`, or absent: of each")),
    FIELD(scene_expect, mover, FIELD_TEXT, DOC("mover_...: of which mover")),
    FIELD(scene_expect, point, FIELD_VECTOR, UNIT("m"), STANDARD("[0, 0, 0]"),
          DOC("deflection, lag: of the particle whose rest position is nearest to this, in the body's frame")),
    FIELD(scene_expect, box, FIELD_RECORD, OF(box_record), DOC("outside: of this box in the world")),
    FIELD(scene_expect, example, FIELD_COUNT, RANGE(0, LM_MAX_EXAMPLES - 1), STANDARD("0"),
          DOC("weight: of which example, counted from 0")),
    FIELD(scene_expect, group, FIELD_COUNT, RANGE(0, 65535), DOC("weight: in which group; absent: the mean of all")),
    FIELD(scene_expect, at, FIELD_NUMBER, RANGE(0.0, MOST_TIME), UNIT("s"),
          DOC("when it is measured; absent: see `when`")),
    FIELD(scene_expect, when, FIELD_CHOICE, STANDARD("\"end\""), CHOICE(when_name),
          DOC("at the end, or the largest, least or mean value over all frames")),
    FIELD(scene_expect, from, FIELD_NUMBER, RANGE(0.0, MOST_TIME), UNIT("s"), STANDARD("0"),
          DOC("frames before this do not count for max, min and mean")),
    FIELD(scene_expect, less_than, FIELD_NUMBER, RANGE(-1e30, 1e30), DOC("the value must be below this")),
    FIELD(scene_expect, greater_than, FIELD_NUMBER, RANGE(-1e30, 1e30), DOC("the value must be above this")),
    FIELD(scene_expect, equals, FIELD_NUMBER, RANGE(-1e30, 1e30), DOC("the value must be exactly this (counts)")),
    FIELD(scene_expect, times, FIELD_TEXT,
          DOC("name of another body: the number is a multiple of its value of the same measure")),
    FIELD(scene_expect, note, FIELD_TEXT, DOC("what it shows, for the reader")),
};
static const field_group expect_groups[] = {{{"less_than", "greater_than", "equals"}, true}, {{"at", "when"}, false}};
static const format_record expect_record_ =
    RECORD("expect", scene_expect, expect_fields, GROUPS(expect_groups),
           "A statement about the result that can fail (`limber run --check`).");

/* ------------------------------------------------------------------------------------------------------------------
 * The file
 */

static const format_field camera_fields[] = {
    FIELD(scene_camera, at, FIELD_VECTOR, REQUIRED, UNIT("m"), DOC("the eye")),
    FIELD(scene_camera, look_at, FIELD_VECTOR, UNIT("m"), STANDARD("[0, 0, 0]"), DOC("the middle of the picture")),
    FIELD(
        scene_camera, field_of_view, FIELD_NUMBER, RANGE(1.0, 170.0), UNIT("deg"), STANDARD("40"),
        DOC("from the lower to the upper edge of a picture of 16:9; a narrower one shows as much from left to right")),
};
static const format_record camera_record =
    RECORD("camera", scene_camera, camera_fields, NO_GROUPS, "Where a picture of the scene is taken from.");

static const format_field sleep_fields[] = {
    FIELD(scene_sleep, speed, FIELD_NUMBER, ABOVE(0.0, MOST_SPEED), UNIT("m/s"), STANDARD("0.05"),
          DOC("that none of its particles may exceed")),
    FIELD(scene_sleep, seconds, FIELD_NUMBER, RANGE(0.0, MOST_TIME), UNIT("s"), STANDARD("0.5"), DOC("for this long")),
};
static const format_record sleep_record =
    RECORD("sleep", scene_sleep, sleep_fields, NO_GROUPS,
           "When bodies at rest are left out of steps until something wakes them.");

static const format_field rule_fields[] = {
    FIELD(scene_contact_rule, groups, FIELD_COUNT, REQUIRED, RANGE(1, ANY_GROUPS),
          DOC("bits: one of the two that touch is in one of these,")),
    FIELD(scene_contact_rule, others, FIELD_COUNT, REQUIRED, RANGE(1, ANY_GROUPS),
          DOC("and the other one in one of these")),
    FIELD(scene_contact_rule, friction, FIELD_NUMBER, RANGE(0.0, 1e3), DOC("absent: as the materials say")),
    FIELD(scene_contact_rule, restitution, FIELD_NUMBER, RANGE(0.0, 1.0), DOC("absent: as the materials say")),
};
static const format_record rule_record =
    RECORD("contact_rule", scene_contact_rule, rule_fields, NO_GROUPS,
           "Friction and restitution between groups of bodies and colliders; of several that fit the last counts.");

static const format_field scene_fields_[] = {
    FIELD(scene_file, limber, FIELD_COUNT, REQUIRED, RANGE(1, 1), DOC("version of the format: 1")),
    FIELD(scene_file, title, FIELD_TEXT, STANDARD("\"\""), DOC("one sentence: what the scene shows")),
    FIELD(scene_file, figure, FIELD_TEXT, STANDARD("\"\""), DOC("the published figure it reproduces")),
    FIELD(scene_file, frames, FIELD_COUNT, RANGE(1, 100000000), STANDARD("300"),
          DOC("how many frames of 1/60 s to run")),
    FIELD(scene_file, gravity, FIELD_VECTOR, RANGE(-1e4, 1e4), UNIT("m/s²"), STANDARD("[0, -9.81, 0]"), DOC("y is up")),
    FIELD(scene_file, substeps, FIELD_COUNT, RANGE(0, LM_MAX_SUBSTEPS), STANDARD("0"),
          DOC("of each frame; 0: as many as the materials need, 1 with hertz and alpha")),
    FIELD(scene_file, camera, FIELD_RECORD, OF(camera_record), DOC("for pictures")),
    FIELD(scene_file, eye, FIELD_VECTOR, UNIT("m"),
          DOC("where bodies with `detail` are looked at from; absent: from nowhere")),
    FIELD(scene_file, sleep, FIELD_RECORD, OF(sleep_record), DOC("absent: nobody does")),
    FIELD(scene_file, contact_method, FIELD_CHOICE, STANDARD("\"solved\""), CHOICE(contact_method_name),
          DOC("how bodies keep each other out; the last two are those of the papers, to compare with")),
    FIELD(scene_file, contact_rules, FIELD_RECORDS, OF(rule_record), DOC("friction and restitution between groups")),
    FIELD(scene_file, bodies, FIELD_RECORDS, OF(body_record), DOC("what deforms")),
    FIELD(scene_file, colliders, FIELD_RECORDS, OF(collider_record), DOC("what bodies bump into")),
    FIELD(scene_file, movers, FIELD_RECORDS, OF(mover_record), DOC("what colliders, pins and joints ride on")),
    FIELD(scene_file, pins, FIELD_RECORDS, OF(pin_record), DOC("what holds")),
    FIELD(scene_file, joints, FIELD_RECORDS, OF(joint_record), DOC("what joins")),
    FIELD(scene_file, drags, FIELD_RECORDS, OF(drag_record), DOC("what pulls")),
    FIELD(scene_file, fields, FIELD_RECORDS, OF(field_record), DOC("what acts everywhere")),
    FIELD(scene_file, events, FIELD_RECORDS, OF(event_record), DOC("what happens when")),
    FIELD(scene_file, expect, FIELD_RECORDS, OF(expect_record_), DOC("what the scene shows, as checks")),
};
const format_record lmi_format_scene =
    RECORD("scene", scene_file, scene_fields_, NO_GROUPS, "The file: one JSON object.");

const format_record *const lmi_format_records[] = {
    &lmi_format_scene, &body_record,     &shape_record,   &mesh_record,          &surface_record,
    &lattice_record,   &tets_record,     &part_record,    &octree_record,        &clusters_record,
    &zone_record,      &material_record, &deform_record,  &mode_record,          &examples_record,
    &pose_record,      &skeleton_record, &bone_record,    &bone_keyframe_record, &repeat_record,
    &vary_record,      &collider_record, &heights_record, &cache_record,         &mover_record,
    &keyframe_record,  &pin_record,      &joint_record,   &drag_record,          &drag_keyframe_record,
    &field_record,     &cut_record,      &event_record,   &expect_record_,       &box_record,
    &camera_record,    &sleep_record,    &rule_record,    &fracture_record,      &detail_record,
    &refine_record,    &slice_record,    &split_record,   &stamp_record,
};
const uint32_t lmi_format_record_count = COUNT(lmi_format_records);

const format_field *lmi_format_find(const format_record *record, const char *name)
{
    for (uint32_t i = 0; i < record->field_count; i++) {
        if (strcmp(record->fields[i].name, name) == 0) {
            return &record->fields[i];
        }
    }
    return NULL;
}

void lmi_format_range(const format_field *field, double *low, double *high)
{
    bool open = field->low == field->high && field->low == 0.0;
    *low = open ? -LM_MAX_COORDINATE : field->low;
    *high = open ? LM_MAX_COORDINATE : field->high;
}
