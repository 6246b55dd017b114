/**
 * From a destination's URL and key to what ffmpeg is told, and by which way. An argument list can be read by everyone on a
 * node, so it holds scheme, host and port alone; application, key and everything else are options of the protocol, which
 * ffmpeg reads from a preset file (`-fpre`, one `name=value` a line, in ffmpeg 5.1 and newer).
 * Pure: no I/O, no clock.
 */
export interface Address {
  protocol: (typeof PROTOCOLS)[number];
  host: string;
  port: number;
  /** Muxer. */
  format: 'flv' | 'mpegts';
  /** Goes into the argument list; holds no secret. */
  url: string;
  /** Lines of the preset file. */
  preset: string;
  /** What must never be shown. */
  secrets: string[];
}

export class AddressError extends Error {
  readonly code = 'not_configured';
}

const PROTOCOLS = ['rtmp', 'rtmps', 'srt'] as const;
const DEFAULT_PORTS = { rtmp: 1935, rtmps: 443, srt: 9000 } as const;
/** ffmpeg reads a preset in lines of at most 1000 bytes. */
const MAX_LINE = 900;

function line(name: string, value: string): string {
  if (/[\r\n\0]/.test(value)) throw new AddressError('The URL or key holds a line break.');
  if (Buffer.byteLength(value) > MAX_LINE) throw new AddressError('The URL or key is too long.');
  return value === '' ? '' : `${name}=${value}\n`;
}

/** A key is hidden in every form in which a program may print it; one character or two would hide half of every message. */
const secretsOf = (...values: string[]): string[] =>
  [...new Set(values.flatMap((v) => [v, encodeURIComponent(v)]))].filter((v) => v.length > 2);

/** `caFile`: PEM file of the authorities to trust for RTMPS, instead of the system's. Throws AddressError without a secret in it. */
export function addressOf(rtmpUrl: string, rtmpKey: string, caFile?: string): Address {
  const text = rtmpUrl.trim();
  const key = rtmpKey.trim();
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const protocol = PROTOCOLS.find((p) => url?.protocol === `${p}:`);
  // The operator has refused these already with more words; here they only must not get through.
  if (!url || !protocol || !url.hostname || url.username || url.password)
    throw new AddressError('The URL is not one that can be streamed to.');
  const port = url.port === '' ? DEFAULT_PORTS[protocol] : Number(url.port);
  const host = url.hostname;
  const shared = { protocol, host: host.replace(/^\[|\]$/g, ''), port, url: `${protocol}://${host}:${port}` };
  if (protocol === 'srt') {
    const options = [...url.searchParams].filter(([name]) => /^[a-z_]+$/.test(name) && name !== 'mode');
    if (key !== '') options.push(['streamid', key]);
    const preset = options.map(([name, value]) => line(name, value)).join('');
    return { ...shared, format: 'mpegts', preset, secrets: secretsOf(key, url.searchParams.get('passphrase') ?? '') };
  }
  // Without a key of its own, the URL's last part is one.
  const path = url.pathname.replace(/^\/+|\/+$/g, '');
  const cut = key === '' && url.search === '' ? path.indexOf('/') : -1;
  const app = (cut < 0 ? path : path.slice(0, cut)) + url.search;
  const playpath = cut < 0 ? key : path.slice(cut + 1);
  const tls = protocol === 'rtmps' ? line('tls_verify', '1') + line('ca_file', caFile ?? '') : '';
  const preset = line('rtmp_app', app) + line('rtmp_playpath', playpath) + tls;
  return {
    ...shared,
    format: 'flv',
    preset,
    secrets: secretsOf(playpath, ...playpath.split(/[/?&]/).filter((part) => part.length > 5)),
  };
}
