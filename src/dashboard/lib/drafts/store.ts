/**
 * Keeps in the tab what was typed and is not sent yet. A reload, the way back of the browser, a session that ends and a key
 * that is revoked lose none of it. Drafts belong to one account: another account finds nothing, and signing out removes them.
 * Secrets are never kept. Pure but for the storage that it is given.
 */
import type { TabStorage } from '../tabStorage.ts';

export const DRAFTS_KEY = 'loopstream.drafts';

interface StoredDrafts {
  account: string;
  /** Form → what was typed in it. */
  forms: Record<string, unknown>;
}

function readStored(storage: TabStorage, account: string): StoredDrafts {
  try {
    const stored = JSON.parse(storage.getItem(DRAFTS_KEY) ?? 'null') as Partial<StoredDrafts> | null;
    if (stored?.account === account && typeof stored.forms === 'object' && stored.forms !== null)
      return stored as StoredDrafts;
  } catch {
    // Written by another version, or by somebody else.
  }
  return { account, forms: {} };
}

/** undefined where nothing is kept. */
export const readDraft = (storage: TabStorage, account: string, name: string): unknown =>
  readStored(storage, account).forms[name];

/** `undefined` forgets it. */
export function writeDraft(storage: TabStorage, account: string, name: string, draft: unknown): void {
  const { forms } = readStored(storage, account);
  const { [name]: _, ...others } = forms;
  const next: StoredDrafts = { account, forms: draft === undefined ? others : { ...others, [name]: draft } };
  try {
    storage.setItem(DRAFTS_KEY, JSON.stringify(next));
  } catch {
    // Full: the draft lives as long as the page does.
  }
}

export type FormFields = Record<string, unknown>;

/** The fields that differ from the first values, with those, so that changes by others can be told. */
export type Typed = Record<string, { value: unknown; before: unknown }>;

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
/** Of the same kind: any other value is of another version of the form. */
const fits = (a: unknown, b: unknown): boolean => typeof a === typeof b && Array.isArray(a) === Array.isArray(b);

/** undefined where nothing but secrets was typed. */
export function findTyped(first: FormFields, now: FormFields, secrets: readonly string[] = []): Typed | undefined {
  const typed = Object.keys(first)
    .filter((field) => !secrets.includes(field) && !same(first[field], now[field]))
    .map((field) => [field, { value: now[field], before: first[field] }] as const);
  return typed.length === 0 ? undefined : Object.fromEntries(typed);
}

/** The form as it was left, and the fields in it that others have changed since. */
export function withTyped<Values extends FormFields>(
  first: Values,
  stored: unknown,
): { values: Values; elsewhere: string[] } {
  if (typeof stored !== 'object' || stored === null) return { values: first, elsewhere: [] };
  const typed = Object.entries(stored as Partial<Typed>).filter(
    (entry): entry is [string, Typed[string]] =>
      Object.hasOwn(first, entry[0]) && fits(first[entry[0]], entry[1]?.value),
  );
  return {
    values: { ...first, ...Object.fromEntries(typed.map(([field, { value }]) => [field, value])) },
    elsewhere: typed.filter(([field, { before }]) => !same(before, first[field])).map(([field]) => field),
  };
}

/**
 * Others have made `theirs` of what the form began with: what was typed stays, all else is taken up. `elsewhere`: what was
 * typed here and changed by them to something else.
 */
export function taken<Values extends FormFields>(
  first: Values,
  now: Values,
  theirs: Values,
): { values: Values; elsewhere: string[] } {
  const changed = Object.keys(first).filter((field) => !same(first[field], theirs[field]));
  const mine = changed.filter((field) => !same(first[field], now[field]));
  const theirsOnly = changed.filter((field) => !mine.includes(field)).map((field) => [field, theirs[field]]);
  return {
    values: { ...now, ...Object.fromEntries(theirsOnly) },
    elsewhere: mine.filter((field) => !same(now[field], theirs[field])),
  };
}
