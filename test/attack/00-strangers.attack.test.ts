/** Attacks isolation: an account can neither see nor change another account's objects, through any API. */
import { beforeAll, describe, expect, test } from 'vitest';
import { makeStrangers, type Stranger } from '../kit/system/strangers.ts';

let strangers: Awaited<ReturnType<typeof makeStrangers>>;
const ids = { stream: '', destination: '', playlist: '', scene: '', upload: '' };

beforeAll(async () => {
  strangers = await makeStrangers();
  const { victim } = strangers;
  const make = async (path: string, body: object): Promise<{ id: string; objectID: string }> => {
    const answer = await victim.call('POST', path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return answer.body;
  };
  const url = 'http://127.0.0.1:9999/never.mp4';
  ids.upload = (await make('/uploads/from-link', { type: 'VIDEO', url })).objectID;
  ids.destination = (await make('/destinations', { name: 'mine', rtmpUrl: 'rtmp://127.0.0.1/a', rtmpKey: 'k3y' })).id;
  ids.scene = (await make('/scenes', { name: 'Evening', layers: [{ text: 'On air' }] })).id;
  ids.playlist = (await make('/playlists', { kind: 'video', mode: 'sequential', items: [] })).id;
  const wish = { name: 'mine', quality: 'q_720p', framerate: 'f_30', destinationID: ids.destination };
  ids.stream = (await make('/streams', { ...wish, videoUploadObjectID: ids.upload })).id;
});

const both = (): [string, Stranger][] => [
  ['mallory', strangers.mallory],
  ['accomplice', strangers.accomplice],
];

describe('another account’s objects', () => {
  test('do not exist for anybody else, whatever the request', async () => {
    const requests: [string, string, object?][] = [
      ['GET', `/streams/${ids.stream}`],
      ['PATCH', `/streams/${ids.stream}`, { name: 'stolen' }],
      ['DELETE', `/streams/${ids.stream}`],
      ['POST', `/streams/${ids.stream}/start`],
      ['POST', `/streams/${ids.stream}/stop`],
      ['GET', `/streams/${ids.stream}/live-stats`],
      ['GET', `/destinations/${ids.destination}`],
      ['PATCH', `/destinations/${ids.destination}`, { name: 'stolen' }],
      ['POST', `/destinations/${ids.destination}/test`],
      ['DELETE', `/destinations/${ids.destination}`],
      ['GET', `/playlists/${ids.playlist}`],
      ['POST', `/playlists/${ids.playlist}/publish`, { version: 1 }],
      ['DELETE', `/playlists/${ids.playlist}`],
      ['GET', `/scenes/${ids.scene}`],
      ['PATCH', `/scenes/${ids.scene}`, { version: 1, name: 'Mine' }],
      ['DELETE', `/scenes/${ids.scene}`],
      ['GET', `/uploads/${ids.upload}`],
      ['DELETE', `/uploads/${ids.upload}`],
    ];
    for (const [name, stranger] of both()) {
      for (const [method, path, body] of requests) {
        const { status } = await stranger.call(method, path, body);
        expect(status, `${name}: ${method} ${path}`).toBe(404);
      }
    }
  });

  test('are in nobody else’s list', async () => {
    for (const [name, stranger] of both()) {
      for (const noun of ['streams', 'destinations', 'playlists', 'scenes', 'uploads'])
        expect((await stranger.call('GET', `/${noun}`)).body.data, `${name}: ${noun}`).toEqual([]);
    }
  });

  test('cannot be used in a stream of one’s own, with the error of a missing object', async () => {
    const wish = { name: 'thief', quality: 'q_720p', framerate: 'f_30' };
    for (const [name, stranger] of both()) {
      const refusal = async (destinationID: string, videoUploadObjectID: string) => {
        const { status, body } = await stranger.call('POST', '/streams', {
          ...wish,
          destinationID,
          videoUploadObjectID,
        });
        return { status, code: body.code };
      };
      const nothing = await refusal('dst_nothing', 'upl_nothing');
      expect(nothing.status, name).toBeGreaterThanOrEqual(400);
      expect(await refusal(ids.destination, ids.upload), name).toEqual(nothing);
    }
  });

  test('are untouched after all of it', async () => {
    for (const [noun, id] of Object.entries(ids))
      expect((await strangers.victim.call('GET', `/${noun}s/${id}`)).status, noun).toBe(200);
  });
});
