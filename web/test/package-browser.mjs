export const tests = {
    async examples() {
        const { readdirSync } = await import("node:fs");
        for (const name of readdirSync(join(web, "examples")).filter((one) => one.endsWith(".html") && one !== "index.html")) {
            const page = await open(`/examples/${name}`, { wait: false, width: 640, height: 400 });
            await page.waitForFunction(() => window.ready > 3).catch(() => assert.fail(`${name} does not move`));
            await page.screenshot({ path: join(shots, `example-${name}.png`) });
            await page.close();
        }
    },

    /** A lattice that the vertex shader deforms looks as the one that the engine deforms. */
    async gpuSkin() {
        const page = await open("/examples/hello.html", { wait: false, width: 320, height: 240 });
        const { onGpu, different, covered } = await page.evaluate(async () => {
            const THREE = await import("three"), { load } = await import("limber-physics"), { SoftMesh } = await import("limber-physics/three");
            const limber = await load({ variant: "simd" }), world = limber.world();
            world.addCollider({ shape: "plane" });
            const body = world.addLattice(limber.shape("duck", { detail: 16 }), { particles: 400, position: [0, 0.7, 0], rotation: [0, 0.38, 0, 0.92], material: { hertz: 3 } });
            for (let n = 0; n < 45; n++) world.step();
            const picture = (gpu) => {
                const renderer = new THREE.WebGLRenderer({ preserveDrawingBuffer: true });
                renderer.setSize(320, 240);
                const scene = new THREE.Scene(), camera = new THREE.PerspectiveCamera(40, 4 / 3, 0.1, 20), sun = new THREE.DirectionalLight(0xffffff, 2);
                camera.position.set(1, 0.8, 1.8);
                camera.lookAt(0, 0.35, 0);
                sun.position.set(1, 2, 1);
                const mesh = new SoftMesh(body, { gpu, colours: null, material: new THREE.MeshStandardMaterial({ color: 0xffffff }) });
                scene.add(sun, mesh);
                renderer.render(scene, camera);
                const gl = renderer.getContext(), pixels = new Uint8Array(4 * 320 * 240);
                gl.readPixels(0, 0, 320, 240, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
                return [pixels, mesh.onGpu];
            };
            const [host] = picture(false), [device, onGpu] = picture(true);
            let different = 0, covered = 0;
            for (let n = 0; n < host.length; n += 4) {
                covered += host[n] > 0;
                different += Math.abs(host[n] - device[n]) > 24;
            }
            return { onGpu, different, covered };
        });
        assert.ok(onGpu && covered > 3000, `it is in the picture (${covered})`);
        assert.ok(different < 0.02 * covered, `${different} of ${covered} pixels differ`);
        await page.close();
    },
};
