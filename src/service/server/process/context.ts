/** Declares what each part of the process is opened with. */
import type { Lifecycle } from '../../../core/lib/lifecycle.ts';
import type { Logger } from '../../../core/lib/log.ts';
import type { HttpMetrics } from '../http/metrics.ts';
import type { ApiConfig } from '../setup/settings.ts';

export interface ProcessContext {
  config: ApiConfig;
  lifecycle: Lifecycle;
  metrics: HttpMetrics;
  log: Logger;
}
