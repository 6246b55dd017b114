/**
 * Limits of the media that accounts bring. Each row of the table is a setting of the operator, which hands it on to its Jobs.
 * Preparation costs processor time by the seconds of output and by the pixels that are decoded, so these are bounded, and a
 * gap between two frames is not refused for its own sake: slide shows and cameras with still pictures have long ones.
 * Pure: no I/O, no clock.
 */
import { type Env, reader } from '../settings/settings.ts';

/** `setting` is the name of the environment variable without LOOPSTREAM_; `fallback` its default. */
const TABLE = {
  /** Seconds that a source may last. */
  durationSeconds: { setting: 'MAX_DURATION_SECONDS', fallback: 86_400 },
  /**
   * Seconds of output for each 1000 bytes of source, beyond the first ten minutes. A silent slide show of one colour with a
   * frame every ten seconds has 1.6 bytes a second (620 s per 1000 bytes), sound at 6 kbit/s 750 (1.3 s per 1000 bytes).
   */
  secondsPerKilobyte: { setting: 'MAX_SECONDS_PER_KILOBYTE', fallback: 1000 },
  /** Packets of one track: 24 hours of 120 frames a second have 10.4 million. */
  frames: { setting: 'MAX_FRAMES', fallback: 12_000_000 },
  /** Pixels of a picture: 8192 × 4320, the largest that cameras record and that H.264 and HEVC have levels for. */
  pixels: { setting: 'MAX_PIXELS', fallback: 8192 * 4320 },
  /** Frames times pixels, in 10^9: ten hours of 8K at 60 frames a second have 76,000. */
  gigapixels: { setting: 'MAX_GIGAPIXELS', fallback: 100_000 },
  /** Seconds from one frame to the next: a title that stands for an hour is media, a month is a broken clock. */
  gapSeconds: { setting: 'MAX_GAP_SECONDS', fallback: 7200 },
  /** Samples of sound a second; studios record up to 768 kHz. */
  sampleRate: { setting: 'MAX_SAMPLE_RATE', fallback: 768_000 },
  channels: { setting: 'MAX_CHANNELS', fallback: 64 },
  /** Streams in a file, with subtitles and attached fonts. */
  tracks: { setting: 'MAX_TRACKS', fallback: 256 },
  /** Seconds that reading a source to its end may take. */
  probeSeconds: { setting: 'MAX_PROBE_SECONDS', fallback: 1800 },
} as const;

type Name = keyof typeof TABLE;
export type MediaLimits = Readonly<Record<Name, number>>;

const ROWS = Object.entries(TABLE) as [Name, (typeof TABLE)[Name]][];

/** Throws ConfigError. */
export const mediaLimits = (env: Env): MediaLimits =>
  Object.freeze(
    Object.fromEntries(ROWS.map(([name, { setting, fallback }]) => [name, reader(env).integer(setting, fallback, 1)])),
  ) as MediaLimits;

/** Of an installation that sets none. */
export const DEFAULT_LIMITS = mediaLimits({});

/** The environment that mediaLimits() reads the same limits from. */
export const mediaLimitsEnv = (limits: MediaLimits) =>
  ROWS.map(([name, { setting }]) => ({ name: `LOOPSTREAM_${setting}`, value: String(limits[name]) }));
