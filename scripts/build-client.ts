/** Builds `loopstream/client` as package.json's `exports` has it: one file to run anywhere, and the types beside it. */
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '..');
/** Named by its path: the TypeScript that other tools use as a library has a program of the same name. */
export const TSC = join(ROOT, 'node_modules/typescript-native/bin/tsc');

/** `dir` stands for dist/client. */
export async function buildClient(dir: string): Promise<void> {
  await build({
    entryPoints: [join(ROOT, 'src/service/client/index.ts')],
    outdir: dir,
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    logLevel: 'warning',
  });
  const types = ['-p', join(ROOT, 'src/service/client'), '--outDir', join(dir, 'types')];
  execFileSync(process.execPath, [TSC, ...types], { stdio: 'inherit' });
}
