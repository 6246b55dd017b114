import { PassThrough, type Readable } from 'node:stream';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  encodeHeader,
  encodeMetaData,
  encodeTag,
  parseFlv,
  TAG_AUDIO,
  TAG_SCRIPT,
  TAG_VIDEO,
} from '../../../../../src/core/pods/rendition/flv.ts';
import { createPreviewPlaces, type PreviewLimits } from '../../../../../src/service/domain/limits/preview-places.ts';
import { createPreviews, type Wanted } from '../../../../../src/service/domain/stats/previews.ts';
import { AppError } from '../../../../../src/service/lib/errors.ts';

const LIMITS: PreviewLimits = { perStream: 2, perServer: 4, seconds: 600 };
/** The table's limits of an account. */
const QUOTAS = {
  allowed: async (accountId: string) => (accountId === 'trial' ? 1 : 3),
  check: async () => Promise.reject(new AppError('too_many_previews', 'This account has as many as it may have.')),
};
const picture = (keyframe: boolean, ms: number, bytes = 10) =>
  encodeTag(TAG_VIDEO, ms, Buffer.concat([Buffer.from([keyframe ? 0x17 : 0x27, 1, 0, 0, 0]), Buffer.alloc(bytes, 7)]));
const PREAMBLE = Buffer.concat([
  encodeHeader({ audio: true, video: true }),
  encodeTag(TAG_SCRIPT, 0, encodeMetaData({ width: 320 })),
  encodeTag(TAG_VIDEO, 0, Buffer.from([0x17, 0, 0, 0, 0, 1, 100, 0, 31])),
  encodeTag(TAG_AUDIO, 0, Buffer.from([0xaf, 0, 0x11, 0x90])),
]);

/** Starts a pod that counts its viewers, with previews of it. */
function room(limits: Partial<PreviewLimits> = {}) {
  const sources: PassThrough[] = [];
  const previews = createPreviews(createPreviewPlaces({ ...LIMITS, ...limits }, QUOTAS));
  const open = async (): Promise<Readable> => {
    const source = new PassThrough();
    source.write(PREAMBLE);
    sources.push(source);
    return source;
  };
  const gone = new AbortController();
  onTestFinished(() => gone.abort());
  const watch = (streamId = 's', accountId = 'a', more: Partial<Wanted> = {}) =>
    previews.open({ accountId, streamId, source: streamId, open, ...more }, gone.signal);
  return { sources, watch };
}

const getCode = (watching: Promise<unknown>) =>
  watching.then(
    () => 'open',
    (error: unknown) => error instanceof AppError && error.code,
  );
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('previews', () => {
  test('of one pod share a connection, and each begins with the decoder’s headers and a keyframe', async () => {
    const { sources, watch } = room();
    const first = await watch();
    sources[0]?.write(picture(true, 0));
    await settle();
    const second = await watch();
    sources[0]?.write(Buffer.concat([picture(false, 33), picture(true, 2000), picture(false, 2033)]));
    sources[0]?.end();
    const seen = await Promise.all(
      [first, second].map(async (viewer) =>
        parseFlv(Buffer.concat(await viewer.toArray())).map(({ type, timestampMs }) => `${type} ${timestampMs}`),
      ),
    );
    expect(sources).toHaveLength(1);
    const headers = (ms: number) => [`${TAG_SCRIPT} 0`, `${TAG_VIDEO} ${ms}`, `${TAG_AUDIO} ${ms}`];
    expect(seen[0]).toEqual([...headers(0), '9 0', '9 33', '9 2000', '9 2033']);
    expect(seen[1]).toEqual([...headers(2000), '9 2000', '9 2033']);
  });

  test('leave the pod with the last viewer, and come back with the next', async () => {
    const { sources, watch } = room();
    const viewers = [await watch(), await watch()];
    for (const viewer of viewers) viewer.destroy();
    await settle();
    expect(sources[0]?.destroyed).toBe(true);
    await watch();
    expect(sources).toHaveLength(2);
  });

  test('are limited by stream, by account and in all; a viewer who leaves makes room', async () => {
    const { watch } = room();
    const viewer = await watch('s1');
    await watch('s1');
    expect(await getCode(watch('s1'))).toBe('too_many_previews');
    await watch('s2');
    expect(await getCode(watch('s3'))).toBe('too_many_previews');
    await watch('s4', 'b');
    expect(await getCode(watch('s5', 'b'))).toBe('server_busy');
    viewer.destroy();
    await settle();
    expect(await getCode(watch('s1'))).toBe('open');
  });

  test('of an account are as many as its class may have', async () => {
    const { watch } = room();
    await watch('s1', 'trial');
    expect(await getCode(watch('s2', 'trial'))).toBe('too_many_previews');
  });

  test('are taken from the account with the most for an account without any', async () => {
    const { watch } = room({ perServer: 3 });
    const viewers = [await watch('s1'), await watch('s2'), await watch('s3')];
    for (const viewer of viewers) viewer.resume();
    expect(await getCode(watch('other', 'b'))).toBe('open');
    expect(viewers.map(({ readableEnded }) => readableEnded)).toEqual([false, false, true]);
  });

  test('end cleanly after their time, and at once when the pod shows nothing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { watch } = room({ seconds: 60 });
    const viewer = await watch();
    viewer.resume();
    await vi.advanceTimersByTimeAsync(60_000);
    await settle();
    expect([viewer.readableEnded, viewer.errored]).toEqual([true, null]);
    const nothing = { open: async () => undefined };
    for (let i = 0; i < 5; i++) expect(await getCode(watch('off', 'b', nothing))).toBe('stream_not_live');
  });

  test('drop a viewer who takes nothing, and no other one', async () => {
    const { sources, watch } = room();
    const stuck = await watch();
    const good = await watch();
    let bytes = 0;
    good.on('data', (chunk: Buffer) => (bytes += chunk.length));
    for (let i = 0; i < 8; i++) {
      sources[0]?.write(picture(true, i * 2000, 2 ** 20));
      await settle();
    }
    await vi.waitFor(() => expect(bytes).toBeGreaterThan(8 * 2 ** 20));
    expect([stuck.destroyed, good.destroyed]).toEqual([true, false]);
  });
});
