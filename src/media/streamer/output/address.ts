/**
 * From a destination's URL and key to what ffmpeg is told, and by which way. An argument list can be read by everyone on a
 * node, so it holds scheme, host and port alone; application, key and everything else are options of the protocol, which
 * ffmpeg reads from a preset file (`-fpre`, one `name=value` a line, in ffmpeg 5.1 and newer). A preset can set every option that
 * ffmpeg has, files to write and libraries to load among them: its names come from this file and from destinations/srt.ts, never
 * from a URL.
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
  /** Muxer. */
  format: 'flv' | 'mpegts';
  /** Goes into the argument list; holds no secret. */
  url: string;
  /** RTMP: with its query. */
  app: string;
  /** RTMP: what is published there. */
  playpath: string;
  /** For a server that asks for it (login.ts); ffmpeg never has it, since it takes a password in an argument alone. */
  login?: Login;
  /** Lines of the preset file. */
  preset: string;
  /** What must never be shown. */
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

/** The text of a preset file. One line for each option: nothing in a value can end its line or make the line a comment. */
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
      throw new AddressError('The URL or key holds what cannot be handed on.');
    }
    lines.set(name, line);
  }
  return [...lines.values()].join('');
}

/** A key is hidden in every form in which a program may print it; one character or two would hide half of every message. */
const listSecrets = (...values: string[]): string[] =>
  [...new Set(values.flatMap((v) => [v, encodeURIComponent(v)]))].filter((v) => v.length > 2);

const formatUrl = (protocol: string, host: string, port: number): string =>
  `${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`;

/**
 * The address as ffmpeg is told it, which then resolves nothing: `ip` is one of the host's that has been checked, or the port of the relay
 * that leads to it (relay.ts), by which RTMPS goes. An RTMP server is told the name all the same.
 */
export function directTo(address: Address, to: { ip: string } | { relayPort: number }): Address {
  const { protocol, host, port, app, url } = address;
  const isRelayed = 'relayPort' in to;
  if (isRelayed !== (protocol === 'rtmps')) throw new AddressError('There is no way to the destination.');
  const direct = isRelayed ? formatUrl('rtmp', '127.0.0.1', to.relayPort) : formatUrl(protocol, to.ip, port);
  const isNamed = isRelayed || (protocol === 'rtmp' && to.ip !== host);
  return {
    ...address,
    url: direct,
    preset: address.preset + writePreset([['rtmp_tcurl', isNamed ? `${url}/${app}` : '']]),
  };
}

/** The address for a server that is shown who publishes by a query behind the application (login.ts). */
export function withLogin(address: Address, query: string): Address {
  const app = address.app + query;
  return { ...address, app, preset: rtmpPreset(app, address.playpath) };
}

const rtmpPreset = (app: string, playpath: string): string =>
  writePreset([
    ['rtmp_app', app],
    ['rtmp_playpath', playpath],
  ]);

/** Throws AddressError without a secret in it. */
export function readAddress(given: GivenDestination): Address {
  // The operator has refused these already, with the name of the Secret; here they only must not get through.
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

/** As its owner knows them. */
const NAMES = { rtmpUrl: 'URL', rtmpKey: 'key', rtmpUser: 'user name', rtmpPassword: 'password' } as const;
