/**
 * Runs a Docker engine with bridges, as kind needs it, in a network namespace of its own: nothing of the machine's network changes. Only
 * programs in that namespace (`WITHIN`) reach its containers and the ports that they publish.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFileLock } from '../../../../tools/process/filelock.ts';
import { runOrThrow, tryRun } from '../cluster/command.ts';
import { hasImage, importImage, readJson, sendOrThrow } from '../engine/api.ts';
import { removeContainer } from '../engine/containers.ts';
import { engineLayout } from '../engine/layout.ts';
import { runEngine } from '../engine/own.ts';
import { NODE_CHANGES, NODE_IMAGE, nodeArchive } from './node-image.ts';

const NAMESPACE = 'loopstream-kind';
/** The command that runs another one in the engine's network. */
export const WITHIN = ['nsenter', `--net=/run/netns/${NAMESPACE}`] as const;

const CAP_SYS_RESOURCE = 24n;

function hasSysResource(): boolean {
  const [, bounding = '0'] = /^CapBnd:\s*(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return ((BigInt(`0x${bounding}`) >> CAP_SYS_RESOURCE) & 1n) === 1n;
}

/** Removes what earlier runs have left in the engine, apart from the node's image. */
async function clear(socket: string): Promise<void> {
  const containers = await readJson<{ Id: string }[]>(socket, '/containers/json?all=true');
  for (const { Id } of containers) await removeContainer(socket, Id);
  for (const what of ['networks', 'volumes']) await sendOrThrow(socket, 'POST', `/${what}/prune`);
  const images = await readJson<{ Id: string; RepoTags: string[] | null }[]>(socket, '/images/json');
  for (const { Id, RepoTags } of images)
    if (!RepoTags?.includes(NODE_IMAGE)) await sendOrThrow(socket, 'DELETE', `/images/${Id}?force=true`);
}

/** Starts the engine for `use`, with the node's image in it, and ends it afterwards. A machine runs one at a time; others wait. */
export async function withKindEngine<T>(cacheDir: string, use: (socket: string) => Promise<T>): Promise<T> {
  const layout = engineLayout(join(cacheDir, 'kind'));
  const runtime = join(import.meta.dirname, 'runc');
  return withFileLock(`/run/${NAMESPACE}.lock`, async () => {
    await tryRun('ip', ['netns', 'delete', NAMESPACE]);
    await runOrThrow('ip', ['netns', 'add', NAMESPACE]);
    try {
      await runOrThrow('ip', ['-n', NAMESPACE, 'link', 'set', 'lo', 'up']);
      const args = hasSysResource() ? [] : ['--add-runtime', `here=${runtime}`, '--default-runtime', 'here'];
      // The engine would make the directory of kernel modules on the machine.
      return await runEngine({ layout, args, within: WITHIN, hidden: ['/lib/modules'] }, async (socket) => {
        await clear(socket);
        if (!(await hasImage(socket, NODE_IMAGE)))
          await importImage(socket, NODE_IMAGE, nodeArchive(cacheDir), NODE_CHANGES);
        return use(socket);
      });
    } finally {
      await runOrThrow('ip', ['netns', 'delete', NAMESPACE]);
    }
  });
}
