/** Tests share links as people copy them from their browsers, against stand-ins for the services. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { findBehindPage, toDirectLink } from '../../../../../../src/core/pods/prepare/link/share-links.ts';
import { failure, fetched } from '../../../../../kit/make/links.ts';
import { serve } from '../../../../../kit/serve.ts';

const ID = '1aB-cD_eFgHiJkLmNoPqRsTuVwXyZ0123';
const DRIVE = `https://drive.usercontent.google.com/download?id=${ID}&export=download&confirm=t`;

describe('a share link becomes a direct one', () => {
  test.each([
    [`https://drive.google.com/file/d/${ID}/view?usp=sharing`, DRIVE],
    [`https://drive.google.com/file/d/${ID}`, DRIVE],
    [`https://drive.google.com/file/u/1/d/${ID}/edit`, DRIVE],
    [`https://drive.google.com/file/d/${ID}/preview#t=10`, DRIVE],
    [`https://drive.google.com/a/example.com/file/d/${ID}/view`, DRIVE],
    [`https://docs.google.com/file/d/${ID}/edit`, DRIVE],
    [`https://drive.google.com/open?id=${ID}`, DRIVE],
    [`https://drive.google.com/uc?id=${ID}`, DRIVE],
    [`https://drive.google.com/uc?export=download&id=${ID}`, DRIVE],
    [`https://drive.google.com/u/0/uc?id=${ID}&export=download`, DRIVE],
    [`https://drive.usercontent.google.com/download?id=${ID}`, DRIVE],
    [`https://drive.google.com/file/d/${ID}/view?resourcekey=0-abc`, `${DRIVE}&resourcekey=0-abc`],
    ['https://www.dropbox.com/s/abc123/film.mp4?dl=0', 'https://www.dropbox.com/s/abc123/film.mp4?dl=1'],
    ['https://dropbox.com/s/abc123/film.mp4', 'https://dropbox.com/s/abc123/film.mp4?dl=1'],
    [
      'https://www.dropbox.com/scl/fi/x1y2/film.mp4?rlkey=k3y&st=abc&dl=0',
      'https://www.dropbox.com/scl/fi/x1y2/film.mp4?rlkey=k3y&st=abc&dl=1',
    ],
    ['https://1drv.ms/v/s!AbCdEf?e=xyz', 'https://1drv.ms/v/s!AbCdEf?e=xyz&download=1'],
    ['https://1drv.ms/v/c/0123456789abcdef/AbCd-Ef', 'https://1drv.ms/v/c/0123456789abcdef/AbCd-Ef?download=1'],
    [
      'https://onedrive.live.com/redir?resid=ABC!123&authkey=!Xyz&ithint=video',
      'https://onedrive.live.com/download?resid=ABC%21123&authkey=%21Xyz&ithint=video',
    ],
    [
      'https://onedrive.live.com/embed?cid=ABC&resid=ABC%21123&authkey=%21Xyz',
      'https://onedrive.live.com/download?resid=ABC%21123&authkey=%21Xyz&cid=ABC',
    ],
    ['https://onedrive.live.com/?id=ABC%21123&cid=ABC', 'https://onedrive.live.com/download?resid=ABC%21123&cid=ABC'],
    ['https://firm.sharepoint.com/:v:/g/EabcDEF?e=x1', 'https://firm.sharepoint.com/:v:/g/EabcDEF?e=x1&download=1'],
    [
      'https://firm-my.sharepoint.com/:v:/g/personal/me_firm_com/EabcDEF?web=1',
      'https://firm-my.sharepoint.com/:v:/g/personal/me_firm_com/EabcDEF?download=1',
    ],
  ])('%s', (link, direct) => {
    const once = toDirectLink(new URL(link));
    expect(once.href).toBe(direct);
    expect(toDirectLink(once).href).toBe(direct);
  });

  test.each([
    'https://example.com/file/d/1aB-cD_eFgHiJkLmNoPq/view',
    'https://drive.google.com.evil.example/file/d/1aB-cD_eFgHiJkLmNoPq/view',
    'https://drive.google.com/drive/folders/1aB-cD_eFgHiJkLmNoPq',
    'https://www.dropbox.com/home/film.mp4',
    'https://www.dropbox.com/s/abc123/film.mp4?raw=1',
    'https://evilsharepoint.com/:v:/g/EabcDEF',
    'https://firm.sharepoint.com/sites/films/film.mp4',
    'https://onedrive.live.com/download?resid=ABC%21123',
    'https://cloud.example/s/AbCdEfGh',
  ])('but not %s', (link) => {
    expect(toDirectLink(new URL(link)).href).toBe(link);
  });

  test.each([
    ['https://cloud.example/s/AbCdEfGhIjKlMnO', 'https://cloud.example/s/AbCdEfGhIjKlMnO/download'],
    ['https://cloud.example/index.php/s/AbCdEfGh/', 'https://cloud.example/index.php/s/AbCdEfGh/download'],
    ['https://example.com/nextcloud/s/AbCdEfGh', 'https://example.com/nextcloud/s/AbCdEfGh/download'],
    [
      'https://cloud.example/s/AbCdEfGh?path=%2FFilms&files=film.mp4',
      'https://cloud.example/s/AbCdEfGh/download?path=%2FFilms&files=film.mp4',
    ],
    ['https://example.com/films/film', undefined],
    ['https://cloud.example/s/AbCdEfGh/download', undefined],
  ])('once a page came, %s', (link, direct) => {
    expect(findBehindPage(new URL(link), '<html>')?.href).toBe(direct);
  });
});

/** Starts stand-ins for services, each with the listener of its host. */
async function services(hosts: Record<string, RequestListener>) {
  const asked: string[] = [];
  const server = await serve((req: IncomingMessage, res: ServerResponse) => {
    asked.push(`${req.headers.host}${req.url}`);
    const listener = hosts[req.headers.host ?? ''];
    return listener ? listener(req, res) : res.writeHead(404).end();
  });
  return {
    asked,
    standIns: new Map(Object.keys(hosts).map((host) => [`https://${host}`, server.url])),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const page = (res: ServerResponse, html: string) => res.writeHead(200, { 'content-type': 'text/html' }).end(html);
const film = (res: ServerResponse) =>
  res.writeHead(200, { 'content-disposition': 'attachment; filename="Evening.mp4"' }).end('film');

describe('the file behind a share link is fetched', () => {
  test('from Google Drive', async () => {
    await using google = await services({
      'drive.usercontent.google.com': (req, res) =>
        /confirm=t/.test(req.url ?? '') ? film(res) : page(res, '<html><title>Virus scan warning</title>'),
    });
    const link = `https://drive.google.com/file/d/${ID}/view?usp=sharing`;
    expect(await fetched(link, google)).toMatchObject({ sizeBytes: 4, name: 'Evening.mp4' });
  });

  test('from Google Drive, which has it confirmed by a form and knows the visitor by a cookie', async () => {
    await using google = await services({
      'drive.usercontent.google.com': (req, res) => {
        if (/uuid=u-1/.test(req.url ?? '') && /visit=1/.test(req.headers.cookie ?? '')) return film(res);
        res.setHeader('set-cookie', 'visit=1; Secure; HttpOnly');
        return page(
          res,
          `<!DOCTYPE html><title>Google Drive - Virus scan warning</title><form id="download-form" action="https://drive.usercontent.google.com/download" method="get">
           <input type="submit" value="Download anyway"/><input type="hidden" name="id" value="${ID}"><input type="hidden" name="export" value="download">
           <input type="hidden" name="confirm" value="t"><input type="hidden" name="uuid" value="u-1"></form>`,
        );
      },
    });
    const link = `https://drive.google.com/open?id=${ID}`;
    // A cookie for https alone needs https: the stand-in is asked as https.
    expect(String((await fetched(link, google)).content)).toBe('film');
    expect(google.asked).toHaveLength(2);
  });

  test('from Dropbox, through its redirects', async () => {
    await using dropbox = await services({
      'www.dropbox.com': (req, res) =>
        /dl=1/.test(req.url ?? '')
          ? res.writeHead(302, { location: 'https://uc1.dl.dropboxusercontent.com/cd/0/get/x/file' }).end()
          : page(res, '<html>'),
      'uc1.dl.dropboxusercontent.com': (_, res) => film(res),
    });
    const link = 'https://www.dropbox.com/scl/fi/x1y2/film.mp4?rlkey=k3y&dl=0';
    expect(String((await fetched(link, dropbox)).content)).toBe('film');
  });

  test('from OneDrive, with a short link to a page', async () => {
    await using onedrive = await services({
      '1drv.ms': (_, res) =>
        res.writeHead(301, { location: 'https://onedrive.live.com/redir?resid=ABC!123&authkey=!Xyz' }).end(),
      'onedrive.live.com': (req, res) =>
        req.url?.startsWith('/download?resid=ABC%21123') ? film(res) : page(res, '<html>'),
    });
    expect(String((await fetched('https://1drv.ms/v/s!AbCdEf', onedrive)).content)).toBe('film');
  });

  test('from SharePoint, which knows the visitor by a cookie', async () => {
    await using sharepoint = await services({
      'firm.sharepoint.com': (req, res) => {
        if (req.url === '/films/film.mp4')
          return /FedAuth=1/.test(req.headers.cookie ?? '') ? film(res) : res.writeHead(403).end();
        if (!/download=1/.test(req.url ?? '')) return page(res, '<html>');
        return res
          .writeHead(302, { location: '/films/film.mp4', 'set-cookie': 'FedAuth=1; Secure; HttpOnly; path=/' })
          .end();
      },
    });
    expect(String((await fetched('https://firm.sharepoint.com/:v:/g/EabcDEF?e=x1', sharepoint)).content)).toBe('film');
  });

  test('from a Nextcloud of somebody’s own', async () => {
    await using cloud = await serve((req, res) =>
      req.url === '/s/AbCdEfGh/download' ? film(res) : page(res, '<html><title>Nextcloud</title>'),
    );
    expect(await fetched(`${cloud.url}/s/AbCdEfGh`)).toMatchObject({ sizeBytes: 4, name: 'Evening.mp4' });
  });

  test('and a page behind the page is reported as one', async () => {
    await using cloud = await serve((_, res) => page(res, '<html><title>Password needed</title>'));
    await expect(fetched(`${cloud.url}/s/AbCdEfGh`)).rejects.toThrow(failure('link_is_a_page', 'Password needed'));
  });

  test('but never from a private address, to which a page or a redirect may lead', async () => {
    const form = '<form id="download-form" action="http://169.254.169.254/latest"><input name="id" value="1"></form>';
    await using google = await services({
      'drive.usercontent.google.com': (_, res) => page(res, `<!doctype html>${form}`),
      'www.dropbox.com': (_, res) => res.writeHead(302, { location: 'http://[fd00:ec2::254]:9/latest' }).end(),
    });
    await expect(fetched(`https://drive.google.com/open?id=${ID}`, google)).rejects.toThrow(failure('link_forbidden'));
    const options = { ...google, allowPrivateLinks: false };
    const dropbox = fetched('https://www.dropbox.com/s/abc/film.mp4', options);
    await expect(dropbox).rejects.toThrow(failure('link_forbidden'));
  });
});
