/** Parses label selectors in the words of `kubectl get -l`, and tests labels with them. Pure: no I/O, no clock. */
import { findLabelNameProblem, findLabelValueProblem } from '../../core/resources/common/labels.ts';
import type { LabelRequirement } from './list-page.ts';

/** A selector that cannot be read; the message follows the name of its field. */
export class SelectorError extends Error {}

const FORMS = 'must be a label selector such as team=news, team!=news, team in (news,sport), team or !team';

/** Splits at commas outside parentheses. */
function splitRequirements(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const char of text) {
    if (char === '(') depth += 1;
    if (char === ')') depth -= 1;
    if (char === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += char;
  }
  return [...parts, part].map((one) => one.trim());
}

function checkName(name: string): string {
  const problem = findLabelNameProblem(name);
  if (problem !== undefined) throw new SelectorError(`has the label ${name.slice(0, 80)}, which ${problem}`);
  return name;
}

function checkValue(value: string): string {
  const problem = findLabelValueProblem(value);
  if (problem !== undefined) throw new SelectorError(`has the value ${value.slice(0, 80)}, which ${problem}`);
  return value;
}

/** Reads `name in (a,b)` and `name notin (a,b)`; undefined for another form. */
function parseSet(text: string): LabelRequirement | undefined {
  const open = text.indexOf('(');
  if (open === -1) return undefined;
  const [name = '', operator = '', ...more] = text.slice(0, open).trim().split(/\s+/);
  if ((operator !== 'in' && operator !== 'notin') || more.length > 0 || text.indexOf(')') !== text.length - 1)
    throw new SelectorError(FORMS);
  const values = text.slice(open + 1, -1).split(',');
  return { name: checkName(name), operator, values: values.map((value) => checkValue(value.trim())) };
}

function parseRequirement(text: string): LabelRequirement {
  if (text === '') throw new SelectorError(FORMS);
  const set = parseSet(text);
  if (set) return set;
  const equals = text.indexOf('=');
  if (equals === -1) {
    const isMissing = text.startsWith('!');
    const name = checkName(text.slice(isMissing ? 1 : 0).trim());
    return { name, operator: isMissing ? 'missing' : 'exists', values: [] };
  }
  const isNot = text[equals - 1] === '!';
  const name = text.slice(0, isNot ? equals - 1 : equals).trim();
  const value = text.slice(text[equals + 1] === '=' && !isNot ? equals + 2 : equals + 1).trim();
  return { name: checkName(name), operator: isNot ? 'notin' : 'in', values: [checkValue(value)] };
}

/** Returns the requirements of a selector, which must all hold. Throws SelectorError. */
export const parseSelector = (text: string): LabelRequirement[] => splitRequirements(text).map(parseRequirement);

/** Returns whether labels fulfil a requirement, as Kubernetes decides it: `notin` also holds of a missing label. */
export function fulfils(value: string | undefined, { operator, values }: LabelRequirement): boolean {
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case 'missing':
      return value === undefined;
    case 'in':
      return value !== undefined && values.includes(value);
    case 'notin':
      return value === undefined || !values.includes(value);
  }
}
