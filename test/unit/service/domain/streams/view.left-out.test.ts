import { describe, expect, it } from 'vitest';
import { decide } from '../../../../../src/core/operator/stream/decide.ts';
import { buildStatus } from '../../../../../src/core/operator/stream/status.ts';
import { findCondition } from '../../../../../src/core/resources/common/conditions.ts';
import { type LoopStreamSpec, MAX_UNPLAYABLE } from '../../../../../src/core/resources/stream/spec.ts';
import type { UploadStatus } from '../../../../../src/core/resources/upload/spec.ts';
import { toReadiness } from '../../../../../src/service/domain/streams/view.ts';
import type { World } from '../../../../kit/make/operator.ts';
import {
  at,
  MEDIA,
  makePod,
  makeProgram,
  NOW,
  playlist,
  rendition,
  SETTINGS,
  stream,
  upload,
  world,
} from '../../../../kit/make/operator.ts';

const importing: UploadStatus = { phase: 'importing' };
const broken: UploadStatus = { phase: 'failed', error: { code: 'media_unreadable', message: 'It is cut off.' } };
const unprepared: UploadStatus = {
  phase: 'failed',
  media: MEDIA,
  renditions: [{ profile: '720p30', state: 'failed', error: { code: 'prepare_failed', message: 'It stopped.' } }],
};
const preparing: UploadStatus = {
  phase: 'preparing',
  media: MEDIA,
  renditions: [{ profile: '720p30', state: 'pending' }],
};

const listed = (spec: Partial<LoopStreamSpec> = {}) => {
  const { uploadName: _, ...rest } = stream().spec;
  return stream({}, { spec: { ...rest, playlistNames: ['mix'], ...spec } });
};
const mix = (...items: string[]) => playlist('mix', items, { displayName: 'Mix' });
const radio = (...items: string[]) => playlist('radio', items, { track: 'audio' });

/** Returns the stream with its status after one reconcile. */
function observe(loopStream: ReturnType<typeof stream>, seen: World) {
  const decision = decide({ ...seen, stream: loopStream }, SETTINGS);
  return { decision, stream: { ...loopStream, status: buildStatus(loopStream, decision, seen.pod, seen) } };
}
const getReadiness = (loopStream: ReturnType<typeof stream>, seen: World) =>
  toReadiness(observe(loopStream, seen).stream);

describe('a list with items that cannot be played', () => {
  const uploads = [upload('good'), upload('late', importing), upload('bad', broken), upload('odd', unprepared)];
  const seen = world({ uploads, playlists: [mix('late', 'good', 'bad', 'gone', 'odd')] });

  it('goes on air with the others, and keeps the places of those that are left out', () => {
    const { decision } = observe(listed(), seen);
    expect(decision).toMatchObject({ ready: true, phase: 'starting', action: { do: 'create' } });
    const program = decision.action.do === 'create' ? decision.action.program : undefined;
    expect(program?.video.items.map(({ id, rendition: key }) => [id, key !== ''])).toEqual([
      ['late', false],
      ['good', true],
      ['bad', false],
      ['gone', false],
      ['odd', false],
    ]);
    expect(program?.video.lists).toEqual([{ id: 'mix', items: 5 }]);
  });

  it('names each in the warnings: its place, the reason, and the next step; those that need a person first', () => {
    const { ready, issues, warnings } = getReadiness(listed(), seen);
    expect({ ready, issues }).toEqual({ ready: true, issues: [] });
    expect(
      warnings.map(({ code, field, item }) => [code, field, item?.playlistID, item?.index, item?.objectID]),
    ).toEqual([
      ['upload_not_found', 'playlistIDs', 'mix', 3, 'gone'],
      ['media_failed', 'playlistIDs', 'mix', 2, 'bad'],
      ['media_failed', 'playlistIDs', 'mix', 4, 'odd'],
      ['media_importing', 'playlistIDs', 'mix', 0, 'late'],
    ]);
    expect(warnings[1]?.message).toBe(
      'Upload "bad", clip 3 of the playlist "Mix" (mix), could not be imported: It is cut off.',
    );
    for (const { fix } of warnings) expect(fix).toMatch(/\.$/);
  });

  it('is Degraded with ItemsLeftOut while it is on air, and not when all of it plays', () => {
    const loopStream = listed();
    const pod = makePod(loopStream, { ready: true }, seen);
    const on = observe(loopStream, { ...seen, pod }).stream;
    const degraded = findCondition(on.status.conditions, 'Degraded');
    expect(degraded).toMatchObject({ status: 'True', reason: 'ItemsLeftOut' });
    expect(degraded?.message).toMatch(
      /^4 of 5 items are left out\. .*"gone".*"bad".*"odd".* 1 more cannot be played\./,
    );
    const whole = { ...world({ uploads: [upload('good')], playlists: [mix('good')] }), pod };
    expect(findCondition(observe(on, whole).stream.status.conditions, 'Degraded')).toMatchObject({
      status: 'False',
      reason: 'Healthy',
    });
  });

  it('hands the pod a new version when one of them is ready, with the order of all others as it was', () => {
    const loopStream = listed();
    const pod = makePod(loopStream, { ready: true }, seen);
    const started = {
      ...loopStream,
      status: { ...observe(loopStream, { ...seen, pod }).stream.status, podUID: pod.metadata.uid },
    };
    expect(decide({ ...seen, pod, stream: started }, SETTINGS).action.do).toBe('nothing');
    const joined = { ...seen, pod, uploads: new Map(seen.uploads).set('late', upload('late')) };
    const { action } = decide({ ...joined, stream: started }, SETTINGS);
    const before = makeProgram(loopStream, seen, NOW.toISOString());
    expect(action).toMatchObject({ do: 'patch', program: { version: before.version + 1 } });
    if (action.do !== 'patch') throw new Error('no patch');
    expect(action.program.video.items.map(({ id }) => id)).toEqual(before.video.items.map(({ id }) => id));
    expect(action.program.video.items[0]?.rendition).not.toBe('');
  });

  it('waits for all of them with Block, and names the worst and its place', () => {
    const readiness = getReadiness(listed({ itemFailurePolicy: 'Block' }), seen);
    expect(readiness).toMatchObject({ ready: false, warnings: [] });
    expect(readiness.issues).toMatchObject([{ code: 'upload_not_found', field: 'playlistIDs' }]);
    expect(readiness.issues[0]?.message).toContain('4 of 5 items are not ready.');
  });

  it('is not ready while nothing of it plays, and names the item nearest to playing', () => {
    const playlists = [mix('bad', 'late')];
    const { ready, issues } = getReadiness(listed(), world({ uploads, playlists }));
    expect(ready).toBe(false);
    expect(issues).toMatchObject([{ code: 'media_importing', field: 'playlistIDs' }]);
    const failed = getReadiness(listed(), world({ uploads, playlists: [mix('bad', 'odd')] }));
    expect(failed.issues).toMatchObject([{ code: 'media_failed', field: 'playlistIDs' }]);
  });

  it('leaves sound out of a list of videos', () => {
    const song = upload('song', undefined, 'audio');
    const { ready, warnings } = getReadiness(
      listed(),
      world({ uploads: [upload('good'), song], playlists: [mix('song', 'good')] }),
    );
    expect({ ready, codes: warnings.map(({ code }) => code) }).toEqual({ ready: true, codes: ['media_failed'] });
  });
});

describe('a start that does not wait to be ready', () => {
  const buildWorld = (states: Record<string, UploadStatus | undefined>, now = NOW) =>
    world({
      playlists: [mix(...Object.keys(states))],
      uploads: Object.entries(states).map(([name, status]) => upload(name, status)),
      now,
    });
  /** Returns whether each item plays in the new pod; the phase where there is none. */
  const decidePod = (
    loopStream: ReturnType<typeof stream>,
    states: Record<string, UploadStatus | undefined>,
    now = NOW,
  ) => {
    const { action, phase } = decide({ ...buildWorld(states, now), stream: loopStream }, SETTINGS);
    return action.do === 'create' ? action.program.video.items.map(({ rendition: key }) => key !== '') : phase;
  };

  it('goes on air with the first item that is ready', () => {
    expect(decidePod(listed(), { a: importing, b: importing })).toBe('waiting');
    expect(decidePod(listed(), { a: broken, b: importing })).toBe('waiting');
    expect(decidePod(listed(), { a: importing, b: undefined })).toEqual([false, true]);
  });

  it('waits for all items with Block', () => {
    const loopStream = listed({ itemFailurePolicy: 'Block' });
    expect(decidePod(loopStream, { a: importing, b: undefined })).toBe('waiting');
    expect(decidePod(loopStream, { a: broken, b: undefined })).toBe('waiting');
    expect(decidePod(loopStream, { a: undefined, b: undefined })).toEqual([true, true]);
  });

  it('by a schedule is the same from the start of its window on, and not before', () => {
    const schedule = { startAt: at(60).toISOString(), endAt: at(120).toISOString() };
    const states = { a: importing, b: undefined };
    expect(decidePod(listed({ schedule }), states, at(59))).toBe('scheduled');
    expect(decidePod(listed({ schedule }), states, at(60))).toEqual([false, true]);
    const blocking = listed({ schedule, itemFailurePolicy: 'Block' });
    expect(decidePod(blocking, states, at(60))).toBe('waiting');
    expect(decidePod(blocking, { a: undefined, b: undefined }, at(90))).toEqual([true, true]);
    expect(decidePod(blocking, { a: undefined, b: undefined }, at(120))).toBe('ended');
  });
});

describe('the field of an issue', () => {
  const getAudio = (...items: string[]) => [mix('good'), radio(...items)];
  const uploads = [upload('good'), upload('bad', broken)];
  it.each([
    ['a single video', stream({ uploadName: 'bad' }), [], 'videoUploadObjectID'],
    ['a playlist’s item', listed(), [mix('bad')], 'playlistIDs'],
    ['an item of an audio playlist', listed({ audioPlaylistNames: ['radio'] }), getAudio('bad'), 'audioPlaylistIDs'],
    ['an audio playlist that is gone', listed({ audioPlaylistNames: ['radio'] }), [mix('good')], 'audioPlaylistIDs'],
    ['a playlist that is gone', listed(), [], 'playlistIDs'],
  ])('names where %s is', (_what, loopStream, playlists, field) => {
    const { ready, issues } = getReadiness(loopStream, world({ uploads, playlists }));
    expect(ready).toBe(false);
    expect(issues.map((issue) => issue.field)).toEqual([field]);
  });

  it('of an audio list that plays in part is that of the list', () => {
    const { ready, warnings } = getReadiness(
      listed({ audioPlaylistNames: ['radio'] }),
      world({ uploads, playlists: getAudio('bad', 'good') }),
    );
    expect(ready).toBe(true);
    expect(warnings).toMatchObject([{ field: 'audioPlaylistIDs', item: { playlistID: 'radio', index: 0 } }]);
  });
});

describe('several playlists', () => {
  it('go on air without a missing, empty or mismatched one', () => {
    const playlists = [mix('good'), playlist('empty', []), radio('good')];
    const loopStream = listed({ playlistNames: ['gone', 'empty', 'radio', 'mix'] });
    const { ready, warnings } = getReadiness(loopStream, world({ uploads: [upload('good')], playlists }));
    expect(ready).toBe(true);
    expect(warnings.map(({ code, item }) => [code, item?.playlistID, item?.index])).toEqual([
      ['playlist_not_found', 'gone', null],
      ['playlist_not_found', 'radio', null],
      ['playlist_empty', 'empty', null],
    ]);
  });
});

describe('a list of 500', () => {
  const names = Array.from({ length: 500 }, (_, n) => `u${n}`);
  it('goes on air without a broken item', () => {
    const uploads = names.map((name) => upload(name, name === 'u250' ? broken : undefined));
    const { ready, warnings } = getReadiness(listed(), world({ uploads, playlists: [mix(...names)] }));
    expect(ready).toBe(true);
    expect(warnings.map(({ item }) => item?.index)).toEqual([250]);
  });

  it('names so many of its pending items, and counts the rest', () => {
    const uploads = names.map((name) => upload(name, name === 'u0' ? undefined : importing));
    const { ready, warnings } = getReadiness(listed(), world({ uploads, playlists: [mix(...names)] }));
    expect(ready).toBe(true);
    expect(warnings).toHaveLength(MAX_UNPLAYABLE + 1);
    expect(warnings.at(-1)).toMatchObject({ code: 'items_left_out', item: null });
    expect(warnings.at(-1)?.message).toContain(`${499 - MAX_UNPLAYABLE} more of 500 items`);
  });
});

describe('a stream on air', () => {
  const uploads = [upload('a'), upload('b')];
  const seen = world({ uploads, playlists: [mix('a', 'b')] });
  const loopStream = listed();
  const pod = makePod(loopStream, { ready: true }, seen);
  const live = {
    ...loopStream,
    status: { ...observe(loopStream, { ...seen, pod }).stream.status, podUID: pod.metadata.uid },
  };

  it('loses an item whose upload is deleted, and keeps the rest', () => {
    const { action } = decide({ ...seen, pod, uploads: new Map([['b', upload('b')]]), stream: live }, SETTINGS);
    expect(action.do === 'patch' && action.program.video.items.map(({ rendition: key }) => key !== '')).toEqual([
      false,
      true,
    ]);
  });

  it('goes on as it is when nothing plays any more', () => {
    const { action, phase } = decide({ ...seen, pod, uploads: new Map(), stream: live }, SETTINGS);
    expect({ action, phase }).toMatchObject({ action: { do: 'nothing' }, phase: 'live' });
  });

  it('keeps all its items while they are prepared for another quality, and changes when each is ready or has failed', () => {
    const edited = { ...live, spec: { ...live.spec, quality: '1080p' as const } };
    const ready = (name: string): [string, ReturnType<typeof upload>] => [
      name,
      upload(name, { phase: 'ready', media: MEDIA, renditions: [rendition('1080p30')] }),
    ];
    const partly = { ...seen, pod, uploads: new Map([ready('a'), ['b', upload('b', preparing)]]) };
    const held = decide({ ...partly, stream: edited }, SETTINGS);
    expect(held.action.do).toBe('nothing');
    expect(held.playing?.profile).toBe('720p30');
    const settled = { ...seen, pod, uploads: new Map([ready('a'), ['b', upload('b', broken)]]) };
    expect(decide({ ...settled, stream: edited }, SETTINGS).action).toMatchObject({
      do: 'patch',
      program: { profile: '1080p30' },
    });
  });

  it('learns of an item that its pod cannot read, and remembers it while the pod is silent', () => {
    const item = { id: 'b', name: 'b', track: 'video' as const, code: 'item_missing', message: 'It is gone.' };
    const report = { clock: {}, problems: [], runs: [], broken: [{ ...item, index: 1, playlist: 'mix' }] };
    const told = observe(live, { ...seen, pod, report }).stream;
    expect(findCondition(told.status.conditions, 'Degraded')).toMatchObject({ status: 'True', reason: 'ItemsLeftOut' });
    expect(toReadiness(told).warnings).toMatchObject([
      { code: 'item_missing', field: 'playlistIDs', item: { playlistID: 'mix', index: 1, objectID: 'b' } },
    ]);
    const silent = observe(told, { ...seen, pod, now: at(60) }).stream;
    expect(silent.status).toEqual(told.status);
    const well = observe(told, { ...seen, pod, report: { clock: {}, problems: [], runs: [] } }).stream;
    expect(well.status.unplayable).toBeUndefined();
  });

  it('has a warning since the moment when the item could not be played', () => {
    const late = world({ uploads: [upload('a'), upload('b', importing)], playlists: [mix('a', 'b')] });
    const first = observe(loopStream, late).stream;
    const later = observe(first, { ...late, now: at(3600) }).stream;
    expect(toReadiness(later).warnings[0]?.since).toBe(toReadiness(first).warnings[0]?.since);
  });
});
