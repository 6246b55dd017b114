/**
 * Bundles the kubectl plugin into dist/kubectl: one program with all that it needs, the notices of its packages included. kubectl
 * completes its words by the same program under another name.
 */
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { ESM_BANNER } from './build-app.ts';
import { packageFolders, writeNotices } from './notices.ts';

const ROOT = resolve(import.meta.dirname, '..');
const NAME = 'kubectl-loop';
const COMPLETION = 'kubectl_complete-loop';

/**
 * Importing a module of client-node only declares classes, which the package does not tell bundlers. Without this, all generated APIs
 * of Kubernetes are in the program, and make it 3 MB larger.
 */
const leaveUnusedOut: Plugin = {
  name: 'leave-unused-out',
  setup({ onResolve, resolve: find }) {
    onResolve({ filter: /./ }, async ({ path, pluginData, ...from }) => {
      if (pluginData || !`${from.resolveDir}/${path}`.includes('@kubernetes/client-node')) return undefined;
      const { importer, resolveDir, kind, with: attributes } = from;
      const found = await find(path, { importer, resolveDir, kind, with: attributes, pluginData: true });
      return { ...found, sideEffects: false };
    });
  },
};

/** `dir` stands for dist/kubectl. Returns the path of the program. */
export async function buildKubectl(dir = join(ROOT, 'dist/kubectl')): Promise<string> {
  const program = join(dir, NAME);
  mkdirSync(dir, { recursive: true });
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/core/kubectl/main.ts'],
    outfile: program,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    banner: ESM_BANNER,
    plugins: [leaveUnusedOut],
    metafile: true,
    write: false,
    legalComments: 'none',
    logLevel: 'warning',
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  const bundled = inputs.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([file]) => file);
  const notices = writeNotices(packageFolders(bundled)).replaceAll('*/', '* /');
  writeFileSync(program, `${outputFiles[0]?.text ?? ''}/*\n${notices}*/\n`);
  chmodSync(program, 0o755);
  rmSync(join(dir, COMPLETION), { force: true });
  symlinkSync(NAME, join(dir, COMPLETION));
  return program;
}

if (import.meta.main) {
  const program = await buildKubectl();
  process.stdout.write(`${program}: ${Math.round(readFileSync(program).length / 1024)} KiB\n`);
}
