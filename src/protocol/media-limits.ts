/**
 * Reads the limits of the media that accounts bring. The operator hands its settings on to its Jobs. Preparation costs processor time by
 * the seconds of output and by the pixels that are decoded, so these are bounded. A gap between two frames is not refused for its own
 * sake: slide shows and cameras with still pictures have long ones. Pure: no I/O, no clock.
 */
import { type Env, reader, variable } from '../settings/settings.ts';

const NAMES = {
  durationSeconds: 'MAX_DURATION_SECONDS',
  secondsPerKilobyte: 'MAX_SECONDS_PER_KILOBYTE',
  frames: 'MAX_FRAMES',
  pixels: 'MAX_PIXELS',
  gigapixels: 'MAX_GIGAPIXELS',
  gapSeconds: 'MAX_GAP_SECONDS',
  sampleRate: 'MAX_SAMPLE_RATE',
  channels: 'MAX_CHANNELS',
  tracks: 'MAX_TRACKS',
  probeSeconds: 'MAX_PROBE_SECONDS',
} as const;

type Name = keyof typeof NAMES;
export type MediaLimits = Readonly<Record<Name, number>>;

const ROWS = Object.entries(NAMES) as [Name, (typeof NAMES)[Name]][];

/** Throws ConfigError. */
export const mediaLimits = (env: Env): MediaLimits =>
  Object.freeze(Object.fromEntries(ROWS.map(([name, setting]) => [name, reader(env).integer(setting)]))) as MediaLimits;

/** Of an installation that sets none. */
export const DEFAULT_LIMITS = mediaLimits({});

/** The environment that mediaLimits() reads the same limits from. */
export const mediaLimitsEnv = (limits: MediaLimits) =>
  ROWS.map(([name, setting]) => ({ name: variable(setting), value: String(limits[name]) }));
