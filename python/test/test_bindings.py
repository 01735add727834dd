"""The bindings are those of the header: every function, and every member of what is turned into classes."""

import dataclasses
import os
import re
import sys
import unittest
from pathlib import Path

import limber
from limber import ffi, lib

SOURCE = Path(os.environ["LIMBER_SOURCE"])
HEADER = SOURCE / "include/limber/limber.h"

# Functions that have no place in the classes of the package; limber.lib has them.
RAW_ONLY = {
    # Sharing skins with a program's own OpenGL buffers.
    "lm_world_can_share",
    "lm_body_share_skin",
    "lm_world_share_skins",
    # Bodies made on another thread than that of the world.
    "lm_prepare_def_default",
    "lm_body_prepare",
    "lm_body_create_prepared",
    "lm_prepared_destroy",
}

# Members of structures that the classes leave out.
RAW_MEMBERS: dict = {}


def names_in_header() -> set:
    text = re.sub(r"/\*.*?\*/", " ", HEADER.read_text(), flags=re.S)
    return set(re.findall(r"\b(lm_\w+)\s*\(", text)) - set(re.findall(r"\(\s*\*\s*(lm_\w+)\)", text))


class Bindings(unittest.TestCase):
    def test_every_function_of_the_header_is_bound(self):
        names = {name for name in names_in_header() if name not in ("lm_task", "lm_substep")}
        self.assertGreater(len(names), 140)
        self.assertEqual(sorted(name for name in names if not hasattr(lib, name)), [])

    def test_every_function_is_used_by_the_classes_or_is_listed(self):
        package = Path(limber.__file__).parent
        used = set(re.findall(r"\blib\.(lm_\w+)", "".join(p.read_text() for p in package.glob("*.py"))))
        # Values that stand for themselves in Python.
        plain = {"lm_dvec3_zero", "lm_pose_identity", "lm_material_default", "lm_bone_default", "lm_task", "lm_substep"}
        missing = names_in_header() - used - plain - RAW_ONLY
        self.assertEqual(sorted(missing), [], "give them a place in python/limber, or list them in RAW_ONLY")

    def test_every_constant_of_the_header_is_bound(self):
        text = re.sub(r"/\*.*?\*/", " ", HEADER.read_text(), flags=re.S)
        names = set(re.findall(r"#define (LM_\w+) +\S", text)) - {"LM_API"}
        self.assertEqual(sorted(name for name in names if not hasattr(lib, name)), [])
        self.assertEqual(lib.LM_MAX_PARTICLES, 1 << 26)
        self.assertEqual(lib.LM_MAX_POSITION, 1e12)
        self.assertEqual(lib.LM_CONTACT_COMBINED, -1.0)

    def test_classes_have_the_members_of_their_structures(self):
        pairs = {
            limber.BodyInfo: ("lm_body_info", set()),
            limber.BodyFilter: ("lm_body_filter", set()),
            limber.CutInfo: ("lm_cut_info", set()),
            limber.Material: ("lm_material", set()),
            limber.Sleep: ("lm_sleep", set()),
            limber.Stats: ("lm_stats", set()),
            limber.ContactStats: ("lm_contact_stats", set()),
            limber.Totals: ("lm_totals", set()),
            limber.ContactEvent: ("lm_contact_event", set()),
            limber.Break: ("lm_break", set()),
            limber.Hit: ("lm_ray_hit", set()),
            limber.Device: ("lm_device_info", set()),
            limber.Detail: ("lm_detail", {"cookie"}),
            limber.Fracture: ("lm_fracture_def", {"cookie", "factors"}),
            limber.SkeletonInfo: ("lm_skeleton_info", {"body"}),
            limber.Loss: ("lm_export_loss", set()),
            limber.JointEnd: ("lm_joint_end", {"particle_count"}),
            limber.JointState: ("lm_joint_state", set()),
            limber.Wrench: ("lm_wrench", set()),
        }
        for kind, (struct, apart) in pairs.items():
            with self.subTest(struct):
                members = {name for name, _ in ffi.typeof(struct).fields} - apart - RAW_MEMBERS.get(struct, set())
                self.assertEqual({field.name.rstrip("_") for field in dataclasses.fields(kind)}, members)

    def test_members_of_definitions_are_arguments(self):
        """What a definition has, the method that makes the thing takes, under the same name unless it is said here."""
        import inspect

        from limber.body import fill_body_def, fill_clusters
        from limber.things import field_def

        world = limber.World
        cases = [
            ("lm_body_def", fill_body_def, {"points", "point_count", "clusters", "lattice", "tets", "octree", "pose"}),
            ("lm_clusters", fill_clusters, {"counts", "offsets", "members", "list_count", "count", "element_count", "element_size"}),
            ("lm_lattice", world.add_lattice, {"vertices", "vertex_count", "triangles", "triangle_count", "counts", "mass"}),
            ("lm_tets", world.add_tets, {"vertices", "vertex_count", "tet_count", "triangles", "triangle_count", "mass"}),
            ("lm_octree", world.add_octree, {"vertices", "vertex_count", "triangles", "triangle_count"}),
            ("lm_collider_def", world.add_collider, {"pose"}),
            ("lm_mover_def", world.add_mover, {"pose"}),
            ("lm_pin_def", world.add_pin, {"particle_count"}),
            ("lm_drag_def", world.add_drag, set()),
            ("lm_field_def", field_def, set()),
            ("lm_joint_def", world.add_joint, set()),
            ("lm_skeleton_def", world.add_skeleton, {"pose", "bone_count", "attachment_count"}),
            ("lm_world_def", world.__init__, {"gl", "allocator", "tasks", "log"}),
        ]
        for struct, function, apart in cases:
            with self.subTest(struct):
                members = {name for name, _ in ffi.typeof(struct).fields} - apart - {"cookie"} - RAW_MEMBERS.get(struct, set())
                self.assertEqual(sorted(members - set(inspect.signature(function).parameters)), [])

    def test_defaults_are_those_of_the_library(self):
        from limber.material import default_material

        for ours, theirs in zip(dataclasses.astuple(limber.Material()), dataclasses.astuple(default_material())):
            self.assertAlmostEqual(ours, theirs, places=6) if isinstance(ours, float) else self.assertEqual(ours, theirs)
        sleep = lib.lm_sleep_default()
        self.assertAlmostEqual(limber.Sleep().speed, sleep.speed, places=6)
        self.assertAlmostEqual(limber.Sleep().seconds, sleep.seconds)
        fracture, detail = lib.lm_fracture_def_default(), lib.lm_detail_default()
        for kind, struct in ((limber.Fracture(), fracture), (limber.Detail(), detail)):
            for field in dataclasses.fields(kind):
                self.assertAlmostEqual(getattr(kind, field.name), getattr(struct, field.name), places=6)
        for definition, call, names in (
            (lib.lm_body_def_default(), "body", ("mass", "contact_radius", "group", "mask", "penalty", "collider_mask")),
            (lib.lm_collider_def_default(), "collider", ("radius", "half_length", "friction", "restitution", "group", "mask")),
        ):
            import inspect

            from limber.body import fill_body_def

            function = fill_body_def if call == "body" else limber.World.add_collider
            parameters = inspect.signature(function).parameters
            for name in names:
                self.assertEqual(parameters[name].default, getattr(definition, name), name)

    def test_version(self):
        self.assertRegex(limber.__version__, r"^\d+\.\d+\.\d+$")
        self.assertEqual(limber.__version__, f"{lib.LM_VERSION_MAJOR}.{lib.LM_VERSION_MINOR}.{lib.LM_VERSION_PATCH}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
