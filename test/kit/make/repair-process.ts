/**
 * Runs the observer of YouTube for one destination, as a process that a test may kill: `repair-process.ts CONFIG`. Its stores are files
 * that are replaced as a whole, so they survive it at any moment.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { pino } from 'pino';
import type { PlatformTarget, TargetSecrets } from '../../../src/core/platform/common/observer.ts';
import type { RepairState } from '../../../src/core/platform/common/repair-state.ts';
import type { YoutubeOptions } from '../../../src/core/platform/youtube/client.ts';
import { createYoutubeObserver } from '../../../src/core/platform/youtube/observe.ts';
import { createFastTime, type FastTimeOptions } from '../fake/fast-time.ts';

export interface RepairProcessConfig {
  /** Path of the file with the repair and the shared counters. */
  store: string;
  time: FastTimeOptions;
  options: YoutubeOptions;
  /** Without what cannot be written to a file. */
  target: Omit<PlatformTarget, 'publishing'>;
  sinceMs: number;
  secrets: TargetSecrets;
}

export interface RepairStore {
  state: RepairState;
  version: number;
  shared: Record<string, string>;
}

const config = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as RepairProcessConfig;
const { clock, sleep } = createFastTime(config.time);

const load = (): RepairStore => JSON.parse(readFileSync(config.store, 'utf8')) as RepairStore;
function store(values: RepairStore): void {
  const next = `${config.store}.${process.pid}`;
  writeFileSync(next, JSON.stringify(values));
  renameSync(next, config.store);
}

const observer = createYoutubeObserver(
  {
    clock,
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
    report: () => undefined,
    readSecrets: async () => config.secrets,
    loadRepair: async () => {
      const { state, version } = load();
      return { state, version: String(version) };
    },
    saveRepair: async (_key, state, version) => {
      const before = load();
      if (String(before.version) !== version) return undefined;
      store({ ...before, state, version: before.version + 1 });
      return String(before.version + 1);
    },
    updateShared: async (name, change) => {
      const before = load();
      const text = change(before.shared[name]);
      if (text !== undefined) store({ ...before, shared: { ...before.shared, [name]: text } });
      return text !== undefined;
    },
  },
  { ...config.options, sleep },
);
const publishing = { sinceMs: config.sinceMs, podUrl: 'http://127.0.0.1:9', readViewToken: async () => undefined };
observer.update([{ ...config.target, publishing }]);
