/** Reads what a pod reports as the operator does. */
import { type PodReport, toPodReport } from '../../../src/core/operator/stream/pod-report.ts';
import { listLatestRuns } from '../../../src/core/operator/stream/sessions.ts';
import { type Run, readReport, readTimeOnAir, type StreamerReport } from '../../../src/core/protocol/report.ts';

/** Undefined when the value is no report. */
export function parsePodReport(value: unknown, isPushed = false): PodReport | undefined {
  const read = readReport(value);
  return read.ok ? toPodReport(read.message, isPushed) : undefined;
}

/** The runs of a termination message. */
export function parseRuns(value: unknown): Run[] {
  const read = readTimeOnAir(JSON.stringify(value));
  return read.ok ? listLatestRuns(read.message.runs) : [];
}

/** Builds a report of a pod that plays and sends nothing yet. */
export function makeReport(more: object = {}): StreamerReport {
  const read = readReport({ playable: true, ...more });
  if (!read.ok) throw new Error(`No report: ${read.failure.path}`);
  return read.message;
}
