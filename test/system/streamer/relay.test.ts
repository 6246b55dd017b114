/** Tests RTMPS by name, to the checked address: the server sees the name, and no other lookup happens. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { connected, destination, expectUntouched, failed } from '../../kit/make/destinations.ts';
import { openStudio, type Studio } from '../../kit/make/onair.ts';
import { buildProgram } from '../../kit/make/streamer.ts';
import { makeAuthority, startStunnel } from '../../kit/real/certificates.ts';
import { until } from '../../kit/wait.ts';

let studio: Studio;
beforeAll(async () => {
  studio = await openStudio();
});
afterEach(() => studio?.cleanUp());
afterAll(() => studio?.close());

test('names that only the check could resolve are published to, by RTMP and RTMPS; the certificate is held against the name', async () => {
  const authority = await makeAuthority(join(studio.root, 'named'));
  const stunnel = await startStunnel(studio.rtmp.port, await authority.issue('named', 'DNS:ingest.example'));
  studio.cleanups.push(() => stunnel.close());
  const names = ['plain', 'secure', 'other', 'closed'];
  const stream = await studio.onAir(
    buildProgram(studio.items, { destinations: names }),
    {
      plain: [studio.rtmp.url.replace('127.0.0.1', 'ingest.example'), 'plain'],
      secure: [`rtmps://ingest.example:${stunnel.port}/live`, 'secure'],
      other: [`rtmps://elsewhere.example:${stunnel.port}/live`, 'other'],
      closed: [`rtmps://ingest.example:${await reserveFreePort()}/live`, 'closed'],
    },
    { env: { LOOPSTREAM_CA_FILE: authority.caFile }, lookup: async () => [{ address: '127.0.0.1' }] },
  );
  await Promise.all(['plain', 'secure'].map((name) => connected(stream, name)));
  expect(await failed(stream, 'other', 'tls_failed')).toContain('is for DNS:ingest.example, not for elsewhere.example');
  await failed(stream, 'closed', 'connection_refused');
  await until('enough to look at', async () => (await stream.stats()).framesSent > 150);
  for (const name of ['plain', 'secure']) expect(await destination(stream, name)).toMatchObject({ reconnects: 0 });
  await stream.stop();
  for (const name of ['plain', 'secure']) await expectUntouched(studio.rtmp, name);
});

test('of several addresses the next one is tried after one that refuses', async () => {
  const lookup = async () => [{ address: '127.0.0.3' }, { address: '127.0.0.1' }];
  const to = { main: [studio.rtmp.url.replace('127.0.0.1', 'ingest.example'), 'second'] } satisfies Parameters<
    Studio['onAir']
  >[1];
  const stream = await studio.onAir(buildProgram(studio.items), to, { lookup });
  await connected(stream, 'main');
  await stream.stop();
  expect(await studio.rtmp.recordings('second')).toHaveLength(1);
});
