// The picture: three.js, with light, shadows and a camera; and what the views show.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { RoomEnvironment } from "three/addons/environments/RoomEnvironment.js";
import { ColliderGroup, ParticleCloud, SoftCrowd } from "limber-physics/three";

const SKIES = {
    light: { top: 0xdfe7f1, bottom: 0xf6f3ee, floor: 0xe9e6e1, wall: 0xc9ccd4 },
    dark: { top: 0x12151c, bottom: 0x272b36, floor: 0x343a47, wall: 0x596175 },
};

const FAST = 0.35; // at the end of the scale of speed: of the distance that is looked from, in a second
const STILL = 250; // milliseconds without a change

export const VIEWS = ["surface", "strain", "regions", "speed", "particles", "contacts"];

/** A colour map from dark blue over green to yellow, as linear bytes. */
const STOPS = [[40, 20, 90], [45, 80, 150], [35, 150, 140], [120, 205, 85], [250, 230, 40]];
const linear = (value) => Math.round(255 * (value / 255) ** 2.2);
const RAMP = Array.from({ length: 256 }, (_, n) => {
    const at = (n / 255) * (STOPS.length - 1), low = Math.min(Math.floor(at), STOPS.length - 2), t = at - low;
    return STOPS[low].map((value, k) => linear(value + (STOPS[low + 1][k] - value) * t));
});
const ramp = (share) => RAMP[Math.max(0, Math.min(255, Math.round(255 * share)))];
const REGION_COLOURS = Array.from({ length: 24 }, (_, n) => {
    const c = new THREE.Color().setHSL((n * 0.618034) % 1, 0.55, 0.45 + 0.12 * (n % 3));
    return [c.r, c.g, c.b].map((value) => Math.round(255 * value));
});

/** A picture from one colour above to another below. */
function gradient(top, bottom) {
    const canvas = document.createElement("canvas"), paint = canvas.getContext("2d");
    canvas.width = 4;
    canvas.height = 256;
    const fill = paint.createLinearGradient(0, 0, 0, 256), css = (colour) => "#" + colour.toString(16).padStart(6, "0");
    fill.addColorStop(0, css(top));
    fill.addColorStop(0.75, css(bottom));
    paint.fillStyle = fill;
    paint.fillRect(0, 0, 4, 256);
    const texture = new THREE.CanvasTexture(canvas);
    texture.colorSpace = THREE.SRGBColorSpace;
    return texture;
}

/** Whether a canvas is drawn without a graphics card: then pictures are drawn more simply. */
function isSoftware(gl) {
    const info = gl?.getExtension("WEBGL_debug_renderer_info");
    return /swiftshader|llvmpipe|software|basic render/i.test(info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "");
}

/** A canvas with its context: without smooth edges where there is no graphics card, in place of the one that was asked. */
function openCanvas(canvas, quality) {
    const context = canvas.getContext("webgl2", { alpha: false, antialias: false, powerPreference: "high-performance" });
    if (!context) throw new Error("WebGL 2 is missing");
    const chosen = quality ?? (isSoftware(context) ? "low" : "high");
    if (chosen === "low") return { canvas, context, quality: chosen };
    const smooth = canvas.cloneNode(true);
    canvas.replaceWith(smooth);
    context.getExtension("WEBGL_lose_context")?.loseContext();
    return { canvas: smooth, context: smooth.getContext("webgl2", { alpha: false, antialias: true, powerPreference: "high-performance" }), quality: chosen };
}

/**
 * Where there is no graphics card: light is computed for vertices, as MeshPhongMaterial has it, and pixels only get a colour. A fourth of the time of a
 * picture, and its shader is compiled in a tenth of the time. Bodies cast shadows on the floor and have none on them.
 */
const PLAIN = {
    vertexShader: `
        uniform vec3 toSun, sun, sky, ground;
        varying vec3 shown;
        void main() {
            vec3 toEye = normalize(cameraPosition - position);
            vec3 n = dot(normal, toEye) < -0.35 ? -normal : normal; // the other side of a sheet; triangles of the outline may look away a little
            float facing = max(dot(n, toSun), 0.0);
            vec3 light = mix(ground, sky, 0.5 * n.y + 0.5) + facing * sun;
            vec3 linear = color * light + 0.17 * facing * pow(max(dot(n, normalize(toEye + toSun)), 0.0), 40.0) * sun;
            shown = mix(1.055 * pow(linear, vec3(1.0 / 2.4)) - 0.055, 12.92 * linear, lessThanEqual(linear, vec3(0.0031308)));
            gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
        }`,
    fragmentShader: `
        varying vec3 shown;
        void main() {
            gl_FragColor = vec4(shown, 1.0);
        }`,
    uniforms: { toSun: { value: new THREE.Vector3(0, 1, 0) }, sun: { value: new THREE.Color() }, sky: { value: new THREE.Color() }, ground: { value: new THREE.Color() } },
};

const skinMaterial = (high) => {
    const look = { vertexColors: true, side: THREE.DoubleSide, shadowSide: THREE.DoubleSide };
    if (!high) return Object.assign(new THREE.ShaderMaterial({ ...look, vertexShader: PLAIN.vertexShader, fragmentShader: PLAIN.fragmentShader }), { uniforms: PLAIN.uniforms });
    return new THREE.MeshPhysicalMaterial({ ...look, roughness: 0.42, clearcoat: 0.25, clearcoatRoughness: 0.4 });
};
const wallMaterial = (high) => (high ? new THREE.MeshStandardMaterial({ roughness: 0.92, side: THREE.DoubleSide }) : new THREE.MeshLambertMaterial({ side: THREE.DoubleSide }));

export class Stage {
    constructor(given, { quality }) {
        const { canvas, context, quality: chosen } = openCanvas(given, quality);
        this.canvas = canvas;
        this.quality = chosen;
        document.body.classList.toggle("plain", chosen === "low");
        this.renderer = new THREE.WebGLRenderer({ canvas, context });
        this.renderer.debug.checkShaderErrors = false; // asking would wait for each program
        this.renderer.toneMapping = this.quality === "high" ? THREE.ACESFilmicToneMapping : THREE.NoToneMapping;
        this.renderer.toneMappingExposure = 1.05;
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = this.quality === "high" ? THREE.PCFShadowMap : THREE.BasicShadowMap;
        this.scene = new THREE.Scene();
        this.camera = new THREE.PerspectiveCamera(36, 1, 0.02, 1000);
        this.controls = new OrbitControls(this.camera, canvas);
        this.controls.enableDamping = true;
        this.controls.dampingFactor = 0.12;
        this.controls.mouseButtons = { LEFT: THREE.MOUSE.ROTATE, MIDDLE: THREE.MOUSE.PAN, RIGHT: THREE.MOUSE.PAN };
        this.view = "surface";
        this.wire = false;
        this.distance = 4;
        this.contacts = new THREE.InstancedMesh(new THREE.SphereGeometry(1, 10, 8), new THREE.MeshBasicMaterial({ color: 0xff3b6b, depthTest: false, transparent: true, opacity: 0.85 }), 1024);
        this.contacts.frustumCulled = false;
        this.contacts.renderOrder = 5;
        this.brush = new THREE.Mesh(new THREE.SphereGeometry(1, 24, 16), new THREE.MeshBasicMaterial({ color: 0x4d8dff, transparent: true, opacity: 0.22, depthWrite: false }));
        this.brush.visible = this.contacts.visible = false;
        this.changed = true; // since the last picture
        this.light();
        this.scene.add(this.contacts, this.brush);
        this.setTheme("light");
    }

    light() {
        this.sky = new THREE.HemisphereLight(0xffffff, 0x8a8070, 1);
        this.sun = new THREE.DirectionalLight(this.quality === "high" ? 0xfff1dc : 0xfffaf2, 2.6);
        this.sun.castShadow = this.quality === "high";
        const size = this.quality === "high" ? 2048 : 1024;
        this.sun.shadow.mapSize.set(size, size);
        this.sun.shadow.bias = -0.0004;
        this.sun.shadow.radius = 4;
        this.scene.add(this.sky, this.sun, this.sun.target);
        this.surround();
    }

    /** Light from all around, which is drawn once: again when the graphics card was lost. */
    surround() {
        if (this.quality !== "high") return;
        const maker = new THREE.PMREMGenerator(this.renderer);
        this.scene.environment = maker.fromScene(new RoomEnvironment(), 0.04).texture;
        maker.dispose();
        this.changed = true;
    }

    /** Has shaders translated for what the first scene will show. Nothing here waits for the graphics process. */
    warm(walls) {
        const geometry = new THREE.SphereGeometry(1e-6, 3, 2), high = this.quality === "high";
        geometry.setAttribute("color", new THREE.BufferAttribute(new Uint8Array(3 * geometry.getAttribute("position").count), 3, true));
        const materials = walls ? [skinMaterial(high), wallMaterial(high)] : [skinMaterial(high)];
        this.warmed = materials.map((material) => new THREE.Mesh(geometry, material)); // programs stay as long as their materials do
        for (const thing of this.warmed) thing.castShadow = thing.receiveShadow = true;
        this.sun.castShadow = walls || high;
        this.camera.position.set(0, 0, 3);
        this.scene.add(...this.warmed);
        this.resize();
        this.renderer.compile(this.scene, this.camera);
    }

    /** Draws the same, too small to be seen: the graphics process compiles the rest while the scene is made. */
    warmDraw() {
        this.renderer.render(this.scene, this.camera);
        this.scene.remove(...this.warmed);
    }

    setTheme(theme) {
        const sky = SKIES[theme];
        this.theme = theme;
        this.changed = true;
        this.scene.background?.dispose?.();
        this.scene.background = this.quality === "high" ? gradient(sky.top, sky.bottom) : new THREE.Color(sky.bottom);
        const dark = theme === "dark", high = this.quality === "high";
        this.sky.intensity = (high ? 0.5 : 1.5) * (dark ? 0.6 : 1);
        this.sky.groundColor.set(dark ? 0x2a2d38 : high ? 0xb9ad9c : 0xc4bfb8);
        this.sun.intensity = (dark ? 2.2 : 2.5) * (high ? 1 : 0.72);
        this.scene.environmentIntensity = dark ? 0.3 : 0.38;
        for (const [name, light, colour] of [["sun", this.sun, this.sun.color], ["sky", this.sky, this.sky.color], ["ground", this.sky, this.sky.groundColor]]) {
            PLAIN.uniforms[name].value.copy(colour).multiplyScalar(light.intensity / Math.PI);
        }
        this.fog = new THREE.Fog(sky.bottom, 6 * this.distance, 22 * this.distance);
        this.scene.fog = high ? this.fog : null;
        this.materials?.forEach(([material, kind]) => kind && material.color.set(sky[kind]));
    }

    /** Shows another session. */
    setSession(session) {
        this.clear();
        this.session = session;
        const { scene, world } = session, high = this.quality === "high";
        this.materials = [];
        const colours = new Map(scene.colliders().map(({ id, colour }) => [`${id.slot}:${id.generation}`, colour]));
        this.colliders = new ColliderGroup(world, (id, isPlane) => {
            const own = colours.get(`${id.slot}:${id.generation}`), kind = own ? null : isPlane ? "floor" : "wall";
            const material = wallMaterial(high);
            if (own) material.color.setRGB(own[0] / 255, own[1] / 255, own[2] / 255, THREE.SRGBColorSpace);
            else if (!colours.has(`${id.slot}:${id.generation}`) && !isPlane) material.color.set(0xd8493a);
            else material.color.set(SKIES[this.theme][kind]);
            this.materials.push([material, kind]);
            return material;
        });
        this.crowd = new SoftCrowd(world, skinMaterial(high));
        if (!high) this.crowd.mostTriangles = 9000;
        this.points = new ParticleCloud(world, 0.02);
        this.scene.add(this.colliders, this.crowd, this.points);
        this.known = "";
        this.place(scene.view);
        this.update();
    }

    clear() {
        if (!this.session) return;
        this.scene.remove(this.colliders, this.crowd, this.points);
        this.crowd.dispose();
        this.crowd.material.dispose();
        this.points.geometry.dispose();
        this.session = null;
    }

    /** The camera of a scene, or one that sees all bodies. */
    place(view) {
        const low = new THREE.Vector3(Infinity, Infinity, Infinity), high = low.clone().negate();
        for (const body of this.session.world.bodies()) {
            const { lower, upper } = body.info();
            low.min(lower);
            high.max(upper);
        }
        const middle = low.clone().add(high).multiplyScalar(0.5), size = Math.max(high.clone().sub(low).length(), 1e-3);
        if (view) {
            this.camera.position.set(...view.at);
            this.controls.target.set(...view.lookAt);
            this.camera.fov = view.fieldOfView;
        } else {
            this.camera.fov = 36;
            this.controls.target.copy(middle);
            this.camera.position.copy(middle).add(new THREE.Vector3(0.7, 0.5, 1.2).multiplyScalar(size));
        }
        this.wideFov = this.camera.fov;
        this.widest = this.sideways();
        this.distance = this.camera.position.distanceTo(this.controls.target);
        this.camera.near = this.distance / 100;
        this.camera.far = this.distance * 60;
        this.fog.near = 3 * this.distance;
        this.fog.far = 14 * this.distance;
        this.points.material.size = this.distance / 110;
        const reach = Math.max(0.75 * this.distance, Math.min(size, 1.6 * this.distance));
        this.sun.position.copy(this.controls.target).add(new THREE.Vector3(0.45, 1.35, 0.7).multiplyScalar(1.6 * reach));
        this.sun.target.position.copy(this.controls.target);
        this.sun.castShadow = this.quality === "high" || this.session.world.colliders().length > 0; // else there is nothing that shows one
        PLAIN.uniforms.toSun.value.set(0.45, 1.35, 0.7).normalize();
        Object.assign(this.sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * reach, far: 5 * reach });
        this.sun.shadow.camera.updateProjectionMatrix();
        this.sun.shadow.normalBias = reach / 400;
        this.aspect = 0;
        this.resize();
        this.controls.update();
    }

    /** How far to the sides bodies are, as seen from the camera: the largest tangent. What is far beyond a wide picture comes later. */
    sideways() {
        const beyond = (16 / 9) * Math.tan((this.wideFov * Math.PI) / 360);
        this.camera.lookAt(this.controls.target);
        this.camera.updateMatrixWorld();
        let most = 0;
        for (const body of this.session.world.bodies()) {
            const { lower, upper, centre } = body.info(), middle = new THREE.Vector3().copy(centre).applyMatrix4(this.camera.matrixWorldInverse);
            if (Math.abs(middle.x) > -beyond * middle.z) continue;
            for (let n = 0; n < 8; n++) {
                const seen = new THREE.Vector3(n & 1 ? upper.x : lower.x, n & 2 ? upper.y : lower.y, n & 4 ? upper.z : lower.z).applyMatrix4(this.camera.matrixWorldInverse);
                if (seen.z < 0) most = Math.max(most, Math.abs(seen.x / seen.z));
            }
        }
        return most;
    }

    resize(ratio = this.quality === "high" ? Math.min(window.devicePixelRatio, 2) : 1) {
        const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
        if (this.width !== width || this.height !== height || this.ratio !== ratio) {
            Object.assign(this, { width, height, ratio, aspect: 0 });
            this.renderer.setPixelRatio(ratio);
            this.renderer.setSize(width, height, false);
            this.changed = true;
        }
        if (!this.wideFov) return;
        const aspect = width / Math.max(height, 1);
        // The settings cover a part of wide pictures: what is looked at is in the middle of the rest.
        const open = !/embed|closed-panel/.test(document.body.className), covered = width > 760 && open ? 132 : 0, below = width <= 760 && open ? Math.round(0.27 * height) : 0;
        if (this.aspect !== aspect || this.covered !== covered || this.below !== below) {
            // Bodies are to be seen from side to side, in what settings and tools leave free; a scene may mean to show only a part of them.
            const half = Math.tan((this.wideFov * Math.PI) / 360), free = Math.max(width / 2 - covered - (width > 760 ? 66 : 0), 1) / (width / 2);
            const upright = Math.max(1, 1.15 / aspect), wider = Math.min(this.widest / (half * aspect * free), 1.7 * upright);
            this.camera.fov = (Math.atan(half * Math.max(upright, wider)) * 360) / Math.PI;
            this.camera.aspect = this.aspect = aspect;
            Object.assign(this, { covered, below });
            this.camera.setViewOffset(width, height, covered, below, width, height);
            this.changed = true;
        }
    }

    /** After steps: surfaces, colliders and the chosen view. */
    update() {
        const { session } = this, bodies = session.world.bodies();
        this.changed = true;
        const now = bodies.map(({ id }) => `${id.slot}:${id.generation}`).join();
        if (now !== this.known) {
            const own = new Map(session.scene.bodies().map(({ body }, n) => [body, session.scene.colours(n)]));
            this.crowd.setBodies(bodies.map((body) => ({ body, colours: own.get(body) ?? null })));
            this.known = now;
            this.skinless = bodies.every((body) => body.info().skin_vertices === 0);
        }
        const particles = this.view === "particles" || this.skinless;
        this.crowd.visible = !particles;
        this.points.visible = particles;
        if (particles) this.points.update();
        else if (this.crowd.update() || this.painted !== this.view || this.view === "strain" || this.view === "speed") this.paint();
        this.colliders.update();
        // Planes that stand upright are the walls of pens: they would hide everything.
        for (const mesh of this.colliders.children) {
            const { x, z } = mesh.quaternion;
            if (mesh.userData.plane) mesh.visible = 1 - 2 * (x * x + z * z) > 0.5;
        }
        this.contacts.visible = this.view === "contacts";
        if (this.contacts.visible) this.showContacts();
    }

    paint() {
        this.painted = this.view;
        if (this.view === "strain") this.crowd.paint("strain", (value) => ramp(2.5 * value));
        else if (this.view === "speed") this.crowd.paint("speed", (value) => ramp(value / (FAST * this.distance)));
        else if (this.view === "regions") this.crowd.paint("region", (value) => REGION_COLOURS[Math.max(0, value) % REGION_COLOURS.length]);
        else this.crowd.paint(null);
    }

    showContacts() {
        const events = this.session.world.events().filter(({ phase }) => phase !== "ended");
        const matrix = new THREE.Matrix4(), size = this.distance / 130;
        this.contacts.count = Math.min(events.length, 1024);
        for (let n = 0; n < this.contacts.count; n++) this.contacts.setMatrixAt(n, matrix.makeScale(size, size, size).setPosition(...events[n].point));
        this.contacts.instanceMatrix.needsUpdate = true;
    }

    /** What the colours of the view mean: words, and for a scale its ends. */
    legend() {
        const scale = `linear-gradient(90deg, ${STOPS.map((rgb) => `rgb(${rgb})`).join()})`;
        switch (this.view) {
            case "strain": return { words: "Strain", scale, ends: ["0", "40 %"] };
            case "speed": return { words: "Speed", scale, ends: ["0", `${(FAST * this.distance).toPrecision(2)} m/s`] };
            case "regions": return { words: "A colour for each region" };
            case "particles": return { words: "Particles: what the engine moves" };
            case "contacts": return { words: "Where bodies press on something", dot: "#ff3b6b" };
            default: return null;
        }
    }

    setView(view) {
        this.view = view;
        if (!this.session) return;
        this.session.world.contactEvents = view === "contacts";
        this.update();
    }

    /** Draws what has changed; without a graphics card, what stands still once more with smooth edges. True when it has drawn. */
    render(always = false) {
        const { clientWidth, clientHeight } = this.canvas, covers = document.body.className;
        if (clientWidth !== this.width || clientHeight !== this.height || covers !== this.covers) this.changed = true;
        this.covers = covers;
        const still = !this.controls.update() && !this.changed && !always;
        if (still && this.smooth !== false) return false;
        if (still && performance.now() - this.drawn < STILL) return false;
        this.resize(still ? 2 : undefined);
        if (this.session && this.crowd.isStale) this.update();
        this.renderer.render(this.scene, this.camera);
        this.changed = false;
        this.smooth = this.quality === "high" || still ? null : false; // false: it can still be drawn more smoothly
        this.drawn = performance.now();
        return true;
    }

    // ---- from the picture into the world ----

    ray(x, y) {
        const box = this.canvas.getBoundingClientRect(), caster = new THREE.Raycaster();
        caster.setFromCamera(new THREE.Vector2((2 * (x - box.left)) / box.width - 1, 1 - (2 * (y - box.top)) / box.height), this.camera);
        return caster.ray;
    }

    pick(x, y) {
        const { origin, direction } = this.ray(x, y);
        return this.session.world.pick(origin.toArray(), direction.toArray());
    }

    /** On a plane parallel to the picture through a point. */
    onPlane(x, y, point) {
        const normal = this.camera.getWorldDirection(new THREE.Vector3());
        const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, new THREE.Vector3(...point));
        return this.ray(x, y).intersectPlane(plane, new THREE.Vector3())?.toArray() ?? null;
    }

    /** Where a point of the world is on the page. */
    project(point) {
        const box = this.canvas.getBoundingClientRect(), at = new THREE.Vector3(...point).project(this.camera);
        return [box.left + ((at.x + 1) / 2) * box.width, box.top + ((1 - at.y) / 2) * box.height];
    }
}
