// What the mouse, a finger or a pen does on the picture.

const TEAR_SHARE = 0.15; // of a body's extent: what is pulled along
const CUT_DEPTH = 8; // distances of what is looked at

export const TOOLS = [
    { name: "grab", key: "g", title: "Grab and throw", hint: "Drag a body; let go while moving to throw it", icon: "M9 11V5a1.5 1.5 0 0 1 3 0v5m0-1V4a1.5 1.5 0 0 1 3 0v6m0-4a1.5 1.5 0 0 1 3 0v8a6 6 0 0 1-6 6h-1a6 6 0 0 1-5-2.6L3.6 14a1.5 1.5 0 0 1 2.5-1.7L9 15" },
    { name: "cut", key: "c", title: "Cut", hint: "Draw a stroke across a body", icon: "M20 4 8.5 15.5M14 14l6 6M8.5 8.5 12 12M9 6a3 3 0 1 1-6 0 3 3 0 0 1 6 0zM9 18a3 3 0 1 1-6 0 3 3 0 0 1 6 0z" },
    { name: "tear", key: "t", title: "Tear", hint: "Pull a lattice apart", icon: "M12 3v4l-2 2 4 3-4 3 2 2v4M4 6l3 2M4 18l3-2M20 6l-3 2M20 18l-3-2" },
    { name: "squash", key: "s", title: "Squash", hint: "Tap a body: it is flat, and recovers", icon: "M12 3v6m-3-3 3 3 3-3M5 14h14M3 18h18" },
    { name: "invert", key: "i", title: "Turn inside out", hint: "Tap a body", icon: "M4 12a8 8 0 0 1 14-5m2 5a8 8 0 0 1-14 5M18 3v4h-4M6 21v-4h4" },
    { name: "pin", key: "p", title: "Pin", hint: "Tap a body to hold it there; tap elsewhere to let go of all", icon: "M12 21v-7M8 3h8l-1 6 3 4H6l3-4z" },
    { name: "softer", key: "b", title: "Brush softer", hint: "Paint: what is under the brush becomes softer", icon: "M4 20c3 0 4-1 4-3s-1.5-3-3-3-2 1.5-2 3-1 2-1 2zM9 14 20 3l1 1-11 11" },
    { name: "stiffer", key: "n", title: "Brush stiffer", hint: "Paint: what is under the brush becomes stiffer", icon: "M4 20c3 0 4-1 4-3s-1.5-3-3-3-2 1.5-2 3-1 2-1 2zM9 14 20 3l1 1-11 11M16 17h6M19 14v6" },
    { name: "finer", key: "d", title: "Brush detail", hint: "Paint an octree: cells are divided; with Shift joined", icon: "M3 3h18v18H3zM12 3v18M3 12h18M12 7.5h9M16.5 3v9" },
    { name: "drop", key: "o", title: "Drop a ball", hint: "Tap: a soft ball falls there", icon: "M12 3v7m-3-3 3 3 3-3M17 16a5 5 0 1 1-10 0 5 5 0 0 1 10 0z" },
    { name: "shoot", key: "f", title: "Shoot", hint: "Tap: a hard ball flies there", icon: "M3 12h8m-3-4 4 4-4 4M21 12a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0z" },
];

export class Tools {
    constructor(app, overlay) {
        this.app = app;
        this.overlay = overlay;
        this.tool = "grab";
        this.shares = new Map(); // stiffness that was painted, by body
        const { canvas } = app.stage;
        canvas.style.touchAction = "none";
        canvas.addEventListener("pointerdown", (event) => this.down(event), { capture: true });
        canvas.addEventListener("pointermove", (event) => this.move(event));
        for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => this.up(event));
        canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    }

    get session() {
        return this.app.session;
    }

    choose(name) {
        this.tool = name;
        this.app.stage.brush.visible = false;
        this.overlay.replaceChildren();
    }

    extent(body) {
        const { lower, upper } = body.info();
        return Math.max(upper.x - lower.x, upper.y - lower.y, upper.z - lower.z);
    }

    change(change) {
        try {
            return this.session.change(change);
        } catch (error) {
            this.app.say(error.message, true);
            return null;
        }
    }

    down(event) {
        if (event.button !== 0 || !this.session) return;
        const { stage } = this.app, { clientX: x, clientY: y } = event;
        const hit = stage.pick(x, y);
        if (hit) this.app.select(hit.body);
        const acted = this.tool === "cut" ? this.beginCut(x, y) : this.act(hit, x, y, event);
        if (acted) {
            stage.controls.enabled = false;
            stage.canvas.setPointerCapture(event.pointerId);
            event.stopImmediatePropagation();
            this.pointer = event.pointerId;
            this.app.wake();
        }
    }

    /** From the keyboard: the tool on the first body, or a stroke through its middle. */
    useInTheMiddle() {
        const { stage } = this.app, { centre } = (this.app.selected?.isValid ? this.app.selected : this.session.world.bodies()[0]).info();
        const [x, y] = stage.project([centre.x, centre.y, centre.z]), event = { button: 0, shiftKey: false };
        if (this.tool === "cut") {
            this.beginCut(x, y - 0.4 * stage.height);
            this.stroke.push([x, y], [x, y + 0.4 * stage.height]);
            this.endCut();
        } else {
            const hit = stage.pick(x, y);
            if (hit) this.app.select(hit.body);
            this.act(hit, x, y, event);
            if (this.held) this.change({ kind: "release" });
            if (this.tool === "grab" && hit) this.change({ kind: "throw", body: hit.body.id, velocity: [0, 0.8 * stage.distance, 0] });
        }
        this.held = this.stroke = null;
        this.painting = stage.brush.visible = false;
        this.app.wake();
    }

    /** How a body is taken hold of. */
    hold(extent, tears) {
        if (tears) return { radius: TEAR_SHARE * extent, hertz: 6, dampingRatio: 1 };
        const { reach, hertz, dampingRatio, maxForce } = this.app.hand;
        return { radius: reach * extent, hertz, dampingRatio, ...(maxForce < 0.99e6 ? { maxForce } : {}) };
    }

    act(hit, x, y, event) {
        const body = hit?.body.id, { stage } = this.app;
        switch (this.tool) {
            case "grab":
            case "tear": {
                if (!hit) return false;
                const extent = this.extent(hit.body), tears = this.tool === "tear";
                if (tears && this.change({ kind: "tear", body, limit: 0.25 }) === null) return true;
                if (this.change({ kind: "grab", body, particle: hit.particle, target: hit.point, ...this.hold(extent, tears) }) === null) return true;
                this.held = hit.point;
                return true;
            }
            case "squash":
            case "invert":
                if (hit) this.change({ kind: this.tool, body });
                return hit !== null;
            case "pin":
                if (hit) {
                    this.change({ kind: "pin", body, particle: hit.particle, radius: 0.08 * this.extent(hit.body) });
                    this.app.say("Pinned. Tap the background to let go of all pins.");
                } else if (this.session.company.pins.length > 0) {
                    this.change({ kind: "unpin" });
                    this.app.say("All pins are gone.");
                }
                return hit !== null;
            case "softer":
            case "stiffer":
            case "finer":
                this.painting = hit !== null;
                if (hit) this.paint(hit, event.shiftKey);
                return this.painting;
            case "drop": {
                const radius = 0.06 * stage.distance;
                const at = hit ? [hit.point[0], hit.point[1] + 6 * radius, hit.point[2]] : stage.onPlane(x, y, stage.controls.target.toArray());
                this.change({ kind: "drop", at, radius });
                return true;
            }
            default: { // shoot
                const { origin, direction } = stage.ray(x, y), far = hit?.distance ?? stage.distance, flight = 0.45;
                const start = 0.25 * far, speed = (far - start) / flight, g = this.session.world.gravity, way = direction.toArray();
                const at = origin.toArray().map((v, k) => v + start * way[k]);
                this.change({ kind: "shoot", at, radius: 0.035 * stage.distance, velocity: way.map((v, k) => speed * v - 0.5 * flight * g[k]) });
                return true;
            }
        }
    }

    paint(hit, joins) {
        const { stage } = this.app, radius = 0.07 * stage.distance, body = hit.body.id, info = hit.body.info();
        stage.brush.visible = stage.changed = true;
        stage.brush.position.set(...hit.point);
        stage.brush.scale.setScalar(radius);
        if (this.tool === "finer") {
            if (info.octree_nodes === 0) return this.app.say("Only octrees have detail to paint: open “hand”, “flowers” or “liver-cut”.", true);
            this.change({ kind: "detail", body, point: hit.point, radius, factor: joins ? 2 : 0.5 });
            return;
        }
        const key = `${body.slot}:${body.generation}`;
        let shares = this.shares.get(key);
        if (!shares || shares.length !== info.particles) shares = new Float32Array(info.particles).fill(1);
        const made = this.change({ kind: "stiffness", body, point: hit.point, radius, factor: this.tool === "softer" ? 0.8 : 1.25, shares });
        if (made && info.octree_nodes === 0) this.shares.set(key, made);
    }

    // ---- the knife ----

    /** A stroke may begin beside the body. */
    beginCut(x, y) {
        this.stroke = [[x, y]];
        this.line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
        this.line.setAttribute("class", "stroke");
        this.overlay.replaceChildren(this.line);
        return true;
    }

    move(event) {
        const { clientX: x, clientY: y } = event;
        if (this.held) {
            const target = this.app.stage.onPlane(x, y, this.held);
            if (target) this.change({ kind: "pull", target });
        } else if (this.stroke) {
            const [lx, ly] = this.stroke[this.stroke.length - 1];
            if (Math.hypot(x - lx, y - ly) > 6) this.stroke.push([x, y]);
            this.line.setAttribute("points", this.stroke.map((p) => p.join(",")).join(" "));
        } else if (this.painting) {
            const hit = this.app.stage.pick(x, y);
            if (hit) this.paint(hit, event.shiftKey);
        }
    }

    up(event) {
        if (this.held) this.change({ kind: "release" });
        if (this.stroke) this.endCut();
        this.held = this.stroke = null;
        this.painting = false;
        if (this.app.stage.brush.visible) this.app.stage.changed = true;
        this.app.stage.brush.visible = false;
        if (this.pointer === event.pointerId) this.app.stage.controls.enabled = true;
    }

    endCut() {
        const { stage } = this.app, stroke = this.stroke;
        const line = this.line;
        line.classList.add("gone");
        setTimeout(() => line.remove(), 400);
        if (stroke.length < 2) return;
        const eye = stage.camera.position.toArray(), far = CUT_DEPTH * stage.distance;
        const points = stroke.map(([x, y]) => stage.ray(x, y).direction.toArray().map((v, k) => eye[k] + far * v));
        const made = this.change({ kind: "cut", eye, points });
        if (!made) return;
        this.app.say(made.links > 0 ? `Cut ${made.links} links.` : made.refused ? `Nothing was cut: ${made.refused}` : "The stroke met nothing.", made.links === 0);
        this.app.refresh();
    }
}
