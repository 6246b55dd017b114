/** Counts and times the answers of the conversion webhook, and shows when its certificate expires. */
import { Gauge, Histogram, type Registry } from 'prom-client';

const RESULTS = ['success', 'failed', 'refused'] as const;
/** `failed`: an object could not be converted. `refused`: the request was no review, or too large. */
export type ConversionResult = (typeof RESULTS)[number];

/** One object takes less than a millisecond, a page of large ones some hundred. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface ConversionMetrics {
  observe(result: ConversionResult, seconds: number): void;
  /** In seconds since 1970. */
  showExpiry(seconds: number): void;
}

export function conversionMetrics(registry: Registry): ConversionMetrics {
  const durations = new Histogram({
    name: 'loopstream_conversion_seconds',
    help: 'Duration of an answer of the conversion webhook, by result.',
    labelNames: ['result'],
    buckets: BUCKETS,
    registers: [registry],
  });
  // From the start, so that the first failure is seen as a rise.
  for (const result of RESULTS) durations.zero({ result });
  let expiry: number | undefined;
  new Gauge({
    name: 'loopstream_conversion_certificate_expiry_timestamp_seconds',
    help: 'Time at which the certificate of the conversion webhook expires, in seconds since 1970. Absent without one.',
    registers: [registry],
    collect() {
      if (expiry === undefined) this.remove();
      else this.set(expiry);
    },
  });
  return {
    observe: (result, seconds) => durations.observe({ result }, seconds),
    showExpiry: (seconds) => {
      expiry = seconds;
    },
  };
}
