/** Declares what every controller depends on. */

import type { EventRecorder } from '../../kube/events.ts';
import type { Kube } from '../../kube/types.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/log.ts';
import type { PodSettings } from '../pods/security.ts';
import type { Caches } from './caches.ts';

export interface ControllerDeps {
  kube: Kube;
  caches: Caches;
  settings: PodSettings;
  events: EventRecorder;
  clock: Clock;
  log: Logger;
}
