/** What the server says of the fields of a form, put where each field is. Pure: no I/O, no clock. */
import { ProblemError } from '../../client/index.ts';
import { problemText } from '../problem.ts';

export interface Mistakes {
  /** Field → sentence. */
  fields: Record<string, string>;
  /** What belongs to no field of the form. */
  rest: string | undefined;
}

/** `must not be empty` → `Must not be empty.` */
export function asSentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(whole) ? whole : `${whole}.`;
}

/** `/items/2/uploadObjectID` is about the field `items`. The first complaint about a field stands. */
export function mistakesOf(error: unknown, names: readonly string[]): Mistakes {
  const errors = error instanceof ProblemError ? error.errors : [];
  const fields: Record<string, string> = {};
  const others: string[] = [];
  for (const { path, message } of errors) {
    const [, name = ''] = path.split('/');
    if (!names.includes(name)) others.push(`${name || 'It'} ${message}`);
    else fields[name] ??= asSentence(message);
  }
  if (errors.length === 0) return { fields, rest: problemText(error) };
  return { fields, rest: others.length > 0 ? others.map(asSentence).join(' ') : undefined };
}
