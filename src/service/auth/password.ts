/**
 * Checks that a password is long and not among the first guesses. There are no rules of composition, and pasting is
 * allowed (NIST SP 800-63B, section 3.1.1.2). The page checks the same before it sends anything. Pure: no I/O, no clock.
 */

const RUN =
  'The password is easy to guess: it repeats a piece, or counts up or down. Choose another one, such as several words.';
const COMMON =
  'The password is easy to guess: attackers try common ones first, with digits and signs added. Choose another one, such as several words.';

/** In UTF-16 units, as text fields and the auth library count. */
export const MIN_PASSWORD = 10;
/** An end, for hashing takes time. */
export const MAX_PASSWORD = 256;

/** `1234567890`, `abcdefghij`, `9876543210`: each character follows its neighbour, up or down. */
function isRun(text: string): boolean {
  const steps = [...text].slice(1).map((c, i) => (c.codePointAt(0) ?? 0) - ([...text][i]?.codePointAt(0) ?? 0));
  return steps.length > 0 && [1, -1].some((step) => steps.filter((s) => s === step).length >= steps.length - 1);
}

/** A short piece again and again: `aaaaaaaaaa`, `abcabcabcabc`. */
// linear-time: a password has at most 256 characters.
const isRepeated = (text: string): boolean => /^(.{1,4}?)\1+.{0,3}$/su.test(text);

/** Why a password must be another one, as a sentence; undefined when it may be had. `email`: whose it is to be. */
export function findWeakness(password: string, email = ''): string | undefined {
  if (password.length < MIN_PASSWORD)
    return `The password is too short. Use ${MIN_PASSWORD} characters or more, such as several words.`;
  if (password.length > MAX_PASSWORD) return `The password is too long. Use at most ${MAX_PASSWORD} characters.`;
  const [name = ''] = email.toLowerCase().split('@');
  const about = [email.toLowerCase(), ...(name.length >= MIN_PASSWORD - 3 ? [name] : [])].filter((text) => text !== '');
  if (about.some((text) => password.toLowerCase().includes(text) && password.length < text.length + 4))
    return 'The password contains your e-mail address, which is easy to guess. Choose another one.';
  return isRun(password) || isRepeated(password) ? RUN : undefined;
}

/** Digits and signs that people add to a common password. A random number that is longer is a password of its own. */
const MAX_ADDED = 8;
const LETTERS: Readonly<Record<string, string>> = {
  '@': 'a',
  4: 'a',
  3: 'e',
  1: 'i',
  '!': 'i',
  0: 'o',
  $: 's',
  5: 's',
  7: 't',
};

/**
 * Why a password is among the first guesses: a common one, whatever its case, with digits and signs around it or in place of letters.
 * `common`: passwords in lower case without digits and signs around them (common-passwords.ts).
 */
export function findCommon(password: string, common: ReadonlySet<string>): string | undefined {
  const lower = password.normalize('NFKC').toLowerCase();
  // linear-time: a password has at most 256 characters.
  const core = lower.replace(/^[^\p{L}]+/u, '').replace(/[^\p{L}]+$/u, '');
  const half = core.slice(0, core.length / 2);
  const words = core === half + half ? [core, half] : [core];
  const spelled = words.map((word) => word.replace(/[@431!0$57]/g, (sign) => LETTERS[sign] ?? sign));
  const isAdded = lower.length - core.length <= MAX_ADDED;
  const isCommon = common.has(lower) || (isAdded && [...words, ...spelled].some((word) => common.has(word)));
  return isCommon ? COMMON : undefined;
}
