/**
 * Checks the message of a commit: an imperative subject of at most 72 characters, an empty line, a body for the why. Git runs it as the
 * hook `commit-msg`, which `make` sets up (`.githooks/`).
 *
 *     commit-message.ts FILE
 */
import { readFileSync } from 'node:fs';

const MAX_SUBJECT_LENGTH = 72;
/** `feat(operator): `, `fix: `, `refactor!: ` */
const TYPE = /^[a-z]+(?:\([\w./-]+\))?!?: /;
/** Git writes these itself. */
const MADE_BY_GIT = /^(?:Merge|Revert|fixup!|squash!|amend!) /;
/** Verbs that look like another tense. */
const IMPERATIVE = new Set([
  'bring',
  'embed',
  'exceed',
  'feed',
  'need',
  'pass',
  'process',
  'proceed',
  'ring',
  'seed',
  'shed',
  'speed',
  'string',
  'wed',
  'address',
  'focus',
  'press',
  'discuss',
  'bypass',
  'express',
  'compress',
  'miss',
  'access',
]);

/** Returns a sentence for each rule that the message breaks. */
export function checkMessage(message: string): string[] {
  const [subject = '', second = ''] = message.split('\n').filter((line) => !line.startsWith('#'));
  if (MADE_BY_GIT.test(subject)) return [];
  const words = subject.replace(TYPE, '').trim();
  const [verb = ''] = words.split(/\s/, 1);
  const problems: string[] = [];
  if (words === '') problems.push('The subject is empty.');
  if (subject.length > MAX_SUBJECT_LENGTH)
    problems.push(`The subject has ${subject.length} characters, and ${MAX_SUBJECT_LENGTH} are allowed.`);
  if (subject.endsWith('.')) problems.push('The subject ends with a full stop.');
  if (/(?:ed|ing|s)$/.test(verb.toLowerCase()) && !IMPERATIVE.has(verb.toLowerCase()))
    problems.push(
      `The subject begins with "${verb}": an imperative, such as "add" or "fix", says what the commit does.`,
    );
  if (second.trim() !== '') problems.push('The second line is not empty: the body begins on the third.');
  return problems;
}

if (import.meta.main) {
  const problems = checkMessage(readFileSync(process.argv[2] ?? '', 'utf8'));
  for (const problem of problems) process.stderr.write(`commit message: ${problem}\n`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
