/** Tests the API's handling of streams that cost credits, with streams as billing and the operator leave them. */
import { expect, it } from 'vitest';
import type { Condition } from '../../../../../src/core/resources/common/conditions.ts';
import { CREDIT_CONDITION } from '../../../../../src/core/resources/common/names.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { type LoopStreamSpec, READINESS_CONDITIONS } from '../../../../../src/core/resources/stream/spec.ts';
import type { OwnedResources } from '../../../../../src/service/domain/limits/owned-resources.ts';
import { createStreamService } from '../../../../../src/service/domain/streams/service.ts';
import { isSettled, toReadiness } from '../../../../../src/service/domain/streams/view.ts';
import { ROOM } from '../../../../kit/make/limits.ts';
import { stream } from '../../../../kit/make/operator.ts';

const GATES = [{ conditionType: CREDIT_CONDITION }];
const condition = (type: string, status: Condition['status'], reason = type): Condition => ({
  type,
  status,
  reason,
  message: `${type} is ${status}.`,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const READY = READINESS_CONDITIONS.map((type) => condition(type, 'True'));
const offAir = (...credit: Condition[]): LoopStream =>
  stream(
    { replicas: 0, readinessGates: GATES },
    { status: { observedGeneration: 1, phase: 'idle', conditions: [...READY, ...credit] } },
  );

function buildService(found: LoopStream, made: LoopStreamSpec[] = [], paid = true, supportUrl?: string) {
  const streams = {
    get: () => found,
    until: async () => true,
    patch: async (_: LoopStream, patch: { spec: Partial<LoopStreamSpec> }) => ({
      ...found,
      spec: { ...found.spec, ...patch.spec },
    }),
    create: async (_: string, spec: () => LoopStreamSpec) => {
      made.push(spec());
      return found;
    },
  } as unknown as OwnedResources<LoopStream>;
  const references = { destination: () => ({}), upload: () => ({ track: 'video' }), playlist: () => undefined };
  const posters = { ofStream: () => null };
  const given = { streams, references: references as never, posters, quotas: ROOM, estimateStorage: () => 0 };
  return createStreamService({ ...given, paid, supportUrl });
}

it('a start without credit is refused for that reason first; with a wait it is accepted', async () => {
  const none = offAir(condition(CREDIT_CONDITION, 'False', 'InsufficientCredits'));
  await expect(buildService(none).start('ann', 'bunny')).rejects.toMatchObject({ code: 'insufficient_credits' });
  expect(toReadiness(none).issues).toEqual([expect.objectContaining({ code: 'insufficient_credits' })]);
  await expect(buildService(none).start('ann', 'bunny', 0, { whenReady: true })).resolves.toMatchObject({
    done: false,
  });
  const some = offAir(condition(CREDIT_CONDITION, 'True'));
  await expect(buildService(some).start('ann', 'bunny')).resolves.toMatchObject({ done: false });
});

it.each([
  ['mailto:help@example.com', 'Ask help@example.com where you cannot add any.'],
  ['https://example.com/help', 'Ask https://example.com/help where you cannot add any.'],
  [undefined, 'Add credit; the stream then goes on air automatically.'],
])('a start without credit names the support where one is set: %s', async (supportUrl, end) => {
  const none = offAir(condition(CREDIT_CONDITION, 'False', 'InsufficientCredits'));
  const error = await buildService(none, [], true, supportUrl)
    .start('ann', 'bunny')
    .catch((thrown: Error) => thrown);
  expect((error as Error).message.endsWith(end)).toBe(true);
});

it('a new stream has the gate where streams cost something, and is settled when billing has said its word', async () => {
  const made: LoopStreamSpec[] = [];
  const input = {
    name: 'Bunny',
    quality: 'q_720p',
    framerate: 'f_30',
    destinationID: 'tv',
    videoUploadObjectID: 'film',
  } as const;
  await buildService(offAir(), made).create('ann', input);
  await buildService(offAir(), made, false).create('ann', input);
  expect(made.map(({ readinessGates }) => readinessGates)).toEqual([GATES, undefined]);
  expect(isSettled(offAir())).toBe(false);
  expect(isSettled(offAir(condition(CREDIT_CONDITION, 'False')))).toBe(true);
  // A foreign gate may never be set; no request waits for it.
  const { spec, ...rest } = offAir();
  expect(isSettled({ ...rest, spec: { ...spec, readinessGates: [{ conditionType: 'Weather' }] } })).toBe(true);
});
