/**
 * Answers the challenge of an RTMP server that asks for a user name and password. The protocol has no specification:
 * Adobe's Flash Media Live Encoder began it (`authmod=adobe`), and Limelight varied it (`authmod=llnw`, the digest of
 * RFC 2617). ffmpeg (`rtmpproto.c`) and librtmp, which OBS uses, do the same. Each turn is a connection of its own: the
 * server refuses it with a description of its demand. The answer is a query behind the application and tcUrl of the
 * next connection.
 * Pure: no I/O, no clock.
 */
import { createHash } from 'node:crypto';
import type { Login } from '../../../resources/destination/login.ts';

export type Challenge =
  /** The server asks for no login, or refuses for another reason. */
  | { kind: 'none' }
  /** The server asks for the user name. */
  | { kind: 'name'; query: string }
  | { kind: 'password'; query: string }
  | { kind: 'refused'; why: string };

const NONE: Challenge = { kind: 'none' };
/** Values from an unknown server end up in a line of ffmpeg's preset. */
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
  /** The application of the first attempt, without an answer. */
  app: string;
  /** Eight hexadecimal digits, new for each answer. */
  nonce: string;
}

/** Answers a refusal; `description` is the server's reason, e.g. `[ code=403 need auth; authmod=adobe ]`. */
export function answerChallenge(description: string, attempt: LoginAttempt): Challenge {
  const [, mod] = /authmod=(adobe|llnw)\b/.exec(description) ?? [];
  if (mod === undefined) return NONE;
  const [, reason, rest = ''] = /\?reason=(\w+)([^\s\]]*)/.exec(description) ?? [];
  if (reason === 'nosuchuser') return { kind: 'refused', why: 'the server does not know the user name' };
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

/** Computes the digest of RFC 2617, 3.2.2, with the realm and the count that all such servers use. */
function answerDigest(asked: ReadonlyMap<string, string>, { login, app, nonce: cnonce }: LoginAttempt): string {
  const [nonce, count] = [asked.get('nonce') ?? '', '00000001'];
  const path = app.split('?', 1)[0] ?? '';
  const secret = md5('hex', `${login.user}:live:${login.password}`);
  const what = md5('hex', `publish:/${path}${path.includes('/') ? '' : '/_definst_'}`);
  const response = md5('hex', [secret, nonce, count, cnonce, 'auth', what].join(':'));
  return `nonce=${nonce}&cnonce=${cnonce}&nc=${count}&response=${response}`;
}
