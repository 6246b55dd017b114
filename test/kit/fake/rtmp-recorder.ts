/**
 * Runs an RTMP server that records each publisher's `connect` (application and tcUrl) and `publish` (stream name). It can ask for a login
 * in either of the two ways that clients know; test/kit/real/rtmp-login has an independent implementation.
 * test/system/streamer/login.test.ts checks this server's login against ffmpeg and librtmp.
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface Publish {
  app: string;
  tcUrl: string;
  name: string;
}

/** The life of one publish: when it was accepted and when its connection ended (performance.now), in ms. */
export interface Publishing {
  name: string;
  startedMs: number;
  endedMs?: number;
}

export interface RtmpRecorder {
  port: number;
  /** Every `connect`, including refused ones. */
  connects: Omit<Publish, 'name'>[];
  publishes: Publish[];
  /** Every publish that was not refused. */
  publishings: Publishing[];
  /** Everything that clients sent, as text: a secret that is missing here was never sent. */
  received(): string;
  /** Hangs up on the publishers of a stream name, now. */
  hangUp(name: string): void;
  /** Bytes of media from all publishers. */
  mediaBytes(): number;
  /** Every video message with its RTMP timestamp and arrival (performance.now), both in ms. */
  video: { timestampMs: number; arrivedMs: number }[];
  close(): Promise<void>;
}

/** `wowza`: Adobe's login with `opaque` and extra words. `mediamtx`: Adobe's login without them. `limelight`: HTTP digest. */
export type LoginStyle = 'wowza' | 'mediamtx' | 'limelight';

export interface RecorderOptions {
  login?: { user: string; password: string; style: LoginStyle };
  /** Returns whether to refuse a publisher, as if the stream name were in use. */
  isInUse?: (name: string) => boolean;
  /** Returns how long after its publish a publisher is hung up on, in ms; undefined leaves it alone. */
  hangUpAfterMs?: (name: string) => number | undefined;
}

const STYLES = {
  wowza: { mod: 'adobe', opaque: true, around: '[ AccessManager.Reject ] : ' },
  mediamtx: { mod: 'adobe', opaque: false, around: '' },
  limelight: { mod: 'llnw', opaque: false, around: '[ AccessManager.Reject ] : ' },
} as const;

const md5 = (encoding: 'base64' | 'hex', text: string) => createHash('md5').update(text).digest(encoding);

const readPairs = (query: string): Record<string, string | undefined> =>
  Object.fromEntries(query.split('&').map((pair) => /^([^=]*)=?(.*)$/s.exec(pair)?.slice(1) ?? []));

/** Returns the reason for refusing a connection, or undefined. Each challenge is valid once. */
function refusal(app: string, nonces: Set<string>, { user, password, style }: NonNullable<RecorderOptions['login']>) {
  const { mod, opaque, around } = STYLES[style];
  const at = app.indexOf('?authmod=');
  if (at < 0)
    return around === '' ? `code=403 need auth; authmod=${mod}` : `${around}[ code=403 need auth; authmod=${mod} ] : `;
  const said = readPairs(app.slice(at + 1));
  const no = (rest: string) => (around === '' ? `authmod=${mod} ${rest}` : `${around}[ authmod=${mod} ] : ${rest}`);
  if (said.user !== user) return no('?reason=nosuchuser');
  if (said.response === undefined) {
    const nonce = randomBytes(9).toString('base64');
    nonces.add(nonce);
    if (mod === 'llnw') return no(`?reason=needauth&user=${user}&nonce=${nonce}`);
    return no(`?reason=needauth&user=${user}&salt=c2FsdA==&challenge=${nonce}${opaque ? `&opaque=${nonce}` : ''}`);
  }
  const path = app.slice(0, at).split('?')[0] ?? '';
  const what = md5('hex', `publish:/${path}${path.includes('/') ? '' : '/_definst_'}`);
  const expected = (nonce: string) =>
    mod === 'adobe'
      ? md5('base64', md5('base64', `${user}c2FsdA==${password}`) + nonce + said.challenge)
      : md5('hex', `${md5('hex', `${user}:live:${password}`)}:${nonce}:${said.nc}:${said.cnonce}:auth:${what}`);
  const asked = [...nonces].find((nonce) => expected(nonce) === said.response && (!opaque || said.opaque === nonce));
  return asked !== undefined && nonces.delete(asked) ? undefined : no('?reason=authfailed');
}

const string = (text: string) => {
  const head = Buffer.of(2, 0, 0);
  head.writeUInt16BE(Buffer.byteLength(text), 1);
  return Buffer.concat([head, Buffer.from(text)]);
};
const number = (value: number) => {
  const bytes = Buffer.alloc(9);
  bytes.writeDoubleBE(value, 1);
  return bytes;
};
const object = (fields: Record<string, string>) =>
  Buffer.concat([
    Buffer.of(3),
    ...Object.entries(fields).flatMap(([name, value]) => [string(name).subarray(1), string(value)]),
    Buffer.of(0, 0, 9),
  ]);
const NULL = Buffer.of(5);

/** The message is one chunk: the server announces chunks of that size. */
function message(type: number, body: Buffer, streamId = 0): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt8(3);
  head.writeUIntBE(body.length, 4, 3);
  head.writeUInt8(type, 7);
  head.writeUInt32LE(streamId, 8);
  return Buffer.concat([head, body]);
}
const command = (streamId: number, ...parts: Buffer[]) => message(20, Buffer.concat(parts), streamId);
const SET_CHUNK_SIZE = message(1, Buffer.of(0, 0, 16, 0));

/** Decodes the values of a command: numbers, strings, null and objects of them. */
function decode(body: Buffer): unknown[] {
  let at = 0;
  const short = () => {
    const length = body.readUInt16BE(at);
    at += 2 + length;
    return body.toString('utf8', at - length, at);
  };
  const value = (): unknown => {
    const marker = body.readUInt8(at++);
    if (marker === 0) {
      at += 8;
      return body.readDoubleBE(at - 8);
    }
    if (marker === 1) return body.readUInt8(at++) === 1;
    if (marker === 2) return short();
    if (marker !== 3) return null;
    const members: Record<string, unknown> = {};
    for (let name = short(); name !== ''; name = short()) members[name] = value();
    at += 1;
    return members;
  };
  const values: unknown[] = [];
  while (at < body.length) values.push(value());
  return values;
}

interface ChunkStream {
  type: number;
  bytes: number;
  body: Buffer[];
  got: number;
  timestampMs: number;
  /** Milliseconds that a message without its own timestamp adds to its predecessor's. */
  stepMs: number;
}

/** Reassembles messages from arriving chunks. */
function reader(onMessage: (type: number, body: Buffer, timestampMs: number) => void) {
  const streams = new Map<number, ChunkStream>();
  let chunkBytes = 128;
  let rest = Buffer.alloc(0);
  return (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    for (let at = 0; at < rest.length; rest = rest.subarray(at), at = 0) {
      const first = rest.readUInt8(0);
      const headerBytes = [11, 7, 3, 0][first >> 6] ?? 0;
      if (rest.length < 1 + headerBytes) return;
      const stream = streams.get(first & 63) ?? {
        type: 0,
        bytes: 0,
        body: [],
        got: 0,
        timestampMs: 0,
        stepMs: 0,
      };
      streams.set(first & 63, stream);
      if (headerBytes >= 7) [stream.bytes, stream.type] = [rest.readUIntBE(4, 3), rest.readUInt8(7)];
      const long = headerBytes >= 3 && rest.readUIntBE(1, 3) === 0xffffff ? 4 : 0;
      const part = Math.min(chunkBytes, stream.bytes - stream.got);
      at = 1 + headerBytes + long + part;
      if (rest.length < at) return;
      if (stream.got === 0) {
        if (headerBytes >= 3) stream.stepMs = long > 0 ? rest.readUInt32BE(1 + headerBytes) : rest.readUIntBE(1, 3);
        stream.timestampMs = headerBytes === 11 ? stream.stepMs : stream.timestampMs + stream.stepMs;
      }
      stream.body.push(rest.subarray(at - part, at));
      stream.got += part;
      if (stream.got < stream.bytes) continue;
      const body = Buffer.concat(stream.body);
      [stream.body, stream.got] = [[], 0];
      if (stream.type === 1) chunkBytes = body.readUInt32BE(0);
      else onMessage(stream.type, body, stream.timestampMs);
    }
  };
}

export async function startRtmpRecorder({
  login,
  isInUse,
  hangUpAfterMs,
}: RecorderOptions = {}): Promise<RtmpRecorder> {
  const connects: RtmpRecorder['connects'] = [];
  const publishes: Publish[] = [];
  const video: RtmpRecorder['video'] = [];
  const nonces = new Set<string>();
  const sockets = new Set<Socket>();
  const publishings: Publishing[] = [];
  const onAir = new Map<Publishing, Socket>();
  let [text, mediaBytes] = ['', 0];

  const serve = (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
    const said = { app: '', tcUrl: '' };
    const onMessage = (type: number, body: Buffer, timestampMs: number) => {
      if (type === 9) video.push({ timestampMs, arrivedMs: performance.now() });
      if (type === 8 || type === 9) mediaBytes += body.length;
      if (type !== 20) return;
      const [name, id, ...values] = decode(body) as [string, number, ...unknown[]];
      if (name === 'connect') {
        Object.assign(said, values[0], {});
        connects.push({ app: said.app, tcUrl: said.tcUrl });
        const why = login && refusal(said.app, nonces, login);
        const info = why
          ? { level: 'error', code: 'NetConnection.Connect.Rejected', description: why }
          : { level: 'status', code: 'NetConnection.Connect.Success', description: 'Connection succeeded.' };
        socket.write(SET_CHUNK_SIZE);
        socket.write(command(0, string(why ? '_error' : '_result'), number(id), NULL, object(info)));
        if (why) socket.end(command(0, string('close'), number(0), NULL));
      } else if (name === 'createStream') {
        socket.write(command(0, string('_result'), number(id), NULL, number(1)));
      } else if (name === 'publish') {
        const streamName = String(values[1]);
        publishes.push({ app: said.app, tcUrl: said.tcUrl, name: streamName });
        if (isInUse?.(streamName)) {
          const refusal = {
            level: 'error',
            code: 'NetStream.Publish.BadName',
            description: 'Stream already publishing',
          };
          socket.end(command(1, string('onStatus'), number(0), NULL, object(refusal)));
          return;
        }
        const info = { level: 'status', code: 'NetStream.Publish.Start', description: 'Publishing.' };
        socket.write(command(1, string('onStatus'), number(0), NULL, object(info)));
        const publishing: Publishing = { name: streamName, startedMs: performance.now() };
        publishings.push(publishing);
        onAir.set(publishing, socket);
        const afterMs = hangUpAfterMs?.(streamName);
        const timer = afterMs === undefined ? undefined : setTimeout(() => socket.destroy(), afterMs);
        socket.once('close', () => {
          clearTimeout(timer);
          publishing.endedMs = performance.now();
          onAir.delete(publishing);
        });
      }
    };
    const read = reader(onMessage);
    let greeting: Buffer | undefined = Buffer.alloc(0);
    socket.on('data', (data) => {
      if (text.length < 2 ** 20) text += data.toString('latin1');
      if (!greeting) return read(data);
      const before: number = greeting.length;
      greeting = Buffer.concat([greeting, data]);
      if (before < 1537 && greeting.length >= 1537)
        socket.write(Buffer.concat([Buffer.of(3), Buffer.alloc(1536), greeting.subarray(1, 1537)]));
      if (greeting.length < 3073) return;
      const rest = greeting.subarray(3073);
      greeting = undefined;
      read(rest);
    });
  };
  const server = createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connects,
    publishes,
    publishings,
    received: () => text,
    hangUp: (name) => {
      for (const [publishing, socket] of onAir) if (publishing.name === name) socket.destroy();
    },
    mediaBytes: () => mediaBytes,
    video,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
