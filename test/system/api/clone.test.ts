/** Tests clones of streams: what they take from their origin, what may be given instead, and an origin that is going or gone. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FINALIZER } from '../../../src/core/resources/common/names.ts';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import type { Stream } from '../../../src/service/domain/streams/record.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { type Client, startTestApi, type TestApi } from '../../kit/system/api.ts';
import { until } from '../../kit/wait.ts';

let api: TestApi;
let ada: Client;
let origin: Stream;

const post = (path: string, body: object = {}) => ada.call<Stream>('POST', path, body);
const make = async (path: string, body: object) => {
  const answer = await post(path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
};
const aDestination = () =>
  make('/v1/destinations', { name: 'Live', rtmpUrl: 'rtmp://live.example.com/app', rtmpKey: 'k-1234' });

beforeAll(async () => {
  api = await startTestApi();
  ada = await api.client('ada');
  const { id: destinationID } = await aDestination();
  const upload = await make('/v1/uploads/from-link', { type: 'VIDEO', url: 'https://example.com/film.mkv' });
  origin = await make('/v1/streams', {
    ...{ name: 'Night', quality: 'q_720p', framerate: 'f_25', destinationID, videoUploadObjectID: upload.id },
    ...{ onItemFailure: 'Block', loudness: { targetLufs: -16 }, labels: { team: 'news' } },
    scheduleStartAt: new Date(Date.now() + 3_600_000).toISOString(),
  });
});
afterAll(() => api?.stop());

describe('a clone', () => {
  test('has the settings and labels of its origin, another name, and no time on air', async () => {
    const answer = await post(`/v1/streams/${origin.id}/clone`);
    expect([answer.status, answer.headers.get('location')]).toEqual([201, `/v1/streams/${answer.body.id}`]);
    const { id, createdAt: _, ...clone } = answer.body;
    expect(id).not.toBe(origin.id);
    const { id: _id, createdAt: _createdAt, ...same } = origin;
    expect(clone).toEqual({ ...same, name: 'Night (copy)', status: 'idle', scheduleStartAt: null, nextStartAt: null });
    const { spec } = await api.kube.get(LOOPSTREAMS, NAMESPACE, id);
    expect([spec.replicas, spec.schedule]).toEqual([0, undefined]);
  });

  test('has what is given instead, and refuses what its account does not have', async () => {
    const { id: destinationID } = await aDestination();
    const { body } = await post(`/v1/streams/${origin.id}/clone`, { name: 'Day', labels: {}, destinationID });
    expect(body).toMatchObject({ name: 'Day', labels: {}, destinationIDs: [destinationID], loudness: origin.loudness });
    const wrong = await post(`/v1/streams/${origin.id}/clone`, { destinationID: 'dst-none', colour: 'red' });
    expect(wrong.status).toBe(422);
    const other = await post(`/v1/streams/${origin.id}/clone`, { destinationID: 'dst-none' });
    expect([other.status, other.body]).toMatchObject([422, { errors: [{ path: '/destinationID' }] }]);
  });

  test('is made through GraphQL too', async () => {
    const query = 'mutation($id: ID!) { cloneStream(id: $id, input: { name: "By graph" }) { stream { name labels } } }';
    const { body } = await ada.call('POST', '/graphql', { query, variables: { id: origin.id } });
    expect(body).toEqual({ data: { cloneStream: { stream: { name: 'By graph', labels: { team: 'news' } } } } });
  });

  test('of a stream that is being deleted fails with 409, and of one that is gone, or another account’s, with 404', async () => {
    const { id } = (await post(`/v1/streams/${origin.id}/clone`)).body;
    await api.kube.mergePatch(LOOPSTREAMS, NAMESPACE, id, { metadata: { finalizers: [FINALIZER] } });
    await api.kube.delete(LOOPSTREAMS, NAMESPACE, id);
    await until('it is going', async () => (await ada.call('GET', `/v1/streams/${id}`)).body.status === 'stopping');
    expect(await post(`/v1/streams/${id}/clone`)).toMatchObject({ status: 409, body: { code: 'conflict' } });
    await api.release(id);
    await until('it is gone', async () => (await ada.call('GET', `/v1/streams/${id}`)).status === 404);
    expect(await post(`/v1/streams/${id}/clone`)).toMatchObject({ status: 404, body: { code: 'stream_not_found' } });
    const eve = await api.client('eve');
    expect(await eve.call('POST', `/v1/streams/${origin.id}/clone`, {})).toMatchObject({ status: 404 });
  });
});
