/** Returns a list with the item at `index` one place up or down; at its ends it stays as it is. Pure: no I/O, no clock. */
export function moveBy<T>(list: readonly T[], index: number, by: 1 | -1): T[] {
  const moved = [...list];
  moved.splice(Math.max(0, index + by), 0, ...moved.splice(index, 1));
  return moved;
}
