/**
 * Finds the changes that a rendition of a source will make: each row of the table reads the header and the packets, and
 * returns a warning or none. A rendition that finds more on its way adds it to `Made.warnings` (transcode.ts). Pure: no
 * I/O, no clock.
 */
import { mergeWarnings, type UploadWarning, warn } from '../../../resources/upload/warnings.ts';
import type { MediaType, Scan, Source } from './source.ts';
import { STILL_SECONDS } from './stills.ts';
import { isUnmeasuredAndEmpty, TIME_RULES, type TimeRule } from './time-warnings.ts';

/** Tracks that the warning names. */
const NAMED_TRACKS = 5;

const trackUnplayable: TimeRule = ({ declared = [] }, scan, type) => {
  const unplayable = declared.filter(
    ({ isUnplayable, kind }) => isUnplayable && (type === 'video' || kind === 'audio'),
  );
  const tracks = unplayable.filter((track) => !isUnmeasuredAndEmpty(track, scan));
  if (tracks.length === 0) return undefined;
  const named = tracks
    .slice(0, NAMED_TRACKS)
    .map(({ index, kind, codec, language }) => `${kind} track ${index} (${codec}${language ? `, ${language}` : ''})`);
  const more = tracks.length - named.length;
  return warn('track_unplayable', `It is ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`);
};

const RULES: TimeRule[] = [
  trackUnplayable,
  ...TIME_RULES,
  (_source, { video }, type) =>
    type === 'video' && video?.isStill ? warn('still_picture', `The clip lasts ${STILL_SECONDS} s.`) : undefined,
];

/** Returns the warnings of an import. */
export const describeWarnings = (source: Source, scan: Scan, type: MediaType): UploadWarning[] =>
  mergeWarnings(RULES.flatMap((rule) => rule(source, scan, type) ?? []));
