/** Tells screen readers what changed, in one polite live region for the whole page. */
import { VisuallyHidden } from '@mantine/core';
import { createContext, type ReactNode, use, useCallback, useEffect, useRef, useState } from 'react';

const AnnounceContext = createContext<(text: string) => void>(() => undefined);

export function Announcer({ children }: { children: ReactNode }) {
  const [text, setText] = useState('');
  const announce = useCallback((next: string) => setText(next), []);
  return (
    <AnnounceContext value={announce}>
      {children}
      <VisuallyHidden role="status" aria-live="polite">
        {text}
      </VisuallyHidden>
    </AnnounceContext>
  );
}

/** Says `text` whenever it changes. The first text is on the page already and is not said. */
export function useAnnounceChange(text: string): void {
  const announce = use(AnnounceContext);
  const before = useRef(text);
  useEffect(() => {
    if (before.current === text) return;
    before.current = text;
    announce(text);
  }, [announce, text]);
}
