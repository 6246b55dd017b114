/**
 * Finds the changes that a rendition of a source will make: each row of the table reads the header and the packets, and
 * returns a warning or none. A rendition that finds more on its way adds it to `Made.warnings` (transcode.ts). Pure: no
 * I/O, no clock.
 */
import { mergeWarnings, type UploadWarning, warn } from '../../../resources/upload/warnings.ts';
import type { MediaType, Scan, Source } from './source.ts';
import { STILL_SECONDS } from './stills.ts';
import { TIME_RULES, type TimeRule } from './time-warnings.ts';

const RULES: TimeRule[] = [
  ...TIME_RULES,
  (_source, { video }, type) =>
    type === 'video' && video?.isStill ? warn('still_picture', `The clip lasts ${STILL_SECONDS} s.`) : undefined,
];

/** Returns the warnings of an import. */
export const describeWarnings = (source: Source, scan: Scan, type: MediaType): UploadWarning[] =>
  mergeWarnings(RULES.flatMap((rule) => rule(source, scan, type) ?? []));
