/**
 * A playlist as somebody edits it: the version it began with, and what it has become since. Each place in the list has a key
 * of its own, for the same clip may be in it more than once. Pure: no I/O, no clock.
 */
import { isSameJson } from '../../../core/lib/json-equal.ts';
import type { Playlist, PlaylistUpdate } from '../../../service/client/index.ts';
import { joinRules, type RuleRecord, type RuleValues, toRules, toRuleValues } from './ruleValues.ts';

type Mode = Playlist['mode'];

export interface PlaylistEntry {
  /** `b3`: the base's fourth; all others are new. */
  key: string;
  objectID: string;
}

export interface Base {
  version: number;
  name: string;
  mode: Mode;
  objectIDs: string[];
  rules: RuleRecord[];
  /** Clips between two of one artist in shuffle. */
  apart: number;
}

export interface PlaylistDraft {
  base: Base;
  name: string;
  mode: Mode;
  entries: PlaylistEntry[];
  rules: RuleValues[];
  apart: number;
}

const formatKey = (index: number): string => `b${index}`;
const isNew = ({ key }: Pick<PlaylistEntry, 'key'>): boolean => !key.startsWith('b');

export const toBase = ({ version, name, mode, items, rules, notWithin }: Playlist): Base => ({
  version,
  name,
  mode,
  objectIDs: items.map(({ uploadObjectID }) => uploadObjectID),
  rules,
  apart: notWithin.sameArtist,
});

/** Nothing is changed yet. */
export const createDraft = (base: Base): PlaylistDraft => ({
  base,
  name: base.name,
  mode: base.mode,
  entries: base.objectIDs.map((objectID, i) => ({ key: formatKey(i), objectID })),
  rules: base.rules.map((rule, i) => toRuleValues(rule, formatKey(i))),
  apart: base.apart,
});

const sameList = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one, i) => one === b[i]);
const listIds = (entries: readonly PlaylistEntry[]): string[] => entries.map(({ objectID }) => objectID);

/** The update that saves the draft, as one batch; undefined when nothing is changed. */
export function buildUpdate({ base, name, mode, apart, ...draft }: PlaylistDraft): PlaylistUpdate | undefined {
  const { entries } = draft;
  const rules = toRules(draft.rules, base.rules);
  const items = sameList(base.objectIDs, listIds(entries))
    ? undefined
    : entries.map(({ objectID }) => ({ uploadObjectID: objectID }));
  const change = {
    ...(name !== base.name && { name }),
    ...(mode !== base.mode && { mode }),
    ...(apart !== base.apart && { notWithin: { sameArtist: apart } }),
    ...(items && { items }),
    ...(!isSameJson(rules, base.rules) && { rules }),
  };
  return Object.keys(change).length === 0 ? undefined : { version: base.version, ...change };
}

/** Whether a version of the server's equals this draft: an answer may be lost after its change was made. */
export const isSavedAs = ({ base, name, mode, entries, rules, apart }: PlaylistDraft, theirs: Base): boolean =>
  name === theirs.name &&
  mode === theirs.mode &&
  apart === theirs.apart &&
  sameList(listIds(entries), theirs.objectIDs) &&
  isSameJson(toRules(rules, base.rules), theirs.rules);

/** A key that no entry has. */
export function freshKey(entries: readonly Pick<PlaylistEntry, 'key'>[]): string {
  const taken = new Set(entries.map(({ key }) => key));
  for (let n = entries.length; ; n += 1) if (!taken.has(`n${n}`)) return `n${n}`;
}

/** With more clips at the end. */
export function withAdded(draft: PlaylistDraft, objectIDs: readonly string[]): PlaylistDraft {
  const entries = [...draft.entries];
  for (const objectID of objectIDs) entries.push({ key: freshKey(entries), objectID });
  return { ...draft, entries };
}

export const without = (draft: PlaylistDraft, key: string): PlaylistDraft => ({
  ...draft,
  entries: draft.entries.filter((entry) => entry.key !== key),
});

/** The entry with `key` where the one with `place` is. */
export function withMoved(draft: PlaylistDraft, key: string, place: string): PlaylistDraft {
  const [from, to] = [key, place].map((one) => draft.entries.findIndex((entry) => entry.key === one));
  if (from === undefined || to === undefined || from < 0 || to < 0 || from === to) return draft;
  const entries = [...draft.entries];
  entries.splice(to, 0, ...entries.splice(from, 1));
  return { ...draft, entries };
}

/**
 * Their list with the base's keys: first for what stayed in the same order (longest common subsequence; Wagner and Fischer
 * 1974), then for what was moved, and keys of its own for what is new.
 */
function keyed(base: readonly string[], theirs: readonly string[]): PlaylistEntry[] {
  const length = Array.from({ length: base.length + 1 }, () => new Uint16Array(theirs.length + 1));
  const at = (i: number, j: number): number => length[i]?.[j] ?? 0;
  for (let i = base.length - 1; i >= 0; i -= 1)
    for (let j = theirs.length - 1; j >= 0; j -= 1) {
      const row = length[i] as Uint16Array;
      row[j] = base[i] === theirs[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  const keys: (string | undefined)[] = theirs.map(() => undefined);
  const free = new Set(base.keys());
  for (let i = 0, j = 0; i < base.length && j < theirs.length; ) {
    if (base[i] === theirs[j]) {
      free.delete(i);
      keys[j++] = formatKey(i++);
    } else if (at(i + 1, j) >= at(i, j + 1)) i += 1;
    else j += 1;
  }
  return theirs.map((objectID, j) => {
    const moved = keys[j] === undefined ? [...free].find((i) => base[i] === objectID) : undefined;
    if (moved !== undefined) free.delete(moved);
    return { objectID, key: keys[j] ?? (moved === undefined ? `t${j}` : formatKey(moved)) };
  });
}

/** `list` with the other entries of `other`, each after its predecessor there. */
function woven(list: readonly PlaylistEntry[], other: readonly PlaylistEntry[]): PlaylistEntry[] {
  const result = [...list];
  other.forEach((entry, i) => {
    if (result.some(({ key }) => key === entry.key)) return;
    const before = other.slice(0, i).map(({ key }) => key);
    const after = result.findLastIndex(({ key }) => before.includes(key));
    result.splice(after + 1, 0, entry);
  });
  return result;
}

const indexInBase = ({ key }: PlaylistEntry): number => Number(key.slice(1));

/** Whether clips that were there from the beginning have another order by now. */
function isReordered({ entries }: PlaylistDraft): boolean {
  const places = entries.filter((entry) => !isNew(entry)).map(indexInBase);
  return places.some((place, i) => i > 0 && place < (places[i - 1] ?? 0));
}

/** My rules and theirs; mine keep what was typed in them. */
function rebasedRules({ base, rules }: PlaylistDraft, theirs: Base): RuleValues[] {
  const mine = toRules(rules, base.rules);
  return joinRules(base.rules, mine, theirs.rules).flatMap(({ name, isMine }, i) => {
    const place = theirs.rules.findIndex((rule) => rule.name === name);
    const key = place < 0 ? `n${i}` : formatKey(place);
    const [own, other] = [rules[mine.findIndex((rule) => rule.name === name)], theirs.rules[place]];
    if (isMine && own) return { ...own, key };
    return other ? toRuleValues(other, key) : [];
  });
}

/**
 * The changes of a draft made to what others have saved meanwhile: what I took out and they took out is gone, what I added and
 * they added is there, the order is mine if I made one, and theirs otherwise. All else is mine where I changed it.
 */
export function rebased(draft: PlaylistDraft, theirs: Base): PlaylistDraft {
  const { base, entries } = draft;
  const theirEntries = keyed(base.objectIDs, theirs.objectIDs);
  const has = (list: readonly PlaylistEntry[], { key }: PlaylistEntry): boolean => list.some((one) => one.key === key);
  // Of the base's entries, only those that both of us have kept.
  const mine = entries.filter((entry) => isNew(entry) || has(theirEntries, entry));
  const others = theirEntries.filter((entry) => isNew(entry) || has(entries, entry));
  const list = isReordered(draft) ? woven(mine, others) : woven(others, mine);
  const place = new Map(theirEntries.map(({ key }, j) => [key, formatKey(j)]));
  return {
    base: theirs,
    name: draft.name === base.name ? theirs.name : draft.name,
    mode: draft.mode === base.mode ? theirs.mode : draft.mode,
    entries: list.map(({ key, objectID }, i) => ({ objectID, key: place.get(key) ?? `n${i}` })),
    rules: rebasedRules(draft, theirs),
    apart: draft.apart === base.apart ? theirs.apart : draft.apart,
  };
}
