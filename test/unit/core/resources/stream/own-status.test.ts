/** Tests what is believed of the status of a stream that another UID had. */
import { describe, expect, it } from 'vitest';
import { buildProgram } from '../../../../../src/core/operator/stream/program.ts';
import { computeSessions } from '../../../../../src/core/operator/stream/sessions.ts';
import { believeStream } from '../../../../../src/core/resources/stream/own-status.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { findSeed } from '../../../../../src/core/resources/stream/seed.ts';
import type { LoopStreamStatus } from '../../../../../src/core/resources/stream/spec.ts';
import { at, NOW, stream, world } from '../../../../kit/make/operator.ts';

const CHANNEL: LoopStreamStatus = {
  epoch: '2026-05-30T08:00:00Z',
  audioEpoch: '2026-05-30T09:00:00Z',
  skipped: { video: '2026-05-31T00:00:00Z' },
  lastScheduleTime: '2026-05-29T00:00:00Z',
};
const STATUS: LoopStreamStatus = {
  ...CHANNEL,
  observedGeneration: 17,
  phase: 'live',
  replicas: 1,
  canStart: true,
  liveSince: '2026-05-31T00:00:00Z',
  podName: 'bunny-onair',
  podUID: 'pod-before',
  restarts: 3,
  destinationSummary: 'tv',
  sessions: [{ number: 16, podUID: 'pod-before', startedAt: '2026-06-01T12:00:01Z', onAirSeconds: 86_400 }],
  acknowledgedSession: 15,
  conditions: [
    {
      type: 'CreditAvailable',
      status: 'True',
      reason: 'Paid',
      message: '',
      lastTransitionTime: '2026-05-31T00:00:00Z',
    },
    { type: 'Live', status: 'True', reason: 'Live', message: '', lastTransitionTime: '2026-05-31T00:00:00Z' },
  ],
};
const withStatus = (status: LoopStreamStatus): LoopStream => stream({}, { status });

describe('a status of another UID', () => {
  const restored = believeStream(withStatus({ ...STATUS, observedUID: 'uid-before' }));

  it('gives where the channel stands, and nothing else', () => {
    expect(restored.status).toEqual({ ...CHANNEL, seed: expect.any(Number) });
  });

  it('leaves sessions of the pods of now to be numbered and counted from the first one', () => {
    const podTime = {
      podUID: 'pod-now',
      over: false,
      onAirSince: '2026-06-01T12:00:00Z',
      runs: [],
      lifetime: { beganMs: NOW.getTime(), createdMs: NOW.getTime() },
    };
    const { sessions } = computeSessions(restored, [podTime as never], true, at(10));
    expect(sessions).toMatchObject([{ number: 1, podUID: 'pod-now' }]);
  });

  it('keeps the order of shuffled lists, also when it is restored once more', () => {
    const before = findSeed(stream({}, { metadata: { ...stream().metadata, uid: 'uid-before' } }));
    expect(findSeed(restored)).toBe(before);
    const program = buildProgram(restored, { ...world(), media: { tracks: [] } }, CHANNEL.epoch ?? '');
    expect(program.seed).toBe(before);
    const twice = believeStream(withStatus({ ...restored.status, observedUID: 'uid-between' }));
    expect(findSeed(twice)).toBe(before);
    expect(findSeed(stream())).not.toBe(before);
  });
});

describe('a status of its own', () => {
  it('is believed', () => {
    const own = withStatus({ ...STATUS, observedUID: stream().metadata.uid });
    expect(believeStream(own)).toBe(own);
  });

  it('names no UID where an older release wrote it', () => {
    const own = withStatus(STATUS);
    expect(believeStream(own)).toBe(own);
  });
});
