/** Media that people loop for hours, and ways in which servers show them: no part of it is a fault. */
import { CHANGES, makeFilm } from './synthetic.ts';
import type { Series } from './watch-series.ts';

const MINUTE = 60_000;
const movie = makeFilm(11);
const black = new Uint8Array(576).fill(16);
const slate = makeFilm(13).at(0);

const withSlates = (timeMs: number): Uint8Array => {
  const part = timeMs % (4 * MINUTE);
  if (part < 2 * MINUTE) return movie.at(timeMs);
  return part < 3 * MINUTE ? slate : black;
};

export const LONG_SERIES: Readonly<Record<string, Omit<Series, 'lengthMs'>>> = {
  'a film': { film: movie.at },
  'a short loop': { film: (timeMs) => movie.at(timeMs % 20_000) },
  'a still': { film: () => slate },
  'a black film': { film: () => black },
  slides: { film: (timeMs) => movie.at(Math.floor(timeMs / 30_000) * 30_000) },
  'a film with slates and black parts': { film: withSlates },
  'a delay of a minute': { film: withSlates, delayMs: 60_000 },
  'segments of ten seconds': { film: withSlates, segmentMs: 10_000, delayMs: 30_000 },
  'segments of two seconds without times': { film: withSlates, segmentMs: 2_000, hasTimes: false },
  'single fetches that fail, and segments that come late': { film: withSlates, loss: 0.02, jitterMs: 5_000 },
  'keyframes of the platform, a logo and another curve of brightness': {
    film: withSlates,
    phaseMs: 900,
    change: (luma) => CHANGES.logo(CHANGES.gamma(luma)),
  },
  'no pictures of our own': { film: withSlates, hasOwnPictures: false },
};
