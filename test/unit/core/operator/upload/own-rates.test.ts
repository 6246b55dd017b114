import { expect, test } from 'vitest';
import { buildPod } from '../../../../../src/core/operator/stream/pod.ts';
import { buildJob, wantImport } from '../../../../../src/core/operator/upload/job.ts';
import { playOwnRates } from '../../../../../src/core/operator/upload/own-rates.ts';
import { prepareConfig } from '../../../../../src/core/protocol/environment.ts';
import { COMPONENT_LABEL, INDEX_VERSION_ANNOTATION } from '../../../../../src/core/resources/common/names.ts';
import { SETTINGS, stream, upload } from '../../../../kit/make/operator.ts';
import { buildProgram } from '../../../../kit/make/streamer.ts';

const streamer = (annotations?: Record<string, string>) => ({
  metadata: { name: 'pod', uid: 'uid', labels: { [COMPONENT_LABEL]: 'streamer' }, ...(annotations && { annotations }) },
});
const play = (...list: ReturnType<typeof streamer>[]) => playOwnRates({ pods: { list: () => list } } as never);

test('an own rate is chosen while every streamer plays it, and not beside one of an earlier release', () => {
  const current = buildPod(stream({}), buildProgram([]), SETTINGS) as unknown as ReturnType<typeof streamer>;
  expect(play()).toBe(true);
  expect(play(current, current)).toBe(true);
  expect(play(current, streamer())).toBe(false);
  expect(play(current, streamer({ [INDEX_VERSION_ANNOTATION]: '3' }))).toBe(false);
  const job = { metadata: { name: 'job', uid: 'job', labels: { [COMPONENT_LABEL]: 'prepare' } } };
  expect(play(current, job)).toBe(true);
});

test('the Job reads it in its environment', () => {
  const film = upload('film', {});
  const read = (ownRates: boolean) => {
    const { spec } = JSON.parse(JSON.stringify(buildJob(film, wantImport(film), { ...SETTINGS, ownRates })));
    const env: { name: string; value?: string }[] = spec.template.spec.containers[0].env;
    return prepareConfig(Object.fromEntries(env.map(({ name, value }) => [name, value ?? '10.0.0.1']))).ownRates;
  };
  expect([read(true), read(false)]).toEqual([true, false]);
});
