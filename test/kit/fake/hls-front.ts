/**
 * Stands before a server with HLS, as a CDN does, and has its faults: it passes on what the server has, and changes it by the first part of
 * the path. `/gone/film.m3u8` is the server's `/hls/film.m3u8` until `turn('gone', …)` says how it goes on.
 */
import { createCipheriv } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type FrontMode =
  | 'pass'
  | 'gone'
  | 'page'
  | 'failing'
  /** The segments of now, again and again, under numbers that rise. */
  | 'old'
  | 'segments-gone'
  | 'broken-segments'
  /** A licence is needed. */
  | 'drm'
  /** Keys in the clear. */
  | 'encrypted'
  /** The newest minute is held back. */
  | 'delayed'
  /** A ladder with a rendition in 4K, which nobody should fetch, and the film. */
  | 'ladder'
  | 'endless-playlist'
  | 'endless-page'
  /** A byte a second. */
  | 'drip'
  | 'moved';

export interface HlsFront {
  url: (name: string, film?: string) => string;
  turn: (name: string, mode: FrontMode) => void;
  hasMedia: (name: string) => Promise<boolean>;
  /** Paths that were asked for below a name. */
  asked: (name: string) => string[];
  close: () => Promise<void>;
}

export const KEY = Buffer.alloc(16, 7);
const HELD_BACK_SECONDS = 60;
const OLD_SEGMENTS = 5;

interface Playlist {
  sequence: number;
  entries: { seconds: number; file: string }[];
}

function readPlaylist(text: string): Playlist {
  const sequence = Number(/#EXT-X-MEDIA-SEQUENCE:(\d+)/.exec(text)?.[1] ?? 0);
  const entries = [...text.matchAll(/#EXTINF:([\d.]+),[^\n]*\n([^#\s]+)/g)].map(([, seconds, file = '']) => ({
    seconds: Number(seconds),
    file,
  }));
  return { sequence, entries };
}

const writePlaylist = ({ sequence, entries }: Playlist, lines: readonly string[] = []): string =>
  [
    ...['#EXTM3U', '#EXT-X-VERSION:3', '#EXT-X-TARGETDURATION:4', `#EXT-X-MEDIA-SEQUENCE:${sequence}`, ...lines],
    ...entries.flatMap(({ seconds, file }) => [`#EXTINF:${seconds},`, file]),
    '',
  ].join('\n');

export async function startHlsFront(origin: string): Promise<HlsFront> {
  const modes = new Map<string, { mode: FrontMode; old?: Playlist; sinceMs: number }>();
  const asked = new Map<string, string[]>();

  const server = createServer((request, response) => {
    void serve(request, response).catch(() => response.destroy());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, name = '', file = ''] = (request.url ?? '').split('/');
    asked.set(name, [...(asked.get(name) ?? []), file]);
    const known = modes.get(name) ?? { mode: 'pass' };
    const isPlaylist = file.endsWith('.m3u8');
    if (isPlaylist && (await answerWithoutServer(known.mode, response))) return;
    if (file === 'key') return void response.end(KEY);
    if (!isPlaylist && known.mode === 'segments-gone') return void response.writeHead(404).end();
    const answer = await fetch(`${origin}/${file === 'low.m3u8' ? 'film.m3u8' : file}`);
    let bytes: Buffer = Buffer.from(await answer.arrayBuffer());
    if (answer.ok)
      bytes = isPlaylist ? Buffer.from(changePlaylist(name, String(bytes), file)) : changeSegment(name, bytes, file);
    response
      .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
      .end(bytes);
  }

  function changePlaylist(name: string, text: string, file: string): string {
    const known = modes.get(name) ?? { mode: 'pass', sinceMs: 0 };
    const playlist = readPlaylist(text);
    if (known.mode === 'old') {
      known.old ??= { ...playlist, entries: playlist.entries.slice(-OLD_SEGMENTS) };
      const { entries, sequence } = known.old;
      const passed = Math.floor((Date.now() - known.sinceMs) / 2_000);
      const turned = entries.map((_, at) => entries[(at + passed) % entries.length] ?? { seconds: 2, file: '' });
      return writePlaylist({ sequence: sequence + passed, entries: turned });
    }
    if (known.mode === 'drm')
      return writePlaylist(playlist, [
        '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://key",KEYFORMAT="com.apple.streamingkeydelivery"',
      ]);
    if (known.mode === 'encrypted') return writePlaylist(playlist, ['#EXT-X-KEY:METHOD=AES-128,URI="key"']);
    if (known.mode === 'ladder' && file === 'film.m3u8')
      return '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=16000000,RESOLUTION=3840x2160\n4k.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360\nlow.m3u8\n';
    if (known.mode === 'delayed') {
      let left = HELD_BACK_SECONDS;
      const entries = [...playlist.entries];
      while (left > 0 && entries.length > 0) left -= entries.pop()?.seconds ?? 0;
      return writePlaylist({ ...playlist, entries });
    }
    return text;
  }

  function changeSegment(name: string, bytes: Buffer, file: string): Buffer {
    const mode = modes.get(name)?.mode;
    if (mode === 'broken-segments')
      return Buffer.from(bytes.map((byte, at) => (at % 188 < 20 ? byte : (byte * 31 + at) & 255)));
    if (mode !== 'encrypted') return bytes;
    // nginx names a segment by its number, which is the initialization vector where none is given.
    const iv = Buffer.alloc(16);
    iv.writeUInt32BE(Number(/-(\d+)\.ts$/.exec(file)?.[1]), 12);
    const cipher = createCipheriv('aes-128-cbc', KEY, iv);
    return Buffer.concat([cipher.update(bytes), cipher.final()]);
  }

  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(0, '127.0.0.1', resolve);
  await promise;
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: (name, film = 'film') => `${base}/${name}/${film}.m3u8`,
    hasMedia: async (name) => (await (await fetch(`${base}/${name}/film.m3u8`)).text()).includes('#EXTINF'),
    turn: (name, mode) => void modes.set(name, { mode, sinceMs: Date.now() }),
    asked: (name) => asked.get(name) ?? [],
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** Answers in the server's place; false where the server is asked. */
async function answerWithoutServer(mode: FrontMode, response: ServerResponse): Promise<boolean> {
  const html = { 'content-type': 'text/html' };
  if (mode === 'gone') response.writeHead(404).end('gone');
  else if (mode === 'failing') response.writeHead(503).end('later');
  else if (mode === 'page') response.writeHead(200, html).end('<!doctype html><title>Watch us</title>');
  else if (mode === 'endless-page') pour(response.writeHead(200, html), '<p>all day</p>\n');
  else if (mode === 'endless-playlist')
    pour(response, '#EXTINF:2,\nsegment.ts\n', '#EXTM3U\n#EXT-X-TARGETDURATION:2\n');
  else if (mode === 'drip') drip(response, '#EXTM3U\n#EXT-X-TARGETDURATION:2\n');
  else if (mode === 'moved') response.writeHead(302, { location: 'file:///etc/passwd' }).end();
  else return false;
  return true;
}

/** Writes as fast as it is read, without end. */
function pour(response: ServerResponse, text: string, head = ''): void {
  const block = text.repeat(4_000);
  response.write(head);
  const more = () => {
    while (!response.destroyed && response.write(block));
  };
  response.on('drain', more);
  more();
}

function drip(response: ServerResponse, text: string): void {
  let at = 0;
  const timer = setInterval(() => response.write(text.charAt(at++ % text.length)), 1_000);
  response.once('close', () => clearInterval(timer));
}
