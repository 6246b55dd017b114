/** Attacks renditions of the same bytes in two accounts: neither their time nor their content reveals or harms anything of the other. */
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { Job } from '../../src/core/kube/core.ts';
import { decideUpload } from '../../src/core/operator/upload/decide.ts';
import { getWorkKey, type WantedJob, wantRendition } from '../../src/core/operator/upload/job.ts';
import { listReferredKeys, mayDelete, planSweep } from '../../src/core/operator/upload/sweep.ts';
import { makeRendition } from '../../src/core/pods/prepare/job/make-rendition.ts';
import { indexKey } from '../../src/core/pods/rendition/index.ts';
import { ACCOUNT_LABEL } from '../../src/core/resources/common/names.ts';
import type { Upload } from '../../src/core/resources/upload/resource.ts';
import { findRendition, renditionKey } from '../../src/core/resources/upload/spec.ts';
import { findChunkKeys } from '../kit/make/chunks.ts';
import { endedPod, MEDIA, makeJob, NOW, SETTINGS, upload } from '../kit/make/operator.ts';
import { media, room } from '../kit/make/prepare.ts';
import { createContext, TONE, taskFor } from '../kit/make/rendition.ts';

/** Builds an imported upload of an account; all have the same content. */
function of(account: string | undefined, namespace = 'tv', renditions: { key: string }[] = []): Upload {
  const imported = upload(`film-of-${account}`, {
    observedGeneration: 1,
    sourceKey: `sources/${account}`,
    media: MEDIA,
    renditions: renditions.map(({ key }) => ({ profile: '720p30', state: 'ready', key })),
  });
  const labels = account === undefined ? {} : { [ACCOUNT_LABEL]: account };
  return { ...imported, metadata: { ...imported.metadata, namespace, labels } };
}

const getKey = (owner: Upload, shared = false) =>
  getWorkKey(wantRendition(owner, MEDIA, '720p30', false, undefined, shared).task);

function decide(owner: Upload, { jobs = [], shared = false }: { jobs?: Job[]; shared?: boolean } = {}) {
  const pods = [endedPod({ action: 'rendition', rendition: { ...MADE, profile: '720p30' } })];
  return decideUpload(owner, {
    held: new Map(),
    grant: () => ({}),
    sounds: [],
    cards: [],
    looks: [],
    slates: [],
    hasPreparedRoom: () => true,
    profiles: ['720p30'],
    urgent: new Set(),
    sameWork: new Map(),
    progress: new Map(),
    sameSource: () => undefined,
    jobs: new Map(jobs.map((job) => [job.metadata.name, job])),
    pods: new Map(jobs.map((job) => [job.metadata.uid, pods])),
    keepUnusedMs: 1,
    now: NOW,
    settings: { ...SETTINGS, shareRenditions: shared },
  });
}
const MADE = { state: 'ready', durationSeconds: 10, bitrateKbps: 4000 } as const;
/** The key of installations before accounts had separate renditions. */
const SHARED = renditionKey(MEDIA.sha256, 'video', '720p30');

describe('a file that another account has too', () => {
  test('is prepared anew, so that the time does not reveal the other copy', () => {
    expect(getKey(of('mallory'))).not.toBe(getKey(of('victim')));
    expect(decide(of('mallory')).create.map(({ task }) => getWorkKey(task))).toEqual([getKey(of('mallory'))]);
  });

  test('is prepared once within an account, and once for all kubectl users of a namespace', () => {
    expect(getKey(of('victim'))).toBe(getKey(of('victim')));
    expect(getKey(of(undefined))).toBe(getKey(of(undefined)));
    expect(getKey(of(undefined))).not.toBe(getKey(of(undefined, 'news')));
    expect(getKey(of(undefined))).not.toBe(getKey(of('victim')));
  });

  test('has a key from which neither account nor namespace can be read', () => {
    expect(getKey(of('victim'))).toMatch(/^renditions\/[0-9a-f]{24}\/[0-9a-f]{64}\/video-720p30\.flv$/);
  });

  test('is shared only where the operator of the service says so', () => {
    expect(getKey(of('mallory'), true)).toBe(getKey(of('victim'), true));
    expect(decide(of('mallory'), { shared: true }).create.map(({ task }) => getWorkKey(task))).toEqual([SHARED]);
  });

  test('is complete for one account after the rendition of the other has been replaced', async () => {
    await using place = await room();
    const { storage } = place;
    const tone = await readFile(await media(place.path('tone.m4a'), { audio: TONE }));
    await storage.write('sources/x', Readable.from([tone]));
    const tasks = ['mallory', 'victim'].map((account) => ({
      ...taskFor('audio', '720p30'),
      renditionKey: getKey(of(account)),
    }));
    const [first, second] = tasks as [(typeof tasks)[0], (typeof tasks)[0]];
    await makeRendition(first, createContext(place));
    const [mallorys = ''] = await findChunkKeys(storage, first.renditionKey, 0);
    expect(await findChunkKeys(storage, second.renditionKey, 0)).toEqual([]);
    await storage.write(mallorys, Buffer.from('poison'));
    await storage.write(indexKey(first.renditionKey), Buffer.from('{}'));
    const made = await makeRendition(second, createContext(place));
    expect(made.rendition).toMatchObject({ state: 'ready', key: second.renditionKey });
    const [victims = ''] = await findChunkKeys(storage, second.renditionKey, 0);
    expect((await storage.head(victims))?.sizeBytes).toBeGreaterThan(1000);
  });
});

describe('an installation that shared everything before', () => {
  test('keeps ready renditions: on air, in the status, and in the storage', () => {
    const before = of('victim', 'tv', [{ key: SHARED }]);
    expect(findRendition(before, '720p30')).toMatchObject({ state: 'ready', key: SHARED });
    const { create, remove, status } = decide(before);
    expect([create, remove]).toEqual([[], []]);
    expect(status.renditions).toMatchObject([{ state: 'ready', key: SHARED }]);
    const seen = { uploads: [before], jobs: [], pods: [], streams: [], begun: [] };
    expect(mayDelete(planSweep(listReferredKeys(seen), 60))(SHARED)).toBe(false);
  });

  test('keeps each account’s renditions when it goes back to sharing', () => {
    const own = getKey(of('victim'));
    const { create, status } = decide(of('victim', 'tv', [{ key: own }]), { shared: true });
    expect(create).toEqual([]);
    expect(status.renditions).toMatchObject([{ state: 'ready', key: own }]);
  });

  test('lets Jobs end that began before, with the key that they write', () => {
    const owner = of('victim');
    const wish: WantedJob = wantRendition(owner, MEDIA, '720p30', false, 'sources/victim', true);
    const { create, remove, status } = decide(owner, { jobs: [makeJob(owner, wish)] });
    expect([create, remove]).toEqual([[], []]);
    expect(status.renditions).toMatchObject([{ state: 'ready', key: SHARED }]);
  });

  test('believes no key but that of the content, the type and the profile', () => {
    const other = 'b'.repeat(64);
    for (const key of [
      renditionKey(other, 'video', '720p30'),
      renditionKey(MEDIA.sha256, 'audio', '720p30'),
      renditionKey(MEDIA.sha256, 'video', '1080p30'),
      `renditions/../${SHARED}`,
      `renditions/not-a-scope/${MEDIA.sha256}/video-720p30.flv`,
    ])
      expect(findRendition(of('victim', 'tv', [{ key }]), '720p30'), key).toBeUndefined();
  });
});
