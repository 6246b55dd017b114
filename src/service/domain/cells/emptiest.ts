/** Chooses the namespace of a new account. Pure: no I/O, no clock. */

export interface CellLoad {
  namespace: string;
  streams: number;
  accounts: number;
}

/**
 * Returns the namespace with the fewest streams; among equals, the one with the fewest accounts, then the first. It counts streams,
 * not those on air: how many are on air changes with the hour, and each stream may go on air. Accounts spread sign-ups that come
 * before any stream does. Returns undefined for an empty list.
 */
export const findEmptiest = (cells: readonly CellLoad[]): string | undefined =>
  cells.toSorted((a, b) => a.streams - b.streams || a.accounts - b.accounts)[0]?.namespace;
