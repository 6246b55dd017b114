/** Tests that a page, an error or a playlist in place of a file is reported as such. A media file counts as one whatever its type. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { failure, fetchedFrom } from '../../../../../kit/make/links.ts';
import { media, room } from '../../../../../kit/make/prepare.ts';

const serving = (type: string | undefined, body: string | Buffer) =>
  fetchedFrom((_, res) => {
    if (type !== undefined) res.setHeader('content-type', type);
    res.end(body);
  });

const HTML = '<!doctype html><html><head><title>film.mp4 &amp; more</title></head><body>Watch</body></html>';

describe('link_is_a_page', () => {
  test.each<[string, string | undefined, string | Buffer]>([
    ['a page', 'text/html; charset=utf-8', HTML],
    ['a page that calls itself a video', 'video/mp4', HTML],
    ['a page that calls itself bytes', 'application/octet-stream', HTML],
    ['a page without a type', undefined, HTML],
    ['a page after blank lines and comments', 'video/mp4', `\n\n <!-- ${'x'.repeat(1000)} -->\n${HTML}`],
    ['a page after a mark of its encoding', 'video/mp4', `\ufeff${HTML}`],
    ['a page in UTF-16', 'video/mp4', Buffer.from(`\ufeff${HTML}`, 'utf16le')],
    ['XHTML', 'application/xhtml+xml', `<?xml version="1.0"?>\n${HTML}`],
  ])('%s, with its name and the next step', async (_what, type, body) => {
    const refusal = failure(
      'link_is_a_page',
      'leads to a page, not to a file\\. The title of the page is “film.mp4 & more”\\. Use the link',
    );
    await expect(serving(type, body)).rejects.toThrow(refusal);
  });

  test.each<[string, string, string]>([
    ['a line of text that calls itself a page', 'text/html', 'File not found'],
    ['a page without a title', 'text/html', '<p>Sign in</p>'],
    ['an empty script', 'text/html', '<script>location="/login"</script>'],
  ])('%s', async (_what, type, body) => {
    await expect(serving(type, body)).rejects.toThrow(failure('link_is_a_page', 'not to a file'));
  });

  test('a page in another alphabet, by its charset', async () => {
    const body = Buffer.concat([
      Buffer.from('<html><title>'),
      Buffer.from([0xed, 0xee, 0xf7, 0xfc]),
      Buffer.from('</title>'),
    ]);
    await expect(serving('text/html; charset=windows-1251', body)).rejects.toThrow(failure('link_is_a_page', '“ночь”'));
  });

  test.each(['application/xml', 'video/mp4'])('an error of an object store with status 200, as %s', async (type) => {
    const body = '<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>The key does not exist.</Message></Error>';
    await expect(serving(type, body)).rejects.toThrow(
      failure('link_is_a_page', 'NoSuchKey: The key does not exist\\. '),
    );
  });

  test.each([
    ['application/json', '{"error":"expired"}'],
    ['application/json; charset=utf-8', '[]'],
    ['video/mp4', '{ "error": "expired" }\n'],
  ])('JSON as %s', async (type, body) => {
    await expect(serving(type, body)).rejects.toThrow(failure('link_is_a_page', 'JSON'));
  });

  test('the playlist of a stream', async () => {
    await expect(serving('application/vnd.apple.mpegurl', '#EXTM3U\n#EXT-X-VERSION:3\n')).rejects.toThrow(
      failure('link_is_a_page', 'HLS'),
    );
  });

  test('a page that is packed', async () => {
    const { gzipSync } = await import('node:zlib');
    const packed = fetchedFrom((_, res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(HTML)));
    await expect(packed).rejects.toThrow(failure('link_is_a_page', 'film.mp4'));
  });
});

describe('a file is no page', () => {
  test.each(['mp4', 'mkv', 'ts', 'mp3', 'wav', 'ogg', 'flac', 'avi', 'flv'])(
    '%s, also where the server says text/html',
    async (extension) => {
      await using place = await room();
      const sound = { audio: 'sine=d=1' };
      const isSound = ['mp3', 'wav', 'ogg', 'flac'].includes(extension);
      const path = await media(
        place.path(`in.${extension}`),
        isSound ? sound : { video: 'testsrc2=s=160x90:r=10:d=1', ...sound },
      );
      const content = await readFile(path);
      const result = await serving('text/html', content);
      expect(result.content.equals(content)).toBe(true);
    },
  );

  test('subtitles and other text are left to the media inspection', async () => {
    expect((await serving('text/plain', '1\n00:00:01,000 --> 00:00:02,000\nHello\n')).sizeBytes).toBeGreaterThan(0);
  });
});
