/** Starts an API server with two accounts, and media and a destination of the first, for the tests of streams. */
import { expect } from 'vitest';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import type { ApiConfig } from '../../../src/service/server/setup/settings.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { type Client, startTestApi, type TestApi } from '../system/api.ts';

export type Stream = Record<string, unknown> & { id: string };
export type List = { data: Stream[]; page: { hasMore: boolean; nextCursor: string | null } };

export type StreamsApi = Awaited<ReturnType<typeof startStreamsApi>>;

/** Call `api.stop` in afterAll. */
export async function startStreamsApi(options: { config?: Partial<ApiConfig> } = {}) {
  const api = await startTestApi(options.config);
  try {
    const [ada, eve] = [await api.client('ada'), await api.client('eve')];
    return { api, ada, eve, ...(await makeStreamHelpers(api, ada)) };
  } catch (error) {
    await api.stop();
    throw error;
  }
}

export type Streams = ReturnType<typeof buildHelpers>;

/** Makes media and a destination for one more account, and helpers to use them. */
export const makeStreamHelpers = async (api: TestApi, owner: Client) =>
  buildHelpers(api, owner, await makeMedia(owner));

async function makeMedia(owner: Client) {
  const create = async (path: string, body: unknown) => {
    const answer = await owner.call('POST', path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return String(answer.body.objectID ?? answer.body.id);
  };
  const destinationID = await create('/v1/destinations', {
    name: 'Home',
    rtmpUrl: 'rtmp://127.0.0.1/live',
    rtmpKey: 'k-123456',
  });
  const videoUploadObjectID = await create('/v1/uploads/from-link', {
    type: 'VIDEO',
    url: 'https://example.com/a.mp4',
  });
  const audioUpload = await create('/v1/uploads/from-link', { type: 'AUDIO', url: 'https://example.com/a.mp3' });
  const items = [{ uploadObjectID: videoUploadObjectID }];
  const audioItems = [{ uploadObjectID: audioUpload }];
  return {
    destinationID,
    videoUploadObjectID,
    audioUpload,
    videoList: await create('/v1/playlists', { kind: 'video', mode: 'sequential', items }),
    audioList: await create('/v1/playlists', { kind: 'audio', mode: 'shuffle', items: audioItems }),
  };
}

function buildHelpers(api: TestApi, ada: Client, media: Awaited<ReturnType<typeof makeMedia>>) {
  const { destinationID, videoUploadObjectID } = media;
  /** Returns the body of a valid POST /v1/streams, changed by `more`. */
  const wish = (more: Record<string, unknown> = {}) => ({
    name: 'Night loop',
    quality: 'q_1080p',
    framerate: 'f_30',
    destinationID,
    videoUploadObjectID,
    ...more,
  });
  return {
    ...media,
    wish,
    create: async (more: Record<string, unknown> = {}, client = ada): Promise<Stream> => {
      const { status, body } = await client.call<Stream>('POST', '/v1/streams', wish(more));
      expect(status, JSON.stringify(body)).toBe(201);
      return body;
    },
    /** The LoopStream itself. */
    resource: (id: string) => api.kube.get(LOOPSTREAMS, NAMESPACE, id),
  };
}

export const inMinutes = (n: number) => new Date(Date.now() + n * 60_000).toISOString();
