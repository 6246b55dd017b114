/** The values of a destination's form, and the part of them that is sent. Pure: no I/O, no clock. */

import { tidyKey, tidyText, tidyUrl } from '../../../core/lib/pasted.ts';
import { splitLogin } from '../../../core/resources/destination/login.ts';
import {
  findAddressProblem,
  findKeyNeed,
  type KeyNeed,
  readDestination,
} from '../../../core/resources/destination/read.ts';
import type { Destination } from '../../../service/client/index.ts';
import { asSentence } from '../../api/problem.ts';

export const FIELDS = ['name', 'rtmpUrl', 'rtmpKey', 'rtmpUser', 'rtmpPassword'] as const;
type DestinationFormField = (typeof FIELDS)[number];
export type DestinationValues = Record<DestinationFormField, string> & { endLogin: boolean };
type SentFields = Partial<Record<DestinationFormField, string>>;

/** Whether a new destination at this address needs a key. One that cannot be read, or has a placeholder for it, does. */
export function findAddressKeyNeed(rtmpUrl: string): KeyNeed {
  const { read } = readDestination({ rtmpUrl: splitLogin(tidyUrl(rtmpUrl)).rtmpUrl });
  return read ? findKeyNeed(read) : 'required';
}

/** Returns the mistake in an address, in the words of the server; null where it can be one. `before` is that of the destination. */
export function findAddressMistake(rtmpUrl: string, before?: string): string | null {
  const url = tidyUrl(rtmpUrl);
  if (url === '') return 'Enter the destination’s address.';
  const problem = url === before ? undefined : findAddressProblem(url);
  return problem === undefined ? null : asSentence(problem);
}

const TIDY: Partial<Record<DestinationFormField, (text: string) => string>> = { rtmpUrl: tidyUrl, rtmpKey: tidyKey };

/** Leaves out what is around copied texts, and the values that stay as they are. */
export function findChanges(values: DestinationValues, before: Destination | undefined): SentFields {
  const given = FIELDS.map((field) => [field, (TIDY[field] ?? tidyText)(values[field])] as const);
  const getCurrent = (field: DestinationFormField): string =>
    before && (field === 'name' || field === 'rtmpUrl') ? before[field] : '';
  const isAsked = (field: DestinationFormField) => !before && ['name', 'rtmpUrl', 'rtmpKey'].includes(field);
  const changes: SentFields = Object.fromEntries(
    given.filter(([field, value]) => isAsked(field) || value !== getCurrent(field)),
  );
  return values.endLogin ? { ...changes, rtmpUser: '', rtmpPassword: '' } : changes;
}
