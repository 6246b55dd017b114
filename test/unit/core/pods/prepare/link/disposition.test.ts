/** Tests file names as servers write them: by the standards (RFC 6266, RFC 8187), and otherwise. */
import { describe, expect, test } from 'vitest';
import { readDispositionName } from '../../../../../../src/core/pods/prepare/link/disposition.ts';
import { fetchedFrom } from '../../../../../kit/make/links.ts';

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

describe('a file is named', () => {
  test.each<[string, string]>([
    [`attachment; filename="x.mp4"; filename*=UTF-8''Evening%20prayer.mp4`, 'Evening prayer.mp4'],
    [`attachment; filename*=UTF-8''%E2%82%AC%20rates.mp4; filename="x.mp4"`, '€ rates.mp4'],
    [`attachment; filename*=iso-8859-1'en'%A3%20rates.mp4`, '£ rates.mp4'],
    [`attachment; filename*=utf-8'ru'%D0%BD%D0%BE%D1%87%D1%8C.mp4`, 'ночь.mp4'],
    [`attachment; filename*=UTF-8''; filename="x.mp4"`, 'x.mp4'],
    [`attachment; filename*=garbage; filename="x.mp4"`, 'x.mp4'],
    ['attachment; filename="film.mp4"', 'film.mp4'],
    ['inline; filename=film.mp4', 'film.mp4'],
    ['ATTACHMENT; FILENAME="film.mp4"', 'film.mp4'],
    ['attachment;filename=my film.mp4;size=3', 'my film.mp4'],
    ['attachment; filename = "film.mp4"', 'film.mp4'],
    ['attachment; filename="say \\"no\\".mp4"', 'say "no".mp4'],
    ['attachment; filename="a; b.mp4"', 'a; b.mp4'],
    ["attachment; filename='film.mp4'", "'film.mp4'"],
    ['attachment; filename="film.mp4', 'film.mp4'],
    ['attachment; filename="my%20film.mp4"', 'my film.mp4'],
    ['attachment; filename="100%.mp4"', '100%.mp4'],
    ['attachment; filename="=?UTF-8?B?0L3QvtGH0Ywu?=mp4"', 'ночь.mp4'],
    ['attachment; filename="=?utf-8?Q?Evening_=E2=82=AC.mp4?="', 'Evening €.mp4'],
    ['attachment; filename*0="a"; filename*1="b.mp4"', 'ab.mp4'],
    ['filename="film.mp4"', 'film.mp4'],
    [latin1('attachment; filename="ночь.mp4"'), 'ночь.mp4'],
    ['attachment; filename="\xe9t\xe9.mp4"', 'été.mp4'],
  ])('by %s', (header, name) => {
    expect(readDispositionName(header)).toBe(name);
  });

  test.each<[string, string]>([
    ['attachment; filename="/etc/passwd"', 'passwd'],
    ['attachment; filename="..\\\\..\\\\film.mp4"', 'film.mp4'],
    ['attachment; filename="C:\\films\\film.mp4"', 'film.mp4'],
    [`attachment; filename*=UTF-8''..%2F..%2Ffilm.mp4`, 'film.mp4'],
    [`attachment; filename*=UTF-8''fi%00lm%0A%1B.mp4`, 'film.mp4'],
    [`attachment; filename*=UTF-8''fi%E2%80%AE4pm.exe`, 'fi4pm.exe'],
    [`attachment; filename="${'x'.repeat(500)}"`, 'x'.repeat(200)],
    [`attachment; filename*=UTF-8''${'x'.repeat(199)}%F0%9F%98%80`, 'x'.repeat(199)],
  ])('without harmful parts, by %s', (header, name) => {
    expect(readDispositionName(header)).toBe(name);
  });

  test.each([
    '',
    'attachment',
    'inline',
    'attachment; filename=""',
    'attachment; filename=".."',
    'attachment; filename="/"',
  ])('by nothing where there is no name: %j', (header) => {
    expect(readDispositionName(header)).toBeUndefined();
  });

  test('by the answer that has the file, not by those before it', async () => {
    const named = (name: string) => ({ 'content-disposition': `attachment; filename="${name}"` });
    const result = await fetchedFrom((req, res) =>
      req.url === '/end'
        ? res.writeHead(200, named('film.mp4')).end('film')
        : res.writeHead(302, { location: '/end', ...named('other.mp4') }).end(),
    );
    expect(result.name).toBe('film.mp4');
  });
});
