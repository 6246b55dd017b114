/** Reads the keys that work on every page. Pure: no I/O, no clock. */

export type Shortcut = 'search' | 'help' | 'palette';

/** The keys as people read them. */
export const SHORTCUTS: readonly { keys: readonly string[]; does: string }[] = [
  { keys: ['/'], does: 'Search this page, or everything where it has no search' },
  { keys: ['Ctrl', 'K'], does: 'Find a stream, an upload, a playlist or a page (⌘ K on a Mac)' },
  { keys: ['?'], does: 'Show these shortcuts' },
  { keys: ['Esc'], does: 'Close what is open' },
];

type Press = Pick<
  KeyboardEvent,
  'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'isComposing' | 'defaultPrevented' | 'target'
>;

/** Inputs in which no text is typed. */
const NO_TEXT = ['button', 'checkbox', 'radio', 'submit', 'reset', 'file', 'image', 'range', 'color'];

/** Whether keys that are pressed there are text, or choose something. */
export function takesKeys(target: unknown): boolean {
  const { tagName = '', type = '', isContentEditable = false } = (target ?? {}) as Partial<HTMLInputElement>;
  if (tagName === 'INPUT') return !NO_TEXT.includes(type);
  return isContentEditable || tagName === 'TEXTAREA' || tagName === 'SELECT';
}

/** Undefined for keys that are none of ours: a field keeps all of its keys. */
export function readShortcut(press: Press): Shortcut | undefined {
  const { key, ctrlKey, metaKey, altKey, isComposing, defaultPrevented, target } = press;
  if (defaultPrevented || isComposing || altKey || takesKeys(target)) return undefined;
  if (ctrlKey !== metaKey) return key.toLowerCase() === 'k' ? 'palette' : undefined;
  if (ctrlKey) return undefined;
  if (key === '/') return 'search';
  return key === '?' ? 'help' : undefined;
}
