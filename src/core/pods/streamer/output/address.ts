/**
 * Turns a destination's URL and key into ffmpeg's arguments and options. Everybody on a node can read an argument list,
 * so it holds scheme, host and port alone. The application, the key and the rest are protocol options in a preset file
 * (`-fpre`, one `name=value` a line, ffmpeg 5.1 and newer). A preset can set every option of ffmpeg, including files to
 * write and libraries to load. So option names come from this file and from resources/destination/srt.ts, never from a URL.
 * Pure: no I/O, no clock.
 */
import type { Ingest } from '../../../resources/destination/ingest.ts';
import type { Login } from '../../../resources/destination/login.ts';
import { type GivenDestination, readDestination } from '../../../resources/destination/read.ts';
import { SRT_PRESET_NAMES } from '../../../resources/destination/srt.ts';

export interface Address {
  protocol: Ingest['protocol'];
  host: string;
  port: number;
  /** Name of the muxer. */
  format: 'flv' | 'mpegts';
  /** URL for the argument list; holds no secret. */
  url: string;
  /** RTMP application, with its query. */
  app: string;
  /** RTMP stream name. */
  playpath: string;
  /**
   * Login for a server that asks for one (login.ts). ffmpeg never has it, since it takes a password in its arguments
   * alone.
   */
  login?: Login;
  /** Lines of the preset file. */
  preset: string;
  /** Strings that must never be shown. */
  secrets: string[];
}

export class AddressError extends Error {
  readonly code = 'not_configured';
}

/** The only options that a preset may set. */
export const PRESET_NAMES: ReadonlySet<string> = new Set([
  ...['rtmp_app', 'rtmp_playpath', 'rtmp_tcurl'],
  ...SRT_PRESET_NAMES,
]);
/** ffmpeg reads a preset in lines of at most 999 bytes. */
const MAX_LINE_BYTES = 990;

/**
 * Formats a preset file, one line for each option. A value can neither end its line nor turn the line into a comment.
 */
function writePreset(options: Iterable<readonly [name: string, value: string]>): string {
  const lines = new Map<string, string>();
  for (const [name, value] of options) {
    if (value === '') continue;
    const line = `${name}=${value}\n`;
    if (
      !PRESET_NAMES.has(name) ||
      lines.has(name) ||
      /\p{Cc}/u.test(value) ||
      Buffer.byteLength(line) > MAX_LINE_BYTES
    ) {
      throw new AddressError('The URL or the key contains a value that cannot be passed to ffmpeg.');
    }
    lines.set(name, line);
  }
  return [...lines.values()].join('');
}

/**
 * Lists a key in every form in which a program may print it. One or two characters are not redacted: that would hide
 * half of every message.
 */
const listSecrets = (...values: string[]): string[] =>
  [...new Set(values.flatMap((v) => [v, encodeURIComponent(v)]))].filter((v) => v.length > 2);

const formatUrl = (protocol: string, host: string, port: number): string =>
  `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;

/**
 * Returns the address in a form that needs no name resolution: `ip` is a checked address of the host, or `relayPort`
 * the port of the relay (relay.ts) that RTMPS uses. An RTMP server still gets the host's name.
 */
export function directTo(address: Address, to: { ip: string } | { relayPort: number }): Address {
  const { protocol, host, port, app, url } = address;
  const isRelayed = 'relayPort' in to;
  if (isRelayed !== (protocol === 'rtmps'))
    throw new AddressError('RTMPS needs the relay, and other protocols must not use it.');
  const direct = isRelayed ? formatUrl('rtmp', '127.0.0.1', to.relayPort) : formatUrl(protocol, to.ip, port);
  const isNamed = isRelayed || (protocol === 'rtmp' && to.ip !== host);
  return {
    ...address,
    url: direct,
    preset: address.preset + writePreset([['rtmp_tcurl', isNamed ? `${url}/${app}` : '']]),
  };
}

/** Adds a login query behind the application (login.ts). */
export function withLogin(address: Address, query: string): Address {
  const app = address.app + query;
  return { ...address, app, preset: rtmpPreset(app, address.playpath) };
}

const rtmpPreset = (app: string, playpath: string): string =>
  writePreset([
    ['rtmp_app', app],
    ['rtmp_playpath', playpath],
  ]);

/** Throws AddressError, which repeats no secret. */
export function readAddress(given: GivenDestination): Address {
  // The operator has refused bad values already and named the Secret. This check only keeps them out.
  const { read, field, problem } = readDestination(given, () => '');
  if (!read) throw new AddressError(`The ${NAMES[field]} ${problem}.`);
  const { ingest, streamName, rtmpKey, rtmpUser, rtmpPassword } = read;
  const { protocol, host, port } = ingest;
  const shared = { protocol, host, port, url: formatUrl(protocol, host, port) };
  if (protocol === 'srt') {
    const options = new Map(ingest.options);
    if (streamName !== '') options.set('streamid', streamName);
    const own = ['passphrase', 'streamid'].map((name) => ingest.options.get(name) ?? '');
    return {
      ...shared,
      format: 'mpegts',
      app: '',
      playpath: '',
      preset: writePreset(options),
      secrets: listSecrets(rtmpKey, ...own),
    };
  }
  const app = ingest.path + ingest.query;
  return {
    ...shared,
    format: 'flv',
    app,
    playpath: streamName,
    ...(rtmpUser !== '' && { login: { user: rtmpUser, password: rtmpPassword } }),
    preset: rtmpPreset(app, streamName),
    secrets: listSecrets(
      rtmpKey,
      streamName,
      ...streamName.split(/[/?&]/).filter((part) => part.length > 5),
      ...[...new URLSearchParams(ingest.query).values()],
      rtmpUser,
      rtmpPassword,
    ),
  };
}

/** Names that owners know. */
const NAMES = { rtmpUrl: 'URL', rtmpKey: 'key', rtmpUser: 'user name', rtmpPassword: 'password' } as const;

/** Where an address leads, in a form that is the same for the same key: a secret. */
export const formatPlace = ({ url, preset }: Pick<Address, 'url' | 'preset'>): string => `${url}\n${preset}`;

/** Returns the place of a destination; undefined for one without an address. */
export function readPlace(given: GivenDestination): string | undefined {
  try {
    return formatPlace(readAddress(given));
  } catch (error) {
    if (error instanceof AddressError) return undefined;
    throw error;
  }
}
