/** Watches a real server, to which a real streamer sends, as viewers do: by HLS, HTTP-FLV and RTMP. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { makeFilmRendition } from '../../kit/film/footage.ts';
import { makeFilm } from '../../kit/film/synthetic.ts';
import { openStudio, type Running, type Studio } from '../../kit/make/onair.ts';
import { buildProgram } from '../../kit/make/streamer.ts';
import { publishedBy, startWatching, type Watching } from '../../kit/make/watching.ts';
import { type RtmpServer, startRtmpServer } from '../../kit/real/rtmp.ts';

let studio: Studio;
let rtmp: RtmpServer;
let stream: Running;
let watching: Watching;
let hls: (name: string) => string;

beforeAll(async () => {
  studio = await openStudio();
  const port = await reserveFreePort();
  rtmp = await startRtmpServer({ record: join(studio.root, 'seen'), hls: { port } });
  hls = (name) => `http://127.0.0.1:${port}/hls/${name}.m3u8`;
  const film = await makeFilmRendition(join(studio.root, 'storage'), 'film', { seconds: 60, draw: makeFilm(11).at });
  stream = await studio.onAir(buildProgram([film]), { main: [rtmp.hlsUrl, 'film'] });
  watching = startWatching();
});
afterAll(async () => {
  await watching?.end();
  await studio?.cleanUp();
  await rtmp?.close();
  await studio?.close();
});

test('a stream that viewers get is True, by HLS, HTTP-FLV and RTMP', async () => {
  const addresses = { hls: hls('film'), flv: `${stream.base}/preview.flv`, rtmp: `${rtmp.hlsUrl}/film` };
  for (const [key, url] of Object.entries(addresses)) watching.add(key, url, publishedBy(stream.base));
  for (const key of Object.keys(addresses)) {
    await watching.says(key, 'True');
    expect(watching.words(key).join()).not.toContain('False');
    expect(watching.verdict(key)?.lastSeenMs).toBeGreaterThan(Date.now() - 60_000);
  }
});
