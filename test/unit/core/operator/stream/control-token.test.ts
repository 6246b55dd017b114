import { expect, test } from 'vitest';
import type { Secret } from '../../../../../src/core/kube/core.ts';
import { type Kube, KubeError } from '../../../../../src/core/kube/types.ts';
import { createControlTokens } from '../../../../../src/core/operator/stream/control-token.ts';
import { ensureSecret, rememberFirstPod } from '../../../../../src/core/operator/stream/secret.ts';
import {
  CONTROL_SECRET_ANNOTATION,
  CONTROL_TOKEN_KEY,
  SECRET_CONTROL_KEY,
  streamSecretName,
  VIEW_KEY_KEY,
  VIEW_KEY_SECRET,
} from '../../../../../src/core/resources/common/names.ts';
import { controlToken } from '../../../../../src/core/resources/stream/control-token.ts';
import { makePod, stream } from '../../../../kit/make/operator.ts';

/** Starts a check whose clock and Secret the test holds. */
function startCheck() {
  const state = { token: 'first' as string | undefined, isDown: false, nowMs: 0, reads: 0 };
  const get = async (_: unknown, __: string, name: string) => {
    if (name === VIEW_KEY_SECRET) return { data: { [VIEW_KEY_KEY]: btoa('key') } };
    state.reads++;
    if (state.isDown) throw new KubeError(503, 'ServiceUnavailable', 'The API server is away.');
    if (state.token === undefined) throw new KubeError(404, 'NotFound', 'There is no Secret.');
    return { data: { token: Buffer.from(state.token).toString('base64') } };
  };
  const create = async (_: unknown, __: string, { stringData }: Secret) => {
    state.token = stringData?.[CONTROL_TOKEN_KEY];
  };
  const kube = { get, create } as unknown as Kube;
  const clock = { now: () => new Date(), monotonicMs: () => state.nowMs };
  const tokens = createControlTokens(kube, clock);
  const pod = makePod(stream());
  return { state, kube, tokens, check: (token: string) => tokens.check(stream(), pod, token) };
}

test('the Secret of a stream is read once, however often its token is shown', async () => {
  const { state, check } = startCheck();
  for (let n = 0; n < 5; n++) expect(await check('first')).toBe(true);
  expect(state.reads).toBe(1);
});

test('a Secret that this process made is not read for its token', async () => {
  const { state, kube, check } = startCheck();
  await ensureSecret({ kube }, { stream: stream(), destinations: new Map() });
  state.reads = 0;
  expect(await check(state.token ?? '')).toBe(true);
  expect(await check('another')).toBe(false);
  expect(state.reads).toBe(0);
});

test('a guess reads the Secret again, but not each guess', async () => {
  const { state, check } = startCheck();
  for (let n = 0; n < 100; n++) {
    expect(await check(`guess ${n}`)).toBe(false);
    state.nowMs += 1000;
  }
  expect(state.reads).toBeLessThanOrEqual(11);
  expect(await check('')).toBe(false);
});

test('a Secret that was made anew counts', async () => {
  const { state, check } = startCheck();
  expect(await check('first')).toBe(true);
  Object.assign(state, { token: 'second', nowMs: 60_000 });
  expect(await check('second')).toBe(true);
  expect(await check('first')).toBe(false);
});

test('without a Secret, and of a stream that is gone, no token counts', async () => {
  const { state, check, tokens } = startCheck();
  state.token = undefined;
  for (const token of ['', 'undefined', 'first']) expect(await check(token)).toBe(false);
  tokens.forget(makePod(stream()).metadata.uid);
  state.token = 'first';
  expect(await check('first')).toBe(true);
});

test('an API server that is away is no answer, and is asked again', async () => {
  const { state, check } = startCheck();
  state.isDown = true;
  await expect(check('first')).rejects.toThrow('away');
  state.isDown = false;
  expect(await check('first')).toBe(true);
});

/** Starts a check of the first pod of a stream. `texts` has the Secrets, which the test may change. */
function startFirstCheck() {
  const texts: Record<string, Record<string, string>> = {
    'tv-secret': { [SECRET_CONTROL_KEY]: 'the-key', rtmpKey: 'x' },
    [streamSecretName(stream().metadata.uid)]: { [CONTROL_TOKEN_KEY]: 'of-the-stream' },
  };
  const state = { nowMs: 0, reads: [] as string[] };
  const get = async (_: unknown, __: string, name: string) => {
    state.reads.push(name);
    const found = texts[name];
    if (!found) throw new KubeError(404, 'NotFound', 'There is no Secret.');
    return { data: Object.fromEntries(Object.entries(found).map(([key, text]) => [key, btoa(text)])) };
  };
  const kube = { get } as unknown as Kube;
  const tokens = createControlTokens(kube, { now: () => new Date(), monotonicMs: () => state.nowMs });
  const pod = makePod(stream());
  pod.metadata.annotations = { ...pod.metadata.annotations, [CONTROL_SECRET_ANNOTATION]: 'tv-secret' };
  return { state, texts, kube, pod, check: (token: string) => tokens.check(stream(), pod, token) };
}

test('the token of a first pod is derived from the key in its destination’s Secret, which is read once', async () => {
  const { state, pod, check } = startFirstCheck();
  const token = controlToken('the-key', pod.metadata.uid);
  for (let n = 0; n < 5; n++) expect(await check(token)).toBe(true);
  expect(state.reads).toEqual(['tv-secret']);
});

test('neither the key, nor the token of another pod or of the stream, counts for a first pod', async () => {
  const { check } = startFirstCheck();
  for (const token of ['the-key', controlToken('the-key', 'uid-of-another'), 'of-the-stream', ''])
    expect(await check(token)).toBe(false);
});

test('a first pod that this process made needs no read', async () => {
  const { state, kube, pod, check } = startFirstCheck();
  rememberFirstPod(kube, pod, { secretNames: new Map(), controlSecret: 'tv-secret', controlKey: 'the-key' });
  expect(await check(controlToken('the-key', pod.metadata.uid))).toBe(true);
  expect(await check('another')).toBe(false);
  expect(state.reads).toEqual([]);
});

test.each([
  ['is gone', undefined],
  ['has no key', { rtmpKey: 'x' }],
  ['has an empty key', { [SECRET_CONTROL_KEY]: '' }],
])('a first pod whose destination’s Secret %s has the token of the stream’s Secret', async (_what, left) => {
  const { texts, pod, check } = startFirstCheck();
  if (left) texts['tv-secret'] = left;
  else delete texts['tv-secret'];
  expect(await check('of-the-stream')).toBe(true);
  for (const key of ['the-key', '']) expect(await check(controlToken(key, pod.metadata.uid))).toBe(false);
});

test('a key that was made anew counts for a first pod', async () => {
  const { state, texts, pod, check } = startFirstCheck();
  expect(await check(controlToken('the-key', pod.metadata.uid))).toBe(true);
  texts['tv-secret'] = { [SECRET_CONTROL_KEY]: 'another-key' };
  state.nowMs = 60_000;
  expect(await check(controlToken('another-key', pod.metadata.uid))).toBe(true);
  expect(await check(controlToken('the-key', pod.metadata.uid))).toBe(false);
});
