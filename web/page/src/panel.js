// Settings and numbers.
import { BODY, DETAIL, FRACTURE, GRAVITY, GROUND, HAND, JOINT, MATERIAL, METHODS, RIGID, settled, wayOf, WAYS, WIND } from "./parameters.js";
import { VIEWS } from "./stage.js";

const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
};
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const STAGE_COLOURS = ["#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#ff9da7", "#9c755f"];

export class Panel {
    constructor(app, root) {
        this.app = app;
        this.root = root;
        this.open = { Material: true }; // sections that are unfolded
    }

    /** A row with a slider. `of`: label, least, most, curved, whole, words, help. */
    slider(of, value, set, idle = false) {
        const { label, least, most, curved, whole, words, help } = of;
        const to = (x) => {
            const v = curved ? least * (most / least) ** x : least + (most - least) * x;
            return whole ? Math.round(v) : v;
        };
        const from = (v) => (curved ? Math.log(Math.max(v, least) / least) / Math.log(most / least) : (v - least) / (most - least));
        const input = element("input", { type: "range", min: "0", max: "1", step: "0.001", value: String(from(value)), ariaLabel: label, disabled: idle });
        const output = element("output", {});
        const show = (v) => input.setAttribute("aria-valuetext", (output.textContent = words(v)));
        show(value);
        input.addEventListener("input", () => {
            const now = to(Number(input.value));
            show(now);
            set(now);
        });
        if (of.field) input.dataset.field = of.field;
        return element("div", { className: idle ? "row idle" : "row", title: idle ? `${help} Without effect as things are.` : (help ?? "") }, element("label", { textContent: label }), input, output);
    }

    choice(label, names, value, set) {
        const select = element("select", { ariaLabel: label }, ...names.map(([text, given]) => element("option", { textContent: text, value: given, selected: given === value })));
        select.addEventListener("change", () => set(select.value));
        return element("div", { className: "row" }, element("label", { textContent: label }), select);
    }

    toggle(label, on, set, help = "") {
        const input = element("input", { type: "checkbox", checked: on, ariaLabel: label });
        input.addEventListener("change", () => set(input.checked));
        return element("label", { className: "row toggle", title: help }, element("span", { textContent: label }), input);
    }

    section(title, ...rows) {
        const details = element("details", { open: Boolean(this.open[title]) }, element("summary", { textContent: title }), ...rows);
        details.dataset.section = title;
        details.addEventListener("toggle", () => (this.open[title] = details.open));
        this.root.append(details);
        return details;
    }

    /** All of it, for the session and the body that is selected. */
    build() {
        const { app, root } = this, { session } = app, focused = document.activeElement?.ariaLabel, { scrollTop } = root;
        root.replaceChildren();
        if (!session) return;
        const views = element("div", { className: "chips", role: "group", ariaLabel: "View" });
        for (const view of VIEWS) {
            const button = element("button", { textContent: capital(view), type: "button" });
            button.dataset.view = view;
            button.setAttribute("aria-pressed", String(app.stage.view === view));
            button.onclick = () => app.setView(view);
            views.append(button);
        }
        root.append(element("h2", { textContent: "View" }), views);
        this.numbers();
        if (app.dropped) this.meshSettings();
        const shown = app.scope === "one" && app.selected?.isValid ? app.selected : app.session.world.bodies()[0];
        if (shown) {
            this.material(shown);
            this.body(shown);
        }
        const joints = session.joints();
        if (joints.length > 0) this.joints(joints);
        this.rigid();
        this.section("Hand", ...HAND.map((one) => this.slider(one, app.hand[one.field], (value) => (app.hand[one.field] = value))));
        this.world();
        this.about();
        root.scrollTop = scrollTop;
        if (focused) root.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    }

    material(shown) {
        const { app } = this, body = app.selected, material = settled(shown.material), info = shown.info();
        const again = (fields) => (app.setMaterial(fields), this.build());
        const presets = element("div", { className: "chips", role: "group", ariaLabel: "Presets" });
        for (const name of app.limber.presets()) presets.append(element("button", { textContent: capital(name), type: "button", onclick: () => (app.setPreset(name), this.build()) }));
        presets.append(element("button", { textContent: "As it was", type: "button", className: "plain-chip", onclick: () => (app.resetMaterials(), this.build()) }));
        const cells = info.spacing > 0 || info.octree_nodes > 0;
        const rows = [
            this.choice("For", [["all bodies", "all"], ...(body?.isValid ? [[app.nameOf(body), "one"]] : [])], app.scope, (value) => ((app.scope = value), this.build())),
            presets,
            this.choice("Regions follow", [["rigidly", "0"], ["linearly", "1"], ...(cells ? [] : [["quadratically", "2"]])], String(material.mode), (value) => again({ mode: Number(value) })),
            this.choice("Stiffness in", WAYS.map(([field, words]) => [words, field]), wayOf(material), (value) => {
                const [field, , way, start] = WAYS.find(([name]) => name === value);
                again({ stiffness: way, [field]: material[field] || start });
            }),
        ];
        if (cells) rows.push(this.choice("Damping of", [["the whole body", "0"], ["each region", "1"]], String(material.damping_kind), (value) => again({ damping_kind: Number(value) })));
        for (const one of MATERIAL) {
            if (one.here && !one.here(material)) continue;
            const idle = one.matters ? !one.matters(material) : false;
            const row = this.slider(one, material[one.field], (value) => app.setMaterial({ [one.field]: value }), idle);
            if (one.field === "yield") row.querySelector("input").addEventListener("change", () => this.build());
            rows.push(row);
        }
        this.limited = element("p", { className: "limited", hidden: true });
        this.section("Material", ...rows, this.limited);
    }

    body(shown) {
        const { app } = this, { limber, session } = app, info = shown.info(), address = session.world.address;
        const rows = BODY.map((one) => this.slider(one, one.get(shown, info), (value) => app.forBodies((body) => ({ ...one.change(value), body: body.id }))));
        const filter = { group: 0, mask: 0, collider_mask: 0, self_contact: false };
        limber.raw.lm_body_get_filter(address, shown.id, filter);
        rows.push(this.toggle("Touches others", filter.mask !== 0, (on) => app.forBodies((body) => ({ kind: "filter", body: body.id, fields: { mask: on ? 0xffffffff : 0 } })), "Off: it touches colliders only."));
        rows.push(this.toggle("Touches itself", filter.self_contact, (on) => app.forBodies((body) => ({ kind: "filter", body: body.id, fields: { self_contact: on } }))));
        rows.push(this.toggle("May sleep", limber.raw.lm_body_may_sleep(address, shown.id), (on) => app.forBodies((body) => ({ kind: "maySleep", body: body.id, on })), "Off: it is stepped even when it rests."));
        if (info.spacing > 0) rows.push(...this.fracture(shown));
        if (info.octree_nodes > 0) rows.push(...this.detail(shown, info));
        if (info.examples > 0) rows.push(...this.examples(shown, info));
        this.section("Body", ...rows);
    }

    fracture(shown) {
        const { app } = this, { limber, session } = app, breaks = new Uint8Array(1), def = limber.raw.lm_fracture_def_default();
        limber.raw.lm_body_get_fracture(session.world.address, shown.id, breaks, def);
        const set = (fields) => app.forBodies((body) => ({ kind: "fracture", body: body.id, fields }));
        const rows = [this.toggle("Breaks", breaks[0] !== 0, (on) => (set(on ? { limit: 0.1, variation: 0.3, grain: 0, grain_strength: 0.3 } : null), this.build()), "A lattice breaks where its links are stretched.")];
        if (breaks[0] === 0) return rows;
        const now = { limit: def.limit, variation: def.variation, grain: def.grain, grain_strength: def.grain_strength };
        for (const one of FRACTURE) rows.push(this.slider(one, def[one.field], (value) => set(Object.assign(now, { [one.field]: value })), one.matters ? !one.matters(def) : false));
        return rows;
    }

    detail(shown, info) {
        const { app } = this, { limber, session } = app, def = limber.raw.lm_detail_default();
        limber.raw.lm_body_get_detail(session.world.address, shown.id, def, null);
        const on = def.cookie !== 0, eye = () => app.stage.camera.position.toArray();
        const set = (fields) => app.forBodies((body) => ({ kind: "detailDef", body: body.id, fields, eye: fields?.eye_angle > 0 ? eye() : null }));
        const start = { touch_size: 0.04, touch_radius: 0.15, eye_angle: 0, finest: 0, coarsest: 0, budget: Math.max(4000, 2 * info.particles), per_step: 64, hold: 0.5 };
        const rows = [this.toggle("Divides by itself", on, (now) => (set(now ? start : null), this.build()), "Cells are divided where it is touched, and joined again afterwards.")];
        if (!on) return rows;
        const now = Object.fromEntries(DETAIL.map(({ field }) => [field, def[field]]));
        for (const one of DETAIL) rows.push(this.slider(one, def[one.field], (value) => set(Object.assign(now, { [one.field]: value }))));
        return rows;
    }

    joints(all) {
        const { app } = this, [{ info }] = all, set = (fields) => app.change({ kind: "joints", fields });
        const rows = JOINT.filter((one) => !one.here || one.here(info)).map((one) => {
            const row = this.slider(one, Math.min(info[one.field], one.most), (value) => set({ [one.field]: value }), one.matters ? !one.matters(info) : false);
            if (one.field === "hertz") row.querySelector("input").addEventListener("change", () => this.build());
            return row;
        });
        rows.push(this.toggle("Joints hold", info.enabled, (enabled) => set({ enabled }), "Off: all of them let go. On again they are mended."));
        this.section("Joints", ...rows);
    }

    rigid() {
        const { app } = this, [first] = app.session.rigidBodies();
        if (first) this.section("Rigid bodies", ...RIGID.map((one) => this.slider(one, first.def.mass, (value) => app.change({ kind: "rigidMass", value }))));
    }

    wind() {
        const { app } = this, now = app.session.wind(), set = () => app.change({ kind: "wind", ...now });
        return [
            ...WIND.map(([label, axis]) => this.slider({ label, least: -30, most: 30, words: (v) => `${v.toFixed(1)} m/s`, help: "The speed of the air." }, now.velocity[axis], (value) => (now.velocity[axis] = value, set()))),
            this.slider({ label: "Wind's grip", least: 0, most: 10, words: (v) => `${v.toFixed(1)} /s`, help: "The rate at which bodies take on the speed of the air." }, now.strength, (value) => (now.strength = value, set())),
        ];
    }

    examples(shown, info) {
        const { app } = this, { limber, session } = app, beta = new Float32Array(1), count = info.examples * info.example_groups, weights = new Float32Array(count);
        limber.raw.lm_body_get_example_beta(session.world.address, shown.id, beta);
        limber.raw.lm_body_get_example_weights(session.world.address, shown.id, weights);
        const share = { least: 0, most: 1, words: (v) => v.toFixed(2) };
        const rows = [this.slider({ ...share, label: "Example beta", help: "How much of the mix of examples counts; the rest pose gets the remainder." }, beta[0], (value) => app.change({ kind: "exampleBeta", body: shown.id, value }), info.examples_forced)];
        const mix = Array.from({ length: info.examples }, (_, k) => weights[k]);
        mix.forEach((weight, k) => rows.push(this.slider({ ...share, label: `Example ${k + 1}`, help: "Its weight in the mix that the body is pulled to. Moving it forces the mix." }, weight, (value) => {
            const others = mix.reduce((sum, one, n) => (n === k ? sum : sum + one), 0), room = others > 0 ? Math.min(1, (1 - value) / others) : 1;
            mix.forEach((one, n) => (mix[n] = n === k ? value : one * room));
            app.change({ kind: "exampleWeights", body: shown.id, weights: Array.from({ length: count }, (_, n) => mix[n % info.examples]) });
        })));
        rows.push(this.toggle("Forced mix", info.examples_forced, (on) => (app.change({ kind: "exampleWeights", body: shown.id, weights: on ? Array.from(weights) : null }), this.build()), "Off: in every step the mix nearest to the body is found."));
        return rows;
    }

    world() {
        const { app } = this, { session, limber } = app, { world } = session, sleep = limber.raw.lm_world_get_sleep(world.address);
        const gravity = GRAVITY.map(([label, axis]) => this.slider({ label, least: -20, most: 20, words: (v) => v.toFixed(1), help: "Metres a second squared. 9.81 downwards on the Earth, 1.62 on the Moon." }, world.gravity[axis], (value) => app.change({ kind: "gravity", axis, value })));
        const setSleep = (fields) => app.change({ kind: "sleep", ...limber.raw.lm_world_get_sleep(world.address), ...fields });
        const rows = [
            ...gravity, ...this.wind(),
            this.slider({ label: "Substeps", least: 0, most: 16, whole: true, words: (v) => (v ? v.toFixed(0) : "auto"), help: "Into how many parts a step of 1/60 s is divided. More let stiff bodies be stiffer; 0: as many as they need." }, world.substeps, (count) => app.change({ kind: "substeps", count })),
            this.slider({ label: "Speed", least: 0.1, most: 2, words: (v) => `${v.toFixed(1)}×`, help: "Of time on this page." }, app.speed, (speed) => (app.speed = speed)),
            this.choice("Contacts", METHODS, String(limber.raw.lm_world_get_contact_method(world.address)), (value) => app.change({ kind: "method", method: Number(value) })),
            this.toggle("Bodies sleep", sleep.enabled, (enabled) => (setSleep({ enabled }), this.build()), "Bodies at rest are left out of steps."),
        ];
        if (sleep.enabled) {
            rows.push(this.slider({ label: "Sleep below", least: 0.005, most: 1, curved: true, words: (v) => `${v.toPrecision(2)} m/s`, help: "Slower than this." }, sleep.speed, (speed) => setSleep({ speed })));
            rows.push(this.slider({ label: "Sleep after", least: 0, most: 3, words: (v) => `${v.toFixed(1)} s`, help: "For so long." }, sleep.seconds, (seconds) => setSleep({ seconds })));
        }
        const [first] = world.colliders();
        if (first) for (const one of GROUND) rows.push(this.slider(one, first.definition[one.field], (value) => app.change({ kind: "ground", fields: { [one.field]: value } })));
        this.section("World", ...rows);
    }

    meshSettings() {
        const { app, root } = this, { settings } = app.dropped;
        const again = (changes) => app.openMesh(app.dropped.file, { ...settings, ...changes });
        root.append(
            element("h2", { textContent: "Your mesh" }),
            this.choice("Sampling", [["lattice", "lattice"], ["octree", "octree"], ["tetrahedra", "tets"]], settings.sampling, (sampling) => again({ sampling })),
            this.choice("Particles", ["300", "1000", "3000", "8000"].map((n) => [n, n]), String(settings.particles), (n) => again({ particles: Number(n) })),
        );
        const add = element("div", { className: "chips", role: "group", ariaLabel: "Add a collider" });
        for (const shape of ["sphere", "box", "capsule"]) {
            add.append(element("button", { type: "button", textContent: `+ ${shape}`, onclick: () => app.addCollider(shape) }));
        }
        root.append(add);
    }

    numbers() {
        const { root } = this;
        this.fields = {};
        const list = element("dl", { className: "numbers" });
        for (const [key, label] of [["fps", "Pictures/s"], ["step", "Step"], ["bodies", "Bodies"], ["particles", "Particles"], ["regions", "Regions"], ["contacts", "Contacts"], ["asleep", "Asleep"], ["memory", "Memory"], ["engine", "Engine"], ["threads", "Threads"]]) {
            this.fields[key] = element("dd", { textContent: "–" });
            list.append(element("dt", { textContent: label }), this.fields[key]);
        }
        this.bar = element("div", { id: "stages", role: "img", ariaLabel: "Shares of the stages of a step" });
        this.legend = element("div", { className: "legend" });
        root.append(element("h2", { textContent: "Numbers" }), list, this.bar, this.legend);
    }

    about() {
        const { app } = this;
        const lines = [element("p", { textContent: app.session.scene.title })];
        if (app.session.scene.figure) lines.push(element("p", { textContent: `Reproduces: ${app.session.scene.figure}` }));
        this.section(
            "About this scene", ...lines, element("code", { textContent: app.command() }),
            element("p", { textContent: "The engine gives the same state, to the last bit, here and in the tool: the hash below is the one that this command prints for the same frame, as long as nobody has touched anything." }),
            element("p", { textContent: "Keys: space, ← →, R restart, / scenes, letters choose tools, Enter uses one in the middle, V views, H hides everything." }),
        );
    }

    /** What the first body cannot reach with the substeps that there are. */
    showLimit() {
        const { app, limited } = this;
        const shown = app.scope === "one" && app.selected?.isValid ? app.selected : app.session.world.bodies()[0];
        if (!limited || !shown) return;
        const info = shown.info(), text = info.stiffness_limited ? `As stiff as ${app.session.world.substeps} substeps allow; ${info.substeps_needed} would reach what is asked.` : "";
        limited.hidden = !text;
        if (limited.textContent !== text) limited.textContent = text;
    }

    /** A few times a second. */
    show(stats, fps) {
        if (!this.fields) return;
        const { fields, app } = this, put = (key, text) => fields[key].textContent !== text && (fields[key].textContent = text);
        put("fps", fps.toFixed(0));
        put("step", `${(1000 * stats.step_seconds).toFixed(2)} ms`);
        put("bodies", String(stats.bodies));
        put("particles", stats.particles.toLocaleString("en"));
        put("regions", stats.regions.toLocaleString("en"));
        put("contacts", String(stats.contacts + stats.mutual.soft + stats.mutual.stiff));
        put("asleep", String(stats.asleep));
        put("memory", `${(stats.memory / 1e6).toFixed(1)} MB`);
        put("engine", app.limber.variant);
        put("threads", String(app.limber.threads));
        const sum = stats.stage_seconds.reduce((a, b) => a + b, 0) || 1;
        if (this.bar.children.length === 0) {
            stats.stage_seconds.forEach((_, n) => {
                this.bar.append(element("i", { title: app.stageNames[n], style: `background:${STAGE_COLOURS[n]}` }));
                this.legend.append(element("span", {}, element("i", { style: `background:${STAGE_COLOURS[n]}` }), app.stageNames[n], element("b", { style: "font-weight:400" })));
            });
        }
        stats.stage_seconds.forEach((seconds, n) => {
            this.bar.children[n].style.width = `${(100 * seconds) / sum}%`;
            const entry = this.legend.children[n];
            entry.style.display = seconds > 0.01 * sum ? "" : "none";
            entry.lastChild.textContent = ` ${(1000 * seconds).toFixed(1)}`;
        });
        this.showLimit();
    }
}
