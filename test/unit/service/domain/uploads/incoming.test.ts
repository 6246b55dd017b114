import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { appendPieces, arrivedBytes } from '../../../../../src/core/pods/storage/pieces.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { incomingKey, sourceKey } from '../../../../../src/core/resources/upload/spec.ts';
import { createIncoming } from '../../../../../src/service/domain/uploads/incoming.ts';
import { upload } from '../../../../kit/make/operator.ts';
import { room } from '../../../../kit/make/prepare.ts';

const HOUR_MS = 3_600_000;

test('an incomplete upload vanishes with its bytes when its time is over; one in time, complete, by link or taken over stays', async () => {
  await using place = await room();
  const now = new Date('2026-06-04T12:00:00Z');
  const buildUpload = (name: string, hoursAgo: number, receivedBytes?: number): Upload => {
    const givenUpload = upload(name, {});
    const creationTimestamp = new Date(now.getTime() - hoursAgo * HOUR_MS).toISOString();
    const source = receivedBytes === undefined ? givenUpload.spec.source : { sent: { sizeBytes: 10, receivedBytes } };
    return {
      ...givenUpload,
      metadata: { ...givenUpload.metadata, creationTimestamp },
      spec: { ...givenUpload.spec, source },
    };
  };
  const sentAs = (upload: Upload, more: object): Upload => ({
    ...upload,
    spec: { ...upload.spec, source: { sent: { sizeBytes: 10, receivedBytes: 10, ...more } } },
  });
  const markAsPart = (upload: Upload) => sentAs(upload, { isPart: true });
  const joins = (source: Upload, name: string) =>
    sentAs(source, { parts: [{ name, uid: upload(name, {}).metadata.uid }] });
  const all = [
    buildUpload('late', 72, 5),
    buildUpload('silent', 100, 0),
    buildUpload('on-time', 71, 5),
    buildUpload('whole', 99, 10),
    buildUpload('link', 99),
    markAsPart(buildUpload('part', 99, 10)),
    joins(buildUpload('joined', 1, 10), 'part'),
  ];
  const keys = new Map(all.map(({ metadata }) => [metadata.name, incomingKey(metadata.uid)]));
  for (const key of keys.values())
    await appendPieces(place.storage, key, 0, Readable.from([Buffer.from('bytes')]), async () => undefined);
  const deleted: string[] = [];
  const incoming = createIncoming({
    uploads: { delete: async ({ metadata }: Upload) => void deleted.push(metadata.name) } as never,
    quota: {} as never,
    findStorage: () => place.storage,
    maxSourceBytes: 10,
    expireMs: 72 * HOUR_MS,
    leases: {} as never,
    admission: {} as never,
  });
  await incoming.expire(all, now);
  expect(deleted).toEqual(['late', 'silent', 'part']);
  const left = await Promise.all([...keys].map(async ([name, key]) => [name, await arrivedBytes(place.storage, key)]));
  expect(left.filter(([, bytes]) => bytes).map(([name]) => name)).toEqual([
    'on-time',
    'whole',
    'link',
    'part',
    'joined',
  ]);
});

test('a client whose last bytes were joined before that was recorded has sent all of it', async () => {
  await using place = await room();
  const sending = upload('film', {});
  sending.spec = { track: 'video', source: { sent: { sizeBytes: 5, receivedBytes: 3 } } };
  await place.storage.write(sourceKey(sending.metadata.uid), Buffer.from('bytes'));
  const recorded: unknown[] = [];
  const incoming = createIncoming({
    uploads: { get: () => sending, patch: async (_: Upload, patch: unknown) => void recorded.push(patch) } as never,
    quota: {} as never,
    findStorage: () => place.storage,
    maxSourceBytes: 10,
    expireMs: HOUR_MS,
    leases: {} as never,
    admission: {} as never,
  });
  expect(await incoming.find('acc-1', 'film')).toMatchObject({ sizeBytes: 5, receivedBytes: 5 });
  expect(recorded).toEqual([{ spec: { source: { sent: { receivedBytes: 5 } } } }]);
});
