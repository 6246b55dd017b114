/** Tests what a streamer loads of the whole product. There is one for each stream, so what it loads is the memory of ten thousand. */
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../../tools/process/root.ts';

/** The role switch, and what it loads for the role. */
const ENTRIES = ['src/service/main.ts', 'src/core/protocol/environment.ts', 'src/core/pods/streamer/main.ts'];

test('a streamer loads a logger and a reader of addresses, and no other package', async () => {
  const { metafile } = await build({
    absWorkingDir: PROJECT_ROOT,
    entryPoints: ENTRIES,
    outdir: 'unused',
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
  });
  const loaded = new Set(ENTRIES);
  const packages = new Set<string>();
  for (const path of loaded)
    for (const { path: to, kind, external } of metafile.inputs[path]?.imports ?? []) {
      // A stream that does not need such a module does not load it.
      if (kind === 'dynamic-import') continue;
      if (!external) loaded.add(to);
      else if (!to.startsWith('node:')) packages.add(to);
    }
  expect([...packages].sort()).toEqual(['ipaddr.js', 'pino']);
});
