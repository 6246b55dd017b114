/**
 * Attacks the programs that read strangers' texts and tables with few bytes that would take them hours: each part may be divided in many ways,
 * or compared with all others. A test that never ends has found such a place.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { tidyUrl } from '../../src/core/lib/pasted.ts';
import { readErrorDocument, recognizePage } from '../../src/core/pods/prepare/link/page.ts';
import { hasPlaceholder } from '../../src/core/resources/destination/placeholders.ts';
import { DestinationCreate } from '../../src/service/domain/destinations/record.ts';
import { withoutValues } from '../../src/service/server/graphql/errors.ts';
import { tidyMetadata } from '../../src/service/server/tus/headers.ts';
import { importMedia } from '../kit/make/imports.ts';
import { fetchedFrom } from '../kit/make/links.ts';
import { makeMedia } from '../kit/make/made-media.ts';
import { tempDir } from '../kit/temp-dir.ts';
import { addToBox } from './boxes.ts';

const dir = tempDir();

describe('a page of comments', () => {
  const comments = '<!---->'.repeat(60);

  test('is recognized by its type, as any page', async () => {
    const page = fetchedFrom((_, res) => res.setHeader('content-type', 'text/html').end(`${comments}<x`));
    await expect(page).rejects.toMatchObject({ code: 'link_is_a_page' });
  });

  test.each([
    ['no element behind them', `${comments}<x`, undefined],
    ['an element behind them', `<?xml version="1.0"?>\n${comments}\n<body>`, { isHtml: true }],
    ['one that never ends', `${comments}<!--`, undefined],
  ])('with %s is read once', (_, page, expected) => {
    if (expected) expect(recognizePage(Buffer.from(page), 'video/mp4')).toMatchObject(expected);
    else expect(recognizePage(Buffer.from(page), 'video/mp4')).toBeUndefined();
  });

  test('with a title that begins again and again is read once', () => {
    const page = Buffer.from(`<html>${'<title'.repeat(200_000)}`);
    expect(recognizePage(page, 'video/mp4')?.detail).not.toContain('The title');
    expect(readErrorDocument(Buffer.from(`<a>${'<Code'.repeat(200_000)}`))).toBeUndefined();
  });
});

describe('a film with more boxes in one box than any program writes', () => {
  const boxes = (count: number, type: (n: number) => number) => {
    const bytes = Buffer.alloc(8 * count);
    for (let n = 0; n < count; n++) {
      bytes.writeUInt32BE(8, 8 * n);
      bytes.writeUInt32BE(type(n), 8 * n + 4);
    }
    return bytes;
  };
  const film = async () =>
    await readFile(
      await makeMedia(
        join(dir, 'film.mp4'),
        ...['-f', 'lavfi', '-i', 'color=red:s=64x64:r=25:d=1', '-c:v', 'libx264', '-preset', 'ultrafast'],
      ),
    );
  const STBL = ['moov', 'trak', 'mdia', 'minf', 'stbl'];

  test.each([
    ['a sample table', STBL],
    ['a track', ['moov', 'trak']],
    ['a movie', ['moov']],
  ])('in %s is refused, with the limit', async (_, path) => {
    const bomb = addToBox(
      await film(),
      path,
      boxes(400_000, (n) => 0x61000000 + n),
    );
    await expect(importMedia(bomb)).rejects.toMatchObject({
      code: 'media_too_complex',
      message: expect.stringMatching(/1,000 boxes .*ffmpeg -i/),
    });
  });

  test('with a few hundred is imported', async () => {
    const odd = addToBox(
      await film(),
      STBL,
      boxes(500, (n) => 0x61000000 + n),
    );
    expect((await importMedia(odd)).durationSeconds).toBe(1);
  });
});

test('padding within the metadata of an upload is read once', () => {
  const header = `filename ${'='.repeat(1_000_000)}x`;
  expect(tidyMetadata(header)?.startsWith('filename ===')).toBe(true);
});

test('a key of blanks is refused at once', () => {
  const key = `${' '.repeat(1_000_000)}"`;
  const problems = Value.Errors(DestinationCreate, { name: 'a', rtmpUrl: 'rtmp://example.com/live', rtmpKey: key });
  expect([...problems].some(({ instancePath }) => instancePath === '/rtmpKey')).toBe(true);
});

test.each([
  ['of an enum', `${'Value "'.repeat(150_000)}`],
  ['of a text', `${'String cannot represent '.repeat(50_000)}`],
])('an error of GraphQL that repeats a value %s is rewritten at once', (_, message) => {
  expect(withoutValues(message).length).toBeLessThanOrEqual(message.length);
});

test('an address of placeholders that never end is read at once', () => {
  expect(hasPlaceholder(`{${'key'.repeat(100_000)}`)).toBe(false);
  expect(tidyUrl(`x${' '.repeat(1_000_000)}x`)).toHaveLength(1_000_002);
});
