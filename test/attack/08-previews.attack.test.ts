/** Attacks previews: an account must not watch whole streams without end and without payment. */
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PODS } from '../../src/kube/core.ts';
import { encodeHeader, encodeTag, TAG_VIDEO } from '../../src/media/rendition/flv.ts';
import { STREAM_LABEL, STREAMER_PORT } from '../../src/resources/common/names.ts';
import { NAMESPACE } from '../../tools/local/rights.ts';
import { makeStreamHelpers, type StreamsApi, startStreamsApi } from '../kit/make/streams.ts';
import type { Client } from '../kit/system/api.ts';

const POD_IP = '127.0.78.1';
const AT_ONCE = 300;

let started: StreamsApi;
let pod: Server;
/** Connections that the pod serves now, and their maximum. */
let served = 0;
let most = 0;

beforeAll(async () => {
  started = await startStreamsApi();
  const flv = Buffer.concat([
    encodeHeader({ audio: true, video: true }),
    encodeTag(TAG_VIDEO, 0, Buffer.from([0x17, 1, 0, 0, 0, 7, 7])),
  ]);
  pod = createServer((_request, response) => {
    most = Math.max(most, ++served);
    response.writeHead(200, { 'content-type': 'video/x-flv' }).write(flv);
    const timer = setInterval(() => response.write(flv.subarray(13)), 100);
    response.once('close', () => {
      clearInterval(timer);
      served--;
    });
  });
  await new Promise<void>((resolve) => pod.listen(STREAMER_PORT, POD_IP, resolve));
});
afterAll(async () => {
  pod?.closeAllConnections();
  pod?.close();
  await started?.api.stop();
});

async function goOnAir(id: string): Promise<void> {
  const object = {
    metadata: { name: `${id}-onair`, namespace: NAMESPACE, labels: { [STREAM_LABEL]: id } },
    spec: { containers: [{ name: 'streamer', image: 'none' }], nodeName: 'nowhere' },
  };
  await started.api.kube.create(PODS, NAMESPACE, object as never);
  const status = { phase: 'Running', podIP: POD_IP, podIPs: [{ ip: POD_IP }] };
  await started.api.kube.mergePatch(PODS, NAMESPACE, object.metadata.name, { status }, { subresource: 'status' });
}

/** Opens a preview and holds it until the end of the test. */
async function watch(id: string, as: Client): Promise<Response> {
  const gone = new AbortController();
  onTestFinished(() => gone.abort());
  return fetch(`${started.api.url}/v1/streams/${id}/preview.flv`, {
    headers: { 'x-api-key': as.key },
    signal: gone.signal,
  });
}
const isOnAir = (id: string, as: Client) =>
  expect
    .poll(async () => {
      const { status, body } = await watch(id, as);
      await body?.cancel();
      return status;
    })
    .toBe(200);

const count = (answers: Response[], status: number) => answers.filter((answer) => answer.status === status).length;

describe(`${AT_ONCE} previews at once`, () => {
  test('of one stream: a few are shown over one connection to the pod, the others are refused for a while', async () => {
    const { id } = await started.create();
    await goOnAir(id);
    await isOnAir(id, started.ada);
    most = 0;
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => watch(id, started.ada)));
    expect([count(answers, 200), count(answers, 429)]).toEqual([4, AT_ONCE - 4]);
    expect(most).toBeLessThanOrEqual(2);
    const refused = answers.find(({ status }) => status === 429);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused?.json()).toMatchObject({ code: 'too_many_previews' });
  });

  test('of many streams of one account: another account sees its own all the same', async () => {
    const streams = await Promise.all(Array.from({ length: 4 }, () => started.create()));
    for (const { id } of streams) await goOnAir(id);
    for (const { id } of streams) await isOnAir(id, started.ada);
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n) => watch(streams[n % streams.length]?.id ?? '', started.ada)),
    );
    expect(count(answers, 200)).toBe(8);
    const { create } = await makeStreamHelpers(started.api, started.eve);
    const { id } = await create({}, started.eve);
    await goOnAir(id);
    await isOnAir(id, started.eve);
  });
});
