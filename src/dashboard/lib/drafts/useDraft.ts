import { useCallback, useState } from 'react';
import { useDrafts } from './context.tsx';

/**
 * A state that the tab keeps under `name`, for a page that is shown when the account is known. `parse` makes the first state
 * of whatever is kept. `forget` removes the draft from the tab and leaves the state.
 */
export function useDraft<Draft>(name: string, parse: (stored: unknown) => Draft) {
  const { read, write } = useDrafts();
  const [draft, setDraft] = useState(() => parse(read(name)));
  const change = useCallback(
    (next: (before: Draft) => Draft) =>
      setDraft((before) => {
        const after = next(before);
        write(name, after);
        return after;
      }),
    [name, write],
  );
  const forget = useCallback(() => write(name, undefined), [name, write]);
  return { draft, change, forget };
}
