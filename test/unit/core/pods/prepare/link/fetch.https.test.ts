/** Tests imports over TLS, from servers with certificates of a test authority. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { PrepareResult } from '../../../../../../src/core/protocol/task.ts';
import { media, room } from '../../../../../kit/make/prepare.ts';
import { type Issued, makeAuthority } from '../../../../../kit/real/certificates.ts';

const MAIN = fileURLToPath(new URL('../../../../../../src/core/main.ts', import.meta.url));

/** Serves `content` over TLS until disposed of. */
async function serveOverTls(content: Buffer, { certFile, keyFile }: Issued) {
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  let asked = 0;
  const server = createServer({ cert, key }, (_request, response) => {
    asked += 1;
    response.end(content);
  });
  // A client that does not trust the certificate reports that and disconnects.
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}/my.mp4`,
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Returns the result of the Job's own process for an import of `url`; Node reads authorities only at its start. */
async function runImport(place: Awaited<ReturnType<typeof room>>, url: string, caFile: string): Promise<PrepareResult> {
  const resultFile = place.path(`result-${new URL(url).port}`);
  const job = spawn(process.execPath, [MAIN, 'prepare'], {
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      NODE_EXTRA_CA_CERTS: caFile,
      LOOPSTREAM_TASK: JSON.stringify({ action: 'import', url, type: 'video', sourceKey: 'sources/x' }),
      LOOPSTREAM_RESULT_FILE: resultFile,
      LOOPSTREAM_STORAGE_URL: place.storageUrl,
      LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
    },
  });
  expect(await once(job, 'exit')).toEqual([0, null]);
  return JSON.parse(await readFile(resultFile, 'utf8')) as PrepareResult;
}

test('media is imported over https from a server with a good certificate, and from no other', async () => {
  await using place = await room();
  const [ours, theirs] = await Promise.all(['ours', 'theirs'].map((name) => makeAuthority(place.path(name))));
  if (!ours || !theirs) throw new Error('no authority');
  const content = await readFile(await media(place.path('in.mp4'), { video: 'testsrc2=s=320x180:r=25:d=1' }));
  await using good = await serveOverTls(content, await ours.issue('good', 'DNS:localhost'));
  expect(await runImport(place, good.url, ours.caFile)).toMatchObject({
    action: 'import',
    media: { sha256: createHash('sha256').update(content).digest('hex'), video: { width: 320 } },
  });
  const bad = {
    stranger: await theirs.issue('stranger', 'DNS:localhost'),
    old: await ours.issue('old', 'DNS:localhost', -1),
    other: await ours.issue('other', 'DNS:elsewhere.example'),
  };
  await Promise.all(
    Object.values(bad).map(async (issued) => {
      await using server = await serveOverTls(content, issued);
      const failed = { action: 'failed', error: { code: 'link_unreachable' } };
      expect(await runImport(place, server.url, ours.caFile)).toMatchObject(failed);
      expect(server.asked()).toBe(0);
    }),
  );
});
