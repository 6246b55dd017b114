/** Translates between the type that clients see of an upload and the kind of the resource. Pure: no I/O, no clock. */
import { SENTENCES } from '../../../core/lib/sentences.ts';
import type { UploadSpec } from '../../../core/resources/upload/spec.ts';

export const UPLOAD_TYPES = ['VIDEO', 'AUDIO', 'IMAGE'] as const;
type Type = (typeof UPLOAD_TYPES)[number];

export const showType = (track: UploadSpec['track']): Type => track.toUpperCase() as Type;
export const readType = (type: Type): UploadSpec['track'] => type.toLowerCase() as UploadSpec['track'];

/** The message about a reference to an upload that has no pictures to play. */
export const describeWrongType = (track: UploadSpec['track']): string =>
  track === 'image' ? `names an upload that ${SENTENCES.imageIsNoItem}` : 'names an upload of type AUDIO';
