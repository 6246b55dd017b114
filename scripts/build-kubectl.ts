/**
 * Bundles the kubectl plugin into dist/kubectl: one program with all that it needs, the notices of its packages included. kubectl
 * completes its words by the same program under another name.
 */
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { packageFolders, writeNotices } from './notices.ts';

const ROOT = resolve(import.meta.dirname, '..');
const NAME = 'kubectl-loop';
const COMPLETION = 'kubectl_complete-loop';
const LEAST_NODE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).engines.node.replace(
  '>=',
  '',
) as string;

/** The first lines for any machine: Node of PATH. */
const ANY_NODE = '#!/usr/bin/env node';
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
/** The first lines for this machine, a shell's script and one of JavaScript: a Node by its path, and that of PATH where it is gone. */
const nameNode = (node: string): string =>
  `#!/bin/sh\n":" //; node=${quote(node)}; [ -x "$node" ] || node=node; exec "$node" "$0" "$@"`;

/**
 * Runs before the rest, which an old Node cannot run: in a syntax that each Node reads. Packages ask for `require`, which a file has only
 * outside of folders of ES modules.
 */
const CHECK = [
  `;(function (least, own) {`,
  `  if (own[0] > least[0] || (own[0] === least[0] && own[1] >= least[1])) return;`,
  `  console.error('kubectl loop needs Node.js ${LEAST_NODE} or later, and ' + process.execPath + ' is ' + process.version + '.');`,
  `  process.exit(1);`,
  `})(${JSON.stringify(LEAST_NODE.split('.').map(Number))}, process.versions.node.split('.').map(Number));`,
  `var require = process.getBuiltinModule('node:module').createRequire(process.argv[1]);`,
].join('\n');

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

/** `dir` stands for dist/kubectl; `node` is the Node that runs it, any one by default. Returns the path of the program. */
export async function buildKubectl(dir = join(ROOT, 'dist/kubectl'), node?: string): Promise<string> {
  const program = join(dir, NAME);
  mkdirSync(dir, { recursive: true });
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/core/kubectl/main.ts'],
    outfile: program,
    bundle: true,
    minify: true,
    // An old Node must read all of it before it runs the check.
    format: 'iife',
    platform: 'node',
    target: 'node14',
    banner: { js: `${node === undefined ? ANY_NODE : nameNode(node)}\n${CHECK}` },
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
  const program = await buildKubectl(undefined, process.execPath);
  process.stdout.write(`${program}: ${Math.round(readFileSync(program).length / 1024)} KiB\n`);
}
