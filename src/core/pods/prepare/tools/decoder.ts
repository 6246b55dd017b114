/**
 * Runs ffmpeg and ffprobe on strangers' files, in a container beside the keeper of a Job (keeper.ts). A compromised
 * decoder has nothing to give away: no credentials, no storage, no folder to write to. It connects to the keeper's
 * socket, gets one run of one tool, sends the tool's output and end, and connects again.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { sleep } from '../../../lib/clock.ts';
import type { Lifecycle } from '../../../lib/lifecycle.ts';
import type { Logger } from '../../../lib/log.ts';
import type { DecoderConfig } from '../../../protocol/environment.ts';
import { type ConfinedTools, confinedTools } from './confined-tools.ts';
import {
  encodeEnd,
  MAX_REQUEST_BYTES,
  outputHeader,
  parseRequest,
  type ToolEnd,
  type ToolRequest,
} from './decoder-protocol.ts';
import { shortSocketPath } from './socket-path.ts';
import { startTool, ToolError } from './tool.ts';

/** Tools at a time: one makes a rendition, another reads the source, a third makes its poster, and the next need not wait for the last connection. */
const PARALLEL = 4;
const RETRY_MS = { first: 10, longest: 250 };
/** Works until the lifecycle ends, and then ends its tools. Resolves with the exit code. */
export async function runDecoder(config: DecoderConfig, lifecycle: Lifecycle, log: Logger): Promise<number> {
  const tools = confinedTools(config, log);
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  lifecycle.defer('decoder', () => settled);
  try {
    await Promise.all(Array.from({ length: PARALLEL }, () => serve(config.socket, tools, lifecycle.signal, log)));
    return 0;
  } finally {
    settle();
  }
}

async function serve(path: string, tools: ConfinedTools, signal: AbortSignal, log: Logger): Promise<void> {
  let waitMs = RETRY_MS.first;
  while (!signal.aborted) {
    const socket = await open(path);
    if (!socket) {
      await sleep(waitMs, signal).catch(() => undefined);
      waitMs = Math.min(2 * waitMs, RETRY_MS.longest);
      continue;
    }
    waitMs = RETRY_MS.first;
    const leave = () => socket.destroy();
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    await perform(socket, tools, log);
    signal.removeEventListener('abort', leave);
  }
}

/** Connects to the keeper; undefined when it does not listen yet, or no longer. */
function open(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    let address: string;
    let release: (() => void) | undefined;
    try {
      ({ path: address, release } = shortSocketPath(path));
    } catch {
      return resolve(undefined);
    }
    // The end of a tool's input does not end its output.
    const socket = connect({ path: address, allowHalfOpen: true });
    socket.once('connect', () => resolve(socket));
    // The end of the connection reports later errors.
    socket.on('error', () => resolve(undefined));
    for (const event of ['connect', 'error']) socket.once(event, () => release?.());
  });
}

/** Serves one connection: one request, one run. The run ends with the connection, whichever side closes it. */
async function perform(socket: Socket, tools: ConfinedTools, log: Logger): Promise<void> {
  const gone = new AbortController();
  socket.once('close', () => gone.abort(new Error('the keeper is gone')));
  const request = await read(socket);
  if (!request?.takesInput) socket.once('end', () => socket.destroy());
  if (!request) {
    socket.destroy();
    return;
  }
  const startedAt = performance.now();
  const end = await run(request, tools, socket, gone.signal);
  const seconds = Math.round(performance.now() - startedAt) / 1000;
  log.info({ tool: request.tool, seconds, ok: end.ok }, end.ok ? 'the tool is done' : end.message);
  if (!socket.destroyed) socket.end(encodeEnd(end));
  // Input that the tool has left; behind it the keeper's end is seen.
  socket.resume();
  // The keeper closes the connection when it has read the end.
  if (!socket.closed) await once(socket, 'close').catch(() => undefined);
}

/** Reads the first line; undefined when the connection ends before one, or it is no request. */
function read(socket: Socket): Promise<ToolRequest | undefined> {
  return new Promise((resolve) => {
    let all = Buffer.alloc(0);
    const settle = (request: ToolRequest | undefined) => {
      socket.off('data', take).off('end', lost).off('close', lost).pause();
      resolve(request);
    };
    const lost = () => settle(undefined);
    const take = (bytes: Buffer) => {
      all = Buffer.concat([all, bytes]);
      const end = all.indexOf('\n');
      if (end < 0 && all.length <= MAX_REQUEST_BYTES) return;
      settle(end < 0 ? undefined : parseRequest(all.toString('utf8', 0, end)));
      if (end >= 0 && end + 1 < all.length) socket.unshift(all.subarray(end + 1));
    };
    socket.on('data', take).once('end', lost).once('close', lost);
  });
}

async function run(
  { tool, args, takesInput, isBackground }: ToolRequest,
  tools: ConfinedTools,
  socket: Socket,
  signal: AbortSignal,
): Promise<ToolEnd> {
  try {
    const input = takesInput ? (socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) : undefined;
    const running = startTool(tools[tool], args, signal, { input, isBackground });
    // The keeper sends nothing more; without a reader, the end would not be seen.
    if (!takesInput) socket.resume();
    for await (const bytes of running.stdout as AsyncIterable<Buffer>) {
      socket.cork();
      socket.write(outputHeader(bytes.length));
      const more = socket.write(bytes);
      socket.uncork();
      if (!more && !socket.destroyed) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
    }
    return { ok: true, message: '', killed: false, stderr: await running.done };
  } catch (error) {
    const { killed, stderr } = error instanceof ToolError ? error : { killed: true, stderr: '' };
    const message = (error instanceof Error ? error.message : String(error)).slice(0, 512);
    return { ok: false, message, killed, stderr };
  }
}
