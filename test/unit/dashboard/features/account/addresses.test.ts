import { describe, expect, test } from 'vitest';
import { ConnectionError } from '../../../../../src/client/index.ts';
import {
  askAgain,
  describingHost,
  hasPasskeys,
  isOpenPage,
  mayFollow,
  nextOf,
  oauthQueryOf,
  placeOf,
  signInAgain,
  tokenIn,
} from '../../../../../src/dashboard/features/account/addresses.ts';
import { browserOf } from '../../../../../src/dashboard/features/account/browsers.ts';
import { PeopleError } from '../../../../../src/dashboard/features/account/people.ts';
import { meaningsOf } from '../../../../../src/dashboard/features/account/scopes.ts';
import { outsideText, peopleMistakes, peopleText } from '../../../../../src/dashboard/features/account/sentences.ts';

const ORIGIN = 'https://loops.example.com';

describe('after signing in', () => {
  test('one goes where one was going, within this site', () => {
    expect(nextOf('?next=%2Fstreams%2Fstr-1%3Ftab%3D2%23x', ORIGIN)).toBe('/streams/str-1?tab=2#x');
    expect(nextOf('', ORIGIN)).toBe('/');
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
    const to = nextOf(`?${new URLSearchParams({ next })}`, ORIGIN);
    expect(new URL(to, ORIGIN).origin).toBe(ORIGIN);
    expect(isOpenPage(new URL(to, ORIGIN).pathname)).toBe(false);
  });

  test("a program's signed parameters return unchanged, and only if they were signed", () => {
    expect(oauthQueryOf('?client_id=a&scope=b%20c+d&sig=x%3D')).toBe('client_id=a&scope=b%20c+d&sig=x%3D');
    // Our own additions do not belong to the program.
    expect(oauthQueryOf('?client_id=a&sig=x&error=access_denied&next=%2F')).toBe('client_id=a&sig=x');
    expect(oauthQueryOf('?client_id=a')).toBeUndefined();
    expect(oauthQueryOf('')).toBeUndefined();
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

  test('a person whom a provider refused learns what to do, and nothing of the address', () => {
    expect(outsideText('access_denied')).toContain('did not allow the sign-in');
    expect(outsideText('<b>call me')).toBe(outsideText('failed'));
    expect(outsideText('constructor')).toBe(outsideText('failed'));
  });

  test.each(['javascript:alert(1)', 'JavaScript:alert(1)', 'data:text/html,x', 'blob:https://a/b', 'file:///etc', 'x'])(
    '%s is not gone to for a program',
    (url) => expect(mayFollow(url)).toBe(false),
  );

  test.each(['https://a.example/cb?code=1', 'http://127.0.0.1:7777/cb', 'com.example.app:/cb'])('%s is', (url) =>
    expect(mayFollow(url)).toBe(true),
  );

  test('a place has its common name', () => {
    expect(placeOf('https://apps.example.com:8443/cb')).toBe('apps.example.com:8443');
    expect(placeOf('http://127.0.0.1:7777/cb')).toBe('a program on this device');
    expect(placeOf('com.example.app:/cb')).toBe('the app com.example.app on this device');
    expect(placeOf('cursor://anysphere.cursor-mcp/oauth/callback')).toBe('the app cursor on this device');
    expect(placeOf('')).toContain('unreadable');
  });

  test('a client with a document is named with its host; one that registered itself is not', () => {
    expect(describingHost('https://apps.example.com:8443/oauth/client.json')).toBe('apps.example.com:8443');
    expect(describingHost('k3yZ8bQw')).toBeUndefined();
    expect(describingHost('https:')).toBeUndefined();
  });
});

test('the token of a letter is in the fragment alone', () => {
  expect(tokenIn('#token=a.b-c')).toBe('a.b-c');
  for (const none of ['', '#', '#token=', '#key=x']) expect(tokenIn(none)).toBeUndefined();
});

test('scopes have words, each once, grave ones last; an unknown one is grave', () => {
  const told = meaningsOf(['any:destructive', 'any:read', 'openid', 'any:read', 'any:root']);
  expect(told.map(({ grave }) => grave)).toEqual([false, false, true, true]);
  expect(told.map(({ text }) => text).join('\n')).toMatch(/never a stream key[\s\S]*permanently\nany:root/);
});

test('errors have sentences of ours, with the next step', () => {
  expect(peopleText(new PeopleError(401, 'INVALID_EMAIL_OR_PASSWORD', ''))).toMatch(/is wrong/);
  expect(peopleText(new PeopleError(429, 'rate_limited', 'Wait 30 seconds.'))).toBe('Wait 30 seconds.');
  expect(peopleText(new PeopleError(500, 'X', 'select * from'))).not.toContain('select');
  expect(peopleText(new PeopleError(418, 'NEW', ''))).toMatch(/[.]$/);
  expect(peopleText(new ConnectionError('x'))).toContain('does not respond');
  expect(peopleText(new TypeError('x is not a function'))).not.toContain('function');
});

test('an error about a field stands at it, where the form has it', () => {
  const long = new PeopleError(400, 'PASSWORD_TOO_LONG', '');
  expect(peopleMistakes(long, ['email', 'newPassword'])).toEqual({
    fields: { newPassword: peopleText(long) },
    rest: undefined,
  });
  expect(peopleMistakes(long, ['email'])).toEqual({ fields: {}, rest: peopleText(long) });
  expect(peopleMistakes(new ConnectionError('x'), ['email']).rest).toContain('does not respond');
});

test('a browser has the name that it claims', () => {
  const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36';
  expect(browserOf(chrome)).toBe('Chrome on Linux');
  expect(browserOf(`${chrome} Edg/140.0`)).toBe('Edge on Linux');
  expect(browserOf('Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1')).toBe(
    'Safari on iOS',
  );
  expect(browserOf('curl/8')).toBe('A program');
  expect(browserOf(null)).toBe('A program');
});
