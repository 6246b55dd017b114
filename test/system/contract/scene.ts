/** Opens an account of an implementation with the parts of a stream, and a client. */
import { expect } from 'vitest';
import { type Answer, call } from '../../kit/system/api.ts';
import type { Place, Target } from '../../kit/system/contract.ts';

// biome-ignore lint/suspicious/noExplicitAny: the other side defines the bodies.
export type Body = any;

export type Ask = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer<Body>>;

export interface Scene {
  target: Target;
  /** Sends the key unless other headers are given. Waits and retries when the rate limit is used up. */
  ask: Ask;
  /** Makes a resource with a POST. */
  made(path: string, body: unknown): Promise<Body>;
  /** Returns the body of a valid POST /streams, changed by `more`. Its video never arrives, so that no rendition is made. */
  wish(more?: object): object;
  destinationID: string;
  /** This video arrives. */
  videoUploadObjectID: string;
  /** The playlist has one item. */
  playlistID: string;
  /** Three streams. */
  streamIDs: string[];
}

export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
export const inMinutes = (n: number) => new Date(Date.now() + n * 60_000).toISOString();
export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Retries slowly, since the outcome may take its time and requests are counted. */
export async function eventually<T>(
  what: string,
  check: () => Promise<T | false | undefined>,
  timeoutMs = 150_000,
): Promise<T> {
  const end = Date.now() + timeoutMs;
  for (;;) {
    const found = await check();
    if (found !== false && found !== undefined) return found;
    if (Date.now() > end) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await pause(500);
  }
}

export function asking(target: Target): Ask {
  return async (method, path, body, headers = { 'x-api-key': target.key }) => {
    for (;;) {
      const answer = await call<Body>(`${target.base}${path}`, method, body, headers);
      if (answer.status !== 429) return answer;
      await pause(1000 * Number(answer.headers.get('retry-after')));
    }
  };
}

/** Stop its target afterwards. */
export async function openScene(place: Place): Promise<Scene> {
  const target = await place.open();
  try {
    return await setUp(target);
  } catch (error) {
    await target.stop();
    throw error;
  }
}

async function setUp(target: Target): Promise<Scene> {
  const ask = asking(target);
  const made = async (path: string, body: unknown): Promise<Body> => {
    const answer = await ask('POST', path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const rtmp = { name: 'Home', rtmpUrl: target.rtmpUrl, rtmpKey: `a-key-${crypto.randomUUID()}` };
  const { id: destinationID } = await made('/destinations', rtmp);
  const upload = async (url: string) => (await made('/uploads/from-link', { type: 'VIDEO', url })).objectID;
  const [videoUploadObjectID, never] = [await upload(target.video), await upload(target.neverVideo)];
  const items = [{ uploadObjectID: videoUploadObjectID }];
  const { id: playlistID } = await made('/playlists', { kind: 'video', mode: 'sequential', items });
  const wish = (more: object = {}) => ({
    name: 'Loop',
    quality: 'q_720p',
    framerate: 'f_30',
    destinationID,
    videoUploadObjectID: never,
    ...more,
  });
  const streamIDs: string[] = [];
  for (const name of ['One', 'Two', 'Three']) streamIDs.push((await made('/streams', wish({ name }))).id);
  return { target, ask, made, wish, destinationID, videoUploadObjectID, playlistID, streamIDs };
}

/** `code` is given where the contract or the service's own table names one. */
export function expectProblem({ status, headers, body }: Answer<Body>, expected: number, code?: string): void {
  expect({ status, body }).toMatchObject({ status: expected });
  expect(headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(body).toMatchObject({ status, title: expect.any(String), detail: expect.any(String) });
  expect(URL.canParse(body.type, 'https://example.com/')).toBe(true);
  expect(body.code).toMatch(/^[a-z_]+$/);
  if (code) expect(body.code).toBe(code);
}
