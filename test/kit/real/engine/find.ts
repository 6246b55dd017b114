/**
 * Chooses where the tests' Postgres and Redis run: in containers where a usable Docker engine answers, otherwise as processes.
 * LOOPSTREAM_TEST_SERVERS=processes or =containers decides for all; with `containers`, a missing engine is an error.
 */
import { hostname } from 'node:os';
import { type EngineInfo, whyOutOfReach } from '../../../../tools/local/kind/engine.ts';
import { hasImage, isReachable, readJson } from './api.ts';
import { SERVERS_IMAGE } from './image.ts';

export type Way = 'processes' | 'containers';

const DEFAULT_HOST = 'unix:///var/run/docker.sock';
const SCHEME = 'unix://';

type Found = { socket: string } | { whyNot: string };

/**
 * Finds the engine that answers, with or without the image. The servers listen on this machine's loopback address, so the engine must share
 * our network: published ports would be open to the machine's neighbours.
 */
export async function findEngine(host = process.env.DOCKER_HOST || DEFAULT_HOST): Promise<Found> {
  if (!host.startsWith(SCHEME)) return { whyNot: `${host} may be another machine` };
  const socket = host.slice(SCHEME.length);
  if (!(await isReachable(socket))) return { whyNot: `no Docker engine answers at ${host}` };
  const why = whyOutOfReach(await readJson<EngineInfo>(socket, '/info'), hostname());
  return why === undefined ? { socket } : { whyNot: `the Docker engine at ${host} cannot be used: ${why}` };
}

async function look(): Promise<Found> {
  if (process.env.LOOPSTREAM_TEST_SERVERS === 'processes') return { whyNot: 'LOOPSTREAM_TEST_SERVERS says processes' };
  const found = await findEngine();
  if ('whyNot' in found || (await hasImage(found.socket, SERVERS_IMAGE))) return found;
  return { whyNot: `the Docker engine that answers lacks the image ${SERVERS_IMAGE}, which \`make test\` gives it` };
}

let found: Promise<Found> | undefined;

/** Returns the engine to use, or the reason why there is none. A process looks for it once. */
export const testEngine = (): Promise<Found> => {
  found ??= look();
  return found;
};

/** Chooses for servers without a way of their own. */
export async function chosenWay(): Promise<Way> {
  const engine = await testEngine();
  if ('socket' in engine) return 'containers';
  if (process.env.LOOPSTREAM_TEST_SERVERS === 'containers') throw new Error(`no containers: ${engine.whyNot}`);
  return 'processes';
}
