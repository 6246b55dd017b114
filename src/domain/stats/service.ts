/** Live numbers and the preview, straight from the pod that sends the stream. */
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, request } from 'undici';
import type { Pod } from '../../kube/core.ts';
import type { Reflector } from '../../kube/reflector.ts';
import type { KubeObject } from '../../kube/types.ts';
import { AppError } from '../../lib/errors.ts';
import { STREAM_LABEL, STREAMER_PORT } from '../../resources/common/names.ts';
import type { Destination } from '../../resources/destination/resource.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { Quotas } from '../limits/quotas.ts';
import type { Owned } from '../owned.ts';
import { createPreviews, type PreviewLimits } from './previews.ts';
import type { LiveStats } from './record.ts';
import type { ViewTokens } from './tokens.ts';
import { leftOutOf, liveStats, NOT_LIVE } from './view.ts';

const STATS_TIMEOUT_MS = 1_000;
/** The pod sends the preview's first bytes at once; a silent pod is not waited for. */
const PREVIEW_TIMEOUT_MS = 5_000;
const MAX_STATS_BYTES = 256 * 1024;

export type StatsService = ReturnType<typeof createStatsService>;

export interface StatsServiceDeps {
  streams: Owned<LoopStream>;
  destinations: Owned<Destination>;
  /** With the index `stream` (`podStreamIndex`). */
  pods: Reflector<KubeObject<Pod['spec'], Pod['status']>>;
  previewLimits: PreviewLimits;
  quotas: Pick<Quotas, 'allowed' | 'check'>;
  /** What a stream's pods are shown. */
  tokens: ViewTokens;
  /** Where a pod listens; the port is STREAMER_PORT but in tests. */
  port?: number;
}

/** The index that the pods' reflector needs. */
export const podStreamIndex = ({ metadata }: KubeObject): string[] => {
  const name = metadata.labels?.[STREAM_LABEL];
  return name ? [name] : [];
};

export function createStatsService(deps: StatsServiceDeps) {
  const { streams, destinations, pods, previewLimits, quotas, tokens, port = STREAMER_PORT } = deps;
  const previews = createPreviews(previewLimits, quotas);
  // Connections to pods that are gone must not be kept: their addresses are given to others.
  const agent = new Agent({ connect: { timeout: STATS_TIMEOUT_MS }, keepAliveTimeout: 1_000, bodyTimeout: 0 });

  /** Address of the pod that sends the stream; undefined when there is none. */
  const addressOf = (stream: LoopStream): string | undefined => {
    const pod = pods
      .byIndex('stream', stream.metadata.name)
      .find((p) => p.metadata.namespace === streams.namespace && !p.metadata.deletionTimestamp && p.status?.podIP);
    const ip = pod?.status?.phase === 'Running' ? pod.status.podIP : undefined;
    return ip && `http://${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
  };

  interface AskOptions {
    signal: AbortSignal;
    headersTimeout: number;
  }

  /** Asks once more where the token was wrong: its key may have been made anew. */
  async function ask(base: string, path: string, streamUid: string, options: AskOptions) {
    const token = await tokens.find(streamUid);
    const shown = (value: string | undefined) => (value === undefined ? {} : { authorization: `Bearer ${value}` });
    const url = `${base}${path}`;
    const answer = await request(url, { dispatcher: agent, headers: shown(token), ...options });
    if (answer.statusCode !== 401) return answer;
    const next = await tokens.findAnew(streamUid);
    if (next === undefined || next === token) return answer;
    answer.body.on('error', () => undefined).destroy();
    return request(url, { dispatcher: agent, headers: shown(next), ...options });
  }

  return {
    /** Nulls when it is not live or its pod does not answer within a second. */
    async live(accountId: string, id: string): Promise<LiveStats> {
      const stream = streams.get(accountId, id);
      const base = addressOf(stream);
      if (!base) return NOT_LIVE;
      try {
        const signal = AbortSignal.timeout(STATS_TIMEOUT_MS);
        const answer = await ask(base, '/stats', stream.metadata.uid, { signal, headersTimeout: STATS_TIMEOUT_MS });
        const text = await bounded(answer.body, MAX_STATS_BYTES);
        if (answer.statusCode !== 200) return NOT_LIVE;
        const nameOf = (name: string) => destinations.find(accountId, name)?.spec.displayName ?? name;
        return liveStats(JSON.parse(text), nameOf, leftOutOf(stream.status ?? {}));
      } catch {
        return NOT_LIVE;
      }
    },

    /**
     * The stream as HTTP-FLV, until `signal` aborts or it has been shown for long enough. Throws `stream_not_live` when there
     * is nothing to show, `too_many_previews` and `server_busy`.
     */
    async preview(accountId: string, id: string, signal: AbortSignal): Promise<Readable> {
      const stream = streams.get(accountId, id);
      const base = addressOf(stream);
      if (!base) throw new AppError('stream_not_live', 'The stream is not on air.');
      const { uid } = stream.metadata;
      const open = (until: AbortSignal) => openPreview(base, uid, until);
      return previews.open({ accountId, streamId: uid, source: `${uid} ${base}`, open }, signal);
    },

    close: () => agent.destroy(),
  };

  async function openPreview(base: string, uid: string, signal: AbortSignal): Promise<Readable | undefined> {
    const answer = await ask(base, '/preview.flv', uid, { signal, headersTimeout: PREVIEW_TIMEOUT_MS });
    if (answer.statusCode === 200) return answer.body;
    answer.body.on('error', () => undefined).destroy();
    return undefined;
  }
}

async function bounded(body: Dispatcher.ResponseData['body'], limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw new Error('The answer is too long.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
