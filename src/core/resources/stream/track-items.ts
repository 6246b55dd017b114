/** Lists and changes the items of a track with those of its rules. Pure: no I/O, no clock. */

interface WithItems<T> {
  items: readonly T[];
  rules?: readonly { items: readonly T[] }[];
}

/** All items of a track, those of its rules behind its own. */
export const listTrackItems = <T>({ items, rules = [] }: WithItems<T>): T[] => [
  ...items,
  ...rules.flatMap((rule) => rule.items),
];

/** Returns the track with other items in the places of its own and those of its rules. `rule`: index of the rule that has the item. */
export function mapTrackItems<T, K extends WithItems<T>>(
  track: K & WithItems<T>,
  change: (item: T, index: number, rule?: number) => T,
): K {
  const items = track.items.map((item, index) => change(item, index));
  const rules = track.rules?.map((rule, nth) => ({
    ...rule,
    items: rule.items.map((item, index) => change(item, index, nth)),
  }));
  return { ...track, items, ...(rules && { rules }) };
}
