/** Lists the items of a track with those of its rules. Pure: no I/O, no clock. */

interface WithItems<T> {
  items: readonly T[];
  rules?: readonly { items: readonly T[] }[];
}

/** All items of a track, those of its rules behind its own. */
export const listTrackItems = <T>({ items, rules = [] }: WithItems<T>): T[] => [
  ...items,
  ...rules.flatMap((rule) => rule.items),
];
