/**
 * Computes how many bytes the versions of a playlist take. The API server does not cache these objects, so an
 * annotation written with each version holds their sizes. Pure: no I/O, no clock.
 */

import { GROUP } from '../common/names.ts';
import type { Playlist } from './resource.ts';
import type { PlaylistSpec } from './spec.ts';

/** On a Playlist: bytes of each version that is kept, oldest first, divided by spaces. */
export const VERSION_BYTES_ANNOTATION = `${GROUP}/version-bytes`;

/** Versions that are kept beside the current and the published one. */
export const HISTORY_LIMIT = 50;

/** Besides the spec: the metadata of a ControllerRevision. */
const OVERHEAD = 512;
const PATTERN = /^\d{1,9}( \d{1,9})*$/;

export const versionBytes = (spec: PlaylistSpec): number => OVERHEAD + Buffer.byteLength(JSON.stringify(spec));

/**
 * Returns the bytes stored now. Without an annotation (a playlist of an earlier release, or of kubectl) it assumes the
 * maximum.
 */
export function countVersionBytes({ metadata, spec }: Playlist): { sizes: number[]; total: number } {
  const text = metadata.annotations?.[VERSION_BYTES_ANNOTATION] ?? '';
  const count = Math.min(metadata.generation ?? 1, HISTORY_LIMIT);
  const sizes = PATTERN.test(text)
    ? text.split(' ').map(Number)
    : Array.from({ length: count }, () => versionBytes(spec));
  return { sizes, total: sizes.reduce((sum, size) => sum + size, 0) };
}

const buildAnnotation = (sizes: readonly number[]) => ({ [VERSION_BYTES_ANNOTATION]: sizes.join(' ') });

/** The annotation of a playlist whose first version is `spec`. */
export const annotateFirst = (spec: PlaylistSpec): Record<string, string> => buildAnnotation([versionBytes(spec)]);

/** The annotation with another version, and how many bytes more the playlist takes then, its versions among them. */
export function annotateNext(
  playlist: Playlist,
  next: PlaylistSpec,
): { annotations: Record<string, string>; more: number } {
  const { sizes, total } = countVersionBytes(playlist);
  const after = [...sizes, versionBytes(next)].slice(-HISTORY_LIMIT);
  const grown = versionBytes(next) - versionBytes(playlist.spec);
  return { annotations: buildAnnotation(after), more: grown + after.reduce((sum, size) => sum + size, 0) - total };
}
