/** Bundles the local system (`make run`) into dist/tools/local.js: it starts in a fraction of the time that its sources need. */
import { resolve } from 'node:path';
import { build } from 'esbuild';
import { ESM_BANNER } from './build-app.ts';

const ROOT = resolve(import.meta.dirname, '..');

export const buildTools = () =>
  build({
    absWorkingDir: ROOT,
    entryPoints: { local: 'tools/local/main.ts' },
    outdir: 'dist/tools',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // Development dependencies stay where npm put them.
    packages: 'external',
    banner: ESM_BANNER,
    logLevel: 'warning',
  });

if (import.meta.main) await buildTools();
