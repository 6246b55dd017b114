/** Tests the cards of a stream's songs on a real control plane: they are made, shown, made anew for a new title, and dropped. */
import { expect, it } from 'vitest';
import { JOBS } from '../../../src/core/kube/core.ts';
import { readTask } from '../../../src/core/operator/upload/job.ts';
import { readPodProgram } from '../../../src/core/protocol/to-streamer.ts';
import { findCondition } from '../../../src/core/resources/common/conditions.ts';
import { PLAYLISTS } from '../../../src/core/resources/playlist/resource.ts';
import { parseCardProfile } from '../../../src/core/resources/upload/card.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import {
  aroundEachTest,
  buildObject,
  createDestination,
  createStream,
  createUpload,
  finishJob,
  getPod,
  getStream,
  kube,
  kubelet,
  MADE,
  NS,
  prepareUpload,
  setSpec,
  startOperator,
  waitForPhase,
  waitForPod,
  withoutOperator,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();

const createSong = (tags: object) =>
  kube.create(
    UPLOADS,
    NS,
    buildObject('Upload', 'song', { track: 'audio', tags, source: { url: 'https://media.example/song' } }) as never,
  );

/** Puts a stream with a song on air. The song is ready, and its card is not. */
async function goOnAir(spec: object): Promise<void> {
  await createDestination();
  await createUpload();
  await createSong({ title: 'One', artist: 'Ann' });
  const items = [{ uploadName: 'song' }];
  await kube.create(PLAYLISTS, NS, buildObject('Playlist', 'songs', { track: 'audio', items }) as never);
  await createStream({ audioPlaylistNames: ['songs'], ...spec });
  await prepareUpload();
  const { video: _, ...media } = MEDIA;
  await finishJob('song-import', { action: 'import', media });
  await finishJob('song-720p30', MADE);
  await waitForPod();
  await kubelet.bind('bunny-onair');
  await kubelet.run('bunny-onair', true);
  await waitForPhase('live');
}

/** The Job of the card with this title. */
const waitForCardJob = (title: string) =>
  until(`a Job for the card ${title}`, async () => {
    for (const job of await kube.list(JOBS, { namespace: NS })) {
      const task = readTask(job);
      if (task?.action === 'rendition' && task.card?.title === title) return { name: job.metadata.name, task };
    }
    return undefined;
  });

async function makeCard(title: string): Promise<string> {
  const { name, task } = await waitForCardJob(title);
  const rendition = { ...MADE.rendition, profile: task.profile, durationSeconds: 2, bitrateKbps: 400 };
  await finishJob(name, { action: 'rendition', rendition });
  return task.renditionKey;
}

const readCard = async () => {
  const pod = await getPod();
  return pod && readPodProgram(pod)?.audio?.items[0]?.card;
};
const untilShown = (key: string | undefined) =>
  until(`the program names ${key}`, async () => (await readCard()) === key, 60_000);
const listCards = async () =>
  ((await kube.get(UPLOADS, NS, 'song')).status?.renditions ?? []).filter(
    ({ profile }) => parseCardProfile(profile) !== undefined,
  );

it('a song gets its card while it is on air, another one for a new title, and keeps the first until then', async () => {
  await goOnAir({ cards: {} });
  const pod = await getPod();
  expect(await readCard()).toBeUndefined();
  const first = await makeCard('One');
  expect((await waitForCardJob('One')).task).toMatchObject({ type: 'audio', card: { title: 'One', artist: 'Ann' } });
  await untilShown(first);

  await kube.mergePatch(UPLOADS, NS, 'song', { spec: { tags: { title: 'Two' } } });
  await waitForCardJob('Two');
  expect(await readCard()).toBe(first);
  const second = await makeCard('Two');
  await untilShown(second);
  expect((await listCards()).map(({ key, unwantedSince }) => [key, unwantedSince !== undefined]).sort()).toEqual(
    [
      [first, true],
      [second, false],
    ].sort(),
  );
  expect((await getPod())?.metadata.uid).toBe(pod?.metadata.uid);
  expect((await getStream()).status?.phase).toBe('live');

  await setSpec({ cards: null } as never);
  await untilShown(undefined);
  await until('no card is wanted', async () => (await listCards()).every((card) => card.unwantedSince !== undefined));
});

it('a card that nobody wants is dropped after its time', async () => {
  await goOnAir({ cards: {} });
  await untilShown(await makeCard('One'));
  await setSpec({ cards: null } as never);
  await until('it is not wanted', async () => (await listCards())[0]?.unwantedSince !== undefined);
  await withoutOperator(async () => {
    const { lifecycle } = await startOperator({}, { keepUnusedDays: 1 / 86_400 });
    await until('it is dropped', async () => (await listCards()).length === 0, 30_000);
    await lifecycle.stop();
  });
  expect((await kube.get(UPLOADS, NS, 'song')).status?.renditions).toHaveLength(1);
});

it('a picture behind the cards that does not exist degrades the stream, and the song plays over the video', async () => {
  await goOnAir({ cards: { imageUploadName: 'sky' } });
  const degraded = await until('it is degraded', async () => {
    const condition = findCondition((await getStream()).status?.conditions, 'Degraded');
    return condition?.reason === 'CardsMissing' && condition;
  });
  expect(degraded.message).toContain('Upload "sky", the picture behind the cards, does not exist.');
  await setSpec({ cards: { imageUploadName: null } } as never);
  await untilShown(await makeCard('One'));
  await until('it is sound', async () => {
    const condition = findCondition((await getStream()).status?.conditions, 'Degraded');
    return condition?.status === 'False';
  });
});

it('cards without songs are refused', async () => {
  await createDestination();
  await createUpload();
  await expect(createStream({ cards: {} })).rejects.toThrow('must be given together with an audio playlist');
});
