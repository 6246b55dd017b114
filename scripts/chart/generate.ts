/** Writes what of charts/loopstream is made rather than written (files.ts). */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { chartFiles, type Sources } from './files.ts';

const ROOT = resolve(import.meta.dirname, '../..');
export const CHART = join(ROOT, 'charts/loopstream');

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

export const sources = (): Sources => ({
  crds: new Map(readdirSync(join(ROOT, 'crds')).map((name) => [name, read(`crds/${name}`)])),
  rbac: read('manifests/rbac.yaml'),
  readme: read('scripts/chart/readme.md'),
});

if (import.meta.main) {
  for (const [path, text] of chartFiles(sources())) {
    const file = join(CHART, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    process.stdout.write(`${file}\n`);
  }
}
