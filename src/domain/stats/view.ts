/**
 * Converts the statistics of a streamer pod (GET /stats) to the public shape. A pod may be older or newer than this server, so a
 * missing or unknown number becomes null. Pure: no I/O, no clock.
 */
import { getReasonCode } from '../../resources/stream/readiness.ts';
import type { LoopStreamStatus } from '../../resources/stream/spec.ts';
import type { LiveStats } from './record.ts';

export const NOT_LIVE: LiveStats = Object.freeze({
  live: false,
  startedAt: null,
  uptimeSeconds: null,
  bitrateKbps: null,
  fps: null,
  framesSent: null,
  loopCount: null,
  seam: null,
  avSkewMs: null,
  reconnects: null,
  current: null,
  positionSeconds: null,
  durationSeconds: null,
  next: null,
  playable: null,
  brokenItems: [],
  destinations: [],
});

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const record = (value: unknown) => (isRecord(value) ? value : {});
const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : null);
const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);

const place = (value: unknown) => {
  const { playlistID, index } = record(value);
  return { playlistID: text(playlistID), index: Number.isSafeInteger(index) ? (index as number) : null };
};

const item = (value: unknown): LiveStats['current'] => {
  const { id, name } = record(value);
  return text(id) === null ? null : { id: String(id), name: text(name) ?? String(id), ...place(value) };
};

const problem = (value: unknown): LiveStats['destinations'][number]['lastError'] => {
  const { code, message } = record(value);
  return text(code) === null ? null : { code: String(code), message: text(message) ?? String(code) };
};

const broken = (value: unknown): LiveStats['brokenItems'] =>
  (Array.isArray(value) ? value : []).map(record).flatMap(({ id, name, track, code, message, ...rest }) =>
    text(id) === null
      ? []
      : [
          {
            id: String(id),
            name: text(name) ?? String(id),
            ...place(rest),
            track: track === 'audio' ? ('audio' as const) : ('video' as const),
            code: text(code) ?? 'unknown',
            message: text(message) ?? '',
          },
        ],
  );

type Broken = LiveStats['brokenItems'][number];

/** Items that the operator leaves out, from the stream's status: the pod does not receive them. */
export const listLeftOut = ({ unplayable }: Pick<LoopStreamStatus, 'unplayable'>): Broken[] =>
  (unplayable?.items ?? []).map(({ field, playlist = null, index = null, upload, name, reason, message }): Broken => {
    const id = upload ?? playlist ?? '';
    const track = field === 'audioPlaylistNames' ? 'audio' : 'video';
    return { id, name: name ?? id, playlistID: playlist, index, track, code: getReasonCode(reason), message };
  });

const isSame = (a: Broken, b: Broken): boolean => a.id === b.id && a.track === b.track;

/**
 * Destinations are keyed by resource name, which is their public id; `findName` returns the display name. `leftOut` lists items
 * missing from the pod's program.
 */
export function toLiveStats(
  pod: unknown,
  findName: (id: string) => string,
  leftOut: readonly Broken[] = [],
): LiveStats {
  const stats = record(pod);
  const seam = record(stats.seam);
  const reported = broken(stats.brokenItems);
  const destinations = Array.isArray(stats.destinations) ? stats.destinations.filter(isRecord) : [];
  return {
    live: stats.live === true,
    startedAt: text(stats.startedAt),
    uptimeSeconds: number(stats.uptimeSeconds),
    bitrateKbps: number(stats.bitrateKbps),
    fps: number(stats.fps),
    framesSent: number(stats.framesSent),
    loopCount: number(stats.loopCount),
    seam: isRecord(stats.seam) ? { count: number(seam.count), maxStepMs: number(seam.maxStepMs) } : null,
    avSkewMs: number(stats.avSkewMs),
    reconnects: number(stats.reconnects),
    current: item(stats.currentItem),
    positionSeconds: number(record(stats.currentItem).positionSeconds),
    durationSeconds: number(record(stats.currentItem).durationSeconds),
    next: item(stats.nextItem),
    playable: typeof stats.playable === 'boolean' ? stats.playable : null,
    brokenItems: [...reported, ...leftOut.filter((one) => !reported.some((other) => isSame(one, other)))],
    destinations: destinations.map((destination) => {
      const id = text(destination.id) ?? text(destination.name) ?? '';
      return {
        id,
        name: findName(id),
        connected: destination.connected === true,
        bytesSent: number(destination.bytesSent),
        reconnects: number(destination.reconnects),
        lastError: problem(destination.lastError),
      };
    }),
  };
}
