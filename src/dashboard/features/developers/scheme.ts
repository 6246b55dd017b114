/** Gives a page outside of React the theme that the dashboard has in this browser, and a button that changes it in both. */

/** Where Mantine keeps the choice. */
const KEY = 'mantine-color-scheme-value';
const NEXT = { auto: 'light', light: 'dark', dark: 'auto' } as const;
const NAMES = { auto: 'as your system', light: 'light', dark: 'dark' } as const;

type Choice = keyof typeof NEXT;
export type Scheme = 'light' | 'dark';

const isDarkSystem = window.matchMedia('(prefers-color-scheme: dark)');

/** A browser may forbid a page to keep anything. */
function readChoice(): Choice {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'light' || kept === 'dark' ? kept : 'auto';
  } catch {
    return 'auto';
  }
}

function keepChoice(choice: Choice): void {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // The choice holds until the page is left.
  }
}

/** `onChange` is called with the scheme at once, and after each change. */
export function followScheme(onChange: (scheme: Scheme) => void = () => undefined): void {
  let choice = readChoice();
  const button = document.getElementById('scheme');
  const show = () => {
    const system = isDarkSystem.matches ? 'dark' : 'light';
    const scheme = choice === 'auto' ? system : choice;
    document.documentElement.dataset.mantineColorScheme = scheme;
    if (button) button.textContent = `Theme: ${NAMES[choice]}`;
    onChange(scheme);
  };
  button?.addEventListener('click', () => {
    choice = NEXT[choice];
    keepChoice(choice);
    show();
  });
  isDarkSystem.addEventListener('change', show);
  window.addEventListener('storage', ({ key }) => {
    if (key !== KEY) return;
    choice = readChoice();
    show();
  });
  show();
}
