/** Tests that a dry run and the operator agree about each edit of a stream on air. */
import { expect, test } from 'vitest';
import { judgeEdit } from '../../../../../src/core/resources/stream/effect.ts';
import type { LoopStreamSpec } from '../../../../../src/core/resources/stream/spec.ts';
import { at, destination, makePod, step, stream, upload, world } from '../../../../kit/make/operator.ts';

const time = (seconds: number): string => at(seconds).toISOString();
const HOURLY = { cron: '0 * * * *', timeZone: 'UTC', durationSeconds: 600 };

/** A stream on air, and what the operator does with it after an edit. */
function edit(spec: Partial<LoopStreamSpec>, before: Partial<LoopStreamSpec> = {}, now = at(30)) {
  const objects = { destinations: [destination('tv'), destination('radio')], uploads: [upload()] };
  const live = step(stream(before), world({ ...objects, pod: makePod(stream(before), { ready: true }) })).stream;
  expect(live.status?.phase).toBe('live');
  const edited = { ...live, spec: { ...live.spec, ...spec }, metadata: { ...live.metadata, generation: 2 } };
  const pod = { ...makePod(stream(before), { ready: true }) };
  pod.metadata.uid = live.status?.podUID ?? pod.metadata.uid;
  const { decision } = step(edited, world({ ...objects, pod, now }));
  const effect = judgeEdit(edited, { receiving: live.spec.destinationNames ?? [], now });
  return { decision, effect };
}

const edits: [string, Partial<LoopStreamSpec>, Partial<LoopStreamSpec>?][] = [
  ['stopped', { replicas: 0 }],
  ['suspended', { suspend: true }],
  ['a start to come', { schedule: { startAt: time(60) } }],
  ['a start to come, on air until then', { schedule: { startAt: time(60), onAirUntil: time(60) } }],
  ['on air until a moment ago', { schedule: { startAt: time(60), onAirUntil: time(10) } }],
  ['a start that has passed', { schedule: { startAt: time(-60) } }],
  ['an end to come', { schedule: { endAt: time(60) } }],
  ['an end that has passed', { schedule: { endAt: time(-60) } }],
  ['a window of every hour that is now', { schedule: { recurrence: HOURLY } }],
  ['a window of every hour that is over', { schedule: { recurrence: { ...HOURLY, cron: '30 * * * *' } } }],
  ['a window with a deadline that has passed', { schedule: { recurrence: HOURLY, startingDeadlineSeconds: 5 } }],
  ['a schedule that makes no sense', { schedule: { startAt: time(60), endAt: time(10) } }],
  ['no schedule any more', {}, { schedule: { recurrence: HOURLY } }],
  ['another video that is there', { uploadName: 'film' }],
  ['another video that is not there', { uploadName: 'none' }],
  ['a playlist that is not there', { uploadName: undefined as never, playlistNames: ['none'] }],
  ['another quality', { quality: '1080p' }],
  ['another frame rate, all items needed', { framerate: 60, itemFailurePolicy: 'Block' }],
  ['one destination more', { destinationNames: ['tv', 'radio'] }],
  ['a destination that is not there', { destinationNames: ['tv', 'none'] }],
];

test.each(edits)('%s', (_what, spec, before) => {
  const { decision, effect } = edit(spec, before);
  expect(effect.isEnded).toBe(decision.phase === 'stopping');
  expect(effect.takesOffAir).toBe(effect.isEnded);
});
