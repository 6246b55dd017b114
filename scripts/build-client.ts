/** Builds `loopstream/client` as package.json's `exports` has it: one file to run anywhere, and the types beside it. */
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '..');
/** What was compiled last. The compiler reads nine hundred files for it, those of packages among them. */
const KEPT = join(ROOT, 'node_modules/.cache/tsc/client');
const INFO = 'tsconfig.tsbuildinfo';
const SETTINGS = ['tsconfig.json', 'src/client/tsconfig.json', 'scripts/build-client.ts'].map((name) =>
  join(ROOT, name),
);

/** True when no file that the types came from, or that says how, is newer than they are or gone. */
function typesAreKept(): boolean {
  try {
    const { fileNames } = JSON.parse(readFileSync(join(KEPT, INFO), 'utf8')) as { fileNames: string[] };
    const { mtimeMs } = statSync(join(KEPT, INFO));
    const files = [...SETTINGS, ...fileNames.map((name) => resolve(KEPT, name))];
    return files.every((file) => statSync(file).mtimeMs < mtimeMs);
  } catch {
    return false;
  }
}

function compileTypes(): void {
  const begun = new Date();
  const dir = `${KEPT}.${process.pid}`;
  const info = join(dir, INFO);
  const made = ['--outDir', join(dir, 'types'), '--incremental', '--tsBuildInfoFile', info];
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', join(ROOT, 'src/client'), ...made], { stdio: 'inherit' });
  // A file that is changed while it is compiled is newer, too.
  utimesSync(info, begun, begun);
  rmSync(KEPT, { recursive: true, force: true });
  renameSync(dir, KEPT);
}

/** `dir` stands for dist/client. */
export async function buildClient(dir: string): Promise<void> {
  await build({
    ...{ entryPoints: [join(ROOT, 'src/client/index.ts')], outdir: dir, bundle: true, format: 'esm' },
    ...{ platform: 'neutral', target: 'es2022', logLevel: 'warning' },
  });
  if (!typesAreKept()) compileTypes();
  cpSync(join(KEPT, 'types'), join(dir, 'types'), { recursive: true });
}
