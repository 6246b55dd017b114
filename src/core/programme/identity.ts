/** Names a list by its content, so that what played can be found again once its stream plays something else. Pure: no I/O, no clock. */
import { createHash } from 'node:crypto';
import type { Playing, Track } from '../resources/stream/playing.ts';

/** Objects with the same members are written in the same way, whatever the order of these. */
const sortMembers = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** Returns the name of a list that is played with a seed: the same for the same content. */
export const identifyTrack = (track: Track, seed: number): string =>
  createHash('sha256').update(JSON.stringify({ seed, track }, sortMembers)).digest('hex').slice(0, 32);

/** A list as it was played: the content that a fact names by its hash. */
export interface PlayedList {
  seed: number;
  track: Track;
}

/** Returns the lists of a program by their names; none without a program. */
export function identifyLists(
  program: (Pick<Playing, 'video' | 'audio'> & { seed: number }) | undefined,
): [string, PlayedList][] {
  const { video, audio, seed = 0 } = program ?? {};
  return [video, audio].flatMap((track) => (track ? [[identifyTrack(track, seed), { seed, track }]] : []));
}
