/**
 * Runs an observer for each kind of platform that a destination has, and ends it with the last of them. So nothing is opened for a kind that
 * nobody uses.
 */
import type { Logger } from '../lib/log.ts';
import type { PLATFORM_KINDS } from '../resources/destination/platform.ts';
import type { ApiObserverDeps, Observer, PlatformTarget } from './common/observer.ts';

export type PlatformKind = (typeof PLATFORM_KINDS)[number];

/** Makes the observer of a kind. A kind without one is not looked at: all its destinations are Unknown. */
export type ObserverTable = Partial<Record<PlatformKind, (deps: ApiObserverDeps) => Observer>>;

export interface ObserverGroup {
  /** Takes a target that is new or has changed; undefined where nobody is asked to look any more. */
  set(key: string, target: PlatformTarget | undefined): void;
  get(key: string): PlatformTarget | undefined;
  /** All of them, or those of a kind. */
  list(kind?: PlatformKind): PlatformTarget[];
  /** Resolves when no observer runs any more, after the signal has aborted. */
  ended(): Promise<void>;
}

interface Running {
  observer: Observer;
  stop: AbortController;
}

export function createObserverGroup(
  table: ObserverTable,
  deps: Omit<ApiObserverDeps, 'log'> & { log: Logger },
): ObserverGroup {
  const targets = new Map<string, PlatformTarget>();
  const running = new Map<PlatformKind, Running>();
  const ending = new Set<Promise<void>>();
  const changed = new Set<PlatformKind>();

  const list = (kind?: PlatformKind) =>
    [...targets.values()].filter(({ platform }) => kind === undefined || platform.kind === kind);

  const end = (kind: PlatformKind, { observer, stop }: Running): void => {
    running.delete(kind);
    stop.abort(new Error('No destination has this kind of platform.'));
    const ended = observer.ended.finally(() => ending.delete(ended));
    ending.add(ended);
  };

  const start = (kind: PlatformKind): Running | undefined => {
    const create = table[kind];
    if (!create) return undefined;
    const stop = new AbortController();
    const signal = AbortSignal.any([deps.signal, stop.signal]);
    const observer = create({
      ...deps,
      signal,
      log: deps.log.child({ platform: kind }),
      // A report that was under way when the destination got another kind is no answer.
      report: (key, verdict, validMs) => {
        if (!signal.aborted && targets.get(key)?.platform.kind === kind) deps.report(key, verdict, validMs);
      },
    });
    const made = { observer, stop };
    running.set(kind, made);
    return made;
  };

  /** Changes of one moment, such as those of a first list, are handed over together. */
  const handOver = (): void => {
    for (const kind of changed) {
      const own = list(kind);
      const known = running.get(kind);
      if (own.length > 0 && !deps.signal.aborted) (known ?? start(kind))?.observer.update(own);
      else if (known) end(kind, known);
    }
    changed.clear();
  };

  return {
    set(key, target) {
      const kinds = [targets.get(key)?.platform.kind, target?.platform.kind].filter((kind) => kind !== undefined);
      if (target) targets.set(key, target);
      else targets.delete(key);
      if (kinds.length > 0 && changed.size === 0) setImmediate(handOver);
      for (const kind of kinds) changed.add(kind);
    },
    get: (key) => targets.get(key),
    list,
    async ended() {
      await Promise.all([...[...running.values()].map(({ observer }) => observer.ended), ...ending]);
    },
  };
}
