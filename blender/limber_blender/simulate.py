"""A world from a scene of Blender, stepped frame by frame. Everything is in Blender's world space, Z up: gravity says which way down is."""

import numpy as np

try:
    from . import limber
except ImportError as error:  # cffi is missing, or the add-on was packed for another system
    limber = None
    missing = str(error)


class BakeError(Exception):
    """One line for the status bar."""


def matrix_of(thing):
    return np.array(thing.matrix_world, dtype=np.float64)


def apply(matrix, points):
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def rigid(matrix):
    """Position, rotation (x y z w), and what is left of a matrix: scale and shear."""
    location, rotation, _ = matrix.decompose()
    w, x, y, z = rotation
    rest = np.array(rotation.to_matrix().inverted() @ matrix.to_3x3(), dtype=np.float64)
    return tuple(location), (x, y, z, w), rest


def surface_of(found, depsgraph):
    """Vertices (in the object's space) and triangles of a mesh as its modifiers leave it, and its weights by group."""
    evaluated = found.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    try:
        vertices = np.empty((len(mesh.vertices), 3), dtype=np.float32)
        mesh.vertices.foreach_get("co", vertices.reshape(-1))
        mesh.calc_loop_triangles()
        faces = np.empty((len(mesh.loop_triangles), 3), dtype=np.int32)
        mesh.loop_triangles.foreach_get("vertices", faces.reshape(-1))
        return vertices, faces.astype(np.uint32), [
            {entry.group: entry.weight for entry in vertex.groups} for vertex in mesh.vertices
        ]
    finally:
        evaluated.to_mesh_clear()


class Looks:
    """What triangles look like: texture coordinates (n, 3, 2) and colours (n, 3, 4) of their corners, by layer; their material and whether
    they are smooth (n)."""

    def __init__(self, uvs, colours, materials, smooth):
        self.uvs, self.colours, self.materials, self.smooth = uvs, colours, materials, smooth

    def after(self, body, given):
        """The same for the triangles that the surface of a body has now. Inner faces have the first material, are flat, and have 0."""

        def carry(values):
            """(n, 3, k) of the triangles as they were given, k even: two at once go the way of texture coordinates."""
            pairs = [body.skin_uvs(given, values[:, :, k : k + 2]) for k in range(0, values.shape[2], 2)]
            return np.concatenate(pairs, axis=2)

        # Of three corners that stem from different triangles two agree, or any one is as good.
        flat = np.stack([self.materials, self.smooth], axis=1).astype(np.float32)
        flat = np.median(carry(np.repeat(flat[:, None, :], 3, axis=1)), axis=1)
        return Looks(
            {name: carry(uvs) for name, uvs in self.uvs.items()},
            {name: carry(colours) for name, colours in self.colours.items()},
            np.rint(flat[:, 0]).astype(np.int32),
            flat[:, 1] > 0.5,
        )


def looks_of(found, depsgraph):
    """Those of the triangles that surface_of gives."""
    evaluated = found.evaluated_get(depsgraph)
    mesh = evaluated.to_mesh()
    try:
        mesh.calc_loop_triangles()
        triangles = mesh.loop_triangles

        def read(items, name, shape, kind):
            values = np.empty(shape, dtype=kind)
            items.foreach_get(name, values.reshape(-1))
            return values

        loops = read(triangles, "loops", (len(triangles), 3), np.int32)
        corners = read(triangles, "vertices", (len(triangles), 3), np.int32)
        uvs, colours = {}, {}
        for layer in mesh.uv_layers:
            uvs[layer.name] = read(layer.data, "uv", (len(mesh.loops), 2), np.float32)[loops]
        for layer in mesh.color_attributes:
            values = read(layer.data, "color", (len(layer.data), 4), np.float32)
            colours[layer.name] = values[loops if layer.domain == "CORNER" else corners]
        materials = read(triangles, "material_index", len(triangles), np.int32)
        return Looks(uvs, colours, materials, read(triangles, "use_smooth", len(triangles), bool))
    finally:
        evaluated.to_mesh_clear()


def deforms(found):
    """Whether a mesh may change its shape from one frame to the next."""
    return len(found.modifiers) > 0 or found.data.shape_keys is not None


def weights_of(found, groups, name):
    """Weights of a vertex group, one for each vertex of the evaluated mesh; None when there is no such group."""
    if not name:
        return None
    index = found.vertex_groups.find(name)
    if index < 0:
        raise BakeError(f"{found.name}: there is no vertex group {name}")
    return np.array([weights.get(index, 0.0) for weights in groups], dtype=np.float32)


def is_closed(faces):
    """Whether every edge is between two triangles that agree about their direction."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).astype(np.int64)
    forward = edges[:, 0] << 32 | edges[:, 1]
    backward = edges[:, 1] << 32 | edges[:, 0]
    return len(np.unique(forward)) == len(forward) and np.array_equal(np.sort(forward), np.sort(backward))


def armature_of(found):
    for modifier in found.modifiers:
        if modifier.type == "ARMATURE" and modifier.object is not None:
            return modifier.object
    raise BakeError(f"{found.name}: it has no armature")


def material_of(settings):
    from .properties import LIBRARY, PRESETS

    if settings.preset in LIBRARY:
        made = limber.Material.preset(LIBRARY[settings.preset])
        return made.replace(friction=settings.friction, restitution=settings.restitution)
    values = dict(PRESETS[settings.preset], hertz=settings.hertz, damping_ratio=settings.damping_ratio)
    if settings.sampling == "TETS" and values.get("damping_kind") == "regional":
        values["damping_kind"] = "global"
    return limber.Material(friction=settings.friction, restitution=settings.restitution, **values)


class Soft:
    """A soft body, and what moves with it."""

    def __init__(self, found, body, faces):
        self.name = found.name
        self.body = body
        self.given = faces
        self.looks = None  # of these triangles
        self.mover = None
        self.skeleton = None
        self.armature = None
        self.shape = body.info.shape_hash
        self.changed, self.surface = None, None  # since a cut or a break: the hash, and what was found for it


class Simulation:
    """Made at the scene's first frame; `step` goes to the next one. Objects are looked up by name, so that undo may replace them."""

    def __init__(self, context):
        if limber is None:
            raise BakeError(f"the library cannot be loaded: {missing}")
        self.scene = context.scene
        self.context = context
        self.seconds = self.scene.render.fps_base / self.scene.render.fps
        self.first, self.last = self.scene.frame_start, self.scene.frame_end
        self.softs, self.movers, self.blades = [], {}, {}
        self.deforming = {}  # colliders, by the names of their objects
        gravity = self.scene.gravity if self.scene.use_gravity else (0.0, 0.0, 0.0)
        self.world = limber.World(gravity=tuple(gravity), substeps=self.scene.limber.substeps)
        self.go_to(self.first)
        depsgraph = context.evaluated_depsgraph_get()
        for found in self.scene.objects:
            kind = found.limber.kind
            if kind == "NONE" or found.type != "MESH" and kind != "FLOOR":
                continue
            try:
                if kind == "SOFT":
                    self.add_soft(found, depsgraph)
                elif kind in ("COLLIDER", "FLOOR"):
                    self.add_collider(found, depsgraph)
                elif kind == "BLADE":
                    self.blades.setdefault(found.limber.cut_frame, []).append(found.name)
            except limber.LimberError as error:
                raise BakeError(f"{found.name}: {error}") from None
        if not self.softs:
            raise BakeError("there is no soft body: choose one in the physics properties of a mesh")

    def go_to(self, frame):
        self.scene.frame_set(frame)

    def close(self):
        self.world.close()

    # ---- making ----

    def add_soft(self, found, depsgraph):
        settings = found.limber
        vertices, faces, groups = surface_of(found, depsgraph)
        if len(faces) == 0:
            raise BakeError(f"{found.name}: it has no faces")
        placed = apply(matrix_of(found), vertices.astype(np.float64))
        middle = placed.mean(axis=0)
        mesh = limber.Mesh(placed - middle, faces)
        common = dict(
            material=material_of(settings),
            mass=settings.mass,
            position=tuple(middle),
            contact_radius=settings.margin,
            mask=1 if settings.touches else 0,
            self_contact=settings.self_contact,
        )
        if settings.sampling == "LATTICE":
            body = self.world.add_lattice(mesh, particles=settings.particles, width=settings.width, shell=settings.shell, **common)
        elif settings.sampling == "TETS":
            body = self.world.add_tets(mesh, particles=settings.particles, **common)
        else:
            wanted = weights_of(found, groups, settings.detail)
            if wanted is None:
                body = self.world.add_octree(mesh, particles=settings.particles, **common)
            else:
                # Painted all over, there would be about four times as many particles as are wanted.
                sides = np.ptp(mesh.vertices, axis=0)
                finest = float(max((np.prod(sides) / (4 * settings.particles)) ** (1 / 3), sides.max() / 64))
                sizes = finest * 2.0 ** (3.0 * (1.0 - np.clip(wanted, 0.0, 1.0)))
                body = self.world.add_octree(mesh, spacing=finest, detail=1.0, vertex_sizes=sizes, **common)
        soft = Soft(found, body, faces)
        soft.looks = looks_of(found, depsgraph)
        self.softs.append(soft)
        self.give_maps(soft, found, groups)
        if settings.use_armature:
            self.give_skeleton(soft, found, middle)
        if settings.breaks:
            body.set_fracture(limber.Fracture(limit=settings.limit))
        soft.shape = body.info.shape_hash

    def give_maps(self, soft, found, groups):
        stiffness = weights_of(found, groups, found.limber.stiffness)
        if stiffness is not None:
            soft.body.set_particle_stiffness(np.clip(soft.body.carry_values(stiffness), 0.0, 1.0))
        pins = weights_of(found, groups, found.limber.pins)
        if pins is not None:
            held = np.flatnonzero(soft.body.carry_values(pins) > 0.5)
            if len(held):
                location, rotation, _ = rigid(found.matrix_world)
                soft.mover = self.world.add_mover(location, rotation)
                self.world.add_pin(soft.body, held, mover=soft.mover)

    def bone_poses(self, armature):
        return [rigid(armature.matrix_world @ bone.matrix)[:2] for bone in armature.pose.bones]

    def give_skeleton(self, soft, found, middle):
        armature = armature_of(found)
        bones = []
        for bone, (location, rotation) in zip(armature.pose.bones, self.bone_poses(armature)):
            length = float((armature.matrix_world.to_3x3() @ (bone.tail - bone.head)).length)
            radius = found.limber.bone_radius * length
            # The body's frame is the world's, moved to the middle of the mesh.
            place = tuple(np.array(location) - middle)
            bones.append(limber.Bone(place, rotation, tail=(0.0, length, 0.0), radius=radius, fade=0.5 * radius))
        soft.skeleton = self.world.add_skeleton(soft.body, bones, position=tuple(middle))
        soft.armature = armature.name

    def add_collider(self, found, depsgraph):
        settings = found.limber
        location, rotation, rest = rigid(found.matrix_world)
        mover = self.world.add_mover(location, rotation)
        self.movers[found.name] = mover
        common = dict(mover=mover, friction=settings.friction, restitution=settings.restitution)
        if settings.kind == "FLOOR":
            # A plane of the library faces along Y, one of Blender along Z.
            turn = limber.Pose.turned((1, 0, 0), 90).rotation
            self.world.add_collider("plane", rotation=turn, **common)
            return
        vertices, faces, _ = surface_of(found, depsgraph)
        mesh = limber.Mesh(vertices.astype(np.float64) @ rest.T, faces)
        changes = deforms(found)
        made = self.world.add_collider("mesh", mesh=mesh, solid=is_closed(faces), deforms=changes, **common)
        if changes:
            self.deforming[found.name] = made

    def move_surface(self, found, collider):
        """The vertices of a collider that deforms, where they are in this frame."""
        vertices, _, _ = surface_of(found, self.context.evaluated_depsgraph_get())
        if len(vertices) != len(collider.vertices):
            raise BakeError(f"{found.name}: a collider keeps its vertices (it had {len(collider.vertices)}, now {len(vertices)})")
        collider.move_vertices(vertices.astype(np.float64) @ rigid(found.matrix_world)[2].T)

    # ---- stepping ----

    def step(self, frame):
        """To this frame, the one after the last."""
        self.go_to(frame)
        try:
            self.move()
            self.cut(frame)
            self.world.step(self.seconds)
        except limber.LimberError as error:
            raise BakeError(f"frame {frame}: {error}") from None

    def move(self):
        """What is animated, to where it is in this frame."""
        objects = self.scene.objects
        for name, mover in self.movers.items():
            mover.move_to(*rigid(objects[name].matrix_world)[:2])
        for name, collider in self.deforming.items():
            self.move_surface(objects[name], collider)
        for soft in self.softs:
            if soft.mover is not None:
                soft.mover.move_to(*rigid(objects[soft.name].matrix_world)[:2])
            if soft.skeleton is not None:
                soft.skeleton.move_to(self.bone_poses(objects[soft.armature]))

    def cut(self, frame):
        if frame not in self.blades:
            return
        depsgraph = self.context.evaluated_depsgraph_get()
        for name in self.blades[frame]:
            found = self.scene.objects[name]
            vertices, faces, _ = surface_of(found, depsgraph)
            blade = limber.Mesh(apply(matrix_of(found), vertices.astype(np.float64)), faces)
            for soft in self.softs:
                soft.body.cut(blade)

    def surface(self, soft):
        """Vertices in the space of the object as it is in this frame; triangles and what they look like, or None where they are those of the
        mesh."""
        inverse = np.linalg.inv(matrix_of(self.scene.objects[soft.name]))
        vertices = apply(inverse, soft.body.get_skin().astype(np.float64)).astype(np.float32)
        changed = soft.body.info.shape_hash != soft.shape
        if not changed:
            return vertices, None, None
        if soft.changed != soft.body.info.shape_hash:  # they stay until the next cut or break
            soft.changed = soft.body.info.shape_hash
            soft.surface = soft.body.skin_faces, soft.looks.after(soft.body, soft.given)
        return vertices, *soft.surface

