import { type RefObject, useEffect, useState } from 'react';

interface Part {
  /** The part is there from the beginning, without a look at where it is. */
  isFirst: boolean;
  /** Its number of children while it is there. A part with fewer has another height. */
  size: number;
  /** Distance to the screen at which it is there. */
  nearPx: number;
  /** The best guess of its height before it was there. */
  guess: { height: number };
}

/**
 * Returns undefined while a part of a long list is near the screen, and its height while it is far away, so that an empty place can stand
 * for it.
 */
export function useNear(
  element: RefObject<HTMLElement | null>,
  { isFirst, size, nearPx, guess }: Part,
): number | undefined {
  const [height, setHeight] = useState(isFirst ? undefined : guess.height);
  useEffect(() => {
    const part = element.current;
    if (!part) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const last = entries.at(-1);
        if (!last) return;
        if (part.childElementCount === size) guess.height = last.boundingClientRect.height;
        if (last.isIntersecting) setHeight(undefined);
        // A part that has the focus stays.
        else if (!part.contains(document.activeElement))
          setHeight((before) => before ?? last.boundingClientRect.height);
      },
      { rootMargin: `${nearPx}px 0px` },
    );
    observer.observe(part);
    return () => observer.disconnect();
  }, [element, size, nearPx, guess]);
  return height;
}
