/**
 * Talks to a Docker engine over its socket: whether it runs, its images, containers by label, and faults of a running container. It loads
 * no library, since every worker asks for an engine.
 */
import { execFileSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { request } from 'node:http';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

const TIMEOUT_MS = 60_000;

export interface EngineAnswer {
  status: number;
  content: Buffer;
}

interface Question {
  /** A tar archive. */
  body?: Readable;
  timeoutMs?: number;
}

/** Sends a request. Rejects when the engine does not answer; an error status is an answer. */
export async function sendRequest(
  socket: string,
  method: string,
  path: string,
  question: Question = {},
): Promise<EngineAnswer> {
  const { body, timeoutMs = TIMEOUT_MS } = question;
  const headers = body ? { 'content-type': 'application/x-tar' } : {};
  const signal = AbortSignal.timeout(timeoutMs);
  // Each request has a connection of its own: a kept one would outlive an engine that restarts on the same socket.
  const sent = request({ socketPath: socket, method, path, headers, signal, agent: false });
  const answered = Promise.withResolvers<EngineAnswer>();
  sent.once('error', answered.reject);
  sent.once('response', (response) => {
    const status = response.statusCode ?? 0;
    buffer(response).then((content) => answered.resolve({ status, content }), answered.reject);
  });
  if (body) body.once('error', (error) => sent.destroy(error)).pipe(sent);
  else sent.end();
  return answered.promise;
}

/** Sends a request; any status but 2xx is an error with the engine's message. */
export async function sendOrThrow(socket: string, method: string, path: string, question?: Question): Promise<Buffer> {
  const { status, content } = await sendRequest(socket, method, path, question);
  if (status >= 400) throw new Error(`the engine refused ${method} ${path}: ${content.toString().trim().slice(-500)}`);
  return content;
}

export const readJson = async <T>(socket: string, path: string): Promise<T> =>
  JSON.parse(String(await sendOrThrow(socket, 'GET', path))) as T;

/** A synchronous `sendOrThrow`. */
export const sendOrThrowSync = (socket: string, method: string, path: string): void =>
  void execFileSync(process.execPath, [import.meta.filename, socket, method, path], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });

export const isReachable = (socket: string): Promise<boolean> =>
  sendRequest(socket, 'GET', '/_ping', { timeoutMs: 5_000 }).then(
    ({ status }) => status === 200,
    () => false,
  );

export const hasImage = async (socket: string, name: string): Promise<boolean> =>
  (await sendRequest(socket, 'GET', `/images/${name}/json`)).status === 200;

/** Makes an image of one layer from a tar archive of its files. `changes` are instructions of a Dockerfile. */
export async function importImage(
  socket: string,
  name: string,
  archive: string,
  changes: readonly string[] = [],
): Promise<void> {
  const [repo = '', tag = ''] = name.split(':');
  const query = new URLSearchParams({ fromSrc: '-', repo, tag });
  for (const change of changes) query.append('changes', change);
  const body = createReadStream(archive);
  const said = await sendOrThrow(socket, 'POST', `/images/create?${query}`, { body, timeoutMs: 10 * TIMEOUT_MS });
  // The engine reports an error at the end of an answer that began well.
  if (!(await hasImage(socket, name))) throw new Error(`the engine did not take ${archive}: ${String(said).trim()}`);
}

if (import.meta.main) {
  const [socket = '', method = '', path = ''] = process.argv.slice(2);
  await sendOrThrow(socket, method, path);
}
