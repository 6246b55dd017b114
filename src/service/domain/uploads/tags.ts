/** Reads the words of an owner about a piece: title, artist, rights. Pure: no I/O, no clock. */

import { SENTENCES } from '../../../core/lib/sentences.ts';
import { cleanTag, type MediaTags, TAG_NAMES, type TagName } from '../../../core/resources/upload/tags.ts';
import { validationFailed } from '../../lib/errors.ts';
import type { GivenTags } from './record.ts';

/** Tags by their names; null takes one out of the resource. */
type TagChanges = Partial<Record<TagName, string | null>>;

const MISTAKES: Readonly<Partial<Record<TagName, string>>> = { isrc: SENTENCES.isrc, licenseUrl: SENTENCES.licenseUrl };

/** Returns the tags that a client gives; undefined where it gives none. Throws `validation_failed` for what is no such value. */
export function readTags(given: GivenTags): TagChanges | undefined {
  const stated = TAG_NAMES.filter((name) => given[name] !== undefined);
  const tags = stated.map((name) => {
    const text = given[name]?.trim() ?? '';
    const value = text === '' ? null : (cleanTag(name, text) ?? null);
    const message = MISTAKES[name];
    if (text !== '' && value === null && message !== undefined) throw validationFailed([{ path: `/${name}`, message }]);
    return [name, value];
  });
  return tags.length > 0 ? Object.fromEntries(tags) : undefined;
}

/** Returns the tags of a new upload. */
export const dropNulls = (tags: TagChanges): MediaTags =>
  Object.fromEntries(Object.entries(tags).filter(([, value]) => value !== null));

/** Whether changes would write anything. */
export const changesTags = (tags: MediaTags | undefined, changes: TagChanges): boolean =>
  TAG_NAMES.some((name) => changes[name] !== undefined && changes[name] !== (tags?.[name] ?? null));
