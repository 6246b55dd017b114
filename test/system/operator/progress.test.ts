/** Tests progress from the pod of a Job to the Upload's status, on a real control plane. */
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { readPodProgram } from '../../../src/core/protocol/to-streamer.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { workingPod } from '../../kit/make/progress.ts';
import {
  aroundEachTest,
  createDestination,
  createStream,
  createUpload,
  getPod,
  getStream,
  kube,
  kubelet,
  NS,
  waitForJobPod,
  waitUntilIdle,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

it('an upload shows its Job’s progress in steps, and a wrong or missing report changes nothing', async () => {
  await using pod = await workingPod();
  const film = () => kube.get(UPLOADS, NS, 'film');
  const shows = (progress: number) =>
    until(`the upload shows ${progress}`, async () => (await film()).status?.progress === progress);
  pod.at(0.42);
  await createUpload();
  const { name } = (await waitForJobPod('film-import')).metadata;
  await kubelet.bind(name);
  await kubelet.run(name, true, 0, pod.ip);
  await shows(0.42);
  await waitUntilIdle();
  const { resourceVersion } = (await film()).metadata;

  const wrong: ((response: ServerResponse) => unknown)[] = [
    (response) => response.end('{"progress":0.45}'),
    (response) => response.end('{"progress":7}'),
    (response) => response.end('{"progress":"half"}'),
    (response) => response.end('no JSON'),
    (response) => response.writeHead(500).end('{"progress":0.9}'),
    (response) => response.destroy(),
  ];
  // Each request gets the next answer; the answer after the last is the same as before.
  pod.say = (response) => (wrong.shift() ?? ((last) => last.end('{"progress":0.42}')))(response);
  const before = pod.asked + wrong.length;
  await until('the last wrong answer was taken in', () => pod.asked > before);
  await waitUntilIdle();
  expect((await film()).metadata.resourceVersion).toBe(resourceVersion);

  pod.at(0.9);
  await shows(0.9);
  await kubelet.end(name, 0, JSON.stringify({ action: 'import', media: MEDIA }));
  await shows(1);
  const { asked } = pod;
  await createUpload('other');
  const other = (await waitForJobPod('other-import')).metadata.name;
  await kubelet.bind(other);
  await kubelet.run(other, true, 0, pod.ip);
  await until('the other is asked', () => pod.asked > asked);
  await until('the other shows it', async () => (await kube.get(UPLOADS, NS, 'other')).status?.progress === 0.9);
  expect((await film()).status).toMatchObject({ phase: 'ready', progress: 1 });
});

it('a stream goes on air when enough of its media is prepared, and one that is to wait does so for all', async () => {
  await using pod = await workingPod();
  const film = () => kube.get(UPLOADS, NS, 'film');
  const readMedia = async (name: string) => findCondition((await getStream(name)).status?.conditions, 'MediaReady');
  const part = (seconds: number) => ({ prepared: { seconds, totalSeconds: 3600, speed: 2 } });
  await createDestination();
  await createUpload();
  await createStream();
  await createStream({ startPolicy: 'Prepared' }, 'later');
  const media = { ...MEDIA, durationSeconds: 3600 };
  await kubelet.end((await waitForJobPod('film-import')).metadata.name, 0, JSON.stringify({ action: 'import', media }));
  const { name } = (await waitForJobPod('film-720p30')).metadata;
  await kubelet.bind(name);
  pod.at(0.01, part(20));
  await kubelet.run(name, true, 0, pod.ip);
  await until(
    'the stream says how much is prepared',
    async () => (await getStream()).status?.preparation !== undefined,
  );
  await until('its issue does, too', async () =>
    (await readMedia('bunny'))?.message.includes(' 0 % of it is prepared.'),
  );
  expect(await getPod()).toBeUndefined();

  pod.at(0.02, part(72));
  const streamer = await until('the pod of the stream', () => getPod());
  const [rendition] = (await film()).status?.renditions ?? [];
  expect(rendition).toMatchObject({ state: 'pending', playable: true, preparedSeconds: 72, durationSeconds: 3600 });
  expect((await film()).status?.phase).toBe('preparing');
  expect(readPodProgram(streamer)?.video.items).toMatchObject([{ id: 'film', rendition: rendition?.key }]);
  await until('readiness says it', async () => (await readMedia('bunny'))?.status === 'True');
  expect((await readMedia('bunny'))?.message).toBe('The media can be played; 2 % of it is prepared.');
  expect(await readMedia('later')).toMatchObject({ status: 'False', reason: 'MediaPreparing' });
  expect(await getPod('later-onair')).toBeUndefined();

  const made = { profile: '720p30', state: 'ready', key: rendition?.key, durationSeconds: 3600, bitrateKbps: 4000 };
  await kubelet.end(name, 0, JSON.stringify({ action: 'rendition', rendition: made }));
  await until('the other stream has a pod, too', () => getPod('later-onair'));
  await until('all is prepared', async () => (await getStream('later')).status?.preparation === undefined);
});
