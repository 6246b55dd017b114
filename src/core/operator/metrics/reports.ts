/** Counts the reports of streams' pods. */
import { Counter, type Registry } from 'prom-client';
import { REPORT_RESULTS, type ReportResult } from '../stream/report-result.ts';

export function reportMetrics(registry: Registry): (result: ReportResult) => void {
  const reports = new Counter({
    name: 'loopstream_stream_reports_total',
    help: "Reports of the pods of streams, by result. `asked` are the answers to the operator's own requests.",
    labelNames: ['result'],
    registers: [registry],
  });
  // From the start, so that the first one is seen as a rise.
  for (const result of REPORT_RESULTS) reports.inc({ result }, 0);
  return (result) => reports.inc({ result });
}
