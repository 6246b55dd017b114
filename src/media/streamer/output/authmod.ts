/**
 * Answers the challenge of an RTMP server that asks for a user name and password. Nobody has specified it: Adobe's Flash Media Live
 * Encoder began it (`authmod=adobe`), Limelight varied it (`authmod=llnw`, RFC 2617's digest); ffmpeg (`rtmpproto.c`) and librtmp, of
 * which OBS is made, do the same. Each turn is a connection of its own: the server refuses it with a description of what it wants, and
 * the answer is a query behind the application and tcUrl of the next one.
 * Pure: no I/O, no clock.
 */
import { createHash } from 'node:crypto';
import type { Login } from '../../../resources/destination/login.ts';

export type Challenge =
  /** The server does not ask for a login, or has another reason to refuse. */
  | { kind: 'none' }
  /** It asks who it is. */
  | { kind: 'name'; query: string }
  | { kind: 'password'; query: string }
  | { kind: 'refused'; why: string };

const NONE: Challenge = { kind: 'none' };
/** From a server that nobody knows to a line of ffmpeg's preset. */
const FIT = /^[^\s&\p{Cc}]{1,300}$/u;

const md5 = (encoding: 'base64' | 'hex', ...parts: string[]): string =>
  createHash('md5').update(parts.join('')).digest(encoding);

/** Values are not URL-encoded: base64 has `+` and `=`. */
function readQuery(text: string): ReadonlyMap<string, string> {
  const pairs = text.split('&').map((pair): [string, string] => {
    const [name = '', value = ''] = pair.split(/=(.*)/s);
    return [name, value];
  });
  return new Map(pairs.filter(([, value]) => FIT.test(value)));
}

export interface LoginAttempt {
  login: Login;
  /** As it was asked for first, without an answer. */
  app: string;
  /** Eight hexadecimal digits, new for each answer. */
  nonce: string;
}

/** `description`: why the server has refused the connection, e.g. `[ code=403 need auth; authmod=adobe ]`. */
export function answerChallenge(description: string, attempt: LoginAttempt): Challenge {
  const [, mod] = /authmod=(adobe|llnw)\b/.exec(description) ?? [];
  if (mod === undefined) return NONE;
  const [, reason, rest = ''] = /\?reason=(\w+)([^\s\]]*)/.exec(description) ?? [];
  if (reason === 'nosuchuser') return { kind: 'refused', why: 'it does not know the user name' };
  if (reason !== undefined && reason !== 'needauth') return { kind: 'refused', why: '' };
  const { user } = attempt.login;
  if (reason === undefined) return { kind: 'name', query: `?authmod=${mod}&user=${user}` };
  const asked = readQuery(rest.replace(/^[?&]/, ''));
  const answer = mod === 'adobe' ? answerAdobe(asked, attempt) : answerDigest(asked, attempt);
  return { kind: 'password', query: `?authmod=${mod}&user=${user}&${answer}` };
}

function answerAdobe(asked: ReadonlyMap<string, string>, { login, nonce }: LoginAttempt): string {
  const opaque = asked.get('opaque');
  const salted = md5('base64', login.user, asked.get('salt') ?? '', login.password);
  const response = md5('base64', salted, opaque ?? asked.get('challenge') ?? '', nonce);
  return `challenge=${nonce}&response=${response}${opaque === undefined ? '' : `&opaque=${opaque}`}`;
}

/** RFC 2617, 3.2.2, with the realm and the count that all servers of it have. */
function answerDigest(asked: ReadonlyMap<string, string>, { login, app, nonce: cnonce }: LoginAttempt): string {
  const [nonce, count] = [asked.get('nonce') ?? '', '00000001'];
  const path = app.split('?', 1)[0] ?? '';
  const secret = md5('hex', `${login.user}:live:${login.password}`);
  const what = md5('hex', `publish:/${path}${path.includes('/') ? '' : '/_definst_'}`);
  const response = md5('hex', [secret, nonce, count, cnonce, 'auth', what].join(':'));
  return `nonce=${nonce}&cnonce=${cnonce}&nc=${count}&response=${response}`;
}
