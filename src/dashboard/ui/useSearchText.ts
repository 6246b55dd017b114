/** Follows the text of a search: in the field, in the search, and in the address. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { parseSearchText } from './searchText.ts';

/** Between two searches while somebody types. Most people type slower than that, so each key is searched for at once. */
const SEARCH_MS = 100;
/** Typing is over when nothing was typed for this long; then the address changes. */
const TYPED_MS = 250;

/** The value, which changes at most once in `ms`: at once after a pause. */
function useThrottled<T>(value: T, ms: number): T {
  const [shown, setShown] = useState(value);
  const changedAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    if (value === shown) return;
    const change = () => {
      changedAt.current = performance.now();
      setShown(value);
    };
    const wait = changedAt.current + ms - performance.now();
    if (wait <= 0) return change();
    const timer = setTimeout(change, wait);
    return () => clearTimeout(timer);
  }, [value, shown, ms]);
  return shown;
}

/** The text stands in the address, so that it can be kept, sent, and gone back to. */
export function useSearchText() {
  const { q = '' } = useSearch({ strict: false });
  const navigate = useNavigate();
  const [typed, setTyped] = useState(q);
  const wanted = parseSearchText(typed) ?? '';
  const sought = useThrottled(wanted, SEARCH_MS);
  /** Our own words on their way to the address. They come back a moment later, when more may have been typed. */
  const written = useRef<string[]>([]);
  const lastQuery = useRef(q);
  useEffect(() => {
    if (q === lastQuery.current) return;
    lastQuery.current = q;
    const ours = written.current.indexOf(q);
    if (ours < 0) return setTyped(q);
    written.current = written.current.slice(ours + 1);
  }, [q]);
  useEffect(() => {
    if (wanted === q) return;
    const timer = setTimeout(() => {
      written.current.push(wanted);
      void navigate({ to: '.', search: (before) => ({ ...before, q: wanted || undefined }), replace: true });
    }, TYPED_MS);
    return () => clearTimeout(timer);
  }, [wanted, q, navigate]);
  return { wanted, sought, typed, setTyped };
}
