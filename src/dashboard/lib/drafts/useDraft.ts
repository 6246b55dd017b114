import { useCallback, useState } from 'react';
import { type Draft, draftFrom } from '../../features/create/draft.ts';
import { useDrafts } from './context.tsx';

const NAME = 'new stream';

/** For a page that is shown when it is known whose draft it is. */
export function useDraft() {
  const { read, write } = useDrafts();
  const [draft, setDraft] = useState(() => draftFrom(read(NAME)));
  const change = useCallback(
    (more: Partial<Draft>) =>
      setDraft((before) => {
        const after = { ...before, ...more };
        write(NAME, after);
        return after;
      }),
    [write],
  );
  const forget = useCallback(() => write(NAME, undefined), [write]);
  return { draft, change, forget };
}
