/** Runs one container of the tests' servers with testcontainers, which is loaded only when there is an engine. */
import type { StartedTestContainer } from 'testcontainers';
import { readJson, sendOrThrow, sendOrThrowSync } from './api.ts';
import { ownerLabel, removeContainer } from './containers.ts';
import { testEngine } from './find.ts';
import { SERVERS_IMAGE } from './image.ts';

export interface ContainerSpec {
  /** Other users of the machine can read it: never a secret. */
  command: string[];
  /** A user of the image. */
  user: string;
  /** Files to copy into the container before its start, readable by every user there. */
  files: Record<string, string>;
  /** Directories in memory, writable by every user. */
  inMemory?: string[];
}

export interface Container {
  /** Kills it at once, as in a crash. A restart finds its files again. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops all its processes until `unpause`. Both take effect before they return. */
  pause(): void;
  unpause(): void;
  /** Throws its last output when it has ended. */
  check(): Promise<void>;
  remove(): Promise<void>;
}

/** The library reads these variables when it is loaded. Our own code removes the containers, and uses our own loopback address. */
async function library(socket: string) {
  process.env.DOCKER_HOST = `unix://${socket}`;
  process.env.TESTCONTAINERS_RYUK_DISABLED = 'true';
  process.env.TESTCONTAINERS_HOST_OVERRIDE = '127.0.0.1';
  return import('testcontainers');
}

/** Resolves when the container runs; the caller checks its server. */
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
    (await readJson<{ State: { Running: boolean } }>(socket, `/containers/${id}/json`)).State.Running;
  return {
    async kill() {
      if (!(await isRunning())) return;
      await sendOrThrow(socket, 'POST', `/containers/${id}/kill`);
      await sendOrThrow(socket, 'POST', `/containers/${id}/wait`);
    },
    start: async () => void (await sendOrThrow(socket, 'POST', `/containers/${id}/start`)),
    pause: () => sendOrThrowSync(socket, 'POST', `/containers/${id}/pause`),
    unpause: () => sendOrThrowSync(socket, 'POST', `/containers/${id}/unpause`),
    async check() {
      if (await isRunning()) return;
      const logged = await sendOrThrow(socket, 'GET', `/containers/${id}/logs?stdout=true&stderr=true&tail=5`);
      throw new Error(`the container ended: ${parseLines(logged).join(' ')}`);
    },
    remove: () => removeContainer(socket, id),
  };
}

const HEADER_BYTES = 8;
const LENGTH_AT = 4;

/** An engine sends a container's output in frames: the stream's number, the length, and the bytes. */
function parseLines(logged: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at + HEADER_BYTES <= logged.length; ) {
    const end = at + HEADER_BYTES + logged.readUInt32BE(at + LENGTH_AT);
    lines.push(logged.toString('utf8', at + HEADER_BYTES, end).trim());
    at = end;
  }
  return lines;
}
