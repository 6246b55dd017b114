import { describe, expect, test } from 'vitest';
import {
  askAgain,
  describeUrl,
  describingHost,
  findPasskeySite,
  hasPasskeys,
  isOpenPage,
  mayFollow,
  parseNext,
  readOAuthQuery,
  signInAgain,
  tokenIn,
} from '../../../../../src/dashboard/features/account/addresses.ts';
import { AuthApiError } from '../../../../../src/dashboard/features/account/authApi.ts';
import {
  explainAuthError,
  explainOutsideError,
  findAuthFieldErrors,
} from '../../../../../src/dashboard/features/account/authErrors.ts';
import { nameBrowser } from '../../../../../src/dashboard/features/account/browsers.ts';
import { listMeanings } from '../../../../../src/dashboard/features/account/scopes.ts';
import { ConnectionError } from '../../../../../src/service/client/index.ts';

const ORIGIN = 'https://loops.example.com';

describe('after signing in', () => {
  test('one goes where one was going, within this site', () => {
    expect(parseNext('?next=%2Fstreams%2Fstr-1%3Ftab%3D2%23x', ORIGIN)).toBe('/streams/str-1?tab=2#x');
    expect(parseNext('', ORIGIN)).toBe('/');
  });

  test.each([
    ...[
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '/\t/evil.example',
      'javascript:alert(1)',
      'streams',
    ],
    ...['/sign-in', '/sign-in/', '/consent?x=1', 'http:evil.example', '/%zz\u0000//evil'],
  ])('?next=%s leads nowhere else', (next) => {
    const to = parseNext(`?${new URLSearchParams({ next })}`, ORIGIN);
    expect(new URL(to, ORIGIN).origin).toBe(ORIGIN);
    expect(isOpenPage(new URL(to, ORIGIN).pathname)).toBe(false);
  });

  test("a program's signed parameters return unchanged, and only if they were signed", () => {
    expect(readOAuthQuery('?client_id=a&scope=b%20c+d&sig=x%3D')).toBe('client_id=a&scope=b%20c+d&sig=x%3D');
    // Our own additions do not belong to the program.
    expect(readOAuthQuery('?client_id=a&sig=x&error=access_denied&next=%2F')).toBe('client_id=a&sig=x');
    expect(readOAuthQuery('?client_id=a')).toBeUndefined();
    expect(readOAuthQuery('')).toBeUndefined();
  });

  test('the way back to signing in keeps its own parameters, and no others', () => {
    expect(signInAgain('?client_id=a&sig=x&error=e&x=1')).toBe('/sign-in?client_id=a&sig=x&x=1');
    expect(signInAgain('?next=%2Fstreams%3Fa%3D1&error=e')).toBe('/sign-in?next=%2Fstreams%3Fa%3D1');
    expect(signInAgain('?error=e')).toBe('/sign-in');
  });

  test('an expired request begins again, without its signature', () => {
    const signed = 'client_id=a&state=1+2&exp=7&ba_iat=1&ba_pl=s&ba_param=a&ba_param=b&sig=x';
    expect(askAgain(signed)).toBe('/api/auth/oauth2/authorize?client_id=a&state=1+2');
  });

  test('passkeys are for names', () => {
    expect(['loops.example.com', 'localhost'].map(hasPasskeys)).toEqual([true, true]);
    expect(['127.0.0.1', '[::1]'].map(hasPasskeys)).toEqual([false, false]);
  });

  test('passkeys are offered at the address of the service alone, and other addresses name it', () => {
    const at = (origin: string) => ({ origin, pathname: '/sign-in', search: '?next=%2Fstreams' });
    const find = (origin: string, publicUrl?: string) => String(findPasskeySite(at(origin), publicUrl));
    expect(find('http://localhost:8080', 'http://localhost:8080')).toBe('here');
    expect(find('https://loops.example.com', 'https://loops.example.com/')).toBe('here');
    const there = 'http://localhost:8080/sign-in?next=%2Fstreams';
    expect(find('http://127.0.0.1:8080', 'http://localhost:8080')).toBe(there);
    expect(find('http://localhost:9090', 'http://localhost:8080')).toBe(there);
    expect(find('http://127.0.0.1:8080', 'http://127.0.0.1:8080')).toBe('undefined');
    expect(find('http://localhost:8080')).toBe('undefined');
  });

  test('a person whom a provider refused learns what to do, and nothing of the address', () => {
    expect(explainOutsideError('access_denied')).toContain('did not allow the sign-in');
    expect(explainOutsideError('<b>call me')).toBe(explainOutsideError('failed'));
    expect(explainOutsideError('constructor')).toBe(explainOutsideError('failed'));
  });

  test.each(['javascript:alert(1)', 'JavaScript:alert(1)', 'data:text/html,x', 'blob:https://a/b', 'file:///etc', 'x'])(
    '%s is not gone to for a program',
    (url) => expect(mayFollow(url)).toBe(false),
  );

  test.each(['https://a.example/cb?code=1', 'http://127.0.0.1:7777/cb', 'com.example.app:/cb'])('%s is', (url) =>
    expect(mayFollow(url)).toBe(true),
  );

  test('a place has its common name', () => {
    expect(describeUrl('https://apps.example.com:8443/cb')).toBe('apps.example.com:8443');
    expect(describeUrl('http://127.0.0.1:7777/cb')).toBe('a program on this device');
    expect(describeUrl('com.example.app:/cb')).toBe('the app com.example.app on this device');
    expect(describeUrl('cursor://anysphere.cursor-mcp/oauth/callback')).toBe('the app cursor on this device');
    expect(describeUrl('')).toContain('unreadable');
  });

  test('a client with a document is named with its host; one that registered itself is not', () => {
    expect(describingHost('https://apps.example.com:8443/oauth/client.json')).toBe('apps.example.com:8443');
    expect(describingHost('k3yZ8bQw')).toBeUndefined();
    expect(describingHost('https:')).toBeUndefined();
  });
});

test('the token of a mail is in the fragment alone', () => {
  expect(tokenIn('#token=a.b-c')).toBe('a.b-c');
  for (const none of ['', '#', '#token=', '#key=x']) expect(tokenIn(none)).toBeUndefined();
});

test('scopes have words, each once, grave ones last; an unknown one is grave', () => {
  const told = listMeanings(['any:destructive', 'any:read', 'openid', 'any:read', 'any:root']);
  expect(told.map(({ grave }) => grave)).toEqual([false, false, true, true]);
  expect(told.map(({ text }) => text).join('\n')).toMatch(/never a stream key[\s\S]*permanently\nany:root/);
});

test('errors have sentences of ours, with the next step', () => {
  expect(explainAuthError(new AuthApiError(401, 'INVALID_EMAIL_OR_PASSWORD', ''))).toMatch(/is wrong/);
  expect(explainAuthError(new AuthApiError(429, 'rate_limited', 'Wait 30 seconds.'))).toBe('Wait 30 seconds.');
  expect(explainAuthError(new AuthApiError(500, 'X', 'select * from'))).not.toContain('select');
  expect(explainAuthError(new AuthApiError(418, 'NEW', ''))).toMatch(/[.]$/);
  expect(explainAuthError(new ConnectionError('x'))).toContain('does not respond');
  expect(explainAuthError(new TypeError('x is not a function'))).not.toContain('function');
});

test('an error about a field stands at it, where the form has it', () => {
  const long = new AuthApiError(400, 'PASSWORD_TOO_LONG', '');
  expect(findAuthFieldErrors(long, ['email', 'newPassword'])).toEqual({
    fields: { newPassword: explainAuthError(long) },
    rest: undefined,
  });
  expect(findAuthFieldErrors(long, ['email'])).toEqual({ fields: {}, rest: explainAuthError(long) });
  expect(findAuthFieldErrors(new ConnectionError('x'), ['email']).rest).toContain('does not respond');
});

test('a browser has the name that it claims', () => {
  const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36';
  expect(nameBrowser(chrome)).toBe('Chrome on Linux');
  expect(nameBrowser(`${chrome} Edg/140.0`)).toBe('Edge on Linux');
  expect(nameBrowser('Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1')).toBe(
    'Safari on iOS',
  );
  expect(nameBrowser('curl/8')).toBe('A program');
  expect(nameBrowser(null)).toBe('A program');
});
