/** Keeps what an observer of an API needs of its process, in memory: secrets, repairs with versions, shared counters, reports. */
import { pino } from 'pino';
import type { ApiObserverDeps, PlatformTarget, TargetSecrets } from '../../../src/core/platform/common/observer.ts';
import type { RepairState } from '../../../src/core/platform/common/repair-state.ts';
import type { PlatformVerdict } from '../../../src/core/platform/common/verdict.ts';
import { NEW_REPAIR } from '../../../src/core/platform/youtube/repair.ts';
import type { createVirtualTime } from '../fake/virtual-time.ts';

export interface Report {
  atMs: number;
  verdict: PlatformVerdict;
  validMs: number;
}

/** The stores that all processes of an installation share. */
export function createPlatformStore() {
  const secrets = new Map<string, TargetSecrets>();
  const repairs = new Map<string, { state: RepairState; version: number }>();
  const shared = new Map<string, string>();
  const find = (key: string) => repairs.get(key) ?? { state: NEW_REPAIR, version: 0 };
  return {
    secrets,
    shared,
    /** Somebody else writes to the object that holds the repair. */
    touch(key: string): void {
      const { state, version } = find(key);
      repairs.set(key, { state, version: version + 1 });
    },
    getRepair: (key: string) => find(key).state,
    readSecrets: async (key: string) => ({ ...secrets.get(key) }),
    loadRepair: async (key: string) => ({ state: find(key).state, version: String(find(key).version) }),
    saveRepair: async (key: string, state: RepairState, version: string) => {
      if (String(find(key).version) !== version) return undefined;
      repairs.set(key, { state: structuredClone(state), version: Number(version) + 1 });
      return String(Number(version) + 1);
    },
    updateShared: async (name: string, change: (before: string | undefined) => string | undefined) => {
      const next = change(shared.get(name));
      if (next !== undefined) shared.set(name, next);
      return next !== undefined;
    },
  };
}
export type PlatformStore = ReturnType<typeof createPlatformStore>;

/** One process: its log and its reports. */
export function createObserving(time: ReturnType<typeof createVirtualTime>, store = createPlatformStore()) {
  const abort = new AbortController();
  const reports = new Map<string, Report[]>();
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  const deps: ApiObserverDeps = {
    clock: time.clock,
    log,
    signal: abort.signal,
    report: (key, verdict, validMs) => {
      const list = reports.get(key) ?? [];
      list.push({ atMs: time.nowMs(), verdict, validMs });
      reports.set(key, list);
    },
    readSecrets: store.readSecrets,
    loadRepair: store.loadRepair,
    saveRepair: store.saveRepair,
    updateShared: store.updateShared,
  };
  return {
    deps,
    store,
    lines,
    reports,
    last: (key: string) => reports.get(key)?.at(-1)?.verdict,
    stop: () => abort.abort(new Error('stopped')),
  };
}

/** A destination to which a stream is sent since `sinceMs`. */
export const makeTarget = (
  key: string,
  platform: PlatformTarget['platform'],
  values: Partial<PlatformTarget> & { sinceMs?: number } = {},
): PlatformTarget => {
  const { sinceMs = 0, ...rest } = values;
  return {
    key,
    uid: `uid-of-${key}`,
    platform,
    publishing: { sinceMs, podUrl: 'http://127.0.0.1:9', readViewToken: async () => undefined },
    ...rest,
  };
};
