/**
 * Lists and removes the containers of the tests' servers. A label of each names the process that started it, and that process's parent. A
 * worker ends without a warning, so its run removes its containers; after a killed run the next run does.
 */
import { identify, isAlive, type ProcessIdentity } from '../../../../tools/process/identity.ts';
import { readJson, sendRequest } from './api.ts';
import { findEngine } from './find.ts';
import { ensureServersImage } from './image.ts';

const LABEL = 'loopstream.test.owner';
const NOT_THERE = 404;
/** The engine is already removing it. */
const CONFLICT = 409;

interface Owner extends ProcessIdentity {
  parent: ProcessIdentity;
}

const identifyOrKeep = (pid: number): ProcessIdentity => identify(pid) ?? { pid, startTicks: '', bootId: '' };

export const ownerLabel = (): Record<string, string> => ({
  [LABEL]: JSON.stringify({ ...identifyOrKeep(process.pid), parent: identifyOrKeep(process.ppid) } satisfies Owner),
});

/** Removes the containers of the selected owners, running or not. */
export async function removeContainers(socket: string, isMeant: (owner: Owner) => boolean): Promise<void> {
  const query = new URLSearchParams({ all: 'true', filters: JSON.stringify({ label: [LABEL] }) });
  const listed = await readJson<{ Id: string; Labels: Record<string, string> }[]>(socket, `/containers/json?${query}`);
  const meant = listed.filter(({ Labels }) => isMeant(JSON.parse(Labels[LABEL] ?? '{}') as Owner));
  await Promise.all(meant.map(({ Id }) => removeContainer(socket, Id)));
}

export async function removeContainer(socket: string, id: string): Promise<void> {
  const { status, content } = await sendRequest(socket, 'DELETE', `/containers/${id}?force=true&v=true`);
  if (status >= 400 && status !== NOT_THERE && status !== CONFLICT) throw new Error(String(content).trim());
}

const isMine = ({ pid, startTicks, bootId }: ProcessIdentity): boolean => {
  const me = identifyOrKeep(process.pid);
  return pid === me.pid && startTicks === me.startTicks && bootId === me.bootId;
};

/**
 * Wraps a project's run, whose workers are children of this process: removes earlier runs' leftovers and gives the engine the image.
 * Resolves to the way in which the servers run, and the clean-up.
 */
export async function aroundContainers(cacheDir: string): Promise<{ told: string; end(): Promise<void> }> {
  const processes = (why: string) => {
    if (process.env.LOOPSTREAM_TEST_SERVERS === 'containers') throw new Error(`no containers: ${why}`);
    return { told: `Postgres and Redis run as processes: ${why}`, end: async () => {} };
  };
  if (process.env.LOOPSTREAM_TEST_SERVERS === 'processes') return processes('LOOPSTREAM_TEST_SERVERS says so');
  const found = await findEngine();
  if ('whyNot' in found) return processes(found.whyNot);
  const { socket } = found;
  const lacking = await ensureServersImage(socket, cacheDir);
  if (lacking !== undefined) return processes(lacking);
  await removeContainers(socket, (owner) => !isAlive(owner));
  return {
    told: 'Postgres and Redis run in containers',
    end: () => removeContainers(socket, (owner) => isMine(owner) || isMine(owner.parent)),
  };
}
