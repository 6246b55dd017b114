import { expect, test } from 'vitest';
import type { Secret } from '../../../../src/kube/core.ts';
import { type Kube, KubeError } from '../../../../src/kube/types.ts';
import { createControlTokens } from '../../../../src/operator/stream/control-token.ts';
import { ensureSecret } from '../../../../src/operator/stream/secret.ts';
import { CONTROL_TOKEN_KEY, VIEW_KEY_KEY, VIEW_KEY_SECRET } from '../../../../src/resources/common/names.ts';
import { stream } from '../../../kit/make/operator.ts';

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
  return { state, kube, tokens, check: (token: string) => tokens.check(stream(), token) };
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
  tokens.forget(stream().metadata.uid);
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
