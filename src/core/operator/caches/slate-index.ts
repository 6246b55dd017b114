/** Indexes the streams with a slate of their own. Streams without are in no index here, and cost nothing. */
import { PROFILES } from '../../resources/stream/profile.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { slateProfile } from '../../resources/upload/slate.ts';
import { findHold, findProfile } from '../media/items.ts';
import { joinKey } from '../runtime/controller.ts';

/** Streams by the upload of their slate, and by what they ask of it. */
export const BY_SLATE = 'slate';

const ask = (uploadKey: string, profile: string): string => `${uploadKey} ${profile}`;

/** Keys of the uploads that a stream has its slate from: one, or none. */
export const listSlateKeys = ({ metadata, spec }: LoopStream): string[] =>
  spec.slate && metadata.deletionTimestamp === undefined ? [joinKey(metadata.namespace, spec.slate.uploadName)] : [];

/** Values of the index for a stream. One that may not go on air asks for nothing. */
export const listSlateReferences = (stream: LoopStream): string[] =>
  listSlateKeys(stream).flatMap((key) => [key, ...(findHold(stream) ? [] : [ask(key, findProfile(stream))])]);

interface SlateStreams {
  streams: { has(index: string, value: string): boolean };
}

/** Profiles of the slates that streams ask of an upload. It takes as long for one stream as for ten thousand. */
export const listSlatesAsked = ({ streams }: SlateStreams, uploadKey: string): string[] =>
  PROFILES.filter((profile) => streams.has(BY_SLATE, ask(uploadKey, profile))).map(slateProfile);
