/**
 * Keeps the filtered and sorted lists that clients asked for lately, and changes them with each object, so that a list costs the same with
 * a filter as without. A list that nobody asks for makes room for others. Pure: no I/O, no clock.
 */
import { find, inOrder, type ListPlace } from './connection.ts';

/** Lists that are kept, of all accounts together: of 10,000 objects, one takes at most 80 kB. */
const MAX_VIEWS = 128;

export interface ViewOptions<T> {
  holds: (item: T) => boolean;
  place: (item: T) => ListPlace;
  /** True for an item whose place in the view changes with time alone. A view is not kept while there is one. */
  isTimed: (item: T) => boolean;
}

interface View<T> extends ViewOptions<T> {
  items: T[];
}

export interface Views<T> {
  /** Returns the items of `all` that the view holds, ascending; to be read at once and not to be changed. `key` names the options. */
  read(group: string, key: string, all: readonly T[], options: ViewOptions<T>): readonly T[];
  /** Takes a change of an item into all views of its group. */
  change(current: T | undefined, previous: T | undefined): void;
}

export function createViews<T>(findGroup: (item: T) => string | undefined, most = MAX_VIEWS): Views<T> {
  /** The views of each group by their keys, and all of them in the order of their last use. */
  const groups = new Map<string, Map<string, View<T>>>();
  const byUse = new Map<View<T>, { group: string; key: string }>();

  const forget = (view: View<T>): void => {
    const { group = '', key = '' } = byUse.get(view) ?? {};
    byUse.delete(view);
    const views = groups.get(group);
    views?.delete(key);
    if (views?.size === 0) groups.delete(group);
  };

  const take = ({ items, place }: View<T>, item: T): void => {
    const { index, isThere } = find(items, place(item), place);
    if (isThere) items.splice(index, 1);
  };

  const insert = (view: View<T>, item: T): void => {
    const { index, isThere } = find(view.items, view.place(item), view.place);
    view.items.splice(index, isThere ? 1 : 0, item);
  };

  const put = (view: View<T>, item: T): void => {
    if (view.isTimed(item)) forget(view);
    else if (view.holds(item)) insert(view, item);
  };

  const viewsOf = (item: T | undefined): View<T>[] => {
    const group = item && findGroup(item);
    return group === undefined ? [] : [...(groups.get(group)?.values() ?? [])];
  };

  return {
    read(group, key, all, options) {
      const kept = groups.get(group)?.get(key);
      if (kept) {
        byUse.delete(kept);
        byUse.set(kept, { group, key });
        return kept.items;
      }
      const items = inOrder(all.filter(options.holds), options.place);
      if (all.some(options.isTimed)) return items;
      const view = { ...options, items };
      const views = groups.get(group) ?? new Map<string, View<T>>();
      groups.set(group, views.set(key, view));
      byUse.set(view, { group, key });
      const [oldest] = byUse.keys();
      if (byUse.size > most && oldest) forget(oldest);
      return items;
    },
    change(current, previous) {
      for (const view of viewsOf(previous)) if (previous && view.holds(previous)) take(view, previous);
      for (const view of viewsOf(current)) if (current) put(view, current);
    },
  };
}
