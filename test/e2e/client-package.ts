/** Uses the client as a foreign program does: the built package in its node_modules, with checked types. */
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildClient, TSC } from '../../scripts/build-client.ts';
import { run } from '../kit/run.ts';
import { ROOT } from '../kit/system/system.ts';

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    strict: true,
    noEmit: true,
    types: ['node'],
  },
};

/** Makes a project in `dir` of these files, by name, which import `loopstream/client`. */
export async function makeProject(dir: string, files: Record<string, string>): Promise<void> {
  const installed = join(dir, 'node_modules/loopstream');
  await mkdir(join(dir, 'node_modules/@types'), { recursive: true });
  await buildClient(join(installed, 'dist/client'));
  await cp(join(ROOT, 'package.json'), join(installed, 'package.json'));
  // The packages of the client's types, and those of every program for Node.
  const others = ['typebox', '@types/node', 'undici-types'];
  await Promise.all(others.map((name) => symlink(join(ROOT, 'node_modules', name), join(dir, 'node_modules', name))));
  await writeFile(join(dir, 'package.json'), JSON.stringify({ name: 'program', type: 'module', private: true }));
  await writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ ...TSCONFIG, files: Object.keys(files) }));
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(dir, name), text)));
}

/** Returns the compiler's errors; empty for none. */
export async function typeErrors(dir: string): Promise<string> {
  return run(process.execPath, [TSC, '-p', dir], { cwd: dir }).then(
    () => '',
    ({ stdout }: { stdout: string }) => stdout,
  );
}

/** Runs one of its files and returns the output. */
export async function runProgram(dir: string, name: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await run(process.execPath, [join(dir, name)], { cwd: dir, env });
  return stdout;
}
