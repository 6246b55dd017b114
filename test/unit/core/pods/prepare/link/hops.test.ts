/** Tests redirects and cookies of one import: it follows and keeps them as browsers do. */
import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { Cookies } from '../../../../../../src/core/pods/prepare/link/cookies.ts';
import { failure, fetched, fetchedFrom, serveRaw } from '../../../../../kit/make/links.ts';
import { serve } from '../../../../../kit/serve.ts';

const hopping: RequestListener = (req, res) => {
  const left = Number(/\d+$/.exec(req.url ?? '')?.[0]);
  return left > 0 ? res.writeHead(302, { location: `/hop${left - 1}` }).end() : res.end('film');
};

describe('redirects are followed', () => {
  test('twenty of them, and not one more', async () => {
    expect(String((await fetchedFrom(hopping, {}, '/hop20')).content)).toBe('film');
    await expect(fetchedFrom(hopping, {}, '/hop21')).rejects.toThrow(failure('link_unreachable', 'more than 20 times'));
  });

  test.each([300, 301, 302, 303, 307, 308])('of status %i', async (status) => {
    const result = await fetchedFrom((req, res) =>
      req.url === '/end' ? res.end('film') : res.writeHead(status, { location: '/end' }).end(),
    );
    expect(String(result.content)).toBe('film');
  });

  const UTF8 = Buffer.from('/ночь.mp4');
  test.each<[string, string | Buffer, string]>([
    ['raw UTF-8', UTF8, '/%D0%BD%D0%BE%D1%87%D1%8C.mp4'],
    ['raw UTF-8 of another alphabet', Buffer.from('/夜 1.mp4'), '/%E5%A4%9C%201.mp4'],
    ['raw Latin-1', Buffer.from('/été.mp4', 'latin1'), '/%E9t%E9.mp4'],
    ['percent signs already', encodeURI('/ночь.mp4'), '/%D0%BD%D0%BE%D1%87%D1%8C.mp4'],
    ['blanks around', '  /film.mp4  ', '/film.mp4'],
    ['a fragment', '/film.mp4#t=10', '/film.mp4'],
    ['dots', 'x/../film.mp4', '/film.mp4'],
    ['a query of its own', '?file=film.mp4', '/a.mp4?file=film.mp4'],
    ['a backslash', '\\film.mp4', '/film.mp4'],
  ])('to a Location with %s', async (_what, location, expected) => {
    const asked: string[] = [];
    await using server = await serveRaw((socket, request) => {
      const path = /^GET (\S+)/.exec(request)?.[1] ?? '';
      asked.push(path);
      if (asked.length > 1) return socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfilm');
      socket.write('HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\nLocation: ');
      socket.write(location);
      return socket.end('\r\n\r\n');
    });
    await fetched(`${server.url}/a.mp4`);
    expect(asked[1]).toBe(expected);
  });

  test('to another host that is named without a scheme', async () => {
    await using other = await serve((_, res) => res.end('film'));
    const result = await fetchedFrom((_, res) =>
      res.writeHead(302, { location: other.url.replace('http:', '') }).end(),
    );
    expect(String(result.content)).toBe('film');
  });

  test.each([
    ['ftp://example.com/film.mp4', 'link_forbidden', 'Only http and https'],
    ['javascript:alert(1)', 'link_forbidden', 'Only http and https'],
    ['http://169.254.169.254/latest', 'link_forbidden', 'is not public'],
    ['http://[', 'link_unreachable', 'an invalid link'],
  ])('but not to %s', async (location, code, message) => {
    const asking = fetchedFrom((_, res) => res.writeHead(302, { location }).end());
    await expect(asking).rejects.toThrow(failure(code, message));
  });

  test('and one without a location is reported', async () => {
    await expect(fetchedFrom((_, res) => res.writeHead(302).end())).rejects.toThrow(failure('link_unreachable', '302'));
  });
});

test('no other host gets the link’s login, and no host the login of a redirect', async () => {
  const told: (string | undefined)[] = [];
  await using other = await serve((req, res) => {
    told.push(req.headers.authorization);
    res.end('film');
  });
  await using server = await serve((_, res) =>
    res.writeHead(302, { location: other.url.replace('http://', 'http://you:there@') }).end(),
  );
  await fetched(server.url.replace('http://', 'http://me:50%@'));
  expect(told).toEqual([undefined]);
});

describe('cookies go back to the host that set them', () => {
  test('through its redirects, and for the rest of a file that broke off', async () => {
    const seen: (string | undefined)[] = [];
    const body = Buffer.alloc(100_000, 'x');
    const result = await fetchedFrom((req, res) => {
      seen.push(req.headers.cookie);
      if (req.url === '/a.mp4')
        return res.writeHead(302, { location: '/file', 'set-cookie': ['visitor=anon; Path=/; HttpOnly', 'b=2'] }).end();
      if (seen.length === 2) {
        res.writeHead(200, { etag: '"a"', 'content-length': body.length });
        return res.write(body.subarray(0, 50_000), () => res.destroy());
      }
      const from = Number(/\d+/.exec(req.headers.range ?? '')?.[0] ?? 0);
      return res
        .writeHead(206, { etag: '"a"', 'content-range': `bytes ${from}-99999/100000` })
        .end(body.subarray(from));
    });
    expect(result.sizeBytes).toBe(100_000);
    expect(seen[0]).toBeUndefined();
    expect(seen.slice(1).every((cookie) => cookie === 'visitor=anon; b=2')).toBe(true);
  });

  test('and to no other, whatever they claim', async () => {
    const seen: (string | undefined)[] = [];
    await using other = await serve((req, res) => {
      seen.push(req.headers.cookie);
      res.end('film');
    });
    await using server = await serve((_, res) =>
      res.writeHead(302, { location: other.url, 'set-cookie': ['a=1', 'b=2; Domain=localhost', 'c=3; Path=/'] }).end(),
    );
    await fetched(server.url);
    expect(seen).toEqual([undefined]);
  });

  test('nor to another import', async () => {
    const seen: (string | undefined)[] = [];
    await using server = await serve((req, res) => {
      seen.push(req.headers.cookie);
      res.setHeader('set-cookie', 'visitor=anon').end('film');
    });
    await fetched(server.url);
    await fetched(server.url);
    expect(seen).toEqual([undefined, undefined]);
  });

  const HOST = new URL('https://media.films.example.com/a/b');
  test.each([
    ['for its own host', 'a=1', 'https://media.films.example.com/a/c', 'a=1'],
    ['for its domain, to its own host', 'a=1; Domain=example.com', 'https://media.films.example.com/a/', 'a=1'],
    ['for its domain, to a sister', 'a=1; Domain=example.com', 'https://www.example.com/', undefined],
    ['for a public suffix', 'a=1; Domain=com', 'https://media.films.example.com/a/', undefined],
    ['for a host of its own', 'a=1; Domain=evil.example', 'https://evil.example/', undefined],
    ['of another path', 'a=1; Path=/x', 'https://media.films.example.com/a/', undefined],
    ['for https alone', 'a=1; Secure', 'http://media.films.example.com/a/', undefined],
    ['that is over', 'a=1; Max-Age=0', 'https://media.films.example.com/a/', undefined],
    ['that is none', '; ; =', 'https://media.films.example.com/a/', undefined],
  ])('one %s', async (_what, header, url, expected) => {
    const cookies = new Cookies();
    await cookies.take(header, HOST);
    expect(await cookies.header(new URL(url))).toBe(expected);
  });

  test('up to a number and a size', async () => {
    const cookies = new Cookies();
    await cookies.take(
      Array.from({ length: 1000 }, (_, i) => `c${i}=1`),
      HOST,
    );
    await cookies.take(`long=${'x'.repeat(10_000)}`, HOST);
    expect((await cookies.header(HOST))?.split('; ')).toHaveLength(50);
  });
});
