/**
 * Plays an RTMP address for a few seconds, as the simplest player: Adobe's RTMP specification 1.0, AMF 0 specification. The address is
 * checked as links are, and the bytes are taken here: the ffmpeg that decodes has no network.
 */
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { guardedConnector } from '../../lib/guarded-agent.ts';
import { hostRefusal } from '../../lib/public-address.ts';
import { TAG_AUDIO, TAG_VIDEO } from '../../pods/rendition/flv.ts';
import type { MediaTag } from './keyframes.ts';
import { MAX_PLAYED_BYTES, type TagSource } from './play.ts';
import {
  ACKNOWLEDGED_BYTES,
  acknowledge,
  ChunkReader,
  encodeCommand,
  HELLO_BYTES,
  RtmpError,
  type RtmpMessage,
  readCommand,
  readPing,
} from './rtmp-messages.ts';
import { WatchError, type WebOptions } from './web.ts';

const CONNECT_TIMEOUT_MS = 5_000;
const PORTS = { rtmp: '1935', rtmps: '443' };
/** The server's own buffer for us, in milliseconds: no more than what is live. */
const BUFFER_MS = 1_000;

interface PlayAddress {
  isSecure: boolean;
  hostname: string;
  port: string;
  app: string;
  tcUrl: string;
  stream: string;
}

/** The last part of the path, with the query, is the stream; what is in front of it is the application. */
function readPlayAddress(address: string): PlayAddress {
  const url = URL.parse(address);
  const parts = url?.pathname.split('/').filter((part) => part !== '') ?? [];
  const name = parts.pop();
  if (!url?.hostname || name === undefined) throw new WatchError('not_media');
  const isSecure = url.protocol === 'rtmps:';
  const port = url.port || PORTS[isSecure ? 'rtmps' : 'rtmp'];
  const app = parts.join('/');
  return {
    isSecure,
    hostname: url.hostname,
    port,
    app,
    tcUrl: `${url.protocol}//${url.hostname}:${port}/${app}`,
    stream: `${name}${url.search}`,
  };
}

/** Throws WatchError, or the signal's reason. */
export const playRtmp = (address: string, options: WebOptions): TagSource =>
  async function* (signal) {
    const to = readPlayAddress(address);
    const socket = await open(to, options, signal);
    const close = () => socket.destroy();
    signal.addEventListener('abort', close, { once: true });
    let hasAnswered = false;
    try {
      socket.write(Buffer.concat([Buffer.of(3), Buffer.alloc(8), randomBytes(HELLO_BYTES - 9)]));
      const reader = new ChunkReader();
      let hello: Buffer | undefined = Buffer.alloc(0);
      let bytes = 0;
      let acknowledged = 0;
      for await (const chunk of socket as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        let media = chunk;
        if (hello) {
          hello = Buffer.concat([hello, chunk]);
          if (hello.length < 2 * HELLO_BYTES - 1) continue;
          // C2 repeats the server's S1.
          socket.write(hello.subarray(1, HELLO_BYTES));
          socket.write(
            encodeCommand(0, 'connect', 1, { app: to.app, tcUrl: to.tcUrl, fpad: false, flashVer: 'LNX 9,0,124,2' }),
          );
          media = hello.subarray(2 * HELLO_BYTES - 1);
          hello = undefined;
        }
        const messages = reader.push(media);
        for (const message of messages) answer(message, to, socket);
        if (bytes - acknowledged > ACKNOWLEDGED_BYTES) {
          socket.write(acknowledge(bytes));
          acknowledged = bytes;
        }
        const tags = messages.flatMap(({ type, timestampMs, body }): MediaTag[] =>
          type === TAG_VIDEO || type === TAG_AUDIO ? [{ type, timestampMs, body }] : [],
        );
        hasAnswered ||= messages.length > 0;
        yield { tags, heldBytes: reader.heldBytes, hasAnswered };
        if (bytes > MAX_PLAYED_BYTES) return;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof WatchError) throw error;
      throw new WatchError(error instanceof RtmpError ? 'not_media' : 'unreachable');
    } finally {
      signal.removeEventListener('abort', close);
      socket.destroy();
    }
  };

function open({ isSecure, hostname, port }: PlayAddress, options: WebOptions, signal: AbortSignal): Promise<Socket> {
  const { allowPrivate, lookup } = options;
  if (hostRefusal(hostname, allowPrivate) !== undefined) throw new WatchError('forbidden_address');
  const forbid = () => new WatchError('forbidden_address');
  const connect = guardedConnector({ allowPrivate, lookup, connectTimeoutMs: CONNECT_TIMEOUT_MS, forbid });
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  connect({ hostname, port, protocol: isSecure ? 'https:' : 'http:' }, (error, socket) => {
    if (signal.aborted) socket?.destroy();
    if (socket) resolve(socket.on('error', () => undefined));
    else reject(error instanceof WatchError ? error : new WatchError('unreachable'));
  });
  return promise;
}

/** Does what a player does next. Throws WatchError where the server refuses. */
function answer(message: RtmpMessage, { stream }: PlayAddress, socket: Socket): void {
  const pong = readPing(message);
  if (pong) return void socket.write(pong);
  const command = readCommand(message);
  if (!command) return;
  const { name, transaction, code, number } = command;
  if (name === '_error') throw new WatchError('unauthorized');
  if (name === '_result' && transaction === 1) socket.write(encodeCommand(0, 'createStream', 2, null));
  if (name === '_result' && transaction === 2)
    socket.write(encodeCommand(number ?? 1, 'play', 3, null, stream, -BUFFER_MS));
  if (name !== 'onStatus') return;
  if (/NotFound|Unpublish/i.test(code)) throw new WatchError('address_not_found');
  if (/Failed|Rejected|Denied|Unauthori/i.test(code)) throw new WatchError('unauthorized');
}
