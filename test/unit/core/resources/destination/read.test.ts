/** Tests pasted destinations: the address that is used, the text that is kept, or the advice that people get. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDestination } from '../../../../../src/core/resources/destination/read.ts';

const read = (rtmpUrl: string, rtmpKey = '', login = {}) => readDestination({ rtmpUrl, rtmpKey, ...login });

test.each([
  ['rtmp://a.rtmp.youtube.com/live2/abcd-efgh', 'abcd-efgh', 'rtmp://a.rtmp.youtube.com/live2', 'abcd-efgh'],
  ['rtmp://live.twitch.tv/app/{stream_key}', 'live_1_x', 'rtmp://live.twitch.tv/app', 'live_1_x'],
  [
    'rtmps://live-api-s.facebook.com:443/rtmp/',
    'FB-1-0-x?s_bl=1&a=b',
    'rtmps://live-api-s.facebook.com:443/rtmp/',
    'FB-1-0-x?s_bl=1&a=b',
  ],
  ['rtmp://live.restream.io/live/re_1_abc', '', 'rtmp://live.restream.io/live', 're_1_abc'],
  ['rtmp://ingest.castr.io/static/live_a?password=b', '', 'rtmp://ingest.castr.io/static', 'live_a?password=b'],
  ['rtmp://ingest.castr.io/static', 'live_a?password=b', 'rtmp://ingest.castr.io/static', 'live_a?password=b'],
  ...[
    '{key}',
    '{{stream_key}}',
    `\${STREAM_KEY}`,
    '$STREAM_KEY',
    '<stream-key>',
    '<your stream key>',
    '[stream key]',
  ].map((placeholder) => [`rtmp://h.example/app/${placeholder}`, 'k', 'rtmp://h.example/app', 'k']),
  ...[
    'STREAM_KEY',
    'YOUR-STREAM-KEY',
    'your_stream_key',
    'streamKey',
    'xxxx-xxxx-xxxx',
    '%7Bstream_key%7D',
    '%KEY%',
  ].map((placeholder) => [`rtmp://h.example/app/${placeholder}`, 'k', 'rtmp://h.example/app', 'k']),
  ['\u200b rtmp://h.example/app\n', ' k\u00a0', 'rtmp://h.example/app', 'k'],
  ['"rtmp://h.example/app"', '"k"', 'rtmp://h.example/app', 'k'],
  ['<rtmp://h.example/app/k>', '', 'rtmp://h.example/app', 'k'],
  ['“rtmp://h.example/{stream_key}”', '<k>', 'rtmp://h.example', 'k'],
  // No other part ends like a key.
  ['rtmp://h.example/live/stream', 'k', 'rtmp://h.example/live/stream', 'k'],
  ['rtmp://h.example/live', 'live', 'rtmp://h.example/live', 'live'],
  ['rtmp://h.example/live', 'stream-key', 'rtmp://h.example/live', 'stream-key'],
])('%s with the key %j', (url, key, rtmpUrl, streamName) => {
  expect(read(url, key).read).toMatchObject({ rtmpUrl, streamName });
});

test('a placeholder with text around it stays in the stored address, so that another key takes its place later', () => {
  const twitch = read('rtmp://live.twitch.tv/app/{stream_key}?bandwidthtest=true', 'k').read;
  expect(twitch).toMatchObject({ rtmpUrl: 'rtmp://live.twitch.tv/app/{stream_key}?bandwidthtest=true', rtmpKey: 'k' });
  expect(twitch?.streamName).toBe('k?bandwidthtest=true');
  const srt = read('srt://h.example:9000?streamid=#!::r={key},m=publish', 'a&b').read;
  expect(srt).toMatchObject({ rtmpKey: 'a&b', streamName: '' });
  expect(srt?.ingest.options.get('streamid')).toBe('#!::r=a&b,m=publish');
});

test.each([
  ['rtmp://a.rtmp.youtube.com/live2/abcd-efgh', 'another', 'rtmpUrl', /end the URL there, and give the key as rtmpKey/],
  ['rtmp://h.example/app/{stream_key}', '', 'rtmpUrl', /give the key as rtmpKey/],
  ['rtmp://h.example/app?key={key}', 'k', 'rtmpUrl', /no stream name/],
  ['rtmp://h.example/{app}', 'k', 'rtmpUrl', /replace it with its value/],
  ['rtmp://h.example/app', '{stream_key}', 'rtmpKey', /is a placeholder/],
  ['rtmp://h.example/app', 'xxxx-xxxx-xxxx', 'rtmpKey', /is a placeholder/],
  ['rtmp://h.example/app', 'rtmp://h.example/app/k', 'rtmpKey', /give the stream key alone/],
  ['rtmp://u@h.example/app', 'k', 'rtmpPassword', /is missing/],
  ['srt://u:p@h.example:9000', 'k', 'rtmpUser', /into the stream id/],
  ['live.twitch.tv/app', 'k', 'rtmpUrl', /must be a URL/],
  [`rtmp://h.example/${'{key'.repeat(100_000)}`, 'k', 'rtmpUrl', /at most 4096/],
])('%.80s with the key %j is refused with the next step', (url, key, field, problem) => {
  expect(read(url, key)).toEqual({ field, problem: expect.stringMatching(problem) });
});

describe('a login', () => {
  test.each([
    ['a user name of 255 bytes', `${'é'.repeat(127)}e`, 'p', undefined],
    ['a user name of 256 bytes', 'é'.repeat(128), 'p', { field: 'rtmpUser', problem: 'must have at most 255 bytes' }],
    ['a password of 255 characters', 'u', '🔑'.repeat(255), undefined],
    [
      'a longer password',
      'u',
      '🔑'.repeat(256),
      { field: 'rtmpPassword', problem: 'must have at most 255 characters' },
    ],
  ])('holds %s to the bound that the description gives', (_what, rtmpUser, rtmpPassword, problem) => {
    const told = read('rtmp://h.example/app', 'k', { rtmpUser, rtmpPassword });
    if (problem) expect(told).toEqual(problem);
    else expect(told.read).toMatchObject({ rtmpUser, rtmpPassword });
  });

  test.each([
    ['rtmp://bob:s3cret@h.example/app', 's3cret'],
    ['rtmp://bob:p%40ss%2Fword@h.example/app', 'p@ss/word'],
    ['rtmp://bob:p@ss:word@h.example/app', 'p@ss:word'],
    ['rtmp://bob:100%@h.example/app', '100%'],
  ])('in %s is taken out', (url, rtmpPassword) => {
    const login = { rtmpUser: 'bob', rtmpPassword };
    const { read: out } = read(url, 'k');
    expect(out).toMatchObject({ rtmpUrl: 'rtmp://h.example/app', ...login });
    // A key given twice is the same, or refused.
    expect(read(url, 'k', login).read).toEqual(out);
    expect(read(url, 'k', { rtmpUser: 'eve' })).toMatchObject({ field: 'rtmpUrl' });
  });
});

test.each([
  ['rtmp://h.example/live/x/x', ''],
  ['rtmp://h.example/live/x/x', 'x'],
  ['rtmp://h.example/live/x/{key}', 'x'],
  ['rtmp://h.example/live/x/x?a=b', ''],
])('an address that ends like its key is kept so that it is read as the same: %s, "%s"', (url, key) => {
  const { read: once } = read(url, key);
  expect(once?.ingest.path).toBe('live/x');
  expect(once?.streamName.split('?')[0]).toBe('x');
  const { read: again } = read(once?.rtmpUrl ?? '', once?.rtmpKey);
  expect(again).toEqual(once);
});

test('nothing invisible stays before a key that is cut off an address', () => {
  expect(read('rtmp://h.example/live/\u200bkey').read).toMatchObject({ rtmpKey: 'key', streamName: 'key' });
});

test('a parsed address parses to the same again, and no text throws', () => {
  const part = fc.oneof(
    fc.constantFrom('rtmp://', 'srt://', 'u:p@', 'h.example', '/', '?', '{key}', 'live', 'k3y', '=', '&', '%', '#'),
    fc.string({ unit: 'binary', maxLength: 4 }),
  );
  const text = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, text, (tail, rtmpKey) => {
      const { read: once } = read(`rtmp://h.example/live${tail}`, rtmpKey);
      if (!once) return true;
      const { rtmpUrl, rtmpUser, rtmpPassword } = once;
      const again = readDestination({ rtmpUrl, rtmpKey: once.rtmpKey, rtmpUser, rtmpPassword }).read;
      return again?.streamName === once.streamName && again.ingest.path === once.ingest.path;
    }),
    { numRuns: 5000 },
  );
});
