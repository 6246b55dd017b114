/** Shows the cards of a long list in parts. A part that is far from the screen is an empty place of the same height. */
import { memo, useRef } from 'react';
import type { Stream } from '../../api/api.ts';
import { useNear } from '../../ui/useNear.ts';
import { StreamCard } from './card.tsx';
import classes from './listPage.module.css';
import type { RowCalls } from './rowActs.tsx';

/** Fills whole rows of 1, 2, 3, 4, 6 and 8 cards, and a screen. The parts after the first one come a frame later. */
const PART = 24;
/** Two screens of a desk. */
const NEAR_PX = 1800;
/** The height of a whole part when one was last on screen. */
const guess = { height: 0 };

interface StreamGridProps {
  streams: readonly Stream[];
  destinations: ReadonlyMap<string, string>;
  calls: RowCalls;
}

interface PartProps extends StreamGridProps {
  isFirst: boolean;
}

const hasSameCards = (before: PartProps, now: PartProps): boolean =>
  before.destinations === now.destinations &&
  before.calls === now.calls &&
  before.streams.length === now.streams.length &&
  before.streams.every((stream, i) => stream === now.streams[i]);

/** Memoized by its streams: a change of one of thousands renders one part. */
const Part = memo(function Part({ streams, isFirst, ...card }: PartProps) {
  const list = useRef<HTMLUListElement>(null);
  const height = useNear(list, { isFirst, size: PART, guess, nearPx: NEAR_PX });
  return (
    <ul ref={list} className={classes.grid} aria-label="Streams" style={height === undefined ? undefined : { height }}>
      {height === undefined &&
        streams.map((stream) => (
          <li key={stream.id}>
            <StreamCard stream={stream} {...card} />
          </li>
        ))}
    </ul>
  );
}, hasSameCards);

export const StreamGrid = memo(function StreamGrid({ streams, ...card }: StreamGridProps) {
  const parts = Array.from({ length: Math.ceil(streams.length / PART) }, (_, i) => i * PART);
  return parts.map((start) => (
    <Part key={start} streams={streams.slice(start, start + PART)} isFirst={start === 0} {...card} />
  ));
});
