/** Tests what a choice of tracks makes of an upload: another rendition of its own, shared by equal choices, or a clear error. */
import { describe, expect, it } from 'vitest';
import type { Job, Pod } from '../../../../../src/core/kube/core.ts';
import { decideUpload } from '../../../../../src/core/operator/upload/decide.ts';
import { wantImport, wantRendition } from '../../../../../src/core/operator/upload/job.ts';
import { listReferredKeys } from '../../../../../src/core/operator/upload/sweep.ts';
import { findCondition } from '../../../../../src/core/resources/common/conditions.ts';
import { getPreviewState } from '../../../../../src/core/resources/upload/requested.ts';
import type { Upload } from '../../../../../src/core/resources/upload/resource.ts';
import { findRendition, type TrackChoice } from '../../../../../src/core/resources/upload/spec.ts';
import { endedPod, MEDIA, makeJob, NOW, SETTINGS, upload } from '../../../../kit/make/operator.ts';

const PROFILE = '720p30';
const TRACKS = [
  { index: 0, kind: 'video' as const, codec: 'h264', automatic: true },
  { index: 1, kind: 'audio' as const, codec: 'aac', channels: 2, automatic: true },
  { index: 2, kind: 'audio' as const, codec: 'aac', channels: 2 },
  { index: 3, kind: 'audio' as const, codec: 'apac', unplayable: true },
];
const media = { ...MEDIA, tracks: TRACKS };

function choose(base: Upload, tracks: TrackChoice, generation = 2): Upload {
  return { ...base, metadata: { ...base.metadata, generation }, spec: { ...base.spec, tracks } };
}
const ready = (): Upload => {
  const base = upload('film');
  return { ...base, status: { ...base.status, media } };
};

function see(
  owner: Upload,
  { jobs = [], pods = [], profiles = [PROFILE] }: { jobs?: Job[]; pods?: Pod[]; profiles?: string[] } = {},
) {
  return decideUpload(owner, {
    profiles,
    held: new Map(),
    urgent: new Set(profiles),
    jobs: new Map(jobs.map((job) => [job.metadata.name, job])),
    pods: new Map(jobs.map((job) => [job.metadata.uid, pods])),
    sameWork: new Map(),
    progress: new Map(),
    sameSource: () => undefined,
    grant: () => ({}),
    sounds: [],
    cards: [],
    looks: [],
    slates: [],
    hasPreparedRoom: () => true,
    keepUnusedMs: 86_400_000,
    settings: SETTINGS,
    now: NOW,
  });
}

describe('a choice of tracks', () => {
  it('is prepared anew, under a key of its own that equal choices share', () => {
    const { create, status } = see(choose(ready(), { audio: 2 }));
    expect(create).toMatchObject([{ task: { action: 'rendition', profile: PROFILE, tracks: { audio: 2 } } }]);
    expect(status.phase).toBe('preparing');
    const keys = [{}, { audio: 2 }, { audio: 2 }, { audio: 1 }, { video: 0 }, { audio: 2, audioRight: 1 }].map(
      (tracks) => {
        const { task } = wantRendition(choose(ready(), tracks), media, PROFILE);
        return task.action === 'rendition' ? task.renditionKey : '';
      },
    );
    expect(new Set(keys).size).toBe(5);
    expect(keys[1]).toBe(keys[2]);
    const plain = wantRendition(ready(), media, PROFILE).task;
    expect(plain).toMatchObject({ renditionKey: keys[0] });
  });

  it('takes no result of a Job that works for another choice', () => {
    const job = makeJob(ready(), wantRendition(ready(), media, PROFILE));
    const chosen = choose(ready(), { audio: 2 });
    const result = endedPod({
      action: 'rendition',
      rendition: { profile: PROFILE, state: 'ready', durationSeconds: 10, bitrateKbps: 4000 },
    });
    for (const pods of [[], [result]]) {
      const { remove, status } = see(chosen, { jobs: [job], pods });
      expect(remove).toEqual([job]);
      expect(status.phase).toBe('preparing');
    }
  });

  it('makes what was prepared before no rendition of the upload, for a stream or a preview', () => {
    const chosen = choose(ready(), { audio: 2 });
    expect(findRendition(ready(), PROFILE)).toBeDefined();
    expect(findRendition(chosen, PROFILE)).toBeUndefined();
    expect(getPreviewState(chosen)).toBeNull();
  });

  it('of sound alone is the same whichever picture it names', () => {
    const audio = upload('song', undefined, 'audio');
    expect(findRendition(choose(audio, { video: 4 }), PROFILE)).toBeDefined();
  });

  it('lets the transfer of a running import go on', () => {
    const fresh = upload('film', {});
    const job = makeJob(fresh, wantImport(fresh, true, { profile: PROFILE }));
    expect(see(choose(fresh, { audio: 2 }), { jobs: [job] })).toMatchObject({ create: [], remove: [] });
    const pods = [
      endedPod({
        action: 'import',
        media,
        rendition: { profile: PROFILE, state: 'ready', durationSeconds: 10, bitrateKbps: 4000 },
      }),
    ];
    const { create, status } = see(choose(fresh, { audio: 2 }), { jobs: [job], pods });
    expect(create).toMatchObject([{ task: { action: 'rendition', tracks: { audio: 2 } } }]);
    expect(status.renditions).toMatchObject([{ profile: PROFILE, state: 'pending' }]);
  });

  it('is given to an import that begins, whose rendition the sweep keeps', () => {
    const fresh = choose(upload('film', {}), { audio: 2 }, 1);
    const { create } = see(fresh);
    expect(create).toMatchObject([{ task: { action: 'import', tracks: { audio: 2 } } }]);
    const [wanted] = create;
    const jobs = wanted ? [makeJob(fresh, wanted)] : [];
    const keys = [...listReferredKeys({ uploads: [fresh], jobs, pods: [], streams: [], begun: [] })];
    expect(keys.some((key) => key.includes(`video-${PROFILE}-a2`))).toBe(true);
  });
});

describe('a choice that the file cannot serve', () => {
  it.each([
    [{ audio: 9 }, 'It has no audio track 9. Choose one of its audio tracks 1, 2.'],
    [{ audio: 3 }, 'Its audio track 3 (apac) cannot be decoded. Choose one of its audio tracks 1, 2.'],
    [{ video: 1 }, 'It has no video track 1. Its only video track that can be played is 0.'],
    [{ audioRight: 1 }, 'The right side needs another audio track for the left side.'],
  ])('%j fails with a sentence, and makes no Job', (tracks, words) => {
    for (const profiles of [[], [PROFILE]]) {
      const { create, status } = see(choose(ready(), tracks), { profiles });
      expect(create).toEqual([]);
      expect(status).toMatchObject({ phase: 'failed', error: { code: 'media_track_not_found' } });
      expect(status.error?.message).toContain(words);
      expect(findCondition(status.conditions, 'Prepared')).toMatchObject({ reason: 'MediaTrackNotFound' });
    }
  });

  it('heals with the next choice', () => {
    const chosen = choose(ready(), { audio: 9 });
    const failed = { ...chosen, status: see(chosen).status };
    const { create, status } = see(choose(failed, { audio: 2 }, 3));
    expect(create).toMatchObject([{ task: { tracks: { audio: 2 } } }]);
    expect(status.error).toBeUndefined();
  });

  it('is left to the preparation where not all tracks are listed', () => {
    const base = ready();
    for (const listed of [{ ...media, moreTracks: 30 }, MEDIA]) {
      const { create } = see(choose({ ...base, status: { ...base.status, media: listed } }, { audio: 40 }));
      expect(create).toHaveLength(1);
    }
  });
});
