/** Tests every tool with the stock client, over the real server, Postgres and Kubernetes; the test writes the operator's status. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { SKIP_ANNOTATIONS, TEST_ANNOTATION } from '../../../src/core/resources/common/names.ts';
import { DESTINATIONS } from '../../../src/core/resources/destination/resource.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import type { UploadStatus } from '../../../src/core/resources/upload/spec.ts';
import type { Tool } from '../../../src/service/server/mcp/tool.ts';
import { describedTools } from '../../../src/service/server/mcp/tools.ts';
import { OPERATION_SCOPES } from '../../../src/service/server/operations/scopes.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { startWebhookSink } from '../../kit/fake/webhook-sink.ts';
import { type Agent, connectAgent, REVISIONS, type Revision, withKey } from '../../kit/make/agents.ts';
import { buildPlatformStatus } from '../../kit/make/platform-status.ts';
import { inMinutes, type StreamsApi, startStreamsApi } from '../../kit/make/streams.ts';
import { until } from '../../kit/wait.ts';

let started: StreamsApi;
const agents = {} as Record<Revision, Agent>;
let stranger: Agent;
/** Tools that a test has called, with and without success. */
const called = { well: new Set<string>(), badly: new Set<string>() };

async function open(key: string, revision?: Revision, url = started.api.url): Promise<Agent> {
  const agent = await connectAgent(url, { ...(revision && { revision }), ...withKey(key) });
  const call: Agent['call'] = async (name, ...rest) => {
    const told = await agent.call(name, ...rest);
    called[told.isError ? 'badly' : 'well'].add(name);
    return told;
  };
  const done: Agent['done'] = async (name, ...rest) => {
    const { isError, output, text } = await call(name, ...rest);
    expect(isError, `${name}: ${text}`).toBe(false);
    return output;
  };
  return { ...agent, call, done };
}

beforeAll(async () => {
  started = await startStreamsApi();
  for (const revision of Object.keys(REVISIONS) as Revision[]) agents[revision] = await open(started.ada.key, revision);
  stranger = await open(started.eve.key);
});
afterAll(async () => {
  for (const agent of [...Object.values(agents), stranger]) await agent?.close();
  await started?.api.stop();
});

const key = 'live_s3cr3t-k3y';
const home = { name: 'Home', rtmpUrl: 'rtmp://127.0.0.1/live', rtmpKey: key };

/** Expects the problem in the tool's answer, and the next tool that it recommends. */
const expectProblem = (told: Awaited<ReturnType<Agent['call']>>, code: string, ...mentioned: string[]) => {
  expect(told, told.text).toMatchObject({ isError: true, output: { code, fix: expect.stringMatching(/\.$/) } });
  expect(told.text).toContain(`Code: ${code}`);
  for (const one of mentioned) expect(told.text).toContain(one);
};

describe.each(Object.keys(REVISIONS) as Revision[])('in %s', (revision) => {
  const agent = () => agents[revision];

  test('the account', async () => {
    expect(await agent().done('get_me')).toMatchObject({ id: started.ada.accountId, firstName: 'ada' });
    expectProblem(await agent().call('get_me', { id: 'x' }), 'validation_failed', '/id is not known');
    // Without billing every account is of the full class.
    expect(await agent().done('get_limits')).toMatchObject({ class: 'full', limits: expect.any(Array) });
    expectProblem(await agent().call('get_limits', { id: 'x' }), 'validation_failed', '/id is not known');
  });

  test('uploads: imported, seen, listed in pages, deleted', async () => {
    const { done, call } = agent();
    const link = { type: 'VIDEO', url: 'https://example.com/film.mp4' };
    const { objectID: id } = await done('create_upload_from_link', link);
    expect(await done('get_upload', { id })).toMatchObject({ objectID: id, state: 'importing', name: 'film.mp4' });
    const first = await done('list_uploads', { limit: 1 });
    expect(first).toMatchObject({ data: [{ objectID: id }], page: { hasMore: true } });
    const second = await done('list_uploads', { limit: 1, cursor: first.page.nextCursor });
    expect(second.data).toHaveLength(1);
    expect(second.data[0].objectID).not.toBe(id);
    expect(await done('update_upload', { id, tracks: { audio: 1 } })).toMatchObject({ tracks: { audio: 1 } });
    expectProblem(await call('update_upload', { id, tracks: { audio: -1 } }), 'validation_failed', '/tracks/audio');
    expectProblem(await call('retry_upload', { id }), 'upload_not_failed');
    const reason = 'A claim is being checked.';
    const held = await call('quarantine_upload', { id, reason, cut: true });
    expect(held).toMatchObject({ output: { objectID: id, quarantine: { reason, cut: true } } });
    expect(held.text).toContain(`is in quarantine: ${reason}`);
    expectProblem(await call('quarantine_upload', { id, reason: '' }), 'validation_failed', '/reason');
    expect(await done('release_upload', { id })).toMatchObject({ objectID: id, quarantine: null });
    expectProblem(await call('release_upload', { id: 'upl-none' }), 'upload_not_found', 'list_uploads');
    const error = { code: 'link_unreachable', message: 'The server is away.' } as const;
    const status: UploadStatus = { phase: 'failed', observedGeneration: 1, error };
    await started.api.kube.mergePatch(UPLOADS, NAMESPACE, id, { status }, { subresource: 'status' });
    await expect.poll(async () => (await done('get_upload', { id })).state).toBe('failed');
    expect(await done('retry_upload', { id })).toMatchObject({ objectID: id, state: 'importing', error: null });
    expect(await done('delete_upload', { id })).toEqual({ id, done: true });
    expectProblem(await call('get_upload', { id }), 'upload_not_found', 'list_uploads');
    expectProblem(await call('delete_upload', { id }), 'upload_not_found');
    const inUse = await call('delete_upload', { id: started.videoUploadObjectID });
    expectProblem(inUse, 'upload_in_use', 'change_playlist');
    expect(inUse.output.playlistIDs).toContain(started.videoList);
    for (const [args, path] of [
      [{ type: 'PICTURE', url: 'https://example.com/a' }, '/type'],
      [{ type: 'VIDEO', url: '' }, '/url'],
      [{ type: 'VIDEO' }, '/url'],
      [{ ...link, wait: 61 }, '/wait'],
    ] as const)
      expectProblem(await call('create_upload_from_link', args), 'validation_failed', `- ${path} `);
    const inside = await call('create_upload_from_link', { type: 'VIDEO', url: 'http://10.0.0.1/a.mp4' });
    expectProblem(inside, 'link_forbidden', 'create_upload_from_link');
    expectProblem(await call('list_uploads', { limit: 0 }), 'validation_failed', '/limit must be at least 1');
    expectProblem(await call('list_uploads', { cursor: 'x' }), 'validation_failed', '/cursor');
  });

  test('a link is taken with what came along as it was pasted', async () => {
    const { done } = agent();
    const pasted = { type: 'VIDEO', url: '\u00a0<https://example.com/x/100%.mp4>\n' };
    const { objectID: id, name } = await done('create_upload_from_link', pasted);
    expect(name).toBe('100%.mp4');
    await done('delete_upload', { id });
  });

  test('destinations: made, changed, tested, deleted; the key never comes back', async () => {
    const { done, call } = agent();
    const made = await call('create_destination', home);
    expect(made).toMatchObject({ isError: false, output: { name: 'Home', rtmpKeyHint: '-k3y' } });
    const { id } = made.output;
    const login = await call('update_destination', { id, rtmpUser: 'ada', rtmpPassword: `${key}-pw` });
    expect(login.output).toMatchObject({ id, hasLogin: true });
    const seen = [made, login, await call('get_destination', { id }), await call('list_destinations')];
    const changes = { name: 'Away', key: `${key}-2`, leastBitrateKbps: 3000 };
    const changed = await call('update_destination', { id, ...changes });
    expect(changed.output).toMatchObject({ id, name: 'Away', keyHint: '3y-2', leastBitrateKbps: 3000 });
    for (const told of [...seen, changed]) expect(JSON.stringify(told)).not.toContain(key);
    const testing = call('test_destination', { id });
    await answerTest(id);
    expect((await testing).output).toEqual({ ok: true, stage: 'publish', code: null, message: 'Fine.', tookMs: 7 });
    expect(await done('delete_destination', { id })).toEqual({ id, done: true });
    for (const name of ['get_destination', 'delete_destination', 'test_destination'])
      expectProblem(await call(name, { id }), 'destination_not_found', 'list_destinations');
    expectProblem(await call('update_destination', { id, name: 'A' }), 'destination_not_found');
    const platform = { kind: 'youtube', videoId: 'https://youtu.be/aqz-KE-bpKQ' };
    const watched = await done('create_destination', { ...home, platform });
    expect(watched).toMatchObject({ platform: { videoId: 'aqz-KE-bpKQ' }, platformLive: { status: 'unknown' } });
    expectProblem(await call('resume_destination_repair', { id: watched.id }), 'repair_not_stalled');
    const repairing = { kind: 'youtube', policy: 'Repair', refreshToken: `${key}-token` };
    await done('update_destination', { id: watched.id, platform: repairing });
    const repair = { phase: 'stalled' as const, inserts: [] };
    const status = buildPlatformStatus({ status: 'False', reason: 'no_broadcast', repair });
    await started.api.kube.mergePatch(DESTINATIONS, NAMESPACE, watched.id, { status }, { subresource: 'status' });
    await expect
      .poll(async () => (await done('get_destination', { id: watched.id })).platformLive.repairStalled)
      .toBe(true);
    const resumed = await call('resume_destination_repair', { id: watched.id });
    expect(resumed.output).toMatchObject({
      platform: { hasToken: true },
      platformLive: { code: 'no_broadcast', repairStalled: false },
    });
    expect(JSON.stringify(resumed)).not.toContain(key);
    expect(await done('update_destination', { id: watched.id, platform: { kind: 'none' } })).toMatchObject({
      platform: null,
    });
    expectProblem(
      await call('update_destination', {
        id: watched.id,
        platform: { kind: 'watch', url: 'http://169.254.169.254/x' },
      }),
      'destination_forbidden',
    );
    const bad = await call('create_destination', { ...home, rtmpUrl: `rtmp://${key}@example.com/live` });
    expectProblem(bad, 'validation_failed', '/rtmpPassword is missing: a user name needs a password');
    expect(JSON.stringify(bad)).not.toContain(key);
    expectProblem(await call('update_destination', { id: started.destinationID }), 'validation_failed', 'one field');
    expectProblem(await call('delete_destination', { id: started.destinationID.slice(1) }), 'destination_not_found');
    expectProblem(await call('list_destinations', { limit: 'all' }), 'validation_failed', '/limit must be a whole');
  });

  test('endpoints: made, verified, tested, changed, recovered, deleted', async () => {
    const replica = await started.api.replica({ allowPrivateLinks: true });
    const sink = await startWebhookSink();
    sink.confirms = false;
    const { done, call, close } = await open(started.ada.key, revision, replica.url);
    onTestFinished(async () => {
      await close();
      await sink.close();
      await replica.stop();
    });
    const { id } = await done('create_endpoint', { kind: 'webhook', url: sink.url, types: ['upload.failed'] });
    expectProblem(await call('test_endpoint', { id }), 'endpoint_not_active');
    expectProblem(await call('recover_endpoint', { id, since: '2027-01-31T18:00:00Z' }), 'endpoint_not_active');
    expectProblem(await call('verify_endpoint', { id, code: 'none' }), 'endpoint_code_wrong');
    const code = sink.verifications[0]?.body.data?.code;
    expect(await done('verify_endpoint', { id, code })).toMatchObject({ state: 'active' });
    expect(await done('test_endpoint', { id })).toMatchObject({ ok: true, answer: { status: 200 } });
    expect(await done('update_endpoint', { id, enabled: false })).toMatchObject({ state: 'disabled' });
    await done('update_endpoint', { id, enabled: true });
    expect(await done('recover_endpoint', { id, since: '2026-01-31T18:00:00Z' })).toEqual({
      count: expect.any(Number),
    });
    expect((await done('list_endpoints')).data).toMatchObject([{ id, types: ['upload.failed'] }]);
    expect((await done('list_endpoint_deliveries', { id, state: 'failed' })).data).toEqual([]);
    expect(await done('delete_endpoint', { id })).toEqual({ id, done: true });
    for (const name of ['update_endpoint', 'delete_endpoint', 'list_endpoint_deliveries'])
      expectProblem(await call(name, { id, ...(name === 'update_endpoint' && { name: 'A' }) }), 'endpoint_not_found');
    expectProblem(await call('create_endpoint', { kind: 'webhook' }), 'validation_failed', '/url');
    expectProblem(await call('list_endpoints', { limit: 0 }), 'validation_failed', '/limit');
  });

  test('playlists: made, changed, published, rolled back, deleted, with their versions', async () => {
    const { done, call } = agent();
    const item = { uploadObjectID: started.videoUploadObjectID };
    const { id } = await done('create_playlist', { name: 'Evening', kind: 'video', mode: 'sequential', items: [item] });
    const insert = { op: 'insert', index: 0, items: [item, item] };
    expect(await done('change_playlist', { id, version: 1, changes: [insert] })).toMatchObject({ version: 2 });
    const shuffled = await done('update_playlist', { id, version: 2, mode: 'shuffle' });
    expect(shuffled).toMatchObject({ version: 3, mode: 'shuffle', publishedVersion: 1 });
    expect(await done('publish_playlist', { id, version: 3 })).toMatchObject({ publishedVersion: 3 });
    expect(await done('rollback_playlist', { id, version: 1 })).toMatchObject({ version: 4, mode: 'sequential' });
    const versions = await done('list_playlist_versions', { id, limit: 2 });
    expect(versions.data.map(({ version }: { version: number }) => version)).toEqual([4, 3]);
    expect(await done('get_playlist_version', { id, version: 2 })).toMatchObject({ itemCount: 3, items: [{}, {}, {}] });
    expect(await done('diff_playlist_version', { id, version: 2 })).toMatchObject({ from: 1, to: 2, changes: [{}] });
    expect((await done('get_playlist', { id })).items).toEqual([item]);
    expect((await done('list_playlists')).data[0]).toMatchObject({ id, version: 4 });
    const late = await call('change_playlist', { id, version: 1, changes: [insert] });
    expectProblem(late, 'playlist_version_conflict', 'get_playlist');
    expect(late.output.currentVersion).toBe(4);
    expectProblem(await call('update_playlist', { id, version: 9, mode: 'shuffle' }), 'playlist_version_conflict');
    for (const name of ['publish_playlist', 'rollback_playlist', 'get_playlist_version', 'diff_playlist_version'])
      expectProblem(await call(name, { id, version: 99 }), 'playlist_version_not_found', 'list_playlist_versions');
    expectProblem(
      await call('change_playlist', { id, version: 4, changes: [{ op: 'remove' }] }),
      ...(['validation_failed', '/changes/0/index is required'] as const),
    );
    expectProblem(
      await call('create_playlist', { kind: 'video', mode: 'sequential', items: [{ uploadObjectID: 'none' }] }),
      ...(['validation_failed', '/items/0/uploadObjectID names an upload that does not exist'] as const),
    );
    await done('delete_playlist', { id });
    for (const name of ['get_playlist', 'delete_playlist', 'list_playlist_versions'])
      expectProblem(await call(name, { id }), 'playlist_not_found', 'list_playlists');
    expectProblem(await call('list_playlists', { page: 2 }), 'validation_failed', '/page is not known');
  });

  test('scenes: made, shown by a stream, changed, listed by label, and deleted once no stream shows them', async () => {
    const { done, call } = agent();
    const labels = { agent: revision };
    const { id } = await done('create_scene', {
      name: 'Evening',
      labels,
      layers: [{ text: 'On air', sizePercent: '6' }],
    });
    const stream = (await done('create_stream', started.wish({ name: 'Scenery', overlays: { sceneID: id } }))).id;
    const scene = async () => await done('get_scene', { id });
    await until('the scene knows it', async () => (await scene()).streamIDs.includes(stream));
    expect(await scene()).toMatchObject({ version: 1, layers: [{ text: 'On air', sizePercent: 6 }] });
    const night = { id, version: 1, layers: [{ text: 'Night' }] };
    expect(await done('update_scene', { ...night, dryRun: true })).toMatchObject({ dryRun: true });
    expect(await done('update_scene', night)).toMatchObject({ version: 2, streamIDs: [stream] });
    expectProblem(await call('update_scene', { ...night, name: 'Late' }), 'scene_version_conflict', 'get_scene');
    expect((await done('list_scenes', { label: [`agent=${revision}`] })).data).toMatchObject([{ id, version: 2 }]);
    expectProblem(await call('list_scenes', { label: ['a/b=c'] }), 'validation_failed', 'without a slash');
    expectProblem(await call('create_scene', { name: 'Evening', layers: [{}] }), 'validation_failed', '/layers/0');
    expectProblem(await call('delete_scene', { id }), 'scene_in_use', 'update_stream');
    await done('update_stream', { id: stream, overlays: null });
    await until('no stream shows it', async () => (await scene()).streamIDs.length === 0);
    await done('delete_scene', { id });
    await done('delete_stream', { id: stream });
    for (const name of ['get_scene', 'delete_scene'])
      expectProblem(await call(name, { id }), 'scene_not_found', 'list_scenes');
  });

  test('streams: made, changed, scheduled, listed, deleted', async () => {
    const { done, call } = agent();
    const { id } = await done('create_stream', started.wish({ name: `Loop ${revision}` }));
    expect(await done('get_stream', { id })).toMatchObject({ id, status: 'idle', quality: 'q_1080p' });
    expect(await done('update_stream', { id, quality: '720p' })).toMatchObject({ id, quality: 'q_720p' });
    for (const quality of [720, '720', 'Q_720P', 'q_720p'])
      expect(await done('update_stream', { id, quality, name: 24 })).toMatchObject({ quality: 'q_720p', name: '24' });
    for (const framerate of [25, '25', 'F_25'])
      expect(await done('update_stream', { id, framerate, name: `Loop ${revision}` })).toMatchObject({
        framerate: 'f_25',
      });
    const loudness = { targetLufs: -23, maxTruePeakDb: -1, maxBoostDb: 6 };
    expect(await done('update_stream', { id, loudness: { targetLufs: '-23' } })).toMatchObject({ loudness });
    const loud = await call('update_stream', { id, loudness: { targetLufs: 0 } });
    expectProblem(loud, 'validation_failed', '/loudness/targetLufs must be at most -8');
    expect(await done('update_stream', { id, loudness: null })).toMatchObject({ loudness: null });
    const overlays = { layers: [{ text: '{{item.title}}', sizePercent: '6' }] };
    expect(await done('update_stream', { id, overlays })).toMatchObject({
      overlays: { layers: [{ text: '{{item.title}}', sizePercent: 6, anchor: 'BottomRight' }], required: false },
    });
    expectProblem(
      await call('update_stream', { id, overlays: { layers: [{ text: '{{next.title}}' }] } }),
      'validation_failed',
      '{{item.title}}, {{item.artist}}',
    );
    expect(await done('update_stream', { id, overlays: null })).toMatchObject({ overlays: null });
    const cards = await call('update_stream', { id, cards: {} });
    expectProblem(cards, 'validation_failed', '/cards must be given together with an audio playlist');
    expect(await done('update_stream', { id, cards: null })).toMatchObject({ cards: null });
    const scheduleStartAt = inMinutes(60);
    expect(await done('schedule_stream', { id, scheduleStartAt })).toMatchObject({ status: 'scheduled' });
    expect((await done('list_streams', { q: revision, status: 'Scheduled', limit: '5' })).data).toMatchObject([{ id }]);
    expect((await done('get_stream_schedule', { id })).windows).toMatchObject([{ endAt: null }]);
    expect(await done('unschedule_stream', { id })).toMatchObject({ status: 'idle', scheduleStartAt: null });
    const past = await call('schedule_stream', { id, scheduleStartAt: '2020-01-01T00:00:00Z' });
    expectProblem(past, 'validation_failed', '/scheduleStartAt is in the past');
    const { destinationID: _none, ...without } = started.wish({ framerate: 'f_29' });
    const bad = await call('create_stream', without);
    expectProblem(bad, 'validation_failed', '/framerate must be one of f_24');
    expectProblem(await call('create_stream', { ...without, framerate: 30 }), 'validation_failed', '/destinationID');
    expectProblem(await call('update_stream', { id }), 'validation_failed', 'arguments must have at least one field');
    expectProblem(await call('list_streams', { status: 'on' }), 'validation_failed', '/status must be one of idle');
    const copy = await done('clone_stream', { id, name: 'Copy', labels: { team: 'news' } });
    expect(copy).toMatchObject({ name: 'Copy', status: 'idle', labels: { team: 'news' } });
    expect(await done('delete_stream', { id: copy.id })).toMatchObject({ done: true });
    expect(await done('delete_stream', { id })).toEqual({ id, done: true });
    const changes = { update_stream: { name: 'x' }, schedule_stream: { scheduleStartAt }, skip_stream_item: {} };
    for (const name of [...describedTools().keys()].filter((one) => /_stream(_|$)/.test(one) && !/^create/.test(one)))
      expectProblem(
        await call(name, { id, ...changes[name as keyof typeof changes] }),
        ...(['stream_not_found', 'list_streams'] as const),
      );
  });

  test('start and stop wait and report progress; a stream that is not ready says what to do', async () => {
    const { done, call } = agent();
    const { id } = await started.create();
    const message = 'Upload "a" is being prepared.';
    await started.api.observe(id, { phase: 'idle' }, [{ type: 'MediaReady', reason: 'MediaPreparing', message }]);
    expect(await done('get_stream_readiness', { id })).toMatchObject({ ready: false, issues: [{ message }] });
    expectProblem(await call('start_stream', { id }), 'stream_not_ready', message, 'get_stream_readiness');
    expectProblem(await call('skip_stream_item', { id }), 'stream_not_live', 'start_stream');
    expectProblem(await call('start_stream', { id, wait: -1 }), 'validation_failed', '/wait must be at least 0');
    await started.api.observe(id, { phase: 'idle' });
    await until('it is ready', async () => (await done('get_stream_readiness', { id })).ready);

    const heard: { progress: number; total?: number | undefined; message?: string | undefined }[] = [];
    const starting = done('start_stream', { id, wait: 30 }, { onprogress: (news) => heard.push(news) });
    await until('it is asked for', async () => (await started.resource(id)).spec.replicas === 1);
    await started.api.observe(id, { phase: 'starting' });
    await until('it is told', () => heard.some(({ message }) => message?.includes('is starting')));
    await started.api.observe(id, { phase: 'live', liveSince: '2026-01-02T00:00:00Z' });
    expect(await starting).toMatchObject({ done: true, stream: { id, status: 'live' } });
    const times = heard.map(({ progress }) => progress);
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
    for (const { total } of heard) expect(total).toBe(30);

    const skipping = done('skip_stream_item', { id });
    const wish = () => started.resource(id).then((it) => it.metadata.annotations?.[SKIP_ANNOTATIONS.video]);
    const asked = await until('a skip is asked for', wish);
    await started.api.observe(id, { phase: 'live', skipped: { video: asked } });
    expect(await skipping).toMatchObject({ done: true });

    const stopping = done('stop_stream', { id, wait: 30 });
    await until('it is asked for', async () => (await started.resource(id)).spec.replicas === 0);
    await started.api.observe(id, { phase: 'stopped' });
    expect(await stopping).toMatchObject({ done: true, stream: { status: 'stopped' } });
    expect(await done('get_stream_live_stats', { id })).toMatchObject({ live: false, current: null });
    expect((await done('list_stream_events', { id })).page).toEqual({ hasMore: false, nextCursor: null });
    expect((await done('list_stream_sessions', { id })).data).toEqual([]);
    expectProblem(await call('list_stream_sessions', { id: 'none' }), 'stream_not_found');
    expect(await done('get_stream_uptime', { id })).toMatchObject({ uptimePercent: null, outages: [] });
    expectProblem(await call('get_stream_uptime', { id, from: 'soon' }), 'validation_failed', '/from');
    expect(await done('get_stream_timeline', { id })).toMatchObject({ onAir: false, items: [], nextFrom: null });
    expectProblem(await call('get_stream_timeline', { id, from: 'soon' }), 'validation_failed', '/from');
    expect(await done('get_stream_as_run', { id })).toMatchObject({ items: [], nextFrom: null });
    expectProblem(await call('get_stream_as_run', { id, from: 'soon' }), 'validation_failed', '/from');
    expect(await done('get_stream_explanation', { id, rule: 'news' })).toMatchObject({
      code: 'stream_stopped',
      turn: null,
    });
    expectProblem(await call('get_stream_explanation', { id }), 'validation_failed', '/rule');
  });

  test('events are watched from one to the next', async () => {
    const { done, call } = agent();
    const { id } = await started.create();
    const at = '2027-01-31T18:00:00Z';
    await started.api.observe(id, { phase: 'live', transitions: [{ number: 1, kind: 'Live', at }] });
    const [first] = (await done('watch_events', { objectID: id, wait: 30 })).data;
    expect(first).toMatchObject({ type: 'stream.live', objectID: id, seq: 1 });
    const next = done('watch_events', { objectID: id, after: first.id, wait: 30 });
    const transitions = [
      { number: 1, kind: 'Live', at },
      { number: 2, kind: 'OffAir', at, reason: 'DestinationReconnecting', message: 'It refuses.' },
    ] as const;
    await started.api.observe(id, { phase: 'reconnecting', transitions: [...transitions] });
    expect((await next).data).toMatchObject([{ type: 'stream.off_air', data: { message: 'It refuses.' } }]);
    expectProblem(await call('watch_events', { types: 'stream.on_fire' }), 'validation_failed', '/types');
  });

  test('an upload is waited for, until it is ready or has failed', async () => {
    const { done } = agent();
    const heard: (string | undefined)[] = [];
    const link = { type: 'VIDEO', url: 'https://example.com/b.mp4', name: `Waited for in ${revision}` };
    const options = { onprogress: ({ message }: { message?: string | undefined }) => heard.push(message) };
    const importing = done('create_upload_from_link', { ...link, wait: 30 }, options);
    const id = await until('it is made', async () => {
      const [newest] = (await done('list_uploads', { limit: 1 })).data;
      return newest.name === link.name && newest.objectID;
    });
    await started.api.observeUpload(id, { phase: 'importing', progress: 0.42 });
    await until('it is told', () => heard.some((message) => message?.includes('42 %')));
    const error = { code: 'media_unreadable' as const, message: 'The file broke off.' };
    await started.api.observeUpload(id, { phase: 'failed', error });
    expect(await importing).toMatchObject({ objectID: id, state: 'failed', error });
    expect(await done('get_upload', { id, wait: 60 })).toMatchObject({ state: 'failed' });
  });

  test('diagnose_stream reports everything at once, as a tool and as a prompt', async () => {
    const { done, call, client } = agent();
    const { id } = await started.create();
    const message = 'The destination has no Secret.';
    const missing = { type: 'DestinationReady', reason: 'DestinationSecretMissing', message };
    await started.api.observe(id, { phase: 'idle' }, [missing]);
    const finding = { code: 'destination_secret_missing', message, tool: 'update_destination' };
    await until('it is seen', async () => (await done('get_stream_readiness', { id })).issues.length === 1);
    const told = await call('diagnose_stream', { id });
    expect(told.output).toMatchObject({ findings: [finding], stream: { id }, liveStats: { live: false }, events: [] });
    expect(told.text).toContain('Call update_destination.');
    const { messages } = await client.getPrompt({ name: 'diagnose_stream', arguments: { id } });
    expect(messages).toMatchObject([{ role: 'user', content: { text: expect.stringContaining(message) } }]);
    await expect(client.getPrompt({ name: 'diagnose_stream', arguments: { id: 'none' } })).rejects.toThrow(/none/);
  });
});

/** Writes the result as the operator does. */
async function answerTest(id: string): Promise<void> {
  const { kube } = started.api;
  const asked = await until('it is asked for', async () => {
    const { metadata, status } = await kube.get(DESTINATIONS, NAMESPACE, id);
    const wish = metadata.annotations?.[TEST_ANNOTATION];
    return wish !== status?.test?.id && wish;
  });
  const test = {
    id: asked,
    ok: true,
    stage: 'publish',
    message: 'Fine.',
    tookMs: 7,
    finishedAt: '2026-01-01T00:00:00Z',
  };
  await kube.mergePatch(DESTINATIONS, NAMESPACE, id, { status: { test } }, { subresource: 'status' });
}

test('objects of another account do not exist', async () => {
  const { id } = await started.create();
  expectProblem(await stranger.call('get_stream', { id }), 'stream_not_found');
  expectProblem(await stranger.call('delete_stream', { id }), 'stream_not_found');
  expectProblem(await stranger.call('get_upload', { id: started.videoUploadObjectID }), 'upload_not_found');
  expectProblem(await stranger.call('create_stream', started.wish()), 'validation_failed', '/destinationID names');
  expect((await stranger.done('list_streams')).data).toEqual([]);
  await expect(stranger.client.getPrompt({ name: 'diagnose_stream', arguments: { id } })).rejects.toThrow();
});

test('with an idempotencyKey a call has one effect and one answer, through any client and revision', async () => {
  const [one, other] = Object.values(agents) as [Agent, Agent];
  const idempotencyKey = randomUUID();
  const args = { ...home, name: idempotencyKey, idempotencyKey };
  const answers = await Promise.all([one, other, one, other].map((agent) => agent.done('create_destination', args)));
  const [first] = answers;
  for (const answer of answers) expect(answer).toEqual(first);
  const all = (await one.done('list_destinations', { limit: 100 })).data as { name: string }[];
  expect(all.filter(({ name }) => name === idempotencyKey)).toHaveLength(1);
  expectProblem(
    await one.call('create_destination', { ...args, name: 'B' }),
    'idempotency_key_reused',
    'idempotencyKey',
  );
  expectProblem(await one.call('test_destination', { id: first.id, idempotencyKey }), 'idempotency_key_reused');
  const bad = await one.call('create_destination', { ...home, idempotencyKey: 'ä' });
  expectProblem(bad, 'validation_failed', '/idempotencyKey must be 1 to 255 visible ASCII characters');
  // The server keeps a refusal as well.
  const { id } = await started.create();
  await started.api.observe(id, { phase: 'failed' }, [{ type: 'MediaReady', reason: 'MediaFailed', message: 'No.' }]);
  const once = { id, idempotencyKey: randomUUID() };
  expectProblem(await one.call('start_stream', once), 'stream_not_ready');
  await started.api.observe(id, { phase: 'idle' });
  await until('it is ready', async () => (await one.done('get_stream_readiness', { id })).ready);
  expectProblem(await one.call('start_stream', once), 'stream_not_ready');
  expect((await one.call('start_stream', { id })).isError).toBe(false);
});

test('each tool was called with good and with bad input', () => {
  // Tools about money are in money.test.ts, which sets up their services.
  const ofMoney = ({ operations }: Tool) =>
    operations.some((id) => OPERATION_SCOPES[id] === 'billing' || id === 'getPrices');
  const all = [...describedTools()].flatMap(([name, one]) => (ofMoney(one) ? [] : [name])).sort();
  expect([...called.well].sort()).toEqual(all);
  expect([...called.badly].sort()).toEqual(all);
});
