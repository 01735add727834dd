// The page: opens scenes, runs time, and connects the picture, the tools and the settings.
import { chooseVariant, LM, load } from "limber-physics";
import { Panel } from "./panel.js";
import { settled } from "./parameters.js";
import { Session } from "./session.js";
import { asC, copy, download, exportGlb, Film, meshScene, readLink, sceneWithSets, writeLink } from "./share.js";
import { Stage, VIEWS } from "./stage.js";
import { TOOLS, Tools } from "./tools.js";
import { GOLDEN, SCENES } from "virtual:scenes";

const $ = (id) => document.getElementById(id);
const DEFAULT_SCENE = "squeeze-duck";
const MESH_NAME = /\.(obj|stl|ply|glb|gltf|msh|mesh|vtk|node|vol)$/i;
const query = new URLSearchParams(location.search);

class App {
    constructor() {
        this.playing = true;
        this.speed = 1;
        this.hand = { hertz: 2, dampingRatio: 1, reach: 0.45, maxForce: 1e6 };
        this.sets = [];
        this.scope = "all";
        this.selected = null;
        this.dropped = null;
        this.frames = 0;
        this.due = 0;
        this.fps = 0;
    }

    async start() {
        document.body.classList.toggle("embed", query.has("embed"));
        const wide = window.innerWidth > 760;
        document.body.classList.toggle("closed-panel", !wide);
        $("open-panel").setAttribute("aria-expanded", String(wide));
        const stored = (() => {
            try {
                return localStorage.getItem("limber-theme");
            } catch {
                return null;
            }
        })();
        this.setTheme(query.get("theme") ?? stored ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
        const engine = this.loadEngine(); // while the graphics card is woken
        this.stage = new Stage($("picture"), { quality: query.get("quality") });
        this.stage.setTheme(this.theme);
        this.stage.warm((readLink().scene ?? DEFAULT_SCENE) !== DEFAULT_SCENE);
        this.mark("stage");
        this.limber = await engine;
        this.mark("engine");
        this.stage.warmDraw();
        this.stageNames = Array.from({ length: 9 }, (_, n) => this.limber.raw.lm_stage_name(n));
        this.tools = new Tools(this, $("overlay"));
        this.panel = new Panel(this, $("panel"));
        this.bind();
        this.followLink();
        this.mark("scene");
        requestAnimationFrame((time) => this.tick(time));
        window.limberPage = this; // for the tests, and for the console
    }

    /** From a server the variant that suits; from a folder the module that is inside a script. */
    async loadEngine() {
        const asked = query.get("engine"), variant = asked ?? "auto", { early } = window;
        if (early && (asked ?? chooseVariant()) === early.variant) return load({ variant: early.variant, wasm: early.module });
        if (location.protocol !== "file:") return load({ variant, base: new URL("./", location.href) });
        await new Promise((done, fail) => {
            const script = document.createElement("script");
            script.src = "limber-inline.js";
            script.onload = done;
            script.onerror = () => fail(new Error("limber-inline.js is missing"));
            document.head.append(script);
        });
        const packed = Uint8Array.from(atob(window.limberModule), (letter) => letter.charCodeAt(0));
        const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
        return load({ wasm: await new Response(stream).arrayBuffer() });
    }

    // ---- scenes ----

    /** Opens a scene; one with an error leaves the one that there is. */
    open(source, { sets = [], name = null, dropped = null, play = true } = {}) {
        let session;
        try {
            session = new Session(this.limber, source, { sets, name: name ?? undefined, fine: this.stage.quality === "high" });
        } catch (error) {
            this.say(error.message, true);
            return false;
        }
        const old = this.session;
        this.selected = null;
        this.scope = "all";
        this.tools.shares.clear();
        this.sets = [...sets];
        this.dropped = dropped;
        this.name = name ?? source;
        this.text = /^\s*\{/.test(source) ? source : this.limber.sceneText(source);
        this.stage.setSession(session);
        this.session = session;
        old?.free();
        this.stage.setView(this.stage.view);
        this.playing = play;
        this.due = 0;
        $("title").textContent = session.scene.title;
        $("figure").textContent = [this.name, session.scene.figure].filter(Boolean).join(" · ");
        document.title = `${this.name} – Limber`;
        this.panel.build();
        this.showTime();
        this.showLegend();
        if (session.scene.note) this.say(session.scene.note);
        return true;
    }

    openScene(name, sets = []) {
        if (this.open(name, { sets, name })) history.replaceState(null, "", writeLink({ scene: name, sets, view: this.stage.view }));
    }

    followLink() {
        const link = readLink();
        if (link.view && VIEWS.includes(link.view)) this.stage.view = link.view;
        if (link.tool && TOOLS.some(({ name }) => name === link.tool)) this.chooseTool(link.tool);
        const known = link.scene === null || SCENES.some(({ name }) => name === link.scene);
        if (!known) this.say(`There is no scene “${link.scene}”.`, true);
        const name = known && link.scene ? link.scene : DEFAULT_SCENE;
        if (!this.open(name, { name, sets: link.sets, play: !link.paused }) && !this.session) this.open(name, { name });
        if (link.frame && this.session) {
            for (let n = 0; n < Math.min(link.frame, 2000); n++) this.session.step();
            this.playing = false;
            this.refresh();
        }
    }

    async openFile(file) {
        try {
            const bytes = new Uint8Array(await file.arrayBuffer());
            if (/\.json$/i.test(file.name)) {
                this.open(new TextDecoder().decode(bytes), { name: file.name });
                return;
            }
            if (!MESH_NAME.test(file.name)) throw new Error(`${file.name}: expected an OBJ, STL, PLY, GLB or a scene (JSON)`);
            this.limber.readMesh(file.name, bytes); // says what is wrong with it
            this.limber.files.write("/" + file.name, bytes);
            this.openMesh(file.name, { sampling: "lattice", particles: 1000, hertz: 12, mode: "rigid", longest: 1 });
        } catch (error) {
            this.say(error.message, true);
        }
    }

    openMesh(file, settings) {
        this.open(meshScene(file, settings), { name: file, dropped: { file, settings } });
    }

    addCollider(shape) {
        const spread = () => (Math.random() - 0.5) * 0.8;
        const scene = JSON.parse(this.text);
        const at = [spread(), 0.15, spread()];
        scene.colliders.push({ sphere: { shape, radius: 0.2, at }, box: { shape, size: [0.5, 0.24, 0.5], at }, capsule: { shape, radius: 0.1, length: 0.6, at } }[shape]);
        scene.bodies[0].at[1] = Math.max(scene.bodies[0].at[1], 0.6);
        this.open(JSON.stringify(scene, null, 2), { name: this.name, dropped: this.dropped });
    }

    // ---- changes ----

    change(change) {
        try {
            this.session.change(change);
        } catch (error) {
            this.say(error.message, true);
        }
    }

    wake() {
        if (!this.playing) this.refresh();
    }

    select(body) {
        if (this.selected === body) return;
        this.selected = body;
        if (!document.body.classList.contains("closed-panel")) this.panel.build();
    }

    nameOf(body) {
        return this.session.scene.bodies().find((one) => one.body === body)?.name ?? "a ball";
    }

    /** The same change for the bodies that the settings are for; of those that refuse it the last line is shown. */
    forBodies(changeOf) {
        const bodies = this.scope === "one" && this.selected?.isValid ? [this.selected] : this.session.world.bodies();
        let refused = "";
        for (const body of bodies) {
            try {
                this.session.change(changeOf(body));
            } catch (error) {
                refused = error.message;
            }
        }
        if (refused) this.say(refused, true);
        this.wake();
    }

    /** Changes some fields of materials. Cells have no quadratic regions, others no damping of regions. */
    setMaterial(fields) {
        this.forBodies((body) => {
            const info = body.info(), cells = info.spacing > 0 || info.octree_nodes > 0, material = { ...settled(body.material), ...fields };
            if (cells && material.mode === LM.LM_MODE_QUADRATIC) material.mode = LM.LM_MODE_LINEAR;
            if (!cells) material.damping_kind = LM.LM_DAMPING_GLOBAL;
            return { kind: "material", body: body.id, material };
        });
    }

    setPreset(name) {
        const { material, density } = this.limber.preset(name);
        this.setMaterial(settled(material));
        this.forBodies((body) => ({ kind: "density", body: body.id, value: density }));
    }

    resetMaterials() {
        this.session.scene.bodies().forEach(({ body }, n) => {
            if (!body.isValid) return;
            this.change({ kind: "material", body: body.id, material: this.session.first[n].material });
            this.change({ kind: "mass", body: body.id, value: this.session.first[n].mass });
        });
    }

    // ---- time ----

    tick(time) {
        requestAnimationFrame((next) => this.tick(next));
        const passed = Math.min((time - (this.before ?? time)) / 1000, 0.25);
        this.before = time;
        if (!this.session || this.lost) return;
        if (this.playing && !document.hidden) {
            // At most two steps for a picture: a machine that is too slow shows slow motion, not a slide show.
            this.due = Math.min(this.due + passed * 60 * this.speed, 2);
            if (this.due >= 1) this.advance(Math.floor(this.due));
            this.due -= Math.floor(this.due);
        }
        if (this.stage.render() && this.session.frame > 0 && !this.moved) this.mark((this.moved = "moves"));
        this.count(time);
    }

    /** Milliseconds since the page was asked for, for the bench. */
    mark(name) {
        performance.mark(`limber-${name}`);
    }

    advance(frames) {
        try {
            for (let n = 0; n < frames; n++) this.session.step();
            this.stage.update();
        } catch (error) {
            this.playing = false;
            this.showTime();
            this.say(`Stopped: ${error.message}`, true);
        }
    }

    count(time) {
        this.frames++;
        this.since ??= time;
        if (time - this.since >= (this.stage.quality === "high" ? 250 : 600)) {
            this.fps = (1000 * this.frames) / (time - this.since);
            this.since = time;
            this.frames = 0;
            this.showTime();
            if (!document.body.classList.contains("closed-panel")) this.panel.show(this.session.world.stats(), this.fps);
        }
    }

    /** The picture and all that is shown, after something else than playing changed the world. */
    refresh() {
        this.stage.update();
        this.showTime();
        this.panel.show(this.session.world.stats(), this.fps);
    }

    showTime() {
        const { session } = this, { frame } = session, hash = session.world.hash();
        const line = $("timeline");
        line.min = String(session.earliest);
        line.max = String(Math.max(session.last, session.earliest + 1));
        if (document.activeElement !== line || this.playing) line.value = String(frame);
        $("frame").textContent = String(frame);
        $("hash").firstElementChild.textContent = hash;
        const play = this.playing ? "M8 5v14M16 5v14" : "M7 5l12 7-12 7z";
        $("play").querySelector("path").setAttribute("d", play);
        $("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
        this.compare(frame, hash);
    }

    /** The tool's hashes at two frames of each scene are on the page; they hold for scenes that nobody has touched. */
    compare(frame, hash) {
        const golden = this.sets.length === 0 && !this.session.touched ? GOLDEN[this.name] : undefined;
        const same = $("same"), known = golden?.[frame];
        if (known) this.agreed = { name: this.name, frame, ok: known === hash };
        const shown = this.agreed?.name === this.name && golden ? this.agreed : null;
        same.textContent = shown ? (shown.ok ? "✓" : "≠") : "";
        same.classList.toggle("bad", shown?.ok === false);
        same.title = shown ? (shown.ok ? `the tool's hash at frame ${shown.frame} is the same` : `the tool has another hash at frame ${shown.frame}`) : "";
    }

    command() {
        const sets = this.sets.map((set) => ` --set ${set}`).join("");
        return `limber run ${this.dropped ? this.dropped.file : this.name}${sets} --frames ${this.session.scene.frames} --json`;
    }

    restart() {
        const { text, name, sets, dropped } = this;
        this.open(SCENES.some((one) => one.name === name) ? name : text, { name, sets, dropped, play: this.playing });
    }

    go(frames) {
        this.playing = false;
        const to = this.session.frame + frames;
        if (to > this.session.last) this.advance(1);
        else this.session.seek(to);
        this.refresh();
    }

    // ---- the rest of the page ----

    say(text, bad = false) {
        const toast = $("toast");
        toast.textContent = text;
        toast.className = bad ? "shown bad" : "shown";
        clearTimeout(this.toast);
        this.toast = setTimeout(() => (toast.className = ""), bad ? 7000 : 3500);
    }

    setTheme(theme) {
        this.theme = theme === "dark" ? "dark" : "light";
        document.documentElement.dataset.theme = this.theme;
        this.stage?.setTheme(this.theme);
    }

    setView(view) {
        this.stage.setView(view);
        this.showLegend();
        for (const button of document.querySelectorAll("[data-view]")) button.setAttribute("aria-pressed", String(button.dataset.view === view));
    }

    showLegend() {
        const legend = this.stage.legend(), root = $("legend");
        root.hidden = !legend;
        if (!legend) return;
        const make = (className, text = "", style = "") => Object.assign(document.createElement("span"), { className, textContent: text, style });
        const parts = [make("words", legend.words)];
        if (legend.dot) parts.unshift(make("dot", "", `background:${legend.dot}`));
        if (legend.scale) parts.push(make("end", legend.ends[0]), make("scale", "", `background:${legend.scale}`), make("end", legend.ends[1]));
        root.replaceChildren(...parts);
    }

    chooseTool(name) {
        this.tools.choose(name);
        for (const button of $("tools").children) button.setAttribute("aria-pressed", String(button.dataset.tool === name));
        const hint = $("hint");
        hint.textContent = TOOLS.find((tool) => tool.name === name).hint;
        hint.classList.add("shown");
        clearTimeout(this.hint);
        this.hint = setTimeout(() => hint.classList.remove("shown"), 2600);
    }

    bind() {
        for (const { name, title, key, icon } of TOOLS) {
            const button = document.createElement("button");
            button.dataset.tool = name;
            button.title = `${title} (${key.toUpperCase()})`;
            button.setAttribute("aria-label", title);
            button.setAttribute("aria-pressed", String(name === "grab"));
            button.innerHTML = `<svg viewBox="0 0 24 24"><path d="${icon}"/></svg>`;
            button.onclick = () => this.chooseTool(name);
            $("tools").append(button);
        }
        $("play").onclick = () => this.toggle();
        $("back").onclick = () => this.go(-1);
        $("forth").onclick = () => this.go(1);
        $("restart").onclick = () => this.restart();
        $("timeline").oninput = () => {
            this.playing = false;
            this.session.seek(Number($("timeline").value));
            this.refresh();
        };
        $("hash").onclick = () => copy(this.session.world.hash()).then(() => this.say("The hash is copied: compare it with the tool's."));
        $("theme").onclick = () => {
            this.setTheme(this.theme === "dark" ? "light" : "dark");
            try {
                localStorage.setItem("limber-theme", this.theme);
            } catch {
                // a page that may not store anything forgets it
            }
        };
        $("open-panel").onclick = () => {
            const closed = document.body.classList.toggle("closed-panel");
            $("open-panel").setAttribute("aria-expanded", String(!closed));
            if (!closed) this.panel.build();
        };
        $("open-gallery").onclick = () => this.openGallery();
        $("open-share").onclick = () => $("share").showModal();
        for (const button of document.querySelectorAll("[data-do]")) button.onclick = () => this.share(button.dataset.do);
        for (const dialog of document.querySelectorAll("dialog")) dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
        $("search").oninput = () => this.fillGallery();
        $("file").onchange = ({ target }) => {
            if (target.files[0]) this.openFile(target.files[0]);
            $("gallery").close();
            target.value = "";
        };
        window.addEventListener("hashchange", () => this.followLink());
        window.addEventListener("keydown", (event) => this.key(event));
        this.bindDrop();
        const { canvas } = this.stage;
        canvas.addEventListener("webglcontextlost", (event) => {
            event.preventDefault();
            this.lost = true;
            this.say("The graphics card was lost; waiting for it to come back.", true);
        });
        canvas.addEventListener("webglcontextrestored", () => {
            this.lost = false;
            this.stage.changed = true;
            this.stage.surround();
            this.say("The graphics card is back.");
        });
        canvas.addEventListener("pointerdown", () => window.innerWidth <= 760 && document.body.classList.add("closed-panel"));
    }

    bindDrop() {
        let depth = 0;
        const show = (on) => $("drop").classList.toggle("shown", on);
        window.addEventListener("dragenter", (event) => (event.preventDefault(), depth++, show(true)));
        window.addEventListener("dragleave", () => --depth <= 0 && ((depth = 0), show(false)));
        window.addEventListener("dragover", (event) => event.preventDefault());
        window.addEventListener("drop", (event) => {
            event.preventDefault();
            depth = 0;
            show(false);
            if (event.dataTransfer?.files[0]) this.openFile(event.dataTransfer.files[0]);
        });
    }

    toggle() {
        this.playing = !this.playing;
        this.showTime();
    }

    key(event) {
        if (event.target.matches?.("input, select, textarea") || ((event.key === " " || event.key === "Enter") && event.target.matches?.("button, summary, a, label")) || document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey) return;
        const tool = TOOLS.find(({ key }) => key === event.key);
        const actions = {
            " ": () => this.toggle(), ArrowLeft: () => this.go(event.shiftKey ? -10 : -1), ArrowRight: () => this.go(event.shiftKey ? 10 : 1), r: () => this.restart(),
            Enter: () => this.tools.useInTheMiddle(), "/": () => this.openGallery(), "?": () => this.openHelp(), v: () => this.setView(VIEWS[(VIEWS.indexOf(this.stage.view) + 1) % VIEWS.length]), h: () => document.body.classList.toggle("embed"),
        };
        const action = tool ? () => this.chooseTool(tool.name) : actions[event.key];
        if (!action) return;
        event.preventDefault();
        action();
    }

    openHelp() {
        document.body.classList.remove("closed-panel");
        this.panel.open["About this scene"] = true;
        this.panel.build();
        $("panel").lastElementChild.scrollIntoView();
    }

    openGallery() {
        this.fillGallery();
        $("gallery").showModal();
        $("search").focus();
    }

    fillGallery() {
        const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean), groups = new Map();
        for (const scene of SCENES) {
            const all = `${scene.name} ${scene.title} ${scene.figure}`.toLowerCase();
            if (!words.every((word) => all.includes(word))) continue;
            const paper = scene.figure.replace(/, (figure|section|table|the ).*$/, "") || "More";
            if (!groups.has(paper)) groups.set(paper, []);
            groups.get(paper).push(scene);
        }
        const year = (paper) => Number(/\((\d{4})\)/.exec(paper)?.[1] ?? 9999);
        const parts = [...groups].sort(([a], [b]) => year(a) - year(b)).flatMap(([paper, scenes]) => {
            const heading = Object.assign(document.createElement("h3"), { textContent: paper });
            const grid = Object.assign(document.createElement("div"), { className: "cards" });
            for (const { name, title, figure, picture } of scenes) {
                const card = Object.assign(document.createElement("button"), { className: "card", title: figure });
                card.dataset.scene = name;
                card.setAttribute("aria-current", String(name === this.name));
                const image = Object.assign(document.createElement("img"), { src: picture, alt: "", loading: "lazy", width: 320, height: 200 });
                card.append(image, Object.assign(document.createElement("b"), { textContent: name }), Object.assign(document.createElement("span"), { textContent: title }));
                card.onclick = () => {
                    $("gallery").close();
                    this.openScene(name);
                };
                grid.append(card);
            }
            return [heading, grid];
        });
        $("cards").replaceChildren(...(parts.length > 0 ? parts : [Object.assign(document.createElement("p"), { textContent: "Nothing was found." })]));
    }

    async share(what) {
        const { session, name, sets } = this;
        const here = new URL(writeLink({ scene: this.dropped ? null : name, sets, view: this.stage.view }), location.href).href;
        const copied = (text, words) => copy(text).then(() => this.say(words));
        try {
            if (what === "link") await copied(here, "The link is copied.");
            if (what === "embed") {
                const url = new URL(here);
                url.search = "?embed";
                await copied(`<iframe src="${url.href}" width="960" height="540" style="border:0" title="Limber: ${name}"></iframe>`, "The iframe is copied.");
            }
            if (what === "json") await copied(sceneWithSets(this.text, sets), "The scene file is copied.");
            if (what === "command") await copied(this.command(), "The command is copied.");
            if (what === "c") {
                const saved = session.world.save(), frames = 60;
                for (let n = 0; n < frames; n++) session.world.step();
                const hash = session.world.hash();
                session.world.load(saved);
                await copied(asC({ name, file: this.snapshotName(), frames, hash }), "The program is copied. It needs the snapshot: “Save snapshot”.");
            }
            if (what === "snapshot") download(this.snapshotName(), session.world.save());
            if (what === "glb") download(`${name.replace(/\W+/g, "-")}.glb`, exportGlb(session), "model/gltf-binary");
            if (what === "picture") {
                this.stage.render(true);
                this.stage.canvas.toBlob((blob) => download(`${name}-${session.frame}.png`, blob, "image/png"));
            }
            if (what === "film") await this.film();
            if (what !== "film" || this.filming) $("share").close();
        } catch (error) {
            this.say(error.message, true);
        }
    }

    snapshotName() {
        return `${this.name.replace(/\W+/g, "-")}-${this.session.frame}.limber`;
    }

    async film() {
        if (!this.filming) {
            this.filming = new Film(this.stage.canvas);
            $("film-name").textContent = "Stop recording";
            this.say("Recording. Open this menu again to stop.");
            return;
        }
        const film = this.filming;
        this.filming = null;
        $("film-name").textContent = "Record video";
        download(`${this.name}.webm`, await film.stop(), "video/webm");
    }
}

new App().start().catch((error) => {
    const fault = document.getElementById("fault");
    fault.hidden = false;
    fault.textContent = /webgl/i.test(error.message) ? `This browser cannot draw with WebGL: ${error.message}` : `The page could not start: ${error.message}`;
    console.warn(error);
});
