/** Describes the outcome of a destination's test, with the fix of its code. Pure: no I/O, no clock. */
import type { TestStatus } from '../../resources/destination/spec.ts';
import { STATE_CODES } from '../../server/openapi/statecodes.ts';

/** The advice on a code of a destination, an upload or a stream; undefined for a code without any. */
export const findAdvice = (code: string | undefined, place: string): string | undefined =>
  STATE_CODES.find((state) => state.code === code && state.place.includes(place))?.fix;

/** Where STATE_CODES has the codes of destinations. */
const OF_DESTINATION = 'lastError.code';
export const findDestinationAdvice = (code: string | undefined): string | undefined => findAdvice(code, OF_DESTINATION);

export function describeTest(name: string, { ok, stage, code, message, tookMs }: TestStatus): string {
  const took = `${(tookMs / 1000).toFixed(1)} s`;
  if (ok) return `Destination "${name}" accepts streams. ${message} (${took})\n`;
  const advice = findDestinationAdvice(code);
  return [
    `Destination "${name}" failed the test at the step ${stage}: ${message} (${code ?? 'unknown'}, ${took})`,
    ...(advice === undefined ? [] : [advice]),
    '',
  ].join('\n');
}
