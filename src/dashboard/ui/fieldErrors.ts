/** Puts the server's complaints about a form at the fields that they are about. Pure: no I/O, no clock. */
import { ProblemError } from '../../service/client/index.ts';
import { asSentence, describeFieldError, problemText } from '../api/problem.ts';

export interface FormErrors {
  /** Field → sentence. */
  fields: Record<string, string>;
  /** The complaints that belong to no field of the form. */
  rest: string | undefined;
}

/** `/items/2/uploadObjectID` is about the field `items`, or about `items/2` where a form has that. */
function fieldAt(path: string, names: readonly string[]): string | undefined {
  const about = names.filter((name) => path === `/${name}` || path.startsWith(`/${name}/`));
  return about.sort((a, b) => b.length - a.length)[0];
}

/** The first complaint about a field stands. */
export function findFieldErrors(error: unknown, names: readonly string[]): FormErrors {
  const errors = error instanceof ProblemError ? error.errors : [];
  const fields: Record<string, string> = {};
  const others: string[] = [];
  for (const { path, message } of errors) {
    const field = fieldAt(path, names);
    if (field === undefined) others.push(describeFieldError({ path, message }));
    else fields[field] ??= asSentence(message);
  }
  if (errors.length === 0) return { fields, rest: problemText(error) };
  return { fields, rest: others.length > 0 ? others.join(' ') : undefined };
}
