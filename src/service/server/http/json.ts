/**
 * Parses JSON of requests more strictly than JSON.parse. JSON.parse takes the last of duplicate names, though RFC 8259, section 4,
 * leaves the choice open. It also accepts unpaired surrogates (section 8.2), which other programs reject. Pure: no I/O, no clock.
 */
import { AppError, type FieldError, validationFailed } from '../../lib/errors.ts';

/** Nesting of lists and objects. The API's inputs have ten levels at most, and deeper ones could overflow a recursive walk. */
const MAX_DEPTH = 32;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Throws `malformed_json`, or `validation_failed` with the path. */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  let value: unknown;
  try {
    text = UTF8.decode(bytes);
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError('malformed_json', undefined, { cause });
  }
  const problem = describeProblem(text);
  if (problem) throw validationFailed([problem]);
  return value;
}

/** An object or list that is not closed yet. */
interface Open {
  /** Names so far; a list has none. */
  names: Set<string> | undefined;
  /** Name or index of the current value. */
  at: string | number;
  /** The next string is a name. */
  awaitsName: boolean;
}

/** Returns the first problem of valid JSON. */
function describeProblem(text: string): FieldError | undefined {
  const open: Open[] = [];
  const problem = (message: string): FieldError => ({ path: open.map(({ at }) => pointerPart(at)).join(''), message });
  for (let i = 0; i < text.length; i += 1) {
    const sign = text[i];
    const inner = open.at(-1);
    if (sign === '{' || sign === '[') {
      if (open.length === MAX_DEPTH) return problem(`is nested deeper than ${MAX_DEPTH} levels`);
      open.push({ names: sign === '{' ? new Set() : undefined, at: 0, awaitsName: sign === '{' });
    } else if (sign === '}' || sign === ']') open.pop();
    else if (sign === ',' && inner) {
      if (typeof inner.at === 'number') inner.at += 1;
      inner.awaitsName = inner.names !== undefined;
    } else if (sign === '"') {
      const end = findTextEnd(text, i);
      const isName = inner?.names !== undefined && inner.awaitsName;
      // Most strings are values without an escape, which cannot be a problem.
      if (isName || text.slice(i, end).includes('\\')) {
        const word = JSON.parse(text.slice(i, end + 1)) as string;
        if (isName) Object.assign(inner, { at: word, awaitsName: false });
        if (!word.isWellFormed()) return problem('contains half of a surrogate pair, which is not a character');
        if (isName && inner.names?.has(word)) return problem('appears twice');
        if (isName) inner.names?.add(word);
      }
      i = end;
    }
  }
  return undefined;
}

/** Returns the index of the closing quote of the string at `start`. */
function findTextEnd(text: string, start: number): number {
  let i = start + 1;
  while (text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}

/** Returns a step of a JSON pointer (RFC 6901). */
export const pointerPart = (name: string | number): string =>
  `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
