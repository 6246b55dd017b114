/** Drives steps at the pages that several tests need. */

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Signs up at the page; ends at the page that announces the mail. */
export async function signUp(page: Page, who: { firstName: string; email: string; password: string }): Promise<void> {
  await page.getByLabel('First name').fill(who.firstName);
  await page.getByLabel('E-mail address').fill(who.email);
  await page.getByLabel('Password', { exact: true }).fill(who.password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Check your mail' }).waitFor();
}

/** Ends the session while a form is half filled in; `goOn` runs after the new sign-in. */
export async function endWhileTyping(page: Page, url: string) {
  await page.goto(`${url}/destinations`);
  await page.getByRole('button', { name: 'Add destination' }).click();
  const form = page.getByRole('dialog', { name: 'New destination' });
  await form.getByLabel('Name').fill('Half typed');
  await form.getByRole('textbox', { name: 'Stream key' }).fill('abcd-efgh');
  await page.context().clearCookies();
  await form.getByRole('button', { name: 'Add destination' }).click();
  const again = page.getByRole('dialog', { name: 'Sign in again' });
  await again.waitFor();
  const goOn = async () => {
    await again.waitFor({ state: 'detached' });
    expect(await form.getByLabel('Name').inputValue()).toBe('Half typed');
  };
  return { again, goOn };
}
