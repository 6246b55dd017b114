/**
 * Reads the limits of the media that accounts bring. The operator hands its settings on to its Jobs. Preparation costs processor time by
 * the seconds of output and by the pixels that are decoded, so these are bounded. A gap between two frames is not refused for its own
 * sake: slide shows and cameras with still pictures have long ones. Pure: no I/O, no clock.
 */
import { type Env, reader, variable } from '../settings/settings.ts';

/** Limits that an installation may set. */
const NAMES = {
  durationSeconds: 'MAX_DURATION_SECONDS',
  pixels: 'MAX_PIXELS',
  probeSeconds: 'MAX_PROBE_SECONDS',
} as const;

const FIXED = {
  /**
   * Seconds of output that each 1000 bytes may produce, beyond the first ten minutes. A silent slide show of one colour with a frame every
   * ten seconds has 1.6 bytes a second (620 s for each 1000 bytes), sound at 6 kbit/s 750 (1.3 s for each 1000 bytes).
   */
  secondsPerKilobyte: 1000,
  /** Packets of one track: 24 hours of 120 frames a second have 10.4 million. */
  frames: 12_000_000,
  /** Frames times pixels, in 10^9: ten hours of 8K at 60 frames a second have 76,000. */
  gigapixels: 100_000,
  /** Seconds from one frame to the next: a title that stands for an hour is media, a month is a broken clock. */
  gapSeconds: 7200,
  /** Samples of sound a second: studios record up to 768 kHz. */
  sampleRate: 768_000,
  /** Channels of sound. */
  channels: 64,
  /** Tracks of any kind, with subtitles and attached fonts. */
  tracks: 256,
};

type Name = keyof typeof NAMES;
export type MediaLimits = Readonly<Record<Name | keyof typeof FIXED, number>>;

const ROWS = Object.entries(NAMES) as [Name, (typeof NAMES)[Name]][];

/** Throws ConfigError. */
export const mediaLimits = (env: Env): MediaLimits => {
  const { integer } = reader(env);
  const read = Object.fromEntries(ROWS.map(([name, setting]) => [name, integer(setting)])) as Record<Name, number>;
  return Object.freeze({ ...FIXED, ...read });
};

/** Of an installation that sets none. */
export const DEFAULT_LIMITS = mediaLimits({});

/** The environment that mediaLimits() reads what an installation sets from. */
export const mediaLimitsEnv = (limits: MediaLimits) =>
  ROWS.map(([name, setting]) => ({ name: variable(setting), value: String(limits[name]) }));
