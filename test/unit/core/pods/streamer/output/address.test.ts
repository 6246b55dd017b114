import { expect, test } from 'vitest';
import { DESTINATION_ERRORS, type FailureCode } from '../../../../../../src/core/lib/codes/destinations.ts';
import {
  AddressError,
  directTo,
  readAddress,
  withLogin,
} from '../../../../../../src/core/pods/streamer/output/address.ts';
import {
  backoffMs,
  classify,
  classifyEnd,
  progressBytes,
  redact,
} from '../../../../../../src/core/pods/streamer/output/failure.ts';

test.each([
  ['rtmp://a.example/live2', 'abc-def', 'rtmp://a.example:1935', 'rtmp_app=live2\nrtmp_playpath=abc-def\n'],
  ['rtmp://a.example:1936/app/', 'k?x=1=2', 'rtmp://a.example:1936', 'rtmp_app=app\nrtmp_playpath=k?x=1=2\n'],
  ['rtmps://b.example:443/rtmp/', 'FB-1', 'rtmps://b.example:443', 'rtmp_app=rtmp\nrtmp_playpath=FB-1\n'],
  ['rtmp://a.example/app/instance', 'key', 'rtmp://a.example:1935', 'rtmp_app=app/instance\nrtmp_playpath=key\n'],
  ['rtmp://a.example/app/inurl', '', 'rtmp://a.example:1935', 'rtmp_app=app\nrtmp_playpath=inurl\n'],
  [
    'srt://c.example:9999?latency=200&passphrase=longenough',
    'id',
    'srt://c.example:9999',
    'latency=200\npassphrase=longenough\nstreamid=id\n',
  ],
  [
    'srt://c.example:9999?streamid=#!::r=live/x,m=publish&mode=caller',
    '',
    'srt://c.example:9999',
    'streamid=#!::r=live/x,m=publish\n',
  ],
  ['srt://c.example:9999?streamid=other', 'id', 'srt://c.example:9999', 'streamid=id\n'],
  ['rtmp://BÜCHER.example/live', 'abc', 'rtmp://xn--bcher-kva.example:1935', 'rtmp_app=live\nrtmp_playpath=abc\n'],
  ['rtmp://0x7f.1/live', 'abc', 'rtmp://127.0.0.1:1935', 'rtmp_app=live\nrtmp_playpath=abc\n'],
  ['rtmp://[2001:DB8::1]/live', 'abc', 'rtmp://[2001:db8::1]:1935', 'rtmp_app=live\nrtmp_playpath=abc\n'],
])('%s: the argument holds scheme, host and port alone', (url, key, argument, preset) => {
  const address = readAddress({ rtmpUrl: url, rtmpKey: key });
  expect(address).toMatchObject({ url: argument, preset });
  expect(address.secrets.length).toBeGreaterThan(0);
});

test.each([
  ['http://a.example/live', 'k'],
  ['rtmp://user@a.example/live', 'k'],
  ['srt://user:pw@c.example:9999', 'k'],
  ['nonsense', 'k'],
  ['rtmp://a.example:0/live', 'k'],
  ['rtmp://a.example/live', 'key swfUrl=http://b.example'],
  ['srt://c.example:9999?vcodec=libx264', 'k'],
  ['srt://c.example:9999?latency=1&latency=2', 'k'],
  ['srt://c.example:9999?latency=1%2B1', 'k'],
  ['srt://c.example:9999?passphrase=long%0Aenough', 'k'],
  ['srt://c.example:9999?mode=listener', 'k'],
  ['srt://c.example:9999?constructor=1', 'k'],
  ['rtmp://a.example/live', 'two\nlines'],
  ['rtmp://a.example/live', 'x'.repeat(2000)],
])('%s with a bad part is refused in words that show no secret', (url, key) => {
  expect(() => readAddress({ rtmpUrl: url, rtmpKey: key })).toThrow(AddressError);
  try {
    readAddress({ rtmpUrl: url, rtmpKey: key });
  } catch (error) {
    expect(String(error)).not.toContain(key.length > 1 ? key : 'pw@');
    expect(String(error)).not.toMatch(/vcodec|enough|constructor/);
  }
});

test.each([
  ['[rtmp @ 0x1] [error] Server error: [ code=403 need auth; authmod=adobe ]', 'login_required'],
  ['[rtmp @ 0x1] [error] Server error: authmod=adobe ?reason=authfailed', 'login_refused'],
  ['[rtmp @ 0x1] [error] Server error: [ authmod=llnw ] : ?reason=nosuchuser', 'login_refused'],
  ['[rtmp @ 0x1] [error] No credentials set', 'login_required'],
] as const)('%s is about the login and not about the key', (line, code) => {
  expect(classify([line]).code).toBe(code);
});

test('a login is in no argument of ffmpeg, and hidden wherever it is printed', () => {
  const login = { rtmpUser: 'publisher@example.com', rtmpPassword: 'p@ss/w:rd?&=' };
  const address = readAddress({ rtmpUrl: 'rtmp://a.example/live', rtmpKey: 'k3y', ...login });
  expect(address.login).toEqual({ user: login.rtmpUser, password: login.rtmpPassword });
  expect(address.preset + address.url).not.toMatch(/publisher|p@ss/);
  expect(redact(`${login.rtmpUser} ${login.rtmpPassword}`, address.secrets)).toBe('[redacted] [redacted]');
  // The URL as people copy it contains both.
  const pasted = readAddress({
    rtmpUrl: 'rtmp://publisher%40example.com:p%40ss%2Fw:rd%3F&=@a.example/live',
    rtmpKey: 'k3y',
  });
  expect(pasted).toEqual(address);
  expect(withLogin(address, '?authmod=adobe&user=u').preset).toBe(
    'rtmp_app=live?authmod=adobe&user=u\nrtmp_playpath=k3y\n',
  );
});

test('a key is hidden as it is, and as a URL writes it', () => {
  const { secrets } = readAddress({ rtmpUrl: 'rtmp://a.example/live', rtmpKey: 'se+cret/ü1' });
  expect(redact('rtmp://a.example/live/se+cret/ü1 and se%2Bcret%2F%C3%BC1', secrets)).toBe(
    'rtmp://a.example/live/[redacted] and [redacted]',
  );
});

test.each<[string, FailureCode]>([
  ['[tcp @ 0x1] [error] Connection to tcp://127.0.0.1:1 failed: Connection refused', 'connection_refused'],
  ['[tcp @ 0x1] [error] Failed to resolve hostname x.invalid: Name or service not known', 'dns_failed'],
  ['[rtmp @ 0x1] [error] Server error: Already publishing', 'key_in_use'],
  ['[rtmp @ 0x1] [error] Server error: someone is already publishing to path', 'key_in_use'],
  ['[rtmp @ 0x1] [error] Server error: Stream name is denied', 'publish_rejected'],
  ['[error] rtmp://a.example:1935: Input/output error', 'publish_rejected'],
  ['[out#0/data @ 0x1] [error] Error opening output rtmp://a.example:1935: Input/output error', 'publish_rejected'],
  ['[rtmp @ 0x1] [error] Cannot read RTMP handshake response', 'reset'],
  ['[out#0/data @ 0x1] [error] Error submitting a packet to the muxer: Connection reset by peer', 'reset'],
  ['[srt @ 0x1] [error] Connection to srt://a.example:9000 failed: Input/output error', 'unreachable'],
  ['SRT.cn: processAsyncConnectRequest: REJECT reported from HS processing: Incorrect passphrase', 'publish_rejected'],
  ['[tls @ 0x1] [error] Unable to verify peer certificate', 'tls_failed'],
  ['[error] av_interleaved_write_frame(): Broken pipe', 'reset'],
  ['[error] rtmp://a: Connection timed out', 'unreachable'],
  ['[error] something new', 'exited'],
])('%s', (line, code) => {
  expect(classify([line]).code).toBe(code);
});

test('a transport that a signal ended was killed; one that ended by itself has a status', () => {
  expect(classifyEnd(null, 'SIGKILL')).toEqual({
    code: 'killed',
    message: `${DESTINATION_ERRORS.killed.meaning} (signal SIGKILL)`,
  });
  expect(classifyEnd(255, null).code).toBe('killed');
  expect(classifyEnd(1, null)).toEqual({ code: 'exited', message: `${DESTINATION_ERRORS.exited.meaning} (status 1)` });
});

test('ffmpeg gets an address, and the server a name', () => {
  const plain = readAddress({ rtmpUrl: 'rtmp://a.example/live?t=1', rtmpKey: 'k' });
  expect(directTo(plain, { ip: '192.0.2.1' })).toMatchObject({
    url: 'rtmp://192.0.2.1:1935',
    preset: 'rtmp_app=live?t=1\nrtmp_playpath=k\nrtmp_tcurl=rtmp://a.example:1935/live?t=1\n',
  });
  expect(directTo(readAddress({ rtmpUrl: 'rtmps://a.example/live', rtmpKey: 'k' }), { relayPort: 4711 })).toMatchObject(
    {
      url: 'rtmp://127.0.0.1:4711',
      preset: 'rtmp_app=live\nrtmp_playpath=k\nrtmp_tcurl=rtmps://a.example:443/live\n',
    },
  );
  expect(directTo(readAddress({ rtmpUrl: 'srt://a.example:9000', rtmpKey: 'k' }), { ip: '2001:db8::1' }).url).toBe(
    'srt://[2001:db8::1]:9000',
  );
  // ffmpeg does not use TLS itself.
  expect(() => directTo(readAddress({ rtmpUrl: 'rtmps://a.example/live', rtmpKey: 'k' }), { ip: '192.0.2.1' })).toThrow(
    AddressError,
  );
});

test('the first retry comes at once, and none waits long where nothing listens', () => {
  for (const code of Object.keys(DESTINATION_ERRORS) as FailureCode[]) {
    expect(backoffMs(code, 1, 0.99)).toBeLessThanOrEqual(200);
    expect(backoffMs(code, 1000, 0.99)).toBeLessThanOrEqual(15_000);
    expect(backoffMs(code, 1000, 0)).toBeGreaterThanOrEqual(code === 'connection_refused' ? 450 : 750);
  }
  expect(backoffMs('connection_refused', 1000, 0.99)).toBeLessThanOrEqual(600);
});

test('output bytes are read from a progress report, and N/A is not a number', () => {
  expect(progressBytes('frame=1\ntotal_size=4711\nprogress=continue\n')).toBe(4711);
  expect(progressBytes('total_size=N/A\nprogress=continue\n')).toBeUndefined();
});
