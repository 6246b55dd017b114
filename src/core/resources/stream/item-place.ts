/**
 * Finds the places of a program's items, and which items are left out. The types of playing.ts stay apart: a streamer loads this file, and the
 * library that declares them would take 3 MiB of each. Pure: no I/O, no clock.
 */
import type { ProgramItem, Track } from './playing.ts';

/** Whether an item keeps a place without being played. */
export const isLeftOut = ({ rendition }: ProgramItem): boolean => rendition === '';

export interface Place {
  /** Null for a single upload. */
  playlistID: string | null;
  /** Place in the playlist, from 0. */
  index: number;
}

/** Finds the position in its own playlist of the item with this index in a track. */
export function findPlace(lists: Track['lists'], index: number): Place {
  let first = 0;
  for (const { id, items } of lists ?? []) {
    if (index < first + items) return { playlistID: id, index: index - first };
    first += items;
  }
  return { playlistID: null, index };
}
