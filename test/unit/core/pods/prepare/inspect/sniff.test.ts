import { expect, test } from 'vitest';
import { nameFormat, pictureSize } from '../../../../../../src/core/pods/prepare/inspect/sniff.ts';

test.each([
  ['\0\0\0\u0018ftypmif1', /HEIC/],
  ['\u00ef\u00bb\u00bf <?xml version="1.0"?>\n<!-- a drawing -->\n<svg xmlns="">', /SVG/],
  ['\n<!doctype html><title>Sign in</title>', /web page/],
  ['#EXTM3U\n#EXT-X-VERSION:3', /list of addresses/],
  ['%PDF-1.7', /PDF/],
  ['PK\u0003\u0004\u0014\0\0\0 word/document.xml', /office document/],
  ['PK\u0003\u0004\u0014\0\0\0 film.mp4', /archive/],
  ['MThd\0\0\0\u0006', /notes/],
  ['XPDS8\u0006', /picture/],
  ['v/1\u0001\u0002', /picture/],
  ['FILM\0\0\u0001', /game/],
  ['BBCD\0\0\0\0', /Dirac/],
  ['\r\n--myboundary\r\nContent-Type: image/jpeg\r\nContent-Length: 4', /camera/],
  ['1\r\n00:00:01,000 --> 00:00:02,000\r\nHi', /subtitles/],
  ['d8:announce35:udp', /torrent/],
])('%j is named, with the way on', (head, name) => {
  const found = nameFormat(Buffer.from(head, 'latin1'));
  expect(found?.name).toMatch(name);
  expect(found?.advice).toMatch(/^[A-Z].*\.$/);
});

test('an unknown file, and a possible media file, have no name', () => {
  for (const head of ['', 'hello', '\0\0\0\u0018ftypisom', 'RIFF\0\0\0\0WAVE', '<3 my film'])
    expect(nameFormat(Buffer.from(head, 'latin1')), head).toBeUndefined();
});

test('the size of a picture is in its header, after any other segments of a JPEG', () => {
  const png = Buffer.from('89504e470d0a1a0a0000000d494844520000ea600000753008', 'hex');
  expect(pictureSize(png)).toEqual({ width: 60_000, height: 30_000 });
  const jpeg = Buffer.from('ffd8ffe00004abcdffdb0003abffc2000b08ea607530012200', 'hex');
  expect(pictureSize(jpeg)).toEqual({ width: 30_000, height: 60_000 });
  expect(pictureSize(Buffer.from('ffd8ffe0ffff', 'hex'))).toBeUndefined();
});
