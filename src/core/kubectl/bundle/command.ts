/** Runs `kubectl loop support-bundle`, and `loopstream support-bundle` in a pod: one archive that somebody else may read. */
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { CommandError, type Invocation } from '../shell/call.ts';
import { warn, write } from '../shell/output.ts';
import { collectBundle } from './collect.ts';
import { buildTar } from './tar.ts';

export type BundleFlags = { 'all-namespaces'?: boolean; output?: string };

const FOLDER = 'loopstream-support';

export async function writeBundle({ flags, cluster }: Invocation<BundleFlags>): Promise<number> {
  const now = new Date();
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const { output = `${FOLDER}-${stamp}.tar.gz`, 'all-namespaces': allNamespaces = false } = flags;
  const { kube, namespace } = cluster();
  const files = await collectBundle({ kube, namespace, allNamespaces, now });
  const archive = buildTar(
    files.map(({ path, content }) => ({ path: `${FOLDER}/${path}`, content })),
    now,
  );
  const bytes = await promisify(gzip)(archive);
  if (output === '-') {
    // The process of a role ends at once when it is done.
    await new Promise((resolve) => process.stdout.write(bytes, resolve));
    return 0;
  }
  await writeFile(output, bytes, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new CommandError(`The file ${output} exists. Name another one with -o.`);
    throw new CommandError(`The file ${output} could not be written (${error.code}). Name another one with -o.`);
  });
  write(`${output}\n`);
  warn(
    `${files.length} files, ${Math.ceil(bytes.length / 1024)} KiB. Read summary.txt in it before you hand it on: names and displayed names are in it.`,
  );
  return 0;
}
