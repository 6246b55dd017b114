/** The choices for an API key, and how a key is described. Pure: no I/O, no clock. */
import type { ApiKeyCreate } from '../../../service/client/index.ts';

export type KeyScope = NonNullable<ApiKeyCreate['scopes']>[number];

const LABELS: Record<KeyScope, string> = { read: 'Read', write: 'Write', destructive: 'Delete', billing: 'Billing' };

/** Shorter than the meanings of scopes.ts, so that all rights are seen at once. */
const MEANINGS: Record<KeyScope, string> = {
  read: 'see streams, uploads, playlists and destinations',
  write: 'create and change them, start and stop streams',
  destructive: 'remove them permanently',
  billing: 'see payments and usage, create top-up links',
};

export const RIGHTS = (Object.keys(LABELS) as KeyScope[]).map((value) => ({
  value,
  label: `${LABELS[value]}: ${MEANINGS[value]}`,
}));

export const ACCESS = [
  { value: 'read', label: 'Read only' },
  { value: 'some', label: 'Chosen rights' },
  { value: 'all', label: 'Full access' },
] as const;
export type KeyAccess = (typeof ACCESS)[number]['value'];

/** Returns the scopes to send; undefined for full access. */
export function pickScopes(access: KeyAccess, chosen: readonly string[]): KeyScope[] | undefined {
  if (access === 'all') return undefined;
  return access === 'read' ? ['read'] : RIGHTS.map(({ value }) => value).filter((value) => chosen.includes(value));
}

/** Describes what a key may do: `read only`, `read, write`. */
export function describeScopes(scopes: readonly KeyScope[] | null): string {
  if (scopes === null) return 'full access';
  if (scopes.length === 1 && scopes[0] === 'read') return 'read only';
  return scopes.map((scope) => LABELS[scope].toLowerCase()).join(', ') || 'no access';
}

export const EVER = 'ever';
const LIVES = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'A year' },
] as const;

/** Lists how long a key may be valid; the account's policy bounds that. */
export function listLives(maxKeyDays: number | null): { value: string; label: string }[] {
  if (maxKeyDays === null) return [...LIVES, { value: EVER, label: 'No expiry' }];
  const shorter = LIVES.filter(({ value }) => Number(value) < maxKeyDays);
  const longest = LIVES.find(({ value }) => Number(value) === maxKeyDays);
  return [
    ...shorter,
    longest ?? { value: String(maxKeyDays), label: maxKeyDays === 1 ? 'A day' : `${maxKeyDays} days` },
  ];
}

/** The choice that a form begins with: 90 days, or as long as the policy allows. */
export const pickLife = (maxKeyDays: number | null): string =>
  maxKeyDays === null || maxKeyDays >= 90 ? '90' : String(maxKeyDays);
