/**
 * Applies batches of changes to the items of a playlist, and computes the batch between two lists. Each change applies to the
 * result of the one before it. Pure: no I/O, no clock.
 */
import { type Static, type TProperties, Type } from 'typebox';
import { MAX_ITEMS } from '../../../core/resources/playlist/spec.ts';

export const Item = Type.Object(
  { uploadObjectID: Type.String({ minLength: 1, maxLength: 253, description: 'objectID of an upload.' }) },
  { title: 'PlaylistItem', additionalProperties: false },
);
export type Item = Static<typeof Item>;

const index = (description: string) => Type.Integer({ minimum: 0, maximum: MAX_ITEMS, description });
const items = Type.Array(Item, { minItems: 1, maxItems: MAX_ITEMS });

export const CHANGES = {
  insert: {
    index: Type.Optional(index('Position of the first inserted item, from 0. Defaults to the end.')),
    items,
  },
  remove: {
    index: index('Position of the first item to remove, from 0.'),
    count: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_ITEMS, description: 'Number of items to remove. Defaults to 1.' }),
    ),
  },
  move: { from: index('Current position of the item, from 0.'), to: index('New position of the item, from 0.') },
  replace: { index: index('Position of the first item to replace, from 0.'), items },
};

const change = <Op extends keyof typeof CHANGES, Fields extends TProperties>(op: Op, fields: Fields) =>
  Type.Object({ op: Type.Enum([op] as const), ...fields }, { additionalProperties: false });

export const ItemChange = Type.Union(
  [
    change('insert', CHANGES.insert),
    change('remove', CHANGES.remove),
    change('move', CHANGES.move),
    change('replace', CHANGES.replace),
  ],
  { title: 'PlaylistChange' },
);
export type ItemChange = Static<typeof ItemChange>;

/** Reports a change that the list has no place for. `path` is relative to the change, e.g. `/index`. */
export class OutOfList extends Error {
  readonly at: number;
  readonly path: string;

  constructor(at: number, path: string, message: string) {
    super(message);
    this.at = at;
    this.path = path;
  }
}

/** Returns a new list with all changes. Throws OutOfList at the first change that does not apply. */
export function applyChanges(before: readonly Item[], changes: readonly ItemChange[]): Item[] {
  const list = [...before];
  changes.forEach((change, at) => {
    const within = (path: string, value: number, last: number): number => {
      if (value <= last) return value;
      const most =
        last < 0 ? 'is out of range: the list is empty' : `must be ${last} or less after the changes before it`;
      throw new OutOfList(at, path, most);
    };
    if (change.op === 'insert') {
      list.splice(within('/index', change.index ?? list.length, list.length), 0, ...change.items);
      if (list.length > MAX_ITEMS)
        throw new OutOfList(at, '/items', `would make the list longer than ${MAX_ITEMS} items`);
    } else if (change.op === 'move') {
      const [moved] = list.splice(within('/from', change.from, list.length - 1), 1);
      if (moved) list.splice(within('/to', change.to, list.length), 0, moved);
    } else {
      const { op, index } = change;
      const count = op === 'remove' ? (change.count ?? 1) : change.items.length;
      within('/index', index, list.length - 1);
      within(op === 'remove' ? '/count' : '/items', count, list.length - index);
      list.splice(index, count, ...(op === 'replace' ? change.items : []));
    }
  });
  return list;
}

/** Computes the changes from one list to another, with as few insertions and removals as possible. */
export function changesBetween(from: readonly Item[], to: readonly Item[]): ItemChange[] {
  const same = (i: number, j: number) => from[i]?.uploadObjectID === to[j]?.uploadObjectID;
  // Longest common subsequence of the remaining items (Wagner and Fischer 1974); 500 by 500 at most.
  const length = Array.from({ length: from.length + 1 }, () => new Uint16Array(to.length + 1));
  const at = (i: number, j: number): number => length[i]?.[j] ?? 0;
  for (let i = from.length - 1; i >= 0; i -= 1)
    for (let j = to.length - 1; j >= 0; j -= 1) {
      const row = length[i] as Uint16Array;
      row[j] = same(i, j) ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  const changes: ItemChange[] = [];
  let i = 0;
  // `j` is also the position of the next item in the list under change.
  let j = 0;
  while (i < from.length || j < to.length) {
    if (i < from.length && j < to.length && same(i, j)) {
      i += 1;
      j += 1;
    } else if (i < from.length && at(i + 1, j) >= at(i, j + 1)) {
      const last = changes.at(-1);
      if (last?.op === 'remove' && last.index === j) last.count = (last.count ?? 1) + 1;
      else changes.push({ op: 'remove', index: j, count: 1 });
      i += 1;
    } else {
      const item = to[j] as Item;
      const last = changes.at(-1);
      if (last?.op === 'insert' && last.index !== undefined && last.index + last.items.length === j)
        last.items.push(item);
      else changes.push({ op: 'insert', index: j, items: [item] });
      j += 1;
    }
  }
  return changes;
}
