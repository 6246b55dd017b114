/**
 * Computes the changes of a destination's Secret from a request. The API server never reads a Secret, so it validates the request
 * against the destination's status.
 * Pure: no I/O, no clock.
 */

import { tidyKey, tidyText, tidyUrl } from '../../../core/lib/pasted.ts';
import { trimEndOf } from '../../../core/lib/trim.ts';
import { ingestForbidden } from '../../../core/resources/destination/forbidden.ts';
import { redactUrl } from '../../../core/resources/destination/ingest.ts';
import { splitLogin } from '../../../core/resources/destination/login.ts';
import {
  type DestinationField,
  FIELDS,
  findHiddenProblem,
  findKeyNeed,
  mergeLogins,
  readDestination,
} from '../../../core/resources/destination/read.ts';
import { type DestinationStatus, keyHint } from '../../../core/resources/destination/spec.ts';
import { AppError, validationFailed } from '../../lib/errors.ts';
import type { DestinationUpdate } from './record.ts';
import type { LongNames } from './short-names.ts';

/** Maps keys of the Secret to new values; a missing key stays as it is. An empty value removes the login. */
export type SecretChanges = Partial<Record<DestinationField, string>>;

type LoginChanges = Partial<Record<'rtmpUser' | 'rtmpPassword', string>>;

export interface Changes {
  changes: SecretChanges;
  /** Public part of the changed values. */
  status: DestinationStatus;
}

/** Placeholders for values that only the Secret contains. */
const KEPT_LOGIN = { rtmpUser: 'kept', rtmpPassword: 'kept' };
const KEPT = { rtmpUrl: 'rtmp://kept.example/kept', rtmpKey: 'kept-key' };
const NO_LOGIN = { rtmpUser: '', rtmpPassword: '' };

const MISSING = 'is missing: give the stream key that the server shows, here or at the end of the URL';
const MISSING_OR_NONE = `${MISSING}; if the URL is complete without one, give an empty key`;

type Asked = LongNames<DestinationUpdate>;

/** Returns the path of a field, as the request calls it. */
type PathOf = (field: DestinationField) => string;

const refuse = (path: string, message: string) => validationFailed([{ path, message }]);

/**
 * Throws `validation_failed` and `destination_forbidden`. `known` is the status of an existing destination; a new one has none. `call`
 * returns the name of a field in the request.
 */
export function readChanges(
  asked: Asked,
  allowPrivate: boolean,
  known?: DestinationStatus,
  call: (field: DestinationField) => string = (field) => field,
): Changes {
  const pathOf: PathOf = (field) => `/${call(field)}`;
  if (FIELDS.every((field) => asked[field] === undefined)) return { changes: {}, status: {} };
  const hidden = asked.rtmpUrl === undefined ? undefined : findHiddenProblem(asked.rtmpUrl);
  if (hidden) throw refuse(pathOf('rtmpUrl'), hidden);
  const given = takeLoginOut(asked, pathOf);
  const login = readLogin(given, known);
  const shown = (known?.rtmpUrl ?? '').replaceAll(/=…/g, '=');
  const full = {
    ...(known && { rtmpKey: KEPT.rtmpKey }),
    ...given,
    ...(known?.hasLogin && Object.keys(login).length > 0 ? { ...KEPT_LOGIN, ...login } : login),
  };
  let result = readDestination({ ...full, rtmpUrl: given.rtmpUrl ?? shown });
  // A destination that is not ready shows no URL.
  if (result.field === 'rtmpUrl' && given.rtmpUrl === undefined)
    result = readDestination({ ...full, rtmpUrl: KEPT.rtmpUrl });
  const { read, field, problem } = result;
  if (!read) throw refuse(pathOf(field), problem);
  const forbidden = given.rtmpUrl === undefined ? undefined : ingestForbidden(read.ingest, allowPrivate);
  if (forbidden) {
    const errors = [{ path: pathOf('rtmpUrl'), message: forbidden }];
    throw new AppError('destination_forbidden', `The address ${forbidden}.`, { extras: { errors } });
  }
  if (!known) {
    const need = findKeyNeed(read);
    if (need === 'required') throw refuse(pathOf('rtmpKey'), MISSING);
    // A key that was forgotten would put a stream on air below another name.
    if (need === 'optional' && asked.rtmpKey === undefined) throw refuse(pathOf('rtmpKey'), MISSING_OR_NONE);
  }
  const isMoved = given.rtmpUrl !== undefined;
  const changes: SecretChanges = {
    ...(isMoved && { rtmpUrl: read.rtmpUrl }),
    // An address with hidden values takes the key unchanged.
    ...(given.rtmpKey !== undefined && { rtmpKey: isMoved ? read.rtmpKey : tidyKey(given.rtmpKey) }),
    // The Secret of a new destination has both.
    ...(!known && { rtmpKey: read.rtmpKey }),
    ...(known || login.rtmpUser !== '' ? login : {}),
  };
  return { changes, status: showChanges(changes, known) };
}

/** Moves a login from the URL to its fields. */
function takeLoginOut(asked: Asked, pathOf: PathOf): Asked {
  if (asked.rtmpUrl === undefined) return asked;
  const { rtmpUrl, login } = splitLogin(tidyUrl(asked.rtmpUrl));
  if (!login) return asked;
  const merged = mergeLogins(login, asked);
  if (merged.problem !== undefined) throw refuse(pathOf(merged.field), merged.problem);
  const { rtmpUser, rtmpPassword } = merged;
  return { ...asked, rtmpUrl, ...(rtmpUser !== '' && { rtmpUser }), ...(rtmpPassword !== '' && { rtmpPassword }) };
}

/** A user or a password alone changes an existing login. An empty one, or an SRT address, removes it. */
function readLogin({ rtmpUrl, rtmpUser, rtmpPassword }: Asked, known?: DestinationStatus): LoginChanges {
  const given = {
    ...(rtmpUser !== undefined && { rtmpUser: tidyText(rtmpUser) }),
    ...(rtmpPassword !== undefined && { rtmpPassword: tidyText(rtmpPassword) }),
  };
  const values = Object.values(given);
  if (values.length > 0) return values.every((value) => value === '') ? NO_LOGIN : given;
  return known?.hasLogin && rtmpUrl !== undefined && /^srt:/i.test(tidyUrl(rtmpUrl)) ? NO_LOGIN : {};
}

function showChanges({ rtmpUrl, rtmpKey, rtmpUser }: SecretChanges, known?: DestinationStatus): DestinationStatus {
  // A URL may repeat the key at its end. Only a hint of the key is known here, so the hint decides.
  const hint = known?.rtmpKeyHint ?? '';
  const mayHoldKey = rtmpKey === undefined && hint !== '' && trimEndOf(rtmpUrl ?? '', '/').endsWith(hint);
  return {
    ...(rtmpUrl !== undefined && { rtmpUrl: redactUrl(rtmpUrl, mayHoldKey ? '' : rtmpKey) }),
    ...(rtmpKey !== undefined && { rtmpKeyHint: keyHint(rtmpKey) }),
    ...(rtmpUser !== undefined && { hasLogin: rtmpUser !== '' }),
  };
}
