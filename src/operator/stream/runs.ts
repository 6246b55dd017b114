/** The processes of a pod that were on air, as its streamer tells of them (src/media/streamer/airtime.ts). Pure: no I/O, no clock. */

/** One process of a pod that was on air, as the streamer tells of it. */
export interface Run {
  run: number;
  startedAt: string;
  lastAt: string;
  onAirSeconds: number;
}

/** How far apart the writes of an open session are. */
export const CHECKPOINT_SECONDS = 3600;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** RFC 3339, as Kubernetes wants it in a status: what Date.parse takes besides would be refused there. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/;
export const isTime = (value: unknown): value is string =>
  typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value));

/** A streamer tells of 24 at most. */
const MAX_RUNS = 48;

/** The runs in what a pod tells, in order; a pod may be older or newer than this operator. */
export function runsOf(told: unknown): Run[] {
  const runs = isRecord(told) && Array.isArray(told.runs) ? told.runs.filter(isRecord) : [];
  return runs
    .flatMap(({ run, startedAt, lastAt, onAirSeconds: seconds }): Run[] => {
      if (!Number.isSafeInteger(run) || (run as number) < 0 || !isTime(startedAt) || !isTime(lastAt)) return [];
      if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 0) return [];
      return [{ run: run as number, startedAt, lastAt, onAirSeconds: seconds }];
    })
    .sort((a, b) => a.run - b.run)
    .slice(-MAX_RUNS);
}
