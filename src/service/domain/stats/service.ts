/** Reads live statistics and the preview from the pod that sends the stream. */
import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import type { Pod } from '../../../core/kube/core.ts';
import type { Reflector } from '../../../core/kube/reflector.ts';
import type { KubeObject } from '../../../core/kube/types.ts';
import { type Clock, systemClock } from '../../../core/lib/clock.ts';
import { readBounded } from '../../../core/lib/read-bounded.ts';
import { STREAM_LABEL, STREAMER_PORT } from '../../../core/resources/common/names.ts';
import { readPlatformView } from '../../../core/resources/destination/platform.ts';
import type { Destination } from '../../../core/resources/destination/resource.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { AppError } from '../../lib/errors.ts';
import type { OwnedResources } from '../limits/owned-resources.ts';
import type { PreviewPlaces } from '../limits/preview-places.ts';
import { createPreviews } from './previews.ts';
import type { LiveStats } from './record.ts';
import { listLeftOut, NOT_LIVE, toLiveStats } from './view.ts';
import type { ViewTokens } from './view-tokens.ts';

const STATS_TIMEOUT_MS = 1_000;
/** A pod sends the first bytes of a preview at once, so a silent one is given up. */
const PREVIEW_TIMEOUT_MS = 5_000;
const MAX_STATS_BYTES = 256 * 1024;

export type StatsService = ReturnType<typeof createStatsService>;

export interface StatsServiceDeps {
  streams: OwnedResources<LoopStream>;
  destinations: OwnedResources<Destination>;
  /** Needs the index `stream` (`podStreamIndex`). */
  pods: Reflector<KubeObject<Pod['spec'], Pod['status']>>;
  previewPlaces: PreviewPlaces;
  /** Credentials for the pods of a namespace. */
  tokens: (namespace: string) => ViewTokens;
  /** Port of the pods; STREAMER_PORT except in tests. */
  port?: number;
  clock?: Clock;
}

/** Index for the reflector of pods. */
export const podStreamIndex = ({ metadata }: KubeObject): string[] => {
  const name = metadata.labels?.[STREAM_LABEL];
  return name ? [name] : [];
};

export function createStatsService(deps: StatsServiceDeps) {
  const { streams, destinations, pods, previewPlaces, tokens, port = STREAMER_PORT, clock = systemClock } = deps;
  const previews = createPreviews(previewPlaces);
  // Kubernetes gives addresses of deleted pods to others, so idle connections are closed soon.
  const agent = new Agent({ connect: { timeout: STATS_TIMEOUT_MS }, keepAliveTimeout: 1_000, bodyTimeout: 0 });

  /** Returns the address of the pod that sends the stream; undefined if there is none. */
  const findAddress = (stream: LoopStream): string | undefined => {
    const pod = pods
      .byIndex('stream', stream.metadata.name)
      .find(
        (p) => p.metadata.namespace === stream.metadata.namespace && !p.metadata.deletionTimestamp && p.status?.podIP,
      );
    const ip = pod?.status?.phase === 'Running' ? pod.status.podIP : undefined;
    return ip && `http://${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
  };

  interface AskOptions {
    signal: AbortSignal;
    headersTimeout: number;
  }

  /** Retries with a fresh token after a rejection: the operator may have renewed its key. */
  async function ask(base: string, path: string, { metadata }: LoopStream, options: AskOptions) {
    const { namespace = '', uid } = metadata;
    const token = await tokens(namespace).find(uid);
    const shown = (value: string | undefined) => (value === undefined ? {} : { authorization: `Bearer ${value}` });
    const url = `${base}${path}`;
    const answer = await request(url, { dispatcher: agent, headers: shown(token), ...options });
    if (answer.statusCode !== 401) return answer;
    const next = await tokens(namespace).findAnew(uid);
    if (next === undefined || next === token) return answer;
    answer.body.on('error', () => undefined).destroy();
    return request(url, { dispatcher: agent, headers: shown(next), ...options });
  }

  /** Returns nulls if the stream is not live, or its pod does not respond within a second. */
  const live = async (accountId: string, id: string): Promise<LiveStats> => {
    const stream = streams.get(accountId, id);
    const base = findAddress(stream);
    if (!base) return NOT_LIVE;
    try {
      const signal = AbortSignal.timeout(STATS_TIMEOUT_MS);
      const answer = await ask(base, '/stats', stream, { signal, headersTimeout: STATS_TIMEOUT_MS });
      const text = await readBounded(answer.body, MAX_STATS_BYTES);
      if (answer.statusCode !== 200) return NOT_LIVE;
      const now = clock.now();
      const find = (id: string) => {
        const destination = destinations.find(accountId, id);
        const viewers = destination && readPlatformView(destination, now)?.viewers;
        return { name: destination?.spec.displayName ?? id, viewers: viewers ?? null };
      };
      return toLiveStats(JSON.parse(text), find, listLeftOut(stream.status ?? {}));
    } catch {
      return NOT_LIVE;
    }
  };

  return {
    live,

    /** Returns the destinations that receive the stream now; undefined if its pod does not say. */
    async connected(accountId: string, id: string): Promise<string[] | undefined> {
      const now = await live(accountId, id);
      if (now.destinations.length === 0) return undefined;
      return now.destinations.flatMap((one) => (one.connected ? [one.id] : []));
    },

    /**
     * Returns the stream as HTTP-FLV, until `signal` aborts or the time limit of previews passes. Throws `stream_not_live` if there
     * is nothing to show, `too_many_previews` and `server_busy`.
     */
    async preview(accountId: string, id: string, signal: AbortSignal): Promise<Readable> {
      const stream = streams.get(accountId, id);
      const base = findAddress(stream);
      if (!base) throw new AppError('stream_not_live', 'The stream is not on air.');
      const { uid } = stream.metadata;
      const open = (until: AbortSignal) => openPreview(base, stream, until);
      return previews.open({ accountId, streamId: uid, source: `${uid} ${base}`, open }, signal);
    },

    close: () => agent.destroy(),
  };

  async function openPreview(base: string, stream: LoopStream, signal: AbortSignal): Promise<Readable | undefined> {
    const answer = await ask(base, '/preview.flv', stream, { signal, headersTimeout: PREVIEW_TIMEOUT_MS });
    if (answer.statusCode === 200) return answer.body;
    answer.body.on('error', () => undefined).destroy();
    return undefined;
  }
}
