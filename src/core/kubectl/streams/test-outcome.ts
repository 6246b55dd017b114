/** Describes the outcome of a destination's test, with the fix of its code. Pure: no I/O, no clock. */
import { findDestinationFix } from '../../lib/codes/destinations.ts';
import type { TestStatus } from '../../resources/destination/spec.ts';
import { sanitize } from '../shell/table.ts';

export function describeTest(name: string, { ok, stage, code, message, tookMs }: TestStatus): string {
  const took = `${(tookMs / 1000).toFixed(1)} s`;
  if (ok) return `Destination "${name}" accepts streams. ${sanitize(message)} (${took})\n`;
  const advice = findDestinationFix(code);
  return [
    `Destination "${name}" failed the test at the step ${stage}: ${sanitize(message)} (${code ?? 'unknown'}, ${took})`,
    ...(advice === undefined ? [] : [advice]),
    '',
  ].join('\n');
}
