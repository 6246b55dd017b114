/** Tests that a receiver gets the same `connect` and `publish` as from OBS and ffmpeg. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { directTo, readAddress } from '../../../src/core/pods/streamer/output/address.ts';
import { FfmpegTransport } from '../../../src/core/pods/streamer/output/transport.ts';
import { type RtmpRecorder, startRtmpRecorder } from '../../kit/fake/rtmp-recorder.ts';
import { run } from '../../kit/run.ts';
import { until } from '../../kit/wait.ts';

let server: RtmpRecorder;
let host: string;
beforeAll(async () => {
  server = await startRtmpRecorder();
  host = `127.0.0.1:${server.port}`;
});
afterAll(() => server?.close());

const takePublish = async () => {
  await until('published', () => server.publishes.length > 0);
  return server.publishes.splice(0)[0];
};

async function send(rtmpUrl: string, rtmpKey: string) {
  const address = directTo(readAddress({ rtmpUrl, rtmpKey }), { ip: '127.0.0.1' });
  const transport = new FfmpegTransport('ffmpeg', address, { onProgress: () => undefined });
  transport.stdin.write(Buffer.alloc(2 ** 16));
  try {
    return await takePublish();
  } finally {
    transport.kill({ code: 'exited', message: 'the test is over' });
    await transport.ended;
  }
}

/** Sends with ffmpeg, which gets all of it in one argument. */
async function sendByFfmpeg(url: string) {
  const tone = ['-v', 'error', '-f', 'lavfi', '-i', 'sine=d=0.1', '-c:a', 'aac', '-f', 'flv'];
  await run('ffmpeg', [...tone, url]);
  return takePublish();
}

/** URL and key; the application and stream name at the receiver; the argument of ffmpeg alone for the same, if there is one. */
test.each<[path: string, key: string, app: string, name: string, whole?: string]>([
  ['/live', 'k3y', 'live', 'k3y', '/live/k3y'],
  ['/live/', ' k3y\n', 'live', 'k3y', '/live/k3y'],
  ['/live', 'k?a=1&b=2=3', 'live', 'k?a=1&b=2=3', '/live/k?a=1&b=2=3'],
  ['/live', 'a/b%2Fc+d==', 'live', 'a/b%2Fc+d=='],
  ['/live/inst', 'k3y', 'live/inst', 'k3y', '/live/inst/k3y'],
  ['/live?token=a%2Fb+c&e=1', 'k3y', 'live?token=a%2Fb+c&e=1', 'k3y'],
  ['/live/?token=a', 'k3y', 'live/?token=a', 'k3y'],
  ['/live/{stream_key}', 'k3y', 'live', 'k3y', '/live/k3y'],
  ['/live/{stream_key}?bandwidthtest=true', 'k3y', 'live', 'k3y?bandwidthtest=true', '/live/k3y?bandwidthtest=true'],
  ['/live/<stream-key>', 'k?a=1', 'live', 'k?a=1', '/live/k?a=1'],
  ['/live/k3y-0815', 'k3y-0815', 'live', 'k3y-0815', '/live/k3y-0815'],
  ['/live/k3y-0815?a=1', 'k3y-0815', 'live', 'k3y-0815?a=1', '/live/k3y-0815?a=1'],
  ['/live/k3y-0815', '', 'live', 'k3y-0815', '/live/k3y-0815'],
  ['/live/k3y?a=1', '', 'live', 'k3y?a=1', '/live/k3y?a=1'],
  ['/live/inst/k3y', '', 'live/inst', 'k3y', '/live/inst/k3y'],
  ['/live/mp4:a/k3y', '', 'live', 'mp4:a/k3y', '/live/mp4:a/k3y'],
  ['', 'k3y', '', 'k3y'],
  ['/a/../b%20c', 'k3y', 'a/../b%20c', 'k3y'],
  ['/Ünï', 'Kéy', 'Ünï', 'Kéy', '/Ünï/Kéy'],
])('%s with the key %j arrives as %j and %j', async (path, key, app, name, whole) => {
  const expected = { app, tcUrl: `rtmp://${host}/${app}`, name };
  expect(await send(`RTMP://${host}${path}`, key)).toEqual(expected);
  if (whole !== undefined) expect(await sendByFfmpeg(`rtmp://${host}${whole}`)).toEqual(expected);
});
