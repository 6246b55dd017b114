/**
 * Tests the way from a link to a stream on air with all media in S3. A real control plane, a node, the operator, an S3 server and
 * nginx-rtmp take part.
 */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PODS, SECRETS } from '../../../src/core/kube/core.ts';
import type { Resource } from '../../../src/core/kube/types.ts';
import { Lifecycle } from '../../../src/core/lib/lifecycle.ts';
import { runOperator } from '../../../src/core/operator/main.ts';
import { operatorConfig } from '../../../src/core/operator/runtime/settings.ts';
import type { CacheStats } from '../../../src/core/pods/storage/cache.ts';
import { openStorage } from '../../../src/core/pods/storage/open.ts';
import type { ShownStats } from '../../../src/core/pods/streamer/control/stats.ts';
import { API_VERSION, streamSecretName, VIEW_TOKEN_KEY } from '../../../src/core/resources/common/names.ts';
import { applyCrds } from '../../../src/core/resources/crd/install.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { applyRights, NAMESPACE, serviceAccountUser } from '../../../tools/local/rights.ts';
import { makeMedia } from '../../kit/make/made-media.ts';
import { silent } from '../../kit/real/kube.ts';
import { listProcesses, startTestNode, type TestNode, until } from '../../kit/real/node.ts';
import { type RtmpServer, startRtmpServer } from '../../kit/real/rtmp.ts';
import { type S3Server, startS3Server } from '../../kit/real/s3-server.ts';
import { MAIN } from '../../kit/system/app.ts';
import { tempDir } from '../../kit/temp-dir.ts';

const IMAGE = 'loopstream:test';

const dir = tempDir();
let node: TestNode;
let s3: S3Server;
let rtmp: RtmpServer;
let web: Server;
const operator = new Lifecycle();

beforeAll(async () => {
  [node, s3, rtmp] = await Promise.all([
    startTestNode({ [IMAGE]: [process.execPath, MAIN] }),
    startS3Server(),
    startRtmpServer({ record: join(dir, 'recordings') }),
  ]);
  await s3.client.send(new CreateBucketCommand({ Bucket: 'media' }));
  const [frames, tone] = ['testsrc=s=320x180:r=30:d=4', 'sine=r=48000:d=4'];
  const path = await makeMedia(
    join(dir, 'in.mp4'),
    '-f',
    'lavfi',
    '-i',
    frames,
    '-f',
    'lavfi',
    '-i',
    tone,
    '-c:a',
    'aac',
  );
  const content = await readFile(path);
  web = createServer((_, response) => response.end(content)).listen(0, '127.0.0.1');
  await Promise.all([applyCrds(node.kube), applyRights(node.kube)]);
});
afterAll(async () => {
  await operator.stop();
  web?.close();
  await node?.stop();
  await s3?.close();
  await rtmp?.close();
});

const create = (resource: { kind: string }, spec: unknown) =>
  node.kube.create(resource as Resource, NAMESPACE, {
    apiVersion: API_VERSION,
    kind: resource.kind,
    metadata: { name: 'loop' },
    spec,
  });
const secret = (name: string, stringData: Record<string, string>) =>
  node.kube.create(SECRETS, NAMESPACE, { metadata: { name }, stringData } as never);

/** Starts the operator with the rights of its own service account, and makes a stream. */
async function ask(storageUrl: string): Promise<void> {
  const kubeconfig = await node.kubernetes.kubeconfigFor('operator', {
    user: serviceAccountUser('loopstream-operator'),
  });
  const settings = operatorConfig({
    KUBECONFIG: kubeconfig,
    LOOPSTREAM_IMAGE: IMAGE,
    LOOPSTREAM_STORAGE_URL: storageUrl,
    LOOPSTREAM_STORAGE_SECRET: 's3',
    LOOPSTREAM_ALLOW_PRIVATE_LINKS: 'true',
    LOOPSTREAM_ALLOW_PRIVATE_DESTINATIONS: 'true',
    LOOPSTREAM_OPS_HOST: '127.0.0.1',
    LOOPSTREAM_OPS_PORT: '0',
  });
  await runOperator(settings, operator, silent);
  const { accessKeyId, secretAccessKey } = s3.credentials;
  await secret('s3', { accessKeyId, secretAccessKey });
  await secret('keys', { rtmpUrl: rtmp.url, rtmpKey: 'from-s3' });
  await create(DESTINATIONS, { secretName: 'keys' });
  await create(UPLOADS, {
    track: 'video',
    source: { url: `http://127.0.0.1:${(web.address() as AddressInfo).port}/` },
  });
  await create(LOOPSTREAMS, { quality: '720p', framerate: 30, uploadName: 'loop', destinationNames: ['loop'] });
}

test('an upload and a stream need a bucket and a Secret, no volume; and no process carries the key', async () => {
  const url = `s3://media/tv?endpoint=${s3.endpoint}`;
  await ask(url);
  await until(
    'live',
    async () => (await node.kube.get(LOOPSTREAMS, NAMESPACE, 'loop')).status?.phase === 'live',
    90_000,
  );
  const storage = await openStorage(url, { credentials: s3.credentials });
  const keys: string[] = [];
  for await (const key of storage.list('')) keys.push(key.split('/')[0] ?? '');
  expect(new Set(keys)).toEqual(new Set(['installation.json', 'records', 'renditions', 'sources']));

  const pod = await node.kube.get(PODS, NAMESPACE, 'loop-onair');
  const processes = listProcesses(pod.metadata.uid);
  // The streamer and its ffmpeg.
  expect(processes.length).toBeGreaterThanOrEqual(2);
  for (const pid of processes) {
    const shown = ['environ', 'cmdline'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'latin1')).join('\0');
    expect(shown).not.toContain(s3.credentials.secretAccessKey);
    expect(shown).not.toContain(s3.credentials.accessKeyId);
  }
  const { data } = await node.kube.get(
    SECRETS,
    NAMESPACE,
    streamSecretName(pod.metadata.ownerReferences?.[0]?.uid ?? ''),
  );
  const headers = { authorization: `Bearer ${Buffer.from(data?.[VIEW_TOKEN_KEY] ?? '', 'base64')}` };
  const stats = async () =>
    (await (await fetch(`http://${pod.status?.podIP}:9400/stats`, { headers })).json()) as ShownStats & {
      cache: CacheStats;
    };
  expect((await stats()).cache).toMatchObject({ writable: true, errors: {}, maxBytes: 2 ** 31 });

  await until('the item has been played to its end', async () => (await stats()).seam.count >= 1);
  await s3.stop();
  const { seam } = await stats();
  await until('it loops on without S3', async () => (await stats()).seam.count >= seam.count + 2);
  expect(await stats()).toMatchObject({ live: true, skippedItems: 0, reconnects: 0 });
});
