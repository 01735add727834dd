// Settings and numbers.
import { LM } from "limber-physics";
import { VIEWS } from "./stage.js";

const element = (name, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
};

export const PRESETS = {
    Jelly: { mode: "linear", hertz: 4, dampingRatio: 0.05, beta: 0.4, yield: 0 },
    Rubber: { mode: "rigid", hertz: 14, dampingRatio: 0.08, yield: 0, restitution: 0.4 },
    Sponge: { mode: "linear", hertz: 7, dampingRatio: 0.6, beta: 0.5, yield: 0 },
    Clay: { mode: "linear", hertz: 10, dampingRatio: 0.6, beta: 0.2, yield: 0.08, creep: 12, maxPlastic: 0.8 },
    Firm: { mode: "rigid", hertz: 40, dampingRatio: 0.3, yield: 0 },
};

// label, field of lm_material, least, most, digits, whether steps grow with the value
const SLIDERS = [
    ["Stiffness", "hertz", 0.5, 60, 1, true, " Hz"],
    ["Damping", "damping_ratio", 0, 2, 2, false, ""],
    ["Alpha", "alpha", 0, 1, 2, false, ""],
    ["Damping rate", "damping", 0, 30, 1, false, " /s"],
    ["Beta", "beta", 0, 0.95, 2, false, ""],
    ["Yield", "yield", 0, 0.5, 2, false, ""],
    ["Creep", "creep", 0, 30, 1, false, " /s"],
    ["Max. plastic", "max_plastic", 0, 0.9, 2, false, ""],
    ["Friction", "friction", 0, 2, 2, false, ""],
    ["Bounce", "restitution", 0, 1, 2, false, ""],
];
const STAGE_COLOURS = ["#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f", "#edc948", "#b07aa1", "#ff9da7", "#9c755f"];

export class Panel {
    constructor(app, root) {
        this.app = app;
        this.root = root;
    }

    slider(label, least, most, digits, curved, unit, value, set) {
        const to = (x) => (curved ? least * (most / least) ** x : least + (most - least) * x);
        const from = (v) => (curved ? Math.log(Math.max(v, least) / least) / Math.log(most / least) : (v - least) / (most - least));
        const input = element("input", { type: "range", min: "0", max: "1", step: "0.001", value: String(from(value)), ariaLabel: label });
        const output = element("output", { textContent: value.toFixed(digits) + unit });
        const apply = () => {
            const now = to(Number(input.value));
            output.textContent = now.toFixed(digits) + unit;
            input.setAttribute("aria-valuetext", output.textContent);
            set(now);
        };
        input.addEventListener("input", apply);
        const row = element("div", { className: "row" }, element("label", { textContent: label }), input, output);
        row.show = (v) => {
            input.value = String(from(v));
            output.textContent = v.toFixed(digits) + unit;
        };
        return row;
    }

    choice(label, names, value, set) {
        const select = element("select", { ariaLabel: label }, ...names.map(([text, given]) => element("option", { textContent: text, value: given, selected: given === value })));
        select.addEventListener("change", () => set(select.value));
        return element("div", { className: "row" }, element("label", { textContent: label }), select);
    }

    /** All of it, for the session and the body that is selected. */
    build() {
        const { app, root } = this, { session } = app;
        root.replaceChildren();
        if (!session) return;
        const views = element("div", { className: "chips", role: "group", ariaLabel: "View" });
        for (const view of VIEWS) {
            const button = element("button", { textContent: view[0].toUpperCase() + view.slice(1), type: "button" });
            button.dataset.view = view;
            button.setAttribute("aria-pressed", String(app.stage.view === view));
            button.onclick = () => app.setView(view);
            views.append(button);
        }
        root.append(element("h2", { textContent: "View" }), views);
        this.numbers();
        if (app.dropped) this.meshSettings();
        this.material();
        const [, gravity] = session.world.gravity;
        root.append(
            element("h2", { textContent: "World" }),
            this.slider("Gravity", -20, 20, 1, false, "", gravity, (y) => app.change({ kind: "gravity", y })),
            this.slider("Substeps", 1, 16, 0, false, "", session.world.substeps, (count) => app.change({ kind: "substeps", count: Math.round(count) })),
            this.slider("Speed", 0.1, 2, 1, false, "×", app.speed, (speed) => (app.speed = speed)),
        );
        this.about();
    }

    material() {
        const { app, root } = this, body = app.selected;
        const scope = this.choice("For", [["all bodies", "all"], ...(body ? [[app.nameOf(body), "one"]] : [])], app.scope, (value) => {
            app.scope = value;
            this.build();
        });
        const presets = element("div", { className: "chips" });
        for (const [name, preset] of Object.entries(PRESETS)) {
            presets.append(element("button", { textContent: name, type: "button", onclick: () => (app.setMaterial(preset, name), this.build()) }));
        }
        presets.append(element("button", { textContent: "As it was", type: "button", onclick: () => (app.resetMaterials(), this.build()) }));
        const shown = app.scope === "one" && body ? body : session0(app);
        root.append(element("h2", { textContent: "Material" }), scope, presets);
        if (!shown) return;
        const material = shown.material;
        root.append(this.choice("Mode", [["rigid", "0"], ["linear", "1"], ["quadratic", "2"]], String(material.mode), (value) => app.setMaterial({ mode: ["rigid", "linear", "quadratic"][Number(value)] })));
        root.append(
            this.choice("Stiffness in", [["hertz", "hertz"], ["alpha", "alpha"]], material.stiffness === LM.LM_STIFFNESS_ALPHA ? "alpha" : "hertz", (value) => {
                app.setMaterial({ [value]: material[value] });
                this.build();
            }),
            this.choice("Damping of", [["the whole body", "0"], ["each region", "1"]], String(material.damping_kind), (value) => app.setMaterial({ regionalDamping: value === "1" })),
        );
        const names = { damping_ratio: "dampingRatio", max_plastic: "maxPlastic" };
        for (const [label, field, least, most, digits, curved, unit] of SLIDERS) {
            // Stiffness is given in hertz with a ratio, or as the papers' alpha with a rate.
            const ofAlpha = field === "alpha" || field === "damping", ofHertz = field === "hertz" || field === "damping_ratio";
            if (material.stiffness === LM.LM_STIFFNESS_ALPHA ? ofHertz : ofAlpha) continue;
            root.append(this.slider(label, least, most, digits, curved, unit, material[field], (value) => app.setMaterial({ [names[field] ?? field]: value })));
        }
    }

    meshSettings() {
        const { app, root } = this, { settings } = app.dropped;
        const again = (changes) => app.openMesh(app.dropped.file, { ...settings, ...changes });
        root.append(
            element("h2", { textContent: "Your mesh" }),
            this.choice("Sampling", [["lattice", "lattice"], ["octree", "octree"], ["tetrahedra", "tets"]], settings.sampling, (sampling) => again({ sampling })),
            this.choice("Particles", ["300", "1000", "3000", "8000"].map((n) => [n, n]), String(settings.particles), (n) => again({ particles: Number(n) })),
        );
        const add = element("div", { className: "chips" });
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
        this.bar = element("div", { id: "stages" });
        this.legend = element("div", { className: "legend" });
        root.append(element("h2", { textContent: "Numbers" }), list, this.bar, this.legend);
    }

    about() {
        const { app, root } = this;
        const lines = [element("p", { textContent: app.session.scene.title })];
        if (app.session.scene.figure) lines.push(element("p", { textContent: `Reproduces: ${app.session.scene.figure}` }));
        root.append(
            element("h2", { textContent: "About this scene" }), ...lines, element("code", { textContent: app.command() }),
            element("p", { textContent: "The engine gives the same state, to the last bit, here and in the tool: the hash below is the one that this command prints for the same frame, as long as nobody has touched anything." }),
            element("p", { textContent: "Keys: space, ← →, R restart, / scenes, letters choose tools, V views, H hides everything." }),
        );
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
    }
}

const session0 = (app) => app.session.world.bodies()[0];
