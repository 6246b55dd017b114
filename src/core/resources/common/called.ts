/** Names objects in the sentences that people read. Pure: no I/O, no clock. */

export type CalledNoun = 'stream' | 'upload' | 'playlist' | 'destination' | 'scene';

/** Names that the API makes for its objects: they tell a person nothing. */
const MADE_NAME = /^(?:str|upl|pls|dst|scn)-[0-9a-z]{26}$/;

export const isMadeName = (name: string): boolean => MADE_NAME.test(name);

/**
 * `upload "Film.mp4"`, by the title that people gave it. The object's own name stands beside the title where a person chose it.
 * Without a title it stands alone, or the object is `the upload` where only the API knows its name.
 */
export function callObject(noun: CalledNoun, name: string, title?: string): string {
  const own = isMadeName(name) ? undefined : name;
  if (title === undefined || title === '' || title === name)
    return own === undefined ? `the ${noun}` : `${noun} "${own}"`;
  return own === undefined ? `${noun} "${title}"` : `${noun} "${title}" (${own})`;
}

/** Names in one sentence; more are counted. */
const MAX_NAMED = 5;
const LIST = new Intl.ListFormat('en-GB', { type: 'conjunction' });

/** `"Night fireplace", "Aquarium" and 3 more`, by the titles that people gave. An object without one has its own name. */
export function callAll(objects: readonly { metadata: { name: string }; spec: { displayName?: string } }[]): string {
  const names = objects.slice(0, MAX_NAMED).map(({ metadata, spec }) => `"${spec.displayName || metadata.name}"`);
  const more = objects.length - names.length;
  return LIST.format(more > 0 ? [...names, `${more} more`] : names);
}

/** Begins a sentence with it. */
export const beginWith = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

/** A place of a list, as people count: `clip 3 of the playlist "Evenings"`, for the index 2. */
export function callPlace(index: number, playlist: string, title?: string): string {
  const called = callObject('playlist', playlist, title);
  return `clip ${index + 1} of ${called.startsWith('the ') ? called : `the ${called}`}`;
}
