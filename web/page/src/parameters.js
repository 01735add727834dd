// The tables of what can be set: of a material, of a body, of the world. The panel makes a slider, a choice or a switch of each row.
import { LM } from "limber-physics";

const byUnits = (m) => m.stiffness === LM.LM_STIFFNESS_YOUNG || m.stiffness === LM.LM_STIFFNESS_SAG;
const byAlpha = (m) => m.stiffness === LM.LM_STIFFNESS_ALPHA;
const plastic = (m) => m.yield > 0;

/** Ways to give stiffness: field, words, and what another way starts from. */
export const WAYS = [["hertz", "hertz", LM.LM_STIFFNESS_HERTZ, 8], ["young", "pascals", LM.LM_STIFFNESS_YOUNG, 1e5], ["sag", "sag", LM.LM_STIFFNESS_SAG, 0.03], ["alpha", "alpha", LM.LM_STIFFNESS_ALPHA, 0.5]];

/** The way that a material is given in; "whichever is given" stands for one of them. */
export function wayOf(m) {
    if (m.stiffness !== LM.LM_STIFFNESS_GIVEN) return WAYS.find(([, , way]) => way === m.stiffness)[0];
    return m.young > 0 ? "young" : m.sag > 0 ? "sag" : "hertz";
}

/** A material with its way said, so that its fields can be changed one by one. */
export function settled(m) {
    const [field, , way, start] = WAYS.find(([name]) => name === wayOf(m));
    return { ...m, stiffness: way, [field]: m[field] || start };
}

const pascals = (v) => (v >= 1e6 ? `${(v / 1e6).toPrecision(3)} MPa` : v >= 1e3 ? `${(v / 1e3).toPrecision(3)} kPa` : `${v.toFixed(0)} Pa`);
const fixed = (digits, unit = "") => (v) => v.toFixed(digits) + unit;

/** Of lm_material: every number. `curved`: steps grow with the value. `here`: shown at all; `matters`: has an effect. */
export const MATERIAL = [
    { field: "hertz", label: "Stiffness", least: 0.5, most: 60, curved: true, words: fixed(1, " Hz"), here: (m) => wayOf(m) === "hertz", help: "How fast a single region rings: higher is stiffer." },
    { field: "young", label: "Young's modulus", least: 1e3, most: 1e8, curved: true, words: pascals, here: (m) => wayOf(m) === "young", help: "Stress over strain: jelly has some thousand pascals, rubber a million." },
    { field: "sag", label: "Sag", least: 0.001, most: 0.5, curved: true, words: (v) => `${(100 * v).toPrecision(2)} %`, here: (m) => wayOf(m) === "sag", help: "The share of its height by which it sinks under its own weight." },
    { field: "poisson", label: "Poisson's ratio", least: 0, most: 0.46, words: fixed(2), here: byUnits, matters: (m) => m.mode !== LM.LM_MODE_RIGID, help: "How much thinner it gets when it is stretched." },
    { field: "alpha", label: "Alpha", least: 0, most: 1, words: fixed(2), here: byAlpha, help: "The share of the way to its goal that a particle goes in one substep." },
    { field: "damping", label: "Damping", least: 0, most: 30, words: fixed(1, " /s"), here: byAlpha, help: "The rate at which velocity of deformation decays." },
    { field: "damping_ratio", label: "Damping ratio", least: 0, most: 2, words: fixed(2), here: (m) => !byAlpha(m), help: "How soon ringing dies out: 1 is just without overshoot." },
    { field: "damping_every", label: "Damped every", least: 1, most: 16, whole: true, words: fixed(0, " sub."), here: (m) => m.damping_kind === LM.LM_DAMPING_REGIONAL, help: "Regional damping is made every so many substeps, for all that time." },
    { field: "beta", label: "Beta", least: 0, most: 0.95, words: fixed(2), here: (m) => !byUnits(m), matters: (m) => m.mode !== LM.LM_MODE_RIGID, help: "How much of a deformation is followed without resistance." },
    { field: "yield", label: "Yield", least: 0, most: 0.5, words: fixed(2), help: "The strain above which the shape flows for good; 0: it never does." },
    { field: "creep", label: "Creep", least: 0, most: 60, words: fixed(1, " /s"), matters: plastic, help: "The rate at which strain becomes lasting while it is above the yield." },
    { field: "max_plastic", label: "Plastic limit", least: 0, most: 0.9, words: fixed(2), matters: plastic, help: "Lasting strain is kept below this." },
    { field: "friction", label: "Friction", least: 0, most: 2, words: fixed(2), help: "Coulomb's coefficient." },
    { field: "restitution", label: "Bounce", least: 0, most: 1, words: fixed(2), help: "The share of the speed of approach that comes back." },
];

function penaltyOf(body) {
    const value = new Float32Array(1), { limber, address } = body.world;
    limber.check(limber.raw.lm_body_get_penalty(address, body.id, value));
    return value[0];
}

/** Of a body, beside its material. `get` from its lm_body_info; `change`: what Session does. */
export const BODY = [
    { label: "Density", least: 10, most: 1e4, curved: true, words: (v) => `${v.toPrecision(3)}`, get: (body, info) => info.density, change: (value) => ({ kind: "density", value }), help: "Kilograms a cubic metre: sets the mass." },
    { label: "Mass", least: 0.01, most: 1e4, curved: true, words: (v) => `${v.toPrecision(3)} kg`, get: (body, info) => info.mass, change: (value) => ({ kind: "mass", value }), help: "Kilograms in all." },
    { label: "Penalty", least: 1, most: 1e6, curved: true, words: (v) => `${v.toPrecision(2)} N/m`, get: (body) => penaltyOf(body), change: (value) => ({ kind: "penalty", value }), help: "Force for each metre that others are inside, where contacts are a penalty force or cube maps." },
    { label: "Skin depth", least: 0, most: 0.05, words: (v) => `${(1000 * v).toFixed(1)} mm`, get: (body, info) => info.contact_radius, change: (value) => ({ kind: "radius", value }), help: "How far outside its points it touches." },
];

/** Of a lattice that breaks. */
export const FRACTURE = [
    { field: "limit", label: "Breaks at", least: 0.01, most: 1, curved: true, words: (v) => `${(100 * v).toPrecision(2)} %`, help: "The strain at which a link breaks." },
    { field: "variation", label: "Variation", least: 0, most: 1, words: fixed(2), help: "How much limits differ from link to link." },
    { field: "grain", label: "Grains", least: 0, most: 0.3, words: (v) => `${(100 * v).toFixed(1)} cm`, help: "It is made of grains of about this size; 0: of none." },
    { field: "grain_strength", label: "Between grains", least: 0, most: 1, words: fixed(2), matters: (f) => f.grain > 0, help: "The strength of links between grains, as a share." },
];

/** Of an octree that divides its cells by itself: fields of lm_detail. */
const metres = (v) => `${(100 * v).toPrecision(2)} cm`;
export const DETAIL = [
    { field: "touch_size", label: "Cells at touch", least: 0.005, most: 0.5, curved: true, words: metres, help: "Where it is touched or pulled, cells are divided down to this." },
    { field: "touch_radius", label: "Reach of touch", least: 0.005, most: 1, curved: true, words: metres, help: "How far around that." },
    { field: "eye_angle", label: "Seen angle", least: 0, most: 0.3, words: (v) => `${((180 * v) / Math.PI).toFixed(1)}°`, help: "Cells that look larger from where the camera is now are divided; 0: it does not matter." },
    { field: "finest", label: "Finest", least: 0, most: 0.3, words: metres, help: "Cells stay at least this large; 0: as small as there are." },
    { field: "coarsest", label: "Coarsest", least: 0, most: 1, words: metres, help: "Cells stay at most this large; 0: as large as there are." },
    { field: "budget", label: "Most particles", least: 0, most: 20000, whole: true, words: (v) => (v ? v.toFixed(0) : "any"), help: "It divides no more cells when it has so many; 0: any number." },
    { field: "per_step", label: "Cells a step", least: 1, most: 1024, curved: true, whole: true, words: fixed(0), help: "So many are divided or joined in one step at most." },
    { field: "hold", label: "Stays for", least: 0, most: 5, words: fixed(1, " s"), help: "How long detail stays when its reason has gone." },
];

/** Of all colliders. */
export const GROUND = [
    { field: "friction", label: "Ground friction", least: 0, most: 2, words: fixed(2), help: "Of floors, walls and other colliders." },
    { field: "restitution", label: "Ground bounce", least: 0, most: 1, words: fixed(2), help: "The share of the speed of approach that comes back from colliders." },
];

/** Of all joints. 1e6 stands for as much as can be. */
const most = (words) => (v) => (v >= 0.99e6 ? "any" : words(v));
export const JOINT = [
    { field: "hertz", label: "Joint stiffness", least: 0, most: 30, words: (v) => (v > 0 ? `${v.toFixed(1)} Hz` : "stiff"), help: "Of the spring; 0: as stiff as can be." },
    { field: "damping_ratio", label: "Joint damping", least: 0, most: 3, words: fixed(2), matters: (joint) => joint.hertz > 0, help: "Of the spring." },
    { field: "max_force", label: "Breaking force", least: 0.1, most: 1e6, curved: true, words: most((v) => `${v.toPrecision(2)} N`), help: "A joint breaks beyond it." },
    { field: "max_torque", label: "Breaking torque", least: 0.01, most: 1e6, curved: true, words: most((v) => `${v.toPrecision(2)} N m`), help: "A joint breaks beyond it." },
    { field: "length", label: "Joint length", least: 0, most: 3, words: fixed(2, " m"), here: (joint) => joint.length >= 0 && joint.isDistance, help: "Of joints that keep a distance." },
];

/** Of the hand that grabs, from the next time on that it does. 1e6 stands for as much as can be. */
export const HAND = [
    { field: "hertz", label: "Pull", least: 0.2, most: 20, curved: true, words: fixed(1, " Hz"), help: "How stiffly it pulls." },
    { field: "dampingRatio", label: "Pull damping", least: 0, most: 3, words: fixed(2), help: "Of the spring between the hand and the body." },
    { field: "reach", label: "Reach", least: 0, most: 1, words: (v) => `${(100 * v).toFixed(0)} %`, help: "How much around the point is taken hold of, as a share of the body's size." },
    { field: "maxForce", label: "Strength", least: 0.1, most: 1e6, curved: true, words: most((v) => `${v.toPrecision(2)} N`), help: "It pulls no harder than this." },
];

/** Of all movers with mass. */
export const RIGID = [{ label: "Mass of each", least: 0.01, most: 1e4, curved: true, words: (v) => `${v.toPrecision(3)} kg`, help: "Of rigid bodies: they push others and are pushed." }];

/** Air that moves. */
export const WIND = [["Wind, right", 0], ["Wind, up", 1], ["Wind, front", 2]];

export const GRAVITY = [["Gravity, up", 1], ["Gravity, right", 0], ["Gravity, front", 2]];
export const METHODS = [["solved together", "0"], ["penalty force", "1"], ["cube maps", "2"]];
