/**
 * Tests a suspension on a real control plane, with a real operator and the API server. Streams on air go off, and no API and no schedule
 * can start one. After the suspension exactly the streams that should be on air are back.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runAdmin } from '../../../src/service/billing/audit/admin/command.ts';
import { createDb, createPool } from '../../../src/service/db/pool.ts';
import { connectAgent, withKey } from '../../kit/make/agents.ts';
import { type Person, startTestSite, type TestSite } from '../../kit/make/oauth.ts';
import { MEDIA } from '../../kit/make/operator.ts';
import { call } from '../../kit/system/api.ts';
import {
  aroundEachTest,
  cluster,
  finishJob,
  getPod,
  kubelet,
  MADE,
  NS,
  waitForPhase,
  waitForPod,
} from '../../kit/system/operator-system.ts';
import { until } from '../../kit/wait.ts';

aroundEachTest();
let site: TestSite;
let ada: Person;
beforeAll(async () => {
  site = await startTestSite({ namespace: NS, kubeconfig: cluster.kubeconfig });
  ada = await site.person('ada');
});
afterAll(() => site?.stop());

const admin = (...args: string[]) =>
  runAdmin(args, {
    open: () => createDb(createPool(site.databaseUrl, { searchPath: 'loopstream', max: 1 })),
    currency: 'USD',
    print: () => undefined,
    complain: (text) => expect.fail(text),
  });

async function create(path: string, body: unknown): Promise<string> {
  const { status, body: answered } = await ada.call('POST', path, body);
  expect(status, JSON.stringify(answered)).toBe(201);
  return String(answered.objectID ?? answered.id);
}

async function onAir(id: string): Promise<void> {
  await waitForPod(`${id}-onair`);
  await kubelet.bind(`${id}-onair`);
  await kubelet.run(`${id}-onair`, true);
  await waitForPhase('live', id);
}

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

test('a suspended account is off air through every API until the suspension ends', async () => {
  const destinationID = await create('/v1/destinations', {
    name: 'TV',
    rtmpUrl: 'rtmp://127.0.0.1/live',
    rtmpKey: 'k-1',
  });
  const video = await create('/v1/uploads/from-link', { type: 'VIDEO', url: 'https://media.example/film.mp4' });
  const stream = (name: string) =>
    create('/v1/streams', {
      name,
      destinationID,
      videoUploadObjectID: video,
      quality: 'q_720p',
      framerate: 'f_30',
    });
  const [running, scheduled, stopped] = [await stream('Running'), await stream('Scheduled'), await stream('Stopped')];
  await finishJob(`${video}-import`, { action: 'import', media: MEDIA });
  await finishJob(`${video}-720p30`, MADE);
  const start = `/v1/streams/${running}/start`;
  await until('it is ready', async () => (await ada.call('POST', start)).status < 300);
  await onAir(running);
  const scopes = 'service:read service:write';
  const token = await site.token('ada', scopes);
  const agent = await connectAgent(site.url, withKey(ada.key));
  const bearer = (method: string, path: string, body?: unknown) =>
    call<{ code?: string }>(`${site.url}${path}`, method, body, { authorization: `Bearer ${token}` });
  expect((await bearer('GET', '/v1/streams')).status).toBe(200);
  const comesAt = { scheduleStartAt: inMs(4_000) };
  expect((await ada.call('POST', `/v1/streams/${scheduled}/schedule`, comesAt)).status).toBe(200);

  expect(await admin('suspend', 'ada@example.com', '--reason', 'case 4711')).toBe(0);
  await until('it leaves the air', async () => (await getPod(`${running}-onair`))?.metadata.deletionTimestamp);
  await kubelet.remove(`${running}-onair`);
  expect((await waitForPhase('stopped', running)).status?.conditions).toEqual(
    expect.arrayContaining([expect.objectContaining({ type: 'Progressing', reason: 'Suspended' })]),
  );
  const refused = { status: 403, body: { code: 'account_suspended' } };
  expect(await ada.call('POST', start)).toMatchObject(refused);
  expect(await ada.call('POST', `/v1/streams/${stopped}/schedule`, comesAt)).toMatchObject(refused);
  expect(await bearer('POST', start)).toMatchObject(refused);
  expect(await agent.call('start_stream', { id: running })).toMatchObject({ output: { code: 'account_suspended' } });
  const mutation = `mutation { startStream(id: "${running}") { stream { id } } }`;
  const { body } = await ada.call('POST', '/graphql', { query: mutation });
  expect(JSON.stringify(body)).toContain('account_suspended');
  // The scheduled time passes without a start.
  await until('the time has come', () => Date.now() > Date.parse(comesAt.scheduleStartAt) + 500);
  expect((await waitForPhase('idle', scheduled)).status?.replicas ?? 0).toBe(0);

  expect(await admin('resume', ada.accountId, '--reason', 'case 4711 is closed')).toBe(0);
  await onAir(running);
  // The window is still open.
  await onAir(scheduled);
  expect((await waitForPhase('idle', stopped)).spec.replicas).toBe(0);
  await expect.poll(async () => (await agent.call('get_stream', { id: running })).output.status).toBe('live');
  expect((await bearer('GET', '/v1/streams')).status).toBe(200);
  await agent.close();
});
