/**
 * Groups items, such as the streams of each account, and keeps each group in ascending order while items come and go.
 * Nothing is ever sorted: a binary search finds the place of a new item. Pure: no I/O, no clock.
 */
import { find, type ListPlace } from './connection.ts';

export interface Groups<T> {
  /** Ascending; the group itself and no copy, so it is to be read at once and not to be changed. */
  get(group: string): readonly T[];
  /**
   * A creation has no `previous`, a deletion no `current`. With both it is the same thing, whose place stays: only its group
   * may be another one.
   */
  change(current: T | undefined, previous: T | undefined): void;
}

/** An item without a group is left out. */
export function createGroups<T>(
  findGroup: (item: T) => string | undefined,
  getPlace: (item: T) => ListPlace,
): Groups<T> {
  const groups = new Map<string, T[]>();

  const put = (group: string, item: T): void => {
    const items = groups.get(group);
    if (!items) return void groups.set(group, [item]);
    const { index, isThere } = find(items, getPlace(item), getPlace);
    items.splice(index, isThere ? 1 : 0, item);
  };

  const take = (group: string, item: T): void => {
    const items = groups.get(group) ?? [];
    const { index, isThere } = find(items, getPlace(item), getPlace);
    if (isThere) items.splice(index, 1);
    if (items.length === 0) groups.delete(group);
  };

  return {
    get: (group) => groups.get(group) ?? [],
    change(current, previous) {
      const [to, from] = [current && findGroup(current), previous && findGroup(previous)];
      if (previous && from !== undefined && from !== to) take(from, previous);
      if (current && to !== undefined) put(to, current);
    },
  };
}
