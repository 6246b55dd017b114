/** Writes the generated files of charts/loopstream (files.ts). */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { crdFiles } from '../crds.ts';
import { chartFiles, type Sources } from './files.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
export const CHART = join(ROOT, 'charts/loopstream');

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

export const sources = (): Sources => ({
  crds: crdFiles(),
  rbac: ['rbac', 'all-namespaces'].map((name) => read(`manifests/${name}.yaml`)).join('\n---\n'),
  readme: read('tools/generate/chart/readme.md'),
});

/** Writes the files and returns their paths. */
export function writeChart(): string[] {
  const files = [...chartFiles(sources())].map(([path, text]) => ({ file: join(CHART, path), text }));
  for (const { file, text } of files) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return files.map(({ file }) => file);
}
