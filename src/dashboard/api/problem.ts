/** Explains an error to people. */
import { ConnectionError, ProblemError } from '../../service/client/index.ts';
import { makeReadable, withoutIds } from './readable.ts';

/** A complaint of the server about a field, by a JSON pointer. */
export interface FieldMistake {
  path: string;
  message: string;
}

/** `must not be empty` → `Must not be empty.` */
export function asSentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

const ABBREVIATIONS = /\b(?:rtmp|url|id|ids)\b/g;
/** `rtmpUrl` → `RTMP URL`. */
const formatField = (name: string): string =>
  name
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .replace(ABBREVIATIONS, (word) => (word === 'ids' ? 'IDs' : word.toUpperCase()));

/** `/items/2/name must not be empty` → `Name of items 3 must not be empty.`: people know no pointers, and count from 1. */
export function describeFieldError({ path, message }: FieldMistake): string {
  const parts = path.split('/').filter((part) => part !== '');
  const places = parts.flatMap((part, at) => {
    if (/^\d+$/.test(part)) return [];
    const place = parts[at + 1] ?? '';
    return [/^\d+$/.test(place) ? `${formatField(part)} ${Number(place) + 1}` : formatField(part)];
  });
  return asSentence(`${places.toReversed().join(' of ') || 'it'} ${message}`);
}

/** The sentence to show for a problem document of the server. */
export function describeProblem(detail: string, errors: readonly FieldMistake[]): string {
  // The sentence of a mistake in a request lists pointers.
  const words = detail.startsWith('/') ? errors.map(describeFieldError).join(' ') : detail;
  return withoutIds(makeReadable(words || detail));
}

/** The sentence to show for any error. */
export function problemText(error: unknown): string {
  if (error instanceof ProblemError) return describeProblem(error.message, error.errors);
  return error instanceof ConnectionError
    ? 'The loopstream server does not respond. Your streams keep running without this page.'
    : 'Something failed in this page. Reload it and try again.';
}
