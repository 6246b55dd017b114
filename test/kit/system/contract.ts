/**
 * Opens the target of the contract's tests: any implementation (LOOPSTREAM_URL, its origin), or ours, once with a stand-in for its operator
 * and once as a whole. The tests use HTTP alone. Another implementation needs keys: LOOPSTREAM_API_KEY of an empty account,
 * LOOPSTREAM_OTHER_API_KEY of another account and LOOPSTREAM_REVOKED_API_KEY. Media and the destination are served here. An implementation
 * that cannot reach this machine needs others: LOOPSTREAM_VIDEO_URL, LOOPSTREAM_AUDIO_URL, LOOPSTREAM_SLOW_VIDEO_URL (it arrives within
 * minutes) and LOOPSTREAM_RTMP_URL.
 */
import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOOPSTREAMS } from '../../../src/core/resources/stream/resource.ts';
import type { LoopStreamSpec } from '../../../src/core/resources/stream/spec.ts';
import { UPLOADS } from '../../../src/core/resources/upload/resource.ts';
import { openAuth } from '../../../src/service/auth/open.ts';
import type { AuthService } from '../../../src/service/auth/service.ts';
import { NAMESPACE } from '../../../tools/local/rights.ts';
import { standIn } from '../fake/standin.ts';
import { giveCredit } from '../make/ledger.ts';
import { makeClip } from '../make/media.ts';
import { startRtmpServer } from '../real/rtmp.ts';
import { startTestApi, type TestApi } from './api.ts';
import type { Shared } from './system.ts';
import { readSetting } from './traces.ts';

export interface Target extends Keys, Media {
  /** `{base_url}` of the contract, which ends in its version. */
  base: string;
  graphql: string;
  stop(): Promise<void>;
}

interface Keys {
  key: string;
  /** The key of another account, which may use up its rate limit. */
  otherKey: string;
  revokedKey: string;
}

interface Media {
  video: string;
  audio: string;
  /** A video that does not arrive before `release`. */
  slowVideo: string;
  /** A video that never arrives. */
  neverVideo: string;
  rtmpUrl: string;
  release(): Promise<void>;
}

/** `onAir`: the target fetches media and sends streams. */
export interface Place {
  onAir: boolean;
  open(): Promise<Target>;
}

const readVariable = (name: string): string | undefined => process.env[`LOOPSTREAM_${name}`] || undefined;
const needed = (name: string): string => {
  const value = readVariable(name);
  if (value === undefined) throw new Error(`LOOPSTREAM_URL is given, and LOOPSTREAM_${name} is not`);
  return value;
};

/** Makes keys of empty accounts. */
async function makeKeys(auth: AuthService, give: (accountId: string) => Promise<void> = async () => {}): Promise<Keys> {
  const id = crypto.randomUUID();
  const makeKey = async (name: string) => {
    const accountId = await auth.ensureUser({ email: `${name}-${id}@example.com`, firstName: name });
    await give(accountId);
    return auth.createApiKey(accountId, 'contract');
  };
  const [own, other, revoked] = [await makeKey('ada'), await makeKey('eve'), await makeKey('ada')];
  await auth.revokeApiKey(revoked.id);
  return { key: own.key, otherKey: other.key, revokedKey: revoked.key };
}

/** Serves media, and starts a receiver. */
async function startMedia(): Promise<Media & { stop(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'contract-'));
  const file = join(dir, 'video.mp4');
  const [receiver] = await Promise.all([
    startRtmpServer({ record: join(dir, 'recordings') }),
    makeClip(file, { seconds: 2 }),
  ]);
  const slow = Promise.withResolvers<void>();
  const server = createServer(async ({ url }, response) => {
    if (url?.startsWith('/never')) return;
    if (url?.startsWith('/slow')) await slow.promise;
    createReadStream(file).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    // The file has sound too, which is used when it is imported as AUDIO.
    video: `${base}/video.mp4`,
    audio: `${base}/audio.mp4`,
    slowVideo: `${base}/slow.mp4`,
    neverVideo: `${base}/never.mp4`,
    rtmpUrl: receiver.url,
    release: async () => slow.resolve(),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await receiver.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Opens another implementation. */
async function openOther(url: string): Promise<Target> {
  const elsewhere = readVariable('VIDEO_URL');
  const media = elsewhere === undefined ? await startMedia() : undefined;
  return {
    base: `${url}/v1`,
    graphql: `${url}/graphql`,
    key: needed('API_KEY'),
    otherKey: needed('OTHER_API_KEY'),
    revokedKey: needed('REVOKED_API_KEY'),
    ...(media ?? {
      video: needed('VIDEO_URL'),
      audio: needed('AUDIO_URL'),
      slowVideo: needed('SLOW_VIDEO_URL'),
      neverVideo: needed('SLOW_VIDEO_URL'),
      rtmpUrl: needed('RTMP_URL'),
      release: async () => undefined,
    }),
    stop: async () => media?.stop(),
  };
}

/** Fetches and sends nothing: a stream is ready unless its video has not arrived. */
function standInMedia(api: TestApi) {
  let released = false;
  const preparing = { type: 'MediaReady', reason: 'MediaImporting', message: 'The upload has not arrived yet.' };
  const slowVideo = 'https://example.com/slow.mp4';
  const neverVideo = 'https://example.com/never.mp4';
  const findLink = async ({ uploadName }: LoopStreamSpec) =>
    uploadName && (await api.kube.get(UPLOADS, NAMESPACE, uploadName)).spec.source.url;
  const listProblems = async (spec: LoopStreamSpec) => {
    const link = await findLink(spec);
    return link === neverVideo || (link === slowVideo && !released) ? [preparing] : [];
  };
  const release = async () => {
    released = true;
    for (const { metadata, spec, status } of await api.kube.list(LOOPSTREAMS, { namespace: NAMESPACE }))
      if ((await findLink(spec).catch(() => undefined)) === slowVideo)
        await api.observe(metadata.name, { phase: status?.phase ?? 'idle' });
  };
  const media: Media = {
    video: 'https://example.com/a.mp4',
    audio: 'https://example.com/a.mp3',
    slowVideo,
    neverVideo,
    rtmpUrl: 'rtmp://127.0.0.1/live',
    release,
  };
  return { media, listProblems };
}

async function openStandIn(): Promise<Target> {
  const api = await startTestApi({ rateLimit: { requests: 300, windowMs: 10_000 } });
  const over = new AbortController();
  const { media, listProblems } = standInMedia(api);
  await standIn(api, over.signal, listProblems);
  return {
    base: `${api.url}/v1`,
    graphql: `${api.url}/graphql`,
    ...(await makeKeys(api.auth)),
    ...media,
    stop: async () => {
      over.abort();
      await api.stop();
    },
  };
}

/** Opens the implementation that the environment names, or our API server with a stand-in for its operator. */
export function anyPlace(): Place {
  const url = readVariable('URL');
  return url === undefined ? { onAir: false, open: openStandIn } : { onAir: true, open: () => openOther(url) };
}

/** Opens the running product, and leaves it running. */
export const productPlace = (system: () => Shared): Place => ({
  onAir: true,
  async open() {
    const { facts } = system();
    const [databaseUrl = '', authSecret = ''] = ['DATABASE_URL', 'AUTH_SECRET'].map((name) =>
      readSetting(system(), 'api', `LOOPSTREAM_${name}`),
    );
    const { service, close } = openAuth({ databaseUrl, authSecret });
    // Without credit nothing goes on air.
    const keys = await makeKeys(service, (accountId) => giveCredit(databaseUrl, accountId)).finally(close);
    return { base: facts.apiUrl, graphql: facts.graphqlUrl ?? '', ...keys, ...(await startMedia()) };
  },
});
