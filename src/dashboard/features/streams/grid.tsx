/** Shows the cards of a long list in parts. A part that is far from the screen is an empty place of the same height. */
import { memo, useEffect, useRef, useState } from 'react';
import type { Stream } from '../../api/api.ts';
import { StreamCard } from './card.tsx';
import classes from './listPage.module.css';

/** Fills whole rows of 1, 2, 3, 4, 6 and 8 cards. */
const PART = 48;
/** Distance to the screen at which cards are there: two screens of a desk. */
const NEAR = '1800px 0px';

interface StreamGridProps {
  streams: readonly Stream[];
  destinations: ReadonlyMap<string, string>;
}

function Part({ streams, destinations }: StreamGridProps) {
  const list = useRef<HTMLUListElement>(null);
  /** The height of a part that is far away; undefined while it shows its cards. */
  const [height, setHeight] = useState<number>();
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const last = entries.at(-1);
        if (last?.isIntersecting) setHeight(undefined);
        // A card with the focus stays.
        else if (last && !element.contains(document.activeElement))
          setHeight((before) => before ?? last.boundingClientRect.height);
      },
      { rootMargin: NEAR },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <ul ref={list} className={classes.grid} aria-label="Streams" style={height === undefined ? undefined : { height }}>
      {height === undefined &&
        streams.map((stream) => (
          <li key={stream.id}>
            <StreamCard stream={stream} destinations={destinations} />
          </li>
        ))}
    </ul>
  );
}

export const StreamGrid = memo(function StreamGrid({ streams, destinations }: StreamGridProps) {
  const parts = Array.from({ length: Math.ceil(streams.length / PART) }, (_, i) => i * PART);
  return parts.map((start) => (
    <Part key={start} streams={streams.slice(start, start + PART)} destinations={destinations} />
  ));
});
