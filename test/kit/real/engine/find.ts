/**
 * Which way the tests' Postgres and Redis run: in containers where a Docker engine answers that can be used, otherwise as
 * processes. LOOPSTREAM_TEST_SERVERS=processes or =containers says it for all; with `containers`, no engine is an error.
 */
import { hostname } from 'node:os';
import { answers, demandJson, hasImage } from './api.ts';
import { SERVERS_IMAGE } from './image.ts';

export type Way = 'processes' | 'containers';

const DEFAULT_HOST = 'unix:///var/run/docker.sock';
const SCHEME = 'unix://';

/** As the engine tells of itself (`GET /info`). */
export interface EngineInfo {
  Name: string;
  OSType: string;
  OperatingSystem: string;
  SecurityOptions: string[] | null;
}

/**
 * Why the servers cannot run there. They listen on this machine's loopback address, which only an engine that shares our
 * network can give them: whoever published their ports instead would offer them to the machine's neighbours.
 */
export function whyOutOfReach(info: EngineInfo, ourName: string): string | undefined {
  if (info.OSType !== 'linux') return 'its containers are not of Linux';
  if (info.OperatingSystem.includes('Docker Desktop')) return 'its containers are in a virtual machine';
  if (info.SecurityOptions?.some((option) => option.includes('rootless')))
    return 'it has a network of its own (rootless)';
  return info.Name === ourName ? undefined : `it is on another machine (${info.Name})`;
}

type Found = { socket: string } | { whyNot: string };

/** The engine that answers, whether it has the image or not. */
export async function findEngine(host = process.env.DOCKER_HOST || DEFAULT_HOST): Promise<Found> {
  if (!host.startsWith(SCHEME)) return { whyNot: `${host} may be another machine` };
  const socket = host.slice(SCHEME.length);
  if (!(await answers(socket))) return { whyNot: `no Docker engine answers at ${host}` };
  const why = whyOutOfReach(await demandJson<EngineInfo>(socket, '/info'), hostname());
  return why === undefined ? { socket } : { whyNot: `the Docker engine at ${host} cannot be used: ${why}` };
}

async function look(): Promise<Found> {
  if (process.env.LOOPSTREAM_TEST_SERVERS === 'processes') return { whyNot: 'LOOPSTREAM_TEST_SERVERS says processes' };
  const found = await findEngine();
  if ('whyNot' in found || (await hasImage(found.socket, SERVERS_IMAGE))) return found;
  return { whyNot: `the Docker engine that answers lacks the image ${SERVERS_IMAGE}, which \`make test\` gives it` };
}

let found: Promise<Found> | undefined;

/** The engine to use, or why there is none. Looked for once in a process. */
export const testEngine = (): Promise<Found> => {
  found ??= look();
  return found;
};

/** Of servers that nobody has said more about. */
export async function chosenWay(): Promise<Way> {
  const engine = await testEngine();
  if ('socket' in engine) return 'containers';
  if (process.env.LOOPSTREAM_TEST_SERVERS === 'containers') throw new Error(`no containers: ${engine.whyNot}`);
  return 'processes';
}
