/** Reads playlists as servers write them, and as nobody should. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  KEPT_SEGMENTS,
  keepNewest,
  MAX_PLAYLIST_CHARACTERS,
  readPlaylist,
} from '../../../../../src/core/platform/watch/playlist.ts';

const BASE = 'https://watch.example/live/index.m3u8';
const HEAD = '#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n';

const readMedia = (text: string) => {
  const read = readPlaylist(text, BASE);
  if (read.kind !== 'media') throw new Error(read.kind);
  return read.playlist;
};

describe('a media playlist', () => {
  test('gives numbers, addresses and times, which go on where they are not said', () => {
    const { targetMs, isEnded, segments } = readMedia(
      `\uFEFF${HEAD}#EXT-X-MEDIA-SEQUENCE:7\n#EXT-X-PROGRAM-DATE-TIME:2026-01-01T00:00:00Z\n#EXTINF:2.0,\na.ts\n#EXTINF:1.5,\n../b.ts?c=1\n`.replaceAll(
        '\n',
        '\r\n',
      ),
    );
    expect([targetMs, isEnded]).toEqual([2_000, false]);
    expect(segments.map(({ sequence, address, programAtMs }) => [sequence, address, programAtMs])).toEqual([
      [7, 'https://watch.example/live/a.ts', Date.parse('2026-01-01T00:00:00Z')],
      [8, 'https://watch.example/b.ts?c=1', Date.parse('2026-01-01T00:00:02Z')],
    ]);
  });

  test('has ended', () => expect(readMedia(`${HEAD}#EXTINF:2,\na.ts\n#EXT-X-ENDLIST\n`).isEnded).toBe(true));

  test('has no media in gaps, in unfinished segments, and at addresses that are not http', () => {
    const text = `${HEAD}#EXTINF:2,\na.ts\n#EXT-X-GAP\n#EXTINF:2,\nb.ts\n#EXTINF:2,\nfile:///etc/passwd\n#EXT-X-PART:DURATION=1,URI="c.ts"\n`;
    expect(readMedia(text).segments.map(({ sequence }) => sequence)).toEqual([0]);
  });

  test.each([
    ['METHOD=NONE', { isProtected: false, keyAddress: null }],
    ['METHOD=AES-128,URI="k"', { isProtected: false, keyAddress: 'https://watch.example/live/k' }],
    ['METHOD=AES-128,URI="k",KEYFORMAT="com.example"', { isProtected: true, keyAddress: null }],
    ['METHOD=AES-128,URI="skd://k"', { isProtected: true, keyAddress: null }],
    ['METHOD=SAMPLE-AES,URI="k"', { isProtected: true, keyAddress: null }],
    ['METHOD=SAMPLE-AES-CTR,URI="data:text/plain;base64,AA",KEYFORMAT="urn:uuid:x"', { isProtected: true }],
  ])('is protected unless its key is a plain file: %s', (key, expected) => {
    expect(readMedia(`${HEAD}#EXT-X-KEY:${key}\n#EXTINF:2,\na.ts\n`).segments[0]).toMatchObject(expected);
  });
});

describe('a ladder', () => {
  const ladder = (...variants: string[]) =>
    `#EXTM3U\n${variants.map((one) => `#EXT-X-STREAM-INF:${one}\n${one.length}.m3u8\n`).join('')}`;
  const low = 'BANDWIDTH=800000,RESOLUTION=640x360,CODECS="avc1.4d401e,mp4a.40.2"';
  const high = 'BANDWIDTH=16000000,RESOLUTION=3840x2160,CODECS="avc1.640033,mp4a.40.2"';
  const modern = 'BANDWIDTH=300000,RESOLUTION=640x360,CODECS="av01.0.04M.08"';
  const sound = 'BANDWIDTH=64000,CODECS="mp4a.40.2"';

  test('is watched by its cheapest rendition with H.264', () => {
    expect(readPlaylist(ladder(high, sound, modern, low), BASE)).toEqual({
      kind: 'ladder',
      address: `https://watch.example/live/${low.length}.m3u8`,
      height: 360,
    });
  });
  test('of one picture in 4K is watched too', () => {
    expect(readPlaylist(ladder(high), BASE)).toMatchObject({ kind: 'ladder', height: 2160 });
  });
  test('without video has no picture', () => expect(readPlaylist(ladder(sound), BASE)).toEqual({ kind: 'no_picture' }));
});

test.each(['', '<html>', '{}', '#EXTINF:2,\na.ts'])('%j is no playlist', (text) => {
  expect(readPlaylist(text, BASE)).toEqual({ kind: 'not_media' });
});

test('an endless playlist is too large', () => {
  expect(readPlaylist(HEAD.padEnd(MAX_PLAYLIST_CHARACTERS + 1, 'x'), BASE)).toEqual({ kind: 'too_large' });
});

test('any text is read to some end', () => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '#EXTM3U',
      '#EXTINF:2,',
      '#EXTINF:',
      'a.ts',
      '#EXT-X-KEY:METHOD',
      '#EXT-X-BYTERANGE:5',
      '#EXT-X-STREAM-INF:BANDWIDTH=1',
      '#EXT-X-MEDIA-SEQUENCE:99999999999999999999',
      '#EXT-X-PROGRAM-DATE-TIME:never',
      '#EXT-X-SKIP:SKIPPED-SEGMENTS=3',
      '#EXT-X-MAP:URI="i.mp4"',
      '#EXT-X-DEFINE:NAME="a",VALUE="b"',
    ),
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
      expect(readPlaylist(['#EXTM3U', ...lines].join('\n'), BASE).kind).toMatch(/^[a-z_]+$/);
    }),
  );
});

test('a long playlist gives the same newest segments as its end alone', () => {
  const entry = fc.record({
    durationMs: fc.integer({ min: 500, max: 9_000 }),
    isBreak: fc.boolean(),
    saysTime: fc.boolean(),
    key: fc.constantFrom('', '#EXT-X-KEY:METHOD=AES-128,URI="k"\n', '#EXT-X-KEY:METHOD=NONE\n'),
  });
  fc.assert(
    fc.property(fc.array(entry, { minLength: KEPT_SEGMENTS + 1, maxLength: 3 * KEPT_SEGMENTS }), (entries) => {
      const text = entries.map(
        ({ durationMs, isBreak, saysTime, key }, index) =>
          `${isBreak ? '#EXT-X-DISCONTINUITY\n' : ''}${key}${saysTime ? `#EXT-X-PROGRAM-DATE-TIME:${new Date(1.7e12 + index * 9_000).toISOString()}\n` : ''}#EXTINF:${durationMs / 1000},\n${index}.ts\n`,
      );
      const { segments } = readMedia(`${HEAD}#EXT-X-MEDIA-SEQUENCE:5\n${text.join('')}`);
      let [key, programAtMs] = ['', null as number | null];
      const expected = entries.map((one, index) => {
        if (one.key) key = one.key;
        if (one.saysTime) programAtMs = 1.7e12 + index * 9_000;
        else if (one.isBreak) programAtMs = null;
        const row = [index + 5, `${index}.ts`, programAtMs, key.includes('AES')];
        if (programAtMs !== null) programAtMs += one.durationMs;
        return row;
      });
      expect(
        segments.map((one) => [one.sequence, one.address.split('/').at(-1), one.programAtMs, one.keyAddress !== null]),
      ).toEqual(expected.slice(-KEPT_SEGMENTS));
    }),
    { numRuns: 30 },
  );
});

test('a playlist of a day is parsed no further than its newest segments', () => {
  const day = `${HEAD}${Array.from({ length: 43_200 }, (_, index) => `#EXTINF:2.000,\n${index}.ts\n`).join('')}`;
  expect(keepNewest(day).split('\n').length).toBeLessThan(3 * KEPT_SEGMENTS);
  expect(readMedia(day).segments.at(-1)?.sequence).toBe(43_199);
});
