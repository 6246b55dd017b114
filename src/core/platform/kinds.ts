/** Connects each kind of platform with its observer and its settings. */
import type { Logger } from '../lib/log.ts';
import type { ObserverTable } from './observers.ts';
import type { PlatformConfig } from './settings.ts';

/** A kind whose settings are missing has no observer: its destinations are Unknown. */
export function buildObservers(_config: PlatformConfig, _log: Logger): ObserverTable {
  return {};
}
