/**
 * Reads the user name and password of a destination: fields of their own, or within a URL that somebody pasted
 * (`rtmp://user:password@host/app`). Pure: no I/O, no clock.
 */
import { countUtf8Bytes } from '../../lib/utf8.ts';
import type { Ingest } from './ingest.ts';

export interface Login {
  user: string;
  password: string;
}

/** ffmpeg sends it with the server's challenge, in a line of 990 bytes. */
export const MAX_USER_BYTES = 255;
/** Code points, as JSON Schema counts them. It is only hashed. */
export const MAX_PASSWORD_LENGTH = 255;

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** A URL's userinfo ends at the last `@` before the path, since passwords are pasted as they are. */
export function splitLogin(text: string): { rtmpUrl: string; login?: Login } {
  const [, scheme, userinfo, rest] = /^([a-z]+:\/\/)([^/?#]*)@([^@/?#]*(?:[/?#].*)?)$/is.exec(text) ?? [];
  if (scheme === undefined || userinfo === undefined || rest === undefined) return { rtmpUrl: text };
  const [user = '', password = ''] = userinfo.split(/:(.*)/s);
  return { rtmpUrl: scheme + rest, login: { user: decode(user), password: decode(password) } };
}

interface LoginProblem {
  field: 'rtmpUser' | 'rtmpPassword';
  problem: string;
}

/** `user` goes into a query as it is, as other clients send it; the password is never sent. */
export function findLoginProblem(
  { rtmpUser, rtmpPassword }: { rtmpUser: string; rtmpPassword: string },
  protocol: Ingest['protocol'],
): LoginProblem | undefined {
  if (rtmpUser === '' && rtmpPassword === '') return undefined;
  const wrong = (field: LoginProblem['field'], problem: string): LoginProblem => ({ field, problem });
  if (protocol === 'srt') {
    return wrong('rtmpUser', 'applies to RTMP only; for SRT, put the user name into the stream id');
  }
  if (rtmpUser === '') return wrong('rtmpUser', 'is missing: a password needs a user name');
  if (rtmpPassword === '') return wrong('rtmpPassword', 'is missing: a user name needs a password');
  if (/[\s"'\\&\p{Cc}]/u.test(rtmpUser) || !rtmpUser.isWellFormed()) {
    return wrong('rtmpUser', 'must not contain spaces, quotes, backslashes, ampersands or control characters');
  }
  if (/\p{Cc}/u.test(rtmpPassword) || !rtmpPassword.isWellFormed()) {
    return wrong('rtmpPassword', 'must not contain control characters');
  }
  if (countUtf8Bytes(rtmpUser) > MAX_USER_BYTES) return wrong('rtmpUser', `must have at most ${MAX_USER_BYTES} bytes`);
  return [...rtmpPassword].length > MAX_PASSWORD_LENGTH
    ? wrong('rtmpPassword', `must have at most ${MAX_PASSWORD_LENGTH} characters`)
    : undefined;
}
