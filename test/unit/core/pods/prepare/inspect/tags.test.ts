/** Tests how the tags of a file are read and cleaned, also those of a hostile author. */
import { describe, expect, test } from 'vitest';
import { parseId3v1, parseTags } from '../../../../../../src/core/pods/prepare/inspect/tags.ts';
import { cleanTags, findTags, shortenTags } from '../../../../../../src/core/resources/upload/tags.ts';

describe('tags have a name in each kind of file', () => {
  test.each([
    ['Vorbis and Matroska', { TITLE: 'Song', ARTIST: 'Ada', ALBUM: 'One', ISRC: 'USRC17607839', LABEL: 'Lab' }],
    ['MP4', { title: 'Song', artist: 'Ada', album: 'One', ISRC: 'USRC17607839', LABEL: 'Lab' }],
    ['ID3v2.3', { title: 'Song', artist: 'Ada', album: 'One', TSRC: 'us-rc1-76-07839', publisher: 'Lab' }],
    ['ID3v2.2', { title: 'Song', album_artist: 'Ada', album: 'One', TRC: 'USRC17607839', TPB: 'Lab' }],
  ])('%s', (_kind, stated) => {
    expect(parseTags(stated)).toEqual({
      title: 'Song',
      artist: 'Ada',
      album: 'One',
      isrc: 'USRC17607839',
      label: 'Lab',
    });
  });

  test('a licence may be an address, or contain one', () => {
    const licenseUrl = 'https://creativecommons.org/licenses/by/4.0/';
    expect(parseTags({ LICENSE: licenseUrl })).toEqual({ license: licenseUrl, licenseUrl });
    const license = `2026 Ada. Licensed to the public under ${licenseUrl}.`;
    expect(parseTags({ copyright: license })).toEqual({ license, licenseUrl });
    expect(parseTags({ copyright: '2026 Ada' })).toBeUndefined();
  });
});

describe('nothing of a hostile file reaches people', () => {
  test.each([
    ['a title of a megabyte', { title: 'x'.repeat(2 ** 20) }, { title: 'x'.repeat(256) }],
    ['NULs and control characters', { title: 'a\0b\u0007\u001b[31mc\u0085' }, { title: 'a b [31mc' }],
    ['what turns the direction of text', { artist: '\u202egpj\u2066.\ufeff' }, { artist: 'gpj.' }],
    ['half a character', { artist: 'a\ud800b' }, { artist: 'a\ufffdb' }],
    ['lines', { album: ' one\r\n\ttwo ' }, { album: 'one two' }],
    ['nothing but space', { title: ' \n\u200f' }, undefined],
    ['what is no code', { isrc: 'Radio' }, undefined],
    ['an address of a script', { licenseUrl: 'javascript:alert(1)' }, undefined],
    ['a password', { licenseUrl: 'https://ada:secret@example.com/' }, undefined],
    ['an address without end', { licenseUrl: `https://example.com/${'x'.repeat(300)}` }, undefined],
  ])('%s', (_what, stated, kept) => {
    expect(cleanTags(stated)).toEqual(kept);
  });

  test('a character of two halves is not cut', () => {
    expect(cleanTags({ title: `${'x'.repeat(255)}🎵` })).toEqual({ title: 'x'.repeat(255) });
  });

  test('a part of an address is none', () => {
    const url = 'https://example.com/licence';
    expect(shortenTags({ title: 'Song 1', licenseUrl: url }, 4)).toEqual({ title: 'Song' });
    expect(shortenTags({ title: 'Song 1', licenseUrl: url }, 40)).toEqual({ title: 'Song 1', licenseUrl: url });
  });
});

test('ID3v1 is read in UTF-8 or ISO 8859-1, and nothing else is', () => {
  const write = (title: Buffer) => Buffer.concat([Buffer.from('TAG'), title], 128);
  expect(parseId3v1(write(Buffer.from('Caf\u00e9', 'latin1')))).toEqual({ title: 'Café' });
  expect(parseId3v1(write(Buffer.from('Café\0x')))).toEqual({ title: 'Café' });
  expect(parseId3v1(Buffer.alloc(128))).toBeUndefined();
  expect(parseId3v1(Buffer.from('TAG'))).toBeUndefined();
});

test('a word of the owner goes before that of the file, one by one', () => {
  const status = { media: { tags: { title: 'track01', artist: 'Ada' } } };
  expect(findTags({ spec: { tags: { title: 'Song' } }, status })).toEqual({ title: 'Song', artist: 'Ada' });
  expect(findTags({ spec: {} })).toEqual({});
});
