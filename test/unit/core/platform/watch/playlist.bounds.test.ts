/** Bounds what playlists of strangers may cost, and what their numbers may do. */
import { expect, test } from 'vitest';
import { readPlaylist } from '../../../../../src/core/platform/watch/playlist.ts';

const HEAD = '#EXTM3U\n#EXT-X-TARGETDURATION:2\n';
const listSegments = (count: number, inf = '#EXTINF:2,') =>
  Array.from({ length: count }, (_, index) => `${inf}\ns${index}.ts\n`).join('');
const read = (text: string) => readPlaylist(text, 'https://tv.example/live.m3u8');

// The parser alone takes minutes for some of these: its time grows with the square of their number.
test.each<[string, string, string]>([
  ['80,000 renditions', `#EXTM3U\n${'#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"\nv.m3u8\n'.repeat(80_000)}`, 'ladder'],
  [
    '40,000 sound tracks',
    `#EXTM3U\n${Array.from({ length: 40_000 }, (_, n) => `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="${n}",URI="x"\n`).join('')}#EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"\nv.m3u8\n`,
    'ladder',
  ],
  ['90,000 keys', `${HEAD}${'#EXT-X-KEY:METHOD=AES-128,URI="k"\n'.repeat(90_000)}${listSegments(4)}`, 'media'],
  ['4,000,000 lines', `${HEAD}${'\n'.repeat(3_900_000)}`, 'media'],
  ['2,000,000 addresses', `${HEAD}${'a\n'.repeat(1_900_000)}`, 'not_media'],
  ['one line of 4 MB', `${HEAD}${'a'.repeat(3_900_000)}`, 'media'],
])('a playlist of %s is read as any other', (_, text, kind) => {
  expect(read(text).kind).toBe(kind);
});

const DATE = '#EXT-X-PROGRAM-DATE-TIME:';
test.each<[string, string, string?]>([
  ['the last time that there is', `${DATE}+275760-09-13T00:00:00.000Z\n`],
  ['no time', `${DATE}yesterday\n`],
  ['a length of 1e308 s', `${DATE}2026-01-01T00:00:00Z\n`, '#EXTINF:1e308,'],
  ['a length of 300 digits', `${DATE}2026-01-01T00:00:00Z\n`, `#EXTINF:${'9'.repeat(300)},`],
  ['a number of nanoseconds', '#EXT-X-MEDIA-SEQUENCE:1796083200123456789\n'],
  ['a number of 2^64', '#EXT-X-MEDIA-SEQUENCE:18446744073709551616\n'],
  ['a number below 0', '#EXT-X-MEDIA-SEQUENCE:-5\n'],
  ['a number that is none', '#EXT-X-MEDIA-SEQUENCE:x\n'],
])('a playlist with %s has its newest segments, be it short or long', (_, line, inf) => {
  for (const count of [4, 100]) {
    const playlist = read(`${HEAD}${line}${listSegments(count, inf)}`);
    const newest = playlist.kind === 'media' ? playlist.playlist.segments.at(-1)?.address : undefined;
    expect(newest).toBe(`https://tv.example/s${count - 1}.ts`);
  }
});

test('a playlist with addresses that are longer than servers take has none of them', () => {
  // Each of these characters takes nine in a URL.
  const playlist = read(`${HEAD}#EXTINF:2,\n${'ä€'.repeat(4_000)}.ts\n${listSegments(1)}`);
  const addresses = playlist.kind === 'media' ? playlist.playlist.segments.map(({ address }) => address) : [];
  expect(addresses).toEqual(['https://tv.example/s0.ts']);
});
