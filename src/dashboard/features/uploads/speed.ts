/** How fast bytes go, and how long the rest of them takes. Pure: no I/O, no clock. */

export interface Sample {
  /** Milliseconds since the Unix epoch. */
  at: number;
  bytes: number;
}

/** An older sample says nothing of how fast it is now. */
const WINDOW_MS = 6000;
/** Of less time nothing can be told. */
const LEAST_MS = 500;

/** The samples with one more, and without those that are too old. */
export const withSample = (samples: readonly Sample[], sample: Sample): Sample[] => [
  ...samples.filter(({ at }) => sample.at - at <= WINDOW_MS),
  sample,
];

/** Bytes a second; undefined until enough is known. */
export function computeSpeed(samples: readonly Sample[]): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.at - first.at < LEAST_MS) return undefined;
  return ((last.bytes - first.bytes) * 1000) / (last.at - first.at);
}

/** Seconds; undefined where that would be never. */
export const secondsLeft = (bytesLeft: number, speed: number | undefined): number | undefined =>
  speed && speed > 0 ? bytesLeft / speed : undefined;
