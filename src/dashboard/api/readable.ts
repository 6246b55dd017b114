/**
 * Turns the sentences of the server into the reader's: their times are instants in UTC, and their quotation marks are those of a program.
 * Pure: no I/O, no clock.
 */
import { formatTime } from '../lib/format.ts';
import { quote } from '../lib/isolate.ts';

/** Fields of answers that hold sentences. */
const SENTENCES: ReadonlySet<string> = new Set(['message', 'fix', 'detail']);

const INSTANT = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})/g;
const QUOTED = /"([^"\n]+)"/g;
const ONLY_ID = /^(?:str|upl|pls|dst)-[0-9a-z]{26}$/;
/** An id with its noun before it, where the sentence has one. */
const MADE_ID = /(?:\b(no )?(?:stream|upload|playlist|destination) )?"?\b(str|upl|pls|dst)-[0-9a-z]{26}"?/gi;
const NOUNS: Readonly<Record<string, string>> = {
  str: 'stream',
  upl: 'upload',
  pls: 'playlist',
  dst: 'destination',
};

/** `It starts at 2026-11-29T23:00:00Z.` as `It starts at Mon 30 Nov, 00:00.` */
export const makeReadable = (sentence: string): string =>
  sentence.replace(INSTANT, (instant) => formatTime(instant) ?? instant).replace(QUOTED, quoteText);

/** An id stays in its marks, by which the page finds it and says its title (features/references/names.ts). */
const quoteText = (quoted: string, text: string): string => (ONLY_ID.test(text) ? quoted : quote(text));

/** `Upload upl-… is ready.` as `The upload is ready.`: an id tells a person nothing. */
export const withoutIds = (sentence: string): string =>
  sentence.replace(MADE_ID, (_all, no: string | undefined, prefix: string, at: number) => {
    const noun = NOUNS[prefix.toLowerCase()] ?? 'object';
    if (no) return `no such ${noun}`;
    return `${at === 0 || sentence.slice(at - 2, at) === '. ' ? 'The' : 'the'} ${noun}`;
  });

/** The answer with readable sentences at any depth; the same object where it has none to change. */
export function withReadable<Answer>(answer: Answer): Answer {
  if (typeof answer !== 'object' || answer === null || answer instanceof Blob) return answer;
  if (Array.isArray(answer)) {
    const items: unknown[] = answer.map(withReadable);
    return items.some((item, at) => item !== answer[at]) ? (items as Answer) : answer;
  }
  const changed = Object.entries(answer).flatMap(([name, value]) => {
    const next = typeof value === 'string' && SENTENCES.has(name) ? makeReadable(value) : withReadable(value);
    return next === value ? [] : [[name, next]];
  });
  return changed.length === 0 ? answer : { ...answer, ...Object.fromEntries(changed) };
}
