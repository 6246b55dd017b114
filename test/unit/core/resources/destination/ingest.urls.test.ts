/** Tests destination URLs of strangers: whatever they hold, ffmpeg gets no option except those of the one table. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Address,
  AddressError,
  PRESET_NAMES,
  readAddress,
} from '../../../../../src/core/pods/streamer/output/address.ts';
import { redactUrl } from '../../../../../src/core/resources/destination/ingest.ts';
import { readDestination } from '../../../../../src/core/resources/destination/read.ts';
import { SRT_OPTIONS } from '../../../../../src/core/resources/destination/srt.ts';

const URLS = 100_000;

/**
 * Parses a preset file as ffmpeg's `opt_preset` does (fftools/ffmpeg_opt.c): `fgets` of 1000 bytes, comments, and two calls of `strtok`,
 * which skips leading delimiters. Returns undefined where ffmpeg would end with an error.
 */
function readPreset(preset: string): [name: string, value: string][] | undefined {
  const read: [string, string][] = [];
  const bytes = Buffer.from(preset);
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = Math.min(newline < 0 ? bytes.length : newline + 1, start + 999);
    // A C string ends at its first zero.
    const line = bytes.subarray(start, end).toString('latin1').replace(/\0.*$/s, '');
    start = end;
    if (/^([#\n\r]|$)/.test(line)) continue;
    const [, name, rest = ''] = /^=*([^=]+)=?(.*)$/s.exec(line) ?? [];
    const [value] = /[^\r\n]+/.exec(rest) ?? [];
    if (name === undefined || value === undefined) return undefined;
    read.push([name, value]);
  }
  return read;
}

const NAMES = [
  ...SRT_OPTIONS.keys(),
  ...[
    'vcodec',
    'acodec',
    'scodec',
    'dcodec',
    'flags',
    'stats',
    'omx_libname',
    'threads',
    'preset',
    'x264-params',
    'debug',
  ],
  ...[
    'protocol_whitelist',
    'rtmp_app',
    'ca_file',
    'cert_file',
    'key_file',
    'listen',
    '__proto__',
    'constructor',
    'toString',
  ],
  ...['latency\n', 'LATENCY', ' latency', 'latency=', '#latency', 'streamid:v', '', '%6catency', 'passphrase[]'],
];
const VALUES = [
  ...[
    'libx264',
    '%2Bpass1',
    '+pass1',
    '/etc/passwd',
    '/tmp/x.so',
    '1',
    '-1',
    '0',
    '1e9',
    '0x10',
    '2*3',
    '٣',
    '',
    'caller',
    'live',
  ],
  ...[
    '200000',
    '16',
    'longenough1',
    'listener',
    'live%0Avcodec=libx264',
    'live%0D%0Avcodec=libx264',
    '%00',
    '%E2%80%A8',
    '%ff%fe',
  ],
  ...[
    '#!::r=live/x,m=publish',
    '%23',
    '=',
    '==',
    '&',
    ';',
    `a%0Avcodec=b`,
    'x'.repeat(995),
    'x'.repeat(512),
    'ü'.repeat(300),
    '\ud800',
  ],
  ...[
    'long\u0085vcodec=libx264',
    'long\vvcodec=libx264',
    'long%0Bvcodec=libx264',
    'a b',
    '%20%20longenough%20',
    `'`,
    '"',
    '\\',
  ],
];
const HOSTS = [
  ...[
    'a.example',
    '127.0.0.1',
    '0x7f.1',
    '2130706433',
    '[::1]',
    '[fe80::1%25eth0]',
    '１２７.0.0.1',
    'bücher.example',
    'a..b',
  ],
  ...[
    '',
    'localhost',
    'u:p@h',
    'a%00b',
    'a%0Ab',
    '-v',
    '%2e',
    'a.example.',
    'a_b.example',
    '[::ffff:127.0.0.1]',
    'x'.repeat(64),
  ],
];
const PATHS = [
  ...[
    '',
    '/',
    '/live2',
    '/app/instance/',
    '//',
    '/a%0Avcodec=libx264',
    '/a\nvcodec=libx264',
    '/live swfUrl=x',
    '/ü',
    '/#vcodec=x',
  ],
  ...[`/${'x'.repeat(1000)}`, '/a?token=b', '/a?b=%0Avcodec=c', '/live?slist=x'],
];
const some = (...values: readonly string[]) => fc.constantFrom(...values);
const noise = fc.string({ unit: 'binary', maxLength: 12 });

const query = fc
  .array(fc.tuple(fc.oneof(some(...NAMES), some(...NAMES), noise), fc.oneof(some(...VALUES), some(...VALUES), noise)), {
    maxLength: 4,
  })
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'));
const url = fc
  .tuple(
    some('srt', 'srt', 'SRT', 'rtmp', 'rtmps', 'rtmpe', 'file'),
    fc.oneof(some(...HOSTS), noise),
    some('', ':9000', ':0', ':99999', ':'),
    some(...PATHS),
    query,
  )
  .map(([scheme, host, port, path, pairs]) => `${scheme}://${host}${port}${path}${pairs && `?${pairs}`}`);
/** A valid URL with one insertion anywhere. */
const mutated = fc
  .tuple(
    some(
      'srt://c.example:9000?latency=200000&passphrase=longenough1',
      'rtmp://a.example/live2?t=1',
      'rtmps://b.example/app',
    ),
    fc.nat(60),
    fc.oneof(noise, some(...VALUES, ...NAMES, '\n', '\r', '\0', '?', '&', '#', '=', '%')),
  )
  .map(([good, at, put]) => good.slice(0, at) + put + good.slice(at));
const key = fc.oneof(some('k3y', '', 'key app=x', 'a\nvcodec=b', ...VALUES), noise);

const addressIn = (rtmpUrl: string, rtmpKey: string): Address | undefined => {
  try {
    return readAddress({ rtmpUrl, rtmpKey });
  } catch (error) {
    if (error instanceof AddressError) return undefined;
    throw error;
  }
};

test(`of ${URLS.toLocaleString('en')} URLs none tells ffmpeg an option that is not in the table, nor reaches another line of the preset`, () => {
  let taken = 0;
  const check = (rtmpUrl: string, rtmpKey: string) => {
    const address = addressIn(rtmpUrl, rtmpKey);
    // The API server and the operator accept exactly the URLs that the pods accept.
    if (readDestination({ rtmpUrl, rtmpKey }).problem !== undefined) return address === undefined;
    if (!address) return true;
    taken += 1;
    const lines = readPreset(address.preset);
    if (!lines) return false;
    return (
      lines.every(([name]) => PRESET_NAMES.has(name)) &&
      new Set(lines.map(([name]) => name)).size === lines.length &&
      lines.length === address.preset.split('\n').length - 1 &&
      /^(rtmps?|srt):\/\/([a-z0-9_.-]+|\[[0-9a-f:]+\]):\d{1,5}$/.test(address.url) &&
      !address.url.includes('://-')
    );
  };
  fc.assert(fc.property(fc.oneof(url, mutated), key, check), { numRuns: URLS });
  // The attack would otherwise pass by refusals alone.
  expect(taken).toBeGreaterThan(URLS / 50);
});

test('the preset names no option that reaches beyond a connection', () => {
  for (const name of ['vcodec', 'acodec', 'flags', 'stats', 'omx_libname', 'threads', 'preset', 'listen', 'cert_file'])
    expect(PRESET_NAMES.has(name), name).toBe(false);
});

const SECRET = 'hush-hush-hush';

test('no URL that is shown holds a value that is a secret, however its query is written', () => {
  const secretName = some('passphrase', 'streamid', 'srt_streamid', '%70assphrase', 'stre%61mid');
  const srt = fc
    .tuple(
      some('srt', 'SRT'),
      some('', 'latency=200&', 'mode=caller&'),
      secretName,
      some('', '&latency=1', '&pbkeylen=16'),
    )
    .map(([scheme, before, name, after]) => `${scheme}://a.example:9000?${before}${name}=${SECRET}${after}`);
  const rtmp = fc
    .tuple(some('rtmp', 'rtmps'), some('token=', '', 'a=b=', 'x=1&y=', '='), some('', '&z', '#f'))
    .map(([scheme, before, after]) => `${scheme}://a.example/live?${before}${SECRET}${after}`);
  const inPath = some(`rtmp://a.example/live/${SECRET}`, `rtmps://a.example//live/${SECRET}/`);
  const check = (shown: string) => !shown.includes(SECRET) && shown.includes('…');
  fc.assert(fc.property(fc.oneof(srt, rtmp), (text) => check(redactUrl(text))));
  fc.assert(fc.property(inPath, (text) => check(redactUrl(text, ''))));
  expect(redactUrl('srt://a.example:9000?latency=200&passphrase=hush-hush-hush')).toBe(
    'srt://a.example:9000?latency=200&passphrase=…',
  );
  expect(redactUrl('rtmp://a.example/live')).toBe('rtmp://a.example/live');
});
