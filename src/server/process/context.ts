/** Declares what each part of the process is opened with. */
import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import type { HttpMetrics } from '../http/metrics.ts';
import type { ApiConfig } from '../setup/settings.ts';

export interface ProcessContext {
  config: ApiConfig;
  lifecycle: Lifecycle;
  metrics: HttpMetrics;
  log: Logger;
}
