/** One container of the tests' servers, started by testcontainers, which is loaded only when there is an engine to use. */
import type { StartedTestContainer } from 'testcontainers';
import { demand, demandJson, demandNow } from './api.ts';
import { ownerLabel, removeContainer } from './containers.ts';
import { testEngine } from './find.ts';
import { SERVERS_IMAGE } from './image.ts';

export interface ContainerSpec {
  /** Others on the machine can read it: never a secret. */
  command: string[];
  /** A user of the image. */
  user: string;
  /** Copied into the container before it starts; readable there by everybody. */
  files: Record<string, string>;
  /** Directories in memory, for everybody to write to. */
  inMemory?: string[];
}

export interface Container {
  /** At once and without a word, as a crash would. What it had on disk is there when it starts again. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Nothing in it runs any more, until `unpause`. Both have happened when they return. */
  pause(): void;
  unpause(): void;
  /** Throws its last words when it has ended. */
  check(): Promise<void>;
  remove(): Promise<void>;
}

/** The library reads these when it is loaded. What it starts is removed by us, and found on our own loopback address. */
async function library(socket: string) {
  process.env.DOCKER_HOST = `unix://${socket}`;
  process.env.TESTCONTAINERS_RYUK_DISABLED = 'true';
  process.env.TESTCONTAINERS_HOST_OVERRIDE = '127.0.0.1';
  return import('testcontainers');
}

/** Resolves when it runs; whether its server answers is for the caller to ask. */
export async function runContainer({ command, user, files, inMemory = [] }: ContainerSpec): Promise<Container> {
  const engine = await testEngine();
  if ('whyNot' in engine) throw new Error(`no containers: ${engine.whyNot}`);
  const { GenericContainer } = await library(engine.socket);
  const started = await new GenericContainer(SERVERS_IMAGE)
    .withNetworkMode('host')
    .withUser(user)
    .withLabels(ownerLabel())
    .withTmpFs(Object.fromEntries(inMemory.map((dir) => [dir, 'rw,mode=1777'])))
    .withCopyContentToContainer(Object.entries(files).map(([target, content]) => ({ content, target, mode: 0o444 })))
    .withCommand(command)
    .start();
  return controls(engine.socket, started);
}

function controls(socket: string, started: StartedTestContainer): Container {
  const id = started.getId();
  const isRunning = async () =>
    (await demandJson<{ State: { Running: boolean } }>(socket, `/containers/${id}/json`)).State.Running;
  return {
    async kill() {
      if (!(await isRunning())) return;
      await demand(socket, 'POST', `/containers/${id}/kill`);
      await demand(socket, 'POST', `/containers/${id}/wait`);
    },
    start: async () => void (await demand(socket, 'POST', `/containers/${id}/start`)),
    pause: () => demandNow(socket, 'POST', `/containers/${id}/pause`),
    unpause: () => demandNow(socket, 'POST', `/containers/${id}/unpause`),
    async check() {
      if (await isRunning()) return;
      const logged = await demand(socket, 'GET', `/containers/${id}/logs?stdout=true&stderr=true&tail=5`);
      throw new Error(`the container ended: ${linesOf(logged).join(' ')}`);
    },
    remove: () => removeContainer(socket, id),
  };
}

const HEADER_BYTES = 8;
const LENGTH_AT = 4;

/** An engine sends what a container wrote in frames: which stream it was, how many bytes follow, and these. */
function linesOf(logged: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at + HEADER_BYTES <= logged.length; ) {
    const end = at + HEADER_BYTES + logged.readUInt32BE(at + LENGTH_AT);
    lines.push(logged.toString('utf8', at + HEADER_BYTES, end).trim());
    at = end;
  }
  return lines;
}
