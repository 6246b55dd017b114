/** Completes a page for developers: its theme, this server's address in the examples, and a button that copies each. */
import './developers.css';
import { followScheme } from './scheme.ts';

/** Stands in the examples for the address of this server. */
const PLACEHOLDER = 'https://loopstream.example';
const COPIED_MS = 2000;

function addCopyButton(example: HTMLElement): void {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'button';
  button.textContent = 'Copy';
  button.setAttribute('aria-label', `Copy: ${example.dataset.label}`);
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(example.textContent ?? '').then(
      () => {
        button.textContent = 'Copied';
      },
      () => {
        button.textContent = 'Not copied';
      },
    );
    setTimeout(() => {
      button.textContent = 'Copy';
    }, COPIED_MS);
  });
  example.after(button);
}

followScheme();
for (const example of document.querySelectorAll('pre')) {
  // A scrolling region must be reachable by keyboard (WCAG 2.1.1).
  example.tabIndex = 0;
  example.setAttribute('role', 'region');
  example.setAttribute('aria-label', example.dataset.label ?? '');
}
for (const example of document.querySelectorAll<HTMLElement>('.snippet pre')) {
  example.textContent = (example.textContent ?? '').replaceAll(PLACEHOLDER, location.origin);
  addCopyButton(example);
}
