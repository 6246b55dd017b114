import { useEffect, useState } from 'react';
import { sharedStorage } from '../../lib/tabStorage.ts';

export type ListView = 'cards' | 'table';

const VIEW_KEY = 'loopstream.streams.view';
const COUNT_KEY = 'loopstream.streams.count';
/** A screen of cards. More of them are found sooner in a table. */
const MOST_CARDS = 24;

const readChosen = (): ListView | undefined => {
  const chosen = sharedStorage.getItem(VIEW_KEY);
  return chosen === 'cards' || chosen === 'table' ? chosen : undefined;
};
const readCount = (): number | undefined => Number(sharedStorage.getItem(COUNT_KEY)) || undefined;

interface Counted {
  /** Undefined until it is known. */
  count: number | undefined;
  /** A search or a state hides some. */
  isFiltered: boolean;
}

/**
 * Cards for a few streams and a table for many, until somebody chooses. A search changes nothing about that: the number of all streams
 * counts, as it was last known in this browser.
 */
export function useListView({ count, isFiltered }: Counted): { view: ListView; choose: (view: ListView) => void } {
  const [chosen, setChosen] = useState(readChosen);
  const [known, setKnown] = useState(readCount);
  useEffect(() => {
    if (isFiltered || count === undefined) return;
    sharedStorage.setItem(COUNT_KEY, String(count));
    setKnown(count);
  }, [count, isFiltered]);
  const choose = (view: ListView) => {
    sharedStorage.setItem(VIEW_KEY, view);
    setChosen(view);
  };
  const all = isFiltered ? (known ?? count) : (count ?? known);
  return { view: chosen ?? ((all ?? 0) > MOST_CARDS ? 'table' : 'cards'), choose };
}
