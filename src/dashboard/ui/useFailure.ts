import { useRef } from 'react';

/**
 * Returns why a query has no data, null where it has some. While a query is asked again, it has no error itself: a page that showed that
 * one would blink with each poll, under the button that someone is about to press.
 */
export function useFailure<Failed>(data: unknown, error: Failed | null): Failed | null {
  const last = useRef<Failed>(null);
  if (data !== undefined) last.current = null;
  else if (error !== null) last.current = error;
  return last.current;
}
