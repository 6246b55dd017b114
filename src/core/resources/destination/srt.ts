/**
 * Lists the options of SRT that a destination's URL may set: one table for the API server, the operator and the pods
 * that publish. ffmpeg reads these from a preset, in which a line may name any option of ffmpeg. So only options of the
 * table get there, with values that their parser has rewritten. Names, units and ranges are those of ffmpeg's libsrt
 * protocol (`ffmpeg -h protocol=srt`) and of libsrt's API-socket-options.md. Pure: no I/O, no clock.
 */
import { countUtf8Bytes } from '../../lib/utf8.ts';

export interface SrtOption {
  /** The option of ffmpeg's protocol that it sets; undefined for what is accepted and changes nothing. */
  sets?: string;
  /** Shown to nobody. */
  secret?: true;
  /** The values that it takes, for people. */
  takes: string;
  /** The value as ffmpeg is given it; undefined for one that is refused. */
  read: (value: string) => string | undefined;
}

/** Bytes; one line of ffmpeg's preset takes 999 with its name. */
export const MAX_STREAM_ID_BYTES = 512;

const integer = (unit: string, min: number, max: number, sets?: string): SrtOption => ({
  ...(sets !== undefined && { sets }),
  takes: `a whole number ${unit && `of ${unit} `}from ${min} to ${max}`,
  read: (value) => {
    if (!/^-?\d{1,12}$/.test(value)) return undefined;
    const number = Number(value);
    return number >= min && number <= max ? String(number) : undefined;
  },
});

const SWITCH = new Map(
  Object.entries({ 0: '0', 1: '1', false: '0', true: '1', no: '0', yes: '1', off: '0', on: '1' } as const),
);
const flag: SrtOption = { takes: '0 or 1', read: (value) => SWITCH.get(value.toLowerCase()) };

const choice = (...values: string[]): SrtOption => ({
  takes: values.join(' or '),
  read: (value) => (values.includes(value) ? value : undefined),
});

const text = (what: string, min: number, max: number): SrtOption => ({
  takes: `${what} of ${min} to ${max} bytes without control characters`,
  secret: true,
  read: (value) => {
    const bytes = countUtf8Bytes(value);
    return bytes >= min && bytes <= max && value.isWellFormed() && !CONTROL.test(value) ? value : undefined;
  },
});

/** C0, DEL, C1 and Unicode's own line breaks. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;

const MINUTE_US = 60_000_000;
const MAX_BYTES_PER_SECOND = 1_250_000_000;
const MAX_BUFFER_BYTES = 64 * 2 ** 20;

const streamId: SrtOption = { ...text('a stream id', 1, MAX_STREAM_ID_BYTES), sets: 'streamid' };

const OPTIONS: Record<string, SrtOption> = {
  latency: integer('microseconds', 0, MINUTE_US),
  rcvlatency: integer('microseconds', 0, MINUTE_US),
  peerlatency: integer('microseconds', 0, MINUTE_US),
  tsbpddelay: integer('microseconds', 0, MINUTE_US, 'latency'),
  passphrase: text('a passphrase', 10, 79),
  pbkeylen: choice('0', '16', '24', '32'),
  enforced_encryption: flag,
  kmrefreshrate: integer('packets', 0, 2 ** 31 - 1),
  kmpreannounce: integer('packets', 0, 2 ** 31 - 1),
  streamid: streamId,
  srt_streamid: streamId,
  maxbw: integer('bytes per second', -1, MAX_BYTES_PER_SECOND),
  inputbw: integer('bytes per second', 0, MAX_BYTES_PER_SECOND),
  oheadbw: integer('percent', 5, 100),
  pkt_size: integer('bytes', 188, 1456),
  payload_size: integer('bytes', 188, 1456, 'pkt_size'),
  mss: integer('bytes', 256, 1500),
  ffs: integer('packets', 32, 1_000_000),
  sndbuf: integer('bytes', 65_536, MAX_BUFFER_BYTES),
  rcvbuf: integer('bytes', 65_536, MAX_BUFFER_BYTES),
  connect_timeout: integer('milliseconds', 1, 60_000),
  timeout: integer('microseconds', -1, MINUTE_US),
  tlpktdrop: flag,
  nakreport: flag,
  snddropdelay: integer('microseconds', -1, MINUTE_US),
  lossmaxttl: integer('packets', 0, 10_000),
  ipttl: integer('hops', 1, 255),
  iptos: integer('', 0, 255),
  // A stream is always the caller, and always live.
  mode: choice('caller'),
  transtype: choice('live'),
};

/** Accepted, because people paste it, and left out. */
const IMPLIED = new Set(['mode', 'transtype']);

/** Name in a URL → what it takes. A Map: nothing that every object has, such as `constructor`, is an option. */
export const SRT_OPTIONS: ReadonlyMap<string, SrtOption> = new Map(
  Object.entries(OPTIONS).map(([name, option]) => [name, IMPLIED.has(name) ? option : { sets: name, ...option }]),
);

/** Everything that a preset may say of SRT. */
export const SRT_PRESET_NAMES: ReadonlySet<string> = new Set(
  [...SRT_OPTIONS.values()].flatMap(({ sets }) => (sets === undefined ? [] : [sets])),
);

export type SrtResult =
  | { options: Map<string, string>; problem?: undefined }
  | { options?: undefined; problem: string };

/**
 * Parses the options of a query into ffmpeg's names and values. Otherwise it returns the first mistake, as a sentence
 * that follows the name of the field. `quote` formats a name that a user wrote; the default leaves it as it is.
 */
export function readSrtOptions(query: URLSearchParams, quote = (name: string): string => `"${name}" `): SrtResult {
  const options = new Map<string, string>();
  const seen = new Set<string>();
  for (const [name, given] of query) {
    const option = SRT_OPTIONS.get(name);
    if (!option)
      return {
        problem: `sets an SRT option ${quote(name)}that is not supported; the supported options are ${[...SRT_OPTIONS.keys()].join(', ')}`,
      };
    const key = option.sets ?? name;
    if (seen.has(key)) return { problem: `sets the SRT option ${key} more than once` };
    seen.add(key);
    if (given === '') continue;
    const value = option.read(given);
    if (value === undefined)
      return { problem: `sets the SRT option ${name} to an invalid value; give ${option.takes}` };
    if (option.sets !== undefined) options.set(option.sets, value);
  }
  return { options };
}
