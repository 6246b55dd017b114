import { useCallback, useMemo, useRef, useState } from 'react';
import type { Stream } from '../../api/api.ts';

const NONE: ReadonlySet<string> = new Set();

/** The streams of a list that are ticked. One that leaves the list, or that a search hides, is not among them. */
export function useSelection(streams: readonly Stream[]) {
  const [ids, setIds] = useState(NONE);
  const shown = useRef(streams);
  shown.current = streams;
  /** Ticked last: with the shift key, all between it and the next one follow. */
  const last = useRef<string>(undefined);
  const selected = useMemo(() => streams.filter(({ id }) => ids.has(id)), [streams, ids]);
  const toggle = useCallback((id: string, withRange: boolean) => {
    const all = shown.current.map((stream) => stream.id);
    const [from, to] = [all.indexOf(last.current ?? id), all.indexOf(id)].sort((a, b) => a - b);
    last.current = id;
    setIds((before) => {
      const next = new Set(before);
      const isOn = !before.has(id);
      const range = withRange && from !== undefined && from >= 0 && to !== undefined ? all.slice(from, to + 1) : [id];
      for (const one of range)
        if (isOn) next.add(one);
        else next.delete(one);
      return next;
    });
  }, []);
  const select = useCallback((wanted: readonly string[]) => setIds(new Set(wanted)), []);
  const toggleAll = useCallback(
    () =>
      setIds((before) => {
        const all = shown.current.map(({ id }) => id);
        return all.every((id) => before.has(id)) ? NONE : new Set(all);
      }),
    [],
  );
  return { ids, selected, toggle, toggleAll, select };
}
