/**
 * Declares the input and the output of observers of destinations. One observer looks at all destinations of a kind; the process
 * (main.ts) knows Kubernetes, and an observer does not.
 */
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { DestinationPlatform } from '../../resources/destination/platform.ts';
import type { RepairState } from './repair-state.ts';
import type { PlatformVerdict } from './verdict.ts';

/** The pod that publishes to a destination: where its preview is, as a request may ask for it. */
export interface Publishing {
  /** Milliseconds since 1970: since when it publishes there without a break. */
  sinceMs: number;
  /** e.g. http://10.0.0.7:9400 */
  podUrl: string;
  /** Of the header `authorization: Bearer …` of the preview; undefined where it is open. */
  readViewToken: () => Promise<string | undefined>;
}

/** A destination whose platform is to be looked at. */
export interface PlatformTarget {
  /** `namespace/name`. */
  key: string;
  uid: string;
  platform: DestinationPlatform;
  /** Null while no stream is sent there. */
  publishing: Publishing | null;
  /** Milliseconds since 1970 of the last edit of the destination. */
  editedMs?: number;
  /** As the status has it from before this process began. */
  lastSeenMs?: number;
  /** Changes when a person asks for a stalled repair to go on. */
  resume?: string;
}

/** The stream key and the token of a destination, read on demand; nothing keeps or logs them. */
export interface TargetSecrets {
  rtmpKey?: string;
  refreshToken?: string;
}

/** A repair's state with the version to give back: a process with an older one may not write. */
export interface StoredRepair {
  state: RepairState;
  version: string;
}

export interface ObserverDeps {
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
  /** Tells what is known now. It holds for `validMs`; the next call must come before that. */
  report: (key: string, verdict: PlatformVerdict, validMs: number) => void;
}

/** The needs of an observer of an API. */
export interface ApiObserverDeps extends ObserverDeps {
  readSecrets: (key: string) => Promise<TargetSecrets>;
  loadRepair: (key: string) => Promise<StoredRepair>;
  /** Returns the new version, or undefined if somebody else has written meanwhile: load, and decide again. */
  saveRepair: (key: string, state: RepairState, version: string) => Promise<string | undefined>;
  /** A counter that all processes of the installation share, by name; `change` gets the stored text and returns the next one, or undefined to leave it. */
  updateShared: (name: string, change: (before: string | undefined) => string | undefined) => Promise<boolean>;
}

export interface Observer {
  /** Takes all targets of its kind, each time that one of them changes. */
  update: (targets: readonly PlatformTarget[]) => void;
  /** Resolves when nothing of it runs any more, after the signal has aborted. */
  ended: Promise<void>;
}
