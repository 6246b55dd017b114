/**
 * Checks that a password is long and not among the first guesses. There are no rules of composition, and pasting is
 * allowed (NIST SP 800-63B, section 3.1.1.2). The page checks the same before it sends anything. Pure: no I/O, no
 * clock.
 */

/** In UTF-16 units, as text fields and the auth library count. */
export const MIN_PASSWORD = 10;
/** An end, for hashing takes time. */
export const MAX_PASSWORD = 256;

/** Common passwords that are long enough, in lower case and reduced to letters and digits. */
const COMMON = new Set(
  [
    ['passwordpassword', 'password1234', 'password123456', 'mypassword', 'mypassword1', 'changemenow', 'letmeinplease'],
    ['iloveyou123', 'iloveyouforever', 'qwertyuiop', 'qwerty12345', 'qwerty123456', 'qwertyuiopasdfghjkl', 'asdfghjkl'],
    [
      'asdfghjkl1',
      'zxcvbnm123',
      '1qaz2wsx3edc',
      'q1w2e3r4t5',
      'q1w2e3r4t5y6',
      '1q2w3e4r5t',
      '1q2w3e4r5t6y',
      'abc123456',
    ],
    [
      'abcd123456',
      'abcdefghij',
      'administrator',
      'adminadmin',
      'welcome123',
      'sunshine123',
      'princess123',
      'football123',
    ],
    ['baseball123', 'superman123', 'password12', 'password123', 'loopstream', 'loopstream1', 'loopstream123'],
  ].flat(),
);

const bare = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');

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
  if (COMMON.has(bare(password)) || isRun(password) || isRepeated(password))
    return 'The password is common or easy to guess. Choose another one.';
  return undefined;
}
