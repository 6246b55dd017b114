/**
 * Runs ffmpeg and ffprobe for a Job through the decoder (decoder.ts), the container beside it, which has no credentials
 * and sees one folder, read-only. The keeper listens on a socket in a shared folder, and the decoder connects and waits
 * for work: so the decoder needs no folder to write to. A connection serves one run of a tool.
 */
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { FrameParser, type ToolEnd, type ToolRequest } from './decoder-protocol.ts';
import { shortSocketPath } from './socket-path.ts';
import { type RunningTool, ToolError, type ToolOptions, type ToolStarter } from './tool.ts';

/**
 * Limit for the decoder's arrival: its image is there, so it takes as long as a process needs to start on a busy node.
 */
const ARRIVAL_MS = 120_000;
/** A decoder opens few connections at a time; further ones are refused. */
const MAX_CONNECTIONS = 16;

export interface Keeper {
  tool(name: ToolRequest['tool']): ToolStarter;
  close(): Promise<void>;
}

/** Rejects when it cannot listen at `path`. */
export async function openKeeper(path: string, arrivalMs = ARRIVAL_MS): Promise<Keeper> {
  const idle: Socket[] = [];
  const waiting: ((socket: Socket) => void)[] = [];
  const server = createServer((socket) => {
    // The end of a connection reports its errors.
    socket.on('error', () => undefined);
    const take = waiting.shift();
    if (take) return take(socket);
    idle.push(socket);
    socket.once('close', () => {
      const at = idle.indexOf(socket);
      if (at >= 0) idle.splice(at, 1);
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  rmSync(path, { force: true });
  const short = shortSocketPath(path);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(short.path, resolve));
  // The decoder has another user, and the group of the pod's volumes.
  chmodSync(path, 0o660);

  /** Waits for a connection of the decoder; rejects with ToolError when none comes, or with the signal's reason. */
  const connection = (signal: AbortSignal): Promise<Socket> => {
    const ready = idle.shift();
    if (ready) return Promise.resolve(ready);
    return new Promise((resolve, reject) => {
      const leave = (error: unknown) => {
        const at = waiting.indexOf(take);
        if (at >= 0) waiting.splice(at, 1);
        settle();
        reject(error);
      };
      const aborted = () => leave(signal.reason);
      const timer = setTimeout(() => leave(new ToolError('the decoder did not connect', true, '')), arrivalMs);
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', aborted);
      };
      const take = (socket: Socket) => {
        settle();
        resolve(socket);
      };
      waiting.push(take);
      signal.addEventListener('abort', aborted, { once: true });
    });
  };

  return {
    tool: (tool) => ({ start: (args, signal, options) => runRemotely({ tool, args }, connection, signal, options) }),
    close: () =>
      new Promise((resolve) => {
        for (const socket of idle) socket.destroy();
        server.close(() => {
          short.release();
          resolve();
        });
      }),
  };
}

function runRemotely(
  request: ToolRequest,
  connection: (signal: AbortSignal) => Promise<Socket>,
  signal: AbortSignal,
  { input, isBackground }: ToolOptions = {},
): RunningTool {
  let socket: Socket | undefined;
  const stdout = new Readable({ read: () => socket?.resume() });
  const done = connection(signal).then((taken) => {
    socket = taken;
    return follow(taken, { ...request, ...(isBackground && { isBackground }) }, stdout, signal, input);
  });
  // The output ends in any case; `done` knows whether it was complete.
  done.then(
    () => stdout.push(null),
    () => stdout.push(null),
  );
  return { stdout, done };
}

/** Sends the request and its input, and passes its output on, as fast as it is read. Resolves with the tail of stderr. */
function follow(
  socket: Socket,
  request: ToolRequest,
  stdout: Readable,
  signal: AbortSignal,
  input: ToolOptions['input'],
): Promise<string> {
  return new Promise((resolve, reject) => {
    let end: ToolEnd | undefined;
    const parser = new FrameParser(
      (bytes) => {
        if (!stdout.push(bytes)) socket.pause();
      },
      (told) => {
        end = told;
        socket.destroy();
      },
    );
    const kill = () => socket.destroy();
    signal.addEventListener('abort', kill, { once: true });
    socket.on('data', (bytes) => {
      try {
        if (!end) parser.push(bytes);
      } catch {
        socket.destroy();
      }
    });
    socket.once('close', () => {
      signal.removeEventListener('abort', kill);
      if (end?.ok) return resolve(end.stderr);
      if (signal.aborted) return reject(signal.reason);
      if (end) return reject(new ToolError(end.message, end.killed, end.stderr));
      reject(new ToolError(`${request.tool} was lost with its decoder`, true, ''));
    });
    if (signal.aborted || socket.destroyed) return socket.destroy();
    socket.write(`${JSON.stringify({ ...request, ...(input && { takesInput: true }) })}\n`);
    // The end of the input closes one direction alone. A tool may end before its input does, and its end says why.
    if (input) pipeline(input, socket).catch(() => undefined);
  });
}
