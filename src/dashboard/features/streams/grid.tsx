/** Shows the cards of a long list in parts. A part that is far from the screen is an empty place of the same height. */
import { memo, useEffect, useRef, useState } from 'react';
import type { Stream } from '../../api/api.ts';
import { StreamCard } from './card.tsx';
import classes from './listPage.module.css';

/** Fills whole rows of 1, 2, 3, 4, 6 and 8 cards, and a screen. The parts after the first one come a frame later. */
const PART = 24;
/** Distance to the screen at which cards are there: two screens of a desk. */
const NEAR = '1800px 0px';

/** The height of a whole part when one was last on screen: the best guess for parts that were not there yet. */
let wholeHeight = 0;

interface StreamGridProps {
  streams: readonly Stream[];
  destinations: ReadonlyMap<string, string>;
}

interface PartProps extends StreamGridProps {
  isFirst: boolean;
}

const hasSameCards = (before: PartProps, now: PartProps): boolean =>
  before.destinations === now.destinations &&
  before.streams.length === now.streams.length &&
  before.streams.every((stream, i) => stream === now.streams[i]);

/** Memoized by its streams: a change of one of thousands renders one part. */
const Part = memo(function Part({ streams, destinations, isFirst }: PartProps) {
  const list = useRef<HTMLUListElement>(null);
  /** The height of a part that is far away; undefined while it shows its cards. */
  const [height, setHeight] = useState(isFirst ? undefined : wholeHeight);
  useEffect(() => {
    const element = list.current;
    if (!element) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const last = entries.at(-1);
        if (!last) return;
        if (element.childElementCount === PART) wholeHeight = last.boundingClientRect.height;
        if (last.isIntersecting) setHeight(undefined);
        // A card with the focus stays.
        else if (!element.contains(document.activeElement))
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
}, hasSameCards);

export const StreamGrid = memo(function StreamGrid({ streams, destinations }: StreamGridProps) {
  const parts = Array.from({ length: Math.ceil(streams.length / PART) }, (_, i) => i * PART);
  return parts.map((start) => (
    <Part key={start} streams={streams.slice(start, start + PART)} destinations={destinations} isFirst={start === 0} />
  ));
});
