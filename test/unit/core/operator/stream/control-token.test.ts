import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Kube, KubeError } from '../../../../../src/core/kube/types.ts';
import { createControlTokens } from '../../../../../src/core/operator/stream/control-token.ts';
import { CONTROL_TOKEN_KEY, streamSecretName } from '../../../../../src/core/resources/common/names.ts';
import { makePod, stream } from '../../../../kit/make/operator.ts';
import { makeGrantedPod } from './granted-pod.ts';

/** Starts a check whose clock and Secret the test holds. */
function startCheck() {
  const state = { token: 'first' as string | undefined, isDown: false, nowMs: 0, reads: 0 };
  const get = async () => {
    state.reads++;
    if (state.isDown) throw new KubeError(503, 'ServiceUnavailable', 'The API server is away.');
    if (state.token === undefined) throw new KubeError(404, 'NotFound', 'There is no Secret.');
    return { data: { token: Buffer.from(state.token).toString('base64') } };
  };
  const kube = { get } as unknown as Kube;
  const clock = { now: () => new Date(), monotonicMs: () => state.nowMs };
  const tokens = createControlTokens(kube, clock);
  const pod = makePod(stream());
  return { state, tokens, check: (token: string) => tokens.check(stream(), pod, token) };
}

test('the Secret of a stream is read once, however often its token is shown', async () => {
  const { state, check } = startCheck();
  for (let n = 0; n < 5; n++) expect(await check('first')).toBe(true);
  expect(state.reads).toBe(1);
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

/** Starts a check of a pod that the release before started. `texts` has the Secrets, which the test may change. */
function startGrantedCheck() {
  const texts: Record<string, Record<string, string>> = {
    'tv-secret': { controlKey: 'the-key', rtmpKey: 'x' },
    [streamSecretName(stream().metadata.uid)]: { [CONTROL_TOKEN_KEY]: 'of-the-stream' },
  };
  const get = async (_: unknown, __: string, name: string) => {
    const found = texts[name];
    if (!found) throw new KubeError(404, 'NotFound', 'There is no Secret.');
    return { data: Object.fromEntries(Object.entries(found).map(([key, text]) => [key, btoa(text)])) };
  };
  const tokens = createControlTokens({ get } as unknown as Kube);
  const pod = makeGrantedPod(stream());
  return { texts, check: (token: string) => tokens.check(stream(), pod, token) };
}

test('a pod that the release before started shows the token that it derives from the key in its destination’s Secret', async () => {
  const { check } = startGrantedCheck();
  expect(await check('YtKe_2tOhDVzOmNWrkDnJD0TSMpakaiRSWEtEXQeTag')).toBe(true);
  const ofAnother = createHmac('sha256', 'the-key').update('control uid-of-another').digest('base64url');
  for (const token of ['the-key', ofAnother, 'of-the-stream', '']) expect(await check(token)).toBe(false);
});

test.each([
  ['is gone', undefined],
  ['has no key', { rtmpKey: 'x' }],
  ['has an empty key', { controlKey: '' }],
])('such a pod whose destination’s Secret %s shows the token of the stream’s Secret', async (_what, left) => {
  const { texts, check } = startGrantedCheck();
  if (left) texts['tv-secret'] = left;
  else delete texts['tv-secret'];
  expect(await check('of-the-stream')).toBe(true);
  for (const token of ['YtKe_2tOhDVzOmNWrkDnJD0TSMpakaiRSWEtEXQeTag', '']) expect(await check(token)).toBe(false);
});
