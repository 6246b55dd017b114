/**
 * Attacks the preparation of media: an account cannot keep others from theirs by any request, and its abandoned requests cost nothing. The
 * operator runs on a real control plane; no kubelet runs the Jobs, so each lasts as long as the worst one could.
 */
import { beforeEach, expect, it } from 'vitest';
import { JOBS, type Job } from '../../src/core/kube/core.ts';
import type { KubeObject, Resource } from '../../src/core/kube/types.ts';
import { hasEnded, isActive } from '../../src/core/operator/upload/progress.ts';
import { findCondition } from '../../src/core/resources/common/conditions.ts';
import { ACCOUNT_LABEL, CREDIT_CONDITION } from '../../src/core/resources/common/names.ts';
import { LOOPSTREAMS } from '../../src/core/resources/stream/resource.ts';
import type { LoopStreamSpec } from '../../src/core/resources/stream/spec.ts';
import { UPLOADS } from '../../src/core/resources/upload/resource.ts';
import { MEDIA } from '../kit/make/operator.ts';
import {
  aroundEachTest,
  buildObject,
  createDestination,
  finishJob,
  getStream,
  kube,
  NS,
  waitForPhase,
  waitUntilIdle,
} from '../kit/system/operator-system.ts';
import { until } from '../kit/wait.ts';

aroundEachTest();

const PLACES = 4;
const [MALLORY, VICTIM] = ['mallory', 'victim'];
const readinessGates = [{ conditionType: CREDIT_CONDITION }];

const owned = (account: string, kind: string, name: string, spec: unknown) => {
  const object = buildObject(kind, name, spec);
  return { ...object, metadata: { ...object.metadata, labels: { [ACCOUNT_LABEL]: account } } };
};
/** Makes an upload by a link whose server never answers: its Job lasts for hours. */
const createUpload = (account: string, name: string) =>
  kube.create(
    UPLOADS,
    NS,
    owned(account, 'Upload', name, { type: 'video', source: { url: 'https://media.example/x' } }) as never,
  );

/** Makes an imported upload: media of ten hours without renditions. */
async function createImported(account: string, name: string): Promise<void> {
  await createUpload(account, name);
  await finishJob(`${name}-import`, {
    action: 'import',
    media: { ...MEDIA, durationSeconds: 36_000, sha256: Buffer.from(name).toString('hex').padEnd(64, '0') },
  });
  await until(`${name} is imported`, async () => !(await working(account)).includes(`${name}-import`));
}

async function createStream(account: string, name: string, spec: Partial<LoopStreamSpec>): Promise<void> {
  const full = { replicas: 0, quality: '720p', destinationNames: ['tv'], readinessGates, ...spec };
  await kube.create(LOOPSTREAMS, NS, owned(account, 'LoopStream', name, full) as never);
}

/** Sets billing's condition of a stream. */
const setCredit = (name: string, hasCredit: boolean) =>
  kube.apply<KubeObject>(
    LOOPSTREAMS as Resource,
    NS,
    {
      ...buildObject('LoopStream', name, undefined),
      spec: undefined,
      status: {
        conditions: [
          {
            type: CREDIT_CONDITION,
            status: hasCredit ? 'True' : 'False',
            reason: hasCredit ? 'CreditAvailable' : 'InsufficientCredits',
            message: 'x',
            // The time is before the grace of a running Job.
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    } as never,
    { fieldManager: 'loopstream-credit', subresource: 'status' },
  );

const jobs = async (): Promise<Job[]> => (await kube.list(JOBS, { namespace: NS })) as Job[];
const working = async (account: string): Promise<string[]> =>
  (await jobs())
    .filter((job) => job.metadata.labels?.[ACCOUNT_LABEL] === account && isActive(job))
    .map(({ metadata }) => metadata.name)
    .sort();
const begins = (account: string, job: string) =>
  until(`${job} works`, async () => (await working(account)).includes(job));

beforeEach(() => createDestination());

it('forty links that send nothing leave a place for the import of another account, which begins at once', async () => {
  for (let n = 0; n < 40; n++) await createUpload(MALLORY, `slow-${n}`);
  await until('mallory has its share', async () => (await working(MALLORY)).length === PLACES / 2);
  await createUpload(VICTIM, 'film');
  await begins(VICTIM, 'film-import');
  expect(await working(MALLORY)).toHaveLength(PLACES / 2);
});

it('links that send nothing do not keep renditions from being made, nor do renditions that last for hours another account’s', async () => {
  for (const name of ['a', 'b', 'c']) await createImported(MALLORY, name);
  await createImported(VICTIM, 'film');
  for (let n = 0; n < 10; n++) await createUpload(MALLORY, `slow-${n}`);
  for (const uploadName of ['a', 'b', 'c'])
    for (const quality of ['720p', '1080p'] as const) {
      const name = `${uploadName}-${quality}`;
      await createStream(MALLORY, name, { uploadName, quality });
      await setCredit(name, true);
    }
  const renditions = async () => (await working(MALLORY)).filter((name) => name.endsWith('p30'));
  await until('mallory has its share of renditions', async () => (await renditions()).length === PLACES / 2);
  await waitUntilIdle();
  expect(await renditions()).toHaveLength(PLACES / 2);
  await createStream(VICTIM, 'mine', { uploadName: 'film' });
  await setCredit('mine', true);
  await begins(VICTIM, 'film-720p30');
});

it('a start without credit prepares nothing and overtakes no other account', async () => {
  await createImported(MALLORY, 'bomb');
  await createStream(MALLORY, 'greedy', { uploadName: 'bomb', replicas: 1 });
  await setCredit('greedy', false);
  await waitForPhase('waiting', 'greedy');
  await waitUntilIdle();
  expect(await working(MALLORY)).toEqual([]);
  const { status } = await getStream('greedy');
  expect(findCondition(status?.conditions, 'MediaReady')).toMatchObject({
    status: 'False',
    reason: 'MediaAwaitsCredit',
    message: 'Upload "bomb" will be prepared for 720p30 when the account has credit.',
  });
  expect((await kube.get(UPLOADS, NS, 'bomb')).status).toMatchObject({ phase: 'ready' });
  await setCredit('greedy', true);
  await begins(MALLORY, 'bomb-720p30');
});

it('before billing has said a word of a new stream, nothing is prepared for it', async () => {
  await createImported(MALLORY, 'bomb');
  await createStream(MALLORY, 'new', { uploadName: 'bomb', replicas: 1 });
  await waitForPhase('waiting', 'new');
  await waitUntilIdle();
  expect(await working(MALLORY)).toEqual([]);
  expect(findCondition((await getStream('new')).status?.conditions, 'MediaReady')?.status).toBe('Unknown');
});

it('a stream with credit is prepared before it is started', async () => {
  await createImported(VICTIM, 'film');
  await createStream(VICTIM, 'mine', { uploadName: 'film', replicas: 0 });
  await setCredit('mine', true);
  await begins(VICTIM, 'film-720p30');
});

it('Jobs end with the streams that wanted them: deleted ones, those of another quality, those without credit', async () => {
  for (const name of ['a', 'b', 'c', 'd']) await createImported(MALLORY, name);
  const gone = (job: string) =>
    until(`${job} is gone`, async () => (await jobs()).every(({ metadata }) => metadata.name !== job));
  const begin = async (uploadName: string, account = MALLORY) => {
    await createStream(account, uploadName, { uploadName });
    await setCredit(uploadName, true);
    await begins(account, `${uploadName}-720p30`);
  };
  await begin('a');
  await kube.delete(LOOPSTREAMS, NS, 'a', {});
  await gone('a-720p30');
  await begin('b');
  await kube.mergePatch(LOOPSTREAMS, NS, 'b', { spec: { quality: '1080p' } });
  await gone('b-720p30');
  await begins(MALLORY, 'b-1080p30');
  await begin('c');
  await setCredit('c', false);
  await gone('c-720p30');
  await kube.delete(UPLOADS, NS, 'b', {});
  await gone('b-1080p30');
  expect((await jobs()).filter((job) => !hasEnded(job))).toEqual([]);
});
