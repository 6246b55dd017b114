import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { connected, counted, destination, expectUntouched, failed } from '../../kit/make/destinations.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram } from '../../kit/make/streamer.ts';
import { type Issued, makeAuthority, startStunnel } from '../../kit/real/certificates.ts';
import { until } from '../../kit/wait.ts';

const KEY = 'verysecret-key-0815';

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

/** Returns the URL of stunnel with this certificate, in front of the receiver. */
async function secure(issued: Issued): Promise<string> {
  const stunnel = await startStunnel(studio.rtmp.port, issued);
  studio.cleanups.push(() => stunnel.close());
  return `rtmps://localhost:${stunnel.port}/live`;
}

test('RTMPS needs a good certificate; an expired one, one for another host and one of a stranger are refused in words', async () => {
  const [ours, theirs] = await Promise.all(['ours', 'theirs'].map((name) => makeAuthority(join(studio.root, name))));
  if (!ours || !theirs) throw new Error('no authority');
  const good = await secure(await ours.issue('good', 'DNS:localhost'));
  const other = await secure(await ours.issue('other', 'DNS:elsewhere.example'));
  const old = await secure(await ours.issue('old', 'DNS:localhost', -1));
  const stranger = await secure(await theirs.issue('stranger', 'DNS:localhost'));
  const names = ['plain', 'good', 'other', 'old', 'stranger'];
  const stream = await studio.onAir(
    buildProgram(studio.items, { destinations: names }),
    {
      plain: [studio.rtmp.url, 'plain'],
      good: [good, 'good'],
      other: [other, KEY],
      old: [old, KEY],
      stranger: [stranger, KEY],
    },
    { env: { LOOPSTREAM_CA_FILE: ours.caFile } },
  );
  await Promise.all(['plain', 'good'].map((name) => connected(stream, name)));
  expect(await failed(stream, 'other', 'tls_failed')).toContain('is for DNS:elsewhere.example, not for localhost');
  expect(await failed(stream, 'old', 'tls_failed')).toMatch(/expired on .*20\d\d/);
  expect(await failed(stream, 'stranger', 'tls_failed')).toContain('authority that is not trusted');
  for (const name of ['other', 'old', 'stranger']) {
    expect(await counted(stream, 'destination_failures_total', name, 'tls_failed')).toBeGreaterThan(0);
    expect(await counted(stream, 'destination_reconnects_total', name, 'tls_failed')).toBe(0);
  }
  await until('enough to look at', async () => (await stream.stats()).framesSent > 150);
  for (const name of ['plain', 'good']) expect(await destination(stream, name)).toMatchObject({ reconnects: 0 });
  expect(stream.log() + JSON.stringify(await stream.stats())).not.toContain(KEY);
  await stream.stop();
  await expectUntouched(studio.rtmp, 'plain');
  await expectUntouched(studio.rtmp, 'good');
  expect(await studio.rtmp.recordings(KEY)).toEqual([]);
});

test('without a setting the system’s authorities are trusted, which do not include ours', async () => {
  const authority = await makeAuthority(join(studio.root, 'unknown'));
  const url = await secure(await authority.issue('unknown', 'DNS:localhost'));
  const stream = await studio.onAir(buildProgram(studio.items), { main: [url, KEY] });
  expect(await failed(stream, 'main', 'tls_failed')).toContain('authority that is not trusted');
  expect(await studio.rtmp.recordings(KEY)).toEqual([]);
});
