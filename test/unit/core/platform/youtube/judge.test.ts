import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { YOUTUBE_ISSUES } from '../../../../../src/core/lib/codes/youtube-issues.ts';
import {
  joinBroadcasts,
  readBroadcasts,
  readFailure,
  readIngests,
  readVideos,
} from '../../../../../src/core/platform/youtube/answers.ts';
import { type Evidence, judgeYoutube } from '../../../../../src/core/platform/youtube/judge.ts';
import { startYoutube } from '../../../../kit/fake/youtube.ts';

const clock = { nowMs: Date.parse('2026-07-15T12:00:00Z') };
let platform: Awaited<ReturnType<typeof startYoutube>>;
beforeAll(async () => {
  platform = await startYoutube({ nowMs: () => clock.nowMs, budgetUnits: 10_000 });
});
afterAll(() => platform.stop());

/** The evidence that calls over HTTP find. */
async function look({ id, streamId, token }: { id: string; streamId: string; token: string }): Promise<Evidence> {
  const atMs = clock.nowMs;
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${platform.apiUrl}/${path}`, { headers });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  const videos = await get(`videos?part=snippet,liveStreamingDetails&id=${id}&key=key`);
  const streams = await get(`liveStreams?part=status&id=${streamId}`, { authorization: `Bearer ${token}` });
  const failed = [videos, streams].find(({ status }) => status !== 200);
  const [video] = readVideos(videos.body);
  const [ingest] = readIngests(streams.body);
  return {
    ...(videos.status === 200 ? { video: { atMs, ...(video ? { value: video } : {}) } } : {}),
    ...(streams.status === 200 ? { ingest: { atMs, ...(ingest ? { value: ingest } : {}) } } : {}),
    ...(failed ? { failure: { atMs, failure: readFailure(failed.status, failed.body) } } : {}),
  };
}

let channels = 0;
function addLive() {
  const channelId = `channel-${++channels}`;
  const { world } = platform;
  const { token, streamId } = world.addChannel(channelId);
  const { id } = world.addBroadcast(channelId);
  world.publish(streamId, true);
  world.setLive(id, streamId);
  return { id, streamId, token, channelId };
}
const judge = async (one: ReturnType<typeof addLive>) => judgeYoutube(await look(one), clock.nowMs);

describe('what viewers see on YouTube', () => {
  test('is a live broadcast, with its viewers where they are shown', async () => {
    const one = addLive();
    expect(await judge(one)).toEqual({ status: 'True', lastSeenMs: clock.nowMs, issues: [] });
    platform.world.setViewers(one.id, 12);
    expect(await judge(one)).toMatchObject({ status: 'True', viewers: 12 });
  });

  test('has ended with the broadcast, though media still arrives', async () => {
    const one = addLive();
    platform.world.complete(one.id);
    expect(await judge(one)).toMatchObject({ status: 'False', reason: 'broadcast_ended' });
  });

  test('has not begun while the broadcast is scheduled', async () => {
    const one = addLive();
    const { id } = platform.world.addBroadcast(one.channelId);
    expect(await judge({ ...one, id })).toMatchObject({ status: 'False', reason: 'no_broadcast' });
  });

  test.each([
    ['ingest_inactive', (streamId: string) => platform.world.publish(streamId, false)],
    ['key_revoked', (streamId: string) => platform.world.setHealth(streamId, 'revoked')],
  ])('is nothing by %s, whatever the video says', async (reason, change) => {
    const one = addLive();
    change(one.streamId);
    expect(await judge(one)).toMatchObject({ status: 'False', reason });
  });

  test('is a broadcast with problems, each with a fix in our terms', async () => {
    const one = addLive();
    platform.world.setHealth(one.streamId, 'bad', ['gopSizeLong', 'aTypeOfNextYear', 'toString']);
    const { status, reason, issues } = await judge(one);
    expect({ status, reason }).toEqual({ status: 'True', reason: 'health_bad' });
    expect(issues.map(({ code }) => code)).toEqual(['keyframes_rare', 'other_issue']);
    expect(issues[0]?.fix).toContain('copied as it is');
  });

  test.each(['private', 'removed', 'revoked'])('is not known of a video that is %s', async (how) => {
    const one = addLive();
    const { world } = platform;
    if (how === 'private') world.setPrivacy(one.id, 'private');
    if (how === 'removed') world.remove(one.id);
    if (how === 'revoked') world.revoke(one.id);
    expect(await judge(one)).toMatchObject({ status: 'Unknown', reason: 'not_visible' });
  });

  test('is known by the public answer where the token was revoked, and not known without either', async () => {
    const one = addLive();
    platform.world.revokeToken(one.token);
    expect(await judge(one)).toMatchObject({ status: 'True' });
    platform.world.setPrivacy(one.id, 'private');
    expect(await judge(one)).toMatchObject({ status: 'Unknown', reason: 'unauthorized' });
  });

  test('is not known any more once answers are old, or none came', async () => {
    const one = addLive();
    const evidence = await look(one);
    expect(judgeYoutube(evidence, clock.nowMs + 90_000)).toMatchObject({ status: 'True' });
    expect(judgeYoutube(evidence, clock.nowMs + 90_001)).toMatchObject({ status: 'Unknown', reason: 'not_checked' });
    expect(judgeYoutube({}, clock.nowMs)).toEqual({ status: 'Unknown', reason: 'not_checked', issues: [] });
  });

  test('is not taken from an old answer about media', async () => {
    const one = addLive();
    platform.world.publish(one.streamId, false);
    const { ingest } = await look(one);
    platform.world.publish(one.streamId, true);
    clock.nowMs += 61_000;
    const { video } = await look(one);
    expect(judgeYoutube({ video, ingest } as Evidence, clock.nowMs)).toMatchObject({ status: 'True' });
  });

  test('is missing from lists only if they have said so for as long as they may lag', () => {
    const nowMs = clock.nowMs;
    const judgeAbsent = (absentSinceMs: number) =>
      judgeYoutube({ broadcasts: { atMs: nowMs, value: [], absentSinceMs } }, nowMs);
    expect(judgeAbsent(nowMs - 59_999)).toMatchObject({ status: 'Unknown', reason: 'unconfirmed' });
    expect(judgeAbsent(nowMs - 60_000)).toMatchObject({ status: 'False', reason: 'no_broadcast' });
  });

  test('has every type of issue that is documented', () => {
    // The types of the reference "Configuration Issues for LiveStream Resources" and of the discovery document.
    const documented =
      'audioBitrateHigh audioBitrateLow audioBitrateMismatch audioCodec audioCodecMismatch audioSampleRate audioSampleRateMismatch audioStereoMismatch audioTooManyChannels badContainer bitrateHigh bitrateLow frameRateHigh framerateMismatch gopMismatch gopSizeLong gopSizeOver gopSizeShort interlacedVideo multipleAudioStreams multipleVideoStreams noAudioStream noVideoStream openGop resolutionMismatch videoBitrateMismatch videoCodec videoCodecMismatch videoIngestionFasterThanRealtime videoIngestionStarved videoInterlaceMismatch videoProfileMismatch videoResolutionSuboptimal videoResolutionUnsupported';
    expect(Object.keys(YOUTUBE_ISSUES).sort()).toEqual(documented.split(' ').sort());
  });
});

describe('answers that cannot be read', () => {
  test.each([undefined, null, 'text', [], {}, { items: null }, { items: [null, 1, {}, { id: 1 }] }])(
    'prove nothing: %j',
    (answer) => {
      expect([readVideos(answer), readBroadcasts(answer), readIngests(answer)]).toEqual([[], [], []]);
    },
  );

  test('of two lists of one broadcast the one is believed in which it is further on', () => {
    const make = (lifeCycle: 'ready' | 'complete', streamId?: string) => ({
      id: 'one',
      lifeCycle,
      description: '',
      streamId,
    });
    const both = [[make('complete')], [make('ready', 'key')]] as const;
    for (const lists of [both, both.toReversed()])
      expect(joinBroadcasts(...lists)).toMatchObject([{ lifeCycle: 'complete', streamId: 'key' }]);
  });

  test.each([
    [403, { error: { errors: [{ reason: 'quotaExceeded' }] } }, 'quota_exhausted'],
    [403, { error: { errors: [{ reason: 'rateLimitExceeded' }] } }, 'rate_limited'],
    [403, { error: { errors: [{ reason: 'liveStreamingNotEnabled' }] } }, 'unauthorized'],
    [400, { error: 'invalid_grant' }, 'unauthorized'],
    [401, '<html>', 'unauthorized'],
    [400, { error: { errors: [{ reason: 'invalidTitle' }] } }, 'refused'],
    [503, undefined, 'platform_failed'],
    [404, {}, 'not_found'],
  ])('%i with %j is %s', (status, body, failure) => {
    expect(readFailure(status, body)).toBe(failure);
  });
});
