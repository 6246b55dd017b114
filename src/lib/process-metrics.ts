/** Exposes the metrics of a process of Node.js to Prometheus: processor, memory, event loop and garbage. */
import { collectDefaultMetrics, type Registry } from 'prom-client';

/**
 * Between two looks at the delay of the event loop, and its least delay as shown. Each look wakes the process: every 10 ms, the library's
 * default, they take one percent of a core.
 */
const LOOP_INTERVAL_MS = 50;

export const collectProcessMetrics = (register: Registry): void =>
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: LOOP_INTERVAL_MS });
