/**
 * Bundles all roles into dist/app: one file per role's share of the code, so that a streamer loads only its own. A role starts
 * in a third of the processor time that its sources need, which are a thousand files.
 */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type Metafile } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '..');
const OUT = 'dist/app';
/** Packages that read their own files at run time stay outside. */
export const READ_THEIR_OWN_FILES = ['@fastify/static', '@fastify/swagger'];
/** CommonJS packages inside an ES module still ask for require. */
export const ESM_BANNER = {
  js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
};

/** The files bear names of what is in them: those of an earlier build stay for a day, since what runs may still ask for them. */
export async function buildApp(): Promise<Metafile> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    // A thread has a file of its own.
    entryPoints: { main: 'src/service/main.ts', 'watchdog-worker': 'src/core/lib/watchdog-worker.ts' },
    outdir: OUT,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    external: READ_THEIR_OWN_FILES,
    banner: ESM_BANNER,
    metafile: true,
    logLevel: 'warning',
  });
  clearOld(new Set(Object.keys(metafile.outputs)));
  return metafile;
}

function clearOld(outputs: ReadonlySet<string>): void {
  const dayAgo = Date.now() - 24 * 3_600_000;
  for (const name of readdirSync(join(ROOT, OUT))) {
    const file = join(ROOT, OUT, name);
    if (!outputs.has(`${OUT}/${name}`) && statSync(file).mtimeMs < dayAgo) rmSync(file);
  }
}

if (import.meta.main) await buildApp();
